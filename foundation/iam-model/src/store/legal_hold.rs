use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::id::{LegalHoldId, TenantId};
use crate::legal_hold::{Destroyed, LegalHold};
use crate::page::{Page, PageRequest};
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads legal holds.
#[apply(observed)]
#[async_trait]
pub trait LegalHoldStore {
    /// Returns a hold.
    async fn legal_hold(&self, tenant: TenantId, id: LegalHoldId) -> Result<Option<LegalHold>, StoreError>;

    /// Returns a page of the holds of a tenant, newest first, then by identifier, with the exact count of all of them.
    async fn legal_holds(&self, tenant: TenantId, page: PageRequest) -> Result<Page<LegalHold>, StoreError>;
}

/// Reads legal holds inside a unit of work. Holds are placed and released only under
/// [`lock_tenant`](crate::store::TenantTransaction::lock_tenant): while a unit of work holds this lock, what it reads
/// here stays valid.
#[apply(observed)]
#[async_trait]
pub trait LegalHoldTransaction {
    /// Returns a hold.
    async fn legal_hold(&mut self, id: LegalHoldId) -> Result<Option<LegalHold>, StoreError>;

    /// Returns the hold that [keeps](LegalHold::keeps) what would be destroyed; of several, the one that was placed
    /// first, then the one with the lowest identifier.
    async fn legal_hold_of(&mut self, destroyed: Destroyed) -> Result<Option<LegalHold>, StoreError>;

    /// Returns how many holds the tenant has. The tenant must be locked.
    async fn count_legal_holds(&mut self) -> Result<u64, StoreError>;
}
