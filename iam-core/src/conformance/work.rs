//! The unit of work: all or nothing.

use std::sync::Arc;

use super::World;
use super::audit::all;
use super::world::create;
use crate::caller::Caller;
use crate::id::TenantId;
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
