//! Access reviews.

use std::cmp::Reverse;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::Iam;
use iam_core::access_review::{NewAccessReview, NewDecision};
use iam_core::user::NewUser;
use iam_model::access::VisibleScope;
use iam_model::access_review::{
    AccessReview, AccessReviewFilter, AccessReviewItem, AccessReviewStatus, Decided, ListedAccessReview,
    ListedReviewItem, ReviewDecision, ReviewItemFilter, ReviewOutcome, ReviewProgress, ReviewSubject,
};
use iam_model::assignment::Assignment;
use iam_model::change::{AccessReviewChange, AssignmentChange, Change, OrganizationChange};
use iam_model::eligibility::{Eligibility, Eligible};
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::{AccessReviewId, AccessReviewItemId, AssignmentId, TenantId};
use iam_model::organization::Organization;
use iam_model::page::{Page, PageRequest};
use iam_model::role::Role;
use iam_model::store::{GrantQuery, Store};
use iam_model::store_error::Constraint;
use iam_model::tenant::Tenant;
use iam_model::user::User;
use tokio::task::JoinSet;

use crate::eligibility::{add_eligibility, new_eligibility};
use crate::race::{race, settings};
use crate::world::{World, assert_conflict, assert_pages, assigning, everything, sorted, within};

fn new_review(world: &World, tenant: &Tenant, organization: Option<&Organization>) -> AccessReview {
    AccessReview {
        id: world.id(),
        tenant_id: tenant.id,
        name: "Spring \"x\" 🦀".parse().unwrap(),
        organization_id: organization.map(|organization| organization.id),
        role_ids: Vec::new(),
        user_ids: Vec::new(),
        due_at: world.now() + TimeDelta::milliseconds(123_456),
        status: AccessReviewStatus::Open,
        created_at: world.now(),
        created_by: None,
        closed_at: None,
        closed_by: None,
    }
}

/// Begins a review. Its items are as many as a transaction counts.
async fn begin(world: &World, review: AccessReview) -> AccessReview {
    let mut work = world.begin(&World::system(review.tenant_id)).await;
    let items = work.reads().count_items_of(&review, 100_000).await.unwrap();
    work.apply(AccessReviewChange::Create { review: review.clone(), items }).await.unwrap();
    work.commit().await.unwrap();
    let progress = progress(world, &review).await;
    assert_eq!(progress, ReviewProgress::of_new(items));
    review
}

async fn read(world: &World, tenant: TenantId, id: AccessReviewId) -> Option<AccessReview> {
    let read = world.store.access_review(tenant, id).await.unwrap();
    let locked = world.locked(tenant, async |locks| locks.lock_access_review(id).await.unwrap()).await;
    assert_eq!(read, locked);
    read
}

async fn progress(world: &World, review: &AccessReview) -> ReviewProgress {
    let (tenant, id) = (review.tenant_id, review.id);
    let read = world.store.access_review_progress(tenant, &[id]).await.unwrap();
    let read = read.into_iter().find(|(of, _)| *of == id).map(|(_, progress)| progress).unwrap_or_default();
    let locked = world.locked(tenant, async |locks| locks.progress_of(id).await.unwrap()).await;
    assert_eq!(read, locked);
    read
}

async fn items(world: &World, review: &AccessReview) -> Vec<ListedReviewItem> {
    let items = world.store.all_access_review_items(review.tenant_id, review.id, None).await.unwrap();
    for listed in &items {
        let id = listed.item.id();
        let locked = world.locked(review.tenant_id, async |locks| locks.lock_access_review_item(review.id, id).await);
        assert_eq!(locked.await.unwrap().as_ref(), Some(&listed.item));
    }
    items
}

fn ids(items: Vec<ListedReviewItem>) -> Vec<AccessReviewItemId> {
    items.into_iter().map(|listed| listed.item.id()).collect()
}

fn decided(world: &World, decision: ReviewDecision) -> Decided {
    Decided { decision, reason: None, decided_by: None, decided_at: world.now() }
}

fn deciding(before: &AccessReviewItem, decided: Decided) -> Change {
    let after = AccessReviewItem { decided: Some(decided), ..before.clone() };
    AccessReviewChange::Decide { organization: None, before: before.clone().into(), after }.into()
}

fn completing(world: &World, review: &AccessReview, gone: &[AccessReviewItemId]) -> Change {
    AccessReviewChange::Complete {
        before: review.clone(),
        after: review.closed(AccessReviewStatus::Completed, world.now(), Some(world.id())),
        progress: ReviewProgress::default(),
        gone: gone.to_vec(),
    }
    .into()
}

fn cancelling(world: &World, review: &AccessReview) -> Change {
    let after = review.closed(AccessReviewStatus::Cancelled, world.now(), None);
    AccessReviewChange::Cancel { before: review.clone(), after, progress: ReviewProgress::default() }.into()
}

