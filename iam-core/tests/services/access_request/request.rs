//! How users ask, and what a request does by itself (`docs/access-requests.md#requests`).

use chrono::TimeDelta;
use iam_core::access_request::{AccessRequestStatus, MAX_OPEN, NewAccessRequest};
use iam_core::eligibility::{EligibilityPatch, NewEligibility};
use iam_core::page::MAX_LIMIT;
use iam_core::preview::Direction;
use iam_core::role::RolePatch;
use iam_core::user::NewServiceAccount;
use iam_core::{Conflict, Error, Forbidden, Unauthenticated};
use serde_json::json;

use super::*;

#[tokio::test]
async fn a_request_becomes_effective_by_its_approval_and_ends_by_itself() {
    let mut world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let eligibility = world.eligible(grace, role).await;
    let request = world.ask(&session, eligibility).await;
    assert_eq!((request.status, request.seconds, request.approvals_needed), (AccessRequestStatus::Pending, 3_600, 1));
    assert_eq!(request.lapses_at, world.now() + TimeDelta::hours(72));
    assert!(!world.allows(&world.login("grace").await, "audit-logs:read").await);
    world.clock.advance(TimeDelta::minutes(5));
    let approved = world.approve(&world.ada, request.id).await.unwrap().request;
    let (start, end) = (world.now(), world.now() + TimeDelta::hours(1));
    assert_eq!((approved.starts_at, approved.ends_at), (Some(start), Some(end)), "time runs from the last approval");
    let held = world.held(grace).await.remove(0).assignment;
    assert_eq!((held.access_request_id, held.expires_at), (Some(request.id), Some(end)));
    assert_eq!((approved.assignment_id, held.created_by), (Some(held.id), world.ada.user()));
    assert!(world.allows(&world.login("grace").await, "audit-logs:read").await);

    let assigned = world.entries(held.id).await.remove(0);
    assert_eq!(assigned.action, "ROLE_ASSIGNED");
    assert_eq!(assigned.metadata["accessRequestId"], json!(request.id));
    assert_eq!(assigned.metadata["approvedBy"], json!([world.ada.user()]));

    // At its instant, whether or not it was swept.
    world.pass(TimeDelta::hours(1)).await;
    assert_eq!(world.status(request.id).await, AccessRequestStatus::Ended);
    assert!(!world.allows(&world.login("grace").await, "audit-logs:read").await);
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 1);
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 0);
    assert_eq!(world.actions(request.id).await, ["CREATE", "APPROVED", "ENDED"]);
    for entry in world.entries(request.id).await {
        assert_eq!(
            (&entry.metadata["reason"], &entry.metadata["ticket"]),
            (&json!("The disk is full."), &json!("OPS-7"))
        );
    }
    let revoked = world.entries(held.id).await.remove(1);
    assert_eq!((&*revoked.action, &revoked.metadata["reason"]), ("ROLE_REVOKED", &json!("EXPIRED")));
    assert_eq!(revoked.metadata["accessRequestId"], json!(request.id));
}

#[tokio::test]
async fn users_ask_in_a_fresh_session_by_what_they_are_eligible_for() {
    let mut world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (_, other) = world.user("other", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let eligibility = world.eligible(grace, role).await;
    let key = world.key(&session).await;
    let refused = world.try_ask(&key, eligibility).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::ApiKey))), "{refused:?}");
    let refused = world.try_ask(&other, eligibility).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::NotEligible))), "{refused:?}");
    world.pass(TimeDelta::minutes(11)).await;
    let refused = world.try_ask(&session, eligibility).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::NotFresh { .. }))), "{refused:?}");
    let session = world.login("grace").await;
    for (seconds, starts_at) in [(Some(59), None), (Some(3_601), None), (None, Some(world.now() + TimeDelta::days(31)))]
    {
        let new = NewAccessRequest { seconds, starts_at, ..asking(eligibility) };
        let refused = world.iam.access_requests().create(&session, new).await;
        assert!(matches!(refused, Err(Error::Validation(_))), "{refused:?}");
    }
    world.ask(&session, eligibility).await;
    let refused = world.try_ask(&session, eligibility).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::AccessRequestOpen))), "{refused:?}");
    let narrow =
        EligibilityPatch { expires_at: Some(Some(world.now() + TimeDelta::minutes(1))), ..EligibilityPatch::default() };
    let another = world.eligible(grace, role).await;
    world.iam.eligibilities().update(&world.ada, another, narrow).await.unwrap();
    world.clock.advance(TimeDelta::minutes(1));
    let refused = world.try_ask(&session, another).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::NotEligible))), "{refused:?}");
}

