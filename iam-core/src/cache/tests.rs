//! The cache of sessions as authenticated requests see it, over the in-memory store, with a feed that the tests
//! control.

mod impersonation;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use async_trait::async_trait;
use chrono::TimeDelta;
use iam_model::assignment::{Assignment, GrantOrganization};
use iam_model::change::{LoginFailure, SessionChange};
use iam_model::clock::testing::FixedClock;
use iam_model::clock::{Clock as _, monotonic_now};
use iam_model::context::RequestContext;
use iam_model::error::{Error, Unauthenticated};
use iam_model::id::{AssignmentId, OrganizationId, RoleId};
use iam_model::observe::Observer;
use iam_model::organization::OrganizationStatus;
use iam_model::permission;
use iam_model::role::{RoleScope, built_in_roles};
use iam_model::store::{Observed, Store};
use iam_store_memory::MemoryStore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::access::Question;
use crate::api_key::{IssuedApiKey, NewApiKey};
use crate::assignment::{AssignmentPatch, NewAssignment};
use crate::cache::*;
use crate::caller::Caller;
use crate::hashing::HashingCost;
use crate::iam::Iam;
use crate::idempotency::Idempotency;
use crate::organization::{NewOrganization, OrganizationPatch};
use crate::role::{NewRole, RolePatch};
use crate::session::{LoggedIn, Login};
use crate::settings::Settings;
use crate::tenant::Registration;
use crate::user::NewUser;

/// Counts the queries to the store. It can also delay a reader between the query for a session and its caching.
#[derive(Default)]
struct QueryCounter {
    counts: Mutex<BTreeMap<&'static str, u32>>,
    is_slow: AtomicBool,
}

impl QueryCounter {
    fn take(&self) -> BTreeMap<&'static str, u32> {
        std::mem::take(&mut *self.counts.lock().unwrap())
    }
}

impl Observer for QueryCounter {
    fn store_answered(&self, operation: &'static str, _: Duration, _: Option<&StoreError>) {
        *self.counts.lock().unwrap().entry(operation).or_default() += 1;
        if operation == "session_snapshot" && self.is_slow.load(SeqCst) {
            thread::sleep(Duration::from_micros(200));
        }
    }

    fn login_failed(&self, _: LoginFailure) {}

    fn password_hashed(&self, _: Duration, _: Duration) {}

    fn password_refused(&self) {}
    fn webhook_attempted(&self, _: iam_model::webhook::DeliveryStatus) {}
}

/// A feed that sends the notifications of a test. It ends when the test drops the other end.
struct Feed {
    notifications: UnboundedReceiver<FeedNotification>,
    /// How often the next notification was requested. A request means that all earlier ones were received.
    asked: watch::Sender<usize>,
}

#[async_trait]
impl ChangeFeed for Feed {
    async fn next(&mut self) -> Result<FeedNotification, StoreError> {
        self.asked.send_modify(|times| *times += 1);
        self.notifications.recv().await.ok_or_else(|| StoreError::Unavailable("cut".into()))
    }
}

/// The test's end of a feed.
struct FeedControl {
    notifications: UnboundedSender<FeedNotification>,
    asked: watch::Receiver<usize>,
    notified: usize,
    following: JoinHandle<StoreError>,
}

impl FeedControl {
    /// Notifies the follower of these changes, and that there are no others for as long as a test takes. Waits until
    /// the follower has received that.
    async fn notify(&mut self, changed: &[Uuid]) {
        let complete_at = Some(monotonic_now() + Duration::from_secs(3_600));
        self.notifications.send(FeedNotification { changed: changed.to_vec(), complete_at }).unwrap();
        self.notified += 1;
        let notified = self.notified;
        self.asked.wait_for(|times| *times > notified).await.unwrap();
    }

    async fn cut(self) {
        drop(self.notifications);
        self.following.await.unwrap();
    }
}

/// A tenant with an administrator, and a user who holds a role in `branch`, below `root`.
struct World {
    counter: Arc<QueryCounter>,
    clock: FixedClock,
    here: Iam,
    /// Another process over the same store.
    elsewhere: Iam,
    admin: Caller,
    admin_token: String,
    ada: LoggedIn,
    role: RoleId,
    root: OrganizationId,
    branch: OrganizationId,
    assignment: AssignmentId,
}

