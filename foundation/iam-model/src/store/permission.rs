use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::id::{PermissionId, TenantId};
use crate::page::{Page, PageRequest};
use crate::permission::{Permission, RegisteredPermission};
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads the catalogue of permissions.
#[apply(observed)]
#[async_trait]
pub trait PermissionStore {
    /// Returns a page of the catalogue, newest first, then by id, with the exact count of all entries.
    async fn permissions(&self, tenant: TenantId, page: PageRequest) -> Result<Page<RegisteredPermission>, StoreError>;

    /// Returns the names of the permissions in the catalogue that are about one of these
    /// [resources](Permission::resource), in no particular order.
    async fn permissions_about(&self, tenant: TenantId, resources: &[&str]) -> Result<Vec<Permission>, StoreError>;
}

/// Reads the catalogue of permissions inside a unit of work.
///
/// The catalogue changes only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant). While the unit of
/// work holds this lock, the results of these reads stay valid.
#[apply(observed)]
#[async_trait]
pub trait PermissionTransaction {
    /// Returns one entry.
    async fn permission(&mut self, id: PermissionId) -> Result<Option<RegisteredPermission>, StoreError>;

    /// Returns the names of all permissions in the catalogue, in no particular order.
    async fn permission_names(&mut self) -> Result<Vec<Permission>, StoreError>;

    /// Returns the whole catalogue, in no particular order.
    async fn all_permissions(&mut self) -> Result<Vec<RegisteredPermission>, StoreError>;
}