/// A review with one item for each of these users.
async fn with_items(world: &World, tenant: &Tenant, number: usize) -> (AccessReview, Vec<AccessReviewItem>) {
    let role = world.role(tenant, "CLERK", &["users:read"]).await;
    for number in 0..number {
        let user = world.user(tenant, &format!("user{number}@example.com")).await;
        world.give(&user, &role, None).await;
    }
    let review = begin(world, new_review(world, tenant, None)).await;
    let items = items(world, &review).await;
    assert_eq!(items.len(), number);
    (review, items.into_iter().map(|listed| listed.item).collect())
}

/// A review is read back with its roles and users in their order, only in its tenant.
pub async fn a_review_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let root = world.organization(&acme, "root").await;
    let full = AccessReview {
        role_ids: vec![world.id(), world.id(), world.id()],
        user_ids: vec![world.id(), world.id()],
        created_by: Some(world.id()),
        ..new_review(&world, &acme, Some(&root))
    };
    for review in [full, new_review(&world, &acme, None)] {
        let review = begin(&world, review).await;
        assert_eq!(read(&world, acme.id, review.id).await.as_ref(), Some(&review));
        assert_eq!(read(&world, other.id, review.id).await, None);
        assert_eq!(items(&world, &review).await, []);
    }
    assert_eq!(read(&world, acme.id, world.id()).await, None);
}

/// A review needs a tenant that exists, and an organization of this tenant.
pub async fn a_review_of_a_missing_place_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let foreign = world.organization(&other, "foreign").await;
    let missing = world.new_organization(acme.id, "missing");
    for review in [
        new_review(&world, &world.new_tenant("missing"), None),
        new_review(&world, &acme, Some(&foreign)),
        new_review(&world, &acme, Some(&missing)),
    ] {
        let tenant = review.tenant_id;
        let create = AccessReviewChange::Create { review, items: 0 };
        assert_conflict(&world.try_commit(tenant, [create.into()]).await, Constraint::Reference);
    }
}

/// The items of a review are the assignments of its organization and below, of its roles and its users, that have not
/// expired at the exact millisecond of its beginning. They are counted up to a limit.
pub async fn live_assignments_of_the_place_are_frozen(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let root = world.organization(&acme, "root").await;
    let (left, right) = (world.below(&root, "left").await, world.below(&root, "right").await);
    let leaf = world.below(&left, "leaf").await;
    let roles = [world.role(&acme, "CLERK", &["users:read"]).await, world.role(&acme, "COOK", &["roles:read"]).await];
    let seen = User { last_login_at: Some(world.now()), ..world.new_user(&acme, "ada@example.com") };
    let users = [world.add(seen).await, world.user(&acme, "bob@example.com").await];
    let mut assignments = Vec::new();
    for (number, place) in [None, Some(&root), Some(&left), Some(&right), Some(&leaf)].into_iter().enumerate() {
        for (role, user) in [(0, 0), (1, 0), (0, 1)] {
            let expires_at = match (number, role, user) {
                (0, ..) => Some(world.now() + TimeDelta::milliseconds(2)),
                (1, 1, _) => Some(world.now() + TimeDelta::milliseconds(1)),
                _ => None,
            };
            let created_by = (number == 2).then(|| world.id());
            let directory_group_id = (number > 2).then(|| world.id());
            let organization = place.map(|place| place.id);
            let assignment = world.new_assignment(&users[user], &roles[role], organization);
            let assignment = Assignment { expires_at, created_by, directory_group_id, ..assignment };
            assignments.push(world.assign(assignment, &roles[role]).await);
        }
    }
    let foreign = world.user(&other, "eve@example.com").await;
    world.give(&foreign, &world.role(&other, "CLERK", &["users:read"]).await, None).await;
    world.clock.advance(TimeDelta::milliseconds(1));
    let is_below = |place: Option<&Organization>, assignment: &Assignment| {
        place.is_none_or(|place| {
            let below = match place.id {
                id if id == root.id => vec![root.id, left.id, right.id, leaf.id],
                id if id == left.id => vec![left.id, leaf.id],
                id => vec![id],
            };
            assignment.organization_id.is_some_and(|at| below.contains(&at))
        })
    };
    for place in [None, Some(&root), Some(&left), Some(&right), Some(&leaf)] {
        for role_ids in [vec![], vec![roles[0].id], vec![roles[1].id, roles[0].id], vec![world.id()]] {
            for user_ids in [vec![], vec![users[1].id], vec![users[0].id, users[1].id]] {
                let (role_ids, user_ids) = (role_ids.clone(), user_ids);
                let review = AccessReview { role_ids, user_ids, ..new_review(&world, &acme, place) };
                let is_item = |it: &&Assignment| {
                    it.is_live(world.now()) && review.is_about(it.role_id, it.user_id) && is_below(place, it)
                };
                let expected: Vec<&Assignment> = assignments.iter().filter(is_item).collect();
                let expected = sorted(expected, |it| AccessReviewItemId::from(it.id));
                for limit in [0, 1, 100] {
                    let count = async |locks: &mut dyn iam_model::store::TransactionReads| {
                        locks.count_items_of(&review, limit).await.unwrap()
                    };
                    assert_eq!(world.locked(acme.id, count).await, limit.min(expected.len() as u64));
                }
                let review = begin(&world, review).await;
                assert_eq!(ids(items(&world, &review).await), expected, "{review:?}");
            }
        }
    }
    let review = begin(&world, new_review(&world, &acme, Some(&leaf))).await;
    let items = items(&world, &review).await;
    let of = &assignments[12];
    let expected = AccessReviewItem {
        review_id: review.id,
        subject: ReviewSubject::Assignment { id: of.id, user: users[0].id, directory_group: of.directory_group_id },
        role: roles[0].summary(),
        organization: Some(iam_model::organization::OrganizationSummary { id: leaf.id, name: leaf.name.to_string() }),
        expires_at: None,
        granted_at: of.created_at,
        granted_by: None,
        last_login_at: users[0].last_login_at,
        decided: None,
        outcome: None,
    };
    assert_eq!(items[0], ListedReviewItem { item: expected, user: Some(users[0].summary()) });
    let review = begin(&world, new_review(&world, &acme, None)).await;
    let all = world.store.all_access_review_items(acme.id, review.id, None).await.unwrap();
    for listed in all {
        let of = assignments.iter().find(|it| Some(it.id) == listed.item.subject.assignment()).unwrap();
        let item = listed.item;
        let place = item.organization.map(|place| place.id);
        let frozen = (item.expires_at, item.granted_by, item.subject.directory_group(), place);
        assert_eq!(frozen, (of.expires_at, of.created_by, of.directory_group_id, of.organization_id));
    }
}

