//! Which changes of the organization tree a caller may make, as plain functions of loaded values
//! (`docs/http-api.md#moves-of-organizations`).

use iam_model::access::Rights;
use iam_model::audit::ResourceType;
use iam_model::change::{ActivatedRoles, OrganizationChange};
use iam_model::clock::Timestamp;
use iam_model::error::{Conflict, Error, Result, Rule};
use iam_model::id::OrganizationId;
use iam_model::organization::{Hierarchy, Node, Organization, OrganizationWithDepth, Position, check_depth, height};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::version::Precondition;

use crate::attribute::AttributeFacts;
use crate::engine::require_version;
use crate::organization::input::ValidPatch;

/// A patch of an organization, with the facts for the decision, as read under the tenant's lock.
pub(super) struct Update {
    id: OrganizationId,
    /// The organization, its new parent and all ancestors of both.
    hierarchy: Hierarchy,
    /// The organization after the patch; `None` if there is no such organization.
    after: Option<Organization>,
    attributes: Option<AttributeFacts>,
    tree: Option<TreeFacts>,
    now: Timestamp,
}

/// The facts for the decision if the parent or the status changes.
pub(super) struct TreeFacts {
    /// The organization and everything below it that is not INACTIVE.
    pub(super) subtree: Vec<Organization>,
    pub(super) activated: ActivatedRoles,
}

/// The decision about an update.
#[derive(Debug)]
pub(super) struct Decided {
    /// The organization after the update.
    pub(super) organization: OrganizationWithDepth,
    /// The change to apply; `None` if the patch changes nothing.
    pub(super) change: Option<OrganizationChange>,
}

impl Update {
    pub(super) fn new(id: OrganizationId, patch: ValidPatch, hierarchy: Hierarchy, now: Timestamp) -> Self {
        let after = hierarchy.node(id).map(|node| patch.apply(node.organization, now));
        Self { id, hierarchy, after, attributes: None, tree: None, now }
    }

    pub(super) fn with_attributes(self, attributes: Option<AttributeFacts>) -> Self {
        Self { attributes, ..self }
    }

    /// The organizations above, and the organization after the update, if the update changes its parent or its status.
    /// The decision then also needs [`TreeFacts`].
    pub(super) fn needs_tree(&self) -> Option<(&Hierarchy, &Organization)> {
        let (before, after) = (self.hierarchy.node(self.id)?.organization, self.after.as_ref()?);
        let needs_tree = (before.parent_id, before.status) != (after.parent_id, after.status);
        needs_tree.then_some((&self.hierarchy, after))
    }

    pub(super) fn with_tree(self, tree: TreeFacts) -> Self {
        Self { tree: Some(tree), ..self }
    }

    /// Decides whether a caller with these rights may make the update. The escalation check is not part of it: the
    /// unit of work does it when the change is applied.
    pub(super) fn decide(self, rights: Rights<'_>, precondition: &Precondition, max_depth: u32) -> Result<Decided> {
        let node = permitted(&self.hierarchy, rights, &permission::ORGANIZATIONS_UPDATE, self.id)?;
        let found = OrganizationWithDepth::from(node);
        require_version(precondition, found.version())?;
        let (before, mut after) = (node.organization.clone(), self.after.ok_or_else(not_found)?);
        let attributes = self.attributes.map(AttributeFacts::decide).transpose()?.flatten();
        if before == after && attributes.is_some() {
            after = after.changed(self.now);
        }
        let is_moved = before.parent_id != after.parent_id;
        if is_moved {
            check_parent(&self.hierarchy, rights, node, after.parent_id)?;
        }
        if before == after {
            return Ok(Decided { organization: found, change: None });
        }
        if !before.status.is_inactive() && after.status.is_inactive() {
            require(rights, &permission::ORGANIZATIONS_DELETE, *node)?;
        }
        let mut depth = node.depth();
        if let Some(TreeFacts { subtree, activated }) = &self.tree {
            if after.status.is_inactive() {
                check_childless(subtree)?;
            }
            depth = activated.tree().after(&after).position(self.id).map_or(0, Position::depth);
            if is_moved {
                check_new_depth(depth, height(self.id, subtree), max_depth)?;
            }
            if before.status.is_inactive() && !after.status.is_inactive() {
                check_restored(&self.hierarchy, &after, depth, max_depth)?;
            }
        }
        let organization = OrganizationWithDepth { organization: after.clone(), depth };
        let activated = self.tree.map(|tree| tree.activated);
        Ok(Decided { organization, change: Some(OrganizationChange::Update { before, after, activated, attributes }) })
    }
}

