//! Access reviews: what a review freezes, who may decide, and what its completion revokes.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::access_review::{
    AccessReviewFilter, AccessReviewStatus, ListedAccessReview, ListedReviewItem, MAX_ITEMS, MAX_RESTRICTIONS,
    NewAccessReview, NewDecision, ReviewDecision, ReviewItemFilter, ReviewOutcome, ReviewProgress,
};
use iam_core::api_key::NewApiKey;
use iam_core::assignment::NewAssignment;
use iam_core::audit::{AuditEntry, AuditFilter};
use iam_core::credential::HashingCost;
use iam_core::idempotency::Idempotency;
use iam_core::organization::{NewOrganization, OrganizationPatch};
use iam_core::page::PageRequest;
use iam_core::role::{NewRole, RoleScope};
use iam_core::session::{LoggedIn, Login};
use iam_core::tenant::Registration;
use iam_core::user::NewUser;
use iam_core::{
    AccessReviewId, AssignmentId, Caller, Conflict, Error, Forbidden, Iam, OrganizationId, RequestContext, Result,
    RoleId, Rule, Settings, UserId,
};
use iam_model::clock::Clock as _;
use iam_model::clock::testing::FixedClock;
use iam_store_memory::MemoryStore;
use serde_json::{Value, json};

const PASSWORD: &str = "Passw0rd!";

/// A service with two tenants, and the administrator of each.
struct World {
    iam: Iam,
    clock: FixedClock,
    ada: Caller,
    stranger: Caller,
}

fn person(email: &str) -> NewUser {
    let (first_name, last_name) = ("Ada".to_owned(), "Lovelace".to_owned());
    NewUser { email: email.to_owned(), password: PASSWORD.into(), first_name, last_name }
}

fn keep() -> NewDecision {
    NewDecision { decision: ReviewDecision::Keep, reason: None }
}

fn revoke() -> NewDecision {
    NewDecision { decision: ReviewDecision::Revoke, reason: None }
}

async fn register(iam: &Iam, email: &str) -> Caller {
    let registration = Registration { user: person(email), tenant_name: None };
    caller(iam, iam.tenants().register(&RequestContext::default(), registration).await.unwrap().login).await
}

async fn caller(iam: &Iam, login: LoggedIn) -> Caller {
    iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap()
}

impl World {
    async fn new() -> Self {
        let clock = FixedClock::at("2026-01-31T09:15:00.123Z");
        let mut settings = Settings::default();
        settings.hashing_cost = HashingCost { memory_kib: 8, passes: 1, lanes: 1 };
        settings.access_token_lifetime = TimeDelta::days(1);
        let builder = Iam::builder(Arc::new(MemoryStore::new())).settings(settings).clock(clock.clone());
        let iam = builder.build().await.unwrap();
        let ada = register(&iam, "ada@example.com").await;
        let stranger = register(&iam, "eve@example.net").await;
        Self { iam, clock, ada, stranger }
    }

    async fn user(&self, email: &str) -> UserId {
        self.iam.users().create(&self.ada, person(email)).await.unwrap().id
    }

    async fn login(&self, email: &str) -> Caller {
        let login = Login { email: email.to_owned(), password: PASSWORD.into(), tenant: None };
        caller(&self.iam, self.iam.sessions().login(&RequestContext::default(), login).await.unwrap()).await
    }

    async fn role(&self, name: &str, permissions: &[&str]) -> RoleId {
        let permissions = permissions.iter().map(|text| (*text).to_owned()).collect();
        let new = NewRole { name: name.to_owned(), description: None, scope: RoleScope::Any, permissions };
        self.iam.roles().create(&self.ada, new).await.unwrap().id
    }

    async fn built_in(&self, name: &str) -> RoleId {
        self.iam.roles().by_name(&self.ada, name).await.unwrap().unwrap().id
    }

    async fn organization(&self, name: &str, parent: Option<OrganizationId>) -> OrganizationId {
        let new = NewOrganization { name: name.to_owned(), slug: None, parent };
        self.iam.organizations().create(&self.ada, new).await.unwrap().organization.id
    }

    async fn give(&self, user: UserId, role: RoleId, organization: Option<OrganizationId>) -> AssignmentId {
        let new = NewAssignment { user, role, organization, expires_at: None };
        self.iam.assignments().create(&self.ada, new).await.unwrap().id
    }

    /// A person with a role of these permissions, tenant-wide or in an organization.
    async fn member(&self, name: &str, permissions: &[&str], organization: Option<OrganizationId>) -> (UserId, Caller) {
        let email = format!("{name}@example.com");
        let user = self.user(&email).await;
        let role = self.role(&name.to_uppercase(), permissions).await;
        self.give(user, role, organization).await;
        (user, self.login(&email).await)
    }

    fn new_review(&self) -> NewAccessReview {
        NewAccessReview {
            name: "Spring".to_owned(),
            organization: None,
            roles: Vec::new(),
            users: Vec::new(),
            due_at: self.clock.now() + TimeDelta::days(14),
        }
    }

    /// A review of the assignments of these roles in the whole tenant.
    async fn review(&self, roles: &[RoleId]) -> AccessReviewId {
        let new = NewAccessReview { roles: roles.to_vec(), ..self.new_review() };
        self.iam.access_reviews().create(&self.ada, new).await.unwrap().review.id
    }

