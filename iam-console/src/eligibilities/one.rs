use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::access_request::{AccessRequestFilter, AccessRequestStatus};
use iam_core::eligibility::{Eligibility, EligibilityPatch, Eligible, ListedEligibility};
use iam_core::page::{MAX_LIMIT, PageRequest};
use iam_core::permission::{ACCESS_REQUESTS_READ, USERS_READ};
use iam_core::version::Precondition;
use iam_core::{Caller, EligibilityId, Error, FieldError, Iam, UserId};
use serde::Deserialize;

use crate::confirm::{at_fields, text_above};
use crate::duration::{Duration, number};
use crate::eligibilities::reach::Reach;
use crate::eligibilities::{approver_field, typed_role};
use crate::eligible::{eligible_of, names_of, place_of};
use crate::form::Form;
use crate::names::Names;
use crate::problem::{collected, refused_in_place};
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::suspended;
use crate::text;
use crate::time::{Time, typeable, typed};
use crate::view::{Field, Frame, page, query};

#[derive(Template)]
#[template(path = "eligibility.html")]
struct EligibilityPage {
    frame: Frame,
    notice: &'static str,
    /// How many requests that wait ask for too much now. Empty if none does.
    narrowed: String,
    error: String,
    listed: ListedEligibility,
    /// The version that the person has seen: a form that is shown again must not replace values that it does not show.
    version: String,
    eligible: String,
    reach: Reach,
    /// The names of those who can decide now, if they are few.
    deciders: Vec<String>,
    /// The name of the role whose holders may ask.
    held_role: Option<String>,
    has_ended: bool,
    /// Why the role would give nothing for now; empty if it would give something.
    suspended: &'static str,
    created_by: Option<String>,
    /// The name of the role whose holders decide, as stored.
    approver_role: Option<String>,
    duration: Duration,
    approvals: String,
    approvals_error: String,
    approver: Field,
    moment: Field,
}

impl EligibilityPage {
    fn address(&self) -> String {
        format!("{}/eligibilities/{}", self.frame.base, self.listed.eligibility.id)
    }

    /// The list of the requests for the role in the place of the eligibility.
    fn requests(&self) -> String {
        let eligibility = &self.listed.eligibility;
        let organization = eligibility.organization_id.map(|id| id.to_string()).unwrap_or_default();
        let role = eligibility.role_id.to_string();
        let query = query(&[("show", "all"), ("role", &*role), ("organization", &*organization)]);
        format!("{}/access-requests?{query}", self.frame.base)
    }

    fn place(&self) -> &str {
        place_of(&self.listed)
    }

    /// The only user who may ask, if the person may see users.
    fn eligible_user(&self) -> Option<UserId> {
        self.listed.eligibility.eligible.user().filter(|_| self.frame.may(&USERS_READ))
    }

    fn time(&self) -> String {
        text::duration(self.listed.eligibility.max_seconds)
    }

    fn is_chosen(&self, approvals: &str) -> bool {
        self.approvals == approvals
    }

    /// Why no user can ask now, or no request can get its approvals. Empty if neither is so.
    fn warning(&self) -> String {
        let eligibility = &self.listed.eligibility;
        let is_tenant_wide = eligibility.organization_id.is_none();
        match (&self.held_role, self.reach.asking()) {
            _ if self.has_ended => text::t("eligibility-has-ended").to_owned(),
            _ if !self.suspended.is_empty() => self.suspended.to_owned(),
            (Some(role), Some(0)) => text::no_holder_can_ask(role, self.place(), is_tenant_wide),
            (None, Some(0)) => text::t("user-cannot-ask").to_owned(),
            _ if self.reach.lacks_deciders(eligibility.approvals) => text::t("too-few-decide").to_owned(),
            _ => String::new(),
        }
    }

    fn can_ask(&self) -> Option<String> {
        self.reach.asking().filter(|_| self.held_role.is_some()).map(text::persons)
    }

    fn can_decide(&self) -> Option<String> {
        self.reach.deciding().map(text::persons)
    }

