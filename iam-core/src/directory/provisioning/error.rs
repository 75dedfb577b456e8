use iam_model::error::{Conflict, Error};
use iam_model::store_error::StoreError;
use iam_scim::{ScimError, ScimType};

/// Why a request of a directory is refused, or failed.
#[derive(Debug, thiserror::Error)]
pub enum ProvisioningError {
    /// The resource or the change cannot be used as it is, or a value in it is taken. It names no person.
    #[error(transparent)]
    Scim(ScimError),
    /// Every other error of a service.
    #[error(transparent)]
    Service(Error),
}

impl From<ScimError> for ProvisioningError {
    fn from(error: ScimError) -> Self {
        Self::Scim(error)
    }
}

/// Directories tell a value that is taken from other conflicts by the kind `uniqueness`: they look for the user or the
/// group then, and do not try again. The text names the attribute.
impl From<Error> for ProvisioningError {
    fn from(error: Error) -> Self {
        let attribute = match &error {
            Error::Conflict(Conflict::EmailTaken | Conflict::EmailOfDeletedUser) => "emails",
            Error::Conflict(Conflict::ExternalIdTaken | Conflict::ExternalIdIsEmail) => "externalId",
            Error::Conflict(Conflict::DirectoryUserNameTaken) => "userName",
            Error::Conflict(Conflict::DirectoryGroupNameTaken) => "displayName",
            _ => return Self::Service(error),
        };
        Self::Scim(ScimError::new(409, Some(ScimType::Uniqueness), format!("{attribute}: {error}")))
    }
}

impl From<StoreError> for ProvisioningError {
    fn from(error: StoreError) -> Self {
        Error::from(error).into()
    }
}

impl From<Conflict> for ProvisioningError {
    fn from(conflict: Conflict) -> Self {
        Error::from(conflict).into()
    }
}