    async fn decide(&self, review: AccessReviewId, item: AssignmentId, decision: NewDecision) {
        self.iam.access_reviews().decide(&self.ada, review, item, decision).await.unwrap();
    }

    async fn complete(&self, by: &Caller, review: AccessReviewId) -> Result<ListedAccessReview> {
        self.iam.access_reviews().complete(by, review).await
    }

    async fn items(&self, review: AccessReviewId) -> Vec<ListedReviewItem> {
        self.iam.access_reviews().all_items(&self.ada, review, None).await.unwrap()
    }

    async fn status(&self, review: AccessReviewId) -> AccessReviewStatus {
        self.iam.access_reviews().get(&self.ada, review).await.unwrap().review.status
    }

    /// The assignments of a user.
    async fn held(&self, user: UserId) -> Vec<AssignmentId> {
        let held = self.iam.assignments().of_user(&self.ada, user).await.unwrap();
        held.into_iter().map(|grant| grant.assignment.id).collect()
    }

    /// The entries of a resource, oldest first.
    async fn history(&self, resource: impl ToString) -> Vec<AuditEntry> {
        let filter = AuditFilter { resource_id: Some(resource.to_string()), ..AuditFilter::default() };
        let mut entries = self.iam.audit().list(&self.ada, filter, None, 100).await.unwrap().entries;
        entries.reverse();
        entries
    }
}

fn ids(items: &[ListedReviewItem]) -> BTreeSet<AssignmentId> {
    items.iter().filter_map(|listed| listed.item.subject.assignment()).collect()
}

/// Asserts that an error is about a field, and returns its cause.
fn about<T: std::fmt::Debug>(refused: Result<T>, expected: &str) -> Error {
    match refused {
        Err(Error::About { field, error }) if field == expected => *error,
        other => panic!("{other:?}"),
    }
}

fn is_missing_permission<T>(refused: &Result<T>, permission: &str) -> bool {
    matches!(refused, Err(Error::Forbidden(Forbidden::Permission(missing))) if missing.as_str() == permission)
}

#[tokio::test]
async fn a_review_freezes_the_live_assignments_of_its_place() {
    let world = World::new().await;
    let root = world.organization("Root", None).await;
    let (left, right) = (world.organization("Left", Some(root)).await, world.organization("Right", Some(root)).await);
    let clerk = world.role("CLERK", &["users:read"]).await;
    let grace = world.user("grace@example.com").await;
    world.login("grace@example.com").await;
    let seen = world.clock.now();
    world.clock.advance(TimeDelta::minutes(1));
    let everywhere = world.give(grace, clerk, None).await;
    let (above, within, beside) = (
        world.give(grace, clerk, Some(root)).await,
        world.give(grace, clerk, Some(left)).await,
        world.give(grace, clerk, Some(right)).await,
    );
    let made = world.clock.now();
    let new = NewAssignment {
        user: world.user("mary@example.com").await,
        role: clerk,
        organization: Some(left),
        expires_at: Some(made + TimeDelta::minutes(2)),
    };
    let expiring = world.iam.assignments().create(&world.ada, new).await.unwrap().id;
    world.clock.advance(TimeDelta::minutes(1));
    let new = |organization| NewAccessReview { organization, roles: vec![clerk], ..world.new_review() };
    let create = async |organization| {
        let made = world.iam.access_reviews().create(&world.ada, new(organization)).await.unwrap();
        let items = world.items(made.review.id).await;
        assert_eq!(made.progress, ReviewProgress::of_new(items.len() as u64));
        items
    };
    let items = create(None).await;
    assert_eq!(ids(&items), BTreeSet::from([everywhere, above, within, beside, expiring]));
    assert_eq!(ids(&create(Some(root)).await), BTreeSet::from([above, within, beside, expiring]));
    let items = create(Some(left)).await;
    assert_eq!(ids(&items), BTreeSet::from([within, expiring]));
    let frozen = &items.iter().find(|listed| listed.item.subject.assignment() == Some(within)).unwrap().item;
    let user = frozen.subject.user();
    assert_eq!((user, frozen.role.id, frozen.role.name.as_str()), (Some(grace), clerk, "CLERK"));
    let place = frozen.organization.clone().unwrap();
    assert_eq!((place.id, place.name.as_str()), (left, "Left"));
    assert_eq!((frozen.last_login_at, frozen.granted_at), (Some(seen), made));
    assert_eq!((frozen.granted_by, frozen.expires_at, &frozen.decided), (world.ada.user(), None, &None));

    world.clock.advance(TimeDelta::minutes(1));
    assert_eq!(ids(&create(Some(left)).await), BTreeSet::from([within]), "the other one has expired");
}

#[tokio::test]
async fn what_changes_later_does_not_change_the_items() {
    let world = World::new().await;
    let root = world.organization("Root", None).await;
    let clerk = world.role("CLERK", &["users:read"]).await;
    let grace = world.user("grace@example.com").await;
    let assignment = world.give(grace, clerk, Some(root)).await;
    let review = world.review(&[clerk]).await;
    let before = world.items(review).await;
    world.clock.advance(TimeDelta::minutes(1));
    world.login("grace@example.com").await;
    let rename = OrganizationPatch { name: Some("Renamed".to_owned()), ..OrganizationPatch::default() };
    world.iam.organizations().update(&world.ada, root, rename).await.unwrap();
    world.give(world.user("mary@example.com").await, clerk, None).await;
    world.iam.assignments().delete(&world.ada, assignment).await.unwrap();
    world.iam.roles().delete(&world.ada, clerk).await.unwrap_err();
    assert_eq!(world.items(review).await, before);
}

