//! The errors, in two layers: [`StoreError`] from a store, [`Error`] from a service.
//!
//! Neither depends on HTTP; `iam-axum` maps [`Error`] to problem documents in one place.

use std::fmt;
use std::time::Duration;

use crate::audit::ResourceType;
use crate::clock::{Timestamp, shown};
use crate::domain::DomainFinding;
use crate::factor::AuthenticationMethod;
use crate::id::{IdentityProviderId, LegalHoldId};
use crate::permission::{Permission, PermissionPattern};
use crate::secret::ChallengeToken;
use crate::store_error::{Constraint, StoreError};
use crate::tenant::{QuotaKind, TenantSummary};
use crate::validate::{FieldError, InvalidFields, Name, describe};

/// A permission that the caller of a refused change lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shortfall {
    /// The permission that the change would give.
    pub permission: PermissionPattern,
    /// The time until which the caller itself holds it there; `None` if the caller does not hold it there.
    pub held_until: Option<Timestamp>,
}

impl Shortfall {
    /// Returns the shortfall of a permission that the caller holds until a moment, or not at all.
    #[must_use]
    pub fn new(permission: PermissionPattern, held_until: Option<Timestamp>) -> Self {
        Self { permission, held_until }
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.held_until {
            Some(moment) => write!(f, "you hold {} there until {} only", self.permission, shown(moment)),
            None => write!(f, "you do not hold {} there", self.permission),
        }
    }
}

/// An identity provider by which a user logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FederatedLogin {
    /// Identifies the provider.
    pub id: IdentityProviderId,
    /// A name for people.
    pub name: Name,
    /// The tenant of the provider.
    pub tenant: TenantSummary,
}

