//! What can go wrong, in two rings: [`StoreError`] from a store, [`Error`] from a service.
//!
//! Neither knows HTTP; `iam-axum` maps [`Error`] to problem documents in one place.

use std::fmt;
use std::time::Duration;

use crate::access::{Permission, Shortfall};
use crate::audit::ResourceType;
use crate::tenant::{QuotaKind, TenantSummary};

/// The result of a service call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a service refused or failed.
///
/// The `Display` text is safe to show to whoever made the call; what only a log may hold is in
/// [`source`](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// One or more fields of the input are invalid; every one of them is named.
    #[error("{}", describe(.0))]
    Validation(Vec<FieldError>),
    /// The caller is not who it claims to be, or did not say: no token, a bad one, or wrong credentials.
    #[error("{0}")]
    Unauthenticated(#[from] Unauthenticated),
    /// The caller is known and may not do this.
    #[error("{0}")]
    Forbidden(#[from] Forbidden),
    /// Too many failed logins: even the right password is refused for a while.
    #[error("The account is temporarily locked. Try again in {} seconds.", .retry_after.as_secs())]
    AccountLocked {
        /// How long the lock still lasts, rounded up to whole seconds.
        retry_after: Duration,
    },
    /// There is no such thing, or the caller may not know that there is.
    #[error("{} not found.", .0.title())]
    NotFound(ResourceType),
    /// A rule of the domain forbids the input, whoever asks and whatever the state.
    #[error("{0}")]
    Rule(#[from] Rule),
    /// The present state forbids it.
    #[error("{0}")]
    Conflict(#[from] Conflict),
    /// What was to be changed is not what the caller takes it for: somebody else has changed it.
    #[error("The resource has changed since it was read.")]
    PreconditionFailed,
    /// Something else was asked for under the same idempotency key.
    #[error("The Idempotency-Key was used for another request.")]
    IdempotencyKeyReused,
    /// More passwords wait to be hashed than can be hashed in time, whoever asks.
    #[error("The service is busy. Try again in {} seconds.", .retry_after.as_secs())]
    Overloaded {
        /// When those who wait now will have been served, in whole seconds.
        retry_after: Duration,
    },
    /// Any of the others, about one field of the input.
    #[error("{error}")]
    About {
        /// The field's name as the caller wrote it, for instance `roleId` or `assignments[3].roleId`.
        field: String,
        /// What is wrong with it.
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
    /// A validation error about one field.
    #[must_use]
    pub fn field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Validation(vec![FieldError::new(field, message)])
    }

    /// The same error, about a field of the input.
    #[must_use]
    pub fn about(self, field: impl Into<String>) -> Self {
        Self::About { field: field.into(), error: Box::new(self) }
    }

    /// The same error, about a field of the input where it is about what that field names. Whether the caller may do
    /// the whole thing, and whether the store answers, is about no field.
    pub(crate) fn about_what_it_names(self, field: impl Into<String>) -> Self {
        if matches!(self, Self::NotFound(_) | Self::Conflict(_)) { self.about(field) } else { self }
    }

    pub(crate) fn internal(context: &'static str, cause: impl fmt::Display) -> Self {
        Self::Internal(Internal { context, cause: cause.to_string() })
    }
}

/// A constraint that a store found violated becomes the conflict it stands for.
impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict(Constraint::UserEmail) => Conflict::EmailTaken.into(),
            StoreError::Conflict(Constraint::TenantSlug | Constraint::OrganizationSlug) => Conflict::SlugTaken.into(),
            StoreError::Conflict(Constraint::RoleName) => Conflict::RoleNameTaken.into(),
            StoreError::Conflict(Constraint::PermissionName) => Conflict::PermissionNameTaken.into(),
            StoreError::Conflict(Constraint::RoleAssignment) => Conflict::RoleHeld.into(),
            StoreError::Conflict(Constraint::IdempotencyRecord) => Conflict::StillRunning.into(),
            other => Self::Store(other),
        }
    }
}