/// Returns an organization in which the caller holds a permission.
pub(super) fn permitted<'h>(
    hierarchy: &'h Hierarchy,
    rights: Rights<'_>,
    permission: &Permission,
    id: OrganizationId,
) -> Result<Node<'h>> {
    let node = hierarchy.node(id).ok_or_else(not_found)?;
    require(rights, permission, *node)?;
    Ok(node)
}

/// Requires the permission in an organization.
pub(super) fn require(rights: Rights<'_>, permission: &Permission, position: Position<'_>) -> Result<()> {
    rights.require_at(permission, position.scope(), ResourceType::ORGANIZATION)
}

/// Returns the new parent of an organization, if the caller may make or move an organization below it.
pub(super) fn permitted_parent<'h>(
    hierarchy: &'h Hierarchy,
    rights: Rights<'_>,
    permission: &Permission,
    id: OrganizationId,
) -> Result<Node<'h>> {
    let parent = permitted(hierarchy, rights, permission, id).map_err(about_parent)?;
    if parent.organization.status.is_inactive() {
        return Err(about_parent(Conflict::OrganizationInactive.into()));
    }
    Ok(parent)
}

pub(super) fn about_parent(error: Error) -> Error {
    error.about_what_it_names("parentId")
}

/// Checks that a new or moved organization with this height may be at this depth.
pub(super) fn check_new_depth(depth: u32, height: u32, max: u32) -> Result<()> {
    check_depth(depth, height, max).map_err(|rule| Error::from(rule).about("parentId"))
}

/// Checks that no organization is below the root of a subtree.
pub(super) fn check_childless(subtree: &[Organization]) -> Result<()> {
    if subtree.len() > 1 { Err(Conflict::OrganizationHasChildren.into()) } else { Ok(()) }
}

pub(super) fn not_found() -> Error {
    Error::NotFound(ResourceType::ORGANIZATION)
}

/// Checks that the caller may move an organization to this parent.
fn check_parent(
    hierarchy: &Hierarchy,
    rights: Rights<'_>,
    node: Node<'_>,
    parent: Option<OrganizationId>,
) -> Result<()> {
    let Some(parent) = parent else { return rights.require(&permission::ORGANIZATIONS_UPDATE) };
    let parent = permitted_parent(hierarchy, rights, &permission::ORGANIZATIONS_UPDATE, parent)?;
    if parent.is_within(node.organization.id) {
        return Err(Error::from(Rule::CircularParent).about("parentId"));
    }
    Ok(())
}

/// Checks that a deleted organization can be restored below its parent.
fn check_restored(hierarchy: &Hierarchy, after: &Organization, depth: u32, max: u32) -> Result<()> {
    let parent = after.parent_id.and_then(|parent| hierarchy.node(parent));
    if parent.is_some_and(|parent| parent.organization.status.is_inactive()) {
        return Err(Conflict::OrganizationInactive.into());
    }
    check_depth(depth, 0, max).map_err(|_| Conflict::OrganizationTooDeep.into())
}

#[cfg(test)]
mod tests {
    use iam_model::access::testing::{TestTree, at, id, organization};
    use iam_model::access::{HeldRole, Until};
    use iam_model::change::Change;
    use iam_model::context::{Actor, Author, RequestContext};
    use iam_model::error::Forbidden;
    use iam_model::id::TenantId;
    use iam_model::organization::AffectedTree;
    use iam_model::organization::OrganizationStatus::{self, Active, Inactive, Suspended};

