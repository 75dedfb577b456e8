use chrono::{DateTime, Utc};
use iam_model::clock::Timestamp;
use iam_model::role::Role;
use iam_model::store_error::StoreError;
use iam_store_sql::role_ports;
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;
use crate::values::Row;

pub(crate) type RoleRow = iam_store_sql::role::RoleRow<Timestamp, Vec<String>>;

role_ports! {
    PostgresStore,
    PostgresTransaction,
    permissions: r#"
        ARRAY(
            SELECT p.permission
            FROM iam.role_permissions p
            WHERE p.tenant_id = $1 AND p.role_id = r.id
        ) AS "permissions!"
    "#,
    by_id: "FROM iam.roles r WHERE r.tenant_id = $1 AND r.id = $2",
    by_name: "FROM iam.roles r WHERE r.tenant_id = $1 AND r.name = $2",
    by_ids: "FROM iam.roles r WHERE r.tenant_id = $1 AND r.id = ANY($2)",
    allowing: r#"
        FROM iam.roles r
        WHERE r.tenant_id = $1 AND r.id IN (
            SELECT p.role_id FROM iam.role_permissions p WHERE p.tenant_id = $1 AND p.permission IN ($2, $3, $4)
        )
    "#,
    is_name_taken: r#"SELECT EXISTS (SELECT FROM iam.roles WHERE tenant_id = $1 AND name = $2) AS "exists!""#,
    count: r#"SELECT count(*) AS "count!" FROM iam.roles WHERE tenant_id = $1"#,
    page: "FROM iam.roles r WHERE r.tenant_id = $1 ORDER BY r.created_at DESC, r.id LIMIT $2 OFFSET $3",
    with_permission: "SELECT role_id FROM iam.role_permissions WHERE tenant_id = $1 AND permission = $2",
    update: r#"
        UPDATE iam.roles
        SET name = $3, description = $4, scope = $5, updated_at = $6, version = version + 1
        WHERE tenant_id = $1 AND id = $2
    "#,
    delete: "DELETE FROM iam.roles WHERE tenant_id = $1 AND id = $2",
    delete_permissions: "DELETE FROM iam.role_permissions WHERE tenant_id = $1 AND role_id = $2",
}

impl PostgresTransaction {
    async fn insert_roles(&mut self, roles: &[Role]) -> Result<(), StoreError> {
        if self.is_distributed() {
            let tenant = self.tenant();
            let insert = "
                INSERT INTO iam.roles (tenant_id, id, name, description, scope, system, created_at, updated_at) ";
            let push = |row: &mut Row<'_>, role: Role| {
                row.push_bind(tenant).push_bind(role.id.as_uuid()).push_bind(role.name.to_string());
                row.push_bind(role.description.to_string()).push_bind(role.scope.to_string()).push_bind(role.system);
                row.push_bind(role.created_at).push_bind(role.updated_at);
            };
            self.insert_values(insert, roles.to_vec(), push).await?;
            return self.insert_role_permissions(roles).await;
        }
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
        if self.is_distributed() {
            let tenant = self.tenant();
            let insert = "INSERT INTO iam.role_permissions (tenant_id, role_id, permission) ";
            let held = held.map(|(role, permission)| (role.as_uuid(), permission.as_str().to_owned())).collect();
            let push = |row: &mut Row<'_>, (role, permission): (Uuid, String)| {
                row.push_bind(tenant).push_bind(role).push_bind(permission);
            };
            return self.insert_values(insert, held, push).await;
        }
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
