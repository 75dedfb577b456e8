use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::access::VisibleScope;
use crate::clock::Timestamp;
use crate::id::{OrganizationId, TenantId};
use crate::organization::{Organization, OrganizationCounts, OrganizationFilter, OrganizationSort};
use crate::page::{Page, PageRequest};
use crate::store::observed::observed;
use crate::store_error::StoreError;
use crate::validate::Slug;

/// Reads organizations.
#[apply(observed)]
#[async_trait]
pub trait OrganizationStore {
    /// The organizations with these ids, as far as they exist, and all their ancestors: each once, in no particular
    /// order.
    async fn lineages(
        &self,
        tenant: TenantId,
        organizations: &[OrganizationId],
    ) -> Result<Vec<Organization>, StoreError>;

    /// An organization of any status, and everything below it that is not INACTIVE: newest first, then by id.
    async fn subtree(&self, tenant: TenantId, root: OrganizationId) -> Result<Vec<Organization>, StoreError>;

    /// The organizations directly below `parent` that are not INACTIVE: newest first, then by id. If there are more
    /// than `limit`, only that many of them, in a time that does not grow with the others. Which of them is not
    /// defined.
    async fn children(
        &self,
        tenant: TenantId,
        parent: OrganizationId,
        limit: u32,
    ) -> Result<Vec<Organization>, StoreError>;

    /// The organizations directly below any of these that are not INACTIVE, by name, then by id: at most the first
    /// `each` of each parent, and of those at most the first `limit`.
    async fn children_of(
        &self,
        tenant: TenantId,
        parents: &[OrganizationId],
        each: u32,
        limit: u32,
    ) -> Result<Vec<Organization>, StoreError>;

    /// The counts of the organizations with these ids at a moment, as far as they exist: each once, in no particular
    /// order. If more than `most` assignments that have not expired are in them and in what is below them, the members
    /// of none are counted, and no more assignments than that are read.
    async fn organization_counts(
        &self,
        tenant: TenantId,
        organizations: &[OrganizationId],
        now: Timestamp,
        most: u32,
    ) -> Result<Vec<OrganizationCounts>, StoreError>;

    /// The organizations with these slugs that are not INACTIVE, in no particular order.
    async fn organizations_by_slug(&self, tenant: TenantId, slugs: &[Slug]) -> Result<Vec<Organization>, StoreError>;

    /// A page of the organizations within the visible scope that pass the filter, with the exact number of all such
    /// organizations.
    async fn organizations(
        &self,
        tenant: TenantId,
        filter: &OrganizationFilter,
        visible_scope: &VisibleScope,
        sort: OrganizationSort,
        page: PageRequest,
    ) -> Result<Page<Organization>, StoreError>;
}

/// Reads organizations inside a unit of work.
///
/// Organizations are changed only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant). So the results
/// of these methods stay true while the lock is held.
#[apply(observed)]
#[async_trait]
pub trait OrganizationTransaction {
    /// As [`OrganizationStore::lineages`].
    async fn lineages(&mut self, organizations: &[OrganizationId]) -> Result<Vec<Organization>, StoreError>;

    /// As [`OrganizationStore::subtree`].
    async fn subtree(&mut self, root: OrganizationId) -> Result<Vec<Organization>, StoreError>;

    /// All organizations that are not INACTIVE, in no particular order.
    async fn all_organizations(&mut self) -> Result<Vec<Organization>, StoreError>;

    /// Whether an organization that is not INACTIVE has this slug.
    async fn is_organization_slug_taken(&mut self, slug: &Slug) -> Result<bool, StoreError>;
}
