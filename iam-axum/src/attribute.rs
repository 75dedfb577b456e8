//! Attributes of users and organizations (`docs/http-api.md#attributes`).

use std::fmt::{self, Formatter};

use iam_core::attribute::{AttributeDefinition, AttributeType, Attributes, AttributesPatch, UnregisteredAttributes};
use iam_core::{AttributeKey, Error, FieldError, StoredText as _};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::audit::has_exact_numbers;
use crate::problem::Problem;

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

/// For a field that may be absent: null is not attributes, and is refused as such.
pub(crate) fn sent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SentAttributes>, D::Error> {
    SentAttributes::deserialize(deserializer).map(Some)
}

/// Reads attributes from JSON, in which no name and no number may be lost: no object has two fields of the same name,
/// and each number can be kept exactly. The services check all else.
///
/// # Errors
///
/// [`Error::Validation`] which names the keys, such as `attributes.costCentre`, or `attributes` if all of it is wrong.
pub fn attributes_of_json(json: &str) -> Result<Map<String, Value>, Error> {
    let refused = |message: &str| Error::field(FIELD, message);
    if json.len() > 2 * Attributes::MAX_BYTES {
        // Blanks and escapes may take some room.
        return Err(refused("must be at most 16384 bytes of JSON"));
    }
    let members = serde_json::from_str::<Members<'_>>(json).map_err(|_| match json.trim_start().starts_with('{') {
        true => refused("must be an object of valid JSON, with keys that are Unicode text"),
        false => refused("must be an object"),
    })?;
    let Members(members) = members;
    // More cannot be removed and added together, and each one may have an error.
    if members.len() > 2 * Attributes::MAX_KEYS {
        return Err(refused("must have at most 32 keys"));
    }
    let (mut read, mut errors) = (Map::new(), Vec::new());
    for (key, sent) in members {
        let is_twice = read.contains_key(&key);
        let value = if is_twice { Err("is given twice") } else { value_of_json(sent.get()) };
        let value = value.unwrap_or_else(|message| {
            errors.push(FieldError::new(AttributesPatch::name_of(FIELD, &key), message));
            Value::Null
        });
        read.insert(key, value);
    }
    if errors.is_empty() { Ok(read) } else { Err(Error::Validation(errors)) }
}

/// Reads the value of an attribute from valid JSON.
fn value_of_json(json: &str) -> Result<Value, &'static str> {
    if !has_exact_numbers(json) {
        return Err("has a number that cannot be kept exactly: send it as a text");
    }
    if levels(json) >= Attributes::MAX_DEPTH {
        return Err("must be nested at most 4 levels deep");
    }
    if iam_json::check(json.as_bytes()).is_err_and(|error| error.is_data()) {
        return Err("has an object with a name that begins with `$serde_json::private::`");
    }
    if iam_json::check_unique_names(json.as_bytes()).is_err_and(|error| error.is_data()) {
        return Err("has an object with two fields of the same name");
    }
    // In valid JSON, half of a surrogate pair is all that remains.
    serde_json::from_str(json).map_err(|_| "has text that is not Unicode")
}

/// Returns how many objects and lists of valid JSON are inside one another.
fn levels(json: &str) -> usize {
    let (mut is_text, mut is_escaped, mut level, mut deepest) = (false, false, 0_usize, 0);
    for byte in json.bytes() {
        if is_text {
            is_text = is_escaped || byte != b'"';
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b'"' => is_text = true,
            b'{' | b'[' => level += 1,
            b'}' | b']' => level = level.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(level);
    }
    deepest
}

/// The members of an object, each with its value as it is written. Members may have the same name.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = fields.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(json: &str) -> Vec<(String, String)> {
        match attributes_of_json(json) {
            Err(Error::Validation(errors)) => errors.into_iter().map(|error| (error.field, error.message)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_error_names_its_key() {
        for (json, expected) in [
            (r#"{"a":"\ud800"}"#, "has text that is not Unicode"),
            (r#"{"a":{"\udc00":1}}"#, "has text that is not Unicode"),
            (r#"{"a":[9007199254740993]}"#, "has a number that cannot be kept exactly: send it as a text"),
            (r#"{"a":1,"a":1}"#, "is given twice"),
            (r#"{"a":1,"\u0061":1e999}"#, "is given twice"),
            (r#"{"a":[{"b":1,"b":1}]}"#, "has an object with two fields of the same name"),
            (r#"{"a":[[[[[1]]]]]}"#, "must be nested at most 4 levels deep"),
        ] {
            assert_eq!(errors(json), [("attributes.a".to_owned(), expected.to_owned())], "{json}");
        }
        let deep = format!(r#"{{"a":{}"\ud800"{}}}"#, "[".repeat(1_000), "]".repeat(1_000));
        assert_eq!(errors(&deep), [("attributes.a".to_owned(), "must be nested at most 4 levels deep".to_owned())]);
        let two: Vec<String> =
            errors(r#"{"b c":1e999,"ok":1,"d":"\ud800"}"#).into_iter().map(|(field, _)| field).collect();
        assert_eq!(two, ["attributes.b c", "attributes.d"]);
        let many: Vec<String> = (0..65).map(|number| format!("\"k{number}\":1e999")).collect();
        for whole in ["[]", "1", "{", r#"{"\ud800":1}"#, &format!("{{{}}}", many.join(","))] {
            let fields: Vec<String> = errors(whole).into_iter().map(|(field, _)| field).collect();
            assert_eq!(fields, ["attributes"], "{whole}");
        }
    }

    #[test]
    fn brackets_in_a_text_are_no_levels() {
        let read = attributes_of_json(r#" {"a":"[[[[[[\"{{{","b":[[],{"[":[[1]]}],"c":"\ud83d\ude00"} "#).unwrap();
        assert_eq!(read["a"], "[[[[[[\"{{{");
        assert_eq!(read["c"], "😀");
    }
}
