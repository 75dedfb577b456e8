//! Races about access requests, run by real tasks through the services.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::access_request::NewAccessRequest;
use iam_core::assignment::NewAssignment;
use iam_core::eligibility::NewEligibility;
use iam_core::{Caller, Iam};
use iam_model::access_request::{AccessRequest, AccessRequestStatus, KEPT_CLOSED, ListedAccessRequest, MAX_OPEN};
use iam_model::audit::AuditFilter;
use iam_model::change::AccessRequestChange;
use iam_model::context::RequestContext;
use iam_model::eligibility::{Eligibility, Eligible};
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::{RoleId, UserId};
use iam_model::role::{Role, TENANT_ADMIN};
use iam_model::store::{GrantQuery, Store};
use iam_model::tenant::Tenant;
use iam_model::user::UserStatus;
use iam_model::version::{Precondition, Version};

use crate::eligibility::{create, new_eligibility};
use crate::race::{PASSWORD, both, login, new_user, race, settings};
use crate::world::World;

/// A tenant with two administrators, and a user who may ask for a role.
struct Fixture {
    world: World,
    iam: Iam,
    tenant: Tenant,
    system: Caller,
    approvers: [Caller; 2],
    asker: Caller,
    user: UserId,
    role: Role,
}

impl Fixture {
    async fn new(store: Arc<dyn Store>) -> Self {
        let iam = Iam::builder(Arc::clone(&store)).settings(settings()).build().await.unwrap();
        let registration = iam_core::tenant::Registration { user: new_user("ada@example.com"), tenant_name: None };
        let registered = iam.tenants().register(&RequestContext::default(), registration).await.unwrap();
        let tenant = registered.tenant;
        let system = Caller::system(tenant.id, "conformance");
        let administrator = iam.roles().by_name(&system, TENANT_ADMIN).await.unwrap().unwrap().id;
        let role = iam.roles().by_name(&system, "AUDITOR").await.unwrap().unwrap();
        let bob = iam.users().create(&system, new_user("bob@example.com")).await.unwrap().id;
        assign(&iam, &system, bob, administrator).await.unwrap();
        let user = iam.users().create(&system, new_user("grace@example.com")).await.unwrap().id;
        let approvers = [session(&iam, "ada@example.com").await, session(&iam, "bob@example.com").await];
        let asker = session(&iam, "grace@example.com").await;
        Self { world: World::new(store), iam, tenant, system, approvers, asker, user, role }
    }

    /// Lets the user ask for the role.
    async fn eligibility(&self, approvals: i64) -> Eligibility {
        let new = NewEligibility { approvals: Some(approvals), ..NewEligibility::of_user(self.role.id, self.user) };
        self.iam.eligibilities().create(&self.system, new).await.unwrap()
    }

    fn ask(&self, eligibility: &Eligibility) -> impl Future<Output = Result<AccessRequest>> + Send + use<> {
        let (iam, asker) = (self.iam.clone(), self.asker.clone());
        let new = NewAccessRequest {
            eligibility: eligibility.id,
            seconds: None,
            reason: "The yearly audit.".to_owned(),
            ticket: None,
            starts_at: None,
        };
        async move { iam.access_requests().create(&asker, new).await }
    }

    fn approve(
        &self,
        approver: usize,
        request: &AccessRequest,
    ) -> impl Future<Output = Result<ListedAccessRequest>> + Send + use<> {
        let (iam, approver, id) = (self.iam.clone(), self.approvers[approver].clone(), request.id);
        async move { iam.access_requests().approve(&approver, id, None, &Precondition::Exists).await }
    }

    fn deny(
        &self,
        approver: usize,
        request: &AccessRequest,
    ) -> impl Future<Output = Result<ListedAccessRequest>> + Send + use<> {
        let (iam, approver, id) = (self.iam.clone(), self.approvers[approver].clone(), request.id);
        async move { iam.access_requests().deny(&approver, id, None, &Precondition::Exists).await }
    }

    async fn stored(&self, request: &AccessRequest) -> AccessRequest {
        self.world.store.access_request(self.tenant.id, request.id).await.unwrap().unwrap()
    }

