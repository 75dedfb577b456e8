use std::fmt;

use aws_lc_rs::digest::{SHA256, SHA512, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use jsonwebtoken::Algorithm;
use serde_json::Value;

use crate::claims::Signed;
use crate::expectations::Expectations;
use crate::fault::Fault;
use crate::keys::ProviderKeys;

/// The claims of an ID token that was checked. Claims of an unexpected type count as absent.
#[derive(Clone, PartialEq, Eq)]
pub struct IdToken {
    /// The person, as this issuer names it to this client.
    pub subject: String,
    /// The object identifier of a directory (`oid` of Entra), which is the same for all clients.
    pub object_id: Option<String>,
    /// The e-mail address. Without [`email_verified`](Self::email_verified), anybody may have typed it.
    pub email: Option<String>,
    /// Whether the provider says that the person owns the address.
    pub email_verified: bool,
    /// The first name.
    pub given_name: Option<String>,
    /// The last name.
    pub family_name: Option<String>,
    /// The whole name.
    pub name: Option<String>,
    /// How the person has authenticated (RFC 8176).
    pub methods: Vec<String>,
    /// When the person has authenticated.
    pub authenticated_at: Option<DateTime<Utc>>,
    /// The session at the provider, which a logout token names.
    pub session: Option<String>,
}

/// Does not print who the person is.
impl fmt::Debug for IdToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdToken").field("methods", &self.methods).finish_non_exhaustive()
    }
}

impl IdToken {
    /// Adds the claims of the userinfo endpoint (OpenID Connect Core 1.0, section 5.3) to a token without an address. By
    /// default, providers put them there and not into the token. What is about another person, or no JSON, adds nothing.
    #[must_use]
    pub fn with_userinfo(self, json: &[u8]) -> Self {
        let Ok(Value::Object(claims)) = iam_json::from_slice(json) else { return self };
        let text = |name| claims.get(name).and_then(Value::as_str).map(str::to_owned);
        // Otherwise, the claims of another person could be substituted (section 5.3.2).
        if self.email.is_some() || text("sub").as_deref() != Some(&self.subject) {
            return self;
        }
        Self {
            email: text("email"),
            email_verified: claims.get("email_verified").is_some_and(is_true),
            given_name: self.given_name.or_else(|| text("given_name")),
            family_name: self.family_name.or_else(|| text("family_name")),
            name: self.name.or_else(|| text("name")),
            ..self
        }
    }
}

/// Whether a claim says yes. Some providers send the text `"true"`.
fn is_true(claim: &Value) -> bool {
    *claim == true || *claim == "true"
}

/// Checks an ID token that came directly from the token endpoint (OpenID Connect Core 1.0, sections 3.1.3.7 and
/// 3.1.3.8): the signature by a key of the provider, the issuer, the audience, the times, the nonce, and the hash of the
/// access token where the token has one.
///
/// # Errors
///
/// The first [`Fault`]. After [`Fault::UnknownKey`], the keys may be read again.
pub fn verify_id_token(
    token: &str,
    keys: &ProviderKeys,
    expected: Expectations<'_>,
    nonce: &str,
    access_token: Option<&str>,
    now: DateTime<Utc>,
) -> Result<IdToken, Fault> {
    let signed = Signed::verify(token, keys)?;
    // Tokens of other kinds name them (RFC 8725, section 3.11).
    if signed.kind.as_deref().is_some_and(|kind| kind.to_ascii_lowercase().ends_with("+jwt")) {
        return Err(Fault::Malformed);
    }
    signed.check(expected)?;
    signed.issued_at(now)?;
    signed.has_begun(now)?;
    signed.expires_at(now)?.ok_or(Fault::Malformed)?;
    if signed.text("nonce") != Some(nonce) {
        return Err(Fault::Nonce);
    }
    if let Some(hash) = signed.get("at_hash") {
        let expected = access_token.and_then(|token| half_hash(signed.algorithm, token));
        if expected.is_none() || hash.as_str() != expected.as_deref() {
            return Err(Fault::AccessToken);
        }
    }
    let text = |name| signed.text(name).map(str::to_owned);
    let methods = signed.get("amr").and_then(Value::as_array).into_iter().flatten();
    Ok(IdToken {
        subject: signed.subject()?.ok_or(Fault::Malformed)?,
        object_id: text("oid"),
        email: text("email"),
        email_verified: signed.get("email_verified").is_some_and(is_true),
        given_name: text("given_name"),
        family_name: text("family_name"),
        name: text("name"),
        methods: methods.filter_map(Value::as_str).map(str::to_owned).collect(),
        authenticated_at: signed.time("auth_time").unwrap_or_default(),
        session: text("sid"),
    })
}

/// Returns the left half of the hash of an access token (OpenID Connect Core 1.0, section 3.1.3.6).
fn half_hash(algorithm: Algorithm, token: &str) -> Option<String> {
    let hash = digest(if algorithm == Algorithm::EdDSA { &SHA512 } else { &SHA256 }, token.as_bytes());
    let (left, _) = hash.as_ref().split_at_checked(hash.as_ref().len() / 2)?;
    Some(URL_SAFE_NO_PAD.encode(left))
}
