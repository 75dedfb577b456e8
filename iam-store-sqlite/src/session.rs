use iam_model::id::{SessionId, TenantId};
use iam_model::session::Session;
use iam_model::store::SessionSnapshot;
use iam_model::store_error::StoreError;
use iam_store_sql::assignment::AssignmentRow;
use iam_store_sql::column::{moment, parse};
use iam_store_sql::session::enrol_by;
use iam_store_sql::session_ports;
use sqlx::types::Json;
use uuid::Uuid;

use crate::SqliteStore;
use crate::assignment::{GrantRows, LineageRow, select_grants};
use crate::error::store_error;
use crate::role::RoleRow;
use crate::transaction::{SqliteTransaction, execute_audited};

session_ports! {
    SqliteStore,
    SqliteTransaction,
    by_id: "FROM sessions s WHERE s.tenant_id = ?1 AND s.id = ?2",
    details: r#"
        FROM sessions s
        JOIN users u ON u.tenant_id = s.tenant_id AND u.id = s.user_id
        JOIN tenants t ON t.id = s.tenant_id
        WHERE s.tenant_id = ?1 AND s.id = ?2
    "#,
    of_user: "FROM sessions s WHERE s.tenant_id = ?1 AND s.user_id = ?2 ORDER BY s.created_at DESC, s.id",
    lock: "FROM sessions s WHERE s.tenant_id = ?1 AND s.id = ?2",
    lock_of_user: "FROM sessions s WHERE s.tenant_id = ?1 AND s.user_id = ?2",
    lock_some: "FROM sessions s WHERE s.tenant_id = ?1 ORDER BY s.id LIMIT ?2",
    insert: (
        r#"
        INSERT INTO sessions (
            tenant_id, id, user_id, ip_address, user_agent, created_at, last_used_at, expires_at,
            refresh_tag_key, refresh_current, spent_hash, spent_nonce, spent_at, methods, authenticated_at
        )
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
        "#
    ),
    last_login: "UPDATE users SET last_login_at = ?3, version = version + 1 WHERE tenant_id = ?1 AND id = ?2",
    update: (
        r#"
        UPDATE sessions
        SET
            last_used_at = ?3,
            expires_at = ?4,
            refresh_current = ?5,
            spent_hash = ?6,
            spent_nonce = ?7,
            spent_at = ?8
        WHERE tenant_id = ?1 AND id = ?2
        "#
    ),
    step_up: (
        "UPDATE sessions SET methods = ?3, authenticated_at = ?4 WHERE tenant_id = ?1 AND id = ?2"
    ),
}

struct SnapshotRow {
    user_id: Uuid,
    user_status: String,
    tenant_status: String,
    expires_at: i64,
    user_created_at: i64,
    second_factor_required_at: Option<i64>,
    second_factor_grace_days: i64,
    has_factor: bool,
    assignments: Json<Vec<AssignmentRow<i64>>>,
    roles: Json<Vec<RoleRow>>,
    places: Json<Vec<LineageRow>>,
}

impl SqliteStore {
    pub(crate) async fn read_session_snapshot(
        &self,
        tenant: TenantId,
        session: SessionId,
    ) -> Result<Option<SessionSnapshot>, StoreError> {
        // Few tenants require second factors. For the others, the CASE keeps the database from looking for a factor.
        let row = select_grants!(
            SnapshotRow,
            r#"
            WHERE a.tenant_id = ?1
                AND a.user_id = (SELECT s.user_id FROM sessions s WHERE s.tenant_id = ?1 AND s.id = ?2)
            "#,
            "g.created_at DESC, g.id",
            r#"
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
                        SELECT 1
                        FROM factors f
                        WHERE f.tenant_id = s.tenant_id AND f.user_id = s.user_id AND f.confirmed_at IS NOT NULL
                    )
                END AS "has_factor!: bool",
            "#,
            r#"
            FROM sessions s
            JOIN users u ON u.tenant_id = s.tenant_id AND u.id = s.user_id
            JOIN tenants t ON t.id = s.tenant_id
            WHERE s.tenant_id = ?1 AND s.id = ?2
            "#,
            tenant.as_uuid(),
            session.as_uuid()
        );
        let Some(row) = self.answer(row.fetch_optional(&self.reads())).await? else {
            return Ok(None);
        };
        let grants = GrantRows { assignments: row.assignments, roles: row.roles, places: row.places };
        Ok(Some(SessionSnapshot {
            user_id: row.user_id.into(),
            user_status: parse("users.status", &row.user_status)?,
            tenant_status: parse("tenants.status", &row.tenant_status)?,
            expires_at: moment("sessions.expires_at", row.expires_at)?,
            enrol_by: enrol_by(
                row.second_factor_required_at,
                row.second_factor_grace_days,
                row.user_created_at,
                row.has_factor,
            )?,
            grants: grants.try_into()?,
        }))
    }
}

impl SqliteTransaction {
    async fn delete_sessions(&mut self, sessions: &[Session]) -> Result<(), StoreError> {
        for session in sessions {
            let id = session.id.as_uuid();
            sqlx::query!("DELETE FROM sessions WHERE tenant_id = ?1 AND id = ?2", self.tenant(), id)
                .execute(self.connection())
                .await
                .map_err(store_error)?;
        }
        Ok(())
    }
}
