use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta};
use iam_core::clock::Timestamp;
use iam_core::secret::AccessToken;
use iam_core::{AssignmentId, Caller, Error, Iam, RequestContext, TenantId, UserId};

use crate::confirm::Attempt;
use crate::cookie::random_text;
use crate::runs::plan::Line;
use crate::runs::step::{Action, Held, Step};
use crate::text;

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
pub(super) struct Owner {
    tenant: TenantId,
    user: Option<UserId>,
    person: Option<UserId>,
}

impl Owner {
    pub(super) fn of(caller: &Caller) -> Self {
        Self { tenant: caller.tenant(), user: caller.user(), person: caller.person() }
    }
}

/// An action on many, which has begun.
pub(super) struct Run {
    pub(super) id: String,
    pub(super) owner: Owner,
    pub(super) action: Action,
    pub(super) begun_at: Timestamp,
    /// Finds the entries of the run in the audit log.
    pub(super) correlation_id: String,
    pub(super) lines: Vec<Line>,
    pub(super) progress: Mutex<Progress>,
}

/// How far a run has come.
#[derive(Clone, Default)]
pub(super) struct Progress {
    /// Those of the first lines.
    pub(super) outcomes: Vec<Outcome>,
    /// Why the other lines were not tried. `None` if all were.
    pub(super) stopped: Option<Stopped>,
    pub(super) ended_at: Option<Timestamp>,
    /// Whether the person has seen the end.
    is_seen: bool,
}

/// Why a run has stopped. It is no text: a task of its own executes a run, and so has no language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    ByError,
    /// The session has ended, or could not be checked.
    WithSession,
}

impl Stopped {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::ByError => text::t("run-broke-off"),
            Self::WithSession => text::t("run-stopped"),
        }
    }
}

#[derive(Clone)]
pub(super) enum Outcome {
    /// With the role assignment that was made.
    Done(Option<AssignmentId>),
    /// With the reason.
    Refused(String),
}

/// What becomes of a confirmed run.
pub(super) enum Begun {
    New(Arc<Run>),
    /// It has begun before.
    Known,
    /// Too many runs go on.
    Busy,
}

