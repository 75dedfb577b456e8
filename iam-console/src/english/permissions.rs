//! The catalogue of permissions.

pub(crate) const NEW_PERMISSION: &str = "New permission";
pub(crate) const NEW_PERMISSION_WHAT: &str =
    "A permission of your application. Roles give it to users, and the application asks whether a user has it.";
pub(crate) const PERMISSION_NAME_HINT: &str =
    "A resource and an action in lower-case letters, digits and hyphens, such as orders:refund";
pub(crate) const PERMISSION_DESCRIPTION_HINT: &str = "What it lets a user do, such as Give money back.";
pub(crate) const REGISTER_PERMISSION: &str = "Register the permission";
pub(crate) const PERMISSION_CREATED: &str = "The permission is registered. Roles with a wildcard of its resource have \
     it at once. Edit other roles to give it to them.";
pub(crate) const PERMISSION_DELETED: &str = "The permission is deleted.";
pub(crate) const NO_PERMISSION_MATCHES: &str = "No permission matches.";
pub(crate) const SHOW_EVERY_PERMISSION: &str = "Show all permissions";
pub(crate) const BUILT_IN_PERMISSION_WHAT: &str = "Built in: it cannot be deleted";
pub(crate) const OWN_PERMISSION_WHAT: &str = "A permission of your application";
pub(crate) const ROLES_WITH_IT: &str = "Roles with this permission";
pub(crate) const ROLES_WITH_IT_HIDDEN: &str = "You may not see roles.";
pub(crate) const NO_ROLE_NAMES_IT: &str = "No role names this permission.";
pub(crate) const ROLES_BY_WILDCARD: &str = "By a wildcard";
pub(crate) const DELETE_PERMISSION_WHAT: &str = "Only a permission that no role names can be deleted.";
pub(crate) const DELETE_PERMISSION_NOTE: &str =
    "No role can get this permission any more. Roles with a wildcard of its resource still permit it.";

pub(crate) fn delete_permission(name: &str) -> String {
    format!("Delete the permission {name}")
}

pub(crate) fn permissions_found(count: u64) -> String {
    if count == 1 { "1 permission".to_owned() } else { format!("{count} permissions") }
}
