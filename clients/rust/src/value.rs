//! Values with a meaning of their own: secrets, and fields of a change.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A password, a token or another value that logs and errors must not show: its `Debug` shows no part of it.
#[derive(Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Secret<T = String>(T);

impl<T> Secret<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value, to send it or to keep it in a safe place.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Returns the value without a copy of it.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// A field of a change: absent by default, so it stays as it is.
///
/// ```
/// use iam_client::models::UserPatch;
/// use iam_client::Change;
///
/// let patch = UserPatch { first_name: "Grace".to_owned().into(), external_id: Change::Null, ..Default::default() };
/// assert_eq!(serde_json::to_string(&patch)?, r#"{"externalId":null,"firstName":"Grace"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// The field is not sent, and stays as it is.
    #[default]
    Unchanged,
    /// The field is sent as null. Most fields take it for no change; the description of the others says what it
    /// removes.
    Null,
    /// The field becomes this value.
    To(T),
}

impl<T> Change<T> {
    /// Whether the field is not sent.
    pub const fn is_unchanged(&self) -> bool {
        matches!(self, Self::Unchanged)
    }
}

impl<T> From<T> for Change<T> {
    fn from(value: T) -> Self {
        Self::To(value)
    }
}

impl<T: Serialize> Serialize for Change<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unchanged | Self::Null => serializer.serialize_none(),
            Self::To(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::To))
    }
}