    /// Returns how many assignments of the role the user has.
    async fn held(&self) -> usize {
        let grants = self.world.store.grants_of(self.tenant.id, &[self.user]).await.unwrap();
        grants.iter().filter(|grant| grant.role.id == self.role.id).count()
    }

    /// Fails unless the user holds the role by this request, or not at all, as the request says.
    async fn assert_consistent(&self, request: &AccessRequest) {
        let stored = self.stored(request).await;
        let marked = self.world.grants(self.tenant.id, GrantQuery::OfAccessRequests(&[request.id])).await;
        let is_active = stored.status == AccessRequestStatus::Active;
        assert_eq!((marked.len(), self.held().await), (usize::from(is_active), usize::from(is_active)), "{stored:?}");
        if let [grant] = &marked[..] {
            assert_eq!(
                (Some(grant.assignment.id), grant.assignment.expires_at),
                (stored.assignment_id, stored.ends_at)
            );
        }
    }

    async fn end(&self, request: &AccessRequest) {
        self.iam.access_requests().end(&self.asker, request.id, None).await.unwrap();
        assert_eq!(self.held().await, 0);
    }

    async fn recorded(&self, action: &str) -> usize {
        let filter = AuditFilter { action: Some(action.to_owned()), ..AuditFilter::default() };
        let filter = AuditFilter { resource_type: Some("ACCESS_REQUEST".to_owned()), ..filter };
        self.world.store.audit_entries(self.tenant.id, &filter, None, 100).await.unwrap().len()
    }
}

async fn session(iam: &Iam, email: &str) -> Caller {
    let token = login(iam, email, PASSWORD).await.unwrap().tokens.access;
    iam.authenticate(token.expose(), RequestContext::default()).await.unwrap()
}

async fn assign(iam: &Iam, caller: &Caller, user: UserId, role: RoleId) -> Result<()> {
    let new = NewAssignment { user, role, organization: None, expires_at: None };
    iam.assignments().create(caller, new).await.map(drop)
}

fn is_conflict<T>(result: &Result<T>, expected: &Conflict) -> bool {
    let Err(Error::Conflict(conflict)) = result else { return false };
    format!("{conflict:?}") == format!("{expected:?}")
}

/// Of many concurrent requests of a user by one eligibility, one succeeds. With no approval needed, it gives one
/// assignment.
pub async fn one_of_concurrent_requests_is_open(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    for approvals in [1, 0] {
        let eligibility = fixture.eligibility(approvals).await;
        let asked = race(8, |_| fixture.ask(&eligibility)).await;
        let refused = asked.iter().filter(|result| is_conflict(result, &Conflict::AccessRequestOpen)).count();
        assert_eq!(refused, 7, "{asked:?}");
        let request = asked.into_iter().find_map(Result::ok).unwrap();
        fixture.assert_consistent(&request).await;
        fixture.iam.eligibilities().delete(&fixture.system, eligibility.id).await.unwrap();
    }
    assert_eq!((fixture.held().await, fixture.recorded("CREATE").await), (1, 2));
}

/// Concurrent requests of a user by different eligibilities stay within the number that may be open.
pub async fn concurrent_requests_stay_within_the_maximum(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let mut eligibilities = Vec::new();
    for number in 0..MAX_OPEN + 4 {
        let role = fixture.world.role(&fixture.tenant, &format!("ROLE_{number}"), &["users:read"]).await;
        let new = NewEligibility::of_user(role.id, fixture.user);
        eligibilities.push(fixture.iam.eligibilities().create(&fixture.system, new).await.unwrap());
    }
    let asked = race(eligibilities.len(), |number| fixture.ask(&eligibilities[number])).await;
    let refused = asked.iter().filter(|result| is_conflict(result, &Conflict::TooManyAccessRequests)).count();
    assert_eq!(refused, 4, "{asked:?}");
    assert_eq!(asked.iter().filter(|result| result.is_ok()).count() as u64, MAX_OPEN);
}

