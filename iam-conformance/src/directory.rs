//! Directories, and what they say of their users.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::audit::ResourceType;
use iam_model::change::{Change, DirectoryChange, DirectoryUserChange, IdentityProviderChange, UserChange};
use iam_model::clock::Timestamp;
use iam_model::context::Author;
use iam_model::directory::{
    Condition, Directory, DirectoryActivity, DirectoryRefusal, DirectoryUser, EmailField, EmailTest, Order,
    ProvisionedUser, TextOperator, UserMoment, UserSortField, UserTest, UserText,
};
use iam_model::error::{Conflict, Error};
use iam_model::id::{DirectoryId, TenantId, UserId};
use iam_model::identity_provider::IdentityProvider;
use iam_model::page::SortOrder;
use iam_model::store::Store;
use iam_model::store_error::{Constraint, StoreError};
use iam_model::tenant::Tenant;
use iam_model::user::{User, UserKind, UserStatus};
use iam_model::version::Version;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::identity_provider::{self, new_provider};
use crate::log::{all, fields};
use crate::world::{World, assert_conflict, assert_missing, create};

/// Creates a service account in the store.
async fn account(world: &World, tenant: &Tenant, name: &str) -> User {
    let user = User { kind: UserKind::Service, ..world.new_user(tenant, &format!("{name}@service.invalid")) };
    let change = UserChange::Create { user: user.clone(), password: None, invitation: None };
    world.commit(tenant.id, change).await;
    user
}

fn new_directory(world: &World, account: &User, name: &str) -> Directory {
    Directory {
        id: world.id(),
        tenant_id: account.tenant_id,
        name: name.parse().unwrap(),
        service_account_id: account.id,
        identity_provider_id: None,
        adopt: false,
        created_at: world.now(),
        updated_at: world.now(),
        version: Version::FIRST,
    }
}

async fn add(world: &World, directory: Directory) -> Directory {
    world.commit(directory.tenant_id, made(&directory)).await;
    directory
}

/// Creates a directory in the store, with its service account.
pub(super) async fn directory(world: &World, tenant: &Tenant, name: &str) -> Directory {
    let account = account(world, tenant, name).await;
    add(world, new_directory(world, &account, name)).await
}

fn made(directory: &Directory) -> Change {
    DirectoryChange::Create(directory.clone()).into()
}

fn update(before: &Directory, after: &Directory) -> Change {
    DirectoryChange::Update { before: before.clone().into(), after: after.clone() }.into()
}

fn delete(directory: &Directory) -> Change {
    DirectoryChange::Delete(directory.clone()).into()
}

pub(super) fn new_entry(
    world: &World,
    directory: &Directory,
    user: &User,
    user_name: &str,
    attributes: &Value,
) -> DirectoryUser {
    DirectoryUser {
        tenant_id: directory.tenant_id,
        directory_id: directory.id,
        user_id: user.id,
        user_name: user_name.parse().unwrap(),
        attributes: fields(attributes),
        deleted_at: None,
        created_at: world.now(),
        updated_at: world.now(),
        version: Version::FIRST,
    }
}

pub(super) fn entered(entry: &DirectoryUser) -> Change {
    DirectoryUserChange::Create(entry.clone()).into()
}

pub(super) fn update_entry(before: &DirectoryUser, after: &DirectoryUser) -> Change {
    DirectoryUserChange::Update { before: before.clone().into(), after: after.clone() }.into()
}

/// An entry that the directory has deleted.
fn deleted(world: &World, entry: &DirectoryUser) -> DirectoryUser {
    DirectoryUser { deleted_at: Some(world.now()), ..entry.clone() }.changed(world.now())
}

async fn enter(world: &World, entry: DirectoryUser) -> DirectoryUser {
    world.commit(entry.tenant_id, entered(&entry)).await;
    entry
}

/// Creates a user of a directory in the store. The address and the user name begin with a name.
async fn provision(world: &World, tenant: &Tenant, directory: &Directory, name: &str) -> ProvisionedUser {
    let user = world.user(tenant, &format!("{name}@example.com")).await;
    let entry = enter(world, new_entry(world, directory, &user, name, &json!({}))).await;
    ProvisionedUser { user, entry }
}

/// The directories of a tenant, read in a unit of work and outside of one.
async fn list(world: &World, tenant: TenantId) -> Vec<Directory> {
    let committed = world.store.directories(tenant).await.unwrap();
    let committed: Vec<Directory> = committed.into_iter().map(|(directory, _)| directory).collect();
    let locked = world.locked(tenant, async |locks| {
        locks.lock_tenant().await.unwrap();
        locks.directories().await.unwrap()
    });
    assert_eq!(committed, locked.await);
    committed
}

/// A directory, read by its identifier, by its account, and in the list of its tenant.
async fn read(world: &World, directory: &Directory) -> Option<Directory> {
    let Directory { id, tenant_id, service_account_id, .. } = *directory;
    let found = world.store.directory(tenant_id, id).await.unwrap();
    let of_account = world.store.directory_of_account(tenant_id, service_account_id).await.unwrap();
    let listed = list(world, tenant_id).await.into_iter().find(|listed| listed.id == id);
    assert_eq!((&found, &found), (&of_account, &listed));
    found
}

/// What a directory has sent last.
async fn activity(world: &World, directory: &Directory) -> DirectoryActivity {
    let listed = world.store.directories(directory.tenant_id).await.unwrap().into_iter();
    let mut of_directory = listed.filter(|(listed, _)| listed.id == directory.id).map(|(_, activity)| activity);
    of_directory.next().unwrap()
}

/// The users of a directory that meet a condition, in the order in which the directory made them.
async fn find(world: &World, directory: &Directory, condition: &Condition<UserTest>) -> Vec<ProvisionedUser> {
    let Directory { id, tenant_id, .. } = *directory;
    let sort = (UserSortField::Created, SortOrder::Ascending);
    let (found, total) = world.store.provisioned_users(tenant_id, id, condition, sort, 0, 200).await.unwrap();
    assert_eq!(found.len() as u64, total);
    found
}

/// What a directory says of a user, by every read. The name of the entry is the one that the user has now.
async fn read_entry(world: &World, directory: &Directory, entry: &DirectoryUser) -> Option<DirectoryUser> {
    let (tenant, user) = (directory.tenant_id, entry.user_id);
    let found = world.store.directory_user(tenant, user).await.unwrap();
    let reads = world.locked(tenant, async |locks| {
        locks.lock_tenant().await.unwrap();
        let by_user = locks.directory_user(user).await.unwrap();
        let by_name = locks.directory_user_named(directory.id, &entry.user_name).await.unwrap();
        (by_user, by_name, locks.users_of_directory(directory.id).await.unwrap())
    });
    let (by_user, by_name, users) = reads.await;
    assert_eq!((&found, &found), (&by_user, &by_name));
    let provisioned = world.store.provisioned_user(tenant, directory.id, user).await.unwrap();
    let listed = find(world, directory, &Condition::always()).await.into_iter().find(|listed| listed.user.id == user);
    assert_eq!(provisioned, listed);
    let there = found.as_ref().filter(|found| found.deleted_at.is_none());
    assert_eq!(provisioned.as_ref().map(|provisioned| &provisioned.entry), there);
    assert_eq!(users.contains(&user), there.is_some());
    if let Some(provisioned) = provisioned {
        assert_eq!(world.store.user(tenant, user).await.unwrap(), Some(provisioned.user));
    }
    found
}

