use iam_model::error::{Error, Result};
use iam_model::version::{Precondition, Version};

/// Refuses the change of a resource whose version is not the one that the caller expects. To be called under the lock
/// of the resource.
pub(crate) fn require_version(precondition: &Precondition, version: Version) -> Result<()> {
    if precondition.allows(version) { Ok(()) } else { Err(Error::PreconditionFailed) }
}
