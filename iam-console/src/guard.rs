//! The requirements of every form: the right origin, the token of the session and, if the call demands it, a recent
//! proof of identity.

use askama::Template;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest as _, FromRequestParts as _, OriginalUri, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router, routing::post};
use iam_axum::{Kind, Problem};
use iam_core::factor::FactorList;
use iam_core::session::StepUp;
use iam_core::{Error, Unauthenticated};

use crate::cookie::SessionCookie;
use crate::errand::Confirmation;
use crate::form::Form;
use crate::problem::{Document, foreign_form, is_for_part, problem_of, refused};
use crate::proofs::{ProofError, Proofs, take_step_up};
use crate::query;
use crate::resume::resume;
use crate::session::{SignedIn, WithoutFactor, needs_sign_in, page_named};
use crate::sign_in;
use crate::state::Console;
use crate::text;
use crate::view::{Frame, page};

const FORM_TOKEN: &str = "form-token";
/// Where a person goes who does not prove who it is.
const BACK: &str = "proof-back";

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/step-up/options", post(step_up_options))
}

#[derive(Template)]
#[template(path = "step-up.html")]
pub(crate) struct StepUpPage {
    frame: Frame,
    action: String,
    why: &'static str,
    error: String,
    proofs: Proofs,
    /// `None` where no provider proves who the person is.
    confirmation: Option<Confirmation>,
    /// The page that has sent the form, as far as it is known.
    back: String,
    /// The fields of the form that waits for the proof.
    kept: Vec<(String, String)>,
}

impl StepUpPage {
    /// Whether the form that waits belongs to a part of the console, with this path.
    fn is_below(&self, path: &str) -> bool {
        let rest = self.action.strip_prefix(&self.frame.base).and_then(|action| action.strip_prefix(path));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
    }
}

/// Refuses every request that may change something, unless a form of the console has sent it. Handlers find the
/// [`Form`] in the extensions of the request.
///
/// If a call needs a recent proof of identity, or a proof by a second factor, the response asks for it with all fields of
/// the form in it. The answer has the proof and the same fields, so that the call follows at once. A form without a session, or with the token of an
/// earlier session, is shown again after sign-in.
pub(crate) async fn guarded(State(console): State<Console>, request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return query::shown(request, next).await;
    }
    match admit(&console, request).await {
        Ok(CheckedForm { parts, mut form, signed_in, back }) => {
            let asks_address = console.provider_callback(&parts).is_some();
            let mut request = Request::from_parts(parts, Body::empty());
            let uri = address(&request);
            request.extensions_mut().insert(form.clone());
            let response = next.run(request).await;
            if needs_sign_in(&response) && !form.is_empty() {
                // A proof is for a step-up of the session that has ended.
                take_step_up(&mut form);
                let cookie = response.headers().get(header::SET_COOKIE).cloned();
                let shown = sign_in::with_form(&console, asks_address, (uri, &form), cookie).await;
                return shown.unwrap_or_else(Problem::into_response);
            }
            let (problem, response) = problem_of(response).await;
            let reason = problem.and_then(|problem| Reason::of(&problem));
            // No proof of a person lets it do more as another user.
            let signed_in = signed_in.filter(|signed_in| signed_in.caller.impersonator().is_none());
            let (Some(reason), Some(signed_in)) = (reason, signed_in) else { return response };
            match ask(&console, &signed_in, (uri, form, back), reason).await {
                Ok(Some(asked)) => asked,
                Ok(None) => response,
                Err(problem) => problem.into_response(),
            }
        }
        Err(response) => *response,
    }
}

struct CheckedForm {
    parts: Parts,
    form: Form,
    signed_in: Option<SignedIn>,
    back: String,
}