#[tokio::test]
async fn a_review_is_restricted_to_roles_and_users() {
    let world = World::new().await;
    let (clerk, cook) = (world.role("CLERK", &["users:read"]).await, world.role("COOK", &["users:read"]).await);
    let (grace, mary) = (world.user("grace@example.com").await, world.user("mary@example.com").await);
    let given = [
        world.give(grace, clerk, None).await,
        world.give(grace, cook, None).await,
        world.give(mary, clerk, None).await,
        world.give(mary, cook, None).await,
    ];
    for (roles, users, expected) in [
        (vec![clerk], vec![], vec![given[0], given[2]]),
        (vec![], vec![grace], vec![given[0], given[1]]),
        (vec![clerk, cook], vec![mary, mary], vec![given[2], given[3]]),
        (vec![cook], vec![grace], vec![given[1]]),
    ] {
        let new = NewAccessReview { roles, users, ..world.new_review() };
        let made = world.iam.access_reviews().create(&world.ada, new).await.unwrap();
        assert_eq!(ids(&world.items(made.review.id).await), expected.into_iter().collect());
    }
    let unused = world.role("UNUSED", &["users:read"]).await;
    let empty = world.review(&[unused]).await;
    assert!(world.items(empty).await.is_empty());
    let completed = world.complete(&world.ada, empty).await.unwrap();
    assert_eq!(completed.progress, ReviewProgress::default());
}

#[tokio::test]
async fn an_invalid_review_names_every_field() {
    let world = World::new().await;
    let clerk = world.role("CLERK", &["users:read"]).await;
    let new = NewAccessReview {
        name: " ".to_owned(),
        roles: vec![clerk; MAX_RESTRICTIONS + 1],
        users: vec![world.ada.user().unwrap(); MAX_RESTRICTIONS + 1],
        due_at: world.clock.now(),
        ..world.new_review()
    };
    let refused = world.iam.access_reviews().create(&world.ada, new).await;
    let Err(Error::Validation(errors)) = refused else { panic!("{refused:?}") };
    let fields: Vec<&str> = errors.iter().map(|error| error.field.as_str()).collect();
    assert_eq!(fields, ["name", "roleIds", "userIds", "dueAt"]);
    let most = NewAccessReview { roles: vec![clerk; MAX_RESTRICTIONS], ..world.new_review() };
    world.iam.access_reviews().create(&world.ada, most).await.unwrap();
    let due_at = "+10000-01-01T00:00:00Z".parse().unwrap();
    let refused = world.iam.access_reviews().create(&world.ada, NewAccessReview { due_at, ..world.new_review() }).await;
    assert!(matches!(refused, Err(Error::Validation(_))), "{refused:?}");

    let unknown = |field: &'static str, new: NewAccessReview| {
        let world = &world;
        async move {
            let error = about(world.iam.access_reviews().create(&world.ada, new).await, field);
            assert!(matches!(error, Error::NotFound(_)), "{field}: {error:?}");
        }
    };
    let foreign = world.stranger.user().unwrap();
    let new = || world.new_review();
    unknown("organizationId", NewAccessReview { organization: Some(foreign.as_uuid().into()), ..new() }).await;
    unknown("roleIds[1]", NewAccessReview { roles: vec![clerk, foreign.as_uuid().into()], ..new() }).await;
    unknown("userIds[0]", NewAccessReview { users: vec![foreign, world.ada.user().unwrap()], ..new() }).await;

    let gone = world.organization("Gone", None).await;
    world.iam.organizations().delete(&world.ada, gone).await.unwrap();
    let new = NewAccessReview { organization: Some(gone), ..new() };
    let refused = world.iam.access_reviews().create(&world.ada, new).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::OrganizationInactive))), "{refused:?}");
}

#[tokio::test]
async fn a_review_has_at_most_10000_items() {
    let world = World::new().await;
    let mut roles = Vec::new();
    for number in 0..100 {
        roles.push(world.role(&format!("ROLE_{number}"), &["users:read"]).await);
    }
    let mut users = Vec::new();
    for number in 0..100 {
        users.push(world.user(&format!("user{number}@example.com")).await);
    }
    for users in users.chunks(5) {
        let new = |user: &UserId| {
            let user = *user;
            roles.iter().map(move |role| NewAssignment { user, role: *role, organization: None, expires_at: None })
        };
        let new: Vec<NewAssignment> = users.iter().flat_map(new).collect();
        world.iam.assignments().create_all(&world.ada, &new).await.unwrap();
    }
    let review = world.review(&roles).await;
    assert_eq!(world.items(review).await.len() as u64, MAX_ITEMS);
    // The administrator's own assignment is one more.
    let refused = world.iam.access_reviews().create(&world.ada, world.new_review()).await;
    assert!(matches!(refused, Err(Error::Rule(Rule::TooManyReviewItems(MAX_ITEMS)))), "{refused:?}");
}

