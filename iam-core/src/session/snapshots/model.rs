//! Interleaves whatever can happen to what is kept, over a store of two sessions, and looks at what is given out.

use std::collections::VecDeque;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::access::testing::{Scene, at, id};
use crate::clock::monotonic_now;

const SESSIONS: usize = 2;

/// Everything that changes in the store. The first session is of somebody who holds the role in `branch`, below `root`;
/// the second of somebody who holds it tenant-wide.
const NAMES: [&str; 7] = ["session 0", "session 1", "user 0", "user 1", "users:read", "branch", "root"];

/// Upon which of the names each session hangs.
const HANGS_ON: [&[usize]; SESSIONS] = [&[0, 2, 4, 5, 6], &[1, 3, 4]];

#[derive(Clone, Copy, Debug)]
enum Step {
    /// This process has committed a change; whoever asked for it is not told yet.
    Commit(usize),
    /// One of those that this process has committed is stamped, and acknowledged.
    Acknowledge(usize),
    /// Another process has committed a change.
    CommitElsewhere(usize),
    /// The feed is begun anew, whether or not there is one: it tells from now on.
    Connect,
    /// What it tells is followed from now on.
    Follow,
    /// The feed is lost.
    Cut,
    /// The feed gathers this much of what was committed; if that is all, it says so.
    Tell(usize),
    /// The earliest news that the feed has gathered arrive.
    Hear,
    /// So many milliseconds go by.
    Pass(u64),
    /// Somebody asks about a session, and is given what was kept or begins to read.
    Ask(usize),
    /// One of those who began to read is answered by the store.
    Read(usize),
    /// One of those who were answered keeps that.
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
        4 => (0..4_usize).prop_map(Step::Tell),
        4 => Just(Step::Hear),
        2 => (0..1_200_u64).prop_map(Step::Pass),
        6 => (0..SESSIONS).prop_map(Step::Ask),
        5 => any.clone().prop_map(Step::Read),
        5 => any.prop_map(Step::Keep),
    ]
}

/// A change that was committed; its number is its place.
struct Commit {
    name: usize,
    at: Instant,
}

struct Reading {
    session: usize,
    ticket: Ticket,
    /// The number of the last change that the store's answer has seen.
    answer: Option<usize>,
}

struct World<'a> {
    snapshots: &'a Snapshots,
    scene: Scene,
    now: Instant,
    commits: Vec<Commit>,
    unacknowledged: Vec<usize>,
    is_connected: bool,
    following: Option<Following<'a>>,
    untold: VecDeque<usize>,
    gathered: VecDeque<(News, Vec<usize>)>,
    readings: Vec<Reading>,
    /// For each session, the last change that must be seen because it was acknowledged here or heard of.
    known: [usize; SESSIONS],
}

