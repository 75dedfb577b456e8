//! Token introspection (RFC 7662, `docs/http-api.md#introspection`): the facts of a bearer token, for services that
//! cannot verify it themselves.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use iam_model::clock::Timestamp;
use iam_model::context::RequestContext;
use iam_model::error::{Error, Result};
use iam_model::id::{ApiKeyId, SessionId, TenantId, TokenId, UserId};
use iam_model::permission;
use serde_json::{Map, Value};

use crate::caller::Caller;
use crate::iam::Iam;
use crate::token::{IssuedAttributes, TokenKind};

/// The facts of a live bearer token of the caller's tenant; see [`Iam::introspect`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Introspection {
    /// The user for whom the token acts.
    pub user: UserId,
    /// The tenant of the user.
    pub tenant: TenantId,
    /// Who has issued the token: the [issuer](crate::Settings::issuer) of this installation.
    pub issuer: String,
    /// When the token was issued.
    pub issued_at: Timestamp,
    /// The instant from which on the token is refused.
    pub expires_at: Timestamp,
    /// The facts that only this kind of token has.
    pub token: IntrospectedToken,
}

/// The kind of a live bearer token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IntrospectedToken {
    /// An access token of a session that has not ended.
    #[non_exhaustive]
    Access {
        /// Identifies the token: its `jti` claim.
        id: TokenId,
        /// The session of the token: its `sid` claim.
        session: SessionId,
        /// For whom the token is: its `aud` claim.
        audience: String,
        /// By which methods the user has authenticated (RFC 8176): its `amr` claim.
        methods: Vec<Cow<'static, str>>,
        /// When the user has authenticated last: its `auth_time` claim.
        authenticated_at: Timestamp,
        /// The user who acts as the user of the token, if another one does: its `act` claim.
        impersonator: Option<UserId>,
        /// Whether nothing may be changed by the token: its `readOnly` claim.
        is_read_only: bool,
        /// The attributes of the user in the token: its `attributes` claim. `None` if it has none.
        attributes: Option<Map<String, Value>>,
        /// Whether attributes are left out because they did not fit: its `attributesTruncated` claim.
        attributes_truncated: bool,
    },
    /// An API key that was not revoked.
    #[non_exhaustive]
    ApiKey {
        /// Identifies the key.
        id: ApiKeyId,
    },
}

impl Iam {
    /// Returns the facts of a bearer token: an access token or an [API key](crate::api_key) that
    /// [`authenticate`](Self::authenticate) accepts at this moment, of a user of the caller's tenant. `None` for every
    /// other text. A refresh token is not a bearer token, so it is `None`, too.
    ///
    /// The caller needs `sessions:read` in the whole tenant. An introspection of a key counts as a use of it.
    ///
    /// ```
    #[doc = doctest_setup!()]
    /// # use iam_core::session::Login;
    /// # let login = Login { email: "ada@example.com".into(), password: "Passw0rd!".into(), tenant: None };
    /// # let tokens = iam.sessions().login(&RequestContext::default(), login).await?.tokens;
    /// let introspection = iam.introspect(&ada, tokens.access.expose()).await?;
    /// assert_eq!(introspection.map(|token| token.user), ada.user());
    /// assert_eq!(iam.introspect(&ada, tokens.refresh.expose()).await?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]; [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn introspect(&self, caller: &Caller, token: &str) -> Result<Option<Introspection>> {
        self.0.rights(caller).require(&permission::SESSIONS_READ)?;
        match self.introspect_in(caller.tenant(), token).await {
            Err(Error::Unauthenticated(_) | Error::Forbidden(_)) => Ok(None),
            introspection => introspection,
        }
    }

    async fn introspect_in(&self, tenant: TenantId, token: &str) -> Result<Option<Introspection>> {
        let verified = self.verify(token).await?;
        let introspection = match verified.kind() {
            TokenKind::Access(signed) if signed.claims.tenant_id == tenant => {
                let claims = &signed.claims;
                let IssuedAttributes { attributes, attributes_truncated } = IssuedAttributes::of(token);
                let access = IntrospectedToken::Access {
                    id: claims.jti,
                    session: claims.sid,
                    audience: claims.aud.clone(),
                    methods: claims.amr.clone(),
                    authenticated_at: from_seconds(claims.auth_time),
                    impersonator: verified.impersonator(),
                    is_read_only: claims.read_only,
                    attributes,
                    attributes_truncated,
                };
                (from_seconds(claims.iat), from_seconds(claims.exp), access)
            }
            TokenKind::ApiKey(key) if key.tenant == tenant => {
                let Some(snapshot) = self.0.api_key_snapshot(tenant, key.id).await? else { return Ok(None) };
                let Some(end) = snapshot.accepts_until(&key.secret_hash) else { return Ok(None) };
                (snapshot.key.created_at, end, IntrospectedToken::ApiKey { id: key.id })
            }
            TokenKind::Access(_) | TokenKind::ApiKey(_) => return Ok(None),
        };
        self.authenticate_verified(&verified, RequestContext::default()).await?;
        let (issued_at, expires_at, token) = introspection;
        let issuer = self.0.settings.issuer.clone();
        Ok(Some(Introspection { user: verified.user(), tenant, issuer, issued_at, expires_at, token }))
    }
}

fn from_seconds(seconds: i64) -> Timestamp {
    DateTime::<Utc>::from_timestamp(seconds, 0).unwrap_or_default()
}