#[tokio::test]
async fn a_repeat_under_the_same_key_begins_no_second_review() {
    let world = World::new().await;
    let create = async || {
        let key = Idempotency::new("spring".parse().unwrap(), [1; 32]);
        world.iam.access_reviews().create_once(&world.ada, world.new_review(), Some(&key)).await.unwrap()
    };
    let first = create().await;
    world.clock.advance(TimeDelta::minutes(1));
    assert_eq!(create().await, first);
    let page = PageRequest::default();
    let filter = AccessReviewFilter::default();
    assert_eq!(world.iam.access_reviews().list(&world.ada, &filter, page).await.unwrap().total, 1);
}

#[tokio::test]
async fn a_decision_can_be_changed_until_the_review_is_completed() {
    let world = World::new().await;
    let clerk = world.role("CLERK", &["users:read"]).await;
    let grace = world.user("grace@example.com").await;
    let item = world.give(grace, clerk, None).await;
    let review = world.review(&[clerk]).await;
    let reviews = world.iam.access_reviews();
    let reason = |reason: &str| NewDecision { reason: Some(reason.to_owned()), ..revoke() };
    let decided = reviews.decide(&world.ada, review, item, reason("  Has left. ")).await.unwrap().item.decided.unwrap();
    assert_eq!(decided.reason.as_ref().unwrap().as_str(), "Has left.");
    assert_eq!((decided.decided_by, decided.decided_at), (world.ada.user(), world.clock.now()));
    world.clock.advance(TimeDelta::minutes(1));
    let again = reviews.decide(&world.ada, review, item, reason("Has left.")).await.unwrap().item.decided.unwrap();
    assert_eq!(again, decided, "a decision that changes nothing writes nothing");
    let refused = reviews.decide(&world.ada, review, item, reason(&"x".repeat(501))).await;
    assert!(matches!(&refused, Err(Error::Validation(errors)) if errors[0].field == "reason"), "{refused:?}");
    let blank = reviews.decide(&world.ada, review, item, reason(" ")).await.unwrap().item.decided.unwrap();
    assert_eq!(blank.reason, None);
    let kept = reviews.decide(&world.ada, review, item, keep()).await.unwrap().item.decided.unwrap();
    assert_eq!((kept.decision, kept.reason), (ReviewDecision::Keep, None));
    assert_eq!(world.held(grace).await, [item], "a decision has no effect before the completion");

    let completed = world.complete(&world.ada, review).await.unwrap();
    assert_eq!(completed.review.status, AccessReviewStatus::Completed);
    assert_eq!((completed.review.closed_at, completed.review.closed_by), (Some(world.clock.now()), world.ada.user()));
    assert_eq!(world.held(grace).await, [item]);
    for decision in [keep(), revoke()] {
        let refused = reviews.decide(&world.ada, review, item, decision).await;
        assert!(matches!(refused, Err(Error::Conflict(Conflict::AccessReviewNotOpen))), "{refused:?}");
    }
    assert_eq!(world.items(review).await[0].item.outcome, Some(ReviewOutcome::Kept));
}

#[tokio::test]
async fn a_completion_revokes_what_was_decided_and_records_the_reason() {
    let world = World::new().await;
    let clerk = world.role("CLERK", &["users:read"]).await;
    let (grace, mary) = (world.user("grace@example.com").await, world.user("mary@example.com").await);
    let joan = world.user("joan@example.com").await;
    let (kept, revoked) = (world.give(grace, clerk, None).await, world.give(mary, clerk, None).await);
    let expires_at = Some(world.clock.now() + TimeDelta::minutes(1));
    let new = NewAssignment { user: joan, role: clerk, organization: None, expires_at };
    let expired = world.iam.assignments().create(&world.ada, new).await.unwrap().id;
    let root = world.organization("Root", None).await;
    let gone = world.give(mary, clerk, Some(root)).await;
    let review = world.review(&[clerk]).await;
    for item in [revoked, expired, gone] {
        world.decide(review, item, revoke()).await;
    }
    let refused = world.complete(&world.ada, review).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::AccessReviewUndecided(1)))), "{refused:?}");
    assert_eq!(refused.unwrap_err().to_string(), "1 items of the access review are undecided.");
    assert_eq!(world.held(mary).await.len(), 2);
    world.decide(review, kept, keep()).await;
    world.iam.assignments().delete(&world.ada, gone).await.unwrap();
    world.clock.advance(TimeDelta::minutes(1));

    let completed = world.complete(&world.ada, review).await.unwrap();
    assert_eq!(completed.progress, ReviewProgress { total: 4, undecided: 0, keep: 1, revoke: 3 });
    assert_eq!((world.held(grace).await, world.held(mary).await), (vec![kept], vec![]));
    let outcomes: Vec<_> = world.items(review).await.into_iter().map(|listed| listed.item.outcome.unwrap()).collect();
    assert_eq!(
        outcomes,
        [ReviewOutcome::Kept, ReviewOutcome::Revoked, ReviewOutcome::Revoked, ReviewOutcome::Gone],
        "in the order in which the assignments were made"
    );
    let reason = async |assignment: AssignmentId| {
        let entry = world.history(assignment).await.pop().unwrap();
        assert_eq!(entry.action, "ROLE_REVOKED");
        entry.metadata.get("reason").cloned().unwrap_or_default()
    };
    assert_eq!(reason(revoked).await, "ACCESS_REVIEW");
    assert_eq!(reason(expired).await, "EXPIRED");
    assert_eq!(reason(gone).await, Value::Null);

    let history = world.history(review).await;
    let actions: Vec<&str> = history.iter().map(|entry| entry.action.as_ref()).collect();
    assert_eq!(actions, ["CREATE", "UPDATE", "UPDATE", "UPDATE", "UPDATE", "COMPLETED"]);
    assert_eq!(history[0].metadata["counts"]["total"], 4);
    assert_eq!(history[1].metadata["assignmentId"], json!(revoked));
    assert_eq!(history[5].metadata["counts"], json!({ "kept": 1, "revoked": 2, "gone": 1 }));

    let refused = world.complete(&world.ada, review).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::AccessReviewNotOpen))), "{refused:?}");
}