/// Checks where a form comes from, and reads it.
async fn admit(console: &Console, request: Request) -> Result<CheckedForm, Box<Response>> {
    let because = |problem: Problem| Box::new(problem.into_response());
    let uri = address(&request);
    let (mut parts, body) = request.into_parts();
    if !is_same_origin(console, &parts) {
        return Err(because(foreign_form()));
    }
    if !is_form(&parts.headers) {
        return Err(because(Problem::new(Kind::UnsupportedMediaType).detail(text::t("send-a-form"))));
    }
    let bytes = Bytes::from_request(Request::from_parts(parts.clone(), body), console).await;
    let bytes = bytes.map_err(|rejection| Box::new(rejection.into_response()))?;
    let mut form = Form::parse(&bytes);
    form.check().map_err(|error| because(error.into()))?;
    let in_header = parts.headers.get("x-form-token").and_then(|value| value.to_str().ok());
    let form_token = in_header.unwrap_or_else(|| form.get(FORM_TOKEN)).to_owned();
    // A page that asks for a proof has its address in the form, because its own address may have no page.
    let back = page_named(console, &parts, &form, BACK);
    form.remove(&[FORM_TOKEN, BACK]);
    let Some(session) = parts.extensions.get::<SessionCookie>() else {
        return Ok(CheckedForm { parts, form, signed_in: None, back });
    };
    let proof = take_step_up(&mut form);
    let is_of_session = session.admits(&form_token);
    let signed_in = WithoutFactor::from_request_parts(&mut parts, console).await.ok();
    let signed_in = signed_in.map(|WithoutFactor { signed_in, .. }| signed_in);
    if !is_of_session {
        return Err(match signed_in {
            Some(signed_in) if !is_for_part(&parts.headers) => Box::new(again(console, &signed_in, uri, form).await),
            _ => because(foreign_form()),
        });
    }
    if let Some(proof) = proof
        && let Some(signed_in) = &signed_in
        && let Err(refusal) = step_up(console, signed_in, proof).await
    {
        let asked = ask_again(console, signed_in, (uri, form, back), refusal).await;
        return Err(Box::new(asked.unwrap_or_else(Problem::into_response)));
    }
    Ok(CheckedForm { parts, form, signed_in, back })
}

/// Shows a form that has no token of the session. The person sends it again, or does not.
async fn again(console: &Console, signed_in: &SignedIn, action: String, form: Form) -> Response {
    match signed_in.frame(console).await {
        Ok(frame) => {
            let shown = resume(StatusCode::FORBIDDEN, frame, (action, form), text::t("send-again-why"));
            shown.unwrap_or_else(Problem::into_response)
        }
        Err(problem) => problem.into_response(),
    }
}

/// Why a proof of identity was refused.
enum Refusal {
    /// The proof is wrong.
    Proof(ProofError),
    /// It could not be checked.
    Error(Error),
}

async fn step_up(
    console: &Console,
    signed_in: &SignedIn,
    proof: Result<(&'static str, StepUp), ProofError>,
) -> Result<(), Refusal> {
    let (field, proof) = proof.map_err(Refusal::Proof)?;
    console.iam.sessions().step_up(&signed_in.caller, proof).await.map_err(|error| match error {
        Error::Unauthenticated(Unauthenticated::Credentials) => {
            Refusal::Proof(ProofError::new(field, text::t("wrong-password")))
        }
        Error::Unauthenticated(Unauthenticated::SecondFactor | Unauthenticated::Passkey) | Error::Validation(_) => {
            Refusal::Proof(ProofError::of(field, &error))
        }
        error => Refusal::Error(error),
    })
}

/// Why a call needs a proof of identity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// The last one was too long ago.
    NotFresh,
    /// The session is restricted, because none was made by a second factor.
    Restricted,
}

impl Reason {
    fn of(problem: &Document) -> Option<Self> {
        if problem.is_of(Kind::InsufficientAuthentication) {
            Some(Self::NotFresh)
        } else if problem.is_of(Kind::SecondFactorRequired) {
            Some(Self::Restricted)
        } else {
            None
        }
    }
}

