use std::sync::Arc;

use iam_core::assignment::AssignmentPatch;
use iam_core::secret::AccessToken;
use iam_core::{AssignmentId, Caller, Error, Iam, RequestContext};

use crate::confirm::Attempt;
use crate::run::step::Step;
use crate::run::{Outcome, Run, Stopped};
use crate::text;

impl Step {
    /// Takes the step, or tries it out. Returns the role assignment that it has made.
    pub(super) async fn take(&self, attempt: &Attempt, caller: &Caller) -> Result<Option<AssignmentId>, Error> {
        match *self {
            Self::Assign(new) => attempt.assignments().create(caller, new).await.map(|made| Some(made.id)),
            Self::Suspend(user) => attempt.users().suspend(caller, user).await.map(|_| None),
            Self::Reactivate(user) => attempt.users().reactivate(caller, user).await.map(|_| None),
            Self::EndSessions(user) => attempt.logout_user(caller, user).await.map(|()| None),
            Self::Revoke(held) => attempt.assignments().delete(caller, held.id).await.map(|()| None),
            Self::ChangeEnd(held, end) => {
                let patch = AssignmentPatch { expires_at: Some(end) };
                attempt.assignments().update(caller, held.id, patch).await.map(|_| None)
            }
        }
    }
}

impl Stopped {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::ByError => text::t("run-broke-off"),
            Self::WithSession => text::t("run-stopped"),
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
    use std::sync::Mutex;

    use chrono::DateTime;
    use iam_core::tenant::Registration;
    use iam_core::user::NewUser;
    use iam_store_memory::MemoryStore;

    use super::*;
    use crate::run::step::Action;
    use crate::run::{Line, Owner};

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
        let run = |lines| {
            Arc::new(Run {
                id: String::new(),
                owner: Owner::of(&caller),
                action: Action::Reactivate,
                begun_at: DateTime::UNIX_EPOCH,
                correlation_id: String::new(),
                lines,
                progress: Mutex::default(),
            })
        };
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
