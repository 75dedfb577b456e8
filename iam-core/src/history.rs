//! The rights of users at earlier moments: past versions of assignments, roles, organizations and statuses.

pub use iam_model::history::{EndedVersion, History, Past, PastStatus, Versioned, Versions};
pub use iam_model::store::{HistoryStore, HolderQuery};

use std::collections::HashSet;

use iam_model::clock::{Timestamp, shown};
use iam_model::error::{Error, Result};
use iam_model::id::{OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::Organization;
use iam_model::permission;
use iam_model::role::Role;

use crate::caller::Caller;
use crate::distinct::distinct;
use crate::engine::Engine;

/// Refuses a moment before the first one that the history of the tenant knows. `field` names it.
pub(crate) async fn require_kept(iam: &Engine, tenant: TenantId, field: &str, at: Timestamp) -> Result<()> {
    let created_at = iam.store.tenant(tenant).await?.map(|tenant| tenant.created_at);
    let first = iam.store.history_start(tenant).await?.max(created_at);
    match first {
        Some(first) if at < first => {
            Err(Error::field(field, format!("must not be before {}, where the history begins", shown(first))))
        }
        _ => Ok(()),
    }
}

/// Refuses a caller that may not read the past of its tenant, and a moment that is not kept. `field` names the moment.
pub(crate) async fn may_look_back(iam: &Engine, caller: &Caller, field: &str, at: Timestamp) -> Result<()> {
    iam.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
    require_kept(iam, caller.tenant(), field, at).await
}

/// Reads the facts about these users, and the tree above these organizations, from a moment on until now.
///
/// Always reads the current rows before the past versions: a row that a concurrent change moves from the one to the
/// other is then found at least once, and a row that is found twice is the same.
pub(crate) async fn read(
    iam: &Engine,
    tenant: TenantId,
    users: &[UserId],
    organizations: &[OrganizationId],
    after: Timestamp,
) -> Result<History> {
    let store = &iam.store;
    let mut history = History::default();
    if !users.is_empty() {
        let current = store.users_by_id(tenant, users).await?;
        let current = current.iter().map(PastStatus::from);
        history.statuses = Versions::new(current, store.past_statuses(tenant, users, after).await?);
        let current = store.grants_of(tenant, users).await?.into_iter().map(|grant| grant.assignment);
        history.assignments = Versions::new(current, store.past_assignments_of(tenant, users, after).await?);
        let roles = distinct(history.assignments.all().map(|assignment| assignment.role_id));
        history.roles = self::roles(iam, tenant, &roles, after).await?;
    }
    let held_in = history.assignments.all().filter_map(|assignment| assignment.organization_id);
    let organizations = distinct(held_in.chain(organizations.iter().copied()));
    history.organizations = self::organizations(iam, tenant, organizations, after).await?;
    Ok(history)
}

/// Reads the versions of roles that lasted after a moment.
pub(crate) async fn roles(
    iam: &Engine,
    tenant: TenantId,
    roles: &[RoleId],
    after: Timestamp,
) -> Result<Versions<Role>> {
    if roles.is_empty() {
        return Ok(Versions::default());
    }
    let current = iam.store.roles_by_id(tenant, roles).await?;
    Ok(Versions::new(current, iam.store.past_roles(tenant, Some(roles), after).await?))
}

/// Reads the versions of organizations, and of all that were ever above them, that lasted after a moment.
pub(crate) async fn organizations(
    iam: &Engine,
    tenant: TenantId,
    mut unread: Vec<OrganizationId>,
    after: Timestamp,
) -> Result<Versions<Organization>> {
    let mut versions = Versions::default();
    // The first round reads the present tree. A further round is needed only for a parent of the past that is not above
    // them any more. The rounds end, because none reads an organization twice.
    while !unread.is_empty() {
        let mut current = iam.store.lineages(tenant, &unread).await?;
        current.retain(|organization| !versions.has(organization.id));
        let ids: Vec<OrganizationId> = current.iter().map(|organization| organization.id).collect();
        let past = iam.store.past_organizations(tenant, &ids, after).await?;
        let parents: HashSet<OrganizationId> = past.iter().filter_map(|past| past.version.parent_id).collect();
        versions.extend(current, past);
        unread = parents.into_iter().filter(|parent| !versions.has(*parent)).collect();
    }
    Ok(versions)
}
