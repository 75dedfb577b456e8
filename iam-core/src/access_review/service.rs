use std::collections::HashMap;

use iam_model::access::{Authority, ResourceScope, Rights, VisibleScope};
use iam_model::access_review::{
    AccessReview, AccessReviewFilter, AccessReviewItem, AccessReviewStatus, Decided, ListedAccessReview,
    ListedReviewItem, MAX_ITEMS, ReviewItemFilter, ReviewProgress, ReviewSubject,
};
use iam_model::assignment::{Grant, RevokeReason};
use iam_model::audit::ResourceType;
use iam_model::change::AccessReviewChange;
use iam_model::eligibility::{Eligibility, Eligible};
use iam_model::error::{Conflict, Error, Forbidden, Result, Rule};
use iam_model::id::{AccessReviewId, AccessReviewItemId, AssignmentId, EligibilityId, UserId};
use iam_model::organization::Hierarchy;
use iam_model::page::{Page, PageRequest};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::store::GrantQuery;

use crate::access_review::{NewAccessReview, NewDecision};
use crate::assignment::{References, check_revocation, of_groups, revoke};
use crate::caller::Caller;
use crate::distinct::distinct;
use crate::eligibility::remove;
use crate::engine::{Engine, LockedRights, UnitOfWork};
use crate::idempotency::Idempotency;

/// How many completed reviews of a tenant are kept. The audit log keeps the decisions of all of them. To complete a
/// review takes a decision about each item, so completed ones do not become large without work.
const KEPT_COMPLETED: u32 = 1_000;

/// How many cancelled reviews of a tenant are kept. They are counted apart, because many of them can be made without a
/// decision, and would remove the completed ones.
const KEPT_CANCELLED: u32 = 100;

/// Reviews who holds which role, and who may ask for one; see [`Iam::access_reviews`](crate::iam::Iam::access_reviews).
///
/// A permission that is held in an organization is for the reviews of that organization and of those below it. A review
/// of the whole tenant needs a permission that is held tenant-wide.
///
/// ```
#[doc = doctest_setup!()]
/// use chrono::TimeDelta;
/// use iam_core::access_review::{NewAccessReview, NewDecision, ReviewDecision};
/// use iam_core::assignment::NewAssignment;
///
/// let grace = iam.users().create(&ada, person("grace@example.com")).await?;
/// let member = iam.roles().by_name(&ada, "MEMBER").await?.ok_or("it is built in")?;
/// let new = NewAssignment { user: grace.id, role: member.id, organization: None, expires_at: None };
/// let assignment = iam.assignments().create(&ada, new).await?;
///
/// let due_at = iam.now() + TimeDelta::days(14);
/// let new = NewAccessReview {
///     name: "Spring".into(), organization: None, roles: vec![member.id], users: vec![], due_at,
/// };
/// let review = iam.access_reviews().create(&ada, new).await?.review;
/// let revoke = NewDecision { decision: ReviewDecision::Revoke, reason: Some("Has left.".into()) };
/// iam.access_reviews().decide(&ada, review.id, assignment.id, revoke).await?;
/// iam.access_reviews().complete(&ada, review.id).await?;
/// assert!(iam.assignments().of_user(&ada, grace.id).await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct AccessReviews<'a>(pub(crate) &'a Engine);

