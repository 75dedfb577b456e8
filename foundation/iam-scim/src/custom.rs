//! The attributes of users that a tenant has defined, as an extension of its own (RFC 7643, section 3.3).

use iam_model::attribute::{AttributeDefinitions, AttributeType, Attributes};
use serde_json::{Map, Value};

use crate::error::ScimError;
use crate::value::{flag, member};

/// The attributes of a tenant that SCIM can name: those of the types STRING, NUMBER, BOOLEAN and STRINGS, whose keys are
/// names of attributes (RFC 7643, section 2.1). Names have no case here, so of two keys that differ in nothing else, the
/// first one counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomSchema(Vec<CustomAttribute>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CustomAttribute {
    pub(crate) name: String,
    pub(crate) kind: AttributeType,
}

impl CustomSchema {
    /// Returns those of these definitions that SCIM can name.
    #[must_use]
    pub fn of(definitions: &AttributeDefinitions) -> Self {
        let mut attributes: Vec<CustomAttribute> = Vec::new();
        for definition in definitions.iter() {
            let name = definition.key.as_str();
            let is_new = attributes.iter().all(|other| !other.name.eq_ignore_ascii_case(name));
            if is_new && !name.contains('.') && definition.kind != AttributeType::Object {
                attributes.push(CustomAttribute { name: name.to_owned(), kind: definition.kind });
            }
        }
        Self(attributes)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn attributes(&self) -> &[CustomAttribute] {
        &self.0
    }

    /// Returns those of these attributes that the extension has.
    #[must_use]
    pub fn select(&self, attributes: &Attributes) -> Attributes {
        attributes.select(|key| self.0.iter().any(|attribute| attribute.name == key))
    }

    /// Returns what changes if the extension of a user is this one in the place of the current one, by key. Null removes
    /// a key. Unknown names are ignored.
    ///
    /// # Errors
    ///
    /// 400 `invalidValue` for a value of another type.
    pub fn changes(&self, wanted: &Map<String, Value>, current: &Attributes) -> Result<Map<String, Value>, ScimError> {
        let mut changes = Map::new();
        for CustomAttribute { name, kind } in &self.0 {
            let (said, is) = (member(wanted, name), current.get(name));
            if said == is {
                // Also a value that is older than the definition, and of another type.
                continue;
            }
            let value = said.map_or(Ok(Value::Null), |said| typed(name, *kind, said))?;
            if is.unwrap_or(&Value::Null) != &value {
                changes.insert(name.clone(), value);
            }
        }
        Ok(changes)
    }
}

/// Returns a value of a type. Entra sends booleans as texts.
fn typed(name: &str, kind: AttributeType, value: &Value) -> Result<Value, ScimError> {
    let refused = |what: &str| ScimError::invalid_value(format!("{name} must be {what}"));
    if value.is_null() {
        return Ok(Value::Null);
    }
    match (kind, value) {
        (AttributeType::Boolean, value) => Ok(flag(name, value)?.into()),
        // A list without values is the same as none (RFC 7643, section 2.5).
        (AttributeType::Strings, Value::Array(items)) if items.is_empty() => Ok(Value::Null),
        (AttributeType::Strings, Value::String(_)) => Ok(Value::Array(vec![value.clone()])),
        (kind, value) if kind.admits(value) => Ok(value.clone()),
        (AttributeType::Number, _) => Err(refused("a number")),
        (AttributeType::Strings, _) => Err(refused("a list of texts")),
        _ => Err(refused("a text")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DEFINITIONS: &str = r#"[
        {"key":"badge","type":"STRING"},
        {"key":"BADGE","type":"NUMBER"},
        {"key":"floor","type":"NUMBER"},
        {"key":"remote","type":"BOOLEAN"},
        {"key":"tags","type":"STRINGS"},
        {"key":"desk","type":"OBJECT"},
        {"key":"cost.centre","type":"STRING"}
    ]"#;

    fn schema() -> CustomSchema {
        CustomSchema::of(&AttributeDefinitions::stored(DEFINITIONS).unwrap())
    }

    fn changes(wanted: Value, current: Value) -> Result<Value, ScimError> {
        let current = serde_json::from_value(current).unwrap();
        schema().changes(wanted.as_object().unwrap(), &current).map(Value::Object)
    }

    #[test]
    fn scim_names_what_it_can() {
        let names: Vec<String> = schema().0.into_iter().map(|attribute| attribute.name).collect();
        assert_eq!(names, ["badge", "floor", "remote", "tags"]);
    }

    #[test]
    fn the_extension_replaces_the_attributes_that_it_can_name() {
        let wanted = json!({ "Badge": "7", "floor": 3, "remote": "True", "desk": {}, "x": 1 });
        let expected = json!({ "badge": "7", "floor": 3, "remote": true, "tags": null });
        assert_eq!(changes(wanted.clone(), json!({ "tags": ["a"], "desk": {}, "other": 1 })).unwrap(), expected);
        assert_eq!(changes(wanted, json!({ "badge": "7", "floor": 3, "remote": true })).unwrap(), json!({}));
    }

    #[test]
    fn a_value_of_another_type_is_refused() {
        for (name, value) in [
            ("badge", json!(7)),
            ("floor", json!("x")),
            // A text would be rounded unseen.
            ("floor", json!("4")),
            ("floor", json!("18446744073709551617")),
            ("remote", json!(1)),
            ("tags", json!([1])),
        ] {
            assert_eq!(changes(json!({ name: value }), json!({})).unwrap_err().status, 400, "{name} {value}");
        }
    }
}
