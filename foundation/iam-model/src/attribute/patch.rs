use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::attribute::{Attributes, OwnerRules};
use crate::text::is_visible;
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
                Err(invalid) => Some(FieldError::new(
                    Self::name_of(field, key),
                    format!("has a key that is not valid: it {invalid}"),
                )),
                Ok(_) => refusal(value, 2).map(|message| FieldError::new(Self::name_of(field, key), message)),
            };
            if let Some(FieldError { field, message }) = refused {
                fields.reject(&field, message);
                is_valid = false;
            }
        }
        is_valid.then(|| Self(given.iter().map(|(key, value)| (key.clone(), value.clone())).collect()))
    }

    /// Returns the name of a key in errors, such as `attributes.costCentre`. It does not repeat a key that is empty, that
    /// is longer than 64 characters or that cannot be read: such a key may be anything. `field` is the name of the object.
    #[must_use]
    pub fn name_of(field: &str, key: &str) -> String {
        const MAX: usize = 64;
        let is_readable = key.chars().all(|character| character == ' ' || is_visible(character));
        if key.is_empty() || key.chars().count() > MAX || !is_readable {
            field.to_owned()
        } else {
            format!("{field}.{key}")
        }
    }

    /// Whether it names no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the attributes of an owner after the change. `field` is the name of the object in errors.
    ///
    /// Keys that it does not name are not checked: a definition may be younger than a value. A key that it names is
    /// checked also if its value is the current one, because otherwise a caller that may not read values could guess them.
    /// Attributes that are too many or too large may become less.
    ///
    /// # Errors
    ///
    /// [`InvalidFields`] if a value is not as the tenant has defined it, and if the attributes become too many or too
    /// large ([`Attributes::MAX_KEYS`], [`Attributes::MAX_BYTES`]).
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
            if let Err(message) = rules.check(key, value) {
                fields.reject(&format!("{field}.{key}"), message);
            }
            after.insert(key.clone(), value.clone());
        }
        let after = Attributes(after);
        let (former, size) = (Size::of(before, rules), Size::of(&after, rules));
        if size.keys > Attributes::MAX_KEYS && size.keys > former.keys {
            fields.reject(field, too_many());
        }
        if size.bytes > Attributes::MAX_BYTES && size.bytes > former.bytes {
            fields.reject(field, format!("must be at most {} bytes of JSON", Attributes::MAX_BYTES));
        }
        fields.finish()?;
        Ok(after)
    }

    /// Returns the attributes of a person after a change by itself, as [`applied_to`](Self::applied_to) does.
    ///
    /// # Errors
    ///
    /// Those of [`applied_to`](Self::applied_to), and [`InvalidFields`] if it names a key that the person does not write,
    /// or exceeds [`Attributes::MAX_PERSON_TEXT`] or [`Attributes::MAX_PERSON_BYTES`].
    pub fn applied_by_person(
        &self,
        before: &Attributes,
        rules: OwnerRules<'_>,
        field: &str,
    ) -> Result<Attributes, InvalidFields> {
        let mut fields = Fields::default();
        for (key, value) in &self.0 {
            let name = Self::name_of(field, key);
            if !rules.is_written_by_person(key) {
                fields.reject(&name, "is not an attribute that you can change yourself");
            } else if before.get(key) != Some(value) && has_long_text(value) {
                let max = Attributes::MAX_PERSON_TEXT;
                fields.reject(&name, format!("must have at most {max} characters in each text"));
            }
        }
        fields.finish()?;
        let after = self.applied_to(before, rules, field)?;
        let size = |attributes: &Attributes| of_person(attributes, rules).to_text().len();
        if size(&after) > Attributes::MAX_PERSON_BYTES && size(&after) > size(before) {
            let max = Attributes::MAX_PERSON_BYTES;
            let message = format!("must have at most {max} bytes of JSON that you can change yourself");
            return Err(InvalidFields(vec![FieldError::new(field, message)]));
        }
        Ok(after)
    }
}

/// What counts of attributes. What the person writes has a share of its own, so that it cannot take the room of the
/// tenant, and not keep a directory from a change.
struct Size {
    keys: usize,
    bytes: usize,
}

