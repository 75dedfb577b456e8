//! API keys, and service accounts.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::RequestContext;
use iam_core::api_key::{IssuedApiKey, NewApiKey};
use iam_model::api_key::{ApiKey, ApiKeySecret, FormerSecret};
use iam_model::assignment::Assignment;
use iam_model::attribute::Attributes;
use iam_model::change::{ApiKeyChange, FactorChange, TenantChange, UserChange};
use iam_model::error::{Conflict, Error};
use iam_model::factor::Factor;
use iam_model::page::PageRequest;
use iam_model::permission::PermissionSet;
use iam_model::store::{ApiKeySnapshot, Store};
use iam_model::store_error::Constraint;
use iam_model::tenant::{AuthzenIdentifiers, Tenant, TenantStatus};
use iam_model::user::{User, UserFilter, UserKind, UserSort, UserStatus};
use iam_model::version::Version;

use crate::race::{Fixture, race};
use crate::world::{World, assert_conflict, assert_missing, create, new_api_key, new_totp, requiring};

async fn add(world: &World, key: ApiKey) -> ApiKey {
    world.commit(key.tenant_id, ApiKeyChange::Create { key: key.clone(), organization: None }).await;
    key
}

/// A key, read in a unit of work and outside of one.
async fn read(world: &World, key: &ApiKey) -> Option<ApiKey> {
    let committed = world.store.api_key(key.tenant_id, key.id).await.unwrap();
    let locked = world.locked(key.tenant_id, async |locks| locks.lock_api_key(key.id).await.unwrap()).await;
    assert_eq!(committed, locked);
    let snapshot = world.store.api_key_snapshot(key.tenant_id, key.id).await.unwrap();
    assert_eq!(committed, snapshot.map(|snapshot| snapshot.key));
    committed
}

/// The keys of a user, read in a unit of work and outside of one.
async fn keys(world: &World, user: &User) -> Vec<ApiKey> {
    let committed = world.store.api_keys_of(user.tenant_id, user.id).await.unwrap();
    let locked = world.locked(user.tenant_id, async |locks| locks.lock_api_keys_of(user.id).await.unwrap()).await;
    assert_eq!(committed, locked);
    committed
}

fn permissions(texts: &[&str]) -> Option<PermissionSet> {
    Some(texts.iter().map(|text| text.parse().unwrap()).collect())
}

/// A key with a value in every field.
async fn full(world: &World, tenant: &Tenant, user: &User) -> ApiKey {
    let organization = world.organization(tenant, "branch").await;
    ApiKey {
        name: "Schlüssel \"7\"".parse().unwrap(),
        secret: ApiKeySecret {
            hash: [7; 32],
            former: Some(FormerSecret { hash: [9; 32], until: world.now() + TimeDelta::milliseconds(7) }),
        },
        permissions: permissions(&["users:*", "roles:read"]),
        organization_id: Some(organization.id),
        created_by: Some(user.id),
        rotated_by_owner: true,
        last_used_at: Some(world.now()),
        created_at: world.now() - TimeDelta::days(1),
        ..new_api_key(world, user)
    }
}

/// The keys of a user are read back newest first, then by identifier, and only in their tenant. Each field has the
/// value that was written.
pub async fn keys_are_read_back_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (ada, bob) = (world.user(&acme, "ada@example.com").await, world.user(&acme, "bob@example.com").await);
    assert_eq!(keys(&world, &ada).await, []);
    let full = add(&world, full(&world, &acme, &ada).await).await;
    let none = ApiKey { permissions: permissions(&[]), ..new_api_key(&world, &ada) };
    let (first, second) = (add(&world, none).await, add(&world, new_api_key(&world, &ada)).await);
    add(&world, new_api_key(&world, &bob)).await;
    assert_eq!(keys(&world, &ada).await, [first, second, full.clone()]);
    assert_eq!(keys(&world, &bob).await.len(), 1);
    assert_eq!(read(&world, &full).await, Some(full.clone()));
    assert_eq!(world.store.api_keys_of(other.id, ada.id).await.unwrap(), []);
    assert_eq!(read(&world, &ApiKey { tenant_id: other.id, ..full }).await, None);
}

