//! The parts of objects.

use serde_json::{Map, Value};

use crate::attribute::{self, Attribute, Part};
use crate::error::ScimError;
use crate::name::Schema;
use crate::operation::Write;
use crate::urn;
use crate::value::{flag, object, text};

/// Writes the parts that a value has into an object. Unknown ones are ignored.
pub(super) fn merge(
    into: &mut Map<String, Value>,
    name: &str,
    parts: &'static [Part],
    write: Write,
    value: &Value,
) -> Result<(), ScimError> {
    for (key, value) in object(name, value)? {
        let part = attribute::part(parts, key).filter(|_| write == Write::Replace || !value.is_null());
        if let Some(part) = part {
            set(into, name, part, value)?;
        }
    }
    Ok(())
}

/// Writes a part of an object, or removes it if the value is null.
pub(super) fn set(into: &mut Map<String, Value>, name: &str, part: &Part, value: &Value) -> Result<(), ScimError> {
    let label = format!("{name}.{}", part.name);
    let value =
        if part.is_flag { flag(&label, value)?.map(Value::Bool) } else { text(&label, value)?.map(Value::String) };
    put(into, part.name, value);
    Ok(())
}

/// Writes a member, or removes it.
pub(super) fn put(into: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(into.insert(name.to_owned(), value)),
        None => drop(into.remove(name)),
    }
}

/// Takes the object of an attribute out of those of a user. Without one, it is empty.
pub(super) fn take(from: &mut Map<String, Value>, name: &str) -> Map<String, Value> {
    match from.remove(name) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

/// Puts the object of an attribute back, unless it is empty.
pub(super) fn give_back(into: &mut Map<String, Value>, name: &str, object: Map<String, Value>) {
    put(into, name, Some(Value::Object(object)).filter(|object| object.as_object().is_some_and(|all| !all.is_empty())));
}

/// Changes the attributes among which an attribute is: those of the user, or those of its extension.
pub(super) fn beside(
    attributes: &mut Map<String, Value>,
    attribute: &Attribute,
    change: impl FnOnce(&mut Map<String, Value>) -> Result<(), ScimError>,
) -> Result<(), ScimError> {
    if attribute.schema != Schema::Enterprise {
        return change(attributes);
    }
    let mut extension = take(attributes, urn::ENTERPRISE_USER);
    change(&mut extension)?;
    give_back(attributes, urn::ENTERPRISE_USER, extension);
    Ok(())
}
