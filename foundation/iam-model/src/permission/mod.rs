//! The catalogue of permissions (`docs/http-api.md#roles-and-permissions`): built-in permissions, and permissions that
//! the application registers.

mod name;
mod reserved;
mod set;

pub use name::*;
pub use reserved::{RESERVED_PREFIX, RESERVED_RESOURCES, is_reserved_resource};
pub use set::PermissionSet;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::{PermissionId, TenantId};

use crate::validate::{Description, Invalid};

/// A permission that roles of a tenant can contain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegisteredPermission {
    /// Identifies the entry of the catalogue.
    pub id: PermissionId,
    /// The tenant it belongs to.
    pub tenant_id: TenantId,
    /// The permission; unique in the tenant.
    pub name: Permission,
    /// A text for human readers.
    pub description: Description,
    /// Whether it is built in and cannot be deleted.
    pub system: bool,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// Returns the built-in permissions of a new tenant.
///
/// # Errors
///
/// [`Invalid`] if a built-in text were invalid.
pub fn built_in_permissions(
    tenant_id: TenantId,
    created_at: Timestamp,
    mut next_id: impl FnMut() -> PermissionId,
) -> Result<Vec<RegisteredPermission>, Invalid> {
    let register = |(name, description): &(Permission, &str)| {
        let (name, description) = (name.clone(), description.parse()?);
        Ok(RegisteredPermission { id: next_id(), tenant_id, name, description, system: true, created_at })
    };
    BUILT_IN.iter().map(register).collect()
}
