use std::collections::BTreeSet;

use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::access_review::{
    AccessReview, AccessReviewFilter, AccessReviewItem, AccessReviewStatus, ListedReviewItem, ReviewItemFilter,
    ReviewProgress, ReviewSubject,
};
use iam_model::assignment::Assignment;
use iam_model::change::AccessReviewChange;
use iam_model::eligibility::Eligibility;
use iam_model::id::{AccessReviewId, AccessReviewItemId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::{Organization, OrganizationSummary};
use iam_model::page::{Page, PageRequest};
use iam_model::role::{Role, RoleSummary};
use iam_model::store::{AccessReviewStore, AccessReviewTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::User;

use super::rows::{Draft, Keys, Row, View, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold, newest_first, page};

impl Row for AccessReview {
    const TABLE: &'static str = "access_reviews";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

impl Row for AccessReviewItem {
    const TABLE: &'static str = "access_review_items";

    fn key(&self) -> Vec<u8> {
        item_key(self.review_id, self.id())
    }
}

fn item_key(review: AccessReviewId, item: AccessReviewItemId) -> Vec<u8> {
    [key(review), key(item)].concat()
}

#[async_trait]
impl AccessReviewStore for RedbStore {
    async fn access_review(&self, tenant: TenantId, id: AccessReviewId) -> Result<Option<AccessReview>, StoreError> {
        self.read(tenant, |view| view.get(&key(id)))
    }

    async fn access_reviews(
        &self,
        tenant: TenantId,
        filter: &AccessReviewFilter,
        scope: &VisibleScope,
        request: PageRequest,
    ) -> Result<Page<AccessReview>, StoreError> {
        let found = self.read(tenant, |view| {
            let organizations = view.organizations()?;
            view.select(|found: &AccessReview| {
                filter.matches(found) && organizations.is_visible(scope, found.organization_id)
            })
        })?;
        Ok(page(newest_first(found, |review: &AccessReview| (review.created_at, review.id)), request))
    }

    async fn access_review_progress(
        &self,
        tenant: TenantId,
        reviews: &[AccessReviewId],
    ) -> Result<Vec<(AccessReviewId, ReviewProgress)>, StoreError> {
        self.read(tenant, |view| reviews.iter().map(|id| Ok((*id, view.progress_of(*id)?))).collect())
    }

    async fn access_review_items(
        &self,
        tenant: TenantId,
        review: AccessReviewId,
        filter: Option<ReviewItemFilter>,
        request: PageRequest,
    ) -> Result<Page<ListedReviewItem>, StoreError> {
        self.read(tenant, |view| {
            let Page { items, total, request } = page(view.items_of(review, filter)?, request);
            Ok(Page { items: view.listed_items(items)?, total, request })
        })
    }

    async fn all_access_review_items(
        &self,
        tenant: TenantId,
        review: AccessReviewId,
        filter: Option<ReviewItemFilter>,
    ) -> Result<Vec<ListedReviewItem>, StoreError> {
        self.read(tenant, |view| view.listed_items(view.items_of(review, filter)?))
    }
}

#[async_trait]
impl AccessReviewTransaction for RedbTransaction {
    async fn count_items_of(&mut self, review: &AccessReview, limit: u64) -> Result<u64, StoreError> {
        let assignments = self.view().reviewed(review)?.len();
        let eligibilities = self.view().reviewed_eligibilities(review)?.len();
        Ok(limit.min((assignments + eligibilities) as u64))
    }

    async fn lock_access_review(&mut self, id: AccessReviewId) -> Result<Option<AccessReview>, StoreError> {
        self.view().get(&key(id))
    }

    async fn progress_of(&mut self, review: AccessReviewId) -> Result<ReviewProgress, StoreError> {
        self.view().progress_of(review)
    }

    async fn items_to_revoke(&mut self, review: AccessReviewId) -> Result<Vec<ReviewSubject>, StoreError> {
        let items = self.view().items_of(review, Some(ReviewItemFilter::Revoke))?;
        Ok(items.into_iter().map(|item| item.subject).collect())
    }

    async fn lock_access_review_item(
        &mut self,
        review: AccessReviewId,
        id: AccessReviewItemId,
    ) -> Result<Option<AccessReviewItem>, StoreError> {
        self.view().get(&item_key(review, id))
    }
}

impl View<'_> {
    /// The items of a review that pass, in the order of their identifiers.
    fn items_of(
        self,
        review: AccessReviewId,
        filter: Option<ReviewItemFilter>,
    ) -> Result<Vec<AccessReviewItem>, StoreError> {
        let passes =
            |item: &AccessReviewItem| item.review_id == review && filter.is_none_or(|filter| filter.matches(item));
        self.take(Keys::from(key(review)), u32::MAX, passes)
    }

    fn progress_of(self, review: AccessReviewId) -> Result<ReviewProgress, StoreError> {
        Ok(ReviewProgress::count(self.items_of(review, None)?.iter().map(AccessReviewItem::decision)))
    }

    fn listed_items(self, items: Vec<AccessReviewItem>) -> Result<Vec<ListedReviewItem>, StoreError> {
        let listed = |item: AccessReviewItem| {
            let user = item.subject.user().map(|user| self.reviewed_user(user)).transpose()?;
            Ok(ListedReviewItem { user: user.map(|user| user.summary()), item })
        };
        items.into_iter().map(listed).collect()
    }

    /// The assignments that a new review freezes.
    fn reviewed(self, review: &AccessReview) -> Result<Vec<Assignment>, StoreError> {
        let organizations = self.organizations()?;
        let scope = scope_of(review);
        self.select(|found: &Assignment| {
            review.is_about(found.role_id, found.user_id)
                && found.is_live(review.created_at)
                && organizations.is_visible(&scope, found.organization_id)
        })
    }

    /// The eligibilities that a new review freezes.
    fn reviewed_eligibilities(self, review: &AccessReview) -> Result<Vec<Eligibility>, StoreError> {
        let organizations = self.organizations()?;
        let scope = scope_of(review);
        self.select(|found: &Eligibility| {
            review.is_about_eligibility(found)
                && found.is_live(review.created_at)
                && organizations.is_visible(&scope, found.organization_id)
        })
    }

    fn new_item(self, review: AccessReviewId, assignment: &Assignment) -> Result<AccessReviewItem, StoreError> {
        let (id, user) = (assignment.id, assignment.user_id);
        Ok(AccessReviewItem {
            review_id: review,
            subject: ReviewSubject::Assignment { id, user, directory_group: assignment.directory_group_id },
            role: self.reviewed_role(assignment.role_id)?,
            organization: self.reviewed_place(assignment.organization_id)?,
            expires_at: assignment.expires_at,
            granted_at: assignment.created_at,
            granted_by: assignment.created_by,
            last_login_at: self.reviewed_user(user)?.last_login_at,
            decided: None,
            outcome: None,
        })
    }

    /// The item of an eligibility.
    fn new_sleeping_item(
        self,
        review: AccessReviewId,
        eligibility: &Eligibility,
    ) -> Result<AccessReviewItem, StoreError> {
        let (id, eligible) = (eligibility.id, eligibility.eligible);
        let user = eligible.user().map(|user| self.reviewed_user(user)).transpose()?;
        Ok(AccessReviewItem {
            review_id: review,
            subject: ReviewSubject::Eligibility { id, eligible },
            role: self.reviewed_role(eligibility.role_id)?,
            organization: self.reviewed_place(eligibility.organization_id)?,
            expires_at: eligibility.expires_at,
            granted_at: eligibility.created_at,
            granted_by: eligibility.created_by,
            last_login_at: user.and_then(|user| user.last_login_at),
            decided: None,
            outcome: None,
        })
    }

    fn reviewed_user(self, id: UserId) -> Result<User, StoreError> {
        let user: Option<User> = self.get(&key(id))?;
        user.ok_or_else(|| StoreError::corrupt("access_review_items.user_id", id))
    }

    fn reviewed_role(self, id: RoleId) -> Result<RoleSummary, StoreError> {
        let role: Option<Role> = self.get(&key(id))?;
        Ok(role.ok_or_else(|| StoreError::corrupt("access_review_items.role_id", id))?.summary())
    }

    fn reviewed_place(self, id: Option<OrganizationId>) -> Result<Option<OrganizationSummary>, StoreError> {
        let Some(id) = id else { return Ok(None) };
        let found: Option<Organization> = self.get(&key(id))?;
        Ok(found.map(|found| OrganizationSummary { id: found.id, name: found.name.as_str().to_owned() }))
    }
}

/// Where the items of a review are.
fn scope_of(review: &AccessReview) -> VisibleScope {
    review.organization_id.map_or(VisibleScope::Tenant, |id| VisibleScope::Organizations(vec![id]))
}

impl Draft<'_> {
    pub(super) fn write_access_review(self, change: &AccessReviewChange) -> Result<(), StoreError> {
        match change {
            AccessReviewChange::Create { review, .. } => {
                self.hold_tenant()?;
                if let Some(organization) = review.organization_id {
                    hold(Constraint::Reference, self.view().has::<Organization>(&key(organization))?)?;
                }
                for assignment in self.view().reviewed(review)? {
                    self.put(self.view().new_item(review.id, &assignment)?)?;
                }
                for eligibility in self.view().reviewed_eligibilities(review)? {
                    self.put(self.view().new_sleeping_item(review.id, &eligibility)?)?;
                }
                self.put(review.clone())
            }
            AccessReviewChange::Decide { after, .. } => {
                self.open_review(after.review_id)?;
                let stored: Option<AccessReviewItem> = self.view().get(&after.key())?;
                let stored = stored.ok_or(StoreError::Missing("access review item"))?;
                self.put(AccessReviewItem { decided: after.decided.clone(), ..stored })
            }
            AccessReviewChange::Complete { after, gone, .. } => {
                self.close_review(after)?;
                let gone: BTreeSet<&AccessReviewItemId> = gone.iter().collect();
                for item in self.view().items_of(after.id, None)? {
                    let is_gone = gone.contains(&item.id());
                    self.put(item.completed(is_gone))?;
                }
                Ok(())
            }
            AccessReviewChange::Cancel { after, .. } => self.close_review(after),
            AccessReviewChange::RemoveOldest { status, kept } => {
                let closed = self.view().select(|found: &AccessReview| found.status == *status)?;
                let closed = newest_first(closed, |review| (review.created_at, review.id));
                for review in closed.into_iter().skip(*kept as usize) {
                    for item in self.view().items_of(review.id, None)? {
                        self.remove::<AccessReviewItem>(&item.key())?;
                    }
                    self.remove::<AccessReview>(&review.key())?;
                }
                Ok(())
            }
        }
    }

    fn open_review(self, id: AccessReviewId) -> Result<AccessReview, StoreError> {
        let stored: Option<AccessReview> = self.view().get(&key(id))?;
        let stored = stored.ok_or(StoreError::Missing("access review"))?;
        hold(Constraint::AccessReviewOpen, stored.status == AccessReviewStatus::Open)?;
        Ok(stored)
    }

    fn close_review(self, after: &AccessReview) -> Result<(), StoreError> {
        let stored = self.open_review(after.id)?;
        let (status, closed_at, closed_by) = (after.status, after.closed_at, after.closed_by);
        self.put(AccessReview { status, closed_at, closed_by, ..stored })
    }
}
