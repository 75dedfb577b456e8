//! Who decides about requests, and what a decision needs (`docs/access-requests.md#decisions`).

use chrono::TimeDelta;
use iam_core::access_request::{AccessRequestFilter, AccessRequestStatus, AccessVerdict, Obstacle};
use iam_core::eligibility::{EligibilityPatch, NewEligibility};
use iam_core::page::PageRequest;
use iam_core::role::RolePatch;
use iam_core::{Conflict, Error, Forbidden, Unauthenticated};
use serde_json::json;

use super::*;

#[tokio::test]
async fn two_others_approve_where_two_are_needed() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &["access-requests:update"]).await;
    let (bob, by_bob) = world.user("bob", &["access-requests:update"]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let new = NewEligibility { approvals: Some(2), ..NewEligibility::of_user(role, grace) };
    let request = world.ask(&session, world.eligibility(new).await).await;
    let refused = world.approve(&session, request.id).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::OwnRequest))), "{refused:?}");
    let first = world.approve(&by_bob, request.id).await.unwrap().request;
    assert_eq!((first.status, first.decisions.len()), (AccessRequestStatus::Pending, 1));
    assert_eq!((first.decisions[0].user_id, first.decisions[0].decision), (bob, AccessVerdict::Approve));
    let refused = world.approve(&by_bob, request.id).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::DecidedBefore))), "{refused:?}");
    assert_eq!(world.approve(&world.ada, request.id).await.unwrap().request.status, AccessRequestStatus::Active);
    let (_, by_mary) = world.user("mary", &["access-requests:update"]).await;
    let refused = world.approve(&by_mary, request.id).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::AccessRequestNotPending))), "{refused:?}");
    assert_eq!(world.actions(request.id).await, ["CREATE", "APPROVED", "APPROVED"]);
    assert_eq!(world.held(grace).await.iter().filter(|held| !held.assignment.is_standing()).count(), 1);
}

#[tokio::test]
async fn one_denial_ends_a_request() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (_, by_bob) = world.user("bob", &["access-requests:update"]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let new = NewEligibility { approvals: Some(2), ..NewEligibility::of_user(role, grace) };
    let eligibility = world.eligibility(new).await;
    let request = world.ask(&session, eligibility).await;
    world.approve(&by_bob, request.id).await.unwrap();
    let requests = world.iam.access_requests();
    let denied = requests.deny(&world.ada, request.id, Some("Not now."), &Precondition::Exists).await.unwrap().request;
    assert_eq!((denied.status, denied.closed_by), (AccessRequestStatus::Denied, world.ada.user()));
    let entry = world.entries(request.id).await.remove(2);
    assert_eq!((&*entry.action, &entry.metadata["decisionReason"]), ("DENIED", &"Not now.".into()));
    assert_eq!(world.held(grace).await, []);
    world.ask(&session, eligibility).await;
}

#[tokio::test]
async fn those_decide_who_hold_the_role_or_the_permission_there_or_above() {
    let world = World::new().await;
    let root = world.organization("Root", None).await;
    let (below, beside) = (world.organization("Below", Some(root)).await, world.organization("Beside", None).await);
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let approver = world.role("APPROVER", &["users:read"]).await;
    let permitted = world.role("PERMITTED", &["access-requests:update"]).await;
    let mut callers = Vec::new();
    for (name, role, place) in [
        ("role-there", approver, Some(below)),
        ("role-above", approver, Some(root)),
        ("role-beside", approver, Some(beside)),
        ("permission-there", permitted, Some(below)),
        ("permission-wide", permitted, None),
        ("permission-beside", permitted, Some(beside)),
    ] {
        let user = world.iam.users().create(&world.ada, person(&format!("{name}@example.com"))).await.unwrap().id;
        world.give(user, role, place).await;
        callers.push((name, world.login(name).await));
    }
    for (approver_role, expected) in [
        (Some(approver), ["role-there", "role-above"].as_slice()),
        (None, ["permission-there", "permission-wide"].as_slice()),
    ] {
        let new = NewEligibility { organization: Some(below), approver_role, ..NewEligibility::of_user(role, grace) };
        let eligibility = world.eligibility(new).await;
        for (name, caller) in &callers {
            let request = world.ask(&session, eligibility).await.id;
            let decided = world.iam.access_requests().deny(caller, request, None, &Precondition::Exists).await;
            assert_eq!(decided.is_ok(), expected.contains(name), "{name} {approver_role:?}");
            if decided.is_err() {
                assert!(matches!(decided, Err(Error::NotFound(_))), "{name}: {decided:?}");
                world.iam.access_requests().cancel(&session, request, None).await.unwrap();
            }
        }
    }
    // Who only reads them sees them, and does not decide.
    let (_, reader) = world.user("reader", &["access-requests:read"]).await;
    let new = NewEligibility { organization: Some(below), ..NewEligibility::of_user(role, grace) };
    let request = world.ask(&session, world.eligibility(new).await).await.id;
    assert!(is_missing(&world.approve(&reader, request).await, "access-requests:update"));
}

