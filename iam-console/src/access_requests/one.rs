use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::access_request::{
    AccessDecision, AccessRequest, AccessRequestFilter, AccessRequestStatus, AccessVerdict, ListedAccessRequest,
};
use iam_core::clock::Timestamp;
use iam_core::page::{MAX_LIMIT, PageRequest};
use iam_core::permission::{ACCESS_REQUESTS_UPDATE, ROLE_ASSIGNMENTS_DELETE};
use iam_core::version::Precondition;
use iam_core::{AccessRequestId, Conflict, Error, FieldError, UserId};
use serde::Deserialize;

use crate::access_requests::said;
use crate::effects::Effects;
use crate::form::Form;
use crate::names::{Names, label_of_summary};
use crate::problem::{if_allowed, refused_form};
use crate::query::Query;
use crate::rights;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Field, Frame, page};

#[derive(Template)]
#[template(path = "access-request.html")]
struct RequestPage {
    frame: Frame,
    /// The action that the person has just done; empty if there was none.
    done: String,
    error: String,
    listed: ListedAccessRequest,
    /// The version that the person has seen: a decision is about what the page showed.
    version: String,
    decisions: Vec<Decision>,
    closed_by: Option<String>,
    /// What the person can do about it now.
    can: Possible,
    /// Whether the person has approved the role as it was before a change, and can approve it again.
    approves_again: bool,
    /// The reason of the decision. A refusal needs one.
    reason: Field,
    /// Whether the person has tried to refuse the request.
    is_denial: bool,
    /// The reason for which the person closes the request of another one; `None` for its own.
    close_reason: Option<Field>,
    gain: Gain,
    /// What the user of the request reads if too few others can decide about it. Empty if there are enough.
    warning: String,
    /// Whether the person can ask for the same again.
    asks_again: bool,
}

/// Not the name of the field of the API: a page can have the form of a decision, too.
const CLOSE_REASON: &str = "closeReason";

/// The button that stands in place of a decision about a request that cannot become effective any more.
const CLOSES: &str = "closes";

/// A decision as the page shows it.
struct Decision {
    decision: AccessDecision,
    /// The name of the person who decided.
    by: String,
    /// Whether it counts for the role as it is now.
    counts: bool,
}

/// What a person can do about a request, as far as the page knows. The service decides again.
#[derive(Clone, Copy, Default)]
struct Possible {
    decide: bool,
    cancel: bool,
    end: bool,
}

/// What the user of a request would gain.
enum Gain {
    /// Only those who can decide are shown it.
    Hidden,
    Shown(Effects),
    /// The approval would cancel the request: why it cannot become effective any more.
    Outdated(String),
    /// Why the request cannot become effective now.
    Refused(String),
    /// The service has no time for it.
    Unknown,
}

impl RequestPage {
    fn address(&self) -> String {
        format!("{}/access-requests/{}", self.frame.base, self.listed.request.id)
    }

    fn role(&self) -> String {
        super::role_of(&self.listed)
    }

    fn place(&self) -> &str {
        self.listed.organization.as_ref().map_or(text::t("whole-tenant"), |organization| &organization.name)
    }

    fn time(&self) -> String {
        text::duration(self.listed.request.seconds)
    }

    fn approvals(&self) -> String {
        text::approvals_of(self.listed.approvals(), self.listed.request.approvals_needed)
    }

    /// Whether an approval has lost its effect by a change of the role.
    fn counts_no_more(&self, decision: &Decision) -> bool {
        let status = self.listed.request.status;
        let is_waiting = matches!(status, AccessRequestStatus::Pending | AccessRequestStatus::Approved);
        is_waiting && !decision.counts
    }

    /// Whether the reason for which the person closes the request is not valid.
    fn closing_failed(&self) -> bool {
        self.close_reason.as_ref().is_some_and(|field| !field.error.is_empty())
    }

    /// Why a decision would only cancel the request. `None` if it would not.
    fn comes_to_nothing(&self) -> Option<&str> {
        match &self.gain {
            Gain::Outdated(why) => Some(why),
            Gain::Hidden | Gain::Shown(_) | Gain::Refused(_) | Gain::Unknown => None,
        }
    }

    /// What the page says about the last action, with the moment that follows it.
    fn said(&self) -> Option<(String, Option<Timestamp>)> {
        said::feedback(&self.done, &self.listed)
    }

    fn moments(&self) -> Vec<(&'static str, Timestamp)> {
        said::moments(&self.listed.request)
    }