/// The result of a service call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a service refused a call, or failed.
///
/// The `Display` text is safe to show to the caller. Details that only a log may contain are in
/// [`source`](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// One or more fields of the input are invalid. All of them are named.
    #[error("{}", describe(.0))]
    Validation(Vec<FieldError>),
    /// The caller has not proven who it is: it sent no token, an invalid token, or wrong credentials.
    #[error("{0}")]
    Unauthenticated(#[from] Unauthenticated),
    /// The password is right, and the login also needs a second factor.
    #[error("This account needs a second factor. Send it with the challenge.")]
    SecondFactorRequired(PendingLogin),
    /// The password is right, and the user logs in by one of these identity providers alone.
    #[error("Log in by your company's account. Your tenant does not allow passwords for your address.")]
    FederationRequired(Vec<FederatedLogin>),
    /// The caller is known, but may not do this.
    #[error("{0}")]
    Forbidden(#[from] Forbidden),
    /// Too many logins have failed. Until the lockout ends, even the right password is refused.
    #[error("The account is temporarily locked. Try again in {} seconds.", .retry_after.as_secs())]
    AccountLocked {
        /// The remaining time of the lockout, rounded up to whole seconds.
        retry_after: Duration,
    },
    /// The resource does not exist, or the caller may not know that it exists.
    #[error("{} not found.", .0.title())]
    NotFound(ResourceType),
    /// A rule of the domain forbids the input, for every caller and in every state.
    #[error("{0}")]
    Rule(#[from] Rule),
    /// The current state does not allow the change.
    #[error("{0}")]
    Conflict(#[from] Conflict),
    /// The resource no longer has the version that the caller expects: another caller has changed it.
    #[error("The resource has changed since it was read.")]
    PreconditionFailed,
    /// Retention has removed entries of the audit log that the caller asks for.
    #[error("Retention has removed these entries. The first one that is left has the sequence number {first}.")]
    EventsRemoved {
        /// The sequence number of the first entry that is left, counted from one.
        first: u64,
    },
    /// Another request was made under the same idempotency key.
    #[error("The Idempotency-Key was used for another request.")]
    IdempotencyKeyReused,
    /// The service cannot serve the call in time: too many passwords wait to be hashed, or too many units of work or
    /// reads of the tenant run.
    #[error("The service is busy. Try again in {} seconds.", .retry_after.as_secs())]
    Overloaded {
        /// The time after which the call can be tried again, in whole seconds: an estimate of how long the queue needs.
        retry_after: Duration,
    },
    /// The user, or its tenant, has this many open streams of events, and may have no more.
    #[error("There are {0} open streams of events, and there may be no more. Close one first.")]
    TooManyStreams(usize),
    /// The user runs an export of what is held about a user, or its tenant runs as many as it may.
    #[error("Another export is running. Try again when it has ended.")]
    TooManyExports,
    /// The call needs mail, and this installation sends none.
    #[error("This installation sends no mail. The operator can turn it on.")]
    MailOff,
    /// The call needs passkeys, and this installation accepts none.
    #[error("This installation accepts no passkeys. The operator can turn them on.")]
    PasskeysOff,
    /// The call needs webhooks, and this installation sends none.
    #[error("This installation sends no webhooks. The operator can turn them on.")]
    WebhooksOff,
    /// The call needs identity providers, and this installation reaches none.
    #[error("This installation reaches no identity providers. The operator can turn federation on.")]
    FederationOff,
    /// The identity provider does not answer, or cannot be used.
    #[error("The identity provider does not answer. Try again later.")]
    ProviderUnavailable,
    /// The call needs the DNS, and this installation does not use it.
    #[error("This installation looks up no records of the DNS. The operator can verify the domain.")]
    ResolverOff,
    /// One of the other errors, caused by one field of the input.
    #[error("{error}")]
    About {
        /// The field's name as the caller wrote it, for instance `roleId` or `assignments[3].roleId`.
        field: String,
        /// The error in it.
        error: Box<Error>,
    },
    /// The store failed.
    #[error("{}", describe_store(.0))]
    Store(#[source] StoreError),
    /// A defect or a broken environment; the text is for the log only.
    #[error("An internal error occurred.")]
    Internal(#[source] Internal),
}

impl Error {
    /// Returns a validation error about one field.
    #[must_use]
    pub fn field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Validation(vec![FieldError::new(field, message)])
    }

    /// Returns the same error, as an error about a field of the input.
    #[must_use]
    pub fn about(self, field: impl Into<String>) -> Self {
        Self::About { field: field.into(), error: Box::new(self) }
    }

    /// Returns the same error, as an error about a field if the cause is the resource that the field names. A missing
    /// permission for the whole call, or a failure of the store, is about no field.
    pub fn about_what_it_names(self, field: impl Into<String>) -> Self {
        if matches!(self, Self::NotFound(_) | Self::Conflict(_)) { self.about(field) } else { self }
    }

    /// Returns an internal error. Its text is for the log only.
    #[must_use]
    pub fn internal(context: &'static str, cause: impl fmt::Display) -> Self {
        Self::Internal(Internal { context, cause: cause.to_string() })
    }
}

impl From<InvalidFields> for Error {
    fn from(InvalidFields(errors): InvalidFields) -> Self {
        Self::Validation(errors)
    }
}

/// Turns a violated constraint of a store into the conflict that it means.
impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict(Constraint::UserEmail) => Conflict::EmailTaken.into(),
            StoreError::Conflict(Constraint::UserExternalId) => Conflict::ExternalIdTaken.into(),
            StoreError::Conflict(
                Constraint::TenantSlug | Constraint::OrganizationSlug | Constraint::IdentityProviderSlug,
            ) => Conflict::SlugTaken.into(),
            StoreError::Conflict(Constraint::RoleName) => Conflict::RoleNameTaken.into(),
            StoreError::Conflict(Constraint::PermissionName) => Conflict::PermissionNameTaken.into(),
            StoreError::Conflict(Constraint::RoleAssignment) => Conflict::RoleHeld.into(),
            StoreError::Conflict(Constraint::Invitation) => Conflict::AlreadyInvited.into(),
            StoreError::Conflict(Constraint::Passkey) => Conflict::PasskeyRegistered.into(),
            StoreError::Conflict(Constraint::AccessReviewOpen) => Conflict::AccessReviewNotOpen.into(),
            StoreError::Conflict(Constraint::Domain) => Conflict::DomainExists.into(),
            StoreError::Conflict(Constraint::VerifiedDomain) => Conflict::DomainVerifiedElsewhere.into(),
            StoreError::Conflict(Constraint::Identity) => Conflict::IdentityLinked.into(),
            StoreError::Conflict(Constraint::DirectoryAccount) => Conflict::DirectoryAccountTaken.into(),
            StoreError::Conflict(Constraint::DirectoryUserName) => Conflict::DirectoryUserNameTaken.into(),
            StoreError::Conflict(Constraint::DirectoryGroupName) => Conflict::DirectoryGroupNameTaken.into(),
            StoreError::Conflict(Constraint::IdempotencyRecord) => Conflict::StillRunning.into(),
            StoreError::Busy => Self::Overloaded { retry_after: Duration::from_secs(1) },
            other => Self::Store(other),
        }
    }
}

/// A login whose password is right, and which waits for a second factor (`docs/http-api.md#a-login-with-a-factor`).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PendingLogin {
    /// Continues the login.
    pub challenge: ChallengeToken,
    /// The methods that the user has.
    pub methods: Vec<AuthenticationMethod>,
    /// How long the challenge can be answered.
    pub expires_in: Duration,
}

