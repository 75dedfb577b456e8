use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attribute::{AttributeOwner, Attributes};
use crate::validate::{AttributeKey, Fields};

/// The type of the values of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttributeType {
    /// A text.
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A list of texts.
    Strings,
    /// An object.
    Object,
}

text_enum! {
    AttributeType {
        String = "STRING",
        Number = "NUMBER",
        Boolean = "BOOLEAN",
        Strings = "STRINGS",
        Object = "OBJECT",
    }
}

impl AttributeType {
    /// Whether a value is of this type.
    #[must_use]
    pub fn admits(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Strings => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Self::Object => value.is_object(),
        }
    }

    /// Whether users and organizations can be found by a value of this type.
    #[must_use]
    pub fn can_be_searched(self) -> bool {
        matches!(self, Self::String | Self::Number | Self::Boolean)
    }

    fn described(self) -> &'static str {
        match self {
            Self::String => "a text",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Strings => "a list of texts",
            Self::Object => "an object",
        }
    }
}

/// An attribute that a tenant has defined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AttributeDefinition {
    /// The key of the attribute.
    pub key: AttributeKey,
    /// The type of its values.
    #[serde(rename = "type")]
    pub kind: AttributeType,
    /// Whether users or organizations can be found by its value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub searchable: bool,
    /// Whether the person sees its own value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub person_reads: bool,
    /// Whether the person changes its own value. Such a person sees it, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub person_writes: bool,
    /// Whether access tokens have the value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_token: bool,
}

impl AttributeDefinition {
    /// Whether the person sees its own value.
    #[must_use]
    pub fn is_seen_by_person(&self) -> bool {
        self.person_reads || self.person_writes
    }
}

/// The attributes that a tenant has defined for its users or for its organizations: at most
/// [`MAX`](Self::MAX), each key once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AttributeDefinitions(Vec<AttributeDefinition>);

impl AttributeDefinitions {
    /// The maximum number of definitions.
    pub const MAX: usize = 32;

    /// Checks the definitions for users. `field` is the name of the list.
    pub fn for_users(fields: &mut Fields, field: &str, given: &[AttributeDefinition]) -> Option<Self> {
        Self::checked(fields, field, given, |_, _, _| {})
    }

    /// Checks the definitions for organizations, which are in no token, and which no person reads as its own.
    /// `field` is the name of the list.
    pub fn for_organizations(fields: &mut Fields, field: &str, given: &[AttributeDefinition]) -> Option<Self> {
        Self::checked(fields, field, given, |fields, at, definition| {
            for (name, is_set) in [
                ("personReads", definition.person_reads),
                ("personWrites", definition.person_writes),
                ("inToken", definition.in_token),
            ] {
                if is_set {
                    fields.reject(&format!("{at}.{name}"), "is only for attributes of users");
                }
            }
        })
    }

    fn checked(
        fields: &mut Fields,
        field: &str,
        given: &[AttributeDefinition],
        check: impl Fn(&mut Fields, &str, &AttributeDefinition),
    ) -> Option<Self> {
        if given.len() > Self::MAX {
            fields.reject(field, format!("must have at most {} definitions", Self::MAX));
            return None;
        }
        let mut errors = Fields::default();
        for (number, definition) in given.iter().enumerate() {
            let at = format!("{field}[{number}]");
            // It may come from a file, without a check.
            errors.check(&format!("{at}.key"), definition.key.as_str().parse::<AttributeKey>());
            if given.iter().take(number).any(|earlier| earlier.key == definition.key) {
                errors.reject(&format!("{at}.key"), "is defined twice");
            }
            if definition.searchable && !definition.kind.can_be_searched() {
                errors.reject(&format!("{at}.searchable"), "is only for the types STRING, NUMBER and BOOLEAN");
            }
            check(&mut errors, &at, definition);
        }
        match errors.finish() {
            Ok(()) => Some(Self(given.to_vec())),
            Err(invalid) => {
                invalid.0.into_iter().for_each(|error| fields.reject(&error.field, error.message));
                None
            }
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the definitions, in the order of the tenant.
    pub fn iter(&self) -> impl Iterator<Item = &AttributeDefinition> {
        self.0.iter()
    }

    /// Returns the definition of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&AttributeDefinition> {
        self.0.iter().find(|definition| definition.key.as_str() == key)
    }

    /// Returns the definitions that pass, in the same order.
    #[must_use]
    pub fn select(&self, passes: impl Fn(&AttributeDefinition) -> bool) -> Self {
        Self(self.0.iter().filter(|definition| passes(definition)).cloned().collect())
    }

    /// Returns the JSON text that a store keeps.
    #[must_use]
    pub fn to_text(&self) -> String {
        // Definitions can always be written.
        serde_json::to_string(&self.0).unwrap_or_else(|_| "[]".to_owned())
    }

    /// Reads the text that a store keeps.
    ///
    /// # Errors
    ///
    /// The error of the parser when the text is no list of definitions.
    pub fn stored(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

impl From<AttributeDefinitions> for Vec<AttributeDefinition> {
    fn from(definitions: AttributeDefinitions) -> Self {
        definitions.0
    }
}

/// Whether attributes can have keys that the tenant has not defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UnregisteredAttributes {
    /// They can.
    #[default]
    Allowed,
    /// They cannot. Those that exist stay until they are removed.
    Refused,
}

text_enum! { UnregisteredAttributes { Allowed = "ALLOWED", Refused = "REFUSED" } }

impl UnregisteredAttributes {
    pub(crate) fn is_allowed(&self) -> bool {
        *self == Self::Allowed
    }
}

/// The rules of a tenant for attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeRules {
    /// The definitions for users.
    pub users: AttributeDefinitions,
    /// The definitions for organizations.
    pub organizations: AttributeDefinitions,
    /// Whether other keys are allowed.
    pub unregistered: UnregisteredAttributes,
}

impl AttributeRules {
    /// Returns the rules for one kind of owners.
    #[must_use]
    pub fn of(&self, owner: AttributeOwner) -> OwnerRules<'_> {
        match owner {
            AttributeOwner::User(_) => self.of_users(),
            AttributeOwner::Organization(_) => self.of_organizations(),
        }
    }

