//! What an elevation counts for, and what is given by it
//! (`docs/access-requests.md#what-an-elevation-does-not-count-for`).

use chrono::TimeDelta;
use iam_core::api_key::NewApiKey;
use iam_core::assignment::{AssignmentPatch, NewAssignment};
use iam_core::eligibility::NewEligibility;
use iam_core::invitation::NewInvitation;
use iam_core::organization::{OrganizationPatch, OrganizationStatus};
use iam_core::role::{NewRole, RolePatch};
use iam_core::session::NewImpersonation;
use iam_core::user::{NewServiceAccount, UserPatch};
use iam_core::webhook::NewWebhook;
use iam_core::{Conflict, Error, Forbidden};

use super::*;

#[tokio::test]
async fn an_api_key_never_has_it() {
    let world = World::new().await;
    let (grace, session) = world.user("grace", &["users:read"]).await;
    let key = world.key(&session).await;
    let role = world.role("ELEVATED", &["audit-logs:read"]).await;
    let request = world.ask(&session, world.eligible(grace, role).await).await;
    world.approve(&world.ada, request.id).await.unwrap();
    assert!(world.allows(&world.login("grace").await, "audit-logs:read").await);
    assert!(world.allows(&key, "users:read").await && !world.allows(&key, "audit-logs:read").await);
    let me = world.iam.sessions().me(&key).await.unwrap();
    assert_eq!((me.grants.len(), me.permissions.tenant.iter().count()), (1, 1));
    let made_now = world.key(&world.login("grace").await).await;
    assert!(!world.allows(&made_now, "audit-logs:read").await);
}

#[tokio::test]
async fn it_does_not_count_for_what_outlasts_it() {
    let world = World::new().await;
    let (mary, _) = world.user("mary", &[]).await;
    let (_, elevated, _) = world.elevated(&["*"]).await;
    let role = world.role("READER", &["users:read"]).await;
    let robot = NewServiceAccount { name: "Robot".to_owned() };
    let robot = world.iam.users().create_service_account(&world.ada, robot).await.unwrap().id;
    let iam = &world.iam;
    let refused = iam.eligibilities().create(&elevated, NewEligibility::of_user(role, mary)).await;
    assert!(is_missing(&refused, "eligibilities:create"), "{refused:?}");
    let new = NewInvitation { email: "new@example.com".to_owned(), ..NewInvitation::default() };
    assert!(is_missing(&iam.invitations().create(&elevated, new).await, "invitations:create"));
    assert!(is_missing(&iam.webhooks().create(&elevated, NewWebhook::default()).await, "webhooks:create"));
    let permissions = Some(vec!["users:read".to_owned()]);
    let new = NewApiKey { name: "key".to_owned(), permissions, ..NewApiKey::default() };
    assert!(is_missing(&iam.api_keys().create(&elevated, robot, new).await, "api-keys:create"));
    let patch = UserPatch { email: Some("mary2@example.com".to_owned()), ..UserPatch::default() };
    assert!(is_missing(&iam.users().update(&elevated, mary, patch).await, "users:update"));
    assert!(is_missing(&iam.recovery().start(&elevated, mary).await, "users:update"));
    assert!(is_missing(&iam.factors().reset(&elevated, mary).await, "users:update"));
    let new = NewImpersonation { reason: "ticket 7".to_owned(), duration: TimeDelta::minutes(5), read_only: true };
    assert!(is_missing(&iam.sessions().impersonate(&elevated, mary, new).await, "impersonations:create"));
    let branch = world.organization("branch", None).await;
    let patch = UserPatch { home: Some(Some(branch)), ..UserPatch::default() };
    assert!(is_missing(&iam.users().update(&elevated, mary, patch).await, "users:update"));
    // For a name, it does.
    let patch = UserPatch { last_name: Some("Shelley".to_owned()), ..UserPatch::default() };
    iam.users().update(&elevated, mary, patch).await.unwrap();
}

/// Otherwise the user would have power over the account by its standing rights, also after the elevation.
#[tokio::test]
async fn it_brings_no_user_home_to_where_the_standing_rights_count() {
    let world = World::new().await;
    let (mary, _) = world.user("mary", &[]).await;
    let branch = world.organization("branch", None).await;
    let (grace, _, _) = world.elevated(&["users:*"]).await;
    let helpdesk = world.role("HELPDESK", &["users:*"]).await;
    world.give(grace, helpdesk, Some(branch)).await;
    let elevated = world.login("grace").await;
    let home = UserPatch { home: Some(Some(branch)), ..UserPatch::default() };
    let refused = world.iam.users().update(&elevated, mary, home.clone()).await;
    assert!(matches!(refused, Err(Error::NotFound(_) | Error::Forbidden(_))), "{refused:?}");
    assert_eq!(world.iam.users().get(&world.ada, mary).await.unwrap().home_organization_id, None);
    // A new user has no power over an account that exists.
    world.iam.users().create_once(&elevated, person("new@example.com"), Some(branch), None, None).await.unwrap();
    // Who may do it tenant-wide by standing rights does.
    let moved = world.iam.users().update(&world.ada, mary, home).await.unwrap();
    assert_eq!(moved.home_organization_id, Some(branch));
}

