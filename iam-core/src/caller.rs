//! The caller: the first argument of every service method.

use std::borrow::Cow;
use std::sync::Arc;

use iam_model::access::Authority;
use iam_model::context::{Actor, Author, Impersonator, RequestContext};
use iam_model::error::{Forbidden, Result};
use iam_model::id::{ApiKeyId, DirectoryId, SessionId, TenantId, UserId};
use iam_model::tenant::AuthzenIdentifiers;

/// The actor of a call, with its tenant, its rights and its request.
///
/// A caller comes from [`Iam::authenticate`](crate::iam::Iam::authenticate) and the methods like it, or from
/// [`Caller::system`] for trusted code. There is no other way to make one. Everything that a service does happens in the tenant of the caller.
///
/// Its rights come from the roles that its user held when it was authenticated. Only a change of rights reads the roles
/// again. So authenticate for each request, and do not keep a caller.
#[derive(Clone, Debug)]
pub struct Caller {
    author: Author,
    authority: Arc<Authority>,
    /// `None` if the setting of the tenant was not read with the caller.
    authzen_identifiers: Option<AuthzenIdentifiers>,
}

impl Caller {
    /// Returns a caller for trusted code that acts in a tenant with every permission, for instance a migration or a
    /// background task.
    ///
    /// The reason is in the metadata of every audit entry. An [idempotency key](crate::idempotency) is valid for one
    /// reason only, so use the same text each time. Never make a reason from data that a client sent.
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

    /// Returns a caller for an API key that was just verified.
    pub(crate) fn api_key(
        tenant: TenantId,
        (user, key): (UserId, ApiKeyId),
        authority: Arc<Authority>,
        context: RequestContext,
    ) -> Self {
        Self::new(Actor::ApiKey { user, key }, tenant, authority, context)
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
        let author = Author { actor, impersonator: None, tenant, directory: None, context };
        Self { author, authority: authority.into(), authzen_identifiers: None }
    }

    /// Returns the same caller with other rights, which were just read again.
    pub(crate) fn with_authority(mut self, authority: Arc<Authority>) -> Self {
        self.authority = authority;
        self
    }

    /// Returns the same caller with a setting of its tenant, which was read with it.
    pub(crate) fn with_authzen_identifiers(mut self, identifiers: AuthzenIdentifiers) -> Self {
        self.authzen_identifiers = Some(identifiers);
        self
    }

    /// How requests of AuthZEN name users and organizations in the tenant, if that was read with the caller.
    pub(crate) fn authzen_identifiers(&self) -> Option<AuthzenIdentifiers> {
        self.authzen_identifiers
    }

    /// Returns the same caller, in whose session this user acts.
    pub(crate) fn acted_by(mut self, impersonator: Option<Impersonator>) -> Self {
        self.author.impersonator = impersonator;
        self
    }

    /// Returns the same caller, which acts for a directory: the audit entries of its changes name it.
    pub(crate) fn for_directory(mut self, directory: DirectoryId) -> Self {
        self.author.directory = Some(directory);
        self
    }

    /// Returns the same caller in another request context, for trusted code that acts on behalf of a request.
    #[must_use]
    pub fn in_context(mut self, context: RequestContext) -> Self {
        self.author.context = context;
        self
    }

    /// The author of the changes that the call makes.
    #[must_use]
    pub fn author(&self) -> &Author {
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

    /// The acting user, if a user acts, itself or by an API key.
    #[must_use]
    pub fn user(&self) -> Option<UserId> {
        self.author.user()
    }

    /// The user who acts in the session of the caller, if that is [another one](crate::session::Sessions::impersonate).
    /// The caller is then the user of the session, and has its rights.
    #[must_use]
    pub fn impersonator(&self) -> Option<Impersonator> {
        self.author.impersonator
    }

    /// The person behind the call: the [impersonator](Self::impersonator), or else the acting user.
    #[must_use]
    pub fn person(&self) -> Option<UserId> {
        self.author.person()
    }

    /// Returns the acting user and session, for calls that only a logged-in user can make.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotAUser`] for trusted code and anonymous callers, [`Forbidden::ApiKey`] for a caller by an API
    /// key.
    pub fn require_user(&self) -> Result<(UserId, SessionId)> {
        match self.author.actor {
            Actor::User { user, session } => Ok((user, session)),
            Actor::ApiKey { .. } => Err(Forbidden::ApiKey.into()),
            Actor::System { .. } | Actor::Anonymous => Err(Forbidden::NotAUser.into()),
        }
    }

    /// Whether the caller is this user, in a session. A user in a session may make some calls about itself without a
    /// permission; an API key of the user may not.
    #[must_use]
    pub fn is_in_session_of(&self, user: UserId) -> bool {
        matches!(self.author.actor, Actor::User { user: own, .. } if own == user)
    }

    /// Whether the caller is this session.
    pub(crate) fn is_session(&self, session: SessionId) -> bool {
        matches!(self.author.actor, Actor::User { session: own, .. } if own == session)
    }

    /// Refuses a caller by an API key.
    ///
    /// # Errors
    ///
    /// [`Forbidden::ApiKey`].
    pub(crate) fn refuse_api_key(&self) -> Result<(), Forbidden> {
        match self.author.actor {
            Actor::ApiKey { .. } => Err(Forbidden::ApiKey),
            Actor::User { .. } | Actor::System { .. } | Actor::Anonymous => Ok(()),
        }
    }

    /// Refuses a user who acts as another one. For calls that must be refused before the change that they make, which
    /// is refused too ([`Change::check_impersonator`](iam_model::change::Change::check_impersonator)): they check a
    /// secret, ask for a recent authentication, or change nothing here.
    ///
    /// # Errors
    ///
    /// [`Forbidden::Impersonator`].
    pub(crate) fn refuse_impersonator(&self) -> Result<(), Forbidden> {
        if self.impersonator().is_some() { Err(Forbidden::Impersonator) } else { Ok(()) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use iam_model::access::ResourceScope;
    use iam_model::clock::Clock as _;
    use iam_model::clock::testing::FixedClock;
    use iam_model::permission;

    #[test]
    fn an_anonymous_caller_may_do_nothing() {
        let anonymous = Caller::anonymous(TenantId::NONE, RequestContext::default());
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        assert!(!anonymous.authority().allows(&permission::USERS_READ, ResourceScope::Tenant, now));
        assert!(anonymous.require_user().is_err());
    }
}
