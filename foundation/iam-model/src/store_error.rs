//! The errors of a store.

use std::fmt;

/// Why an operation of a store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A constraint was violated: another transaction was first.
    #[error("constraint violated: {0:?}")]
    Conflict(Constraint),
    /// The row to change does not exist.
    #[error("no such {0}")]
    Missing(&'static str),
    /// A row contains data that the service never writes.
    #[error("corrupt {what}: {cause}")]
    Corrupt {
        /// The table or column.
        what: &'static str,
        /// The error in it.
        cause: String,
    },
    /// The tenant uses so many connections that it gets no other one for now. A later attempt may succeed.
    #[error("the tenant uses its share of the connections")]
    Busy,
    /// The store does not answer. A later attempt may succeed.
    #[error("the store is unavailable")]
    Unavailable(#[source] BoxError),
    /// Any other failure of the store.
    #[error("the store failed")]
    Failed(#[source] BoxError),
}

impl StoreError {
    /// Returns an error for a row that cannot be read. For implementations of stores.
    #[must_use]
    pub fn corrupt(what: &'static str, cause: impl fmt::Display) -> Self {
        Self::Corrupt { what, cause: cause.to_string() }
    }
}

/// An error of a store's driver.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The constraints that two concurrent calls can violate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Constraint {
    /// An e-mail belongs to only one user of a tenant.
    UserEmail,
    /// An external identifier belongs to only one user of a tenant.
    UserExternalId,
    /// A slug belongs to only one tenant.
    TenantSlug,
    /// A name belongs to only one role of a tenant.
    RoleName,
    /// A user holds a role in a resource scope only once.
    RoleAssignment,
    /// A name belongs to only one permission of a tenant.
    PermissionName,
    /// A slug belongs to only one organization of a tenant that is not INACTIVE.
    OrganizationSlug,
    /// A generation belongs to only one signing key.
    SigningKeyGeneration,
    /// At most one invitation for an address is PENDING in a tenant.
    Invitation,
    /// A passkey belongs to only one user of the installation.
    Passkey,
    /// Only one request at a time runs under an idempotency key.
    IdempotencyRecord,
    /// An access review that changes is OPEN.
    AccessReviewOpen,
    /// A domain is in a tenant only once.
    Domain,
    /// A domain is VERIFIED in only one tenant of the installation.
    VerifiedDomain,
    /// A slug belongs to only one identity provider of a tenant.
    IdentityProviderSlug,
    /// An account at an identity provider belongs to only one user of the tenant, and a user has only one there.
    Identity,
    /// A service account has only one directory.
    DirectoryAccount,
    /// A user name belongs to only one user of a directory, and a user belongs to only one directory.
    DirectoryUserName,
    /// A name belongs to only one group of a directory.
    DirectoryGroupName,
    /// A referenced row exists, in the same tenant.
    Reference,
}