#[tokio::test]
async fn an_elevation_does_not_decide() {
    let world = World::new().await;
    let (_, elevated, _) = world.elevated(&["*"]).await;
    let (mary, by_mary) = world.user("mary", &[]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let request = world.ask(&by_mary, world.eligible(mary, role).await).await;
    assert!(world.allows(&elevated, "access-requests:update").await);
    assert!(is_missing(&world.approve(&elevated, request.id).await, "access-requests:update"));
    assert!(is_missing(
        &world.iam.access_requests().cancel(&elevated, request.id, None).await,
        "access-requests:update"
    ));
}

#[tokio::test]
async fn an_elevation_to_the_approver_role_does_not_decide() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let approver = world.role("APPROVER", &["access-requests:read"]).await;
    let asked = world.ask(&session, world.eligible(grace, approver).await).await;
    world.approve(&world.ada, asked.id).await.unwrap();
    let (mary, by_mary) = world.user("mary", &[]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let new = NewEligibility { approver_role: Some(approver), ..NewEligibility::of_user(role, mary) };
    let request = world.ask(&by_mary, world.eligibility(new).await).await;
    // Neither the permission of an administrator nor the elevation is the role that decides.
    for caller in [&world.ada, &world.login("grace").await] {
        let refused = world.approve(caller, request.id).await;
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::NotApprover))), "{refused:?}");
    }
}

#[tokio::test]
async fn a_decision_needs_a_fresh_session_and_no_key() {
    let mut world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (_, by_bob) = world.user("bob", &["access-requests:update"]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let request = world.ask(&session, world.eligible(grace, role).await).await;
    let key = world.key(&by_bob).await;
    let refused = world.approve(&key, request.id).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::ApiKey))), "{refused:?}");
    let refused = world.approve(&Caller::system(world.ada.tenant(), "test"), request.id).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::NotAUser))), "{refused:?}");
    world.pass(TimeDelta::minutes(11)).await;
    let refused = world.approve(&by_bob, request.id).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::NotFresh { .. }))), "{refused:?}");
    world.approve(&world.login("bob").await, request.id).await.unwrap();
}

#[tokio::test]
async fn a_decision_is_about_what_the_role_permits_now() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let request = world.ask(&session, world.eligible(grace, role).await).await.id;
    let requests = world.iam.access_requests();
    let seen = Precondition::OneOf(vec![requests.get(&world.ada, request).await.unwrap().version]);
    let patch = RolePatch { permissions: Some(vec!["*".to_owned()]), ..RolePatch::default() };
    world.iam.roles().update(&world.ada, role, patch).await.unwrap();
    let refused = requests.approve(&world.ada, request, None, &seen).await;
    assert!(matches!(refused, Err(Error::PreconditionFailed)), "{refused:?}");
    let seen = Precondition::OneOf(vec![requests.get(&world.ada, request).await.unwrap().version]);
    requests.approve(&world.ada, request, None, &seen).await.unwrap();
}

#[tokio::test]
async fn approvals_from_before_a_change_of_the_role_do_not_count() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (bob, by_bob) = world.user("bob", &["access-requests:update"]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let new = NewEligibility { approvals: Some(2), ..NewEligibility::of_user(role, grace) };
    let request = world.ask(&session, world.eligibility(new).await).await.id;
    let requests = world.iam.access_requests();
    let to_decide = AccessRequestFilter { to_decide: true, ..AccessRequestFilter::default() };
    let count = async || requests.list(&by_bob, &to_decide, PageRequest::default()).await.unwrap().total;
    world.approve(&by_bob, request).await.unwrap();
    assert_eq!(count().await, 0);
    let patch = RolePatch { permissions: Some(vec!["*".to_owned()]), ..RolePatch::default() };
    world.iam.roles().update(&world.ada, role, patch).await.unwrap();
    assert_eq!(count().await, 1, "it is decided again");
    let one = world.approve(&world.ada, request).await.unwrap();
    assert_eq!((one.request.status, one.request.decisions.len()), (AccessRequestStatus::Pending, 2));
    let counting: Vec<Option<UserId>> = one.request.approvers(one.role_version).map(Some).collect();
    assert_eq!(counting, [world.ada.user()]);
    let last = world.approve(&by_bob, request).await.unwrap().request;
    assert_eq!((last.status, last.decisions.len()), (AccessRequestStatus::Active, 2));
    let assigned = world.entries(last.assignment_id.unwrap()).await.remove(0);
    assert_eq!(assigned.metadata["approvedBy"], json!([world.ada.user(), bob]));
    assert_eq!(world.actions(request).await, ["CREATE", "APPROVED", "APPROVED", "APPROVED"]);
}

