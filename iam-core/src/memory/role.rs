use async_trait::async_trait;

use super::{MemoryStore, TenantState, hold};
use crate::error::{Constraint, StoreError};
use crate::id::TenantId;
use crate::role::{Role, RoleChange, RoleStore};

#[async_trait]
impl RoleStore for MemoryStore {
    async fn role_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<Role>, StoreError> {
        Ok(self.tenant_state(tenant).roles.values().find(|role| role.name == name).cloned())
    }
}

impl TenantState {
    pub(super) fn write_role(&mut self, change: &RoleChange) -> Result<(), StoreError> {
        let RoleChange::CreateBuiltIn(roles) = change;
        for role in roles {
            hold(Constraint::RoleName, self.roles.values().all(|other| other.name != role.name))?;
            self.roles.insert(role.id, role.clone());
        }
        Ok(())
    }
}
