//! Organizations.

pub(crate) const ORGANIZATIONS: &str = "Organizations";
pub(crate) const ORGANIZATION: &str = "Organization";
pub(crate) const NEW_ORGANIZATION: &str = "New organization";
pub(crate) const CREATE_ORGANIZATION: &str = "Create the organization";
pub(crate) const CREATE_BELOW: &str = "Create an organization below it";
pub(crate) const SEARCH_ORGANIZATIONS_HINT: &str = "A part of the name or of the short name";
pub(crate) const NOT_DELETED: &str = "Not deleted";
pub(crate) const NO_ORGANIZATIONS: &str =
    "There are no organizations. They are parts of the tenant in which roles can be held, such as branches or teams.";
pub(crate) const NO_ORGANIZATION_MATCHES: &str = "No organization matches.";
pub(crate) const SHOW_THE_TREE: &str = "Show the tree";
pub(crate) const TREE_HINT: &str = "Press a line with a triangle to see the organizations below it. Details leads to the page of an organization. To move \
     an organization, drag it onto another one, or use Move on its page.";
pub(crate) const WHAT_IS_BELOW: &str = "What is below";
pub(crate) const NOTHING_BELOW: &str = "No organization is below it.";
pub(crate) const MORE: &str = "More";
pub(crate) const DROP_HERE: &str = "Drop an organization here to move it to the top.";
pub(crate) const BELOW: &str = "Below it";
pub(crate) const AT_THE_TOP: &str = "At the top";
pub(crate) const PARENT: &str = "Below";
pub(crate) const PARENT_OR_TOP: &str = "Type a part of the name, and choose. Leave it empty for the top.";
pub(crate) const MEMBERS: &str = "Roles held in it";
pub(crate) const MEMBERS_HIDDEN: &str = "You may not see who holds a role here.";
pub(crate) const NO_MEMBERS: &str =
    "No user holds a role in this organization itself. Roles from above apply here too.";
pub(crate) const ALL_MEMBERS: &str = "All roles held in it";
pub(crate) const LOG_HIDDEN: &str = "You may not see the audit log.";
pub(crate) const NO_ENTRIES: &str = "The log has no entries about it.";
pub(crate) const ABOUT_THIS_ORGANIZATION: &str = "What was changed in this organization";
pub(crate) const ORGANIZATION_CREATED: &str = "The organization is created.";
pub(crate) const ORGANIZATION_MOVED: &str = "The organization is moved.";
pub(crate) const ORGANIZATION_ACTIVE: &str = "The organization is active again.";
pub(crate) const ORGANIZATION_SUSPENDED: &str = "The organization is suspended.";
pub(crate) const ORGANIZATION_DELETED: &str = "The organization is deleted.";
pub(crate) const SUSPEND_ORGANIZATION_WHAT: &str =
    "Roles that are held in it or below it then give nothing until you reactivate it.";
pub(crate) const REACTIVATE_ORGANIZATION_WHAT: &str = "Roles that are held in it and below it are then in force again.";
pub(crate) const RESTORE_ORGANIZATION_WHAT: &str =
    "The organization comes back without the roles that were held in it.";
pub(crate) const DELETE_ORGANIZATION_WHAT: &str = "Roles that are held in it end, and another organization can get its short name. Organizations below it must be moved or deleted first. You can restore it later.";
pub(crate) const MOVE: &str = "Move";
pub(crate) const MOVE_WHAT: &str = "It moves with everything below it. You see first who gains and who loses what.";
pub(crate) const MOVE_NOTE: &str = "It moves with everything below it.";
pub(crate) const NEW_PLACE: &str = "New place";
pub(crate) const NEW_PARENT: &str = "Organization above";
pub(crate) const BELOW_ANOTHER: &str = "Below another organization";

pub(crate) fn organizations_found(count: u64) -> String {
    if count == 1 { "1 organization".to_owned() } else { format!("{count} organizations") }
}

pub(crate) fn move_organization(name: &str) -> String {
    format!("Move {name}")
}

pub(crate) fn move_below(name: &str, parent: &str) -> String {
    format!("Move {name} below {parent}")
}

pub(crate) fn move_to_top(name: &str) -> String {
    format!("Move {name} to the top")
}

pub(crate) fn suspend(name: &str) -> String {
    format!("Suspend {name}")
}

pub(crate) fn reactivate(name: &str) -> String {
    format!("Reactivate {name}")
}

pub(crate) fn delete(name: &str) -> String {
    format!("Delete {name}")
}