/// A field of the input and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field's name as the caller wrote it, for instance `email` or `assignments[3].roleId`.
    pub field: String,
    /// What would be right.
    pub message: String,
}

impl FieldError {
    /// Names a field and what is wrong with it.
    #[must_use]
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

/// Why a caller is not authenticated.
///
/// Every failure of identity at login is the one [`Credentials`](Self::Credentials), so that nobody learns which
/// accounts exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unauthenticated {
    /// The request carries no bearer token.
    #[error("Authentication is required: send a bearer access token.")]
    NoToken,
    /// The access token is malformed, forged, not yet valid, or of a session that has ended.
    #[error("The access token is invalid.")]
    InvalidToken,
    /// The access token was valid and no longer is.
    #[error("The access token has expired.")]
    ExpiredToken,
    /// E-mail, password or tenant is wrong.
    #[error("Incorrect e-mail or password. If you have accounts in several tenants, name the `tenant` that you mean.")]
    Credentials,
    /// The refresh token is malformed, forged, spent, expired, or of a session that has ended.
    #[error("The refresh token is invalid or expired.")]
    RefreshToken,
}

/// Why a known caller may not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Forbidden {
    /// The caller lacks this permission.
    #[error("Missing permission: {0}.")]
    Permission(Permission),
    /// Somebody would get rights that the caller itself does not hold, there and for as long.
    #[error("Nobody can give a role with higher privileges than their own: {0}.")]
    Escalation(Shortfall),
    /// Only a user can do this, for instance change its own password; trusted code without a user cannot.
    #[error("Only a logged-in user can do this.")]
    NotAUser,
    /// Only trusted code can do this, for instance set the password of a user; no permission is enough.
    #[error("Only trusted code can do this.")]
    NotTrusted,
    /// Nobody tidies up what the audit log says of themselves.
    #[error("You cannot erase your own entries from the audit log.")]
    OwnEntries,
    /// The account is suspended.
    #[error("The account is suspended.")]
    Suspended,
    /// The operator has suspended the tenant.
    #[error("The tenant is suspended.")]
    TenantSuspended,
    /// This installation does not let strangers create tenants.
    #[error("Registration is closed.")]
    RegistrationClosed,
}

/// A rule of the domain that an input breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// A role of scope ORGANIZATION needs an organization.
    #[error("Organization-scoped roles require an organizationId.")]
    OrganizationRequired,
    /// A role of scope TENANT takes no organization.
    #[error("Tenant-scoped roles do not take an organizationId.")]
    OrganizationRefused,
    /// An organization cannot stand below itself.
    #[error("Circular reference: the parent is the organization itself or stands below it.")]
    CircularParent,
    /// The hierarchy would become deeper than it may.
    #[error("Maximum hierarchy depth of {0} exceeded.")]
    Depth(u32),
}

