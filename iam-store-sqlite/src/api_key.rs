use iam_model::id::{ApiKeyId, TenantId};
use iam_model::store::ApiKeySnapshot;
use iam_model::store_error::StoreError;
use iam_store_sql::assignment::AssignmentRow;
use iam_store_sql::{api_key_ports, api_key_snapshot_row};
use sqlx::types::Json;

use crate::SqliteStore;
use crate::assignment::{GrantRows, LineageRow, select_grants};
use crate::role::RoleRow;
use crate::transaction::{SqliteTransaction, execute_audited};

api_key_ports! {
    SqliteStore,
    SqliteTransaction,
    by_id: "FROM api_keys k WHERE k.tenant_id = ?1 AND k.id = ?2",
    of_user: "FROM api_keys k WHERE k.tenant_id = ?1 AND k.user_id = ?2 ORDER BY k.created_at DESC, k.id",
    lock: "FROM api_keys k WHERE k.tenant_id = ?1 AND k.id = ?2",
    lock_of_user: r#"
        FROM api_keys k
        WHERE k.tenant_id = ?1 AND k.user_id = ?2
        ORDER BY k.created_at DESC, k.id
    "#,
    record_use: r#"
        UPDATE api_keys
        SET last_used_at = ?3
        WHERE tenant_id = ?1 AND id = ?2 AND (last_used_at IS NULL OR last_used_at < ?3)
    "#,
    insert: (
        r#"
        INSERT INTO api_keys (
            tenant_id, id, name, secret_hash, former_hash, former_until, permissions, expires_at,
            user_id, organization_id, created_at, created_by, last_used_at
        )
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
        "#
    ),
    update: (
        r#"
        UPDATE api_keys
        SET
            name = ?3,
            secret_hash = ?4,
            former_hash = ?5,
            former_until = ?6,
            permissions = ?7,
            expires_at = ?8,
            version = version + 1
        WHERE tenant_id = ?1 AND id = ?2
        "#
    ),
    delete: (
        "DELETE FROM api_keys WHERE tenant_id = ?1 AND id IN (SELECT unhex(value, '-') FROM json_each(?2))"
    ),
}

api_key_snapshot_row!(
    SnapshotRow,
    i64,
    assignments: Json<Vec<AssignmentRow<i64>>>,
    roles: Json<Vec<RoleRow>>,
    places: Json<Vec<LineageRow>>,
);

impl SqliteStore {
    pub(crate) async fn read_api_key_snapshot(
        &self,
        tenant: TenantId,
        id: ApiKeyId,
    ) -> Result<Option<ApiKeySnapshot>, StoreError> {
        let row = select_grants!(
            SnapshotRow,
            r#"
            WHERE a.tenant_id = ?1
                AND a.user_id = (SELECT k.user_id FROM api_keys k WHERE k.tenant_id = ?1 AND k.id = ?2)
            "#,
            "g.created_at DESC, g.id",
            r#"
                k.tenant_id,
                k.id,
                k.user_id,
                k.name,
                k.secret_hash,
                k.former_hash,
                k.former_until,
                k.permissions,
                k.organization_id,
                k.expires_at,
                k.created_at,
                k.created_by,
                k.last_used_at,
                k.version,
                u.status AS user_status,
                t.status AS tenant_status,
            "#,
            r#"
            FROM api_keys k
            JOIN users u ON u.tenant_id = k.tenant_id AND u.id = k.user_id
            JOIN tenants t ON t.id = k.tenant_id
            WHERE k.tenant_id = ?1 AND k.id = ?2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        let row = self.answer(row.fetch_optional(&self.reads())).await?;
        let grants = |assignments, roles, places| GrantRows { assignments, roles, places }.try_into();
        row.map(|row| SnapshotRow::with_grants(row, grants)).transpose()
    }
}
