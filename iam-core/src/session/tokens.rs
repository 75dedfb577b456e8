//! The tokens of a session.

use std::borrow::Cow;
use std::time::Duration;

use chrono::TimeDelta;
use iam_model::attribute::AttributeClaims;
use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result};
use iam_model::secret::AccessToken;
use iam_model::session::Session;

use crate::engine::Engine;
use crate::session::refresh::NextSecret;
use crate::session::{Tokens, refresh};
use crate::token;
use crate::token::{ActingParty, Claims};

/// Returns a new pair of tokens for a session. The access token expires at the latest when the session does without a
/// refresh: a service that verifies tokens itself does not know the session.
pub(crate) fn tokens_for(
    engine: &Engine,
    session: &Session,
    secret: &NextSecret,
    attributes: Option<&AttributeClaims>,
    now: Timestamp,
) -> Result<Tokens> {
    // In the whole seconds of a claim, it must not expire before the session.
    let ends_at = session.expires_at + TimeDelta::milliseconds(999);
    let expires_at = (now + engine.settings.access_token_lifetime).min(ends_at);
    let (access, expires_in) = access_token(engine, session, expires_at, attributes, now)?;
    Ok(Tokens {
        access,
        refresh: refresh::refresh_token(&session.refresh, session.tenant_id, session.id, secret),
        expires_in,
    })
}

/// Returns an access token for a session, and how long it is valid.
pub(crate) fn access_token(
    engine: &Engine,
    session: &Session,
    expires_at: Timestamp,
    attributes: Option<&AttributeClaims>,
    now: Timestamp,
) -> Result<(AccessToken, Duration)> {
    let claims = Claims {
        iss: engine.settings.issuer.clone(),
        aud: engine.settings.audience.clone(),
        sub: session.user_id,
        sid: session.id,
        jti: engine.next_id(),
        tenant_id: session.tenant_id,
        amr: session.methods.amr().into_iter().map(Cow::Borrowed).collect(),
        auth_time: session.authenticated_at.timestamp(),
        act: session.impersonator().map(|by| ActingParty { sub: by.user }),
        read_only: session.impersonator().is_some_and(|by| by.is_read_only),
        iat: now.timestamp(),
        nbf: now.timestamp(),
        exp: expires_at.timestamp(),
    };
    let expires_in = (expires_at - now).to_std().map_err(|cause| Error::internal("access token lifetime", cause))?;
    Ok((token::sign(&claims, attributes, &engine.keys.tokens, now)?, expires_in))
}
