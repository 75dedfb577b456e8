//! Sign-in by an identity provider (`docs/federation.md#the-flow`): the console is a client of the flow, and the way
//! back is one of its own pages. A link from the account and a step-up take the same way.

use axum::Extension;
use axum::extract::{FromRequestParts as _, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{Context, Problem};
use iam_core::factor::{AuthenticationMethod, FactorList};
use iam_core::federation::{
    FederatedLogin, Finished, ProviderSummary, StartFederation, StartedFederation, code_challenge,
};
use iam_core::session::{AuthenticatedBy, Me};
use iam_core::{Error, IdentityProviderId, RequestContext, Unauthenticated};
use serde::Deserialize;

use super::{KEPT, SignInPage, begin, first_step, form_of, to_second_step};
use crate::account::{identities, proof_alone};
use crate::cookie::{SessionCookie, TemporaryCookie, random_text, with_cookie};
use crate::english;
use crate::form::Form;
use crate::guard::asking_again;
use crate::problem::refused;
use crate::query::Query;
use crate::resume::resume;
use crate::session::{SignedIn, WithoutFactor, destination, leading_to, loaded_again};
use crate::state::Console;
use crate::view::{Field, page};

/// The value of `late` on the page for sign-in after a person has come back from a provider too late.
pub(super) const LATE: &str = "provider";

/// The longest form that a cookie keeps, in bytes: a browser refuses a cookie of more than 4096.
const MAX_KEPT: usize = 2_000;

/// What a person wants at a provider.
#[derive(Clone, Copy)]
enum Purpose {
    SignIn,
    Link,
    StepUp,
}

impl Purpose {
    fn as_str(self) -> &'static str {
        match self {
            Self::SignIn => "sign-in",
            Self::Link => "link",
            Self::StepUp => "step-up",
        }
    }
}

/// A way to a provider and back. The browser keeps it until it has come back.
pub(crate) struct Errand {
    purpose: Purpose,
    /// Proves that this browser has begun.
    verifier: String,
    /// Where the person goes after sign-in, or where the form goes after a step-up.
    next: String,
    /// A form for `next` that waits for a session or for a step-up; may be empty.
    kept: String,
    /// A form token of the session that may see the form; empty before there is one.
    form_token: String,
}

impl Errand {
    /// Returns an errand of a person that is signed in.
    pub(crate) fn link() -> Self {
        Self::new(Purpose::Link, (String::new(), String::new()), String::new())
    }

    fn new(purpose: Purpose, (next, kept): (String, String), form_token: String) -> Self {
        Self { purpose, verifier: random_text(), next, kept, form_token }
    }

    /// Returns a sign-in that leads where a form does.
    fn sign_in(console: &Console, form: &Form) -> Self {
        // Without its form, an address may have no page.
        let waiting = waiting(console, form).unwrap_or_else(|| (console.home().to_owned(), String::new()));
        Self::new(Purpose::SignIn, waiting, String::new())
    }

    /// Returns a step-up for which a form waits.
    fn step_up(console: &Console, signed_in: &SignedIn, form: &Form) -> Self {
        let waiting = waiting(console, form).unwrap_or_else(|| (proof_alone(console), String::new()));
        Self::new(Purpose::StepUp, waiting, signed_in.form_token.clone())
    }

    /// Returns the input for the service: the provider of a form, and the way back.
    pub(crate) fn input(
        &self,
        form: &Form,
        redirect_uri: String,
        login_hint: Option<String>,
    ) -> Result<StartFederation, Error> {
        let provider = form.get("provider").parse::<IdentityProviderId>();
        let provider = provider.map_err(|invalid| Error::field("provider", invalid.to_string()))?;
        let code_challenge = code_challenge(&self.verifier);
        Ok(StartFederation { provider, redirect_uri, code_challenge, login_hint })
    }

    /// Leads to the provider.
    ///
    /// By a page, and not by a redirect: the policy of the console forbids forms that lead to another origin, and
    /// browsers apply it to the redirects of a form, too.
    pub(crate) fn leave(
        self,
        console: &Console,
        parts: &Parts,
        started: &StartedFederation,
    ) -> Result<Response, Problem> {
        let texts = [self.purpose.as_str(), &self.verifier, &self.next, &self.kept];
        let cookie = TemporaryCookie::Provider.keep(&self.form_token, &texts, console.settings.cookie(parts));
        Ok(with_cookie(cookie, leading_to(console, started.authorization_url.as_str())?))
    }

