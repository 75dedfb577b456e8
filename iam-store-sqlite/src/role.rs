use std::slice;

use async_trait::async_trait;
use iam_model::change::RoleChange;
use iam_model::id::{RoleId, TenantId};
use iam_model::page::{Page, PageRequest};
use iam_model::permission::{Permission, PermissionPattern};
use iam_model::role::Role;
use iam_model::store::{RoleStore, RoleTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::RoleName;
use iam_store_sql::error::expect_row;
use iam_store_sql::page::{offset, page_of};
use sqlx::types::Json;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

pub(crate) type RoleRow = iam_store_sql::role::RoleRow<i64, Json<Vec<String>>>;

#[async_trait]
impl RoleStore for SqliteStore {
    async fn role(&self, tenant: TenantId, id: RoleId) -> Result<Option<Role>, StoreError> {
        let row = sqlx::query_as!(
            RoleRow,
            r#"
            SELECT
                r.tenant_id, r.id, r.name, r.description, r.scope,
                (
                    SELECT json_group_array(p.permission)
                    FROM role_permissions p
                    WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                ) AS "permissions!: _",
                r.system, r.created_at, r.updated_at, r.version
            FROM roles r
            WHERE r.tenant_id = ?1 AND r.id = ?2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Role::try_from).transpose()
    }

    async fn role_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<Role>, StoreError> {
        let row = sqlx::query_as!(
            RoleRow,
            r#"
            SELECT
                r.tenant_id, r.id, r.name, r.description, r.scope,
                (
                    SELECT json_group_array(p.permission)
                    FROM role_permissions p
                    WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                ) AS "permissions!: _",
                r.system, r.created_at, r.updated_at, r.version
            FROM roles r
            WHERE r.tenant_id = ?1 AND r.name = ?2
            "#,
            tenant.as_uuid(),
            name
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Role::try_from).transpose()
    }

    async fn roles_by_id(&self, tenant: TenantId, ids: &[RoleId]) -> Result<Vec<Role>, StoreError> {
        let ids = Json(ids.iter().map(|id| id.as_uuid()).collect::<Vec<_>>());
        let rows = sqlx::query_as!(
            RoleRow,
            r#"
            SELECT
                r.tenant_id, r.id, r.name, r.description, r.scope,
                (
                    SELECT json_group_array(p.permission)
                    FROM role_permissions p
                    WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                ) AS "permissions!: _",
                r.system, r.created_at, r.updated_at, r.version
            FROM roles r
            WHERE r.tenant_id = ?1 AND r.id IN (SELECT unhex(value, '-') FROM json_each(?2))
            "#,
            tenant.as_uuid(),
            &ids
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Role::try_from).collect()
    }

    async fn roles_allowing(&self, tenant: TenantId, permission: &Permission) -> Result<Vec<Role>, StoreError> {
        let [exact, whole, everything] = PermissionPattern::allowing(permission);
        let rows = sqlx::query_as!(
            RoleRow,
            r#"
            SELECT
                r.tenant_id, r.id, r.name, r.description, r.scope,
                (
                    SELECT json_group_array(p.permission)
                    FROM role_permissions p
                    WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                ) AS "permissions!: _",
                r.system, r.created_at, r.updated_at, r.version
            FROM roles r
            WHERE r.tenant_id = ?1 AND r.id IN (
                SELECT p.role_id FROM role_permissions p WHERE p.tenant_id = ?1 AND p.permission IN (?2, ?3, ?4)
            )
            "#,
            tenant.as_uuid(),
            exact.as_str(),
            whole.as_str(),
            everything.as_str()
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Role::try_from).collect()
    }

    async fn roles(&self, tenant: TenantId, page: PageRequest) -> Result<Page<Role>, StoreError> {
        let tenant = tenant.as_uuid();
        let (rows, total) = self
            .list(tenant, |source| async move {
                let total = sqlx::query_scalar!("SELECT count(*) FROM roles WHERE tenant_id = ?1", tenant);
                let total = total.fetch_one(&source).await?;
                let rows = sqlx::query_as!(
                    RoleRow,
                    r#"
                    SELECT
                        r.tenant_id, r.id, r.name, r.description, r.scope,
                        (
                            SELECT json_group_array(p.permission)
                            FROM role_permissions p
                            WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                        ) AS "permissions!: _",
                        r.system, r.created_at, r.updated_at, r.version
                    FROM roles r
                    WHERE r.tenant_id = ?1
                    ORDER BY r.created_at DESC, r.id
                    LIMIT ?2 + 0 OFFSET ?3
                    "#,
                    tenant,
                    i64::from(page.limit()),
                    offset(page)
                );
                Ok((rows.fetch_all(&source).await?, total))
            })
            .await?;
        page_of(rows, total, page)
    }
}

#[async_trait]
impl RoleTransaction for SqliteTransaction {
    async fn roles_by_id(&mut self, ids: &[RoleId]) -> Result<Vec<Role>, StoreError> {
        let ids = Json(ids.iter().map(|id| id.as_uuid()).collect::<Vec<_>>());
        let rows = sqlx::query_as!(
            RoleRow,
            r#"
            SELECT
                r.tenant_id, r.id, r.name, r.description, r.scope,
                (
                    SELECT json_group_array(p.permission)
                    FROM role_permissions p
                    WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                ) AS "permissions!: _",
                r.system, r.created_at, r.updated_at, r.version
            FROM roles r
            WHERE r.tenant_id = ?1 AND r.id IN (SELECT unhex(value, '-') FROM json_each(?2))
            "#,
            self.tenant(),
            &ids
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Role::try_from).collect()
    }

    async fn all_roles(&mut self) -> Result<Vec<Role>, StoreError> {
        let rows = sqlx::query_as!(
            RoleRow,
            r#"
            SELECT
                r.tenant_id, r.id, r.name, r.description, r.scope,
                (
                    SELECT json_group_array(p.permission)
                    FROM role_permissions p
                    WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                ) AS "permissions!: _",
                r.system, r.created_at, r.updated_at, r.version
            FROM roles r
            WHERE r.tenant_id = ?1
            "#,
            self.tenant()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Role::try_from).collect()
    }

    async fn is_role_name_taken(&mut self, name: &RoleName) -> Result<bool, StoreError> {
        let is_taken = sqlx::query_scalar!(
            r#"SELECT EXISTS (SELECT 1 FROM roles WHERE tenant_id = ?1 AND name = ?2) AS "exists!: bool""#,
            self.tenant(),
            name.as_str()
        );
        is_taken.fetch_one(self.connection()).await.map_err(store_error)
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
            RoleChange::CreateBuiltIn(roles) => self.insert_roles(roles).await,
            RoleChange::Create(role) => self.insert_roles(slice::from_ref(role)).await,
            RoleChange::Update { after, .. } => self.update_role(after).await,
            RoleChange::Delete(role) => self.delete_role(role.id).await,
        }
    }

    async fn insert_roles(&mut self, roles: &[Role]) -> Result<(), StoreError> {
        for role in roles {
            let insert = sqlx::query!(
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
            );
            self.execute(insert).await?;
        }
        self.insert_role_permissions(roles).await
    }

    async fn insert_role_permissions(&mut self, roles: &[Role]) -> Result<(), StoreError> {
        for role in roles {
            let permissions: Vec<&str> = role.permissions.iter().map(PermissionPattern::as_str).collect();
            let insert = sqlx::query!(
                "INSERT INTO role_permissions (tenant_id, role_id, permission) SELECT ?1, ?2, value FROM json_each(?3)",
                self.tenant(),
                role.id.as_uuid(),
                Json(permissions)
            );
            self.execute(insert).await?;
        }
        Ok(())
    }

    async fn update_role(&mut self, role: &Role) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE roles
            SET name = ?3, description = ?4, scope = ?5, updated_at = ?6, version = version + 1
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            role.id.as_uuid(),
            role.name.as_str(),
            role.description.as_str(),
            role.scope.as_str(),
            millis(role.updated_at)
        );
        expect_row(self.execute(update).await?, "role")?;
        self.delete_role_permissions(role.id).await?;
        self.insert_role_permissions(slice::from_ref(role)).await
    }

    async fn delete_role(&mut self, id: RoleId) -> Result<(), StoreError> {
        self.delete_role_permissions(id).await?;
        let delete = sqlx::query!("DELETE FROM roles WHERE tenant_id = ?1 AND id = ?2", self.tenant(), id.as_uuid());
        expect_row(self.execute(delete).await?, "role")
    }

    async fn delete_role_permissions(&mut self, id: RoleId) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            "DELETE FROM role_permissions WHERE tenant_id = ?1 AND role_id = ?2",
            self.tenant(),
            id.as_uuid()
        );
        self.execute(delete).await.map(drop)
    }
}