impl PendingLogin {
    /// Returns a login that waits for one of these methods.
    #[must_use]
    pub fn new(challenge: ChallengeToken, methods: Vec<AuthenticationMethod>, expires_in: Duration) -> Self {
        Self { challenge, methods, expires_in }
    }
}

/// Why a caller is not authenticated.
///
/// Every wrong identity at login is the same [`Credentials`](Self::Credentials), so that an attacker does not learn
/// which accounts exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unauthenticated {
    /// The request carries no bearer token.
    #[error("Authentication is required: send a bearer access token.")]
    NoToken,
    /// The access token is malformed, forged or not yet valid, or its session has ended.
    #[error("The access token is invalid.")]
    InvalidToken,
    /// The API key is unknown, malformed, expired or revoked, or its user is not ACTIVE.
    #[error("The API key is invalid.")]
    ApiKey,
    /// The access token was valid, but has expired.
    #[error("The access token has expired.")]
    ExpiredToken,
    /// The e-mail, the password or the tenant is wrong.
    #[error("Incorrect e-mail or password. If you have accounts in several tenants, name the `tenant` that you mean.")]
    Credentials,
    /// The refresh token is malformed, forged, spent or expired, or its session has ended.
    #[error("The refresh token is invalid or expired.")]
    RefreshToken,
    /// The challenge of a login is unknown, used or expired.
    #[error("The challenge is unknown, used or expired. Log in again.")]
    Challenge,
    /// The proof by a second factor is wrong, or was used before.
    #[error("The second factor is wrong or was used before.")]
    SecondFactor,
    /// No user is linked to the account at the identity provider, and none may be.
    #[error("No user is linked to this account. Ask an administrator.")]
    NotLinked,
    /// The response of a passkey is not accepted.
    #[error("The passkey is not accepted.")]
    Passkey,
    /// The user has a second factor, so a password alone does not authenticate it again.
    #[error("Authenticate with your second factor. The password alone is not enough.")]
    PasswordAlone,
    /// The session has authenticated by a message to the address of its user, which is not enough to decide about the
    /// access of others.
    #[error("You have logged in by e-mail. To decide about access, authenticate by other means.")]
    ByEmail {
        /// How long ago the other proof may be.
        max_age: Duration,
    },
    /// The session has authenticated too long ago for this call (RFC 9470), or by the password alone although its user
    /// has a second factor.
    #[error(
        "Authenticate again: the last time must be at most {} seconds ago, and by a second factor if you have one.",
        .max_age.as_secs()
    )]
    NotFresh {
        /// How long ago it may be.
        max_age: Duration,
    },
}

