//! The beginning of a session.

use iam_model::change::SessionChange;
use iam_model::error::Result;
use iam_model::factor::AuthenticationMethods;
use iam_model::id::SessionId;
use iam_model::session::Session;
use iam_model::user::User;

use crate::engine::{Engine, UnitOfWork};
use crate::session::tokens::tokens_for;
use crate::session::{LoggedIn, refresh};

/// Begins a session of a user whose identity was just proven by these methods. To be called after
/// [`Engine::refresh_keys`].
pub(crate) async fn open_session(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    user: User,
    id: SessionId,
    methods: AuthenticationMethods,
) -> Result<LoggedIn> {
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
        authenticated_at: now,
        created_at: now,
        last_used_at: now,
        expires_at: iam.settings.session_expiry(now, now),
        refresh,
    };
    let tokens = tokens_for(iam, &session, &secret, now)?;
    work.apply(SessionChange::Start(session)).await?;
    let user = User { last_login_at: Some(now), version: user.version.next(), ..user };
    Ok(LoggedIn { user, tokens, enrol_by: None })
}