    /// Returns the rules for users.
    #[must_use]
    pub fn of_users(&self) -> OwnerRules<'_> {
        OwnerRules { definitions: &self.users, unregistered: self.unregistered }
    }

    /// Returns the rules for organizations.
    #[must_use]
    pub fn of_organizations(&self) -> OwnerRules<'_> {
        OwnerRules { definitions: &self.organizations, unregistered: self.unregistered }
    }

    /// Whether persons see attributes of their own.
    #[must_use]
    pub fn are_seen_by_persons(&self) -> bool {
        self.users.iter().any(AttributeDefinition::is_seen_by_person)
    }

    /// Returns those of these attributes that the person sees itself.
    #[must_use]
    pub fn seen_by_person(&self, attributes: &Attributes) -> Attributes {
        attributes.select(|key| self.users.get(key).is_some_and(AttributeDefinition::is_seen_by_person))
    }

    /// Whether access tokens have attributes.
    #[must_use]
    pub fn are_in_tokens(&self) -> bool {
        self.users.iter().any(|definition| definition.in_token)
    }

    /// Returns the approximate size in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        let definitions = self.users.iter().chain(self.organizations.iter());
        let of = |definition: &AttributeDefinition| size_of::<AttributeDefinition>() + definition.key.as_str().len();
        size_of::<Self>() + definitions.map(of).sum::<usize>()
    }
}

/// The rules of a tenant for the attributes of users, or of organizations.
#[derive(Clone, Copy, Debug)]
pub struct OwnerRules<'a> {
    /// The definitions.
    pub definitions: &'a AttributeDefinitions,
    /// Whether other keys are allowed.
    pub unregistered: UnregisteredAttributes,
}

impl OwnerRules<'_> {
    /// Whether the person changes the value of a key itself.
    pub(super) fn is_written_by_person(self, key: &str) -> bool {
        self.definitions.get(key).is_some_and(|definition| definition.person_writes)
    }

    /// Checks the value that a key is to have.
    pub(super) fn check(self, key: &str, value: &Value) -> Result<(), String> {
        match (self.definitions.get(key), self.unregistered) {
            (Some(definition), _) if !definition.kind.admits(value) => {
                Err(format!("must be {}", definition.kind.described()))
            }
            (None, UnregisteredAttributes::Refused) => {
                Err("is not an attribute that the tenant has defined".to_owned())
            }
            (Some(_), _) | (None, UnregisteredAttributes::Allowed) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(value: Value) -> AttributeDefinition {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn definitions_are_checked_with_the_name_of_the_field() {
        let twice = definition(json!({ "key": "a", "type": "STRING" }));
        let list = definition(json!({ "key": "b", "type": "STRINGS", "searchable": true }));
        let person = definition(json!({ "key": "c", "type": "STRING", "personWrites": true, "inToken": true }));
        let given = [twice.clone(), twice.clone(), list, person.clone()];
        let mut fields = Fields::default();
        assert_eq!(AttributeDefinitions::for_organizations(&mut fields, "organizationAttributes", &given), None);
        let names: Vec<String> = fields.into_error().0.into_iter().map(|error| error.field).collect();
        assert_eq!(
            names,
            [
                "organizationAttributes[1].key",
                "organizationAttributes[2].searchable",
                "organizationAttributes[3].personWrites",
                "organizationAttributes[3].inToken",
            ]
        );
        let mut fields = Fields::default();
        assert!(AttributeDefinitions::for_users(&mut fields, "userAttributes", &[twice.clone(), person]).is_some());
        let many: Vec<_> =
            (0..33).map(|number| definition(json!({ "key": format!("k{number}"), "type": "NUMBER" }))).collect();
        assert_eq!(AttributeDefinitions::for_users(&mut fields, "userAttributes", &many), None);
    }

    #[test]
    fn the_stored_text_is_short_and_read_back() {
        let given = [definition(json!({ "key": "costCentre", "type": "STRING", "searchable": true }))];
        let definitions = AttributeDefinitions::for_users(&mut Fields::default(), "userAttributes", &given).unwrap();
        assert_eq!(definitions.to_text(), r#"[{"key":"costCentre","type":"STRING","searchable":true}]"#);
        assert_eq!(AttributeDefinitions::stored(&definitions.to_text()).unwrap(), definitions);
    }

    #[test]
    fn each_type_admits_its_values_alone() {
        let values = [json!("a"), json!(1.5), json!(true), json!(["a"]), json!({ "a": 1 }), json!([1])];
        let types = [
            AttributeType::String,
            AttributeType::Number,
            AttributeType::Boolean,
            AttributeType::Strings,
            AttributeType::Object,
        ];
        for (number, kind) in types.into_iter().enumerate() {
            for (position, value) in values.iter().enumerate() {
                assert_eq!(kind.admits(value), number == position, "{kind} {value}");
            }
        }
    }
}