/// Why a known caller may not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Forbidden {
    /// The caller lacks this permission.
    #[error("Missing permission: {0}.")]
    Permission(Permission),
    /// A user would get rights that the caller does not hold itself, in the same resource scope and for as long.
    #[error("You cannot give or take over higher privileges than your own: {0}.")]
    Escalation(Shortfall),
    /// A group of a directory would give rights that the service account of the directory, or the API key by which it
    /// adds a member, does not hold itself at this moment, in the same resource scope.
    #[error("The service account of the directory does not hold what the role gives there, or its key does not: {}.", .0.permission)]
    AccountEscalation(Shortfall),
    /// Only a user can do this, for instance change its own password. Trusted code without a user cannot.
    #[error("Only a logged-in user can do this.")]
    NotAUser,
    /// A program cannot do this by an API key.
    #[error("An API key cannot do this. Log in.")]
    ApiKey,
    /// A user who acts as another one cannot do this in its name.
    #[error("You act as another user, and cannot do this in its name.")]
    Impersonator,
    /// A user who acts as another one cannot change anything in this session.
    #[error("You act as another user in a session that can change nothing.")]
    ReadOnly,
    /// A user can act only as another person, and as none who holds all permissions.
    #[error("You can act only as another person, and as none who holds all permissions.")]
    NotImpersonable,
    /// A user can act as another one only if it holds all permissions of that one itself.
    #[error("You cannot act as a user who may do more than you: {0}.")]
    HigherRights(Shortfall),
    /// What a directory does needs an API key of its service account.
    #[error("This API key belongs to no directory.")]
    NoDirectory,
    /// Only trusted code can do this, for instance set the password of a user. No permission allows it.
    #[error("Only trusted code can do this.")]
    NotTrusted,
    /// A user cannot change its own e-mail without its password, because a new password is sent to that address.
    #[error("Change your own e-mail by `POST /auth/email`, which needs your password.")]
    OwnEmail,
    /// A user cannot change its own external identifier, because another system may let a person log in by it.
    #[error("You cannot change your own external identifier. Another administrator can.")]
    OwnExternalId,
    /// A user cannot decide in an access review about a role that it holds itself, nor complete or cancel a review that
    /// revokes one.
    #[error("You cannot decide about your own roles, nor complete or cancel a review that revokes one of them.")]
    OwnAccess,
    /// No eligibility lets the user ask for this role.
    #[error("You are not eligible for this role there.")]
    NotEligible,
    /// The holders of a role decide about this access request, and the user does not hold it there, or only by an
    /// access request.
    #[error("Only the holders of its approver role decide about this request. An elevation does not count.")]
    NotApprover,
    /// A user cannot decide about its own access request.
    #[error("You cannot decide about your own access request.")]
    OwnRequest,
    /// A user cannot erase the entries about itself from the audit log.
    #[error("You cannot erase your own entries from the audit log.")]
    OwnEntries,
    /// A user cannot release a legal hold on its own data.
    #[error("You cannot release a legal hold on your own data.")]
    OwnLegalHold,
    /// The account is suspended.
    #[error("The account is suspended.")]
    Suspended,
    /// The operator has suspended the tenant.
    #[error("The tenant is suspended.")]
    TenantSuspended,
    /// The tenant requires a second factor. A session that has authenticated by none can only be used to set one up or
    /// to authenticate by one. The API keys of a person without one are refused.
    #[error("Your tenant requires a second factor. Authenticate by one, or set one up if you have none.")]
    SecondFactorRequired,
    /// This installation does not allow strangers to create tenants.
    #[error("Registration is closed.")]
    RegistrationClosed,
}

/// A rule of the domain that the input breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// A role of scope ORGANIZATION needs an organization.
    #[error("Organization-scoped roles require an organizationId.")]
    OrganizationRequired,
    /// A role of scope TENANT takes no organization.
    #[error("Tenant-scoped roles do not take an organizationId.")]
    OrganizationRefused,
    /// An organization cannot be below itself.
    #[error("Circular reference: the parent is the organization itself or is below it.")]
    CircularParent,
    /// The hierarchy would be deeper than allowed.
    #[error("Maximum hierarchy depth of {0} exceeded.")]
    Depth(u32),
    /// An access review would have more items than allowed.
    #[error("An access review has at most {0} items. Name an organization, roles or users to narrow it.")]
    TooManyReviewItems(u64),
}

