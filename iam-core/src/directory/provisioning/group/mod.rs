//! What a directory writes of its groups. Their members are users of the directory.

mod change;
mod create;
mod delete;
mod mapping;
mod members;
mod read;
mod wanted;

pub use crate::directory::provisioning::group::wanted::group_resource;

use iam_model::audit::ResourceType;
use iam_model::directory::DirectoryGroup;
use iam_model::error::{Error, Result};
use iam_model::id::{DirectoryGroupId, DirectoryId};

use crate::engine::UnitOfWork;

/// Reads a group of a directory under the tenant's lock.
async fn find(work: &mut UnitOfWork<'_>, directory: DirectoryId, id: DirectoryGroupId) -> Result<DirectoryGroup> {
    work.reads().directory_group(directory, id).await?.ok_or_else(not_found)
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::DIRECTORY_GROUP)
}
