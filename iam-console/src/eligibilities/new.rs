use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::Problem;
use iam_core::eligibility::{Eligibility, NewEligibility};
use iam_core::{EligibilityId, Error, FieldError};
use serde::Deserialize;

use crate::confirm::{at_fields, text_above};
use crate::duration::{Duration, number};
use crate::eligibilities::{approver_field, typed_role};
use crate::form::Form;
use crate::picker;
use crate::problem::{collected, if_allowed, refused_in_place};
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::typed;
use crate::view::{Field, Frame, page};

#[derive(Template)]
#[template(path = "eligibility-new.html")]
struct NewEligibilityPage {
    frame: Frame,
    error: String,
    role: Field,
    organization: Field,
    /// Whether the holders of a role may ask, and not one user.
    asks_holders: bool,
    user: Field,
    held_role: Field,
    duration: Duration,
    approvals: String,
    approvals_error: String,
    approver: Field,
    moment: Field,
}

impl NewEligibilityPage {
    fn is_chosen(&self, approvals: &str) -> bool {
        self.approvals == approvals
    }
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    form: &Form,
    errors: &[FieldError],
) -> Result<NewEligibilityPage, Problem> {
    let shown = |field: Field| field.shown(form, errors);
    let bounds = (Eligibility::MIN_SECONDS, Eligibility::MAX_SECONDS);
    let length = Duration::of(Field::text("maxSeconds", text::t("longest")), bounds, Eligibility::DEFAULT_SECONDS);
    let held_role = Field::text("heldRole", text::t("held-role")).optional().with_hint(text::t("who-may-ask-hint"));
    let approvals = form.given("approvals").unwrap_or_else(|| Eligibility::DEFAULT_APPROVALS.to_string());
    let place = form.get("organization");
    Ok(NewEligibilityPage {
        frame: signed_in.frame(console).await?,
        error: String::new(),
        role: shown(picker::of_role(console, Field::text("role", text::t("asked-role")))),
        organization: picker::of_place(console, &signed_in.caller, place, errors).await?,
        asks_holders: asks_holders(form),
        user: shown(picker::of_user(console, Field::text("user", text::t("user")).optional())),
        held_role: shown(picker::of_role(console, held_role)),
        duration: length.shown(form, errors),
        approvals,
        approvals_error: Field::text("approvals", text::t("approvals")).with_errors(errors).error,
        approver: shown(approver_field(console)),
        moment: shown(Field::text("until", text::t("until-moment")).with_hint(text::t("expiry-hint"))),
    })
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Chosen {
    role: String,
}

/// Shows the form, with the role that the link names.
pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(chosen): Query<Chosen>,
) -> Result<Response, Problem> {
    let role = match chosen.role.parse() {
        Ok(id) => if_allowed(console.iam.roles().get(&signed_in.caller, id).await)?,
        Err(_) => None,
    };
    let name = role.map(|role| role.name.to_string());
    let form = name.map_or_else(Form::default, |name| Form::with("role", name));
    page(StatusCode::OK, &page_of(&console, &signed_in, &form, &[]).await?)
}

pub(super) async fn create(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    match make(&console, &signed_in, &form).await {
        Ok(id) => Ok(Redirect::to(&format!("{}/eligibilities/{id}?done=created", console.base())).into_response()),
        Err(error) => {
            let shown = page_of(&console, &signed_in, &form, &at_fields(&error)).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| NewEligibilityPage { error: text, ..shown })
        }
    }
}

/// Whether the form is about the holders of a role. Without a choice, it is about what has a value.
fn asks_holders(form: &Form) -> bool {
    match form.get("who") {
        "" => form.given("heldRole").is_some(),
        who => who == "holders",
    }
}

async fn make(console: &Console, signed_in: &SignedIn, form: &Form) -> Result<EligibilityId, Error> {
    let (iam, caller, mut errors) = (&console.iam, &signed_in.caller, Vec::new());
    let role = collected(picker::role(iam, caller, "role", form.get("role")).await, &mut errors)?;
    let organization = picker::organization(iam, caller, "organization", form.get("organization")).await;
    let organization = collected(organization, &mut errors)?.flatten();
    // Only the field that the choice shows counts.
    let asks_holders = asks_holders(form);
    let user = match form.given("user").filter(|_| !asks_holders) {
        Some(text) => collected(picker::user(iam, caller, &text).await, &mut errors)?,
        None => None,
    };
    let held_role = if asks_holders {
        collected(typed_role(iam, caller, form, "heldRole").await, &mut errors)?.flatten()
    } else {
        None
    };
    let needed = if asks_holders { "heldRole" } else { "user" };
    if form.given(needed).is_none() {
        errors.push(FieldError::new(needed, text::t("must-be-chosen")));
    }
    let max_seconds = collected(number(form, "maxSeconds"), &mut errors)?.flatten();
    let approvals = collected(number(form, "approvals"), &mut errors)?.flatten();
    let approver_role = collected(typed_role(iam, caller, form, "approverRole").await, &mut errors)?.flatten();
    let expires_at = collected(typed("until", form.get("until")), &mut errors)?.flatten();
    let Some(role) = role.filter(|_| errors.is_empty()) else { return Err(Error::Validation(errors)) };
    let new = NewEligibility { role, organization, user, held_role, max_seconds, approvals, approver_role, expires_at };
    Ok(iam.eligibilities().create(caller, new).await?.id)
}
