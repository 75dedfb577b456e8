use iam_model::directory::{DirectoryName, DirectoryUser};
use iam_model::validate::{ExternalId, Invalid};
use serde_json::{Map, Value, json};

use crate::attribute::{Kind, attributes};
use crate::error::ScimError;
use crate::meta::Meta;
use crate::urn;
use crate::user::element::Elements;
use crate::user::part::{beside, give_back, take};

/// What a directory says of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct UserResource {
    /// `userName`.
    pub user_name: String,
    /// `externalId`.
    pub external_id: Option<String>,
    /// `active`; `None` if the directory does not say.
    pub active: Option<bool>,
    /// The other attributes that are kept, as they were sent: `name`, `displayName`, `title`, `preferredLanguage`,
    /// `locale`, `timezone`, `emails`, `phoneNumbers`, and the extension for companies under its URN.
    pub attributes: Map<String, Value>,
    /// The extension with the attributes that the tenant has defined, as it was sent; `None` if the directory does not
    /// say.
    pub custom: Option<Map<String, Value>>,
}

impl UserResource {
    /// Returns the user as it is answered (RFC 7643, section 8): what the directory says, and nothing that is derived
    /// of it.
    #[must_use]
    pub fn render(&self, id: &str, meta: &Meta) -> Value {
        let mut schemas = vec![urn::USER];
        if self.attributes.contains_key(urn::ENTERPRISE_USER) {
            schemas.push(urn::ENTERPRISE_USER);
        }
        let custom = self.custom.as_ref().filter(|custom| !custom.is_empty());
        if custom.is_some() {
            schemas.push(urn::CUSTOM_USER);
        }
        let mut user = self.attributes.clone();
        let mut put = |name: &str, value: Value| drop(user.insert(name.to_owned(), value));
        put("schemas", json!(schemas));
        put("id", json!(id));
        put("userName", json!(self.user_name));
        if let Some(external_id) = &self.external_id {
            put("externalId", json!(external_id));
        }
        if let Some(active) = self.active {
            put("active", json!(active));
        }
        if let Some(custom) = custom {
            put(urn::CUSTOM_USER, Value::Object(custom.clone()));
        }
        put("meta", meta.render("User"));
        Value::Object(user)
    }

    /// Leaves out what says nothing, and checks the rest.
    pub(super) fn settled(mut self) -> Result<Self, ScimError> {
        if self.user_name.is_empty() {
            return Err(ScimError::invalid_value("userName is required"));
        }
        check("userName", self.user_name.parse::<DirectoryName>())?;
        if let Some(external_id) = &self.external_id {
            check("externalId", external_id.parse::<ExternalId>())?;
        }
        for attribute in attributes() {
            beside(&mut self.attributes, attribute, |all| {
                match attribute.kind {
                    Kind::Text | Kind::Complex(_) => {}
                    Kind::Reference(_) => {
                        let object = take(all, attribute.name);
                        if object.get("value").and_then(Value::as_str).is_some_and(|value| !value.is_empty()) {
                            give_back(all, attribute.name, object);
                        }
                    }
                    Kind::Values(parts) => {
                        let mut elements = Elements::take(all, attribute.name, parts);
                        elements.tidy();
                        elements.give_back(all)?;
                    }
                }
                Ok(())
            })?;
        }
        let size = serde_json::to_vec(&self.attributes).map_or(usize::MAX, |bytes| bytes.len());
        if size > DirectoryUser::MAX_ATTRIBUTES {
            let max = DirectoryUser::MAX_ATTRIBUTES;
            return Err(ScimError::invalid_value(format!("the attributes must be at most {max} bytes together")));
        }
        Ok(self)
    }
}

fn check<T>(name: &str, parsed: Result<T, Invalid>) -> Result<(), ScimError> {
    parsed.map(drop).map_err(|invalid| ScimError::invalid_value(format!("{name} {invalid}")))
}