/// Shorter than the lifetime of an access token.
const IDLE: TimeDelta = TimeDelta::minutes(5);

fn person(email: &str) -> NewUser {
    NewUser {
        email: email.into(),
        password: "Passw0rd!".into(),
        first_name: "Ada".into(),
        last_name: "Lovelace".into(),
    }
}

async fn log_in(iam: &Iam) -> LoggedIn {
    let login = Login { email: "ada@example.com".into(), password: "Passw0rd!".into(), tenant: None };
    iam.sessions().login(&RequestContext::default(), login).await.unwrap()
}

async fn organization(iam: &Iam, admin: &Caller, name: &str, parent: Option<OrganizationId>) -> OrganizationId {
    let new = NewOrganization { name: name.into(), slug: None, parent };
    iam.organizations().create(admin, new).await.unwrap().organization.id
}

/// Checks a removal. It also succeeds when the object was already removed.
fn is_gone(removed: Result<(), Error>) {
    assert!(matches!(removed, Ok(()) | Err(Error::NotFound(_))), "{removed:?}");
}

impl World {
    async fn new() -> Self {
        let (counter, memory) = (Arc::new(QueryCounter::default()), Arc::new(MemoryStore::new()));
        let clock = FixedClock::at("2026-01-31T09:15:00.123Z");
        let iam = async |store: Arc<dyn Store>| {
            let hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
            let settings = Settings { session_idle: IDLE, hashing_cost, ..Settings::default() };
            Iam::builder(store).clock(clock.clone()).settings(settings).build().await.unwrap()
        };
        let elsewhere = iam(Arc::clone(&memory) as Arc<dyn Store>).await;
        let here = iam(Arc::new(Observed::new(memory, Arc::clone(&counter) as Arc<dyn Observer>))).await;
        let registration = Registration { user: person("grace@example.com"), tenant_name: None };
        let created = here.tenants().register(&RequestContext::default(), registration).await.unwrap();
        let admin_token = created.login.tokens.access.expose().to_owned();
        let admin = here.authenticate(&admin_token, RequestContext::default()).await.unwrap();
        let user = here.users().create(&admin, person("ada@example.com")).await.unwrap();
        let root = organization(&here, &admin, "root", None).await;
        let branch = organization(&here, &admin, "branch", Some(root)).await;
        let permissions = vec!["users:read".to_owned()];
        let role = NewRole { name: "READER".into(), description: None, scope: RoleScope::Any, permissions };
        let role = here.roles().create(&admin, role).await.unwrap().id;
        let new = NewAssignment { user: user.id, role, organization: Some(branch), expires_at: None };
        let assignment = here.assignments().create(&admin, new).await.unwrap().id;
        let ada = log_in(&here).await;
        Self { counter, clock, here, elsewhere, admin, admin_token, ada, role, root, branch, assignment }
    }

    /// Follows a feed that is complete until the test sends a notification.
    async fn follow(&self) -> FeedControl {
        let ((notifications, receiver), (asks, asked)) = (unbounded_channel(), watch::channel(0));
        let here = self.here.clone();
        let feed = Feed { notifications: receiver, asked: asks };
        let following = tokio::spawn(async move { here.0.snapshots().follow(Box::new(feed)).await });
        let mut feed_control = FeedControl { notifications, asked, notified: 0, following };
        feed_control.notify(&[]).await;
        feed_control
    }

    async fn authenticate(&self) -> Result<Caller, Error> {
        self.here.authenticate(self.ada.tokens.access.expose(), RequestContext::default()).await
    }

    /// Whether Ada may read the users of any organization, by her current rights.
    async fn may_read(&self) -> bool {
        let caller = self.authenticate().await.unwrap();
        caller.authority().visible_scope(&permission::USERS_READ, self.clock.now()).is_some()
    }

    /// Checks several times, because a concurrent reader may cache a stale entry late.
    async fn may_read_stays(&self, expected: bool) {
        for _ in 0..4 {
            assert_eq!(self.may_read().await, expected);
            thread::sleep(Duration::from_micros(200));
        }
    }

    /// Returns how many queries for Ada's session a successful request makes.
    async fn queries(&self) -> u32 {
        self.counter.take();
        self.authenticate().await.unwrap();
        self.counter.take().remove("session_snapshot").unwrap_or(0)
    }

