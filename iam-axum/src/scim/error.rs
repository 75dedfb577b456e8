use axum::response::{IntoResponse, Response};
use iam_core::Error;
use iam_core::directory::{ProvisioningError, ScimError};

use crate::problem::Problem;

/// Why a request of a directory is refused, or failed. The conventions write it in the form of SCIM.
pub(super) struct Refusal(Problem);

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self(error.into())
    }
}

impl From<ScimError> for Refusal {
    fn from(error: ScimError) -> Self {
        Self(Problem::of_scim(error))
    }
}

impl From<ProvisioningError> for Refusal {
    fn from(error: ProvisioningError) -> Self {
        match error {
            ProvisioningError::Scim(error) => error.into(),
            ProvisioningError::Service(error) => error.into(),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}
