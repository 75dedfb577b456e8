//! Sign-in by an identity provider (`docs/federation.md#the-flow`): the console is a client of the flow, and the way
//! back is one of its own pages.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{Context, Problem};
use iam_core::federation::{FederatedLogin, Finished};
use iam_core::{Error, RequestContext, Unauthenticated};
use serde::Deserialize;

use super::{SignInPage, begin, first_step, form_of, to_second_step};
use crate::errand::{Errand, loses};
use crate::form::Form;
use crate::problem::refused;
use crate::state::Console;
use crate::text;
use crate::view::{Field, page};

/// The value of `late` on the page for sign-in after a person has come back from a provider too late.
pub(crate) const LATE: &str = "provider";

/// Returns the page on which a person chooses one of these providers, or types its password if it may.
pub(super) async fn choice(
    console: &Console,
    form: &Form,
    providers: Vec<FederatedLogin>,
    password_allowed: bool,
) -> Result<SignInPage, Problem> {
    let fields = vec![Field::email().shown(form, &[]), Field::password("current-password")];
    let (has_form, loses_form) = (password_allowed, loses(form));
    Ok(SignInPage { providers, has_form, loses_form, fields, ..form_of(console, form, &[]).await? })
}

/// Returns the form for a password, with the address that is typed already.
async fn password_step(console: &Console, form: &Form) -> Result<SignInPage, Problem> {
    let fields = vec![Field::email().shown(form, &[]), Field::password("current-password").first()];
    Ok(SignInPage { fields, ..form_of(console, form, &[]).await? })
}

/// Shows how a person with the typed address signs in.
pub(super) async fn find(
    State(console): State<Console>,
    Context(context): Context,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let is_offered = console.provider_callback(&parts).is_some();
    if let Err(problem) = console.count_attempt(&context).await {
        let error = problem.to_string();
        return refused(problem, &SignInPage { error, ..first_step(&console, is_offered, &form, &[]).await? });
    }
    match console.iam.federation().discover(form.get("email")).await {
        Ok(found) if is_offered && !found.providers.is_empty() => {
            page(StatusCode::OK, &choice(&console, &form, found.providers, found.password_allowed).await?)
        }
        Ok(_) => page(StatusCode::OK, &password_step(&console, &form).await?),
        Err(Error::Validation(errors)) => {
            page(StatusCode::BAD_REQUEST, &first_step(&console, is_offered, &form, &errors).await?)
        }
        Err(error) => {
            let text = error.to_string();
            refused(error, &SignInPage { error: text, ..first_step(&console, is_offered, &form, &[]).await? })
        }
    }
}

/// Shows the form for a password where people sign in by a provider alone: who holds all permissions can use its
/// password nevertheless, so that a provider that fails locks no tenant out.
pub(super) async fn show_password(
    State(console): State<Console>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    page(StatusCode::OK, &password_step(&console, &form).await?)
}

/// Begins to sign in by a provider.
pub(super) async fn start(
    State(console): State<Console>,
    Context(context): Context,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let Some(callback) = console.provider_callback(&parts) else { return Err(Error::FederationOff.into()) };
    let empty = first_step(&console, true, &form, &[]).await?;
    let again = |error| SignInPage { error, ..empty };
    if let Err(problem) = console.count_attempt(&context).await {
        let text = problem.to_string();
        return refused(problem, &again(text));
    }
    let errand = Errand::sign_in(&console, &form);
    let started = match errand.input(&form, callback, form.given("email")) {
        Ok(input) => console.iam.federation().start(&context, input).await,
        Err(error) => Err(error),
    };
    match started {
        Ok(started) => errand.leave(&console, &parts, &started),
        Err(error) => {
            let text = error.to_string();
            refused(error, &again(text))
        }
    }
}

/// What a browser brings back from a provider: a code, or the word of an error.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Returned {
    pub(crate) code: String,
    pub(crate) error: String,
}

/// Finishes a sign-in that a person has begun.
pub(crate) async fn finish_sign_in(
    console: &Console,
    context: &RequestContext,
    parts: &Parts,
    errand: Errand,
    returned: &Returned,
) -> Result<Response, Problem> {
    let (verifier, form) = (errand.verifier.clone(), errand.into_form());
    let is_offered = console.provider_callback(parts).is_some();
    let empty = first_step(console, is_offered, &form, &[]).await?;
    let again = |error| SignInPage { error, ..empty };
    if returned.code.is_empty() {
        let (status, text) = refusal(&returned.error);
        return page(status, &again(text.to_owned()));
    }
    if let Err(problem) = console.count_attempt(context).await {
        let text = problem.to_string();
        return refused(problem, &again(text));
    }
    match console.iam.federation().finish(context, None, &returned.code.as_str().into(), &verifier).await {
        Ok(Finished::LoggedIn(logged_in)) => begin(console, parts, *logged_in, &form),
        // What was begun without a session is a sign-in.
        Ok(_) => Ok(Redirect::to(console.home()).into_response()),
        Err(Error::SecondFactorRequired(pending)) => {
            to_second_step(console, parts, &form, (&pending.challenge, &pending.methods))
        }
        Err(error) => {
            let text = text_of(&error);
            refused(error, &again(text))
        }
    }
}

/// Returns what a person does after an error that the library has told by a word.
pub(crate) fn refusal(word: &str) -> (StatusCode, &'static str) {
    match word {
        "access_denied" => (StatusCode::UNAUTHORIZED, text::t("provider-denied")),
        "not_linked" => (StatusCode::UNAUTHORIZED, text::t("provider-not-linked")),
        "unavailable" => (StatusCode::SERVICE_UNAVAILABLE, text::t("provider-unavailable")),
        _ => (StatusCode::UNAUTHORIZED, text::t("provider-failed")),
    }
}

fn text_of(error: &Error) -> String {
    match error {
        Error::Unauthenticated(Unauthenticated::NotLinked) => text::t("provider-not-linked").to_owned(),
        Error::Validation(_) => text::t("provider-late").to_owned(),
        error => error.to_string(),
    }
}
