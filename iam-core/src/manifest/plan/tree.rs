use std::collections::{BTreeMap, HashMap, HashSet};

use iam_model::organization::Organization;

use crate::manifest::document::ManifestOrganization;
use crate::manifest::state::State;

/// The parents of the organizations after the changes, by slug.
pub(super) struct Tree<'a>(BTreeMap<&'a str, Option<&'a str>>);

impl<'a> Tree<'a> {
    pub(super) fn of(state: &'a State, wanted: impl IntoIterator<Item = &'a ManifestOrganization>) -> Self {
        let parent = |found: &Organization| found.parent_id.and_then(|id| state.slug(id));
        let present = state.organizations.iter().map(|(slug, found)| (slug.as_str(), parent(found)));
        let wanted = wanted.into_iter().map(|wanted| (wanted.slug.as_str(), wanted.parent.as_deref()));
        Self(present.chain(wanted).collect())
    }

    fn parent(&self, slug: &str) -> Option<&'a str> {
        self.0.get(slug).copied().flatten()
    }

    /// The organizations that are below themselves. Each is visited once.
    pub(super) fn circular(&self) -> HashSet<&'a str> {
        let (mut circular, mut finished) = (HashSet::new(), HashSet::new());
        for start in self.0.keys() {
            let (mut way, mut places) = (Vec::new(), HashMap::new());
            let mut next = Some(*start);
            while let Some(slug) = next.filter(|slug| !finished.contains(slug)) {
                if let Some(first) = places.insert(slug, way.len()) {
                    circular.extend(way.iter().skip(first).copied());
                    break;
                }
                way.push(slug);
                next = self.parent(slug);
            }
            finished.extend(way);
        }
        circular
    }

    /// How many organizations are above each one. There must be no circle. Each is visited once.
    pub(super) fn depths(&self) -> HashMap<&'a str, usize> {
        let mut depths: HashMap<&'a str, usize> = HashMap::with_capacity(self.0.len());
        for start in self.0.keys() {
            let mut way = Vec::new();
            let mut next = Some(*start);
            while let Some(slug) = next.filter(|slug| !depths.contains_key(slug)) {
                way.push(slug);
                next = self.parent(slug);
            }
            let above = next.and_then(|slug| depths.get(slug)).map_or(0, |depth| depth + 1);
            depths.extend(way.into_iter().rev().enumerate().map(|(number, slug)| (slug, above + number)));
        }
        depths
    }
}
