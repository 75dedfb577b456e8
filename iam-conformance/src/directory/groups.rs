use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::audit::ResourceType;
use iam_model::change::Change;
use iam_model::context::Author;
use iam_model::directory::{Condition, Directory, DirectoryGroup};
use iam_model::error::{Conflict, Error};
use iam_model::id::{DirectoryGroupId, OrganizationId, TenantId, UserId};
use iam_model::role::PlacedRole;
use iam_model::store::Store;
use iam_model::store_error::{Constraint, StoreError};
use iam_model::tenant::Tenant;
use iam_model::version::Version;
use serde_json::json;
use tokio::task::JoinSet;

use super::{
    add_group, change_members, delete, delete_group, directory, find_groups, join, leave, made_group, new_group,
    provision, read_group, update_group,
};
use crate::log::all;
use crate::world::{World, assert_conflict, assert_missing};

/// Creates users of a directory in the store, in the order of their ids.
async fn people<const N: usize>(
    world: &World,
    tenant: &Tenant,
    directory: &Directory,
    names: [&str; N],
) -> [UserId; N] {
    let mut people = Vec::new();
    for name in names {
        people.push(provision(world, tenant, directory, name).await.user.id);
    }
    people.try_into().unwrap()
}

fn granting(world: &World, organization_id: Option<OrganizationId>) -> PlacedRole {
    PlacedRole { role_id: world.id(), organization_id }
}

/// Every field of a group is read back with its members by every read, and only in its tenant and its directory.
pub async fn a_group_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (first, second) = (directory(&world, &acme, "first").await, directory(&world, &acme, "second").await);
    assert_eq!(find_groups(&world, &first, &Condition::always()).await, []);
    let [ada, bob] = people(&world, &acme, &first, ["ada", "bob"]).await;
    let full = DirectoryGroup {
        external_id: Some("Größe 'x' %_ 🦀".parse().unwrap()),
        created_at: world.now() - TimeDelta::days(1),
        updated_at: world.now() + TimeDelta::milliseconds(7),
        ..new_group(&world, &first, " Größe \"x\" \\ 'y' %_ 🦀 ")
    };
    let groups = [
        (add_group(&world, full, &[bob, ada]).await, vec![ada, bob]),
        (add_group(&world, new_group(&world, &first, "empty"), &[]).await, vec![]),
    ];
    for (group, members) in &groups {
        assert_eq!(read_group(&world, &first, group).await, Some((group.clone(), members.clone())));
        assert_eq!(world.store.directory_group(acme.id, second.id, group.id).await.unwrap(), None);
        let there = world.locked(acme.id, async |locks| {
            locks.lock_tenant().await.unwrap();
            let by_id = locks.directory_group(second.id, group.id).await.unwrap();
            (by_id, locks.directory_group_named(second.id, &group.display_name).await.unwrap())
        });
        assert_eq!(there.await, (None, None));
        let elsewhere = Directory { tenant_id: other.id, ..first.clone() };
        assert_eq!(read_group(&world, &elsewhere, group).await, None);
    }
    assert_eq!(find_groups(&world, &second, &Condition::always()).await, []);
    assert_eq!(read_group(&world, &first, &new_group(&world, &first, "absent")).await, None);
}

