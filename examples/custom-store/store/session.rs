use std::net::IpAddr;

use async_trait::async_trait;
use iam_model::change::SessionChange;
use iam_model::clock::Timestamp;
use iam_model::context::{Impersonator, UserAgent};
use iam_model::factor::{AuthenticationMethods, Factor};
use iam_model::id::{IdentityProviderId, SessionId, TenantId, UserId};
use iam_model::session::{Impersonation, ProviderSession, RefreshState, Session, SpentToken};
use iam_model::store::{SessionDetails, SessionSnapshot, SessionStore, SessionTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::tenant::Tenant;
use iam_model::user::User;
use serde::{Deserialize, Serialize};

use super::rows::{Draft, Keys, Row, View, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, newest_first};

/// A session. `Session` does not implement the traits of serde, because only a store may see its refresh state.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SessionRow(#[serde(with = "SessionFields")] pub(super) Session);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Session")]
struct SessionFields {
    id: SessionId,
    tenant_id: TenantId,
    user_id: UserId,
    ip_address: Option<IpAddr>,
    #[serde(with = "user_agent")]
    user_agent: Option<UserAgent>,
    #[serde(with = "methods")]
    methods: AuthenticationMethods,
    authenticated_at: Timestamp,
    created_at: Timestamp,
    last_used_at: Timestamp,
    expires_at: Timestamp,
    #[serde(with = "RefreshFields")]
    refresh: RefreshState,
    provider: Option<ProviderSession>,
    #[serde(with = "impersonation")]
    impersonation: Option<Impersonation>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "RefreshState")]
struct RefreshFields {
    tag_key: [u8; 32],
    current: [u8; 32],
    #[serde(with = "spent")]
    spent: Option<SpentToken>,
}

/// The text of a `User-Agent` header.
pub(super) mod user_agent {
    use iam_model::context::UserAgent;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(in crate::store) fn serialize<S: Serializer>(agent: &Option<UserAgent>, to: S) -> Result<S::Ok, S::Error> {
        agent.as_ref().map(UserAgent::as_str).serialize(to)
    }

    pub(in crate::store) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<UserAgent>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.as_deref().map(UserAgent::new))
    }
}

