//! The catalogue of permissions.

use std::sync::Arc;

use iam_model::change::PermissionChange;
use iam_model::id::TenantId;
use iam_model::page::Page;
use iam_model::permission::{Permission, RegisteredPermission, built_in_permissions};
use iam_model::store::Store;
use iam_model::store_error::Constraint;

use crate::world::{World, assert_conflict, assert_missing, assert_pages, everything, register, sorted};

/// A registered permission is read back to the millisecond, alone and in the list.
pub async fn a_created_row_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let first = world.permission(&tenant, "orders:refund-2").await;
    world.tick();
    let bare =
        RegisteredPermission { description: "".parse().unwrap(), ..world.new_permission(&tenant, "orders:read") };
    world.commit(tenant.id, register(&bare)).await;
    assert_eq!(catalogue(&world, tenant.id).await, [bare.clone(), first.clone()]);
    assert_eq!(one(&world, tenant.id, &first).await, Some(first.clone()));
    assert_eq!(one(&world, tenant.id, &world.new_permission(&tenant, "orders:read")).await, None);
    assert_eq!(names(&world, tenant.id).await, ["orders:read", "orders:refund-2"]);
}

/// The built-in permissions are read back with their `system` mark.
pub async fn built_in_rows_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let built_in = built_in_permissions(tenant.id, world.now(), || world.id()).unwrap();
    world.commit(tenant.id, PermissionChange::CreateBuiltIn(built_in.clone())).await;
    assert!(built_in.iter().all(|permission| permission.system));
    assert_eq!(catalogue(&world, tenant.id).await, built_in);
    assert_eq!(names(&world, tenant.id).await.len(), built_in.len());
}

/// Pages follow each other without gaps or repetitions, newest first, then by id, and have the total.
pub async fn list_pages_and_counts(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let mut expected = Vec::new();
    for number in 0..8 {
        if number % 3 == 0 {
            world.tick();
        }
        expected.push(world.permission(&tenant, &format!("orders:act-{number}")).await);
        world.permission(&other, &format!("orders:act-{number}")).await;
    }
    expected.sort_by_key(|permission| (std::cmp::Reverse(permission.created_at), permission.id));
    assert_pages(&expected, async |page| world.store.permissions(tenant.id, page).await.unwrap()).await;
}

/// A name is registered at most once in a tenant. It is free in other tenants, and after its permission is deleted.
pub async fn name_is_unique_in_a_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let first = world.permission(&tenant, "orders:read").await;
    world.permission(&other, "orders:read").await;
    world.permission(&tenant, "orders:read-all").await;
    let again = register(&world.new_permission(&tenant, "orders:read"));
    let refused = world.try_commit(tenant.id, [again.into()]).await;
    assert_conflict(&refused, Constraint::PermissionName);
    let again = PermissionChange::CreateBuiltIn(vec![world.new_permission(&tenant, "orders:read")]);
    let refused = world.try_commit(tenant.id, [again.into()]).await;
    assert_conflict(&refused, Constraint::PermissionName);
    world.commit(tenant.id, PermissionChange::Delete(first)).await;
    world.permission(&tenant, "orders:read").await;
}

/// The permissions about some resources are found, of the whole words and in the tenant alone.
pub async fn permissions_are_found_by_their_resources(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    for name in ["orders:read", "orders:refund", "order:read", "orders-2:read", "read:orders", "invoices:send"] {
        world.permission(&tenant, name).await;
    }
    world.permission(&other, "orders:cancel").await;
    let found = async |tenant: TenantId, resources: &[&str]| {
        let found = world.store.permissions_about(tenant, resources).await.unwrap();
        sorted(found, |name: Permission| name.as_str().to_owned())
    };
    assert_eq!(found(tenant.id, &[]).await, Vec::<String>::new());
    assert_eq!(found(tenant.id, &["orders"]).await, ["orders:read", "orders:refund"]);
    assert_eq!(found(tenant.id, &["invoices", "order", "none", "order"]).await, ["invoices:send", "order:read"]);
    assert_eq!(found(tenant.id, &["", "orders:read", "%"]).await, Vec::<String>::new());
    assert_eq!(found(other.id, &["orders", "invoices"]).await, ["orders:cancel"]);
}

/// A deleted permission is gone, and no other one is. It cannot be deleted again.
pub async fn a_deleted_row_is_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (gone, kept) =
        (world.permission(&tenant, "orders:read").await, world.permission(&tenant, "orders:update").await);
    world.commit(tenant.id, PermissionChange::Delete(gone.clone())).await;
    assert_eq!(catalogue(&world, tenant.id).await, [kept]);
    assert_eq!(one(&world, tenant.id, &gone).await, None);
    assert_eq!(names(&world, tenant.id).await, ["orders:update"]);
    assert_missing(&world.try_commit(tenant.id, [PermissionChange::Delete(gone).into()]).await);
}

/// A permission is not found in another tenant, for reads and for writes.
pub async fn rows_of_another_tenant_are_not_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let permission = world.permission(&acme, "orders:read").await;
    assert_eq!(catalogue(&world, other.id).await, []);
    assert_eq!(one(&world, other.id, &permission).await, None);
    assert_eq!(names(&world, other.id).await, Vec::<String>::new());
    assert_missing(&world.try_commit(other.id, [PermissionChange::Delete(permission.clone()).into()]).await);
    assert_eq!(catalogue(&world, acme.id).await, [permission]);
}

async fn catalogue(world: &World, tenant: TenantId) -> Vec<RegisteredPermission> {
    let Page { items, total, .. } = world.store.permissions(tenant, everything()).await.unwrap();
    assert_eq!(total, items.len() as u64);
    items
}

async fn one(world: &World, tenant: TenantId, permission: &RegisteredPermission) -> Option<RegisteredPermission> {
    world.locked(tenant, async |locks| locks.permission(permission.id).await.unwrap()).await
}

async fn names(world: &World, tenant: TenantId) -> Vec<String> {
    let found = world.locked(tenant, async |locks| locks.permission_names().await.unwrap()).await;
    sorted(found, |name: Permission| name.as_str().to_owned())
}
