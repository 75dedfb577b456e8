use async_trait::async_trait;
use chrono::{DateTime, Utc};
use iam_model::change::RoleChange;
use iam_model::clock::Timestamp;
use iam_model::id::{RoleId, TenantId};
use iam_model::page::{Page, PageRequest};
use iam_model::permission::PermissionPattern;
use iam_model::role::Role;
use iam_model::store::{RoleStore, RoleTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::error::expect_row;
use iam_store_sql::page::{offset, page_of};
use uuid::Uuid;

use crate::PostgresStore;
use crate::column::is_storable;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

pub(crate) type RoleRow = iam_store_sql::role::RoleRow<Timestamp, Vec<String>>;

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
                ARRAY(
                    SELECT p.permission
                    FROM iam.role_permissions p
                    WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                ) AS "permissions!",
                r.system,
                r.created_at,
                r.updated_at
            FROM iam.roles r
            "# + $which,
            $($argument),+
        )
    };
}

#[async_trait]
impl RoleStore for PostgresStore {
    async fn role(&self, tenant: TenantId, id: RoleId) -> Result<Option<Role>, StoreError> {
        let row = select_roles!("WHERE r.tenant_id = $1 AND r.id = $2", tenant.as_uuid(), id.as_uuid());
        self.answer(row.fetch_optional(&self.source())).await?.map(Role::try_from).transpose()
    }

    async fn role_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<Role>, StoreError> {
        if !is_storable(name) {
            return Ok(None);
        }
        let row = select_roles!("WHERE r.tenant_id = $1 AND r.name = $2", tenant.as_uuid(), name);
        self.answer(row.fetch_optional(&self.source())).await?.map(Role::try_from).transpose()
    }

    async fn roles(&self, tenant: TenantId, page: PageRequest) -> Result<Page<Role>, StoreError> {
        let total =
            sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM iam.roles WHERE tenant_id = $1"#, tenant.as_uuid());
        let total = self.answer(total.fetch_one(&self.source())).await?;
        let rows = select_roles!(
            "WHERE r.tenant_id = $1 ORDER BY r.created_at DESC, r.id LIMIT $2 OFFSET $3",
            tenant.as_uuid(),
            i64::from(page.limit()),
            offset(page)
        );
        page_of(self.answer(rows.fetch_all(&self.source())).await?, total, page)
    }
}

#[async_trait]
impl RoleTransaction for PostgresTransaction {
    async fn roles_by_id(&mut self, ids: &[RoleId]) -> Result<Vec<Role>, StoreError> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.as_uuid()).collect();
        let rows = select_roles!("WHERE r.tenant_id = $1 AND r.id = ANY($2)", self.tenant(), &ids);
        rows.fetch_all(self.connection()).await.map_err(store_error)?.into_iter().map(Role::try_from).collect()
    }

    async fn roles_with(&mut self, pattern: &PermissionPattern) -> Result<Vec<RoleId>, StoreError> {
        let ids = sqlx::query_scalar!(
            "SELECT role_id FROM iam.role_permissions WHERE tenant_id = $1 AND permission = $2",
            self.tenant(),
            pattern.as_str()
        );
        let ids = ids.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(ids.into_iter().map(RoleId::from).collect())
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_role(&mut self, change: &RoleChange) -> Result<(), StoreError> {
        match change {
            RoleChange::CreateBuiltIn(roles) => self.insert_roles(roles).await,
            RoleChange::Create { role, .. } => self.insert_roles(std::slice::from_ref(role)).await,
            RoleChange::Update { after, .. } => self.update_role(after).await,
            RoleChange::Delete(role) => self.delete_role(role.id).await,
        }
    }

    async fn insert_roles(&mut self, roles: &[Role]) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = roles.iter().map(|role| role.id.as_uuid()).collect();
        let names: Vec<String> = roles.iter().map(|role| role.name.to_string()).collect();
        let descriptions: Vec<String> = roles.iter().map(|role| role.description.to_string()).collect();
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
        self.insert_role_permissions(roles).await
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

    async fn update_role(&mut self, role: &Role) -> Result<(), StoreError> {
        let updated = sqlx::query!(
            r#"
            UPDATE iam.roles
            SET
                name = $3,
                description = $4,
                scope = $5,
                updated_at = $6
            WHERE tenant_id = $1 AND id = $2
            "#,
            self.tenant(),
            role.id.as_uuid(),
            role.name.as_str(),
            role.description.as_str(),
            role.scope.as_str(),
            role.updated_at
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        expect_row(updated.rows_affected(), "role")?;
        self.delete_role_permissions(role.id).await?;
        self.insert_role_permissions(std::slice::from_ref(role)).await
    }

    async fn delete_role(&mut self, id: RoleId) -> Result<(), StoreError> {
        self.delete_role_permissions(id).await?;
        let deleted =
            sqlx::query!("DELETE FROM iam.roles WHERE tenant_id = $1 AND id = $2", self.tenant(), id.as_uuid())
                .execute(self.connection())
                .await
                .map_err(store_error)?;
        expect_row(deleted.rows_affected(), "role")
    }

    async fn delete_role_permissions(&mut self, id: RoleId) -> Result<(), StoreError> {
        sqlx::query!(
            "DELETE FROM iam.role_permissions WHERE tenant_id = $1 AND role_id = $2",
            self.tenant(),
            id.as_uuid()
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }
}
