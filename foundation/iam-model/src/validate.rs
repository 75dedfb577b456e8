//! Validated texts, and the collector that reports all invalid fields at once.

mod domain;
mod email;

pub use crate::validate::email::EmailKey;

use std::fmt;
use std::str::FromStr;

use crate::text::{composed, controls_text, is_visible};

/// A field of the input and its error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field's name as the caller wrote it, for instance `email` or `assignments[3].roleId`.
    pub field: String,
    /// The error, or the form of a valid value, for instance `must be a UUID`.
    pub message: String,
}

impl FieldError {
    /// Returns an error about a field.
    #[must_use]
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

/// Collects the errors of an input, by field.
#[derive(Debug, Default)]
pub struct Fields(Vec<FieldError>);

impl Fields {
    /// Adds an error about a field.
    pub fn reject(&mut self, field: &str, message: impl Into<String>) {
        self.0.push(FieldError::new(field, message));
    }

    /// Adds an error if the text of a field is empty.
    pub fn require(&mut self, field: &str, text: &str) {
        if text.is_empty() {
            self.reject(field, "must not be empty");
        }
    }

    /// Whether there is no error so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a valid value. For an invalid one, adds an error and returns `None`.
    pub fn check<T>(&mut self, field: &str, parsed: Result<T, Invalid>) -> Option<T> {
        parsed.map_err(|invalid| self.reject(field, invalid.0)).ok()
    }

    /// Does the same as [`check`](Self::check) for an optional field.
    pub fn check_optional<T: FromStr<Err = Invalid>>(&mut self, field: &str, text: Option<&str>) -> Option<T> {
        text.and_then(|text| self.check(field, text.parse()))
    }

    /// Does the same as [`check_optional`](Self::check_optional), and takes blanks for an absent field.
    pub fn check_unless_blank<T: FromStr<Err = Invalid>>(&mut self, field: &str, text: Option<&str>) -> Option<T> {
        self.check_optional(field, text.filter(|text| !text.trim().is_empty()))
    }

    /// Succeeds if there is no error.
    ///
    /// # Errors
    ///
    /// All errors that were added.
    pub fn finish(self) -> Result<(), InvalidFields> {
        if self.is_empty() { Ok(()) } else { Err(self.into_error()) }
    }

    /// Returns the errors that were added.
    pub fn into_error(self) -> InvalidFields {
        InvalidFields(self.0)
    }
}

/// The error for an input with at least one invalid field. It names all of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", describe(.0))]
pub struct InvalidFields(pub Vec<FieldError>);

/// Returns the text of an error about these fields.
pub fn describe(errors: &[FieldError]) -> String {
    let fields: Vec<&str> = errors.iter().map(|error| error.field.as_str()).collect();
    format!("Invalid input: {}.", fields.join(", "))
}

/// The error for an invalid text. It says which texts are valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    /// Returns an error with a message that says which texts are valid.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Returns the error for a text that is not one of these words.
    #[must_use]
    pub fn one_of(words: &[&str]) -> Self {
        Self(format!("must be one of {}", words.join(", ")))
    }
}

/// A text that has rules, as a store keeps it.
pub trait StoredText {
    /// Returns a text of a store without a check. An earlier release may have accepted texts that this one refuses.
    fn stored(text: String) -> Self;
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident = $parse:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                let parse: fn(&str) -> Result<String, Invalid> = $parse;
                parse(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl StoredText for $name {
            fn stored(text: String) -> Self {
                Self(text)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        /// For stores. A request has texts that are parsed.
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(deserializer).map(Self::stored)
            }
        }
    )+};
}

