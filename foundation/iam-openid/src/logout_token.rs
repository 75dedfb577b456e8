use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::claims::Signed;
use crate::expectations::Expectations;
use crate::fault::Fault;
use crate::keys::ProviderKeys;

/// The member of `events` that makes a token a logout token.
const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// How old a logout token may be. Its identifier must be remembered for as long.
const MAX_AGE: TimeDelta = TimeDelta::minutes(10);

/// A logout token that was checked: at least one of the subject and the session is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogoutToken {
    /// The person whose sessions end.
    pub subject: Option<String>,
    /// The session at the provider that ends.
    pub session: Option<String>,
    /// Identifies the token, so that a second use is noticed until [`forgotten_at`](Self::forgotten_at).
    pub id: String,
    /// The moment from which on the token is refused because of its age.
    pub forgotten_at: DateTime<Utc>,
}

/// Checks a logout token (Back-Channel Logout 1.0, section 2.6). The caller refuses an identifier that it has seen
/// before.
///
/// # Errors
///
/// The first [`Fault`].
pub fn verify_logout_token(
    token: &str,
    keys: &ProviderKeys,
    expected: Expectations<'_>,
    now: DateTime<Utc>,
) -> Result<LogoutToken, Fault> {
    let signed = Signed::verify(token, keys)?;
    // Older providers send the type of any token, or none.
    if signed
        .kind
        .as_deref()
        .is_some_and(|kind| !["logout+jwt", "JWT"].iter().any(|known| kind.eq_ignore_ascii_case(known)))
    {
        return Err(Fault::NotALogout);
    }
    signed.check(expected)?;
    let forgotten_at = signed.issued_at(now)? + MAX_AGE;
    signed.expires_at(now)?;
    if forgotten_at <= now {
        return Err(Fault::Expired);
    }
    let is_logout = signed.get("events").and_then(|events| events.get(EVENT)).is_some_and(Value::is_object);
    if !is_logout || signed.get("nonce").is_some() {
        return Err(Fault::NotALogout);
    }
    let (subject, session) = (signed.subject()?, signed.text("sid").map(str::to_owned));
    if subject.is_none() && session.is_none() {
        return Err(Fault::Malformed);
    }
    let id = signed.required_text("jti")?.to_owned();
    Ok(LogoutToken { subject, session, id, forgotten_at })
}
