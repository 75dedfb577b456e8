//! Access tokens: signed JWTs (RFC 7519, RFC 8037) and the keys behind them (`docs/http-api.md#tokens`).

mod api_key;
mod challenge;
mod encryption;
mod link;
mod opaque;
mod refresh;
mod ring;
mod signing_key;
mod verified;
mod webhook;

pub use crate::token::encryption::{MasterKey, MasterKeyError};
pub use crate::token::verified::VerifiedToken;
pub use iam_model::signing_key::{KeyPurpose, PrivateKey, PublicKey, SigningKey};
pub use iam_model::store::KeyStore;

pub(crate) use crate::token::api_key::{ParsedApiKey, api_key_prefix, is_api_key, new_api_key, parse_api_key};
pub(crate) use crate::token::challenge::{new_challenge_token, parse_challenge_token};
pub(crate) use crate::token::link::{LinkKey, parse_link_token};
pub(crate) use crate::token::refresh::RefreshKey;
pub(crate) use crate::token::ring::{KeyRing, RETIREMENT, first_or_stored};
pub(crate) use crate::token::signing_key::{pair, reencrypted};
pub(crate) use crate::token::verified::{SignedToken, TokenKind, VerifiedApiKey, VerifiedTokens};
pub(crate) use crate::token::webhook::WebhookKey;

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use iam_model::attribute::AttributeClaims;
use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result, Unauthenticated};
use iam_model::id::{KeyId, SessionId, TenantId, TokenId, UserId};
use iam_model::secret::AccessToken;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header, encode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The claims of an access token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Claims {
    pub(crate) iss: String,
    pub(crate) aud: String,
    pub(crate) sub: UserId,
    pub(crate) sid: SessionId,
    pub(crate) jti: TokenId,
    pub(crate) tenant_id: TenantId,
    /// By which methods the user has authenticated (RFC 8176).
    #[serde(default)]
    pub(crate) amr: Vec<Cow<'static, str>>,
    /// When the user has authenticated last (OpenID Connect Core §2).
    #[serde(default, rename = "auth_time")]
    pub(crate) auth_time: i64,
    /// The user who acts as the subject (RFC 8693 §4.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) act: Option<ActingParty>,
    /// Whether nothing may be changed by the token.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) read_only: bool,
    pub(crate) iat: i64,
    pub(crate) nbf: i64,
    pub(crate) exp: i64,
}

/// The value of the claim `act`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ActingParty {
    pub(crate) sub: UserId,
}

/// How far ahead the clock of the signing replica may be. An expiry has no leeway.
const CLOCK_SKEW: TimeDelta = TimeDelta::seconds(60);

impl Claims {
    /// Checks whether the token is valid at `now`.
    pub(crate) fn check_times(&self, now: Timestamp) -> Result<(), Unauthenticated> {
        if self.exp <= now.timestamp() {
            return Err(Unauthenticated::ExpiredToken);
        }
        if self.nbf > (now + CLOCK_SKEW).timestamp() {
            return Err(Unauthenticated::InvalidToken);
        }
        Ok(())
    }
}

/// The claims of an access token with those that the service itself never needs. So a verified token does not keep them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct IssuedClaims<'a> {
    #[serde(flatten)]
    claims: &'a Claims,
    /// The attributes of the subject. An object of its own, so that no attribute takes the place of another claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<&'a AttributeClaims>,
    /// Whether attributes are left out because they do not fit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    attributes_truncated: bool,
}

/// The attributes of the subject in a token, as [`IssuedClaims`] has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct IssuedAttributes {
    pub(crate) attributes: Option<Map<String, Value>>,
    pub(crate) attributes_truncated: bool,
}

impl IssuedAttributes {
    /// Reads them from a token that is verified. Without them, there are none.
    pub(crate) fn of(token: &str) -> Self {
        let payload = token.split('.').nth(1).and_then(|payload| URL_SAFE_NO_PAD.decode(payload).ok());
        payload.and_then(|payload| serde_json::from_slice(&payload).ok()).unwrap_or_default()
    }
}

