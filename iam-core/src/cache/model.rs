//! Interleaves all events that affect the cache, over a store of two sessions, and checks the answers of the cache.

use std::collections::VecDeque;

use iam_model::access::testing::{TestTree, at, id};
use iam_model::clock::monotonic_now;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::cache::*;

const SESSIONS: usize = 2;

/// Everything that changes in the store. The user of the first session holds the role in `branch`, below `root`. The
/// user of the second session holds it tenant-wide.
const NAMES: [&str; 7] = ["session 0", "session 1", "user 0", "user 1", "users:read", "branch", "root"];

/// The names on which each session depends, by index.
const DEPENDS_ON: [&[usize]; SESSIONS] = [&[0, 2, 4, 5, 6], &[1, 3, 4]];

#[derive(Clone, Copy, Debug)]
enum Step {
    /// This process commits a change and does not acknowledge it yet.
    Commit(usize),
    /// One of the changes that this process has committed gets its version and is acknowledged.
    Acknowledge(usize),
    /// Another process commits a change.
    CommitElsewhere(usize),
    /// A new feed is connected and receives changes from now on. It replaces an earlier feed.
    Connect,
    /// The feed is followed from now on.
    Follow,
    /// The feed is disconnected.
    Cut,
    /// The feed sends a notification of this many committed changes. If these are all, it says so.
    Notify(usize),
    /// The earliest notification that the feed has sent arrives.
    Receive,
    /// This many milliseconds pass.
    Pass(u64),
    /// A reader asks for a session. It gets the cached one, or begins to read.
    Ask(usize),
    /// The store answers a reader that began to read.
    Read(usize),
    /// A reader that has its answer caches it.
    Keep(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let any = 0..8_usize;
    prop_oneof![
        2 => (0..NAMES.len()).prop_map(Step::Commit),
        2 => any.clone().prop_map(Step::Acknowledge),
        3 => (0..NAMES.len()).prop_map(Step::CommitElsewhere),
        1 => Just(Step::Connect),
        2 => Just(Step::Follow),
        1 => Just(Step::Cut),
        4 => (0..4_usize).prop_map(Step::Notify),
        4 => Just(Step::Receive),
        2 => (0..1_200_u64).prop_map(Step::Pass),
        6 => (0..SESSIONS).prop_map(Step::Ask),
        5 => any.clone().prop_map(Step::Read),
        5 => any.prop_map(Step::Keep),
    ]
}

/// A committed change. Its number is its index.
struct Commit {
    name: usize,
    at: Instant,
}

struct Reading {
    session: usize,
    read_version: ReadVersion,
    /// The number of the last change that the store's answer contains.
    answer: Option<usize>,
}

struct World<'a> {
    snapshots: &'a SessionCache,
    test_tree: TestTree,
    now: Instant,
    commits: Vec<Commit>,
    unacknowledged: Vec<usize>,
    is_connected: bool,
    following: Option<FollowedFeed<'a>>,
    unsent: VecDeque<usize>,
    sent: VecDeque<(FeedNotification, Vec<usize>)>,
    readings: Vec<Reading>,
    /// For each session, the last change that readers must see, because this process has acknowledged or received it.
    known: [usize; SESSIONS],
}

impl<'a> World<'a> {
    fn new(snapshots: &'a SessionCache) -> Self {
        Self {
            snapshots,
            test_tree: TestTree::new(),
            now: monotonic_now(),
            // The initial state.
            commits: vec![Commit { name: NAMES.len(), at: monotonic_now() }],
            unacknowledged: Vec::new(),
            is_connected: false,
            following: None,
            unsent: VecDeque::new(),
            sent: VecDeque::new(),
            readings: Vec::new(),
            known: [0; SESSIONS],
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Commit(name) => {
                let number = self.commit(name);
                self.unacknowledged.push(number);
            }
            Step::Acknowledge(which) => {
                if let Some(number) = take(&mut self.unacknowledged, which) {
                    self.snapshots.invalidate(&[id(NAMES[self.commits[number].name])]);
                    self.know(number);
                }
            }
            Step::CommitElsewhere(name) => {
                self.commit(name);
            }
            Step::Connect => {
                self.cut();
                self.is_connected = true;
            }
            Step::Follow if self.is_connected && self.following.is_none() => {
                self.following = Some(self.snapshots.start_following());
            }
            Step::Follow => {}
            Step::Cut => self.cut(),
            Step::Notify(count) => self.notify(count),
            Step::Receive => self.receive(),
            Step::Pass(millis) => self.now += Duration::from_millis(millis),
            Step::Ask(session) => {
                self.ask(session);
            }
            Step::Read(which) => {
                let waiting: Vec<usize> =
                    (0..self.readings.len()).filter(|at| self.readings[*at].answer.is_none()).collect();
                if let Some(at) = waiting.get(which % waiting.len().max(1)) {
                    self.readings[*at].answer = Some(self.last_change_of(self.readings[*at].session));
                }
            }
            Step::Keep(which) => {
                let answered: Vec<usize> =
                    (0..self.readings.len()).filter(|at| self.readings[*at].answer.is_some()).collect();
                if let Some(at) = answered.get(which % answered.len().max(1)) {
                    let Reading { session, read_version, answer } = self.readings.remove(*at);
                    self.keep(session, read_version, answer.unwrap());
                }
            }
        }
    }

