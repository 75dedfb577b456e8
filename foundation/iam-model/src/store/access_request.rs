use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::access_request::{AccessRequest, AccessRequestFilter, AccessRequestScope};
use crate::clock::Timestamp;
use crate::id::{AccessRequestId, TenantId, UserId};
use crate::page::{Page, PageRequest};
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads access requests. All methods return requests as they are stored, whose status may have
/// [changed by itself](AccessRequest::status_at) since.
#[apply(observed)]
#[async_trait]
pub trait AccessRequestStore {
    /// Returns the request with this identifier.
    async fn access_request(&self, tenant: TenantId, id: AccessRequestId) -> Result<Option<AccessRequest>, StoreError>;

    /// Returns a page of the requests in the scope that [pass the filter](AccessRequestFilter::matches) at a moment,
    /// newest first, then by identifier, with the exact number of all such requests. See [`AccessRequestScope::shows`]
    /// and [`AccessRequest::status_at`]. An organization is below another one by the present tree, with any status.
    async fn access_requests(
        &self,
        tenant: TenantId,
        filter: &AccessRequestFilter,
        scope: &AccessRequestScope,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<AccessRequest>, StoreError>;

    /// Returns tenants that have requests which are [due](AccessRequest::due_at) at a moment or before, at most
    /// `limit`.
    ///
    /// Only `Iam::advance_access_requests` calls this, every second. It then works on each tenant separately.
    async fn tenants_with_due_access_requests(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantId>, StoreError>;
}

/// Reads access requests inside a unit of work.
///
/// They change only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant). While the unit of work holds
/// this lock, the results of these reads stay valid.
#[apply(observed)]
#[async_trait]
pub trait AccessRequestTransaction {
    /// Returns the requests with these identifiers, in no particular order. Identifiers without a request are left out.
    async fn access_requests_by_id(&mut self, ids: &[AccessRequestId]) -> Result<Vec<AccessRequest>, StoreError>;

    /// Returns the requests of a user whose stored status is PENDING, APPROVED or ACTIVE, newest first, then by
    /// identifier.
    async fn open_access_requests_of(&mut self, user: UserId) -> Result<Vec<AccessRequest>, StoreError>;

    /// Returns the requests of the tenant that are [due](AccessRequest::due_at) at a moment or before, earliest first,
    /// then by identifier, at most `limit`.
    async fn due_access_requests(&mut self, at: Timestamp, limit: u32) -> Result<Vec<AccessRequest>, StoreError>;
}
