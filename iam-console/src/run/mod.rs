//! The runs that are kept: actions on many users or role assignments that have begun.

pub(crate) mod step;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta};
use iam_core::clock::Timestamp;
use iam_core::{AssignmentId, Caller, TenantId, UserId};

use crate::cookie::random_text;
use crate::run::step::{Action, Held, Step};

/// How long a run is kept after its end, and how long a preview can be confirmed.
const KEPT: TimeDelta = TimeDelta::hours(1);
/// How many runs of a person are kept, and how many of them can go on at once.
const MAX_OWN: usize = 10;
const MAX_OWN_AT_ONCE: usize = 2;
/// How many runs of a tenant are kept, and how many in all.
const MAX_OF_TENANT: usize = 100;
const MAX_ALL: usize = 1_000;
/// More than an id has that a preview has offered.
const MAX_ID: usize = 120;
/// Separates the part of an id that tells what the preview has shown.
const BOUND: char = '.';

/// The runs of this process, the oldest first. What they have done is also in the audit log; their progress is nowhere
/// else.
pub(crate) struct Runs {
    kept: Mutex<Kept>,
    /// When the process has begun: a preview from before may have been confirmed then.
    since: Timestamp,
}

#[derive(Default)]
struct Kept {
    runs: Vec<Arc<Run>>,
    /// For each person of which a run had to make room within its hour: when its preview was offered. No preview from
    /// before can be confirmed any more, so that none of them begins twice.
    dropped: Vec<(Owner, Timestamp)>,
}

impl Kept {
    /// Drops the oldest of these runs that has ended. Returns whether there was one.
    fn drop_oldest(&mut self, is_one: impl Fn(&Run) -> bool) -> bool {
        let Some(oldest) = self.runs.iter().position(|run| is_one(run) && run.has_ended()) else { return false };
        let run = self.runs.remove(oldest);
        if let Some(offered) = offered_at(&run.id)
            && self.is_later(run.owner, offered)
        {
            self.dropped.retain(|(of, _)| *of != run.owner);
            self.dropped.push((run.owner, offered));
        }
        true
    }

    /// Whether a preview of this person was offered after those of all runs that are forgotten.
    fn is_later(&self, owner: Owner, offered: Timestamp) -> bool {
        self.dropped.iter().all(|(of, dropped)| *of != owner || *dropped < offered)
    }
}

/// Who may see a run: a user, and the person who acts as that user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    tenant: TenantId,
    user: Option<UserId>,
    person: Option<UserId>,
}

impl Owner {
    pub(crate) fn of(caller: &Caller) -> Self {
        Self { tenant: caller.tenant(), user: caller.user(), person: caller.person() }
    }
}

/// An action on many, which has begun.
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) owner: Owner,
    pub(crate) action: Action,
    pub(crate) begun_at: Timestamp,
    /// Finds the entries of the run in the audit log.
    pub(crate) correlation_id: String,
    pub(crate) lines: Vec<Line>,
    pub(crate) progress: Mutex<Progress>,
}

/// A step, as a person reads it: a run keeps its texts in the language in which it was begun.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) step: Step,
    /// The name of the user, or its id if the caller may not see the user.
    pub(crate) name: String,
    /// The role with its place; empty for an action on the user as a whole.
    pub(crate) detail: String,
    /// Until when the role is held from then on, or was held.
    pub(crate) until: Option<Timestamp>,
    /// What undoes the step; `None` if nothing does, or if only its result tells.
    pub(crate) undo: Option<Step>,
    /// Why the step is not taken; `None` if it is.
    pub(crate) left_out: Option<String>,
}

/// How far a run has come.
#[derive(Clone, Default)]
pub(crate) struct Progress {
    /// Those of the first lines.
    pub(crate) outcomes: Vec<Outcome>,
    /// Why the other lines were not tried. `None` if all were.
    pub(crate) stopped: Option<Stopped>,
    pub(crate) ended_at: Option<Timestamp>,
    /// Whether the person has seen the end, or wants to hear no more of the run.
    is_seen: bool,
}

/// Why a run has stopped. It is no text: a task of its own executes a run, and so has no language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    ByError,
    /// The session has ended, or could not be checked.
    WithSession,
}