#[tokio::test]
async fn a_user_has_a_limited_number_of_open_requests() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let mut first = None;
    for number in 0..MAX_OPEN {
        let role = world.role(&format!("READER_{number}"), &["users:read"]).await;
        let request = world.ask(&session, world.eligible(grace, role).await).await;
        first = first.or(Some(request.id));
    }
    let role = world.role("ONE_MORE", &["users:read"]).await;
    let eligibility = world.eligible(grace, role).await;
    let refused = world.try_ask(&session, eligibility).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::TooManyAccessRequests))), "{refused:?}");
    world.iam.access_requests().cancel(&session, first.unwrap(), None).await.unwrap();
    world.ask(&session, eligibility).await;
}

#[tokio::test]
async fn without_approvals_a_request_is_effective_at_once_and_administrators_are_told() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let new = NewEligibility { approvals: Some(0), ..NewEligibility::of_user(role, grace) };
    let eligibility = world.eligibility(new).await;
    let request = world.ask(&session, eligibility).await;
    assert_eq!(request.status, AccessRequestStatus::Active);
    assert_eq!(world.held(grace).await[0].assignment.created_by, Some(grace));
    assert_eq!(world.actions(request.id).await, ["CREATE"]);
    let assigned = world.entries(request.assignment_id.unwrap()).await.remove(0);
    assert_eq!(assigned.metadata["approvedBy"], json!([]));
    assert_eq!(world.mailed().await, [(MailKind::AccessActivated, "ada@example.com".to_owned())]);
}

#[tokio::test]
async fn a_role_that_the_user_holds_is_not_asked_for() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let eligibility = world.eligible(grace, role).await;
    let request = world.ask(&session, eligibility).await;
    world.give(grace, role, None).await;
    let refused = world.approve(&world.ada, request.id).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::RoleHeld))), "{refused:?}");
    assert_eq!(world.status(request.id).await, AccessRequestStatus::Cancelled);
    let refused = world.try_ask(&session, eligibility).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::RoleHeld))), "{refused:?}");
}

#[tokio::test]
async fn a_request_that_is_approved_for_later_begins_then_if_it_still_could_be_approved() {
    let mut world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let other = world.role("WRITER", &["users:update"]).await;
    let mut asked = Vec::new();
    for role in [role, other] {
        let eligibility = world.eligible(grace, role).await;
        let start = world.now() + TimeDelta::hours(2);
        let new = NewAccessRequest { starts_at: Some(start), ..asking(eligibility) };
        let request = world.iam.access_requests().create(&session, new).await.unwrap();
        let approved = world.approve(&world.ada, request.id).await.unwrap().request;
        assert_eq!((approved.status, approved.starts_at), (AccessRequestStatus::Approved, Some(start)));
        asked.push((eligibility, request.id, start));
    }
    assert_eq!((world.held(grace).await.len(), world.iam.advance_access_requests().await.unwrap()), (0, 0));
    let ((_, kept, start), (removed, gone, _)) = (asked[0], asked[1]);
    world.iam.eligibilities().delete(&world.ada, removed).await.unwrap();
    world.pass(TimeDelta::hours(2)).await;
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 2);
    let held = world.held(grace).await;
    assert_eq!((held.len(), held[0].assignment.access_request_id), (1, Some(kept)));
    assert_eq!(held[0].assignment.expires_at, Some(start + TimeDelta::hours(1)));
    assert_eq!(world.status(gone).await, AccessRequestStatus::Cancelled);
    assert_eq!(world.entries(gone).await.last().unwrap().metadata["cause"], "OUTDATED");
    assert_eq!(world.actions(kept).await, ["CREATE", "APPROVED"]);
    let assigned = world.entries(held[0].assignment.id).await.remove(0);
    assert_eq!((assigned.user_id, &assigned.metadata["approvedBy"]), (None, &json!([world.ada.user()])));
}