#[tokio::test]
async fn a_cancelled_review_revokes_nothing_and_stays() {
    let world = World::new().await;
    let clerk = world.role("CLERK", &["users:read"]).await;
    let grace = world.user("grace@example.com").await;
    let item = world.give(grace, clerk, None).await;
    let review = world.review(&[clerk]).await;
    world.decide(review, item, revoke()).await;
    let cancelled = world.iam.access_reviews().cancel(&world.ada, review).await.unwrap();
    assert_eq!(cancelled.review.status, AccessReviewStatus::Cancelled);
    assert_eq!(world.held(grace).await, [item]);
    let items = world.items(review).await;
    assert_eq!((items[0].item.decision(), items[0].item.outcome), (Some(ReviewDecision::Revoke), None));
    let not_open = |refused: Error| matches!(refused, Error::Conflict(Conflict::AccessReviewNotOpen));
    assert!(not_open(world.iam.access_reviews().cancel(&world.ada, review).await.unwrap_err()));
    assert!(not_open(world.complete(&world.ada, review).await.unwrap_err()));
    assert!(not_open(world.iam.access_reviews().decide(&world.ada, review, item, keep()).await.unwrap_err()));
    let last = world.history(review).await.pop().unwrap();
    assert_eq!((last.action.as_ref(), last.new_value.unwrap()["status"].clone()), ("UPDATE", json!("CANCELLED")));
}

#[tokio::test]
async fn a_user_decides_neither_by_a_session_nor_by_a_key_about_its_own_roles() {
    let world = World::new().await;
    let (grace, by_session) = world.member("grace", &["access-reviews:*"], None).await;
    let item = world.held(grace).await[0];
    let review = world.review(&[]).await;
    let new = NewApiKey { name: "nightly".to_owned(), ..NewApiKey::default() };
    let key = world.iam.api_keys().create(&by_session, grace, new).await.unwrap();
    let by_key = world.iam.authenticate(key.token.expose(), RequestContext::default()).await.unwrap();
    for decision in [keep(), revoke()] {
        let refused = world.iam.access_reviews().decide(&by_session, review, item, decision).await;
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::OwnAccess))), "{refused:?}");
    }
    let others = world.items(review).await;
    let other = others.iter().find(|listed| listed.item.subject.user() != Some(grace)).unwrap().item.id();
    world.iam.access_reviews().decide(&by_session, review, other, keep()).await.unwrap();
    for refused in [
        world.iam.access_reviews().decide(&by_key, review, item, keep()).await.err(),
        world.iam.access_reviews().decide(&by_key, review, other, keep()).await.err(),
        world.iam.access_reviews().complete(&by_key, review).await.err(),
        world.iam.access_reviews().cancel(&by_key, review).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::Forbidden(Forbidden::ApiKey))), "{refused:?}");
    }
    // Another user decides about it, and the user itself can neither complete nor cancel the review.
    world.decide(review, item, revoke()).await;
    for refused in [
        world.iam.access_reviews().complete(&by_session, review).await.err(),
        world.iam.access_reviews().cancel(&by_session, review).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::Forbidden(Forbidden::OwnAccess))), "{refused:?}");
    }
    world.complete(&world.ada, review).await.unwrap();
    assert!(world.held(grace).await.is_empty());
}

#[tokio::test]
async fn the_last_administrator_is_not_revoked_and_the_error_names_the_item() {
    let world = World::new().await;
    let administrator = world.built_in("TENANT_ADMIN").await;
    let clerk = world.role("CLERK", &["users:read"]).await;
    let (ada, grace) = (world.ada.user().unwrap(), world.user("grace@example.com").await);
    let clerks = world.give(grace, clerk, None).await;
    let of_grace = world.give(grace, administrator, None).await;
    let of_ada = world.held(ada).await[0];
    let by_grace = world.login("grace@example.com").await;
    let review = world.review(&[administrator, clerk]).await;
    world.iam.access_reviews().decide(&by_grace, review, of_ada, revoke()).await.unwrap();
    world.decide(review, of_grace, revoke()).await;
    world.decide(review, clerks, revoke()).await;

    // Each of the two could be revoked alone.
    let system = Caller::system(world.ada.tenant(), "test");
    let error = about(world.complete(&system, review).await, &format!("items[{of_grace}]"));
    assert!(matches!(error, Error::Conflict(Conflict::LastAdministrator)), "{error:?}");
    assert_eq!(world.status(review).await, AccessReviewStatus::Open);
    assert_eq!(world.held(ada).await, [of_ada]);
    assert_eq!(world.held(grace).await.len(), 2);

    world.decide(review, of_grace, keep()).await;
    world.complete(&system, review).await.unwrap();
    let held = world.iam.assignments().of_user(&by_grace, ada).await.unwrap();
    assert!(held.is_empty(), "{held:?}");
}

