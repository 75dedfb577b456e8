use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::access::VisibleScope;
use crate::assignment::{Assignment, AssignmentFilter};
use crate::clock::Timestamp;
use crate::history::{Past, PastStatus};
use crate::id::{OrganizationId, RoleId, TenantId, UserId};
use crate::organization::Organization;
use crate::page::{Page, PageRequest};
use crate::role::Role;
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Who can: the users whom one of these roles, or any role, reaches in one of these places.
#[derive(Clone, Debug)]
pub struct HolderQuery {
    /// The roles; `None` for every role.
    pub roles: Option<Vec<RoleId>>,
    /// The organizations in which an assignment counts. Tenant-wide assignments always count.
    pub organizations: Vec<OrganizationId>,
    /// The moment. At or after the present, the current assignments and statuses decide.
    pub at: Timestamp,
}

/// Reads past versions: the rows that a change replaced or removed.
///
/// The methods with `after` return the versions that ended after that moment, in no particular order. Together with the
/// current rows, these give the state at any later moment; see [`Versions`](crate::history::Versions).
#[apply(observed)]
#[async_trait]
pub trait HistoryStore {
    /// The first moment from which on every past version was kept; `None` if that is the creation of the tenant.
    async fn history_start(&self, tenant: TenantId) -> Result<Option<Timestamp>, StoreError>;

    /// The past versions of the assignments of these users.
    async fn past_assignments_of(
        &self,
        tenant: TenantId,
        users: &[UserId],
        after: Timestamp,
    ) -> Result<Vec<Past<Assignment>>, StoreError>;

    /// The past versions of these roles; of all roles if none are given.
    async fn past_roles(
        &self,
        tenant: TenantId,
        roles: Option<&[RoleId]>,
        after: Timestamp,
    ) -> Result<Vec<Past<Role>>, StoreError>;

    /// The past versions of these organizations.
    async fn past_organizations(
        &self,
        tenant: TenantId,
        organizations: &[OrganizationId],
        after: Timestamp,
    ) -> Result<Vec<Past<Organization>>, StoreError>;

    /// The past statuses of these users.
    async fn past_statuses(
        &self,
        tenant: TenantId,
        users: &[UserId],
        after: Timestamp,
    ) -> Result<Vec<Past<PastStatus>>, StoreError>;

    /// A page of the assignments that existed at a past moment and pass the filter at that moment, newest first, then
    /// by id. The visible scope is that of the present tree.
    async fn assignments_at(
        &self,
        tenant: TenantId,
        filter: &AssignmentFilter,
        visible_scope: &VisibleScope,
        page: PageRequest,
        at: Timestamp,
    ) -> Result<Page<Assignment>, StoreError>;

    /// A page of the users who are ACTIVE at a moment and hold one of the roles in one of the places then, by id.
    async fn holders(
        &self,
        tenant: TenantId,
        query: &HolderQuery,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<UserId>, StoreError>;
}