/// The items of a review are also the eligibilities of its organization and below, for its roles and naming its users,
/// that have not expired at the exact millisecond of its beginning. They are counted with the assignments.
pub async fn live_eligibilities_of_the_place_are_frozen(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let root = world.organization(&acme, "root").await;
    let leaf = world.below(&root, "leaf").await;
    let roles = [world.role(&acme, "CLERK", &["users:read"]).await, world.role(&acme, "COOK", &["roles:read"]).await];
    let seen = User { last_login_at: Some(world.now()), ..world.new_user(&acme, "ada@example.com") };
    let users = [world.add(seen).await, world.user(&acme, "bob@example.com").await];
    let mut eligibilities = Vec::new();
    for (millis, place) in [(0, None), (1, Some(&root)), (2, Some(&leaf))] {
        for (role, eligible) in
            [(0, Eligible::User(users[0].id)), (1, Eligible::User(users[1].id)), (0, Eligible::HoldersOf(roles[1].id))]
        {
            let expires_at = (role == 1).then(|| world.now() + TimeDelta::milliseconds(millis));
            let created_by = (millis == 1).then(|| world.id());
            let new = new_eligibility(&world, &roles[role], place, eligible);
            eligibilities.push(add_eligibility(&world, Eligibility { expires_at, created_by, ..new }).await);
        }
    }
    let foreign = world.role(&other, "CLERK", &["users:read"]).await;
    add_eligibility(&world, new_eligibility(&world, &foreign, None, Eligible::HoldersOf(foreign.id))).await;
    let assignment = world.give(&users[0], &roles[0], Some(&leaf)).await;
    world.clock.advance(TimeDelta::milliseconds(1));
    let is_below = |place: Option<&Organization>, organization: Option<iam_model::id::OrganizationId>| {
        place.is_none_or(|place| organization == Some(place.id) || (place.id == root.id && organization.is_some()))
    };
    for place in [None, Some(&root), Some(&leaf)] {
        for role_ids in [vec![], vec![roles[0].id], vec![roles[1].id]] {
            for user_ids in [vec![], vec![users[0].id], vec![world.id(), users[1].id]] {
                let review = AccessReview { role_ids: role_ids.clone(), user_ids, ..new_review(&world, &acme, place) };
                let is_item = |it: &&Eligibility| {
                    it.is_live(world.now()) && review.is_about_eligibility(it) && is_below(place, it.organization_id)
                };
                let items_of: Vec<&Eligibility> = eligibilities.iter().filter(is_item).collect();
                let mut expected = sorted(items_of, |it| AccessReviewItemId::from(it.id));
                if review.is_about(assignment.role_id, assignment.user_id) {
                    expected.push(assignment.id.into());
                    expected.sort();
                }
                let count = async |locks: &mut dyn iam_model::store::TransactionReads| {
                    locks.count_items_of(&review, 2).await.unwrap()
                };
                assert_eq!(world.locked(acme.id, count).await, 2.min(expected.len() as u64));
                let review = begin(&world, review).await;
                assert_eq!(ids(items(&world, &review).await), expected, "{review:?}");
            }
        }
    }
    let review = begin(&world, new_review(&world, &acme, None)).await;
    let items = items(&world, &review).await;
    for (number, user, place) in [(0, Some(&users[0]), None), (3, Some(&users[0]), Some(&root)), (8, None, Some(&leaf))]
    {
        let of = &eligibilities[number];
        let listed = items.iter().find(|listed| listed.item.id() == AccessReviewItemId::from(of.id)).unwrap();
        let summary = |place: &Organization| iam_model::organization::OrganizationSummary {
            id: place.id,
            name: place.name.to_string(),
        };
        let expected = AccessReviewItem {
            review_id: review.id,
            subject: ReviewSubject::Eligibility { id: of.id, eligible: of.eligible },
            role: roles[0].summary(),
            organization: place.map(summary),
            expires_at: None,
            granted_at: of.created_at,
            granted_by: of.created_by,
            last_login_at: user.and_then(|user| user.last_login_at),
            decided: None,
            outcome: None,
        };
        assert_eq!(listed, &ListedReviewItem { item: expected, user: user.map(User::summary) });
    }
}

