//! The consequences of a change in the organization tree, as plain functions of the trees before and after it.

use std::collections::HashMap;

use crate::error::Rule;
use crate::id::OrganizationId;
use crate::organization::{Ancestry, Hierarchy, Organization, Position};

/// Roles of one organization that begin to count in an organization, at once or when suspended organizations are ACTIVE
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activation {
    /// The organization in which the roles are held.
    pub held_in: OrganizationId,
    /// The organization in which they begin to count, with everything below it.
    pub counts_in: OrganizationId,
}

/// The part of the organization tree that a change of one organization affects, before the change.
#[derive(Clone, Debug)]
pub struct AffectedTree(Ancestry);

impl AffectedTree {
    /// Returns the tree of a change. `above` contains the organization, its new parent and all ancestors of both.
    /// `subtree` contains everything below the organization.
    #[must_use]
    pub fn new(above: &Hierarchy, subtree: &[Organization]) -> Self {
        Self(Ancestry::merged([above.ancestry(), &subtree.iter().collect()]))
    }

    /// The tree before the change.
    #[must_use]
    pub fn before(&self) -> &Ancestry {
        &self.0
    }

    /// The tree after the change.
    #[must_use]
    pub fn after(&self, changed: &Organization) -> Ancestry {
        self.0.with_changed(changed)
    }

    /// Returns the roles that begin to count when an organization changes its parent or its status; `None` if the tree
    /// does not contain the organization or its new parent.
    ///
    /// - An organization is above the changed one after the change, and was not before. Roles held in it begin to count
    ///   in the changed one. This includes those in suspended organizations: a later reactivation is compared only with
    ///   the roles there. In a deleted organization, no roles from above count. So if it is restored, all its ancestors
    ///   are new.
    /// - The changed organization or one below it is ACTIVE with all its ancestors after the change, and was not
    ///   before. Roles held in it begin to count in it.
    #[must_use]
    pub fn activations(&self, changed: &Organization) -> Option<Vec<Activation>> {
        let before = self.before();
        let was = before.position(changed.id)?;
        if let Some(parent) = changed.parent_id {
            before.position(parent)?;
        }
        if changed.status.is_inactive() {
            return Some(Vec::new());
        }
        let after = self.after(changed);
        let becomes = after.position(changed.id)?;
        let was_above = |id| !was.is_inactive() && was.is_within(id);
        let newly_above = becomes.lineage().skip(1).filter(|id| !was_above(*id));
        let from_above = newly_above.map(|id| Activation { held_in: id, counts_in: changed.id });
        let activated =
            after.positions().filter(|position| position.is_within(changed.id) && position.is_lineage_active());
        let activated = activated
            .map(Position::id)
            .filter(|id| before.position(*id).is_some_and(|position| !position.is_lineage_active()))
            .map(|id| Activation { held_in: id, counts_in: id });
        Some(from_above.chain(activated).collect())
    }
}

/// The number of levels below the root of a subtree.
pub fn height(root: OrganizationId, subtree: &[Organization]) -> u32 {
    let mut parents: HashMap<OrganizationId, Option<OrganizationId>> = HashMap::with_capacity(subtree.len());
    parents.extend(subtree.iter().map(|organization| (organization.id, organization.parent_id)));
    let level = |organization: &Organization| {
        let up = |id: &OrganizationId| if *id == root { None } else { parents.get(id).copied().flatten() };
        std::iter::successors(Some(organization.id), up).take(subtree.len()).count().saturating_sub(1)
    };
    u32::try_from(subtree.iter().map(level).max().unwrap_or(0)).unwrap_or(u32::MAX)
}