/// Every field, the members and the grants of a group are read back after a change. The grants keep their order, and
/// what they name need not exist. No other group changes.
pub async fn changes_of_a_group_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let [ada, bob, eve] = people(&world, &tenant, &directory, ["ada", "bob", "eve"]).await;
    let mut stored = add_group(&world, new_group(&world, &directory, "first"), &[ada]).await;
    let bystander = add_group(&world, new_group(&world, &directory, "bystander"), &[ada, bob]).await;
    let (here, wide) = (granting(&world, Some(world.id())), granting(&world, None));
    let there = PlacedRole { organization_id: Some(world.id()), ..here };
    let many: Vec<PlacedRole> = (0..DirectoryGroup::MAX_GRANTS).map(|_| granting(&world, Some(world.id()))).collect();
    let long = "ü".repeat(255);
    for (name, external_id, grants, added, removed, expected) in [
        ("Größe 🦀", Some("00g1"), vec![there, wide, here], vec![], vec![], vec![ada]),
        ("second", Some("00G1"), vec![here, there], vec![eve, bob], vec![], vec![ada, bob, eve]),
        (long.as_str(), Some("00G1"), vec![], vec![], vec![bob, ada], vec![eve]),
        ("third", None, many, vec![ada], vec![eve], vec![ada]),
        ("THIRD", None, vec![wide], vec![], vec![ada], vec![]),
        ("THIRD", Some("ü"), vec![wide], vec![bob], vec![], vec![bob]),
    ] {
        world.tick();
        let after = DirectoryGroup {
            display_name: name.parse().unwrap(),
            external_id: external_id.map(|id| id.parse().unwrap()),
            members: expected.len().try_into().unwrap(),
            grants,
            ..stored.clone()
        }
        .changed(world.now());
        world.commit(tenant.id, change_members(&stored, &after, &added, &removed)).await;
        assert_eq!(read_group(&world, &directory, &after).await, Some((after.clone(), expected)));
        stored = after;
    }
    assert_eq!(read_group(&world, &directory, &bystander).await, Some((bystander.clone(), vec![ada, bob])));
}

/// Every change of a group raises its version by one, even if it changes nothing else.
pub async fn every_change_of_a_group_raises_its_version(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let [ada] = people(&world, &tenant, &directory, ["ada"]).await;
    let mut group = add_group(&world, new_group(&world, &directory, "first"), &[]).await;
    let mut version = Version::FIRST;
    for (added, removed, members) in
        [(vec![], vec![], vec![]), (vec![ada], vec![], vec![ada]), (vec![], vec![ada], vec![])]
    {
        version = version.next();
        let after = DirectoryGroup { members: members.len().try_into().unwrap(), ..group.clone() };
        world.commit(tenant.id, change_members(&group, &after, &added, &removed)).await;
        group = DirectoryGroup { version, ..after };
        assert_eq!(read_group(&world, &directory, &group).await, Some((group.clone(), members)));
    }
}

/// A change of a group that does not exist is refused.
pub async fn a_change_to_a_missing_group_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let kept = add_group(&world, new_group(&world, &directory, "kept"), &[]).await;
    let absent = new_group(&world, &directory, "absent");
    for change in [update_group(&absent, &absent), delete_group(&absent)] {
        assert_missing(&world.try_commit(tenant.id, [change]).await);
    }
    assert_eq!(find_groups(&world, &directory, &Condition::always()).await, [kept]);
}

/// A deleted group takes its members along. The users stay in their other groups, and nothing of the group is left for
/// one with the same identifier.
pub async fn a_deleted_group_is_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let [ada, bob] = people(&world, &tenant, &directory, ["ada", "bob"]).await;
    let first = add_group(&world, new_group(&world, &directory, "first"), &[ada, bob]).await;
    let kept = add_group(&world, new_group(&world, &directory, "kept"), &[ada]).await;
    world.commit(tenant.id, delete_group(&first)).await;
    assert_eq!(read_group(&world, &directory, &first).await, None);
    assert_eq!(read_group(&world, &directory, &kept).await, Some((kept.clone(), vec![ada])));
    assert_eq!(groups_of(&world, tenant.id, ada).await, std::slice::from_ref(&kept));
    assert_eq!(groups_of(&world, tenant.id, bob).await, []);
    let again = add_group(&world, new_group(&world, &directory, "FIRST"), &[]).await;
    assert_eq!(read_group(&world, &directory, &again).await, Some((again.clone(), vec![])));
    world.commit(tenant.id, delete_group(&again)).await;
    let same = add_group(&world, first, &[]).await;
    assert_eq!(read_group(&world, &directory, &same).await, Some((same.clone(), vec![])));
}