    fn commit(&mut self, name: usize) -> usize {
        let number = self.commits.len();
        self.commits.push(Commit { name, at: self.now });
        if self.is_connected {
            self.unsent.push_back(number);
        }
        number
    }

    fn cut(&mut self) {
        self.is_connected = false;
        self.following = None;
        self.unsent.clear();
        self.sent.clear();
    }

    fn notify(&mut self, count: usize) {
        if !self.is_connected {
            return;
        }
        let numbers: Vec<usize> = self.unsent.drain(..count.min(self.unsent.len())).collect();
        let changed = numbers.iter().map(|number| id(NAMES[self.commits[*number].name])).collect();
        let complete_at = self.unsent.is_empty().then_some(self.now);
        self.sent.push_back((FeedNotification { changed, complete_at }, numbers));
    }

    fn receive(&mut self) {
        if let Some(following) = &self.following
            && let Some((notification, numbers)) = self.sent.pop_front()
        {
            following.receive(&notification);
            numbers.into_iter().for_each(|number| self.know(number));
        }
    }

    /// Asks for a session, and returns whether it was cached. A cached session must contain every change that this
    /// process knows, and every change that any process committed at least one lease ago.
    fn ask(&mut self, session: usize) -> bool {
        let Some(cached) = self.snapshots.session(tenant(), session_id(session), self.now) else {
            self.readings.push(Reading { session, read_version: self.snapshots.read_version(), answer: None });
            return false;
        };
        let seen = (0..self.commits.len()).find(|number| at(*number as i64) == cached.expires_at).unwrap();
        assert!(seen >= self.known[session], "change {seen} was returned, but change {} is known", self.known[session]);
        let is_old = |commit: &Commit| commit.at + LEASE <= self.now && depends(session, commit);
        let old = self.commits.iter().rposition(is_old).unwrap_or(0);
        assert!(seen >= old, "change {seen} was returned, but change {old} is older than a lease");
        true
    }

    fn keep(&self, session: usize, read_version: ReadVersion, seen: usize) {
        let organization = (session == 0).then_some("branch");
        let read = SessionSnapshot {
            user_id: id(NAMES[2 + session]),
            user_status: UserStatus::Active,
            tenant_status: TenantStatus::Active,
            expires_at: at(seen as i64),
            impersonator: None,
            enrol_by: None,
            authzen_identifiers: AuthzenIdentifiers::default(),
            grants: vec![self.test_tree.grant("users:read", organization, None)],
        };
        self.snapshots.keep_session(tenant(), session_id(session), read, read_version, self.now);
    }

    fn know(&mut self, number: usize) {
        for session in 0..SESSIONS {
            if depends(session, &self.commits[number]) {
                self.known[session] = self.known[session].max(number);
            }
        }
    }

    fn last_change_of(&self, session: usize) -> usize {
        self.commits.iter().rposition(|commit| depends(session, commit)).unwrap_or(0)
    }

    /// Checks that a cached session is returned while a feed is followed, and not after the lease.
    fn check_lease(&mut self) {
        self.step(Step::Connect);
        self.step(Step::Follow);
        self.step(Step::Notify(0));
        self.step(Step::Receive);
        self.readings.clear();
        for session in 0..SESSIONS {
            if !self.ask(session) {
                self.step(Step::Read(0));
                self.step(Step::Keep(0));
                assert!(self.ask(session), "a session that was just cached is not returned");
            }
        }
        self.step(Step::Pass(LEASE.as_millis() as u64));
        assert!((0..SESSIONS).all(|session| !self.ask(session)), "a cached session is returned without notifications");
    }
}

fn depends(session: usize, commit: &Commit) -> bool {
    DEPENDS_ON[session].contains(&commit.name)
}

fn take(numbers: &mut Vec<usize>, which: usize) -> Option<usize> {
    (!numbers.is_empty()).then(|| numbers.remove(which % numbers.len()))
}

fn tenant() -> TenantId {
    id("tenant")
}

fn session_id(session: usize) -> SessionId {
    id(NAMES[session])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_cache_returns_no_entry_that_misses_a_known_or_old_change(steps in vec(step(), 0..100)) {
        let snapshots = SessionCache::default();
        let mut world = World::new(&snapshots);
        steps.into_iter().for_each(|step| world.step(step));
        world.check_lease();
    }
}

#[test]
fn an_entry_of_the_maximum_age_is_read_again() {
    let snapshots = SessionCache::default();
    let mut world = World::new(&snapshots);
    let following = snapshots.start_following();
    let read = world.now;
    following.receive(&FeedNotification { changed: Vec::new(), complete_at: Some(read) });
    world.keep(0, snapshots.read_version(), 0);
    for (age, is_returned) in [(Duration::ZERO, true), (MAX_AGE - Duration::from_millis(1), true), (MAX_AGE, false)] {
        world.now = read + age;
        following.receive(&FeedNotification { changed: Vec::new(), complete_at: Some(world.now) });
        assert_eq!(world.ask(0), is_returned, "{age:?}");
    }
}