    /// Makes a request of Ada, so that her session is cached.
    async fn fill_cache(&self) {
        self.authenticate().await.unwrap();
        assert_eq!(self.queries().await, 0);
    }

    async fn permit(&self, by: &Iam, permission: &str) {
        let patch = RolePatch { permissions: Some(vec![permission.into()]), ..RolePatch::default() };
        by.roles().update(&self.admin, self.role, patch).await.unwrap();
    }

    async fn assign(&self, by: &Iam) -> AssignmentId {
        let (user, organization) = (self.ada.user.id, Some(self.branch));
        let new = NewAssignment { user, role: self.role, organization, expires_at: None };
        by.assignments().create(&self.admin, new).await.unwrap().id
    }

    async fn revoke(&self, by: &Iam, assignment: AssignmentId) {
        by.assignments().delete(&self.admin, assignment).await.unwrap();
    }

    async fn set_status(&self, by: &Iam, organization: OrganizationId, status: OrganizationStatus) {
        let patch = OrganizationPatch { status: Some(status), ..OrganizationPatch::default() };
        by.organizations().update(&self.admin, organization, patch).await.unwrap();
    }

    async fn move_branch(&self, by: &Iam, parent: OrganizationId) {
        let patch = OrganizationPatch { parent: Some(Some(parent)), ..OrganizationPatch::default() };
        by.organizations().update(&self.admin, self.branch, patch).await.unwrap();
    }

    /// Does something in the other process without a notification, and then in this process.
    async fn do_elsewhere_then_here(&self, something: impl AsyncFn(&Iam)) {
        self.fill_cache().await;
        something(&self.elsewhere).await;
        assert_eq!(self.queries().await, 0, "the change was notified");
        something(&self.here).await;
    }

    /// Returns whether Ada may read users in an organization, and whether its position was queried.
    async fn may_read_in(&self, id: OrganizationId) -> (bool, bool) {
        let caller = self.authenticate().await.unwrap();
        self.counter.take();
        let allowed = self.here.access().require(&caller, "users:read", id).await.is_ok();
        (allowed, self.counter.take().contains_key("lineages"))
    }

    async fn move_team(&self, by: &Iam, team: OrganizationId, parent: OrganizationId) {
        let patch = OrganizationPatch { parent: Some(Some(parent)), ..OrganizationPatch::default() };
        by.organizations().update(&self.admin, team, patch).await.unwrap();
    }

    async fn session(&self) -> SessionId {
        let sessions = self.here.0.store.sessions_of(self.admin.tenant(), self.ada.user.id).await.unwrap();
        sessions[0].id
    }
}

#[tokio::test]
async fn a_read_by_a_cached_caller_makes_only_its_own_query() {
    let world = World::new().await;
    let _feed_control = world.follow().await;
    let read = async || {
        let caller = world.here.authenticate(&world.admin_token, RequestContext::default()).await.unwrap();
        world.here.users().get(&caller, world.ada.user.id).await.unwrap();
        world.counter.take()
    };
    read().await;
    assert_eq!(read().await, BTreeMap::from([("user", 1)]));
}

#[tokio::test]
async fn me_takes_one_query_and_shows_the_current_rights() {
    let world = World::new().await;
    let _feed_control = world.follow().await;
    world.fill_cache().await;
    let me = async || {
        let caller = world.authenticate().await.unwrap();
        world.counter.take();
        let me = world.here.sessions().me(&caller).await.unwrap();
        let permissions = me.grants[0].role.permissions.iter().map(ToString::to_string).collect::<Vec<_>>();
        (permissions, world.counter.take())
    };
    let one = BTreeMap::from([("session_details", 1)]);
    assert_eq!(me().await, (vec!["users:read".to_owned()], one.clone()));
    world.permit(&world.here, "roles:read").await;
    world.fill_cache().await;
    assert_eq!(me().await, (vec!["roles:read".to_owned()], one));
}

