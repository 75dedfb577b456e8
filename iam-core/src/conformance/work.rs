//! The unit of work: all or nothing.

use std::sync::Arc;

use super::World;
use super::log::all;
use super::world::{assigning, create, register};
use crate::assignment::GrantQuery;
use crate::caller::Caller;
use crate::id::TenantId;
use crate::organization::{Organization, OrganizationChange};
use crate::role::Role;
use crate::store::Store;
use crate::tenant::TenantChange;

/// A unit of work that is dropped leaves neither change nor entry, and blocks nobody.
pub async fn dropped_leaves_nothing(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.new_user(&tenant, "ada@example.com");
    let entries = all(&world, tenant.id).await;
    let caller = Caller::system(tenant.id, "conformance");
    let mut work = world.begin(&caller).await;
    work.apply(create(&user)).await.unwrap();
    assert!(work.locks().lock_user(user.id).await.unwrap().is_some(), "it sees its own changes");
    assert_eq!(world.store.user(tenant.id, user.id).await.unwrap(), None, "others do not");
    drop(work);
    assert_eq!(world.store.user(tenant.id, user.id).await.unwrap(), None);
    assert_eq!(all(&world, tenant.id).await, entries);
    world.add(user).await;
}

/// A unit of work in which a change is refused leaves nothing of the changes before.
pub async fn failed_leaves_nothing(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let taken = world.user(&tenant, "ada@example.com").await;
    let entries = all(&world, tenant.id).await;
    let fresh = world.new_user(&tenant, "grace@example.com");
    let double = world.new_user(&tenant, taken.email.as_str());
    let refused = world.try_commit(tenant.id, [create(&fresh), create(&double)]).await;
    assert!(refused.is_err());
    assert_eq!(world.store.user(tenant.id, fresh.id).await.unwrap(), None);
    assert_eq!(all(&world, tenant.id).await, entries);
}

/// What is committed is committed with its entries; what belongs to no tenant has none.
pub async fn changes_and_entries_commit_together(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.new_tenant("acme");
    let users = [world.new_user(&tenant, "a@example.com"), world.new_user(&tenant, "b@example.com")];
    let changes = [TenantChange::Create(tenant.clone()).into(), create(&users[0]), create(&users[1])];
    world.try_commit(tenant.id, changes).await.unwrap();
    let resources: Vec<String> =
        all(&world, tenant.id).await.into_iter().rev().filter_map(|entry| entry.resource_id).collect();
    assert_eq!(resources, [tenant.id.to_string(), users[0].id.to_string(), users[1].id.to_string()]);
    assert_eq!(all(&world, TenantId::NONE).await, []);
}

/// Many writers at once wait for each other instead of failing.
pub async fn queued_writers_all_succeed(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..40 {
        let (world, tenant) = (Arc::clone(&world), tenant.clone());
        writers.spawn(async move { world.user(&tenant, &format!("u{number}@example.com")).await });
    }
    assert_eq!(writers.join_all().await.len(), 40);
    assert_eq!(all(&world, tenant.id).await.len(), 41);
}

/// Those who take the tenant's lock take turns: each reads what the one before has written, and nobody conflicts.
pub async fn holders_of_the_tenants_lock_take_turns(store: Arc<dyn Store>) {
    const TURNS: usize = 16;
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let root = world.organization(&tenant, "root").await;
    let mut roles = Vec::with_capacity(TURNS);
    for number in 0..TURNS {
        roles.push(world.role(&tenant, &format!("ROLE_{number}"), &[]).await);
    }
    let roles: Arc<[Role]> = roles.into();
    let mut turns = tokio::task::JoinSet::new();
    for _ in 0..TURNS {
        let (world, tenant, user) = (Arc::clone(&world), tenant.clone(), user.clone());
        let (root, roles) = (root.clone(), Arc::clone(&roles));
        turns.spawn(async move {
            let caller = Caller::system(tenant.id, "conformance");
            let mut work = world.begin(&caller).await;
            work.locks().lock_tenant().await.unwrap();
            let number = work.locks().subtree(root.id).await.unwrap().len() - 1;
            assert_eq!(work.locks().permission_names().await.unwrap().len(), number);
            assert_eq!(work.locks().grants(GrantQuery::OfUser(user.id)).await.unwrap().len(), number);
            let place = world.new_organization(tenant.id, &format!("place-{number}"));
            let place = Organization { parent_id: Some(root.id), ..place };
            work.apply(OrganizationChange::Create(place.clone())).await.unwrap();
            work.apply(register(&world.new_permission(&tenant, &format!("orders:act-{number}")))).await.unwrap();
            let assignment = world.new_assignment(&user, &roles[number], Some(place.id));
            work.apply(assigning([assignment], &roles[number])).await.unwrap();
            work.commit().await.unwrap();
        });
    }
    turns.join_all().await;
    assert_eq!(world.store.children(tenant.id, root.id).await.unwrap().len(), TURNS);
    assert_eq!(world.store.grants_of(tenant.id, &[user.id]).await.unwrap().len(), TURNS);
}
