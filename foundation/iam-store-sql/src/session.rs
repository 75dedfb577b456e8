//! Sessions.

use iam_model::clock::Timestamp;
use iam_model::context::UserAgent;
use iam_model::factor::FactorDemand;
use iam_model::session::{RefreshState, Session, SpentToken};
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, bytes_32, grace_days, moment, moment_optional, parse, parse_optional};

/// A session as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct SessionRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub user_id: Uuid,
    pub ip_address: Option<String>,
    pub user_agent: Option<String>,
    pub methods: String,
    pub authenticated_at: Option<T>,
    pub created_at: T,
    pub last_used_at: T,
    pub expires_at: T,
    pub refresh_tag_key: Vec<u8>,
    pub refresh_current: Vec<u8>,
    pub spent_hash: Option<Vec<u8>>,
    pub spent_nonce: Option<Vec<u8>>,
    pub spent_at: Option<T>,
}

impl<T: StoredMoment> TryFrom<SessionRow<T>> for Session {
    type Error = StoreError;

    fn try_from(row: SessionRow<T>) -> Result<Self, StoreError> {
        let spent = match (row.spent_hash, row.spent_nonce, row.spent_at) {
            (Some(hash), Some(nonce), Some(at)) => Some(SpentToken {
                hash: bytes_32("sessions.spent_hash", &hash)?,
                nonce: bytes_32("sessions.spent_nonce", &nonce)?,
                at: moment("sessions.spent_at", at)?,
            }),
            _ => None,
        };
        let refresh = RefreshState {
            tag_key: bytes_32("sessions.refresh_tag_key", &row.refresh_tag_key)?,
            current: bytes_32("sessions.refresh_current", &row.refresh_current)?,
            spent,
        };
        let created_at = moment("sessions.created_at", row.created_at)?;
        let authenticated_at = moment_optional("sessions.authenticated_at", row.authenticated_at)?;
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            user_id: row.user_id.into(),
            ip_address: parse_optional("sessions.ip_address", row.ip_address.as_deref())?,
            user_agent: row.user_agent.as_deref().map(UserAgent::new),
            methods: parse("sessions.methods", &row.methods)?,
            authenticated_at: authenticated_at.unwrap_or(created_at),
            created_at,
            last_used_at: moment("sessions.last_used_at", row.last_used_at)?,
            expires_at: moment("sessions.expires_at", row.expires_at)?,
            refresh,
        })
    }
}

/// Returns until when a user must set up a second factor, from the columns of a session snapshot. Whether the user has
/// one matters only where the tenant requires it.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when a value is not valid.
pub fn enrol_by<T: StoredMoment>(
    required_at: Option<T>,
    grace: i64,
    user_created_at: T,
    has_factor: bool,
) -> Result<Option<Timestamp>, StoreError> {
    let demand = FactorDemand {
        required_at: moment_optional("tenants.second_factor_required_at", required_at)?,
        grace: grace_days("tenants.second_factor_grace_days", grace)?,
    };
    let enrol_by = demand.enrol_by(moment("users.created_at", user_created_at)?);
    Ok(enrol_by.filter(|_| !has_factor))
}

/// Selects sessions; the literal says which.
#[doc(hidden)]
#[macro_export]
macro_rules! select_sessions {
    ($row:ident, $which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            r#"
            SELECT
                s.tenant_id,
                s.id,
                s.user_id,
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
                s.spent_at
            "# + $which,
            $($argument),+
        )
    };
}