    fn read(console: &Console, parts: &Parts) -> Option<Self> {
        let texts = TemporaryCookie::Provider.read(parts, console.settings.cookie(parts))?;
        let [purpose, verifier, next, kept] = <[String; 4]>::try_from(texts).ok()?;
        let known = [Purpose::SignIn, Purpose::Link, Purpose::StepUp];
        let purpose = known.into_iter().find(|known| known.as_str() == purpose)?;
        Some(Self { purpose, verifier, next, kept, form_token: String::new() })
    }

    /// Returns the form that waits for a step-up, and where it goes.
    fn into_waiting(self) -> (String, Form) {
        (self.next, Form::parse(self.kept.as_bytes()))
    }

    /// Returns the form with which the person has begun to sign in.
    fn into_form(self) -> Form {
        Form::of([("next", self.next), (KEPT, self.kept)])
    }
}

/// Whether the form that waits for a session is too long for the way to a provider.
fn loses(form: &Form) -> bool {
    form.get(KEPT).len() > MAX_KEPT
}

/// Returns where a form leads, and the form that waits for that. `None` if it is too long for the way.
fn waiting(console: &Console, form: &Form) -> Option<(String, String)> {
    (!loses(form)).then(|| (destination(console, form.get("next")), form.get(KEPT).to_owned()))
}

/// The way on which a person authenticates its session again, at the provider by which it began.
pub(crate) struct Confirmation {
    pub(crate) provider: ProviderSummary,
    /// Where the form goes that waits for it.
    pub(crate) next: String,
    pub(crate) kept: String,
    /// Whether the form is lost on the way.
    pub(crate) loses_form: bool,
}

impl Confirmation {
    /// Returns the way for a form. `None` for a session that did not begin by a provider of now, and where a proof at
    /// the provider would not be enough.
    pub(crate) async fn of(
        console: &Console,
        signed_in: &SignedIn,
        (me, factors): (&Me, &FactorList),
        (action, form): (&str, &Form),
    ) -> Result<Option<Self>, Error> {
        let AuthenticatedBy::Session(session) = &me.by else { return Ok(None) };
        let began_by = session.provider.as_ref().filter(|_| signed_in.provider_callback.is_some());
        let Some(began_by) = began_by else { return Ok(None) };
        let methods = session.methods.to_string();
        let has_factor_there = methods.contains(AuthenticationMethod::ProviderFactor.as_str());
        if !factors.factors.is_empty() && !has_factor_there {
            return Ok(None);
        }
        let providers = console.iam.federation().providers(&signed_in.caller.tenant().to_string()).await?;
        let provider = providers.into_iter().find(|provider| provider.id == began_by.provider_id);
        let Some(provider) = provider else { return Ok(None) };
        let kept = form.encoded();
        Ok(Some(if kept.len() > MAX_KEPT {
            Self { provider, next: proof_alone(console), kept: String::new(), loses_form: true }
        } else {
            Self { provider, next: action.to_owned(), kept, loses_form: false }
        }))
    }
}

/// Returns the page on which a person chooses one of these providers, or types its password if it may.
pub(super) fn choice(
    console: &Console,
    form: &Form,
    providers: Vec<FederatedLogin>,
    password_allowed: bool,
) -> SignInPage {
    let fields = vec![Field::email().shown(form, &[]), Field::password("current-password")];
    let (has_form, loses_form) = (password_allowed, loses(form));
    SignInPage { providers, has_form, loses_form, fields, ..form_of(console, form, &[]) }
}

