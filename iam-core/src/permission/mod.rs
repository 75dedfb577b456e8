//! The catalogue of permissions (`decisions.md` §4): built-in permissions, and permissions that the application
//! registers.

mod input;
mod service;

pub use crate::permission::service::{NewPermission, Permissions};
pub use iam_model::change::PermissionChange;
pub use iam_model::permission::*;
pub use iam_model::store::{PermissionStore, PermissionTransaction};

pub(crate) use crate::permission::input::{check_patterns, pattern_field};
