use std::collections::BTreeSet;
use std::sync::Mutex;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::Problem;
use iam_core::{Caller, Error, FieldError, Forbidden, Iam, OrganizationId};

use crate::confirm::{self, Outcome, at_fields, text_above};
use crate::cookie::SessionCookie;
use crate::effects::Effects;
use crate::form::Form;
use crate::names::Names;
use crate::picker;
use crate::problem::{collected, refused_in_place};
use crate::query::NoQuery;
use crate::run::step::{Action, Details, Step};
use crate::run::{Begun, Line, Owner, Progress, Run, is_offered_for, new_id};
use crate::runs::MAX_SELECTED;
use crate::runs::execute::execute;
use crate::runs::plan::{lines, try_out};
use crate::session::SignedIn;
use crate::state::Console;
use crate::suspended;
use crate::text;
use crate::time::{Time, typed};
use crate::view::{Field, Frame, page};

const SELECTED: &str = "selected";
/// What a preview has left out, for a person who goes back from it.
const LEFT_OUT: &str = "leftOut";
/// In how many places a preview looks whether roles count there.
const PLACES: usize = 30;
/// The fields of the details, which are sent again with a preview.
const DETAILS: [&str; 3] = ["role", "organization", "until"];

/// The form for what a person types beside the selection.
#[derive(Template)]
#[template(path = "run-details.html")]
struct DetailsPage {
    frame: Frame,
    action: Action,
    error: String,
    selected: Vec<String>,
    /// Only for a new assignment.
    role: Option<Field>,
    organization: Option<Field>,
    moment: Field,
}

#[derive(Template)]
#[template(path = "run-preview.html")]
struct PreviewPage {
    frame: Frame,
    action: Action,
    error: &'static str,
    /// The id of the run that the confirmation begins.
    run: String,
    /// Why a new role would have no effect for now; empty if each has one.
    warning: &'static str,
    lines: Vec<Line>,
    /// `None` for an action that changes no rights, and if there is nothing to do.
    effects: Option<Effects>,
    /// The typed details, if there are some to change.
    details: Vec<(&'static str, String)>,
}

impl DetailsPage {
    fn title(&self) -> String {
        text::run_title(self.action, self.selected.len())
    }
}

impl PreviewPage {
    fn title(&self) -> String {
        text::run_title(self.action, self.count())
    }

    fn what(&self) -> &'static str {
        text::run_what(self.action)
    }

    fn taken(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.left_out.is_none())
    }

    fn count(&self) -> usize {
        self.taken().count()
    }

    /// The lines that are left out, each with the reason.
    fn left_out(&self) -> impl Iterator<Item = (&Line, &str)> {
        self.lines.iter().filter_map(|line| Some((line, line.left_out.as_deref()?)))
    }
}

/// Receives a selection, the details, and the confirmation.
pub(super) async fn submit(
    State(console): State<Console>,
    signed_in: SignedIn,
    _: NoQuery,
    Extension(session): Extension<SessionCookie>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let (caller, now) = (&signed_in.caller, console.iam.now());
    let action = Action::named(form.get("action")).ok_or_else(|| Error::field("action", text::t("one-of-the-list")))?;
    if caller.impersonator().is_some_and(|by| by.is_read_only) {
        return Err(Error::from(Forbidden::ReadOnly).into());
    }
    let selected = selected_of(&form)?;
    let is_unfinished = !form.has("until") && selected.iter().any(|text| action.needs_details(text));
    if confirm::goes_back(&form) || is_unfinished {
        return page(StatusCode::OK, &details_page(&console, &signed_in, action, (&selected, &form), &[]).await?);
    }
    let steps = match steps_of(&console.iam, caller, action, (&selected, &form)).await {
        Ok(steps) => steps,
        Err(error) if !form.has("until") => return Err(error.into()),
        Err(error) => {
            let errors = at_fields(&error);
            let shown = details_page(&console, &signed_in, action, (&selected, &form), &errors).await?;
            let text = text_above(&error);
            return refused_in_place(error, |_| DetailsPage { error: text, ..shown });
        }
    };
    let owner = Owner::of(caller);
    let is_shown = is_offered_for(form.get("run"), owner, action, &steps);
    if confirm::is_confirmed(&form) && is_shown && console.runs.find(caller, form.get("run"), now).is_some() {
        return Ok(to_run(&console, form.get("run")));
    }
    // Each is as much work as a request.
    console.count_rows(caller, steps.len()).await?;
    let mut lines = lines(&console, caller, &steps).await?;
    let trial = try_out(&console, caller, &mut lines).await?;
    let mut error = "";
    if confirm::is_confirmed(&form) && !is_shown {
        error = text::t("preview-is-of-another");
    } else if confirm::is_confirmed(&form) {
        let run = Run {
            id: form.get("run").to_owned(),
            owner,
            action,
            begun_at: now,
            correlation_id: correlation_of(caller),
            lines: lines.clone(),
            progress: Mutex::new(Progress::default()),
        };
        match console.runs.begin(run, now) {
            Begun::New(run) => {
                let id = run.id.clone();
                let (token, context) = (session.bearer().clone(), caller.context().clone());
                tokio::spawn(execute(console.iam.clone(), run, token, context));
                return Ok(to_run(&console, &id));
            }
            Begun::Known => return Ok(to_run(&console, form.get("run"))),
            Begun::Old => error = text::t("preview-is-old"),
            Begun::Busy => error = text::t("too-many-runs"),
        }
    }
    let has_steps = lines.iter().any(|line| line.left_out.is_none());
    let effects = if has_steps && action.changes_rights() {
        match trial.outcome(caller, Ok::<(), Error>(())).await? {
            Outcome::Previewed(preview) => {
                Some(Effects::of(&console.iam, caller, console.base(), preview, &Names::default()).await?)
            }
            Outcome::Changed => None,
        }
    } else {
        None
    };
    let details = DETAILS.into_iter().filter(|name| form.has(name)).map(|name| (name, form.get(name).to_owned()));
    let details = details.collect();
    let taken: Vec<Step> = lines.iter().filter(|line| line.left_out.is_none()).map(|line| line.step).collect();
    let shown = PreviewPage {
        frame: signed_in.frame(&console).await?,
        action,
        error,
        run: new_id(owner, action, &taken, now),
        warning: warning(&console.iam, caller, &taken).await?,
        lines,
        effects,
        details,
    };
    page(if error.is_empty() { StatusCode::OK } else { StatusCode::CONFLICT }, &shown)
}

