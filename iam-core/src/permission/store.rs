use async_trait::async_trait;

use super::RegisteredPermission;
use crate::access::Permission;
use crate::error::StoreError;
use crate::id::{PermissionId, TenantId};
use crate::page::{Page, PageRequest};

/// Reads the catalogue of permissions.
#[async_trait]
pub trait PermissionStore {
    /// A page of the catalogue, newest first, then by id, with the exact count of all of it.
    async fn permissions(&self, tenant: TenantId, page: PageRequest) -> Result<Page<RegisteredPermission>, StoreError>;
}

/// Reads the catalogue of permissions inside a unit of work.
///
/// It is changed under [`lock_tenant`](crate::tenant::TenantTransaction::lock_tenant) only; under it, what is read
/// here stays true.
#[async_trait]
pub trait PermissionTransaction {
    /// One entry.
    async fn permission(&mut self, id: PermissionId) -> Result<Option<RegisteredPermission>, StoreError>;

    /// The names of all of them, in no particular order.
    async fn permission_names(&mut self) -> Result<Vec<Permission>, StoreError>;
}
