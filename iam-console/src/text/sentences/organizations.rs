//! Organizations, and the actions that stand on a page of confirmation.

use iam_core::organization::OrganizationCounts;

use crate::text::t_with;

pub(crate) fn map_from(name: &str) -> String {
    t_with("map-from", [("name", name.into())])
}

pub(crate) fn places_not_drawn(count: &u64) -> String {
    t_with("places-not-drawn", [("count", count.into())])
}

/// How many organizations below a place of the map are missing on it.
pub(crate) fn missing_below(count: u64) -> String {
    t_with("missing-below", [("count", count.into())])
}

fn members_counted(count: u64) -> String {
    t_with("members-counted", [("count", count.into())])
}

/// What is in an organization and below it, in a line of the tree.
pub(crate) fn organization_counts(counts: &OrganizationCounts) -> String {
    let own = counts.members.map(|members| members_counted(members.own));
    let below = (counts.below > 0).then(|| {
        let organizations = organizations_found(counts.below);
        let members = counts.members.map(|members| members_counted(members.below));
        let below = [Some(organizations), members].into_iter().flatten().collect::<Vec<_>>();
        t_with("counts-below", [("counts", below.join(", ").into())])
    });
    [own, below].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The same in a place of the map, which has little room.
pub(crate) fn place_counts(counts: &OrganizationCounts) -> String {
    let own = counts.members.map(|members| members_counted(members.own));
    let below = (counts.below > 0).then(|| t_with("places-below", [("count", counts.below.into())]));
    [own, below].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

pub(crate) fn organizations_found(count: u64) -> String {
    t_with("organizations-found", [("count", count.into())])
}

pub(crate) fn move_organization(name: &str) -> String {
    t_with("move-named", [("name", name.into())])
}

pub(crate) fn move_below(name: &str, parent: &str) -> String {
    t_with("move-below", [("name", name.into()), ("parent", parent.into())])
}

pub(crate) fn move_to_top(name: &str) -> String {
    t_with("move-to-top", [("name", name.into())])
}

pub(crate) fn suspend(name: &str) -> String {
    t_with("suspend-named", [("name", name.into())])
}

pub(crate) fn reactivate(name: &str) -> String {
    t_with("reactivate-named", [("name", name.into())])
}

pub(crate) fn delete(name: &str) -> String {
    t_with("delete-named", [("name", name.into())])
}

/// Revokes an API key.
pub(crate) fn new_key_for(user: &str) -> String {
    t_with("new-key-for", [("user", user.into())])
}

pub(crate) fn revoke_key(name: &str) -> String {
    t_with("revoke-key-named", [("name", name.into())])
}

pub(crate) fn restore(name: &str) -> String {
    t_with("restore-named", [("name", name.into())])
}

/// Ends all sessions of a user.
pub(crate) fn end_sessions(user: &str) -> String {
    t_with("end-sessions-of", [("user", user.into())])
}

/// Removes all second factors of a user.
pub(crate) fn reset_factors(user: &str) -> String {
    t_with("reset-factors-of", [("user", user.into())])
}

/// Sends a user a link for a new password.
pub(crate) fn send_reset(user: &str) -> String {
    t_with("send-reset-to", [("user", user.into())])
}
