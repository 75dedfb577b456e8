use iam_model::assignment::Assignment;
use iam_model::clock::Timestamp;
use iam_model::store_error::StoreError;
use iam_store_sql::history_ports;
use sqlx::types::Json;
use uuid::Uuid;

use crate::SqliteStore;
use crate::assignment::as_json;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

history_ports! {
    SqliteStore,
    SqliteTransaction,
    list_moment: i64,
    start: "SELECT since FROM history_starts WHERE tenant_id = ?1",
    assignments_of: r#"
        SELECT
            tenant_id AS "tenant_id: Uuid",
            id AS "id: Uuid",
            until,
            user_id AS "user_id: Uuid",
            role_id AS "role_id: Uuid",
            organization_id AS "organization_id: Uuid",
            expires_at,
            created_at,
            created_by AS "created_by: Uuid"
        FROM past_assignments
        WHERE tenant_id = ?1 AND user_id IN (SELECT unhex(value, '-') FROM json_each(?2)) AND until > ?3
    "#,
    all_of_kind: "FROM past_versions WHERE tenant_id = ?1 AND kind = ?2 AND until > ?3",
    by_id: r#"
        FROM past_versions
        WHERE tenant_id = ?1 AND kind = ?2 AND until > ?3 AND id IN (SELECT unhex(value, '-') FROM json_each(?4))
    "#,
    insert_version: r#"
        INSERT INTO past_versions (tenant_id, kind, id, until, value)
        VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT DO NOTHING
    "#,
    forget: [
        "DELETE FROM past_assignments WHERE tenant_id = ?1 AND until <= ?2",
        "DELETE FROM past_versions WHERE tenant_id = ?1 AND until <= ?2"
    ],
    begin: r#"
        INSERT INTO history_starts (tenant_id, since)
        VALUES (?1, ?2)
        ON CONFLICT (tenant_id) DO UPDATE SET since = max(since, excluded.since)
    "#,
}

impl SqliteTransaction {
    async fn insert_past_assignments(&mut self, versions: &[&Assignment], until: Timestamp) -> Result<(), StoreError> {
        let rows: Vec<_> = versions.iter().map(|version| as_json(version)).collect();
        sqlx::query!(
            r#"
            INSERT INTO past_assignments (
                tenant_id, until, id, user_id, role_id, organization_id, expires_at, created_at, created_by
            )
            SELECT
                ?1,
                ?2,
                unhex(value ->> 'id', '-'),
                unhex(value ->> 'user_id', '-'),
                unhex(value ->> 'role_id', '-'),
                unhex(value ->> 'organization_id', '-'),
                value ->> 'expires_at',
                value ->> 'created_at',
                unhex(value ->> 'created_by', '-')
            FROM json_each(?3)
            WHERE TRUE
            ON CONFLICT DO NOTHING
            "#,
            self.tenant(),
            millis(until),
            Json(rows)
        )
        .execute(self.connection())
        .await
        .map(drop)
        .map_err(store_error)
    }
}
