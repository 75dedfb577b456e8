use iam_store_sql::history_ports;
use uuid::Uuid;

use crate::SqliteStore;
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
    insert_assignments: r#"
        INSERT INTO past_assignments (
            tenant_id, id, until, user_id, role_id, organization_id, expires_at, created_at, created_by, since
        )
        SELECT
            tenant_id,
            id,
            ?2,
            user_id,
            role_id,
            organization_id,
            expires_at,
            created_at,
            created_by,
            coalesce(since, created_at)
        FROM role_assignments
        WHERE tenant_id = ?1 AND id IN (SELECT unhex(value, '-') FROM json_each(?3))
        ON CONFLICT DO NOTHING
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
