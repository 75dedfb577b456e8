//! Identity providers of tenants.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::audit::ResourceType;
use iam_model::change::{Change, IdentityProviderChange};
use iam_model::error::{Conflict, Error};
use iam_model::id::TenantId;
use iam_model::identity_provider::{EncryptedClientSecret, IdentityProvider, Provisioning, SubjectClaim};
use iam_model::role::PlacedRole;
use iam_model::store::Store;
use iam_model::store_error::Constraint;
use iam_model::tenant::Tenant;
use iam_model::version::Version;
use tokio::task::JoinSet;

use crate::log::all;
use crate::world::{World, assert_conflict, assert_missing};

pub(super) fn new_provider(world: &World, tenant: &Tenant, slug: &str) -> IdentityProvider {
    IdentityProvider {
        id: world.id(),
        tenant_id: tenant.id,
        name: format!("Provider {slug}").parse().unwrap(),
        slug: slug.parse().unwrap(),
        issuer: "https://login.example.com".parse().unwrap(),
        client_id: "iam".parse().unwrap(),
        client_secret: None,
        scopes: Vec::new(),
        domain_ids: Vec::new(),
        trusts_email: false,
        subject_claim: SubjectClaim::Sub,
        provisioning: Provisioning::Off,
        roles: Vec::new(),
        factor_is_trusted: false,
        enabled: false,
        created_at: world.now(),
        updated_at: world.now(),
        version: Version::FIRST,
    }
}

/// Providers that are not in the store yet. Each field has several values, and two flags differ in one of them.
fn various(world: &World, tenant: &Tenant) -> Vec<IdentityProvider> {
    let role = |organization_id| PlacedRole { role_id: world.id(), organization_id };
    let [first, second, third] = [world.id(), world.id(), world.id()];
    let full = IdentityProvider {
        name: "Größe \"x\" \\ 'y' %_ 🦀".parse().unwrap(),
        issuer: "https://login.example.org:8443/ü'%_/v2.0/".parse().unwrap(),
        client_id: "api://\"iam\"\\'%_".parse().unwrap(),
        client_secret: Some(EncryptedClientSecret(vec![0, 255, 7, 0])),
        scopes: ["openid", "api://iam/.default", "a'{b},%_"].map(|text| text.parse().unwrap()).to_vec(),
        domain_ids: vec![third, first, second],
        trusts_email: true,
        subject_claim: SubjectClaim::Oid,
        provisioning: Provisioning::Create,
        roles: vec![role(Some(world.id())), role(None), role(Some(world.id()))],
        factor_is_trusted: true,
        enabled: true,
        created_at: world.now() - TimeDelta::days(1),
        updated_at: world.now() + TimeDelta::milliseconds(7),
        ..new_provider(world, tenant, "full")
    };
    let trusting = IdentityProvider {
        client_secret: Some(EncryptedClientSecret(b"secret".to_vec())),
        scopes: vec!["openid".parse().unwrap()],
        trusts_email: true,
        provisioning: Provisioning::Link,
        roles: vec![role(None)],
        ..new_provider(world, tenant, "trusting")
    };
    let with_factors = IdentityProvider {
        domain_ids: vec![first],
        subject_claim: SubjectClaim::Oid,
        factor_is_trusted: true,
        ..new_provider(world, tenant, "with-factors")
    };
    let enabled = IdentityProvider { enabled: true, ..new_provider(world, tenant, "enabled") };
    vec![full, trusting, with_factors, enabled, new_provider(world, tenant, "empty")]
}

fn create(provider: &IdentityProvider) -> Change {
    IdentityProviderChange::Create(provider.clone()).into()
}

fn update(before: &IdentityProvider, after: &IdentityProvider) -> Change {
    IdentityProviderChange::Update { before: before.clone().into(), after: after.clone() }.into()
}

fn delete(provider: &IdentityProvider) -> Change {
    IdentityProviderChange::Delete { provider: provider.clone(), identities: 0 }.into()
}

pub(super) async fn add(world: &World, provider: IdentityProvider) -> IdentityProvider {
    world.commit(provider.tenant_id, create(&provider)).await;
    provider
}

/// The providers of a tenant, read in a unit of work and outside of one.
async fn list(world: &World, tenant: TenantId) -> Vec<IdentityProvider> {
    let committed = world.store.identity_providers(tenant).await.unwrap();
    let locked = world.locked(tenant, async |locks| {
        locks.lock_tenant().await.unwrap();
        locks.identity_providers().await.unwrap()
    });
    assert_eq!(committed, locked.await);
    committed
}

/// A provider, read by its identifier and in the list of its tenant.
async fn read(world: &World, provider: &IdentityProvider) -> Option<IdentityProvider> {
    let found = world.store.identity_provider(provider.tenant_id, provider.id).await.unwrap();
    let listed = list(world, provider.tenant_id).await.into_iter().find(|listed| listed.id == provider.id);
    assert_eq!(found, listed);
    found
}

