//! Who makes, changes and removes eligibilities, and what they count for (`docs/access-requests.md#eligibilities`).

use chrono::TimeDelta;
use iam_core::assignment::NewAssignment;
use iam_core::eligibility::{EligibilityPatch, Eligible, NewEligibility};
use iam_core::organization::NewOrganization;
use iam_core::page::PageRequest;
use iam_core::role::RolePatch;
use iam_core::user::{NewServiceAccount, UserPatch};
use iam_core::version::{Precondition, Version};
use iam_core::{Conflict, Error, Forbidden, Unauthenticated};

use super::*;

#[tokio::test]
async fn making_one_needs_the_permission_the_role_and_a_fresh_session() {
    let mut world = World::new().await;
    let (grace, _) = world.user("grace", &[]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let (_, maker) = world.user("maker", &["eligibilities:*", "audit-logs:read"]).await;
    let (_, poor) = world.user("poor", &["eligibilities:*"]).await;
    let (_, reader) = world.user("reader", &["audit-logs:read"]).await;
    let new = NewEligibility::of_user(role, grace);
    let eligibilities = world.iam.eligibilities();
    let made = eligibilities.create(&maker, new).await.unwrap();
    assert_eq!((made.max_seconds, made.approvals, made.eligible), (28_800, 1, Eligible::User(grace)));
    assert_eq!(world.actions(made.id).await, ["CREATE"]);
    assert!(is_missing(&eligibilities.create(&reader, new).await, "eligibilities:create"));
    let refused = eligibilities.create(&poor, new).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    let key = world.key(&maker).await;
    let refused = eligibilities.create(&key, new).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::ApiKey))), "{refused:?}");
    let system = Caller::system(world.ada.tenant(), "test");
    eligibilities.create(&system, new).await.unwrap();
    world.pass(TimeDelta::minutes(11)).await;
    let refused = world.iam.eligibilities().create(&maker, new).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::NotFresh { .. }))), "{refused:?}");
}

#[tokio::test]
async fn the_maker_covers_the_role_there_and_as_long_as_users_may_ask() {
    let world = World::new().await;
    let root = world.organization("Root", None).await;
    let (below, beside) = (world.organization("Below", Some(root)).await, world.organization("Beside", None).await);
    let (grace, _) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let made_of = world.role("MAKER", &["eligibilities:create", "users:read"]).await;
    let (maker, _) = world.user("maker", &[]).await;
    let end = world.now() + TimeDelta::days(1);
    let new = NewAssignment { user: maker, role: made_of, organization: Some(root), expires_at: Some(end) };
    world.iam.assignments().create(&world.ada, new).await.unwrap();
    let maker = world.login("maker").await;
    let new =
        |organization, expires_at| NewEligibility { organization, expires_at, ..NewEligibility::of_user(role, grace) };
    let create = async |new| world.iam.eligibilities().create(&maker, new).await;
    create(new(Some(below), Some(end))).await.unwrap();
    let later = Some(end + TimeDelta::seconds(1));
    for (organization, expires_at) in [(Some(below), later), (Some(below), None)] {
        let refused = create(new(organization, expires_at)).await;
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    }
    let refused = create(new(Some(beside), Some(end))).await;
    assert!(matches!(refused, Err(Error::About { .. })), "{refused:?}");
    assert!(is_missing(&create(new(None, Some(end))).await, "eligibilities:create"));
}