/// What the present state forbids.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Conflict {
    /// Another user of the tenant has this e-mail, whatever its case; a deleted user keeps it too.
    #[error("A user with this e-mail already exists.")]
    EmailTaken,
    /// Another tenant, or another organization of the tenant, has this slug.
    #[error("This slug is already taken.")]
    SlugTaken,
    /// A deleted user can be neither suspended nor reactivated.
    #[error("The user is inactive.")]
    UserInactive,
    /// The user already holds the role there.
    #[error("The user already holds this role in this organization, or tenant-wide.")]
    RoleHeld,
    /// Another role of the tenant has this name.
    #[error("A role with this name already exists.")]
    RoleNameTaken,
    /// Built-in roles stay as they are.
    #[error("Built-in roles can be neither changed nor deleted.")]
    SystemRole,
    /// Somebody holds the role.
    #[error("The role is assigned to somebody.")]
    RoleInUse,
    /// Somebody holds the role where its new scope does not let it be held.
    #[error("The role is assigned where its new scope does not allow it.")]
    RoleScopeInUse,
    /// The tenant's catalogue has this permission already.
    #[error("A permission with this name already exists.")]
    PermissionNameTaken,
    /// Built-in permissions stay.
    #[error("Built-in permissions cannot be deleted.")]
    SystemPermission,
    /// A role holds the permission.
    #[error("A role holds this permission.")]
    PermissionInUse,
    /// The organization was deleted: nothing can be put into it or below it.
    #[error("The organization is inactive.")]
    OrganizationInactive,
    /// Something that is not INACTIVE stands below the organization.
    #[error("The organization has children.")]
    OrganizationHasChildren,
    /// The place of a deleted organization is too deep by now.
    #[error("The organization would stand deeper than the hierarchy may be.")]
    OrganizationTooDeep,
    /// The tenant would be left without anyone who can administer it.
    #[error("The last active administrator of a tenant cannot be deleted, suspended or lose that role.")]
    LastAdministrator,
    /// The entry was recorded a moment ago and has no place in the sequence yet.
    #[error("The entry is not sealed yet. Try again in a second.")]
    NotSealed,
    /// The same is being made under the same idempotency key, and that takes long.
    #[error("A request with this Idempotency-Key is still being processed.")]
    StillRunning,
    /// The tenant has as many of something as its quota lets it have.
    #[error("The tenant has reached its quota of {1} {0}.")]
    QuotaExceeded(QuotaKind, u64),
    /// The user is not INACTIVE, so the audit log keeps what it says of the user.
    #[error("Only an inactive user can be erased from the audit log: delete the user first.")]
    UserNotInactive,
    /// The credentials are right in several tenants: say which is meant.
    #[error("The credentials match accounts of several tenants: name one of them as `tenant`.")]
    SeveralTenants(Vec<TenantSummary>),
}

/// The inner text of [`Error::Internal`]: for the log, never for the caller.
#[derive(Debug, thiserror::Error)]
#[error("{context}: {cause}")]
pub struct Internal {
    context: &'static str,
    cause: String,
}

/// Why a store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A constraint was violated: somebody else was first.
    #[error("constraint violated: {0:?}")]
    Conflict(Constraint),
    /// The row that was to be changed is not there.
    #[error("no such {0}")]
    Missing(&'static str),
    /// A row holds what the service never writes.
    #[error("corrupt {what}: {cause}")]
    Corrupt {
        /// The table or column.
        what: &'static str,
        /// What is wrong with it.
        cause: String,
    },
    /// The store does not answer; trying again later may help.
    #[error("the store is unavailable")]
    Unavailable(#[source] BoxError),
    /// Any other failure of the store.
    #[error("the store failed")]
    Failed(#[source] BoxError),
}

impl StoreError {
    /// A row that cannot be read, for stores to call.
    #[must_use]
    pub fn corrupt(what: &'static str, cause: impl fmt::Display) -> Self {
        Self::Corrupt { what, cause: cause.to_string() }
    }
}

/// An error of a store's driver.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The constraints that two callers can race for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Constraint {
    /// One e-mail, one user, inside a tenant.
    UserEmail,
    /// One slug, one tenant.
    TenantSlug,
    /// One name, one role, inside a tenant.
    RoleName,
    /// One user holds one role in one context once.
    RoleAssignment,
    /// One name, one permission, inside a tenant.
    PermissionName,
    /// One slug, one organization that is not INACTIVE, inside a tenant.
    OrganizationSlug,
    /// One generation, one signing key.
    SigningKeyGeneration,
    /// One idempotency key, one request at a time.
    IdempotencyRecord,
    /// A reference to something that is not there, or not of this tenant.
    Reference,
}

fn describe(errors: &[FieldError]) -> String {
    let fields: Vec<&str> = errors.iter().map(|error| error.field.as_str()).collect();
    format!("Invalid input: {}.", fields.join(", "))
}

fn describe_store(error: &StoreError) -> &'static str {
    match error {
        StoreError::Unavailable(_) => "The service is temporarily unavailable.",
        _ => "An internal error occurred.",
    }
}
