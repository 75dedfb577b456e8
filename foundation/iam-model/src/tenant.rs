//! Tenants: customers, each with its own data that no other tenant can see (`decisions.md` §2).

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::id::TenantId;
use crate::validate::{Name, Slug};
use crate::version::Version;

/// A customer with its own users, organizations, roles and audit log. No other tenant may see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// Identifies the tenant.
    pub id: TenantId,
    /// A name for human readers.
    pub name: Name,
    /// A name for URLs and logins; unique among all tenants.
    pub slug: Slug,
    /// Whether the tenant is active or suspended.
    pub status: TenantStatus,
    /// The rules for new passwords.
    #[serde(default)]
    pub password_policy: PasswordPolicy,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The version of the row.
    #[serde(default)]
    pub version: Version,
}

/// Whether the users of a tenant can log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TenantStatus {
    /// The users of the tenant can log in.
    Active,
    /// The operator has suspended the tenant: it has no sessions, and its users cannot log in.
    Suspended,
}

text_enum! { TenantStatus { Active = "ACTIVE", Suspended = "SUSPENDED" } }

/// The rules for the new passwords of a tenant (`accounts.md`, "Password policies"). Passwords that users have already stay
/// valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PasswordPolicy {
    /// The rules of `interface.md` §2.1: 8 to 128 characters of several kinds.
    #[default]
    Seed,
    /// NIST SP 800-63B-4, section 3.1.1.2: 15 to 128 characters of any kind, and no common or breached password.
    Nist,
    /// OWASP ASVS 5.0, section V6.2: 8 to 128 characters of any kind, and no common or breached password.
    Asvs,
}

text_enum! { PasswordPolicy { Seed = "seed", Nist = "nist-800-63b-4", Asvs = "asvs-5" } }

impl PasswordPolicy {
    /// The maximum number of characters (code points) of a password.
    pub const MAX_LENGTH: usize = 128;

    /// Returns the minimum number of characters (code points) of a password.
    #[must_use]
    pub fn min_length(self) -> usize {
        match self {
            Self::Seed | Self::Asvs => 8,
            Self::Nist => 15,
        }
    }
}

/// The identifier and the names of a tenant, for use in other values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantSummary {
    /// Identifies the tenant.
    pub id: TenantId,
    /// A name for URLs and logins.
    pub slug: Slug,
    /// A name for human readers.
    pub name: Name,
}

impl Tenant {
    /// Returns the tenant after a change at this moment. The store raises the version by the same step.
    #[must_use]
    pub fn changed(self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.next(), ..self }
    }

    /// Returns the identifier and the names of the tenant, for use in other values.
    #[must_use]
    pub fn summary(&self) -> TenantSummary {
        TenantSummary { id: self.id, slug: self.slug.clone(), name: self.name.clone() }
    }

    pub(crate) fn audited(&self) -> Value {
        json!({
            "name": self.name.as_str(),
            "slug": self.slug.as_str(),
            "status": self.status.as_str(),
            "passwordPolicy": self.password_policy.as_str(),
        })
    }
}

/// How much a tenant may have at most, so that one tenant cannot fill the disk that all tenants share. Soft-deleted
/// users and organizations count, because their rows are kept. Trusted code may exceed the quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Users in any status: 100,000.
    pub users: u64,
    /// Organizations in any status: 10,000.
    pub organizations: u64,
    /// Roles, including the built-in ones: 1,000.
    pub roles: u64,
    /// Role assignments, including expired ones that are not removed yet: 500,000.
    pub assignments: u64,
    /// Permissions, including the built-in ones: 1,000.
    pub permissions: u64,
}

impl Default for Quota {
    fn default() -> Self {
        Self { users: 100_000, organizations: 10_000, roles: 1_000, assignments: 500_000, permissions: 1_000 }
    }
}

/// How much a tenant has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Users in any status.
    pub users: u64,
    /// Organizations in any status.
    pub organizations: u64,
    /// Roles, including the built-in ones.
    pub roles: u64,
    /// Role assignments, including expired ones that are not removed yet.
    pub assignments: u64,
}

/// The kinds of rows that have a [`Quota`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaKind {
    /// Users.
    Users,
    /// Organizations.
    Organizations,
    /// Roles.
    Roles,
    /// Role assignments.
    Assignments,
    /// Permissions.
    Permissions,
}

impl fmt::Display for QuotaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Users => "users",
            Self::Organizations => "organizations",
            Self::Roles => "roles",
            Self::Assignments => "role assignments",
            Self::Permissions => "permissions",
        })
    }
}

impl Quota {
    /// The limit of one kind.
    #[must_use]
    pub fn of(self, kind: QuotaKind) -> u64 {
        match kind {
            QuotaKind::Users => self.users,
            QuotaKind::Organizations => self.organizations,
            QuotaKind::Roles => self.roles,
            QuotaKind::Assignments => self.assignments,
            QuotaKind::Permissions => self.permissions,
        }
    }
}
