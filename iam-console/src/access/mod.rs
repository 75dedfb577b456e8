//! Questions about access: why a user may do something, and which users may do it.

mod who;
mod why;

use axum::Router;
use axum::routing::get;
use iam_core::OrganizationId;
use iam_core::access::{DecidingGrant, Permission};
use iam_core::clock::Timestamp;
use iam_core::permission::BUILT_IN;
use iam_core::{AssignmentId, Error, RoleId};

use crate::catalogue::RESERVED;
use crate::english;
use crate::group_names::{GivenBy, GroupNames};
use crate::names::Names;
use crate::state::Console;

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/access", get(why::show)).route("/access/who", get(who::show))
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
}

impl Reason {
    fn of(grant: DecidingGrant, names: &Names, groups: &GroupNames) -> Self {
        Self {
            assignment: grant.assignment,
            role: grant.role,
            role_name: grant.role_name.into(),
            place: grant.organization.map_or_else(|| english::WHOLE_TENANT.to_owned(), |id| names.organization(id)),
            is_inherited: grant.inherited_from.is_some(),
            granted_by: grant.granted_by.map_or_else(|| english::THE_SERVICE.to_owned(), |id| names.user(id)),
            given: grant.directory_group.map(|id| groups.of(&id)),
            is_by_request: grant.access_request.is_some(),
            granted_at: grant.granted_at,
        }
    }
}

/// Returns the permission that a person has typed: its name, or its meaning, such as "See users".
fn permission(text: &str) -> Result<Permission, Error> {
    let text = text.trim();
    let is_named = |described: &str| described.trim_end_matches('.').eq_ignore_ascii_case(text.trim_end_matches('.'));
    let described = BUILT_IN.iter().filter(|(_, described)| !described.starts_with(RESERVED));
    let named =
        described.into_iter().find(|(_, described)| is_named(described)).map(|(permission, _)| permission.clone());
    named.map_or_else(|| text.parse(), Ok).map_err(|_| Error::field("permission", english::NO_SUCH_PERMISSION))
}

/// Returns the organizations that some grants name.
fn places<'a>(grants: impl IntoIterator<Item = &'a DecidingGrant>) -> Vec<OrganizationId> {
    grants.into_iter().filter_map(|grant| grant.organization).collect()
}