#[tokio::test]
async fn in_a_suspended_organization_it_has_no_effect() {
    let world = World::new().await;
    let branch = world.organization("Branch", None).await;
    let (grace, session) = world.user("grace", &[]).await;
    let role = world.role("READER", &["users:read"]).await;
    let new = NewEligibility { organization: Some(branch), ..NewEligibility::of_user(role, grace) };
    let request = world.ask(&session, world.eligibility(new).await).await.id;
    let turn = async |status: OrganizationStatus| {
        let patch = OrganizationPatch { status: Some(status), ..OrganizationPatch::default() };
        world.iam.organizations().update(&world.ada, branch, patch).await.unwrap();
    };
    let reads = async || {
        let (permission, organization) = ("users:read".parse().unwrap(), Some(branch));
        let question = Question { permission, organization, user: None, at: None };
        world.iam.access().check(&world.login("grace").await, question).await.unwrap().is_allowed()
    };
    turn(OrganizationStatus::Suspended).await;
    assert_eq!(world.approve(&world.ada, request).await.unwrap().request.status, AccessRequestStatus::Active);
    assert!(!reads().await);
    turn(OrganizationStatus::Active).await;
    assert!(reads().await);
}

#[tokio::test]
async fn what_is_given_by_it_has_its_mark_and_ends_with_it() {
    let world = World::new().await;
    let (mary, _) = world.user("mary", &[]).await;
    let (grace, elevated, request) = world.elevated(&["role-assignments:*", "users:read"]).await;
    let role = world.role("READER", &["users:read"]).await;
    let end = request.ends_at.unwrap();
    let new = |user, expires_at| NewAssignment { user, role, organization: None, expires_at };
    for expires_at in [None, Some(end + TimeDelta::seconds(1))] {
        let refused = world.iam.assignments().create(&elevated, new(mary, expires_at)).await;
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    }
    let given = world.iam.assignments().create(&elevated, new(mary, Some(end))).await.unwrap();
    assert_eq!(given.access_request_id, Some(request.id));
    // By hand, no assignment with a mark lasts longer.
    let patch = AssignmentPatch { expires_at: Some(None) };
    let refused = world.iam.assignments().update(&world.ada, given.id, patch).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::AssignmentOfAccessRequest))), "{refused:?}");
    // It counts like an elevation of its holder.
    assert!(world.allows(&world.login("mary").await, "users:read").await);
    let by_key = world.key(&world.login("mary").await).await;
    assert!(!world.allows(&by_key, "users:read").await);

    world.iam.access_requests().end(&world.login("grace").await, request.id, None).await.unwrap();
    assert_eq!((world.held(mary).await.len(), world.held(grace).await.len()), (0, 0));
    let revoked = world.entries(given.id).await.remove(1);
    assert_eq!((&*revoked.action, &revoked.metadata["reason"]), ("ROLE_REVOKED", &"ENDED".into()));
}

#[tokio::test]
async fn what_the_standing_rights_cover_is_given_without_an_end() {
    let world = World::new().await;
    let (mary, _) = world.user("mary", &[]).await;
    let (grace, session) = world.user("grace", &["role-assignments:create", "users:read"]).await;
    let (role, other) = (world.role("READER", &["users:read"]).await, world.role("ELEVATED", &["*"]).await);
    let request = world.ask(&session, world.eligible(grace, other).await).await;
    world.approve(&world.ada, request.id).await.unwrap();
    let new = NewAssignment { user: mary, role, organization: None, expires_at: None };
    let given = world.iam.assignments().create(&world.login("grace").await, new).await.unwrap();
    assert_eq!(given.access_request_id, None);
    world.iam.access_requests().end(&world.login("grace").await, request.id, None).await.unwrap();
    assert_eq!(world.held(mary).await.len(), 1);
}

