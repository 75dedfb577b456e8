use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::access_review::{
    AccessReview, AccessReviewFilter, AccessReviewItem, AccessReviewStatus, ListedReviewItem, ReviewItemFilter,
    ReviewProgress, ReviewSubject,
};
use iam_model::assignment::Assignment;
use iam_model::change::AccessReviewChange;
use iam_model::eligibility::Eligibility;
use iam_model::id::{AccessReviewId, AccessReviewItemId, OrganizationId, TenantId};
use iam_model::organization::OrganizationSummary;
use iam_model::page::{Page, PageRequest};
use iam_model::store::{AccessReviewStore, AccessReviewTransaction};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold, newest_first, page};

#[async_trait]
impl AccessReviewStore for MemoryStore {
    async fn access_review(&self, tenant: TenantId, id: AccessReviewId) -> Result<Option<AccessReview>, StoreError> {
        Ok(self.tenant_state(tenant).access_reviews.get(&id).cloned())
    }

    async fn access_reviews(
        &self,
        tenant: TenantId,
        filter: &AccessReviewFilter,
        visible_scope: &VisibleScope,
        request: PageRequest,
    ) -> Result<Page<AccessReview>, StoreError> {
        let state = self.tenant_state(tenant);
        let passes =
            |found: &&AccessReview| filter.matches(found) && state.is_visible(visible_scope, found.organization_id);
        let mut found: Vec<&AccessReview> = state.access_reviews.values().filter(passes).collect();
        newest_first(&mut found, |review| (review.created_at, review.id));
        Ok(page(&found, request))
    }

    async fn access_review_progress(
        &self,
        tenant: TenantId,
        reviews: &[AccessReviewId],
    ) -> Result<Vec<(AccessReviewId, ReviewProgress)>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(reviews.iter().map(|id| (*id, state.progress_of(*id))).collect())
    }

    async fn access_review_items(
        &self,
        tenant: TenantId,
        review: AccessReviewId,
        filter: Option<ReviewItemFilter>,
        request: PageRequest,
    ) -> Result<Page<ListedReviewItem>, StoreError> {
        let state = self.tenant_state(tenant);
        let Page { items, total, request } = page(&state.items_of(review, filter).collect::<Vec<_>>(), request);
        Ok(Page { items: state.listed_items(items), total, request })
    }

    async fn all_access_review_items(
        &self,
        tenant: TenantId,
        review: AccessReviewId,
        filter: Option<ReviewItemFilter>,
    ) -> Result<Vec<ListedReviewItem>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(state.listed_items(state.items_of(review, filter).cloned().collect()))
    }
}

#[async_trait]
impl AccessReviewTransaction for MemoryTransaction {
    async fn count_items_of(&mut self, review: &AccessReview, limit: u64) -> Result<u64, StoreError> {
        let found = self.draft.reviewed(review).count() + self.draft.reviewed_eligibilities(review).count();
        Ok(limit.min(found as u64))
    }

    async fn lock_access_review(&mut self, id: AccessReviewId) -> Result<Option<AccessReview>, StoreError> {
        Ok(self.draft.access_reviews.get(&id).cloned())
    }

    async fn progress_of(&mut self, review: AccessReviewId) -> Result<ReviewProgress, StoreError> {
        Ok(self.draft.progress_of(review))
    }

    async fn items_to_revoke(&mut self, review: AccessReviewId) -> Result<Vec<ReviewSubject>, StoreError> {
        let items = self.draft.items_of(review, Some(ReviewItemFilter::Revoke));
        Ok(items.map(|item| item.subject).collect())
    }

    async fn lock_access_review_item(
        &mut self,
        review: AccessReviewId,
        id: AccessReviewItemId,
    ) -> Result<Option<AccessReviewItem>, StoreError> {
        Ok(self.draft.access_review_items.get(&review).and_then(|items| items.get(&id)).cloned())
    }
}

impl TenantState {
    fn items_of(
        &self,
        review: AccessReviewId,
        filter: Option<ReviewItemFilter>,
    ) -> impl Iterator<Item = &AccessReviewItem> {
        let items = self.access_review_items.get(&review).into_iter().flat_map(|items| items.values());
        items.filter(move |item| filter.is_none_or(|filter| filter.matches(item)))
    }

    fn progress_of(&self, review: AccessReviewId) -> ReviewProgress {
        ReviewProgress::count(self.items_of(review, None).map(AccessReviewItem::decision))
    }

    fn listed_items(&self, items: Vec<AccessReviewItem>) -> Vec<ListedReviewItem> {
        let listed = |item: AccessReviewItem| {
            let user = match item.subject.user() {
                Some(user) => Some(self.users.get(&user)?.summary()),
                None => None,
            };
            Some(ListedReviewItem { item, user })
        };
        items.into_iter().filter_map(listed).collect()
    }

    /// The assignments that a new review freezes.
    fn reviewed<'a>(&'a self, review: &'a AccessReview) -> impl Iterator<Item = &'a Assignment> {
        self.assignments.values().filter(move |found| {
            review.is_about(found.role_id, found.user_id)
                && found.is_live(review.created_at)
                && self.is_in_place(review, found.organization_id)
        })
    }

