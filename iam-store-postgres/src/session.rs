use std::cmp::Reverse;

use async_trait::async_trait;
use iam_model::change::SessionChange;
use iam_model::clock::Timestamp;
use iam_model::context::UserAgent;
use iam_model::id::{IdentityProviderId, SessionId, TenantId, UserId};
use iam_model::session::Session;
use iam_model::store::{SessionDetails, SessionSnapshot, SessionStore, SessionTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::column::parse;
use iam_store_sql::error::expect_row;
use iam_store_sql::factor::DemandRow;
use iam_store_sql::session::{SessionDetailsRow, SessionRow, impersonator};
use sqlx::types::Json;
use uuid::Uuid;

use crate::PostgresStore;
use crate::assignment::{GrantRow, grants};
use crate::column::in_range;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type Row = SessionRow<Timestamp>;
type DetailsRow = SessionDetailsRow<Timestamp>;

struct SnapshotRow {
    user_id: Uuid,
    user_status: String,
    tenant_status: String,
    expires_at: Timestamp,
    actor_id: Option<Uuid>,
    actor_session_id: Option<Uuid>,
    read_only: bool,
    methods: String,
    user_created_at: Timestamp,
    second_factor_required_at: Option<Timestamp>,
    second_factor_grace_days: i64,
    authzen_identifiers: String,
    has_factor: bool,
    grants: Json<Vec<GrantRow>>,
}

impl TryFrom<SnapshotRow> for SessionSnapshot {
    type Error = StoreError;

    fn try_from(row: SnapshotRow) -> Result<Self, StoreError> {
        let demand = DemandRow {
            required_at: row.second_factor_required_at,
            grace_days: row.second_factor_grace_days,
            user_created_at: row.user_created_at,
            has_factor: row.has_factor,
        };
        Ok(Self {
            user_id: row.user_id.into(),
            user_status: parse("users.status", &row.user_status)?,
            tenant_status: parse("tenants.status", &row.tenant_status)?,
            expires_at: row.expires_at,
            impersonator: impersonator(row.actor_id, row.actor_session_id, row.read_only)?,
            enrol_by: demand.restricts_session_from(&row.methods)?,
            authzen_identifiers: parse("tenants.authzen_identifiers", &row.authzen_identifiers)?,
            grants: grants(row.grants.0)?,
        })
    }
}

#[async_trait]
impl SessionStore for PostgresStore {
    async fn session_snapshot(
        &self,
        tenant: TenantId,
        session: SessionId,
    ) -> Result<Option<SessionSnapshot>, StoreError> {
        // A request whose session is not cached waits for this. So it is one query, in which the grants come as JSON.
        // They are found as `assignment.rs` finds them. Few tenants require second factors. For the others, the CASE
        // keeps the database from looking for a factor.
        let row = sqlx::query_as!(
            SnapshotRow,
            r#"
            SELECT
                s.user_id,
                u.status AS user_status,
                t.status AS tenant_status,
                s.expires_at,
                s.actor_id,
                s.actor_session_id,
                s.read_only,
                s.methods,
                u.created_at AS user_created_at,
                t.second_factor_required_at,
                t.second_factor_grace_days,
                t.authzen_identifiers,
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
                            WITH RECURSIVE found AS (
                                SELECT a.*
                                FROM iam.role_assignments a
                                WHERE a.tenant_id = $1 AND a.user_id = s.user_id
                            ),
                            step AS (
                                SELECT
                                    o.id,
                                    o.name,
                                    o.parent_id,
                                    o.status = 'ACTIVE' AS is_lineage_active,
                                    ARRAY[o.id] AS lineage
                                FROM (SELECT DISTINCT f.organization_id AS id FROM found f) f
                                -- LIMIT, so that each is found by its key. A hash join would read all organizations of the tenant.
                                CROSS JOIN LATERAL (
                                    SELECT o.id, o.name, o.parent_id, o.status
                                    FROM iam.organizations o
                                    WHERE o.tenant_id = $1 AND o.id = f.id
                                    LIMIT 1
                                ) o
                                UNION ALL
                                SELECT
                                    s.id,
                                    s.name,
                                    o.parent_id,
                                    s.is_lineage_active AND o.status = 'ACTIVE',
                                    s.lineage || o.id
                                FROM step s
                                CROSS JOIN LATERAL (
                                    SELECT o.id, o.parent_id, o.status
                                    FROM iam.organizations o
                                    WHERE o.tenant_id = $1
                                        AND o.id = s.parent_id
                                        -- Even a cycle, which the service never writes, would end.
                                        AND o.id <> ALL (s.lineage)
                                    LIMIT 1
                                ) o
                            ),
                            position AS (
                                -- The last step has read every ancestor.
                                SELECT DISTINCT ON (s.id)
                                    s.id,
                                    s.name,
                                    s.lineage,
                                    s.is_lineage_active
                                FROM step s
                                ORDER BY s.id, cardinality(s.lineage) DESC
                            )
                            SELECT
                                to_json(a) AS "assignment!: Json<AssignmentRow<Moment>>",
                                CASE WHEN row_number() OVER (PARTITION BY a.role_id) = 1 THEN (
                                    SELECT to_json(role)
                                    FROM (
                                        SELECT
                                            r.*,
                                            ARRAY(
                                                SELECT p.permission
                                                FROM iam.role_permissions p
                                                WHERE p.tenant_id = $1 AND p.role_id = r.id
                                            ) AS permissions
                                    ) role
                                ) END AS "role?: Json<RoleRow>",
                                to_json(o) AS "organization?: Json<GrantOrganizationRow>"
                            FROM found a
                            JOIN iam.roles r ON r.tenant_id = $1 AND r.id = a.role_id
                            LEFT JOIN position o ON o.id = a.organization_id
                            ORDER BY a.created_at DESC, a.id
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
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(SessionSnapshot::try_from).transpose()
    }

    async fn session(&self, tenant: TenantId, id: SessionId) -> Result<Option<Session>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                s.tenant_id, s.id, s.user_id, s.ip_address, s.user_agent, s.methods, s.authenticated_at, s.created_at,
                s.last_used_at, s.expires_at, s.refresh_tag_key, s.refresh_current, s.spent_hash, s.spent_nonce,
                s.spent_at, s.provider_id, s.provider_session, s.actor_id, s.actor_session_id, s.actor_reason,
                s.read_only
            FROM iam.sessions s
            WHERE s.tenant_id = $1 AND s.id = $2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Session::try_from).transpose()
    }

    async fn session_details(&self, tenant: TenantId, id: SessionId) -> Result<Option<SessionDetails>, StoreError> {
        let row = sqlx::query_as!(
            DetailsRow,
            r#"
            SELECT
                s.ip_address,
                s.user_agent,
                s.methods,
                s.authenticated_at,
                s.created_at,
                s.last_used_at,
                s.expires_at,
                s.refresh_tag_key,
                s.refresh_current,
                s.spent_hash,
                s.spent_nonce,
                s.spent_at,
                s.provider_id,
                s.provider_session,
                s.actor_id,
                s.actor_session_id,
                s.actor_reason,
                s.read_only,
                u.id AS user_id,
                u.kind AS user_kind,
                u.email AS user_email,
                u.email_verified_at AS user_email_verified_at,
                u.first_name AS user_first_name,
                u.last_name AS user_last_name,
                u.external_id AS user_external_id,
                u.home_organization_id AS user_home_organization_id,
                u.status AS user_status,
                u.last_login_at AS user_last_login_at,
                u.created_at AS user_created_at,
                u.updated_at AS user_updated_at,
                u.version AS user_version,
                t.id AS tenant_id,
                t.name AS tenant_name,
                t.slug AS tenant_slug,
                t.status AS tenant_status,
                t.password_policy AS tenant_password_policy,
                t.second_factor AS tenant_second_factor,
                t.second_factor_grace_days AS tenant_second_factor_grace_days,
                t.second_factor_required_at AS tenant_second_factor_required_at,
                t.password_login AS tenant_password_login,
                t.email_login AS tenant_email_login,
                t.authzen_identifiers AS tenant_authzen_identifiers,
                t.user_attributes AS tenant_user_attributes,
                t.organization_attributes AS tenant_organization_attributes,
                t.unregistered_attributes AS tenant_unregistered_attributes,
                t.created_at AS tenant_created_at,
                t.updated_at AS tenant_updated_at,
                t.version AS tenant_version
            FROM iam.sessions s
            JOIN iam.users u ON u.tenant_id = s.tenant_id AND u.id = s.user_id
            JOIN iam.tenants t ON t.id = s.tenant_id
            WHERE s.tenant_id = $1 AND s.id = $2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        let row = self.answer(row.fetch_optional(&self.reads_of(tenant))).await?;
        row.map(|row| row.details(id)).transpose()
    }

    async fn sessions_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<Session>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                s.tenant_id, s.id, s.user_id, s.ip_address, s.user_agent, s.methods, s.authenticated_at, s.created_at,
                s.last_used_at, s.expires_at, s.refresh_tag_key, s.refresh_current, s.spent_hash, s.spent_nonce,
                s.spent_at, s.provider_id, s.provider_session, s.actor_id, s.actor_session_id, s.actor_reason,
                s.read_only
            FROM iam.sessions s
            WHERE s.tenant_id = $1 AND s.user_id = $2
            ORDER BY s.created_at DESC, s.id
            "#,
            tenant.as_uuid(),
            user.as_uuid()
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Session::try_from).collect()
    }

    async fn sessions_of_provider(
        &self,
        tenant: TenantId,
        provider: IdentityProviderId,
        session: &str,
    ) -> Result<Vec<Session>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                s.tenant_id, s.id, s.user_id, s.ip_address, s.user_agent, s.methods, s.authenticated_at, s.created_at,
                s.last_used_at, s.expires_at, s.refresh_tag_key, s.refresh_current, s.spent_hash, s.spent_nonce,
                s.spent_at, s.provider_id, s.provider_session, s.actor_id, s.actor_session_id, s.actor_reason,
                s.read_only
            FROM iam.sessions s
            WHERE s.tenant_id = $1 AND s.provider_id = $2 AND s.provider_session = $3
            ORDER BY s.id
            "#,
            tenant.as_uuid(),
            provider.as_uuid(),
            session
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Session::try_from).collect()
    }
}

