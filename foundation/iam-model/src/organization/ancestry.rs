use std::collections::{BTreeMap, HashMap, HashSet};
use std::iter::successors;

use crate::id::OrganizationId;
use crate::organization::{Organization, OrganizationStatus};

/// The positions of organizations in the tree, without their other fields. This is the part of a
/// [`Hierarchy`](crate::organization::Hierarchy) that a decision needs.
///
/// It knows only the organizations that it was made from. For questions about an organization, these must include the
/// organization and all its ancestors.
#[derive(Clone, Debug, Default)]
pub struct Ancestry {
    links: Box<[Link]>,
    /// The index of each organization in `links`; empty for at most [`FEW`] organizations.
    index: HashMap<OrganizationId, usize>,
}

/// The largest number of organizations that are searched one by one. For so few, this takes less memory and time than
/// an index.
const FEW: usize = 16;

/// An organization with the index of its parent in `links`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    id: OrganizationId,
    parent: Option<usize>,
    status: OrganizationStatus,
}

impl Ancestry {
    /// The position of the organization with this id, if it is known.
    pub fn position(&self, id: OrganizationId) -> Option<Position<'_>> {
        let at = match self.index.is_empty() {
            true => self.links.iter().position(|link| link.id == id)?,
            false => *self.index.get(&id)?,
        };
        self.at(at)
    }

    /// All positions, in the order of the input.
    pub fn positions(&self) -> impl Iterator<Item = Position<'_>> {
        self.links.iter().enumerate().map(|(at, link)| Position { links: &self.links, link, at })
    }

    fn at(&self, at: usize) -> Option<Position<'_>> {
        Some(Position { links: &self.links, link: self.links.get(at)?, at })
    }

    /// One organization with its ancestors.
    pub fn above(position: Position<'_>) -> Self {
        position.links().map(|link| entry(position.links, link)).collect()
    }

    /// Merges several values into one. An organization that is in more than one of them is taken from the first.
    ///
    /// If each part contains all ancestors of its organizations, the result does, too.
    pub fn merged<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut seen = HashSet::new();
        let entries = parts.into_iter().flat_map(|part| part.links.iter().map(|link| entry(&part.links, link)));
        entries.filter(|entry| seen.insert(entry.id)).collect()
    }

    /// The same organizations after a change of one of them.
    #[must_use]
    pub fn with_changed(&self, changed: &Organization) -> Self {
        let entries = self.links.iter().map(|link| entry(&self.links, link));
        entries.map(|entry| if entry.id == changed.id { changed.into() } else { entry }).collect()
    }

    /// The same organizations after changes of several of them. Those that are not known yet are added.
    #[must_use]
    pub fn with_all_changed<'a>(&self, changed: impl IntoIterator<Item = &'a Organization>) -> Self {
        let mut changed: BTreeMap<OrganizationId, Entry> =
            changed.into_iter().map(|organization| (organization.id, organization.into())).collect();
        let entries = self.links.iter().map(|link| entry(&self.links, link));
        let known: Vec<Entry> = entries.map(|entry| changed.remove(&entry.id).unwrap_or(entry)).collect();
        known.into_iter().chain(changed.into_values()).collect()
    }

    /// The approximate size in bytes.
    pub fn size(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.links) + self.index.len() * size_of::<(OrganizationId, usize)>()
    }
}

/// An organization with the id of its parent.
#[derive(Clone, Copy, Debug)]
struct Entry {
    id: OrganizationId,
    parent: Option<OrganizationId>,
    status: OrganizationStatus,
}

fn entry(links: &[Link], link: &Link) -> Entry {
    let parent = link.parent.and_then(|parent| links.get(parent));
    Entry { id: link.id, parent: parent.map(|parent| parent.id), status: link.status }
}

impl From<&Organization> for Entry {
    fn from(organization: &Organization) -> Self {
        Self { id: organization.id, parent: organization.parent_id, status: organization.status }
    }
}

impl<'a> FromIterator<&'a Organization> for Ancestry {
    fn from_iter<I: IntoIterator<Item = &'a Organization>>(organizations: I) -> Self {
        organizations.into_iter().map(Entry::from).collect()
    }
}