#[tokio::test]
async fn approvals_of_users_who_may_not_decide_any_more_do_not_count() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (bob, _) = world.user("bob", &[]).await;
    let decider = world.role("DECIDER", &["access-requests:update"]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    for approver_role in [None, Some(decider)] {
        let (ada, users) = (world.ada.user().unwrap(), world.iam.users());
        if approver_role.is_some() {
            world.give(ada, decider, None).await;
        }
        let approvals = Some(2);
        let new = NewEligibility { approvals, approver_role, ..NewEligibility::of_user(role, grace) };
        let eligibility = world.eligibility(new).await;
        for lost in ["status", "role"] {
            world.give(bob, decider, None).await;
            let request = world.ask(&session, eligibility).await.id;
            world.approve(&world.login("bob").await, request).await.unwrap();
            let held = world.held(bob).await.remove(0).assignment.id;
            if lost == "status" {
                users.suspend(&world.ada, bob).await.unwrap();
            } else {
                world.iam.assignments().delete(&world.ada, held).await.unwrap();
            }
            let one = world.approve(&world.ada, request).await.unwrap().request;
            let deciders: Vec<UserId> = one.decisions.iter().map(|decision| decision.user_id).collect();
            assert_eq!((one.status, deciders), (AccessRequestStatus::Pending, vec![ada]), "{lost}");
            assert_eq!(world.held(grace).await, [], "{lost}");
            // Who may decide again approves anew.
            if lost == "status" {
                users.reactivate(&world.ada, bob).await.unwrap();
            } else {
                world.give(bob, decider, None).await;
            }
            let last = world.approve(&world.login("bob").await, request).await.unwrap().request;
            assert_eq!(last.status, AccessRequestStatus::Active, "{lost}");
            let assigned = world.entries(last.assignment_id.unwrap()).await.remove(0);
            assert_eq!(assigned.metadata["approvedBy"], json!([ada, bob]), "{lost}");
            world.iam.access_requests().end(&session, request, None).await.unwrap();
            let held = world.held(bob).await.remove(0).assignment.id;
            world.iam.assignments().delete(&world.ada, held).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_request_does_not_begin_after_its_approver_was_suspended() {
    let mut world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (bob, by_bob) = world.user("bob", &["access-requests:update"]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let starts_at = Some(world.now() + TimeDelta::minutes(1));
    let new = NewAccessRequest { starts_at, ..asking(world.eligible(grace, role).await) };
    let request = world.iam.access_requests().create(&session, new).await.unwrap().id;
    world.approve(&by_bob, request).await.unwrap();
    world.iam.users().suspend(&world.ada, bob).await.unwrap();
    world.pass(TimeDelta::minutes(1)).await;
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 1);
    assert_eq!(world.status(request).await, AccessRequestStatus::Cancelled);
    let entry = world.entries(request).await.remove(2);
    assert_eq!((&*entry.action, &entry.metadata["cause"]), ("CANCELLED", &"OUTDATED".into()));
    assert_eq!(world.held(grace).await, []);
}

#[tokio::test]
async fn a_request_whose_basis_is_gone_is_cancelled_by_its_approval() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (role, held) = (world.role("READER", &["audit-logs:read"]).await, world.role("HELD", &["users:read"]).await);
    world.give(grace, held, None).await;
    let of_holders = || NewEligibility { user: None, held_role: Some(held), ..NewEligibility::of_user(role, grace) };
    for (case, cause) in [("deleted", "OUTDATED"), ("narrowed", "OUTDATED"), ("not held", "NOT_ELIGIBLE")] {
        let eligibility = world.eligibility(of_holders()).await;
        let session = world.again(&session).await;
        let request = world.ask(&session, eligibility).await.id;
        match case {
            "deleted" => world.iam.eligibilities().delete(&world.ada, eligibility).await.unwrap(),
            "narrowed" => {
                let patch = EligibilityPatch { max_seconds: Some(300), ..EligibilityPatch::default() };
                world.iam.eligibilities().update(&world.ada, eligibility, patch).await.unwrap();
            }
            _ => {
                let held = world.held(grace).await.remove(0).assignment.id;
                world.iam.assignments().delete(&world.ada, held).await.unwrap();
            }
        }
        let obstacle = match case {
            "deleted" => Obstacle::EligibilityEnded,
            "narrowed" => Obstacle::TooLong { at_most: 300 },
            _ => Obstacle::NotEligible,
        };
        assert_eq!(world.iam.trial().obstacle(&session, request).await.unwrap(), Some(obstacle), "{case}");
        let refused = world.approve(&world.ada, request).await;
        assert!(matches!(refused, Err(Error::Conflict(Conflict::AccessRequestOutdated))), "{case}: {refused:?}");
        assert_eq!(world.status(request).await, AccessRequestStatus::Cancelled, "{case}");
        let entry = world.entries(request).await.remove(1);
        assert_eq!((&*entry.action, &entry.metadata["cause"]), ("CANCELLED", &cause.into()), "{case}");
    }
}

#[tokio::test]
async fn who_sees_a_request_learns_what_keeps_it_from_becoming_effective() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (_, by_bob) = world.user("bob", &[]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let eligibility = world.eligible(grace, role).await;
    let request = world.ask(&session, eligibility).await.id;
    let trial = world.iam.trial();
    assert_eq!(trial.obstacle(&session, request).await.unwrap(), None);
    let patch = EligibilityPatch { approvals: Some(2), ..EligibilityPatch::default() };
    world.iam.eligibilities().update(&world.ada, eligibility, patch).await.unwrap();
    assert_eq!(trial.obstacle(&session, request).await.unwrap(), Some(Obstacle::OtherDecisions));
    let hidden = trial.obstacle(&by_bob, request).await;
    assert!(matches!(hidden, Err(Error::NotFound(_))), "{hidden:?}");
    let patch = EligibilityPatch { approvals: Some(1), ..EligibilityPatch::default() };
    world.iam.eligibilities().update(&world.ada, eligibility, patch).await.unwrap();
    world.give(grace, role, None).await;
    assert_eq!(trial.obstacle(&session, request).await.unwrap(), Some(Obstacle::RoleHeld));
}

#[tokio::test]
async fn a_user_learns_how_many_others_can_decide() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &["access-requests:update"]).await;
    let (_, by_bob) = world.user("bob", &["access-requests:update"]).await;
    let (role, decider) = (world.role("READER", &["audit-logs:read"]).await, world.role("DECIDER", &[]).await);
    let eligibilities = world.iam.eligibilities();
    let eligibility = world.eligible(grace, role).await;
    // Bob and Ada, and not Grace herself.
    assert_eq!(eligibilities.count_deciders(&session, eligibility).await.unwrap(), 2);
    let refused = eligibilities.count_deciders(&by_bob, eligibility).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::NotEligible))), "{refused:?}");
    world.give(grace, decider, None).await;
    let new = NewEligibility { approver_role: Some(decider), ..NewEligibility::of_user(role, grace) };
    assert_eq!(eligibilities.count_deciders(&session, world.eligibility(new).await).await.unwrap(), 0);
}

#[tokio::test]
async fn a_request_whose_role_is_gone_can_only_be_closed() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let requests = world.iam.access_requests();
    for verdict in [AccessVerdict::Approve, AccessVerdict::Deny] {
        let role = world.role("READER", &["audit-logs:read"]).await;
        let eligibility = world.eligible(grace, role).await;
        let request = world.ask(&session, eligibility).await.id;
        world.iam.eligibilities().delete(&world.ada, eligibility).await.unwrap();
        world.iam.roles().delete(&world.ada, role).await.unwrap();
        let found = requests.get(&session, request).await.unwrap();
        assert_eq!((found.request.status, found.role, found.role_version), (AccessRequestStatus::Pending, None, None));
        let closed = if verdict == AccessVerdict::Deny {
            requests.deny(&world.ada, request, None, &Precondition::Exists).await.unwrap();
            AccessRequestStatus::Denied
        } else {
            let refused = world.approve(&world.ada, request).await;
            assert!(matches!(refused, Err(Error::Conflict(Conflict::AccessRequestOutdated))), "{refused:?}");
            AccessRequestStatus::Cancelled
        };
        assert_eq!(world.status(request).await, closed);
        assert_eq!(world.held(grace).await, []);
    }
}