#[derive(Clone)]
pub(crate) enum Outcome {
    /// With the role assignment that was made.
    Done(Option<AssignmentId>),
    /// With the reason.
    Refused(String),
}

/// What becomes of a confirmed run.
pub(crate) enum Begun {
    New(Arc<Run>),
    /// It has begun before.
    Known,
    /// Its preview is too old, or a run of it may be forgotten.
    Old,
    /// Too many runs go on.
    Busy,
}

/// Returns the id of a run that a preview offers. It has the time of the preview, and is bound to its steps.
pub(crate) fn new_id(owner: Owner, action: Action, steps: &[Step], now: Timestamp) -> String {
    let offered = format!("{}-{}", now.timestamp_millis(), random_text());
    let bound = bound_to(&offered, owner, action, steps);
    format!("{offered}{BOUND}{bound}")
}

/// Whether a preview has offered an id for these steps.
pub(crate) fn is_offered_for(id: &str, owner: Owner, action: Action, steps: &[Step]) -> bool {
    id.split_once(BOUND).is_some_and(|(offered, bound)| bound == bound_to(offered, owner, action, steps))
}

/// Returns a digest of what a preview has shown, and to which person.
fn bound_to(offered: &str, owner: Owner, action: Action, steps: &[Step]) -> String {
    let id = |id: Option<UserId>| id.map(|id| id.to_string()).unwrap_or_default();
    let of = [offered.to_owned(), owner.tenant.to_string(), id(owner.user), id(owner.person)];
    let shown = of.into_iter().chain([action.as_str().to_owned()]).chain(steps.iter().map(Step::text));
    URL_SAFE_NO_PAD.encode(digest(&SHA256, shown.collect::<Vec<_>>().join("\n").as_bytes()))
}

/// Returns when a preview has offered an id.
fn offered_at(id: &str) -> Option<Timestamp> {
    let (millis, _) = id.split_once('-')?;
    DateTime::from_timestamp_millis(millis.parse().ok()?)
}

impl Runs {
    pub(crate) fn new(since: Timestamp) -> Self {
        Self { kept: Mutex::default(), since }
    }

    fn kept(&self, now: Timestamp) -> MutexGuard<'_, Kept> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.runs.retain(|run| run.progress().ended_at.is_none_or(|ended| now - ended < KEPT));
        kept.dropped.retain(|(_, offered)| now - *offered < KEPT);
        kept
    }

    /// Returns when the preview of a run was offered, if a run with this id can begin. A run that an earlier process may
    /// have begun must not begin again: the person sees another preview.
    fn admitted(&self, id: &str, now: Timestamp) -> Option<Timestamp> {
        let is_text =
            id.len() <= MAX_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        offered_at(id).filter(|at| is_text && self.since <= *at && *at <= now && now - *at < KEPT)
    }

    /// Keeps a run that begins, unless it is known, or may have been.
    pub(crate) fn begin(&self, run: Run, now: Timestamp) -> Begun {
        let mut kept = self.kept(now);
        if kept.runs.iter().any(|known| known.id == run.id) {
            return Begun::Known;
        }
        let owner = run.owner;
        if !self.admitted(&run.id, now).is_some_and(|offered| kept.is_later(owner, offered)) {
            return Begun::Old;
        }
        let own = |known: &&Arc<Run>| known.owner == owner;
        if kept.runs.iter().filter(own).filter(|known| !known.has_ended()).count() >= MAX_OWN_AT_ONCE {
            return Begun::Busy;
        }
        if kept.runs.iter().filter(own).count() >= MAX_OWN {
            kept.drop_oldest(|known| known.owner == owner);
        }
        let of_tenant = |known: &Run| known.owner.tenant == owner.tenant;
        if kept.runs.iter().filter(|known| of_tenant(known)).count() >= MAX_OF_TENANT && !kept.drop_oldest(of_tenant) {
            return Begun::Busy;
        }
        if kept.runs.len() >= MAX_ALL && !kept.drop_oldest(|_| true) {
            return Begun::Busy;
        }
        let run = Arc::new(run);
        kept.runs.push(Arc::clone(&run));
        Begun::New(run)
    }

    /// Returns a run of the caller.
    pub(crate) fn find(&self, caller: &Caller, id: &str, now: Timestamp) -> Option<Arc<Run>> {
        let owner = Owner::of(caller);
        self.kept(now).runs.iter().find(|run| run.owner == owner && run.id == id).cloned()
    }

    /// Returns the runs of the caller, the newest first.
    pub(crate) fn of(&self, caller: &Caller, now: Timestamp) -> Vec<Arc<Run>> {
        let owner = Owner::of(caller);
        self.kept(now).runs.iter().rev().filter(|run| run.owner == owner).cloned().collect()
    }

    /// Returns how many runs of the caller go on, or have ended unseen.
    pub(crate) fn unseen(&self, caller: &Caller, now: Timestamp) -> usize {
        let owner = Owner::of(caller);
        self.kept(now).runs.iter().filter(|run| run.owner == owner && !run.progress().is_seen).count()
    }

    /// Takes the runs of the caller as seen, also those that go on.
    pub(crate) fn dismiss(&self, caller: &Caller, now: Timestamp) {
        for run in self.of(caller, now) {
            run.progress().is_seen = true;
        }
    }
}

