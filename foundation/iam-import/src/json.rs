//! The records of files of JSON.

use iam_model::validate::FieldError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::record::shown_name;

/// Parses a record. No error contains a value: it may be a hash.
pub(crate) fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, FieldError> {
    iam_json::check(text).map_err(|_| not_json())?;
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let parsed = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        if !error.inner().is_data() {
            return not_json();
        }
        match error.path().to_string() {
            path if path == "." => FieldError::new("row", "must be a JSON object with known fields"),
            path => FieldError::new(shown_name(&path), "is unknown, is there twice, or has a value of a wrong type"),
        }
    })?;
    deserializer.end().map_err(|_| not_json())?;
    Ok(parsed)
}

fn not_json() -> FieldError {
    FieldError::new("row", "is not valid JSON")
}

/// Takes null for a field that is not there.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
