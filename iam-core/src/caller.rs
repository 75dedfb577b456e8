//! The caller: the first argument of every service method.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use crate::access::Authority;
use crate::error::{Error, Forbidden, Result};
use crate::id::{SessionId, TenantId, UserId};
use crate::idempotency::Idempotency;
use crate::precondition::{Precondition, Version};
use crate::validate::Invalid;

/// The actor of a call, with its tenant, its rights and its request.
///
/// A caller comes from [`Iam::authenticate`](crate::Iam::authenticate), or from [`Caller::system`] for trusted code.
/// There is no other way to make one. Everything that a service does happens in the tenant of the caller.
///
/// Its rights come from the roles that its user held when it was authenticated. Only a change of rights reads the roles
/// again. So authenticate for each request, and do not keep a caller.
#[derive(Clone, Debug)]
pub struct Caller {
    author: Author,
    authority: Arc<Authority>,
    idempotency: Option<Idempotency>,
    precondition: Option<Precondition>,
}

/// The actor of a [`Caller`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Actor {
    /// A user, in one of its sessions.
    User {
        /// The user.
        user: UserId,
        /// The session whose token was presented.
        session: SessionId,
    },
    /// Trusted code of the application itself.
    System {
        /// Why the code acts. It is in the metadata of every audit entry of this caller.
        reason: Cow<'static, str>,
    },
    /// A client that logs in or refreshes. Its user is not known until that succeeds.
    Anonymous,
}

impl Caller {
    /// Returns a caller for trusted code that acts in a tenant with every permission, for instance a migration or a
    /// background task.
    ///
    /// The reason is in the metadata of every audit entry. An [idempotency key](Self::with_idempotency) is valid for
    /// one reason only, so use the same text each time. Never make a reason from data that a client sent.
    ///
    /// ```
    /// use iam_core::{Caller, TenantId};
    ///
    /// # let tenant = TenantId::NONE;
    /// let caller = Caller::system(tenant, "nightly import");
    /// assert_eq!(caller.user(), None);
    /// ```
    #[must_use]
    pub fn system(tenant: TenantId, reason: impl Into<Cow<'static, str>>) -> Self {
        let actor = Actor::System { reason: reason.into() };
        Self::new(actor, tenant, Authority::everything(), RequestContext::default())
    }

    /// Returns a caller for a user whose session was just verified.
    pub(crate) fn user_session(
        tenant: TenantId,
        user: UserId,
        session: SessionId,
        authority: impl Into<Arc<Authority>>,
        context: RequestContext,
    ) -> Self {
        Self::new(Actor::User { user, session }, tenant, authority, context)
    }

    /// Returns a caller for the first user of a tenant that is being created.
    pub(crate) fn founder(tenant: TenantId, user: UserId, session: SessionId, context: RequestContext) -> Self {
        Self::user_session(tenant, user, session, Authority::of([]), context)
    }

    /// Returns a caller without rights, for a client that has not proven who it is. Its attempts are recorded.
    pub(crate) fn anonymous(tenant: TenantId, context: RequestContext) -> Self {
        Self::new(Actor::Anonymous, tenant, Authority::of([]), context)
    }

    fn new(actor: Actor, tenant: TenantId, authority: impl Into<Arc<Authority>>, context: RequestContext) -> Self {
        let author = Author { actor, tenant, context };
        Self { author, authority: authority.into(), idempotency: None, precondition: None }
    }

    /// Returns the same caller with other rights, which were just read again.
    pub(crate) fn with_authority(mut self, authority: Arc<Authority>) -> Self {
        self.authority = authority;
        self
    }

    /// Returns the same caller in another request context, for trusted code that acts on behalf of a request.
    #[must_use]
    pub fn in_context(mut self, context: RequestContext) -> Self {
        self.author.context = context;
        self
    }

    /// Returns the same caller for one call that creates a resource. If the call was made under the same key before, it
    /// returns the earlier answer and creates nothing.
    #[must_use]
    pub fn with_idempotency(mut self, idempotency: Idempotency) -> Self {
        self.idempotency = Some(idempotency);
        self
    }

    pub(crate) fn idempotency(&self) -> Option<&Idempotency> {
        self.idempotency.as_ref()
    }

    /// Returns the same caller for one call that changes or deletes a resource only if the resource has the expected
    /// version. Otherwise the call fails with [`Error::PreconditionFailed`](crate::Error::PreconditionFailed).
    #[must_use]
    pub fn with_precondition(mut self, precondition: Precondition) -> Self {
        self.precondition = Some(precondition);
        self
    }

    /// Checks that the resource to change has the version that the caller expects. To be called under the lock of the
    /// resource.
    pub(crate) fn check_version(&self, version: impl FnOnce() -> Version) -> Result<()> {
        match &self.precondition {
            Some(precondition) if !precondition.allows(version()) => Err(Error::PreconditionFailed),
            _ => Ok(()),
        }
    }

    /// The author of the changes that the call makes.
    pub(crate) fn author(&self) -> &Author {
        &self.author
    }

    /// The actor of the call.
    #[must_use]
    pub fn actor(&self) -> &Actor {
        &self.author.actor
    }

    /// The tenant in which everything happens.
    #[must_use]
    pub fn tenant(&self) -> TenantId {
        self.author.tenant
    }

    /// The acting user, if a user acts.
    #[must_use]
    pub fn user(&self) -> Option<UserId> {
        self.author.user()
    }

    /// Returns the acting user and session, for calls that only a logged-in user can make.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotAUser`] for trusted code and anonymous callers.
    pub fn require_user(&self) -> Result<(UserId, SessionId)> {
        match self.author.actor {
            Actor::User { user, session } => Ok((user, session)),
            Actor::System { .. } | Actor::Anonymous => Err(Forbidden::NotAUser.into()),
        }
    }

    /// The rights of the caller at the time when it was authenticated.
    #[must_use]
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The request that the call belongs to.
    #[must_use]
    pub fn context(&self) -> &RequestContext {
        &self.author.context
    }
}

/// The author of a change: who makes it, in which tenant, and in which request. Audit entries name it.
#[derive(Clone, Debug)]
pub struct Author {
    /// Who makes the change.
    pub actor: Actor,
    /// The tenant in which the change is made.
    pub tenant: TenantId,
    /// The request that the change belongs to.
    pub context: RequestContext,
}

impl Author {
    /// The acting user, if a user acts.
    #[must_use]
    pub fn user(&self) -> Option<UserId> {
        match self.actor {
            Actor::User { user, .. } => Some(user),
            Actor::System { .. } | Actor::Anonymous => None,
        }
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
    use crate::access::{ResourceScope, permission};
    use crate::clock::Clock as _;
    use crate::clock::testing::FixedClock;

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

    #[test]
    fn an_anonymous_caller_may_do_nothing() {
        let anonymous = Caller::anonymous(TenantId::NONE, RequestContext::default());
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        assert!(!anonymous.authority().allows(&permission::USERS_READ, ResourceScope::Tenant, now));
        assert!(anonymous.require_user().is_err());
    }
}
