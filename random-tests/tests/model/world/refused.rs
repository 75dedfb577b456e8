//! Why an operation was refused.

use iam_core::directory::{ProvisioningError, ScimError, ScimType};
use iam_core::{Error, Forbidden};

use super::variant;

/// A refusal by a service, or in the form of SCIM.
#[derive(Debug)]
pub(super) enum Refused {
    Service(Error),
    Scim(ScimError),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Service(error)
    }
}

impl From<ScimError> for Refused {
    fn from(error: ScimError) -> Self {
        Self::Scim(error)
    }
}

impl From<ProvisioningError> for Refused {
    fn from(error: ProvisioningError) -> Self {
        match error {
            ProvisioningError::Service(error) => Self::Service(error),
            ProvisioningError::Scim(error) => Self::Scim(error),
        }
    }
}

impl Refused {
    /// The kind of the refusal: the name of its variant, or its kind in SCIM with the attribute whose value is taken.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Service(error) => kind(error),
            Self::Scim(ScimError { scim_type: Some(ScimType::Uniqueness), detail, .. }) => {
                format!("Taken {}", detail.split(':').next().unwrap_or_default())
            }
            Self::Scim(ScimError { scim_type: Some(scim_type), .. }) => variant(scim_type),
            Self::Scim(ScimError { status, .. }) => status.to_string(),
        }
    }

    /// The full text of the refusal, which must be the same on every store.
    pub(super) fn full_text(&self) -> String {
        match self {
            Self::Service(error) => full_text(error),
            Self::Scim(error) => format!("{}: {error}", self.kind()),
        }
    }
}

/// The kind of a refusal: the name of its variant.
pub(super) fn kind(error: &Error) -> String {
    match error {
        Error::About { error, .. } => kind(error),
        Error::Validation(_) => "Validation".to_owned(),
        Error::NotFound(_) => "NotFound".to_owned(),
        Error::Forbidden(Forbidden::Permission(_)) => "Permission".to_owned(),
        Error::Forbidden(inner) => variant(inner),
        Error::Rule(inner) => variant(inner),
        Error::Conflict(inner) => variant(inner),
        // The session of a stale caller has ended.
        Error::Unauthenticated(inner) => variant(inner),
        other => panic!("{other:?}"),
    }
}

fn full_text(error: &Error) -> String {
    match error {
        Error::About { field, error } => format!("{field}: {}", full_text(error)),
        Error::Validation(fields) => format!("{fields:?}"),
        other => format!("{}: {other}", kind(other)),
    }
}
