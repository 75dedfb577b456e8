use std::cmp::Reverse;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use iam_model::change::SessionChange;
use iam_model::clock::Timestamp;
use iam_model::context::UserAgent;
use iam_model::id::{SessionId, TenantId, UserId};
use iam_model::session::Session;
use iam_model::store::{SessionDetails, SessionSnapshot, SessionStore, SessionTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::column::parse;
use iam_store_sql::error::expect_row;
use sqlx::types::Json;
use uuid::Uuid;

use crate::PostgresStore;
use crate::assignment::{GrantRow, grants, select_grants};
use crate::audit::execute_audited;
use crate::error::store_error;
use crate::tenant::TenantRow;
use crate::transaction::PostgresTransaction;
use crate::user::UserRow;

pub(crate) type SessionRow = iam_store_sql::session::SessionRow<Timestamp>;

/// Selects sessions; the literal says which.
macro_rules! select_sessions {
    ($which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            SessionRow,
            r#"
            SELECT
                s.tenant_id,
                s.id,
                s.user_id,
                s.ip_address,
                s.user_agent,
                s.created_at,
                s.last_used_at,
                s.expires_at,
                s.refresh_tag_key,
                s.refresh_current,
                s.spent_hash,
                s.spent_nonce,
                s.spent_at
            FROM iam.sessions s
            "# + $which,
            $($argument),+
        )
    };
}

struct SnapshotRow {
    user_id: Uuid,
    user_status: String,
    tenant_status: String,
    expires_at: DateTime<Utc>,
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
            grants: grants(row.grants.0)?,
        })
    }
}