impl FromIterator<Entry> for Ancestry {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let entries: Vec<Entry> = entries.into_iter().collect();
        let index: HashMap<_, _> = entries.iter().enumerate().map(|(at, entry)| (entry.id, at)).collect();
        let parent = |entry: &Entry| entry.parent.and_then(|parent| index.get(&parent).copied());
        let links =
            entries.iter().map(|entry| Link { id: entry.id, parent: parent(entry), status: entry.status }).collect();
        Self { links, index: if entries.len() > FEW { index } else { HashMap::new() } }
    }
}

/// The position of an organization in the tree.
#[derive(Clone, Copy, Debug)]
pub struct Position<'a> {
    links: &'a [Link],
    link: &'a Link,
    at: usize,
}

impl<'a> Position<'a> {
    fn links(self) -> impl Iterator<Item = &'a Link> {
        self.upwards().map(|position| position.link)
    }

    /// The number of the organization in the order of the input, from zero on.
    pub fn number(self) -> usize {
        self.at
    }

    /// The identifier of the organization.
    #[must_use]
    pub fn id(self) -> OrganizationId {
        self.link.id
    }

    /// The organization and its ancestors, upwards.
    pub fn upwards(self) -> impl Iterator<Item = Self> + use<'a> {
        let above = |position: &Self| {
            let at = position.link.parent?;
            Some(Self { links: position.links, link: position.links.get(at)?, at })
        };
        // Bounded by the number of organizations, in case a corrupt store contains a cycle.
        successors(Some(self), above).take(self.links.len())
    }

    /// The ids of the organization and of its ancestors, upwards.
    pub fn lineage(self) -> impl Iterator<Item = OrganizationId> + use<'a> {
        self.links().map(|link| link.id)
    }

    /// Whether it is the organization with this id, or is below that one.
    #[must_use]
    pub fn is_within(self, id: OrganizationId) -> bool {
        self.links().any(|link| link.id == id)
    }

    /// The number of its ancestors; zero for a root.
    #[must_use]
    pub fn depth(self) -> u32 {
        u32::try_from(self.links().count().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Whether the organization was deleted.
    pub fn is_inactive(self) -> bool {
        self.link.status.is_inactive()
    }

    /// Whether the organization and all its ancestors are ACTIVE. Otherwise assignments in it grant nothing.
    #[must_use]
    pub fn is_lineage_active(self) -> bool {
        self.links().all(|link| link.status == OrganizationStatus::Active)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// A chain of this many organizations, the root first.
    fn chain(length: usize) -> Ancestry {
        let entry = |number: usize| Entry {
            id: id(number),
            parent: number.checked_sub(1).map(id),
            status: OrganizationStatus::Active,
        };
        (0..length).map(entry).collect()
    }

    fn id(number: usize) -> OrganizationId {
        Uuid::from_u128(number as u128).into()
    }

    #[test]
    fn only_more_than_few_organizations_have_an_index() {
        for (length, has_index) in [(0, false), (1, false), (FEW, false), (FEW + 1, true)] {
            let ancestry = chain(length);
            assert_eq!(ancestry.index.is_empty(), !has_index, "{length}");
            for number in 0..length {
                let lineage = ancestry.position(id(number)).unwrap().lineage();
                assert!(lineage.eq((0..=number).rev().map(id)), "{number} of {length}");
            }
            assert!(ancestry.position(id(length)).is_none());
            let index = if has_index { length * size_of::<(OrganizationId, usize)>() } else { 0 };
            assert_eq!(ancestry.size(), size_of::<Ancestry>() + length * size_of::<Link>() + index);
        }
    }

    #[test]
    fn the_ancestry_of_an_organization_contains_only_its_ancestors() {
        let ancestry = chain(4);
        let lineage = Ancestry::above(ancestry.position(id(2)).unwrap());
        assert!(lineage.positions().map(Position::id).eq([id(2), id(1), id(0)]));
        assert_eq!(lineage.position(id(2)).unwrap().depth(), 2);
        let merged = Ancestry::merged([&lineage, &chain(2)]);
        assert!(merged.positions().map(Position::id).eq([id(2), id(1), id(0)]));
    }
}
