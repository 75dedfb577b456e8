//! Roles.

use std::slice;
use std::sync::Arc;

use iam_model::access::Until;
use iam_model::change::{AssignmentChange, RoleChange};
use iam_model::id::{RoleId, TenantId};
use iam_model::page::PageRequest;
use iam_model::role::{Role, RoleScope};
use iam_model::store::{GrantQuery, Store};
use iam_model::store_error::Constraint;
use iam_model::version::Version;

use crate::world::{World, assert_conflict, assert_missing, assert_pages, named, sorted};

/// A created role is read back with its permissions, which may be none, by id, by name and in the list.
pub async fn a_created_row_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let mut roles = vec![
        world.new_role(&tenant, "SHIFT_LEADER", &["users:*", "orders:refund-2", "users:read"]),
        world.new_role(&tenant, "NOTHING_YET", &[]),
        world.new_role(&tenant, "EVERYTHING", &["*"]),
    ];
    roles[0].scope = RoleScope::Organization;
    roles[1].scope = RoleScope::Tenant;
    roles[1].description = "".parse().unwrap();
    roles[2].description = "Größe \"x\" \\ 'y' %_".parse().unwrap();
    for role in &roles {
        world.commit(tenant.id, create(role)).await;
    }
    for role in &roles {
        assert_eq!(world.store.role(tenant.id, role.id).await.unwrap().as_ref(), Some(role));
        assert_eq!(world.store.role_by_name(tenant.id, role.name.as_str()).await.unwrap().as_ref(), Some(role));
        assert_eq!(by_id(&world, tenant.id, &[role.id, world.id()]).await, slice::from_ref(role));
    }
    assert_eq!(world.store.roles(tenant.id, PageRequest::default()).await.unwrap().items, roles);
    let ids: Vec<RoleId> = roles.iter().map(|role| role.id).collect();
    let twice = [ids.as_slice(), ids.as_slice()].concat();
    assert_eq!(by_id(&world, tenant.id, &twice).await, roles);
    assert_eq!(by_id(&world, tenant.id, &[]).await, []);
    assert_eq!(world.store.role(tenant.id, world.id()).await.unwrap(), None);
    for name in ["SHIFT", "shift_leader", "SHIFT%", "SHIFT_LEADERS", ""] {
        assert_eq!(world.store.role_by_name(tenant.id, name).await.unwrap(), None, "{name}");
    }
}

/// The built-in roles are read back with their `system` mark.
pub async fn built_in_rows_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let roles = world.roles(&tenant).await;
    assert!(roles.iter().all(|role| role.system));
    for role in roles {
        assert_eq!(world.store.role(tenant.id, role.id).await.unwrap(), Some(role));
    }
}

/// Pages follow each other without gaps or repetitions, newest first, then by id. The total counts every role once,
/// for any number of permissions.
pub async fn list_pages_and_counts(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let permissions = ["users:read", "roles:read", "orders:read"];
    let mut expected = Vec::new();
    for number in 0..8 {
        if number % 3 == 0 {
            world.tick();
        }
        let held = &permissions[..number % 4];
        expected.push(world.role(&tenant, &format!("ROLE_{number}"), held).await);
        world.role(&other, &format!("ROLE_{number}"), held).await;
    }
    expected.sort_by_key(|role| (std::cmp::Reverse(role.created_at), role.id));
    assert_pages(&expected, async |page| world.store.roles(tenant.id, page).await.unwrap()).await;
}

/// A name is unique in a tenant, for a creation and for a change. It is free in another tenant.
pub async fn name_is_unique_in_a_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let first = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let second = world.role(&tenant, "SELLER", &[]).await;
    world.role(&other, "BUYER", &[]).await;
    let again = world.new_role(&tenant, "BUYER", &[]);
    assert_conflict(&world.try_commit(tenant.id, [create(&again).into()]).await, Constraint::RoleName);
    let built_in = RoleChange::CreateBuiltIn(vec![again]);
    assert_conflict(&world.try_commit(tenant.id, [built_in.into()]).await, Constraint::RoleName);
    let renamed = Role { name: first.name.clone(), ..second.clone() };
    assert_conflict(&world.try_commit(tenant.id, [update(&second, &renamed).into()]).await, Constraint::RoleName);
    let same_name = Role { description: "Buys".parse().unwrap(), ..first.clone() }.changed(world.now());
    world.commit(tenant.id, update(&first, &same_name)).await;
    assert_eq!(world.store.role_by_name(tenant.id, "BUYER").await.unwrap(), Some(same_name));
}