/// Asks for a proof of identity. `None` if no proof would help: the session is restricted, and the person has no factor.
async fn ask(
    console: &Console,
    signed_in: &SignedIn,
    (action, form, back): (String, Form, String),
    reason: Reason,
) -> Result<Option<Response>, Problem> {
    let factors = console.iam.factors().list(&signed_in.caller).await?;
    if reason == Reason::Restricted && factors.factors.is_empty() {
        return Ok(None);
    }
    let shown = asking(console, signed_in, (action, form), &factors).await?;
    let why = if reason == Reason::Restricted { text::t("confirm-by-factor") } else { shown.why };
    page(StatusCode::FORBIDDEN, &StepUpPage { why, back, ..shown }).map(Some)
}

/// Returns the page that asks for a proof of identity, for which a form waits.
async fn asking(
    console: &Console,
    signed_in: &SignedIn,
    (action, form): (String, Form),
    factors: &FactorList,
) -> Result<StepUpPage, Problem> {
    let me = console.iam.sessions().me(&signed_in.caller).await?;
    let confirmation = Confirmation::of(console, signed_in, (&me, factors), (&action, &form)).await?;
    let (frame, proofs) = (signed_in.frame_for(console, &me), Proofs::of_factors(factors));
    let has_factor = !factors.factors.is_empty();
    let why = if has_factor { text::t("confirm-by-own-factor") } else { text::t("confirm-identity-why") };
    let (error, kept, back) = (String::new(), form.into_fields(), console.home().to_owned());
    Ok(StepUpPage { frame, action, why, error, proofs, confirmation, back, kept })
}

/// Does the same after a step-up at a provider that has failed.
pub(crate) async fn asking_again(
    console: &Console,
    signed_in: &SignedIn,
    waiting: (String, Form),
    error: String,
) -> Result<StepUpPage, Problem> {
    let factors = console.iam.factors().list(&signed_in.caller).await?;
    Ok(StepUpPage { error, ..asking(console, signed_in, waiting, &factors).await? })
}

/// Asks again after a proof that was refused.
async fn ask_again(
    console: &Console,
    signed_in: &SignedIn,
    (action, form, back): (String, Form, String),
    refusal: Refusal,
) -> Result<Response, Problem> {
    let factors = console.iam.factors().list(&signed_in.caller).await?;
    let shown = asking(console, signed_in, (action, form), &factors).await?;
    let shown = StepUpPage { back, ..shown };
    match refusal {
        Refusal::Proof(error) => page(StatusCode::FORBIDDEN, &StepUpPage { proofs: shown.proofs.with(error), ..shown }),
        Refusal::Error(error) => {
            let text = error.to_string();
            refused(error, &StepUpPage { error: text, ..shown })
        }
    }
}

/// Returns the options with which a browser authenticates this session again by a passkey.
async fn step_up_options(
    State(console): State<Console>,
    WithoutFactor { signed_in, .. }: WithoutFactor,
) -> Result<Response, Problem> {
    let options = console.iam.sessions().step_up_options(&signed_in.caller).await?;
    Ok(Json(options).into_response())
}

fn address(request: &Request) -> String {
    let uri = request.extensions().get::<OriginalUri>().map_or(request.uri(), |OriginalUri(uri)| uri);
    uri.path_and_query().map_or_else(String::new, ToString::to_string)
}

/// Whether a page of the console has sent the request. Browsers say so in two headers, which no page can change. Old
/// browsers send only one of them.
fn is_same_origin(console: &Console, parts: &Parts) -> bool {
    let header = |name: &str| parts.headers.get(name).map(|value| value.to_str().unwrap_or_default());
    match (header("sec-fetch-site"), header("origin")) {
        (site, Some(origin)) => {
            site.is_none_or(|site| site == "same-origin") && console.settings.is_own_origin(origin, parts)
        }
        (site, None) => site == Some("same-origin"),
    }
}

fn is_form(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded")
}