/// The end of the one must not take away what the other gives from the same instant on.
#[tokio::test]
async fn an_elevation_begins_at_the_instant_at_which_another_one_of_the_same_role_ends() {
    let mut world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let (one, other) = (world.eligible(grace, role).await, world.eligible(grace, role).await);
    let start = world.now() + TimeDelta::hours(1);
    let later = NewAccessRequest { starts_at: Some(start), ..asking(other) };
    let later = world.iam.access_requests().create(&session, later).await.unwrap().id;
    world.approve(&world.ada, later).await.unwrap();
    let first = world.ask(&session, one).await.id;
    assert_eq!(world.approve(&world.ada, first).await.unwrap().request.ends_at, Some(start));
    world.pass(TimeDelta::hours(1)).await;
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 2);
    let held = world.held(grace).await;
    assert_eq!((held.len(), held[0].assignment.access_request_id), (1, Some(later)));
    assert_eq!(held[0].assignment.expires_at, Some(start + TimeDelta::hours(1)));
    assert!(world.allows(&world.login("grace").await, "users:read").await);
    assert_eq!(world.actions(first).await, ["CREATE", "APPROVED", "ENDED"]);
    assert_eq!(world.entries(first).await.last().unwrap().metadata["cause"], "EXPIRED");
}

#[tokio::test]
async fn a_role_that_is_held_now_is_asked_for_from_its_end_on() {
    let mut world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let first = world.ask(&session, world.eligible(grace, role).await).await.id;
    let end = world.approve(&world.ada, first).await.unwrap().request.ends_at.unwrap();
    let eligibility = world.eligible(grace, role).await;
    let from = |start| NewAccessRequest { starts_at: Some(start), ..asking(eligibility) };
    let refused = world.iam.access_requests().create(&session, from(end - TimeDelta::seconds(1))).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::RoleHeld))), "{refused:?}");
    let later = world.iam.access_requests().create(&session, from(end)).await.unwrap().id;
    let trial = world.iam.trial();
    let outcome = trial.activate(&world.ada, later).await;
    assert!(trial.preview(&world.ada, outcome).await.unwrap().refusal.is_none());
    assert_eq!(world.approve(&world.ada, later).await.unwrap().request.status, AccessRequestStatus::Approved);
    assert_eq!(world.held(grace).await[0].assignment.access_request_id, Some(first));
    world.pass(TimeDelta::hours(1)).await;
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 2);
    assert_eq!(world.held(grace).await[0].assignment.access_request_id, Some(later));
}

#[tokio::test]
async fn more_requests_begin_in_one_call_than_one_unit_of_work_advances() {
    let mut world = World::new().await;
    let start = world.now() + TimeDelta::hours(1);
    let (grace, of_grace) = world.user("grace", &[]).await;
    let (mary, of_mary) = world.user("mary", &[]).await;
    for number in 0..11 {
        let role = world.role(&format!("READER_{number}"), &["users:read"]).await;
        for (user, session) in [(grace, &of_grace), (mary, &of_mary)] {
            let new = NewEligibility { approvals: Some(0), ..NewEligibility::of_user(role, user) };
            let new = NewAccessRequest { starts_at: Some(start), ..asking(world.eligibility(new).await) };
            world.iam.access_requests().create(session, new).await.unwrap();
        }
    }
    world.pass(TimeDelta::hours(1)).await;
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 22);
    assert_eq!((world.held(grace).await.len(), world.held(mary).await.len()), (11, 11));
}