/// A decision about an eligibility is read back, counted and completed like one about an assignment. The item stays
/// when the eligibility and its role are gone.
pub async fn eligibilities_are_decided_like_assignments(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "CLERK", &["users:read"]).await;
    let held = world.role(&tenant, "COOK", &["roles:read"]).await;
    let user = world.user(&tenant, "ada@example.com").await;
    world.give(&user, &held, None).await;
    let mut eligibilities = Vec::new();
    for eligible in [Eligible::User(user.id), Eligible::HoldersOf(held.id)] {
        eligibilities.push(add_eligibility(&world, new_eligibility(&world, &role, None, eligible)).await);
    }
    let review = begin(&world, new_review(&world, &tenant, None)).await;
    let before = items(&world, &review).await;
    assert_eq!(before.len(), 3);
    let of = |id: AccessReviewItemId| before.iter().find(|listed| listed.item.id() == id).unwrap();
    let sleeping: Vec<_> = eligibilities.iter().map(|eligibility| of(eligibility.id.into())).collect();
    for listed in &before {
        world.commit(tenant.id, deciding(&listed.item, decided(&world, ReviewDecision::Revoke))).await;
    }
    assert_eq!(progress(&world, &review).await, ReviewProgress::of(3, 0, 3));
    let revoked = world.locked(tenant.id, async |locks| locks.items_to_revoke(review.id).await.unwrap()).await;
    assert_eq!(revoked, before.iter().map(|listed| listed.item.subject).collect::<Vec<_>>());
    let delete = iam_model::change::EligibilityChange::Delete { eligibilities, reason: None };
    world.commit(tenant.id, delete).await;
    world.commit(tenant.id, iam_model::change::RoleChange::Delete(role)).await;
    world.commit(tenant.id, completing(&world, &review, &[sleeping[0].item.id()])).await;
    let after = items(&world, &review).await;
    for listed in &after {
        let is_gone = listed.item.id() == sleeping[0].item.id();
        let expected = if is_gone { ReviewOutcome::Gone } else { ReviewOutcome::Revoked };
        assert_eq!(listed.item.outcome, Some(expected));
        let former = of(listed.item.id());
        assert_eq!(
            (listed.item.subject, &listed.item.role, &listed.user),
            (former.item.subject, &former.item.role, &former.user)
        );
    }
}

/// The items stay as they are when their assignments end, a role is deleted or an organization gets another name. The
/// user is shown as it is now.
pub async fn items_do_not_change_later(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let root = world.organization(&tenant, "root").await;
    let role = world.role(&tenant, "CLERK", &["users:read"]).await;
    let user = world.user(&tenant, "ada@example.com").await;
    world.give(&user, &role, Some(&root)).await;
    let review = begin(&world, new_review(&world, &tenant, Some(&root))).await;
    let before = items(&world, &review).await;
    world.tick();
    let grants = world.grants(tenant.id, GrantQuery::OfUser(user.id)).await;
    world.commit(tenant.id, AssignmentChange::Revoke { grants, reason: None }).await;
    world.commit(tenant.id, iam_model::change::RoleChange::Delete(role)).await;
    world.reorganize(&root, Organization { name: "Renamed".parse().unwrap(), ..root.clone() }).await;
    let renamed = User { email: "ada@example.net".parse().unwrap(), ..user.clone() }.changed(world.now());
    let update =
        iam_model::change::UserChange::Update { before: user, after: renamed.clone(), grants: None, attributes: None };
    world.commit(tenant.id, update).await;
    let after = items(&world, &review).await;
    assert_eq!(after, [ListedReviewItem { user: Some(renamed.summary()), ..before[0].clone() }]);
}