impl<'a> World<'a> {
    fn new(snapshots: &'a Snapshots) -> Self {
        Self {
            snapshots,
            scene: Scene::new(),
            now: monotonic_now(),
            // What there is at the beginning.
            commits: vec![Commit { name: NAMES.len(), at: monotonic_now() }],
            unacknowledged: Vec::new(),
            is_connected: false,
            following: None,
            untold: VecDeque::new(),
            gathered: VecDeque::new(),
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
                    self.snapshots.touch(&[id(NAMES[self.commits[number].name])]);
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
                self.following = Some(self.snapshots.begin_to_follow());
            }
            Step::Follow => {}
            Step::Cut => self.cut(),
            Step::Tell(count) => self.tell(count),
            Step::Hear => self.hear(),
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
                    let Reading { session, ticket, answer } = self.readings.remove(*at);
                    self.keep(session, ticket, answer.unwrap());
                }
            }
        }
    }

    fn commit(&mut self, name: usize) -> usize {
        let number = self.commits.len();
        self.commits.push(Commit { name, at: self.now });
        if self.is_connected {
            self.untold.push_back(number);
        }
        number
    }

    fn cut(&mut self) {
        self.is_connected = false;
        self.following = None;
        self.untold.clear();
        self.gathered.clear();
    }

    fn tell(&mut self, count: usize) {
        if !self.is_connected {
            return;
        }
        let told: Vec<usize> = self.untold.drain(..count.min(self.untold.len())).collect();
        let changed = told.iter().map(|number| id(NAMES[self.commits[*number].name])).collect();
        let complete_at = self.untold.is_empty().then_some(self.now);
        self.gathered.push_back((News { changed, complete_at }, told));
    }

    fn hear(&mut self) {
        if let Some(following) = &self.following
            && let Some((news, told)) = self.gathered.pop_front()
        {
            following.hear(&news);
            told.into_iter().for_each(|number| self.know(number));
        }
    }

    /// Says whether something was given out. Whatever it is must have seen what is known here, and what was committed
    /// anywhere as long ago as a lease.
    fn ask(&mut self, session: usize) -> bool {
        let Some(given) = self.snapshots.session(tenant(), session_id(session), self.now) else {
            self.readings.push(Reading { session, ticket: self.snapshots.ticket(), answer: None });
            return false;
        };
        let seen = (0..self.commits.len()).find(|number| at(*number as i64) == given.expires_at).unwrap();
        assert!(seen >= self.known[session], "{seen} was given, and {} is known", self.known[session]);
        let is_old = |commit: &Commit| commit.at + LEASE <= self.now && hangs(session, commit);
        let old = self.commits.iter().rposition(is_old).unwrap_or(0);
        assert!(seen >= old, "{seen} was given, and {old} is older than a lease");
        true
    }

    fn keep(&self, session: usize, ticket: Ticket, seen: usize) {
        let place = (session == 0).then_some("branch");
        let read = SessionSnapshot {
            user_id: id(NAMES[2 + session]),
            user_status: UserStatus::Active,
            tenant_status: TenantStatus::Active,
            expires_at: at(seen as i64),
            grants: vec![self.scene.grant("users:read", place, None)],
        };
        self.snapshots.keep_session(tenant(), session_id(session), read, ticket, self.now);
    }

    fn know(&mut self, number: usize) {
        for session in 0..SESSIONS {
            if hangs(session, &self.commits[number]) {
                self.known[session] = self.known[session].max(number);
            }
        }
    }

    fn last_change_of(&self, session: usize) -> usize {
        self.commits.iter().rposition(|commit| hangs(session, commit)).unwrap_or(0)
    }

    /// With a feed that is up, what was read once is given out.
    fn settle(&mut self) {
        self.step(Step::Connect);
        self.step(Step::Follow);
        self.step(Step::Tell(0));
        self.step(Step::Hear);
        self.readings.clear();
        for session in 0..SESSIONS {
            if !self.ask(session) {
                self.step(Step::Read(0));
                self.step(Step::Keep(0));
                assert!(self.ask(session), "what was just kept is not given out");
            }
        }
        self.step(Step::Pass(LEASE.as_millis() as u64));
        assert!((0..SESSIONS).all(|session| !self.ask(session)), "nothing is heard, and yet something is given out");
    }
}

fn hangs(session: usize, commit: &Commit) -> bool {
    HANGS_ON[session].contains(&commit.name)
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
    fn nothing_is_given_out_that_is_known_to_have_changed_or_has_changed_a_lease_ago(steps in vec(step(), 0..100)) {
        let snapshots = Snapshots::default();
        let mut world = World::new(&snapshots);
        steps.into_iter().for_each(|step| world.step(step));
        world.settle();
    }
}

#[test]
fn what_was_read_a_minute_ago_is_read_again() {
    let snapshots = Snapshots::default();
    let mut world = World::new(&snapshots);
    let following = snapshots.begin_to_follow();
    let read = world.now;
    following.hear(&News { changed: Vec::new(), complete_at: Some(read) });
    world.keep(0, snapshots.ticket(), 0);
    for (age, is_given) in [(Duration::ZERO, true), (MAX_AGE - Duration::from_millis(1), true), (MAX_AGE, false)] {
        world.now = read + age;
        following.hear(&News { changed: Vec::new(), complete_at: Some(world.now) });
        assert_eq!(world.ask(0), is_given, "{age:?}");
    }
}
