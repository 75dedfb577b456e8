//! Attributes of users and organizations.

use iam_core::attribute::{AttributeType, UnregisteredAttributes};

pub(crate) const ATTRIBUTES: &str = "Attributes";
pub(crate) const OTHER_ATTRIBUTES: &str = "Other attributes";
pub(crate) const OTHER_ATTRIBUTES_HINT: &str = "A JSON object. What is left out here is removed.";
pub(crate) const ATTRIBUTE: &str = "Attribute";
pub(crate) const NO_ATTRIBUTE: &str = "None";
pub(crate) const ATTRIBUTE_VALUE: &str = "Value of the attribute";
pub(crate) const ATTRIBUTE_VALUE_HINT: &str = "The whole value, letter by letter; true or false for a choice";
pub(crate) const NOT_SET: &str = "not set";
pub(crate) const MUST_BE_ANY_NUMBER: &str = "must be a number";
pub(crate) const USER_ATTRIBUTES: &str = "Attributes of users";
pub(crate) const USER_ATTRIBUTES_HINT: &str = "A list in JSON. Each definition has a key and a type (STRING, NUMBER, BOOLEAN, STRINGS or OBJECT), and may have \
     searchable, personReads, personWrites and inToken.";
pub(crate) const ORGANIZATION_ATTRIBUTES: &str = "Attributes of organizations";
pub(crate) const ORGANIZATION_ATTRIBUTES_HINT: &str =
    "A list in JSON. Each definition has a key and a type, and may have searchable.";
pub(crate) const UNREGISTERED_ATTRIBUTES: &str = "Attributes without a definition";
pub(crate) const HAS_NO_FIELD: &str = "is not an attribute that is defined";
pub(crate) const MUST_BE_DEFINITIONS: &str = "must be a list of definitions in JSON";

/// What a person types for an attribute of a type.
pub(crate) fn attribute_hint(kind: AttributeType) -> &'static str {
    match kind {
        AttributeType::Number => "A number",
        AttributeType::Strings => "One in each line",
        AttributeType::String | AttributeType::Boolean | AttributeType::Object => "",
    }
}

/// Why a key must not be among the other attributes.
pub(crate) fn has_a_field(key: &str) -> String {
    format!("must not contain {key}, which has a field of its own")
}

/// Where a definition is wrong; what is wrong follows.
pub(crate) fn definition(number: usize) -> String {
    format!("Definition {number}:")
}

/// The name of a rule for attributes that have no definition.
pub(crate) fn unregistered_attributes(unregistered: &UnregisteredAttributes) -> &'static str {
    match unregistered {
        UnregisteredAttributes::Allowed => "Allowed, with any value",
        UnregisteredAttributes::Refused => "Refused. Those that exist stay until they are removed",
    }
}