#[tokio::test]
async fn a_request_that_is_approved_for_later_does_not_begin_after_a_change_of_its_role() {
    let mut world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let mut asked = Vec::new();
    for (name, approvals) in [("READER", 1), ("WRITER", 0)] {
        let role = world.role(name, &["users:read"]).await;
        let new = NewEligibility { approvals: Some(approvals), ..NewEligibility::of_user(role, grace) };
        let eligibility = world.eligibility(new).await;
        let new = NewAccessRequest { starts_at: Some(world.now() + TimeDelta::hours(2)), ..asking(eligibility) };
        let request = world.iam.access_requests().create(&session, new).await.unwrap().id;
        if approvals > 0 {
            world.approve(&world.ada, request).await.unwrap();
        }
        assert_eq!(world.status(request).await, AccessRequestStatus::Approved);
        let permissions = Some(vec!["users:read".to_owned(), "users:update".to_owned()]);
        let patch = RolePatch { permissions, ..RolePatch::default() };
        world.iam.roles().update(&world.ada, role, patch).await.unwrap();
        asked.push(request);
    }
    world.pass(TimeDelta::hours(2)).await;
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 2);
    assert_eq!(world.status(asked[0]).await, AccessRequestStatus::Cancelled);
    assert_eq!(world.entries(asked[0]).await.last().unwrap().metadata["cause"], "OUTDATED");
    assert_eq!(world.status(asked[1]).await, AccessRequestStatus::Active, "no approval was about the role");
}

#[tokio::test]
async fn a_request_without_its_approvals_lapses() {
    let mut world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let eligibility = world.eligible(grace, role).await;
    let request = world.ask(&session, eligibility).await;
    world.pass(TimeDelta::hours(72)).await;
    assert_eq!(world.status(request.id).await, AccessRequestStatus::Lapsed);
    let refused = world.approve(&world.ada, request.id).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::AccessRequestNotPending))), "{refused:?}");
    // It does not stand in the way of another one.
    world.ask(&world.login("grace").await, eligibility).await;
    assert_eq!(world.actions(request.id).await, ["CREATE", "LAPSED"]);
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 0);
}

#[tokio::test]
async fn an_elevation_ends_with_its_eligibility() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let end = Some(world.now() + TimeDelta::minutes(30));
    let new = NewEligibility { expires_at: end, ..NewEligibility::of_user(role, grace) };
    let request = world.ask(&session, world.eligibility(new).await).await;
    assert_eq!(world.approve(&world.ada, request.id).await.unwrap().request.ends_at, end);
}

/// Also if the end of the eligibility was moved after the approval.
#[tokio::test]
async fn an_elevation_that_begins_later_ends_with_its_eligibility() {
    let mut world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let eligibility = world.eligible(grace, role).await;
    let start = world.now() + TimeDelta::hours(2);
    let new = NewAccessRequest { starts_at: Some(start), ..asking(eligibility) };
    let request = world.iam.access_requests().create(&session, new).await.unwrap().id;
    let approved = world.approve(&world.ada, request).await.unwrap().request;
    assert_eq!(approved.ends_at, Some(start + TimeDelta::hours(1)));
    let end = Some(start + TimeDelta::minutes(30));
    let narrow = EligibilityPatch { expires_at: Some(end), ..EligibilityPatch::default() };
    world.iam.eligibilities().update(&world.ada, eligibility, narrow).await.unwrap();
    world.pass(TimeDelta::hours(2)).await;
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 1);
    assert_eq!(world.held(grace).await[0].assignment.expires_at, end);
    let begun = world.iam.access_requests().get(&world.ada, request).await.unwrap().request;
    assert_eq!((begun.status, begun.ends_at), (AccessRequestStatus::Active, end));
}

