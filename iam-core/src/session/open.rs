//! The beginning of a session.

use std::cmp::Reverse;

use iam_model::change::SessionChange;
use iam_model::clock::Timestamp;
use iam_model::error::Result;
use iam_model::factor::AuthenticationMethods;
use iam_model::id::SessionId;
use iam_model::session::{EndReason, ProviderSession, Session};
use iam_model::user::User;

use crate::engine::{Engine, UnitOfWork};
use crate::session::service::end_selected;
use crate::session::tokens::tokens_for;
use crate::session::{LoggedIn, refresh};

/// How the identity of a user was proven.
pub(crate) struct Proof {
    pub(crate) methods: AuthenticationMethods,
    /// When it was proven. `None` for now.
    pub(crate) authenticated_at: Option<Timestamp>,
    /// The session at the identity provider that has proven it.
    pub(crate) provider: Option<ProviderSession>,
}

impl From<AuthenticationMethods> for Proof {
    fn from(methods: AuthenticationMethods) -> Self {
        Self { methods, authenticated_at: None, provider: None }
    }
}

/// Begins a session of a user whose identity was proven. To be called after [`Engine::refresh_keys`].
pub(crate) async fn open_session(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    user: User,
    id: SessionId,
    proof: impl Into<Proof>,
) -> Result<LoggedIn> {
    let Proof { methods, authenticated_at, provider } = proof.into();
    let now = work.now();
    let context = work.caller().context();
    let (refresh, secret) = refresh::start(&*iam.random);
    let session = Session {
        id,
        tenant_id: user.tenant_id,
        user_id: user.id,
        ip_address: context.ip_address,
        user_agent: context.user_agent.clone(),
        methods,
        authenticated_at: authenticated_at.unwrap_or(now),
        created_at: now,
        last_used_at: now,
        expires_at: iam.settings.session_expiry(now, now),
        refresh,
        provider,
        impersonation: None,
    };
    let attributes = iam.attribute_claims(work, user.id).await?;
    let tokens = tokens_for(iam, &session, &secret, attributes.as_ref(), now)?;
    let sessions = work.reads().lock_sessions_of(user.id).await?;
    // Another user who acts as this one must not end the sessions of the person.
    let logins = sessions.iter().filter(|session| session.impersonation.is_none()).cloned().collect();
    let surplus = surplus(logins, iam.settings.max_sessions_of_user);
    let is_surplus = |session: &Session| surplus.iter().any(|surplus| surplus.id == session.id);
    end_selected(work, (user.id, sessions), EndReason::Terminated, is_surplus).await?;
    work.apply(SessionChange::Start(session)).await?;
    let user = User { last_login_at: Some(now), version: user.version.next(), ..user };
    Ok(LoggedIn { user, tokens, enrol_by: None })
}

/// Returns which of these sessions must end so that another one can begin: those that were used least recently.
pub(super) fn surplus(mut sessions: Vec<Session>, most: usize) -> Vec<Session> {
    sessions.sort_by_key(|session| Reverse(session.last_used_at));
    sessions.split_off(most.saturating_sub(1).min(sessions.len()))
}