#[tokio::test]
async fn a_suspended_administrator_does_not_count_as_the_last_one() {
    let world = World::new().await;
    let administrator = world.built_in("TENANT_ADMIN").await;
    let grace = world.user("grace@example.com").await;
    world.give(grace, administrator, None).await;
    world.iam.users().suspend(&world.ada, grace).await.unwrap();
    let system = Caller::system(world.ada.tenant(), "test");
    let review = world.review(&[administrator]).await;
    let items = world.items(review).await;
    let of = |user| items.iter().find(|listed| listed.item.subject.user() == Some(user)).unwrap().item.id();
    let (of_ada, of_grace) = (of(world.ada.user().unwrap()), of(grace));
    world.iam.access_reviews().decide(&system, review, of_ada, revoke()).await.unwrap();
    world.iam.access_reviews().decide(&system, review, of_grace, keep()).await.unwrap();
    let error = about(world.complete(&system, review).await, &format!("items[{of_ada}]"));
    assert!(matches!(error, Error::Conflict(Conflict::LastAdministrator)), "{error:?}");
    world.iam.access_reviews().decide(&system, review, of_ada, keep()).await.unwrap();
    world.iam.access_reviews().decide(&system, review, of_grace, revoke()).await.unwrap();
    world.complete(&system, review).await.unwrap();
    assert!(world.held(grace).await.is_empty());
}

#[tokio::test]
async fn roles_of_suspended_and_deleted_users_are_decided_like_others() {
    let world = World::new().await;
    let clerk = world.role("CLERK", &["users:read"]).await;
    let (grace, mary) = (world.user("grace@example.com").await, world.user("mary@example.com").await);
    let (of_grace, of_mary) = (world.give(grace, clerk, None).await, world.give(mary, clerk, None).await);
    world.iam.users().suspend(&world.ada, grace).await.unwrap();
    let review = world.review(&[clerk]).await;
    assert_eq!(ids(&world.items(review).await), BTreeSet::from([of_grace, of_mary]));
    // The deletion ends the assignment. Its item stays.
    world.iam.users().delete(&world.ada, mary).await.unwrap();
    for item in [of_grace, of_mary] {
        world.decide(review, item, revoke()).await;
    }
    world.complete(&world.ada, review).await.unwrap();
    let outcomes: Vec<_> = world.items(review).await.into_iter().map(|listed| listed.item.outcome.unwrap()).collect();
    assert_eq!(outcomes, [ReviewOutcome::Revoked, ReviewOutcome::Gone]);
    assert!(world.held(grace).await.is_empty());
}

#[tokio::test]
async fn a_reviewer_who_loses_its_rights_decides_no_more() {
    let world = World::new().await;
    let clerk = world.role("CLERK", &["users:read"]).await;
    let item = world.give(world.user("grace@example.com").await, clerk, None).await;
    let review = world.review(&[clerk]).await;
    let (mary, by_mary) = world.member("mary", &["access-reviews:update", "role-assignments:delete"], None).await;
    let reviews = world.iam.access_reviews();
    reviews.decide(&by_mary, review, item, revoke()).await.unwrap();
    for assignment in world.held(mary).await {
        world.iam.assignments().delete(&world.ada, assignment).await.unwrap();
    }
    // The caller was authenticated before. The rights are read again under the lock.
    assert!(is_missing_permission(&reviews.decide(&by_mary, review, item, keep()).await, "access-reviews:update"));
    assert!(is_missing_permission(&reviews.complete(&by_mary, review).await, "access-reviews:update"));
    assert!(is_missing_permission(&reviews.cancel(&by_mary, review).await, "access-reviews:update"));
    assert_eq!(world.status(review).await, AccessReviewStatus::Open);
}

#[tokio::test]
async fn a_completion_needs_the_permission_to_revoke_each_assignment() {
    let world = World::new().await;
    let (root, other) = (world.organization("Root", None).await, world.organization("Other", None).await);
    let clerk = world.role("CLERK", &["users:read"]).await;
    let grace = world.user("grace@example.com").await;
    let (within, beside) = (world.give(grace, clerk, Some(root)).await, world.give(grace, clerk, Some(other)).await);
    let (mary, by_mary) = world.member("mary", &["access-reviews:update"], None).await;
    let revoker = world.role("REVOKER", &["role-assignments:delete"]).await;
    world.give(mary, revoker, Some(root)).await;
    let review = world.review(&[clerk]).await;
    world.decide(review, within, revoke()).await;
    world.decide(review, beside, revoke()).await;
    let error = about(world.complete(&by_mary, review).await, &format!("items[{beside}]"));
    assert!(matches!(error, Error::Forbidden(Forbidden::Permission(_))), "{error:?}");
    assert_eq!(world.held(grace).await.len(), 2);
    world.decide(review, beside, keep()).await;
    world.complete(&by_mary, review).await.unwrap();
    assert_eq!(world.held(grace).await, [beside]);
}

