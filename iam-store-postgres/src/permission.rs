use async_trait::async_trait;
use chrono::{DateTime, Utc};
use iam_model::change::PermissionChange;
use iam_model::clock::Timestamp;
use iam_model::id::{PermissionId, TenantId};
use iam_model::page::{Page, PageRequest};
use iam_model::permission::{Permission, RegisteredPermission};
use iam_model::store::{PermissionStore, PermissionTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::column::parse;
use iam_store_sql::error::expect_row;
use iam_store_sql::page::{offset, page_of};
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

pub(crate) type PermissionRow = iam_store_sql::permission::PermissionRow<Timestamp>;

/// Selects entries of the catalogue; the literal says which.
macro_rules! select_permissions {
    ($which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            PermissionRow,
            r#"
            SELECT
                p.tenant_id,
                p.id,
                p.name,
                p.description,
                p.system,
                p.created_at
            FROM iam.permissions p
            "# + $which,
            $($argument),+
        )
    };
}

#[async_trait]
impl PermissionStore for PostgresStore {
    async fn permissions(&self, tenant: TenantId, page: PageRequest) -> Result<Page<RegisteredPermission>, StoreError> {
        let total = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM iam.permissions WHERE tenant_id = $1"#,
            tenant.as_uuid()
        );
        let total = self.answer(total.fetch_one(&self.source())).await?;
        let rows = select_permissions!(
            "WHERE p.tenant_id = $1 ORDER BY p.created_at DESC, p.id LIMIT $2 OFFSET $3",
            tenant.as_uuid(),
            i64::from(page.limit()),
            offset(page)
        );
        page_of(self.answer(rows.fetch_all(&self.source())).await?, total, page)
    }
}

#[async_trait]
impl PermissionTransaction for PostgresTransaction {
    async fn permission(&mut self, id: PermissionId) -> Result<Option<RegisteredPermission>, StoreError> {
        let row = select_permissions!("WHERE p.tenant_id = $1 AND p.id = $2", self.tenant(), id.as_uuid());
        row.fetch_optional(self.connection())
            .await
            .map_err(store_error)?
            .map(RegisteredPermission::try_from)
            .transpose()
    }

    async fn permission_names(&mut self) -> Result<Vec<Permission>, StoreError> {
        let names = sqlx::query_scalar!("SELECT name FROM iam.permissions WHERE tenant_id = $1", self.tenant());
        let names = names.fetch_all(self.connection()).await.map_err(store_error)?;
        names.iter().map(|name| parse("permissions.name", name)).collect()
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_permission(&mut self, change: &PermissionChange) -> Result<(), StoreError> {
        match change {
            PermissionChange::CreateBuiltIn(permissions) => self.insert_permissions(permissions).await,
            PermissionChange::Create { permission, .. } => {
                self.insert_permissions(std::slice::from_ref(permission)).await
            }
            PermissionChange::Delete(permission) => self.delete_permission(permission.id).await,
        }
    }

    async fn insert_permissions(&mut self, permissions: &[RegisteredPermission]) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = permissions.iter().map(|permission| permission.id.as_uuid()).collect();
        let names: Vec<String> = permissions.iter().map(|permission| permission.name.to_string()).collect();
        let descriptions: Vec<String> =
            permissions.iter().map(|permission| permission.description.to_string()).collect();
        let systems: Vec<bool> = permissions.iter().map(|permission| permission.system).collect();
        let created_at: Vec<DateTime<Utc>> = permissions.iter().map(|permission| permission.created_at).collect();
        sqlx::query!(
            r#"
            INSERT INTO iam.permissions (tenant_id, id, name, description, system, created_at)
            SELECT $1, *
            FROM unnest($2::uuid[], $3::text[], $4::text[], $5::boolean[], $6::timestamptz[])
            "#,
            self.tenant(),
            &ids,
            &names,
            &descriptions,
            &systems,
            &created_at
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn delete_permission(&mut self, id: PermissionId) -> Result<(), StoreError> {
        let deleted =
            sqlx::query!("DELETE FROM iam.permissions WHERE tenant_id = $1 AND id = $2", self.tenant(), id.as_uuid())
                .execute(self.connection())
                .await
                .map_err(store_error)?;
        expect_row(deleted.rows_affected(), "permission")
    }
}