/// Every field of a directory is read back by every read, and only in its tenant.
pub async fn a_created_row_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    assert_eq!(list(&world, acme.id).await, []);
    let provider = identity_provider::add(&world, new_provider(&world, &acme, "first")).await;
    let accounts = [account(&world, &acme, "one").await, account(&world, &acme, "two").await];
    let full = Directory {
        name: "Größe \"x\" \\ 'y' %_ 🦀".parse().unwrap(),
        identity_provider_id: Some(provider.id),
        adopt: true,
        created_at: world.now() - TimeDelta::days(1),
        updated_at: world.now() + TimeDelta::milliseconds(7),
        ..new_directory(&world, &accounts[0], "full")
    };
    let directories = [full, new_directory(&world, &accounts[1], "empty")];
    for directory in &directories {
        world.commit(acme.id, made(directory)).await;
    }
    for directory in &directories {
        assert_eq!(read(&world, directory).await.as_ref(), Some(directory));
        assert_eq!(read(&world, &Directory { tenant_id: other.id, ..directory.clone() }).await, None);
        assert_eq!(activity(&world, directory).await, DirectoryActivity::default());
    }
    let absent = account(&world, &acme, "absent").await;
    assert_eq!(read(&world, &new_directory(&world, &absent, "absent")).await, None);
}

/// The directories of a tenant are listed by name, compared by code point, and then by identifier.
pub async fn directories_are_listed_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let mut expected = Vec::new();
    for (number, name) in ["B", "a", "a", "a b", "a-c", "aa", "b", "Ä", "\u{ff21}", "🦀"].iter().enumerate() {
        let account = account(&world, &acme, &format!("account{}", 99 - number)).await;
        expected.push(new_directory(&world, &account, name));
    }
    for directory in expected.iter().rev() {
        world.commit(acme.id, made(directory)).await;
    }
    let elsewhere = directory(&world, &other, "elsewhere").await;
    assert_eq!(list(&world, acme.id).await, expected);
    assert_eq!(list(&world, other.id).await, [elsewhere]);

    let first = expected.remove(0);
    let last = Directory { name: "🦀🦀".parse().unwrap(), ..first.clone() }.changed(world.now());
    world.commit(acme.id, update(&first, &last)).await;
    expected.push(last);
    assert_eq!(list(&world, acme.id).await, expected);
}

/// Every field that can change is read back after a change. No other directory changes, and what the directory has sent
/// stays.
pub async fn changes_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let provider = identity_provider::add(&world, new_provider(&world, &tenant, "first")).await;
    let another = account(&world, &tenant, "another").await;
    let mut stored = directory(&world, &tenant, "first").await;
    let bystander = directory(&world, &tenant, "bystander").await;
    let sent = refusal(&world, 1);
    world.store.record_directory_request(tenant.id, stored.id, world.now(), Some(&sent)).await.unwrap();
    let of = |provider: Option<&IdentityProvider>| provider.map(|provider| provider.id);
    for (name, account, provider, adopt) in [
        ("Größe 🦀", stored.service_account_id, None, true),
        ("second", another.id, Some(&provider), true),
        ("third", another.id, Some(&provider), false),
        ("fourth", stored.service_account_id, None, false),
    ] {
        world.tick();
        let after = Directory {
            name: name.parse().unwrap(),
            service_account_id: account,
            identity_provider_id: of(provider),
            adopt,
            ..stored.clone()
        }
        .changed(world.now());
        world.commit(tenant.id, update(&stored, &after)).await;
        assert_eq!(read(&world, &after).await.as_ref(), Some(&after));
        assert_eq!(activity(&world, &after).await.refusals, std::slice::from_ref(&sent));
        stored = after;
    }
    assert_eq!(world.store.directory_of_account(tenant.id, another.id).await.unwrap(), None);
    assert_eq!(read(&world, &bystander).await, Some(bystander));
}

/// Every change raises the version by one, even if it changes nothing else: of a directory, and of what it says of a
/// user.
pub async fn every_change_raises_the_version(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let entry = provision(&world, &tenant, &directory, "ada").await.entry;
    let mut version = Version::FIRST;
    for _ in 0..3 {
        version = version.next();
        let changes = [update(&directory, &directory), update_entry(&entry, &entry)];
        world.try_commit(tenant.id, changes).await.unwrap();
        assert_eq!(read(&world, &directory).await, Some(Directory { version, ..directory.clone() }));
        let expected = DirectoryUser { version, ..entry.clone() };
        assert_eq!(read_entry(&world, &directory, &entry).await, Some(expected));
    }
}

/// A change of a directory, or of an entry, that does not exist is refused.
pub async fn a_change_to_a_missing_row_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let kept = directory(&world, &tenant, "kept").await;
    let absent = new_directory(&world, &account(&world, &tenant, "absent").await, "absent");
    let user = world.user(&tenant, "ada@example.com").await;
    let entry = new_entry(&world, &kept, &user, "ada", &json!({}));
    for change in [update(&absent, &absent), delete(&absent), update_entry(&entry, &entry)] {
        assert_missing(&world.try_commit(tenant.id, [change]).await);
    }
    assert_eq!(list(&world, tenant.id).await, [kept]);
    assert_eq!(world.store.directory_user(tenant.id, user.id).await.unwrap(), None);
}

/// A service account has at most one directory, until that one is removed or gets another account.
pub async fn an_account_has_one_directory(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let [taken, free, spare] = [
        account(&world, &tenant, "taken").await,
        account(&world, &tenant, "free").await,
        account(&world, &tenant, "spare").await,
    ];
    let first = add(&world, new_directory(&world, &taken, "first")).await;
    let second = add(&world, new_directory(&world, &free, "second")).await;
    let with = |directory: &Directory, account: &User| {
        Directory { service_account_id: account.id, ..directory.clone() }.changed(world.now())
    };
    let refused = async |change: Change| {
        assert_conflict(&world.try_commit(tenant.id, [change]).await, Constraint::DirectoryAccount);
    };
    refused(made(&new_directory(&world, &taken, "third"))).await;
    refused(update(&second, &with(&second, &taken))).await;
    assert_eq!(list(&world, tenant.id).await, [first.clone(), second.clone()]);
    // Its own account.
    let kept = with(&first, &taken);
    world.commit(tenant.id, update(&first, &kept)).await;
    let moved = with(&second, &spare);
    world.commit(tenant.id, update(&second, &moved)).await;
    add(&world, new_directory(&world, &free, "third")).await;
    world.commit(tenant.id, delete(&kept)).await;
    world.commit(tenant.id, update(&moved, &with(&moved, &taken))).await;
    refused(made(&new_directory(&world, &taken, "fourth"))).await;
}

/// The tenant, the account and the provider of a directory exist, and the directory and the user of an entry, in the
/// same tenant.
pub async fn references_to_another_tenant_are_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (own, foreign) = (account(&world, &acme, "own").await, account(&world, &other, "foreign").await);
    let absent = world.new_user(&acme, "absent@example.com");
    let provider = identity_provider::add(&world, new_provider(&world, &other, "first")).await;
    let kept = directory(&world, &acme, "kept").await;
    let elsewhere = directory(&world, &other, "elsewhere").await;
    let (ada, bob) = (world.user(&acme, "ada@example.com").await, world.user(&other, "bob@example.com").await);
    let unknown = new_directory(&world, &own, "unknown");
    let refused = async |tenant: TenantId, change: Change| {
        assert_conflict(&world.try_commit(tenant, [change]).await, Constraint::Reference);
    };
    let of_nowhere = world.new_user(&world.new_tenant("nowhere"), "account@example.com");
    refused(of_nowhere.tenant_id, made(&new_directory(&world, &of_nowhere, "first"))).await;
    for account in [&foreign, &absent] {
        let account = User { tenant_id: acme.id, ..account.clone() };
        refused(acme.id, made(&new_directory(&world, &account, "first"))).await;
        refused(acme.id, update(&kept, &Directory { service_account_id: account.id, ..kept.clone() })).await;
    }
    for provider in [provider.id, world.id()] {
        let with = |directory: Directory| Directory { identity_provider_id: Some(provider), ..directory };
        refused(acme.id, made(&with(new_directory(&world, &own, "first")))).await;
        refused(acme.id, update(&kept, &with(kept.clone()))).await;
    }
    for (directory, user) in [(&kept, &bob), (&kept, &absent), (&elsewhere, &ada), (&unknown, &ada)] {
        refused(acme.id, entered(&new_entry(&world, directory, user, "ada", &json!({})))).await;
    }
    assert_eq!(list(&world, acme.id).await, [kept]);
}

