//! Access requests.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::access::VisibleScope;
use iam_model::access_request::{
    AccessDecision, AccessRequest, AccessRequestFilter, AccessRequestScope, AccessRequestStatus, AccessVerdict,
    ApproverPlace, CancelCause, LAPSE,
};
use iam_model::change::{AccessRequestChange, AccessRequestEvent, Change};
use iam_model::clock::Timestamp;
use iam_model::id::{AccessRequestId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::{Organization, OrganizationStatus};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{Store, TransactionReads};
use iam_model::store_error::Constraint;
use iam_model::tenant::Tenant;
use iam_model::user::User;
use iam_model::version::Version;

use crate::world::{World, assert_conflict, assert_missing, assert_pages, everything, sorted, within};

/// A PENDING request that is not in the store yet. Its eligibility and its role do not exist.
pub(super) fn new_request(world: &World, user: &User, organization: Option<&Organization>) -> AccessRequest {
    AccessRequest {
        id: world.id(),
        tenant_id: user.tenant_id,
        eligibility_id: world.id(),
        role_id: world.id(),
        role_name: "CLERK".parse().unwrap(),
        organization_id: organization.map(|organization| organization.id),
        requested_by: user.id,
        reason: "The disk is full. \"x\" 🦀".parse().unwrap(),
        ticket: None,
        seconds: 60,
        approvals_needed: 1,
        approver_role_id: None,
        decisions: Vec::new(),
        status: AccessRequestStatus::Pending,
        assignment_id: None,
        starts_at: None,
        ends_at: None,
        lapses_at: world.now() + LAPSE,
        created_at: world.now(),
        closed_at: None,
        closed_by: None,
        close_reason: None,
        cancel_cause: None,
        version: Version::FIRST,
    }
}

/// The request with another status, and the times that it has then: it begins at a moment, and ends at another one.
fn with_status(
    world: &World,
    request: AccessRequest,
    status: AccessRequestStatus,
    (starts_at, ends_at): (Timestamp, Timestamp),
) -> AccessRequest {
    let timed = AccessRequest { starts_at: Some(starts_at), ends_at: Some(ends_at), ..request.clone() };
    match status {
        AccessRequestStatus::Pending => request,
        AccessRequestStatus::Approved => AccessRequest { status, ..timed },
        AccessRequestStatus::Active => timed.active(world.id()),
        AccessRequestStatus::Ended => timed.active(world.id()).closed(status, world.now(), None),
        AccessRequestStatus::Cancelled => request.cancelled_for(CancelCause::RoleHeld, world.now()),
        AccessRequestStatus::Denied | AccessRequestStatus::Lapsed => {
            request.closed(status, world.now(), Some(world.id()))
        }
    }
}

const STATUSES: [AccessRequestStatus; 7] = [
    AccessRequestStatus::Pending,
    AccessRequestStatus::Approved,
    AccessRequestStatus::Active,
    AccessRequestStatus::Ended,
    AccessRequestStatus::Denied,
    AccessRequestStatus::Cancelled,
    AccessRequestStatus::Lapsed,
];

async fn add(world: &World, request: AccessRequest) -> AccessRequest {
    world.commit(request.tenant_id, AccessRequestChange::Create(Box::new(request.clone()))).await;
    request
}

fn update(before: &AccessRequest, after: &AccessRequest) -> Change {
    let event = AccessRequestEvent::Approved;
    AccessRequestChange::Update { before: before.clone().into(), after: after.clone().into(), event }.into()
}

async fn read(world: &World, tenant: TenantId, id: AccessRequestId) -> Option<AccessRequest> {
    let read = world.store.access_request(tenant, id).await.unwrap();
    let locked = world.locked(tenant, async |locks| locks.access_requests_by_id(&[id]).await.unwrap()).await;
    assert_eq!(locked, read.iter().cloned().collect::<Vec<_>>());
    read
}

fn newest_first(mut requests: Vec<AccessRequest>) -> Vec<AccessRequest> {
    requests.sort_by_key(|request| (Reverse(request.created_at), request.id));
    requests
}

fn everywhere() -> AccessRequestScope {
    AccessRequestScope { read: Some(VisibleScope::Tenant), ..AccessRequestScope::default() }
}

fn decision(world: &World, user: UserId, decision: AccessVerdict) -> AccessDecision {
    AccessDecision { user_id: user, decision, reason: None, at: world.now(), role_version: Some(Version::FIRST) }
}

/// A request is read back with every field and with each status, only in its tenant.
pub async fn a_request_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let root = world.organization(&acme, "root").await;
    let user = world.user(&acme, "ada@example.com").await;
    let first = AccessDecision {
        reason: Some("Größe \"x\" \\ 'y' {%_} 🦀".parse().unwrap()),
        ..decision(&world, world.id(), AccessVerdict::Approve)
    };
    world.tick();
    let full = AccessRequest {
        ticket: Some("OPS-7 'y' 🦀".parse().unwrap()),
        seconds: 2_592_000,
        approvals_needed: 2,
        approver_role_id: Some(world.id()),
        decisions: vec![
            first,
            AccessDecision {
                role_version: Some(Version::from(1 << 40)),
                ..decision(&world, world.id(), AccessVerdict::Approve)
            },
            AccessDecision { role_version: None, ..decision(&world, world.id(), AccessVerdict::Deny) },
        ],
        ..new_request(&world, &user, Some(&root))
    };
    let wanted = AccessRequest {
        approvals_needed: 0,
        starts_at: Some(world.now() + TimeDelta::milliseconds(123)),
        ..new_request(&world, &user, None)
    };
    let mut requests = vec![full, wanted];
    let times = (world.now() + TimeDelta::milliseconds(1), world.now() + TimeDelta::milliseconds(60_001));
    requests.extend(STATUSES.map(|status| with_status(&world, new_request(&world, &user, None), status, times)));
    for request in &requests {
        add(&world, request.clone()).await;
    }
    for request in &requests {
        assert_eq!(read(&world, acme.id, request.id).await.as_ref(), Some(request));
        assert_eq!(read(&world, other.id, request.id).await, None);
    }
    let (some, unknown): (Vec<_>, AccessRequestId) = (requests.iter().step_by(2).collect(), world.id());
    let ids: Vec<AccessRequestId> = some.iter().map(|request| request.id).chain([unknown]).collect();
    let found = world.locked(acme.id, async |locks| locks.access_requests_by_id(&ids).await.unwrap()).await;
    let found: HashMap<AccessRequestId, AccessRequest> = found.into_iter().map(|found| (found.id, found)).collect();
    assert_eq!(found.len(), some.len());
    assert!(some.iter().all(|request| found.get(&request.id) == Some(*request)));
    assert_eq!(world.locked(acme.id, async |locks| locks.access_requests_by_id(&[]).await.unwrap()).await, []);
}

