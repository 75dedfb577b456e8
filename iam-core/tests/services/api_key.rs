//! Service accounts and API keys: what a key may do, who may make one, and when it ends.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::access::Question;
use iam_core::api_key::{ApiKeyPatch, IssuedApiKey, NewApiKey};
use iam_core::assignment::{AssignmentPatch, NewAssignment};
use iam_core::audit::{AuditEntry, AuditFilter};
use iam_core::credential::HashingCost;
use iam_core::organization::{NewOrganization, OrganizationPatch, OrganizationStatus};
use iam_core::page::PageRequest;
use iam_core::role::{NewRole, RolePatch, RoleScope};
use iam_core::session::{FRESH, LoggedIn, Login, StepUp};
use iam_core::tenant::Registration;
use iam_core::user::{NewServiceAccount, NewUser, User, UserKind, UserPatch, UserStatus};
use iam_core::{
    ApiKeyId, Caller, Conflict, Error, Forbidden, Iam, OrganizationId, RequestContext, Result, RoleId, Settings,
    TenantId, Unauthenticated, UserId,
};
use iam_model::clock::Clock as _;
use iam_model::clock::testing::FixedClock;
use iam_store_memory::MemoryStore;

const PASSWORD: &str = "Passw0rd!";
const INSTANT: TimeDelta = TimeDelta::milliseconds(1);

/// A service with the administrator of a tenant, and a service account.
struct World {
    iam: Iam,
    clock: FixedClock,
    ada: Caller,
    robot: User,
}

fn person(email: &str) -> NewUser {
    let (first_name, last_name) = ("Ada".to_owned(), "Lovelace".to_owned());
    NewUser { email: email.to_owned(), password: PASSWORD.into(), first_name, last_name }
}

/// A key with every permission that its user holds.
fn named(name: &str) -> NewApiKey {
    NewApiKey { name: name.to_owned(), ..only(&["*"]) }
}

fn only(permissions: &[&str]) -> NewApiKey {
    let permissions = Some(permissions.iter().map(|text| (*text).to_owned()).collect());
    NewApiKey { name: "key".to_owned(), permissions, ..NewApiKey::default() }
}

/// A key that names no permissions.
fn unlimited() -> NewApiKey {
    NewApiKey { name: "key".to_owned(), ..NewApiKey::default() }
}

impl World {
    async fn new() -> Self {
        let clock = FixedClock::at("2026-01-31T09:15:00.123Z");
        let mut settings = Settings::default();
        settings.hashing_cost = HashingCost { memory_kib: 8, passes: 1, lanes: 1 };
        settings.access_token_lifetime = TimeDelta::days(1);
        let builder = Iam::builder(Arc::new(MemoryStore::new())).settings(settings).clock(clock.clone());
        let iam = builder.build().await.unwrap();
        let ada = register(&iam, "ada@example.com").await;
        let new = NewServiceAccount { name: "Importer".to_owned() };
        let robot = iam.users().create_service_account(&ada, new).await.unwrap();
        Self { iam, clock, ada, robot }
    }

    async fn login(&self, email: &str) -> Caller {
        let login = Login { email: email.to_owned(), password: PASSWORD.into(), tenant: None };
        caller(&self.iam, self.iam.sessions().login(&RequestContext::default(), login).await.unwrap()).await
    }

    /// A person with a role of these permissions, tenant-wide or in an organization.
    async fn member(
        &self,
        email: &str,
        permissions: &[&str],
        organization: Option<OrganizationId>,
    ) -> (UserId, Caller) {
        let user = self.iam.users().create(&self.ada, person(email)).await.unwrap().id;
        self.give(user, permissions, organization).await;
        (user, self.login(email).await)
    }

    /// Gives a user a new role.
    async fn give(&self, user: UserId, permissions: &[&str], organization: Option<OrganizationId>) -> RoleId {
        let name = format!("ROLE_{}", self.iam.roles().list(&self.ada, PageRequest::default()).await.unwrap().total);
        let permissions = permissions.iter().map(|text| (*text).to_owned()).collect();
        let new = NewRole { name, description: None, scope: RoleScope::Any, permissions };
        let role = self.iam.roles().create(&self.ada, new).await.unwrap().id;
        let new = NewAssignment { user, role, organization, expires_at: None };
        self.iam.assignments().create(&self.ada, new).await.unwrap();
        role
    }

    async fn organization(&self, name: &str, parent: Option<OrganizationId>) -> OrganizationId {
        let new = NewOrganization { name: name.to_owned(), slug: None, parent };
        self.iam.organizations().create(&self.ada, new).await.unwrap().organization.id
    }

