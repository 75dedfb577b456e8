//! What a change does at its path (RFC 7644, sections 3.5.2.1 to 3.5.2.3). An object takes the parts that a value has
//! and keeps its others, whether they are added or replaced.

use scim_v2::filter::ValFilter;
use serde_json::{Map, Value};

use crate::attribute::{self, Attribute, Kind, Part};
use crate::error::ScimError;
use crate::filter::matches;
use crate::operation::Write;
use crate::urn;
use crate::user::element::Elements;
use crate::user::part::{beside, give_back, merge, put, set, take};
use crate::user::resource::UserResource;
use crate::user::target::{Path, Target};
use crate::value::{flag, object, text};

impl UserResource {
    /// Writes a value. Null removes what it replaces, and adds nothing.
    pub(super) fn write(&mut self, path: &Path, write: Write, value: &Value) -> Result<(), ScimError> {
        if write == Write::Add && value.is_null() {
            return Ok(());
        }
        let filter = path.filter.as_ref();
        match path.target {
            Target::UserName => {
                let name = text("userName", value)?;
                self.user_name = name.ok_or_else(|| ScimError::invalid_value("userName is required"))?;
                Ok(())
            }
            Target::ExternalId => {
                self.external_id = text("externalId", value)?;
                Ok(())
            }
            Target::Active => {
                self.active = flag("active", value)?.or(self.active);
                Ok(())
            }
            Target::ReadOnly(name) => Err(ScimError::read_only(name)),
            Target::Extension if value.is_null() => {
                self.attributes.remove(urn::ENTERPRISE_USER);
                Ok(())
            }
            Target::Extension => {
                for (name, value) in object(urn::ENTERPRISE_USER, value)? {
                    let path = Path::of_extension(name);
                    // It is never the extension again.
                    if matches!(path.target, Target::Whole(_) | Target::Part(..)) {
                        self.write(&path, write, value)?;
                    }
                }
                Ok(())
            }
            Target::Whole(attribute) => {
                beside(&mut self.attributes, attribute, |all| write_whole(all, attribute, filter, write, value))
            }
            Target::Part(attribute, part) => {
                beside(&mut self.attributes, attribute, |all| write_part(all, attribute, part, filter, value))
            }
            Target::Unknown => Ok(()),
        }
    }

    /// Removes a value. What is not there is removed already.
    pub(super) fn remove(&mut self, path: &Path, listed: Option<&Value>) -> Result<(), ScimError> {
        let filter = path.filter.as_ref();
        match path.target {
            Target::UserName => return Err(ScimError::invalid_value("userName is required")),
            Target::ReadOnly(name) => return Err(ScimError::read_only(name)),
            Target::ExternalId => self.external_id = None,
            Target::Extension => drop(self.attributes.remove(urn::ENTERPRISE_USER)),
            Target::Whole(attribute) => {
                beside(&mut self.attributes, attribute, |all| remove_whole(all, attribute, filter, listed))?
            }
            Target::Part(attribute, part) => {
                beside(&mut self.attributes, attribute, |all| remove_part(all, attribute, part, filter))?
            }
            // A status that is not stated changes nothing.
            Target::Active | Target::Unknown => {}
        }
        Ok(())
    }
}

fn write_whole(
    all: &mut Map<String, Value>,
    attribute: &Attribute,
    filter: Option<&ValFilter>,
    write: Write,
    value: &Value,
) -> Result<(), ScimError> {
    let name = attribute.name;
    match attribute.kind {
        Kind::Text => put(all, name, text(name, value)?.map(Value::String)),
        Kind::Complex(_) if value.is_null() => put(all, name, None),
        // There is one object: it meets the filter, or it is made, so it is written in both cases.
        Kind::Complex(parts) => {
            let mut object = take(all, name);
            merge(&mut object, name, parts, write, value)?;
            give_back(all, name, object);
        }
        Kind::Reference(parts) => give_back(all, name, reference(name, parts, value)?),
        Kind::Values(parts) => {
            let mut elements = Elements::take(all, name, parts);
            elements.write(filter, write, value)?;
            elements.give_back(all)?;
        }
    }
    Ok(())
}

fn write_part(
    all: &mut Map<String, Value>,
    attribute: &Attribute,
    part: &Part,
    filter: Option<&ValFilter>,
    value: &Value,
) -> Result<(), ScimError> {
    let name = attribute.name;
    match attribute.kind {
        Kind::Text => {}
        Kind::Complex(_) | Kind::Reference(_) => {
            let mut object = take(all, name);
            // The URL is that of the one who was referred to before.
            if part.name == "value" && object.get("value") != Some(value) {
                object.remove("$ref");
            }
            set(&mut object, name, part, value)?;
            give_back(all, name, object);
        }
        Kind::Values(parts) => {
            let mut elements = Elements::take(all, name, parts);
            elements.write_part(part, filter, value)?;
            elements.give_back(all)?;
        }
    }
    Ok(())
}

fn remove_whole(
    all: &mut Map<String, Value>,
    attribute: &Attribute,
    filter: Option<&ValFilter>,
    listed: Option<&Value>,
) -> Result<(), ScimError> {
    let name = attribute.name;
    match attribute.kind {
        Kind::Text => put(all, name, None),
        Kind::Complex(_) | Kind::Reference(_) => {
            let object = take(all, name);
            if filter.is_some_and(|filter| !matches(filter, &object)) {
                give_back(all, name, object);
            }
        }
        Kind::Values(parts) => {
            let mut elements = Elements::take(all, name, parts);
            elements.remove(filter, listed)?;
            elements.give_back(all)?;
        }
    }
    Ok(())
}

fn remove_part(
    all: &mut Map<String, Value>,
    attribute: &Attribute,
    part: &Part,
    filter: Option<&ValFilter>,
) -> Result<(), ScimError> {
    let name = attribute.name;
    match attribute.kind {
        Kind::Text => {}
        Kind::Complex(_) | Kind::Reference(_) => {
            let mut object = take(all, name);
            if filter.is_none_or(|filter| matches(filter, &object)) {
                object.remove(part.name);
            }
            give_back(all, name, object);
        }
        Kind::Values(parts) => {
            let mut elements = Elements::take(all, name, parts);
            elements.remove_part(part, filter);
            elements.give_back(all)?;
        }
    }
    Ok(())
}

/// Reads a reference in one of its forms: a text, an object, or a list of one of them. An empty text refers to no user.
fn reference(name: &str, parts: &'static [Part], value: &Value) -> Result<Map<String, Value>, ScimError> {
    let value = match value {
        Value::Array(all) => match all.as_slice() {
            [] => &Value::Null,
            [one] => one,
            _ => return Err(ScimError::invalid_value(format!("{name} must be one value"))),
        },
        one => one,
    };
    let mut object = Map::new();
    match (value, attribute::part(parts, "value")) {
        (Value::Null, _) => {}
        (Value::String(_), Some(part)) => set(&mut object, name, part, value)?,
        _ => merge(&mut object, name, parts, Write::Replace, value)?,
    }
    Ok(object)
}