/// The user and the organization of a request exist, in its tenant. Its eligibility and its roles need not.
pub async fn references_to_another_tenant_are_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let user = world.user(&acme, "ada@example.com").await;
    let foreign = world.user(&other, "eve@example.com").await;
    let place = world.organization(&other, "foreign").await;
    let right = new_request(&world, &user, None);
    for wrong in [
        AccessRequest { requested_by: foreign.id, ..right.clone() },
        AccessRequest { requested_by: world.id(), ..right.clone() },
        AccessRequest { organization_id: Some(place.id), ..right.clone() },
        AccessRequest { organization_id: Some(world.id()), ..right.clone() },
    ] {
        let create = AccessRequestChange::Create(Box::new(wrong)).into();
        assert_conflict(&world.try_commit(acme.id, [create]).await, Constraint::Reference);
    }
    let added = add(&world, right).await;
    assert_eq!(read(&world, acme.id, added.id).await, Some(added));
}

/// A change sets the decisions, the status, the times and why it was closed, raises the version, and concerns one request
/// alone.
pub async fn changes_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let user = world.user(&acme, "ada@example.com").await;
    let mut before = add(&world, new_request(&world, &user, None)).await;
    let beside = add(&world, new_request(&world, &user, None)).await;
    let (start, end) = (world.now() + TimeDelta::milliseconds(5), world.now() + TimeDelta::milliseconds(65));
    let approved = AccessRequest {
        status: AccessRequestStatus::Approved,
        starts_at: Some(start),
        ends_at: Some(end),
        ..before.with_decision(decision(&world, world.id(), AccessVerdict::Approve))
    };
    let active = approved.active(world.id());
    let reason = "Done. \"x\" 🦀".parse().unwrap();
    let ended = active.closed(AccessRequestStatus::Ended, end, Some(user.id)).with_close_reason(Some(&reason));
    for after in [approved, active, ended] {
        let after = AccessRequest { version: before.version.next(), ..after };
        world.commit(acme.id, update(&before, &after)).await;
        assert_eq!(read(&world, acme.id, before.id).await.as_ref(), Some(&after));
        before = after;
    }
    assert_eq!(read(&world, acme.id, beside.id).await.as_ref(), Some(&beside));
    let cancelled = beside.cancelled_for(CancelCause::NotEligible, end);
    let cancelled = AccessRequest { version: beside.version.next(), ..cancelled };
    world.commit(acme.id, update(&beside, &cancelled)).await;
    assert_eq!(read(&world, acme.id, beside.id).await, Some(cancelled));
    let missing = AccessRequest { id: world.id(), ..before.clone() };
    assert_missing(&world.try_commit(acme.id, [update(&missing, &missing)]).await);
    assert_missing(&world.try_commit(other.id, [update(&before, &before)]).await);
    assert_eq!(read(&world, acme.id, before.id).await, Some(before));
}