/// A provider that a directory names is not removed before the directory names it no more.
pub async fn a_provider_of_a_directory_is_not_removed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let provider = identity_provider::add(&world, new_provider(&world, &tenant, "first")).await;
    let before = directory(&world, &tenant, "first").await;
    let named = Directory { identity_provider_id: Some(provider.id), ..before.clone() }.changed(world.now());
    world.commit(tenant.id, update(&before, &named)).await;
    let remove = || Change::from(IdentityProviderChange::Delete { provider: provider.clone(), identities: 0 });
    assert_conflict(&world.try_commit(tenant.id, [remove()]).await, Constraint::Reference);
    assert_eq!(read(&world, &named).await.as_ref(), Some(&named));
    assert!(world.store.identity_provider(tenant.id, provider.id).await.unwrap().is_some());
    let after = Directory { identity_provider_id: None, ..named.clone() }.changed(world.now());
    world.try_commit(tenant.id, [update(&named, &after), remove()]).await.unwrap();
    assert_eq!(read(&world, &after).await, Some(after));
    assert_eq!(world.store.identity_provider(tenant.id, provider.id).await.unwrap(), None);
}

/// A removed directory takes what it says of its users along, also of those that it has deleted. The users stay, and may
/// belong to another directory.
pub async fn a_removed_directory_leaves_its_users(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (first, second) = (directory(&world, &tenant, "first").await, directory(&world, &tenant, "second").await);
    let ada = provision(&world, &tenant, &first, "ada").await;
    let bob = provision(&world, &tenant, &first, "bob").await;
    let eve = provision(&world, &tenant, &second, "eve").await;
    world.commit(tenant.id, update_entry(&bob.entry, &deleted(&world, &bob.entry))).await;
    let sent = refusal(&world, 1);
    world.store.record_directory_request(tenant.id, first.id, world.now(), Some(&sent)).await.unwrap();

    world.commit(tenant.id, delete(&first)).await;
    assert_eq!(read(&world, &first).await, None);
    assert_eq!(list(&world, tenant.id).await, std::slice::from_ref(&second));
    for removed in [&ada, &bob] {
        assert_eq!(read_entry(&world, &first, &removed.entry).await, None);
        assert_eq!(world.store.user(tenant.id, removed.user.id).await.unwrap().as_ref(), Some(&removed.user));
        assert_missing(&world.try_commit(tenant.id, [update_entry(&removed.entry, &removed.entry)]).await);
    }
    assert_eq!(read_entry(&world, &second, &eve.entry).await, Some(eve.entry));
    let again = enter(&world, new_entry(&world, &second, &ada.user, "ada", &json!({}))).await;
    assert_eq!(read_entry(&world, &second, &again).await, Some(again));
    // Nothing of it is left for a directory with the same identifier.
    let first = add(&world, first).await;
    assert_eq!(activity(&world, &first).await, DirectoryActivity::default());
    assert_eq!(find(&world, &first, &Condition::always()).await, []);
}

/// A directory, and what it says of its users, is not found in another tenant, for reads and for writes.
pub async fn rows_of_another_tenant_are_not_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let first = directory(&world, &acme, "first").await;
    let ada = provision(&world, &acme, &first, "ada").await;
    let there = Directory { tenant_id: other.id, ..first.clone() };
    assert_eq!(list(&world, other.id).await, []);
    assert_eq!(read(&world, &there).await, None);
    assert_eq!(read_entry(&world, &there, &ada.entry).await, None);
    let changed = Directory { adopt: true, ..first.clone() }.changed(world.now());
    let renamed = DirectoryUser { user_name: "eve".parse().unwrap(), ..ada.entry.clone() }.changed(world.now());
    for change in [update(&first, &changed), delete(&first), update_entry(&ada.entry, &renamed)] {
        assert_missing(&world.try_commit(other.id, [change]).await);
    }
    world.store.record_directory_request(other.id, first.id, world.now(), Some(&refusal(&world, 1))).await.unwrap();
    assert_eq!(activity(&world, &first).await, DirectoryActivity::default());
    assert_eq!(read(&world, &first).await.as_ref(), Some(&first));
    assert_eq!(read_entry(&world, &first, &ada.entry).await, Some(ada.entry));
}

/// A unit of work reads directories and their users as it has changed them. Other readers do not.
pub async fn a_unit_of_work_reads_its_own_changes(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let account = account(&world, &tenant, "account").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let directory = new_directory(&world, &account, "first");
    let changed = Directory { adopt: true, ..directory.clone() }.changed(world.now());
    let entry = new_entry(&world, &directory, &user, "Ada", &json!({ "title": "Countess" }));
    let renamed = DirectoryUser { user_name: "eve".parse().unwrap(), ..entry.clone() }.changed(world.now());
    let gone = deleted(&world, &renamed);
    // Each change with the directories, the entry and the users of the directory after it.
    let changes = [
        (made(&directory), Some(&directory), None, vec![]),
        (entered(&entry), Some(&directory), Some(&entry), vec![user.id]),
        (update(&directory, &changed), Some(&changed), Some(&entry), vec![user.id]),
        (update_entry(&entry, &renamed), Some(&changed), Some(&renamed), vec![user.id]),
        (update_entry(&renamed, &gone), Some(&changed), Some(&gone), vec![]),
        (delete(&changed), None, None, vec![]),
    ];
    let mut work = world.begin(&World::system(tenant.id)).await;
    work.reads().lock_tenant().await.unwrap();
    for (change, expected, said, users) in changes {
        work.apply(change).await.unwrap();
        let reads = work.reads();
        assert_eq!(reads.directories().await.unwrap().first(), expected);
        assert_eq!(reads.directory_user(user.id).await.unwrap().as_ref(), said);
        assert_eq!(reads.users_of_directory(directory.id).await.unwrap(), users);
        for name in ["ADA", "EVE"] {
            let found = reads.directory_user_named(directory.id, &name.parse().unwrap()).await.unwrap();
            let has_name = |said: &&DirectoryUser| said.user_name.key() == name.to_lowercase();
            assert_eq!(found.as_ref(), said.filter(has_name), "{name}");
        }
        assert_eq!(world.store.directories(tenant.id).await.unwrap(), []);
        assert_eq!(world.store.directory_user(tenant.id, user.id).await.unwrap(), None);
    }
}

