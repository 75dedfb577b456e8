//! Identities: links of users to accounts at identity providers.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::audit::ResourceType;
use iam_model::change::{Change, IdentityChange, IdentityProviderChange, UserChange};
use iam_model::error::{Conflict, Error};
use iam_model::id::{TenantId, UserId};
use iam_model::identity::Identity;
use iam_model::identity_provider::{IdentityProvider, Issuer};
use iam_model::store::Store;
use iam_model::store_error::{Constraint, StoreError};
use iam_model::tenant::Tenant;
use iam_model::user::{User, UserStatus};
use tokio::task::JoinSet;

use crate::identity_provider::{self, new_provider};
use crate::log::all;
use crate::world::{World, assert_conflict, assert_missing};

fn new_identity(world: &World, user: &User, provider: &IdentityProvider, subject: &str) -> Identity {
    Identity {
        id: world.id(),
        tenant_id: user.tenant_id,
        user_id: user.id,
        provider_id: provider.id,
        issuer: provider.issuer.clone(),
        subject: subject.to_owned(),
        email: None,
        linked_at: world.now(),
        last_login_at: None,
    }
}

fn create(identity: &Identity) -> Change {
    IdentityChange::Create(identity.clone()).into()
}

fn using(identity: &Identity) -> Change {
    IdentityChange::Use(identity.clone()).into()
}

fn delete(identity: &Identity) -> Change {
    IdentityChange::Delete { identity: identity.clone(), grants: None }.into()
}

fn delete_provider(provider: &IdentityProvider, identities: u64) -> Change {
    IdentityProviderChange::Delete { provider: provider.clone(), identities }.into()
}

async fn add(world: &World, identity: Identity) -> Identity {
    world.commit(identity.tenant_id, create(&identity)).await;
    identity
}

async fn link(world: &World, user: &User, provider: &IdentityProvider, subject: &str) -> Identity {
    add(world, new_identity(world, user, provider, subject)).await
}

async fn provider(world: &World, tenant: &Tenant, slug: &str) -> IdentityProvider {
    identity_provider::add(world, new_provider(world, tenant, slug)).await
}

/// Fails unless these identities are refused, because the account or the user has another link.
async fn assert_linked(world: &World, identities: impl IntoIterator<Item = Identity>) {
    for identity in identities {
        let refused = world.try_commit(identity.tenant_id, [create(&identity)]).await;
        assert_conflict(&refused, Constraint::Identity);
        assert_eq!(world.store.identity(identity.tenant_id, identity.id).await.unwrap(), None);
    }
}

/// The number of identities at a provider.
async fn count(world: &World, tenant: &Tenant, provider: &IdentityProvider) -> u64 {
    let locked = world.locked(tenant.id, async |locks| {
        locks.lock_tenant().await.unwrap();
        locks.count_identities(provider.id).await.unwrap()
    });
    locked.await
}

/// The identities of a user, read in a unit of work and outside of one.
async fn list(world: &World, tenant: TenantId, user: UserId) -> Vec<Identity> {
    let committed = world.store.identities(tenant, user).await.unwrap();
    let locked = world.locked(tenant, async |locks| locks.identities(user).await.unwrap()).await;
    assert_eq!(committed, locked);
    committed
}

/// An identity, read by its identifier, by its account, and in the list of its user.
async fn read(world: &World, identity: &Identity) -> Option<Identity> {
    let Identity { id, tenant_id, user_id, provider_id, issuer, subject, .. } = identity;
    let found = world.store.identity(*tenant_id, *id).await.unwrap();
    let of_account = world.store.identity_of(*tenant_id, *provider_id, issuer, subject).await.unwrap();
    let listed = list(world, *tenant_id, *user_id).await.into_iter().find(|listed| listed.id == *id);
    assert_eq!((&found, &found), (&of_account, &listed));
    found
}

