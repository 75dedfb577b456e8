//! Roles, and the permissions that they have.

pub(crate) const ROLES: &str = "Roles";
pub(crate) const ROLE: &str = "Role";
pub(crate) const NEW_ROLE: &str = "New role";
pub(crate) const EDIT: &str = "Edit";
pub(crate) const EDIT_ROLE: &str = "Edit the role";
pub(crate) const CREATE_ROLE: &str = "Create the role";
pub(crate) const ROLE_CREATED: &str = "The role is created. No user holds it yet.";
pub(crate) const ROLE_DELETED: &str = "The role is deleted.";
pub(crate) const ROLE_NAME_HINT: &str = "A name such as Shift lead is written SHIFT_LEAD.";
pub(crate) const SEARCH_ROLES_HINT: &str = "A part of the name or of the description";
pub(crate) const NO_ROLE_MATCHES: &str = "No role matches.";
pub(crate) const SHOW_ALL_ROLES: &str = "Show all roles";
pub(crate) const HELD_WHERE: &str = "Can be held";
pub(crate) const SCOPE_TENANT: &str = "in the whole tenant only";
pub(crate) const SCOPE_ORGANIZATION: &str = "in an organization only";
pub(crate) const SCOPE_ANY: &str = "in the whole tenant or in an organization";
pub(crate) const KIND: &str = "Kind";
pub(crate) const BUILT_IN_ROLE: &str = "Built in";
pub(crate) const OWN_ROLE: &str = "Own";
pub(crate) const BUILT_IN_ROLE_WHAT: &str = "Built in: it cannot be changed, only copied";
pub(crate) const ROLE_MAY: &str = "What this role lets its holders do";
pub(crate) const ROLE_MAY_NOTHING: &str = "Nothing. Edit the role to give it permissions.";
pub(crate) const ROLE_HOLDERS: &str = "Who holds it";
pub(crate) const HOLDERS_HIDDEN: &str = "You may not see who holds this role.";
pub(crate) const NO_HOLDERS: &str = "No user holds this role.";
pub(crate) const ALL_HOLDERS: &str = "All who hold it";
pub(crate) const LET_ASK_FOR_ROLE: &str = "Let people ask for this role";
pub(crate) const SHOW_ELIGIBILITIES: &str = "Show the eligibilities";
pub(crate) const ASSIGN_THIS_ROLE: &str = "Assign this role";
pub(crate) const DELETE_ROLE_WHAT: &str = "Only a role that no user holds can be deleted.";
pub(crate) const DELETE_ROLE_CONFIRM: &str = "Yes, delete this role";
pub(crate) const PERMISSION: &str = "Permission";
pub(crate) const PERMISSIONS: &str = "Permissions";
pub(crate) const PERMISSIONS_HINT: &str = "You can give only what you may do yourself.";
pub(crate) const EVERYTHING: &str = "Everything";
pub(crate) const MAY_EVERYTHING: &str = "Do everything in the tenant, also what is added later.";

// Several roles side by side.
pub(crate) const COMPARE_ROLES: &str = "Compare roles";
pub(crate) const COMPARE_WITH: &str = "Compare with";
pub(crate) const COMPARE: &str = "Compare";
pub(crate) const SIDE_BY_SIDE: &str = "Side by side";
pub(crate) const DIFFERENCES: &str = "Differences of two roles";
pub(crate) const DIFFERENCE: &str = "Difference";
pub(crate) const NO_DIFFERENCE: &str = "None";
pub(crate) const MATRIX_WHAT: &str = "Which role has which permission";
pub(crate) const HAS_IT: &str = "Yes";
pub(crate) const HAS_IT_BY: &str = "Yes, by";
pub(crate) const HAS_IT_NOT: &str = "No";
pub(crate) const SHOWN_ROLES: &str = "Roles that are shown";
pub(crate) const MUST_BE_ROLES: &str = "must be the ids of at most 8 roles, with commas between them";
pub(crate) const MATRIX_IS_FULL: &str = "cannot be added: at most 8 roles are shown side by side";
pub(crate) const MATRIX_IS_FULL_WHAT: &str = "At most 8 roles are shown. Remove one below to add another one.";
pub(crate) const ROLE_OF_LINK_IS_GONE: &str = "A role of this link does not exist any more.";
pub(crate) const DIFFERENCES_WHAT: &str = "Choose two roles. The answer shows what only one of them permits.";
pub(crate) const FIRST_ROLE: &str = "First role";
pub(crate) const SECOND_ROLE: &str = "Second role";
pub(crate) const SHOW_ONLY_DIFFERENCES: &str = "Show only the differences";
pub(crate) const SHOW_ALL_PERMISSIONS: &str = "Show all permissions of both roles";

pub(crate) fn only_in(role: &str) -> String {
    format!("Only in {role}")
}

pub(crate) fn differences_found(count: usize) -> String {
    match count {
        0 => "No differences".to_owned(),
        1 => "1 difference".to_owned(),
        count => format!("{count} differences"),
    }
}

/// The meaning of the permission for all actions on a resource.
pub(crate) fn may_everything_with(resource: &str) -> String {
    format!("Do everything with {}, also what is added later.", resource.replace('-', " "))
}

/// Returns the title of the permissions of a resource.
pub(crate) fn title_of(resource: &str) -> String {
    let mut letters = resource.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    let title = (first + letters.as_str()).replace('-', " ");
    title.strip_prefix("Api ").map_or(title.clone(), |rest| format!("API {rest}"))
}

pub(crate) fn change_role(name: &str) -> String {
    format!("Change the role {name}")
}

pub(crate) fn roles_found(count: u64) -> String {
    if count == 1 { "1 role".to_owned() } else { format!("{count} roles") }
}
