use serde_json::{Value, json};
use uuid::Uuid;

use crate::access::Covered;
use crate::audit::{Record, ResourceType, action};
use crate::permission::RegisteredPermission;

/// A change of the catalogue of permissions.
#[derive(Clone, Debug)]
pub enum PermissionChange {
    /// A new tenant gets the built-in permissions.
    CreateBuiltIn(Vec<RegisteredPermission>),
    /// A permission is registered.
    Create {
        /// The permission.
        permission: RegisteredPermission,
        /// The escalation check: if a wildcard in a role already covers the permission, the caller holds it.
        covered: Covered,
    },
    /// A permission that no role contains is removed.
    Delete(RegisteredPermission),
}

impl PermissionChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        let of =
            |permission: &RegisteredPermission, action| Record::new(action, ResourceType::PERMISSION, permission.id);
        let record = match self {
            // They are part of a new tenant, which has an entry of its own (decisions.md §2).
            Self::CreateBuiltIn(_) => return Vec::new(),
            Self::Create { permission, .. } => of(permission, action::CREATE).creating(&audited(permission)),
            Self::Delete(permission) => of(permission, action::DELETE).deleting(&audited(permission)),
        };
        vec![record]
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            // Roles contain the names of their permissions. No right depends on the catalogue.
            Self::CreateBuiltIn(_) | Self::Create { .. } | Self::Delete(_) => Vec::new(),
        }
    }
}

fn audited(permission: &RegisteredPermission) -> Value {
    json!({ "name": permission.name.as_str(), "description": permission.description.as_str() })
}