    use super::*;
    use crate::organization::OrganizationPatch;

    /// `root` is above `branch`, `branch` above `team`, and `team` above `gone`, which was deleted like `lost` below
    /// it. `other` and `asleep` are also roots. A role is held in each of them, with a permission that names it.
    const TREE: [(&str, Option<&str>, OrganizationStatus); 7] = [
        ("root", None, Active),
        ("branch", Some("root"), Active),
        ("team", Some("branch"), Active),
        ("gone", Some("team"), Inactive),
        ("lost", Some("gone"), Inactive),
        ("other", None, Active),
        ("asleep", None, Suspended),
    ];
    const MAX_DEPTH: u32 = 3;
    const EVERYTHING: Held = &[("*", None)];

    /// The permissions of a caller, each in an organization or tenant-wide.
    type Held = &'static [(&'static str, Option<&'static str>)];

    fn test_tree() -> TestTree {
        let organizations = TREE.into_iter().map(|(name, parent, status)| organization(name, parent, status));
        TestTree { hierarchy: organizations.collect() }
    }

    /// The update with everything that the service reads for it.
    fn load(test_tree: &TestTree, name: &str, patch: OrganizationPatch) -> Update {
        let all = &test_tree.hierarchy;
        let patch = patch.validate().unwrap();
        let concerned = [Some(id(name)), patch.parent.flatten()].into_iter().flatten();
        let lineages = concerned.filter_map(|id| all.node(id)).flat_map(Node::upwards);
        let hierarchy = lineages.map(|node| node.organization.clone()).collect();
        let update = Update::new(id(name), patch, hierarchy, at(1));
        let Some((above, after)) = update.needs_tree() else { return update };
        let below = all.nodes().filter(|node| node.is_within(id(name)));
        let subtree: Vec<Organization> = below
            .filter(|node| node.organization.id == id(name) || !node.is_inactive())
            .map(|node| node.organization.clone())
            .collect();
        let tree = AffectedTree::new(above, &subtree);
        let held_in: Vec<OrganizationId> =
            tree.activations(after).unwrap_or_default().into_iter().map(|activation| activation.held_in).collect();
        let held = TREE.into_iter().filter(|(name, ..)| held_in.contains(&id(name))).map(|(name, ..)| HeldRole {
            role: test_tree.grant(&format!("{name}:read"), None, None).role,
            organization: id(name),
            until: Until::Forever,
        });
        let activated = ActivatedRoles::new(tree, held_in.clone(), held.collect());
        update.with_tree(TreeFacts { subtree, activated })
    }

    fn describe(error: &Error) -> String {
        match error {
            Error::About { field, error } => format!("{field}: {error}"),
            error => error.to_string(),
        }
    }

    /// The answer to an update, with the escalation check.
    fn answer(held: Held, name: &str, patch: OrganizationPatch, max_depth: u32) -> String {
        let test_tree = test_tree();
        let held: Vec<_> = held.iter().map(|(permission, organization)| (*permission, *organization, None)).collect();
        let authority = test_tree.holding_all(&held);
        let rights = Rights::new(&authority, at(1));
        let decision = match load(&test_tree, name, patch).decide(rights, &Precondition::Exists, max_depth) {
            Ok(decision) => decision,
            Err(error) => return describe(&error),
        };
        let Some(change) = decision.change.map(Change::from) else { return "unchanged".to_owned() };
        let (tenant, context) = (TenantId::NONE, RequestContext::default());
        let author = Author { actor: Actor::Anonymous, tenant, impersonator: None, directory: None, context };
        match rights.check_escalation(change.granted_rights(&author, at(1))) {
            Ok(()) => format!("{} at depth {}", decision.organization.organization.status, decision.organization.depth),
            Err(Error::Forbidden(Forbidden::Escalation(shortfall))) => shortfall.to_string(),
            Err(other) => panic!("{other}"),
        }
    }

    fn rename(name: &str) -> OrganizationPatch {
        OrganizationPatch { name: Some(name.to_owned()), ..OrganizationPatch::default() }
    }