/// Requests of several users, for several roles and places, with each status.
struct Fixture {
    tenant: Tenant,
    users: [User; 3],
    organizations: [Organization; 4],
    /// The second one is gone.
    roles: [RoleId; 2],
    approvers: [RoleId; 2],
    requests: Vec<AccessRequest>,
}

impl Fixture {
    async fn new(world: &World) -> Self {
        let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
        let users = [
            world.user(&tenant, "ada@example.com").await,
            world.user(&tenant, "bob@example.com").await,
            world.user(&tenant, "eve@example.com").await,
        ];
        let root = world.organization(&tenant, "root").await;
        let (left, right) = (world.below(&root, "left").await, world.below(&root, "right").await);
        let leaf = world.below(&left, "leaf").await;
        let role = world.role(&tenant, "CLERK", &[]).await;
        let mut fixture = Self {
            tenant,
            users,
            organizations: [root, left, right, leaf],
            roles: [role.id, world.id()],
            approvers: [world.id(), world.id()],
            requests: Vec::new(),
        };
        for number in 0..84 {
            if number % 3 == 0 {
                world.clock.advance(TimeDelta::milliseconds(1));
            }
            let request = fixture.request(world, number);
            fixture.requests.push(add(world, request).await);
        }
        world.set_status(&fixture.organizations[1], OrganizationStatus::Suspended).await;
        let foreign = world.user(&other, "ada@example.com").await;
        add(world, new_request(world, &foreign, None)).await;
        fixture
    }

    /// Every seventh request has the same status, every fifth one the same place, and so on.
    fn request(&self, world: &World, number: usize) -> AccessRequest {
        let user = &self.users[number % 2];
        let place = self.organizations.get(number % 5);
        let at = |millis: usize| world.now() + TimeDelta::milliseconds(i64::try_from(millis).unwrap());
        let mut request = AccessRequest {
            role_id: self.roles[number % 3 % 2],
            approver_role_id: self.approvers.get(number % 4 % 3).copied(),
            lapses_at: at(20 + number % 8),
            ..new_request(world, user, place)
        };
        if number % 6 < 2 {
            // Some were made for another version of the role, or their role is gone.
            let version = if number % 12 < 6 { Version::FIRST } else { Version::FIRST.next() };
            request = request.with_decision(AccessDecision {
                role_version: Some(version),
                ..decision(world, self.users[2].id, AccessVerdict::Approve)
            });
        }
        with_status(world, request, STATUSES[number % 7], (at(10), at(20 + number % 9)))
    }