impl AccessReviews<'_> {
    /// Begins a review of the assignments and the eligibilities that have not expired, in an organization and below it
    /// or in the whole tenant. They are frozen as its items. Needs `access-reviews:create` and `role-assignments:read`
    /// there.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] which names every invalid field; [`Error::About`] with
    /// [`Error::NotFound`] for an organization, a role or a user that does not exist;
    /// [`Conflict::OrganizationInactive`], [`Rule::TooManyReviewItems`].
    pub async fn create(&self, caller: &Caller, new: NewAccessReview) -> Result<ListedAccessReview> {
        self.create_once(caller, new, None).await
    }

    /// Begins a review as [`create`](Self::create) does, at most once for an [idempotency key](crate::idempotency).
    /// `None` is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(
        &self,
        caller: &Caller,
        new: NewAccessReview,
        idempotency: Option<&Idempotency>,
    ) -> Result<ListedAccessReview> {
        const NEEDED: [&Permission; 2] = [&permission::ACCESS_REVIEWS_CREATE, &permission::ROLE_ASSIGNMENTS_READ];
        let iam = self.0;
        for permission in NEEDED {
            iam.rights(caller).require_anywhere(permission)?;
        }
        let (open, most) = (self.open(caller).await?, iam.settings.max_open_access_reviews);
        let once = iam.once(caller, idempotency, &ResourceType::ACCESS_REVIEW);
        let mut work = iam.begin(caller).await?;
        if let Some(made) = once.find(&mut work).await? {
            return Ok(made);
        }
        if open >= most {
            return Err(Conflict::TooManyAccessReviews(most).into());
        }
        let reviewer = work.lock_rights().await?;
        let organization_id = new.organization;
        let now = work.now();
        let new = new.validate(now)?;
        let references = References::load(&mut work, new.roles.iter().copied(), organization_id.into_iter()).await?;
        for permission in NEEDED {
            let node = references.node(reviewer.rights(), permission, organization_id, &str::to_owned)?;
            if node.is_some_and(|node| node.organization.status.is_inactive()) {
                return Err(Conflict::OrganizationInactive.into());
            }
        }
        for (number, role) in new.roles.iter().enumerate() {
            references.role(*role, &|_: &str| format!("roleIds[{number}]"))?;
        }
        check_users(&mut work, &new.users).await?;
        let review = AccessReview {
            id: iam.next_id(),
            tenant_id: caller.tenant(),
            name: new.name,
            organization_id,
            role_ids: distinct(new.roles),
            user_ids: distinct(new.users),
            due_at: new.due_at,
            status: AccessReviewStatus::Open,
            created_at: now,
            created_by: caller.user(),
            closed_at: None,
            closed_by: None,
        };
        let items = work.reads().count_items_of(&review, MAX_ITEMS + 1).await?;
        if items > MAX_ITEMS {
            return Err(Rule::TooManyReviewItems(MAX_ITEMS).into());
        }
        work.apply(AccessReviewChange::Create { review: review.clone(), items }).await?;
        let made = ListedAccessReview { review, progress: ReviewProgress::of_new(items) };
        once.keep(&mut work, &made).await?;
        work.commit().await?;
        Ok(made)
    }

    /// The number of reviews of the tenant that are OPEN. A few more may begin until the next one has the lock.
    async fn open(&self, caller: &Caller) -> Result<u64> {
        let filter = AccessReviewFilter { status: Some(AccessReviewStatus::Open) };
        let page = PageRequest::new(1, 1)?;
        Ok(self.0.store.access_reviews(caller.tenant(), &filter, &VisibleScope::Tenant, page).await?.total)
    }

    /// Returns a page of the reviews that pass a filter, newest first. Needs `access-reviews:read`. If the permission is
    /// held in organizations, the list is limited to the reviews of these and of those below.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn list(
        &self,
        caller: &Caller,
        filter: &AccessReviewFilter,
        page: PageRequest,
    ) -> Result<Page<ListedAccessReview>> {
        let scope = self.0.rights(caller).visible_scope(&permission::ACCESS_REVIEWS_READ)?;
        let _turn = self.0.long_read(caller).await?;
        let Page { items, total, request } = self.0.store.access_reviews(caller.tenant(), filter, &scope, page).await?;
        let ids: Vec<AccessReviewId> = items.iter().map(|review| review.id).collect();
        let progress = self.0.store.access_review_progress(caller.tenant(), &ids).await?;
        let progress: HashMap<AccessReviewId, ReviewProgress> = progress.into_iter().collect();
        let listed = |review: AccessReview| {
            let progress = progress.get(&review.id).copied().unwrap_or_default();
            ListedAccessReview { review, progress }
        };
        Ok(Page { items: items.into_iter().map(listed).collect(), total, request })
    }

    /// Returns a review. Needs `access-reviews:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: AccessReviewId) -> Result<ListedAccessReview> {
        let review = self.find(caller, id).await?;
        let progress = self.0.store.access_review_progress(caller.tenant(), &[id]).await?;
        let progress = progress.into_iter().next().map(|(_, progress)| progress).unwrap_or_default();
        Ok(ListedAccessReview { review, progress })
    }

    /// Returns a page of the items of a review, by their identifiers. Needs `access-reviews:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn items(
        &self,
        caller: &Caller,
        id: AccessReviewId,
        filter: Option<ReviewItemFilter>,
        page: PageRequest,
    ) -> Result<Page<ListedReviewItem>> {
        self.find(caller, id).await?;
        let _turn = self.0.long_read(caller).await?;
        Ok(self.0.store.access_review_items(caller.tenant(), id, filter, page).await?)
    }

    /// Returns all items of a review, at most 10,000, by their identifiers. Needs `access-reviews:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn all_items(
        &self,
        caller: &Caller,
        id: AccessReviewId,
        filter: Option<ReviewItemFilter>,
    ) -> Result<Vec<ListedReviewItem>> {
        self.find(caller, id).await?;
        let _turn = self.0.long_read(caller).await?;
        Ok(self.0.store.all_access_review_items(caller.tenant(), id, filter).await?)
    }

    /// Decides about an item of an OPEN review, in place of an earlier decision. This has no effect on the assignment
    /// or the eligibility before the review is completed. Needs `access-reviews:update`, also where that is now. A user
    /// cannot decide about its own roles, nor about those for which it may ask, and an API key decides about none: the
    /// user may have made a key of another account for that. A decision that changes nothing records nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::OwnAccess`], [`Forbidden::ApiKey`], [`Error::NotFound`],
    /// [`Error::Validation`] for a reason that is too long, [`Conflict::AccessReviewNotOpen`].
    pub async fn decide(
        &self,
        caller: &Caller,
        id: AccessReviewId,
        item: impl Into<AccessReviewItemId> + Send,
        decision: NewDecision,
    ) -> Result<ListedReviewItem> {
        self.0.rights(caller).require_anywhere(&permission::ACCESS_REVIEWS_UPDATE)?;
        caller.refuse_api_key()?;
        let (item, reason) = (item.into(), decision.valid_reason()?);
        let mut work = self.0.begin(caller).await?;
        let (reviewer, review) = lock(&mut work, id).await?;
        let before = work.reads().lock_access_review_item(id, item).await?;
        let before = before.ok_or(Error::NotFound(ResourceType::ACCESS_REVIEW_ITEM))?;
        require_no_own(&mut work, &[before.subject]).await?;
        require_open(&review)?;
        require_there(&mut work, reviewer.rights(), before.subject).await?;
        let user = match before.subject.user() {
            Some(user) => {
                let user = work.reads().users_by_id(&[user]).await?.pop();
                Some(user.ok_or_else(|| Error::internal("access review item", "its user is missing"))?.summary())
            }
            None => None,
        };
        let is_decided = |decided: &Decided| (decided.decision, &decided.reason) == (decision.decision, &reason);
        if before.decided.as_ref().is_some_and(is_decided) {
            return Ok(ListedReviewItem { item: before, user });
        }
        let decided =
            Decided { decision: decision.decision, reason, decided_by: caller.user(), decided_at: work.now() };
        let after = AccessReviewItem { decided: Some(decided), ..before.clone() };
        let (organization, before) = (review.organization_id, Box::new(before));
        work.apply(AccessReviewChange::Decide { organization, before, after: after.clone() }).await?;
        work.commit().await?;
        Ok(ListedReviewItem { item: after, user })
    }

    /// Completes an OPEN review of which every item is decided: revokes all assignments and removes all eligibilities
    /// that are to be revoked, or none. Those that have ended meanwhile are skipped. Needs `access-reviews:update`, and
    /// `role-assignments:delete` in the resource scope of each assignment that is revoked, and `eligibilities:delete`,
    /// by standing rights, in that of each eligibility. A user cannot complete a review that revokes an assignment of
    /// its own, or an eligibility by which it may ask. A user who loses what a group of a directory gives stays a
    /// member, and gets it again only when the directory removes the user from the group and adds it. Of the completed
    /// reviews of a tenant, the 1,000 that began last are kept.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::OwnAccess`], [`Error::NotFound`], [`Conflict::AccessReviewNotOpen`],
    /// [`Conflict::AccessReviewUndecided`]; [`Error::About`] that names the item (`items[…]`) with
    /// [`Error::Forbidden`] or [`Conflict::LastAdministrator`] for an assignment that cannot be revoked.
    pub async fn complete(&self, caller: &Caller, id: AccessReviewId) -> Result<ListedAccessReview> {
        self.0.rights(caller).require_anywhere(&permission::ACCESS_REVIEWS_UPDATE)?;
        caller.refuse_api_key()?;
        let mut work = self.0.begin(caller).await?;
        let (reviewer, before) = lock(&mut work, id).await?;
        require_open(&before)?;
        let decided = work.reads().items_to_revoke(id).await?;
        require_no_own(&mut work, &decided).await?;
        let progress = work.reads().progress_of(id).await?;
        if progress.undecided > 0 {
            return Err(Conflict::AccessReviewUndecided(progress.undecided).into());
        }
        let gone = revoke_decided(&mut work, decided, &reviewer).await?;
        let review = before.closed(AccessReviewStatus::Completed, work.now(), caller.user());
        work.apply(AccessReviewChange::Complete { before, after: review.clone(), progress, gone }).await?;
        work.apply(AccessReviewChange::RemoveOldest { status: review.status, kept: KEPT_COMPLETED }).await?;
        work.commit().await?;
        Ok(ListedAccessReview { review, progress })
    }

    /// Gives up an OPEN review. Nothing is revoked. Needs `access-reviews:update`. A user cannot cancel a review that
    /// would revoke an assignment of its own, or an eligibility by which it may ask. Of the cancelled reviews of a
    /// tenant, the 100 that began last are kept.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::OwnAccess`], [`Error::NotFound`], [`Conflict::AccessReviewNotOpen`].
    pub async fn cancel(&self, caller: &Caller, id: AccessReviewId) -> Result<ListedAccessReview> {
        self.0.rights(caller).require_anywhere(&permission::ACCESS_REVIEWS_UPDATE)?;
        caller.refuse_api_key()?;
        let mut work = self.0.begin(caller).await?;
        let (_, before) = lock(&mut work, id).await?;
        require_open(&before)?;
        let decided = work.reads().items_to_revoke(id).await?;
        require_no_own(&mut work, &decided).await?;
        let progress = work.reads().progress_of(id).await?;
        let review = before.closed(AccessReviewStatus::Cancelled, work.now(), caller.user());
        work.apply(AccessReviewChange::Cancel { before, after: review.clone(), progress }).await?;
        work.apply(AccessReviewChange::RemoveOldest { status: review.status, kept: KEPT_CANCELLED }).await?;
        work.commit().await?;
        Ok(ListedAccessReview { review, progress })
    }

    /// Returns a review that the caller may see.
    async fn find(&self, caller: &Caller, id: AccessReviewId) -> Result<AccessReview> {
        let rights = self.0.rights(caller);
        rights.require_anywhere(&permission::ACCESS_REVIEWS_READ)?;
        let review = self.0.store.access_review(caller.tenant(), id).await?.ok_or_else(not_found)?;
        let ancestry = self.0.lineages(caller.tenant(), review.organization_id).await?;
        let scope = match review.organization_id {
            None => ResourceScope::Tenant,
            Some(organization) => ancestry.position(organization).ok_or_else(not_found)?.scope(),
        };
        rights.require_at(&permission::ACCESS_REVIEWS_READ, scope, ResourceType::ACCESS_REVIEW)?;
        Ok(review)
    }
}

