//! When an elevation ends before its time (`docs/access-requests.md#the-end-of-an-elevation`).

use chrono::TimeDelta;
use iam_core::access_request::{AccessRequestStatus, NewAccessRequest};
use iam_core::access_review::{NewAccessReview, NewDecision, ReviewDecision, ReviewItemKind, ReviewOutcome};
use iam_core::eligibility::NewEligibility;
use iam_core::organization::{OrganizationPatch, OrganizationStatus};
use iam_core::page::PageRequest;
use iam_core::{Conflict, Error, Forbidden};

use super::*;

#[tokio::test]
async fn its_user_ends_it_and_so_does_who_may_revoke_roles() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let eligibility = world.eligible(grace, role).await;
    let (_, revoker) = world.user("revoker", &["role-assignments:delete"]).await;
    let (_, reader) = world.user("reader", &["access-requests:read"]).await;
    let (_, stranger) = world.user("stranger", &["users:read"]).await;
    for by in [&session, &revoker] {
        let request = world.ask(&session, eligibility).await.id;
        let refused = world.iam.access_requests().end(&session, request, None).await;
        assert!(matches!(refused, Err(Error::Conflict(Conflict::AccessRequestNotActive))), "{refused:?}");
        world.approve(&world.ada, request).await.unwrap();
        let requests = world.iam.access_requests();
        assert!(is_missing(&requests.end(&reader, request, None).await, "role-assignments:delete"));
        let refused = requests.end(&stranger, request, None).await;
        assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
        let refused = requests.cancel(&session, request, None).await;
        assert!(matches!(refused, Err(Error::Conflict(Conflict::AccessRequestNotWaiting))), "{refused:?}");
        let ended = requests.end(by, request, None).await.unwrap().request;
        assert_eq!((ended.status, ended.closed_by), (AccessRequestStatus::Ended, by.user()));
        assert_eq!(world.held(grace).await, []);
        assert_eq!(world.entries(request).await.last().unwrap().metadata["cause"], "ENDED");
    }
}

#[tokio::test]
async fn it_ends_with_its_assignment() {
    let world = World::new().await;
    let (_, _, request) = world.elevated(&["users:read"]).await;
    let assignment = request.assignment_id.unwrap();
    world.iam.assignments().delete(&world.ada, assignment).await.unwrap();
    assert_eq!(world.actions(request.id).await, ["CREATE", "APPROVED", "ENDED"]);
    assert_eq!(world.entries(assignment).await[1].metadata["reason"], "ENDED");
}

#[tokio::test]
async fn it_ends_with_its_organization() {
    let world = World::new().await;
    let branch = world.organization("Branch", None).await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let new = NewEligibility { organization: Some(branch), ..NewEligibility::of_user(role, grace) };
    let request = world.ask(&session, world.eligibility(new).await).await.id;
    world.approve(&world.ada, request).await.unwrap();
    world.iam.organizations().delete(&world.ada, branch).await.unwrap();
    assert_eq!(world.status(request).await, AccessRequestStatus::Ended);
    assert_eq!(world.entries(request).await.last().unwrap().metadata["cause"], "ORGANIZATION_DELETED");
}

#[tokio::test]
async fn what_waits_in_a_deleted_organization_does_not_begin_after_its_restoration() {
    let world = World::new().await;
    let branch = world.organization("Branch", None).await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let new = NewEligibility { organization: Some(branch), ..NewEligibility::of_user(role, grace) };
    let request = world.ask(&session, world.eligibility(new).await).await.id;
    world.iam.organizations().delete(&world.ada, branch).await.unwrap();
    let restore = OrganizationPatch { status: Some(OrganizationStatus::Active), ..OrganizationPatch::default() };
    world.iam.organizations().update(&world.ada, branch, restore).await.unwrap();
    let refused = world.approve(&world.ada, request).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::AccessRequestOutdated))), "{refused:?}");
    assert_eq!(world.status(request).await, AccessRequestStatus::Cancelled);
    assert_eq!(world.held(grace).await, []);
}

