use async_trait::async_trait;

use super::Role;
use crate::access::PermissionPattern;
use crate::error::StoreError;
use crate::id::{RoleId, TenantId};
use crate::page::{Page, PageRequest};

/// Reads roles.
#[async_trait]
pub trait RoleStore {
    /// One role.
    async fn role(&self, tenant: TenantId, id: RoleId) -> Result<Option<Role>, StoreError>;

    /// The role with this name.
    async fn role_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<Role>, StoreError>;

    /// A page of the roles, newest first, then by id, with the exact count of all of them.
    async fn roles(&self, tenant: TenantId, page: PageRequest) -> Result<Page<Role>, StoreError>;
}

/// Reads roles inside a unit of work.
///
/// Roles are changed under [`lock_tenant`](crate::tenant::TenantTransaction::lock_tenant) only; under it, what is
/// read here stays true.
#[async_trait]
pub trait RoleTransaction {
    /// The roles with these ids, as far as there are any, in no particular order.
    async fn roles_by_id(&mut self, ids: &[RoleId]) -> Result<Vec<Role>, StoreError>;

    /// The ids of the roles that hold this very pattern, in no particular order.
    async fn roles_with(&mut self, pattern: &PermissionPattern) -> Result<Vec<RoleId>, StoreError>;
}
