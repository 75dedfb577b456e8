use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::change::OrganizationChange;
use iam_model::clock::Timestamp;
use iam_model::id::{OrganizationId, TenantId, UserId};
use iam_model::organization::{
    MemberCounts, Organization, OrganizationCounts, OrganizationFilter, OrganizationSort, OrganizationSortKey,
    OrganizationStatus,
};
use iam_model::page::{Page, PageRequest, SortOrder};
use iam_model::store::{OrganizationStore, OrganizationTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::validate::Slug;

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold, newest_first, page};

#[async_trait]
impl OrganizationStore for MemoryStore {
    async fn lineages(
        &self,
        tenant: TenantId,
        organizations: &[OrganizationId],
    ) -> Result<Vec<Organization>, StoreError> {
        Ok(self.tenant_state(tenant).lineages(organizations))
    }

    async fn subtree(&self, tenant: TenantId, root: OrganizationId) -> Result<Vec<Organization>, StoreError> {
        Ok(self.tenant_state(tenant).subtree(root))
    }

    async fn children(
        &self,
        tenant: TenantId,
        parent: OrganizationId,
        limit: u32,
    ) -> Result<Vec<Organization>, StoreError> {
        let state = self.tenant_state(tenant);
        let mut children = state.sorted(|found| found.parent_id == Some(parent) && is_kept(found));
        children.truncate(limit as usize);
        Ok(children)
    }

    async fn children_of(
        &self,
        tenant: TenantId,
        parents: &[OrganizationId],
        each: u32,
        limit: u32,
    ) -> Result<Vec<Organization>, StoreError> {
        let parents: BTreeSet<&OrganizationId> = parents.iter().collect();
        let is_child = |found: &Organization| found.parent_id.is_some_and(|parent| parents.contains(&parent));
        let mut children = self.tenant_state(tenant).sorted(|found| is_child(found) && is_kept(found));
        let by_name = OrganizationSort { by: OrganizationSortKey::Name, order: SortOrder::Ascending };
        children.sort_by(|a, b| by_name.compare(a, b));
        let mut taken: BTreeMap<Option<OrganizationId>, u32> = BTreeMap::new();
        children.retain(|child| {
            let number = taken.entry(child.parent_id).or_default();
            *number += 1;
            *number <= each
        });
        children.truncate(limit as usize);
        Ok(children)
    }

    async fn organization_counts(
        &self,
        tenant: TenantId,
        organizations: &[OrganizationId],
        now: Timestamp,
        most: u32,
    ) -> Result<Vec<OrganizationCounts>, StoreError> {
        Ok(self.tenant_state(tenant).organization_counts(organizations, now, most))
    }

    async fn organizations_by_slug(&self, tenant: TenantId, slugs: &[Slug]) -> Result<Vec<Organization>, StoreError> {
        Ok(self.tenant_state(tenant).sorted(|found| slugs.contains(&found.slug) && is_kept(found)))
    }

    async fn organizations(
        &self,
        tenant: TenantId,
        filter: &OrganizationFilter,
        visible_scope: &VisibleScope,
        sort: OrganizationSort,
        request: PageRequest,
    ) -> Result<Page<Organization>, StoreError> {
        let state = self.tenant_state(tenant);
        let passes = |found: &&Organization| {
            filter.matches(found)
                && state.has_attribute(found.id.into(), filter.attribute.as_ref())
                && state.is_visible(visible_scope, Some(found.id))
        };
        let mut found: Vec<&Organization> = state.organizations.values().filter(passes).collect();
        found.sort_by(|a, b| sort.compare(a, b));
        Ok(page(&found, request))
    }
}

#[async_trait]
impl OrganizationTransaction for MemoryTransaction {
    async fn lineages(&mut self, organizations: &[OrganizationId]) -> Result<Vec<Organization>, StoreError> {
        Ok(self.draft.lineages(organizations))
    }

    async fn subtree(&mut self, root: OrganizationId) -> Result<Vec<Organization>, StoreError> {
        Ok(self.draft.subtree(root))
    }

    async fn all_organizations(&mut self) -> Result<Vec<Organization>, StoreError> {
        Ok(self.draft.sorted(is_kept))
    }

    async fn is_organization_slug_taken(&mut self, slug: &Slug) -> Result<bool, StoreError> {
        Ok(self.draft.organizations.values().any(|found| found.slug == *slug && is_kept(found)))
    }
}

