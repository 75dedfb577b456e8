//! The tokens of a session.

use std::borrow::Cow;

use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result};
use iam_model::session::Session;

use crate::engine::Engine;
use crate::session::refresh::NextSecret;
use crate::session::{Tokens, refresh};
use crate::token;
use crate::token::Claims;

/// Returns a new pair of tokens for a session.
pub(crate) fn tokens_for(engine: &Engine, session: &Session, secret: &NextSecret, now: Timestamp) -> Result<Tokens> {
    let lifetime = engine.settings.access_token_lifetime;
    let claims = Claims {
        iss: engine.settings.issuer.clone(),
        aud: engine.settings.audience.clone(),
        sub: session.user_id,
        sid: session.id,
        jti: engine.next_id(),
        tenant_id: session.tenant_id,
        amr: session.methods.amr().into_iter().map(Cow::Borrowed).collect(),
        auth_time: session.authenticated_at.timestamp(),
        iat: now.timestamp(),
        nbf: now.timestamp(),
        exp: (now + lifetime).timestamp(),
    };
    Ok(Tokens {
        access: token::sign(&claims, &engine.keys, now)?,
        refresh: refresh::refresh_token(&session.refresh, session.tenant_id, session.id, secret),
        expires_in: lifetime.to_std().map_err(|cause| Error::internal("access token lifetime", cause))?,
    })
}
