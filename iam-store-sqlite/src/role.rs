use async_trait::async_trait;
use iam_model::change::RoleChange;
use iam_model::id::{RoleId, TenantId};
use iam_model::page::{Page, PageRequest};
use iam_model::permission::PermissionPattern;
use iam_model::role::Role;
use iam_model::store::{RoleStore, RoleTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::error::expect_row;
use iam_store_sql::page::{offset, page_of};
use sqlx::types::Json;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

pub(crate) type RoleRow = iam_store_sql::role::RoleRow<i64, Json<Vec<String>>>;

/// A role with its permissions. Inside a grant it comes as JSON.
/// Selects roles; the literal says which.
macro_rules! select_roles {
    ($which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            RoleRow,
            r#"
            SELECT
                r.tenant_id,
                r.id,
                r.name,
                r.description,
                r.scope,
                (
                    SELECT json_group_array(p.permission)
                    FROM role_permissions p
                    WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                ) AS "permissions!: _",
                r.system,
                r.created_at,
                r.updated_at
            FROM roles r
            "# + $which,
            $($argument),+
        )
    };
}

#[async_trait]
impl RoleStore for SqliteStore {
    async fn role(&self, tenant: TenantId, id: RoleId) -> Result<Option<Role>, StoreError> {
        let row = select_roles!("WHERE r.tenant_id = ?1 AND r.id = ?2", tenant.as_uuid(), id.as_uuid());
        row.fetch_optional(&self.readers).await.map_err(store_error)?.map(Role::try_from).transpose()
    }

    async fn role_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<Role>, StoreError> {
        let row = select_roles!("WHERE r.tenant_id = ?1 AND r.name = ?2", tenant.as_uuid(), name);
        row.fetch_optional(&self.readers).await.map_err(store_error)?.map(Role::try_from).transpose()
    }

    async fn roles(&self, tenant: TenantId, page: PageRequest) -> Result<Page<Role>, StoreError> {
        let total = sqlx::query_scalar!("SELECT count(*) FROM roles WHERE tenant_id = ?1", tenant.as_uuid());
        let total = total.fetch_one(&self.readers).await.map_err(store_error)?;
        let rows = select_roles!(
            "WHERE r.tenant_id = ?1 ORDER BY r.created_at DESC, r.id LIMIT ?2 + 0 OFFSET ?3",
            tenant.as_uuid(),
            page.limit(),
            offset(page)
        );
        page_of(rows.fetch_all(&self.readers).await.map_err(store_error)?, total, page)
    }
}

#[async_trait]
impl RoleTransaction for SqliteTransaction {
    async fn roles_by_id(&mut self, ids: &[RoleId]) -> Result<Vec<Role>, StoreError> {
        let rows = select_roles!(
            "WHERE r.tenant_id = ?1 AND r.id IN (SELECT unhex(value, '-') FROM json_each(?2))",
            self.tenant(),
            Json(ids)
        );
        rows.fetch_all(self.connection()).await.map_err(store_error)?.into_iter().map(Role::try_from).collect()
    }

    async fn roles_with(&mut self, pattern: &PermissionPattern) -> Result<Vec<RoleId>, StoreError> {
        let ids = sqlx::query_scalar!(
            "SELECT role_id FROM role_permissions WHERE tenant_id = ?1 AND permission = ?2",
            self.tenant(),
            pattern.as_str()
        );
        let ids = ids.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(ids.into_iter().map(RoleId::from).collect())
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_role(&mut self, change: &RoleChange) -> Result<(), StoreError> {
        match change {
            RoleChange::CreateBuiltIn(roles) => {
                for role in roles {
                    self.insert_role(role).await?;
                }
                Ok(())
            }
            RoleChange::Create { role, .. } => self.insert_role(role).await,
            RoleChange::Update { after, .. } => self.update_role(after).await,
            RoleChange::Delete(role) => self.delete_role(role.id).await,
        }
    }

    async fn insert_role(&mut self, role: &Role) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            INSERT INTO roles (tenant_id, id, name, description, scope, system, created_at, updated_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            "#,
            self.tenant(),
            role.id.as_uuid(),
            role.name.as_str(),
            role.description.as_str(),
            role.scope.as_str(),
            role.system,
            millis(role.created_at),
            millis(role.updated_at)
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        self.insert_role_permissions(role).await
    }

    async fn update_role(&mut self, role: &Role) -> Result<(), StoreError> {
        let updated = sqlx::query!(
            r#"
            UPDATE roles
            SET
                name = ?3,
                description = ?4,
                scope = ?5,
                updated_at = ?6
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            role.id.as_uuid(),
            role.name.as_str(),
            role.description.as_str(),
            role.scope.as_str(),
            millis(role.updated_at)
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        expect_row(updated.rows_affected(), "role")?;
        self.delete_role_permissions(role.id).await?;
        self.insert_role_permissions(role).await
    }

    async fn delete_role(&mut self, id: RoleId) -> Result<(), StoreError> {
        self.delete_role_permissions(id).await?;
        let deleted = sqlx::query!("DELETE FROM roles WHERE tenant_id = ?1 AND id = ?2", self.tenant(), id.as_uuid())
            .execute(self.connection())
            .await
            .map_err(store_error)?;
        expect_row(deleted.rows_affected(), "role")
    }

    async fn insert_role_permissions(&mut self, role: &Role) -> Result<(), StoreError> {
        let permissions: Vec<&str> = role.permissions.iter().map(PermissionPattern::as_str).collect();
        sqlx::query!(
            r#"
            INSERT INTO role_permissions (tenant_id, role_id, permission)
            SELECT ?1, ?2, value
            FROM json_each(?3)
            "#,
            self.tenant(),
            role.id.as_uuid(),
            Json(permissions)
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn delete_role_permissions(&mut self, role: RoleId) -> Result<(), StoreError> {
        sqlx::query!(
            "DELETE FROM role_permissions WHERE tenant_id = ?1 AND role_id = ?2",
            self.tenant(),
            role.as_uuid()
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }
}