/// Every field of an identity is read back by every read, and only in its tenant.
pub async fn a_created_row_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (first, second) = (provider(&world, &acme, "first").await, provider(&world, &acme, "second").await);
    let (ada, bob) = (world.user(&acme, "ada@example.com").await, world.user(&acme, "bob@example.com").await);
    assert_eq!(list(&world, acme.id, ada.id).await, []);
    let full = Identity {
        issuer: "https://login.example.org:8443/ü'%_/v2.0/".parse().unwrap(),
        email: Some("größe+7@example.com".parse().unwrap()),
        linked_at: world.now() - TimeDelta::days(1),
        last_login_at: Some(world.now() + TimeDelta::milliseconds(7)),
        ..new_identity(&world, &ada, &first, "Größe \"x\" \\ 'y' %_ 🦀 ")
    };
    let long = new_identity(&world, &ada, &second, &"🦀".repeat(Identity::MAX_SUBJECT));
    let used = Identity { last_login_at: Some(world.now()), ..new_identity(&world, &bob, &first, "used") };
    let identities = [full, long, used];
    for identity in &identities {
        world.commit(acme.id, create(identity)).await;
    }
    for identity in &identities {
        assert_eq!(read(&world, identity).await.as_ref(), Some(identity));
        assert_eq!(read(&world, &Identity { tenant_id: other.id, ..identity.clone() }).await, None);
    }
    assert_eq!(read(&world, &new_identity(&world, &bob, &second, "absent")).await, None);
}

/// The identities of a user are listed by the time of the link, and then by identifier.
pub async fn identities_are_listed_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (ada, bob) = (world.user(&acme, "ada@example.com").await, world.user(&acme, "bob@example.com").await);
    let namesake = world.user(&other, "ada@example.com").await;
    let mut providers = Vec::new();
    for slug in ["first", "second", "third", "fourth"] {
        providers.push(provider(&world, &acme, slug).await);
    }
    // The identifiers of the providers, and the subjects, have the opposite order.
    let mut linked = Vec::new();
    for (number, provider) in providers.iter().rev().enumerate() {
        linked.push(new_identity(&world, &ada, provider, &format!("subject-{}", 9 - number)));
    }
    linked[0].linked_at += TimeDelta::milliseconds(1);
    linked[3].linked_at -= TimeDelta::days(1);
    for number in [2, 0, 3, 1] {
        world.commit(acme.id, create(&linked[number])).await;
    }
    let expected = [3, 1, 2, 0].map(|number| linked[number].clone());
    let of_bob = link(&world, &bob, &providers[0], "bob").await;
    let elsewhere = link(&world, &namesake, &provider(&world, &other, "first").await, "ada").await;
    assert_eq!(list(&world, acme.id, ada.id).await, expected);
    assert_eq!(list(&world, acme.id, bob.id).await, [of_bob]);
    assert_eq!(list(&world, other.id, namesake.id).await, [elsewhere]);
}

/// An identity is found by its whole account: the provider, the issuer and the subject, whose bytes are compared.
pub async fn an_identity_is_found_by_its_whole_account(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (here, there) = (provider(&world, &tenant, "here").await, provider(&world, &tenant, "there").await);
    let other_issuer: Issuer = format!("{}/", here.issuer.as_str()).parse().unwrap();
    let mut linked = Vec::new();
    // The last two are a letter in its two forms of Unicode.
    for subject in ["ada", "ADA", "ada ", " ada", "ad", "ad_", "ad%", "0", "00", "\u{e4}", "a\u{308}"] {
        let user = world.user(&tenant, &format!("user{}@example.com", linked.len())).await;
        assert_eq!(world.store.identity_of(tenant.id, here.id, &here.issuer, subject).await.unwrap(), None);
        linked.push(link(&world, &user, &here, subject).await);
    }
    for identity in &linked {
        assert_eq!(read(&world, identity).await.as_ref(), Some(identity));
        for (provider, issuer) in [(&there, &here.issuer), (&here, &other_issuer)] {
            let found = world.store.identity_of(tenant.id, provider.id, issuer, &identity.subject).await.unwrap();
            assert_eq!(found, None);
        }
    }
}

