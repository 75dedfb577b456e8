use async_trait::async_trait;
use iam_model::change::PermissionChange;
use iam_model::id::{PermissionId, TenantId};
use iam_model::page::{Page, PageRequest};
use iam_model::permission::{Permission, RegisteredPermission};
use iam_model::store::{PermissionStore, PermissionTransaction};
use iam_model::store_error::{Constraint, StoreError};

use super::rows::{Draft, Row, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold, newest_first, page};

impl Row for RegisteredPermission {
    const TABLE: &'static str = "permissions";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

#[async_trait]
impl PermissionStore for RedbStore {
    async fn permissions(
        &self,
        tenant: TenantId,
        request: PageRequest,
    ) -> Result<Page<RegisteredPermission>, StoreError> {
        let found = self.read(tenant, |view| view.all::<RegisteredPermission>())?;
        Ok(page(newest_first(found, |permission| (permission.created_at, permission.id)), request))
    }

    async fn permissions_about(&self, tenant: TenantId, resources: &[&str]) -> Result<Vec<Permission>, StoreError> {
        let is_about = |permission: &RegisteredPermission| resources.contains(&permission.name.resource());
        let found = self.read(tenant, |view| view.select(is_about))?;
        Ok(found.into_iter().map(|permission| permission.name).collect())
    }
}

#[async_trait]
impl PermissionTransaction for RedbTransaction {
    async fn permission(&mut self, id: PermissionId) -> Result<Option<RegisteredPermission>, StoreError> {
        self.view().get(&key(id))
    }

    async fn permission_names(&mut self) -> Result<Vec<Permission>, StoreError> {
        let found = self.view().all::<RegisteredPermission>()?;
        Ok(found.into_iter().map(|permission| permission.name).collect())
    }

    async fn all_permissions(&mut self) -> Result<Vec<RegisteredPermission>, StoreError> {
        self.view().all()
    }
}

impl Draft<'_> {
    pub(super) fn write_permission(self, change: &PermissionChange) -> Result<(), StoreError> {
        match change {
            PermissionChange::CreateBuiltIn(permissions) => {
                permissions.iter().try_for_each(|permission| self.insert_permission(permission))
            }
            PermissionChange::Create { permission, .. } => self.insert_permission(permission),
            PermissionChange::Delete(permission) => {
                let removed = self.remove::<RegisteredPermission>(&key(permission.id))?;
                removed.then_some(()).ok_or(StoreError::Missing("permission"))
            }
        }
    }

    fn insert_permission(self, permission: &RegisteredPermission) -> Result<(), StoreError> {
        self.hold_tenant()?;
        let is_taken = self.view().any(|other: &RegisteredPermission| other.name == permission.name)?;
        hold(Constraint::PermissionName, !is_taken)?;
        self.put(permission.clone())
    }
}
