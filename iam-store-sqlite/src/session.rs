use async_trait::async_trait;
use iam_model::change::SessionChange;
use iam_model::context::UserAgent;
use iam_model::id::{SessionId, TenantId, UserId};
use iam_model::session::Session;
use iam_model::store::{SessionDetails, SessionSnapshot, SessionStore, SessionTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::column::{moment, parse};
use iam_store_sql::error::expect_row;
use sqlx::types::Json;
use uuid::Uuid;

use crate::SqliteStore;
use crate::assignment::{AssignmentRow, GrantRows, PlaceRow, select_grants};
use crate::column::millis;
use crate::error::store_error;
use crate::role::RoleRow;
use crate::tenant::TenantRow;
use crate::transaction::SqliteTransaction;
use crate::user::UserRow;

pub(crate) type SessionRow = iam_store_sql::session::SessionRow<i64>;

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
            FROM sessions s
            "# + $which,
            $($argument),+
        )
    };
}

struct SnapshotRow {
    user_id: Uuid,
    user_status: String,
    tenant_status: String,
    expires_at: i64,
    assignments: Json<Vec<AssignmentRow>>,
    roles: Json<Vec<RoleRow>>,
    places: Json<Vec<PlaceRow>>,
}

#[async_trait]
impl SessionStore for SqliteStore {
    async fn session_snapshot(
        &self,
        tenant: TenantId,
        session: SessionId,
    ) -> Result<Option<SessionSnapshot>, StoreError> {
        let row = select_grants!(
            SnapshotRow,
            r#"
            WHERE a.tenant_id = ?1
                AND a.user_id = (SELECT s.user_id FROM sessions s WHERE s.tenant_id = ?1 AND s.id = ?2)
            "#,
            "g.created_at DESC, g.id",
            "s.user_id, u.status AS user_status, t.status AS tenant_status, s.expires_at,",
            r#"
            FROM sessions s
            JOIN users u ON u.tenant_id = s.tenant_id AND u.id = s.user_id
            JOIN tenants t ON t.id = s.tenant_id
            WHERE s.tenant_id = ?1 AND s.id = ?2
            "#,
            tenant.as_uuid(),
            session.as_uuid()
        );
        let Some(row) = row.fetch_optional(&self.readers).await.map_err(store_error)? else {
            return Ok(None);
        };
        let grants = GrantRows { assignments: row.assignments, roles: row.roles, places: row.places };
        Ok(Some(SessionSnapshot {
            user_id: row.user_id.into(),
            user_status: parse("users.status", &row.user_status)?,
            tenant_status: parse("tenants.status", &row.tenant_status)?,
            expires_at: moment("sessions.expires_at", row.expires_at)?,
            grants: grants.try_into()?,
        }))
    }

    async fn session(&self, tenant: TenantId, id: SessionId) -> Result<Option<Session>, StoreError> {
        let row = select_sessions!("WHERE s.tenant_id = ?1 AND s.id = ?2", tenant.as_uuid(), id.as_uuid());
        row.fetch_optional(&self.readers).await.map_err(store_error)?.map(Session::try_from).transpose()
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
            FROM sessions s
            JOIN users u ON u.tenant_id = s.tenant_id AND u.id = s.user_id
            JOIN tenants t ON t.id = s.tenant_id
            WHERE s.tenant_id = ?1 AND s.id = ?2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        let Some(row) = row.fetch_optional(&self.readers).await.map_err(store_error)? else { return Ok(None) };
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
            "WHERE s.tenant_id = ?1 AND s.user_id = ?2 ORDER BY s.created_at DESC, s.id",
            tenant.as_uuid(),
            user.as_uuid()
        );
        rows.fetch_all(&self.readers).await.map_err(store_error)?.into_iter().map(Session::try_from).collect()
    }
}

#[async_trait]
impl SessionTransaction for SqliteTransaction {
    async fn lock_session(&mut self, id: SessionId) -> Result<Option<Session>, StoreError> {
        let row = select_sessions!("WHERE s.tenant_id = ?1 AND s.id = ?2", self.tenant(), id.as_uuid());
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(Session::try_from).transpose()
    }

    async fn lock_sessions_of(&mut self, user: UserId) -> Result<Vec<Session>, StoreError> {
        let rows = select_sessions!(
            "WHERE s.tenant_id = ?1 AND s.user_id = ?2 ORDER BY s.created_at DESC, s.id",
            self.tenant(),
            user.as_uuid()
        );
        rows.fetch_all(self.connection()).await.map_err(store_error)?.into_iter().map(Session::try_from).collect()
    }

    async fn lock_sessions(&mut self, limit: u32) -> Result<Vec<Session>, StoreError> {
        let rows = select_sessions!("WHERE s.tenant_id = ?1 ORDER BY s.id LIMIT ?2", self.tenant(), limit);
        rows.fetch_all(self.connection()).await.map_err(store_error)?.into_iter().map(Session::try_from).collect()
    }
}

impl SqliteTransaction {
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
        sqlx::query!(
            r#"
            INSERT INTO sessions (
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
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            "#,
            self.tenant(),
            session.id.as_uuid(),
            session.user_id.as_uuid(),
            session.ip_address.map(|address| address.to_string()),
            session.user_agent.as_ref().map(UserAgent::as_str),
            millis(session.created_at),
            millis(session.last_used_at),
            millis(session.expires_at),
            refresh.tag_key.as_slice(),
            refresh.current.as_slice(),
            refresh.spent.as_ref().map(|spent| spent.hash.as_slice()),
            refresh.spent.as_ref().map(|spent| spent.nonce.as_slice()),
            refresh.spent.as_ref().map(|spent| millis(spent.at))
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        sqlx::query!(
            "UPDATE users SET last_login_at = ?3 WHERE tenant_id = ?1 AND id = ?2",
            self.tenant(),
            session.user_id.as_uuid(),
            millis(session.created_at)
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }

    /// Writes the columns that a refresh changes.
    async fn update_session(&mut self, session: &Session) -> Result<(), StoreError> {
        let refresh = &session.refresh;
        let updated = sqlx::query!(
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
            "#,
            self.tenant(),
            session.id.as_uuid(),
            millis(session.last_used_at),
            millis(session.expires_at),
            refresh.current.as_slice(),
            refresh.spent.as_ref().map(|spent| spent.hash.as_slice()),
            refresh.spent.as_ref().map(|spent| spent.nonce.as_slice()),
            refresh.spent.as_ref().map(|spent| millis(spent.at))
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        expect_row(updated.rows_affected(), "session")
    }

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