/// Why the current state does not allow a change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Conflict {
    /// Another user of the tenant has this e-mail, compared without case. A deleted user also keeps its e-mail.
    #[error("A user with this e-mail already exists.")]
    EmailTaken,
    /// A deleted user of the tenant has this e-mail, and the caller may read that user.
    #[error("A deleted user has this e-mail. Restore that user instead.")]
    EmailOfDeletedUser,
    /// Another user of the tenant has this external identifier. A deleted user also keeps its own.
    #[error("A user with this external identifier already exists.")]
    ExternalIdTaken,
    /// The external identifier is the e-mail of another user of the tenant, compared without case.
    #[error("This external identifier is the e-mail of another user.")]
    ExternalIdIsEmail,
    /// Another tenant, or another organization of the tenant, has this slug.
    #[error("This slug is already taken.")]
    SlugTaken,
    /// A deleted user can only be restored or erased.
    #[error("The user is inactive. It can only be restored or erased.")]
    UserInactive,
    /// Only an ACTIVE user can get a new password.
    #[error("The user is not active.")]
    UserNotActive,
    /// A service account acts by API keys only.
    #[error("A service account has no password, second factor or mail.")]
    ServiceAccount,
    /// The user already holds the role in this resource scope.
    #[error("The user already holds this role in this organization, or tenant-wide.")]
    RoleHeld,
    /// Another role of the tenant has this name.
    #[error("A role with this name already exists.")]
    RoleNameTaken,
    /// Built-in roles cannot change.
    #[error("Built-in roles can be neither changed nor deleted.")]
    SystemRole,
    /// More role assignments are held in the organization than one change may revoke, or in all organizations that a
    /// manifest removes.
    #[error("This would end more than {0} role assignments. Revoke some of them first.")]
    TooManyRevocations(u64),
    /// The tenant has this many access reviews that are OPEN, and may have no more.
    #[error("The tenant has {0} open access reviews, which is its quota. Complete or cancel one first.")]
    TooManyAccessReviews(u64),
    /// At least one user holds the role.
    #[error("The role is assigned to at least one user.")]
    RoleInUse,
    /// An eligibility that has not expired names the role.
    #[error("An eligibility that has not expired names the role.")]
    RoleOfEligibility,
    /// At least one user holds the role in a resource scope that the new scope of the role does not allow, or gets it
    /// there by a group, an eligibility or an identity provider.
    #[error("The role has assignments that its new scope does not allow.")]
    RoleScopeInUse,
    /// The tenant's catalogue already has this permission.
    #[error("A permission with this name already exists.")]
    PermissionNameTaken,
    /// Built-in permissions cannot be deleted.
    #[error("Built-in permissions cannot be deleted.")]
    SystemPermission,
    /// At least one role has the permission.
    #[error("A role has this permission.")]
    PermissionInUse,
    /// The organization was deleted, so nothing can be added to it or below it.
    #[error("The organization is inactive.")]
    OrganizationInactive,
    /// An organization that is not INACTIVE is below this organization.
    #[error("The organization has children.")]
    OrganizationHasChildren,
    /// More users have the organization as home than get another home in one unit of work.
    #[error("The organization is the home of more than {0} users. Give some of them another home first.")]
    TooManyHomes(u32),
    /// A deleted organization cannot be restored, because its position has become too deep.
    #[error("The organization would be deeper than the hierarchy allows.")]
    OrganizationTooDeep,
    /// The tenant would have no active administrator.
    #[error("The last active administrator of a tenant cannot be deleted or suspended, and cannot lose this role.")]
    LastAdministrator,
    /// The entry is still pending: it was recorded a moment ago and has no sequence number yet.
    #[error("The entry has no sequence number yet. Try again in a second.")]
    NotSequenced,
    /// An earlier request under the same idempotency key is still running, and takes long.
    #[error("A request with this Idempotency-Key is still being processed.")]
    StillRunning,
    /// The tenant has as many resources of this kind as its quota allows.
    #[error("The tenant has reached its quota of {1} {0}.")]
    QuotaExceeded(QuotaKind, u64),
    /// As many previews of the tenant as allowed are being computed.
    #[error("Two previews of this tenant are being computed. Try again when one of them has ended.")]
    PreviewsRunning,
    /// An invitation for this address is PENDING.
    #[error("This address is invited already.")]
    AlreadyInvited,
    /// The invitation was accepted or revoked, or has expired.
    #[error("The invitation is not pending.")]
    InvitationNotPending,
    /// The user who invited may not invite with these roles any more, or one of the roles or organizations is gone.
    #[error("The user who sent the invitation cannot give these roles any more. Ask for a new invitation.")]
    InvitationOutdated,
    /// The tenant has turned second factors off.
    #[error("Second factors are turned off in this tenant.")]
    SecondFactorOff,
    /// The tenant requires a second factor, and this is the last one of the user.
    #[error("Your tenant requires a second factor. Set up another one first.")]
    LastFactor,
    /// The user has no password and no passkey, and no other identity.
    #[error("This is the only way to log in that the user has. The user must set a password or a passkey first.")]
    LastIdentity,
    /// The user has as many factors as it may have.
    #[error("You have the maximum number of factors.")]
    TooManyFactors,
    /// The user has as many API keys as it may have.
    #[error("The user has the maximum number of API keys. Revoke one first.")]
    TooManyApiKeys,
    /// An API key that has expired gets no new secret.
    #[error("The API key has expired. Make a new one.")]
    ApiKeyExpired,
    /// The tenant has as many webhooks as it may have.
    #[error("The tenant has the maximum number of webhooks. Remove one first.")]
    TooManyWebhooks,
    /// A legal hold keeps what the change would destroy.
    #[error("A legal hold keeps this data. It must be released first.")]
    LegalHold(LegalHoldId),
    /// The deletion of the tenant is scheduled already.
    #[error("The deletion of the tenant is scheduled already. Cancel it first.")]
    TenantDeletionScheduled,
    /// The tenant has no deletion that could be called off.
    #[error("No deletion of the tenant is scheduled.")]
    TenantDeletionNotScheduled,
    /// The deletion of the tenant has begun.
    #[error("The deletion of the tenant has begun.")]
    TenantDeletionBegun,
    /// The tenant has as many legal holds as it may have.
    #[error("The tenant has the maximum number of legal holds. Release one first.")]
    TooManyLegalHolds,
    /// The tenant has this domain already.
    #[error("The tenant has this domain already.")]
    DomainExists,
    /// The tenant has as many domains as it may have.
    #[error("The tenant has the maximum number of domains. Remove one first.")]
    TooManyDomains,
    /// Another tenant has verified the domain.
    #[error("The domain is verified in another tenant. It can be verified here a week after its record is gone there.")]
    DomainVerifiedElsewhere,
    /// The record that proves the domain was not found.
    #[error("{0}")]
    DomainNotProven(DomainFinding),
    /// An identity provider names the domain.
    #[error("An identity provider names this domain. Remove the domain from it first.")]
    DomainInUse,
    /// The account at the provider belongs to another user, or the user has another account there.
    #[error("This account belongs to another user, or you have another account at this provider.")]
    IdentityLinked,
    /// The tenant has as many identity providers as it may have.
    #[error("The tenant has the maximum number of identity providers. Remove one first.")]
    TooManyIdentityProviders,
    /// The tenant has as many directories as it may have.
    #[error("The tenant has the maximum number of directories. Remove one first.")]
    TooManyDirectories,
    /// The service account belongs to another directory.
    #[error("The service account belongs to another directory.")]
    DirectoryAccountTaken,
    /// Another user of the directory has this user name, compared without case. A user that the directory deleted also
    /// keeps its own.
    #[error("Another user of the directory has this user name.")]
    DirectoryUserNameTaken,
    /// The user belongs to a directory, and only the directory changes the field.
    #[error("The directory of this user sets this field.")]
    OfDirectory,
    /// More users of a directory are ACTIVE than are suspended in one unit of work.
    #[error("More than {0} users of the directory are active. Suspend some of them first, or keep them.")]
    TooManyDirectoryUsers(u64),
    /// Another group of the directory has this name, compared without case.
    #[error("Another group of the directory has this name.")]
    DirectoryGroupNameTaken,
    /// The directory has as many groups as it may have.
    #[error("The directory has the maximum number of groups. Delete one first.")]
    TooManyDirectoryGroups,
    /// More role assignments would begin and end than one change of groups may begin and end.
    #[error(
        "More than {0} role assignments would change. Change the grants of fewer groups, or fewer of them, at once."
    )]
    TooManyGroupAssignments(u64),
    /// A group of a directory gives the role. It ends when the directory removes the member, or when the grants of the
    /// group change.
    #[error("A group of a directory gives this role. Change the members or the grants of the group.")]
    AssignmentOfGroup,
    /// An access request gives the role, until its elevation ends.
    #[error("An access request gives this role, and sets when it ends. End the request instead.")]
    AssignmentOfAccessRequest,
    /// The rights that the user holds by an access request have given as many roles as they may give.
    #[error("You have given {0} roles by your access request, which is the maximum.")]
    TooManyGivenByRequest(usize),
    /// The tenant has as many eligibilities as it may have.
    #[error("The tenant has the maximum number of eligibilities. Remove one first.")]
    TooManyEligibilities,
    /// The user has an open request by the same eligibility.
    #[error("You have an open request for this role there. End or cancel it first.")]
    AccessRequestOpen,
    /// The user has as many open requests as it may have.
    #[error("You have the maximum number of open access requests. Cancel one first.")]
    TooManyAccessRequests,
    /// The access request is decided, or was closed before it was.
    #[error("The access request is not pending.")]
    AccessRequestNotPending,
    /// The user has decided about the access request before.
    #[error("You have decided about this access request already.")]
    DecidedBefore,
    /// The access request has begun, or is closed.
    #[error("The access request is neither pending nor approved for later.")]
    AccessRequestNotWaiting,
    /// The access request has not begun, or is closed.
    #[error("The access request is not active.")]
    AccessRequestNotActive,
    /// The eligibility is gone or was narrowed, or the user is not eligible any more. The request is cancelled.
    #[error("The request is cancelled: who may ask for this role there, for how long or of whom has changed since.")]
    AccessRequestOutdated,
    /// A manifest names service accounts by their names.
    #[error("Several service accounts have the name {0}, by which a manifest names them. Rename all but one.")]
    ServiceAccountsNamedAlike(String),
    /// A manifest names webhooks by their addresses.
    #[error("Several webhooks have the address {0}, by which a manifest names them. Remove all but one.")]
    WebhooksAlike(String),
    /// The tenant has more than a manifest can name.
    #[error(
        "The tenant has more than {0} permissions, roles, organizations, webhooks, identity providers, directories and service accounts with their roles, which a manifest cannot name."
    )]
    TooManyManifestItems(usize),
    /// The access review is completed or cancelled.
    #[error("The access review is not open.")]
    AccessReviewNotOpen,
    /// The access review has this many items without a decision.
    #[error("{0} items of the access review are undecided.")]
    AccessReviewUndecided(u64),
    /// The TOTP generator is confirmed already.
    #[error("The factor is confirmed already.")]
    FactorConfirmed,
    /// The passkey is registered already.
    #[error("This passkey is registered already.")]
    PasskeyRegistered,
    /// A recovery code is of no use without a second factor.
    #[error("Set up a second factor first.")]
    NoFactor,
    /// An administrator cannot remove its own factors in this way.
    #[error("You can remove your own factors one by one.")]
    OwnFactors,
    /// The user is not INACTIVE, so the audit log keeps its entries about the user.
    #[error("Only an inactive user can be erased from the audit log: delete the user first.")]
    UserNotInactive,
    /// The credentials are right in several tenants, so the login must name one of them.
    #[error("The credentials match accounts in several tenants. Name one of these tenants in `tenant`.")]
    SeveralTenants(Vec<TenantSummary>),
}

/// The details of [`Error::Internal`], for the log and never for the caller.
#[derive(Debug, thiserror::Error)]
#[error("{context}: {cause}")]
pub struct Internal {
    context: &'static str,
    cause: String,
}

fn describe_store(error: &StoreError) -> &'static str {
    match error {
        StoreError::Unavailable(_) => "The service is temporarily unavailable.",
        _ => "An internal error occurred.",
    }
}
