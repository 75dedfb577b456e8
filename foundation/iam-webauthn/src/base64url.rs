//! Bytes that are base64url without padding in JSON (Level 3 §3, "base64url encoding"). The functions are for
//! `#[serde(with = …)]`. Every byte string has only one encoding: other texts are refused.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes of a bounded length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bytes<const MAX: usize>(pub(crate) Vec<u8>);

impl<const MAX: usize> Serialize for Bytes<MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, serializer)
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for Bytes<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = deserialize(deserializer)?;
        if bytes.len() > MAX { Err(D::Error::custom("too long")) } else { Ok(Self(bytes)) }
    }
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&encode(bytes))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    URL_SAFE_NO_PAD.decode(text).map_err(|_| D::Error::custom("not base64url"))
}