/// Every field of a provider is read back by every read, and only in its tenant.
pub async fn a_created_row_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    assert_eq!(list(&world, acme.id).await, []);
    let providers = various(&world, &acme);
    for provider in &providers {
        world.commit(acme.id, create(provider)).await;
    }
    for provider in &providers {
        assert_eq!(read(&world, provider).await.as_ref(), Some(provider));
        assert_eq!(read(&world, &IdentityProvider { tenant_id: other.id, ..provider.clone() }).await, None);
    }
    assert_eq!(read(&world, &new_provider(&world, &acme, "absent")).await, None);
}

/// A provider of any tenant is found by its identifier alone, with every field, after the unit of work that made it.
pub async fn providers_of_any_tenant_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let find =
        async |provider: &IdentityProvider| world.store.identity_provider_of_any_tenant(provider.id).await.unwrap();
    let mut providers = Vec::new();
    for slug in ["acme", "other"] {
        let tenant = world.tenant(slug).await;
        providers.extend(various(&world, &tenant));
    }
    for provider in &providers {
        let mut work = world.begin(&World::system(provider.tenant_id)).await;
        work.apply(create(provider)).await.unwrap();
        assert_eq!(find(provider).await, None);
        work.commit().await.unwrap();
    }
    for provider in &providers {
        assert_eq!(find(provider).await.as_ref(), Some(provider));
    }
    let first = providers.remove(0);
    let changed = IdentityProvider { enabled: !first.enabled, ..first.clone() }.changed(world.now());
    world.commit(first.tenant_id, update(&first, &changed)).await;
    assert_eq!(find(&first).await.as_ref(), Some(&changed));
    world.commit(first.tenant_id, delete(&changed)).await;
    assert_eq!(find(&first).await, None);
    for provider in &providers {
        assert_eq!(find(provider).await.as_ref(), Some(provider));
    }
}

/// The providers of a tenant are listed by name, compared by code point, and then by identifier.
pub async fn providers_are_listed_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let mut expected = Vec::new();
    for (number, name) in ["B", "a", "a", "a", "a b", "a-c", "aa", "b", "Ä", "\u{ff21}", "🦀"].iter().enumerate() {
        let provider = new_provider(&world, &acme, &format!("slug-{}", 99 - number));
        expected.push(IdentityProvider { name: name.parse().unwrap(), ..provider });
    }
    for provider in expected.iter().rev() {
        world.commit(acme.id, create(provider)).await;
    }
    let elsewhere = add(&world, new_provider(&world, &other, "elsewhere")).await;
    assert_eq!(list(&world, acme.id).await, expected);
    assert_eq!(list(&world, other.id).await, [elsewhere]);

    let first = expected.remove(0);
    let last = IdentityProvider { name: "🦀🦀".parse().unwrap(), ..first.clone() }.changed(world.now());
    world.commit(acme.id, update(&first, &last)).await;
    expected.push(last);
    assert_eq!(list(&world, acme.id).await, expected);
}

/// Every field that can change is read back after a change. No other provider changes.
pub async fn changes_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let mut stored = add(&world, new_provider(&world, &tenant, "first")).await;
    let bystander = add(&world, new_provider(&world, &tenant, "bystander")).await;
    for other in various(&world, &tenant) {
        world.tick();
        let IdentityProvider { id, created_at, version, .. } = stored;
        let after = IdentityProvider { id, created_at, version, ..other }.changed(world.now());
        world.commit(tenant.id, update(&stored, &after)).await;
        assert_eq!(read(&world, &stored).await.as_ref(), Some(&after));
        stored = after;
    }
    assert_eq!(read(&world, &bystander).await, Some(bystander));
}

/// Every change raises the version by one, even if it changes nothing else.
pub async fn every_change_raises_the_version(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let provider = add(&world, new_provider(&world, &tenant, "first")).await;
    let mut version = provider.version;
    for _ in 0..3 {
        version = version.next();
        world.commit(tenant.id, update(&provider, &provider)).await;
        assert_eq!(read(&world, &provider).await, Some(IdentityProvider { version, ..provider.clone() }));
    }
}

/// A change of a provider that does not exist is refused.
pub async fn a_change_to_a_missing_row_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let absent = new_provider(&world, &tenant, "absent");
    for change in [update(&absent, &absent), delete(&absent)] {
        assert_missing(&world.try_commit(tenant.id, [change]).await);
    }
    assert_eq!(list(&world, tenant.id).await, []);
}

/// A removed provider is gone. No other provider is removed.
pub async fn a_deleted_row_is_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let provider = add(&world, new_provider(&world, &tenant, "first")).await;
    let bystander = add(&world, new_provider(&world, &tenant, "bystander")).await;
    world.commit(tenant.id, delete(&provider)).await;
    assert_eq!(read(&world, &provider).await, None);
    assert_eq!(list(&world, tenant.id).await, [bystander]);
    for change in [update(&provider, &provider), delete(&provider)] {
        assert_missing(&world.try_commit(tenant.id, [change]).await);
    }
}