/// A login by an identity is read back. No other identity changes.
pub async fn a_use_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (here, there) = (provider(&world, &tenant, "here").await, provider(&world, &tenant, "there").await);
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await);
    let mut stored = link(&world, &ada, &here, "ada").await;
    let bystanders = [link(&world, &ada, &there, "ada").await, link(&world, &bob, &here, "bob").await];
    for email in [Some("ada@example.org"), Some("Ada@example.net"), None] {
        world.tick();
        let email = email.map(|email| email.parse().unwrap());
        let after = Identity { email, last_login_at: Some(world.now()), ..stored.clone() };
        world.commit(tenant.id, using(&after)).await;
        assert_eq!(read(&world, &stored).await.as_ref(), Some(&after));
        stored = after;
    }
    for bystander in bystanders {
        assert_eq!(read(&world, &bystander).await, Some(bystander));
    }
}

/// A change of an identity that does not exist is refused.
pub async fn a_change_to_a_missing_row_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let provider = provider(&world, &tenant, "first").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let absent = new_identity(&world, &user, &provider, "absent");
    for change in [using(&absent), delete(&absent)] {
        assert_missing(&world.try_commit(tenant.id, [change]).await);
    }
    assert_eq!(list(&world, tenant.id, user.id).await, []);
}

/// A removed identity is gone. No other identity is removed.
pub async fn a_deleted_row_is_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (here, there) = (provider(&world, &tenant, "here").await, provider(&world, &tenant, "there").await);
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await);
    let identity = link(&world, &ada, &here, "ada").await;
    let bystanders = [link(&world, &ada, &there, "ada").await, link(&world, &bob, &here, "bob").await];
    world.commit(tenant.id, delete(&identity)).await;
    assert_eq!(read(&world, &identity).await, None);
    for change in [using(&identity), delete(&identity)] {
        assert_missing(&world.try_commit(tenant.id, [change]).await);
    }
    for bystander in bystanders {
        assert_eq!(read(&world, &bystander).await, Some(bystander));
    }
}

/// An identity is not found in another tenant, for reads and for writes.
pub async fn rows_of_another_tenant_are_not_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let provider = provider(&world, &acme, "first").await;
    let user = world.user(&acme, "ada@example.com").await;
    let identity = link(&world, &user, &provider, "ada").await;
    assert_eq!(list(&world, other.id, user.id).await, []);
    assert_eq!(read(&world, &Identity { tenant_id: other.id, ..identity.clone() }).await, None);
    let used = Identity { last_login_at: Some(world.now()), ..identity.clone() };
    for change in [using(&used), delete(&identity)] {
        assert_missing(&world.try_commit(other.id, [change]).await);
    }
    assert_eq!(read(&world, &identity).await, Some(identity));
}

/// A unit of work reads the identities as it has changed them. Other readers do not.
pub async fn a_unit_of_work_reads_its_own_changes(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let provider = new_provider(&world, &tenant, "first");
    let user = world.user(&tenant, "ada@example.com").await;
    let identity = new_identity(&world, &user, &provider, "ada");
    let used = Identity { last_login_at: Some(world.now()), ..identity.clone() };
    let changes = [
        (Change::from(IdentityProviderChange::Create(provider.clone())), vec![]),
        (create(&identity), vec![identity.clone()]),
        (using(&used), vec![used.clone()]),
        (delete(&used), vec![]),
        (create(&identity), vec![identity.clone()]),
        (delete_provider(&provider, 1), vec![]),
    ];
    let mut work = world.begin(&World::system(tenant.id)).await;
    for (change, expected) in changes {
        work.apply(change).await.unwrap();
        assert_eq!(work.reads().identities(user.id).await.unwrap(), expected);
        assert_eq!(world.store.identity(tenant.id, identity.id).await.unwrap(), None);
        assert_eq!(world.store.identities(tenant.id, user.id).await.unwrap(), []);
        let of_account = world.store.identity_of(tenant.id, provider.id, &provider.issuer, "ada").await.unwrap();
        assert_eq!(of_account, None);
    }
}