/// Locks a review that the caller may change, under the tenant's lock.
async fn lock(work: &mut UnitOfWork<'_>, id: AccessReviewId) -> Result<(LockedRights, AccessReview)> {
    let locked = work.lock_rights().await?;
    locked.rights().require_anywhere(&permission::ACCESS_REVIEWS_UPDATE)?;
    let review = work.reads().lock_access_review(id).await?.ok_or_else(not_found)?;
    let hierarchy = work.hierarchy_of(review.organization_id.as_slice()).await?;
    let scope = match review.organization_id {
        None => ResourceScope::Tenant,
        Some(organization) => hierarchy.node(organization).ok_or_else(not_found)?.scope(),
    };
    locked.rights().require_at(&permission::ACCESS_REVIEWS_UPDATE, scope, ResourceType::ACCESS_REVIEW)?;
    Ok((locked, review))
}

/// Requires that the caller may decide where the subject of an item is now: its organization may have been moved out of
/// that of the review.
async fn require_there(work: &mut UnitOfWork<'_>, rights: Rights<'_>, subject: ReviewSubject) -> Result<()> {
    let (permission, unseen) = (&permission::ACCESS_REVIEWS_UPDATE, ResourceType::ACCESS_REVIEW_ITEM);
    match subject {
        ReviewSubject::Assignment { id, .. } => {
            for grant in work.reads().grants(GrantQuery::One(id)).await? {
                rights.require_at(permission, grant.scope(), unseen.clone())?;
            }
        }
        ReviewSubject::Eligibility { id, .. } => {
            if let Some(eligibility) = work.reads().eligibility(id).await? {
                let hierarchy = work.hierarchy_of(eligibility.organization_id.as_slice()).await?;
                rights.require_at(permission, scope_of(&eligibility, &hierarchy)?, unseen)?;
            }
        }
    }
    Ok(())
}

