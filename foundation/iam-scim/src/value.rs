//! The values of attributes (RFC 7643, section 2.3). Those that are null are the same as absent ones (section 2.5).

use serde_json::{Map, Value};

use crate::error::ScimError;

/// Returns a text, which Entra also sends as a list of one value with its reference.
pub(crate) fn text(name: &str, value: &Value) -> Result<Option<String>, ScimError> {
    match single(value) {
        Value::Null => Ok(None),
        // Databases cannot keep this character.
        Value::String(text) if text.contains('\0') => {
            Err(ScimError::invalid_value(format!("{name} must not contain the character U+0000")))
        }
        Value::String(text) => Ok(Some(text.clone())),
        _ => Err(ScimError::invalid_value(format!("{name} must be a text"))),
    }
}

fn single(value: &Value) -> &Value {
    match value.as_array().map(Vec::as_slice) {
        Some([Value::Object(one)]) => member(one, "value").unwrap_or(value),
        _ => value,
    }
}

/// Returns a boolean, which Entra sends as a text.
pub(crate) fn flag(name: &str, value: &Value) -> Result<Option<bool>, ScimError> {
    let flag = match value {
        Value::Null => return Ok(None),
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => boolean(text),
        _ => None,
    };
    flag.map(Some).ok_or_else(|| ScimError::invalid_value(format!("{name} must be true or false")))
}

/// Returns the boolean that a text names, in any case.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// Returns the members of an object.
pub(crate) fn object<'v>(name: &str, value: &'v Value) -> Result<&'v Map<String, Value>, ScimError> {
    value.as_object().ok_or_else(|| ScimError::invalid_value(format!("{name} must be an object")))
}

/// Returns the members of the body of a request.
pub(crate) fn body(value: &Value) -> Result<&Map<String, Value>, ScimError> {
    value.as_object().ok_or_else(|| ScimError::invalid_syntax("the body must be a JSON object"))
}

/// Returns the member of an object with a name, in any case.
pub(crate) fn member<'v>(members: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    let in_another_case = || members.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    members.get(name).or_else(in_another_case)
}
