use chrono::{DateTime, Utc};
use iam_model::assignment::Assignment;
use iam_model::clock::Timestamp;
use iam_model::store_error::StoreError;
use iam_store_sql::history_ports;
use uuid::Uuid;

use crate::PostgresStore;
use crate::assignment::AssignmentColumns;
use crate::column::Moment;
use crate::error::store_error;
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

impl PostgresTransaction {
    async fn insert_past_assignments(&mut self, versions: &[&Assignment], until: Timestamp) -> Result<(), StoreError> {
        let AssignmentColumns { ids, users, roles, organizations, expires_at, created_at, created_by } =
            versions.iter().copied().collect();
        sqlx::query!(
            r#"
            INSERT INTO iam.past_assignments (
                tenant_id, until, id, user_id, role_id, organization_id, expires_at, created_at, created_by
            )
            SELECT $1, $2, *
            FROM unnest(
                $3::uuid[],
                $4::uuid[],
                $5::uuid[],
                $6::uuid[],
                $7::timestamptz[],
                $8::timestamptz[],
                $9::uuid[]
            )
            ON CONFLICT DO NOTHING
            "#,
            self.tenant(),
            until,
            &ids,
            &users,
            &roles,
            &organizations as &[Option<Uuid>],
            &expires_at as &[Option<DateTime<Utc>>],
            &created_at,
            &created_by as &[Option<Uuid>]
        )
        .execute(self.connection())
        .await
        .map(drop)
        .map_err(store_error)
    }
}