    async fn key(&self, new: NewApiKey) -> IssuedApiKey {
        self.iam.api_keys().create(&self.ada, self.robot.id, new).await.unwrap()
    }

    async fn by(&self, issued: &IssuedApiKey) -> Result<Caller> {
        self.iam.authenticate(issued.token.expose(), RequestContext::default()).await
    }

    /// Whether a caller may do something itself.
    async fn may(&self, caller: &Caller, permission: &str, organization: Option<OrganizationId>) -> bool {
        let question = Question { permission: permission.parse().unwrap(), organization, user: None, at: None };
        self.iam.access().check(caller, question).await.is_ok_and(|decision| decision.is_allowed())
    }

    /// Whether the holder of a key may do something.
    async fn key_may(&self, issued: &IssuedApiKey, permission: &str, organization: Option<OrganizationId>) -> bool {
        self.may(&self.by(issued).await.unwrap(), permission, organization).await
    }

    /// The entries of a resource, oldest first.
    async fn history(&self, resource: ApiKeyId) -> Vec<AuditEntry> {
        let filter = AuditFilter { resource_id: Some(resource.to_string()), ..AuditFilter::default() };
        let mut entries = self.iam.audit().list(&self.ada, filter, None, 100).await.unwrap().entries;
        entries.reverse();
        entries
    }

    async fn refused(&self, issued: &IssuedApiKey) {
        let refused = self.by(issued).await;
        assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::ApiKey))), "{refused:?}");
    }
}

async fn register(iam: &Iam, email: &str) -> Caller {
    let registration = Registration { user: person(email), tenant_name: None };
    caller(iam, iam.tenants().register(&RequestContext::default(), registration).await.unwrap().login).await
}

async fn caller(iam: &Iam, login: LoggedIn) -> Caller {
    iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap()
}

/// Asserts which field is refused.
fn names<T: std::fmt::Debug>(result: Result<T>, field: &str) {
    let Err(Error::Validation(fields)) = &result else { panic!("{result:?}") };
    assert_eq!(fields.iter().map(|error| &*error.field).collect::<Vec<_>>(), [field]);
}

#[tokio::test]
async fn a_key_has_the_present_rights_of_its_user() {
    let world = World::new().await;
    let key = world.key(named("nightly")).await;
    assert!(!world.key_may(&key, "users:read", None).await);
    let role = world.give(world.robot.id, &["users:read"], None).await;
    assert!(world.key_may(&key, "users:read", None).await);
    let patch = RolePatch { permissions: Some(vec!["roles:read".to_owned()]), ..RolePatch::default() };
    world.iam.roles().update(&world.ada, role, patch).await.unwrap();
    assert!(!world.key_may(&key, "users:read", None).await);
    assert!(world.key_may(&key, "roles:read", None).await);
}

#[tokio::test]
async fn a_key_has_no_more_than_its_permissions() {
    let world = World::new().await;
    world.give(world.robot.id, &["users:*", "roles:read"], None).await;
    let key = world.key(only(&["users:read", "tenants:*"])).await;
    assert!(world.key_may(&key, "users:read", None).await);
    assert!(!world.key_may(&key, "users:delete", None).await && !world.key_may(&key, "roles:read", None).await);
    assert!(!world.key_may(&key, "tenants:read", None).await, "its user does not hold it");
    world.give(world.robot.id, &["tenants:read"], None).await;
    assert!(world.key_may(&key, "tenants:read", None).await);
}

#[tokio::test]
async fn a_key_has_its_permissions_in_its_organization_and_below_only() {
    let world = World::new().await;
    let root = world.organization("Root", None).await;
    let (branch, other) = (world.organization("Branch", Some(root)).await, world.organization("Other", None).await);
    let team = world.organization("Team", Some(branch)).await;
    world.give(world.robot.id, &["users:read"], None).await;
    let key = world.key(NewApiKey { organization: Some(branch), ..named("branch") }).await;
    for (place, expected) in
        [(None, false), (Some(root), false), (Some(branch), true), (Some(team), true), (Some(other), false)]
    {
        assert_eq!(world.key_may(&key, "users:read", place).await, expected, "{place:?}");
    }
    let patch = OrganizationPatch { parent: Some(Some(other)), ..OrganizationPatch::default() };
    world.iam.organizations().update(&world.ada, team, patch).await.unwrap();
    assert!(!world.key_may(&key, "users:read", Some(team)).await, "it is not below the organization any more");
    let patch = OrganizationPatch { status: Some(OrganizationStatus::Inactive), ..OrganizationPatch::default() };
    world.iam.organizations().update(&world.ada, branch, patch).await.unwrap();
    assert!(!world.key_may(&key, "users:read", Some(branch)).await);
}

