//! Sign-in by e-mail (`docs/http-api.md#login-by-e-mail`): by the code in a message, or by the link in it, which leads
//! to a page of the API (`/account/login`) with a form for this console.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{Context, Problem};
use iam_core::email_login::EmailProof;
use iam_core::secret::ChallengeToken;
use iam_core::{Error, FieldError};

use super::{Arrival, SignInPage, begin, first_step, form_of, to_second_step};
use crate::cookie::{TemporaryCookie, with_cookie};
use crate::form::{Form, KEPT};
use crate::problem::refused;
use crate::query::Query;
use crate::session::destination;
use crate::state::Console;
use crate::text;
use crate::view::{Field, Frame, page, query};

/// The value of `late` on the page for sign-in after a person has typed the code too late.
pub(super) const LATE: &str = "email";

#[derive(Template)]
#[template(path = "email-code.html")]
struct CodePage {
    frame: Frame,
    next: String,
    kept: String,
    error: String,
    field: Field,
}

/// Returns the page that asks for the code in the message.
fn code_page(console: &Console, form: &Form, errors: &[FieldError], error: String) -> CodePage {
    let field = Field::text("code", text::t("email-code")).first().completed_as("one-time-code");
    CodePage {
        frame: Frame::without_session(console),
        next: destination(console, form.get("next")),
        kept: form.get(KEPT).to_owned(),
        error,
        field: field.with_hint(text::t("email-code-hint")).shown(form, errors),
    }
}

/// Sends a message with a link and a code. The page that follows is the same whether a user has the address or not.
pub(super) async fn request(
    State(console): State<Console>,
    Context(context): Context,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    if let Err(problem) = console.count_attempt(&context).await {
        let error = problem.to_string();
        return refused(problem, &SignInPage { error, ..form_of(&console, &form, &[]).await? });
    }
    let tenant = form.given("tenant");
    match console.iam.email_logins().request(&context, form.get("email"), tenant.as_deref()).await {
        Ok(flow) => to_code(&console, &parts, &form, &flow),
        Err(Error::Validation(errors)) => page(StatusCode::BAD_REQUEST, &form_of(&console, &form, &errors).await?),
        Err(error) => {
            let text = error.to_string();
            refused(error, &SignInPage { error: text, ..form_of(&console, &form, &[]).await? })
        }
    }
}

/// Leads to the page that asks for the code of a flow.
fn to_code(console: &Console, parts: &Parts, form: &Form, flow: &ChallengeToken) -> Result<Response, Problem> {
    let cookie = TemporaryCookie::EmailLogin.keep("", &[flow.expose()], console.settings.cookie(parts));
    if !form.get(KEPT).is_empty() {
        // A form that waits for the session is too long for an address or a cookie.
        return Ok(with_cookie(cookie, page(StatusCode::OK, &code_page(console, form, &[], String::new()))?));
    }
    let next = destination(console, form.get("next"));
    let address = format!("{}/sign-in/email/code?{}", console.base(), query(&[("next", &next)]));
    Ok(with_cookie(cookie, Redirect::to(&address)))
}

/// Returns the flow that this browser has begun.
fn flow_of(console: &Console, parts: &Parts) -> Option<ChallengeToken> {
    let texts = TemporaryCookie::EmailLogin.read(parts, console.settings.cookie(parts))?;
    texts.first().map(|flow| flow.as_str().into())
}

/// Leads back to the first step, because the code came too late.
fn too_late(console: &Console, next: &str) -> Response {
    let next = destination(console, next);
    let address = format!("{}/sign-in?{}", console.base(), query(&[("late", LATE), ("next", &next)]));
    Redirect::to(&address).into_response()
}

pub(super) async fn show_code(
    State(console): State<Console>,
    parts: Parts,
    Query(arrival): Query<Arrival>,
) -> Result<Response, Problem> {
    if flow_of(&console, &parts).is_none() {
        return Ok(too_late(&console, &arrival.next));
    }
    page(StatusCode::OK, &code_page(&console, &Form::with("next", arrival.next), &[], String::new()))
}

/// Signs in by the code in the message.
pub(super) async fn code(
    State(console): State<Console>,
    Context(context): Context,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let Some(flow) = flow_of(&console, &parts) else { return Ok(too_late(&console, form.get("next"))) };
    if let Err(problem) = console.count_attempt(&context).await {
        let error = problem.to_string();
        return refused(problem, &code_page(&console, &form, &[], error));
    }
    let proof = EmailProof::Code { flow, code: form.get("code").into() };
    let forgotten = || TemporaryCookie::EmailLogin.forgotten(console.settings.cookie(&parts));
    match console.iam.email_logins().finish(&context, &proof).await {
        Ok(logged_in) => Ok(with_cookie(forgotten(), begin(&console, &parts, logged_in, &form)?)),
        Err(Error::SecondFactorRequired(pending)) => {
            let second_step = to_second_step(&console, &parts, &form, (&pending.challenge, &pending.methods))?;
            Ok(with_cookie(forgotten(), second_step))
        }
        Err(Error::Validation(errors)) => {
            page(StatusCode::BAD_REQUEST, &code_page(&console, &form, &errors, String::new()))
        }
        Err(error) => {
            let text = error.to_string();
            refused(error, &code_page(&console, &form, &[], text))
        }
    }
}

/// Signs in by the link in the message: its page has sent the token by a form, because mail programs and virus scanners
/// open links, too.
pub(super) async fn link(
    State(console): State<Console>,
    Context(context): Context,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let asks_address = console.provider_callback(&parts).is_some();
    let empty = first_step(&console, asks_address, &Form::default(), &[]).await?;
    let again = |error| SignInPage { error, ..empty };
    if let Err(problem) = console.count_attempt(&context).await {
        let text = problem.to_string();
        return refused(problem, &again(text));
    }
    let home = Form::default();
    match console.iam.email_logins().finish(&context, &EmailProof::Link(form.get("token").into())).await {
        Ok(logged_in) => begin(&console, &parts, logged_in, &home),
        Err(Error::SecondFactorRequired(pending)) => {
            to_second_step(&console, &parts, &home, (&pending.challenge, &pending.methods))
        }
        Err(Error::Validation(_)) => page(StatusCode::BAD_REQUEST, &again(text::t("email-link-refused").to_owned())),
        Err(error) => {
            let text = error.to_string();
            refused(error, &again(text))
        }
    }
}