/// The place of an eligibility.
fn scope_of<'h>(eligibility: &Eligibility, hierarchy: &'h Hierarchy) -> Result<ResourceScope<'h>> {
    let unknown = || Error::internal("eligibility", "its organization is missing");
    match eligibility.organization_id {
        None => Ok(ResourceScope::Tenant),
        Some(organization) => Ok(hierarchy.node(organization).ok_or_else(unknown)?.scope()),
    }
}

/// Revokes what is to be revoked. Returns the items whose subjects have ended before.
async fn revoke_decided(
    work: &mut UnitOfWork<'_>,
    decided: Vec<ReviewSubject>,
    reviewer: &LockedRights,
) -> Result<Vec<AccessReviewItemId>> {
    let assignments: Vec<AssignmentId> = decided.iter().filter_map(|subject| subject.assignment()).collect();
    let eligibilities: Vec<EligibilityId> = decided.iter().filter_map(|subject| subject.eligibility()).collect();
    let mut gone = remove_eligibilities(work, eligibilities, reviewer).await?;
    gone.extend(revoke_assignments(work, assignments, reviewer.rights()).await?);
    Ok(gone)
}

/// Removes the eligibilities that are to be removed. Returns the items of those that are gone.
async fn remove_eligibilities(
    work: &mut UnitOfWork<'_>,
    decided: Vec<EligibilityId>,
    reviewer: &LockedRights,
) -> Result<Vec<AccessReviewItemId>> {
    if decided.is_empty() {
        return Ok(Vec::new());
    }
    let all = work.reads().all_eligibilities().await?;
    let mut found: HashMap<EligibilityId, Eligibility> = all.into_iter().map(|found| (found.id, found)).collect();
    let (mut gone, mut removed) = (Vec::new(), Vec::new());
    for id in decided {
        match found.remove(&id) {
            Some(eligibility) => removed.push(eligibility),
            None => gone.push(id.into()),
        }
    }
    let hierarchy = work.hierarchy_of(&distinct(removed.iter().filter_map(|found| found.organization_id))).await?;
    let standing = reviewer.standing();
    for eligibility in &removed {
        let needed = &permission::ELIGIBILITIES_DELETE;
        if !standing.rights().holds(needed, scope_of(eligibility, &hierarchy)?) {
            return Err(in_item(eligibility.id.into(), Forbidden::Permission(needed.clone()).into()));
        }
    }
    remove(work, &removed, Some(RevokeReason::AccessReview)).await?;
    Ok(gone)
}

