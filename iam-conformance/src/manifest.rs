//! What manifests have made, and what they are compared with.

use std::sync::Arc;

use iam_model::change::ManifestChange;
use iam_model::id::TenantId;
use iam_model::organization::{Organization, OrganizationStatus};
use iam_model::store::{GrantQuery, Store};
use iam_model::store_error::Constraint;
use iam_model::user::{User, UserKind, UserStatus};
use uuid::Uuid;

use crate::world::{World, assert_conflict, sorted};

fn apply(made: &[Uuid], gone: &[Uuid]) -> ManifestChange {
    ManifestChange::Apply { made: made.to_vec(), gone: gone.to_vec() }
}

async fn items(world: &World, tenant: TenantId) -> Vec<Uuid> {
    let found = world.locked(tenant, async |locks| locks.manifest_items().await.unwrap()).await;
    sorted(found, |item| item)
}

/// The identifiers of items are read back until they are removed, in their tenant alone. The items need not exist.
pub async fn items_are_read_back_until_they_are_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let mut made: Vec<Uuid> = (0..40).map(|_| world.id()).collect();
    made.sort_unstable();
    let unknown: Uuid = world.id();
    world.commit(acme.id, apply(&made, &[])).await;
    world.commit(other.id, apply(&made[..1], &[])).await;
    assert_eq!(items(&world, acme.id).await, made);
    world.commit(acme.id, apply(&[unknown], &made[..39])).await;
    let mut left = vec![made[39], unknown];
    left.sort_unstable();
    assert_eq!(items(&world, acme.id).await, left);
    // One that is not there any more.
    world.commit(acme.id, apply(&[], &[made[0], unknown])).await;
    assert_eq!(items(&world, acme.id).await, [made[39]]);
    assert_eq!(items(&world, other.id).await, made[..1]);
    let missing: TenantId = world.id();
    let refused = world.try_commit(missing, [apply(&made, &[]).into()]).await;
    assert_conflict(&refused, Constraint::Reference);
}

/// The whole catalogue, all roles, and all organizations and service accounts that are not INACTIVE are read under the
/// lock, with the assignments of several users.
pub async fn everything_of_a_tenant_is_read(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let permission = world.permission(&acme, "orders:read").await;
    let role = world.role(&acme, "CLERK", &["orders:read", "orders:*"]).await;
    let root = world.organization(&acme, "root").await;
    let asleep = Organization {
        parent_id: Some(root.id),
        status: OrganizationStatus::Suspended,
        ..world.new_organization(acme.id, "asleep")
    };
    let gone = Organization { status: OrganizationStatus::Inactive, ..world.new_organization(acme.id, "gone") };
    let asleep = world.add_organization(asleep).await;
    world.add_organization(gone).await;
    let ada = world.user(&acme, "ada@example.com").await;
    let robot = |email: &str, status| User { kind: UserKind::Service, status, ..world.new_user(&acme, email) };
    let active = world.add(robot("one@service.invalid", UserStatus::Active)).await;
    let suspended = world.add(robot("two@service.invalid", UserStatus::Suspended)).await;
    world.add(robot("three@service.invalid", UserStatus::Inactive)).await;
    let tenant_wide = world.give(&active, &role, None).await;
    let in_root = world.give_until(&suspended, &role, Some(&root), Some(world.now())).await;
    world.give(&ada, &role, None).await;

    let read = async |tenant: TenantId| {
        world
            .locked(tenant, async |locks| {
                let permissions = locks.all_permissions().await.unwrap();
                let roles = locks.all_roles().await.unwrap();
                let mut organizations = locks.all_organizations().await.unwrap();
                let mut accounts = locks.all_service_accounts().await.unwrap();
                organizations.sort_by_key(|organization| organization.id);
                accounts.sort_by_key(|account| account.id);
                (permissions, roles, organizations, accounts)
            })
            .await
    };
    let (mut organizations, mut accounts) = (vec![root, asleep], vec![active.clone(), suspended.clone()]);
    organizations.sort_by_key(|organization| organization.id);
    accounts.sort_by_key(|account| account.id);
    assert_eq!(read(acme.id).await, (vec![permission], vec![role], organizations, accounts));
    assert_eq!(read(other.id).await, (Vec::new(), Vec::new(), Vec::new(), Vec::new()));
    let held = world.grants(acme.id, GrantQuery::OfUsers(&[active.id, suspended.id, world.id()])).await;
    let mut expected = vec![tenant_wide.id, in_root.id];
    expected.sort_unstable();
    assert_eq!(sorted(held, |grant| grant.assignment.id), expected);
    assert!(world.grants(acme.id, GrantQuery::OfUsers(&[])).await.is_empty());
    assert!(world.grants(other.id, GrantQuery::OfUsers(&[active.id])).await.is_empty());
}