#[tokio::test]
async fn the_position_of_an_organization_is_queried_once_for_each_change() {
    let world = World::new().await;
    let (mut feed_control, here, elsewhere) = (world.follow().await, &world.here, &world.elsewhere);
    let other = organization(here, &world.admin, "other", None).await;
    let team = organization(here, &world.admin, "team", Some(world.branch)).await;
    let check_cached =
        async || assert_eq!((world.may_read_in(team).await, world.may_read_in(other).await.0), ((true, false), false));
    assert_eq!(world.may_read_in(team).await, (true, true));
    check_cached().await;

    world.move_team(here, team, other).await;
    assert_eq!(world.may_read_in(team).await, (false, true));
    world.move_team(here, team, world.branch).await;
    assert_eq!(world.may_read_in(team).await, (true, true));

    world.move_team(elsewhere, team, other).await;
    check_cached().await;
    feed_control.notify(&[team.into()]).await;
    assert_eq!(world.may_read_in(team).await, (false, true));
    world.move_team(elsewhere, team, world.branch).await;
    feed_control.notify(&[team.into()]).await;
    assert_eq!(world.may_read_in(team).await, (true, true));

    // A change of an ancestor also invalidates.
    check_cached().await;
    world.move_branch(here, other).await;
    assert_eq!(world.may_read_in(team).await, (true, true));

    check_cached().await;
    here.organizations().delete(&world.admin, team).await.unwrap();
    assert_eq!(world.may_read_in(team).await, (false, true));
    feed_control.cut().await;
    assert_eq!((world.may_read_in(other).await, world.may_read_in(other).await), ((false, true), (false, true)));
}

#[tokio::test]
async fn several_questions_query_only_positions_that_are_not_cached() {
    let world = World::new().await;
    let (_feed_control, here) = (world.follow().await, &world.here);
    let team = organization(here, &world.admin, "team", Some(world.branch)).await;
    assert!(world.may_read_in(team).await.0);
    let caller = world.authenticate().await.unwrap();
    let organizations = [team, world.branch, team];
    let questions = organizations.map(|organization| Question {
        permission: permission::USERS_READ,
        organization: Some(organization),
        user: None,
        at: None,
    });
    for lineages in [Some(1), None] {
        world.counter.take();
        let decisions = here.access().check_all(&caller, &questions).await.unwrap();
        assert!(decisions.iter().all(|decision| decision.denial.is_none()), "{decisions:?}");
        assert_eq!(decisions[0].grants[0].inherited_from, Some(world.branch));
        assert_eq!(decisions[1].grants[0].inherited_from, None);
        assert_eq!(world.counter.take().remove("lineages"), lineages);
    }
}

#[tokio::test]
async fn every_request_queries_its_session_without_a_feed() {
    let world = World::new().await;
    world.here.follow_changes().await.unwrap();
    assert_eq!((world.queries().await, world.queries().await), (1, 1));
    assert!(!world.here.receives_changes());
}

#[tokio::test]
async fn a_change_of_this_process_takes_effect_with_the_next_request() {
    let world = World::new().await;
    let (_feed_control, here) = (world.follow().await, &world.here);
    world.fill_cache().await;
    world.permit(here, "roles:read").await;
    assert!(!world.may_read().await);
    world.permit(here, "users:read").await;
    assert!(world.may_read().await);

    world.fill_cache().await;
    world.revoke(here, world.assignment).await;
    assert!(!world.may_read().await);
    let assignment = world.assign(here).await;
    assert!(world.may_read().await);

    world.fill_cache().await;
    world.set_status(here, world.root, OrganizationStatus::Suspended).await;
    assert!(!world.may_read().await);
    world.set_status(here, world.root, OrganizationStatus::Active).await;
    assert!(world.may_read().await);

    world.fill_cache().await;
    let asleep = organization(here, &world.admin, "asleep", None).await;
    world.set_status(here, asleep, OrganizationStatus::Suspended).await;
    assert_eq!(world.queries().await, 0, "no user holds a role there");
    world.move_branch(here, asleep).await;
    assert!(!world.may_read().await);
    world.move_branch(here, world.root).await;
    assert!(world.may_read().await);

    world.fill_cache().await;
    let patch = AssignmentPatch { expires_at: Some(Some(world.clock.now() + TimeDelta::seconds(60))) };
    here.assignments().update(&world.admin, assignment, patch).await.unwrap();
    assert!(world.may_read().await);
    world.clock.advance(TimeDelta::seconds(60));
    assert!(!world.may_read().await);
    assert_eq!(world.queries().await, 0, "an expiry is checked for each question, without a query");

    here.users().suspend(&world.admin, world.ada.user.id).await.unwrap();
    let refused = world.authenticate().await.unwrap_err();
    assert!(matches!(refused, Error::Unauthenticated(Unauthenticated::InvalidToken)), "{refused:?}");
}

