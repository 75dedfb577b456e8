//! Eligibilities in lists: the names of those who may ask, and the place.

use iam_core::eligibility::{Eligibility, Eligible, ListedEligibility};
use iam_core::{Caller, Error, Iam, RoleId, UserId};

use crate::names::Names;
use crate::text;

/// Reads the names of the users and the roles that some eligibilities name beside the role to ask for.
pub(crate) async fn names_of(iam: &Iam, caller: &Caller, listed: &[ListedEligibility]) -> Result<Names, Error> {
    let eligibilities = || listed.iter().map(|listed| &listed.eligibility);
    let made_by = eligibilities().filter_map(|eligibility| eligibility.created_by);
    let users: Vec<UserId> = eligibilities().filter_map(|found| found.eligible.user()).chain(made_by).collect();
    let named = |eligibility: &Eligibility| [eligibility.eligible.held_role(), eligibility.approver_role_id];
    let roles: Vec<RoleId> = eligibilities().flat_map(named).flatten().collect();
    Names::read(iam, caller, users, []).await?.with_roles(iam, caller, roles).await
}

pub(crate) fn place_of(listed: &ListedEligibility) -> &str {
    listed.organization.as_ref().map_or(text::t("whole-tenant"), |organization| &organization.name)
}

/// Returns who may ask by an eligibility.
pub(crate) fn eligible_of(eligibility: &Eligibility, names: &Names) -> String {
    match eligibility.eligible {
        Eligible::User(user) => names.user(user),
        Eligible::HoldersOf(role) => text::holders_of(&names.role(role)),
    }
}
