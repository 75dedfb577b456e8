//! The attributes of users that are kept as they were sent (RFC 7643, sections 4.1 and 4.3).

use crate::name::{Name, Schema};

/// An attribute of users.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) name: &'static str,
    pub(crate) schema: Schema,
    pub(crate) kind: Kind,
}

/// What the value of an attribute is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A text.
    Text,
    /// An object.
    Complex(&'static [Part]),
    /// An object that names another resource by its `value`.
    Reference(&'static [Part]),
    /// A list of objects, each with its `value`.
    Values(&'static [Part]),
}

/// A part of an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    /// Whether it is a boolean; the others are texts.
    pub(crate) is_flag: bool,
}

const fn text(name: &'static str) -> Part {
    Part { name, is_flag: false }
}

static NAME: [Part; 3] = [text("formatted"), text("familyName"), text("givenName")];
static VALUES: [Part; 3] = [text("value"), text("type"), Part { name: "primary", is_flag: true }];
static MANAGER: [Part; 2] = [text("value"), text("$ref")];

const fn of_user(name: &'static str, kind: Kind) -> Attribute {
    Attribute { name, schema: Schema::User, kind }
}

const fn of_company(name: &'static str, kind: Kind) -> Attribute {
    Attribute { name, schema: Schema::Enterprise, kind }
}

static ATTRIBUTES: [Attribute; 14] = [
    of_user("name", Kind::Complex(&NAME)),
    of_user("displayName", Kind::Text),
    of_user("title", Kind::Text),
    of_user("preferredLanguage", Kind::Text),
    of_user("locale", Kind::Text),
    of_user("timezone", Kind::Text),
    of_user("emails", Kind::Values(&VALUES)),
    of_user("phoneNumbers", Kind::Values(&VALUES)),
    of_company("employeeNumber", Kind::Text),
    of_company("costCenter", Kind::Text),
    of_company("organization", Kind::Text),
    of_company("division", Kind::Text),
    of_company("department", Kind::Text),
    of_company("manager", Kind::Reference(&MANAGER)),
];

/// Returns the attributes.
pub(crate) fn attributes() -> &'static [Attribute] {
    &ATTRIBUTES
}

/// Returns the attribute with a name. Those of the extension are found without its URN too, as Entra writes `manager`.
pub(crate) fn named(name: &Name) -> Option<&'static Attribute> {
    let is_of = |attribute: &&Attribute| name.schema.is_none_or(|schema| schema == attribute.schema);
    ATTRIBUTES.iter().filter(is_of).find(|attribute| attribute.name.eq_ignore_ascii_case(&name.attribute))
}

/// Returns the part with a name, in any case.
pub(crate) fn part(parts: &'static [Part], name: &str) -> Option<&'static Part> {
    parts.iter().find(|part| part.name.eq_ignore_ascii_case(name))
}