/// An identity needs a user and a provider that exist in its tenant.
pub async fn references_to_another_tenant_are_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (here, there) = (provider(&world, &acme, "first").await, provider(&world, &other, "first").await);
    let missing = new_provider(&world, &acme, "missing");
    let (ada, namesake) = (world.user(&acme, "ada@example.com").await, world.user(&other, "ada@example.com").await);
    let nobody = world.new_user(&acme, "nobody@example.com");
    for (user, provider) in [(&ada, &missing), (&ada, &there), (&nobody, &here), (&namesake, &here)] {
        let identity = Identity { tenant_id: acme.id, ..new_identity(&world, user, provider, "ada") };
        assert_conflict(&world.try_commit(acme.id, [create(&identity)]).await, Constraint::Reference);
        assert_eq!(read(&world, &identity).await, None);
    }
    link(&world, &ada, &here, "ada").await;
}

/// An account belongs to at most one user of a tenant, until the link is removed. With another provider, issuer or
/// tenant, it is another account.
pub async fn an_account_belongs_to_one_user(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (here, there) = (provider(&world, &acme, "here").await, provider(&world, &acme, "there").await);
    let elsewhere = provider(&world, &other, "here").await;
    let (ada, bob) = (world.user(&acme, "ada@example.com").await, world.user(&acme, "bob@example.com").await);
    let carol = world.user(&acme, "carol@example.com").await;
    let namesake = world.user(&other, "ada@example.com").await;
    let first = link(&world, &ada, &here, "0017").await;
    let again = || [&bob, &carol].map(|user| new_identity(&world, user, &here, "0017"));
    assert_linked(&world, again()).await;

    let issuer = "https://login.example.org".parse().unwrap();
    let others = [
        new_identity(&world, &bob, &there, "0017"),
        Identity { issuer, ..new_identity(&world, &carol, &here, "0017") },
        new_identity(&world, &namesake, &elsewhere, "0017"),
    ];
    for identity in others {
        let identity = add(&world, identity).await;
        assert_eq!(read(&world, &identity).await, Some(identity));
    }
    assert_linked(&world, again()).await;
    assert_eq!(read(&world, &first).await.as_ref(), Some(&first));
    world.commit(acme.id, delete(&first)).await;
    link(&world, &bob, &here, "0017").await;
}

/// A user has at most one identity at a provider, whatever its issuer, until the link is removed.
pub async fn a_user_has_one_identity_at_a_provider(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (here, there) = (provider(&world, &tenant, "here").await, provider(&world, &tenant, "there").await);
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await);
    let first = link(&world, &ada, &here, "first").await;
    let another = || new_identity(&world, &ada, &here, "second");
    let issuer = "https://login.example.org".parse().unwrap();
    assert_linked(&world, [another(), Identity { issuer, ..another() }]).await;
    let at_another = link(&world, &ada, &there, "second").await;
    let of_another = link(&world, &bob, &here, "second").await;
    assert_eq!(list(&world, tenant.id, ada.id).await, [first.clone(), at_another.clone()]);
    world.commit(tenant.id, delete(&of_another)).await;
    assert_linked(&world, [another()]).await;
    world.commit(tenant.id, delete(&first)).await;
    let second = link(&world, &ada, &here, "second").await;
    assert_eq!(list(&world, tenant.id, ada.id).await, [at_another, second]);
}

