use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::clock::Timestamp;
use crate::id::TenantId;
use crate::store::observed::observed;
use crate::store_error::StoreError;
use crate::tenant_deletion::TenantDeletion;

/// Reads the deletions of tenants, and removes what tenants had whose deletion has begun.
#[apply(observed)]
#[async_trait]
pub trait TenantDeletionStore {
    /// Returns the deletion of a tenant that is scheduled or has begun.
    async fn tenant_deletion(&self, tenant: TenantId) -> Result<Option<TenantDeletion>, StoreError>;

    /// Returns at most `limit` deletions of all tenants that are due at a moment, also those that have begun: the ones
    /// that are due first come first.
    async fn due_tenant_deletions(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantDeletion>, StoreError>;

    /// Removes at most about `limit` rows of a tenant whose deletion has begun, all but the row of the tenant itself, its
    /// deletion, and its audit log. Returns how many; none if nothing is left, or the deletion has not begun.
    async fn remove_rows_of_tenant(&self, tenant: TenantId, limit: u32) -> Result<u64, StoreError>;

    /// Removes a tenant whose deletion has begun and of which no other row is left, and then its deletion. The audit log
    /// stays.
    async fn remove_tenant(&self, tenant: TenantId) -> Result<(), StoreError>;
}

/// Reads the deletion of a tenant inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait TenantDeletionTransaction {
    /// Returns the deletion of the tenant that is scheduled or has begun. It changes only under
    /// [`lock_tenant`](crate::store::TenantTransaction::lock_tenant).
    async fn tenant_deletion(&mut self) -> Result<Option<TenantDeletion>, StoreError>;
}