    fn decided_by(&self) -> String {
        let holders = self.approver_role.as_deref().map(text::holders_of);
        holders.unwrap_or_else(|| text::t("who-may-update-requests").to_owned())
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Done {
    done: String,
}

impl Done {
    fn notice(&self) -> &'static str {
        match &*self.done {
            "created" => text::t("eligibility-created"),
            "saved" => text::t("saved"),
            _ => "",
        }
    }
}

/// Returns the page of an eligibility, with the typed values instead of its own.
async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    listed: ListedEligibility,
    (form, errors): (Option<&Form>, &[FieldError]),
) -> Result<EligibilityPage, Problem> {
    let (iam, caller, eligibility) = (&console.iam, &signed_in.caller, &listed.eligibility);
    let names = names_of(iam, caller, std::slice::from_ref(&listed)).await?;
    let approver_role = eligibility.approver_role_id.map(|role| names.role(role));
    let value = |field: &str, stored: &str| form.map_or_else(|| stored.to_owned(), |form| form.get(field).to_owned());
    let bounds = (Eligibility::MIN_SECONDS, Eligibility::MAX_SECONDS);
    let length = Duration::of(Field::text("maxSeconds", text::t("longest")), bounds, eligibility.max_seconds);
    let end = eligibility.expires_at.as_ref().map(typeable).unwrap_or_default();
    let approver = value("approverRole", approver_role.as_deref().unwrap_or_default());
    let moment = Field::text("until", text::t("until-moment")).with_hint(text::t("expiry-hint"));
    let no_form = Form::default();
    let frame = signed_in.frame(console).await?;
    let held_role = match eligibility.eligible {
        Eligible::HoldersOf(role) => Some(names.role(role)),
        Eligible::User(_) => None,
    };
    let reach = Reach::read(iam, caller, &frame, eligibility).await?;
    let deciding = reach.few_deciding();
    let decider_names = Names::read(iam, caller, deciding.clone(), []).await?;
    Ok(EligibilityPage {
        reach,
        deciders: deciding.into_iter().map(|user| decider_names.user(user)).collect(),
        frame,
        held_role,
        has_ended: !eligibility.is_live(iam.now()),
        suspended: suspended::warning(iam, caller, eligibility.organization_id).await?,
        notice: "",
        narrowed: String::new(),
        error: String::new(),
        version: value("version", &eligibility.version.to_string()),
        eligible: eligible_of(eligibility, &names),
        created_by: eligibility.created_by.map(|user| names.user(user)),
        duration: length.shown(form.unwrap_or(&no_form), errors),
        approvals: value("approvals", &eligibility.approvals.to_string()),
        approvals_error: Field::text("approvals", text::t("approvals")).with_errors(errors).error,
        approver: approver_field(console).filled(&approver).with_errors(errors),
        moment: moment.filled(&value("until", &end)).with_errors(errors),
        approver_role,
        listed,
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<EligibilityId>,
    Query(done): Query<Done>,
) -> Result<Response, Problem> {
    let listed = console.iam.eligibilities().get(&signed_in.caller, id).await?;
    let shown = page_of(&console, &signed_in, listed, (None, &[])).await?;
    let narrowed = if done.done == "saved" && shown.frame.may(&ACCESS_REQUESTS_READ) {
        text::requests_ask_too_much(ask_too_much(&console.iam, &signed_in.caller, &shown.listed.eligibility).await?)
    } else {
        String::new()
    };
    page(StatusCode::OK, &EligibilityPage { notice: done.notice(), narrowed, ..shown })
}

/// Returns how many requests that wait ask for more than their eligibility allows now: of those that the person sees,
/// among the newest for the role there.
async fn ask_too_much(iam: &Iam, caller: &Caller, eligibility: &Eligibility) -> Result<usize, Error> {
    let (mut count, now) = (0, iam.now());
    for status in [AccessRequestStatus::Pending, AccessRequestStatus::Approved] {
        let filter = AccessRequestFilter {
            status: Some(status),
            role: Some(eligibility.role_id),
            organization: eligibility.organization_id,
            ..AccessRequestFilter::default()
        };
        let found = iam.access_requests().list(caller, &filter, PageRequest::new(1, MAX_LIMIT)?).await?;
        let of_this = found.items.iter().filter(|listed| listed.request.eligibility_id == eligibility.id);
        count += of_this.filter(|listed| !listed.request.is_allowed_by(eligibility, now)).count();
    }
    Ok(count)
}

pub(super) async fn update(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<EligibilityId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let listed = console.iam.eligibilities().get(&signed_in.caller, id).await?;
    match change(&console, &signed_in, &listed.eligibility, &form).await {
        Ok(()) => Ok(Redirect::to(&format!("{}/eligibilities/{id}?done=saved", console.base())).into_response()),
        Err(error) => refuse(&console, &signed_in, listed, Some(&form), error).await,
    }
}

/// Changes only what differs: a call that names an expiry or a role checks it again.
async fn change(console: &Console, signed_in: &SignedIn, eligibility: &Eligibility, form: &Form) -> Result<(), Error> {
    let (iam, caller, mut errors) = (&console.iam, &signed_in.caller, Vec::new());
    let max_seconds = collected(number(form, "maxSeconds"), &mut errors)?.flatten();
    let approvals = collected(number(form, "approvals"), &mut errors)?.flatten();
    let approver_role = collected(typed_role(iam, caller, form, "approverRole").await, &mut errors)?;
    let expires_at = collected(typed("until", form.get("until")), &mut errors)?;
    if !errors.is_empty() {
        return Err(Error::Validation(errors));
    }
    let patch = EligibilityPatch {
        max_seconds,
        approvals,
        approver_role: approver_role.filter(|role| *role != eligibility.approver_role_id),
        expires_at: expires_at.filter(|expiry| *expiry != eligibility.expires_at),
    };
    iam.eligibilities().update_if(caller, eligibility.id, patch, &precondition(form)).await.map(|_| ())
}

/// The change is made only if the eligibility is as the form shows it.
fn precondition(form: &Form) -> Precondition {
    Precondition::OneOf(form.get("version").parse().into_iter().collect())
}

pub(super) async fn delete(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<EligibilityId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let listed = console.iam.eligibilities().get(&signed_in.caller, id).await?;
    match console.iam.eligibilities().delete_if(&signed_in.caller, id, &precondition(&form)).await {
        Ok(()) => Ok(Redirect::to(&format!("{}/eligibilities?done=removed", console.base())).into_response()),
        Err(error) => refuse(&console, &signed_in, listed, None, error).await,
    }
}

/// Shows on the page of an eligibility why a call was refused.
async fn refuse(
    console: &Console,
    signed_in: &SignedIn,
    listed: ListedEligibility,
    form: Option<&Form>,
    error: Error,
) -> Result<Response, Problem> {
    let shown = page_of(console, signed_in, listed, (form, &at_fields(&error))).await?;
    let text = match &error {
        Error::PreconditionFailed => text::t("eligibility-changed-meanwhile").to_owned(),
        error => text_above(error),
    };
    refused_in_place(error, |_| EligibilityPage { error: text, ..shown })
}
