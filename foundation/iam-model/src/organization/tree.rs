use std::collections::HashMap;

use crate::id::OrganizationId;
use crate::organization::Organization;

/// An organization with everything below it that is not INACTIVE.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrganizationTree {
    /// The organization.
    pub organization: Organization,
    /// The number of its ancestors, up to the root of the whole tree.
    pub depth: u32,
    /// The organizations directly below it, newest first, then by id.
    pub children: Vec<OrganizationTree>,
}

impl OrganizationTree {
    /// Builds the tree of a root and everything below it, in time proportional to their number.
    pub fn build(root: Organization, below: Vec<Organization>, depth: u32) -> Self {
        let mut by_parent: HashMap<OrganizationId, Vec<Organization>> = HashMap::new();
        for organization in below {
            if let Some(parent) = organization.parent_id {
                by_parent.entry(parent).or_default().push(organization);
            }
        }
        Self::attach(root, &mut by_parent, depth)
    }

    /// Attaches everything below `organization`. The recursion is as deep as the hierarchy. The depth of a hierarchy is
    /// limited, so the recursion does not exhaust the stack.
    fn attach(
        organization: Organization,
        by_parent: &mut HashMap<OrganizationId, Vec<Organization>>,
        depth: u32,
    ) -> Self {
        let children = by_parent.remove(&organization.id).unwrap_or_default();
        let children = children.into_iter().map(|child| Self::attach(child, by_parent, depth + 1)).collect();
        Self { organization, depth, children }
    }
}
