use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::assignment::Assignment;
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

use super::rows::{Draft, Row, View, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold, newest_first, page};

impl Row for Organization {
    const TABLE: &'static str = "organizations";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

/// All organizations of a tenant.
pub(super) struct Organizations(BTreeMap<OrganizationId, Organization>);

impl Organizations {
    pub(super) fn get(&self, id: OrganizationId) -> Option<&Organization> {
        self.0.get(&id)
    }

    /// An organization and its ancestors, from the organization to the root.
    pub(super) fn upwards(&self, id: OrganizationId) -> impl Iterator<Item = &Organization> {
        // At most as many steps as there are organizations: the store does not prevent a cycle.
        std::iter::successors(self.get(id), |found| self.get(found.parent_id?)).take(self.0.len())
    }

    /// Returns whether a resource of this organization (`None`: a tenant-wide one) is in the visible scope.
    pub(super) fn is_visible(&self, scope: &VisibleScope, organization: Option<OrganizationId>) -> bool {
        match scope {
            VisibleScope::Tenant => true,
            VisibleScope::Organizations(roots) => {
                organization.is_some_and(|id| self.upwards(id).any(|above| roots.contains(&above.id)))
            }
        }
    }

    fn lineages(&self, organizations: &[OrganizationId]) -> Vec<Organization> {
        let above = organizations.iter().flat_map(|id| self.upwards(*id));
        let above: BTreeSet<OrganizationId> = above.map(|found| found.id).collect();
        self.sorted(|found| above.contains(&found.id))
    }

    fn subtree(&self, root: OrganizationId) -> Vec<Organization> {
        let is_below = |found: &Organization| self.upwards(found.id).any(|above| above.id == root);
        self.sorted(|found| (is_kept(found) || found.id == root) && is_below(found))
    }

    /// The ids of the organizations below each of these that exist.
    fn below(&self, asked: &[OrganizationId]) -> BTreeMap<OrganizationId, Vec<OrganizationId>> {
        let known = asked.iter().filter(|id| self.0.contains_key(id));
        let mut below: BTreeMap<OrganizationId, Vec<OrganizationId>> = known.map(|id| (*id, Vec::new())).collect();
        for found in self.0.values().filter(|found| is_kept(found)) {
            for above in self.upwards(found.id).skip(1) {
                if let Some(places) = below.get_mut(&above.id) {
                    places.push(found.id);
                }
            }
        }
        below
    }

    fn sorted(&self, passes: impl Fn(&Organization) -> bool) -> Vec<Organization> {
        let found = self.0.values().filter(|found| passes(found)).cloned().collect();
        newest_first(found, |organization: &Organization| (organization.created_at, organization.id))
    }
}

#[async_trait]
impl OrganizationStore for RedbStore {
    async fn lineages(
        &self,
        tenant: TenantId,
        organizations: &[OrganizationId],
    ) -> Result<Vec<Organization>, StoreError> {
        Ok(self.read(tenant, |view| view.organizations())?.lineages(organizations))
    }

    async fn subtree(&self, tenant: TenantId, root: OrganizationId) -> Result<Vec<Organization>, StoreError> {
        Ok(self.read(tenant, |view| view.organizations())?.subtree(root))
    }

    async fn children(
        &self,
        tenant: TenantId,
        parent: OrganizationId,
        limit: u32,
    ) -> Result<Vec<Organization>, StoreError> {
        let organizations = self.read(tenant, |view| view.organizations())?;
        let mut children = organizations.sorted(|found| found.parent_id == Some(parent) && is_kept(found));
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
        let organizations = self.read(tenant, |view| view.organizations())?;
        let is_child = |found: &Organization| found.parent_id.is_some_and(|parent| parents.contains(&parent));
        let mut children = organizations.sorted(|found| is_child(found) && is_kept(found));
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
        let (all, live) = self.read(tenant, |view| {
            let live = view.select(|found: &Assignment| found.organization_id.is_some() && found.is_live(now))?;
            Ok((view.organizations()?, live))
        })?;
        let below = all.below(organizations);
        let places: BTreeSet<&OrganizationId> = below.iter().flat_map(|(id, below)| below.iter().chain([id])).collect();
        let held = live.iter().filter_map(|found| Some((found.organization_id?, found.user_id)));
        let held: Vec<(OrganizationId, UserId)> = held.filter(|(place, _)| places.contains(place)).collect();
        let is_counted = held.len() <= most as usize;
        let mut members: BTreeMap<OrganizationId, BTreeSet<UserId>> = BTreeMap::new();
        for (place, user) in held {
            members.entry(place).or_default().insert(user);
        }
        let members_of = |places: &[OrganizationId]| {
            let users: BTreeSet<&UserId> = places.iter().filter_map(|id| members.get(id)).flatten().collect();
            users.len() as u64
        };
        let counts = below.iter().map(|(id, below)| OrganizationCounts {
            id: *id,
            below: below.len() as u64,
            members: is_counted.then(|| MemberCounts { own: members_of(&[*id]), below: members_of(below) }),
        });
        Ok(counts.collect())
    }