#[tokio::test]
async fn a_key_of_its_user_neither_ends_it_nor_cancels_what_waits() {
    let world = World::new().await;
    let (grace, session, active) = world.elevated(&["users:read"]).await;
    let key = world.key(&session).await;
    let waiting = world.role("WAITING", &["users:read"]).await;
    let waiting = world.ask(&session, world.eligible(grace, waiting).await).await.id;
    let requests = world.iam.access_requests();
    for refused in [requests.end(&key, active.id, None).await, requests.cancel(&key, waiting, None).await] {
        assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    }
    assert_eq!(world.status(active.id).await, AccessRequestStatus::Active);
    assert_eq!(world.status(waiting).await, AccessRequestStatus::Pending);
}

#[tokio::test]
async fn a_suspended_user_loses_it_for_good_with_all_that_waits() {
    let world = World::new().await;
    let (mary, _) = world.user("mary", &[]).await;
    let (grace, elevated, request) = world.elevated(&["role-assignments:create", "users:read"]).await;
    let role = world.role("READER", &["users:read"]).await;
    let new = iam_core::assignment::NewAssignment { user: mary, role, organization: None, expires_at: request.ends_at };
    world.iam.assignments().create(&elevated, new).await.unwrap();
    let session = world.login("grace").await;
    let waiting = world.role("WAITING", &["users:read"]).await;
    let waiting = world.ask(&session, world.eligible(grace, waiting).await).await.id;
    let later = world.role("LATER", &["users:read"]).await;
    let starts_at = Some(world.now() + TimeDelta::hours(1));
    let later = NewAccessRequest { starts_at, ..asking(world.eligible(grace, later).await) };
    let later = world.iam.access_requests().create(&session, later).await.unwrap().id;
    world.approve(&world.ada, later).await.unwrap();

    world.iam.users().suspend(&world.ada, grace).await.unwrap();
    world.iam.users().reactivate(&world.ada, grace).await.unwrap();
    assert_eq!((world.held(grace).await, world.held(mary).await), (vec![], vec![]));
    assert_eq!(world.status(request.id).await, AccessRequestStatus::Ended);
    for cancelled in [waiting, later] {
        assert_eq!(world.status(cancelled).await, AccessRequestStatus::Cancelled);
        assert_eq!(world.entries(cancelled).await.last().unwrap().metadata["cause"], "USER_SUSPENDED");
    }
    assert_eq!(world.entries(request.assignment_id.unwrap()).await[1].metadata["reason"], "ENDED");
}

#[tokio::test]
async fn a_deleted_user_loses_it_with_all_that_waits() {
    let world = World::new().await;
    let (grace, _, request) = world.elevated(&["users:read"]).await;
    let waiting = world.role("WAITING", &["users:read"]).await;
    let eligibility = world.eligible(grace, waiting).await;
    let waiting = world.ask(&world.login("grace").await, eligibility).await.id;
    world.iam.users().delete(&world.ada, grace).await.unwrap();
    assert_eq!(world.status(request.id).await, AccessRequestStatus::Ended);
    assert_eq!(world.entries(request.id).await.last().unwrap().metadata["cause"], "USER_DELETED");
    assert_eq!(world.status(waiting).await, AccessRequestStatus::Cancelled);
    assert_eq!(world.entries(waiting).await.last().unwrap().metadata["cause"], "USER_DELETED");
}

#[tokio::test]
async fn an_erasure_removes_the_requests_of_its_user() {
    let world = World::new().await;
    let (grace, _, request) = world.elevated(&["users:read"]).await;
    let (mary, of_mary) = world.user("mary", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let of_mary = world.ask(&of_mary, world.eligible(mary, role).await).await.id;
    world.iam.access_requests().deny(&world.ada, of_mary, None, &Precondition::Exists).await.unwrap();
    world.iam.users().delete(&world.ada, grace).await.unwrap();
    world.iam.audit().erase(&world.ada, grace).await.unwrap();
    let gone = world.iam.access_requests().get(&world.ada, request.id).await;
    assert!(matches!(gone, Err(Error::NotFound(_))), "{gone:?}");
    assert_eq!(world.actions(request.id).await, ["CREATE", "APPROVED", "ENDED"]);
    assert_eq!(world.status(of_mary).await, AccessRequestStatus::Denied);
}

#[tokio::test]
async fn a_running_one_goes_on_without_its_eligibility() {
    let world = World::new().await;
    let (grace, _, request) = world.elevated(&["users:read"]).await;
    world.iam.eligibilities().delete(&world.ada, request.eligibility_id).await.unwrap();
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 0);
    assert_eq!((world.status(request.id).await, world.held(grace).await.len()), (AccessRequestStatus::Active, 1));
}