#[tokio::test]
async fn a_reviewer_of_an_organization_sees_and_decides_only_there() {
    let world = World::new().await;
    let (root, other) = (world.organization("Root", None).await, world.organization("Other", None).await);
    let below = world.organization("Below", Some(root)).await;
    let clerk = world.role("CLERK", &["users:read"]).await;
    let grace = world.user("grace@example.com").await;
    for place in [None, Some(root), Some(below), Some(other)] {
        world.give(grace, clerk, place).await;
    }
    let (_, by_mary) = world.member("mary", &["access-reviews:*", "role-assignments:*"], Some(root)).await;
    let reviews = world.iam.access_reviews();
    let new = |organization| NewAccessReview { organization, roles: vec![clerk], ..world.new_review() };
    let create = async |caller: &Caller, place| reviews.create(caller, new(place)).await;
    let (everywhere, beside) =
        (create(&world.ada, None).await.unwrap().review.id, create(&world.ada, Some(other)).await.unwrap().review.id);
    let (own, lower) = (
        create(&by_mary, Some(root)).await.unwrap().review.id,
        create(&world.ada, Some(below)).await.unwrap().review.id,
    );
    assert!(is_missing_permission(&create(&by_mary, None).await, "access-reviews:create"));
    let error = about(create(&by_mary, Some(other)).await, "organizationId");
    assert!(matches!(error, Error::NotFound(_)), "{error:?}");

    let seen = reviews.list(&by_mary, &AccessReviewFilter::default(), PageRequest::default()).await.unwrap();
    let seen: BTreeSet<AccessReviewId> = seen.items.into_iter().map(|listed| listed.review.id).collect();
    assert_eq!(seen, BTreeSet::from([own, lower]));
    for review in [own, lower] {
        reviews.get(&by_mary, review).await.unwrap();
        for listed in reviews.all_items(&by_mary, review, None).await.unwrap() {
            reviews.decide(&by_mary, review, listed.item.id(), keep()).await.unwrap();
        }
    }
    for review in [everywhere, beside] {
        let item = world.items(review).await[0].item.id();
        let hidden = |refused: Option<Error>| matches!(refused, Some(Error::NotFound(_)));
        assert!(hidden(reviews.get(&by_mary, review).await.err()));
        assert!(hidden(reviews.all_items(&by_mary, review, None).await.err()));
        assert!(hidden(reviews.items(&by_mary, review, None, PageRequest::default()).await.err()));
        assert!(hidden(reviews.decide(&by_mary, review, item, keep()).await.err()));
        assert!(hidden(reviews.complete(&by_mary, review).await.err()));
        assert!(hidden(reviews.cancel(&by_mary, review).await.err()));
    }
    // An item of another review is not found, either.
    let elsewhere = world.items(beside).await[0].item.id();
    let refused = reviews.decide(&by_mary, own, elsewhere, keep()).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    reviews.complete(&by_mary, own).await.unwrap();
    reviews.cancel(&by_mary, lower).await.unwrap();
}

#[tokio::test]
async fn an_item_whose_organization_was_moved_away_is_decided_only_by_who_may_review_there() {
    let world = World::new().await;
    let (root, other) = (world.organization("Root", None).await, world.organization("Other", None).await);
    let below = world.organization("Below", Some(root)).await;
    let clerk = world.role("CLERK", &["users:read"]).await;
    let item = world.give(world.user("grace@example.com").await, clerk, Some(below)).await;
    let (_, by_mary) = world.member("mary", &["access-reviews:*", "role-assignments:*"], Some(root)).await;
    let reviews = world.iam.access_reviews();
    let new = NewAccessReview { organization: Some(root), roles: vec![clerk], ..world.new_review() };
    let review = reviews.create(&by_mary, new).await.unwrap().review.id;
    reviews.decide(&by_mary, review, item, keep()).await.unwrap();
    let patch = OrganizationPatch { parent: Some(Some(other)), ..OrganizationPatch::default() };
    world.iam.organizations().update(&world.ada, below, patch).await.unwrap();
    let refused = reviews.decide(&by_mary, review, item, revoke()).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    world.decide(review, item, revoke()).await;
    let error = about(world.complete(&by_mary, review).await, &format!("items[{item}]"));
    assert!(matches!(error, Error::Forbidden(Forbidden::Permission(_))), "{error:?}");
    world.complete(&world.ada, review).await.unwrap();
}

#[tokio::test]
async fn a_review_shows_assignments_so_beginning_one_needs_to_see_them() {
    let world = World::new().await;
    let root = world.organization("Root", None).await;
    let (mary, by_mary) = world.member("mary", &["access-reviews:create"], None).await;
    let new = || NewAccessReview { organization: Some(root), ..world.new_review() };
    let refused = world.iam.access_reviews().create(&by_mary, new()).await;
    assert!(is_missing_permission(&refused, "role-assignments:read"), "{refused:?}");
    let reader = world.role("READER", &["role-assignments:read"]).await;
    world.give(mary, reader, Some(root)).await;
    let by_mary = world.login("mary@example.com").await;
    world.iam.access_reviews().create(&by_mary, new()).await.unwrap();
    let refused = world.iam.access_reviews().create(&by_mary, world.new_review()).await;
    assert!(is_missing_permission(&refused, "role-assignments:read"), "{refused:?}");
}

