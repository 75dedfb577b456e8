use chrono::{DateTime, Utc};
use iam_model::permission::RegisteredPermission;
use iam_model::store_error::StoreError;
use iam_store_sql::permission_ports;
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;
use crate::values::Row;

permission_ports! {
    PostgresStore,
    PostgresTransaction,
    count: r#"SELECT count(*) AS "count!" FROM iam.permissions WHERE tenant_id = $1"#,
    page: "FROM iam.permissions p WHERE p.tenant_id = $1 ORDER BY p.created_at DESC, p.id LIMIT $2 OFFSET $3",
    by_id: "FROM iam.permissions p WHERE p.tenant_id = $1 AND p.id = $2",
    names: "SELECT name FROM iam.permissions WHERE tenant_id = $1",
    delete: "DELETE FROM iam.permissions WHERE tenant_id = $1 AND id = $2",
}

impl PostgresTransaction {
    async fn insert_permissions(&mut self, permissions: &[RegisteredPermission]) -> Result<(), StoreError> {
        if self.is_distributed() {
            let tenant = self.tenant();
            let insert = "INSERT INTO iam.permissions (tenant_id, id, name, description, system, created_at) ";
            let push = |row: &mut Row<'_>, permission: RegisteredPermission| {
                row.push_bind(tenant).push_bind(permission.id.as_uuid()).push_bind(permission.name.to_string());
                row.push_bind(permission.description.to_string());
                row.push_bind(permission.system).push_bind(permission.created_at);
            };
            return self.insert_values(insert, permissions.to_vec(), push).await;
        }
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
}