/// When a client asks for a change that another process has already made, its next request sees the change.
#[tokio::test]
async fn a_change_that_was_already_made_takes_effect_with_the_next_request() {
    let world = World::new().await;
    let (_feed_control, here, admin) = (world.follow().await, &world.here, &world.admin);
    world.do_elsewhere_then_here(async |iam| world.permit(iam, "roles:read").await).await;
    assert!(!world.may_read().await);
    world.do_elsewhere_then_here(async |iam| world.permit(iam, "users:read").await).await;
    assert!(world.may_read().await);

    world
        .do_elsewhere_then_here(async |iam| world.set_status(iam, world.root, OrganizationStatus::Suspended).await)
        .await;
    assert!(!world.may_read().await);
    world.set_status(here, world.root, OrganizationStatus::Active).await;

    let soon = world.clock.now() + TimeDelta::seconds(60);
    let expire = async |iam: &Iam| {
        let patch = AssignmentPatch { expires_at: Some(Some(soon)) };
        iam.assignments().update(admin, world.assignment, patch).await.unwrap();
    };
    world.do_elsewhere_then_here(expire).await;
    world.clock.advance(TimeDelta::seconds(60));
    assert!(!world.may_read().await);

    let again = Idempotency::new("again".parse().unwrap(), "");
    let (user, organization) = (world.ada.user.id, Some(world.branch));
    let new = NewAssignment { user, role: world.role, organization, expires_at: None };
    let assign = async |iam: &Iam| iam.assignments().create_once(admin, new, Some(&again)).await.unwrap().id;
    world.do_elsewhere_then_here(async |iam| assert_eq!(assign(iam).await, assign(iam).await)).await;
    assert!(world.may_read().await);

    let assignment = here.assignments().of_user(admin, user).await.unwrap()[0].assignment.id;
    world.do_elsewhere_then_here(async |iam| is_gone(iam.assignments().delete(admin, assignment).await)).await;
    assert!(!world.may_read().await);

    world.assign(here).await;
    world.do_elsewhere_then_here(async |iam| iam.organizations().delete(admin, world.branch).await.unwrap()).await;
    assert!(!world.may_read().await);

    world.do_elsewhere_then_here(async |iam| drop(iam.users().suspend(admin, user).await.unwrap())).await;
    assert!(world.authenticate().await.is_err());
}

#[tokio::test]
async fn a_session_that_ended_elsewhere_and_ends_here_is_refused_at_once() {
    let mut world = World::new().await;
    let _feed_control = world.follow().await;
    let system = Caller::system(world.admin.tenant(), "test");
    for way in 0..4 {
        world.ada = log_in(&world.here).await;
        let (ada, session) = (world.authenticate().await.unwrap(), world.session().await);
        let end = async |iam: &Iam| match way {
            0 => iam.sessions().logout(&ada).await.unwrap(),
            // The second call finds that the session of its caller has ended.
            1 => drop(iam.sessions().logout_all(&ada).await),
            2 => drop(iam.credentials().reset_password(&system, "ada@example.com", "Passw0rd!".into()).await.unwrap()),
            _ => is_gone(iam.sessions().terminate(&world.admin, session).await),
        };
        world.do_elsewhere_then_here(end).await;
        assert!(world.authenticate().await.is_err(), "{way}");
    }
}

#[tokio::test]
async fn a_session_that_this_process_ends_is_refused_at_once() {
    let world = World::new().await;
    let _feed_control = world.follow().await;
    world.fill_cache().await;
    world.here.sessions().terminate(&world.admin, world.session().await).await.unwrap();
    assert!(world.authenticate().await.is_err());
}