/// A removed provider takes the identities at it along, and no others.
pub async fn a_removed_provider_has_no_identities(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (here, there) = (provider(&world, &acme, "here").await, provider(&world, &acme, "there").await);
    let elsewhere = provider(&world, &other, "here").await;
    let (ada, bob) = (world.user(&acme, "ada@example.com").await, world.user(&acme, "bob@example.com").await);
    let namesake = world.user(&other, "ada@example.com").await;
    let removed = [link(&world, &ada, &here, "ada").await, link(&world, &bob, &here, "bob").await];
    let kept = [link(&world, &ada, &there, "ada").await, link(&world, &namesake, &elsewhere, "ada").await];
    world.commit(acme.id, delete_provider(&here, 2)).await;
    for identity in removed {
        assert_eq!(read(&world, &identity).await, None);
        assert_missing(&world.try_commit(acme.id, [delete(&identity)]).await);
    }
    for identity in kept {
        assert_eq!(read(&world, &identity).await, Some(identity));
    }
}

/// The identities at a provider are counted, whatever their issuer, and as the unit of work has changed them.
pub async fn identities_at_a_provider_are_counted(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (here, there) = (provider(&world, &acme, "here").await, provider(&world, &acme, "there").await);
    let elsewhere = provider(&world, &other, "here").await;
    let (ada, bob) = (world.user(&acme, "ada@example.com").await, world.user(&acme, "bob@example.com").await);
    let carol = world.user(&acme, "carol@example.com").await;
    let namesake = world.user(&other, "ada@example.com").await;
    assert_eq!(count(&world, &acme, &here).await, 0);
    let first = link(&world, &ada, &here, "ada").await;
    let issuer = "https://login.example.org".parse().unwrap();
    add(&world, Identity { issuer, ..new_identity(&world, &bob, &here, "bob") }).await;
    link(&world, &ada, &there, "ada").await;
    link(&world, &namesake, &elsewhere, "ada").await;
    for (tenant, provider, expected) in
        [(&acme, &here, 2), (&acme, &there, 1), (&other, &elsewhere, 1), (&other, &here, 0), (&acme, &elsewhere, 0)]
    {
        assert_eq!(count(&world, tenant, provider).await, expected);
    }

    let third = new_identity(&world, &carol, &here, "carol");
    let used = Identity { last_login_at: Some(world.now()), ..first.clone() };
    world.tick();
    let mut work = world.begin(&World::system(acme.id)).await;
    work.reads().lock_tenant().await.unwrap();
    for (change, expected) in
        [(create(&third), 3), (using(&used), 3), (delete(&first), 2), (delete_provider(&here, 2), 0)]
    {
        work.apply(change).await.unwrap();
        assert_eq!(work.reads().count_identities(here.id).await.unwrap(), expected);
    }
    work.commit().await.unwrap();
    assert_eq!((count(&world, &acme, &here).await, count(&world, &acme, &there).await), (0, 1));
    let entries = all(&world, acme.id).await;
    let removal = entries.iter().find(|entry| entry.resource_id == Some(here.id.to_string()));
    assert_eq!(removal.unwrap().metadata["identities"], 2);
}

/// A changed provider and an INACTIVE user keep their identities.
pub async fn other_changes_keep_identities(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let before = provider(&world, &tenant, "first").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let identity = link(&world, &user, &before, "ada").await;
    let issuer = "https://login.example.org".parse().unwrap();
    let after = IdentityProvider { issuer, ..before.clone() }.changed(world.now());
    world.commit(tenant.id, IdentityProviderChange::Update { before: before.into(), after }).await;
    let inactive = User { status: UserStatus::Inactive, ..user.clone() };
    world.commit(tenant.id, UserChange::Delete { before: user, after: inactive }).await;
    assert_eq!(read(&world, &identity).await, Some(identity));
}

/// A new and a removed identity are recorded in the log of the tenant. A login by it is not: the session is.
pub async fn changes_are_recorded(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let provider = provider(&world, &tenant, "first").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let identity = link(&world, &user, &provider, "ada").await;
    world.tick();
    let used = Identity { last_login_at: Some(world.now()), ..identity };
    world.commit(tenant.id, using(&used)).await;
    world.tick();
    world.commit(tenant.id, delete(&used)).await;
    let entries = all(&world, tenant.id).await;
    let of_identity = entries.iter().rev().filter(|entry| entry.resource_type == ResourceType::IDENTITY);
    let recorded: Vec<_> = of_identity.map(|entry| (entry.action.to_string(), entry.resource_id.clone())).collect();
    let expected = ["CREATE", "DELETE"].map(|action| (action.to_owned(), Some(used.id.to_string())));
    assert_eq!(recorded, expected);
}

