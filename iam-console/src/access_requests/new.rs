use std::collections::HashMap;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::Problem;
use iam_core::access_request::{MIN_SECONDS, NewAccessRequest};
use iam_core::eligibility::{Eligibility, ListedEligibility};
use iam_core::{AccessRequestId, EligibilityId, Error, FieldError, Forbidden};
use serde::Deserialize;

use crate::access_requests::own_open;
use crate::confirm::{self, About, Attempt, Outcome, Pending, at_fields, text_above};
use crate::duration::{Duration, number};
use crate::form::Form;
use crate::names::Names;
use crate::problem::{collected, if_allowed, refused_in_place};
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::{Time, typed};
use crate::view::{Field, Frame, page};

/// The roles for which the person may ask.
#[derive(Template)]
#[template(path = "access-request-choice.html")]
struct ChoicePage {
    frame: Frame,
    /// Each with the open request of the person by it.
    eligibilities: Vec<(ListedEligibility, Option<AccessRequestId>)>,
}

#[derive(Template)]
#[template(path = "access-request-new.html")]
struct AskPage {
    frame: Frame,
    error: String,
    listed: ListedEligibility,
    /// The open request of the person by the eligibility: there can be only one.
    open: Option<AccessRequestId>,
    duration: Duration,
    reason: Field,
    ticket: Field,
    moment: Field,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Chosen {
    eligibility: String,
    /// An earlier request that is asked again.
    request: String,
}

fn place_of(listed: &ListedEligibility) -> &str {
    listed.organization.as_ref().map_or(text::t("whole-tenant"), |organization| &organization.name)
}

fn time_of(listed: &ListedEligibility) -> String {
    text::duration(listed.eligibility.max_seconds)
}

/// Returns the eligibility with this id, if it is one by which the person may ask now.
async fn find(console: &Console, signed_in: &SignedIn, id: &str) -> Result<ListedEligibility, Error> {
    let id: Option<EligibilityId> = id.parse().ok();
    let own = console.iam.eligibilities().own(&signed_in.caller).await?;
    let found = own.into_iter().find(|listed| Some(listed.eligibility.id) == id);
    found.ok_or_else(|| Forbidden::NotEligible.into())
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    listed: ListedEligibility,
    (form, errors): (&Form, &[FieldError]),
) -> Result<AskPage, Problem> {
    let shown = |field: Field| field.shown(form, errors);
    let most = listed.eligibility.max_seconds;
    let is_decided = listed.eligibility.approvals > 0;
    let (reason_hint, begin_hint) = if is_decided {
        (text::t("request-reason-hint"), text::t("begin-at-hint"))
    } else {
        (text::t("recorded-reason-hint"), text::t("begin-at-once-hint"))
    };
    let own = own_open(&console.iam, &signed_in.caller).await?;
    let length = Duration::of(Field::text("seconds", text::t("for-how-long")), (MIN_SECONDS, most), most);
    Ok(AskPage {
        frame: signed_in.frame(console).await?,
        error: String::new(),
        duration: length.shown(form, errors),
        reason: shown(Field::text("reason", text::t("reason")).with_hint(reason_hint)),
        ticket: shown(Field::text("ticket", text::t("ticket")).optional().with_hint(text::t("ticket-hint"))),
        moment: shown(Field::text("startsAt", text::t("begin-at")).optional().with_hint(begin_hint)),
        open: own.iter().find(|own| own.request.eligibility_id == listed.eligibility.id).map(|own| own.request.id),
        listed,
    })
}

/// Returns the form with what the person has asked for by an earlier request; without it, an empty form.
async fn earlier(console: &Console, signed_in: &SignedIn, id: &str) -> Result<Form, Error> {
    let Ok(id) = id.parse::<AccessRequestId>() else { return Ok(Form::default()) };
    let caller = &signed_in.caller;
    let found = if_allowed(console.iam.access_requests().get(caller, id).await)?;
    let own = found.map(|found| found.request).filter(|request| caller.user() == Some(request.requested_by));
    let Some(own) = own else { return Ok(Form::default()) };
    let ticket = own.ticket.as_ref().map_or("", |ticket| ticket.as_str()).to_owned();
    let (seconds, reason) = (own.seconds.to_string(), own.reason.as_str().to_owned());
    Ok(Form::of([("seconds", seconds), ("reason", reason), ("ticket", ticket)]))
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(Chosen { eligibility, request }): Query<Chosen>,
) -> Result<Response, Problem> {
    if eligibility.is_empty() {
        let eligibilities = console.iam.eligibilities().own(&signed_in.caller).await?;
        let open = own_open(&console.iam, &signed_in.caller).await?;
        let open = open.into_iter().map(|own| (own.request.eligibility_id, own.request.id));
        let open: HashMap<EligibilityId, AccessRequestId> = open.collect();
        let eligibilities = eligibilities.into_iter().map(|listed| {
            let open = open.get(&listed.eligibility.id).copied();
            (listed, open)
        });
        let eligibilities = eligibilities.collect();
        return page(StatusCode::OK, &ChoicePage { frame: signed_in.frame(&console).await?, eligibilities });
    }
    let listed = find(&console, &signed_in, &eligibility).await?;
    let form = earlier(&console, &signed_in, &request).await?;
    page(StatusCode::OK, &page_of(&console, &signed_in, listed, (&form, &[])).await?)
}

/// Asks for a role. A page first shows what the person would gain.
pub(super) async fn create(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let caller = &signed_in.caller;
    let listed = find(&console, &signed_in, form.get("eligibility")).await?;
    if confirm::goes_back(&form) {
        return page(StatusCode::OK, &page_of(&console, &signed_in, listed, (&form, &[])).await?);
    }
    let attempt = Attempt::of(&console, &form);
    let made = match read(&form, &listed.eligibility) {
        Ok(new) => attempt.access_requests().create(caller, new).await,
        Err(error) => Err(error),
    };
    let address = match &made {
        Ok(request) => format!("{}/access-requests/{}?done=asked", console.base(), request.id),
        Err(_) => format!("{}/access-requests", console.base()),
    };
    match attempt.outcome(caller, made).await {
        Ok(Outcome::Changed) => Ok(Redirect::to(&address).into_response()),
        Ok(Outcome::Previewed(preview)) => {
            let pending = pending(&console, &listed, &form);
            let about = about(&console, &signed_in, &listed, &form).await?;
            confirm::ask_about(&console, &signed_in, form, pending, about, preview).await
        }
        Err(error) => {
            let shown = page_of(&console, &signed_in, listed, (&form, &at_fields(&error))).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| AskPage { error: text, ..shown })
        }
    }
}