#[tokio::test]
async fn a_change_of_another_process_takes_effect_when_it_is_notified() {
    let world = World::new().await;
    let (mut feed_control, elsewhere) = (world.follow().await, &world.elsewhere);
    world.fill_cache().await;
    world.permit(elsewhere, "roles:read").await;
    assert_eq!(world.queries().await, 0, "the change is not notified yet");
    feed_control.notify(&[world.role.into()]).await;
    assert!(!world.may_read().await);
    world.permit(elsewhere, "users:read").await;
    feed_control.notify(&[world.role.into()]).await;

    world.fill_cache().await;
    world.set_status(elsewhere, world.root, OrganizationStatus::Suspended).await;
    feed_control.notify(&[world.root.into()]).await;
    assert!(!world.may_read().await);
    world.set_status(elsewhere, world.root, OrganizationStatus::Active).await;
    feed_control.notify(&[world.root.into()]).await;

    world.fill_cache().await;
    world.revoke(elsewhere, world.assignment).await;
    feed_control.notify(&[world.ada.user.id.into()]).await;
    assert!(!world.may_read().await);

    world.fill_cache().await;
    let session = world.session().await;
    elsewhere.sessions().terminate(&world.admin, session).await.unwrap();
    feed_control.notify(&[session.into()]).await;
    assert!(world.authenticate().await.is_err());
}

#[tokio::test]
async fn entries_from_before_a_lost_feed_are_stale() {
    let world = World::new().await;
    let feed_control = world.follow().await;
    world.fill_cache().await;
    feed_control.cut().await;
    assert!(!world.here.receives_changes());
    assert_eq!((world.queries().await, world.queries().await), (1, 1));
    world.permit(&world.elsewhere, "roles:read").await;
    let _feed_control = world.follow().await;
    assert!(world.here.receives_changes() && !world.may_read().await);
    world.fill_cache().await;
}

#[tokio::test]
async fn the_cache_is_not_used_after_a_late_notification() {
    let world = World::new().await;
    let mut feed_control = world.follow().await;
    world.fill_cache().await;
    let complete_at = monotonic_now().checked_sub(LEASE);
    feed_control.notifications.send(FeedNotification { changed: Vec::new(), complete_at }).unwrap();
    feed_control.notified += 1;
    let notified = feed_control.notified;
    feed_control.asked.wait_for(|times| *times > notified).await.unwrap();
    assert!(!world.here.receives_changes());
    assert_eq!((world.queries().await, world.queries().await), (1, 1));
    feed_control.notify(&[]).await;
    assert_eq!(world.queries().await, 0, "the feed has missed no change");
}

#[tokio::test]
async fn a_session_that_was_refreshed_elsewhere_does_not_expire() {
    let mut world = World::new().await;
    let _feed_control = world.follow().await;
    world.fill_cache().await;
    world.clock.advance(IDLE - TimeDelta::seconds(1));
    let context = RequestContext::default();
    let refreshed = world.elsewhere.sessions().refresh(&context, &world.ada.tokens.refresh).await.unwrap();
    world.ada.tokens = refreshed;
    world.clock.advance(TimeDelta::seconds(2));
    assert_eq!((world.queries().await, world.queries().await), (1, 0));
}

#[tokio::test]
async fn a_unit_of_work_that_rolls_back_also_invalidates() {
    let world = World::new().await;
    let _feed_control = world.follow().await;
    world.fill_cache().await;
    let sessions = world.here.0.store.sessions_of(world.admin.tenant(), world.ada.user.id).await.unwrap();
    let mut work = world.here.0.begin(&world.admin).await.unwrap();
    work.apply(SessionChange::Forget(sessions)).await.unwrap();
    assert_eq!(world.queries().await, 0);
    drop(work);
    assert_eq!(world.queries().await, 1);
}

/// Concurrent readers replace the cache entry all the time, also with sessions that were read before the change.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_readers_bring_no_stale_entry_back() {
    let world = Arc::new(World::new().await);
    let mut feed_control = world.follow().await;
    world.counter.is_slow.store(true, SeqCst);
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                loop {
                    world.authenticate().await.unwrap();
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    let mut assignment = world.assignment;
    for round in 0..200 {
        let is_here = round % 2 == 0;
        let by = if is_here { &world.here } else { &world.elsewhere };
        world.revoke(by, assignment).await;
        if !is_here {
            feed_control.notify(&[world.ada.user.id.into()]).await;
        }
        world.may_read_stays(false).await;
        assignment = world.assign(by).await;
        if !is_here {
            feed_control.notify(&[world.ada.user.id.into()]).await;
        }
        world.may_read_stays(true).await;
    }
    readers.into_iter().for_each(|reader| reader.abort());
}

