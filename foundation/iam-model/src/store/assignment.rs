use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::access::{HeldRole, Until, VisibleScope};
use crate::assignment::{AssignmentFilter, Grant, GrantContext, ListedAssignment};
use crate::clock::Timestamp;
use crate::id::{AccessRequestId, AssignmentId, DirectoryId, OrganizationId, RoleId, TenantId, UserId};
use crate::page::{Page, PageRequest};
use crate::store::HolderQuery;
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads role assignments.
#[apply(observed)]
#[async_trait]
pub trait AssignmentStore {
    /// All assignments of these users, including expired ones, newest first, then by id.
    async fn grants_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<Grant>, StoreError>;

    /// The assignments of these users of one of the query's roles, tenant-wide or in one of its organizations,
    /// including expired ones. The order is that of [`grants_of`](Self::grants_of). The moment of the query does not
    /// matter.
    async fn deciding_grants(
        &self,
        tenant: TenantId,
        users: &[UserId],
        query: &HolderQuery,
    ) -> Result<Vec<Grant>, StoreError>;

    /// The users who have an assignment of one of these roles, or of any role in one of these organizations, also an
    /// expired one: each once, in no particular order.
    async fn assigned_users(
        &self,
        tenant: TenantId,
        roles: &[RoleId],
        organizations: &[OrganizationId],
    ) -> Result<Vec<UserId>, StoreError>;

    /// The number of assignments of each of these users that have not expired at a moment, in no particular order. A
    /// user without any is left out.
    async fn live_assignments(
        &self,
        tenant: TenantId,
        users: &[UserId],
        at: Timestamp,
    ) -> Result<Vec<(UserId, u64)>, StoreError>;

    /// A page of the assignments within the visible scope that pass the filter at a moment, newest first, then by id,
    /// with the exact number of all such assignments.
    async fn assignments(
        &self,
        tenant: TenantId,
        filter: &AssignmentFilter,
        visible_scope: &VisibleScope,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<ListedAssignment>, StoreError>;

    /// The assignments within the visible scope that expire after `now`, and at `until` at the latest: earliest expiry
    /// first, then by id, at most `limit`.
    async fn expiring_assignments(
        &self,
        tenant: TenantId,
        visible_scope: &VisibleScope,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ListedAssignment>, StoreError>;

    /// Tenants that have assignments that are expired at a moment, at most `limit`.
    ///
    /// Only `Iam::remove_expired_assignments` calls this. It then works on each tenant separately.
    async fn tenants_with_expired_assignments(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantId>, StoreError>;
}

/// Selects assignments.
#[derive(Clone, Copy, Debug)]
pub enum GrantQuery<'a> {
    /// The assignment with this id.
    One(AssignmentId),
    /// The assignments with these ids. An id without an assignment is ignored.
    Each(&'a [AssignmentId]),
    /// The assignments of a user.
    OfUser(UserId),
    /// The assignments of these users.
    OfUsers(&'a [UserId]),
    /// The assignments of a role.
    OfRole(RoleId),
    /// The assignments in exactly this organization.
    In(OrganizationId),
    /// The assignments of exactly these contexts. A context without an assignment is ignored.
    At(&'a [GrantContext]),
    /// The assignments that groups of this directory give.
    OfDirectory(DirectoryId),
    /// The assignments with the mark of one of these access requests: their elevations, and what was given by these.
    OfAccessRequests(&'a [AccessRequestId]),
    /// The assignments that are expired at a moment, earliest expiry first.
    Expired {
        /// The moment.
        at: Timestamp,
        /// The maximum number.
        limit: u32,
    },
}

/// Reads role assignments inside a unit of work.
///
/// Assignments are made, changed and removed only under
/// [`lock_tenant`](crate::store::TenantTransaction::lock_tenant). So the results of these methods stay true while the
/// lock is held.
#[apply(observed)]
#[async_trait]
pub trait AssignmentTransaction {
    /// The assignments that a query selects, including expired ones. The order is newest first, then by id, except for
    /// [`GrantQuery::Expired`].
    async fn grants(&mut self, which: GrantQuery<'_>) -> Result<Vec<Grant>, StoreError>;

    /// The number of assignments of each of these users that have not expired at a moment, in no particular order. A
    /// user without any is left out.
    async fn live_assignments(&mut self, users: &[UserId], at: Timestamp) -> Result<Vec<(UserId, u64)>, StoreError>;

    /// The roles that users hold in these organizations at a moment, each role once for each organization.
    async fn roles_held_in(
        &mut self,
        organizations: &[OrganizationId],
        now: Timestamp,
    ) -> Result<Vec<HeldRole>, StoreError>;

    /// The latest time until which a user holds one of these roles at a moment; `None` if no user holds one.
    async fn roles_held_until(&mut self, roles: &[RoleId], now: Timestamp) -> Result<Option<Until>, StoreError>;

    /// Whether another user than this one [can administer](crate::user::User::can_administer) the tenant, and holds
    /// `TENANT_ADMIN` tenant-wide without expiry.
    async fn has_other_administrator(&mut self, than: UserId) -> Result<bool, StoreError>;
}