/// A provider is not found in another tenant, for reads and for writes.
pub async fn rows_of_another_tenant_are_not_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let provider = add(&world, new_provider(&world, &acme, "first")).await;
    assert_eq!(list(&world, other.id).await, []);
    assert_eq!(read(&world, &IdentityProvider { tenant_id: other.id, ..provider.clone() }).await, None);
    let changed = IdentityProvider { enabled: true, ..provider.clone() }.changed(world.now());
    for change in [update(&provider, &changed), delete(&provider)] {
        assert_missing(&world.try_commit(other.id, [change]).await);
    }
    assert_eq!(read(&world, &provider).await, Some(provider));
}

/// A unit of work reads the providers as it has changed them. Other readers do not.
pub async fn a_unit_of_work_reads_its_own_changes(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let provider = new_provider(&world, &tenant, "first");
    let changed = IdentityProvider { enabled: true, ..provider.clone() }.changed(world.now());
    let changes = [
        (create(&provider), vec![provider.clone()]),
        (update(&provider, &changed), vec![changed.clone()]),
        (delete(&changed), vec![]),
    ];
    let mut work = world.begin(&World::system(tenant.id)).await;
    work.reads().lock_tenant().await.unwrap();
    for (change, expected) in changes {
        work.apply(change).await.unwrap();
        assert_eq!(work.reads().identity_providers().await.unwrap(), expected);
        assert_eq!(world.store.identity_provider(tenant.id, provider.id).await.unwrap(), None);
        assert_eq!(world.store.identity_providers(tenant.id).await.unwrap(), []);
    }
}

/// A provider needs a tenant that exists.
pub async fn a_provider_of_a_missing_tenant_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let nowhere = world.new_tenant("nowhere");
    let provider = new_provider(&world, &nowhere, "first");
    assert_conflict(&world.try_commit(nowhere.id, [create(&provider)]).await, Constraint::Reference);
}

/// A slug belongs to at most one provider of a tenant, until that one is removed or gets another slug. A provider of
/// another tenant can have it, too.
pub async fn slug_is_unique_in_a_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let holder = add(&world, new_provider(&world, &acme, "taken")).await;
    let second = add(&world, new_provider(&world, &acme, "free")).await;
    add(&world, new_provider(&world, &other, "taken")).await;
    let elsewhere = add(&world, new_provider(&world, &other, "elsewhere")).await;
    let renamed = |provider: &IdentityProvider, slug: &str| {
        IdentityProvider { slug: slug.parse().unwrap(), ..provider.clone() }.changed(world.now())
    };
    let refused = async |change: Change| {
        assert_conflict(&world.try_commit(acme.id, [change]).await, Constraint::IdentityProviderSlug);
    };
    refused(create(&new_provider(&world, &acme, "taken"))).await;
    refused(update(&second, &renamed(&second, "taken"))).await;
    assert_eq!(list(&world, acme.id).await, [second.clone(), holder.clone()]);
    // A slug that another tenant has, and the provider's own slug.
    let second_moved = renamed(&second, "elsewhere");
    world.commit(acme.id, update(&second, &second_moved)).await;
    let holder_kept = renamed(&holder, "taken");
    world.commit(acme.id, update(&holder, &holder_kept)).await;
    assert_eq!(read(&world, &elsewhere).await, Some(elsewhere));

    add(&world, new_provider(&world, &acme, "free")).await;
    world.commit(acme.id, delete(&holder_kept)).await;
    let after = renamed(&second_moved, "taken");
    world.commit(acme.id, update(&second_moved, &after)).await;
    refused(create(&new_provider(&world, &acme, "taken"))).await;
    add(&world, new_provider(&world, &acme, "elsewhere")).await;
}

/// Every change is recorded in the log of the tenant.
pub async fn changes_are_recorded(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let provider = add(&world, new_provider(&world, &tenant, "first")).await;
    world.tick();
    let changed = IdentityProvider { enabled: true, ..provider.clone() }.changed(world.now());
    world.commit(tenant.id, update(&provider, &changed)).await;
    world.tick();
    world.commit(tenant.id, delete(&changed)).await;
    let entries = all(&world, tenant.id).await;
    let of_provider = entries.iter().rev().filter(|entry| entry.resource_type == ResourceType::IDENTITY_PROVIDER);
    let recorded: Vec<_> = of_provider.map(|entry| (entry.action.to_string(), entry.resource_id.clone())).collect();
    let expected = ["CREATE", "UPDATE", "DELETE"].map(|action| (action.to_owned(), Some(provider.id.to_string())));
    assert_eq!(recorded, expected);
}

/// Of many concurrent units of work that make a provider with one slug, one succeeds.
pub async fn a_slug_is_taken_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        let (world, provider) = (Arc::clone(&world), new_provider(&world, &tenant, "taken"));
        tasks.spawn(async move { world.try_commit(provider.tenant_id, [create(&provider)]).await });
    }
    let results = tasks.join_all().await;
    let is_conflict = |result: &&Result<(), Error>| matches!(result, Err(Error::Conflict(Conflict::SlugTaken)));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert_eq!(results.iter().filter(is_conflict).count(), 7, "{results:?}");
    assert_eq!(list(&world, tenant.id).await.len(), 1);
}
