//! Role assignments.

pub(crate) const ASSIGNMENT: &str = "Assignment";
pub(crate) const ASSIGNMENTS: &str = "Assignments";
pub(crate) const ASSIGN: &str = "Assign";
pub(crate) const ASSIGN_ROLE: &str = "Assign a role";
pub(crate) const EVERY_ROLE: &str = "Every role";
pub(crate) const ONLY_TENANT: &str = " (whole tenant)";
pub(crate) const ONLY_ORGANIZATION: &str = " (in an organization)";
pub(crate) const ROLES_UNSEEN: &str = "You may not see roles: type the id of one.";
pub(crate) const CHOOSE: &str = "Choose …";
pub(crate) const HELD_AT: &str = "Held at";
pub(crate) const AS_OF: &str = "Held at (UTC)";
pub(crate) const UNTIL_MOMENT: &str = "Until (UTC)";
pub(crate) const UNTIL_HINT: &str = "Empty: no end.";
pub(crate) const UNTIL_COLUMN: &str = "Until";
pub(crate) const NO_END: &str = "No end";
pub(crate) const NO_ASSIGNMENT_MATCHES: &str = "No assignment matches.";
pub(crate) const SHOW_ALL_ASSIGNMENTS: &str = "Show all assignments";
pub(crate) const ASSIGNED_BY: &str = "Assigned by";
pub(crate) const THE_SERVICE: &str = "the service";
pub(crate) const NOT_IN_FORCE: &str = "not active, so the role gives nothing";
pub(crate) const END_OF_ASSIGNMENT: &str = "End";
pub(crate) const REVOKE_WHAT: &str = "The user loses the role at once. You first see what the user loses.";
pub(crate) const ROLE_ASSIGNED: &str = "The role is assigned.";
pub(crate) const ROLE_REVOKED: &str = "The role is revoked.";
pub(crate) const END_CHANGED: &str = "The end of the role is changed.";

pub(crate) fn assignments_found(count: u64) -> String {
    if count == 1 { "1 assignment".to_owned() } else { format!("{count} assignments") }
}

pub(crate) fn revoke_role(role: &str, user: &str) -> String {
    format!("Revoke {role} of {user}")
}

pub(crate) fn assign_role(role: &str, user: &str, organization: Option<&str>) -> String {
    let place = organization.map_or_else(|| "the whole tenant".to_owned(), |name| format!("{name} and below"));
    format!("Assign {role} to {user} in {place}")
}

pub(crate) fn change_end_of(role: &str, user: &str) -> String {
    format!("Change the end of {role} of {user}")
}
