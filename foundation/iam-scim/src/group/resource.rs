use iam_model::directory::DirectoryName;
use iam_model::validate::ExternalId;
use serde_json::{Value, json};

use crate::error::ScimError;
use crate::group::member::members;
use crate::group::target::Target;
use crate::meta::Meta;
use crate::urn;
use crate::value::{body, text};

/// What a directory says of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupResource {
    /// `displayName`.
    pub display_name: String,
    /// `externalId`.
    pub external_id: Option<String>,
    /// The identifiers of the members, each once; `None` if the directory does not say, or if they are not read.
    pub members: Option<Vec<String>>,
}

impl GroupResource {
    /// Reads a group that is sent by POST or PUT (RFC 7644, sections 3.3 and 3.5.1). Unknown attributes are ignored,
    /// and so are those that only the service writes. Names of attributes have no case.
    ///
    /// # Errors
    ///
    /// 400 `invalidSyntax` if the body is no object; 400 `invalidValue` if `displayName` is missing or has a control
    /// character, if an attribute has the wrong type, which the text of the error names, and if a member is a group.
    pub fn parse(request: &Value) -> Result<Self, ScimError> {
        let (mut display_name, mut external_id, mut all) = (None, None, None);
        for (name, value) in body(request)? {
            match Target::parse(name).unwrap_or(Target::Unknown) {
                Target::DisplayName => display_name = text("displayName", value)?,
                Target::ExternalId => external_id = text("externalId", value)?,
                Target::Members if !value.is_null() => all = Some(members(value)?.into_iter().collect()),
                Target::Members | Target::Named(_) | Target::ReadOnly(_) | Target::Unknown => {}
            }
        }
        Ok(Self {
            display_name: checked_name(display_name)?,
            external_id: checked_external_id(external_id)?,
            members: all,
        })
    }

    /// Returns the group as it is answered (RFC 7643, section 8). The URLs of the members lie below the absolute URL of
    /// the users.
    #[must_use]
    pub fn render(&self, id: &str, meta: &Meta, users: &str) -> Value {
        let mut group = json!({ "schemas": [urn::GROUP], "id": id, "displayName": self.display_name });
        if let Some(known) = group.as_object_mut() {
            let mut put = |name: &str, value: Value| drop(known.insert(name.to_owned(), value));
            if let Some(external_id) = &self.external_id {
                put("externalId", json!(external_id));
            }
            if let Some(members) = &self.members {
                let members = members.iter();
                let members = members.map(|id| json!({ "value": id, "$ref": format!("{users}/{id}"), "type": "User" }));
                put("members", members.collect());
            }
            put("meta", meta.render("Group"));
        }
        group
    }
}

/// Returns a name that a group may have.
pub(super) fn checked_name(name: Option<String>) -> Result<String, ScimError> {
    let name = name.ok_or_else(|| ScimError::invalid_value("displayName is required"))?;
    let parsed = name.parse::<DirectoryName>();
    parsed.map_err(|invalid| ScimError::invalid_value(format!("displayName {invalid}")))?;
    Ok(name)
}

/// Returns an identifier that a group may have.
pub(super) fn checked_external_id(external_id: Option<String>) -> Result<Option<String>, ScimError> {
    if let Some(external_id) = &external_id {
        let parsed = external_id.parse::<ExternalId>();
        parsed.map_err(|invalid| ScimError::invalid_value(format!("externalId {invalid}")))?;
    }
    Ok(external_id)
}