/// Every field of what a directory says of a user is read back by every read, whatever its attributes are, when it is
/// made and when it changes.
pub async fn an_entry_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let user = world.user(&tenant, "ada@example.com").await;
    assert_eq!(world.store.directory_user(tenant.id, user.id).await.unwrap(), None);
    let enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
    let full = json!({
        "displayName": "Größe \"x\" \\ 'y' %_ 🦀",
        "name": { "givenName": "Ada", "familyName": "Lovelace", "formatted": "Ada\tL." },
        "emails": [
            { "value": "Ada@Work.example", "type": "work", "primary": true, "display": "" },
            { "value": "ada@home.example" },
        ],
        "phoneNumbers": [{ "value": "tel:+49-170-1", "type": "mobile" }],
        "title": "null \u{0} inside",
        enterprise: { "manager": { "value": "00u7" }, "costCenter": "" },
        "numbers": [0, -1, u64::MAX, i64::MIN, 0.1, 1.0, 1e300, null, true, [], {}],
    });
    let created = DirectoryUser {
        created_at: world.now() - TimeDelta::days(1),
        updated_at: world.now() + TimeDelta::milliseconds(7),
        ..new_entry(&world, &directory, &user, " Größe'%_\\🦀 ", &full)
    };
    let mut stored = enter(&world, created).await;
    assert_eq!(read_entry(&world, &directory, &stored).await.as_ref(), Some(&stored));
    let large = json!({ "title": "🦀".repeat(4_000), "name": {} });
    for (user_name, attributes) in [("x", json!({})), ("ü".repeat(255).as_str(), large), ("Ada", full)] {
        world.tick();
        let user_name = user_name.parse().unwrap();
        let after = DirectoryUser { user_name, attributes: fields(&attributes), ..stored.clone() }.changed(world.now());
        world.commit(tenant.id, update_entry(&stored, &after)).await;
        assert_eq!(read_entry(&world, &directory, &after).await.as_ref(), Some(&after));
        stored = after;
    }
    for after in [deleted(&world, &stored), DirectoryUser { deleted_at: None, ..stored.clone() }] {
        world.tick();
        let after = DirectoryUser { version: stored.version, ..after }.changed(world.now());
        world.commit(tenant.id, update_entry(&stored, &after)).await;
        assert_eq!(read_entry(&world, &directory, &after).await.as_ref(), Some(&after));
        stored = after;
    }
}

/// A user name belongs to at most one user of a directory without regard to case, also if the directory has deleted the
/// user. In another directory it is free.
pub async fn a_user_name_is_unique_in_a_directory(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (first, second) = (directory(&world, &acme, "first").await, directory(&world, &acme, "second").await);
    let elsewhere = directory(&world, &other, "first").await;
    let ada = world.user(&acme, "ada@example.com").await;
    let holder = enter(&world, new_entry(&world, &first, &ada, "Ada@Straße.example", &json!({}))).await;
    let bob = provision(&world, &acme, &first, "bob").await;
    let eve = world.user(&acme, "eve@example.com").await;
    let named = |entry: &DirectoryUser, name: &str| {
        DirectoryUser { user_name: name.parse().unwrap(), ..entry.clone() }.changed(world.now())
    };
    let is_taken = async |name: &str| {
        let new = new_entry(&world, &first, &eve, name, &json!({}));
        for change in [entered(&new), update_entry(&bob.entry, &named(&bob.entry, name))] {
            assert_conflict(&world.try_commit(acme.id, [change]).await, Constraint::DirectoryUserName);
        }
        assert_eq!(world.store.directory_user(acme.id, eve.id).await.unwrap(), None);
        assert_eq!(read_entry(&world, &first, &bob.entry).await.as_ref(), Some(&bob.entry));
    };
    let alike = ["Ada@Straße.example", "ADA@STRASSE.EXAMPLE", "\u{ff21}da@strasse.example", "a\u{ad}da@straße.example"];
    for name in alike {
        is_taken(name).await;
        let found = world.locked(acme.id, async |locks| {
            locks.lock_tenant().await.unwrap();
            let here = locks.directory_user_named(first.id, &name.parse().unwrap()).await.unwrap();
            (here, locks.directory_user_named(second.id, &name.parse().unwrap()).await.unwrap())
        });
        assert_eq!(found.await, (Some(holder.clone()), None), "{name}");
    }
    let gone = deleted(&world, &holder);
    world.commit(acme.id, update_entry(&holder, &gone)).await;
    is_taken(alike[1]).await;
    // The same name, in another form.
    let shown = named(&gone, alike[1]);
    world.commit(acme.id, update_entry(&gone, &shown)).await;
    assert_eq!(read_entry(&world, &first, &shown).await.as_ref(), Some(&shown));

    let there = world.user(&other, "ada@example.com").await;
    for (directory, user) in [(&second, &eve), (&elsewhere, &there)] {
        let entry = enter(&world, new_entry(&world, directory, user, alike[0], &json!({}))).await;
        assert_eq!(read_entry(&world, directory, &entry).await, Some(entry));
    }
    world.commit(acme.id, update_entry(&shown, &named(&shown, "free"))).await;
    world.commit(acme.id, update_entry(&bob.entry, &named(&bob.entry, alike[0]))).await;
}

/// A user belongs to at most one directory, also if that one has deleted the user.
pub async fn a_user_belongs_to_one_directory(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (first, second) = (directory(&world, &tenant, "first").await, directory(&world, &tenant, "second").await);
    let ada = provision(&world, &tenant, &first, "ada").await;
    let gone = deleted(&world, &ada.entry);
    for said in [&ada.entry, &gone] {
        if said.deleted_at.is_some() {
            world.commit(tenant.id, update_entry(&ada.entry, said)).await;
        }
        for directory in [&first, &second] {
            let again = entered(&new_entry(&world, directory, &ada.user, "another", &json!({})));
            assert_conflict(&world.try_commit(tenant.id, [again]).await, Constraint::DirectoryUserName);
        }
        assert_eq!(read_entry(&world, &first, said).await.as_ref(), Some(said));
        let there = world.store.provisioned_user(tenant.id, second.id, ada.user.id).await.unwrap();
        assert_eq!((there, find(&world, &second, &Condition::always()).await), (None, vec![]));
    }
}

/// Another directory takes a user over, with every field of what it says, if it exists and no other user has the name
/// there.
pub async fn another_directory_takes_a_user_over(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (first, second) = (directory(&world, &tenant, "first").await, directory(&world, &tenant, "second").await);
    let ada = provision(&world, &tenant, &first, "ada").await;
    provision(&world, &tenant, &second, "taken").await;
    let gone = deleted(&world, &ada.entry);
    world.commit(tenant.id, update_entry(&ada.entry, &gone)).await;
    world.tick();
    let moved = |directory_id: DirectoryId, name: &str| DirectoryUser {
        version: gone.version.next(),
        ..new_entry(&world, &Directory { id: directory_id, ..first.clone() }, &ada.user, name, &json!({ "title": "x" }))
    };
    for (after, constraint) in
        [(moved(world.id(), "free"), Constraint::Reference), (moved(second.id, "TAKEN"), Constraint::DirectoryUserName)]
    {
        assert_conflict(&world.try_commit(tenant.id, [update_entry(&gone, &after)]).await, constraint);
        assert_eq!(read_entry(&world, &first, &gone).await.as_ref(), Some(&gone));
    }
    let after = moved(second.id, "ada");
    world.commit(tenant.id, update_entry(&gone, &after)).await;
    assert_eq!(read_entry(&world, &second, &after).await, Some(after));
    assert_eq!(find(&world, &first, &Condition::always()).await, []);
    let bob = world.user(&tenant, "bob@example.com").await;
    enter(&world, new_entry(&world, &first, &bob, "ADA", &json!({}))).await;
}