/// The keys of a tenant that expire within a time are found to the millisecond, those of every user: earliest expiry
/// first, then by identifier, and only as many as asked for.
pub async fn expiring_keys_are_found_by_their_expiry(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (ada, bob) = (world.user(&acme, "ada@example.com").await, world.user(&acme, "bob@example.com").await);
    let namesake = world.user(&other, "ada@example.com").await;
    let now = world.now();
    let mut added = Vec::new();
    for (user, millis) in [(&ada, 7), (&bob, 8), (&ada, 1), (&bob, 0), (&ada, 7), (&namesake, 3)] {
        let expires_at = now + TimeDelta::milliseconds(millis);
        added.push(add(&world, ApiKey { expires_at, ..new_api_key(&world, user) }).await);
    }
    let until = now + TimeDelta::milliseconds(7);
    let mut expected = vec![added[2].clone(), added[0].clone(), added[4].clone()];
    expected.sort_by_key(|key| (key.expires_at, key.id));
    assert_eq!(world.store.expiring_api_keys(acme.id, now, until, 10).await.unwrap(), expected);
    assert_eq!(world.store.expiring_api_keys(acme.id, now, until, 2).await.unwrap(), expected[..2]);
}

/// A snapshot has the key, both statuses and the grants of the user.
pub async fn snapshot_shows_status_and_grants(store: Arc<dyn Store>) {
    let world = World::new(store);
    let before = world.tenant("acme").await;
    let tenant = Tenant { authzen_identifiers: AuthzenIdentifiers::Name, ..before.clone() }.changed(world.now());
    world.commit(before.id, TenantChange::Update { before, after: tenant.clone() }).await;
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await);
    let key = add(&world, new_api_key(&world, &ada)).await;
    let role = world.role(&tenant, "READER", &["users:read"]).await;
    let branch = world.organization(&tenant, "branch").await;
    let given = world.new_assignment(&ada, &role, None);
    let (directory_group_id, access_request_id) = (Some(world.id()), Some(world.id()));
    let expires_at = Some(world.now() + TimeDelta::days(1));
    world.assign(Assignment { expires_at, directory_group_id, access_request_id, ..given }, &role).await;
    for (user, organization) in [(&ada, Some(&branch)), (&bob, None)] {
        world.give(user, &role, organization).await;
    }
    let expected = ApiKeySnapshot {
        key: key.clone(),
        user_status: UserStatus::Active,
        tenant_status: TenantStatus::Active,
        enrol_by: None,
        authzen_identifiers: AuthzenIdentifiers::Name,
        grants: world.store.grants_of(tenant.id, &[ada.id]).await.unwrap(),
    };
    assert_eq!(expected.grants.len(), 2);
    assert_eq!(world.store.api_key_snapshot(tenant.id, key.id).await.unwrap(), Some(expected.clone()));
    let after = User { status: UserStatus::Suspended, ..ada.clone() };
    world.commit(tenant.id, UserChange::ChangeStatus { before: ada, after, grants: None }).await;
    let found = world.store.api_key_snapshot(tenant.id, key.id).await.unwrap();
    assert_eq!(found, Some(ApiKeySnapshot { user_status: UserStatus::Suspended, ..expected }));
}

/// The snapshot shows from when on the keys of a person without a confirmed factor are refused, where the tenant requires
/// one. Those of a service account never are.
pub async fn snapshot_shows_until_when_a_factor_must_be_set_up(store: Arc<dyn Store>) {
    let world = World::new(store);
    let before = world.tenant("acme").await;
    let tenant = before.id;
    let ada = world.user(&before, "ada@example.com").await;
    let robot = User { kind: UserKind::Service, ..world.new_user(&before, "robot@service.invalid") };
    world.commit(tenant, create(&robot)).await;
    let (of_ada, of_robot) =
        (add(&world, new_api_key(&world, &ada)).await, add(&world, new_api_key(&world, &robot)).await);
    let enrol_by = async |key: &ApiKey| world.store.api_key_snapshot(tenant, key.id).await.unwrap().unwrap().enrol_by;
    assert_eq!(enrol_by(&of_ada).await, None);
    let after = requiring(&world, &before, 3);
    world.commit(tenant, TenantChange::Update { before, after: after.clone() }).await;
    let end = after.second_factor_required_at.map(|start| start + TimeDelta::days(3));
    assert_eq!((enrol_by(&of_ada).await, enrol_by(&of_robot).await), (end, None));
    let totp = new_totp(&world, &ada);
    world.commit(tenant, FactorChange::Prepare(totp.clone())).await;
    assert_eq!(enrol_by(&of_ada).await, end);
    world.commit(tenant, FactorChange::Confirm(Factor { confirmed_at: Some(world.now()), ..totp })).await;
    assert_eq!(enrol_by(&of_ada).await, None);
}

