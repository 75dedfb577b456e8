use std::sync::Arc;

use async_trait::async_trait;

use super::{AssignmentFilter, Grant, ListedAssignment};
use crate::access::{Reach, Until};
use crate::clock::Timestamp;
use crate::error::StoreError;
use crate::id::{AssignmentId, OrganizationId, RoleId, TenantId, UserId};
use crate::page::{Page, PageRequest};
use crate::role::Role;

/// Reads role assignments.
#[async_trait]
pub trait AssignmentStore {
    /// Every assignment of these users, expired ones included, newest first, then by id.
    async fn grants_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<Grant>, StoreError>;

    /// A page of the assignments within reach that pass the filter at a moment, newest first, then by id, with the
    /// exact count of all of them.
    async fn assignments(
        &self,
        tenant: TenantId,
        filter: &AssignmentFilter,
        reach: &Reach,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<ListedAssignment>, StoreError>;

    /// Tenants that have assignments which have expired at a moment, at most `limit`.
    ///
    /// For the sweeper alone, which then works in each of them by itself.
    async fn tenants_with_expired_assignments(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantId>, StoreError>;
}

/// Which assignments are meant.
#[derive(Clone, Copy, Debug)]
pub enum GrantQuery<'a> {
    /// This one.
    One(AssignmentId),
    /// Those of a user.
    OfUser(UserId),
    /// Those of a role.
    OfRole(RoleId),
    /// Those in an organization.
    In(OrganizationId),
    /// Those of exactly these contexts, as far as there are any.
    At(&'a [GrantContext]),
    /// Those that have expired at a moment, earliest expiry first, at most so many.
    Expired {
        /// The moment.
        at: Timestamp,
        /// How many at most.
        limit: u32,
    },
}

/// Who holds what where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GrantContext {
    /// Who.
    pub user: UserId,
    /// Which role.
    pub role: RoleId,
    /// Where; `None` is tenant-wide.
    pub organization: Option<OrganizationId>,
}

/// A role that is held in an organization by somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldRole {
    /// The role.
    pub role: Arc<Role>,
    /// Where.
    pub organization: OrganizationId,
    /// The longest that anybody holds it there.
    pub until: Until,
}

/// Reads role assignments inside a unit of work.
///
/// Assignments are made, changed and removed under
/// [`lock_tenant`](crate::tenant::TenantTransaction::lock_tenant) only; under it, what is read here stays true.
#[async_trait]
pub trait AssignmentTransaction {
    /// The assignments that a query names, expired ones included. Newest first, then by id, but for
    /// [`GrantQuery::Expired`].
    async fn grants(&mut self, which: GrantQuery<'_>) -> Result<Vec<Grant>, StoreError>;

    /// Which roles somebody holds in one of these organizations at a moment, each once for each organization.
    async fn roles_held_in(
        &mut self,
        organizations: &[OrganizationId],
        now: Timestamp,
    ) -> Result<Vec<HeldRole>, StoreError>;

    /// The longest that anybody holds one of these roles at a moment; `None` is that nobody does.
    async fn roles_held_until(&mut self, roles: &[RoleId], now: Timestamp) -> Result<Option<Until>, StoreError>;

    /// Whether an ACTIVE user other than this one holds `TENANT_ADMIN` tenant-wide without expiry.
    async fn has_other_administrator(&mut self, than: UserId) -> Result<bool, StoreError>;
}
