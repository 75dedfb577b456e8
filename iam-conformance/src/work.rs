//! The unit of work: all or nothing.

use std::sync::Arc;

use iam_core::Caller;
use iam_model::change::{OrganizationChange, TenantChange};
use iam_model::id::TenantId;
use iam_model::organization::Organization;
use iam_model::role::Role;
use iam_model::store::{GrantQuery, Store};

use crate::log::all;
use crate::world::{World, assigning, create, register};

/// A dropped unit of work leaves neither a change nor an audit entry, and does not block other units of work.
pub async fn a_dropped_unit_of_work_leaves_nothing(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.new_user(&tenant, "ada@example.com");
    let entries = all(&world, tenant.id).await;
    let caller = Caller::system(tenant.id, "conformance");
    let mut work = world.begin(caller.author()).await;
    work.apply(create(&user)).await.unwrap();
    assert!(work.reads().lock_user(user.id).await.unwrap().is_some(), "the unit of work sees its own changes");
    assert_eq!(world.store.user(tenant.id, user.id).await.unwrap(), None, "other readers do not see them");
    drop(work);
    assert_eq!(world.store.user(tenant.id, user.id).await.unwrap(), None);
    assert_eq!(all(&world, tenant.id).await, entries);
    world.add(user).await;
}

/// A unit of work in which a change is refused leaves nothing of its earlier changes.
pub async fn a_failed_unit_of_work_leaves_nothing(store: Arc<dyn Store>) {
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

/// A commit writes the changes together with their audit entries. It writes no entry to the log of
/// [`TenantId::NONE`].
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

/// Concurrent writers wait for each other. None of them fails.
pub async fn concurrent_writers_all_succeed(store: Arc<dyn Store>) {
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

/// The tenant's lock has one holder at a time. Each holder reads what the previous holders wrote, and none of them
/// conflicts.
pub async fn the_tenants_lock_has_one_holder_at_a_time(store: Arc<dyn Store>) {
    const HOLDERS: usize = 16;
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let root = world.organization(&tenant, "root").await;
    let mut roles = Vec::with_capacity(HOLDERS);
    for number in 0..HOLDERS {
        roles.push(world.role(&tenant, &format!("ROLE_{number}"), &[]).await);
    }
    let roles: Arc<[Role]> = roles.into();
    let mut holders = tokio::task::JoinSet::new();
    for _ in 0..HOLDERS {
        let (world, tenant, user) = (Arc::clone(&world), tenant.clone(), user.clone());
        let (root, roles) = (root.clone(), Arc::clone(&roles));
        holders.spawn(async move {
            let caller = Caller::system(tenant.id, "conformance");
            let mut work = world.begin(caller.author()).await;
            work.reads().lock_tenant().await.unwrap();
            let number = work.reads().subtree(root.id).await.unwrap().len() - 1;
            assert_eq!(work.reads().permission_names().await.unwrap().len(), number);
            assert_eq!(work.reads().grants(GrantQuery::OfUser(user.id)).await.unwrap().len(), number);
            let organization = world.new_organization(tenant.id, &format!("organization-{number}"));
            let organization = Organization { parent_id: Some(root.id), ..organization };
            work.apply(OrganizationChange::create(organization.clone())).await.unwrap();
            work.apply(register(&world.new_permission(&tenant, &format!("orders:act-{number}")))).await.unwrap();
            let assignment = world.new_assignment(&user, &roles[number], Some(organization.id));
            work.apply(assigning([assignment], &roles[number])).await.unwrap();
            work.commit().await.unwrap();
        });
    }
    holders.join_all().await;
    assert_eq!(world.store.children(tenant.id, root.id, u32::MAX).await.unwrap().len(), HOLDERS);
    assert_eq!(world.store.grants_of(tenant.id, &[user.id]).await.unwrap().len(), HOLDERS);
}