/// A change is read back, and raises the version. It keeps a use that was written after the key was read.
pub async fn changes_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let before = add(&world, new_api_key(&world, &user)).await;
    let used = world.now() + TimeDelta::minutes(7);
    world.store.record_api_key_use(tenant.id, before.id, used).await.unwrap();
    let after = ApiKey {
        name: "another".parse().unwrap(),
        permissions: permissions(&["users:read"]),
        expires_at: before.expires_at - TimeDelta::days(1),
        ..before.clone()
    };
    let update = ApiKeyChange::Update { before: before.clone().into(), after: after.clone(), organization: None };
    world.commit(tenant.id, update).await;
    let expected = ApiKey { last_used_at: Some(used), version: Version::FIRST.next(), ..after };
    assert_eq!(read(&world, &before).await, Some(expected.clone()));
    let former = Some(FormerSecret { hash: before.secret.hash, until: used });
    let after = ApiKey { secret: ApiKeySecret { hash: [3; 32], former }, rotated_by_owner: true, ..expected };
    world.commit(tenant.id, ApiKeyChange::Rotate { after: after.clone(), organization: None }).await;
    assert_eq!(read(&world, &before).await, Some(ApiKey { version: after.version.next(), ..after }));
}

/// A change of a key that does not exist is refused.
pub async fn a_change_to_a_missing_key_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let key = new_api_key(&world, &user);
    let update = ApiKeyChange::Update { before: key.clone().into(), after: key.clone(), organization: None };
    assert_missing(&world.try_commit(tenant.id, [update.into()]).await);
    let rotate = ApiKeyChange::Rotate { after: key, organization: None };
    assert_missing(&world.try_commit(tenant.id, [rotate.into()]).await);
}

/// A key of a user or an organization that does not exist is refused.
pub async fn a_key_of_a_missing_user_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let without_user = ApiKey { user_id: world.id(), ..new_api_key(&world, &user) };
    let without_organization = ApiKey { organization_id: Some(world.id()), ..new_api_key(&world, &user) };
    for key in [without_user, without_organization] {
        let create = ApiKeyChange::Create { key, organization: None };
        assert_conflict(&world.try_commit(tenant.id, [create.into()]).await, Constraint::Reference);
    }
}

/// A revoked key is gone, and no other one.
pub async fn revoked_keys_are_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let mut added = Vec::new();
    for _ in 0..3 {
        added.push(add(&world, new_api_key(&world, &user)).await);
    }
    world.commit(tenant.id, ApiKeyChange::Delete(added[..2].to_vec())).await;
    assert_eq!(keys(&world, &user).await, added[2..]);
    assert_eq!(read(&world, &added[0]).await, None);
}

/// The latest use of a key is kept, and does not raise the version. The use of a revoked key is ignored.
pub async fn the_latest_use_is_kept(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let user = world.user(&tenant, "ada@example.com").await;
    let key = add(&world, new_api_key(&world, &user)).await;
    let now = world.now();
    let uses = [(now, now), (now + TimeDelta::milliseconds(2), now + TimeDelta::milliseconds(2))];
    let earlier = (now + TimeDelta::milliseconds(1), now + TimeDelta::milliseconds(2));
    for (used, expected) in uses.into_iter().chain([earlier]) {
        world.store.record_api_key_use(tenant.id, key.id, used).await.unwrap();
        world.store.record_api_key_use(other.id, key.id, now + TimeDelta::days(1)).await.unwrap();
        let expected = ApiKey { last_used_at: Some(expected), ..key.clone() };
        assert_eq!(read(&world, &key).await, Some(expected));
    }
    world.commit(tenant.id, ApiKeyChange::Delete(vec![key.clone()])).await;
    world.store.record_api_key_use(tenant.id, key.id, now).await.unwrap();
    assert_eq!(read(&world, &key).await, None);
}

