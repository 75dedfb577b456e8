#![doc = include_str!("../README.md")]
//!
//! # The hazard
//!
//! If any crate of a program turns on the feature `raw_value` of `serde_json`, as sqlx does, a
//! [`Value`](serde_json::Value) that is read has one more rule: an object whose first name is
//! `$serde_json::private::RawValue` stands for the JSON in its text. The parser of that text counts the levels of nesting
//! anew. So a text of a few kilobytes has thousands of levels, and overflows the stack, which ends the process. Also, what
//! was checked is another text than what is kept. The feature `arbitrary_precision` has such a name, too.
//!
//! [`check`] refuses these names.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Formatter};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// How the names begin that have a meaning of their own for `serde_json`.
const RESERVED: &str = "$serde_json::private::";

/// Refuses a JSON text in which an object has a name that `serde_json` gives a meaning of its own. It does not check the
/// syntax of a text without such a name.
///
/// ```
/// assert!(iam_json::check(br#"{"a": [1]}"#).is_ok());
/// assert!(iam_json::check(br#"{"a": {"$serde_json::private::RawValue": "[1]"}}"#).is_err());
/// ```
///
/// # Errors
///
/// An error about [data](serde_json::Error::is_data) for such a name, and another one if a text that may have such a name is
/// no JSON or too deep.
pub fn check(json: &[u8]) -> serde_json::Result<()> {
    // Most texts have neither the name nor the one escape that can hide it.
    let may_be_named = contains(json, RESERVED.as_bytes()) || contains(json, br"\u");
    if may_be_named { serde_json::from_slice::<Names<false>>(json).map(drop) } else { Ok(()) }
}

/// Checks the same, and that no object has two fields of the same name, of which a parser would keep one (RFC 7493 §2.3).
///
/// # Errors
///
/// An error about [data](serde_json::Error::is_data) for two fields of the same name or a name as [`check`] refuses it;
/// another one for a text that is no JSON or too deep.
pub fn check_unique_names(json: &[u8]) -> serde_json::Result<()> {
    serde_json::from_slice::<Names<true>>(json).map(drop)
}

/// Checks and reads a JSON text.
///
/// # Errors
///
/// Those of [`check`], and of [`serde_json::from_slice`].
pub fn from_slice<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    check(json)?;
    serde_json::from_slice(json)
}

/// Whether the header and the payload of a token may be read: both are base64url of a text that [`check`] does not refuse.
/// To be asked before a library reads the token (JWS compact serialization, RFC 7515 §7.1). It proves nothing else.
#[must_use]
pub fn is_readable_token(token: &str) -> bool {
    let is_readable = |part: &str| URL_SAFE_NO_PAD.decode(part).is_ok_and(|json| check(&json).is_ok());
    token.split('.').take(2).all(is_readable)
}

fn contains(text: &[u8], sought: &[u8]) -> bool {
    text.windows(sought.len()).any(|window| window == sought)
}

/// JSON whose names are checked.
struct Names<const UNIQUE: bool>;

impl<'de, const UNIQUE: bool> Deserialize<'de> for Names<UNIQUE> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de, const UNIQUE: bool> Visitor<'de> for Names<UNIQUE> {
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
        while let Some(Name(name)) = fields.next_key()? {
            if name.starts_with(RESERVED) {
                return Err(A::Error::custom("a name begins with `$serde_json::private::`"));
            }
            if UNIQUE && !names.insert(name) {
                return Err(A::Error::custom("a name appears twice"));
            }
            fields.next_value::<Self>()?;
        }
        Ok(self)
    }
}

/// The name of a field, which is copied only if it has escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Whether the error of a check is about data.
    fn is_refused(checked: serde_json::Result<()>) -> bool {
        checked.is_err_and(|error| error.is_data())
    }

    #[test]
    fn a_name_with_a_meaning_of_its_own_is_refused() {
        for refused in [
            r#"{"$serde_json::private::RawValue":"[1]"}"#,
            r#"{"$serde_json::private::Number":"1e999"}"#,
            r#"{"a":[{"b":1,"\u0024serde_json::private::RawValue":"1"}]}"#,
            r#"{"a":{"$\u0073erde_\u006aso\u006E\u003a:private::RawValue":"1"}}"#,
        ] {
            assert!(is_refused(check(refused.as_bytes())), "{refused}");
            assert!(is_refused(check_unique_names(refused.as_bytes())), "{refused}");
            assert!(from_slice::<Value>(refused.as_bytes()).is_err(), "{refused}");
        }
        for other in [
            r#"{"a":"$serde_json::private::RawValue","b":"\u0024","c":["$serde_json::private::"]}"#,
            r#"{"serde_json::private::RawValue":1,"$serde_json":2}"#,
            "[1, -1.5, null, true, \"\\u00e9\"]",
        ] {
            assert!(check(other.as_bytes()).is_ok(), "{other}");
            assert!(from_slice::<Value>(other.as_bytes()).is_ok(), "{other}");
        }
    }

    #[test]
    fn a_text_that_may_have_such_a_name_and_cannot_be_read_is_refused() {
        let deep = format!("{}\"\\u0024\"{}", "[".repeat(1_000), "]".repeat(1_000));
        for unreadable in [r#"{"\u0024"#, deep.as_str()] {
            assert!(check(unreadable.as_bytes()).is_err(), "{unreadable}");
        }
        assert!(check(b"{").is_ok(), "the parser finds other errors");
    }

    #[test]
    fn no_object_has_two_fields_of_the_same_name() {
        for unique in [r#"{"a":1,"b":{"a":2},"c":[{"a":1},{"a":1.5}]}"#, r#"{"a":null,"A":true}"#, "[-1]", "\"a\""] {
            assert!(check_unique_names(unique.as_bytes()).is_ok(), "{unique}");
        }
        for doubled in [r#"{"a":1,"a":1}"#, r#"{"b":[{"c":{"a":1,"x":2,"a":3}}]}"#, r#"{"a":1,"\u0061":1}"#] {
            assert!(is_refused(check_unique_names(doubled.as_bytes())), "{doubled}");
            assert!(check(doubled.as_bytes()).is_ok(), "{doubled}");
        }
        let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
        for other in ["{", deep.as_str()] {
            let checked = check_unique_names(other.as_bytes());
            assert!(checked.is_err() && !is_refused(checked));
        }
    }

    #[test]
    fn the_parts_of_a_token_are_checked() {
        let token = |header: &str, payload: &str| {
            format!("{}.{}.c2ln", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload))
        };
        let hidden = r#"{"a":{"$serde_json::private::RawValue":"1"}}"#;
        assert!(is_readable_token(&token(r#"{"alg":"EdDSA"}"#, r#"{"sub":"a"}"#)));
        assert!(!is_readable_token(&token(hidden, "{}")));
        assert!(!is_readable_token(&token("{}", hidden)));
        assert!(!is_readable_token("a+b.e30.c2ln"));
    }
}
