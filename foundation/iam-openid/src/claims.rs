//! The claims of a token, once its signature is checked.

use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use serde_json::{Map, Value};

use crate::expectations::Expectations;
use crate::fault::Fault;
use crate::keys::ProviderKeys;

/// The maximum length of a token, in bytes. Tokens with the groups of a person have several thousand.
const MAX_TOKEN: usize = 64 * 1_024;

/// How far the clock of a provider may be ahead.
const LEEWAY: TimeDelta = TimeDelta::seconds(60);

/// The maximum length of a subject, in characters (OpenID Connect Core 1.0, section 2).
const MAX_SUBJECT: usize = 255;

/// A token whose signature is right.
pub(crate) struct Signed {
    pub(crate) algorithm: Algorithm,
    pub(crate) kind: Option<String>,
    claims: Map<String, Value>,
}

impl Signed {
    /// Checks the signature, and nothing else.
    pub(crate) fn verify(token: &str, keys: &ProviderKeys) -> Result<Self, Fault> {
        if token.len() > MAX_TOKEN || !iam_json::is_readable_token(token) {
            return Err(Fault::Malformed);
        }
        let header = decode_header(token).map_err(|_| Fault::Malformed)?;
        if !matches!(header.alg, Algorithm::RS256 | Algorithm::PS256 | Algorithm::ES256 | Algorithm::EdDSA) {
            return Err(Fault::Algorithm);
        }
        let mut validation = Validation::new(header.alg);
        // The claims are checked by this crate, at the time of the caller.
        validation.required_spec_claims.clear();
        (validation.validate_exp, validation.validate_aud) = (false, false);
        let candidates = keys.candidates(header.kid.as_deref(), header.alg)?;
        let found = candidates.into_iter().find_map(|key| decode::<Map<String, Value>>(token, key, &validation).ok());
        let claims = found.ok_or(Fault::Signature)?.claims;
        Ok(Self { algorithm: header.alg, kind: header.typ, claims })
    }

    /// Checks the claims that every token has: who made it, for whom, and when.
    pub(crate) fn check(&self, expected: Expectations<'_>) -> Result<(), Fault> {
        if self.required_text("iss")? != expected.issuer {
            return Err(Fault::Issuer);
        }
        let is_own = |audience: &Value| audience.as_str() == Some(expected.client_id);
        let (is_named, is_only) = match self.claims.get("aud") {
            Some(Value::Array(all)) => (all.iter().any(is_own), all.len() == 1),
            Some(one @ Value::String(_)) => (is_own(one), true),
            _ => return Err(Fault::Malformed),
        };
        let is_authorized = match self.claims.get("azp") {
            Some(party) => is_own(party),
            None => is_only,
        };
        if is_named && is_authorized { Ok(()) } else { Err(Fault::Audience) }
    }

    /// Returns when the token was issued, which may be a minute ahead.
    pub(crate) fn issued_at(&self, now: DateTime<Utc>) -> Result<DateTime<Utc>, Fault> {
        let issued_at = self.time("iat")?.ok_or(Fault::Malformed)?;
        if issued_at > now + LEEWAY { Err(Fault::IssuedInFuture) } else { Ok(issued_at) }
    }

    /// Fails before the beginning of the token, if it has one.
    pub(crate) fn has_begun(&self, now: DateTime<Utc>) -> Result<(), Fault> {
        let begins_at = self.time("nbf")?;
        if begins_at.is_some_and(|begin| begin > now + LEEWAY) { Err(Fault::IssuedInFuture) } else { Ok(()) }
    }

    /// Returns the end of the token, if it has one. Fails after it.
    pub(crate) fn expires_at(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, Fault> {
        let expires_at = self.time("exp")?;
        if expires_at.is_some_and(|end| end <= now) { Err(Fault::Expired) } else { Ok(expires_at) }
    }

    /// Returns the subject, if there is one.
    pub(crate) fn subject(&self) -> Result<Option<String>, Fault> {
        let Some(subject) = self.claims.get("sub") else { return Ok(None) };
        let is_right = |subject: &&str| !subject.is_empty() && subject.chars().count() <= MAX_SUBJECT;
        subject.as_str().filter(is_right).map(|subject| Some(subject.to_owned())).ok_or(Fault::Malformed)
    }

    pub(crate) fn required_text(&self, name: &str) -> Result<&str, Fault> {
        self.text(name).ok_or(Fault::Malformed)
    }

    /// Returns a text. A claim of another type counts as absent.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.claims.get(name)?.as_str()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.claims.get(name)
    }

    /// Returns a moment in seconds since 1970, perhaps with a fraction. A claim of another type is an error.
    pub(crate) fn time(&self, name: &str) -> Result<Option<DateTime<Utc>>, Fault> {
        let Some(seconds) = self.claims.get(name) else { return Ok(None) };
        // No token is valid at the end of time, so the fraction and the precision of large numbers do not matter.
        #[expect(clippy::cast_possible_truncation, reason = "a number out of range becomes the nearest one")]
        let whole = seconds.as_i64().or_else(|| seconds.as_f64().map(|seconds| seconds as i64));
        whole.and_then(|seconds| DateTime::from_timestamp(seconds, 0)).map(Some).ok_or(Fault::Malformed)
    }
}
