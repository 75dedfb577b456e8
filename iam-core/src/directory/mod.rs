//! Directories: where the identity provider of a company writes its people and groups (`docs/directories.md`).
//!
//! People make and change directories by [`Directories`], and map their groups to roles. What a directory writes comes
//! by an API key of its service account, through [`Provisioning`], in the resources of SCIM 2.0 (RFC 7643).

mod group;
mod input;
mod provisioning;
mod service;

pub use crate::directory::input::{DeletedUsers, DirectoryPatch, NewDirectory};
pub use crate::directory::provisioning::{
    Created, Provisioning, ProvisioningError, entity_tag, group_entity_tag, group_resource, has_entity_tag, resource_of,
};
pub use crate::directory::service::Directories;
pub use iam_model::change::{DirectoryChange, DirectoryGroupChange, DirectoryUserChange};
pub use iam_model::directory::*;
pub use iam_model::store::{
    DirectoryGroupStore, DirectoryGroupTransaction, DirectoryStore, DirectoryTransaction, DirectoryUserStore,
    DirectoryUserTransaction,
};
pub use iam_scim::group::GroupResource;
pub use iam_scim::user::UserResource;
pub use iam_scim::{CustomSchema, ScimError, ScimType};