mod methods {
    use iam_model::factor::AuthenticationMethods;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(methods: &AuthenticationMethods, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(methods)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<AuthenticationMethods, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

mod impersonation {
    use iam_model::context::Impersonator;
    use iam_model::id::{SessionId, UserId};
    use iam_model::session::Impersonation;
    use iam_model::validate::Reason;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    type Fields = (UserId, SessionId, bool, Reason);

    pub(super) fn serialize<S: Serializer>(found: &Option<Impersonation>, to: S) -> Result<S::Ok, S::Error> {
        found.as_ref().map(|Impersonation { by, reason }| (by.user, by.session, by.is_read_only, reason)).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Impersonation>, D::Error> {
        let fields = Option::<Fields>::deserialize(from)?;
        Ok(fields.map(|(user, session, is_read_only, reason)| Impersonation {
            by: Impersonator { user, session, is_read_only },
            reason,
        }))
    }
}

mod spent {
    use iam_model::clock::Timestamp;
    use iam_model::session::SpentToken;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    type Fields = ([u8; 32], [u8; 32], Timestamp);

    pub(super) fn serialize<S: Serializer>(spent: &Option<SpentToken>, to: S) -> Result<S::Ok, S::Error> {
        spent.as_ref().map(|spent| (spent.hash, spent.nonce, spent.at)).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SpentToken>, D::Error> {
        Ok(Option::<Fields>::deserialize(from)?.map(|(hash, nonce, at)| SpentToken { hash, nonce, at }))
    }
}

impl Row for SessionRow {
    const TABLE: &'static str = "sessions";

    fn key(&self) -> Vec<u8> {
        key(self.0.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.0.tenant_id = tenant;
    }
}

#[async_trait]
impl SessionStore for RedbStore {
    // All reads see the same snapshot: a status that is read later than the grants could belong to other grants.
    async fn session_snapshot(
        &self,
        tenant: TenantId,
        session: SessionId,
    ) -> Result<Option<SessionSnapshot>, StoreError> {
        self.read(tenant, |view| {
            let Some(session) = view.session(session)? else { return Ok(None) };
            let Some(user) = view.get::<User>(&key(session.user_id))? else { return Ok(None) };
            let Some(tenant) = view.get::<Tenant>(&[])? else { return Ok(None) };
            let has_factor = view.factors(user.id)?.iter().any(Factor::is_confirmed);
            let demand = tenant.factor_demand();
            Ok(Some(SessionSnapshot {
                user_id: user.id,
                user_status: user.status,
                tenant_status: tenant.status,
                expires_at: session.expires_at,
                impersonator: session.impersonator(),
                enrol_by: demand.restricts_session_from(user.created_at, &session.methods, has_factor),
                authzen_identifiers: tenant.authzen_identifiers,
                grants: view.grants(|assignment| assignment.user_id == user.id)?,
            }))
        })
    }

    async fn session(&self, tenant: TenantId, id: SessionId) -> Result<Option<Session>, StoreError> {
        self.read(tenant, |view| view.session(id))
    }

    async fn session_details(&self, tenant: TenantId, id: SessionId) -> Result<Option<SessionDetails>, StoreError> {
        self.read(tenant, |view| {
            let Some(session) = view.session(id)? else { return Ok(None) };
            let Some(user) = view.get::<User>(&key(session.user_id))? else { return Ok(None) };
            let Some(tenant) = view.get::<Tenant>(&[])? else { return Ok(None) };
            Ok(Some(SessionDetails { session, user, tenant }))
        })
    }

    async fn sessions_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<Session>, StoreError> {
        self.read(tenant, |view| view.sessions_of(user))
    }

    async fn sessions_of_provider(
        &self,
        tenant: TenantId,
        provider: IdentityProviderId,
        session: &str,
    ) -> Result<Vec<Session>, StoreError> {
        let began_by = |SessionRow(found): &SessionRow| {
            let by = found.provider.as_ref();
            by.is_some_and(|by| by.provider_id == provider && by.session.as_deref() == Some(session))
        };
        let found = self.read(tenant, |view| view.select(began_by))?;
        Ok(found.into_iter().map(|SessionRow(session)| session).collect())
    }
}

#[async_trait]
impl SessionTransaction for RedbTransaction {
    async fn lock_session(&mut self, id: SessionId) -> Result<Option<Session>, StoreError> {
        self.view().session(id)
    }

    async fn lock_session_with_impersonations(&mut self, id: SessionId) -> Result<Vec<Session>, StoreError> {
        let found =
            self.view().select(|SessionRow(session)| session.id == id || acts(session, |by| by.session == id))?;
        Ok(found.into_iter().map(|SessionRow(session)| session).collect())
    }

    async fn lock_sessions_of(&mut self, user: UserId) -> Result<Vec<Session>, StoreError> {
        self.view().sessions_that(|session| session.user_id == user || acts(session, |by| by.user == user))
    }

    async fn lock_sessions(&mut self, limit: u32) -> Result<Vec<Session>, StoreError> {
        let found = self.view().take(Keys::all(), limit, |_: &SessionRow| true)?;
        Ok(found.into_iter().map(|SessionRow(session)| session).collect())
    }
}

/// Whether a user acts in a session of another one, and fits.
fn acts(session: &Session, fits: impl Fn(Impersonator) -> bool) -> bool {
    session.impersonator().is_some_and(fits)
}

impl View<'_> {
    fn session(self, id: SessionId) -> Result<Option<Session>, StoreError> {
        Ok(self.get(&key(id))?.map(|SessionRow(session)| session))
    }

    fn sessions_of(self, user: UserId) -> Result<Vec<Session>, StoreError> {
        self.sessions_that(|session| session.user_id == user)
    }

    fn sessions_that(self, is_wanted: impl Fn(&Session) -> bool) -> Result<Vec<Session>, StoreError> {
        let found = self.select(|SessionRow(session)| is_wanted(session))?;
        let found = found.into_iter().map(|SessionRow(session)| session).collect();
        Ok(newest_first(found, |session: &Session| (session.created_at, session.id)))
    }
}

impl Draft<'_> {
    pub(super) fn write_session(self, change: &SessionChange) -> Result<(), StoreError> {
        match change {
            SessionChange::Start(session) => {
                let user: Option<User> = self.view().get(&key(session.user_id))?;
                let user = user.ok_or(StoreError::Conflict(Constraint::Reference))?;
                self.put(User { last_login_at: Some(session.created_at), version: user.version.next(), ..user })?;
                self.put(SessionRow(session.clone()))
            }
            SessionChange::Impersonate { session, .. } => {
                if !self.view().has::<User>(&key(session.user_id))? {
                    return Err(StoreError::Conflict(Constraint::Reference));
                }
                self.put(SessionRow(session.clone()))
            }
            SessionChange::Refresh(session) => {
                if !self.view().has::<SessionRow>(&key(session.id))? {
                    return Err(StoreError::Missing("session"));
                }
                self.put(SessionRow(session.clone()))
            }
            SessionChange::StepUp { session: after, .. } => {
                let stored = self.view().session(after.id)?.ok_or(StoreError::Missing("session"))?;
                let (methods, provider) = (after.methods.clone(), after.provider.clone());
                let authenticated_at = after.authenticated_at;
                self.put(SessionRow(Session { methods, authenticated_at, provider, ..stored }))
            }
            SessionChange::RepeatRefresh(_) => Ok(()),
            SessionChange::End { sessions, .. } | SessionChange::Forget(sessions) => {
                sessions.iter().try_for_each(|session| self.remove::<SessionRow>(&key(session.id)).map(drop))
            }
        }
    }
}