impl Size {
    fn of(attributes: &Attributes, rules: OwnerRules<'_>) -> Self {
        let of_tenant = attributes.select(|key| !rules.is_written_by_person(key));
        let of_person = of_person(attributes, rules).to_text().len();
        let excess = of_person.saturating_sub(Attributes::MAX_PERSON_BYTES);
        Self { keys: of_tenant.0.len(), bytes: of_tenant.to_text().len() + excess }
    }
}

/// Returns the attributes that the person writes.
fn of_person(attributes: &Attributes, rules: OwnerRules<'_>) -> Attributes {
    attributes.select(|key| rules.is_written_by_person(key))
}

/// Whether a value has a text, or the name of a field, that is longer than those that a person writes.
fn has_long_text(value: &Value) -> bool {
    let is_long = |text: &str| text.chars().count() > Attributes::MAX_PERSON_TEXT;
    match value {
        Value::String(text) => is_long(text),
        Value::Array(items) => items.iter().any(has_long_text),
        Value::Object(members) => members.iter().any(|(name, member)| is_long(name) || has_long_text(member)),
        Value::Number(_) | Value::Bool(_) | Value::Null => false,
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
            (json!({ "1a": 1 }), "attributes.1a"),
            (json!({ "cost centre": 1 }), "attributes.cost centre"),
            // What cannot be read is not repeated.
            (json!({ "": 1 }), "attributes"),
            (json!({ "a\u{202e}b": 1 }), "attributes"),
            (json!({ "a\n": 1 }), "attributes"),
            (json!({ "a".repeat(65): 1 }), "attributes"),
            (json!({ "a": "\0" }), "attributes.a"),
            (json!({ "a": [{ "\0": 1 }] }), "attributes.a"),
            (json!({ "a": [[[[[]]]]] }), "attributes.a"),
        ] {
            assert_eq!(patch(&value), Err(vec![expected.to_owned()]), "{value}");
        }
        let longest = format!("1{}", "a".repeat(63));
        assert_eq!(patch(&json!({ &longest: 1 })), Err(vec![format!("attributes.{longest}")]));
        assert!(patch(&json!({ "a": [[[[1, null]]]] })).is_ok_and(|patch| !patch.is_empty()));
        assert!(patch(&json!({})).is_ok_and(|patch| patch.is_empty()));
        assert!(patch(&json!({ "Cost.centre_1-a": "<script>alert(1)</script>\u{7}" })).is_ok());
    }

    #[test]
    fn size_and_number_are_bounded() {
        let rules = AttributeRules::default();
        let many: Map<String, Value> = (0..32).map(|number| (format!("k{number}"), json!(number))).collect();
        let full = applied(&Attributes::default(), &many.into(), &rules).unwrap();
        assert_eq!(applied(&full, &json!({ "more": 1 }), &rules), Err(vec!["attributes".to_owned()]));
        assert!(applied(&full, &json!({ "more": 1, "k0": null }), &rules).is_ok());
        // All are replaced, but no more than that.
        let removed = (0..32).map(|number| (format!("k{number}"), Value::Null));
        let mut all: Map<String, Value> =
            removed.chain((0..32).map(|number| (format!("n{number}"), json!(1)))).collect();
        assert!(applied(&full, &all.clone().into(), &rules).is_ok());
        all.insert("one-more".into(), Value::Null);
        assert_eq!(patch(&all.into()), Err(vec!["attributes".to_owned()]));
        // {"a":"…"} has eight other bytes.
        for (length, is_valid) in [(Attributes::MAX_BYTES - 8, true), (Attributes::MAX_BYTES - 7, false)] {
            let large = json!({ "a": "x".repeat(length) });
            assert_eq!(applied(&Attributes::default(), &large, &rules).is_ok(), is_valid);
        }
    }

    #[test]
    fn what_is_named_must_be_as_defined() {
        let free = AttributeRules::default();
        let before = applied(&Attributes::default(), &json!({ "n": "text", "other": 1 }), &free).unwrap();
        let definitions = r#"[{"key":"n","type":"NUMBER"},{"key":"more","type":"STRING"}]"#;
        let rules = AttributeRules {
            users: AttributeDefinitions::stored(definitions).unwrap(),
            unregistered: UnregisteredAttributes::Refused,
            ..free
        };
        let others = applied(&before, &json!({ "more": "x", "unknown": null }), &rules).unwrap();
        assert_eq!(others.to_text(), r#"{"more":"x","n":"text","other":1}"#);
        // The answer to a right guess is the one to a wrong guess.
        for guess in [json!("text"), json!("b")] {
            assert_eq!(applied(&before, &json!({ "n": guess }), &rules), Err(vec!["attributes.n".to_owned()]));
        }
        for guess in [1, 2] {
            assert_eq!(applied(&before, &json!({ "other": guess }), &rules), Err(vec!["attributes.other".to_owned()]));
        }
        assert_eq!(applied(&before, &json!({ "other": null, "n": 7 }), &rules).unwrap().to_text(), r#"{"n":7}"#);
    }

    fn with_persons() -> AttributeRules {
        let definitions = r#"[
            {"key":"own","type":"STRING","personWrites":true},
            {"key":"list","type":"STRINGS","personWrites":true},
            {"key":"seen","type":"STRING","personReads":true}
        ]"#;
        let users = AttributeDefinitions::stored(definitions).unwrap();
        AttributeRules { users, ..AttributeRules::default() }
    }

    fn by_person(before: &Attributes, value: &Value) -> Result<Attributes, Vec<String>> {
        let rules = with_persons();
        let after = patch(value)?.applied_by_person(before, rules.of_users(), "attributes");
        after.map_err(|invalid| invalid.0.into_iter().map(|error| error.field).collect())
    }

    #[test]
    fn a_person_has_a_share_of_its_own() {
        let none = Attributes::default();
        for (length, is_valid) in [(1_024, true), (1_025, false)] {
            let text = "ü".repeat(length);
            for (key, value) in [("own", json!(text)), ("list", json!(["", text]))] {
                let refused = by_person(&none, &json!({ key: value })).err();
                assert_eq!(refused, (!is_valid).then(|| vec![format!("attributes.{key}")]), "{key} {length}");
            }
        }
        // {"list":["…","…","…","…"]} has 22 other bytes.
        for (length, is_valid) in [(1_002, true), (1_003, false)] {
            let list = json!({ "list": ["x".repeat(1_024), "x".repeat(1_024), "x".repeat(1_024), "x".repeat(length)] });
            assert_eq!(by_person(&none, &list).is_ok(), is_valid, "{length}");
        }
        assert_eq!(by_person(&none, &json!({ "seen": "x" })), Err(vec!["attributes.seen".to_owned()]));
        // What an administrator has written may be more. The person makes it less only.
        let rules = with_persons();
        let large = applied(&none, &json!({ "own": "x".repeat(5_000), "list": ["a"] }), &rules).unwrap();
        assert_eq!(by_person(&large, &json!({ "list": ["ab"] })), Err(vec!["attributes".to_owned()]));
        assert!(by_person(&large, &json!({ "list": null })).is_ok());
        assert!(by_person(&large, &json!({ "own": "x" })).is_ok());
    }

    #[test]
    fn a_person_cannot_take_the_room_of_the_tenant() {
        let rules = with_persons();
        let list = json!({ "list": ["x".repeat(1_024), "x".repeat(1_024), "x".repeat(1_024), "x".repeat(1_001)] });
        let before = by_person(&Attributes::default(), &list).unwrap();
        for (length, is_valid) in [(Attributes::MAX_BYTES - 8, true), (Attributes::MAX_BYTES - 7, false)] {
            let large = applied(&before, &json!({ "a": "x".repeat(length) }), &rules);
            assert_eq!(large.is_ok(), is_valid, "{length}");
        }
        let many: Map<String, Value> = (0..32).map(|number| (format!("k{number}"), json!(number))).collect();
        assert!(applied(&before, &many.into(), &rules).is_ok());
        // Beyond its share, what the person could write counts as all else.
        let large = json!({ "own": "x".repeat(Attributes::MAX_BYTES + Attributes::MAX_PERSON_BYTES) });
        assert!(applied(&Attributes::default(), &large, &rules).is_err());
    }

    #[test]
    fn what_is_too_large_may_become_less() {
        // As of a definition that the tenant has changed since.
        let large = serde_json::from_value(json!({ "a": "x".repeat(20_000), "b": 12 })).unwrap();
        let rules = AttributeRules::default();
        assert!(applied(&large, &json!({ "b": null }), &rules).is_ok());
        assert!(applied(&large, &json!({ "b": 34 }), &rules).is_ok());
        assert!(applied(&large, &json!({ "b": 345 }), &rules).is_err());
    }
}