#[test]
fn a_session_admits_its_active_user_in_an_active_tenant_until_it_expires() {
    let now = FixedClock::at("2026-01-31T09:15:00Z").now();
    let [user, another] = [1, 2].map(|number| UserId::from(Uuid::from_u128(number)));
    let snapshot = |user_status, tenant_status, left| {
        let (expires_at, grants) = (now + TimeDelta::milliseconds(left), Vec::new());
        CachedSession::from(SessionSnapshot {
            user_id: user,
            user_status,
            tenant_status,
            expires_at,
            impersonator: None,
            enrol_by: None,
            authzen_identifiers: AuthzenIdentifiers::default(),
            grants,
        })
    };
    use TenantStatus as Tenant;
    use UserStatus as User;
    for (user_status, tenant_status, left, expected) in [
        (User::Active, Tenant::Active, 1, true),
        (User::Active, Tenant::Active, 0, false),
        (User::Active, Tenant::Suspended, 1, false),
        (User::Suspended, Tenant::Active, 1, false),
        (User::Inactive, Tenant::Active, 1, false),
    ] {
        let snapshot = snapshot(user_status, tenant_status, left);
        assert_eq!(snapshot.admits(user, now), expected, "{user_status:?}, {tenant_status:?}, {left} ms");
        assert!(!snapshot.admits(another, now));
    }
}

#[test]
fn changes_are_complete_from_the_start_of_a_feed_to_the_end_of_its_lease() {
    let (snapshots, now) = (SessionCache::default(), monotonic_now());
    let before = snapshots.read_version();
    assert!(!snapshots.has_received_all(before, now), "no feed is followed");
    let following = snapshots.start_following();
    let after = snapshots.read_version();
    assert!(!snapshots.has_received_all(after, now), "no notification was received yet");
    following.receive(&FeedNotification { changed: Vec::new(), complete_at: Some(now) });
    assert!(snapshots.has_received_all(after, now + LEASE - Duration::from_nanos(1)));
    assert!(!snapshots.has_received_all(after, now + LEASE));
    assert!(!snapshots.has_received_all(before, now), "the feed began later");
    let changed = Uuid::from_u128(7);
    assert!(!snapshots.has_changed(changed, after));
    following.receive(&FeedNotification { changed: vec![changed], complete_at: None });
    assert!(snapshots.has_changed(changed, after) && !snapshots.has_changed(changed, snapshots.read_version()));
    drop(following);
    assert!(!snapshots.has_received_all(after, now));
}

#[test]
fn the_weight_of_an_entry_is_about_its_size() {
    let now = FixedClock::at("2026-01-31T09:15:00Z").now();
    let role = built_in_roles(TenantId::from(Uuid::from_u128(1)), now, || Uuid::from_u128(2).into()).unwrap().remove(0);
    let role = Arc::new(role);
    let lineage: Vec<OrganizationId> = (0..50).map(|number| Uuid::from_u128(number).into()).collect();
    let grant = |number: u128| Grant {
        assignment: Assignment {
            id: Uuid::from_u128(number).into(),
            tenant_id: role.tenant_id,
            user_id: Uuid::from_u128(1).into(),
            role_id: role.id,
            organization_id: Some(lineage[0]),
            expires_at: None,
            created_at: now,
            created_by: None,
            directory_group_id: None,
            access_request_id: None,
        },
        role: Arc::clone(&role),
        organization: Some(GrantOrganization {
            id: lineage[0],
            name: "x".repeat(100),
            lineage: lineage.clone(),
            is_lineage_active: true,
        }),
    };
    let weight = |grants: u128| {
        let snapshot = CachedSession::from(SessionSnapshot {
            user_id: Uuid::from_u128(1).into(),
            user_status: UserStatus::Active,
            tenant_status: TenantStatus::Active,
            expires_at: now,
            impersonator: None,
            enrol_by: None,
            authzen_identifiers: AuthzenIdentifiers::default(),
            grants: (0..grants).map(grant).collect(),
        });
        let (read_version, size) = (SessionCache::default().read_version(), snapshot.size());
        let entry = Entry::new(snapshot, vec![Uuid::nil(); 10], read_version, monotonic_now(), size);
        BySize.weight(&(), &Arc::new(entry)) as usize
    };
    let own = size_of::<CachedSession>() + size_of::<Entry<CachedSession>>() + 10 * size_of::<Uuid>();
    assert!((own..own + 500).contains(&weight(0)), "{} and {own}", weight(0));
    let each = (weight(100) - weight(0)) / 100;
    let text_and_lineage = 100 + 50 * size_of::<OrganizationId>();
    // Once in the grant, and once in the authority.
    let least = size_of::<Grant>() + text_and_lineage;
    assert!((least..3 * least).contains(&each), "{each} and {least}");
}