// PostgreSQL locks rows in the order in which it returns them. All transactions lock sessions in the order of their
// identifiers, so two that lock the same sessions never deadlock.
#[async_trait]
impl SessionTransaction for PostgresTransaction {
    async fn lock_session(&mut self, id: SessionId) -> Result<Option<Session>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                s.tenant_id, s.id, s.user_id, s.ip_address, s.user_agent, s.methods, s.authenticated_at, s.created_at,
                s.last_used_at, s.expires_at, s.refresh_tag_key, s.refresh_current, s.spent_hash, s.spent_nonce,
                s.spent_at, s.provider_id, s.provider_session, s.actor_id, s.actor_session_id, s.actor_reason,
                s.read_only
            FROM iam.sessions s
            WHERE s.tenant_id = $1 AND s.id = $2
            FOR UPDATE
            "#,
            self.tenant(),
            id.as_uuid()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(Session::try_from).transpose()
    }

    async fn lock_session_with_impersonations(&mut self, id: SessionId) -> Result<Vec<Session>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                s.tenant_id, s.id, s.user_id, s.ip_address, s.user_agent, s.methods, s.authenticated_at, s.created_at,
                s.last_used_at, s.expires_at, s.refresh_tag_key, s.refresh_current, s.spent_hash, s.spent_nonce,
                s.spent_at, s.provider_id, s.provider_session, s.actor_id, s.actor_session_id, s.actor_reason,
                s.read_only
            FROM iam.sessions s
            WHERE s.tenant_id = $1 AND (s.id = $2 OR s.actor_session_id = $2)
            ORDER BY s.id
            FOR UPDATE
            "#,
            self.tenant(),
            id.as_uuid()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Session::try_from).collect()
    }

    async fn lock_sessions_of(&mut self, user: UserId) -> Result<Vec<Session>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                s.tenant_id, s.id, s.user_id, s.ip_address, s.user_agent, s.methods, s.authenticated_at, s.created_at,
                s.last_used_at, s.expires_at, s.refresh_tag_key, s.refresh_current, s.spent_hash, s.spent_nonce,
                s.spent_at, s.provider_id, s.provider_session, s.actor_id, s.actor_session_id, s.actor_reason,
                s.read_only
            FROM iam.sessions s
            WHERE s.tenant_id = $1 AND (s.user_id = $2 OR s.actor_id = $2)
            ORDER BY s.id
            FOR UPDATE
            "#,
            self.tenant(),
            user.as_uuid()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        let mut sessions: Vec<Session> = rows.into_iter().map(Session::try_from).collect::<Result<_, _>>()?;
        sessions.sort_by_key(|session| (Reverse(session.created_at), session.id));
        Ok(sessions)
    }

    async fn lock_sessions(&mut self, limit: u32) -> Result<Vec<Session>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                s.tenant_id, s.id, s.user_id, s.ip_address, s.user_agent, s.methods, s.authenticated_at, s.created_at,
                s.last_used_at, s.expires_at, s.refresh_tag_key, s.refresh_current, s.spent_hash, s.spent_nonce,
                s.spent_at, s.provider_id, s.provider_session, s.actor_id, s.actor_session_id, s.actor_reason,
                s.read_only
            FROM iam.sessions s
            WHERE s.tenant_id = $1
            ORDER BY s.id
            LIMIT $2
            FOR UPDATE
            "#,
            self.tenant(),
            i64::from(limit)
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Session::try_from).collect()
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_session(&mut self, change: &SessionChange) -> Result<(), StoreError> {
        match change {
            SessionChange::Start(session) => self.insert_session(session).await,
            SessionChange::Impersonate { session, .. } => self.insert_impersonation(session).await,
            SessionChange::Refresh(session) => self.update_session(session).await,
            SessionChange::StepUp { session, .. } => self.step_up_session(session).await,
            // Only its audit entry is written.
            SessionChange::RepeatRefresh(_) => Ok(()),
            SessionChange::End { sessions, .. } | SessionChange::Forget(sessions) => {
                self.delete_sessions(sessions).await
            }
        }
    }

    /// Inserts a session, and keeps the time of the login.
    async fn insert_session(&mut self, session: &Session) -> Result<(), StoreError> {
        if self.insert_distributed_session(session).await? {
            return Ok(());
        }
        let refresh = &session.refresh;
        let insert = sqlx::query!(
            r#"
            WITH logged_in AS (
                UPDATE iam.users SET last_login_at = $6, version = version + 1 WHERE tenant_id = $1 AND id = $3
            )
            INSERT INTO iam.sessions (
                tenant_id, id, user_id, ip_address, user_agent, created_at, last_used_at, expires_at, refresh_tag_key,
                refresh_current, spent_hash, spent_nonce, spent_at, methods, authenticated_at,
                provider_id, provider_session
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
            "#,
            self.tenant(),
            session.id.as_uuid(),
            session.user_id.as_uuid(),
            session.ip_address.map(|address| address.to_string()),
            session.user_agent.as_ref().map(UserAgent::as_str),
            in_range(session.created_at),
            in_range(session.last_used_at),
            in_range(session.expires_at),
            refresh.tag_key.as_slice(),
            refresh.current.as_slice(),
            refresh.spent.as_ref().map(|spent| spent.hash.as_slice()),
            refresh.spent.as_ref().map(|spent| spent.nonce.as_slice()),
            refresh.spent.as_ref().map(|spent| in_range(spent.at)),
            session.methods.to_string(),
            in_range(session.authenticated_at),
            session.provider.as_ref().map(|provider| provider.provider_id.as_uuid()),
            session.provider.as_ref().and_then(|provider| provider.session.as_deref())
        );
        self.execute(insert).await.map(drop)
    }

    /// Inserts a session in which another user acts. Its user has not logged in.
    async fn insert_impersonation(&mut self, session: &Session) -> Result<(), StoreError> {
        let (by, refresh) = (session.impersonator(), &session.refresh);
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.sessions (
                tenant_id, id, user_id, ip_address, user_agent, created_at, last_used_at, expires_at, refresh_tag_key,
                refresh_current, methods, authenticated_at, actor_id, actor_session_id, actor_reason, read_only
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
            "#,
            self.tenant(),
            session.id.as_uuid(),
            session.user_id.as_uuid(),
            session.ip_address.map(|address| address.to_string()),
            session.user_agent.as_ref().map(UserAgent::as_str),
            in_range(session.created_at),
            in_range(session.last_used_at),
            in_range(session.expires_at),
            refresh.tag_key.as_slice(),
            refresh.current.as_slice(),
            session.methods.to_string(),
            in_range(session.authenticated_at),
            by.map(|by| by.user.as_uuid()),
            by.map(|by| by.session.as_uuid()),
            session.impersonation.as_ref().map(|impersonation| impersonation.reason.as_str()),
            by.is_some_and(|by| by.is_read_only)
        );
        self.execute(insert).await.map(drop)
    }

    /// Writes the columns that a refresh changes.
    async fn update_session(&mut self, session: &Session) -> Result<(), StoreError> {
        let refresh = &session.refresh;
        let update = sqlx::query!(
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
            in_range(session.last_used_at),
            in_range(session.expires_at),
            refresh.current.as_slice(),
            refresh.spent.as_ref().map(|spent| spent.hash.as_slice()),
            refresh.spent.as_ref().map(|spent| spent.nonce.as_slice()),
            refresh.spent.as_ref().map(|spent| in_range(spent.at))
        );
        expect_row(self.execute(update).await?, "session")
    }

    /// Writes the columns that a step-up changes.
    async fn step_up_session(&mut self, session: &Session) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.sessions
            SET methods = $3, authenticated_at = $4, provider_id = $5, provider_session = $6
            WHERE tenant_id = $1 AND id = $2
            "#,
            self.tenant(),
            session.id.as_uuid(),
            session.methods.to_string(),
            in_range(session.authenticated_at),
            session.provider.as_ref().map(|provider| provider.provider_id.as_uuid()),
            session.provider.as_ref().and_then(|provider| provider.session.as_deref())
        );
        expect_row(self.execute(update).await?, "session")
    }

    async fn delete_sessions(&mut self, sessions: &[Session]) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = sessions.iter().map(|session| session.id.as_uuid()).collect();
        let delete =
            sqlx::query!("DELETE FROM iam.sessions WHERE tenant_id = $1 AND id = ANY($2)", self.tenant(), &ids);
        self.execute(delete).await.map(drop)
    }
}