    fn is_within(&self, below: OrganizationId, above: OrganizationId) -> bool {
        let [root, left, _, leaf] = self.organizations.each_ref().map(|organization| organization.id);
        below == above || above == root || (above == left && below == leaf)
    }

    fn expected(&self, filter: &AccessRequestFilter, scope: &AccessRequestScope, now: Timestamp) -> Vec<AccessRequest> {
        let is_within = |below, above| self.is_within(below, above);
        let role = |request: &AccessRequest| (request.role_id == self.roles[0]).then_some(Version::FIRST);
        let passes = |request: &&AccessRequest| {
            scope.shows(request, is_within) && filter.matches(request, role(request), scope, is_within, now)
        };
        newest_first(self.requests.iter().filter(passes).cloned().collect())
    }

    /// Fails unless the list shows what it must. Returns how many requests that are.
    async fn check(
        &self,
        world: &World,
        filter: AccessRequestFilter,
        scope: &AccessRequestScope,
        now: Timestamp,
    ) -> usize {
        let page = PageRequest::new(1, 100).unwrap();
        let found = world.store.access_requests(self.tenant.id, &filter, scope, page, now).await.unwrap();
        let expected = self.expected(&filter, scope, now);
        let ids = |requests: &[AccessRequest]| requests.iter().map(|request| request.id).collect::<Vec<_>>();
        assert_eq!(ids(&found.items), ids(&expected), "{filter:?} {scope:?} {now}");
        assert_eq!(found.items, expected);
        assert_eq!(found.total, expected.len() as u64);
        expected.len()
    }
}

/// A list filters by the status of a moment, to the exact millisecond, by the user, by the role, by exactly one
/// organization, and by when the request was made: the first and the last moment are included.
pub async fn list_filters_by_every_field(store: Arc<dyn Store>) {
    let world = World::new(store);
    let fixture = Fixture::new(&world).await;
    let plain = AccessRequestFilter::default;
    let mut filters = vec![plain()];
    filters.extend(STATUSES.map(|status| AccessRequestFilter { status: Some(status), ..plain() }));
    filters.extend(fixture.users.each_ref().map(|user| AccessRequestFilter { user: Some(user.id), ..plain() }));
    filters.extend(fixture.roles.map(|role| AccessRequestFilter { role: Some(role), ..plain() }));
    for organization in &fixture.organizations {
        let organization = Some(organization.id);
        filters.push(AccessRequestFilter { organization, ..plain() });
        let (status, user) = (Some(AccessRequestStatus::Pending), Some(fixture.users[0].id));
        filters.push(AccessRequestFilter { organization, status, user, role: Some(fixture.roles[1]), ..plain() });
    }
    for filter in [
        AccessRequestFilter { user: Some(world.id()), ..plain() },
        AccessRequestFilter { role: Some(world.id()), ..plain() },
        AccessRequestFilter { organization: Some(world.id()), ..plain() },
    ] {
        filters.push(filter);
    }
    let made = fixture.requests[fixture.requests.len() / 2].created_at;
    for micros in [-1_000, -500, 0, 500, 1_000] {
        let moment = Some(made + TimeDelta::microseconds(micros));
        filters.push(AccessRequestFilter { from: moment, ..plain() });
        filters.push(AccessRequestFilter { until: moment, ..plain() });
        filters.push(AccessRequestFilter { from: moment, until: moment, ..plain() });
        filters.push(AccessRequestFilter { from: Some(made), until: moment, role: Some(fixture.roles[0]), ..plain() });
    }
    for moment in ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"] {
        let moment = Some(moment.parse().unwrap());
        filters.push(AccessRequestFilter { from: moment, ..plain() });
        filters.push(AccessRequestFilter { until: moment, ..plain() });
    }
    let mut counts = BTreeSet::new();
    for filter in filters {
        counts.insert(fixture.check(&world, filter, &everywhere(), world.now()).await);
    }
    assert!(counts.len() > 6, "the filters select different numbers of requests: {counts:?}");
    for millis in 0..30 {
        let now = world.now() + TimeDelta::milliseconds(millis);
        for status in STATUSES {
            fixture.check(&world, AccessRequestFilter { status: Some(status), ..plain() }, &everywhere(), now).await;
        }
    }
}