/// A user that the directory has deleted is left out of its users, and is found by its identifier and its name. It is
/// there again when it is restored.
pub async fn deleted_entries_are_left_out(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let mut entries = Vec::new();
    for name in ["ada", "bob", "eve"] {
        entries.push(provision(&world, &tenant, &directory, name).await.entry);
    }
    let bob = entries[1].clone();
    let gone = deleted(&world, &bob);
    let back = DirectoryUser { deleted_at: None, ..gone.clone() }.changed(world.now());
    for (change, now, names) in [
        (None, &bob, ["ada", "bob", "eve"].as_slice()),
        (Some(update_entry(&bob, &gone)), &gone, &["ada", "eve"]),
        (Some(update_entry(&gone, &back)), &back, &["ada", "bob", "eve"]),
    ] {
        if let Some(change) = change {
            world.commit(tenant.id, change).await;
        }
        assert_eq!(read_entry(&world, &directory, now).await.as_ref(), Some(now));
        let found = find(&world, &directory, &Condition::always()).await;
        let found: Vec<&str> = found.iter().map(|found| found.entry.user_name.as_str()).collect();
        assert_eq!(found, names);
        let named = find(&world, &directory, &text(UserText::UserName, TextOperator::Equals, "BOB")).await;
        assert_eq!(named.len(), usize::from(now.deleted_at.is_none()));
    }
}

/// The users of a directory are read in the order of their ids, whatever their status is.
pub async fn users_of_a_directory_are_read_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (first, second) = (directory(&world, &tenant, "first").await, directory(&world, &tenant, "second").await);
    let mut users = Vec::new();
    for (number, status) in [UserStatus::Active, UserStatus::Suspended, UserStatus::Inactive].into_iter().enumerate() {
        let user = world.new_user(&tenant, &format!("user{number}@example.com"));
        users.push(world.add(User { status, ..user }).await);
    }
    for user in users.iter().rev() {
        world.commit(tenant.id, entered(&new_entry(&world, &first, user, user.email.as_str(), &json!({})))).await;
    }
    let other = provision(&world, &tenant, &second, "other").await.user;
    let ids: Vec<UserId> = users.iter().map(|user| user.id).collect();
    for (directory, expected) in [(first.id, ids), (second.id, vec![other.id]), (world.id::<DirectoryId>(), vec![])] {
        let read = world.locked(tenant.id, async |locks| {
            locks.lock_tenant().await.unwrap();
            locks.users_of_directory(directory).await.unwrap()
        });
        assert_eq!(read.await, expected);
    }
}

fn text(field: UserText, operator: TextOperator, value: &str) -> Condition<UserTest> {
    Condition::Test(UserTest::Text { field, operator, value: value.to_owned() })
}

fn present(field: UserText) -> Condition<UserTest> {
    Condition::Test(UserTest::Present(field))
}

fn active(is: bool) -> Condition<UserTest> {
    Condition::Test(UserTest::Active(is))
}

fn moment(field: UserMoment, order: Order, value: Timestamp) -> Condition<UserTest> {
    Condition::Test(UserTest::Moment { field, order, value })
}

fn not<T>(condition: Condition<T>) -> Condition<T> {
    Condition::Not(Box::new(condition))
}

/// A directory with four users, who are named by the first letters of their addresses: `a`, `b`, `e` and `z`, in the
/// order in which the directory made them. A user that it has deleted, and one of another directory, are like `a`.
struct People {
    world: World,
    directory: Directory,
    people: Vec<ProvisionedUser>,
}

impl People {
    async fn new(store: Arc<dyn Store>) -> Self {
        let world = World::new(store);
        let tenant = world.tenant("acme").await;
        let (here, there) = (directory(&world, &tenant, "here").await, directory(&world, &tenant, "there").await);
        let of_ada = json!({
            "displayName": "Ada Straße",
            "name": { "givenName": "Ada", "familyName": "Lovelace", "formatted": "Ada \"x\" 100%_'\\ 🦀" },
            "emails": [
                { "value": "Ada@Work.example", "type": "work", "primary": true },
                { "value": "ada@home.example", "type": "home" },
            ],
            "title": "Countess",
        });
        let of_bob = json!({
            "displayName": "bob",
            "name": { "givenName": "Bob" },
            "emails": [
                { "value": "bob@home.example", "type": "work", "primary": false },
                { "type": "other", "primary": true },
            ],
        });
        let of_eve = json!({ "name": { "familyName": "Ængel" }, "emails": [] });
        let mut people = Vec::new();
        for (email, external_id, status, user_name, attributes) in [
            ("ada@example.com", Some("00u1A"), UserStatus::Active, "Ada@Example.com", &of_ada),
            ("bob@example.com", Some("00u1a"), UserStatus::Suspended, "BOB_1", &of_bob),
            ("eve@example.com", None, UserStatus::Inactive, "ève", &of_eve),
            ("zoe@example.com", None, UserStatus::Active, "zoe", &json!({})),
        ] {
            let external_id = external_id.map(|id| id.parse().unwrap());
            let mut user = User { external_id, status, ..world.new_user(&tenant, email) };
            let mut entry = new_entry(&world, &here, &user, user_name, attributes);
            match email.chars().next() {
                Some('a') => user.updated_at += TimeDelta::seconds(10),
                Some('z') => entry.updated_at += TimeDelta::milliseconds(17_001),
                _ => {}
            }
            let user = world.add(user).await;
            people.push(ProvisionedUser { user, entry: enter(&world, entry).await });
            world.tick();
        }
        for (directory, email, is_deleted) in [(&here, "c@example.com", true), (&there, "d@example.com", false)] {
            let user = world.user(&tenant, email).await;
            let entry = new_entry(&world, directory, &user, "ada@example.org", &of_ada);
            let deleted_at = is_deleted.then(|| world.now());
            enter(&world, DirectoryUser { deleted_at, ..entry }).await;
        }
        Self { world, directory: here, people }
    }

    fn named(&self, letter: char) -> &ProvisionedUser {
        self.people.iter().find(|person| person.user.email.as_str().starts_with(letter)).unwrap()
    }

    /// Fails unless exactly the expected users meet a condition.
    async fn assert_found(&self, condition: &Condition<UserTest>, expected: &str) {
        let meets = |person: &&ProvisionedUser| condition.holds(&|test: &UserTest| test.passes(person));
        let by_model: Vec<&ProvisionedUser> = self.people.iter().filter(meets).collect();
        assert_eq!(letters(by_model.iter().copied()), expected, "the model disagrees: {condition:?}");
        let found = find(&self.world, &self.directory, condition).await;
        assert_eq!(letters(&found), expected, "{condition:?}");
        assert!(found.iter().eq(by_model), "{condition:?}");
    }
}

fn letters<'a>(people: impl IntoIterator<Item = &'a ProvisionedUser>) -> String {
    people.into_iter().filter_map(|person| person.user.email.as_str().chars().next()).collect()
}

