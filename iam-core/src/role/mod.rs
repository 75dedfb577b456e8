//! Roles: named sets of permissions (`decisions.md` §4).

mod change;
mod store;

pub use change::RoleChange;
pub use store::RoleStore;

use crate::access::PermissionPattern;
use crate::clock::Timestamp;
use crate::id::{RoleId, TenantId};
use crate::validate::Invalid;

/// The name of the built-in role that may do everything in its tenant.
pub const TENANT_ADMIN: &str = "TENANT_ADMIN";

/// A named set of permissions of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Names the role.
    pub id: RoleId,
    /// The tenant it belongs to.
    pub tenant_id: TenantId,
    /// Upper snake case, unique in the tenant.
    pub name: String,
    /// For people.
    pub description: String,
    /// Where it can be assigned.
    pub scope: RoleScope,
    /// What it permits.
    pub permissions: Vec<PermissionPattern>,
    /// Whether it is built in and cannot be changed.
    pub system: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Where a role can be assigned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoleScope {
    /// Tenant-wide only.
    Tenant,
    /// In an organization only.
    Organization,
    /// Tenant-wide or in an organization.
    #[default]
    Any,
}

words! { RoleScope { Tenant = "TENANT", Organization = "ORGANIZATION", Any = "ANY" } }

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
        description: "Reads everything, the audit log included, and changes nothing.",
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

/// The roles that a new tenant starts with.
pub(crate) fn built_in_roles(
    tenant: TenantId,
    now: Timestamp,
    mut next_id: impl FnMut() -> RoleId,
) -> Result<Vec<Role>, Invalid> {
    let make = |built_in: &BuiltIn| {
        Ok(Role {
            id: next_id(),
            tenant_id: tenant,
            name: built_in.name.to_owned(),
            description: built_in.description.to_owned(),
            scope: built_in.scope,
            permissions: built_in.permissions.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            system: true,
            created_at: now,
            updated_at: now,
        })
    };
    BUILT_IN.iter().map(make).collect()
}