    fn closing(&self) -> Option<(&'static str, Timestamp)> {
        said::closing(&self.listed.request)
    }

    fn is_pending(&self) -> bool {
        self.listed.request.status == AccessRequestStatus::Pending
    }

    fn approver(&self) -> String {
        match (&self.listed.approver_role, self.listed.request.approver_role_id) {
            (Some(role), _) => text::holders_of(role.name.as_str()),
            (None, Some(_)) => text::holders_of(text::t("role-gone")),
            (None, None) => text::t("who-may-update-requests").to_owned(),
        }
    }
}

fn verdict_of(decision: &AccessDecision) -> &'static str {
    match decision.decision {
        AccessVerdict::Approve => text::t("has-approved"),
        AccessVerdict::Deny => text::t("has-denied"),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Done {
    done: String,
}

impl Possible {
    async fn of(console: &Console, signed_in: &SignedIn, listed: &ListedAccessRequest) -> Result<Self, Error> {
        let (iam, caller, request) = (&console.iam, &signed_in.caller, &listed.request);
        let is_own = caller.user() == Some(request.requested_by);
        let needed = [ACCESS_REQUESTS_UPDATE, ROLE_ASSIGNMENTS_DELETE];
        let [cancels, ends] = rights::held(iam, caller, request.organization_id, needed).await?;
        let is_waiting = matches!(request.status, AccessRequestStatus::Pending | AccessRequestStatus::Approved);
        Ok(Self {
            decide: decides(console, signed_in, listed).await?,
            cancel: is_waiting && (is_own || cancels),
            end: request.status == AccessRequestStatus::Active && (is_own || ends),
        })
    }
}

/// Whether a request is among those about which the person can decide now. A user has only a few open ones.
async fn decides(console: &Console, signed_in: &SignedIn, listed: &ListedAccessRequest) -> Result<bool, Error> {
    let request = &listed.request;
    if request.status != AccessRequestStatus::Pending || signed_in.caller.user() == Some(request.requested_by) {
        return Ok(false);
    }
    let filter = AccessRequestFilter {
        status: Some(AccessRequestStatus::Pending),
        user: Some(request.requested_by),
        role: Some(request.role_id),
        organization: request.organization_id,
        to_decide: true,
        ..AccessRequestFilter::default()
    };
    let all = PageRequest::new(1, MAX_LIMIT).map_err(Error::from)?;
    let found = console.iam.access_requests().list(&signed_in.caller, &filter, all).await?;
    Ok(found.items.iter().any(|found| found.request.id == request.id))
}

/// Whether a request of the person is closed, and the person may ask by the same eligibility.
async fn asks_again(console: &Console, signed_in: &SignedIn, request: &AccessRequest) -> Result<bool, Error> {
    let caller = &signed_in.caller;
    let is_own = caller.user() == Some(request.requested_by) && caller.impersonator().is_none();
    if !is_own || request.status.is_open() {
        return Ok(false);
    }
    let eligibilities = console.iam.eligibilities().own(caller).await?;
    Ok(eligibilities.iter().any(|listed| listed.eligibility.id == request.eligibility_id))
}

/// Returns what the user of a request reads if it cannot get its approvals, because too few others can decide about it.
async fn lack_of_deciders(console: &Console, signed_in: &SignedIn, request: &AccessRequest) -> Result<String, Error> {
    let (caller, needed) = (&signed_in.caller, request.approvals_needed);
    let is_own = caller.user() == Some(request.requested_by) && caller.impersonator().is_none();
    if !is_own || needed == 0 || request.status != AccessRequestStatus::Pending {
        return Ok(String::new());
    }
    let others = if_allowed(console.iam.eligibilities().count_deciders(caller, request.eligibility_id).await)?;
    Ok(others.map_or_else(String::new, |others| text::too_few_can_decide(needed, others)))
}

/// Whether an approval that is refused so has cancelled the request.
fn cancels(refusal: &Error) -> bool {
    matches!(refusal, Error::Conflict(Conflict::AccessRequestOutdated | Conflict::RoleHeld))
}

impl Gain {
    /// What a person reads of it: who decides sees what the user would gain, and the user itself whether the request can
    /// still become effective.
    async fn for_person(
        console: &Console,
        signed_in: &SignedIn,
        listed: &ListedAccessRequest,
        decides: bool,
    ) -> Result<Self, Error> {
        let request = &listed.request;
        let caller = &signed_in.caller;
        let is_own = caller.user() == Some(request.requested_by) && caller.impersonator().is_none();
        if decides {
            return Self::of(console, signed_in, listed).await;
        }
        if !is_own || request.status != AccessRequestStatus::Pending {
            return Ok(Self::Hidden);
        }
        match Self::of(console, signed_in, listed).await? {
            Self::Outdated(why) => Ok(Self::Outdated(why)),
            _ => Ok(Self::Hidden),
        }
    }

    async fn of(console: &Console, signed_in: &SignedIn, listed: &ListedAccessRequest) -> Result<Self, Error> {
        let (caller, trial) = (&signed_in.caller, console.iam.trial());
        let outcome = trial.activate(caller, listed.request.id).await;
        let known = Names::default().with_organization(listed.organization.as_ref());
        let known = known.with_user(listed.request.requested_by, label_of_summary(&listed.user));
        match trial.preview(caller, outcome).await {
            Ok(mut preview) => match preview.refusal.take() {
                Some(refusal) if cancels(&refusal) => {
                    let obstacle = trial.obstacle(caller, listed.request.id).await?;
                    Ok(Self::Outdated(obstacle.map_or_else(String::new, text::obstacle)))
                }
                Some(refusal) => Ok(Self::Refused(refusal.to_string())),
                None => {
                    let effects = Effects::of(&console.iam, caller, console.base(), preview, &known).await?;
                    let request = &listed.request;
                    let lasting = text::lasts(&text::duration(request.seconds), request.starts_at.is_none());
                    Ok(Self::Shown(effects.lasting(lasting)))
                }
            },
            Err(Error::Conflict(Conflict::PreviewsRunning) | Error::Overloaded { .. }) => Ok(Self::Unknown),
            Err(error) => Err(error),
        }
    }
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    id: AccessRequestId,
    (form, errors): (Option<&Form>, &[FieldError]),
) -> Result<RequestPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let listed = iam.access_requests().get(caller, id).await?;
    let request = &listed.request;
    let can = Possible::of(console, signed_in, &listed).await?;
    let name_of = |id: UserId| match listed.person(id) {
        _ if caller.user() == Some(id) => text::t("yourself").to_owned(),
        Some(person) => label_of_summary(person),
        None => id.to_string(),
    };
    let decisions = request.decisions.iter().map(|decision| Decision {
        decision: decision.clone(),
        by: name_of(decision.user_id),
        counts: listed.counts(decision),
    });
    let decisions: Vec<Decision> = decisions.collect();
    let is_own = |decision: &Decision| caller.user() == Some(decision.decision.user_id);
    let approves_again = can.decide && decisions.iter().any(is_own);
    let reason = Field::text("reason", text::t("reason")).optional().with_hint(text::t("needed-to-deny"));
    let close_reason =
        Field::text(CLOSE_REASON, text::t("reason")).optional().with_hint(text::t("decision-reason-hint"));
    let close_reason = close_reason.filled(form.map_or("", |form| form.get(CLOSE_REASON))).with_errors(errors);
    let is_of_another = caller.user() != Some(request.requested_by);
    Ok(RequestPage {
        frame: signed_in.frame(console).await?,
        done: String::new(),
        error: String::new(),
        version: form.and_then(|form| form.given("version")).unwrap_or_else(|| listed.version.to_string()),
        decisions,
        closed_by: request.closed_by.map(name_of),
        can,
        approves_again,
        reason: reason.filled(form.map_or("", |form| form.get("reason"))).with_errors(errors),
        is_denial: false,
        close_reason: is_of_another.then_some(close_reason),
        gain: Gain::for_person(console, signed_in, &listed, can.decide).await?,
        warning: lack_of_deciders(console, signed_in, request).await?,
        asks_again: asks_again(console, signed_in, request).await?,
        listed,
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AccessRequestId>,
    Query(done): Query<Done>,
) -> Result<Response, Problem> {
    let shown = page_of(&console, &signed_in, id, (None, &[])).await?;
    // The approval that was saved does not count any more.
    let done = if shown.approves_again { String::new() } else { done.done };
    page(StatusCode::OK, &RequestPage { done, ..shown })
}

/// Leads to the page of a request.
pub(super) async fn reopen(State(console): State<Console>, PathId(id): PathId<AccessRequestId>) -> Redirect {
    Redirect::to(&format!("{}/access-requests/{id}", console.base()))
}

pub(super) async fn approve(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AccessRequestId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let (reason, seen) = typed(&form);
    let decided = console.iam.access_requests().approve(&signed_in.caller, id, reason.as_deref(), &seen).await;
    let done = match decided {
        // The person has pressed the button that closes the request.
        Err(error) if form.has(CLOSES) && cancels(&error) => Ok("cancelled"),
        decided => decided.map(|_| "approved"),
    };
    decision(&console, &signed_in, id, &form, (AccessVerdict::Approve, done)).await
}

pub(super) async fn deny(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AccessRequestId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let (reason, seen) = typed(&form);
    let decided = match reason {
        Some(reason) => console.iam.access_requests().deny(&signed_in.caller, id, Some(&reason), &seen).await,
        None => Err(Error::field("reason", text::t("must-say-why"))),
    };
    decision(&console, &signed_in, id, &form, (AccessVerdict::Deny, decided.map(|_| "denied"))).await
}

/// Returns the errors of a reason, which has another name in this form.
fn at_field(name: &str, errors: Vec<FieldError>) -> Vec<FieldError> {
    errors.into_iter().map(|found| FieldError::new(name, found.message)).collect()
}

/// Returns the reason of a decision, and the version of the request that the page has shown.
fn typed(form: &Form) -> (Option<String>, Precondition) {
    (form.given("reason"), Precondition::OneOf(form.get("version").parse().into_iter().collect()))
}

/// Leads back to the page of the request, or shows the typed values there, and why the decision was refused.
async fn decision(
    console: &Console,
    signed_in: &SignedIn,
    id: AccessRequestId,
    form: &Form,
    (verdict, result): (AccessVerdict, Result<&'static str, Error>),
) -> Result<Response, Problem> {
    match result {
        Ok(done) => Ok(back(console, id, done)),
        Err(error) => {
            let has_changed = matches!(error, Error::PreconditionFailed);
            let is_late = has_changed || matches!(error, Error::Conflict(Conflict::AccessRequestNotPending));
            refused_form(error, async |errors: Vec<FieldError>, error: String| {
                let shown = page_of(console, signed_in, id, (Some(form), &errors)).await?;
                // Of what the person has done itself, the text says only what it was.
                let closed_by = shown.closed_by.as_deref().filter(|by| *by != text::t("yourself"));
                let why = said::why_too_late(&shown.listed, closed_by).filter(|_| is_late);
                let changed = has_changed.then(|| text::t("request-changed-meanwhile").to_owned());
                let (error, is_denial) = (why.or(changed).unwrap_or(error), verdict == AccessVerdict::Deny);
                Ok(RequestPage { error, is_denial, ..shown })
            })
            .await
        }
    }
}

pub(super) async fn cancel(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AccessRequestId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let reason = form.given(CLOSE_REASON);
    let result = console.iam.access_requests().cancel(&signed_in.caller, id, reason.as_deref()).await;
    closing(&console, &signed_in, id, &form, result.map(|_| "cancelled")).await
}

pub(super) async fn end(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AccessRequestId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let reason = form.given(CLOSE_REASON);
    let result = console.iam.access_requests().end(&signed_in.caller, id, reason.as_deref()).await;
    closing(&console, &signed_in, id, &form, result.map(|_| "ended")).await
}

/// Leads back to the page of the request, or shows there why the call was refused.
async fn closing(
    console: &Console,
    signed_in: &SignedIn,
    id: AccessRequestId,
    form: &Form,
    result: Result<&'static str, Error>,
) -> Result<Response, Problem> {
    match result {
        Ok(done) => Ok(back(console, id, done)),
        Err(error) => {
            let is_not_active = matches!(error, Error::Conflict(Conflict::AccessRequestNotActive));
            refused_form(error, async |errors: Vec<FieldError>, error: String| {
                let errors = at_field(CLOSE_REASON, errors);
                let shown = page_of(console, signed_in, id, (Some(form), &errors)).await?;
                let has_ended = is_not_active && shown.listed.request.status == AccessRequestStatus::Ended;
                let error = if has_ended { text::t("access-ended-already").to_owned() } else { error };
                Ok(RequestPage { error, ..shown })
            })
            .await
        }
    }
}

fn back(console: &Console, id: AccessRequestId, done: &str) -> Response {
    Redirect::to(&format!("{}/access-requests/{id}?done={done}", console.base())).into_response()
}
