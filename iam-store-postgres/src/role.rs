use async_trait::async_trait;
use chrono::{DateTime, Utc};
use iam_core::role::{Role, RoleChange, RoleStore};
use iam_core::{StoreError, TenantId};
use uuid::Uuid;

use crate::PostgresStore;
use crate::column::{is_storable, parse};
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

pub(crate) struct RoleRow {
    pub(crate) tenant_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) scope: String,
    pub(crate) permissions: Vec<String>,
    pub(crate) system: bool,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
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
            permissions: row.permissions.iter().map(permission).collect::<Result<_, _>>()?,
            system: row.system,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

#[async_trait]
impl RoleStore for PostgresStore {
    async fn role_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<Role>, StoreError> {
        if !is_storable(name) {
            return Ok(None);
        }
        let row = sqlx::query_as!(
            RoleRow,
            r#"
            SELECT
                r.tenant_id,
                r.id,
                r.name,
                r.description,
                r.scope,
                ARRAY(
                    SELECT p.permission
                    FROM iam.role_permissions p
                    WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                    ORDER BY p.permission
                ) AS "permissions!",
                r.system,
                r.created_at,
                r.updated_at
            FROM iam.roles r
            WHERE r.tenant_id = $1 AND r.name = $2
            "#,
            tenant.as_uuid(),
            name
        );
        row.fetch_optional(&self.pool).await.map_err(store_error)?.map(Role::try_from).transpose()
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_role(&mut self, change: &RoleChange) -> Result<(), StoreError> {
        match change {
            RoleChange::CreateBuiltIn(roles) => {
                self.insert_roles(roles).await?;
                self.insert_role_permissions(roles).await
            }
        }
    }

    async fn insert_roles(&mut self, roles: &[Role]) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = roles.iter().map(|role| role.id.as_uuid()).collect();
        let names: Vec<String> = roles.iter().map(|role| role.name.clone()).collect();
        let descriptions: Vec<String> = roles.iter().map(|role| role.description.clone()).collect();
        let scopes: Vec<String> = roles.iter().map(|role| role.scope.to_string()).collect();
        let systems: Vec<bool> = roles.iter().map(|role| role.system).collect();
        let created_at: Vec<DateTime<Utc>> = roles.iter().map(|role| role.created_at).collect();
        let updated_at: Vec<DateTime<Utc>> = roles.iter().map(|role| role.updated_at).collect();
        sqlx::query!(
            r#"
            INSERT INTO iam.roles (tenant_id, id, name, description, scope, system, created_at, updated_at)
            SELECT $1, *
            FROM unnest(
                $2::uuid[],
                $3::text[],
                $4::text[],
                $5::text[],
                $6::boolean[],
                $7::timestamptz[],
                $8::timestamptz[]
            )
            "#,
            self.tenant(),
            &ids,
            &names,
            &descriptions,
            &scopes,
            &systems,
            &created_at,
            &updated_at
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn insert_role_permissions(&mut self, roles: &[Role]) -> Result<(), StoreError> {
        let held = roles.iter().flat_map(|role| role.permissions.iter().map(|permission| (role.id, permission)));
        let (ids, permissions): (Vec<Uuid>, Vec<String>) =
            held.map(|(role, permission)| (role.as_uuid(), permission.as_str().to_owned())).unzip();
        sqlx::query!(
            r#"
            INSERT INTO iam.role_permissions (tenant_id, role_id, permission)
            SELECT $1, *
            FROM unnest($2::uuid[], $3::text[])
            "#,
            self.tenant(),
            &ids,
            &permissions
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }
}
