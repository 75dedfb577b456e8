//! The message of PATCH (RFC 7644, section 3.5.2).

use serde_json::Value;

use crate::error::ScimError;
use crate::value;

/// One of the changes of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation<'b> {
    pub(crate) kind: Kind,
    /// `None` if there is none, or an empty one.
    pub(crate) path: Option<&'b str>,
    /// `None` if there is none.
    pub(crate) value: Option<&'b Value>,
}

/// What a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Write(Write),
    Remove,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    Add,
    Replace,
}

/// Reads a message of at most so many changes. What its `schemas` say does not count: the address says what is meant.
pub(crate) fn operations(body: &Value, max: usize) -> Result<Vec<Operation<'_>>, ScimError> {
    let operations = value::member(value::body(body)?, "Operations").and_then(Value::as_array);
    let operations = operations.filter(|operations| !operations.is_empty());
    let operations = operations.ok_or_else(|| ScimError::invalid_syntax("Operations must be a list of changes"))?;
    if operations.len() > max {
        return Err(ScimError::new(413, None, format!("Operations must be at most {max}")));
    }
    operations.iter().map(operation).collect()
}

fn operation(operation: &Value) -> Result<Operation<'_>, ScimError> {
    let members =
        operation.as_object().ok_or_else(|| ScimError::invalid_syntax("each of Operations must be an object"))?;
    let op = value::member(members, "op").and_then(Value::as_str).unwrap_or_default();
    let kind = match op.to_ascii_lowercase().as_str() {
        "add" => Kind::Write(Write::Add),
        "replace" => Kind::Write(Write::Replace),
        "remove" => Kind::Remove,
        _ => return Err(ScimError::invalid_syntax("op must be add, remove or replace")),
    };
    let path = match value::member(members, "path") {
        None | Some(Value::Null) => None,
        Some(Value::String(path)) => Some(path.trim()).filter(|path| !path.is_empty()),
        Some(_) => return Err(ScimError::invalid_path("path must be a text")),
    };
    Ok(Operation { kind, path, value: value::member(members, "value") })
}