/// A decision replaces an earlier one, and is counted. It changes no other item, and not the item of another review of
/// the same assignment.
pub async fn decisions_are_read_back_and_counted(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (review, before) = with_items(&world, &tenant, 3).await;
    let other = begin(&world, new_review(&world, &tenant, None)).await;
    world.tick();
    let first = Decided {
        reason: Some("Has left. \"x\" 🦀".parse().unwrap()),
        decided_by: Some(world.id()),
        ..decided(&world, ReviewDecision::Revoke)
    };
    let second = decided(&world, ReviewDecision::Keep);
    for (item, decision, counts) in [(0, &first, (0, 1)), (1, &first, (0, 2)), (0, &second, (1, 1))] {
        world.commit(tenant.id, deciding(&before[item], decision.clone())).await;
        assert_eq!(progress(&world, &review).await, ReviewProgress::of(3, counts.0, counts.1));
    }
    let after: Vec<_> = items(&world, &review).await.into_iter().map(|listed| listed.item).collect();
    let expected = [
        AccessReviewItem { decided: Some(second), ..before[0].clone() },
        AccessReviewItem { decided: Some(first), ..before[1].clone() },
        before[2].clone(),
    ];
    assert_eq!(after, expected);
    let revoked = world.locked(tenant.id, async |locks| locks.items_to_revoke(review.id).await.unwrap()).await;
    assert_eq!(revoked, [before[1].subject]);
    assert_eq!(progress(&world, &other).await, ReviewProgress::of_new(3));
    let both = world.store.access_review_progress(tenant.id, &[other.id, review.id]).await.unwrap();
    assert_eq!(sorted(both, |(id, progress)| (id, progress.undecided)), [(review.id, 1), (other.id, 3)]);
}

/// A review that is completed or cancelled takes no decision, and is not closed again.
pub async fn a_closed_review_does_not_change(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let other = world.tenant("other").await;
    let (first, items) = with_items(&world, &tenant, 1).await;
    let second = begin(&world, new_review(&world, &tenant, None)).await;
    let subject = ReviewSubject::Assignment { id: world.id(), user: world.id(), directory_group: None };
    let missing = AccessReviewItem { subject, ..items[0].clone() };
    let decision = decided(&world, ReviewDecision::Revoke);
    assert!(world.try_commit(tenant.id, [deciding(&missing, decision.clone())]).await.is_err());
    assert!(world.try_commit(other.id, [deciding(&items[0], decision.clone())]).await.is_err());
    assert!(world.try_commit(other.id, [completing(&world, &first, &[])]).await.is_err());
    assert!(world.try_commit(tenant.id, [cancelling(&world, &new_review(&world, &tenant, None))]).await.is_err());
    for (review, close) in [(&first, completing(&world, &first, &[])), (&second, cancelling(&world, &second))] {
        let item = AccessReviewItem { review_id: review.id, ..items[0].clone() };
        world.commit(tenant.id, close).await;
        let closed = read(&world, tenant.id, review.id).await;
        assert_ne!(closed.as_ref(), Some(review));
        for change in [deciding(&item, decision.clone()), completing(&world, review, &[]), cancelling(&world, review)] {
            assert_conflict(&world.try_commit(tenant.id, [change]).await, Constraint::AccessReviewOpen);
        }
        assert_eq!(read(&world, tenant.id, review.id).await, closed);
        assert_eq!(progress(&world, review).await, ReviewProgress::of_new(1));
    }
}

/// A completion closes the review and gives each item its outcome. A cancelled review has no outcomes.
pub async fn completed_items_have_outcomes(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (review, before) = with_items(&world, &tenant, 4).await;
    let cancelled = begin(&world, new_review(&world, &tenant, None)).await;
    let decisions = [ReviewDecision::Keep, ReviewDecision::Revoke, ReviewDecision::Revoke, ReviewDecision::Keep];
    for (item, decision) in before.iter().zip(decisions) {
        world.commit(tenant.id, deciding(item, decided(&world, decision))).await;
    }
    world.tick();
    let (closer, gone) = (world.id(), vec![before[2].id(), before[3].id()]);
    let after = review.closed(AccessReviewStatus::Completed, world.now(), Some(closer));
    let progress = progress(&world, &review).await;
    let complete = AccessReviewChange::Complete { before: review.clone(), after: after.clone(), progress, gone };
    world.commit(tenant.id, complete).await;
    assert_eq!(read(&world, tenant.id, review.id).await, Some(after));
    let outcomes = async |review| items(&world, review).await.into_iter().map(|it| it.item.outcome).collect::<Vec<_>>();
    let expected = [ReviewOutcome::Kept, ReviewOutcome::Revoked, ReviewOutcome::Gone, ReviewOutcome::Kept];
    assert_eq!(outcomes(&review).await, expected.map(Some));
    world.commit(tenant.id, cancelling(&world, &cancelled)).await;
    assert_eq!(outcomes(&cancelled).await, [None; 4]);
}