#[tokio::test]
async fn only_a_change_that_gives_more_is_covered() {
    let world = World::new().await;
    let (grace, _) = world.user("grace", &[]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let id = world.eligible(grace, role).await;
    let (_, poor) = world.user("poor", &["eligibilities:update"]).await;
    let eligibilities = world.iam.eligibilities();
    let none = EligibilityPatch::default;
    for patch in [
        EligibilityPatch { max_seconds: Some(300), ..none() },
        EligibilityPatch { approvals: Some(2), ..none() },
        EligibilityPatch { expires_at: Some(Some(world.now() + TimeDelta::days(1))), ..none() },
    ] {
        eligibilities.update(&poor, id, patch).await.unwrap();
    }
    for patch in [
        EligibilityPatch { max_seconds: Some(301), ..none() },
        EligibilityPatch { approvals: Some(1), ..none() },
        EligibilityPatch { approver_role: Some(Some(role)), ..none() },
        EligibilityPatch { expires_at: Some(None), ..none() },
    ] {
        let refused = eligibilities.update(&poor, id, patch).await;
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{patch:?} {refused:?}");
        eligibilities.update(&world.ada, id, patch).await.unwrap();
        let narrow = EligibilityPatch {
            max_seconds: Some(300),
            approvals: Some(2),
            expires_at: Some(Some(world.now() + TimeDelta::days(1))),
            ..none()
        };
        eligibilities.update(&world.ada, id, narrow).await.unwrap();
    }
    let seen = eligibilities.get(&world.ada, id).await.unwrap().eligibility.version;
    let stale = Precondition::OneOf(vec![Version::from(1)]);
    let refused = eligibilities.update_if(&world.ada, id, EligibilityPatch::default(), &stale).await;
    assert!(matches!(refused, Err(Error::PreconditionFailed)), "{seen}: {refused:?}");
    eligibilities.delete(&world.ada, id).await.unwrap();
    let refused = eligibilities.get(&world.ada, id).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
}

#[tokio::test]
async fn only_persons_and_existing_roles_are_named() {
    let world = World::new().await;
    let (grace, _) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let robot = NewServiceAccount { name: "Robot".to_owned() };
    let robot = world.iam.users().create_service_account(&world.ada, robot).await.unwrap().id;
    let unknown: RoleId = uuid::Uuid::from_u128(7).into();
    let create = async |new| world.iam.eligibilities().create(&world.ada, new).await;
    let refused = create(NewEligibility::of_user(role, robot)).await;
    assert!(matches!(refused, Err(Error::Validation(_))), "{refused:?}");
    for (new, expected) in [
        (NewEligibility::of_user(unknown, grace), "roleId"),
        (NewEligibility { user: None, held_role: Some(unknown), ..NewEligibility::of_user(role, grace) }, "heldRoleId"),
        (NewEligibility { approver_role: Some(unknown), ..NewEligibility::of_user(role, grace) }, "approverRoleId"),
        (NewEligibility::of_user(role, uuid::Uuid::from_u128(7).into()), "userId"),
    ] {
        match create(new).await {
            Err(Error::About { field, error }) if field == expected => assert!(matches!(*error, Error::NotFound(_))),
            other => panic!("{expected}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn an_eligibility_counts_as_a_holder_of_its_role() {
    let world = World::new().await;
    let (grace, _) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let id = world.eligible(grace, role).await;
    // Until tomorrow, this person holds what it puts into the role.
    let (clerk, _) = world.user("clerk", &["roles:update"]).await;
    let reading = world.role("AUDIT", &["audit-logs:read"]).await;
    let end = Some(world.now() + TimeDelta::days(1));
    let new = NewAssignment { user: clerk, role: reading, organization: None, expires_at: end };
    world.iam.assignments().create(&world.ada, new).await.unwrap();
    let clerk = world.login("clerk").await;
    let patch = || RolePatch {
        permissions: Some(vec!["users:read".to_owned(), "audit-logs:read".to_owned()]),
        ..RolePatch::default()
    };
    let refused = world.iam.roles().update(&clerk, role, patch()).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    let refused = world.iam.roles().delete(&world.ada, role).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::RoleOfEligibility))), "{refused:?}");
    let narrow = EligibilityPatch { expires_at: Some(end), ..EligibilityPatch::default() };
    world.iam.eligibilities().update(&world.ada, id, narrow).await.unwrap();
    world.iam.roles().update(&clerk, role, patch()).await.unwrap();
}

#[tokio::test]
async fn a_role_is_deleted_with_the_expired_eligibilities_that_name_it() {
    let mut world = World::new().await;
    let (grace, _) = world.user("grace", &[]).await;
    let (role, held, approver) = (
        world.role("READER", &["users:read"]).await,
        world.role("HELD", &["users:read"]).await,
        world.role("APPROVER", &["users:read"]).await,
    );
    let new = NewEligibility {
        user: None,
        held_role: Some(held),
        approver_role: Some(approver),
        expires_at: Some(world.now() + TimeDelta::hours(1)),
        ..NewEligibility::of_user(role, grace)
    };
    let id = world.eligibility(new).await;
    for role in [role, held, approver] {
        let refused = world.iam.roles().delete(&world.ada, role).await;
        assert!(matches!(refused, Err(Error::Conflict(Conflict::RoleOfEligibility))), "{refused:?}");
    }
    world.pass(TimeDelta::hours(1)).await;
    world.iam.roles().delete(&world.ada, approver).await.unwrap();
    assert_eq!(world.entries(id).await[1].metadata["reason"], "EXPIRED");
}