#[tokio::test]
async fn a_key_gives_no_more_than_it_has() {
    let world = World::new().await;
    world.give(world.robot.id, &["*"], None).await;
    let branch = world.organization("Branch", None).await;
    let target = world.iam.users().create(&world.ada, person("bob@example.com")).await.unwrap().id;
    let reader = world.give(target, &["users:read"], None).await;
    let administrator = world.give(target, &["users:delete"], None).await;
    let key = world.key(only(&["role-assignments:create", "users:read"])).await;
    let by_key = world.by(&key).await.unwrap();
    let grace = world.iam.users().create(&world.ada, person("grace@example.com")).await.unwrap().id;
    let assign = |role, organization| NewAssignment { user: grace, role, organization, expires_at: None };
    let refused = world.iam.assignments().create(&by_key, assign(administrator, None)).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    world.iam.assignments().create(&by_key, assign(reader, None)).await.unwrap();
    let local = NewApiKey { organization: Some(branch), ..named("local") };
    let by_local = world.by(&world.key(local).await).await.unwrap();
    assert!(world.iam.assignments().create(&by_local, assign(administrator, None)).await.is_err());
    world.iam.assignments().create(&by_local, assign(administrator, Some(branch))).await.unwrap();
}

#[tokio::test]
async fn a_key_that_was_revoked_meanwhile_changes_no_rights() {
    let world = World::new().await;
    world.give(world.robot.id, &["*"], None).await;
    let (kept, key) = (world.key(named("kept")).await, world.key(named("key")).await);
    let (by_kept, by_key) = (world.by(&kept).await.unwrap(), world.by(&key).await.unwrap());
    world.iam.api_keys().delete(&world.ada, key.key.id).await.unwrap();
    let new = |name: &str| NewRole {
        name: name.to_owned(),
        description: None,
        scope: RoleScope::Any,
        permissions: vec!["users:read".to_owned()],
    };
    let refused = world.iam.roles().create(&by_key, new("A")).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::ApiKey))), "{refused:?}");
    world.iam.roles().create(&by_kept, new("B")).await.unwrap();
    world.clock.advance(TimeDelta::days(90));
    let refused = world.iam.roles().create(&by_kept, new("C")).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::ApiKey))), "{refused:?}");
}

#[tokio::test]
async fn every_invalid_key_is_refused_alike() {
    let world = World::new().await;
    let key = world.key(named("nightly")).await;
    let token = key.token.expose();
    let (head, secret) = token.split_at(token.len() - 30);
    let unknown = world.key(named("revoked")).await;
    world.iam.api_keys().delete(&world.ada, unknown.key.id).await.unwrap();
    world.refused(&unknown).await;
    for bad in [
        "iamk_",
        "iamk_x",
        &token[..token.len() - 1],
        &format!("{token}0"),
        &format!("{head}{}", secret.to_uppercase()),
    ] {
        let refused = world.iam.authenticate(bad, RequestContext::default()).await;
        assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::ApiKey))), "{bad}: {refused:?}");
    }
    world.by(&key).await.unwrap();
    world.iam.users().suspend(&world.ada, world.robot.id).await.unwrap();
    world.refused(&key).await;
    world.iam.users().reactivate(&world.ada, world.robot.id).await.unwrap();
    world.clock.advance(TimeDelta::days(90) - INSTANT);
    world.by(&key).await.unwrap();
    world.clock.advance(INSTANT);
    world.refused(&key).await;
}

#[tokio::test]
async fn the_secret_of_another_key_is_refused() {
    let world = World::new().await;
    let (first, second) = (world.key(named("first")).await, world.key(named("second")).await);
    let elsewhere = World::new().await;
    world.by(&second).await.unwrap();
    elsewhere.refused(&first).await;
    // A valid text with the identifier of one key and the secret of the other would need another checksum.
    let swapped = first.token.expose().replace(&first.key.id.to_string(), &second.key.id.to_string());
    let refused = world.iam.authenticate(&swapped, RequestContext::default()).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::ApiKey))), "{refused:?}");
}

#[tokio::test]
async fn a_key_of_a_suspended_tenant_is_refused() {
    let world = World::new().await;
    let key = world.key(named("nightly")).await;
    let system = Caller::system(world.ada.tenant(), "test");
    world.iam.tenants().suspend(&system).await.unwrap();
    world.refused(&key).await;
    world.iam.tenants().reactivate(&system).await.unwrap();
    world.by(&key).await.unwrap();
}