    fn set(status: OrganizationStatus) -> OrganizationPatch {
        OrganizationPatch { status: Some(status), ..OrganizationPatch::default() }
    }

    fn move_to(parent: &str) -> OrganizationPatch {
        OrganizationPatch { parent: Some(Some(id(parent))), ..OrganizationPatch::default() }
    }

    fn to_root() -> OrganizationPatch {
        OrganizationPatch { parent: Some(None), ..OrganizationPatch::default() }
    }

    #[test]
    fn an_update_is_decided_by_the_tree_and_the_rights_of_the_caller() {
        let in_branch: Held = &[("organizations:update", Some("branch"))];
        let sees_other: Held = &[("organizations:update", Some("branch")), ("users:read", Some("other"))];
        let tenant_wide: Held = &[("organizations:update", None)];
        let not_found = "Organization not found.";
        let about_parent = "parentId: Organization not found.";
        let circular = "parentId: Circular reference: the parent is the organization itself or is below it.";
        let update_missing = "Missing permission: organizations:update.";
        let delete_missing = "Missing permission: organizations:delete.";
        let inactive = "The organization is inactive.";
        let rows: Vec<(Held, &str, OrganizationPatch, &str)> = vec![
            // Whether the caller may know and change the organization.
            (EVERYTHING, "unknown", rename("New"), not_found),
            (&[("organizations:update", Some("other"))], "team", rename("New"), not_found),
            (&[("users:read", Some("branch"))], "team", rename("New"), update_missing),
            (in_branch, "team", rename("New"), "ACTIVE at depth 2"),
            (&[("*", Some("branch"))], "gone", rename("New"), not_found),
            (tenant_wide, "gone", rename("New"), "INACTIVE at depth 3"),
            // A patch that changes nothing.
            (in_branch, "team", rename("team"), "unchanged"),
            (in_branch, "team", move_to("branch"), "unchanged"),
            (in_branch, "team", set(Active), "unchanged"),
            (tenant_wide, "other", to_root(), "unchanged"),
            (tenant_wide, "gone", set(Inactive), "unchanged"),
            // The new parent.
            (EVERYTHING, "team", move_to("unknown"), about_parent),
            (in_branch, "team", move_to("other"), about_parent),
            (sees_other, "team", move_to("other"), update_missing),
            (in_branch, "team", to_root(), update_missing),
            (EVERYTHING, "team", to_root(), "ACTIVE at depth 0"),
            (EVERYTHING, "team", move_to("other"), "ACTIVE at depth 1"),
            (EVERYTHING, "other", move_to("gone"), "parentId: The organization is inactive."),
            (EVERYTHING, "branch", move_to("branch"), circular),
            (EVERYTHING, "root", move_to("team"), circular),
            // The depth, with everything below.
            (EVERYTHING, "asleep", move_to("team"), "SUSPENDED at depth 3"),
            (EVERYTHING, "root", move_to("other"), "ACTIVE at depth 1"),
            // Deletion.
            (in_branch, "team", set(Inactive), delete_missing),
            (in_branch, "branch", set(Inactive), delete_missing),
            (EVERYTHING, "branch", set(Inactive), "The organization has children."),
            (EVERYTHING, "team", set(Inactive), "INACTIVE at depth 2"),
            // Restoring.
            (EVERYTHING, "gone", set(Active), "ACTIVE at depth 3"),
            (EVERYTHING, "lost", set(Active), inactive),
            (
                EVERYTHING,
                "lost",
                OrganizationPatch { status: Some(Suspended), ..move_to("other") },
                "SUSPENDED at depth 1",
            ),
            (EVERYTHING, "lost", OrganizationPatch { status: Some(Active), ..to_root() }, "ACTIVE at depth 0"),
            // Roles that begin to count.
            (tenant_wide, "team", move_to("other"), "you do not hold other:read there"),
            (tenant_wide, "team", move_to("asleep"), "you do not hold asleep:read there"),
            (tenant_wide, "team", move_to("root"), "ACTIVE at depth 1"),
            (tenant_wide, "team", set(Suspended), "SUSPENDED at depth 2"),
            (tenant_wide, "asleep", set(Active), "you do not hold asleep:read there"),
            (tenant_wide, "gone", set(Active), "you do not hold root:read there"),
            (
                &[("organizations:update", None), ("other:read", Some("team"))],
                "team",
                move_to("other"),
                "ACTIVE at depth 1",
            ),
        ];
        for (held, name, patch, expected) in rows {
            let row = format!("{held:?} {name} {patch:?}");
            assert_eq!(answer(held, name, patch, MAX_DEPTH), expected, "{row}");
        }
    }

