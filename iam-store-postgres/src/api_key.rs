use chrono::{DateTime, Utc};
use iam_model::id::{ApiKeyId, TenantId};
use iam_model::store::ApiKeySnapshot;
use iam_model::store_error::StoreError;
use iam_store_sql::{api_key_ports, api_key_snapshot_row};
use sqlx::types::Json;

use crate::PostgresStore;
use crate::assignment::{GrantRow, grants, select_grants};
use crate::audit::execute_audited;
use crate::transaction::PostgresTransaction;

api_key_ports! {
    PostgresStore,
    PostgresTransaction,
    by_id: "FROM iam.api_keys k WHERE k.tenant_id = $1 AND k.id = $2",
    of_user: "FROM iam.api_keys k WHERE k.tenant_id = $1 AND k.user_id = $2 ORDER BY k.created_at DESC, k.id",
    lock: "FROM iam.api_keys k WHERE k.tenant_id = $1 AND k.id = $2 FOR UPDATE",
    lock_of_user: r#"
        FROM iam.api_keys k
        WHERE k.tenant_id = $1 AND k.user_id = $2
        ORDER BY k.created_at DESC, k.id
        FOR UPDATE
    "#,
    record_use: r#"
        UPDATE iam.api_keys
        SET last_used_at = $3
        WHERE tenant_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at < $3)
    "#,
    insert: (
        "$14",
        r#"
        INSERT INTO iam.api_keys (
            tenant_id, id, name, secret_hash, former_hash, former_until, permissions, expires_at,
            user_id, organization_id, created_at, created_by, last_used_at
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        "#
    ),
    update: (
        "$9",
        r#"
        UPDATE iam.api_keys
        SET
            name = $3,
            secret_hash = $4,
            former_hash = $5,
            former_until = $6,
            permissions = $7,
            expires_at = $8,
            version = version + 1
        WHERE tenant_id = $1 AND id = $2
        "#
    ),
    delete: (
        "$3",
        "DELETE FROM iam.api_keys WHERE tenant_id = $1 AND id = ANY($2)"
    ),
}

api_key_snapshot_row!(SnapshotRow, DateTime<Utc>, grants: Json<Vec<GrantRow>>);

impl PostgresStore {
    // One query, like that of a session.
    pub(crate) async fn read_api_key_snapshot(
        &self,
        tenant: TenantId,
        id: ApiKeyId,
    ) -> Result<Option<ApiKeySnapshot>, StoreError> {
        let row = select_grants!(
            SnapshotRow,
            r#"
            SELECT
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
                coalesce(
                    (
                        SELECT json_agg(g)
                        FROM (
            "#,
            "WHERE a.tenant_id = $1 AND a.user_id = k.user_id",
            "a.created_at DESC, a.id",
            r#"
                        ) g (assignment, role, organization)
                    ),
                    '[]'
                ) AS "grants!: Json<Vec<GrantRow>>"
            FROM iam.api_keys k
            JOIN iam.users u ON u.tenant_id = k.tenant_id AND u.id = k.user_id
            JOIN iam.tenants t ON t.id = k.tenant_id
            WHERE k.tenant_id = $1 AND k.id = $2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        let row = self.answer(row.fetch_optional(&self.reads())).await?;
        row.map(|row| SnapshotRow::with_grants(row, |Json(rows)| grants(rows))).transpose()
    }
}