fn place(role: Option<RoleId>, organization: Option<&Organization>) -> ApproverPlace {
    ApproverPlace { role, organization: organization.map(|organization| organization.id) }
}

/// Where a user decides.
fn deciding(fixture: &Fixture) -> Vec<Vec<ApproverPlace>> {
    let [root, left, right, leaf] = &fixture.organizations;
    let [first, second] = fixture.approvers.map(Some);
    vec![
        vec![],
        vec![place(None, None)],
        vec![place(first, None)],
        vec![place(None, Some(root))],
        vec![place(first, Some(left)), place(second, Some(left))],
        vec![place(None, Some(leaf)), place(first, Some(leaf)), place(second, Some(right))],
        vec![place(first, Some(right)), place(first, Some(leaf)), place(None, Some(left)), place(second, None)],
        vec![place(first, Some(root)), place(first, Some(left)), place(first, None), place(None, Some(right))],
    ]
}

/// A caller sees its own requests, those in the visible scope of its permission, and those about which it decides: each
/// once, and no others.
pub async fn list_stays_within_the_scope(store: Arc<dyn Store>) {
    let world = World::new(store);
    let fixture = Fixture::new(&world).await;
    let [root, left, right, leaf] = &fixture.organizations;
    let pending = AccessRequestFilter { status: Some(AccessRequestStatus::Pending), ..AccessRequestFilter::default() };
    let mut counts = BTreeSet::new();
    for user in [None, Some(fixture.users[0].id), Some(fixture.users[2].id)] {
        for read in [
            None,
            Some(VisibleScope::Tenant),
            Some(within(&[root])),
            Some(within(&[leaf, right])),
            Some(within(&[left])),
            Some(VisibleScope::Organizations(vec![world.id()])),
            Some(VisibleScope::Organizations(Vec::new())),
        ] {
            for deciding in deciding(&fixture) {
                let scope = AccessRequestScope { user, read: read.clone(), deciding };
                for filter in [AccessRequestFilter::default(), pending] {
                    counts.insert(fixture.check(&world, filter, &scope, world.now()).await);
                }
            }
        }
    }
    assert!(counts.len() > 12, "the scopes show different numbers of requests: {counts:?}");
}

/// What is to be decided are the requests of others that are PENDING at the moment, in the places in which the user
/// decides, and that it has not decided since their role has changed last.
pub async fn requests_to_decide_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let fixture = Fixture::new(&world).await;
    let to_decide = AccessRequestFilter { to_decide: true, ..AccessRequestFilter::default() };
    let mut counts = BTreeSet::new();
    for user in [None, Some(fixture.users[0].id), Some(fixture.users[2].id), Some(world.id())] {
        for deciding in deciding(&fixture) {
            for read in [None, Some(VisibleScope::Tenant)] {
                let scope = AccessRequestScope { user, read, deciding: deciding.clone() };
                for filter in [
                    to_decide,
                    AccessRequestFilter { status: Some(AccessRequestStatus::Pending), ..to_decide },
                    AccessRequestFilter { status: Some(AccessRequestStatus::Active), ..to_decide },
                    AccessRequestFilter { user: Some(fixture.users[1].id), ..to_decide },
                    AccessRequestFilter { role: Some(fixture.roles[0]), ..to_decide },
                ] {
                    counts.insert(fixture.check(&world, filter, &scope, world.now()).await);
                }
            }
        }
    }
    assert!(counts.len() > 5, "different numbers of requests are to be decided: {counts:?}");
    let deciding = vec![place(None, None), place(Some(fixture.approvers[0]), None)];
    let scope = AccessRequestScope { user: Some(fixture.users[2].id), read: None, deciding };
    for millis in 0..30 {
        fixture.check(&world, to_decide, &scope, world.now() + TimeDelta::milliseconds(millis)).await;
    }
}