/// A name belongs to at most one group of a directory without regard to case. In another directory it is free. An
/// external identifier may belong to several groups.
pub async fn a_group_name_is_unique_in_a_directory(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (first, second) = (directory(&world, &acme, "first").await, directory(&world, &acme, "second").await);
    let elsewhere = directory(&world, &other, "first").await;
    let external_id = Some("00g1".parse().unwrap());
    let holder = DirectoryGroup { external_id, ..new_group(&world, &first, "Ada Straße") };
    let holder = add_group(&world, holder, &[]).await;
    let bob = DirectoryGroup { external_id: holder.external_id.clone(), ..new_group(&world, &first, "bob") };
    let bob = add_group(&world, bob, &[]).await;
    let named = |group: &DirectoryGroup, name: &str| {
        DirectoryGroup { display_name: name.parse().unwrap(), ..group.clone() }.changed(world.now())
    };
    let alike = ["Ada Straße", "ADA STRASSE", "\u{ff21}da strasse", "a\u{ad}da straße"];
    for name in alike {
        for change in [made_group(&new_group(&world, &first, name), &[]), update_group(&bob, &named(&bob, name))] {
            assert_conflict(&world.try_commit(acme.id, [change]).await, Constraint::DirectoryGroupName);
        }
        assert_eq!(find_groups(&world, &first, &Condition::always()).await, [holder.clone(), bob.clone()]);
        let found = world.locked(acme.id, async |locks| {
            locks.lock_tenant().await.unwrap();
            let here = locks.directory_group_named(first.id, &name.parse().unwrap()).await.unwrap();
            (here, locks.directory_group_named(second.id, &name.parse().unwrap()).await.unwrap())
        });
        assert_eq!(found.await, (Some(holder.clone()), None), "{name}");
    }
    // The same name, in another form.
    let shown = named(&holder, alike[1]);
    world.commit(acme.id, update_group(&holder, &shown)).await;
    assert_eq!(read_group(&world, &first, &shown).await, Some((shown.clone(), vec![])));
    for directory in [&second, &elsewhere] {
        let group = add_group(&world, new_group(&world, directory, alike[0]), &[]).await;
        assert_eq!(read_group(&world, directory, &group).await, Some((group.clone(), vec![])));
    }
    let renamed = named(&bob, alike[0]);
    world.commit(acme.id, update_group(&shown, &named(&shown, "free"))).await;
    world.commit(acme.id, update_group(&bob, &renamed)).await;
    world.commit(acme.id, delete_group(&renamed)).await;
    add_group(&world, new_group(&world, &first, alike[1]), &[]).await;
}

/// The groups of which a user is a member.
async fn groups_of(world: &World, tenant: TenantId, user: UserId) -> Vec<DirectoryGroup> {
    let groups = world.locked(tenant, async |locks| {
        locks.lock_tenant().await.unwrap();
        locks.groups_of_member(user).await.unwrap()
    });
    groups.await
}

/// The members of groups are read by group and then by user, and the groups of a member by identifier. They are those
/// after the last change.
pub async fn members_of_groups_are_read_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (here, there) = (directory(&world, &tenant, "here").await, directory(&world, &tenant, "there").await);
    let [ada, bob, eve] = people(&world, &tenant, &here, ["ada", "bob", "eve"]).await;
    let [zoe] = people(&world, &tenant, &there, ["zoe"]).await;
    let new =
        [new_group(&world, &here, "first"), new_group(&world, &here, "second"), new_group(&world, &here, "third")];
    let [first, second, third] = new;
    let third = add_group(&world, third, &[]).await;
    let second = add_group(&world, second, &[eve, ada, bob]).await;
    let first = add_group(&world, first, &[bob]).await;
    let other = add_group(&world, new_group(&world, &there, "other"), &[zoe]).await;
    let read =
        async |groups: &[DirectoryGroupId]| world.store.directory_group_members(tenant.id, groups).await.unwrap();
    let of_second = [(second.id, ada), (second.id, bob), (second.id, eve)];
    assert_eq!(read(&[second.id]).await, of_second);
    let all = [vec![(first.id, bob)], of_second.to_vec(), vec![(other.id, zoe)]].concat();
    assert_eq!(read(&[other.id, world.id(), second.id, third.id, first.id]).await, all);
    assert_eq!(read(&[third.id]).await, []);
    assert_eq!(read(&[]).await, []);

    let among = async |group: DirectoryGroupId, users: &[UserId]| {
        let members = world.locked(tenant.id, async |locks| {
            locks.lock_tenant().await.unwrap();
            locks.members_among(group, users).await.unwrap()
        });
        members.await
    };
    let asked = [eve, zoe, world.id(), ada, eve];
    for (group, users, expected) in [
        (second.id, &asked[..], vec![ada, eve]),
        (second.id, &[zoe], vec![]),
        (second.id, &[], vec![]),
        (first.id, &asked, vec![]),
        (other.id, &asked, vec![zoe]),
        (world.id(), &asked, vec![]),
    ] {
        assert_eq!(among(group, users).await, expected, "{group} {users:?}");
    }

    assert_eq!(groups_of(&world, tenant.id, bob).await, [first.clone(), second.clone()]);
    assert_eq!(groups_of(&world, tenant.id, zoe).await, [other]);
    assert_eq!(groups_of(&world, tenant.id, world.id()).await, []);
    let second = leave(&world, &second, &[bob, eve]).await;
    let third = join(&world, &third, &[bob]).await;
    assert_eq!(groups_of(&world, tenant.id, bob).await, [first, third.clone()]);
    assert_eq!(groups_of(&world, tenant.id, eve).await, []);
    assert_eq!(read(&[third.id, second.id]).await, [(second.id, ada), (third.id, bob)]);
}