#[tokio::test]
async fn the_administrator_of_another_tenant_finds_no_review() {
    let world = World::new().await;
    let clerk = world.role("CLERK", &["users:read"]).await;
    let item = world.give(world.user("grace@example.com").await, clerk, None).await;
    let review = world.review(&[clerk]).await;
    let reviews = world.iam.access_reviews();
    let hidden = |refused: Option<Error>| matches!(refused, Some(Error::NotFound(_)));
    assert!(hidden(reviews.get(&world.stranger, review).await.err()));
    assert!(hidden(reviews.all_items(&world.stranger, review, None).await.err()));
    assert!(hidden(reviews.decide(&world.stranger, review, item, keep()).await.err()));
    assert!(hidden(reviews.complete(&world.stranger, review).await.err()));
    assert!(hidden(reviews.cancel(&world.stranger, review).await.err()));
    let page = PageRequest::default();
    let seen = reviews.list(&world.stranger, &AccessReviewFilter::default(), page).await.unwrap();
    assert_eq!(seen.total, 0);
}

#[tokio::test]
async fn lists_filter_by_status_and_by_decision() {
    let world = World::new().await;
    let clerk = world.role("CLERK", &["users:read"]).await;
    let mut given = Vec::new();
    for name in ["a", "b", "c"] {
        given.push(world.give(world.user(&format!("{name}@example.com")).await, clerk, None).await);
    }
    let (open, cancelled) = (world.review(&[clerk]).await, world.review(&[clerk]).await);
    let reviews = world.iam.access_reviews();
    reviews.cancel(&world.ada, cancelled).await.unwrap();
    for (status, expected) in [
        (Some(AccessReviewStatus::Open), vec![open]),
        (Some(AccessReviewStatus::Cancelled), vec![cancelled]),
        (Some(AccessReviewStatus::Completed), vec![]),
        (None, vec![open, cancelled]),
    ] {
        let found = reviews.list(&world.ada, &AccessReviewFilter { status }, PageRequest::default()).await.unwrap();
        assert!(found.items.iter().all(|listed| listed.progress.total == 3));
        let mut found: Vec<_> = found.items.into_iter().map(|listed| listed.review.id).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{status:?}");
    }
    world.decide(open, given[0], keep()).await;
    world.decide(open, given[1], revoke()).await;
    let progress = reviews.get(&world.ada, open).await.unwrap().progress;
    assert_eq!(progress, ReviewProgress { total: 3, undecided: 1, keep: 1, revoke: 1 });
    for (filter, expected) in [
        (ReviewItemFilter::Keep, given[0]),
        (ReviewItemFilter::Revoke, given[1]),
        (ReviewItemFilter::Undecided, given[2]),
    ] {
        let page = reviews.items(&world.ada, open, Some(filter), PageRequest::default()).await.unwrap();
        assert_eq!((page.total, ids(&page.items)), (1, BTreeSet::from([expected])));
        let all = reviews.all_items(&world.ada, open, Some(filter)).await.unwrap();
        assert_eq!(all, page.items);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_is_completed_once_and_a_decision_counts_or_is_refused() {
    for _ in 0..10 {
        let world = World::new().await;
        let clerk = world.role("CLERK", &["users:read"]).await;
        let grace = world.user("grace@example.com").await;
        let item = world.give(grace, clerk, None).await;
        let review = world.review(&[clerk]).await;
        world.decide(review, item, keep()).await;
        let reviews = world.iam.access_reviews();
        let (first, second, decided) = tokio::join!(
            world.complete(&world.ada, review),
            world.complete(&world.ada, review),
            reviews.decide(&world.ada, review, item, revoke()),
        );
        assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
        let lost = first.err().or(second.err()).unwrap();
        assert!(matches!(lost, Error::Conflict(Conflict::AccessReviewNotOpen)), "{lost:?}");
        assert_eq!(world.held(grace).await.is_empty(), decided.is_ok());
        let completions = world.history(review).await.into_iter().filter(|entry| entry.action == "COMPLETED").count();
        assert_eq!(completions, 1);
    }
}

#[tokio::test]
async fn of_the_cancelled_reviews_the_newest_100_are_kept_and_all_others_stay() {
    let world = World::new().await;
    let (member, open) = (world.built_in("MEMBER").await, world.review(&[]).await);
    let empty = world.review(&[member]).await;
    world.complete(&world.ada, empty).await.unwrap();
    let mut cancelled = Vec::new();
    for _ in 0..102 {
        world.clock.advance(TimeDelta::milliseconds(1));
        let review = world.review(&[]).await;
        world.iam.access_reviews().cancel(&world.ada, review).await.unwrap();
        cancelled.push(review);
    }
    let total = async |status| {
        let (filter, page) = (AccessReviewFilter { status: Some(status) }, PageRequest::default());
        world.iam.access_reviews().list(&world.ada, &filter, page).await.unwrap().total
    };
    assert_eq!(total(AccessReviewStatus::Cancelled).await, 100);
    for (review, is_kept) in
        [(cancelled[0], false), (cancelled[1], false), (cancelled[2], true), (cancelled[101], true)]
    {
        let found = world.iam.access_reviews().get(&world.ada, review).await;
        assert!(if is_kept { found.is_ok() } else { matches!(found, Err(Error::NotFound(_))) }, "{found:?}");
    }
    assert_eq!(
        (world.status(open).await, world.status(empty).await),
        (AccessReviewStatus::Open, AccessReviewStatus::Completed)
    );
    // What was decided and when it ended stays in the log.
    assert_eq!(world.history(cancelled[0]).await.len(), 2);
}
