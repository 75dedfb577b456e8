use std::ops::Deref;

use super::Organization;
use super::ancestry::{Ancestry, Position};
use crate::id::OrganizationId;

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
    pub(crate) fn into_ancestry(self) -> Ancestry {
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
