use iam_model::permission::PermissionPattern;
use iam_model::role::Role;
use iam_model::store_error::StoreError;
use iam_store_sql::role_ports;
use sqlx::types::Json;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

pub(crate) type RoleRow = iam_store_sql::role::RoleRow<i64, Json<Vec<String>>>;

role_ports! {
    SqliteStore,
    SqliteTransaction,
    permissions: r#"
        (
            SELECT json_group_array(p.permission)
            FROM role_permissions p
            WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
        ) AS "permissions!: _"
    "#,
    by_id: "FROM roles r WHERE r.tenant_id = ?1 AND r.id = ?2",
    by_name: "FROM roles r WHERE r.tenant_id = ?1 AND r.name = ?2",
    by_ids: "FROM roles r WHERE r.tenant_id = ?1 AND r.id IN (SELECT unhex(value, '-') FROM json_each(?2))",
    allowing: r#"
        FROM roles r
        WHERE r.tenant_id = ?1 AND r.id IN (
            SELECT p.role_id FROM role_permissions p WHERE p.tenant_id = ?1 AND p.permission IN (?2, ?3, ?4)
        )
    "#,
    is_name_taken: r#"SELECT EXISTS (SELECT 1 FROM roles WHERE tenant_id = ?1 AND name = ?2) AS "exists!: bool""#,
    count: "SELECT count(*) FROM roles WHERE tenant_id = ?1",
    page: "FROM roles r WHERE r.tenant_id = ?1 ORDER BY r.created_at DESC, r.id LIMIT ?2 + 0 OFFSET ?3",
    with_permission: "SELECT role_id FROM role_permissions WHERE tenant_id = ?1 AND permission = ?2",
    update: r#"
        UPDATE roles
        SET name = ?3, description = ?4, scope = ?5, updated_at = ?6, version = version + 1
        WHERE tenant_id = ?1 AND id = ?2
    "#,
    delete: "DELETE FROM roles WHERE tenant_id = ?1 AND id = ?2",
    delete_permissions: "DELETE FROM role_permissions WHERE tenant_id = ?1 AND role_id = ?2",
}

impl SqliteTransaction {
    async fn insert_roles(&mut self, roles: &[Role]) -> Result<(), StoreError> {
        for role in roles {
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
        }
        self.insert_role_permissions(roles).await
    }

    async fn insert_role_permissions(&mut self, roles: &[Role]) -> Result<(), StoreError> {
        for role in roles {
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
        }
        Ok(())
    }
}