async fn list(
    world: &World,
    tenant: &Tenant,
    status: Option<AccessReviewStatus>,
    scope: &VisibleScope,
    page: PageRequest,
) -> Page<AccessReview> {
    world.store.access_reviews(tenant.id, &AccessReviewFilter { status }, scope, page).await.unwrap()
}

/// A list is sorted newest first, then by identifier. It can be filtered by the status.
pub async fn list_pages_counts_and_filters(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    begin(&world, new_review(&world, &other, None)).await;
    let mut expected = Vec::new();
    for number in 0..8 {
        if number % 2 == 0 {
            world.tick();
        }
        expected.push(begin(&world, new_review(&world, &tenant, None)).await);
    }
    expected.sort_by_key(|review| (Reverse(review.created_at), review.id));
    let everywhere = &VisibleScope::Tenant;
    assert_pages(&expected, async |page| list(&world, &tenant, None, everywhere, page).await).await;
    world.commit(tenant.id, completing(&world, &expected[1], &[])).await;
    world.commit(tenant.id, cancelling(&world, &expected[4])).await;
    for (status, number) in [
        (AccessReviewStatus::Open, vec![0, 2, 3, 5, 6, 7]),
        (AccessReviewStatus::Completed, vec![1]),
        (AccessReviewStatus::Cancelled, vec![4]),
    ] {
        let found = list(&world, &tenant, Some(status), everywhere, everything()).await;
        let found: Vec<AccessReviewId> = found.items.into_iter().map(|review| review.id).collect();
        assert!(found.iter().eq(number.iter().map(|number| &expected[*number].id)), "{status}: {found:?}");
    }
}

/// Within organizations, a list shows the reviews of these organizations and of those below, and none of the tenant.
pub async fn list_stays_within_the_visible_scope(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let root = world.organization(&tenant, "root").await;
    let (left, right) = (world.below(&root, "left").await, world.below(&root, "right").await);
    let leaf = world.below(&left, "leaf").await;
    let mut reviews = Vec::new();
    for place in [None, Some(&root), Some(&left), Some(&right), Some(&leaf)] {
        reviews.push(begin(&world, new_review(&world, &tenant, place)).await.id);
    }
    for (scope, expected) in [
        (VisibleScope::Tenant, vec![0, 1, 2, 3, 4]),
        (within(&[&root]), vec![1, 2, 3, 4]),
        (within(&[&left]), vec![2, 4]),
        (within(&[&leaf, &right]), vec![3, 4]),
        (VisibleScope::Organizations(vec![world.id()]), vec![]),
    ] {
        let found = list(&world, &tenant, None, &scope, everything()).await;
        assert_eq!(found.total, expected.len() as u64);
        let found = sorted(found.items, |review| review.id);
        assert!(found.iter().eq(expected.iter().map(|number| &reviews[*number])), "{scope:?}: {found:?}");
    }
}

/// Items are sorted by their identifiers, and can be filtered by the decision.
pub async fn items_page_count_and_filter(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (review, before) = with_items(&world, &tenant, 8).await;
    begin(&world, new_review(&world, &tenant, None)).await;
    let expected = items(&world, &review).await;
    assert!(expected.is_sorted_by_key(|listed| listed.item.id()));
    let page = async |filter, page| world.store.access_review_items(tenant.id, review.id, filter, page).await.unwrap();
    assert_pages(&expected, async |request| page(None, request).await).await;
    for (number, item) in before.iter().enumerate() {
        let decision = if number % 3 == 0 { ReviewDecision::Keep } else { ReviewDecision::Revoke };
        if number < 6 {
            world.commit(tenant.id, deciding(item, decided(&world, decision))).await;
        }
    }
    for (filter, expected) in [
        (ReviewItemFilter::Keep, vec![0, 3]),
        (ReviewItemFilter::Revoke, vec![1, 2, 4, 5]),
        (ReviewItemFilter::Undecided, vec![6, 7]),
    ] {
        let expected: Vec<AccessReviewItemId> = expected.into_iter().map(|number: usize| before[number].id()).collect();
        let found = page(Some(filter), everything()).await;
        assert_eq!((found.total, ids(found.items)), (expected.len() as u64, expected.clone()), "{filter}");
        let all = world.store.all_access_review_items(tenant.id, review.id, Some(filter)).await.unwrap();
        assert_eq!(ids(all), expected);
    }
    let foreign = world.store.all_access_review_items(other.id, review.id, None).await.unwrap();
    assert_eq!(foreign, []);
    let foreign = world.store.access_review_items(other.id, review.id, None, everything()).await.unwrap();
    assert_eq!(foreign.total, 0);
}

