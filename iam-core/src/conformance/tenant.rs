//! Tenants.

use std::sync::Arc;

use super::World;
use super::world::{assert_conflict, create, register};
use crate::change::Change;
use crate::error::{Conflict, Constraint, Error};
use crate::organization::OrganizationChange;
use crate::role::RoleChange;
use crate::store::Store;
use crate::tenant::{Tenant, TenantChange};

/// What was created is read back, by identifier and by slug.
pub async fn created_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    assert!(world.store.is_empty().await.unwrap());
    let tenant = world.tenant("acme").await;
    assert!(!world.store.is_empty().await.unwrap());
    assert_eq!(world.store.tenant(tenant.id).await.unwrap(), Some(tenant.clone()));
    assert_eq!(world.store.tenant_by_slug(&tenant.slug).await.unwrap(), Some(tenant));
    assert_eq!(world.store.tenant(world.id()).await.unwrap(), None);
    assert_eq!(world.store.tenant_by_slug(&"acm".parse().unwrap()).await.unwrap(), None);
}

/// A slug is taken once, whether by creating or by changing.
pub async fn slugs_are_unique_across_tenants(store: Arc<dyn Store>) {
    let world = World::new(store);
    world.tenant("acme").await;
    let second = world.new_tenant("acme");
    let create = TenantChange::Create(second.clone());
    let refused = world.try_commit(second.id, [create.into()]).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::SlugTaken))), "{refused:?}");
    assert_eq!(world.store.tenant(second.id).await.unwrap(), None);

    let other = world.tenant("other").await;
    let after = Tenant { slug: "acme".parse().unwrap(), ..other.clone() };
    let refused = world.try_commit(other.id, [TenantChange::Update { before: other, after }.into()]).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::SlugTaken))), "{refused:?}");
}

/// In a tenant that is not there, nothing is made.
pub async fn nothing_is_made_in_no_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    let nowhere = world.new_tenant("nowhere");
    let changes: [Change; 4] = [
        create(&world.new_user(&nowhere, "ada@example.com")),
        register(&world.new_permission(&nowhere, "orders:read")).into(),
        RoleChange::CreateBuiltIn(vec![world.new_role(&nowhere, "BUYER", &[])]).into(),
        OrganizationChange::Create(world.new_organization(nowhere.id, "branch")).into(),
    ];
    for change in changes {
        assert_conflict(&world.try_commit(nowhere.id, [change]).await, Constraint::Reference);
    }
}

/// What was changed is read back.
pub async fn update_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let before = world.tenant("acme").await;
    world.tick();
    let after = Tenant {
        name: "Acme & Söhne".parse().unwrap(),
        slug: "acme-2".parse().unwrap(),
        updated_at: world.now(),
        ..before.clone()
    };
    world.commit(before.id, TenantChange::Update { before: before.clone(), after: after.clone() }).await;
    assert_eq!(world.store.tenant(before.id).await.unwrap(), Some(after));
    assert_eq!(world.store.tenant_by_slug(&before.slug).await.unwrap(), None);
}

/// An e-mail leads to the tenants that have it, oldest first, no more than asked for.
pub async fn found_by_email_oldest_first(store: Arc<dyn Store>) {
    let world = World::new(store);
    let mut tenants = Vec::new();
    for slug in ["c", "b", "a"] {
        let tenant = world.tenant(slug).await;
        world.user(&tenant, "Ada@example.com").await;
        world.tick();
        tenants.push(tenant);
    }
    let elsewhere = world.tenant("d").await;
    world.user(&elsewhere, "grace@example.com").await;
    let email = "aDA@example.com".parse::<crate::Email>().unwrap().key();
    assert_eq!(world.store.tenants_with_email(&email, 9).await.unwrap(), tenants);
    assert_eq!(world.store.tenants_with_email(&email, 2).await.unwrap(), tenants[..2]);
}
