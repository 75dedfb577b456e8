//! Roles: named sets of permissions (`docs/http-api.md#roles-and-permissions`).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::error::{Result, Rule};
use crate::id::{OrganizationId, RoleId, TenantId};
use crate::permission::PermissionSet;
use crate::validate::{Description, Invalid, RoleName};
use crate::version::Version;

/// The name of the built-in role that has all permissions in its tenant.
pub const TENANT_ADMIN: &str = "TENANT_ADMIN";

/// A named set of permissions of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Role {
    /// Identifies the role.
    pub id: RoleId,
    /// The tenant it belongs to.
    pub tenant_id: TenantId,
    /// Unique in the tenant.
    pub name: RoleName,
    /// A text for human readers.
    pub description: Description,
    /// Where it can be assigned.
    pub scope: RoleScope,
    /// Its permissions.
    pub permissions: PermissionSet,
    /// Whether it is built in and cannot be changed.
    pub system: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The version of the role with its permissions.
    #[serde(default)]
    pub version: Version,
}

/// A role in an organization, or tenant-wide, that is given without an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacedRole {
    /// The role.
    pub role_id: RoleId,
    /// The organization; `None` for tenant-wide.
    pub organization_id: Option<OrganizationId>,
}

/// Where a role can be assigned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RoleScope {
    /// Tenant-wide only.
    Tenant,
    /// In an organization only.
    Organization,
    /// Tenant-wide or in an organization.
    #[default]
    Any,
}

text_enum! { RoleScope { Tenant = "TENANT", Organization = "ORGANIZATION", Any = "ANY" } }

impl RoleScope {
    /// Checks whether a role of this scope can be assigned in an organization, or else tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Rule::OrganizationRequired`] or [`Rule::OrganizationRefused`].
    pub fn check(self, in_organization: bool) -> Result<(), Rule> {
        match (self, in_organization) {
            (Self::Organization, false) => Err(Rule::OrganizationRequired),
            (Self::Tenant, true) => Err(Rule::OrganizationRefused),
            _ => Ok(()),
        }
    }
}

impl Role {
    /// Returns the role after a change at this moment. The store raises the version by the same step.
    #[must_use]
    pub fn changed(self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.next(), ..self }
    }

    /// Returns the approximate size of the role in memory, in bytes.
    pub fn size(&self) -> usize {
        let patterns = self.permissions.iter().map(|pattern| size_of_val(pattern) + pattern.as_str().len());
        size_of::<Self>() + self.name.as_str().len() + self.description.as_str().len() + patterns.sum::<usize>()
    }

    /// Returns the identifier and the name of the role, for use in other values.
    #[must_use]
    pub fn summary(&self) -> RoleSummary {
        RoleSummary { id: self.id, name: self.name.clone() }
    }

    /// Returns the fields that the audit log records.
    pub(crate) fn audited(&self) -> Value {
        json!({
            "name": self.name.as_str(),
            "description": self.description.as_str(),
            "scope": self.scope.as_str(),
            "permissions": self.permissions.iter().map(|pattern| pattern.as_str()).collect::<Vec<_>>(),
        })
    }
}

/// The identifier and the name of a role, for use in other values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleSummary {
    /// Identifies the role.
    pub id: RoleId,
    /// Unique in the tenant.
    pub name: RoleName,
}

/// A role that every tenant has from its start.
struct BuiltIn {
    name: &'static str,
    description: &'static str,
    scope: RoleScope,
    permissions: &'static [&'static str],
}

const BUILT_IN: [BuiltIn; 4] = [
    BuiltIn {
        name: TENANT_ADMIN,
        description: "May do everything in the tenant.",
        scope: RoleScope::Tenant,
        permissions: &["*"],
    },
    BuiltIn {
        name: "ORGANIZATION_ADMIN",
        description: "Administers an organization and everything below it.",
        scope: RoleScope::Organization,
        permissions: &["organizations:*", "users:read", "role-assignments:*", "roles:read", "permissions:read"],
    },
    BuiltIn {
        name: "MEMBER",
        description: "Sees users and organizations.",
        scope: RoleScope::Any,
        permissions: &["users:read", "organizations:read"],
    },
    BuiltIn {
        name: "AUDITOR",
        description: "Reads users, roles, organizations and the audit log, and changes nothing.",
        scope: RoleScope::Tenant,
        permissions: &[
            "audit-logs:read",
            "users:read",
            "roles:read",
            "permissions:read",
            "role-assignments:read",
            "organizations:read",
        ],
    },
];

/// Returns the built-in roles of a new tenant.
///
/// # Errors
///
/// [`Invalid`] if a built-in text were invalid.
pub fn built_in_roles(
    tenant: TenantId,
    now: Timestamp,
    mut next_id: impl FnMut() -> RoleId,
) -> Result<Vec<Role>, Invalid> {
    let make = |built_in: &BuiltIn| {
        Ok(Role {
            id: next_id(),
            tenant_id: tenant,
            name: built_in.name.parse()?,
            description: built_in.description.parse()?,
            scope: built_in.scope,
            permissions: built_in.permissions.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            system: true,
            created_at: now,
            updated_at: now,
            version: Version::FIRST,
        })
    };
    BUILT_IN.iter().map(make).collect()
}
