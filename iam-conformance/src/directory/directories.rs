use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::audit::ResourceType;
use iam_model::change::{Change, IdentityProviderChange};
use iam_model::context::Author;
use iam_model::directory::{Condition, Directory, DirectoryActivity, DirectoryRefusal, DirectoryUser};
use iam_model::error::{Conflict, Error};
use iam_model::id::{DirectoryId, TenantId};
use iam_model::identity_provider::IdentityProvider;
use iam_model::store::Store;
use iam_model::store_error::Constraint;
use iam_model::user::User;
use iam_model::version::Version;
use serde_json::json;
use tokio::task::JoinSet;

use super::{
    account, activity, add, delete, deleted, directory, enter, entered, find, forget, list, made, new_directory,
    new_entry, provision, read, read_entry, refusal, update, update_entry,
};
use crate::identity_provider::{self, new_provider};
use crate::log::all;
use crate::world::{World, assert_conflict, assert_missing};

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
    for change in [update(&absent, &absent), delete(&absent), update_entry(&entry, &entry), forget(&entry)] {
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

/// A removed directory takes what it says of its users along, also of those that it has deleted. The users stay, and
/// may belong to another directory.
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
    for change in [update(&first, &changed), delete(&first), update_entry(&ada.entry, &renamed), forget(&ada.entry)] {
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
