//! What is kept of a login between its steps: in challenges, which end when they are used.

use iam_model::challenge::Ceremony;
use iam_model::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Returns a state as the content of a challenge.
pub(crate) fn kept(state: &impl Serialize) -> Result<Ceremony> {
    let state = serde_json::to_vec(state).map_err(|cause| Error::internal("state of a login", cause))?;
    Ok(Ceremony(state))
}

/// Reads a state from the content of a challenge.
pub(crate) fn read<T: DeserializeOwned>(ceremony: Option<&Ceremony>) -> Result<T> {
    let bytes = ceremony.map(|ceremony| ceremony.0.as_slice()).unwrap_or_default();
    serde_json::from_slice(bytes).map_err(|cause| Error::internal("state of a login", cause))
}
