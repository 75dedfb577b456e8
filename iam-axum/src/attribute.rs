//! Attributes of users and organizations (`docs/http-api.md#attributes`).

use iam_core::attribute::{AttributeDefinition, AttributeType, Attributes, UnregisteredAttributes};
use iam_core::{AttributeKey, Error, StoredText as _};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::audit::has_exact_numbers;
use crate::problem::Problem;
use crate::unique_names::check_unique_names;

const FIELD: &str = "attributes";

/// The attributes in a request as the client has written them, before names and numbers are lost that no parsed value
/// has.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct SentAttributes(Box<RawValue>);

impl SentAttributes {
    /// Returns the attributes that a new user or organization gets; none if the field is absent.
    pub(crate) fn of_new(sent: Option<Self>) -> Result<Map<String, Value>, Problem> {
        Ok(sent.map(|sent| sent.read()).transpose()?.unwrap_or_default())
    }

    /// Returns the keys with their values.
    pub(crate) fn read(&self) -> Result<Map<String, Value>, Problem> {
        Ok(attributes_of_json(self.0.get())?)
    }
}

/// Reads attributes from JSON, in which no name and no number may be lost: no object has two fields of the same name,
/// and each number can be kept exactly. The services check all else.
///
/// # Errors
///
/// [`Error::Validation`] which names `attributes`.
pub fn attributes_of_json(json: &str) -> Result<Map<String, Value>, Error> {
    let refused = |message: &str| Error::field(FIELD, message);
    if json.len() > 2 * Attributes::MAX_BYTES {
        // Blanks and escapes may take some room.
        return Err(refused("must be at most 16384 bytes of JSON"));
    }
    if !has_exact_numbers(json) {
        return Err(refused("has a number that cannot be kept exactly: send it as a text"));
    }
    if check_unique_names(json.as_bytes()).is_err_and(|error| error.is_data()) {
        return Err(refused("has an object with two fields of the same name"));
    }
    serde_json::from_str(json).map_err(|_| refused("must be an object"))
}

/// The type of the values of an attribute.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum AttributeTypeDto {
    String,
    Number,
    Boolean,
    Strings,
    Object,
}

impl From<AttributeType> for AttributeTypeDto {
    fn from(kind: AttributeType) -> Self {
        match kind {
            AttributeType::String => Self::String,
            AttributeType::Number => Self::Number,
            AttributeType::Boolean => Self::Boolean,
            AttributeType::Strings => Self::Strings,
            AttributeType::Object => Self::Object,
        }
    }
}

impl From<AttributeTypeDto> for AttributeType {
    fn from(kind: AttributeTypeDto) -> Self {
        match kind {
            AttributeTypeDto::String => Self::String,
            AttributeTypeDto::Number => Self::Number,
            AttributeTypeDto::Boolean => Self::Boolean,
            AttributeTypeDto::Strings => Self::Strings,
            AttributeTypeDto::Object => Self::Object,
        }
    }
}

/// Whether users and organizations can have attributes that the tenant has not defined. Of a tenant, absent where
/// `userAttributes` is.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum UnregisteredAttributesDto {
    Allowed,
    Refused,
}

impl From<UnregisteredAttributes> for UnregisteredAttributesDto {
    fn from(unregistered: UnregisteredAttributes) -> Self {
        match unregistered {
            UnregisteredAttributes::Allowed => Self::Allowed,
            UnregisteredAttributes::Refused => Self::Refused,
        }
    }
}

impl From<UnregisteredAttributesDto> for UnregisteredAttributes {
    fn from(unregistered: UnregisteredAttributesDto) -> Self {
        match unregistered {
            UnregisteredAttributesDto::Allowed => Self::Allowed,
            UnregisteredAttributesDto::Refused => Self::Refused,
        }
    }
}

/// An attribute of users that the tenant defines.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = UserAttribute)]
pub(crate) struct UserAttributeDto {
    #[schema(max_length = 64, pattern = "^[A-Za-z][A-Za-z0-9_.-]*$")]
    key: String,
    #[serde(rename = "type")]
    #[schema(inline)]
    kind: AttributeTypeDto,
    /// Whether `GET /users` finds users by the value. Only for the types STRING, NUMBER and BOOLEAN.
    #[serde(default)]
    searchable: bool,
    /// Whether the person sees its own value.
    #[serde(default)]
    person_reads: bool,
    /// Whether the person sees and changes its own value.
    #[serde(default)]
    person_writes: bool,
    /// Whether access tokens have the value.
    #[serde(default)]
    in_token: bool,
}

/// An attribute of organizations that the tenant defines.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = OrganizationAttribute)]
pub(crate) struct OrganizationAttributeDto {
    #[schema(max_length = 64, pattern = "^[A-Za-z][A-Za-z0-9_.-]*$")]
    key: String,
    #[serde(rename = "type")]
    #[schema(inline)]
    kind: AttributeTypeDto,
    /// Whether `GET /organizations` finds organizations by the value. Only for the types STRING, NUMBER and BOOLEAN.
    #[serde(default)]
    searchable: bool,
}

impl From<AttributeDefinition> for UserAttributeDto {
    fn from(definition: AttributeDefinition) -> Self {
        Self {
            key: definition.key.into(),
            kind: definition.kind.into(),
            searchable: definition.searchable,
            person_reads: definition.person_reads,
            person_writes: definition.person_writes,
            in_token: definition.in_token,
        }
    }
}

impl From<AttributeDefinition> for OrganizationAttributeDto {
    fn from(definition: AttributeDefinition) -> Self {
        Self { key: definition.key.into(), kind: definition.kind.into(), searchable: definition.searchable }
    }
}

// The service checks the keys, with the name of the field.

impl From<UserAttributeDto> for AttributeDefinition {
    fn from(definition: UserAttributeDto) -> Self {
        Self {
            key: AttributeKey::stored(definition.key),
            kind: definition.kind.into(),
            searchable: definition.searchable,
            person_reads: definition.person_reads,
            person_writes: definition.person_writes,
            in_token: definition.in_token,
        }
    }
}

impl From<OrganizationAttributeDto> for AttributeDefinition {
    fn from(definition: OrganizationAttributeDto) -> Self {
        Self {
            key: AttributeKey::stored(definition.key),
            kind: definition.kind.into(),
            searchable: definition.searchable,
            person_reads: false,
            person_writes: false,
            in_token: false,
        }
    }
}
