use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::attribute::{AttributeRules, Attributes};

/// The attributes of a user that its access tokens have.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeClaims {
    /// Those that only the tenant writes, then those that also the person writes; each in the order of the definitions.
    values: Vec<(String, Value)>,
    /// Whether some are left out because they do not fit.
    is_truncated: bool,
}

impl AttributeClaims {
    /// The maximum size of the object in a token, in bytes of JSON: 1 KiB. A request carries its token in a header.
    pub const MAX_BYTES: usize = 1024;

    /// Chooses the attributes that the definitions name for tokens, as far as they fit. First come those that the person
    /// does not write, so that the person cannot take their room. A value that is older than its definition and of
    /// another type is left out. `None` if the user has none of them.
    #[must_use]
    pub fn of(rules: &AttributeRules, attributes: &Attributes) -> Option<Self> {
        let in_tokens = |written_by_person: bool| {
            let definitions = rules.users.iter().filter(move |definition| definition.in_token);
            definitions.filter(move |definition| definition.person_writes == written_by_person)
        };
        let wanted = in_tokens(false).chain(in_tokens(true)).filter_map(|definition| {
            let key = definition.key.as_str();
            let value = attributes.get(key).filter(|value| definition.kind.admits(value));
            value.map(|value| (key, value))
        });
        let (mut values, mut is_truncated) = (Vec::new(), false);
        // The two braces.
        let mut size = 2;
        for (key, value) in wanted {
            // A key needs no escape. The first one has no comma before it.
            let comma = usize::from(!values.is_empty());
            let added = key.len() + value.to_string().len() + "\"\":".len() + comma;
            if size + added > Self::MAX_BYTES {
                is_truncated = true;
            } else {
                size += added;
                values.push((key.to_owned(), value.clone()));
            }
        }
        (is_truncated || !values.is_empty()).then_some(Self { values, is_truncated })
    }

    /// Whether some are left out because they do not fit.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }
}

/// An object with the values.
impl Serialize for AttributeClaims {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.values.iter().map(|(key, value)| (key, value)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::attribute::AttributeDefinitions;

    fn claims(attributes: Value) -> Option<AttributeClaims> {
        let definitions = r#"[
            {"key":"b","type":"STRING","inToken":true},
            {"key":"hidden","type":"STRING"},
            {"key":"a","type":"STRING","inToken":true}
        ]"#;
        let users = AttributeDefinitions::stored(definitions).unwrap();
        let rules = AttributeRules { users, ..AttributeRules::default() };
        AttributeClaims::of(&rules, &serde_json::from_value(attributes).unwrap())
    }

    #[test]
    fn a_token_has_the_chosen_values_in_the_order_of_the_definitions() {
        let found = claims(json!({ "a": "1", "b": "2", "hidden": "3", "other": 4 })).unwrap();
        assert_eq!(serde_json::to_string(&found).unwrap(), r#"{"b":"2","a":"1"}"#);
        assert!(!found.is_truncated());
        assert_eq!(claims(json!({ "hidden": "3" })), None);
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        for length in [0, 1, 900, 1_000, 1_004, 1_005, 1_016, 1_017, 1_024, 5_000] {
            let found = claims(json!({ "b": "x".repeat(length), "a": "short" })).unwrap();
            let text = serde_json::to_string(&found).unwrap();
            assert!(text.len() <= AttributeClaims::MAX_BYTES, "{length}");
            assert!(text.contains("short") || length < 1_017, "a later value that fits stays: {length}");
            assert_eq!(found.is_truncated(), !(text.contains("\"b\"") && text.contains("\"a\"")), "{length}");
        }
    }

    #[test]
    fn exactly_the_maximum_fits() {
        // {"b":"…"} has eight other bytes, and {"b":"…","a":"1"} has sixteen.
        for (attributes, others) in [(json!({}), 8), (json!({ "a": "1" }), 16)] {
            for (length, fits) in [(1_024 - others, true), (1_025 - others, false)] {
                let mut attributes = attributes.clone();
                attributes["b"] = "x".repeat(length).into();
                let found = claims(attributes).unwrap();
                assert_eq!(found.is_truncated(), !fits, "{others}");
                assert_eq!(
                    serde_json::to_string(&found).unwrap().len() == AttributeClaims::MAX_BYTES,
                    fits,
                    "{others}"
                );
            }
        }
    }

    #[test]
    fn a_person_cannot_take_the_room_of_what_the_tenant_says() {
        let definitions = r#"[
            {"key":"own","type":"STRING","personWrites":true,"inToken":true},
            {"key":"grade","type":"STRING","personReads":true,"inToken":true}
        ]"#;
        let users = AttributeDefinitions::stored(definitions).unwrap();
        let rules = AttributeRules { users, ..AttributeRules::default() };
        let of = |attributes: Value| {
            let claims = AttributeClaims::of(&rules, &serde_json::from_value(attributes).unwrap()).unwrap();
            (serde_json::to_string(&claims).unwrap(), claims.is_truncated())
        };
        let both = of(json!({ "own": "x", "grade": "gold" }));
        assert_eq!(both, (r#"{"grade":"gold","own":"x"}"#.to_owned(), false));
        let long = of(json!({ "own": "x".repeat(1_010), "grade": "gold" }));
        assert_eq!(long, (r#"{"grade":"gold"}"#.to_owned(), true));
    }

    #[test]
    fn a_value_of_another_type_is_left_out() {
        let found = claims(json!({ "a": 1, "b": "2" })).unwrap();
        assert_eq!(serde_json::to_string(&found).unwrap(), r#"{"b":"2"}"#);
        assert!(!found.is_truncated());
        assert_eq!(claims(json!({ "a": ["1"] })), None);
    }
}
