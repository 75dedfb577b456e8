//! Role assignments.

use std::sync::Arc;

use chrono::TimeDelta;

use super::World;
use super::world::named;
use crate::assignment::{Assignment, AssignmentChange, Grant};
use crate::caller::Caller;
use crate::error::{Constraint, Error, StoreError};
use crate::organization::OrganizationSummary;
use crate::store::Store;
use crate::user::{User, UserChange, UserStatus};

/// A grant is the assignment with its role, permissions and organization; newest first, expired ones included.
pub async fn grants_show_role_and_organization(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let roles = world.roles(&tenant).await;
    let (user, other) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "b@example.com").await);
    let (auditor, member) = (named(&roles, "AUDITOR"), named(&roles, "MEMBER"));
    let branch = world.organization(&tenant, "branch").await;
    let expired = Assignment {
        expires_at: Some(world.now() - TimeDelta::seconds(1)),
        created_by: Some(other.id),
        ..world.new_assignment(&user, auditor, None)
    };
    let expired = world.assign(expired, auditor).await;
    world.tick();
    let scoped = world.assign(world.new_assignment(&user, member, Some(branch.id)), member).await;
    world.assign(world.new_assignment(&other, member, None), member).await;

    let organization = Some(OrganizationSummary { id: branch.id, name: branch.name.as_str().to_owned() });
    let expected = [
        Grant { assignment: scoped, role: sorted(member), organization },
        Grant { assignment: expired, role: sorted(auditor), organization: None },
    ];
    let found = world.store.grants_of(tenant.id, user.id).await.unwrap();
    let found: Vec<Grant> = found.into_iter().map(|grant| Grant { role: sorted(&grant.role), ..grant }).collect();
    assert_eq!(found, expected);
}

/// The order of a role's permissions means nothing.
fn sorted(role: &crate::role::Role) -> crate::role::Role {
    let mut role = role.clone();
    role.permissions.sort();
    role
}

/// A user holds a role once tenant-wide and once in each organization.
pub async fn a_context_holds_a_role_once(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let roles = world.roles(&tenant).await;
    let member = named(&roles, "MEMBER");
    let user = world.user(&tenant, "ada@example.com").await;
    let branch = world.organization(&tenant, "branch").await;
    for organization in [None, Some(branch.id)] {
        world.assign(world.new_assignment(&user, member, organization), member).await;
        let assignment = world.new_assignment(&user, member, organization);
        let again = AssignmentChange::Create { assignment, role_name: member.name.clone() };
        let refused = world.try_commit(tenant.id, [again.into()]).await;
        assert!(conflicts(&refused, Constraint::RoleAssignment), "{refused:?}");
    }
}

/// What was revoked is gone, and nothing else.
pub async fn revoked_is_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let roles = world.roles(&tenant).await;
    let user = world.user(&tenant, "ada@example.com").await;
    for name in ["MEMBER", "AUDITOR"] {
        world.assign(world.new_assignment(&user, named(&roles, name), None), named(&roles, name)).await;
        world.tick();
    }
    let caller = Caller::system(tenant.id, "conformance");
    let mut work = world.begin(&caller).await;
    let mut grants = work.locks().lock_grants_of(user.id).await.unwrap();
    let kept = grants.remove(0);
    work.apply(AssignmentChange::Revoke { grants, reason: None }).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(world.store.grants_of(tenant.id, user.id).await.unwrap(), [kept]);
}

/// Another administrator is an ACTIVE user who holds TENANT_ADMIN tenant-wide for good.
pub async fn administrators_are_counted(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let roles = world.roles(&tenant).await;
    let admin = named(&roles, "TENANT_ADMIN");
    let first = world.user(&tenant, "first@example.com").await;
    world.assign(world.new_assignment(&first, admin, None), admin).await;
    let expiring = world.user(&tenant, "expiring@example.com").await;
    let expires_at = Some(world.now() + TimeDelta::days(1));
    world.assign(Assignment { expires_at, ..world.new_assignment(&expiring, admin, None) }, admin).await;
    let auditor = world.user(&tenant, "auditor@example.com").await;
    world.assign(world.new_assignment(&auditor, named(&roles, "AUDITOR"), None), named(&roles, "AUDITOR")).await;
    assert!(!has_other(&world, &first).await);

    let second = world.user(&tenant, "second@example.com").await;
    world.assign(world.new_assignment(&second, admin, None), admin).await;
    assert!(has_other(&world, &first).await);
    let after = User { status: UserStatus::Suspended, ..second.clone() };
    world.commit(tenant.id, UserChange::ChangeStatus { before: second, after }).await;
    assert!(!has_other(&world, &first).await);
}

async fn has_other(world: &World, than: &User) -> bool {
    let caller = Caller::system(than.tenant_id, "conformance");
    let mut work = world.begin(&caller).await;
    work.locks().has_other_administrator(than.id).await.unwrap()
}

/// A user, a role or an organization of another tenant cannot be referred to, even by wrong code.
pub async fn references_to_another_tenant_are_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (own, foreign) = (world.roles(&acme).await, world.roles(&other).await);
    let (user, stranger) = (world.user(&acme, "a@example.com").await, world.user(&other, "b@example.com").await);
    let place = world.organization(&other, "branch").await;
    let (member, foreign_member) = (named(&own, "MEMBER"), named(&foreign, "MEMBER"));
    let attempts = [
        (world.new_assignment(&stranger, member, None), member),
        (world.new_assignment(&user, foreign_member, None), foreign_member),
        (world.new_assignment(&user, member, Some(place.id)), member),
    ];
    for (assignment, role) in attempts {
        let create = AssignmentChange::Create { assignment, role_name: role.name.clone() };
        let refused = world.try_commit(acme.id, [create.into()]).await;
        assert!(conflicts(&refused, Constraint::Reference), "{refused:?}");
    }
}

fn conflicts(result: &Result<(), Error>, constraint: Constraint) -> bool {
    matches!(result, Err(Error::Store(StoreError::Conflict(found))) if *found == constraint)
}