#[tokio::test]
async fn the_removal_of_expired_assignments_closes_its_request() {
    let mut world = World::new().await;
    let (_, _, request) = world.elevated(&["users:read"]).await;
    world.pass(TimeDelta::hours(1)).await;
    assert_eq!(world.iam.remove_expired_assignments().await.unwrap(), 1);
    assert_eq!(world.actions(request.id).await, ["CREATE", "APPROVED", "ENDED"]);
    assert_eq!(world.iam.advance_access_requests().await.unwrap(), 0);
}

#[tokio::test]
async fn a_review_removes_eligibilities_and_no_user_decides_about_its_own() {
    let world = World::new().await;
    let (grace, _) = world.user("grace", &["access-reviews:*", "role-assignments:*", "eligibilities:*"]).await;
    let (role, held) = (world.role("READER", &["users:read"]).await, world.role("HELD", &["users:read"]).await);
    world.give(grace, held, None).await;
    let of_user = world.eligible(grace, role).await;
    let of_holders = NewEligibility { user: None, held_role: Some(held), ..NewEligibility::of_user(role, grace) };
    let of_holders = world.eligibility(of_holders).await;
    let reviews = world.iam.access_reviews();
    let new = NewAccessReview {
        name: "Spring".to_owned(),
        organization: None,
        roles: vec![role],
        users: Vec::new(),
        due_at: world.now() + TimeDelta::days(1),
    };
    let made = reviews.create(&world.ada, new).await.unwrap();
    assert_eq!(made.progress.total, 2);
    let review = made.review.id;
    let session = world.login("grace").await;
    let revoke = || NewDecision { decision: ReviewDecision::Revoke, reason: None };
    for item in [of_user, of_holders] {
        let refused = reviews.decide(&session, review, item, revoke()).await;
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::OwnAccess))), "{refused:?}");
        let decided = reviews.decide(&world.ada, review, item, revoke()).await.unwrap();
        assert_eq!((decided.item.subject.kind(), decided.item.id()), (ReviewItemKind::Eligibility, item.into()));
    }
    let refused = reviews.complete(&session, review).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::OwnAccess))), "{refused:?}");
    reviews.complete(&world.ada, review).await.unwrap();
    let items = reviews.all_items(&world.ada, review, None).await.unwrap();
    assert!(items.iter().all(|listed| listed.item.outcome == Some(ReviewOutcome::Revoked)));
    assert_eq!(world.iam.eligibilities().list(&world.ada, PageRequest::default()).await.unwrap().total, 0);
    assert_eq!(world.entries(of_user).await[1].metadata["reason"], "ACCESS_REVIEW");
}

/// They end in several units of work.
#[tokio::test]
async fn elevations_that_have_given_much_end_in_one_call() {
    for advances in [true, false] {
        let mut world = World::new().await;
        let giver = world.role("GIVER", &["role-assignments:*", "users:read"]).await;
        let mut roles = Vec::new();
        for number in 0..50 {
            roles.push(world.role(&format!("READER_{number}"), &["users:read"]).await);
        }
        for name in ["grace", "mary", "joan"] {
            let (user, session) = world.user(name, &[]).await;
            let request = world.ask(&session, world.eligible(user, giver).await).await.id;
            let expires_at = world.approve(&world.ada, request).await.unwrap().request.ends_at;
            let mut new = Vec::new();
            for number in 0..10 {
                let person = person(&format!("{name}{number}@example.com"));
                let user = world.iam.users().create(&world.ada, person).await.unwrap().id;
                new.extend(roles.iter().map(|&role| NewAssignment { user, role, organization: None, expires_at }));
            }
            world.iam.assignments().create_all(&world.login(name).await, &new).await.unwrap();
        }
        world.pass(TimeDelta::hours(1)).await;
        if advances {
            assert_eq!(world.iam.advance_access_requests().await.unwrap(), 3);
            assert_eq!(world.iam.remove_expired_assignments().await.unwrap(), 0);
        } else {
            world.iam.remove_expired_assignments().await.unwrap();
            assert_eq!(world.iam.advance_access_requests().await.unwrap(), 0);
        }
    }
}