/// Of many concurrent units of work that link one account to different users, one succeeds.
pub async fn an_account_is_linked_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let provider = provider(&world, &tenant, "first").await;
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let user = world.user(&tenant, &format!("user{number}@example.com")).await;
        let (world, identity) = (Arc::clone(&world), new_identity(&world, &user, &provider, "0017"));
        tasks.spawn(async move { world.try_commit(identity.tenant_id, [create(&identity)]).await });
    }
    let results = tasks.join_all().await;
    let is_conflict = |result: &&Result<(), Error>| matches!(result, Err(Error::Conflict(Conflict::IdentityLinked)));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert_eq!(results.iter().filter(is_conflict).count(), 7, "{results:?}");
}

/// While a provider is removed, users are linked to accounts at it before, or not at all. No identity is left.
pub async fn a_concurrent_removal_of_the_provider_leaves_no_identity(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let provider = provider(&world, &tenant, "first").await;
    let mut users = Vec::new();
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let user = world.user(&tenant, &format!("user{number}@example.com")).await;
        users.push(user.id);
        let identity = new_identity(&world, &user, &provider, &format!("subject-{number}"));
        let change = if number == 3 { delete_provider(&provider, 0) } else { create(&identity) };
        let world = Arc::clone(&world);
        tasks.spawn(async move { (number, world.try_commit(identity.tenant_id, [change]).await) });
    }
    for (number, result) in tasks.join_all().await {
        let is_gone = matches!(result, Err(Error::Store(StoreError::Conflict(Constraint::Reference))));
        assert!(result.is_ok() || (is_gone && number != 3), "{number}: {result:?}");
    }
    for user in users {
        assert_eq!(list(&world, tenant.id, user).await, []);
    }
}

/// The identities that are counted under the lock of the tenant are those that end with their provider, also while users
/// are linked and links are removed under the same lock.
pub async fn a_removal_of_the_provider_ends_what_it_has_counted(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let provider = provider(&world, &tenant, "first").await;
    let mut started = Vec::new();
    for number in 0..8 {
        let user = world.user(&tenant, &format!("user{number}@example.com")).await;
        let identity = new_identity(&world, &user, &provider, &format!("subject-{number}"));
        let is_linked = number % 2 == 0;
        if is_linked {
            world.commit(tenant.id, create(&identity)).await;
        }
        started.push((number, identity, is_linked));
    }
    // Each task returns by how much it changes the number.
    let mut tasks = JoinSet::new();
    for (number, identity, is_linked) in started {
        let (world, provider) = (Arc::clone(&world), provider.clone());
        tasks.spawn(async move {
            let mut work = world.begin(&World::system(identity.tenant_id)).await;
            work.reads().lock_tenant().await.unwrap();
            let (change, difference) = match number {
                3 => {
                    let identities = work.reads().count_identities(provider.id).await.unwrap();
                    (delete_provider(&provider, identities), -i64::try_from(identities).unwrap())
                }
                _ if is_linked => (delete(&identity), -1),
                _ => (create(&identity), 1),
            };
            let applied = work.apply(change).await;
            match applied {
                Ok(()) => {
                    work.commit().await.unwrap();
                    difference
                }
                Err(StoreError::Missing(_) | StoreError::Conflict(Constraint::Reference)) if number != 3 => 0,
                Err(error) => panic!("{number}: {error:?}"),
            }
        });
    }
    let differences = tasks.join_all().await;
    assert_eq!(4 + differences.iter().sum::<i64>(), 0, "{differences:?}");
}
