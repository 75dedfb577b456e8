use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::directory::{Condition, Directory, DirectoryUser, TextOperator, UserText};
use iam_model::error::{Conflict, Error};
use iam_model::id::{DirectoryId, UserId};
use iam_model::store::Store;
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::{User, UserStatus};
use serde_json::json;
use tokio::task::JoinSet;

use super::user_conditions::text;
use super::{delete, deleted, directory, enter, entered, find, forget, new_entry, provision, read_entry, update_entry};
use crate::log::{all, fields};
use crate::world::{World, assert_conflict, assert_missing, create};

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

/// Of some users, those are present in a directory who belong to it, whom it has not deleted, and who are not INACTIVE.
/// They are read in the order of their ids, each once.
pub async fn present_users_of_a_directory_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, elsewhere) = (world.tenant("acme").await, world.tenant("other").await);
    let (first, second) = (directory(&world, &tenant, "first").await, directory(&world, &tenant, "second").await);
    let mut users = Vec::new();
    for (number, status) in [UserStatus::Active, UserStatus::Suspended, UserStatus::Inactive].into_iter().enumerate() {
        let user = world.new_user(&tenant, &format!("user{number}@example.com"));
        let user = world.add(User { status, ..user }).await;
        enter(&world, new_entry(&world, &first, &user, user.email.as_str(), &json!({}))).await;
        users.push(user.id);
    }
    let [active, suspended, inactive] = users[..] else { panic!("{users:?}") };
    let gone = provision(&world, &tenant, &first, "gone").await;
    world.commit(tenant.id, update_entry(&gone.entry, &deleted(&world, &gone.entry))).await;
    let other = provision(&world, &tenant, &second, "other").await.user.id;
    let stranger = world.user(&tenant, "stranger@example.com").await.id;
    let all = [world.id(), stranger, other, gone.user.id, inactive, suspended, active, suspended];
    for (tenant, directory, asked, expected) in [
        (tenant.id, first.id, &all[..], vec![active, suspended]),
        (tenant.id, first.id, &all[..6], vec![suspended]),
        (tenant.id, first.id, &[], vec![]),
        (tenant.id, second.id, &all, vec![other]),
        (tenant.id, world.id(), &all, vec![]),
        (elsewhere.id, first.id, &all, vec![]),
    ] {
        let read = world.locked(tenant, async |locks| {
            locks.lock_tenant().await.unwrap();
            locks.present_directory_users(directory, asked).await.unwrap()
        });
        assert_eq!(read.await, expected, "{directory} {asked:?}");
    }
}

/// What a directory has said of a user is forgotten, and nothing is recorded. The user stays, and may belong to another
/// directory. Its name in the directory is free.
pub async fn a_forgotten_entry_is_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (first, second) = (directory(&world, &tenant, "first").await, directory(&world, &tenant, "second").await);
    let ada = provision(&world, &tenant, &first, "ada").await;
    let bob = provision(&world, &tenant, &first, "bob").await;
    let eve = world.user(&tenant, "eve@example.com").await;
    let gone = deleted(&world, &ada.entry);
    world.commit(tenant.id, update_entry(&ada.entry, &gone)).await;
    let entries = all(&world, tenant.id).await;

    world.commit(tenant.id, forget(&gone)).await;
    assert_eq!(read_entry(&world, &first, &gone).await, None);
    assert_eq!(all(&world, tenant.id).await, entries);
    assert_eq!(read_entry(&world, &first, &bob.entry).await, Some(bob.entry));
    assert_eq!(world.store.user(tenant.id, ada.user.id).await.unwrap().as_ref(), Some(&ada.user));
    assert_missing(&world.try_commit(tenant.id, [forget(&gone)]).await);
    for (directory, user) in [(&first, &eve), (&second, &ada.user)] {
        let entry = enter(&world, new_entry(&world, directory, user, "ADA", &json!({}))).await;
        assert_eq!(read_entry(&world, directory, &entry).await, Some(entry));
    }
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