/// Implements the ports of sessions; see [`store`](crate::store).
///
/// The store also has a method `read_session_snapshot`, and the transaction a method `delete_sessions`, because each
/// database has its own way to read and to bind many rows. `last_login` is the statement that keeps the time of the
/// login, if `insert` does not: always, or only if the tables are distributed.
#[macro_export]
macro_rules! session_ports {
    (
        $store:ident,
        $transaction:ident,
        by_id: $by_id:literal,
        details: $details:literal,
        of_user: $of_user:literal,
        lock: $lock:literal,
        lock_of_user: $lock_of_user:literal,
        lock_some: $lock_some:literal,
        insert: ($($insert:tt)+),
        $(last_login: $last_login:literal,)?
        $(distributed_last_login: $distributed_last_login:literal,)?
        update: ($($update:tt)+),
        step_up: ($($step_up:tt)+) $(,)?
    ) => {
        const _: () = {
            use iam_model::change::SessionChange;
            use iam_model::context::UserAgent;
            use iam_model::id::{SessionId, TenantId, UserId};
            use iam_model::session::Session;
            use iam_model::store::{SessionDetails, SessionSnapshot, SessionStore, SessionTransaction};
            use iam_model::store_error::StoreError;
            use std::cmp::Reverse;
            use $crate::error::expect_row;
            use $crate::store::SqlStore;

            type Row = $crate::session::SessionRow<<$store as SqlStore>::Moment>;

            #[async_trait::async_trait]
            impl SessionStore for $store {
                async fn session_snapshot(
                    &self,
                    tenant: TenantId,
                    session: SessionId,
                ) -> Result<Option<SessionSnapshot>, StoreError> {
                    self.read_session_snapshot(tenant, session).await
                }

                async fn session(&self, tenant: TenantId, id: SessionId) -> Result<Option<Session>, StoreError> {
                    let row = $crate::select_sessions!(Row, $by_id, tenant.as_uuid(), id.as_uuid());
                    self.answer(row.fetch_optional(&self.reads())).await?.map(Session::try_from).transpose()
                }

                async fn session_details(
                    &self,
                    tenant: TenantId,
                    id: SessionId,
                ) -> Result<Option<SessionDetails>, StoreError> {
                    let row = $crate::select_with_user_and_tenant!(
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
                            s.spent_at
                        "#,
                        $details,
                        tenant.as_uuid(),
                        id.as_uuid()
                    );
                    let row = self.answer(row.fetch_optional(&self.reads())).await?;
                    let Some(row) = row else { return Ok(None) };
                    let Some((user, tenant)) = $crate::user_and_tenant!(row) else { return Ok(None) };
                    let session = Row {
                        tenant_id: tenant.id,
                        id: id.as_uuid(),
                        user_id: user.id,
                        ip_address: row.ip_address,
                        user_agent: row.user_agent,
                        methods: row.methods,
                        authenticated_at: row.authenticated_at,
                        created_at: row.created_at,
                        last_used_at: row.last_used_at,
                        expires_at: row.expires_at,
                        refresh_tag_key: row.refresh_tag_key,
                        refresh_current: row.refresh_current,
                        spent_hash: row.spent_hash,
                        spent_nonce: row.spent_nonce,
                        spent_at: row.spent_at,
                    };
                    let (session, user, tenant) = (session.try_into()?, user.try_into()?, tenant.try_into()?);
                    Ok(Some(SessionDetails { session, user, tenant }))
                }

                async fn sessions_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<Session>, StoreError> {
                    let rows = $crate::select_sessions!(Row, $of_user, tenant.as_uuid(), user.as_uuid());
                    self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(Session::try_from).collect()
                }
            }

            #[async_trait::async_trait]
            impl SessionTransaction for $transaction {
                async fn lock_session(&mut self, id: SessionId) -> Result<Option<Session>, StoreError> {
                    let row = $crate::select_sessions!(Row, $lock, self.tenant(), id.as_uuid());
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    row.map(Session::try_from).transpose()
                }

                async fn lock_sessions_of(&mut self, user: UserId) -> Result<Vec<Session>, StoreError> {
                    let rows = $crate::select_sessions!(Row, $lock_of_user, self.tenant(), user.as_uuid());
                    let rows = rows.fetch_all(self.connection()).await.map_err($store::store_error)?;
                    let mut sessions: Vec<Session> =
                        rows.into_iter().map(Session::try_from).collect::<Result<_, _>>()?;
                    sessions.sort_by_key(|session| (Reverse(session.created_at), session.id));
                    Ok(sessions)
                }

                async fn lock_sessions(&mut self, limit: u32) -> Result<Vec<Session>, StoreError> {
                    let rows = $crate::select_sessions!(Row, $lock_some, self.tenant(), i64::from(limit));
                    let rows = rows.fetch_all(self.connection()).await.map_err($store::store_error)?;
                    rows.into_iter().map(Session::try_from).collect()
                }
            }

            impl $transaction {
                pub(crate) async fn write_session(&mut self, change: &SessionChange) -> Result<(), StoreError> {
                    match change {
                        SessionChange::Start(session) => self.insert_session(session).await,
                        SessionChange::Refresh(session) => self.update_session(session).await,
                        SessionChange::StepUp { session, .. } => self.step_up_session(session).await,
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
                        $($insert)+,
                        self.tenant(),
                        session.id.as_uuid(),
                        session.user_id.as_uuid(),
                        session.ip_address.map(|address| address.to_string()),
                        session.user_agent.as_ref().map(UserAgent::as_str),
                        $store::stored(session.created_at),
                        $store::stored(session.last_used_at),
                        $store::stored(session.expires_at),
                        refresh.tag_key.as_slice(),
                        refresh.current.as_slice(),
                        refresh.spent.as_ref().map(|spent| spent.hash.as_slice()),
                        refresh.spent.as_ref().map(|spent| spent.nonce.as_slice()),
                        refresh.spent.as_ref().map(|spent| $store::stored(spent.at)),
                        session.methods.to_string(),
                        $store::stored(session.authenticated_at)
                    )?;
                    $(
                        let user = session.user_id.as_uuid();
                        let update =
                            sqlx::query!($last_login, self.tenant(), user, $store::stored(session.created_at));
                        update.execute(self.connection()).await.map_err($store::store_error)?;
                    )?
                    $(
                        if self.is_distributed() {
                            let (user, at) = (session.user_id.as_uuid(), $store::stored(session.created_at));
                            let update = sqlx::query!($distributed_last_login, self.tenant(), user, at);
                            update.execute(self.connection()).await.map_err($store::store_error)?;
                        }
                    )?
                    Ok(())
                }

                /// Writes the columns that a refresh changes.
                async fn update_session(&mut self, session: &Session) -> Result<(), StoreError> {
                    let refresh = &session.refresh;
                    let updated = execute_audited!(
                        self,
                        $($update)+,
                        self.tenant(),
                        session.id.as_uuid(),
                        $store::stored(session.last_used_at),
                        $store::stored(session.expires_at),
                        refresh.current.as_slice(),
                        refresh.spent.as_ref().map(|spent| spent.hash.as_slice()),
                        refresh.spent.as_ref().map(|spent| spent.nonce.as_slice()),
                        refresh.spent.as_ref().map(|spent| $store::stored(spent.at))
                    )?;
                    expect_row(updated.rows_affected(), "session")
                }

                /// Writes the columns that a step-up changes.
                async fn step_up_session(&mut self, session: &Session) -> Result<(), StoreError> {
                    let updated = execute_audited!(
                        self,
                        $($step_up)+,
                        self.tenant(),
                        session.id.as_uuid(),
                        session.methods.to_string(),
                        $store::stored(session.authenticated_at)
                    )?;
                    expect_row(updated.rows_affected(), "session")
                }
            }
        };
    };
}
