//! Directories, what they say of their users, and their groups.

mod directories;
mod given_roles;
mod group_conditions;
mod groups;
mod user_conditions;
mod users;

pub use directories::*;
pub use given_roles::*;
pub use group_conditions::*;
pub use groups::*;
pub use user_conditions::*;
pub use users::*;

use iam_model::attribute::Attributes;
use iam_model::change::{Change, DirectoryChange, DirectoryGroupChange, DirectoryUserChange, UserChange};
use iam_model::directory::{
    Condition, Directory, DirectoryActivity, DirectoryGroup, DirectoryRefusal, DirectoryUser, GroupSortField,
    GroupTest, ProvisionedUser, UserSortField, UserTest,
};
use iam_model::id::{TenantId, UserId};
use iam_model::page::SortOrder;
use iam_model::role::PlacedRole;
use iam_model::tenant::Tenant;
use iam_model::user::{User, UserKind};
use iam_model::version::Version;
use serde_json::{Value, json};

use crate::log::fields;
use crate::world::World;

/// Creates a service account in the store.
async fn account(world: &World, tenant: &Tenant, name: &str) -> User {
    let user = User { kind: UserKind::Service, ..world.new_user(tenant, &format!("{name}@service.invalid")) };
    let change =
        UserChange::Create { user: user.clone(), password: None, invitation: None, attributes: Attributes::default() };
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

fn forget(entry: &DirectoryUser) -> Change {
    DirectoryUserChange::Forget(entry.clone()).into()
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
    ProvisionedUser::new(user, entry)
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

fn not<T>(condition: Condition<T>) -> Condition<T> {
    Condition::Not(Box::new(condition))
}

fn refusal(world: &World, number: u16) -> DirectoryRefusal {
    DirectoryRefusal {
        at: world.now(),
        request: format!("POST /Users?n={number}"),
        status: 400 + number,
        detail: format!("Größe \"x\" \\ 'y' %_ 🦀 {number}"),
    }
}

fn new_group(world: &World, directory: &Directory, name: &str) -> DirectoryGroup {
    DirectoryGroup {
        id: world.id(),
        tenant_id: directory.tenant_id,
        directory_id: directory.id,
        display_name: name.parse().unwrap(),
        external_id: None,
        members: 0,
        grants: Vec::new(),
        created_at: world.now(),
        updated_at: world.now(),
        version: Version::FIRST,
    }
}

fn made_group(group: &DirectoryGroup, members: &[UserId]) -> Change {
    DirectoryGroupChange::Create { group: group.clone(), members: members.to_vec() }.into()
}

/// The change of the fields and the grants of a group.
fn update_group(before: &DirectoryGroup, after: &DirectoryGroup) -> Change {
    change_members(before, after, &[], &[])
}

fn change_members(before: &DirectoryGroup, after: &DirectoryGroup, added: &[UserId], removed: &[UserId]) -> Change {
    DirectoryGroupChange::Update {
        before: before.clone().into(),
        after: after.clone(),
        added: added.to_vec(),
        removed: removed.to_vec(),
        given: Vec::new(),
    }
    .into()
}

fn delete_group(group: &DirectoryGroup) -> Change {
    DirectoryGroupChange::Delete(group.clone()).into()
}

/// Puts a group into the store, with members.
async fn add_group(world: &World, group: DirectoryGroup, members: &[UserId]) -> DirectoryGroup {
    let group = DirectoryGroup { members: members.len().try_into().unwrap(), ..group };
    world.commit(group.tenant_id, made_group(&group, members)).await;
    group
}

/// Gives roles to a group in the store, in place of those that it has.
async fn map(world: &World, before: &DirectoryGroup, grants: &[PlacedRole]) -> DirectoryGroup {
    let after = DirectoryGroup { grants: grants.to_vec(), ..before.clone() }.changed(world.now());
    world.commit(before.tenant_id, update_group(before, &after)).await;
    after
}

/// Adds users to a group in the store.
async fn join(world: &World, before: &DirectoryGroup, users: &[UserId]) -> DirectoryGroup {
    let members = before.members + u32::try_from(users.len()).unwrap();
    let after = DirectoryGroup { members, ..before.clone() }.changed(world.now());
    world.commit(before.tenant_id, change_members(before, &after, users, &[])).await;
    after
}

/// Removes members from a group in the store.
async fn leave(world: &World, before: &DirectoryGroup, users: &[UserId]) -> DirectoryGroup {
    let members = before.members - u32::try_from(users.len()).unwrap();
    let after = DirectoryGroup { members, ..before.clone() }.changed(world.now());
    world.commit(before.tenant_id, change_members(before, &after, &[], users)).await;
    after
}

/// The groups of a directory that meet a condition, in the order in which the directory made them.
async fn find_groups(world: &World, directory: &Directory, condition: &Condition<GroupTest>) -> Vec<DirectoryGroup> {
    let Directory { id, tenant_id, .. } = *directory;
    let sort = (GroupSortField::Created, SortOrder::Ascending);
    let (found, total) = world.store.directory_groups(tenant_id, id, condition, sort, 0, 200).await.unwrap();
    assert_eq!(found.len() as u64, total);
    found
}

/// A group with its members, by every read. The name of the group is the one that it has now.
async fn read_group(
    world: &World,
    directory: &Directory,
    group: &DirectoryGroup,
) -> Option<(DirectoryGroup, Vec<UserId>)> {
    let (tenant, id) = (directory.tenant_id, group.id);
    let found = world.store.directory_group(tenant, directory.id, id).await.unwrap();
    let reads = world.locked(tenant, async |locks| {
        locks.lock_tenant().await.unwrap();
        let by_id = locks.directory_group(directory.id, id).await.unwrap();
        let by_name = locks.directory_group_named(directory.id, &group.display_name).await.unwrap();
        let count = locks.count_directory_groups(directory.id).await.unwrap();
        (by_id, by_name, count, locks.members_of_group(id).await.unwrap())
    });
    let (by_id, by_name, count, members) = reads.await;
    assert_eq!((&found, &found), (&by_id, &by_name));
    let listed = find_groups(world, directory, &Condition::always()).await;
    assert_eq!(listed.len() as u64, count);
    assert_eq!(listed.into_iter().find(|listed| listed.id == id), found);
    let committed = world.store.directory_group_members(tenant, &[id]).await.unwrap();
    assert!(committed.into_iter().eq(members.iter().map(|user| (id, *user))), "{members:?}");
    let Some(found) = found else {
        assert_eq!(members, []);
        return None;
    };
    assert_eq!(found.members as usize, members.len());
    Some((found, members))
}
