use async_trait::async_trait;
use iam_model::change::PermissionChange;
use iam_model::id::{PermissionId, TenantId};
use iam_model::page::{Page, PageRequest};
use iam_model::permission::{Permission, RegisteredPermission};
use iam_model::store::{PermissionStore, PermissionTransaction};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold, newest_first, page};

#[async_trait]
impl PermissionStore for MemoryStore {
    async fn permissions(
        &self,
        tenant: TenantId,
        request: PageRequest,
    ) -> Result<Page<RegisteredPermission>, StoreError> {
        let state = self.tenant_state(tenant);
        let mut found: Vec<&RegisteredPermission> = state.permissions.values().collect();
        newest_first(&mut found, |permission| (permission.created_at, permission.id));
        Ok(page(&found, request))
    }

    async fn permissions_about(&self, tenant: TenantId, resources: &[&str]) -> Result<Vec<Permission>, StoreError> {
        let state = self.tenant_state(tenant);
        let names = state.permissions.values().map(|permission| &permission.name);
        Ok(names.filter(|name| resources.contains(&name.resource())).cloned().collect())
    }
}

#[async_trait]
impl PermissionTransaction for MemoryTransaction {
    async fn permission(&mut self, id: PermissionId) -> Result<Option<RegisteredPermission>, StoreError> {
        Ok(self.draft.permissions.get(&id).cloned())
    }

    async fn permission_names(&mut self) -> Result<Vec<Permission>, StoreError> {
        Ok(self.draft.permissions.values().map(|permission| permission.name.clone()).collect())
    }

    async fn all_permissions(&mut self) -> Result<Vec<RegisteredPermission>, StoreError> {
        Ok(self.draft.permissions.values().cloned().collect())
    }
}

impl TenantState {
    pub(super) fn write_permission(&mut self, change: &PermissionChange) -> Result<(), StoreError> {
        match change {
            PermissionChange::CreateBuiltIn(permissions) => {
                permissions.iter().try_for_each(|permission| self.insert_permission(permission))
            }
            PermissionChange::Create { permission, .. } => self.insert_permission(permission),
            PermissionChange::Delete(permission) => {
                self.permissions.remove(&permission.id).map(drop).ok_or(StoreError::Missing("permission"))
            }
        }
    }

    fn insert_permission(&mut self, permission: &RegisteredPermission) -> Result<(), StoreError> {
        hold(Constraint::Reference, self.tenant.is_some())?;
        let is_free = self.permissions.values().all(|other| other.name != permission.name);
        hold(Constraint::PermissionName, is_free)?;
        self.permissions.insert(permission.id, permission.clone());
        Ok(())
    }
}
