//! The extension with the attributes that a tenant has defined, in a user. See [`CustomSchema`](crate::CustomSchema).

use serde_json::{Map, Value};

use crate::error::ScimError;
use crate::operation::Write;
use crate::urn;
use crate::user::resource::UserResource;
use crate::value::object;

/// Returns the name after the URN of the extension; an empty one for the URN alone. `None` for everything else.
pub(super) fn key(text: &str) -> Option<&str> {
    let (start, rest) = text.split_at_checked(urn::CUSTOM_USER.len())?;
    if !start.eq_ignore_ascii_case(urn::CUSTOM_USER) {
        return None;
    }
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(':') }
}

impl UserResource {
    /// Writes an attribute of the extension, or all that a value has, if the key is empty.
    pub(super) fn write_custom(&mut self, key: &str, write: Write, value: &Value) -> Result<(), ScimError> {
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
    pub(super) fn remove_custom(&mut self, key: &str) -> Result<(), ScimError> {
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

    fn user(members: Value) -> UserResource {
        let mut body = json!({ "userName": "grace@example.com" });
        body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        UserResource::parse(&body).unwrap()
    }

    #[test]
    fn a_resource_without_the_extension_says_nothing_of_it() {
        for silent in
            [json!({}), json!({ urn::CUSTOM_USER: null }), json!({ format!("{}:badge", urn::CUSTOM_USER): null })]
        {
            assert_eq!(user(silent.clone()).custom, None, "{silent}");
        }
        assert_eq!(user(json!({ urn::CUSTOM_USER: {} })).custom, Some(Map::new()));
        let user = user(json!({ urn::CUSTOM_USER: { "badge": "7", "x": 1 } }));
        assert_eq!(user.custom.map(Value::Object), Some(json!({ "badge": "7", "x": 1 })));
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
