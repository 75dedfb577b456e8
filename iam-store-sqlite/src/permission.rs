use iam_model::permission::RegisteredPermission;
use iam_model::store_error::StoreError;
use iam_store_sql::permission_ports;
use serde_json::json;
use sqlx::types::Json;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

permission_ports! {
    SqliteStore,
    SqliteTransaction,
    count: "SELECT count(*) FROM permissions WHERE tenant_id = ?1",
    page: "FROM permissions p WHERE p.tenant_id = ?1 ORDER BY p.created_at DESC, p.id LIMIT ?2 + 0 OFFSET ?3",
    by_id: "FROM permissions p WHERE p.tenant_id = ?1 AND p.id = ?2",
    names: "SELECT name FROM permissions WHERE tenant_id = ?1",
    delete: "DELETE FROM permissions WHERE tenant_id = ?1 AND id = ?2",
}

impl SqliteTransaction {
    async fn insert_permissions(&mut self, permissions: &[RegisteredPermission]) -> Result<(), StoreError> {
        let row = |permission: &RegisteredPermission| {
            json!({
                "id": permission.id,
                "name": permission.name.as_str(),
                "description": permission.description.as_str(),
                "system": permission.system,
                "created_at": millis(permission.created_at),
            })
        };
        let rows: Vec<_> = permissions.iter().map(row).collect();
        sqlx::query!(
            r#"
            INSERT INTO permissions (tenant_id, id, name, description, system, created_at)
            SELECT
                ?1,
                unhex(value ->> 'id', '-'),
                value ->> 'name',
                value ->> 'description',
                value ->> 'system',
                value ->> 'created_at'
            FROM json_each(?2)
            "#,
            self.tenant(),
            Json(rows)
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }
}
