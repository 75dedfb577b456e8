use async_trait::async_trait;
use iam_model::assignment::Assignment;
use iam_model::change::RoleChange;
use iam_model::eligibility::Eligibility;
use iam_model::id::{RoleId, TenantId};
use iam_model::page::{Page, PageRequest};
use iam_model::permission::{Permission, PermissionPattern};
use iam_model::role::Role;
use iam_model::store::{RoleStore, RoleTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::validate::RoleName;

use super::rows::{Draft, Row, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold, newest_first, page};

impl Row for Role {
    const TABLE: &'static str = "roles";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

#[async_trait]
impl RoleStore for RedbStore {
    async fn role(&self, tenant: TenantId, id: RoleId) -> Result<Option<Role>, StoreError> {
        self.read(tenant, |view| view.get(&key(id)))
    }

    async fn role_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<Role>, StoreError> {
        Ok(self.read(tenant, |view| view.select(|role: &Role| role.name.as_str() == name))?.pop())
    }

    async fn roles_by_id(&self, tenant: TenantId, ids: &[RoleId]) -> Result<Vec<Role>, StoreError> {
        self.read(tenant, |view| view.select(|role: &Role| ids.contains(&role.id)))
    }

    async fn roles_allowing(&self, tenant: TenantId, permission: &Permission) -> Result<Vec<Role>, StoreError> {
        self.read(tenant, |view| view.select(|role: &Role| role.permissions.allows(permission)))
    }

    async fn roles(&self, tenant: TenantId, request: PageRequest) -> Result<Page<Role>, StoreError> {
        let found = self.read(tenant, |view| view.all::<Role>())?;
        Ok(page(newest_first(found, |role| (role.created_at, role.id)), request))
    }
}

#[async_trait]
impl RoleTransaction for RedbTransaction {
    async fn roles_by_id(&mut self, ids: &[RoleId]) -> Result<Vec<Role>, StoreError> {
        self.view().select(|role: &Role| ids.contains(&role.id))
    }

    async fn all_roles(&mut self) -> Result<Vec<Role>, StoreError> {
        self.view().all()
    }

    async fn is_role_name_taken(&mut self, name: &RoleName) -> Result<bool, StoreError> {
        self.view().any(|role: &Role| role.name == *name)
    }

    async fn roles_with(&mut self, pattern: &PermissionPattern) -> Result<Vec<RoleId>, StoreError> {
        let found = self.view().select(|role: &Role| role.permissions.iter().any(|held| held == pattern))?;
        Ok(found.into_iter().map(|role| role.id).collect())
    }
}

impl Draft<'_> {
    pub(super) fn write_role(self, change: &RoleChange) -> Result<(), StoreError> {
        match change {
            RoleChange::CreateBuiltIn(roles) => roles.iter().try_for_each(|role| self.put_role(role.clone())),
            RoleChange::Create(role) => self.put_role(role.clone()),
            RoleChange::Update { after, .. } => {
                let version = self.stored_role(after.id)?.version.next();
                self.put_role(Role { version, ..after.clone() })
            }
            RoleChange::Delete(role) => {
                self.stored_role(role.id)?;
                let is_held = self.view().any(|assignment: &Assignment| assignment.role_id == role.id)?;
                let is_named = self.view().any(|eligibility: &Eligibility| eligibility.names_role(role.id))?;
                hold(Constraint::Reference, !is_held && !is_named)?;
                self.remove::<Role>(&key(role.id)).map(drop)
            }
        }
    }

    fn stored_role(self, id: RoleId) -> Result<Role, StoreError> {
        self.view().get(&key(id))?.ok_or(StoreError::Missing("role"))
    }

    fn put_role(self, role: Role) -> Result<(), StoreError> {
        self.hold_tenant()?;
        let is_taken = self.view().any(|other: &Role| other.id != role.id && other.name == role.name)?;
        hold(Constraint::RoleName, !is_taken)?;
        self.put(role)
    }
}
