use std::slice;

use async_trait::async_trait;
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
use iam_store_sql::permission::PermissionRow;

use crate::PostgresStore;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type Row = PermissionRow<Timestamp>;

#[async_trait]
impl PermissionStore for PostgresStore {
    async fn permissions(&self, tenant: TenantId, page: PageRequest) -> Result<Page<RegisteredPermission>, StoreError> {
        let tenant = tenant.as_uuid();
        let (rows, total) = self
            .list(tenant, |source| async move {
                let total = sqlx::query_scalar!(
                    r#"SELECT count(*) AS "count!" FROM iam.permissions WHERE tenant_id = $1"#,
                    tenant
                );
                let total = total.fetch_one(&source).await?;
                let rows = sqlx::query_as!(
                    Row,
                    r#"
                    SELECT p.tenant_id, p.id, p.name, p.description, p.system, p.created_at
                    FROM iam.permissions p
                    WHERE p.tenant_id = $1
                    ORDER BY p.created_at DESC, p.id
                    LIMIT $2 OFFSET $3
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

    async fn permissions_about(&self, tenant: TenantId, resources: &[&str]) -> Result<Vec<Permission>, StoreError> {
        let resources: Vec<String> = resources.iter().map(|resource| (*resource).to_owned()).collect();
        let names = sqlx::query_scalar!(
            r#"
            SELECT p.name
            FROM iam.permissions p
            WHERE p.tenant_id = $1 AND split_part(p.name, ':', 1) = ANY($2)
            "#,
            tenant.as_uuid(),
            &resources
        );
        let names = self.answer(names.fetch_all(&self.reads_of(tenant))).await?;
        names.iter().map(|name| parse("permissions.name", name)).collect()
    }
}

#[async_trait]
impl PermissionTransaction for PostgresTransaction {
    async fn permission(&mut self, id: PermissionId) -> Result<Option<RegisteredPermission>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT p.tenant_id, p.id, p.name, p.description, p.system, p.created_at
            FROM iam.permissions p
            WHERE p.tenant_id = $1 AND p.id = $2
            "#,
            self.tenant(),
            id.as_uuid()
        );
        let row = row.fetch_optional(self.connection()).await.map_err(store_error)?;
        row.map(RegisteredPermission::try_from).transpose()
    }

    async fn permission_names(&mut self) -> Result<Vec<Permission>, StoreError> {
        let names = sqlx::query_scalar!("SELECT name FROM iam.permissions WHERE tenant_id = $1", self.tenant());
        let names = names.fetch_all(self.connection()).await.map_err(store_error)?;
        names.iter().map(|name| parse("permissions.name", name)).collect()
    }

    async fn all_permissions(&mut self) -> Result<Vec<RegisteredPermission>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT p.tenant_id, p.id, p.name, p.description, p.system, p.created_at
            FROM iam.permissions p
            WHERE p.tenant_id = $1
            "#,
            self.tenant()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(RegisteredPermission::try_from).collect()
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_permission(&mut self, change: &PermissionChange) -> Result<(), StoreError> {
        match change {
            PermissionChange::CreateBuiltIn(permissions) => self.insert_permissions(permissions).await,
            PermissionChange::Create { permission, .. } => self.insert_permissions(slice::from_ref(permission)).await,
            PermissionChange::Delete(permission) => self.delete_permission(permission.id).await,
        }
    }

    async fn insert_permissions(&mut self, permissions: &[RegisteredPermission]) -> Result<(), StoreError> {
        let tenant = self.tenant();
        let insert = "INSERT INTO iam.permissions (tenant_id, id, name, description, system, created_at) ";
        self.insert_values(insert, permissions.to_vec(), |row, permission| {
            row.push_bind(tenant).push_bind(permission.id.as_uuid()).push_bind(permission.name.to_string());
            row.push_bind(permission.description.to_string());
            row.push_bind(permission.system).push_bind(permission.created_at);
        })
        .await
    }

    async fn delete_permission(&mut self, id: PermissionId) -> Result<(), StoreError> {
        let delete =
            sqlx::query!("DELETE FROM iam.permissions WHERE tenant_id = $1 AND id = $2", self.tenant(), id.as_uuid());
        expect_row(self.execute(delete).await?, "permission")
    }
}