/// Returns the id of a run that a preview offers. It has the time of the preview.
pub(super) fn new_id(now: Timestamp) -> String {
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
    pub(super) fn admits(&self, id: &str, now: Timestamp) -> bool {
        let is_text =
            id.len() <= MAX_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let millis = id.split_once('-').and_then(|(millis, _)| millis.parse().ok());
        let offered_at = millis.and_then(DateTime::from_timestamp_millis);
        is_text && offered_at.is_some_and(|at| self.since <= at && at <= now && now - at < KEPT)
    }

    /// Keeps a run that begins, unless it is known.
    pub(super) fn begin(&self, run: Run, now: Timestamp) -> Begun {
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
    pub(super) fn find(&self, caller: &Caller, id: &str, now: Timestamp) -> Option<Arc<Run>> {
        let owner = Owner::of(caller);
        self.kept(now).iter().find(|run| run.owner == owner && run.id == id).cloned()
    }

    /// Returns the runs of the caller, the newest first.
    pub(super) fn of(&self, caller: &Caller, now: Timestamp) -> Vec<Arc<Run>> {
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
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ended(&self) -> bool {
        self.progress().ended_at.is_some()
    }

    /// Returns how far the run has come, for its page: the person sees its end, if it has ended.
    pub(super) fn seen(&self) -> Progress {
        let mut progress = self.progress();
        progress.is_seen = progress.ended_at.is_some();
        progress.clone()
    }

    /// Returns how far the run has come.
    pub(super) fn now(&self) -> Progress {
        self.progress().clone()
    }

    /// Returns what undoes a line that was done; `None` if nothing does.
    pub(super) fn undo(line: &Line, outcome: &Outcome) -> Option<Step> {
        match (outcome, line.step) {
            (Outcome::Refused(_), _) => None,
            (Outcome::Done(made), Step::Assign(new)) => Some(Step::Revoke(Held { id: (*made)?, user: new.user })),
            (Outcome::Done(_), _) => line.undo,
        }
    }
}

/// Notes the end of a run, also after a panic and when the process stops.
struct Ending {
    iam: Iam,
    run: Arc<Run>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let mut progress = self.run.progress();
        if progress.outcomes.len() < self.run.lines.len() && progress.stopped.is_none() {
            progress.stopped = Some(Stopped::ByError);
        }
        progress.ended_at = Some(self.iam.now());
    }
}

/// Takes the steps of a run, one after the other. Each is a call of a service like that of a request: its caller is
/// authenticated anew, so the run stops when the session ends.
pub(super) async fn execute(iam: Iam, run: Arc<Run>, token: AccessToken, context: RequestContext) {
    let ending = Ending { iam: iam.clone(), run: Arc::clone(&run) };
    let attempt = Attempt::Change(iam.clone());
    for line in &run.lines {
        let outcome = match &line.left_out {
            Some(reason) => Outcome::Refused(reason.clone()),
            None => {
                let caller = match iam.authenticate(token.expose(), context.clone()).await {
                    Ok(caller) => caller,
                    Err(error) => {
                        tracing::debug!(%error, "a run has stopped");
                        run.progress().stopped = Some(Stopped::WithSession);
                        break;
                    }
                };
                match line.step.take(&attempt, &caller).await {
                    Ok(made) => Outcome::Done(made),
                    Err(error) => {
                        if matches!(error, Error::Store(_) | Error::Internal(_)) {
                            tracing::error!(?error, "a step of a run has failed");
                        }
                        Outcome::Refused(error.to_string())
                    }
                }
            }
        };
        run.progress().outcomes.push(outcome);
    }
    drop(ending);
}

#[cfg(test)]
mod tests {
    use iam_core::tenant::Registration;
    use iam_core::user::NewUser;
    use iam_store_memory::MemoryStore;

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

    #[tokio::test]
    async fn a_run_stops_when_the_session_has_ended() {
        let mut settings = iam_core::Settings::default();
        settings.hashing_cost = iam_core::credential::HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        let iam = Iam::builder(Arc::new(MemoryStore::new())).settings(settings).build().await.unwrap();
        let user = NewUser {
            email: "ada@example.com".to_owned(),
            password: "Passw0rd!".into(),
            first_name: "Ada".to_owned(),
            last_name: "Lovelace".to_owned(),
        };
        let registration = Registration { user, tenant_name: None };
        let registered = iam.tenants().register(&RequestContext::default(), registration).await.unwrap();
        let token = registered.login.tokens.access;
        let caller = iam.authenticate(token.expose(), RequestContext::default()).await.unwrap();
        let line = |left_out| Line {
            step: Step::Reactivate(caller.user().unwrap()),
            name: String::new(),
            detail: String::new(),
            until: None,
            undo: None,
            left_out,
        };
        let lines = vec![line(Some("why".to_owned())), line(None), line(None)];
        let run = |lines| Arc::new(Run { lines, ..run(ADA, 1, None) });
        let (whole, stopped) = (run(lines.clone()), run(lines));
        execute(iam.clone(), Arc::clone(&whole), token.clone(), RequestContext::default()).await;
        let progress = whole.now();
        assert!(progress.stopped.is_none() && progress.ended_at.is_some());
        assert!(matches!(progress.outcomes.as_slice(), [Outcome::Refused(_), Outcome::Done(_), Outcome::Done(_)]));
        iam.sessions().logout(&caller).await.unwrap();
        execute(iam, Arc::clone(&stopped), token, RequestContext::default()).await;
        let progress = stopped.now();
        assert_eq!(progress.stopped, Some(Stopped::WithSession));
        assert!(matches!(progress.outcomes.as_slice(), [Outcome::Refused(_)]) && progress.ended_at.is_some());
    }
}
