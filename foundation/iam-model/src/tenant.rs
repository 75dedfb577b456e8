//! Tenants: customers, each with its own data that no other tenant can see (`docs/http-api.md#403-or-404`).

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::attribute::{AttributeDefinitions, AttributeRules, UnregisteredAttributes};
use crate::clock::Timestamp;
use crate::factor::{FactorDemand, GraceDays, SecondFactorPolicy};
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
    /// Whether its users have second factors.
    #[serde(default)]
    pub second_factor: SecondFactorPolicy,
    /// How long a user may log in without a factor that is required.
    #[serde(default)]
    pub second_factor_grace_days: GraceDays,
    /// When the tenant began to require second factors. `None` if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_factor_required_at: Option<Timestamp>,
    /// Whether users whose identity provider is known log in by it alone.
    #[serde(default)]
    pub password_login: PasswordLogin,
    /// Whether its users log in by a message to their address.
    #[serde(default)]
    pub email_login: EmailLogin,
    /// How requests of AuthZEN name its users and organizations.
    #[serde(default)]
    pub authzen_identifiers: AuthzenIdentifiers,
    /// The attributes that are defined for its users.
    #[serde(default, skip_serializing_if = "AttributeDefinitions::is_empty")]
    pub user_attributes: AttributeDefinitions,
    /// The attributes that are defined for its organizations.
    #[serde(default, skip_serializing_if = "AttributeDefinitions::is_empty")]
    pub organization_attributes: AttributeDefinitions,
    /// Whether its users and organizations can have other attributes.
    #[serde(default, skip_serializing_if = "UnregisteredAttributes::is_allowed")]
    pub unregistered_attributes: UnregisteredAttributes,
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

/// The rules for the new passwords of a tenant (`docs/operating.md#password-policies`). Passwords that users have
/// already stay valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PasswordPolicy {
    /// The default: 8 to 128 characters of several kinds.
    #[default]
    Seed,
    /// NIST SP 800-63B-4, section 3.1.1.2: 15 to 128 characters of any kind, 8 if a second factor is required, and no
    /// common or breached password.
    Nist,
    /// OWASP ASVS 5.0, section V6.2: 8 to 128 characters of any kind, and no common or breached password.
    Asvs,
}

text_enum! { PasswordPolicy { Seed = "seed", Nist = "nist-800-63b-4", Asvs = "asvs-5" } }

/// Whether the users of a tenant log in by passwords.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PasswordLogin {
    /// They do.
    #[default]
    Allowed,
    /// Not those whose address is of a VERIFIED domain for which an enabled identity provider speaks. Holders of all
    /// permissions tenant-wide are exempt, so that a provider that fails locks no tenant out.
    Federated,
}

text_enum! { PasswordLogin { Allowed = "ALLOWED", Federated = "FEDERATED" } }

/// Whether the users of a tenant log in by a message to their address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EmailLogin {
    /// They do not.
    #[default]
    Off,
    /// Those whose address is verified do.
    On,
}

text_enum! { EmailLogin { Off = "OFF", On = "ON" } }

/// How requests of AuthZEN name users and organizations, and how the answers do (`docs/authzen.md#names`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AuthzenIdentifiers {
    /// By their identifiers.
    #[default]
    Id,
    /// Users by their external identifiers, those without one by their e-mails; organizations by their slugs.
    Name,
}

text_enum! { AuthzenIdentifiers { Id = "ID", Name = "NAME" } }

impl PasswordPolicy {
    /// The maximum number of characters (code points) of a password.
    pub const MAX_LENGTH: usize = 128;

    /// Returns the minimum number of characters (code points) of a password in a tenant with this policy of second
    /// factors.
    #[must_use]
    pub fn min_length(self, second_factor: SecondFactorPolicy) -> usize {
        match (self, second_factor) {
            (Self::Seed | Self::Asvs, _) | (Self::Nist, SecondFactorPolicy::Required) => 8,
            (Self::Nist, _) => 15,
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

    /// Returns the demand of the tenant on users without a second factor.
    #[must_use]
    pub fn factor_demand(&self) -> FactorDemand {
        FactorDemand { required_at: self.second_factor_required_at, grace: self.second_factor_grace_days }
    }

    /// Whether another state of the tenant protects its users by the same rules: how they prove who they are, and which
    /// of them a question of a gateway means.
    #[must_use]
    pub fn protects_like(&self, other: &Self) -> bool {
        let rules = |tenant: &Self| {
            (
                tenant.password_policy,
                tenant.second_factor,
                tenant.second_factor_grace_days,
                tenant.password_login,
                tenant.email_login,
                tenant.authzen_identifiers,
            )
        };
        rules(self) == rules(other)
    }

    /// Returns the rules for attributes.
    #[must_use]
    pub fn attribute_rules(&self) -> AttributeRules {
        AttributeRules {
            users: self.user_attributes.clone(),
            organizations: self.organization_attributes.clone(),
            unregistered: self.unregistered_attributes,
        }
    }

    /// Whether another state of the tenant has the same rules for attributes.
    #[must_use]
    pub fn has_attribute_rules_of(&self, other: &Self) -> bool {
        self.user_attributes == other.user_attributes
            && self.organization_attributes == other.organization_attributes
            && self.unregistered_attributes == other.unregistered_attributes
    }

    /// Returns the minimum number of characters (code points) of a new password.
    #[must_use]
    pub fn min_password_length(&self) -> usize {
        self.password_policy.min_length(self.second_factor)
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
            "secondFactor": self.second_factor.as_str(),
            "secondFactorGraceDays": self.second_factor_grace_days.days(),
            "passwordLogin": self.password_login.as_str(),
            "emailLogin": self.email_login.as_str(),
            "authzenIdentifiers": self.authzen_identifiers.as_str(),
            "userAttributes": self.user_attributes,
            "organizationAttributes": self.organization_attributes,
            "unregisteredAttributes": self.unregistered_attributes.as_str(),
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
    /// Invitations that can be accepted: 1,000.
    pub invitations: u64,
    /// Messages in an hour: 500. More wait.
    pub hourly_messages: u64,
    /// Role assignments of one user that have not expired: 1,000. They bound the work for every question about the
    /// rights of the user.
    pub user_assignments: u64,
}

impl Default for Quota {
    fn default() -> Self {
        Self {
            users: 100_000,
            organizations: 10_000,
            roles: 1_000,
            assignments: 500_000,
            permissions: 1_000,
            invitations: 1_000,
            hourly_messages: 500,
            user_assignments: 1_000,
        }
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
    /// Invitations that can be accepted.
    Invitations,
    /// Role assignments of one user.
    UserAssignments,
}

impl fmt::Display for QuotaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Users => "users",
            Self::Organizations => "organizations",
            Self::Roles => "roles",
            Self::Assignments => "role assignments",
            Self::Permissions => "permissions",
            Self::Invitations => "pending invitations",
            Self::UserAssignments => "role assignments of one user",
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
            QuotaKind::Invitations => self.invitations,
            QuotaKind::UserAssignments => self.user_assignments,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_required_second_factor_allows_shorter_passwords_under_nist_alone() {
        use SecondFactorPolicy::{Off, Optional, Required};
        for (policy, lengths) in
            [(PasswordPolicy::Seed, [8, 8, 8]), (PasswordPolicy::Nist, [15, 15, 8]), (PasswordPolicy::Asvs, [8, 8, 8])]
        {
            assert_eq!([Off, Optional, Required].map(|second_factor| policy.min_length(second_factor)), lengths);
        }
    }
}