/// The users of a directory are found by each text: without regard to case, but for the two identifiers, by Unicode code
/// point, and without wildcards.
pub async fn users_are_found_by_texts(store: Arc<dyn Store>) {
    use TextOperator::{Contains, Differs, EndsWith, Equals, Sorted, StartsWith};
    use UserText::{DisplayName, ExternalId, FamilyName, FormattedName, GivenName, Id, UserName};
    let people = People::new(store).await;
    let id = |letter| people.named(letter).user.id.to_string();
    let (of_ada, of_bob) = (id('a'), id('b'));
    let upper = of_ada.to_uppercase();
    for (field, operator, value, expected) in [
        (UserName, Equals, "ADA@EXAMPLE.COM", "a"),
        (UserName, Equals, "E\u{300}VE", "e"),
        (UserName, Equals, "ada", ""),
        (UserName, Equals, "bob%1", ""),
        (UserName, Differs, "bob_1", "aez"),
        (UserName, Contains, "_", "b"),
        (UserName, Contains, "%", ""),
        (UserName, Contains, "\\", ""),
        (UserName, Contains, "", "abez"),
        (UserName, StartsWith, "BOB", "b"),
        (UserName, StartsWith, "_", ""),
        (UserName, StartsWith, "ob", ""),
        (UserName, StartsWith, "", "abez"),
        (UserName, EndsWith, "OE", "z"),
        (UserName, EndsWith, "%.com", ""),
        (UserName, EndsWith, "the whole name and more ada@example.com", ""),
        (UserName, EndsWith, "", "abez"),
        (UserName, Sorted(Order::Equal), "ZOE", "z"),
        (UserName, Sorted(Order::NotEqual), "ZOE", "abe"),
        (UserName, Sorted(Order::Greater), "BOB_1", "ez"),
        (UserName, Sorted(Order::GreaterOrEqual), "BOB_1", "bez"),
        (UserName, Sorted(Order::Less), "ZOE", "ab"),
        (UserName, Sorted(Order::LessOrEqual), "ZOE", "abz"),
        (DisplayName, Equals, "ADA STRASSE", "a"),
        (DisplayName, StartsWith, "ada str", "a"),
        (DisplayName, EndsWith, "ASSE", "a"),
        (DisplayName, Equals, "Bob", "b"),
        (DisplayName, Differs, "BOB", "aez"),
        (DisplayName, Contains, "", "ab"),
        (DisplayName, StartsWith, "", "ab"),
        (DisplayName, EndsWith, "", "ab"),
        (DisplayName, Sorted(Order::NotEqual), "bob", "a"),
        (DisplayName, Sorted(Order::Less), "B", "a"),
        (GivenName, Equals, "ADA", "a"),
        (GivenName, Contains, "O", "b"),
        (GivenName, Differs, "ada", "bez"),
        (FamilyName, StartsWith, "LOVE", "a"),
        (FamilyName, Equals, "ÆNGEL", "e"),
        (FamilyName, Sorted(Order::Greater), "Lovelace", "e"),
        (FormattedName, Contains, "100%_'\\", "a"),
        (FormattedName, Contains, "100__", ""),
        (FormattedName, StartsWith, "ADA \"X\"", "a"),
        (FormattedName, EndsWith, "🦀", "a"),
        (ExternalId, Equals, "00u1A", "a"),
        (ExternalId, Equals, "00u1a", "b"),
        (ExternalId, Equals, "00U1A", ""),
        (ExternalId, Differs, "00u1A", "bez"),
        (ExternalId, Contains, "u1", "ab"),
        (ExternalId, StartsWith, "00U", ""),
        (ExternalId, EndsWith, "a", "b"),
        (ExternalId, Sorted(Order::Greater), "00u1A", "b"),
        (Id, Equals, of_ada.as_str(), "a"),
        (Id, Equals, upper.as_str(), ""),
        (Id, Equals, "no identifier", ""),
        (Id, Differs, of_ada.as_str(), "bez"),
        (Id, Contains, "-7", "abez"),
        (Id, StartsWith, of_ada.as_str(), "a"),
        (Id, EndsWith, of_ada.as_str(), "a"),
        (Id, Sorted(Order::Greater), of_bob.as_str(), "ez"),
        // A character that some databases have not in texts.
        (UserName, Equals, "\0", ""),
        (UserName, Contains, "\0", ""),
        (UserName, Differs, "ada\0", "abez"),
        (FormattedName, StartsWith, "\0", ""),
        (ExternalId, Equals, "\0", ""),
    ] {
        let condition = text(field, operator, value);
        people.assert_found(&condition, expected).await;
        // The opposite holds for all others, also where the text is not there.
        let others: String = "abez".chars().filter(|letter| !expected.contains(*letter)).collect();
        people.assert_found(&not(condition), &others).await;
    }
    for (field, expected, others) in [
        (Id, "abez", ""),
        (ExternalId, "ab", "ez"),
        (UserName, "abez", ""),
        (DisplayName, "ab", "ez"),
        (GivenName, "ab", "ez"),
        (FamilyName, "ae", "bz"),
        (FormattedName, "a", "bez"),
    ] {
        people.assert_found(&present(field), expected).await;
        people.assert_found(&not(present(field)), others).await;
    }
}

/// The users of a directory are found by their status, and by moments to the millisecond. The last modification is that
/// of the user or of what the directory says.
pub async fn users_are_found_by_status_and_moments(store: Arc<dyn Store>) {
    use Order::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    use UserMoment::{Created, LastModified};
    let people = People::new(store).await;
    let start = people.named('a').entry.created_at;
    for (is, expected) in [(true, "az"), (false, "be")] {
        people.assert_found(&active(is), expected).await;
        people.assert_found(&not(active(!is)), expected).await;
    }
    for (field, order, millis, expected) in [
        (Created, Equal, 1_000, "b"),
        (Created, Equal, 1_001, ""),
        (Created, NotEqual, 1_000, "aez"),
        (Created, Greater, 1_000, "ez"),
        (Created, Greater, 999, "bez"),
        (Created, GreaterOrEqual, 1_000, "bez"),
        (Created, Less, 1_000, "a"),
        (Created, LessOrEqual, 1_000, "ab"),
        (Created, GreaterOrEqual, -60_000_000_000_000, "abez"),
        (LastModified, Equal, 10_000, "a"),
        (LastModified, Equal, 0, ""),
        (LastModified, Equal, 20_001, "z"),
        (LastModified, NotEqual, 20_001, "abe"),
        (LastModified, Greater, 2_000, "az"),
        (LastModified, GreaterOrEqual, 20_001, "z"),
        (LastModified, Less, 20_001, "abe"),
        (LastModified, LessOrEqual, 2_000, "be"),
    ] {
        let condition = moment(field, order, start + TimeDelta::milliseconds(millis));
        people.assert_found(&condition, expected).await;
    }
}

/// The users of a directory are found by their e-mails. One e-mail meets the whole condition.
pub async fn users_are_found_by_emails(store: Arc<dyn Store>) {
    use TextOperator::{Contains, Differs, EndsWith, Equals, Sorted, StartsWith};
    let people = People::new(store).await;
    let text =
        |field, operator, value: &str| Condition::Test(EmailTest::Text { field, operator, value: value.to_owned() });
    let value = |operator, value: &str| text(EmailField::Value, operator, value);
    let kind = |operator, value: &str| text(EmailField::Type, operator, value);
    let primary = |is| Condition::Test(EmailTest::Primary(is));
    let present = |field| Condition::Test(EmailTest::Present(field));
    for (condition, expected) in [
        (Condition::always(), "ab"),
        (Condition::Any(vec![]), ""),
        (not(Condition::always()), ""),
        (present(EmailField::Value), "ab"),
        (present(EmailField::Type), "ab"),
        (not(present(EmailField::Value)), "b"),
        (not(present(EmailField::Type)), ""),
        (value(Equals, "ADA@work.example"), "a"),
        (value(Equals, "work"), ""),
        (value(StartsWith, "ADA@H"), "a"),
        (value(EndsWith, "@HOME.example"), "ab"),
        (value(Contains, "%"), ""),
        (value(Contains, "_"), ""),
        (value(Contains, "'"), ""),
        (value(Contains, "\0"), ""),
        (value(Contains, ""), "ab"),
        (value(EndsWith, ""), "ab"),
        (value(Differs, "bob@home.example"), "ab"),
        (value(Sorted(Order::Less), "ada@i"), "a"),
        (value(Sorted(Order::GreaterOrEqual), "BOB@home.example"), "b"),
        (kind(Equals, "WORK"), "ab"),
        (kind(Equals, "HOME"), "a"),
        (kind(Differs, "work"), "ab"),
        (primary(true), "ab"),
        (primary(false), "ab"),
        (Condition::All(vec![kind(Equals, "work"), value(EndsWith, "@home.example")]), "b"),
        (Condition::All(vec![kind(Equals, "home"), value(EndsWith, "@home.example")]), "a"),
        (Condition::All(vec![kind(Equals, "other"), present(EmailField::Value)]), ""),
        (Condition::All(vec![kind(Equals, "other"), value(Differs, "x")]), "b"),
        (Condition::All(vec![kind(Equals, "other"), value(Sorted(Order::NotEqual), "x")]), ""),
        (Condition::All(vec![primary(true), kind(Equals, "work")]), "a"),
        (Condition::All(vec![primary(false), kind(Equals, "work")]), "b"),
        (Condition::All(vec![primary(false), kind(Equals, "home")]), "a"),
        (Condition::All(vec![not(primary(true)), kind(Equals, "home")]), "a"),
        (Condition::All(vec![primary(true), present(EmailField::Value)]), "a"),
        (Condition::Any(vec![kind(Equals, "other"), value(StartsWith, "ada@home")]), "ab"),
        (not(Condition::Any(vec![kind(Equals, "work"), kind(Equals, "home")])), "b"),
    ] {
        let condition = Condition::Test(UserTest::Email(condition));
        people.assert_found(&condition, expected).await;
        let others: String = "abez".chars().filter(|letter| !expected.contains(*letter)).collect();
        people.assert_found(&not(condition), &others).await;
    }
}

