use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::id::OrganizationId;
use crate::organization::{Ancestry, Organization, Position};
use crate::version::Version;

/// Organizations with their order in the tree.
///
/// It knows only the organizations that it was made from. For questions about an organization, these must include the
/// organization and all its ancestors.
#[derive(Clone, Debug, Default)]
pub struct Hierarchy {
    /// Separate from the organizations, so that a walk upwards reads little memory.
    ancestry: Ancestry,
    organizations: Vec<Organization>,
}

impl Hierarchy {
    /// The organization with this id, if the hierarchy contains it.
    #[must_use]
    pub fn node(&self, id: OrganizationId) -> Option<Node<'_>> {
        self.at(self.ancestry.position(id)?)
    }

    /// All organizations, in the order of the input.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        self.ancestry.positions().filter_map(|position| self.at(position))
    }

    /// The positions of the organizations.
    pub fn ancestry(&self) -> &Ancestry {
        &self.ancestry
    }

    /// The positions of the organizations, by value.
    pub fn into_ancestry(self) -> Ancestry {
        self.ancestry
    }

    fn at<'a>(&'a self, position: Position<'a>) -> Option<Node<'a>> {
        Some(Node { hierarchy: self, position, organization: self.organizations.get(position.number())? })
    }
}

impl FromIterator<Organization> for Hierarchy {
    fn from_iter<I: IntoIterator<Item = Organization>>(organizations: I) -> Self {
        let organizations: Vec<Organization> = organizations.into_iter().collect();
        Self { ancestry: organizations.iter().collect(), organizations }
    }
}

/// An organization in its [`Hierarchy`], at its [`Position`].
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    hierarchy: &'a Hierarchy,
    position: Position<'a>,
    /// The organization itself.
    pub organization: &'a Organization,
}

impl<'a> Node<'a> {
    /// The organization and its ancestors, upwards.
    pub fn upwards(self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        self.lineage().filter_map(move |id| self.hierarchy.node(id))
    }
}

impl<'a> Deref for Node<'a> {
    type Target = Position<'a>;

    fn deref(&self) -> &Position<'a> {
        &self.position
    }
}

/// An organization with its depth in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrganizationWithDepth {
    /// The organization.
    pub organization: Organization,
    /// The number of its ancestors; zero for a root.
    pub depth: u32,
}

impl OrganizationWithDepth {
    /// Returns the version of the organization at its depth.
    #[must_use]
    pub fn version(&self) -> Version {
        self.organization.version.at_depth(self.depth)
    }
}

impl From<Node<'_>> for OrganizationWithDepth {
    fn from(node: Node<'_>) -> Self {
        Self { organization: node.organization.clone(), depth: node.depth() }
    }
}