/// Concurrent requests that make eligibilities stay within the maximum of a tenant.
pub async fn concurrent_eligibilities_stay_within_the_maximum(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let eligible = Eligible::HoldersOf(fixture.role.id);
    let new = || new_eligibility(&fixture.world, &fixture.role, None, eligible);
    let many = (0..Eligibility::MAX - 3).map(|_| create(&fixture.world, &new()));
    fixture.world.try_commit(fixture.tenant.id, many).await.unwrap();
    let made = race(8, |_| {
        let (iam, system) = (fixture.iam.clone(), fixture.system.clone());
        let new = NewEligibility::of_user(fixture.role.id, fixture.user);
        async move { iam.eligibilities().create(&system, new).await }
    })
    .await;
    let refused = made.iter().filter(|result| is_conflict(result, &Conflict::TooManyEligibilities)).count();
    assert_eq!((refused, made.iter().filter(|result| result.is_ok()).count()), (5, 3), "{made:?}");
}

/// Two users approve at the same time. If one approval is enough, one of them is late; if two are needed, both count.
/// Either way, the user gets one assignment.
pub async fn concurrent_approvals_give_one_assignment(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    for round in 0..12 {
        let needed = 1 + round % 2;
        let eligibility = fixture.eligibility(i64::try_from(needed).unwrap()).await;
        let request = fixture.ask(&eligibility).await.unwrap();
        let (first, second) = both(round / 2, fixture.approve(0, &request), fixture.approve(1, &request)).await;
        let results = [first, second];
        let late = results.iter().filter(|result| is_conflict(result, &Conflict::AccessRequestNotPending)).count();
        assert_eq!((results.iter().filter(|result| result.is_ok()).count(), late), (needed, 2 - needed), "{results:?}");
        let stored = fixture.stored(&request).await;
        assert_eq!((stored.status, stored.decisions.len()), (AccessRequestStatus::Active, needed));
        fixture.assert_consistent(&request).await;
        fixture.end(&request).await;
    }
    assert_eq!((fixture.recorded("APPROVED").await, fixture.recorded("ENDED").await), (18, 12));
}

/// A request is approved while it is denied, cancelled, or its eligibility is removed. One of both wins, whole.
pub async fn an_approval_or_what_ends_the_request_wins(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    for round in 0..18 {
        let eligibility = fixture.eligibility(1).await;
        let request = fixture.ask(&eligibility).await.unwrap();
        let (iam, asker, system) = (fixture.iam.clone(), fixture.asker.clone(), fixture.system.clone());
        let (deny, id, eligibility) = (fixture.deny(1, &request), request.id, eligibility.id);
        let end = async move {
            match round % 3 {
                0 => deny.await.map(drop),
                1 => iam.access_requests().cancel(&asker, id, None).await.map(drop),
                _ => iam.eligibilities().delete(&system, eligibility).await,
            }
        };
        let (approved, ended) = both(round / 3, fixture.approve(0, &request), end).await;
        let stored = fixture.stored(&request).await;
        let is_right = match (&approved, &ended, round % 3) {
            (Ok(_), Err(_), 0 | 1) | (Ok(_), Ok(()), 2) => stored.status == AccessRequestStatus::Active,
            (Err(_), Ok(()), 0) => stored.status == AccessRequestStatus::Denied,
            (Err(_), Ok(()), _) => stored.status == AccessRequestStatus::Cancelled,
            _ => false,
        };
        assert!(is_right, "{round}: {approved:?} {ended:?} {stored:?}");
        fixture.assert_consistent(&request).await;
        if stored.status == AccessRequestStatus::Active {
            fixture.end(&request).await;
        }
    }
}

/// A request is approved while its user is suspended. Afterwards the user holds nothing by it, and no request of the
/// user is open.
pub async fn an_approval_comes_before_a_suspension_or_fails(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    for round in 0..8 {
        let eligibility = fixture.eligibility(1).await;
        let asker = session(&fixture.iam, "grace@example.com").await;
        let new = NewAccessRequest {
            eligibility: eligibility.id,
            seconds: Some(60),
            reason: "The yearly audit.".to_owned(),
            ticket: None,
            starts_at: None,
        };
        let request = fixture.iam.access_requests().create(&asker, new).await.unwrap();
        let (iam, system, user) = (fixture.iam.clone(), fixture.system.clone(), fixture.user);
        let suspend = async move { iam.users().suspend(&system, user).await };
        let (approved, suspended) = both(round, fixture.approve(0, &request), suspend).await;
        assert_eq!(suspended.unwrap().status, UserStatus::Suspended);
        let stored = fixture.stored(&request).await;
        let expected = if approved.is_ok() { AccessRequestStatus::Ended } else { AccessRequestStatus::Cancelled };
        assert_eq!((stored.status, fixture.held().await), (expected, 0), "{approved:?}");
        fixture.iam.users().reactivate(&fixture.system, fixture.user).await.unwrap();
        assert_eq!(fixture.held().await, 0);
    }
}