/// Returns the warning about the first place of new roles in which roles give nothing for now. They have one place, but
/// for those that are given again.
async fn warning(iam: &Iam, caller: &Caller, steps: &[Step]) -> Result<&'static str, Error> {
    let place = |step: &Step| if let Step::Assign(new) = step { new.organization } else { None };
    let places: BTreeSet<OrganizationId> = steps.iter().filter_map(place).collect();
    for place in places.into_iter().take(PLACES) {
        let warning = suspended::warning(iam, caller, Some(place)).await?;
        if !warning.is_empty() {
            return Ok(warning);
        }
    }
    Ok("")
}

fn to_run(console: &Console, id: &str) -> Response {
    Redirect::to(&format!("{}/runs/{id}", console.base())).into_response()
}

fn correlation_of(caller: &Caller) -> String {
    caller.context().correlation_id.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default()
}

/// Returns the selection of a form, each part of it once.
fn selected_of(form: &Form) -> Result<Vec<String>, Error> {
    let left_out = form.all(LEFT_OUT).filter(|_| confirm::goes_back(form));
    let mut selected: Vec<String> = Vec::new();
    for text in form.all(SELECTED).chain(left_out) {
        if selected.len() > MAX_SELECTED {
            break;
        }
        if !selected.iter().any(|known| known == text) {
            selected.push(text.to_owned());
        }
    }
    match selected.len() {
        0 => Err(Error::field(SELECTED, text::t("nothing-selected"))),
        1..=MAX_SELECTED => Ok(selected),
        _ => Err(Error::field(SELECTED, text::too_many_selected(MAX_SELECTED))),
    }
}

/// Returns the steps that a form asks for.
async fn steps_of(
    iam: &Iam,
    caller: &Caller,
    action: Action,
    (selected, form): (&[String], &Form),
) -> Result<Vec<Step>, Error> {
    let needs_details = selected.iter().any(|text| action.needs_details(text));
    let details = if needs_details { Some(details_of(iam, caller, action, form).await?) } else { None };
    let steps = selected.iter().map(|text| Step::parse(action, text, details));
    steps.collect::<Option<Vec<Step>>>().ok_or_else(|| Error::field(SELECTED, text::t("not-selectable")))
}

async fn details_of(iam: &Iam, caller: &Caller, action: Action, form: &Form) -> Result<Details, Error> {
    let mut errors = Vec::new();
    let until = collected(typed("until", form.get("until")), &mut errors)?.flatten();
    let (mut role, mut organization) = (None, None);
    if action == Action::Assign {
        role = match form.given("role") {
            Some(typed) => collected(picker::role(iam, caller, "role", &typed).await, &mut errors)?,
            None => {
                errors.push(FieldError::new("role", text::t("role-missing")));
                None
            }
        };
        let found = picker::organization(iam, caller, "organization", form.get("organization")).await;
        organization = collected(found, &mut errors)?.flatten();
    }
    if errors.is_empty() { Ok(Details { role, organization, until }) } else { Err(Error::Validation(errors)) }
}

async fn details_page(
    console: &Console,
    signed_in: &SignedIn,
    action: Action,
    (selected, form): (&[String], &Form),
    errors: &[FieldError],
) -> Result<DetailsPage, Problem> {
    let is_new = action == Action::Assign;
    let role = Field::text("role", text::t("role")).filled(form.get("role")).with_errors(errors);
    let organization = if is_new {
        Some(picker::of_place(console, &signed_in.caller, form.get("organization"), errors).await?)
    } else {
        None
    };
    let moment = Field::text("until", text::t("until-moment")).with_hint(text::t("until-hint"));
    Ok(DetailsPage {
        frame: signed_in.frame(console).await?,
        action,
        error: String::new(),
        selected: selected.iter().map(|text| action.selection(text)).collect(),
        role: is_new.then(|| picker::of_role(console, role)),
        organization,
        moment: moment.filled(form.get("until")).with_errors(errors),
    })
}