#[tokio::test]
async fn a_key_does_not_stand_for_a_login() {
    let world = World::new().await;
    let ada = world.ada.user().unwrap();
    let key = world.iam.api_keys().create(&world.ada, ada, named("own")).await.unwrap();
    let by_key = world.by(&key).await.unwrap();
    let refused = [
        world.iam.api_keys().create(&by_key, ada, named("another")).await.err(),
        world.iam.api_keys().create(&by_key, world.robot.id, named("another")).await.err(),
        world.iam.api_keys().rotate(&by_key, key.key.id, TimeDelta::zero()).await.err(),
        world.iam.credentials().change_password(&by_key, PASSWORD.into(), "N3w-Passw0rd!".into()).await.err(),
        world.iam.sessions().step_up(&by_key, StepUp::Password(PASSWORD.into())).await.err(),
        world.iam.sessions().logout(&by_key).await.err(),
        world.iam.sessions().logout_all(&by_key).await.err(),
        world.iam.factors().add_totp(&by_key, None).await.err(),
        world.iam.verification().request(&by_key).await.err(),
    ];
    for refused in refused {
        assert!(matches!(refused, Some(Error::Forbidden(Forbidden::ApiKey))), "{refused:?}");
    }
}

#[tokio::test]
async fn what_a_user_may_do_to_itself_without_a_permission_its_key_may_not_do() {
    let world = World::new().await;
    let (user, grace) = world.member("grace@example.com", &["organizations:read"], None).await;
    let key = world.iam.api_keys().create(&grace, user, named("own")).await.unwrap();
    let by_key = world.by(&key).await.unwrap();
    assert!(world.iam.api_keys().list(&grace, user).await.is_ok());
    assert!(world.iam.assignments().of_user(&grace, user).await.is_ok());
    for refused in [
        world.iam.api_keys().list(&by_key, user).await.err(),
        world.iam.api_keys().get(&by_key, key.key.id).await.err(),
        world.iam.assignments().of_user(&by_key, user).await.err(),
        world.iam.sessions().list(&by_key, user).await.err(),
        world.iam.api_keys().delete(&by_key, key.key.id).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");
    }
}

#[tokio::test]
async fn own_keys_need_no_permission_but_a_recent_authentication() {
    let world = World::new().await;
    let (user, grace) = world.member("grace@example.com", &["organizations:read"], None).await;
    let keys = world.iam.api_keys();
    let key = keys.create(&grace, user, named("own")).await.unwrap().key;
    assert_eq!((key.user_id, key.created_by), (user, Some(user)));
    world.clock.advance(FRESH + INSTANT);
    let stale = |error: Option<Error>| {
        assert!(matches!(error, Some(Error::Unauthenticated(Unauthenticated::NotFresh { .. }))), "{error:?}");
    };
    stale(keys.create(&grace, user, named("own")).await.err());
    stale(keys.update(&grace, key.id, ApiKeyPatch::default()).await.err());
    stale(keys.rotate(&grace, key.id, TimeDelta::zero()).await.err());
    stale(keys.delete(&grace, key.id).await.err());
    assert_eq!(keys.list(&grace, user).await.unwrap(), std::slice::from_ref(&key));
    assert_eq!(keys.get(&grace, key.id).await.unwrap(), key);
    world.iam.sessions().step_up(&grace, StepUp::Password(PASSWORD.into())).await.unwrap();
    keys.delete(&grace, key.id).await.unwrap();
    assert!(matches!(keys.get(&grace, key.id).await, Err(Error::Forbidden(_))));
}

#[tokio::test]
async fn the_keys_of_another_user_need_the_permission() {
    let world = World::new().await;
    let keys = world.iam.api_keys();
    let key = world.key(named("nightly")).await.key;
    let (_, stranger) = world.member("grace@example.com", &["users:*"], None).await;
    for refused in [
        keys.create(&stranger, world.robot.id, named("key")).await.err(),
        keys.list(&stranger, world.robot.id).await.err(),
        keys.get(&stranger, key.id).await.err(),
        keys.get(&stranger, iam_model::id::ApiKeyId::from(world.robot.id.as_uuid())).await.err(),
        keys.update(&stranger, key.id, ApiKeyPatch::default()).await.err(),
        keys.rotate(&stranger, key.id, TimeDelta::zero()).await.err(),
        keys.delete(&stranger, key.id).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");
    }
    let (_, keeper) = world.member("bob@example.com", &["api-keys:*"], None).await;
    let made = keys.create(&keeper, world.robot.id, only(&["api-keys:read"])).await.unwrap().key;
    assert_eq!(keys.list(&keeper, world.robot.id).await.unwrap().len(), 2);
    assert_eq!(keys.get(&keeper, made.id).await.unwrap(), made);
    keys.update(&keeper, made.id, ApiKeyPatch { name: Some("x".into()), ..ApiKeyPatch::default() }).await.unwrap();
    keys.rotate(&keeper, made.id, TimeDelta::zero()).await.unwrap();
    keys.delete(&keeper, key.id).await.unwrap();
    let gone = keys.delete(&keeper, key.id).await;
    assert!(matches!(gone, Err(Error::NotFound(_))), "{gone:?}");
}