/// A review with many items is frozen, decided and completed.
pub async fn a_review_with_many_items_is_completed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let mut roles: Vec<Role> = Vec::new();
    for number in 0..25 {
        roles.push(world.role(&tenant, &format!("ROLE_{number}"), &["users:read"]).await);
    }
    for number in 0..20 {
        let user = world.user(&tenant, &format!("user{number}@example.com")).await;
        let assign = |role: &Role| assigning([world.new_assignment(&user, role, None)], role).into();
        world.try_commit(tenant.id, roles.iter().map(assign)).await.unwrap();
    }
    let review = begin(&world, new_review(&world, &tenant, None)).await;
    let before = world.store.all_access_review_items(tenant.id, review.id, None).await.unwrap();
    assert_eq!(before.len(), 500);
    for items in before.chunks(100) {
        let decide = |listed: &ListedReviewItem| deciding(&listed.item, decided(&world, ReviewDecision::Revoke));
        world.try_commit(tenant.id, items.iter().map(decide)).await.unwrap();
    }
    assert_eq!(progress(&world, &review).await, ReviewProgress::of(500, 0, 500));
    let mut work = world.begin(&World::system(tenant.id)).await;
    let all = work.reads().items_to_revoke(review.id).await.unwrap();
    let assignments: Vec<AssignmentId> = all.iter().filter_map(|subject| subject.assignment()).collect();
    let all: Vec<AccessReviewItemId> = all.into_iter().map(ReviewSubject::item_id).collect();
    assert_eq!(all, ids(before));
    let grants = work.reads().grants(GrantQuery::Each(&assignments)).await.unwrap();
    assert_eq!(grants.len(), 500);
    work.apply(AssignmentChange::Revoke { grants, reason: None }).await.unwrap();
    let gone = &all[..250];
    work.apply(completing(&world, &review, gone)).await.unwrap();
    work.commit().await.unwrap();
    let after = world.store.all_access_review_items(tenant.id, review.id, None).await.unwrap();
    for (number, listed) in after.into_iter().enumerate() {
        let expected = if number < 250 { ReviewOutcome::Gone } else { ReviewOutcome::Revoked };
        assert_eq!(listed.item.outcome, Some(expected));
    }
}

/// Of many concurrent units of work that close a review, one succeeds. A decision at the same time is either seen by
/// the unit of work that completes the review, or refused.
pub async fn a_review_is_closed_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let (_, items) = with_items(&world, &tenant, 2).await;
    for _ in 0..6 {
        let review = begin(&world, new_review(&world, &tenant, None)).await;
        let mut deciders = JoinSet::new();
        for item in &items {
            let (world, tenant) = (Arc::clone(&world), tenant.id);
            let item = AccessReviewItem { review_id: review.id, ..item.clone() };
            deciders.spawn(async move {
                let decide = deciding(&item, decided(&world, ReviewDecision::Revoke));
                world.try_commit(tenant, [decide]).await.is_ok()
            });
        }
        let mut closers = JoinSet::new();
        for _ in 0..4 {
            let (world, review) = (Arc::clone(&world), review.clone());
            closers.spawn(async move {
                let mut work = world.begin(&World::system(review.tenant_id)).await;
                let locked = work.reads().lock_access_review(review.id).await.unwrap().unwrap();
                let revoked = work.reads().items_to_revoke(review.id).await.unwrap();
                let progress = work.reads().progress_of(review.id).await.unwrap();
                assert_eq!(progress.revoke, revoked.len() as u64);
                match work.apply(completing(&world, &review, &[])).await {
                    Ok(()) => {
                        assert_eq!(locked.status, AccessReviewStatus::Open);
                        work.commit().await.unwrap();
                        Some(revoked.len())
                    }
                    Err(error) => {
                        let refused = Err(Error::from(error));
                        assert_conflict(&refused, Constraint::AccessReviewOpen);
                        None
                    }
                }
            });
        }
        let counted = deciders.join_all().await.into_iter().filter(|is_counted| *is_counted).count();
        let completed: Vec<usize> = closers.join_all().await.into_iter().flatten().collect();
        assert_eq!(completed, [counted]);
    }
}