/// The directory and the members of a group exist in its tenant.
pub async fn references_of_groups_to_another_tenant_are_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (here, elsewhere) = (directory(&world, &acme, "here").await, directory(&world, &other, "elsewhere").await);
    let [ada] = people(&world, &acme, &here, ["ada"]).await;
    let [zoe] = people(&world, &other, &elsewhere, ["zoe"]).await;
    let kept = add_group(&world, new_group(&world, &here, "kept"), &[]).await;
    let refused = async |change: Change| {
        assert_conflict(&world.try_commit(acme.id, [change]).await, Constraint::Reference);
    };
    let unknown = Directory { id: world.id(), ..here.clone() };
    for directory in [&elsewhere, &unknown] {
        refused(made_group(&new_group(&world, directory, "new"), &[])).await;
    }
    for member in [zoe, world.id()] {
        let after = DirectoryGroup { members: 2, ..kept.clone() }.changed(world.now());
        refused(made_group(&new_group(&world, &here, "new"), &[ada, member])).await;
        refused(change_members(&kept, &after, &[ada, member], &[])).await;
    }
    assert_eq!(find_groups(&world, &here, &Condition::always()).await, std::slice::from_ref(&kept));
    assert_eq!(read_group(&world, &here, &kept).await, Some((kept.clone(), vec![])));
}

/// A removed directory takes its groups with their members along. Those of another directory stay.
pub async fn a_removed_directory_leaves_no_group(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (here, there) = (directory(&world, &tenant, "here").await, directory(&world, &tenant, "there").await);
    let [ada] = people(&world, &tenant, &here, ["ada"]).await;
    let [zoe] = people(&world, &tenant, &there, ["zoe"]).await;
    let first = add_group(&world, new_group(&world, &here, "first"), &[ada]).await;
    let second = add_group(&world, new_group(&world, &here, "second"), &[ada]).await;
    let kept = add_group(&world, new_group(&world, &there, "first"), &[zoe]).await;
    world.commit(tenant.id, delete(&here)).await;
    for group in [&first, &second] {
        assert_eq!(read_group(&world, &here, group).await, None);
        assert_missing(&world.try_commit(tenant.id, [delete_group(group)]).await);
    }
    assert_eq!(groups_of(&world, tenant.id, ada).await, []);
    assert_eq!(read_group(&world, &there, &kept).await, Some((kept.clone(), vec![zoe])));
}