/// Reads a request. The service checks its fields.
fn read(form: &Form, eligibility: &Eligibility) -> Result<NewAccessRequest, Error> {
    let mut errors = Vec::new();
    let seconds = collected(number(form, "seconds"), &mut errors)?.flatten();
    // In words: the list of lengths has no seconds, and may be older than a change of the eligibility.
    if seconds.is_some_and(|seconds| seconds > i64::from(eligibility.max_seconds)) {
        errors.push(FieldError::new("seconds", text::at_most_now(&text::duration(eligibility.max_seconds))));
    }
    let starts_at = collected(typed("startsAt", form.get("startsAt")), &mut errors)?.flatten();
    if !errors.is_empty() {
        return Err(Error::Validation(errors));
    }
    let (reason, ticket) = (reason_of(form), form.given("ticket"));
    Ok(NewAccessRequest { eligibility: eligibility.id, seconds, reason, ticket, starts_at })
}

/// Returns the reason as one line: browsers let a person type several.
fn reason_of(form: &Form) -> String {
    form.get("reason").lines().collect::<Vec<_>>().join(" ")
}

/// Returns what a person checks before it sends the request.
async fn about(
    console: &Console,
    signed_in: &SignedIn,
    listed: &ListedEligibility,
    form: &Form,
) -> Result<About, Error> {
    let (eligibility, mut warning, mut lasting) = (&listed.eligibility, String::new(), String::new());
    let starts_at = typed("startsAt", form.get("startsAt")).ok().flatten();
    if eligibility.approvals > 0 {
        let others = console.iam.eligibilities().count_deciders(&signed_in.caller, eligibility.id).await?;
        warning = text::too_few_can_decide(eligibility.approvals, others);
        lasting = text::lasts(&text::duration(seconds_of(listed, form)), starts_at.is_none());
    }
    let ticket = form.given("ticket").map(|ticket| (text::t("ticket"), ticket));
    let begin = starts_at.map(|at| (text::t("not-before"), at));
    let end = eligibility.expires_at.map(|at| (text::t("ends-at-the-latest"), at));
    Ok(About {
        title: Some(text::t("what-you-gain")),
        facts: [(text::t("reason"), reason_of(form))].into_iter().chain(ticket).collect(),
        moments: begin.into_iter().chain(end).collect(),
        told: text::told_of_request(eligibility.approvals, console.iam.sends_mail()),
        warning,
        lasting,
        known: Names::default().with_organization(listed.organization.as_ref()),
    })
}

/// Returns for how many seconds the person asks.
fn seconds_of(listed: &ListedEligibility, form: &Form) -> u32 {
    form.get("seconds").trim().parse().unwrap_or(listed.eligibility.max_seconds)
}

fn pending(console: &Console, listed: &ListedEligibility, form: &Form) -> Pending {
    let time = text::duration(seconds_of(listed, form));
    Pending {
        title: text::ask_for(listed.role.name.as_str(), place_of(listed), &time),
        note: text::request_note(listed.eligibility.approvals, form.given("startsAt").is_some()),
        button: text::t("send-request"),
        is_dangerous: false,
        action: format!("{}/access-requests/new", console.base()),
        back: format!("{}/access-requests", console.base()),
        has_form: true,
    }
}