/// A key of Ada, and how many queries for it an accepted request makes.
async fn key_of_ada(world: &World) -> (IssuedApiKey, u32) {
    let permissions = Some(vec!["*".into()]);
    let new = NewApiKey { name: "key".into(), permissions, organization: Some(world.branch), expires_at: None };
    let key = world.here.api_keys().create(&world.admin, world.ada.user.id, new).await.unwrap();
    let queries = key_queries(world, &key).await;
    (key, queries)
}

async fn key_queries(world: &World, key: &IssuedApiKey) -> u32 {
    world.counter.take();
    world.here.authenticate(key.token.expose(), RequestContext::default()).await.unwrap();
    let counts = world.counter.take();
    counts.iter().filter(|(name, _)| **name != "record_api_key_use").map(|(_, count)| count).sum()
}

#[tokio::test]
async fn a_key_is_read_by_one_query_more_than_a_session_and_then_cached() {
    let world = World::new().await;
    let _feed = world.follow().await;
    let (key, queries) = key_of_ada(&world).await;
    assert_eq!(queries, 2, "the key with the grants, and its organization");
    assert_eq!(key_queries(&world, &key).await, 0);
    let permissions = Some(vec!["*".into()]);
    let everywhere = NewApiKey { name: "key".into(), permissions, ..NewApiKey::default() };
    let key = world.here.api_keys().create(&world.admin, world.ada.user.id, everywhere).await.unwrap();
    assert_eq!(key_queries(&world, &key).await, 1);
}

#[tokio::test]
async fn a_change_here_or_a_notified_one_invalidates_a_key() {
    let world = World::new().await;
    let mut feed = world.follow().await;
    let (key, _) = key_of_ada(&world).await;
    let user = world.ada.user.id;
    for id in [key.key.id.as_uuid(), user.as_uuid(), world.role.as_uuid(), world.branch.as_uuid(), world.root.as_uuid()]
    {
        assert_eq!(key_queries(&world, &key).await, 0);
        feed.notify(&[id]).await;
        assert_eq!(key_queries(&world, &key).await, 2, "{id}");
    }
    world.here.api_keys().delete(&world.admin, key.key.id).await.unwrap();
    let refused = world.here.authenticate(key.token.expose(), RequestContext::default()).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::ApiKey))), "{refused:?}");
}

#[tokio::test]
async fn a_key_that_another_process_revokes_is_refused_once_that_is_notified() {
    let world = World::new().await;
    let mut feed = world.follow().await;
    let (key, _) = key_of_ada(&world).await;
    world.elsewhere.api_keys().delete(&world.admin, key.key.id).await.unwrap();
    feed.notify(&[key.key.id.as_uuid()]).await;
    let refused = world.here.authenticate(key.token.expose(), RequestContext::default()).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::ApiKey))), "{refused:?}");
}

#[tokio::test]
async fn a_cached_key_is_refused_after_its_expiry_and_its_use_is_written_once_an_hour() {
    let world = World::new().await;
    let _feed = world.follow().await;
    let (key, _) = key_of_ada(&world).await;
    let uses = async || {
        world.counter.take();
        world.here.authenticate(key.token.expose(), RequestContext::default()).await.unwrap();
        world.counter.take().remove("record_api_key_use").unwrap_or(0)
    };
    assert_eq!(uses().await, 0, "it was written by the first request");
    world.clock.advance(TimeDelta::hours(1));
    assert_eq!((uses().await, uses().await), (1, 0));
    world.clock.advance(TimeDelta::days(90));
    let refused = world.here.authenticate(key.token.expose(), RequestContext::default()).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::ApiKey))), "{refused:?}");
}