/// Returns the form for a password, with the address that is typed already.
fn password_step(console: &Console, form: &Form) -> SignInPage {
    let fields = vec![Field::email().shown(form, &[]), Field::password("current-password").first()];
    SignInPage { fields, ..form_of(console, form, &[]) }
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
        return refused(problem, &SignInPage { error, ..first_step(&console, is_offered, &form, &[]) });
    }
    match console.iam.federation().discover(form.get("email")).await {
        Ok(found) if is_offered && !found.providers.is_empty() => {
            page(StatusCode::OK, &choice(&console, &form, found.providers, found.password_allowed))
        }
        Ok(_) => page(StatusCode::OK, &password_step(&console, &form)),
        Err(Error::Validation(errors)) => {
            page(StatusCode::BAD_REQUEST, &first_step(&console, is_offered, &form, &errors))
        }
        Err(error) => {
            let text = error.to_string();
            refused(error, &SignInPage { error: text, ..first_step(&console, is_offered, &form, &[]) })
        }
    }
}

/// Shows the form for a password where people sign in by a provider alone: who holds all permissions can use its
/// password nevertheless, so that a provider that fails locks no tenant out.
pub(super) async fn show_password(
    State(console): State<Console>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    page(StatusCode::OK, &password_step(&console, &form))
}

/// Begins to sign in by a provider.
pub(super) async fn start(
    State(console): State<Console>,
    Context(context): Context,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let Some(callback) = console.provider_callback(&parts) else { return Err(Error::FederationOff.into()) };
    let again = |error| SignInPage { error, ..first_step(&console, true, &form, &[]) };
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

/// Begins to authenticate a session again, at the provider by which it began.
pub(crate) async fn start_step_up(
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
                Error::Validation(_) => english::BEGAN_OTHERWISE.to_owned(),
                error => error.to_string(),
            };
            refused(error, &asking_again(&console, &signed_in, errand.into_waiting(), text).await?)
        }
    }
}

/// What a browser brings back from a provider: a code, or the word of an error.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Returned {
    code: String,
    error: String,
}

/// Finishes what a person has begun at a provider.
///
/// The browser comes from the site of the provider, and so sends none of the cookies, which are all `SameSite=Strict`.
/// A link and a step-up also need that of the session. Therefore the first response is a page that loads this one
/// again.
pub(super) async fn come_back(
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

async fn finish_sign_in(
    console: &Console,
    context: &RequestContext,
    parts: &Parts,
    errand: Errand,
    returned: &Returned,
) -> Result<Response, Problem> {
    let (verifier, form) = (errand.verifier.clone(), errand.into_form());
    let is_offered = console.provider_callback(parts).is_some();
    let again = |error| SignInPage { error, ..first_step(console, is_offered, &form, &[]) };
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
        Ok(_) => resume(StatusCode::OK, signed_in.frame(console).await?, waiting, english::SEND_AFTER_PROOF),
        Err(error) => {
            let text = text_of_step_up(&error);
            refused(error, &asking_again(console, signed_in, waiting, text).await?)
        }
    }
}

/// Returns what a person does after an error that the library has told by a word.
fn refusal(word: &str) -> (StatusCode, &'static str) {
    match word {
        "access_denied" => (StatusCode::UNAUTHORIZED, english::PROVIDER_DENIED),
        "not_linked" => (StatusCode::UNAUTHORIZED, english::PROVIDER_NOT_LINKED),
        "unavailable" => (StatusCode::SERVICE_UNAVAILABLE, english::PROVIDER_UNAVAILABLE),
        _ => (StatusCode::UNAUTHORIZED, english::PROVIDER_FAILED),
    }
}

fn text_of(error: &Error) -> String {
    match error {
        Error::Unauthenticated(Unauthenticated::NotLinked) => english::PROVIDER_NOT_LINKED.to_owned(),
        Error::Validation(_) => english::PROVIDER_LATE.to_owned(),
        error => error.to_string(),
    }
}

fn text_of_step_up(error: &Error) -> String {
    match error {
        Error::Unauthenticated(Unauthenticated::NotLinked) => english::CONFIRMED_BY_OTHER.to_owned(),
        Error::Unauthenticated(Unauthenticated::NotFresh { .. }) => english::PROVIDER_DID_NOT_ASK.to_owned(),
        Error::Unauthenticated(Unauthenticated::PasswordAlone) => english::PROVIDER_IS_NOT_ENOUGH.to_owned(),
        Error::Validation(_) => english::RETURN_LATE.to_owned(),
        error => error.to_string(),
    }
}