#[tokio::test]
async fn a_caller_makes_no_key_that_may_do_more_than_itself() {
    let world = World::new().await;
    let keys = world.iam.api_keys();
    let key = world.key(only(&["users:*"])).await.key;
    let narrow = world.key(only(&["users:read"])).await.key;
    let system = Caller::system(world.ada.tenant(), "first machine");
    let any = keys.create(&system, world.robot.id, unlimited()).await.unwrap().key;
    let (_, keeper) = world.member("bob@example.com", &["api-keys:*", "users:read"], None).await;
    let rename = || ApiKeyPatch { name: Some("x".into()), ..ApiKeyPatch::default() };
    // The service account holds nothing yet. What it holds later, the maker could use.
    for refused in [
        keys.create(&keeper, world.robot.id, only(&["*"])).await.err(),
        keys.create(&keeper, world.robot.id, only(&["users:read", "users:delete"])).await.err(),
        keys.update(&keeper, key.id, rename()).await.err(),
        keys.rotate(&keeper, key.id, TimeDelta::zero()).await.err(),
        keys.rotate(&keeper, any.id, TimeDelta::zero()).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    }
    for maker in [&keeper, &world.ada] {
        names(keys.create(maker, world.robot.id, unlimited()).await, "permissions");
    }
    keys.create(&keeper, world.robot.id, only(&["users:read"])).await.unwrap();
    keys.update(&keeper, narrow.id, rename()).await.unwrap();
    keys.rotate(&keeper, narrow.id, TimeDelta::zero()).await.unwrap();
    let narrower = ApiKeyPatch { permissions: Some(vec!["users:read".into()]), ..ApiKeyPatch::default() };
    keys.update(&keeper, any.id, narrower).await.unwrap();
    keys.rotate(&keeper, any.id, TimeDelta::zero()).await.unwrap();
    keys.delete(&keeper, key.id).await.expect("it gives nothing");
}

#[tokio::test]
async fn a_key_of_another_user_lasts_no_longer_than_the_rights_of_its_maker() {
    let world = World::new().await;
    let keys = world.iam.api_keys();
    let (user, keeper) = world.member("bob@example.com", &["api-keys:*"], None).await;
    let role = world.give(user, &["users:read"], None).await;
    let held = world.iam.assignments().of_user(&world.ada, user).await.unwrap();
    let held = held.iter().find(|assignment| assignment.assignment.role_id == role).unwrap().assignment.id;
    let end = world.clock.now() + TimeDelta::days(7);
    let patch = AssignmentPatch { expires_at: Some(Some(end)) };
    world.iam.assignments().update(&world.ada, held, patch).await.unwrap();
    let until = |expires_at| NewApiKey { expires_at: Some(expires_at), ..only(&["users:read"]) };
    for longer in [only(&["users:read"]), until(end + INSTANT)] {
        let refused = keys.create(&keeper, world.robot.id, longer).await;
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    }
    keys.create(&keeper, world.robot.id, until(end)).await.unwrap();
}

#[tokio::test]
async fn keys_of_another_user_are_made_and_rotated_by_a_recent_session() {
    let world = World::new().await;
    let keys = world.iam.api_keys();
    let key = world.key(only(&["users:read"])).await.key;
    world.clock.advance(FRESH);
    keys.create(&world.ada, world.robot.id, only(&["users:read"])).await.unwrap();
    world.clock.advance(INSTANT);
    for refused in [
        keys.create(&world.ada, world.robot.id, only(&["users:read"])).await.err(),
        keys.rotate(&world.ada, key.id, TimeDelta::zero()).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::Unauthenticated(Unauthenticated::NotFresh { .. }))), "{refused:?}");
    }
    // Nothing is gained by these, and a key that has leaked must be revoked at once.
    keys.update(&world.ada, key.id, ApiKeyPatch { name: Some("x".into()), ..ApiKeyPatch::default() }).await.unwrap();
    keys.delete(&world.ada, key.id).await.unwrap();
}

