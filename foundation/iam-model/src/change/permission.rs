use std::borrow::Cow;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::access::{GrantedRights, Until};
use crate::audit::{Record, ResourceType, action};
use crate::id::RoleId;
use crate::permission::{PermissionPattern, PermissionSet, RegisteredPermission};

/// A change of the catalogue of permissions.
#[derive(Clone, Debug)]
pub enum PermissionChange {
    /// A new tenant gets the built-in permissions.
    CreateBuiltIn(Vec<RegisteredPermission>),
    /// A permission is registered.
    Create {
        /// The permission.
        permission: RegisteredPermission,
        /// The roles that contain the wildcard of the permission's resource, whose users get the permission at once;
        /// `None` if they were not read.
        wildcard_roles: Option<Vec<RoleId>>,
        /// The latest time until which any user holds one of these roles. Without such roles, it has no effect and is
        /// [`Until::Forever`].
        held_until: Until,
    },
    /// A permission that no role contains is removed.
    Delete(RegisteredPermission),
}

impl PermissionChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        let of =
            |permission: &RegisteredPermission, action| Record::new(action, ResourceType::PERMISSION, permission.id);
        let record = match self {
            // They are part of a new tenant, which has an entry of its own (`docs/http-api.md#registration`).
            Self::CreateBuiltIn(_) => return Vec::new(),
            Self::Create { permission, .. } => of(permission, action::CREATE).creating(&audited(permission)),
            Self::Delete(permission) => of(permission, action::DELETE).deleting(&audited(permission)),
        };
        vec![record]
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        let granted = |permission: &RegisteredPermission, until| {
            let permissions: PermissionSet = [PermissionPattern::from(&permission.name)].into_iter().collect();
            GrantedRights::tenant_wide(Cow::Owned(permissions), until)
        };
        match self {
            // The built-in roles may contain them.
            Self::CreateBuiltIn(permissions) => {
                permissions.iter().map(|permission| granted(permission, Until::Forever)).collect()
            }
            Self::Create { wildcard_roles: Some(roles), .. } if roles.is_empty() => Vec::new(),
            Self::Create { permission, held_until, .. } => vec![granted(permission, *held_until)],
            Self::Delete(_) => Vec::new(),
        }
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