#[tokio::test]
async fn those_who_decide_and_the_user_are_told() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (_, _) = world.user("bob", &["access-requests:*"]).await;
    let (_, _) = world.user("reader", &["access-requests:read"]).await;
    let told = |kind, name: &str| (kind, format!("{name}@example.com"));
    let asked = [told(MailKind::AccessRequested, "ada"), told(MailKind::AccessRequested, "bob")];
    let mut requests = Vec::new();
    for name in ["READER", "OTHER"] {
        let role = world.role(name, &["users:read"]).await;
        requests.push(world.ask(&session, world.eligible(grace, role).await).await.id);
        assert_eq!(world.mailed().await, asked);
    }
    world.approve(&world.ada, requests[0]).await.unwrap();
    let access_requests = world.iam.access_requests();
    access_requests.deny(&world.ada, requests[1], Some("Not now."), &Precondition::Exists).await.unwrap();
    assert_eq!(world.mailed().await, [told(MailKind::AccessApproved, "grace"), told(MailKind::AccessDenied, "grace")]);
}

#[tokio::test]
async fn the_user_is_told_of_a_request_that_comes_to_nothing() {
    let mut world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let eligibility = world.eligible(grace, role).await;
    let told = [(MailKind::AccessDenied, "grace@example.com".to_owned())];
    // It lapses.
    world.ask(&session, eligibility).await;
    world.mailed().await;
    world.pass(TimeDelta::hours(72)).await;
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 1);
    assert_eq!(world.mailed().await, told);
    // It is approved, and does not begin.
    let session = world.login("grace").await;
    let new = NewAccessRequest { starts_at: Some(world.now() + TimeDelta::hours(1)), ..asking(eligibility) };
    let request = world.iam.access_requests().create(&session, new).await.unwrap().id;
    world.approve(&world.ada, request).await.unwrap();
    world.mailed().await;
    world.iam.eligibilities().delete(&world.ada, eligibility).await.unwrap();
    world.pass(TimeDelta::hours(1)).await;
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 1);
    assert_eq!(world.mailed().await, told);
    // Its approval comes too late.
    let eligibility = world.eligible(grace, role).await;
    let request = world.ask(&world.login("grace").await, eligibility).await.id;
    world.mailed().await;
    world.iam.eligibilities().delete(&world.ada, eligibility).await.unwrap();
    let refused = world.approve(&world.ada, request).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::AccessRequestOutdated))), "{refused:?}");
    assert_eq!(world.mailed().await, told);
}

/// Who makes harmless requests hides neither a dangerous one nor those of others.
#[tokio::test]
async fn messages_are_limited_for_each_user_and_eligibility() {
    let mut world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (mary, of_mary) = world.user("mary", &[]).await;
    world.verify(&["ada"]).await;
    let mut eligibilities = Vec::new();
    for (user, name, approvals) in
        [(grace, "HARMLESS", 1), (grace, "LOW", 0), (grace, "ALL", 0), (mary, "OF_MARY", 1), (mary, "BY_MARY", 0)]
    {
        let permissions: &[&str] = if name == "ALL" { &["*"] } else { &[] };
        let role = world.role(name, permissions).await;
        let new = NewEligibility { approvals: Some(approvals), ..NewEligibility::of_user(role, user) };
        eligibilities.push(world.eligibility(new).await);
    }
    let access_requests = world.iam.access_requests();
    let requested = [(MailKind::AccessRequested, "ada@example.com".to_owned())];
    let activated = [(MailKind::AccessActivated, "ada@example.com".to_owned())];
    for number in 0..5 {
        let request = world.ask(&session, eligibilities[0]).await;
        assert_eq!(world.mailed().await, if number < 3 { &requested[..] } else { &[] });
        access_requests.cancel(&session, request.id, None).await.unwrap();
        let request = world.ask(&session, eligibilities[1]).await;
        assert_eq!(world.mailed().await, if number < 3 { &activated[..] } else { &[] });
        access_requests.end(&session, request.id, None).await.unwrap();
    }
    world.ask(&session, eligibilities[2]).await;
    assert_eq!(world.mailed().await, activated);
    world.ask(&of_mary, eligibilities[3]).await;
    assert_eq!(world.mailed().await, requested);
    world.ask(&of_mary, eligibilities[4]).await;
    assert_eq!(world.mailed().await, activated);
    // The others are told together, when the first is an hour old.
    world.pass(TimeDelta::hours(1)).await;
    assert_eq!(world.mailed().await, [requested, activated].concat());
}

