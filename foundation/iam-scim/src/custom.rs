//! The attributes of users that a tenant has defined, as an extension of its own (RFC 7643, section 3.3).

use iam_model::attribute::{AttributeDefinitions, AttributeType, Attributes};
use serde_json::{Map, Number, Value};

use crate::error::ScimError;
use crate::operation::Write;
use crate::urn;
use crate::user::UserResource;
use crate::value::{flag, member, object};

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

/// Returns a value of a type. Entra sends booleans and numbers as texts.
fn typed(name: &str, kind: AttributeType, value: &Value) -> Result<Value, ScimError> {
    let refused = |what: &str| ScimError::invalid_value(format!("{name} must be {what}"));
    if value.is_null() {
        return Ok(Value::Null);
    }
    match (kind, value) {
        (AttributeType::Boolean, value) => Ok(flag(name, value)?.into()),
        (AttributeType::Number, Value::String(text)) => {
            text.trim().parse::<Number>().map(Value::Number).map_err(|_| refused("a number"))
        }
        // A list without values is the same as none (RFC 7643, section 2.5).
        (AttributeType::Strings, Value::Array(items)) if items.is_empty() => Ok(Value::Null),
        (AttributeType::Strings, Value::String(_)) => Ok(Value::Array(vec![value.clone()])),
        (kind, value) if kind.admits(value) => Ok(value.clone()),
        (AttributeType::Number, _) => Err(refused("a number")),
        (AttributeType::Strings, _) => Err(refused("a list of texts")),
        _ => Err(refused("a text")),
    }
}

/// Returns the name after the URN of the extension; an empty one for the URN alone. `None` for everything else.
pub(crate) fn key(text: &str) -> Option<&str> {
    let (start, rest) = text.split_at_checked(urn::CUSTOM_USER.len())?;
    if !start.eq_ignore_ascii_case(urn::CUSTOM_USER) {
        return None;
    }
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(':') }
}

impl UserResource {
    /// Writes an attribute of the extension, or all that a value has, if the key is empty.
    pub(crate) fn write_custom(&mut self, key: &str, write: Write, value: &Value) -> Result<(), ScimError> {
        check_key(key)?;
        let custom = self.custom.get_or_insert_default();
        if !key.is_empty() {
            put(custom, key, write, value);
            return Ok(());
        }
        match (write, value) {
            (Write::Replace, Value::Null) => custom.clear(),
            (Write::Add, Value::Null) => {}
            _ => object(urn::CUSTOM_USER, value)?.iter().for_each(|(name, value)| put(custom, name, write, value)),
        }
        Ok(())
    }

    /// Removes an attribute of the extension, or all, if the key is empty.
    pub(crate) fn remove_custom(&mut self, key: &str) -> Result<(), ScimError> {
        check_key(key)?;
        let custom = self.custom.get_or_insert_default();
        custom.retain(|name, _| !key.is_empty() && !name.eq_ignore_ascii_case(key));
        Ok(())
    }
}

/// The values of lists are not objects, so no filter selects one.
fn check_key(key: &str) -> Result<(), ScimError> {
    match key.contains('[') {
        true => Err(ScimError::invalid_path("path must not have a filter of attributes that the tenant has defined")),
        false => Ok(()),
    }
}

fn put(custom: &mut Map<String, Value>, name: &str, write: Write, value: &Value) {
    let known = custom.keys().find(|known| known.eq_ignore_ascii_case(name)).cloned();
    let name = known.unwrap_or_else(|| name.to_owned());
    match (write, custom.get_mut(&name), value) {
        (Write::Add, _, Value::Null) => {}
        (Write::Add, Some(Value::Array(items)), Value::Array(more)) => more.iter().for_each(|one| add(items, one)),
        (Write::Add, Some(Value::Array(items)), one) => add(items, one),
        (_, _, value) => drop(custom.insert(name, value.clone())),
    }
}

fn add(items: &mut Vec<Value>, one: &Value) {
    if !items.contains(one) {
        items.push(one.clone());
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

    fn user(members: Value) -> UserResource {
        let mut body = json!({ "userName": "grace@example.com" });
        body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        UserResource::parse(&body).unwrap()
    }

    fn changes(user: &UserResource, current: Value) -> Result<Value, ScimError> {
        let current = serde_json::from_value(current).unwrap();
        schema().changes(user.custom.as_ref().unwrap(), &current).map(Value::Object)
    }

    #[test]
    fn scim_names_what_it_can() {
        let names: Vec<String> = schema().0.into_iter().map(|attribute| attribute.name).collect();
        assert_eq!(names, ["badge", "floor", "remote", "tags"]);
    }

    #[test]
    fn a_resource_without_the_extension_says_nothing_of_it() {
        assert_eq!(user(json!({})).custom, None);
        let user =
            user(json!({ urn::CUSTOM_USER: { "Badge": "7", "floor": "3", "remote": "True", "desk": {}, "x": 1 } }));
        let expected = json!({ "badge": "7", "floor": 3, "remote": true, "tags": null });
        assert_eq!(changes(&user, json!({ "tags": ["a"], "desk": {}, "other": 1 })).unwrap(), expected);
        assert_eq!(changes(&user, json!({ "badge": "7", "floor": 3, "remote": true })).unwrap(), json!({}));
    }

    #[test]
    fn a_value_of_another_type_is_refused() {
        for (name, value) in [("badge", json!(7)), ("floor", json!("x")), ("remote", json!(1)), ("tags", json!([1]))] {
            let user = user(json!({ urn::CUSTOM_USER: { name: value } }));
            assert_eq!(changes(&user, json!({})).unwrap_err().status, 400, "{name}");
        }
    }

    #[test]
    fn a_patch_changes_single_attributes() {
        let urn = urn::CUSTOM_USER;
        let mut user = user(json!({ urn: { "badge": "7", "tags": ["a"], "remote": true } }));
        let message = json!({ "Operations": [
            { "op": "replace", "path": format!("{urn}:BADGE"), "value": "8" },
            { "op": "add", "path": format!("{urn}:tags"), "value": ["a", "b"] },
            { "op": "remove", "path": format!("{urn}:remote") },
            { "op": "add", "value": { urn: { "floor": 2 }, "displayName": "Grace" } },
        ] });
        user.patch(&message).unwrap();
        let expected = json!({ "badge": "8", "tags": ["a", "b"], "floor": 2 });
        assert_eq!(Value::Object(user.custom.clone().unwrap()), expected);
        assert_eq!(user.attributes["displayName"], "Grace");
        user.patch(&json!({ "Operations": [{ "op": "remove", "path": urn.to_uppercase() }] })).unwrap();
        assert_eq!(user.custom, Some(Map::new()));
        let filtered = json!({ "Operations": [{ "op": "remove", "path": format!("{urn}:tags[value eq \"a\"]") }] });
        assert_eq!(user.patch(&filtered).unwrap_err().status, 400);
    }
}
