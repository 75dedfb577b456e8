use async_trait::async_trait;

use super::Grant;
use crate::error::StoreError;
use crate::id::{TenantId, UserId};

/// Reads role assignments.
#[async_trait]
pub trait AssignmentStore {
    /// Every assignment of a user, expired ones included, newest first, then by id.
    async fn grants_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<Grant>, StoreError>;
}

/// Reads role assignments inside a unit of work.
#[async_trait]
pub trait AssignmentTransaction {
    /// Every assignment of a user, as [`AssignmentStore::grants_of`] gives them, locked against change.
    async fn lock_grants_of(&mut self, user: UserId) -> Result<Vec<Grant>, StoreError>;

    /// Whether an ACTIVE user other than this one holds `TENANT_ADMIN` tenant-wide without expiry.
    ///
    /// The answer holds until the end of the unit of work only under
    /// [`lock_tenant`](crate::tenant::TenantTransaction::lock_tenant).
    async fn has_other_administrator(&mut self, than: UserId) -> Result<bool, StoreError>;
}