/// A stranger could register an address in many tenants.
#[tokio::test]
async fn an_address_that_is_not_verified_has_one_limit() {
    let mut world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let told = [(MailKind::AccessRequested, "ada@example.com".to_owned())];
    for number in 0..4 {
        let role = world.role(&format!("READER_{number}"), &["users:read"]).await;
        world.ask(&session, world.eligible(grace, role).await).await;
        assert_eq!(world.mailed().await, if number < 3 { &told[..] } else { &[] });
    }
    world.pass(TimeDelta::hours(1)).await;
    assert_eq!(world.mailed().await, told);
}

#[tokio::test]
async fn only_holders_of_the_approver_role_are_told() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (bob, _) = world.user("bob", &[]).await;
    let (role, approver) = (world.role("READER", &["users:read"]).await, world.role("APPROVER", &["users:read"]).await);
    world.give(bob, approver, None).await;
    world.give(grace, approver, None).await;
    let new = NewEligibility { approver_role: Some(approver), ..NewEligibility::of_user(role, grace) };
    world.ask(&session, world.eligibility(new).await).await;
    assert_eq!(world.mailed().await, [(MailKind::AccessRequested, "bob@example.com".to_owned())]);
}

#[tokio::test]
async fn a_person_is_told_also_where_many_service_accounts_hold_the_role() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (role, approver) = (world.role("READER", &["users:read"]).await, world.role("APPROVER", &["users:read"]).await);
    for number in 0..MAX_LIMIT {
        let robot = NewServiceAccount { name: format!("Robot {number}") };
        let robot = world.iam.users().create_service_account(&world.ada, robot).await.unwrap().id;
        world.give(robot, approver, None).await;
    }
    let (bob, _) = world.user("bob", &[]).await;
    world.give(bob, approver, None).await;
    let new = NewEligibility { approver_role: Some(approver), ..NewEligibility::of_user(role, grace) };
    world.ask(&session, world.eligibility(new).await).await;
    assert_eq!(world.mailed().await, [(MailKind::AccessRequested, "bob@example.com".to_owned())]);
}

#[tokio::test]
async fn a_preview_shows_what_a_request_would_give() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (_, bob) = world.user("bob", &["access-requests:update"]).await;
    let role = world.role("READER", &["users:read"]).await;
    let eligibility = world.eligible(grace, role).await;
    let gained = |preview: iam_core::Preview| {
        assert!(preview.refusal.is_none());
        let [change] = &preview.changes[..] else { panic!("{:?}", preview.changes) };
        assert_eq!(
            (change.user, change.permission.as_str(), change.direction),
            (grace, "users:read", Direction::Gained)
        );
    };
    let trial = world.iam.trial();
    let outcome = trial.access_requests().create(&session, asking(eligibility)).await;
    gained(trial.preview(&session, outcome).await.unwrap());
    assert_eq!(world.held(grace).await, []);
    let request = world.ask(&session, eligibility).await;
    // For who decides, too.
    let outcome = trial.activate(&bob, request.id).await;
    gained(trial.preview(&bob, outcome).await.unwrap());
    assert_eq!(world.status(request.id).await, AccessRequestStatus::Pending);
    let (_, stranger) = world.user("stranger", &["users:read"]).await;
    let refused = trial.activate(&stranger, request.id).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
}
