use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::access::VisibleScope;
use crate::eligibility::Eligibility;
use crate::id::{EligibilityId, RoleId, TenantId, UserId};
use crate::page::{Page, PageRequest};
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads eligibilities.
#[apply(observed)]
#[async_trait]
pub trait EligibilityStore {
    /// Returns the eligibility with this identifier, also an expired one.
    async fn eligibility(&self, tenant: TenantId, id: EligibilityId) -> Result<Option<Eligibility>, StoreError>;

    /// Returns a page of the eligibilities, also expired ones, newest first, then by identifier, with the exact number
    /// of all of them. A visible scope of organizations has those in these organizations and below, and no tenant-wide
    /// ones.
    async fn eligibilities(
        &self,
        tenant: TenantId,
        visible_scope: &VisibleScope,
        page: PageRequest,
    ) -> Result<Page<Eligibility>, StoreError>;

    /// Returns the eligibilities that name this user, and those of the holders of one of these roles, in every place
    /// and also expired ones: newest first, then by identifier.
    async fn eligibilities_of(
        &self,
        tenant: TenantId,
        user: UserId,
        held_roles: &[RoleId],
    ) -> Result<Vec<Eligibility>, StoreError>;
}

/// Reads eligibilities inside a unit of work.
///
/// They change only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant). While the unit of work holds
/// this lock, the results of these reads stay valid.
#[apply(observed)]
#[async_trait]
pub trait EligibilityTransaction {
    /// Returns the eligibility with this identifier, also an expired one.
    async fn eligibility(&mut self, id: EligibilityId) -> Result<Option<Eligibility>, StoreError>;

    /// Returns all eligibilities of the tenant, also expired ones, newest first, then by identifier. There are at most
    /// [`Eligibility::MAX`].
    async fn all_eligibilities(&mut self) -> Result<Vec<Eligibility>, StoreError>;

    /// Returns the eligibilities for the holders of one of these roles, and those about whose requests these holders
    /// decide, each once, in every place and also expired ones: newest first, then by identifier. Most tenants have none,
    /// so this is a search by two indexes.
    async fn eligibilities_led_to_by(&mut self, roles: &[RoleId]) -> Result<Vec<Eligibility>, StoreError>;
}