/// Revokes the assignments that are to be revoked. Returns the items of those that have ended before.
async fn revoke_assignments(
    work: &mut UnitOfWork<'_>,
    decided: Vec<AssignmentId>,
    rights: Rights<'_>,
) -> Result<Vec<AccessReviewItemId>> {
    let found = work.reads().grants(GrantQuery::Each(&decided)).await?;
    of_groups::withhold(work, &found).await?;
    let mut found: HashMap<AssignmentId, Grant> = found.into_iter().map(|grant| (grant.assignment.id, grant)).collect();
    let (mut gone, mut others) = (Vec::new(), Vec::with_capacity(found.len()));
    for id in decided {
        work.invalidate(id);
        let Some(grant) = found.remove(&id) else {
            gone.push(id.into());
            continue;
        };
        check_revocation(work, rights, &grant).await.map_err(|error| in_item(id.into(), error))?;
        if grant.is_lasting_administration() {
            // At once, so that the check of the next administrator does not count this one.
            revoke(work, vec![grant], RevokeReason::AccessReview).await?;
        } else {
            others.push(grant);
        }
    }
    revoke(work, others, RevokeReason::AccessReview).await?;
    Ok(gone)
}

/// Names the item of which the assignment or the eligibility cannot be revoked.
fn in_item(id: AccessReviewItemId, error: Error) -> Error {
    let error = match error {
        // The caller sees the item, so it may know its assignment.
        Error::NotFound(_) => Forbidden::Permission(permission::ROLE_ASSIGNMENTS_DELETE).into(),
        error => error,
    };
    match error {
        Error::Forbidden(_) | Error::Conflict(_) => error.about(format!("items[{id}]")),
        error => error,
    }
}

