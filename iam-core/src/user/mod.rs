//! Users: the people of a tenant (`docs/http-api.md#users`).

mod attributes;
mod details;
mod export;
mod import;
mod input;
mod rules;
mod service;

pub use crate::user::details::{NewUserDetails, UserWithAttributes};
pub use crate::user::export::{Profile, UserData, UserExport};
pub use crate::user::import::{Import, Imported, ImportedRole, ImportedUser};
pub use crate::user::input::{NewServiceAccount, NewUser, UserPatch};
pub use crate::user::service::Users;
pub use iam_model::change::UserChange;
pub use iam_model::store::{UserStore, UserTransaction};
pub use iam_model::user::{User, UserFilter, UserKind, UserSort, UserSortKey, UserStatus, UserSummary};

pub(crate) use crate::user::input::NewProfile;
pub(crate) use crate::user::rules::StatusMove;
pub(crate) use crate::user::service::apply_with_consequences;
