use serde_json::{Map, Value};

use crate::error::ScimError;
use crate::operation::Write;
use crate::user::custom;
use crate::user::resource::UserResource;
use crate::user::target::Path;
use crate::value;

impl UserResource {
    /// Reads a user that is sent by POST or PUT (RFC 7644, sections 3.3 and 3.5.1). Unknown attributes are ignored, and
    /// so are those that only the service writes, and `password`. Names of attributes have no case.
    ///
    /// # Errors
    ///
    /// 400 `invalidSyntax` if the body is no object; 400 `invalidValue` if `userName` is missing, if an attribute has
    /// the wrong type, which the text of the error names, and if the attributes are too large.
    pub fn parse(body: &Value) -> Result<Self, ScimError> {
        let mut user =
            Self { user_name: String::new(), external_id: None, active: None, attributes: Map::new(), custom: None };
        for (name, value) in value::body(body)? {
            if let Some(key) = custom::key(name) {
                // Null is the same as absent (RFC 7643, section 2.5): then the directory does not say.
                if !value.is_null() {
                    user.write_custom(key, Write::Replace, value)?;
                }
                continue;
            }
            let path = Path::of_member(name);
            if !path.is_read_only() {
                user.write(&path, Write::Replace, value)?;
            }
        }
        user.settled()
    }
}
