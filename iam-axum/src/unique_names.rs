//! JSON in which no object has two fields of the same name, of which a parser would keep one (RFC 7493 §2.3).

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Formatter};

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// Checks a JSON text.
///
/// # Errors
///
/// An error about [data](serde_json::Error::is_data) for two fields of the same name; another one for a text that is no
/// JSON or that is too deep.
pub(crate) fn check_unique_names(json: &[u8]) -> serde_json::Result<()> {
    serde_json::from_slice::<UniqueNames>(json).map(drop)
}

/// JSON without two fields of the same name in one object.
struct UniqueNames;

impl<'de> Deserialize<'de> for UniqueNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for UniqueNames {
    type Value = Self;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        let mut names = HashSet::new();
        while let Some((Name(name), Self)) = fields.next_entry()? {
            if !names.insert(name) {
                return Err(A::Error::custom("a name appears twice"));
            }
        }
        Ok(self)
    }
}

/// The name of a field, which is copied only if it has escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the error of a text is that it has two fields of the same name.
    fn is_doubled(json: &str) -> bool {
        check_unique_names(json.as_bytes()).is_err_and(|error| error.is_data())
    }

    #[test]
    fn no_object_has_two_fields_of_the_same_name() {
        for unique in [r#"{"a":1,"b":{"a":2},"c":[{"a":1},{"a":1.5}]}"#, r#"{"a":null,"A":true}"#, "[-1]", "\"a\""] {
            assert!(check_unique_names(unique.as_bytes()).is_ok(), "{unique}");
        }
        for doubled in [r#"{"a":1,"a":1}"#, r#"{"b":[{"c":{"a":1,"x":2,"a":3}}]}"#, r#"{"a":1,"\u0061":1}"#] {
            assert!(is_doubled(doubled), "{doubled}");
        }
        let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
        for other in ["{", deep.as_str()] {
            assert!(check_unique_names(other.as_bytes()).is_err() && !is_doubled(other));
        }
    }
}
