use async_trait::async_trait;
use iam_core::role::{Role, RoleChange, RoleStore};
use iam_core::{StoreError, TenantId};
use sqlx::types::Json;
use uuid::Uuid;

use crate::SqliteStore;
use crate::column::{millis, moment, parse};
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

pub(crate) struct RoleRow {
    pub(crate) tenant_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) scope: String,
    pub(crate) permissions: Json<Vec<String>>,
    pub(crate) system: bool,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl TryFrom<RoleRow> for Role {
    type Error = StoreError;

    fn try_from(row: RoleRow) -> Result<Self, StoreError> {
        let permission = |text: &String| parse("role_permissions.permission", text);
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            name: row.name,
            description: row.description,
            scope: parse("roles.scope", &row.scope)?,
            permissions: row.permissions.0.iter().map(permission).collect::<Result<_, _>>()?,
            system: row.system,
            created_at: moment("roles.created_at", row.created_at)?,
            updated_at: moment("roles.updated_at", row.updated_at)?,
        })
    }
}

#[async_trait]
impl RoleStore for SqliteStore {
    async fn role_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<Role>, StoreError> {
        let row = sqlx::query_as!(
            RoleRow,
            r#"
            SELECT
                r.tenant_id,
                r.id,
                r.name,
                r.description,
                r.scope,
                (
                    SELECT json_group_array(p.permission ORDER BY p.permission)
                    FROM role_permissions p
                    WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                ) AS "permissions!: Json<Vec<String>>",
                r.system,
                r.created_at,
                r.updated_at
            FROM roles r
            WHERE r.tenant_id = ?1 AND r.name = ?2
            "#,
            tenant.as_uuid(),
            name
        );
        row.fetch_optional(&self.readers).await.map_err(store_error)?.map(Role::try_from).transpose()
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_role(&mut self, change: &RoleChange) -> Result<(), StoreError> {
        match change {
            RoleChange::CreateBuiltIn(roles) => {
                for role in roles {
                    self.insert_role(role).await?;
                    self.insert_role_permissions(role).await?;
                }
                Ok(())
            }
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
            role.name,
            role.description,
            role.scope.as_str(),
            role.system,
            millis(role.created_at),
            millis(role.updated_at)
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn insert_role_permissions(&mut self, role: &Role) -> Result<(), StoreError> {
        for permission in &role.permissions {
            sqlx::query!(
                "INSERT INTO role_permissions (tenant_id, role_id, permission) VALUES (?1, ?2, ?3)",
                self.tenant(),
                role.id.as_uuid(),
                permission.as_str()
            )
            .execute(self.connection())
            .await
            .map_err(store_error)?;
        }
        Ok(())
    }
}