    async fn organizations_by_slug(&self, tenant: TenantId, slugs: &[Slug]) -> Result<Vec<Organization>, StoreError> {
        let organizations = self.read(tenant, |view| view.organizations())?;
        Ok(organizations.sorted(|found| slugs.contains(&found.slug) && is_kept(found)))
    }

    async fn organizations(
        &self,
        tenant: TenantId,
        filter: &OrganizationFilter,
        scope: &VisibleScope,
        sort: OrganizationSort,
        request: PageRequest,
    ) -> Result<Page<Organization>, StoreError> {
        let organizations = self.read(tenant, |view| view.organizations())?;
        let having = self.read(tenant, |view| view.having(filter.attribute.as_ref()))?;
        let mut found = organizations.sorted(|found| {
            filter.matches(found)
                && having.as_ref().is_none_or(|having| having.contains(&found.id.as_uuid()))
                && organizations.is_visible(scope, Some(found.id))
        });
        found.sort_by(|a, b| sort.compare(a, b));
        Ok(page(found, request))
    }
}

#[async_trait]
impl OrganizationTransaction for RedbTransaction {
    async fn lineages(&mut self, organizations: &[OrganizationId]) -> Result<Vec<Organization>, StoreError> {
        Ok(self.view().organizations()?.lineages(organizations))
    }

    async fn subtree(&mut self, root: OrganizationId) -> Result<Vec<Organization>, StoreError> {
        Ok(self.view().organizations()?.subtree(root))
    }

    async fn all_organizations(&mut self) -> Result<Vec<Organization>, StoreError> {
        self.view().select(is_kept)
    }

    async fn is_organization_slug_taken(&mut self, slug: &Slug) -> Result<bool, StoreError> {
        self.view().any(|found: &Organization| found.slug == *slug && is_kept(found))
    }
}

impl View<'_> {
    pub(super) fn organizations(self) -> Result<Organizations, StoreError> {
        let all = self.all::<Organization>()?;
        Ok(Organizations(all.into_iter().map(|organization| (organization.id, organization)).collect()))
    }
}

impl Draft<'_> {
    pub(super) fn write_organization(self, change: &OrganizationChange) -> Result<(), StoreError> {
        let (OrganizationChange::Create { organization: after, .. }
        | OrganizationChange::Update { after, .. }
        | OrganizationChange::Delete { after, .. }) = change;
        let stored: Option<Organization> = self.view().get(&key(after.id))?;
        let version = match (change, stored) {
            (OrganizationChange::Create { .. }, _) => after.version,
            (_, Some(stored)) => stored.version.next(),
            (_, None) => return Err(StoreError::Missing("organization")),
        };
        self.hold_tenant()?;
        if let Some(parent) = after.parent_id {
            hold(Constraint::Reference, self.view().has::<Organization>(&key(parent))?)?;
        }
        let has_slug = |other: &Organization| other.id != after.id && other.slug == after.slug && is_kept(other);
        hold(Constraint::OrganizationSlug, !is_kept(after) || !self.view().any(has_slug)?)?;
        self.put(Organization { version, ..after.clone() })?;
        match change {
            OrganizationChange::Create { attributes, .. } => self.write_attributes(after.id.into(), attributes),
            OrganizationChange::Update { attributes: Some(attributes), .. } => {
                self.write_attributes(after.id.into(), &attributes.after)
            }
            OrganizationChange::Update { attributes: None, .. } | OrganizationChange::Delete { .. } => Ok(()),
        }
    }
}

fn is_kept(organization: &Organization) -> bool {
    organization.status != OrganizationStatus::Inactive
}