/// Checks that a subtree of this height may be at this depth (`docs/http-api.md#moves-of-organizations`).
///
/// # Errors
///
/// [`Rule::Depth`].
pub fn check_depth(depth: u32, height: u32, max: u32) -> Result<(), Rule> {
    if depth.saturating_add(height) <= max { Ok(()) } else { Err(Rule::Depth(max)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::testing::{TestTree, id, organization};
    use crate::organization::OrganizationStatus;
    use crate::organization::OrganizationStatus::{Active, Inactive, Suspended};

    /// The whole test tree.
    fn tree() -> AffectedTree {
        AffectedTree::new(&TestTree::new().hierarchy, &[])
    }

    /// The tree after a change.
    fn changed(before: &AffectedTree, organization: &Organization) -> AffectedTree {
        AffectedTree(before.after(organization))
    }

    /// The roles that begin to count when an organization of the test tree changes, as `held in → counts in`.
    fn activated(before: &AffectedTree, name: &str, parent: Option<&str>, status: OrganizationStatus) -> Vec<String> {
        let test_tree = TestTree::new();
        let name_of = |id| test_tree.hierarchy.node(id).unwrap().organization.name.to_string();
        let mut activations: Vec<String> = before
            .activations(&organization(name, parent, status))
            .unwrap()
            .into_iter()
            .map(|activation| format!("{} → {}", name_of(activation.held_in), name_of(activation.counts_in)))
            .collect();
        activations.sort();
        activations
    }

    #[test]
    fn a_move_activates_the_roles_of_new_ancestors() {
        let before = tree();
        assert_eq!(activated(&before, "other", Some("branch"), Active), ["branch → other", "root → other"]);
        assert_eq!(activated(&before, "team", Some("other"), Active), ["other → team"]);
    }

    #[test]
    fn a_move_below_an_old_ancestor_activates_no_roles() {
        let before = tree();
        assert!(activated(&before, "team", Some("root"), Active).is_empty());
        assert!(activated(&before, "team", None, Active).is_empty());
    }

    #[test]
    fn roles_of_new_ancestors_are_activated_although_they_are_suspended() {
        let before = tree();
        assert_eq!(activated(&before, "other", Some("asleep"), Active), ["asleep → other"]);
        assert_eq!(activated(&before, "other", Some("asleep"), Suspended), ["asleep → other"]);
        let asleep = changed(&before, &organization("root", None, Suspended));
        assert_eq!(activated(&asleep, "other", Some("branch"), Active), ["branch → other", "root → other"]);
    }

    #[test]
    fn of_the_own_roles_only_those_in_active_organizations_are_activated() {
        let before = tree();
        assert_eq!(activated(&before, "asleep", None, Active), ["asleep → asleep"]);
        let asleep = changed(&before, &organization("root", None, Suspended));
        let woken = ["branch → branch", "root → root", "team → team"];
        assert_eq!(activated(&asleep, "root", None, Active), woken);
        assert_eq!(activated(&asleep, "branch", None, Active), ["branch → branch", "team → team"]);
        let moved = ["branch → branch", "other → branch", "team → team"];
        assert_eq!(activated(&asleep, "branch", Some("other"), Active), moved);
    }

    #[test]
    fn a_restored_organization_activates_the_roles_above_it() {
        let before = tree();
        let deleted = changed(&before, &organization("team", Some("branch"), Inactive));
        let restored = ["branch → team", "root → team", "team → team"];
        assert_eq!(activated(&deleted, "team", Some("branch"), Active), restored);
        assert_eq!(activated(&deleted, "team", Some("branch"), Suspended), ["branch → team", "root → team"]);
        assert!(activated(&deleted, "team", Some("other"), Inactive).is_empty());
        assert!(activated(&before, "team", Some("branch"), Inactive).is_empty());
    }

    #[test]
    fn activations_are_unknown_without_the_organization_or_its_new_parent() {
        let tree = tree();
        assert_eq!(tree.activations(&organization("unknown", None, Active)), None);
        assert_eq!(tree.activations(&organization("team", Some("unknown"), Active)), None);
    }

    #[test]
    fn a_tree_contains_the_organizations_above_and_the_subtree() {
        let all = TestTree::new().hierarchy;
        let of = |names: &[&str]| -> Vec<Organization> {
            names.iter().map(|name| all.node(id(name)).unwrap().organization.clone()).collect()
        };
        let above: Hierarchy = of(&["branch", "root"]).into_iter().collect();
        let tree = AffectedTree::new(&above, &of(&["branch", "team"]));
        let position = |name: &str| tree.before().position(id(name)).unwrap();
        assert_eq!(["root", "branch", "team"].map(|name| position(name).depth()), [0, 1, 2]);
        assert_eq!(tree.after(&organization("branch", None, Active)).position(id("team")).unwrap().depth(), 1);
    }

    #[test]
    fn the_height_of_a_subtree_is_its_deepest_level() {
        let test_tree: Vec<Organization> = TestTree::new()
            .hierarchy
            .nodes()
            .map(|node| node.organization.clone())
            .filter(|it| it.id != id("other") && it.id != id("asleep"))
            .collect();
        assert_eq!(height(id("root"), &test_tree), 2);
        assert_eq!(height(id("team"), &test_tree[..1]), 0);
        assert_eq!(height(id("root"), &[]), 0);
    }

    #[test]
    fn a_subtree_must_not_exceed_the_maximum_depth() {
        assert_eq!(check_depth(3, 2, 5), Ok(()));
        assert_eq!(check_depth(3, 3, 5), Err(Rule::Depth(5)));
        assert_eq!(check_depth(u32::MAX, 1, 5), Err(Rule::Depth(5)));
    }
}
