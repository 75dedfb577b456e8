//! The catalogue of permissions (`docs/http-api.md#roles-and-permissions`): built-in permissions, and permissions that
//! the application registers.

mod input;
mod service;

pub use crate::permission::service::{NewPermission, Permissions};
pub use iam_model::change::PermissionChange;
pub use iam_model::permission::*;
pub use iam_model::store::{PermissionStore, PermissionTransaction};

pub(crate) use crate::permission::input::{check_patterns, pattern_field, too_many};
