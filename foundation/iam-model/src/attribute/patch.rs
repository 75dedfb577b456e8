use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::attribute::{Attributes, OwnerRules};
use crate::validate::{AttributeKey, FieldError, Fields, InvalidFields};

/// A change of attributes, by key, as of RFC 7396: a value replaces that of its key, `null` removes the key, and keys
/// that are not named stay. The values themselves are not merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttributesPatch(BTreeMap<String, Value>);

impl AttributesPatch {
    /// Checks the form of a change: its keys, the depth of its values, and their texts. `field` is the name of the
    /// object in errors.
    pub fn check(fields: &mut Fields, field: &str, given: &Map<String, Value>) -> Option<Self> {
        if given.len() > 2 * Attributes::MAX_KEYS {
            // More cannot be removed and added together.
            fields.reject(field, too_many());
            return None;
        }
        let mut is_valid = true;
        for (key, value) in given {
            let refused = match key.parse::<AttributeKey>() {
                // The key may be anything, so the name of the field does not repeat it.
                Err(invalid) => Some(FieldError::new(field, format!("has a key that is not valid: it {invalid}"))),
                Ok(key) => refusal(value, 2).map(|message| FieldError::new(format!("{field}.{key}"), message)),
            };
            if let Some(FieldError { field, message }) = refused {
                fields.reject(&field, message);
                is_valid = false;
            }
        }
        is_valid.then(|| Self(given.iter().map(|(key, value)| (key.clone(), value.clone())).collect()))
    }

    /// Whether it names no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the keys that it names.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the attributes of an owner after the change. `field` is the name of the object in errors.
    ///
    /// Only what changes is checked: a definition may be younger than a value.
    ///
    /// # Errors
    ///
    /// [`InvalidFields`] if a value is not as the tenant has defined it, and if the attributes become too many or too
    /// large.
    pub fn applied_to(
        &self,
        before: &Attributes,
        rules: OwnerRules<'_>,
        field: &str,
    ) -> Result<Attributes, InvalidFields> {
        let mut fields = Fields::default();
        let mut after = before.0.clone();
        for (key, value) in &self.0 {
            if value.is_null() {
                after.remove(key);
                continue;
            }
            if before.get(key) == Some(value) {
                continue;
            }
            if let Err(message) = rules.check(key, value) {
                fields.reject(&format!("{field}.{key}"), message);
            }
            after.insert(key.clone(), value.clone());
        }
        let after = Attributes(after);
        if after != *before {
            if after.0.len() > Attributes::MAX_KEYS {
                fields.reject(field, too_many());
            }
            if after.to_text().len() > Attributes::MAX_BYTES {
                fields.reject(field, format!("must be at most {} bytes of JSON", Attributes::MAX_BYTES));
            }
        }
        fields.finish()?;
        Ok(after)
    }
}

fn too_many() -> String {
    format!("must have at most {} keys", Attributes::MAX_KEYS)
}

/// Returns why a value at a level of nesting cannot be kept.
fn refusal(value: &Value, level: usize) -> Option<String> {
    const NUL: &str = "must not contain the character U+0000";
    let is_nested = value.is_object() || value.is_array();
    if is_nested && level > Attributes::MAX_DEPTH {
        return Some(format!("must be nested at most {} levels deep", Attributes::MAX_DEPTH - 1));
    }
    match value {
        // PostgreSQL keeps no such text.
        Value::String(text) if text.contains('\0') => Some(NUL.to_owned()),
        Value::Array(items) => items.iter().find_map(|item| refusal(item, level + 1)),
        Value::Object(members) => {
            let of_member = |(name, member): (&String, &Value)| {
                if name.contains('\0') { Some(NUL.to_owned()) } else { refusal(member, level + 1) }
            };
            members.iter().find_map(of_member)
        }
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::attribute::{AttributeDefinitions, AttributeRules, UnregisteredAttributes};

    fn patch(value: &Value) -> Result<AttributesPatch, Vec<String>> {
        let mut fields = Fields::default();
        let patch = AttributesPatch::check(&mut fields, "attributes", value.as_object().unwrap());
        patch.ok_or_else(|| fields.into_error().0.into_iter().map(|error| error.field).collect())
    }

    fn applied(before: &Attributes, value: &Value, rules: &AttributeRules) -> Result<Attributes, Vec<String>> {
        let after = patch(value)?.applied_to(before, rules.of_users(), "attributes");
        after.map_err(|invalid| invalid.0.into_iter().map(|error| error.field).collect())
    }

    #[test]
    fn null_removes_a_key_and_other_keys_stay() {
        let rules = AttributeRules::default();
        let before =
            applied(&Attributes::default(), &json!({ "a": 1, "b": { "c": 1 }, "gone": null }), &rules).unwrap();
        let after = applied(&before, &json!({ "a": null, "b": { "d": 1 } }), &rules).unwrap();
        assert_eq!(after.to_text(), r#"{"b":{"d":1}}"#);
        assert_eq!(applied(&before, &json!({}), &rules).unwrap(), before);
    }

    #[test]
    fn keys_depth_and_texts_are_checked() {
        for (value, expected) in [
            (json!({ "1a": 1 }), "attributes"),
            (json!({ "": 1 }), "attributes"),
            (json!({ "<script>": 1 }), "attributes"),
            (json!({ "a": "\0" }), "attributes.a"),
            (json!({ "a": [{ "\0": 1 }] }), "attributes.a"),
            (json!({ "a": [[[[[]]]]] }), "attributes.a"),
        ] {
            assert_eq!(patch(&value), Err(vec![expected.to_owned()]), "{value}");
        }
        assert!(patch(&json!({ "a": [[[[1, null]]]] })).is_ok());
        assert!(patch(&json!({ "Cost.centre_1-a": "<script>alert(1)</script>\u{7}" })).is_ok());
    }

    #[test]
    fn size_and_number_are_bounded() {
        let rules = AttributeRules::default();
        let many: Map<String, Value> = (0..32).map(|number| (format!("k{number}"), json!(number))).collect();
        let full = applied(&Attributes::default(), &many.into(), &rules).unwrap();
        assert_eq!(applied(&full, &json!({ "more": 1 }), &rules), Err(vec!["attributes".to_owned()]));
        assert!(applied(&full, &json!({ "more": 1, "k0": null }), &rules).is_ok());
        // {"a":"…"} has eight other bytes.
        for (length, is_valid) in [(Attributes::MAX_BYTES - 8, true), (Attributes::MAX_BYTES - 7, false)] {
            let large = json!({ "a": "x".repeat(length) });
            assert_eq!(applied(&Attributes::default(), &large, &rules).is_ok(), is_valid);
        }
    }

    #[test]
    fn only_what_changes_must_be_as_defined() {
        let free = AttributeRules::default();
        let before = applied(&Attributes::default(), &json!({ "n": "text", "other": 1 }), &free).unwrap();
        let definitions = r#"[{"key":"n","type":"NUMBER"}]"#;
        let rules = AttributeRules {
            users: AttributeDefinitions::stored(definitions).unwrap(),
            unregistered: UnregisteredAttributes::Refused,
            ..free
        };
        assert_eq!(applied(&before, &json!({ "n": "text", "other": 1 }), &rules).unwrap(), before);
        assert_eq!(applied(&before, &json!({ "n": "b" }), &rules), Err(vec!["attributes.n".to_owned()]));
        assert_eq!(applied(&before, &json!({ "other": 2 }), &rules), Err(vec!["attributes.other".to_owned()]));
        assert_eq!(applied(&before, &json!({ "other": null, "n": 7 }), &rules).unwrap().to_text(), r#"{"n":7}"#);
    }
}
