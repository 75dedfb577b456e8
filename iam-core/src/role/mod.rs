//! Roles: named sets of permissions (`docs/http-api.md#roles-and-permissions`).

mod input;
mod service;

pub use crate::role::input::{NewRole, RolePatch};
pub use crate::role::service::Roles;
pub use iam_model::change::RoleChange;
pub use iam_model::role::{PlacedRole, Role, RoleScope, RoleSummary, TENANT_ADMIN};
pub use iam_model::store::{RoleStore, RoleTransaction};