#[async_trait]
impl SessionStore for PostgresStore {
    // A request whose session is not cached waits for this. So it is one query, in which the grants come as JSON.
    async fn session_snapshot(
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
                coalesce(
                    (
                        SELECT json_agg(g)
                        FROM (
            "#,
            "WHERE a.tenant_id = s.tenant_id AND a.user_id = s.user_id",
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
        self.answer(row.fetch_optional(&self.source())).await?.map(SessionSnapshot::try_from).transpose()
    }

    async fn session(&self, tenant: TenantId, id: SessionId) -> Result<Option<Session>, StoreError> {
        let row = select_sessions!("WHERE s.tenant_id = $1 AND s.id = $2", tenant.as_uuid(), id.as_uuid());
        self.answer(row.fetch_optional(&self.source())).await?.map(Session::try_from).transpose()
    }

    async fn session_details(&self, tenant: TenantId, id: SessionId) -> Result<Option<SessionDetails>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT
                s.user_id,
                s.ip_address,
                s.user_agent,
                s.created_at,
                s.last_used_at,
                s.expires_at,
                s.refresh_tag_key,
                s.refresh_current,
                s.spent_hash,
                s.spent_nonce,
                s.spent_at,
                u.email,
                u.email_verified_at,
                u.first_name,
                u.last_name,
                u.status AS user_status,
                u.last_login_at,
                u.created_at AS user_created_at,
                u.updated_at AS user_updated_at,
                t.name AS tenant_name,
                t.slug AS tenant_slug,
                t.status AS tenant_status,
                t.created_at AS tenant_created_at,
                t.updated_at AS tenant_updated_at
            FROM iam.sessions s
            JOIN iam.users u ON u.tenant_id = s.tenant_id AND u.id = s.user_id
            JOIN iam.tenants t ON t.id = s.tenant_id
            WHERE s.tenant_id = $1 AND s.id = $2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        let Some(row) = self.answer(row.fetch_optional(&self.source())).await? else { return Ok(None) };
        let session = SessionRow {
            tenant_id: tenant.as_uuid(),
            id: id.as_uuid(),
            user_id: row.user_id,
            ip_address: row.ip_address,
            user_agent: row.user_agent,
            created_at: row.created_at,
            last_used_at: row.last_used_at,
            expires_at: row.expires_at,
            refresh_tag_key: row.refresh_tag_key,
            refresh_current: row.refresh_current,
            spent_hash: row.spent_hash,
            spent_nonce: row.spent_nonce,
            spent_at: row.spent_at,
        };
        let user = UserRow {
            tenant_id: tenant.as_uuid(),
            id: session.user_id,
            email: row.email,
            email_verified_at: row.email_verified_at,
            first_name: row.first_name,
            last_name: row.last_name,
            status: row.user_status,
            last_login_at: row.last_login_at,
            created_at: row.user_created_at,
            updated_at: row.user_updated_at,
        };
        let tenant = TenantRow {
            id: tenant.as_uuid(),
            name: row.tenant_name,
            slug: row.tenant_slug,
            status: row.tenant_status,
            created_at: row.tenant_created_at,
            updated_at: row.tenant_updated_at,
        };
        Ok(Some(SessionDetails { session: session.try_into()?, user: user.try_into()?, tenant: tenant.try_into()? }))
    }

    async fn sessions_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<Session>, StoreError> {
        let rows = select_sessions!(
            "WHERE s.tenant_id = $1 AND s.user_id = $2 ORDER BY s.created_at DESC, s.id",
            tenant.as_uuid(),
            user.as_uuid()
        );
        self.answer(rows.fetch_all(&self.source())).await?.into_iter().map(Session::try_from).collect()
    }
}

#[async_trait]
impl SessionTransaction for PostgresTransaction {
    async fn lock_session(&mut self, id: SessionId) -> Result<Option<Session>, StoreError> {
        let row = select_sessions!("WHERE s.tenant_id = $1 AND s.id = $2 FOR UPDATE", self.tenant(), id.as_uuid());
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(Session::try_from).transpose()
    }

    // PostgreSQL locks rows in the order in which it returns them. All transactions lock sessions in the order of
    // their identifiers, so two that lock the same sessions never deadlock.
    async fn lock_sessions_of(&mut self, user: UserId) -> Result<Vec<Session>, StoreError> {
        let rows = select_sessions!(
            "WHERE s.tenant_id = $1 AND s.user_id = $2 ORDER BY s.id FOR UPDATE",
            self.tenant(),
            user.as_uuid()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        let mut sessions: Vec<Session> = rows.into_iter().map(Session::try_from).collect::<Result<_, _>>()?;
        sessions.sort_by_key(|session| (Reverse(session.created_at), session.id));
        Ok(sessions)
    }

    async fn lock_sessions(&mut self, limit: u32) -> Result<Vec<Session>, StoreError> {
        let rows = select_sessions!(
            "WHERE s.tenant_id = $1 ORDER BY s.id LIMIT $2 FOR UPDATE",
            self.tenant(),
            i64::from(limit)
        );
        rows.fetch_all(self.connection()).await.map_err(store_error)?.into_iter().map(Session::try_from).collect()
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_session(&mut self, change: &SessionChange) -> Result<(), StoreError> {
        match change {
            SessionChange::Start(session) => self.insert_session(session).await,
            SessionChange::Refresh(session) => self.update_session(session).await,
            // Only its audit entry is written.
            SessionChange::RepeatRefresh(_) => Ok(()),
            SessionChange::End { sessions, .. } | SessionChange::Forget(sessions) => {
                self.delete_sessions(sessions).await
            }
        }
    }

    async fn insert_session(&mut self, session: &Session) -> Result<(), StoreError> {
        let refresh = &session.refresh;
        execute_audited!(
            self,
            "$14",
            with r#"
            logged_in AS (
                UPDATE iam.users
                SET last_login_at = $6
                WHERE tenant_id = $1 AND id = $3
            )
            "#,
            r#"
            INSERT INTO iam.sessions (
                tenant_id,
                id,
                user_id,
                ip_address,
                user_agent,
                created_at,
                last_used_at,
                expires_at,
                refresh_tag_key,
                refresh_current,
                spent_hash,
                spent_nonce,
                spent_at
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
            "#,
            self.tenant(),
            session.id.as_uuid(),
            session.user_id.as_uuid(),
            session.ip_address.map(|address| address.to_string()),
            session.user_agent.as_ref().map(UserAgent::as_str),
            session.created_at,
            session.last_used_at,
            session.expires_at,
            &refresh.tag_key,
            &refresh.current,
            refresh.spent.as_ref().map(|spent| spent.hash.as_slice()),
            refresh.spent.as_ref().map(|spent| spent.nonce.as_slice()),
            refresh.spent.as_ref().map(|spent| spent.at)
        )?;
        Ok(())
    }

    /// Writes the columns that a refresh changes.
    async fn update_session(&mut self, session: &Session) -> Result<(), StoreError> {
        let refresh = &session.refresh;
        let updated = execute_audited!(
            self,
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
            "#,
            self.tenant(),
            session.id.as_uuid(),
            session.last_used_at,
            session.expires_at,
            &refresh.current,
            refresh.spent.as_ref().map(|spent| spent.hash.as_slice()),
            refresh.spent.as_ref().map(|spent| spent.nonce.as_slice()),
            refresh.spent.as_ref().map(|spent| spent.at)
        )?;
        expect_row(updated.rows_affected(), "session")
    }

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