texts! {
    /// An e-mail address of at most 254 characters, composed (NFC), in the case in which it was typed.
    ///
    /// Before the `@` stands a dot-atom (RFC 6531 §3.3): letters and numbers of any script, with their marks. After it
    /// stands a domain of two labels or more that UTS 46 allows, in any of its forms.
    ///
    /// Two addresses are the same account when their [`key`](Email::key)s are equal.
    Email = email::parse;
    /// A domain of the Internet, of two labels or more, in lower case and as A-labels (RFC 5890 §2.3.2.1), at most 238
    /// characters. It is typed in any form that UTS 46 allows.
    DomainName = domain::parse;
    /// A first or last name: 1–100 characters after trimming, composed (NFC). One of them is visible, and none is a
    /// control character, ends a line or changes the direction of text.
    PersonName = |text| bounded(text, 100);
    /// Any other name: 1–120 characters, with the same rules.
    Name = |text| bounded(text, 120);
    /// A name for URLs: `[a-z0-9]+(-[a-z0-9]+)*`, at most 63 characters.
    Slug = parse_slug;
    /// A role's name: upper snake case, `[A-Z][A-Z0-9]*(_[A-Z0-9]+)*`, at most 120 characters.
    RoleName = parse_role_name;
    /// A text for people: at most 500 characters after trimming, without control characters; it may be empty.
    #[derive(Default)]
    Description = parse_description;
    /// Why a user does something, for people: 1–500 characters, with the rules of names.
    Reason = |text| bounded(text, 500);
    /// The identifier of a user in another system: 1–255 characters, kept as typed. None is a control character, ends a
    /// line or changes the direction of text, and no blank stands at either end.
    ExternalId = parse_external_id;
    /// The key of an attribute: `[A-Za-z][A-Za-z0-9_.-]{0,63}`.
    AttributeKey = parse_attribute_key;
}

const MAX_SLUG: usize = 63;

const MAX_ROLE_NAME: usize = 120;

fn parse_role_name(text: &str) -> Result<String, Invalid> {
    let word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let starts_with_letter = text.starts_with(|first: char| first.is_ascii_uppercase());
    if text.len() <= MAX_ROLE_NAME && starts_with_letter && text.split('_').all(word) {
        Ok(text.to_owned())
    } else {
        Err(Invalid::new(format!("must be upper snake case, such as SHIFT_LEADER, at most {MAX_ROLE_NAME} characters")))
    }
}

const MAX_DESCRIPTION: usize = 500;

fn parse_description(text: &str) -> Result<String, Invalid> {
    let text = composed(text.trim());
    if text.chars().count() > MAX_DESCRIPTION || text.chars().any(controls_text) {
        let message = format!("must be at most {MAX_DESCRIPTION} characters, none of them a control character");
        return Err(Invalid::new(message));
    }
    Ok(text)
}

const MAX_EXTERNAL_ID: usize = 255;

/// Changes nothing: the other system compares the text letter by letter.
fn parse_external_id(text: &str) -> Result<String, Invalid> {
    if text.is_empty() || text.chars().count() > MAX_EXTERNAL_ID {
        return Err(Invalid::new(format!("must be 1 to {MAX_EXTERNAL_ID} characters")));
    }
    if text.chars().any(controls_text) {
        return Err(Invalid::new(CONTROLS_TEXT));
    }
    if text.trim() != text {
        return Err(Invalid::new("must not begin or end with a blank"));
    }
    Ok(text.to_owned())
}

const MAX_ATTRIBUTE_KEY: usize = 64;

fn parse_attribute_key(text: &str) -> Result<String, Invalid> {
    let is_of_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let starts_with_letter = text.starts_with(|first: char| first.is_ascii_alphabetic());
    if text.len() <= MAX_ATTRIBUTE_KEY && starts_with_letter && text.bytes().all(is_of_key) {
        return Ok(text.to_owned());
    }
    let message = "must begin with a letter, and have at most";
    Err(Invalid::new(format!("{message} {MAX_ATTRIBUTE_KEY} letters, digits, and characters of \"_.-\"")))
}

const CONTROLS_TEXT: &str = "must not contain control characters, nor any that ends a line or turns text around";

