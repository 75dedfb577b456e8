use std::collections::{HashMap, HashSet};

use super::{Organization, OrganizationStatus};
use crate::access::Place;
use crate::id::OrganizationId;

/// Organizations by who stands above whom.
///
/// It knows what it was given: for questions about an organization that must be the organization and everything
/// above it.
#[derive(Clone, Debug, Default)]
pub struct Hierarchy {
    index: HashMap<OrganizationId, usize>,
    /// Apart from the organizations, so that going up touches little memory.
    links: Vec<Link>,
    organizations: Vec<Organization>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    id: OrganizationId,
    parent: Option<usize>,
    is_active: bool,
}

impl Hierarchy {
    /// The organization with this id, where it was given.
    #[must_use]
    pub fn node(&self, id: OrganizationId) -> Option<Node<'_>> {
        self.at(*self.index.get(&id)?)
    }

    /// Every organization, in the order in which it was given.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.organizations.len()).filter_map(|position| self.at(position))
    }

    /// Several in one: what stands in more than one of them is as the first has it.
    ///
    /// Where each holds everything above what it holds, so does the whole.
    pub(crate) fn merged<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut seen = HashSet::new();
        let organizations = parts.into_iter().flat_map(|part| &part.organizations);
        organizations.filter(|organization| seen.insert(organization.id)).cloned().collect()
    }

    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        let entry = size_of::<(OrganizationId, usize)>() + size_of::<Link>() + size_of::<Organization>();
        let text = |organization: &Organization| organization.name.as_str().len() + organization.slug.as_str().len();
        size_of::<Self>() + self.organizations.iter().map(|organization| entry + text(organization)).sum::<usize>()
    }

    fn at(&self, position: usize) -> Option<Node<'_>> {
        Some(Node { hierarchy: self, position, organization: self.organizations.get(position)? })
    }
}

impl FromIterator<Organization> for Hierarchy {
    fn from_iter<I: IntoIterator<Item = Organization>>(organizations: I) -> Self {
        let organizations: Vec<Organization> = organizations.into_iter().collect();
        let index: HashMap<_, _> =
            organizations.iter().enumerate().map(|(position, organization)| (organization.id, position)).collect();
        let link = |organization: &Organization| Link {
            id: organization.id,
            parent: organization.parent_id.and_then(|parent| index.get(&parent).copied()),
            is_active: organization.status == OrganizationStatus::Active,
        };
        let links = organizations.iter().map(link).collect();
        Self { index, links, organizations }
    }
}

/// An organization in its [`Hierarchy`].
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    hierarchy: &'a Hierarchy,
    position: usize,
    /// The organization itself.
    pub organization: &'a Organization,
}

impl<'a> Node<'a> {
    fn links(self) -> impl Iterator<Item = &'a Link> {
        let links = &self.hierarchy.links;
        let up = |link: &&'a Link| link.parent.and_then(|parent| links.get(parent));
        // Never longer than all there is, whatever a corrupt store says.
        std::iter::successors(links.get(self.position), up).take(links.len())
    }

    /// The ids of the organization and of everything above it, upwards.
    pub fn lineage(self) -> impl Iterator<Item = OrganizationId> + use<'a> {
        self.links().map(|link| link.id)
    }

    /// The organization and everything above it, upwards.
    pub fn upwards(self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        self.lineage().filter_map(move |id| self.hierarchy.node(id))
    }

    /// The place that it is.
    #[must_use]
    pub fn place(self) -> Place<'a> {
        Place::Organization(self)
    }

    /// Whether it is the organization with this id, or stands below that.
    #[must_use]
    pub fn is_within(self, id: OrganizationId) -> bool {
        self.links().any(|link| link.id == id)
    }

    /// How many organizations stand above it; a root has none.
    #[must_use]
    pub fn depth(self) -> u32 {
        u32::try_from(self.links().count().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Whether it and everything above it is ACTIVE; otherwise assignments in it grant nothing.
    #[must_use]
    pub fn is_awake(self) -> bool {
        self.links().all(|link| link.is_active)
    }
}
