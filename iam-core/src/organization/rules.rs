//! What a change of the hierarchy means, as plain functions over hierarchies before and after it.

use std::collections::HashMap;

use super::{Hierarchy, Organization};
use crate::error::Rule;
use crate::id::OrganizationId;

/// Somewhere where roles are held that begin to count somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spread {
    /// Where the roles are held.
    pub(super) held_in: OrganizationId,
    /// Where they begin to count, with everything below.
    pub(super) counts_in: OrganizationId,
}

/// Which roles begin to count where, when an organization changes its parent or its state.
///
/// - What stands above the organization afterwards and did not before: roles held there begin to count in it. In a
///   deleted organization nothing from above counts, so that when it is restored all that is above is new to it.
/// - What is awake in it or below afterwards and was not before: roles held there begin to count there.
pub(super) fn spreads(before: &Hierarchy, after: &Hierarchy, changed: OrganizationId) -> Vec<Spread> {
    let (Some(was), Some(becomes)) = (before.node(changed), after.node(changed)) else { return Vec::new() };
    if becomes.organization.status.is_inactive() {
        return Vec::new();
    }
    let was_above = |id| !was.organization.status.is_inactive() && was.is_within(id);
    let newly_above = becomes.upwards().skip(1).filter(|node| !was_above(node.organization.id));
    let from_above = newly_above
        .filter(|node| node.is_awake())
        .map(|node| Spread { held_in: node.organization.id, counts_in: changed });
    let waking = after.nodes().filter(|node| node.is_within(changed) && node.is_awake());
    let waking = waking
        .map(|node| node.organization.id)
        .filter(|id| before.node(*id).is_some_and(|node| !node.is_awake()))
        .map(|id| Spread { held_in: id, counts_in: id });
    from_above.chain(waking).collect()
}

/// The same hierarchy with one organization changed.
pub(super) fn with_changed(before: &Hierarchy, after: &Organization) -> Hierarchy {
    let change = |found: &Organization| if found.id == after.id { after.clone() } else { found.clone() };
    before.nodes().map(|node| change(node.organization)).collect()
}

/// How many levels stand below the root of a subtree.
pub(super) fn height(root: OrganizationId, subtree: &[Organization]) -> u32 {
    let mut parents: HashMap<OrganizationId, Option<OrganizationId>> = HashMap::with_capacity(subtree.len());
    parents.extend(subtree.iter().map(|organization| (organization.id, organization.parent_id)));
    let level = |organization: &Organization| {
        let up = |id: &OrganizationId| if *id == root { None } else { parents.get(id).copied().flatten() };
        std::iter::successors(Some(organization.id), up).take(subtree.len()).count().saturating_sub(1)
    };
    u32::try_from(subtree.iter().map(level).max().unwrap_or(0)).unwrap_or(u32::MAX)
}

/// Whether a subtree may stand at a depth (`interface.md` §4.3).
pub(super) fn check_depth(depth: u32, height: u32, max: u32) -> Result<(), Rule> {
    if depth.saturating_add(height) <= max { Ok(()) } else { Err(Rule::Depth(max)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::testing::{Scene, id, organization};
    use crate::organization::OrganizationStatus::{self, Active, Inactive, Suspended};

    /// What spreads when an organization of the scene changes, as `held in → counts in`.
    fn spreading(before: &Hierarchy, name: &str, parent: Option<&str>, status: OrganizationStatus) -> Vec<String> {
        let after = with_changed(before, &organization(name, parent, status));
        let name_of = |id| before.node(id).unwrap().organization.name.to_string();
        let mut spreads: Vec<String> = spreads(before, &after, id(name))
            .into_iter()
            .map(|spread| format!("{} → {}", name_of(spread.held_in), name_of(spread.counts_in)))
            .collect();
        spreads.sort();
        spreads
    }

    #[test]
    fn roles_above_spread_into_what_moves_below_them() {
        let before = Scene::new().hierarchy;
        assert_eq!(spreading(&before, "other", Some("branch"), Active), ["branch → other", "root → other"]);
        assert_eq!(spreading(&before, "team", Some("other"), Active), ["other → team"]);
    }

    #[test]
    fn roles_that_are_above_already_do_not_spread() {
        let before = Scene::new().hierarchy;
        assert!(spreading(&before, "team", Some("root"), Active).is_empty());
        assert!(spreading(&before, "team", None, Active).is_empty());
    }

    #[test]
    fn roles_that_sleep_do_not_spread_and_those_that_wake_do() {
        let before = Scene::new().hierarchy;
        assert!(spreading(&before, "other", Some("asleep"), Active).is_empty());
        assert_eq!(spreading(&before, "asleep", None, Active), ["asleep → asleep"]);
        let asleep = with_changed(&before, &organization("root", None, Suspended));
        let woken = ["branch → branch", "root → root", "team → team"];
        assert_eq!(spreading(&asleep, "root", None, Active), woken);
        assert_eq!(spreading(&asleep, "branch", None, Active), ["branch → branch", "team → team"]);
        let moved = ["branch → branch", "other → branch", "team → team"];
        assert_eq!(spreading(&asleep, "branch", Some("other"), Active), moved);
    }

    #[test]
    fn roles_above_spread_into_what_is_restored_and_not_into_what_is_deleted() {
        let before = Scene::new().hierarchy;
        let deleted = with_changed(&before, &organization("team", Some("branch"), Inactive));
        let restored = ["branch → team", "root → team", "team → team"];
        assert_eq!(spreading(&deleted, "team", Some("branch"), Active), restored);
        assert_eq!(spreading(&deleted, "team", Some("branch"), Suspended), ["branch → team", "root → team"]);
        assert!(spreading(&deleted, "team", Some("other"), Inactive).is_empty());
        assert!(spreading(&before, "team", Some("branch"), Inactive).is_empty());
    }

    #[test]
    fn the_height_is_that_of_the_deepest_below() {
        let scene: Vec<Organization> = Scene::new()
            .hierarchy
            .nodes()
            .map(|node| node.organization.clone())
            .filter(|it| it.id != id("other") && it.id != id("asleep"))
            .collect();
        assert_eq!(height(id("root"), &scene), 2);
        assert_eq!(height(id("team"), &scene[..1]), 0);
        assert_eq!(height(id("root"), &[]), 0);
    }

    #[test]
    fn a_subtree_may_reach_the_maximum_depth_and_no_further() {
        assert_eq!(check_depth(3, 2, 5), Ok(()));
        assert_eq!(check_depth(3, 3, 5), Err(Rule::Depth(5)));
        assert_eq!(check_depth(u32::MAX, 1, 5), Err(Rule::Depth(5)));
    }
}
