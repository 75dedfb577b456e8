use chrono::{DateTime, Utc};
use iam_model::id::{SessionId, TenantId};
use iam_model::session::Session;
use iam_model::store::SessionSnapshot;
use iam_model::store_error::StoreError;
use iam_store_sql::column::parse;
use iam_store_sql::session::enrol_by;
use iam_store_sql::session_ports;
use sqlx::types::Json;
use uuid::Uuid;

use crate::PostgresStore;
use crate::assignment::{GrantRow, grants, select_grants};
use crate::audit::execute_audited;
use crate::transaction::PostgresTransaction;

session_ports! {
    PostgresStore,
    PostgresTransaction,
    by_id: "FROM iam.sessions s WHERE s.tenant_id = $1 AND s.id = $2",
    details: r#"
        FROM iam.sessions s
        JOIN iam.users u ON u.tenant_id = s.tenant_id AND u.id = s.user_id
        JOIN iam.tenants t ON t.id = s.tenant_id
        WHERE s.tenant_id = $1 AND s.id = $2
    "#,
    of_user: "FROM iam.sessions s WHERE s.tenant_id = $1 AND s.user_id = $2 ORDER BY s.created_at DESC, s.id",
    lock: "FROM iam.sessions s WHERE s.tenant_id = $1 AND s.id = $2 FOR UPDATE",
    // PostgreSQL locks rows in the order in which it returns them. All transactions lock sessions in the order of their
    // identifiers, so two that lock the same sessions never deadlock.
    lock_of_user: "FROM iam.sessions s WHERE s.tenant_id = $1 AND s.user_id = $2 ORDER BY s.id FOR UPDATE",
    lock_some: "FROM iam.sessions s WHERE s.tenant_id = $1 ORDER BY s.id LIMIT $2 FOR UPDATE",
    insert: (
        "$16",
        also r#"
        logged_in AS (
            UPDATE iam.users SET last_login_at = $6, version = version + 1 WHERE tenant_id = $1 AND id = $3
        )
        "#,
        r#"
        INSERT INTO iam.sessions (
            tenant_id, id, user_id, ip_address, user_agent, created_at, last_used_at, expires_at,
            refresh_tag_key, refresh_current, spent_hash, spent_nonce, spent_at, methods, authenticated_at
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
        "#
    ),
    distributed_last_login: r#"
        UPDATE iam.users SET last_login_at = $3, version = version + 1 WHERE tenant_id = $1 AND id = $2
    "#,
    update: (
        "$9",
        r#"
        UPDATE iam.sessions
        SET
            last_used_at = $3,
            expires_at = $4,
            refresh_current = $5,
            spent_hash = $6,
            spent_nonce = $7,
            spent_at = $8
        WHERE tenant_id = $1 AND id = $2
        "#
    ),
    step_up: (
        "$5",
        "UPDATE iam.sessions SET methods = $3, authenticated_at = $4 WHERE tenant_id = $1 AND id = $2"
    ),
}

struct SnapshotRow {
    user_id: Uuid,
    user_status: String,
    tenant_status: String,
    expires_at: DateTime<Utc>,
    user_created_at: DateTime<Utc>,
    second_factor_required_at: Option<DateTime<Utc>>,
    second_factor_grace_days: i64,
    has_factor: bool,
    grants: Json<Vec<GrantRow>>,
}

impl TryFrom<SnapshotRow> for SessionSnapshot {
    type Error = StoreError;

    fn try_from(row: SnapshotRow) -> Result<Self, StoreError> {
        Ok(Self {
            user_id: row.user_id.into(),
            user_status: parse("users.status", &row.user_status)?,
            tenant_status: parse("tenants.status", &row.tenant_status)?,
            expires_at: row.expires_at,
            enrol_by: enrol_by(
                row.second_factor_required_at,
                row.second_factor_grace_days,
                row.user_created_at,
                row.has_factor,
            )?,
            grants: grants(row.grants.0)?,
        })
    }
}

impl PostgresStore {
    // A request whose session is not cached waits for this. So it is one query, in which the grants come as JSON. Few
    // tenants require second factors. For the others, the CASE keeps the database from looking for a factor.
    pub(crate) async fn read_session_snapshot(
        &self,
        tenant: TenantId,
        session: SessionId,
    ) -> Result<Option<SessionSnapshot>, StoreError> {
        let row = select_grants!(
            SnapshotRow,
            r#"
            SELECT
                s.user_id,
                u.status AS user_status,
                t.status AS tenant_status,
                s.expires_at,
                u.created_at AS user_created_at,
                t.second_factor_required_at,
                t.second_factor_grace_days,
                CASE
                    WHEN t.second_factor_required_at IS NULL THEN FALSE
                    ELSE EXISTS (
                        SELECT
                        FROM iam.factors f
                        WHERE f.tenant_id = $1 AND f.user_id = s.user_id AND f.confirmed_at IS NOT NULL
                    )
                END AS "has_factor!",
                coalesce(
                    (
                        SELECT json_agg(g)
                        FROM (
            "#,
            "WHERE a.tenant_id = $1 AND a.user_id = s.user_id",
            "a.created_at DESC, a.id",
            r#"
                        ) g (assignment, role, organization)
                    ),
                    '[]'
                ) AS "grants!: Json<Vec<GrantRow>>"
            FROM iam.sessions s
            JOIN iam.users u ON u.tenant_id = s.tenant_id AND u.id = s.user_id
            JOIN iam.tenants t ON t.id = s.tenant_id
            WHERE s.tenant_id = $1 AND s.id = $2
            "#,
            tenant.as_uuid(),
            session.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads())).await?.map(SessionSnapshot::try_from).transpose()
    }
}

impl PostgresTransaction {
    async fn delete_sessions(&mut self, sessions: &[Session]) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = sessions.iter().map(|session| session.id.as_uuid()).collect();
        execute_audited!(
            self,
            "$3",
            "DELETE FROM iam.sessions WHERE tenant_id = $1 AND id = ANY($2)",
            self.tenant(),
            &ids
        )?;
        Ok(())
    }
}