/// A user gets a role by an ordinary assignment while its request for the role is approved. The user holds the role
/// once, and by the ordinary assignment.
pub async fn an_ordinary_assignment_and_an_approval_give_one_assignment(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    for round in 0..8 {
        let eligibility = fixture.eligibility(1).await;
        let request = fixture.ask(&eligibility).await.unwrap();
        let (iam, system, user, role) = (fixture.iam.clone(), fixture.system.clone(), fixture.user, fixture.role.id);
        let assign = async move { assign(&iam, &system, user, role).await };
        let (approved, assigned) = both(round, fixture.approve(0, &request), assign).await;
        assigned.unwrap();
        let stored = fixture.stored(&request).await;
        let expected = if approved.is_ok() { AccessRequestStatus::Ended } else { AccessRequestStatus::Cancelled };
        assert_eq!(stored.status, expected, "{approved:?}");
        let grants = fixture.world.store.grants_of(fixture.tenant.id, &[fixture.user]).await.unwrap();
        let [grant] = &grants[..] else { panic!("{grants:?}") };
        assert!(grant.assignment.is_standing() && grant.assignment.expires_at.is_none());
        fixture.iam.assignments().delete(&fixture.system, grant.assignment.id).await.unwrap();
    }
}

/// Of several concurrent sweepers, one lets each request lapse, and that is recorded once.
pub async fn concurrent_sweepers_advance_each_request_once(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let over = fixture.iam.now() - TimeDelta::seconds(1);
    let mut lapsed = Vec::new();
    for number in 0..30 {
        let email = format!("user{number}@example.com");
        let user = fixture.iam.users().create(&fixture.system, new_user(&email)).await.unwrap().id;
        let request = AccessRequest {
            id: fixture.world.id(),
            tenant_id: fixture.tenant.id,
            eligibility_id: fixture.world.id(),
            role_id: fixture.role.id,
            role_name: fixture.role.name.clone(),
            organization_id: None,
            requested_by: user,
            reason: "The yearly audit.".parse().unwrap(),
            ticket: None,
            seconds: 60,
            approvals_needed: 1,
            approver_role_id: None,
            decisions: Vec::new(),
            status: AccessRequestStatus::Pending,
            assignment_id: None,
            starts_at: None,
            ends_at: None,
            lapses_at: over,
            created_at: over,
            closed_at: None,
            closed_by: None,
            close_reason: None,
            cancel_cause: None,
            version: Version::FIRST,
        };
        fixture.world.commit(fixture.tenant.id, AccessRequestChange::Create(Box::new(request.clone()))).await;
        lapsed.push(request);
    }
    let advanced = race(4, |_| {
        let iam = fixture.iam.clone();
        async move { iam.advance_access_requests().await.unwrap() }
    })
    .await;
    assert_eq!(advanced.iter().sum::<u64>(), 30, "{advanced:?}");
    for request in &lapsed {
        assert_eq!(fixture.stored(request).await.status, AccessRequestStatus::Lapsed);
    }
    assert_eq!(fixture.recorded("LAPSED").await, 30);
}

/// A user who asks again and again leaves a bounded number of closed requests.
pub async fn closed_requests_of_a_user_are_bounded(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let eligibility = fixture.eligibility(1).await;
    let mut closed = Vec::new();
    for _ in 0..KEPT_CLOSED + 3 {
        let request = fixture.ask(&eligibility).await.unwrap();
        fixture.iam.access_requests().cancel(&fixture.asker, request.id, None).await.unwrap();
        closed.push(request.id);
    }
    let open = fixture.ask(&eligibility).await.unwrap();
    let kept = async |id| fixture.world.store.access_request(fixture.tenant.id, id).await.unwrap().is_some();
    for (number, id) in closed.iter().enumerate() {
        assert_eq!(kept(*id).await, number >= 3, "{number}");
    }
    assert!(kept(open.id).await);
}