/// A user who holds very many roles, of which few decide, gets its list.
pub async fn many_roles_may_decide(store: Arc<dyn Store>) {
    let world = World::new(store);
    let fixture = Fixture::new(&world).await;
    let [root, left, ..] = &fixture.organizations;
    let mut deciding: Vec<ApproverPlace> = Vec::new();
    for number in 0..1_000 {
        let organization = [None, Some(root), Some(left)][number % 3];
        deciding.push(place(Some(world.id()), organization));
    }
    let to_decide = AccessRequestFilter { to_decide: true, ..AccessRequestFilter::default() };
    let mut scope = AccessRequestScope { user: Some(fixture.users[2].id), read: None, deciding };
    assert_eq!(fixture.check(&world, to_decide, &scope, world.now()).await, 0);
    assert_eq!(fixture.check(&world, AccessRequestFilter::default(), &scope, world.now()).await, 0);
    scope.deciding.push(place(Some(fixture.approvers[1]), Some(root)));
    assert!(fixture.check(&world, to_decide, &scope, world.now()).await > 0);
    assert!(fixture.check(&world, AccessRequestFilter::default(), &scope, world.now()).await > 0);
}

/// A list is sorted newest first, then by identifier.
pub async fn list_pages_and_counts(store: Arc<dyn Store>) {
    let world = World::new(store);
    let fixture = Fixture::new(&world).await;
    let to_decide = AccessRequestFilter { to_decide: true, ..AccessRequestFilter::default() };
    let deciding =
        [None, Some(fixture.approvers[0]), Some(fixture.approvers[1])].map(|role| place(role, None)).to_vec();
    let decider = AccessRequestScope { user: Some(world.id()), read: None, deciding };
    let owner = AccessRequestScope { user: Some(fixture.users[0].id), ..decider.clone() };
    for (filter, scope) in
        [(AccessRequestFilter::default(), everywhere()), (to_decide, decider), (AccessRequestFilter::default(), owner)]
    {
        let expected = fixture.expected(&filter, &scope, world.now());
        let list = async |page: PageRequest| -> Page<AccessRequest> {
            world.store.access_requests(fixture.tenant.id, &filter, &scope, page, world.now()).await.unwrap()
        };
        assert_pages(&expected, list).await;
    }
}

/// The open requests of a user are those whose stored status is open, at every moment.
pub async fn open_requests_of_a_user_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let fixture = Fixture::new(&world).await;
    world.clock.advance(TimeDelta::days(9));
    for user in &fixture.users {
        let open = async |locks: &mut dyn TransactionReads| locks.open_access_requests_of(user.id).await.unwrap();
        let is_open = |request: &&AccessRequest| request.requested_by == user.id && request.status.is_open();
        let expected = newest_first(fixture.requests.iter().filter(is_open).cloned().collect());
        assert_eq!(world.locked(fixture.tenant.id, open).await, expected);
    }
    let other: UserId = world.id();
    let open = async |locks: &mut dyn TransactionReads| locks.open_access_requests_of(other).await.unwrap();
    assert_eq!(world.locked(fixture.tenant.id, open).await, []);
}

/// A request is due when it lapses, begins or ends, from the exact millisecond on. Closed ones are never due.
pub async fn due_requests_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let fixture = Fixture::new(&world).await;
    let tenant = fixture.tenant.id;
    let due = async |at: Timestamp, limit: u32| {
        let due = async |locks: &mut dyn TransactionReads| locks.due_access_requests(at, limit).await.unwrap();
        world.locked(tenant, due).await
    };
    let mut counts = BTreeSet::new();
    for millis in -40..40 {
        let at = world.now() + TimeDelta::milliseconds(millis);
        let is_due = |request: &&AccessRequest| request.due_at().is_some_and(|due| due <= at);
        let mut expected: Vec<AccessRequest> = fixture.requests.iter().filter(is_due).cloned().collect();
        expected.sort_by_key(|request| (request.due_at(), request.id));
        assert_eq!(due(at, 100).await, expected);
        expected.truncate(5);
        assert_eq!(due(at, 5).await, expected);
        counts.insert(expected.len());
    }
    assert!(counts.contains(&0) && counts.contains(&5), "{counts:?}");
}