/// Several people decide about the items of a review at the same time, and several complete it: all decisions count, and
/// one completion succeeds.
pub async fn a_review_is_decided_and_completed_by_several_people(store: Arc<dyn Store>) {
    let mut settings = settings();
    settings.quota.users = 100;
    let iam = Iam::builder(store).settings(settings).build().await.unwrap();
    let administrator = crate::race::new_user("ada@example.com");
    let registration = iam_core::tenant::Registration { user: administrator, tenant_name: None };
    let registered = iam.tenants().register(&iam_core::RequestContext::default(), registration).await.unwrap();
    let system = iam_core::Caller::system(registered.tenant.id, "conformance");
    let member = iam.roles().by_name(&system, "MEMBER").await.unwrap().unwrap().id;
    let mut people = Vec::new();
    for number in 0..12 {
        let email = format!("user{number}@example.com");
        let user = iam.users().create(&system, NewUser { email, ..crate::race::new_user("") }).await.unwrap().id;
        let new = iam_core::assignment::NewAssignment { user, role: member, organization: None, expires_at: None };
        people.push(iam.assignments().create(&system, new).await.unwrap());
    }
    let due_at = iam.now() + TimeDelta::days(1);
    let new =
        NewAccessReview { name: "Spring".to_owned(), organization: None, roles: vec![member], users: vec![], due_at };
    let review = iam.access_reviews().create(&system, new).await.unwrap().review.id;
    let decided = race(12, |number| {
        let (iam, system, item) = (iam.clone(), system.clone(), people[number].id);
        let decision = if number % 3 == 0 { ReviewDecision::Keep } else { ReviewDecision::Revoke };
        let decision = NewDecision { decision, reason: None };
        async move { iam.access_reviews().decide(&system, review, item, decision).await }
    })
    .await;
    assert!(decided.iter().all(Result::is_ok), "{decided:?}");
    let completed = race(4, |_| {
        let (iam, system) = (iam.clone(), system.clone());
        async move { iam.access_reviews().complete(&system, review).await }
    })
    .await;
    let is_late =
        |result: &Result<ListedAccessReview>| matches!(result, Err(Error::Conflict(Conflict::AccessReviewNotOpen)));
    assert_eq!(completed.iter().filter(|result| result.is_ok()).count(), 1, "{completed:?}");
    assert_eq!(completed.iter().filter(|result| is_late(result)).count(), 3, "{completed:?}");
    let won = completed.into_iter().find_map(Result::ok).unwrap();
    assert_eq!(won.progress, ReviewProgress::of(12, 4, 8));
    for (number, assignment) in people.iter().enumerate() {
        let held = iam.assignments().of_user(&system, assignment.user_id).await.unwrap();
        assert_eq!(held.len(), usize::from(number % 3 == 0));
    }
}

/// An organization that a review is about can be deleted. The review and its items stay.
pub async fn a_review_outlives_its_organization(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let root = world.organization(&tenant, "root").await;
    let role = world.role(&tenant, "CLERK", &["users:read"]).await;
    world.give(&world.user(&tenant, "ada@example.com").await, &role, Some(&root)).await;
    let review = begin(&world, new_review(&world, &tenant, Some(&root))).await;
    let before = items(&world, &review).await;
    let after = Organization {
        status: iam_model::organization::OrganizationStatus::Inactive,
        version: root.version.next(),
        ..root.clone()
    };
    world.commit(tenant.id, OrganizationChange::Delete { before: root.clone(), after }).await;
    assert_eq!(items(&world, &review).await, before);
    let found = list(&world, &tenant, None, &within(&[&root]), everything()).await;
    assert_eq!(found.items, [review]);
}

/// Of the reviews with a status, those that began last are kept, then by identifier. The others are removed with their
/// items; the reviews with another status and those of other tenants stay.
pub async fn the_oldest_reviews_of_a_status_are_removed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    for tenant in [&acme, &other] {
        let role = world.role(tenant, "CLERK", &["users:read"]).await;
        world.give(&world.user(tenant, "ada@example.com").await, &role, None).await;
    }
    let mut reviews = Vec::new();
    for is_cancelled in [true, false, true, true, true] {
        let review = begin(&world, new_review(&world, &acme, None)).await;
        let end = if is_cancelled { cancelling(&world, &review) } else { completing(&world, &review, &[]) };
        world.commit(acme.id, end).await;
        // The last two begin at the same moment.
        if reviews.len() < 3 {
            world.tick();
        }
        reviews.push(review);
    }
    let open = begin(&world, new_review(&world, &acme, None)).await;
    let foreign = begin(&world, new_review(&world, &other, None)).await;
    world.commit(other.id, cancelling(&world, &foreign)).await;

    let [first, completed, second, third, fourth] = &reviews[..] else { panic!("{reviews:?}") };
    let (earlier, later) = if third.id < fourth.id { (third, fourth) } else { (fourth, third) };
    let removal = |kept| AccessReviewChange::RemoveOldest { status: AccessReviewStatus::Cancelled, kept };
    for (kept, gone) in [(4, vec![]), (2, vec![first, second]), (1, vec![first, second, later])] {
        world.commit(acme.id, removal(kept)).await;
        for review in [first, second, earlier, later, completed, &open] {
            let is_kept = !gone.contains(&review);
            assert_eq!(read(&world, acme.id, review.id).await.is_some(), is_kept, "{kept}: {review:?}");
            assert_eq!(items(&world, review).await.len(), usize::from(is_kept), "{kept}: {review:?}");
        }
    }
    world.commit(acme.id, AccessReviewChange::RemoveOldest { status: AccessReviewStatus::Completed, kept: 0 }).await;
    assert_eq!(read(&world, acme.id, completed.id).await, None);
    assert!(read(&world, acme.id, open.id).await.is_some() && read(&world, acme.id, earlier.id).await.is_some());
    assert_eq!(items(&world, &foreign).await.len(), 1);
}
