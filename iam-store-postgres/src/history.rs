use iam_store_sql::history_ports;

use crate::PostgresStore;
use crate::column::Moment;
use crate::transaction::PostgresTransaction;

history_ports! {
    PostgresStore,
    PostgresTransaction,
    list_moment: Moment,
    start: "SELECT since FROM iam.history_starts WHERE tenant_id = $1",
    assignments_of: r#"
        SELECT tenant_id, id, until, user_id, role_id, organization_id, expires_at, created_at, created_by
        FROM iam.past_assignments
        WHERE tenant_id = $1 AND user_id = ANY($2) AND until > $3
    "#,
    all_of_kind: "FROM iam.past_versions WHERE tenant_id = $1 AND kind = $2 AND until > $3",
    by_id: "FROM iam.past_versions WHERE tenant_id = $1 AND kind = $2 AND until > $3 AND id = ANY($4)",
    insert_assignments: r#"
        INSERT INTO iam.past_assignments (
            tenant_id, id, until, user_id, role_id, organization_id, expires_at, created_at, created_by, since
        )
        SELECT
            tenant_id,
            id,
            $2::timestamptz,
            user_id,
            role_id,
            organization_id,
            expires_at,
            created_at,
            created_by,
            coalesce(since, created_at)
        FROM iam.role_assignments
        WHERE tenant_id = $1 AND id = ANY($3)
        ON CONFLICT DO NOTHING
    "#,
    insert_version: r#"
        INSERT INTO iam.past_versions (tenant_id, kind, id, until, value)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING
    "#,
    forget: [
        "DELETE FROM iam.past_assignments WHERE tenant_id = $1 AND until <= $2",
        "DELETE FROM iam.past_versions WHERE tenant_id = $1 AND until <= $2"
    ],
    begin: r#"
        INSERT INTO iam.history_starts (tenant_id, since)
        VALUES ($1, $2)
        ON CONFLICT (tenant_id) DO UPDATE SET since = greatest(history_starts.since, excluded.since)
    "#,
}