fn bounded(text: &str, max: usize) -> Result<String, Invalid> {
    let text = composed(text.trim());
    if text.is_empty() || text.chars().count() > max {
        return Err(Invalid::new(format!("must be 1 to {max} characters")));
    }
    if text.chars().any(controls_text) {
        return Err(Invalid::new(CONTROLS_TEXT));
    }
    if !text.chars().any(is_visible) {
        return Err(Invalid::new("must have a visible character"));
    }
    Ok(text)
}

fn parse_slug(text: &str) -> Result<String, Invalid> {
    let part_is_valid = |part: &str| !part.is_empty() && part.bytes().all(is_slug_byte);
    if text.len() <= MAX_SLUG && text.split('-').all(part_is_valid) {
        Ok(text.to_owned())
    } else {
        let message = "must be lower-case letters and digits joined by single hyphens, at most";
        Err(Invalid::new(format!("{message} {MAX_SLUG} characters")))
    }
}

fn is_slug_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

impl Slug {
    /// Makes a slug from a name, with a suffix if one is given. A name without usable letters or digits is replaced by
    /// `fallback`.
    pub fn from_name(name: &str, fallback: &str, suffix: Option<&str>) -> Self {
        let lower = name.to_lowercase();
        let words = lower.split(|c: char| !c.is_ascii() || !is_slug_byte(c as u8)).filter(|word| !word.is_empty());
        let mut slug = words.collect::<Vec<_>>().join("-");
        if slug.is_empty() {
            fallback.clone_into(&mut slug);
        }
        slug.truncate(MAX_SLUG - suffix.map_or(0, |suffix| suffix.len() + 1));
        let slug = slug.trim_end_matches('-');
        Self(suffix.map_or_else(|| slug.to_owned(), |suffix| format!("{slug}-{suffix}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_that_an_earlier_release_accepted_is_read() {
        assert_eq!(serde_json::from_str::<PersonName>("\"a\\u202e\"").unwrap().as_str(), "a\u{202e}");
    }

    #[test]
    fn names_are_trimmed_and_bounded_in_characters_not_bytes() {
        assert_eq!("  Ada ".parse::<PersonName>().unwrap().as_str(), "Ada");
        assert!("ü".repeat(100).parse::<PersonName>().is_ok());
        assert!("ü".repeat(101).parse::<PersonName>().is_err());
        assert!("   ".parse::<PersonName>().is_err());
    }

    #[test]
    fn names_are_composed_visible_and_cannot_change_the_text_around_them() {
        assert_eq!("Rene\u{301}".parse::<PersonName>().unwrap().as_str(), "René");
        assert_eq!("\u{a0}Ada\u{3000}".parse::<Name>().unwrap().as_str(), "Ada");
        assert!("e\u{301}".repeat(100).parse::<PersonName>().is_ok());
        for good in ["👩\u{200d}🚀", "می\u{200c}خواهم", "\u{915}\u{94d}", "-", "莉"] {
            assert!(good.parse::<PersonName>().is_ok(), "{good}");
        }
        for bad in ["\u{7}", "\n", "\u{85}", "\u{2028}", "\u{2029}", "\u{202e}", "\u{2066}", "\u{200f}", "\u{61c}"] {
            for text in [format!("A{bad}da"), format!("{bad}Ada")] {
                if text.trim().len() == text.len() {
                    assert!(text.parse::<PersonName>().is_err() && text.parse::<Name>().is_err(), "{text:?}");
                }
            }
        }
        for invisible in ["\u{200b}", "\u{ad}\u{ad}", "\u{3164}", "\u{2800}", "\u{2060}", "\u{e000}", "\u{fe0f}"] {
            assert!(invisible.parse::<PersonName>().is_err() && invisible.parse::<Name>().is_err(), "{invisible:?}");
        }
    }

    #[test]
    fn slugs() {
        for good in ["a", "a-b", "acme-42"] {
            assert!(good.parse::<Slug>().is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "a--b", "A", "ü", "a_b", &"a".repeat(64)] {
            assert!(bad.parse::<Slug>().is_err(), "{bad}");
        }
    }

    #[test]
    fn role_names_are_upper_snake_case() {
        for good in ["A", "MEMBER", "TIER_2_SUPPORT", &"A".repeat(120)] {
            assert!(good.parse::<RoleName>().is_ok(), "{good}");
        }
        for bad in ["", "member", "_A", "A_", "A__B", "2ND", "A-B", "A B", "Ä", &"A".repeat(121)] {
            assert!(bad.parse::<RoleName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn external_ids_are_kept_as_typed_or_refused() {
        for good in ["0", "00u1A-b_c", "Ada@Example.com", "e\u{301}", "two words", &"ü".repeat(255)] {
            assert_eq!(good.parse::<ExternalId>().unwrap().as_str(), good);
        }
        for bad in ["", " ", " a", "a\u{a0}", "a\nb", "a\0", "a\u{202e}b", "a\u{2028}b", &"ü".repeat(256)] {
            assert!(bad.parse::<ExternalId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn keys_of_attributes_are_short_and_ascii() {
        for good in ["a", "costCentre", "Cost.centre_1-a", &"a".repeat(64)] {
            assert!(good.parse::<AttributeKey>().is_ok(), "{good}");
        }
        for bad in ["", "1", "_a", "-a", ".a", "a b", "a:b", "ä", "a\0", "<a>", &"a".repeat(65)] {
            assert!(bad.parse::<AttributeKey>().is_err(), "{bad}");
        }
    }

    #[test]
    fn descriptions_may_be_empty_and_are_bounded() {
        assert_eq!("  ".parse::<Description>().unwrap().as_str(), "");
        assert!("ü".repeat(500).parse::<Description>().is_ok());
        assert!("ü".repeat(501).parse::<Description>().is_err());
        assert!("two\nlines".parse::<Description>().is_err());
    }

    #[test]
    fn reasons_can_be_seen_and_are_bounded() {
        for (good, kept) in
            [("Ticket 4711", "Ticket 4711"), (" -\u{3000}", "-"), ("\u{200b}x", "\u{200b}x"), ("👀", "👀")]
        {
            assert_eq!(good.parse::<Reason>().unwrap().as_str(), kept);
        }
        assert!("ü".repeat(500).parse::<Reason>().is_ok() && "ü".repeat(501).parse::<Reason>().is_err());
        let invisible = ["\u{200b}", "\u{2060}\u{200d}", "\u{ad}", "\u{feff}", "\u{2800}", "\u{e0020}", "\u{e000}"];
        let controls = ["\u{202e}", "a\u{202e}b", "\u{2066}", "\u{200f}", "two\nlines", "a\u{2028}b", "\u{7}"];
        for bad in ["", " ", "\u{3000}\u{a0}"].into_iter().chain(invisible).chain(controls) {
            assert!(bad.parse::<Reason>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn blanks_are_an_absent_reason_and_what_cannot_be_seen_is_an_error() {
        for (typed, expected) in [
            (None, Ok(None)),
            (Some(" \u{a0}"), Ok(None)),
            (Some(" no "), Ok(Some("no"))),
            (Some("\u{200b}"), Err("must have a visible character")),
        ] {
            let mut fields = Fields::default();
            let reason: Option<Reason> = fields.check_unless_blank("reason", typed);
            let found = match fields.finish() {
                Ok(()) => Ok(reason.as_ref().map(Reason::as_str)),
                Err(InvalidFields(errors)) => Err(errors[0].message.clone()),
            };
            assert_eq!(found, expected.map_err(str::to_owned), "{typed:?}");
        }
    }

    proptest! {
        #[test]
        fn a_slug_made_from_any_name_is_valid(name in ".{0,200}", suffix in proptest::option::of("[a-z0-9]{6}")) {
            let slug = Slug::from_name(&name, "tenant", suffix.as_deref());
            prop_assert!(slug.as_str().parse::<Slug>().is_ok(), "{slug}");
        }
    }
}