/// Signs claims with the current signing key.
pub(crate) fn sign(
    claims: &Claims,
    attributes: Option<&AttributeClaims>,
    ring: &KeyRing,
    now: Timestamp,
) -> Result<AccessToken> {
    let (kid, key) = ring.signing_key(now)?;
    let header = Header { kid: Some(kid.to_string()), ..Header::new(Algorithm::EdDSA) };
    let attributes_truncated = attributes.is_some_and(AttributeClaims::is_truncated);
    let claims = IssuedClaims { claims, attributes, attributes_truncated };
    let token = encode(&header, &claims, &key).map_err(|cause| Error::internal("signing an access token", cause))?;
    Ok(AccessToken::from(token))
}

/// Returns the key that the token's header names. This proves nothing about the token.
pub(crate) fn key_of(token: &str) -> Result<KeyId, Unauthenticated> {
    if !iam_json::is_readable_token(token) {
        return Err(Unauthenticated::InvalidToken);
    }
    let header = decode_header(token).map_err(|_| Unauthenticated::InvalidToken)?;
    header.kid.and_then(|kid| kid.parse().ok()).ok_or(Unauthenticated::InvalidToken)
}

/// Verifies a token's signature, issuer and audience, but not its [times](Claims::check_times).
pub(crate) fn verify(
    token: &str,
    key: &jsonwebtoken::DecodingKey,
    issuer: &str,
    audience: &str,
) -> Result<Claims, Unauthenticated> {
    // The algorithm is always that of the key, never one that the token names. Times are checked with the clock of the
    // library.
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.set_issuer(&[issuer]);
    validation.set_audience(&[audience]);
    validation.set_required_spec_claims(&["iss", "aud", "sub", "nbf", "exp"]);
    validation.validate_exp = false;
    validation.validate_nbf = false;
    match decode::<Claims>(token, key, &validation) {
        Ok(data) => Ok(data.claims),
        Err(error) => {
            if !matches!(error.kind(), ErrorKind::InvalidToken | ErrorKind::InvalidSignature) {
                tracing::debug!(%error, "an access token was refused");
            }
            Err(Unauthenticated::InvalidToken)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use iam_model::random::SystemRandom;

    /// Signs a token with a header and claims that are valid, after a change of both.
    fn signed(change: impl FnOnce(&mut Header, &mut Value)) -> Result<Claims, Unauthenticated> {
        let (id, now) = (Uuid::from_u128(7).into(), Timestamp::default());
        let key =
            signing_key::generate_key(KeyPurpose::AccessTokens, id, None, now, TimeDelta::zero(), None, &SystemRandom)
                .unwrap();
        let mut header = Header { kid: Some(id.to_string()), ..Header::new(Algorithm::EdDSA) };
        let mut claims = json!({
            "iss": "issuer", "aud": "audience", "sub": id.to_string(), "sid": id.to_string(), "jti": id.to_string(),
            "tenantId": id.to_string(), "iat": 0, "nbf": 0, "exp": 900,
        });
        change(&mut header, &mut claims);
        let token = encode(&header, &claims, &signing_key::encoding_key(&key, None).unwrap()).unwrap();
        verify(&token, &jsonwebtoken::DecodingKey::from_ed_der(&key.public), "issuer", "audience")
    }

    #[test]
    fn a_token_with_a_critical_extension_is_refused() {
        assert!(signed(|_, _| {}).is_ok());
        for extension in ["exp", "b64", "of another program"] {
            let refused = signed(|header, _| header.crit = Some(vec![extension.to_owned()]));
            assert_eq!(refused, Err(Unauthenticated::InvalidToken), "{extension}");
        }
        assert_eq!(signed(|header, _| header.crit = Some(Vec::new())), Err(Unauthenticated::InvalidToken));
    }

    #[test]
    fn an_issuer_or_audience_of_another_type_is_refused() {
        for claim in ["iss", "aud", "sub"] {
            for value in [json!(7), json!(null), json!({ "issuer": "audience" })] {
                let refused = signed(|_, claims| claims[claim] = value.clone());
                assert_eq!(refused, Err(Unauthenticated::InvalidToken), "{claim}: {value}");
            }
        }
    }
}