    #[test]
    fn an_update_must_not_exceed_the_maximum_depth() {
        let too_deep = "parentId: Maximum hierarchy depth of 2 exceeded.";
        let restored = OrganizationPatch { status: Some(Active), ..move_to("team") };
        for (name, patch, expected) in [
            ("other", move_to("team"), too_deep),
            ("branch", move_to("other"), "ACTIVE at depth 1"),
            ("root", move_to("other"), too_deep),
            ("gone", rename("New"), "INACTIVE at depth 3"),
            ("gone", set(Active), "The organization would be deeper than the hierarchy allows."),
            ("lost", restored, too_deep),
        ] {
            let row = format!("{name} {patch:?}");
            assert_eq!(answer(EVERYTHING, name, patch, 2), expected, "{row}");
        }
        // The operator may have lowered the maximum since the organization was made.
        assert_eq!(answer(EVERYTHING, "team", set(Suspended), 1), "SUSPENDED at depth 2");
    }

    #[test]
    fn the_first_of_several_errors_is_returned() {
        let delete_and = |patch| OrganizationPatch { status: Some(Inactive), ..patch };
        let tenant_wide: Held = &[("organizations:update", None)];
        for (held, name, patch, expected) in [
            (tenant_wide, "branch", delete_and(move_to("unknown")), "parentId: Organization not found."),
            (tenant_wide, "branch", delete_and(move_to("other")), "Missing permission: organizations:delete."),
            (EVERYTHING, "branch", delete_and(move_to("other")), "The organization has children."),
            (EVERYTHING, "asleep", delete_and(move_to("team")), "parentId: Maximum hierarchy depth of 2 exceeded."),
            (tenant_wide, "asleep", move_to("team"), "parentId: Maximum hierarchy depth of 2 exceeded."),
        ] {
            let row = format!("{held:?} {name} {patch:?}");
            assert_eq!(answer(held, name, patch, 2), expected, "{row}");
        }
    }

    #[test]
    fn the_version_is_checked_after_the_permission_and_before_the_patch() {
        let test_tree = test_tree();
        let refused = |held: Held, patch, version| {
            let held: Vec<_> =
                held.iter().map(|(permission, organization)| (*permission, *organization, None)).collect();
            let authority = test_tree.holding_all(&held);
            let rights = Rights::new(&authority, at(1));
            let precondition = Precondition::OneOf(vec![version]);
            load(&test_tree, "team", patch).decide(rights, &precondition, MAX_DEPTH).err().map(|error| describe(&error))
        };
        let found = OrganizationWithDepth::from(test_tree.hierarchy.node(id("team")).unwrap()).version();
        let other = found.next();
        let changed = Some("The resource has changed since it was read.".to_owned());
        for patch in [rename("team"), move_to("unknown")] {
            assert_eq!(refused(EVERYTHING, patch, other), changed);
        }
        assert_eq!(refused(EVERYTHING, rename("team"), found), None);
        assert_eq!(refused(&[], rename("New"), other), Some("Organization not found.".to_owned()));
    }

    #[test]
    fn the_subtree_is_needed_only_if_the_parent_or_the_status_changes() {
        let test_tree = test_tree();
        let needs = |patch| load(&test_tree, "team", patch).needs_tree().is_some();
        assert!(needs(to_root()) && needs(set(Suspended)));
        assert!(!needs(rename("New")) && !needs(move_to("branch")) && !needs(set(Active)));
    }
}