impl Run {
    pub(crate) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ended(&self) -> bool {
        self.progress().ended_at.is_some()
    }

    /// Returns how far the run has come, for a page that shows it: the person sees its end, if it has ended.
    pub(crate) fn seen(&self) -> Progress {
        let mut progress = self.progress();
        progress.is_seen |= progress.ended_at.is_some();
        progress.clone()
    }

    /// Returns how far the run has come.
    #[cfg(test)]
    pub(crate) fn now(&self) -> Progress {
        self.progress().clone()
    }

    /// Returns what undoes a line that was done; `None` if nothing does.
    pub(crate) fn undo(line: &Line, outcome: &Outcome) -> Option<Step> {
        match (outcome, line.step) {
            (Outcome::Refused(_), _) => None,
            (Outcome::Done(made), Step::Assign(new)) => Some(Step::Revoke(Held { id: (*made)?, user: new.user })),
            (Outcome::Done(_), _) => line.undo,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
    const GRACE: &str = "01890a5d-ac96-774b-bcce-b302099a8058";

    fn at(minute: i64) -> Timestamp {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minute)
    }

    /// A run whose preview was offered in this minute.
    fn offered(owner: &str, (id, minute): (usize, i64), ended_at: Option<Timestamp>) -> Run {
        let user: Option<UserId> = owner.parse().ok();
        Run {
            id: format!("{}-{id}", at(minute).timestamp_millis()),
            owner: Owner { tenant: TenantId::NONE, user, person: user },
            action: Action::Suspend,
            begun_at: at(minute),
            correlation_id: String::new(),
            lines: Vec::new(),
            progress: Mutex::new(Progress { ended_at, ..Progress::default() }),
        }
    }

    fn run(owner: &str, id: usize, ended_at: Option<Timestamp>) -> Run {
        offered(owner, (id, 1), ended_at)
    }

    fn ids(runs: &Runs, now: Timestamp) -> Vec<String> {
        let number = |run: &Arc<Run>| run.id.split_once('-').unwrap().1.to_owned();
        runs.kept(now).runs.iter().map(number).collect()
    }

    #[test]
    fn a_run_begins_once() {
        let runs = Runs::new(at(0));
        assert!(matches!(runs.begin(run(ADA, 1, None), at(1)), Begun::New(_)));
        assert!(matches!(runs.begin(run(ADA, 1, None), at(1)), Begun::Known));
        // The id of another person's run tells nothing but that.
        assert!(matches!(runs.begin(run(GRACE, 1, None), at(1)), Begun::Known));
        assert_eq!(ids(&runs, at(1)), ["1"]);
    }

    #[test]
    fn only_two_runs_of_a_person_go_on_at_once() {
        let runs = Runs::new(at(0));
        for id in [1, 2] {
            assert!(matches!(runs.begin(run(ADA, id, None), at(1)), Begun::New(_)));
        }
        assert!(matches!(runs.begin(run(ADA, 3, None), at(1)), Begun::Busy));
        assert!(matches!(runs.begin(run(GRACE, 4, None), at(1)), Begun::New(_)));
    }

    #[test]
    fn a_run_that_made_room_for_a_new_one_does_not_begin_again() {
        let runs = Runs::new(at(0));
        assert!(matches!(runs.begin(run(ADA, 0, None), at(1)), Begun::New(_)));
        for id in 1..MAX_OWN {
            assert!(matches!(runs.begin(run(ADA, id, Some(at(1))), at(1)), Begun::New(_)));
        }
        assert!(matches!(runs.begin(offered(ADA, (MAX_OWN, 2), Some(at(2))), at(2)), Begun::New(_)));
        let kept: Vec<String> = [0].into_iter().chain(2..=MAX_OWN).map(|id| id.to_string()).collect();
        assert_eq!(ids(&runs, at(2)), kept);
        assert!(matches!(runs.begin(run(ADA, 1, None), at(2)), Begun::Old));
        // Another person, and a later preview, have nothing to do with it.
        assert!(matches!(runs.begin(run(GRACE, MAX_OWN + 1, None), at(2)), Begun::New(_)));
        assert!(matches!(runs.begin(offered(ADA, (MAX_OWN + 2, 2), None), at(2)), Begun::New(_)));
    }

    #[test]
    fn a_tenant_takes_only_a_part_of_all_places() {
        let runs = Runs::new(at(0));
        let user = |id: usize| format!("01890a5d-ac96-774b-bcce-{id:012}");
        for id in 0..MAX_OF_TENANT {
            assert!(matches!(runs.begin(run(&user(id), id, None), at(1)), Begun::New(_)));
        }
        assert!(matches!(runs.begin(run(ADA, MAX_OF_TENANT, None), at(1)), Begun::Busy));
        let of_another = |id: usize, tenant: usize| {
            let mut run = run(&user(id), id, None);
            run.owner.tenant = format!("01890a5d-ac96-774b-bccf-{tenant:012}").parse().unwrap();
            run
        };
        for id in MAX_OF_TENANT..MAX_ALL {
            assert!(matches!(runs.begin(of_another(id, id / MAX_OF_TENANT), at(1)), Begun::New(_)));
        }
        assert!(matches!(runs.begin(of_another(MAX_ALL, MAX_ALL), at(1)), Begun::Busy));
    }

    #[test]
    fn a_run_is_dropped_an_hour_after_its_end() {
        let runs = Runs::new(at(0));
        runs.begin(run(ADA, 1, Some(at(1))), at(1));
        runs.begin(run(ADA, 2, None), at(1));
        assert_eq!(ids(&runs, at(60)), ["1", "2"]);
        assert_eq!(ids(&runs, at(61)), ["2"]);
    }

    #[test]
    fn a_preview_is_confirmed_within_an_hour_and_by_the_same_process() {
        let runs = Runs::new(at(10));
        let owner = run(ADA, 1, None).owner;
        let admits = |offered: i64, now: i64| {
            runs.admitted(&new_id(owner, Action::Suspend, &[], at(offered)), at(now)).is_some()
        };
        assert!(admits(10, 10) && admits(10, 69));
        assert!(!admits(9, 10) && !admits(10, 70) && !admits(11, 10));
        for id in ["", "x", "600000", "600000-/", "-1-x"] {
            assert!(runs.admitted(id, at(10)).is_none(), "{id}");
        }
    }

    #[test]
    fn an_id_is_offered_for_what_the_preview_has_shown() {
        let (ada, grace) = (run(ADA, 1, None).owner, run(GRACE, 1, None).owner);
        let step = |user: &str| Step::Suspend(user.parse().unwrap());
        let shown = [step(ADA)];
        let id = new_id(ada, Action::Suspend, &shown, at(1));
        assert!(is_offered_for(&id, ada, Action::Suspend, &shown));
        assert!(!is_offered_for(&id, grace, Action::Suspend, &shown));
        assert!(!is_offered_for(&id, ada, Action::Reactivate, &shown));
        for other in [vec![], vec![step(GRACE)], vec![step(ADA), step(GRACE)]] {
            assert!(!is_offered_for(&id, ada, Action::Suspend, &other), "{other:?}");
        }
    }
}
