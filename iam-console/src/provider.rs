//! The way back from an identity provider, to sign-in, to the account and to the step-up.

use axum::extract::{FromRequestParts as _, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use iam_axum::{Context, Problem};
use iam_core::{Error, RequestContext, Unauthenticated};

use crate::account::identities;
use crate::cookie::{SessionCookie, TemporaryCookie, with_cookie};
use crate::errand::{Errand, Purpose, proof_alone};
use crate::form::Form;
use crate::guard::asking_again;
use crate::problem::refused;
use crate::query::Query;
use crate::resume::resume;
use crate::session::{SignedIn, WithoutFactor, loaded_again};
use crate::sign_in::provider::{LATE, Returned, finish_sign_in, refusal};
use crate::state::Console;
use crate::text;
use crate::view::page;

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/sign-in/provider", get(come_back)).route("/step-up/provider", post(start_step_up))
}

/// Begins to authenticate a session again, at the provider by which it began.
async fn start_step_up(
    State(console): State<Console>,
    WithoutFactor { signed_in, .. }: WithoutFactor,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let errand = Errand::step_up(&console, &signed_in, &form);
    let callback = signed_in.provider_callback.clone().ok_or(Error::FederationOff);
    let started = match callback.and_then(|callback| errand.input(&form, callback, None)) {
        Ok(input) => console.iam.federation().start_step_up(&signed_in.caller, input).await,
        Err(error) => Err(error),
    };
    match started {
        Ok(started) => errand.leave(&console, &parts, &started),
        Err(error) => {
            let text = match &error {
                Error::Validation(_) => text::t("began-otherwise").to_owned(),
                error => error.to_string(),
            };
            refused(error, &asking_again(&console, &signed_in, errand.into_waiting(), text).await?)
        }
    }
}

/// Finishes what a person has begun at a provider.
///
/// The browser comes from the site of the provider, and so sends none of the cookies, which are all `SameSite=Strict`.
/// A link and a step-up also need that of the session. Therefore the first response is a page that loads this one
/// again.
async fn come_back(
    State(console): State<Console>,
    Context(context): Context,
    session: Option<Extension<SessionCookie>>,
    mut parts: Parts,
    Query(returned): Query<Returned>,
) -> Result<Response, Problem> {
    let Some(errand) = Errand::read(&console, &parts) else {
        if let Some(again) = loaded_again(&console, &parts) {
            return Ok(again);
        }
        return Ok(if session.is_some() {
            identities::too_late(&console)
        } else {
            Redirect::to(&format!("{}/sign-in?late={LATE}", console.base())).into_response()
        });
    };
    let answer = match errand.purpose {
        Purpose::SignIn => finish_sign_in(&console, &context, &parts, errand, &returned).await?,
        Purpose::Link => match SignedIn::from_request_parts(&mut parts, &console).await {
            Ok(signed_in) => finish_link(&console, &context, signed_in, &errand, &returned).await?,
            // The account leads to sign-in.
            Err(_) => Redirect::to(&format!("{}/account", console.base())).into_response(),
        },
        Purpose::StepUp => match WithoutFactor::from_request_parts(&mut parts, &console).await {
            Ok(WithoutFactor { signed_in, .. }) => {
                finish_step_up(&console, &context, &signed_in, errand, &returned).await?
            }
            // The account leads to sign-in.
            Err(_) => Redirect::to(&format!("{}/account", console.base())).into_response(),
        },
    };
    Ok(with_cookie(TemporaryCookie::Provider.forgotten(console.settings.cookie(&parts)), answer))
}

async fn finish_link(
    console: &Console,
    context: &RequestContext,
    signed_in: SignedIn,
    errand: &Errand,
    returned: &Returned,
) -> Result<Response, Problem> {
    if returned.code.is_empty() {
        let (status, text) = refusal(&returned.error);
        return identities::not_linked(console, signed_in, status, text).await;
    }
    let (caller, code) = (&signed_in.caller, returned.code.as_str().into());
    let finished = console.iam.federation().finish(context, Some(caller), &code, &errand.verifier).await;
    match finished {
        Ok(_) => Ok(identities::linked(console)),
        Err(Error::Validation(_)) => Ok(identities::too_late(console)),
        Err(error) => identities::refused(console, signed_in, error).await,
    }
}

async fn finish_step_up(
    console: &Console,
    context: &RequestContext,
    signed_in: &SignedIn,
    errand: Errand,
    returned: &Returned,
) -> Result<Response, Problem> {
    let (verifier, waiting) = (errand.verifier.clone(), errand.into_waiting());
    if returned.code.is_empty() {
        let (status, text) = refusal(&returned.error);
        return page(status, &asking_again(console, signed_in, waiting, text.to_owned()).await?);
    }
    let (caller, code) = (&signed_in.caller, returned.code.as_str().into());
    let finished = console.iam.federation().finish(context, Some(caller), &code, &verifier).await;
    match finished {
        Ok(_) if waiting.0 == proof_alone(console) => Ok(Redirect::to(console.home()).into_response()),
        // No form is sent by itself: another site has led the browser here.
        Ok(_) => resume(StatusCode::OK, signed_in.frame(console).await?, waiting, text::t("send-after-proof")),
        Err(error) => {
            let text = text_of_step_up(&error);
            refused(error, &asking_again(console, signed_in, waiting, text).await?)
        }
    }
}

fn text_of_step_up(error: &Error) -> String {
    match error {
        Error::Unauthenticated(Unauthenticated::NotLinked) => text::t("confirmed-by-other").to_owned(),
        Error::Unauthenticated(Unauthenticated::NotFresh { .. }) => text::t("provider-did-not-ask").to_owned(),
        Error::Unauthenticated(Unauthenticated::PasswordAlone) => text::t("provider-is-not-enough").to_owned(),
        Error::Validation(_) => text::t("return-late").to_owned(),
        error => error.to_string(),
    }
}