#[tokio::test]
async fn an_administrator_of_an_organization_manages_the_keys_of_its_members_only() {
    let world = World::new().await;
    let keys = world.iam.api_keys();
    let (branch, other) = (world.organization("Branch", None).await, world.organization("Other", None).await);
    let (_, local) = world.member("bob@example.com", &["api-keys:*", "organizations:read"], Some(branch)).await;
    let key = world.key(named("nightly")).await.key;
    for refused in [
        keys.create(&local, world.robot.id, named("key")).await.err(),
        keys.list(&local, world.robot.id).await.err(),
        keys.get(&local, key.id).await.err(),
        keys.delete(&local, key.id).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::NotFound(_))), "{refused:?}");
    }
    world.give(world.robot.id, &["organizations:read"], Some(branch)).await;
    let read = || only(&["organizations:read"]);
    for refused in [
        keys.create(&local, world.robot.id, read()).await.err(),
        keys.list(&local, world.robot.id).await.err(),
        keys.rotate(&local, key.id, TimeDelta::zero()).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::Forbidden(_))), "a role is not enough: {refused:?}");
    }
    let home = UserPatch { home: Some(Some(branch)), ..UserPatch::default() };
    world.iam.users().update(&world.ada, world.robot.id, home).await.unwrap();
    let refused = keys.create(&local, world.robot.id, read()).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "tenant-wide: {refused:?}");
    let there = NewApiKey { organization: Some(branch), ..read() };
    let made = keys.create(&local, world.robot.id, there).await.unwrap().key;
    assert_eq!(keys.list(&local, world.robot.id).await.unwrap().len(), 2);
    let hidden = keys.create(&local, world.robot.id, NewApiKey { organization: Some(other), ..read() }).await;
    assert!(matches!(hidden, Err(Error::About { .. })), "{hidden:?}");
    world.give(world.robot.id, &["organizations:read"], Some(other)).await;
    for refused in [keys.delete(&local, made.id).await.err(), keys.get(&local, made.id).await.err()] {
        assert!(matches!(refused, Some(Error::Forbidden(_))), "{refused:?}");
    }
}

#[tokio::test]
async fn another_tenant_finds_neither_the_key_nor_the_user() {
    let world = World::new().await;
    let keys = world.iam.api_keys();
    let key = world.key(named("nightly")).await;
    let mallory = register(&world.iam, "mallory@example.com").await;
    for refused in [
        keys.create(&mallory, world.robot.id, named("key")).await.err(),
        keys.list(&mallory, world.robot.id).await.err(),
        keys.get(&mallory, key.key.id).await.err(),
        keys.update(&mallory, key.key.id, ApiKeyPatch::default()).await.err(),
        keys.rotate(&mallory, key.key.id, TimeDelta::zero()).await.err(),
        keys.delete(&mallory, key.key.id).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::NotFound(_))), "{refused:?}");
    }
    world.by(&key).await.unwrap();
}

#[tokio::test]
async fn a_key_is_valid_for_90_days_and_at_most_365() {
    let world = World::new().await;
    let keys = world.iam.api_keys();
    let now = world.clock.now();
    assert_eq!(world.key(named("key")).await.key.expires_at, now + TimeDelta::days(90));
    let until = |expires_at| NewApiKey { expires_at: Some(expires_at), ..named("key") };
    let year = now + TimeDelta::days(365);
    assert_eq!(world.key(until(year)).await.key.expires_at, year);
    for bad in [year + INSTANT, now, now - INSTANT] {
        names(keys.create(&world.ada, world.robot.id, until(bad)).await, "expiresAt");
    }
    names(keys.create(&world.ada, world.robot.id, named(" ")).await, "name");
    names(keys.create(&world.ada, world.robot.id, only(&["users:read", "Users"])).await, "permissions[1]");
}

#[tokio::test]
async fn a_user_has_at_most_20_keys() {
    let world = World::new().await;
    let mut keys = Vec::new();
    for _ in 0..20 {
        keys.push(world.key(named("key")).await.key);
    }
    let refused = world.iam.api_keys().create(&world.ada, world.robot.id, named("key")).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::TooManyApiKeys))), "{refused:?}");
    world.iam.api_keys().delete(&world.ada, keys[0].id).await.unwrap();
    world.key(named("key")).await;
}

