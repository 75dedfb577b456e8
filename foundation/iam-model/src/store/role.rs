use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::id::{RoleId, TenantId};
use crate::page::{Page, PageRequest};
use crate::permission::{Permission, PermissionPattern};
use crate::role::Role;
use crate::store::observed::observed;
use crate::store_error::StoreError;
use crate::validate::RoleName;

/// Reads roles.
#[apply(observed)]
#[async_trait]
pub trait RoleStore {
    /// Returns one role.
    async fn role(&self, tenant: TenantId, id: RoleId) -> Result<Option<Role>, StoreError>;

    /// Returns the role with this name.
    async fn role_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<Role>, StoreError>;

    /// Returns the roles with these ids, in no particular order. Ids without a role are left out.
    async fn roles_by_id(&self, tenant: TenantId, ids: &[RoleId]) -> Result<Vec<Role>, StoreError>;

    /// Returns the roles that contain one of the [patterns that allow](PermissionPattern::allowing) a permission, in no
    /// particular order.
    async fn roles_allowing(&self, tenant: TenantId, permission: &Permission) -> Result<Vec<Role>, StoreError>;

    /// Returns a page of the roles, newest first, then by id, with the exact count of all roles.
    async fn roles(&self, tenant: TenantId, page: PageRequest) -> Result<Page<Role>, StoreError>;
}

/// Reads roles inside a unit of work.
///
/// Roles change only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant). While the unit of work
/// holds this lock, the results of these reads stay valid.
#[apply(observed)]
#[async_trait]
pub trait RoleTransaction {
    /// Returns the roles with these ids, in no particular order. Ids without a role are left out.
    async fn roles_by_id(&mut self, ids: &[RoleId]) -> Result<Vec<Role>, StoreError>;

    /// Returns all roles, in no particular order.
    async fn all_roles(&mut self) -> Result<Vec<Role>, StoreError>;

    /// Whether a role has this name.
    async fn is_role_name_taken(&mut self, name: &RoleName) -> Result<bool, StoreError>;

    /// Returns the ids of the roles that contain exactly this pattern, in no particular order.
    async fn roles_with(&mut self, pattern: &PermissionPattern) -> Result<Vec<RoleId>, StoreError>;
}
