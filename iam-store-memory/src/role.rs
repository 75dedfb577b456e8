use std::sync::Arc;

use async_trait::async_trait;
use iam_model::change::RoleChange;
use iam_model::id::{RoleId, TenantId};
use iam_model::page::{Page, PageRequest};
use iam_model::permission::{Permission, PermissionPattern};
use iam_model::role::Role;
use iam_model::store::{RoleStore, RoleTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::validate::RoleName;

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold, newest_first, page};

#[async_trait]
impl RoleStore for MemoryStore {
    async fn role(&self, tenant: TenantId, id: RoleId) -> Result<Option<Role>, StoreError> {
        Ok(self.tenant_state(tenant).roles.get(&id).map(|role| Role::clone(role)))
    }

    async fn role_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<Role>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(state.roles.values().find(|role| role.name.as_str() == name).map(|role| Role::clone(role)))
    }

    async fn roles_by_id(&self, tenant: TenantId, ids: &[RoleId]) -> Result<Vec<Role>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(state.roles.values().filter(|role| ids.contains(&role.id)).map(|role| Role::clone(role)).collect())
    }

    async fn roles_allowing(&self, tenant: TenantId, permission: &Permission) -> Result<Vec<Role>, StoreError> {
        let state = self.tenant_state(tenant);
        let allows = |role: &&Arc<Role>| role.permissions.allows(permission);
        Ok(state.roles.values().filter(allows).map(|role| Role::clone(role)).collect())
    }

    async fn roles(&self, tenant: TenantId, request: PageRequest) -> Result<Page<Role>, StoreError> {
        let state = self.tenant_state(tenant);
        let mut found: Vec<&Role> = state.roles.values().map(Arc::as_ref).collect();
        newest_first(&mut found, |role| (role.created_at, role.id));
        Ok(page(&found, request))
    }
}

#[async_trait]
impl RoleTransaction for MemoryTransaction {
    async fn roles_by_id(&mut self, ids: &[RoleId]) -> Result<Vec<Role>, StoreError> {
        let found = self.draft.roles.values().filter(|role| ids.contains(&role.id));
        Ok(found.map(|role| Role::clone(role)).collect())
    }

    async fn all_roles(&mut self) -> Result<Vec<Role>, StoreError> {
        Ok(self.draft.roles.values().map(|role| Role::clone(role)).collect())
    }

    async fn is_role_name_taken(&mut self, name: &RoleName) -> Result<bool, StoreError> {
        Ok(self.draft.roles.values().any(|role| role.name == *name))
    }

    async fn roles_with(&mut self, pattern: &PermissionPattern) -> Result<Vec<RoleId>, StoreError> {
        let holds = |role: &&Arc<Role>| role.permissions.iter().any(|held| held == pattern);
        Ok(self.draft.roles.values().filter(holds).map(|role| role.id).collect())
    }
}

impl TenantState {
    pub(super) fn write_role(&mut self, change: &RoleChange) -> Result<(), StoreError> {
        match change {
            RoleChange::CreateBuiltIn(roles) => roles.iter().try_for_each(|role| self.put_role(role.clone())),
            RoleChange::Create(role) => self.put_role(role.clone()),
            RoleChange::Update { after, .. } => {
                let version = self.stored_role(after.id)?.version.next();
                self.put_role(Role { version, ..after.clone() })
            }
            RoleChange::Delete(role) => {
                self.stored_role(role.id)?;
                let is_held = self.assignments.values().any(|assignment| assignment.role_id == role.id);
                let is_named = self.eligibilities.values().any(|eligibility| eligibility.names_role(role.id));
                hold(Constraint::Reference, !is_held && !is_named)?;
                self.roles.remove(&role.id);
                Ok(())
            }
        }
    }

    fn stored_role(&self, id: RoleId) -> Result<&Role, StoreError> {
        self.roles.get(&id).map(Arc::as_ref).ok_or(StoreError::Missing("role"))
    }

    fn put_role(&mut self, role: Role) -> Result<(), StoreError> {
        hold(Constraint::Reference, self.tenant.is_some())?;
        let has_name = |other: &Arc<Role>| other.id != role.id && other.name == role.name;
        hold(Constraint::RoleName, !self.roles.values().any(has_name))?;
        self.roles.insert(role.id, Arc::new(role));
        Ok(())
    }
}