#[tokio::test]
async fn a_key_becomes_narrower_only() {
    let world = World::new().await;
    let keys = world.iam.api_keys();
    world.give(world.robot.id, &["users:*"], None).await;
    let issued = world.key(named("key")).await;
    let id = issued.key.id;
    let permissions = |texts: &[&str]| ApiKeyPatch {
        permissions: Some(texts.iter().map(|text| (*text).to_owned()).collect()),
        ..ApiKeyPatch::default()
    };
    keys.update(&world.ada, id, permissions(&["users:*"])).await.unwrap();
    let narrower = keys.update(&world.ada, id, permissions(&["users:read"])).await.unwrap();
    assert_eq!(narrower.version, issued.key.version.next().next());
    assert!(!world.key_may(&issued, "users:delete", None).await && world.key_may(&issued, "users:read", None).await);
    for wider in [&["users:*"][..], &["users:read", "roles:read"], &["*"]] {
        names(keys.update(&world.ada, id, permissions(wider)).await, "permissions");
    }
    names(keys.update(&world.ada, id, permissions(&["x"])).await, "permissions[0]");
    let until = |expires_at| ApiKeyPatch { expires_at: Some(expires_at), ..ApiKeyPatch::default() };
    names(keys.update(&world.ada, id, until(issued.key.expires_at + INSTANT)).await, "expiresAt");
    let same = keys.update(&world.ada, id, until(issued.key.expires_at)).await.unwrap();
    assert_eq!((same.version, world.history(id).await.len()), (narrower.version, 3), "nothing changes");
    keys.update(&world.ada, id, until(world.clock.now())).await.unwrap();
    world.refused(&issued).await;
}

#[tokio::test]
async fn a_rotation_keeps_the_id_and_for_a_while_the_former_secret() {
    let world = World::new().await;
    let keys = world.iam.api_keys();
    let first = world.key(named("key")).await;
    let overlap = TimeDelta::minutes(5);
    let second = keys.rotate(&world.ada, first.key.id, overlap).await.unwrap();
    assert_eq!(second.key.id, first.key.id);
    assert_ne!(second.token.expose(), first.token.expose());
    world.clock.advance(overlap - INSTANT);
    for key in [&first, &second] {
        world.by(key).await.unwrap();
    }
    world.clock.advance(INSTANT);
    world.refused(&first).await;
    world.by(&second).await.unwrap();
    let third = keys.rotate(&world.ada, first.key.id, TimeDelta::zero()).await.unwrap();
    world.refused(&second).await;
    world.by(&third).await.unwrap();
    for bad in [-INSTANT, TimeDelta::days(1) + INSTANT] {
        names(keys.rotate(&world.ada, first.key.id, bad).await, "overlapSeconds");
    }
    keys.rotate(&world.ada, first.key.id, TimeDelta::days(1)).await.unwrap();
}

#[tokio::test]
async fn the_use_of_a_key_is_written_once_an_hour() {
    let world = World::new().await;
    let key = world.key(named("key")).await;
    let last = async || world.iam.api_keys().get(&world.ada, key.key.id).await.unwrap().last_used_at;
    assert_eq!(last().await, None);
    let first = world.clock.now();
    for (pass, expected) in
        [(TimeDelta::zero(), first), (TimeDelta::hours(1) - INSTANT, first), (INSTANT, first + TimeDelta::hours(1))]
    {
        world.clock.advance(pass);
        world.by(&key).await.unwrap();
        assert_eq!(last().await, Some(expected));
    }
}

#[tokio::test]
async fn every_change_of_a_key_is_recorded_without_its_secret() {
    let world = World::new().await;
    let keys = world.iam.api_keys();
    let issued = world.key(only(&["users:read"])).await;
    let id = issued.key.id;
    keys.update(&world.ada, id, ApiKeyPatch { name: Some("new".into()), ..ApiKeyPatch::default() }).await.unwrap();
    let rotated = keys.rotate(&world.ada, id, TimeDelta::hours(1)).await.unwrap();
    keys.delete(&world.ada, id).await.unwrap();
    let history = world.history(id).await;
    let actions: Vec<&str> = history.iter().map(|entry| &*entry.action).collect();
    assert_eq!(actions, ["CREATE", "UPDATE", "UPDATE", "DELETE"]);
    assert!(history.iter().all(|entry| entry.user_id == world.ada.user()));
    let target = serde_json::json!(world.robot.id);
    assert!(history.iter().all(|entry| entry.metadata["targetUserId"] == target));
    assert_eq!(history[0].new_value.as_ref().unwrap()["permissions"], serde_json::json!(["users:read"]));
    assert_eq!(history[1].metadata["changedFields"], serde_json::json!(["name"]));
    assert_eq!(history[2].metadata["isRotated"], true);
    let shown = format!("{history:?}");
    for secret in [&issued, &rotated] {
        assert!(!shown.contains(secret.token.expose().rsplit('_').next().unwrap()));
    }
}