/// An update changes every field. Afterwards the role has exactly the permissions of the update, also in grants.
pub async fn update_replaces_permissions(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let before = world.role(&tenant, "BUYER", &["orders:read", "orders:create", "users:*"]).await;
    let same = world.role(&tenant, "SELLER", &["orders:read", "orders:create", "users:*"]).await;
    world.give(&user, &before, None).await;
    world.tick();
    let mut after = Role {
        name: "PURCHASER".parse().unwrap(),
        description: "Buys".parse().unwrap(),
        scope: RoleScope::Tenant,
        ..world.new_role(&tenant, "BUYER", &["orders:read", "orders:delete", "users:read"])
    }
    .changed(world.now());
    (after.id, after.created_at) = (before.id, before.created_at);
    world.commit(tenant.id, update(&before, &after)).await;
    assert_eq!(world.store.role(tenant.id, before.id).await.unwrap(), Some(after.clone()));
    assert_eq!(world.store.role(tenant.id, same.id).await.unwrap(), Some(same));
    assert_eq!(world.store.role_by_name(tenant.id, "BUYER").await.unwrap(), None);
    assert_eq!(*world.store.grants_of(tenant.id, &[user.id]).await.unwrap()[0].role, after);

    let bare = Role { permissions: [].into_iter().collect(), ..after.clone() }.changed(world.now());
    world.commit(tenant.id, update(&after, &bare)).await;
    assert_eq!(world.store.role(tenant.id, before.id).await.unwrap(), Some(bare.clone()));
    assert_eq!(*world.store.grants_of(tenant.id, &[user.id]).await.unwrap()[0].role, bare);
}

/// Every change of a role raises its version by one, also a change of its permissions alone. The permissions of a new
/// role do not raise it.
pub async fn every_change_raises_the_version(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let other = world.role(&tenant, "SELLER", &["orders:read", "users:*"]).await;
    let renamed = Role { name: "PURCHASER".parse().unwrap(), ..role.clone() };
    let wider = Role { permissions: ["*".parse().unwrap()].into_iter().collect(), ..renamed.clone() };
    let version = async |id| world.store.role(tenant.id, id).await.unwrap().unwrap().version;
    let mut expected = Version::FIRST;
    assert_eq!(version(role.id).await, expected);
    for (before, after) in [(&role, &renamed), (&renamed, &wider)] {
        world.commit(tenant.id, update(before, after)).await;
        expected = expected.next();
        assert_eq!(version(role.id).await, expected);
    }
    assert_eq!(version(other.id).await, Version::FIRST);
}

/// A missing role can be neither changed nor deleted.
pub async fn a_change_to_a_missing_row_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let nothing = world.new_role(&tenant, "BUYER", &["orders:read"]);
    assert_missing(&world.try_commit(tenant.id, [update(&nothing, &nothing).into()]).await);
    assert_missing(&world.try_commit(tenant.id, [RoleChange::Delete(nothing).into()]).await);
}

/// A deleted role is gone with its permissions, and its name is free. No other role is gone.
pub async fn a_deleted_row_is_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let gone = world.role(&tenant, "BUYER", &["orders:read", "users:*"]).await;
    let kept = world.role(&tenant, "SELLER", &["orders:read"]).await;
    world.commit(tenant.id, RoleChange::Delete(gone.clone())).await;
    assert_eq!(world.store.role(tenant.id, gone.id).await.unwrap(), None);
    assert_eq!(world.store.role_by_name(tenant.id, "BUYER").await.unwrap(), None);
    assert_eq!(with(&world, tenant.id, "orders:read").await, [kept.id]);
    assert_eq!(with(&world, tenant.id, "users:*").await, []);
    assert_eq!(world.store.roles(tenant.id, PageRequest::default()).await.unwrap().items, [kept]);
    assert_missing(&world.try_commit(tenant.id, [RoleChange::Delete(gone).into()]).await);
    world.role(&tenant, "BUYER", &[]).await;
}

