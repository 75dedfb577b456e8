//! Roles, assignments, attributes and API keys.

use iam_core::attribute::{AttributeType, UnregisteredAttributes};

use crate::text::{named, t, t_with};

/// The button that leads to an identity provider to link an account there.
pub(crate) fn link_with(provider: &str) -> String {
    t_with("link-with", [("provider", provider.into())])
}

pub(crate) fn assignments_found(count: u64) -> String {
    t_with("assignments-found", [("count", count.into())])
}

pub(crate) fn revoke_role(role: &str, user: &str) -> String {
    t_with("revoke-role", [("role", role.into()), ("user", user.into())])
}

pub(crate) fn assign_role(role: &str, user: &str, organization: Option<&str>) -> String {
    let (role, user) = (("role", role.into()), ("user", user.into()));
    match organization {
        Some(name) => t_with("assign-role-to", [role, user, ("organization", name.into())]),
        None => t_with("assign-role-in-tenant", [role, user]),
    }
}

pub(crate) fn change_end_of(role: &str, user: &str) -> String {
    t_with("change-end-of", [("role", role.into()), ("user", user.into())])
}

/// What a person types for an attribute of a type.
pub(crate) fn attribute_hint(kind: AttributeType) -> &'static str {
    match kind {
        AttributeType::Number => t("attribute-hint-number"),
        AttributeType::Strings => t("attribute-hint-strings"),
        AttributeType::String | AttributeType::Boolean | AttributeType::Object => "",
    }
}

/// Why a key must not be among the other attributes.
pub(crate) fn has_a_field(key: &str) -> String {
    t_with("has-a-field", [("key", key.into())])
}

/// Where a definition is wrong; what is wrong follows.
pub(crate) fn definition(number: usize) -> String {
    t_with("definition", [("number", number.into())])
}

/// Why a text is no list of definitions, as the end of a sentence, and where in the text.
pub(crate) fn must_be_definitions(line: usize, column: usize) -> String {
    t_with("must-be-definitions", [("line", line.into()), ("column", column.into())])
}

/// The name of a rule for attributes that have no definition.
pub(crate) fn unregistered_attributes(unregistered: &UnregisteredAttributes) -> &'static str {
    match unregistered {
        UnregisteredAttributes::Allowed => t("unregistered-allowed"),
        UnregisteredAttributes::Refused => t("unregistered-refused"),
    }
}

pub(crate) fn delete_permission(name: &str) -> String {
    t_with("delete-permission", [("name", name.into())])
}

pub(crate) fn permissions_found(count: u64) -> String {
    t_with("permissions-found", [("count", count.into())])
}

pub(crate) fn only_in(role: &str) -> String {
    t_with("only-in", [("role", role.into())])
}

pub(crate) fn differences_found(count: usize) -> String {
    t_with("differences-found", [("count", count.into())])
}

/// The meaning of the permission for all actions on a resource.
pub(crate) fn may_everything_with(resource: &str) -> String {
    t_with("may-everything-with", [("resource", title_of(resource).into())])
}

/// How long ago a moment was, such as `2 hours ago`; or how far ahead it is, such as `in 2 hours`, for less than zero.
pub(crate) fn ago(seconds: i64) -> String {
    let before = [(86_400, "ago-days"), (3_600, "ago-hours"), (60, "ago-minutes")];
    let ahead = [(86_400, "ahead-days"), (3_600, "ahead-hours"), (60, "ahead-minutes")];
    let sizes = if seconds < 0 { ahead } else { before };
    let length = seconds.saturating_abs();
    let unit = sizes.into_iter().find(|(size, _)| length >= *size);
    unit.map_or_else(|| t("ago-moments").to_owned(), |(size, id)| t_with(id, [("count", (length / size).into())]))
}

/// Returns the title of the permissions of a resource.
pub(crate) fn title_of(resource: &str) -> String {
    if let Some(title) = named(&format!("resource-{resource}")) {
        return title.to_owned();
    }
    // An application has its own resources.
    let mut letters = resource.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    (first + letters.as_str()).replace('-', " ")
}

/// How many of some choices are chosen, such as `2 of 5`.
pub(crate) fn chosen_of(chosen: usize, all: usize) -> String {
    t_with("chosen-of", [("chosen", chosen.into()), ("all", all.into())])
}

pub(crate) fn edit_role(name: &str) -> String {
    t_with("edit-role", [("name", name.into())])
}

pub(crate) fn change_role(name: &str) -> String {
    t_with("change-role", [("name", name.into())])
}

pub(crate) fn roles_found(count: u64) -> String {
    t_with("roles-found", [("count", count.into())])
}

/// How many of the permissions of a key its user holds now.
pub(crate) fn key_holds(held: usize, all: usize) -> String {
    t_with("key-holds", [("held", held.into()), ("all", all.into())])
}

/// The meaning of a permission that the user of a key does not hold.
pub(crate) fn not_held_now(meaning: &str) -> String {
    t_with("not-held-now", [("meaning", meaning.into())])
}