/// A service account is read back without a password, and lists filter by kind.
pub async fn service_accounts_are_listed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let person = world.user(&tenant, "ada@example.com").await;
    let robot = User { kind: UserKind::Service, ..world.new_user(&tenant, "robot@service.invalid") };
    let create =
        UserChange::Create { user: robot.clone(), password: None, invitation: None, attributes: Attributes::default() };
    world.commit(tenant.id, create).await;
    assert_eq!(world.store.user(tenant.id, robot.id).await.unwrap(), Some(robot.clone()));
    let guarded = world.store.guarded_account(tenant.id, &robot.email.key()).await.unwrap();
    assert!(guarded.account.is_none());
    let both = sorted_ids([&person, &robot]);
    let cases = [(None, both), (Some(UserKind::Human), vec![person.id]), (Some(UserKind::Service), vec![robot.id])];
    for (kind, expected) in cases {
        let filter = UserFilter { kind, ..UserFilter::default() };
        let scope = iam_model::access::VisibleScope::Tenant;
        let (sort, page) = (UserSort::default(), PageRequest::default());
        let found = world.store.users(tenant.id, &filter, &scope, sort, page, world.now()).await.unwrap();
        assert_eq!((sorted_ids(&found.items), found.total), (expected.clone(), expected.len() as u64), "{kind:?}");
    }
}

/// Of many concurrent requests that make a key of one user, exactly as many succeed as the user may have keys.
pub async fn concurrent_keys_stay_within_the_maximum(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let user = fixture.user("bob@example.com").await.id;
    let results = race(ApiKey::MAX + 4, |_| {
        let (iam, system) = (fixture.iam.clone(), fixture.system.clone());
        async move { iam.api_keys().create(&system, user, named("key")).await }
    })
    .await;
    let is_over =
        |result: &Result<IssuedApiKey, Error>| matches!(result, Err(Error::Conflict(Conflict::TooManyApiKeys)));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), ApiKey::MAX, "{results:?}");
    assert_eq!(results.iter().filter(|result| is_over(result)).count(), 4, "{results:?}");
    assert_eq!(fixture.iam.api_keys().list(&fixture.system, user).await.unwrap().len(), ApiKey::MAX);
}

/// After many concurrent rotations of a key, one of the secrets is valid.
pub async fn one_secret_of_concurrent_rotations_is_valid(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let user = fixture.user("bob@example.com").await.id;
    let first = fixture.iam.api_keys().create(&fixture.system, user, named("key")).await.unwrap();
    let issued = race(6, |_| {
        let (iam, system, id) = (fixture.iam.clone(), fixture.system.clone(), first.key.id);
        async move { iam.api_keys().rotate(&system, id, TimeDelta::zero()).await.unwrap() }
    })
    .await;
    let mut valid = 0;
    for issued in issued.iter().chain([&first]) {
        let caller = fixture.iam.authenticate(issued.token.expose(), RequestContext::default()).await;
        valid += usize::from(caller.is_ok());
    }
    assert_eq!(valid, 1);
}

/// A user that is deleted while keys are made for it has no key afterwards.
pub async fn a_concurrent_deletion_leaves_no_key(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    for round in 0..6 {
        let user = fixture.user(&format!("user{round}@example.com")).await.id;
        let results = race(5, |number| {
            let (iam, system) = (fixture.iam.clone(), fixture.system.clone());
            async move {
                match number {
                    2 => iam.users().delete(&system, user).await.map(|()| None),
                    _ => iam.api_keys().create(&system, user, named("key")).await.map(Some),
                }
            }
        })
        .await;
        let is_expected = |result: &Result<Option<IssuedApiKey>, Error>| {
            matches!(result, Ok(_) | Err(Error::Conflict(Conflict::UserInactive)))
        };
        assert!(results.iter().all(is_expected), "{results:?}");
        assert_eq!(fixture.iam.api_keys().list(&fixture.system, user).await.unwrap(), []);
    }
}

fn named(name: &str) -> NewApiKey {
    NewApiKey { name: name.to_owned(), ..NewApiKey::default() }
}

fn sorted_ids<'a>(users: impl IntoIterator<Item = &'a User>) -> Vec<iam_model::id::UserId> {
    let mut ids: Vec<_> = users.into_iter().map(|user| user.id).collect();
    ids.sort_unstable();
    ids
}
