use std::collections::HashSet;

use iam_model::manifest::ManifestItemKind;
use iam_model::organization::OrganizationStatus;
use iam_model::validate::{Name, Slug};

use crate::manifest::document::ManifestOrganization;
use crate::manifest::plan::planner::{Planner, differing};
use crate::manifest::plan::tree::Tree;
use crate::manifest::step::Operation;
use crate::organization::OrganizationPatch;

impl Planner<'_> {
    pub(super) fn organizations(&mut self, wanted: &[ManifestOrganization]) {
        let (mut seen, mut valid) = (HashSet::new(), Vec::new());
        for (number, wanted) in wanted.iter().enumerate() {
            let at = format!("organizations[{number}]");
            let slug: Option<Slug> = self.check(&at, "slug", &wanted.slug);
            let name: Option<Name> = self.check(&at, "name", &wanted.name);
            if wanted.status == Some(OrganizationStatus::Inactive) {
                self.fields.reject(&format!("{at}.status"), "must be ACTIVE or SUSPENDED");
            }
            let (Some(slug), Some(name)) = (slug, name) else { continue };
            if self.is_first(&mut seen, &at, "slug", slug.as_str()) {
                let (slug, name) = (slug.to_string(), name.to_string());
                valid.push((at, ManifestOrganization { slug, name, ..wanted.clone() }));
            }
        }
        let slugs = seen.iter().map(String::as_str).collect();
        for (at, wanted) in &valid {
            self.check_place(&slugs, at, "parent", wanted.parent.as_deref());
        }
        let tree = Tree::of(self.state, valid.iter().map(|(_, wanted)| wanted));
        let circular = tree.circular();
        for (at, wanted) in valid.iter().filter(|(_, wanted)| circular.contains(wanted.slug.as_str())) {
            let circle = format!("is below the organization {}: the parents form a circle", wanted.slug);
            self.fields.reject(&format!("{at}.parent"), circle);
        }
        if !circular.is_empty() {
            return;
        }
        // Each organization comes after its parent, also if both change.
        let depths = tree.depths();
        let mut ordered: Vec<_> = valid.iter().collect();
        ordered.sort_by_key(|(_, wanted)| depths.get(wanted.slug.as_str()).copied());
        for (at, wanted) in ordered {
            self.organization(at.clone(), wanted);
        }
    }

    fn organization(&mut self, at: String, wanted: &ManifestOrganization) {
        let state = self.state;
        let Some(existing) = state.organizations.get(&wanted.slug) else {
            let operation = Operation::CreateOrganization {
                slug: wanted.slug.clone(),
                name: wanted.name.clone(),
                parent: wanted.parent.clone(),
                is_suspended: wanted.status == Some(OrganizationStatus::Suspended),
            };
            self.create(ManifestItemKind::Organization, &wanted.slug, at, wanted, operation);
            return;
        };
        self.named.insert(existing.id.into());
        let before = state.organization(existing);
        let status = differing(wanted.status, existing.status);
        let after = ManifestOrganization {
            status: Some(status.unwrap_or(existing.status)).filter(|status| *status != OrganizationStatus::Active),
            ..wanted.clone()
        };
        let name = (before.name != after.name).then(|| after.name.clone());
        let parent = (before.parent != after.parent).then(|| after.parent.clone());
        let patch = OrganizationPatch { name, status, ..OrganizationPatch::default() };
        let operation = Operation::UpdateOrganization { id: existing.id, patch, parent };
        let id = existing.id.into();
        self.update(ManifestItemKind::Organization, id, (&wanted.slug, at), &before, &after, operation);
    }
}
