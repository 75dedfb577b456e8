//! The runs that are kept: actions on many users or role assignments that have begun.

pub(crate) mod step;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
/// How many runs are kept in all.
const MAX_ALL: usize = 1_000;
/// More than an id has that a preview has offered.
const MAX_ID: usize = 80;

/// The runs of this process, the oldest first. What they have done is also in the audit log; their progress is nowhere
/// else.
pub(crate) struct Runs {
    kept: Mutex<Vec<Arc<Run>>>,
    /// When the process has begun: a preview from before may have been confirmed then.
    since: Timestamp,
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

/// A step, as a person reads it.
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
    /// Whether the person has seen the end.
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
    /// Too many runs go on.
    Busy,
}

/// Returns the id of a run that a preview offers. It has the time of the preview.
pub(crate) fn new_id(now: Timestamp) -> String {
    format!("{}-{}", now.timestamp_millis(), random_text())
}

impl Runs {
    pub(crate) fn new(since: Timestamp) -> Self {
        Self { kept: Mutex::default(), since }
    }

    fn kept(&self, now: Timestamp) -> MutexGuard<'_, Vec<Arc<Run>>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|run| run.progress().ended_at.is_none_or(|ended| now - ended < KEPT));
        kept
    }

    /// Whether a run with this id can begin. A run that this process may have forgotten must not begin again: the
    /// person sees another preview.
    pub(crate) fn admits(&self, id: &str, now: Timestamp) -> bool {
        let is_text =
            id.len() <= MAX_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let millis = id.split_once('-').and_then(|(millis, _)| millis.parse().ok());
        let offered_at = millis.and_then(DateTime::from_timestamp_millis);
        is_text && offered_at.is_some_and(|at| self.since <= at && at <= now && now - at < KEPT)
    }

    /// Keeps a run that begins, unless it is known.
    pub(crate) fn begin(&self, run: Run, now: Timestamp) -> Begun {
        let mut kept = self.kept(now);
        if kept.iter().any(|known| known.id == run.id) {
            return Begun::Known;
        }
        let owner = run.owner;
        let own = |known: &&Arc<Run>| known.owner == owner;
        if kept.iter().filter(own).filter(|known| !known.has_ended()).count() >= MAX_OWN_AT_ONCE {
            return Begun::Busy;
        }
        if kept.iter().filter(own).count() >= MAX_OWN
            && let Some(oldest) = kept.iter().position(|known| known.owner == owner && known.has_ended())
        {
            kept.remove(oldest);
        }
        if kept.len() >= MAX_ALL {
            let Some(oldest) = kept.iter().position(|known| known.has_ended()) else { return Begun::Busy };
            kept.remove(oldest);
        }
        let run = Arc::new(run);
        kept.push(Arc::clone(&run));
        Begun::New(run)
    }

    /// Returns a run of the caller.
    pub(crate) fn find(&self, caller: &Caller, id: &str, now: Timestamp) -> Option<Arc<Run>> {
        let owner = Owner::of(caller);
        self.kept(now).iter().find(|run| run.owner == owner && run.id == id).cloned()
    }

    /// Returns the runs of the caller, the newest first.
    pub(crate) fn of(&self, caller: &Caller, now: Timestamp) -> Vec<Arc<Run>> {
        let owner = Owner::of(caller);
        self.kept(now).iter().rev().filter(|run| run.owner == owner).cloned().collect()
    }

    /// Returns how many runs of the caller go on, or have ended unseen.
    pub(crate) fn unseen(&self, caller: &Caller, now: Timestamp) -> usize {
        let owner = Owner::of(caller);
        self.kept(now).iter().filter(|run| run.owner == owner && !run.progress().is_seen).count()
    }
}

impl Run {
    pub(crate) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ended(&self) -> bool {
        self.progress().ended_at.is_some()
    }

    /// Returns how far the run has come, for its page: the person sees its end, if it has ended.
    pub(crate) fn seen(&self) -> Progress {
        let mut progress = self.progress();
        progress.is_seen = progress.ended_at.is_some();
        progress.clone()
    }

    /// Returns how far the run has come.
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

    fn run(owner: &str, id: usize, ended_at: Option<Timestamp>) -> Run {
        let user: Option<UserId> = owner.parse().ok();
        Run {
            id: id.to_string(),
            owner: Owner { tenant: TenantId::NONE, user, person: user },
            action: Action::Suspend,
            begun_at: at(0),
            correlation_id: String::new(),
            lines: Vec::new(),
            progress: Mutex::new(Progress { ended_at, ..Progress::default() }),
        }
    }

    fn ids(runs: &Runs, now: Timestamp) -> Vec<String> {
        runs.kept(now).iter().map(|run| run.id.clone()).collect()
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
    fn a_new_run_takes_the_place_of_the_oldest_that_has_ended() {
        let runs = Runs::new(at(0));
        assert!(matches!(runs.begin(run(ADA, 0, None), at(1)), Begun::New(_)));
        for id in 1..=MAX_OWN {
            assert!(matches!(runs.begin(run(ADA, id, Some(at(1))), at(1)), Begun::New(_)));
        }
        let kept: Vec<String> = [0].into_iter().chain(2..=MAX_OWN).map(|id| id.to_string()).collect();
        assert_eq!(ids(&runs, at(1)), kept);
    }

    #[test]
    fn the_runs_of_all_have_a_limit() {
        let runs = Runs::new(at(0));
        for id in 0..MAX_ALL {
            let user = format!("01890a5d-ac96-774b-bcce-{id:012}");
            assert!(matches!(runs.begin(run(&user, id, None), at(1)), Begun::New(_)));
        }
        assert!(matches!(runs.begin(run(ADA, MAX_ALL, None), at(1)), Begun::Busy));
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
        assert!(runs.admits(&new_id(at(10)), at(10)) && runs.admits(&new_id(at(10)), at(69)));
        assert!(!runs.admits(&new_id(at(9)), at(10)));
        assert!(!runs.admits(&new_id(at(10)), at(70)));
        assert!(!runs.admits(&new_id(at(11)), at(10)));
        for id in ["", "x", "600000", "600000-/", "-1-x"] {
            assert!(!runs.admits(id, at(10)), "{id}");
        }
    }
}
