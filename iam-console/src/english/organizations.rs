//! Organizations.

use iam_core::organization::OrganizationCounts;

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
pub(crate) const TREE_HINT: &str = "Press a line with a triangle to show or hide the organizations below it. Details leads to the page of an organization. To move \
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

pub(crate) const MAP: &str = "Map";
pub(crate) const MAP_OF_ALL: &str = "Map of the organizations";
pub(crate) const MAP_FROM_HERE: &str = "Map from here";
pub(crate) const MAP_HINT: &str =
    "Each place leads to its page. The mark at its right side leads to a map that begins there.";
pub(crate) const MAP_KEYS: &str = "Press + or - inside the map to zoom.";
pub(crate) const SHOW_AS_LIST: &str = "Show as a list";
pub(crate) const ZOOM_IN: &str = "Zoom in";
pub(crate) const ZOOM_OUT: &str = "Zoom out";

pub(crate) fn map_from(name: &str) -> String {
    format!("Map from {name}")
}

pub(crate) fn places_not_drawn(count: &u64) -> String {
    let (what, verb) = if *count == 1 { ("organization", "is") } else { ("organizations", "are") };
    format!("{count} {what} {verb} not drawn. To see them, begin the map at a place above them.")
}

/// How many organizations below a place of the map are missing on it.
pub(crate) fn missing_below(count: u64) -> String {
    format!("{count} below not drawn")
}

pub(crate) fn number_of_members(count: u64) -> String {
    match count {
        0 => "no members".to_owned(),
        1 => "1 member".to_owned(),
        _ => format!("{count} members"),
    }
}

/// What is in an organization and below it, in a line of the tree.
pub(crate) fn organization_counts(counts: &OrganizationCounts) -> String {
    let own = counts.members.map(|members| number_of_members(members.own));
    let below = (counts.below > 0).then(|| {
        let organizations = organizations_found(counts.below);
        let members = counts.members.map(|members| number_of_members(members.below));
        let below = [Some(organizations), members].into_iter().flatten().collect::<Vec<_>>();
        format!("below it: {}", below.join(", "))
    });
    [own, below].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The same in a place of the map, which has little room.
pub(crate) fn place_counts(counts: &OrganizationCounts) -> String {
    let own = counts.members.map(|members| number_of_members(members.own));
    let below = (counts.below > 0).then(|| format!("{} below", counts.below));
    [own, below].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

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
