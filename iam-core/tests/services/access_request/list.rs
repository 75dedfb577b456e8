//! Which requests a caller sees (`docs/access-requests.md#who-sees-requests`).

use chrono::TimeDelta;
use iam_core::Error;
use iam_core::access_request::{AccessRequestFilter, AccessRequestStatus};
use iam_core::eligibility::NewEligibility;
use iam_core::page::PageRequest;

use super::*;

async fn listed(world: &World, caller: &Caller, filter: AccessRequestFilter) -> Vec<AccessRequestId> {
    let page = world.iam.access_requests().list(caller, &filter, PageRequest::default()).await.unwrap();
    assert_eq!(page.total, page.items.len() as u64);
    page.items.into_iter().map(|listed| listed.request.id).collect()
}

#[tokio::test]
async fn callers_see_their_own_requests_those_to_read_and_those_to_decide() {
    let world = World::new().await;
    let root = world.organization("Root", None).await;
    let below = world.organization("Below", Some(root)).await;
    let (grace, session) = world.user("grace", &[]).await;
    let (mary, by_mary) = world.user("mary", &[]).await;
    let tick = || world.clock.advance(TimeDelta::seconds(1));
    let role = world.role("READER", &["users:read"]).await;
    let wide = world.ask(&session, world.eligible(grace, role).await).await.id;
    tick();
    let new = NewEligibility { organization: Some(below), ..NewEligibility::of_user(role, mary) };
    let there = world.ask(&by_mary, world.eligibility(new).await).await.id;

    let (reader, _) = world.user("reader", &[]).await;
    let reading = world.role("READING", &["access-requests:read"]).await;
    world.give(reader, reading, Some(root)).await;
    let (decider, _) = world.user("decider", &[]).await;
    let deciding = world.role("DECIDING", &["access-requests:update"]).await;
    world.give(decider, deciding, Some(below)).await;
    let (reader, decider) = (world.login("reader").await, world.login("decider").await);
    let (_, stranger) = world.user("stranger", &["users:read"]).await;

    let all = AccessRequestFilter::default;
    for (caller, expected) in [
        (&session, vec![wide]),
        (&by_mary, vec![there]),
        (&reader, vec![there]),
        (&decider, vec![there]),
        (&stranger, vec![]),
        (&world.ada, vec![there, wide]),
    ] {
        assert_eq!(listed(&world, caller, all()).await, expected);
        for request in [wide, there] {
            let found = world.iam.access_requests().get(caller, request).await;
            assert_eq!(found.is_ok(), expected.contains(&request));
            assert!(found.is_ok() || matches!(found, Err(Error::NotFound(_))));
        }
    }
    // A key of a user does not show what the user asks for.
    assert_eq!(listed(&world, &world.key(&session).await, all()).await, []);

    let to_decide = || AccessRequestFilter { to_decide: true, ..all() };
    assert_eq!(listed(&world, &decider, to_decide()).await, [there]);
    assert_eq!(listed(&world, &world.ada, to_decide()).await, [there, wide]);
    for caller in [&session, &by_mary, &reader, &stranger, &world.key(&world.ada).await] {
        assert_eq!(listed(&world, caller, to_decide()).await, []);
    }
    world.approve(&world.ada, there).await.unwrap();
    assert_eq!(listed(&world, &decider, to_decide()).await, []);

    let with = |filter: AccessRequestFilter| listed(&world, &world.ada, filter);
    let status = |status| AccessRequestFilter { status: Some(status), ..all() };
    assert_eq!(with(status(AccessRequestStatus::Active)).await, [there]);
    assert_eq!(with(status(AccessRequestStatus::Pending)).await, [wide]);
    assert_eq!(with(AccessRequestFilter { user: Some(mary), ..all() }).await, [there]);
    assert_eq!(with(AccessRequestFilter { role: Some(role), ..all() }).await, [there, wide]);
    assert_eq!(with(AccessRequestFilter { organization: Some(root), ..all() }).await, []);
    let found = world.iam.access_requests().get(&world.ada, there).await.unwrap();
    assert_eq!((found.user.email.as_str(), found.role.unwrap().name.as_str()), ("mary@example.com", "READER"));
    assert_eq!(found.organization.unwrap().name, "Below");
}

#[tokio::test]
async fn each_caller_that_sees_a_request_sees_the_names_of_all_that_it_mentions() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &[]).await;
    let (approver, _) = world.user("approver", &[]).await;
    let deciding = world.role("DECIDING", &[]).await;
    world.give(approver, deciding, None).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let new = NewEligibility { approver_role: Some(deciding), ..NewEligibility::of_user(role, grace) };
    let request = world.ask(&session, world.eligibility(new).await).await.id;
    world.approve(&world.login("approver").await, request).await.unwrap();
    world.iam.access_requests().end(&world.ada, request, None).await.unwrap();
    // Neither Grace nor who has approved may see users, roles or organizations.
    for caller in [&session, &world.login("approver").await] {
        assert!(world.iam.users().get(caller, grace).await.is_err());
        let found = world.iam.access_requests().get(caller, request).await.unwrap();
        assert_eq!(found.approver_role.as_ref().unwrap().name.as_str(), "DECIDING");
        let email = |id: UserId| found.person(id).unwrap().email.as_str();
        assert_eq!((email(grace), email(approver)), ("grace@example.com", "approver@example.com"));
        assert_eq!(email(world.ada.user().unwrap()), "ada@example.com");
    }
}