/// Conditions are combined as they are nested, also if there are many of them.
pub async fn conditions_are_combined(store: Arc<dyn Store>) {
    use Condition::{All, Any};
    let people = People::new(store).await;
    let named = |name: &str| text(UserText::UserName, TextOperator::Equals, name);
    let with_display_name = || present(UserText::DisplayName);
    let with_work_email = || {
        let (field, operator, value) = (EmailField::Type, TextOperator::Equals, "work".to_owned());
        Condition::Test(UserTest::Email(Condition::Test(EmailTest::Text { field, operator, value })))
    };
    let mut many: Vec<_> = (0..99).map(|number| named(&format!("nobody{number}'"))).collect();
    many.push(named("zoe"));
    let deep = |levels: usize| (0..levels).fold(active(true), |condition, _| not(condition));
    for (condition, expected) in [
        (Condition::always(), "abez"),
        (Any(vec![]), ""),
        (not(Any(vec![])), "abez"),
        (not(Condition::always()), ""),
        (All(vec![active(true), with_display_name()]), "a"),
        (All(vec![active(true), not(with_display_name())]), "z"),
        (All(vec![not(active(true)), not(present(UserText::ExternalId))]), "e"),
        (Any(vec![named("zoe"), text(UserText::ExternalId, TextOperator::Equals, "00u1a")]), "bz"),
        (not(Any(vec![named("zoe"), with_work_email()])), "e"),
        (All(vec![with_work_email(), not(active(true))]), "b"),
        (Any(vec![named("zoe"), All(vec![active(false), with_display_name()])]), "bz"),
        (All(vec![Any(vec![named("zoe"), active(false)]), with_display_name()]), "b"),
        (not(not(named("zoe"))), "z"),
        (not(All(vec![active(true), not(named("zoe"))])), "bez"),
        (Any(many.clone()), "z"),
        (not(Any(many.clone())), "abe"),
        (All(many.into_iter().map(not).collect()), "abe"),
        (deep(64), "az"),
        (deep(63), "be"),
    ] {
        people.assert_found(&condition, expected).await;
    }
}

/// The users of a directory are sorted by every field in both directions. Users that are equal in it come in the order
/// in which the directory made them, and then by identifier.
pub async fn users_are_sorted_by_every_field(store: Arc<dyn Store>) {
    use UserSortField::{Created, LastModified, Text};
    use UserText::{DisplayName, ExternalId, FamilyName, FormattedName, GivenName, Id, UserName};
    let People { world, directory, mut people } = People::new(store).await;
    let tenant = world.store.tenant(directory.tenant_id).await.unwrap().unwrap();
    // Two users with one display name and one time, which are made in the opposite order of their identifiers.
    let new = ["f@example.com", "g@example.com"].map(|email| world.new_user(&tenant, email));
    for user in new.into_iter().rev() {
        let attributes = json!({ "displayName": "BOB", "name": { "formatted": "" } });
        let entry = new_entry(&world, &directory, &user, user.email.as_str(), &attributes);
        let user = world.add(user).await;
        people.push(ProvisionedUser { user, entry: enter(&world, entry).await });
    }
    for (field, ascending, descending) in [
        (Created, "abezfg", "fgzeba"),
        (LastModified, "befgaz", "zafgeb"),
        (Text(Id), "abezfg", "gfzeba"),
        (Text(ExternalId), "abezfg", "ezfgba"),
        (Text(UserName), "abfgze", "ezgfba"),
        (Text(DisplayName), "abfgez", "ezbfga"),
        (Text(GivenName), "abezfg", "ezfgba"),
        (Text(FamilyName), "aebzfg", "bzfgea"),
        (Text(FormattedName), "fgabez", "bezafg"),
    ] {
        for (order, expected) in [(SortOrder::Ascending, ascending), (SortOrder::Descending, descending)] {
            people.sort_by(|a, b| field.compare(order, a, b));
            assert_eq!(letters(&people), expected, "the model disagrees: {field:?} {order:?}");
            let (condition, sort) = (Condition::always(), (field, order));
            let found =
                world.store.provisioned_users(directory.tenant_id, directory.id, &condition, sort, 0, 200).await;
            assert_eq!(found.unwrap(), (people.clone(), 6), "{field:?} {order:?}");
        }
    }
}

/// Users are skipped and bounded after they are sorted, and all that meet the condition are counted.
pub async fn users_are_skipped_bounded_and_counted(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (here, there) = (directory(&world, &tenant, "here").await, directory(&world, &tenant, "there").await);
    let mut all = Vec::new();
    for number in 0..9 {
        all.push(provision(&world, &tenant, &here, &format!("user{number}")).await);
        provision(&world, &tenant, &there, &format!("other{number}")).await;
    }
    let page = async |condition: &Condition<UserTest>, order, first, limit| {
        let sort = (UserSortField::Text(UserText::UserName), order);
        world.store.provisioned_users(tenant.id, here.id, condition, sort, first, limit).await.unwrap()
    };
    let some = not(text(UserText::UserName, TextOperator::EndsWith, "4"));
    let few: Vec<ProvisionedUser> =
        all.iter().filter(|found| found.entry.user_name.as_str() != "user4").cloned().collect();
    for (condition, ascending) in [(Condition::always(), all), (some, few)] {
        let descending: Vec<ProvisionedUser> = ascending.iter().rev().cloned().collect();
        for (order, expected) in [(SortOrder::Ascending, &ascending), (SortOrder::Descending, &descending)] {
            let total = expected.len() as u64;
            for (number, chunk) in expected.chunks(4).chain([&[][..]]).enumerate() {
                assert_eq!(page(&condition, order, number as u64 * 4, 4).await, (chunk.to_vec(), total));
            }
            assert_eq!(page(&condition, order, 3, 2).await, (expected[3..5].to_vec(), total));
            assert_eq!(page(&condition, order, 0, 0).await, (vec![], total));
            assert_eq!(page(&condition, order, u64::MAX, 200).await, (vec![], total));
            assert_eq!(page(&condition, order, 0, u32::MAX).await, (expected.clone(), total));
        }
    }
    let none = text(UserText::UserName, TextOperator::Equals, "nobody");
    assert_eq!(page(&none, SortOrder::Ascending, 0, 200).await, (vec![], 0));
}

fn refusal(world: &World, number: u16) -> DirectoryRefusal {
    DirectoryRefusal {
        at: world.now(),
        request: format!("POST /Users?n={number}"),
        status: 400 + number,
        detail: format!("Größe \"x\" \\ 'y' %_ 🦀 {number}"),
    }
}