    /// The eligibilities that a new review freezes.
    fn reviewed_eligibilities<'a>(&'a self, review: &'a AccessReview) -> impl Iterator<Item = &'a Eligibility> {
        self.eligibilities.values().filter(move |found| {
            review.is_about_eligibility(found)
                && found.is_live(review.created_at)
                && self.is_in_place(review, found.organization_id)
        })
    }

    fn is_in_place(&self, review: &AccessReview, organization: Option<OrganizationId>) -> bool {
        let scope = review.organization_id.map_or(VisibleScope::Tenant, |id| VisibleScope::Organizations(vec![id]));
        self.is_visible(&scope, organization)
    }

    fn new_items(&self, review: &AccessReview) -> BTreeMap<AccessReviewItemId, AccessReviewItem> {
        let assignments = self.reviewed(review).filter_map(|assignment| self.new_item(review.id, assignment));
        let eligibilities = self
            .reviewed_eligibilities(review)
            .filter_map(|eligibility| self.new_sleeping_item(review.id, eligibility));
        assignments.chain(eligibilities).map(|item| (item.id(), item)).collect()
    }

    fn new_item(&self, review: AccessReviewId, assignment: &Assignment) -> Option<AccessReviewItem> {
        Some(AccessReviewItem {
            review_id: review,
            subject: ReviewSubject::Assignment {
                id: assignment.id,
                user: assignment.user_id,
                directory_group: assignment.directory_group_id,
            },
            role: self.roles.get(&assignment.role_id)?.summary(),
            organization: self.place_summary(assignment.organization_id),
            expires_at: assignment.expires_at,
            granted_at: assignment.created_at,
            granted_by: assignment.created_by,
            last_login_at: self.users.get(&assignment.user_id)?.last_login_at,
            decided: None,
            outcome: None,
        })
    }

    /// The item of an eligibility.
    fn new_sleeping_item(&self, review: AccessReviewId, eligibility: &Eligibility) -> Option<AccessReviewItem> {
        let user = eligibility.eligible.user().and_then(|user| self.users.get(&user));
        Some(AccessReviewItem {
            review_id: review,
            subject: ReviewSubject::Eligibility { id: eligibility.id, eligible: eligibility.eligible },
            role: self.roles.get(&eligibility.role_id)?.summary(),
            organization: self.place_summary(eligibility.organization_id),
            expires_at: eligibility.expires_at,
            granted_at: eligibility.created_at,
            granted_by: eligibility.created_by,
            last_login_at: user.and_then(|user| user.last_login_at),
            decided: None,
            outcome: None,
        })
    }

    fn place_summary(&self, organization: Option<OrganizationId>) -> Option<OrganizationSummary> {
        let found = self.organizations.get(&organization?)?;
        Some(OrganizationSummary { id: found.id, name: found.name.as_str().to_owned() })
    }

    pub(super) fn write_access_review(&mut self, change: &AccessReviewChange) -> Result<(), StoreError> {
        match change {
            AccessReviewChange::Create { review, .. } => {
                let is_known = review.organization_id.is_none_or(|id| self.organizations.contains_key(&id));
                hold(Constraint::Reference, self.tenant.is_some() && is_known)?;
                let items = self.new_items(review);
                self.access_review_items.insert(review.id, Arc::new(items));
                self.access_reviews.insert(review.id, review.clone());
                Ok(())
            }
            AccessReviewChange::Decide { after, .. } => {
                self.open_review(after.review_id)?;
                let items = self.access_review_items.entry(after.review_id).or_default();
                let stored = Arc::make_mut(items).get_mut(&after.id());
                stored.ok_or(StoreError::Missing("access review item"))?.decided.clone_from(&after.decided);
                Ok(())
            }
            AccessReviewChange::Complete { after, gone, .. } => {
                self.close_review(after)?;
                let gone: BTreeSet<&AccessReviewItemId> = gone.iter().collect();
                let items = self.access_review_items.entry(after.id).or_default();
                for item in Arc::make_mut(items).values_mut() {
                    *item = item.clone().completed(gone.contains(&item.id()));
                }
                Ok(())
            }
            AccessReviewChange::Cancel { after, .. } => self.close_review(after),
            AccessReviewChange::RemoveOldest { status, kept } => {
                let mut closed: Vec<_> = self.access_reviews.values().filter(|found| found.status == *status).collect();
                newest_first(&mut closed, |review| (review.created_at, review.id));
                let oldest: Vec<AccessReviewId> = closed.iter().skip(*kept as usize).map(|review| review.id).collect();
                for id in oldest {
                    self.access_reviews.remove(&id);
                    self.access_review_items.remove(&id);
                }
                Ok(())
            }
        }
    }

    fn open_review(&mut self, id: AccessReviewId) -> Result<&mut AccessReview, StoreError> {
        let stored = self.access_reviews.get_mut(&id).ok_or(StoreError::Missing("access review"))?;
        hold(Constraint::AccessReviewOpen, stored.status == AccessReviewStatus::Open)?;
        Ok(stored)
    }

    fn close_review(&mut self, after: &AccessReview) -> Result<(), StoreError> {
        let stored = self.open_review(after.id)?;
        (stored.status, stored.closed_at, stored.closed_by) = (after.status, after.closed_at, after.closed_by);
        Ok(())
    }
}