#[tokio::test]
async fn an_entry_names_the_key_that_made_the_change() {
    let world = World::new().await;
    world.give(world.robot.id, &["users:create"], None).await;
    let key = world.key(named("key")).await;
    let user = world.iam.users().create(&world.by(&key).await.unwrap(), person("bob@example.com")).await.unwrap();
    let filter = AuditFilter { resource_id: Some(user.id.to_string()), ..AuditFilter::default() };
    let entries = world.iam.audit().list(&world.ada, filter, None, 10).await.unwrap().entries;
    assert_eq!(entries[0].user_id, Some(world.robot.id));
    assert_eq!(entries[0].metadata["apiKeyId"], serde_json::json!(key.key.id));
}

#[tokio::test]
async fn a_deleted_user_has_no_keys_even_if_it_is_restored() {
    let world = World::new().await;
    let key = world.key(named("key")).await;
    world.iam.users().delete(&world.ada, world.robot.id).await.unwrap();
    world.refused(&key).await;
    assert_eq!(world.history(key.key.id).await.last().unwrap().action, "DELETE");
    let refused = world.iam.api_keys().create(&world.ada, world.robot.id, named("key")).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::UserInactive))), "{refused:?}");
    let restore = UserPatch { status: Some(UserStatus::Active), ..UserPatch::default() };
    world.iam.users().update(&world.ada, world.robot.id, restore).await.unwrap();
    world.refused(&key).await;
    assert_eq!(world.iam.api_keys().list(&world.ada, world.robot.id).await.unwrap(), []);
}

#[tokio::test]
async fn a_service_account_has_a_name_and_never_logs_in() {
    let world = World::new().await;
    let robot = &world.robot;
    assert_eq!((robot.kind, robot.service_name().unwrap().as_str()), (UserKind::Service, "Importer"));
    let users = world.iam.users();
    names(users.create_service_account(&world.ada, NewServiceAccount { name: " ".into() }).await, "name");
    let renamed = UserPatch { name: Some("Exporter".into()), ..UserPatch::default() };
    let renamed = users.update(&world.ada, robot.id, renamed).await.unwrap();
    assert_eq!(renamed.service_name().unwrap().as_str(), "Exporter");
    let text = || Some("x@example.com".to_owned());
    names(users.update(&world.ada, robot.id, UserPatch { email: text(), ..UserPatch::default() }).await, "email");
    names(
        users.update(&world.ada, robot.id, UserPatch { first_name: text(), ..UserPatch::default() }).await,
        "firstName",
    );
    names(
        users.update(&world.ada, robot.id, UserPatch { last_name: text(), ..UserPatch::default() }).await,
        "lastName",
    );
    let ada = world.ada.user().unwrap();
    names(users.update(&world.ada, ada, UserPatch { name: text(), ..UserPatch::default() }).await, "name");
    for password in ["", PASSWORD] {
        let login = Login { email: robot.email.to_string(), password: password.into(), tenant: None };
        assert!(world.iam.sessions().login(&RequestContext::default(), login).await.is_err());
    }
    let (_, plain) = world.member("bob@example.com", &["users:read"], None).await;
    let refused = users.create_service_account(&plain, NewServiceAccount { name: "x".into() }).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
}

#[tokio::test]
async fn trusted_code_makes_keys() {
    let world = World::new().await;
    let system = Caller::system(world.ada.tenant(), "first machine");
    world.give(world.robot.id, &["*"], None).await;
    let issued = world.iam.api_keys().create(&system, world.robot.id, unlimited()).await.unwrap();
    assert_eq!(issued.key.created_by, None);
    assert!(issued.token.expose().starts_with(&world.iam.api_keys().prefix(issued.key.id)));
    assert!(world.key_may(&issued, "users:delete", None).await);
    assert_ne!(world.ada.tenant(), TenantId::NONE);
}

#[tokio::test]
async fn an_expired_key_gets_no_new_secret() {
    let world = World::new().await;
    let key = world.iam.api_keys().create(&world.ada, world.robot.id, only(&["users:read"])).await.unwrap().key;
    world.clock.advance(key.expires_at - world.clock.now());
    let system = Caller::system(world.ada.tenant(), "test");
    let refused = world.iam.api_keys().rotate(&system, key.id, TimeDelta::zero()).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::ApiKeyExpired))), "{refused:?}");
}