#[tokio::test]
async fn it_makes_roles_and_adds_nothing_to_those_that_are_held() {
    let world = World::new().await;
    let (mary, _) = world.user("mary", &[]).await;
    let (_, elevated, request) = world.elevated(&["roles:*", "audit-logs:read"]).await;
    let permissions = vec!["audit-logs:read".to_owned()];
    let new = NewRole { name: "MADE".to_owned(), permissions: permissions.clone(), ..NewRole::default() };
    world.iam.roles().create(&elevated, new).await.unwrap();
    let role = world.role("HELD", &["users:read"]).await;
    let patch = || RolePatch {
        permissions: Some(vec!["users:read".to_owned(), "audit-logs:read".to_owned()]),
        ..RolePatch::default()
    };
    // Also not to one that is held for a shorter time: it would go on if the elevation ended early.
    let end = Some(request.ends_at.unwrap() - TimeDelta::minutes(1));
    let new = NewAssignment { user: mary, role, organization: None, expires_at: end };
    let held = world.iam.assignments().create(&world.ada, new).await.unwrap().id;
    let refused = world.iam.roles().update(&elevated, role, patch()).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    world.iam.assignments().delete(&world.ada, held).await.unwrap();
    world.iam.roles().update(&elevated, role, patch()).await.unwrap();
}

#[tokio::test]
async fn a_standing_assignment_takes_its_place() {
    let world = World::new().await;
    let (grace, _, request) = world.elevated(&["users:read"]).await;
    // A shorter one would end it before its time.
    let end = request.ends_at.unwrap() - TimeDelta::milliseconds(1);
    let shorter = NewAssignment { user: grace, role: request.role_id, organization: None, expires_at: Some(end) };
    let refused = world.iam.assignments().create(&world.ada, shorter).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::RoleHeld))), "{refused:?}");
    assert_eq!(world.status(request.id).await, AccessRequestStatus::Active);
    world.give(grace, request.role_id, None).await;
    let held = world.held(grace).await;
    assert_eq!((held.len(), held[0].assignment.access_request_id), (1, None));
    assert_eq!(world.status(request.id).await, AccessRequestStatus::Ended);
    assert_eq!(world.actions(request.assignment_id.unwrap()).await, ["ROLE_ASSIGNED", "ROLE_REVOKED"]);
}

#[tokio::test]
async fn an_own_elevation_takes_the_place_of_what_another_one_gives() {
    let world = World::new().await;
    let (mary, of_mary) = world.user("mary", &[]).await;
    let (_, elevated, request) = world.elevated(&["role-assignments:*", "users:read"]).await;
    let role = world.role("READER", &["users:read"]).await;
    let new = NewAssignment { user: mary, role, organization: None, expires_at: request.ends_at };
    let given = world.iam.assignments().create(&elevated, new).await.unwrap();
    let own = world.ask(&of_mary, world.eligible(mary, role).await).await;
    assert_eq!(world.held(mary).await[0].assignment.id, given.id);
    let own = world.approve(&world.ada, own.id).await.unwrap().request;
    let held = world.held(mary).await;
    assert_eq!((held.len(), held[0].assignment.access_request_id), (1, Some(own.id)));
    let revoked = world.entries(given.id).await.remove(1);
    assert_eq!((&*revoked.action, &revoked.metadata["reason"]), ("ROLE_REVOKED", &"ENDED".into()));
    // The elevation by which it was given goes on, and does not end the other one.
    assert_eq!(world.status(request.id).await, AccessRequestStatus::Active);
    world.iam.access_requests().end(&elevated, request.id, None).await.unwrap();
    assert_eq!(world.held(mary).await.len(), 1);
    // An own elevation is held.
    let refused = world.try_ask(&of_mary, world.eligible(mary, role).await).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::RoleHeld))), "{refused:?}");
}

/// What it replaces leaves its room, also in a preview, which removes nothing.
#[tokio::test]
async fn at_the_quota_an_own_elevation_takes_the_place_of_what_another_one_gives() {
    let world = World::with(|settings| settings.quota.user_assignments = 1).await;
    let (mary, of_mary) = world.user("mary", &[]).await;
    let (_, elevated, request) = world.elevated(&["role-assignments:*", "users:read"]).await;
    let role = world.role("READER", &["users:read"]).await;
    let new = NewAssignment { user: mary, role, organization: None, expires_at: request.ends_at };
    world.iam.assignments().create(&elevated, new).await.unwrap();
    let another = world.role("ANOTHER", &["users:read"]).await;
    for (role, is_allowed) in [(another, false), (role, true)] {
        let request = world.ask(&of_mary, world.eligible(mary, role).await).await.id;
        let trial = world.iam.trial();
        let outcome = trial.activate(&world.ada, request).await;
        let refusal = trial.preview(&world.ada, outcome).await.unwrap().refusal;
        assert_eq!(refusal.is_none(), is_allowed, "{refusal:?}");
        let approved = world.approve(&world.ada, request).await;
        assert_eq!(approved.is_ok(), is_allowed, "{approved:?}");
    }
    assert_eq!(world.held(mary).await[0].role.id, role);
}
