//! Questions about access: why a user may do something, which users may do it, and who holds which roles in a place.

mod holders;
mod who;
mod why;

use axum::Router;
use axum::routing::get;
use iam_core::OrganizationId;
use iam_core::access::{DecidingGrant, Permission};
use iam_core::clock::Timestamp;
use iam_core::text::folded;
use iam_core::{AssignmentId, Error, RoleId};

use crate::catalogue::RESERVED;
use crate::group_names::{GivenBy, GroupNames};
use crate::names::Names;
use crate::state::Console;
use crate::text;
use crate::view::query;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/access", get(why::show))
        .route("/access/who", get(who::show))
        .route("/access/holders", get(holders::show))
}

/// The addresses of the three pages. Each of them keeps what the person has typed on another one.
struct Tabs {
    why: String,
    who: String,
    holders: String,
}

impl Tabs {
    fn of(base: &str, typed: &[(&str, &str)]) -> Self {
        let query = query(typed);
        let mark = if query.is_empty() { "" } else { "?" };
        let address = |page: &str| format!("{base}/access{page}{mark}{query}");
        Self { why: address(""), who: address("/who"), holders: address("/holders") }
    }
}

/// A role assignment that grants a permission, as a person reads it.
struct Reason {
    assignment: AssignmentId,
    role: RoleId,
    role_name: String,
    place: String,
    /// Whether the role is held in an organization above the one of the question.
    is_inherited: bool,
    granted_by: String,
    /// The group that gives the role, if one does.
    given: Option<GivenBy>,
    /// Whether an access request has given the role.
    is_by_request: bool,
    granted_at: Timestamp,
    /// When the role ends, if it does.
    until: Option<Timestamp>,
}

impl Reason {
    fn of(grant: DecidingGrant, names: &Names, groups: &GroupNames) -> Self {
        Self {
            assignment: grant.assignment,
            role: grant.role,
            role_name: grant.role_name.into(),
            place: grant.organization.map_or_else(|| text::t("whole-tenant").to_owned(), |id| names.organization(id)),
            is_inherited: grant.inherited_from.is_some(),
            granted_by: grant.granted_by.map_or_else(|| text::t("the-service").to_owned(), |id| names.user(id)),
            given: grant.directory_group.map(|id| groups.of(&id)),
            is_by_request: grant.access_request.is_some(),
            granted_at: grant.granted_at,
            until: grant.expires_at,
        }
    }
}

/// How many permissions are named that the typed words can mean.
const MOST_NAMED: usize = 5;

/// Returns the permission that a person has typed: its name, its meaning, such as "See users", or words that only one of
/// the offered permissions has, such as "refund". `described` are these, each with its meaning.
fn permission(described: &[(String, String)], text: &str) -> Result<Permission, Error> {
    let text = text.trim();
    if let Ok(permission) = text.parse() {
        return Ok(permission);
    }
    let refused = |message: &str| Error::field("permission", message);
    let offered = || described.iter().filter(|(_, meaning)| !meaning.starts_with(RESERVED));
    let is_meaning = |meaning: &str| meaning.trim_end_matches('.').eq_ignore_ascii_case(text.trim_end_matches('.'));
    let (typed, by_meaning) = (words_of(text), offered().find(|(_, meaning)| is_meaning(meaning)));
    let has_words = |(name, meaning): &&(String, String)| {
        let words = [words_of(name), words_of(meaning)].concat();
        !typed.is_empty() && typed.iter().all(|word| words.contains(word))
    };
    let matching = by_meaning.into_iter().chain(offered().filter(has_words).filter(|_| by_meaning.is_none()));
    let matching: Vec<&str> = matching.take(MOST_NAMED).map(|(name, _)| name.as_str()).collect();
    match matching.as_slice() {
        [] => Err(refused(text::t("no-such-permission"))),
        [name] => name.parse().map_err(|_| refused(text::t("no-such-permission"))),
        several => Err(refused(&text::several_permissions(&several.join(", ")))),
    }
}

fn words_of(text: &str) -> Vec<String> {
    let folded = folded(text);
    folded.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Returns the meaning of a permission; empty if it has none.
fn meaning_of(described: &[(String, String)], permission: &Permission) -> String {
    let found = described.iter().find(|(name, _)| name == permission.as_str());
    found.map(|(_, meaning)| meaning.clone()).unwrap_or_default()
}

/// Returns the organizations that some grants name.
fn places<'a>(grants: impl IntoIterator<Item = &'a DecidingGrant>) -> Vec<OrganizationId> {
    grants.into_iter().filter_map(|grant| grant.organization).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_is_named_by_its_meaning_or_by_words_that_no_other_has() {
        let described = [
            ("orders:read", "See orders."),
            ("orders:refund", "Give money back."),
            ("users:read", "See users."),
            ("users:update", "Reserved: later."),
        ];
        let described = described.map(|(name, meaning)| (name.to_owned(), meaning.to_owned()));
        let found = |text: &str| permission(&described, text).ok().map(|found| found.as_str().to_owned());
        for (text, name) in [
            ("orders:refund", Some("orders:refund")),
            ("payments:unknown", Some("payments:unknown")),
            ("see users", Some("users:read")),
            ("Refund", Some("orders:refund")),
            ("money orders", Some("orders:refund")),
            ("orders", None),
            ("fund", None),
            ("later", None),
            (" ", None),
        ] {
            assert_eq!(found(text).as_deref(), name, "{text}");
        }
        let refused = permission(&described, "orders").unwrap_err();
        let Error::Validation(errors) = refused else { panic!("{refused}") };
        assert!(errors[0].message.contains("orders:read, orders:refund"), "{errors:?}");
    }
}
