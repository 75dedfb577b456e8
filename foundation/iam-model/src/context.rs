//! The context of a call: who calls, in which tenant, and in which request.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use crate::id::{ApiKeyId, DirectoryId, SessionId, TenantId, UserId};
use crate::validate::Invalid;

/// The actor of a call: who makes it.
///
/// The enum is exhaustive on purpose: code that decides by the actor does not compile until it handles a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A user, in one of its sessions.
    User {
        /// The user.
        user: UserId,
        /// The session whose token was presented.
        session: SessionId,
    },
    /// A program, by an API key of a user.
    ApiKey {
        /// The user whose rights the key has.
        user: UserId,
        /// The key.
        key: ApiKeyId,
    },
    /// Trusted code of the application itself.
    System {
        /// Why the code acts. It is in the metadata of every audit entry of this caller.
        reason: Cow<'static, str>,
    },
    /// A client that logs in or refreshes. Its user is not known until that succeeds.
    Anonymous,
}

/// A user who acts in a session of another user (`docs/http-api.md#acting-as-another`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Impersonator {
    /// The user who acts.
    pub user: UserId,
    /// Its own session, in which it has begun to act. Without it, it cannot go on.
    pub session: SessionId,
    /// Whether it can change nothing.
    pub is_read_only: bool,
}

/// The author of a change: who makes it, in which tenant, and in which request. Audit entries name it.
#[derive(Clone, Debug)]
pub struct Author {
    /// Who makes the change.
    pub actor: Actor,
    /// The user who acts in the session of the actor; `None` if the actor itself does.
    pub impersonator: Option<Impersonator>,
    /// The tenant in which the change is made.
    pub tenant: TenantId,
    /// The directory for which an API key acts; `None` in all other calls.
    pub directory: Option<DirectoryId>,
    /// The request that the change belongs to.
    pub context: RequestContext,
}

impl Author {
    /// The acting user, if a user acts, itself or by an API key.
    #[must_use]
    pub fn user(&self) -> Option<UserId> {
        match self.actor {
            Actor::User { user, .. } | Actor::ApiKey { user, .. } => Some(user),
            Actor::System { .. } | Actor::Anonymous => None,
        }
    }

    /// The person behind the actor: the user who acts in its session, if another one does, or else the acting user.
    #[must_use]
    pub fn person(&self) -> Option<UserId> {
        self.impersonator.map(|by| by.user).or_else(|| self.user())
    }
}

/// The request that a call belongs to, as far as it is known. Every audit entry contains it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestContext {
    /// Connects the answer, the log lines and the audit entries of one request.
    pub correlation_id: Option<CorrelationId>,
    /// The address that the request came from.
    pub ip_address: Option<IpAddr>,
    /// The program that the client claims to be.
    pub user_agent: Option<UserAgent>,
}

/// Connects the answer, the log lines and the audit entries of one request: 1–128 visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorrelationId(Arc<str>);

impl CorrelationId {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CorrelationId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.into()))
        } else {
            Err(Invalid::new("must be 1 to 128 visible ASCII characters"))
        }
    }
}

impl fmt::Display for CorrelationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The program that a client claims to be, without control characters, cut to 512 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserAgent(Arc<str>);

impl UserAgent {
    const MAX: usize = 512;

    /// Makes one from the text of a `User-Agent` header (RFC 9110 §10.1.5).
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.chars().filter(|c| !c.is_control()).take(Self::MAX).collect::<String>().into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlation_ids_are_visible_ascii() {
        assert!("!~aZ09".parse::<CorrelationId>().is_ok());
        assert!("x".repeat(128).parse::<CorrelationId>().is_ok());
        for bad in ["", "a b", "ü", "a\n", &"x".repeat(129)] {
            assert!(bad.parse::<CorrelationId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn user_agents_are_bounded() {
        assert_eq!(UserAgent::new(&"é\r".repeat(600)).as_str(), "é".repeat(512));
    }
}
