use async_trait::async_trait;
use iam_model::change::SessionChange;
use iam_model::id::{IdentityProviderId, SessionId, TenantId, UserId};
use iam_model::session::Session;
use iam_model::store::{SessionDetails, SessionSnapshot, SessionStore, SessionTransaction};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, newest_first};

#[async_trait]
impl SessionStore for MemoryStore {
    async fn session_snapshot(
        &self,
        tenant: TenantId,
        session: SessionId,
    ) -> Result<Option<SessionSnapshot>, StoreError> {
        let state = self.tenant_state(tenant);
        let snapshot = |session: &Session| {
            let (tenant, user) = (state.tenant.as_ref()?, state.users.get(&session.user_id)?);
            let has_factor = state.has_factor(session.user_id);
            Some(SessionSnapshot {
                user_id: session.user_id,
                user_status: user.status,
                tenant_status: tenant.status,
                expires_at: session.expires_at,
                impersonator: session.impersonator(),
                enrol_by: tenant.factor_demand().restricts_session_from(user.created_at, &session.methods, has_factor),
                authzen_identifiers: tenant.authzen_identifiers,
                grants: state.grants(|assignment| assignment.user_id == session.user_id),
            })
        };
        Ok(state.sessions.get(&session).and_then(snapshot))
    }

    async fn session(&self, tenant: TenantId, id: SessionId) -> Result<Option<Session>, StoreError> {
        Ok(self.tenant_state(tenant).sessions.get(&id).cloned())
    }

    async fn session_details(&self, tenant: TenantId, id: SessionId) -> Result<Option<SessionDetails>, StoreError> {
        let state = self.tenant_state(tenant);
        let details = |session: &Session| {
            Some(SessionDetails {
                user: state.users.get(&session.user_id)?.clone(),
                tenant: state.tenant.clone()?,
                session: session.clone(),
            })
        };
        Ok(state.sessions.get(&id).and_then(details))
    }

    async fn sessions_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<Session>, StoreError> {
        Ok(self.tenant_state(tenant).sessions_of(user))
    }

    async fn sessions_of_provider(
        &self,
        tenant: TenantId,
        provider: IdentityProviderId,
        session: &str,
    ) -> Result<Vec<Session>, StoreError> {
        let began_by = |found: &&Session| {
            let by = found.provider.as_ref();
            by.is_some_and(|by| by.provider_id == provider && by.session.as_deref() == Some(session))
        };
        Ok(self.tenant_state(tenant).sessions.values().filter(began_by).cloned().collect())
    }
}

#[async_trait]
impl SessionTransaction for MemoryTransaction {
    async fn lock_session(&mut self, id: SessionId) -> Result<Option<Session>, StoreError> {
        Ok(self.draft.sessions.get(&id).cloned())
    }

    async fn lock_session_with_impersonations(&mut self, id: SessionId) -> Result<Vec<Session>, StoreError> {
        let is_of = |session: &&Session| session.id == id || session.impersonator().is_some_and(|by| by.session == id);
        Ok(self.draft.sessions.values().filter(is_of).cloned().collect())
    }

    async fn lock_sessions_of(&mut self, user: UserId) -> Result<Vec<Session>, StoreError> {
        Ok(self.draft.sessions_that(|session| {
            session.user_id == user || session.impersonator().is_some_and(|by| by.user == user)
        }))
    }

    async fn lock_sessions(&mut self, limit: u32) -> Result<Vec<Session>, StoreError> {
        Ok(self.draft.sessions.values().take(limit as usize).cloned().collect())
    }
}

impl TenantState {
    fn sessions_of(&self, user: UserId) -> Vec<Session> {
        self.sessions_that(|session| session.user_id == user)
    }

    fn sessions_that(&self, is_wanted: impl Fn(&Session) -> bool) -> Vec<Session> {
        let mut sessions: Vec<Session> = self.sessions.values().filter(|session| is_wanted(session)).cloned().collect();
        newest_first(&mut sessions, |session| (session.created_at, session.id));
        sessions
    }

    pub(super) fn write_session(&mut self, change: &SessionChange) -> Result<(), StoreError> {
        match change {
            SessionChange::Start(session) => {
                let user = self.users.get_mut(&session.user_id).ok_or(StoreError::Conflict(Constraint::Reference))?;
                user.last_login_at = Some(session.created_at);
                user.version = user.version.next();
                self.sessions.insert(session.id, session.clone());
            }
            SessionChange::Impersonate { session, .. } => {
                self.users.get(&session.user_id).ok_or(StoreError::Conflict(Constraint::Reference))?;
                self.sessions.insert(session.id, session.clone());
            }
            SessionChange::Refresh(session) => {
                let stored = self.sessions.get_mut(&session.id).ok_or(StoreError::Missing("session"))?;
                *stored = session.clone();
            }
            SessionChange::StepUp { session, .. } => {
                let stored = self.sessions.get_mut(&session.id).ok_or(StoreError::Missing("session"))?;
                stored.methods = session.methods.clone();
                stored.authenticated_at = session.authenticated_at;
                stored.provider.clone_from(&session.provider);
            }
            SessionChange::RepeatRefresh(_) => {}
            SessionChange::End { sessions, .. } | SessionChange::Forget(sessions) => {
                self.sessions.retain(|id, _| sessions.iter().all(|ended| ended.id != *id));
            }
        }
        Ok(())
    }
}