/// A group is not found in another tenant, for reads and for writes.
pub async fn groups_of_another_tenant_are_not_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let here = directory(&world, &acme, "here").await;
    let [ada, bob] = people(&world, &acme, &here, ["ada", "bob"]).await;
    let group = add_group(&world, new_group(&world, &here, "first"), &[ada]).await;
    let there = Directory { tenant_id: other.id, ..here.clone() };
    assert_eq!(read_group(&world, &there, &group).await, None);
    assert_eq!(groups_of(&world, other.id, ada).await, []);
    let found = world.locked(other.id, async |locks| {
        locks.lock_tenant().await.unwrap();
        (locks.members_among(group.id, &[ada]).await.unwrap(), locks.count_directory_groups(here.id).await.unwrap())
    });
    assert_eq!(found.await, (vec![], 0));
    let renamed = DirectoryGroup { display_name: "other".parse().unwrap(), ..group.clone() }.changed(world.now());
    let larger = DirectoryGroup { members: 2, ..group.clone() }.changed(world.now());
    let smaller = DirectoryGroup { members: 0, ..group.clone() }.changed(world.now());
    for change in [
        update_group(&group, &renamed),
        change_members(&group, &larger, &[bob], &[]),
        change_members(&group, &smaller, &[], &[ada]),
        delete_group(&group),
    ] {
        assert_missing(&world.try_commit(other.id, [change]).await);
    }
    assert_eq!(read_group(&world, &here, &group).await, Some((group.clone(), vec![ada])));
}

/// A unit of work reads groups and their members as it has changed them. Other readers do not.
pub async fn a_unit_of_work_reads_its_own_groups(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let [ada, bob] = people(&world, &tenant, &directory, ["ada", "bob"]).await;
    let group = DirectoryGroup { members: 1, ..new_group(&world, &directory, "First") };
    let grants = vec![granting(&world, None)];
    let changed = DirectoryGroup { display_name: "Other".parse().unwrap(), grants, ..group.clone() };
    let changed = changed.changed(world.now());
    // Each change with the group and its members after it.
    let changes = [
        (made_group(&group, &[ada]), Some(&group), vec![ada]),
        (change_members(&group, &changed, &[bob], &[ada]), Some(&changed), vec![bob]),
        (delete_group(&changed), None, vec![]),
    ];
    let mut work = world.begin(&World::system(tenant.id)).await;
    work.reads().lock_tenant().await.unwrap();
    for (change, expected, members) in changes {
        work.apply(change).await.unwrap();
        let reads = work.reads();
        assert_eq!(reads.directory_group(directory.id, group.id).await.unwrap().as_ref(), expected);
        assert_eq!(reads.count_directory_groups(directory.id).await.unwrap(), u64::from(expected.is_some()));
        assert_eq!(reads.members_of_group(group.id).await.unwrap(), members);
        for user in [ada, bob] {
            let here = expected.filter(|_| members.contains(&user));
            assert_eq!(reads.groups_of_member(user).await.unwrap().first(), here);
        }
        for name in ["FIRST", "OTHER"] {
            let found = reads.directory_group_named(directory.id, &name.parse().unwrap()).await.unwrap();
            let has_name = |group: &&DirectoryGroup| group.display_name.key() == name.to_lowercase();
            assert_eq!(found.as_ref(), expected.filter(has_name), "{name}");
        }
        assert_eq!(find_groups(&world, &directory, &Condition::always()).await, []);
        assert_eq!(world.store.directory_group_members(tenant.id, &[group.id]).await.unwrap(), []);
    }
}