/// Tenants with due requests are listed once, up to a limit.
pub async fn tenants_with_due_requests_are_listed_once(store: Arc<dyn Store>) {
    let world = World::new(store);
    let now = world.now();
    let mut expected = Vec::new();
    for (number, status) in STATUSES.into_iter().enumerate() {
        let tenant = world.tenant(&format!("tenant-{number}")).await;
        let user = world.user(&tenant, "ada@example.com").await;
        for lapses_at in [now + TimeDelta::milliseconds(2), now + TimeDelta::milliseconds(1)] {
            let request = AccessRequest { lapses_at, ..new_request(&world, &user, None) };
            let end = if status == AccessRequestStatus::Active { lapses_at } else { now + TimeDelta::minutes(1) };
            add(&world, with_status(&world, request, status, (lapses_at, end))).await;
        }
        if status.is_open() {
            expected.push(tenant.id);
        }
    }
    world.tenant("idle").await;
    let due = async |at: Timestamp, limit| {
        let due = world.store.tenants_with_due_access_requests(at, limit).await.unwrap();
        sorted(due, |tenant| tenant)
    };
    assert_eq!(due(now, 10).await, []);
    expected.sort();
    assert_eq!(due(now + TimeDelta::milliseconds(1), 10).await, expected);
    assert_eq!(due(now + TimeDelta::days(1), 10).await, expected);
    assert_eq!(due(now + TimeDelta::days(1), 2).await.len(), 2);
}

/// Of the closed requests of a user, those that were made last stay. Open ones and those of others are not removed.
pub async fn the_oldest_closed_requests_of_a_user_are_removed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await);
    let foreign = world.user(&other, "eve@example.com").await;
    let mut requests = Vec::new();
    for number in 0..14 {
        // Two are made at the same moment.
        if number % 2 == 0 {
            world.tick();
        }
        let times = (world.now(), world.now() + TimeDelta::minutes(1));
        for user in [&ada, &bob, &foreign] {
            let new = with_status(&world, new_request(&world, user, None), STATUSES[number % 7], times);
            requests.push(add(&world, new).await);
        }
    }
    let mut closed: Vec<&AccessRequest> =
        requests.iter().filter(|request| request.requested_by == ada.id && !request.status.is_open()).collect();
    closed.sort_by_key(|request| (request.created_at, request.id));
    assert_eq!(closed.len(), 8);
    for kept in [100, 8, 5, 1, 0] {
        world.commit(tenant.id, AccessRequestChange::RemoveOldest { user: ada.id, kept }).await;
        let removed = &closed[..closed.len().saturating_sub(kept as usize)];
        for request in &requests {
            let is_kept = !removed.iter().any(|gone| gone.id == request.id);
            assert_eq!(read(&world, request.tenant_id, request.id).await.is_some(), is_kept, "{kept}: {request:?}");
        }
    }
}

/// A unit of work reads its own requests before its commit, and no other reader does.
pub async fn a_unit_of_work_reads_its_own_changes(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let before = new_request(&world, &user, None);
    let times = (world.now(), world.now() + TimeDelta::minutes(1));
    let after = with_status(&world, before.clone(), AccessRequestStatus::Active, times).changed();
    let mut work = world.begin(&World::system(tenant.id)).await;
    work.apply(AccessRequestChange::Create(Box::new(before.clone()))).await.unwrap();
    assert_eq!(work.reads().open_access_requests_of(user.id).await.unwrap(), std::slice::from_ref(&before));
    assert_eq!(work.reads().due_access_requests(before.lapses_at, 1).await.unwrap(), std::slice::from_ref(&before));
    work.apply(update(&before, &after)).await.unwrap();
    assert_eq!(work.reads().access_requests_by_id(&[before.id]).await.unwrap(), std::slice::from_ref(&after));
    assert_eq!(work.reads().due_access_requests(times.1, 1).await.unwrap(), std::slice::from_ref(&after));
    assert_eq!(world.store.access_request(tenant.id, before.id).await.unwrap(), None);
    let (filter, scope) = (AccessRequestFilter::default(), everywhere());
    let page = world.store.access_requests(tenant.id, &filter, &scope, everything(), world.now());
    assert_eq!(page.await.unwrap().total, 0);
}
