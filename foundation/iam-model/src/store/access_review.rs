use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::access::VisibleScope;
use crate::access_review::{
    AccessReview, AccessReviewFilter, AccessReviewItem, ListedReviewItem, ReviewItemFilter, ReviewProgress,
    ReviewSubject,
};
use crate::id::{AccessReviewId, AccessReviewItemId, TenantId};
use crate::page::{Page, PageRequest};
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads access reviews.
#[apply(observed)]
#[async_trait]
pub trait AccessReviewStore {
    /// Returns the review with this identifier.
    async fn access_review(&self, tenant: TenantId, id: AccessReviewId) -> Result<Option<AccessReview>, StoreError>;

    /// Returns a page of the reviews that pass the filter, newest first, then by identifier, with the exact number of
    /// all such reviews. A visible scope of organizations has the reviews of these organizations and of those below
    /// them, and not those of the whole tenant.
    async fn access_reviews(
        &self,
        tenant: TenantId,
        filter: &AccessReviewFilter,
        visible_scope: &VisibleScope,
        page: PageRequest,
    ) -> Result<Page<AccessReview>, StoreError>;

    /// Returns the progress of each of these reviews, in any order. A review without items may be missing.
    async fn access_review_progress(
        &self,
        tenant: TenantId,
        reviews: &[AccessReviewId],
    ) -> Result<Vec<(AccessReviewId, ReviewProgress)>, StoreError>;

    /// Returns a page of the items of a review that pass the filter, by their [identifiers](AccessReviewItem::id), with
    /// the exact number of all such items.
    async fn access_review_items(
        &self,
        tenant: TenantId,
        review: AccessReviewId,
        filter: Option<ReviewItemFilter>,
        page: PageRequest,
    ) -> Result<Page<ListedReviewItem>, StoreError>;

    /// Returns all items of a review that pass the filter, by their identifiers. They are all read at the same moment.
    async fn all_access_review_items(
        &self,
        tenant: TenantId,
        review: AccessReviewId,
        filter: Option<ReviewItemFilter>,
    ) -> Result<Vec<ListedReviewItem>, StoreError>;
}

/// Reads access reviews inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait AccessReviewTransaction {
    /// Counts the items that a new review would freeze: the assignments that it [is about](AccessReview::is_about) and
    /// the eligibilities that it [is about](AccessReview::is_about_eligibility), in its organization or below, that
    /// have not expired when it begins. Counts no further than `limit`.
    ///
    /// The number stays true while [`lock_tenant`](crate::store::TenantTransaction::lock_tenant) is held.
    async fn count_items_of(&mut self, review: &AccessReview, limit: u64) -> Result<u64, StoreError>;

    /// Returns the review with this identifier, and locks it until the unit of work ends. While it is locked, no other
    /// unit of work decides about an item, or completes or cancels the review.
    async fn lock_access_review(&mut self, id: AccessReviewId) -> Result<Option<AccessReview>, StoreError>;

    /// Returns the progress of a review.
    async fn progress_of(&mut self, review: AccessReviewId) -> Result<ReviewProgress, StoreError>;

    /// Returns what is to be revoked when a review is completed, by the identifiers of the items.
    async fn items_to_revoke(&mut self, review: AccessReviewId) -> Result<Vec<ReviewSubject>, StoreError>;

    /// Returns an item of a review, and locks it until the unit of work ends. While it is locked, no other unit of work
    /// decides about it.
    async fn lock_access_review_item(
        &mut self,
        review: AccessReviewId,
        id: AccessReviewItemId,
    ) -> Result<Option<AccessReviewItem>, StoreError>;
}