/// A role cannot be deleted while an assignment refers to it, even if the assignment has expired.
pub async fn an_assigned_role_is_not_deleted(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let branch = world.organization(&tenant, "branch").await;
    let expired = Some(world.now());
    for (name, organization, expires_at) in [("A", None, None), ("B", Some(&branch), None), ("C", None, expired)] {
        let role = world.role(&tenant, name, &["orders:read"]).await;
        world.give_until(&user, &role, organization, expires_at).await;
        let delete = || RoleChange::Delete(role.clone());
        assert_conflict(&world.try_commit(tenant.id, [delete().into()]).await, Constraint::Reference);
        assert_eq!(world.store.role(tenant.id, role.id).await.unwrap().as_ref(), Some(&role));
        let grants = world.grants(tenant.id, GrantQuery::OfRole(role.id)).await;
        world.commit(tenant.id, AssignmentChange::Revoke { grants, reason: None }).await;
        world.commit(tenant.id, delete()).await;
    }
}

/// Roles are found by the exact pattern that they hold, not by a pattern that covers it or has the same beginning.
pub async fn roles_are_found_by_their_exact_pattern(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let exact = world.role(&tenant, "EXACT", &["orders:read", "users:read"]).await;
    let both = world.role(&tenant, "BOTH", &["orders:*", "orders:read"]).await;
    let wide = world.role(&tenant, "WIDE", &["orders:*"]).await;
    let all = world.role(&tenant, "ALL", &["*"]).await;
    world.role(&tenant, "NEAR", &["orders:read-all", "orders:re", "orders-read:read"]).await;
    world.role(&tenant, "NONE", &[]).await;
    for (pattern, expected) in [
        ("orders:read", vec![exact.id, both.id]),
        ("orders:*", vec![both.id, wide.id]),
        ("*", vec![all.id]),
        ("users:read", vec![exact.id]),
        ("users:*", vec![]),
    ] {
        assert_eq!(with(&world, tenant.id, pattern).await, expected, "{pattern}");
    }
}

/// A role is not found in another tenant, for reads and for writes.
pub async fn rows_of_another_tenant_are_not_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let role = world.role(&acme, "BUYER", &["orders:read"]).await;
    assert_eq!(world.store.role(other.id, role.id).await.unwrap(), None);
    assert_eq!(world.store.role_by_name(other.id, "BUYER").await.unwrap(), None);
    assert_eq!(world.store.roles(other.id, PageRequest::default()).await.unwrap().total, 0);
    assert_eq!(by_id(&world, other.id, &[role.id]).await, []);
    assert_eq!(with(&world, other.id, "orders:read").await, []);
    let after = world.new_role(&other, "TAKEN_OVER", &["*"]);
    let changes = [update(&role, &Role { id: role.id, ..after }), RoleChange::Delete(role.clone())];
    for change in changes {
        assert_missing(&world.try_commit(other.id, [change.into()]).await);
    }
    assert_eq!(world.store.role(acme.id, role.id).await.unwrap(), Some(role));
}

/// A unit of work reads its own changes. No other reader sees them before the commit.
pub async fn a_unit_of_work_reads_its_own_changes(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let roles = world.roles(&tenant).await;
    let buyer = world.new_role(&tenant, "BUYER", &["orders:read"]);
    let permission = world.new_permission(&tenant, "orders:read");
    let caller = iam_core::Caller::system(tenant.id, "conformance");
    let mut work = world.begin(caller.author()).await;
    work.apply(crate::world::register(&permission)).await.unwrap();
    work.apply(create(&buyer)).await.unwrap();
    let found = work.reads().roles_by_id(&[buyer.id, named(&roles, "MEMBER").id]).await.unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(work.reads().roles_with(&"orders:read".parse().unwrap()).await.unwrap(), [buyer.id]);
    assert_eq!(work.reads().permission(permission.id).await.unwrap(), Some(permission));
    assert_eq!(world.store.role(tenant.id, buyer.id).await.unwrap(), None, "other readers do not see it");
}

fn create(role: &Role) -> RoleChange {
    RoleChange::Create(role.clone())
}

fn update(before: &Role, after: &Role) -> RoleChange {
    RoleChange::Update { before: before.clone(), after: after.clone(), held_until: Until::Forever }
}

async fn by_id(world: &World, tenant: TenantId, ids: &[RoleId]) -> Vec<Role> {
    let mut found = world.locked(tenant, async |locks| locks.roles_by_id(ids).await.unwrap()).await;
    found.sort_by_key(|role| role.id);
    found
}

async fn with(world: &World, tenant: TenantId, pattern: &str) -> Vec<RoleId> {
    let pattern = pattern.parse().unwrap();
    sorted(world.locked(tenant, async |locks| locks.roles_with(&pattern).await.unwrap()).await, |id| id)
}