#[tokio::test]
async fn an_eligibility_goes_with_its_user_and_with_its_organization() {
    let world = World::new().await;
    let (grace, _) = world.user("grace", &[]).await;
    let new = NewOrganization { name: "Branch".to_owned(), slug: None, parent: None };
    let branch = world.iam.organizations().create(&world.ada, new).await.unwrap().organization.id;
    let role = world.role("READER", &["users:read"]).await;
    let of_user = world.eligible(grace, role).await;
    let held = world.role("HELD", &["users:read"]).await;
    let there = NewEligibility {
        organization: Some(branch),
        user: None,
        held_role: Some(held),
        ..NewEligibility::of_user(role, grace)
    };
    let there = world.eligibility(there).await;
    world.iam.users().suspend(&world.ada, grace).await.unwrap();
    assert_eq!(world.iam.eligibilities().list(&world.ada, PageRequest::default()).await.unwrap().total, 2);
    world.iam.users().delete(&world.ada, grace).await.unwrap();
    assert_eq!(world.entries(of_user).await[1].metadata["reason"], "USER_DELETED");
    world.iam.organizations().delete(&world.ada, branch).await.unwrap();
    assert_eq!(world.entries(there).await[1].metadata["reason"], "ORGANIZATION_DELETED");
    assert_eq!(world.iam.eligibilities().list(&world.ada, PageRequest::default()).await.unwrap().total, 0);
}

#[tokio::test]
async fn users_see_by_what_they_may_ask() {
    let world = World::new().await;
    let root = world.organization("Root", None).await;
    let below = world.organization("Below", Some(root)).await;
    let (grace, session) = world.user("grace", &[]).await;
    let (role, held) = (world.role("READER", &["users:read"]).await, world.role("HELD", &["users:read"]).await);
    let own = world.eligible(grace, role).await;
    world.clock.advance(TimeDelta::seconds(1));
    let of_holders = NewEligibility {
        organization: Some(below),
        user: None,
        held_role: Some(held),
        ..NewEligibility::of_user(role, grace)
    };
    let of_holders = world.eligibility(of_holders).await;
    let seen = async |caller: &Caller| -> Vec<EligibilityId> {
        let own = world.iam.eligibilities().own(caller).await.unwrap();
        own.into_iter().map(|listed| listed.eligibility.id).collect()
    };
    assert_eq!(seen(&session).await, [own]);
    world.give(grace, held, Some(root)).await;
    let session = world.again(&session).await;
    assert_eq!(seen(&session).await, [of_holders, own]);
    let listed = world.iam.eligibilities().own(&session).await.unwrap().remove(0);
    assert_eq!((listed.role.name.as_str(), listed.organization.unwrap().name.as_str()), ("READER", "Below"));
    let refused = world.iam.eligibilities().own(&world.key(&session).await).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::ApiKey))), "{refused:?}");
    assert!(is_missing(&world.iam.eligibilities().list(&session, PageRequest::default()).await, "eligibilities:read"));
}

#[tokio::test]
async fn an_account_is_taken_over_only_by_who_covers_what_its_user_may_ask_for() {
    let world = World::new().await;
    let (grace, _) = world.user("grace", &[]).await;
    let (_, clerk) = world.user("clerk", &["users:*"]).await;
    let role = world.role("READER", &["audit-logs:read"]).await;
    let patch = |email: &str| UserPatch { email: Some(email.to_owned()), ..UserPatch::default() };
    world.iam.users().update(&clerk, grace, patch("grace2@example.com")).await.unwrap();
    world.eligible(grace, role).await;
    let refused = world.iam.users().update(&clerk, grace, patch("grace3@example.com")).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    world.iam.users().suspend(&clerk, grace).await.unwrap();
    let refused = world.iam.users().reactivate(&clerk, grace).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    world.iam.users().reactivate(&world.ada, grace).await.unwrap();
}