/// The latest time of a request is kept, and the newest refusals, up to their maximum. The directory does not change,
/// and nothing is recorded in the log.
pub async fn what_a_directory_sent_last_is_kept(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let first = directory(&world, &tenant, "first").await;
    let bystander = directory(&world, &tenant, "bystander").await;
    let entries = all(&world, tenant.id).await;
    let record = async |directory: DirectoryId, at, refusal: Option<&DirectoryRefusal>| {
        world.store.record_directory_request(tenant.id, directory, at, refusal).await.unwrap();
    };
    let later = world.now() + TimeDelta::milliseconds(7);
    for (at, expected) in [(world.now(), world.now()), (later, later), (world.now(), later)] {
        record(first.id, at, None).await;
        let expected = DirectoryActivity { last_request_at: Some(expected), refusals: vec![] };
        assert_eq!(activity(&world, &first).await, expected);
    }
    let mut refusals = Vec::new();
    for number in 0..25 {
        world.tick();
        let refusal = refusal(&world, number);
        record(first.id, refusal.at, Some(&refusal)).await;
        refusals.insert(0, refusal);
        refusals.truncate(DirectoryRefusal::MAX);
        let expected = DirectoryActivity { last_request_at: Some(world.now()), refusals: refusals.clone() };
        assert_eq!(activity(&world, &first).await, expected);
    }
    world.tick();
    record(first.id, world.now(), None).await;
    assert_eq!(activity(&world, &first).await, DirectoryActivity { last_request_at: Some(world.now()), refusals });
    record(world.id(), world.now(), Some(&refusal(&world, 7))).await;
    assert_eq!(activity(&world, &bystander).await, DirectoryActivity::default());
    assert_eq!(list(&world, tenant.id).await, [bystander, first]);
    assert_eq!(all(&world, tenant.id).await, entries);
}

/// Changes of a directory, and of what it says of its users, are recorded in the log of the tenant. An entry names the
/// directory for which the caller acts.
pub async fn changes_are_recorded(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let account = account(&world, &tenant, "account").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let before = all(&world, tenant.id).await.len();
    let directory = new_directory(&world, &account, "first");
    let changed = Directory { adopt: true, ..directory.clone() }.changed(world.now());
    let entry = new_entry(&world, &directory, &user, "Ada", &json!({ "title": "Countess" }));
    let renamed = DirectoryUser { user_name: "eve".parse().unwrap(), ..entry.clone() }.changed(world.now());
    let gone = deleted(&world, &renamed);
    let by_directory = Author { directory: Some(directory.id), ..World::system(tenant.id) };
    for (author, change) in [
        (&World::system(tenant.id), made(&directory)),
        (&World::system(tenant.id), update(&directory, &changed)),
        (&by_directory, entered(&entry)),
        (&by_directory, update_entry(&entry, &renamed)),
        // The change of the status of the user is recorded.
        (&by_directory, update_entry(&renamed, &gone)),
        (&World::system(tenant.id), delete(&changed)),
    ] {
        world.tick();
        let mut work = world.begin(author).await;
        work.apply(change).await.unwrap();
        work.commit().await.unwrap();
    }
    let entries = all(&world, tenant.id).await;
    let recorded = entries.iter().rev().skip(before).map(|entry| {
        let resource = (entry.resource_type.clone(), entry.resource_id.clone().unwrap());
        (resource, entry.action.to_string(), entry.metadata.get("directoryId").cloned())
    });
    let recorded: Vec<_> = recorded.collect();
    let of_directory = (ResourceType::DIRECTORY, directory.id.to_string());
    let (of_user, by_directory) = ((ResourceType::USER, user.id.to_string()), Some(json!(directory.id)));
    let expected = [
        (of_directory.clone(), "CREATE".to_owned(), None),
        (of_directory.clone(), "UPDATE".to_owned(), None),
        (of_user.clone(), "UPDATE".to_owned(), by_directory.clone()),
        (of_user, "UPDATE".to_owned(), by_directory),
        (of_directory, "DELETE".to_owned(), None),
    ];
    assert_eq!(recorded, expected);
}

/// Of many concurrent units of work that give a name to different users of a directory, one succeeds.
pub async fn a_user_name_is_taken_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let user = world.new_user(&tenant, &format!("user{number}@example.com"));
        let name = if number % 2 == 0 { "Ada@example.com" } else { "ADA@example.com" };
        let (world, entry) = (Arc::clone(&world), new_entry(&world, &directory, &user, name, &json!({})));
        tasks.spawn(async move { world.try_commit(entry.tenant_id, [create(&user), entered(&entry)]).await });
    }
    let results = tasks.join_all().await;
    let is_conflict =
        |result: &&Result<(), Error>| matches!(result, Err(Error::Conflict(Conflict::DirectoryUserNameTaken)));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert_eq!(results.iter().filter(is_conflict).count(), 7, "{results:?}");
    assert_eq!(find(&world, &directory, &Condition::always()).await.len(), 1);
}

/// Of many concurrent units of work that make a directory of one service account, one succeeds.
pub async fn an_account_gets_one_directory_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let account = account(&world, &tenant, "account").await;
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        let (world, directory) = (Arc::clone(&world), new_directory(&world, &account, "first"));
        tasks.spawn(async move { world.try_commit(directory.tenant_id, [made(&directory)]).await });
    }
    let results = tasks.join_all().await;
    let is_conflict =
        |result: &&Result<(), Error>| matches!(result, Err(Error::Conflict(Conflict::DirectoryAccountTaken)));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert_eq!(results.iter().filter(is_conflict).count(), 7, "{results:?}");
    assert_eq!(list(&world, tenant.id).await.len(), 1);
}

/// While a directory is removed, users become users of it before, or not at all. No entry is left.
pub async fn a_concurrent_removal_of_the_directory_leaves_no_entry(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let mut users = Vec::new();
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let user = world.user(&tenant, &format!("user{number}@example.com")).await;
        users.push(user.id);
        let entry = new_entry(&world, &directory, &user, user.email.as_str(), &json!({}));
        let change = if number == 3 { delete(&directory) } else { entered(&entry) };
        let world = Arc::clone(&world);
        tasks.spawn(async move { (number, world.try_commit(entry.tenant_id, [change]).await) });
    }
    for (number, result) in tasks.join_all().await {
        let is_gone = matches!(result, Err(Error::Store(StoreError::Conflict(Constraint::Reference))));
        assert!(result.is_ok() || (is_gone && number != 3), "{number}: {result:?}");
    }
    for user in users {
        assert_eq!(world.store.directory_user(tenant.id, user).await.unwrap(), None);
    }
}

/// Of concurrent requests of a directory, every refusal and the latest time are kept.
pub async fn concurrent_requests_are_all_kept(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let first = directory(&world, &tenant, "first").await;
    let mut tasks = JoinSet::new();
    for number in 0..12_u16 {
        let (world, directory) = (Arc::clone(&world), first.clone());
        tasks.spawn(async move {
            let at = world.now() + TimeDelta::seconds(i64::from(number));
            let refusal = DirectoryRefusal { at, ..refusal(&world, number) };
            let Directory { id, tenant_id, .. } = directory;
            world.store.record_directory_request(tenant_id, id, at, Some(&refusal)).await.unwrap();
        });
    }
    tasks.join_all().await;
    let kept = activity(&world, &first).await;
    assert_eq!(kept.last_request_at, Some(world.now() + TimeDelta::seconds(11)));
    let statuses: BTreeSet<u16> = kept.refusals.iter().map(|refusal| refusal.status).collect();
    assert_eq!(kept.refusals.len(), 12);
    assert!(statuses.into_iter().eq(400..412), "{kept:?}");
}