/// Changes of a group are recorded in the log of the tenant with the directory, and a change of members with their
/// number.
pub async fn changes_of_groups_are_recorded(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let [ada, bob] = people(&world, &tenant, &directory, ["ada", "bob"]).await;
    let before = all(&world, tenant.id).await.len();
    let group = DirectoryGroup { members: 2, ..new_group(&world, &directory, "first") };
    let renamed = DirectoryGroup { display_name: "other".parse().unwrap(), ..group.clone() }.changed(world.now());
    let smaller = DirectoryGroup { members: 1, ..renamed.clone() }.changed(world.now());
    let by_directory = Author { directory: Some(directory.id), ..World::system(tenant.id) };
    for change in [
        made_group(&group, &[ada, bob]),
        update_group(&group, &renamed),
        change_members(&renamed, &smaller, &[], &[bob]),
        delete_group(&smaller),
    ] {
        world.tick();
        let mut work = world.begin(&by_directory).await;
        work.apply(change).await.unwrap();
        work.commit().await.unwrap();
    }
    let entries = all(&world, tenant.id).await;
    let recorded = entries.iter().rev().skip(before).map(|entry| {
        assert_eq!(entry.resource_type, ResourceType::DIRECTORY_GROUP);
        assert_eq!(entry.resource_id, Some(group.id.to_string()));
        assert_eq!(entry.metadata["directoryId"], json!(directory.id));
        (entry.action.to_string(), entry.metadata.get("membersRemoved").cloned())
    });
    let recorded: Vec<_> = recorded.collect();
    let expected = [("CREATE", None), ("UPDATE", None), ("UPDATE", Some(json!(1))), ("DELETE", None)];
    assert_eq!(recorded, expected.map(|(action, removed)| (action.to_owned(), removed)));
}

/// Of many concurrent units of work that make a group with one name in a directory, one succeeds.
pub async fn a_group_name_is_taken_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let name = if number % 2 == 0 { "Administrators" } else { "ADMINISTRATORS" };
        let (world, group) = (Arc::clone(&world), new_group(&world, &directory, name));
        tasks.spawn(async move { world.try_commit(group.tenant_id, [made_group(&group, &[])]).await });
    }
    let results = tasks.join_all().await;
    let is_conflict =
        |result: &&Result<(), Error>| matches!(result, Err(Error::Conflict(Conflict::DirectoryGroupNameTaken)));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert_eq!(results.iter().filter(is_conflict).count(), 7, "{results:?}");
    assert_eq!(find_groups(&world, &directory, &Condition::always()).await.len(), 1);
}

/// Concurrent units of work that change one group under the lock of the tenant do not undo each other.
pub async fn concurrent_changes_of_a_group_are_all_kept(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let users = people(&world, &tenant, &directory, ["a", "b", "c", "d", "e", "f", "g", "h"]).await;
    let group = add_group(&world, new_group(&world, &directory, "first"), &[]).await;
    let mut tasks = JoinSet::new();
    for user in users {
        let (world, group) = (Arc::clone(&world), group.clone());
        tasks.spawn(async move {
            let mut work = world.begin(&World::system(group.tenant_id)).await;
            work.reads().lock_tenant().await.unwrap();
            let before = work.reads().directory_group(group.directory_id, group.id).await.unwrap().unwrap();
            let grants = [before.grants.clone(), vec![granting(&world, None)]].concat();
            let after = DirectoryGroup { members: before.members + 1, grants, ..before.clone() }.changed(world.now());
            work.apply(change_members(&before, &after, &[user], &[])).await.unwrap();
            work.commit().await.unwrap();
        });
    }
    tasks.join_all().await;
    let (group, members) = read_group(&world, &directory, &group).await.unwrap();
    assert_eq!(members, users);
    assert_eq!((group.members, group.grants.len(), group.version), (8, 8, Version::from(9_i64)));
}

/// While a directory is removed, its groups are made before, or not at all. No group is left.
pub async fn a_concurrent_removal_of_the_directory_leaves_no_group(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let directory = directory(&world, &tenant, "first").await;
    let [ada] = people(&world, &tenant, &directory, ["ada"]).await;
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let group = DirectoryGroup { members: 1, ..new_group(&world, &directory, &format!("group{number}")) };
        let change = if number == 3 { delete(&directory) } else { made_group(&group, &[ada]) };
        let world = Arc::clone(&world);
        tasks.spawn(async move { (number, world.try_commit(group.tenant_id, [change]).await) });
    }
    for (number, result) in tasks.join_all().await {
        let is_gone = matches!(result, Err(Error::Store(StoreError::Conflict(Constraint::Reference))));
        assert!(result.is_ok() || (is_gone && number != 3), "{number}: {result:?}");
    }
    assert_eq!(find_groups(&world, &directory, &Condition::always()).await, []);
    assert_eq!(groups_of(&world, tenant.id, ada).await, []);
}