/// Refuses users that do not exist.
async fn check_users(work: &mut UnitOfWork<'_>, users: &[UserId]) -> Result<()> {
    if users.is_empty() {
        return Ok(());
    }
    let found = work.reads().users_by_id(&distinct(users.iter().copied())).await?;
    match users.iter().position(|id| !found.iter().any(|user| user.id == *id)) {
        Some(number) => Err(Error::NotFound(ResourceType::USER).about(format!("userIds[{number}]"))),
        None => Ok(()),
    }
}

/// Refuses a caller who holds one of these roles by the assignment of the item, or may ask for it by the eligibility:
/// it must not choose whether it stays, or when it goes.
async fn require_no_own(work: &mut UnitOfWork<'_>, subjects: &[ReviewSubject]) -> Result<()> {
    let Some(user) = work.caller().user() else { return Ok(()) };
    if subjects.iter().any(|subject| subject.user() == Some(user)) {
        return Err(Forbidden::OwnAccess.into());
    }
    let is_of_holders = |subject: &&ReviewSubject| {
        matches!(subject, ReviewSubject::Eligibility { eligible: Eligible::HoldersOf(_), .. })
    };
    let of_holders: Vec<EligibilityId> =
        subjects.iter().filter(is_of_holders).filter_map(|subject| subject.eligibility()).collect();
    if of_holders.is_empty() {
        return Ok(());
    }
    let grants = work.reads().grants(GrantQuery::OfUser(user)).await?;
    let mut eligibilities = work.reads().all_eligibilities().await?;
    eligibilities.retain(|eligibility| of_holders.contains(&eligibility.id));
    let organizations = distinct(eligibilities.iter().filter_map(|eligibility| eligibility.organization_id));
    let (hierarchy, now) = (work.hierarchy_of(&organizations).await?, work.now());
    let rights = Authority::of(&grants);
    for eligibility in &eligibilities {
        if eligibility.is_for(user, &rights, scope_of(eligibility, &hierarchy)?, now) {
            return Err(Forbidden::OwnAccess.into());
        }
    }
    Ok(())
}

fn require_open(review: &AccessReview) -> Result<()> {
    match review.status {
        AccessReviewStatus::Open => Ok(()),
        AccessReviewStatus::Completed | AccessReviewStatus::Cancelled => Err(Conflict::AccessReviewNotOpen.into()),
    }
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::ACCESS_REVIEW)
}
