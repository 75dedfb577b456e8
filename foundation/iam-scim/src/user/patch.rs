use serde_json::Value;

use crate::error::ScimError;
use crate::operation::{Kind, Operation, Write, operations};
use crate::urn;
use crate::user::custom;
use crate::user::resource::UserResource;
use crate::user::target::Path;
use crate::value::object;

/// The maximum number of changes in a request.
const MAX: usize = 100;

impl UserResource {
    /// Applies a request by PATCH (RFC 7644, section 3.5.2): all of its changes, or none if one fails.
    ///
    /// Beside the standard, what Entra ID and Okta send is read: `op` in any case, `active` as a text, members such as
    /// `name.givenName` in a value without a path, a list of values to remove, and a filter that selects nothing and so
    /// describes what is made. Paths of attributes that are not kept are ignored.
    ///
    /// # Errors
    ///
    /// 400 with `invalidSyntax` for a body that is no such request, `invalidPath`, `noTarget` for a path that selects
    /// nothing and describes nothing, `mutability` for a path of what only the service writes, and `invalidValue` as
    /// [`parse`](Self::parse); 413 for more than 100 changes.
    pub fn patch(&mut self, body: &Value) -> Result<(), ScimError> {
        let mut user = self.clone();
        for operation in operations(body, MAX)? {
            user.apply(operation)?;
        }
        *self = user.settled()?;
        Ok(())
    }

    fn apply(&mut self, operation: Operation<'_>) -> Result<(), ScimError> {
        let path = operation.path.filter(|path| !path.eq_ignore_ascii_case(urn::USER));
        if let Some(key) = path.and_then(custom::key) {
            return match operation.kind {
                Kind::Remove => self.remove_custom(key),
                Kind::Write(write) => self.write_custom(key, write, required(operation.value)?),
            };
        }
        match (operation.kind, path) {
            (Kind::Remove, None) => Err(ScimError::no_target("path is required to remove a value")),
            (Kind::Remove, Some(path)) => self.remove(&Path::parse(path)?, operation.value),
            (Kind::Write(write), Some(path)) => self.write(&Path::parse(path)?, write, required(operation.value)?),
            (Kind::Write(write), None) => self.write_members(write, operation.value.unwrap_or(&Value::Null)),
        }
    }

    /// Writes a value without a path, whose members are paths. Those of what only the service writes are ignored,
    /// because Okta sends `id` with every change.
    fn write_members(&mut self, write: Write, value: &Value) -> Result<(), ScimError> {
        for (name, value) in object("value", value)? {
            if let Some(key) = custom::key(name) {
                self.write_custom(key, write, value)?;
                continue;
            }
            match Path::parse(name) {
                Ok(path) if path.is_read_only() => {}
                Ok(path) => self.write(&path, write, value)?,
                Err(error) if name.contains('[') => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }
}

fn required(value: Option<&Value>) -> Result<&Value, ScimError> {
    value.ok_or_else(|| ScimError::invalid_value("value is required"))
}