impl TenantState {
    /// An organization and its ancestors, upwards.
    pub(super) fn upwards(&self, id: OrganizationId) -> impl Iterator<Item = &Organization> {
        let above = |found: &&Organization| self.organizations.get(&found.parent_id?);
        // Bounded by the number of organizations, because no constraint forbids a cycle.
        std::iter::successors(self.organizations.get(&id), above).take(self.organizations.len())
    }

    /// Whether a resource in an organization, or tenant-wide, is within the visible scope.
    pub(super) fn is_visible(&self, visible_scope: &VisibleScope, organization: Option<OrganizationId>) -> bool {
        match visible_scope {
            VisibleScope::Tenant => true,
            VisibleScope::Organizations(roots) => {
                organization.is_some_and(|id| self.upwards(id).any(|above| roots.contains(&above.id)))
            }
        }
    }

    fn lineages(&self, organizations: &[OrganizationId]) -> Vec<Organization> {
        let is_above =
            |found: &Organization| organizations.iter().any(|id| self.upwards(*id).any(|above| above.id == found.id));
        self.sorted(is_above)
    }

    fn subtree(&self, root: OrganizationId) -> Vec<Organization> {
        let is_below = |found: &Organization| self.upwards(found.id).any(|above| above.id == root);
        self.sorted(|found| is_below(found) && (is_kept(found) || found.id == root))
    }

    fn organization_counts(&self, asked: &[OrganizationId], now: Timestamp, most: u32) -> Vec<OrganizationCounts> {
        let known = asked.iter().filter(|id| self.organizations.contains_key(id));
        let mut below: BTreeMap<OrganizationId, Vec<OrganizationId>> = known.map(|id| (*id, Vec::new())).collect();
        for found in self.organizations.values().filter(|found| is_kept(found)) {
            for above in self.upwards(found.id).skip(1) {
                if let Some(places) = below.get_mut(&above.id) {
                    places.push(found.id);
                }
            }
        }
        let places: BTreeSet<&OrganizationId> = below.iter().flat_map(|(id, below)| below.iter().chain([id])).collect();
        let mut members: BTreeMap<OrganizationId, BTreeSet<UserId>> = BTreeMap::new();
        let mut assignments: u32 = 0;
        for found in self.assignments.values().filter(|found| found.is_live(now)) {
            if let Some(place) = found.organization_id.filter(|id| places.contains(id)) {
                assignments += 1;
                members.entry(place).or_default().insert(found.user_id);
            }
        }
        let members_of = |places: &[OrganizationId]| {
            let users: BTreeSet<&UserId> = places.iter().filter_map(|id| members.get(id)).flatten().collect();
            users.len() as u64
        };
        let counts = below.iter().map(|(id, below)| OrganizationCounts {
            id: *id,
            below: below.len() as u64,
            members: (assignments <= most).then(|| MemberCounts { own: members_of(&[*id]), below: members_of(below) }),
        });
        counts.collect()
    }

    fn sorted(&self, passes: impl Fn(&Organization) -> bool) -> Vec<Organization> {
        let mut found: Vec<Organization> = self.organizations.values().filter(|found| passes(found)).cloned().collect();
        newest_first(&mut found, |organization| (organization.created_at, organization.id));
        found
    }

    pub(super) fn write_organization(&mut self, change: &OrganizationChange) -> Result<(), StoreError> {
        let (OrganizationChange::Create { organization: after, .. }
        | OrganizationChange::Update { after, .. }
        | OrganizationChange::Delete { after, .. }) = change;
        let version = match (change, self.organizations.get(&after.id)) {
            (OrganizationChange::Create { .. }, _) => after.version,
            (_, Some(stored)) => stored.version.next(),
            (_, None) => return Err(StoreError::Missing("organization")),
        };
        let has_parent = after.parent_id.is_none_or(|parent| self.organizations.contains_key(&parent));
        hold(Constraint::Reference, self.tenant.is_some() && has_parent)?;
        let has_slug =
            |other: &Organization| other.id != after.id && other.slug == after.slug && is_kept(other) && is_kept(after);
        hold(Constraint::OrganizationSlug, !self.organizations.values().any(has_slug))?;
        self.organizations.insert(after.id, Organization { version, ..after.clone() });
        match change {
            OrganizationChange::Create { attributes, .. } => self.write_attributes(after.id.into(), attributes),
            OrganizationChange::Update { attributes: Some(attributes), .. } => {
                self.write_attributes(after.id.into(), &attributes.after);
            }
            OrganizationChange::Update { attributes: None, .. } | OrganizationChange::Delete { .. } => {}
        }
        Ok(())
    }
}

fn is_kept(organization: &Organization) -> bool {
    organization.status != OrganizationStatus::Inactive
}
