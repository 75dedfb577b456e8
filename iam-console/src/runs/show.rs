use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::Problem;
use iam_core::permission::AUDIT_LOGS_READ;

use crate::form::Form;
use crate::problem::is_for_part;
use crate::query::NoQuery;
use crate::run::step::{Action, Step};
use crate::run::{Line, Outcome, Progress, Run};
use crate::runs::offers;
use crate::session::{SignedIn, page_before};
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page, part, query};

#[derive(Template)]
#[template(path = "run.html")]
struct RunPage {
    frame: Frame,
    action: Action,
    title: String,
    found: String,
    state: RunState,
}

/// The part of the page that changes while the run goes on.
#[derive(Template)]
#[template(path = "run-state.html")]
struct RunState {
    base: String,
    form_token: String,
    run: Arc<Run>,
    progress: Progress,
    /// The address of the entries of the run in the audit log; empty if the caller sees none.
    log: String,
}

/// A run that follows from another one, with its own preview.
struct Next {
    action: Action,
    button: &'static str,
    selected: Vec<String>,
}

impl RunState {
    fn of(console: &Console, signed_in: &SignedIn, run: Arc<Run>) -> Self {
        let base = console.base().to_owned();
        let sees_log = offers(&console.iam, &signed_in.caller, &[AUDIT_LOGS_READ]) && !run.correlation_id.is_empty();
        let log = format!("{base}/audit?{}", query(&[("correlation", &*run.correlation_id)]));
        let progress = run.seen();
        let log = if sees_log { log } else { String::new() };
        Self { base, form_token: signed_in.form_token.clone(), run, progress, log }
    }

    fn has_ended(&self) -> bool {
        self.progress.ended_at.is_some()
    }

    fn tried(&self) -> usize {
        self.progress.outcomes.len()
    }

    fn summary(&self) -> String {
        let done = self.done().count();
        text::run_progress(done, self.tried().saturating_sub(done), self.run.lines.len())
    }

    fn done(&self) -> impl Iterator<Item = &Line> {
        let tried = self.run.lines.iter().zip(&self.progress.outcomes);
        tried.filter(|(_, outcome)| matches!(outcome, Outcome::Done(_))).map(|(line, _)| line)
    }

    /// The lines that were refused, each with the reason.
    fn refused(&self) -> impl Iterator<Item = (&Line, &str)> {
        let tried = self.run.lines.iter().zip(&self.progress.outcomes);
        tried.filter_map(|(line, outcome)| match outcome {
            Outcome::Refused(reason) => Some((line, reason.as_str())),
            Outcome::Done(_) => None,
        })
    }

    fn untried(&self) -> impl Iterator<Item = &Line> {
        self.run.lines.iter().skip(self.tried())
    }

    /// The runs that undo what was done, and try again what was not.
    fn following(&self) -> Vec<Next> {
        let tried = self.run.lines.iter().zip(&self.progress.outcomes);
        let undoing: Vec<Step> = tried.clone().filter_map(|(line, outcome)| Run::undo(line, outcome)).collect();
        let refused = tried.filter(|(line, outcome)| line.left_out.is_none() && matches!(outcome, Outcome::Refused(_)));
        let again = refused.map(|(line, _)| line).chain(self.untried()).map(|line| line.step.text()).collect();
        let mut next = Vec::new();
        if let Some(first) = undoing.first() {
            let (action, selected) = (first.action(), undoing.iter().map(Step::text).collect());
            next.push(Next { action, button: text::undo_run(action), selected });
        }
        next.push(Next { action: self.run.action, button: text::t("try-the-rest"), selected: again });
        next.retain(|run| !run.selected.is_empty());
        next
    }
}

/// The answer about a run that this process does not know, or that is of another person.
#[derive(Template)]
#[template(path = "run-unknown.html")]
struct UnknownRun;

#[derive(Template)]
#[template(path = "run-unknown-page.html")]
struct UnknownPage {
    frame: Frame,
    unknown: UnknownRun,
}

#[derive(Template)]
#[template(path = "runs.html")]
struct RunsPage {
    frame: Frame,
    runs: Vec<Listed>,
}

struct Listed {
    run: Arc<Run>,
    title: String,
    state: String,
}

pub(super) async fn list(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    let runs = console.runs.of(&signed_in.caller, console.iam.now()).into_iter().map(|run| {
        let (progress, total) = (run.seen(), run.lines.len());
        let done = progress.outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Done(_))).count();
        let state = text::run_progress(done, progress.outcomes.len().saturating_sub(done), total);
        Listed { title: text::run_title(run.action, total), state, run }
    });
    let runs = runs.collect();
    page(StatusCode::OK, &RunsPage { frame: signed_in.frame(&console).await?.of_runs(), runs })
}

/// Closes the hint that actions go on or have ended, and leads back to the page.
pub(super) async fn dismiss(
    State(console): State<Console>,
    signed_in: SignedIn,
    _: NoQuery,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Response {
    console.runs.dismiss(&signed_in.caller, console.iam.now());
    Redirect::to(&page_before(&console, &parts, &form)).into_response()
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let run = console.runs.find(&signed_in.caller, &id, console.iam.now());
    let is_for_part = is_for_part(&headers);
    let Some(run) = run else {
        // The page would ask again after an error.
        if is_for_part {
            return part(&UnknownRun, "");
        }
        let frame = signed_in.frame(&console).await?.of_runs();
        return page(StatusCode::NOT_FOUND, &UnknownPage { frame, unknown: UnknownRun });
    };
    let (action, title) = (run.action, text::run_title(run.action, run.lines.len()));
    let state = RunState::of(&console, &signed_in, run);
    let found = state.summary();
    if is_for_part {
        return part(&state, &found);
    }
    let frame = signed_in.frame(&console).await?.of_runs();
    page(StatusCode::OK, &RunPage { frame, action, title, found, state })
}
