//! Sign-in, its second step, the registration of the first tenant, and sign-out.

mod email_login;
pub(crate) mod provider;

use askama::Template;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::{Extension, Json, Router, routing::get, routing::post};
use iam_axum::{Context, Problem};
use iam_core::factor::webauthn::AuthenticationResponse;
use iam_core::factor::{AuthenticationMethod, SecondFactorPolicy};
use iam_core::federation::FederatedLogin;
use iam_core::secret::ChallengeToken;
use iam_core::session::{LoggedIn, Login};
use iam_core::tenant::{PasswordPolicy, Registration, TenantSummary};
use iam_core::{Conflict, Error, FieldError, Unauthenticated};
use serde::Deserialize;

use crate::cookie::{SessionCookie, TemporaryCookie, with_cookie};
use crate::density::Density;
use crate::form::{Form, KEPT};
use crate::problem::{refused, refused_form};
use crate::proofs::{CREDENTIAL, ProofError, Proofs, typed_factor};
use crate::query::Query;
use crate::resume::resume;
use crate::session::{SignedIn, destination};
use crate::state::Console;
use crate::text;
use crate::theme::Theme;
use crate::view::{Field, FormPage, Frame, FrameSession, page, query};

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/sign-in", get(show).post(sign_in))
        .route("/sign-in/address", post(provider::find))
        .route("/sign-in/password", post(provider::show_password))
        .route("/sign-in/provider", post(provider::start))
        .route("/sign-in/email", post(email_login::request))
        .route("/sign-in/email/code", get(email_login::show_code).post(email_login::code))
        .route("/sign-in/link", post(email_login::link))
        .route("/sign-in/second-factor", get(show_second_factor).post(second_factor))
        .route("/sign-in/second-factor/options", post(second_factor_options))
        .route("/sign-in/forgot", get(show_forgot).post(forgot))
        .route("/sign-in/passkey", post(passkey))
        .route("/sign-in/passkey/options", post(passkey_options))
        .route("/register", get(show_registration).post(register))
        .route("/sign-out", post(sign_out))
        .route("/sign-out-everywhere", post(sign_out_everywhere))
}

#[derive(Template)]
#[template(path = "sign-in.html")]
struct SignInPage {
    frame: Frame,
    next: String,
    /// A form for `next` that waits for a session; may be empty.
    kept: String,
    notice: &'static str,
    error: String,
    is_first_run: bool,
    /// Whether only the address is asked for: its domain decides about the rest.
    asks_address: bool,
    /// The providers by which people with the typed address sign in.
    providers: Vec<FederatedLogin>,
    email: String,
    /// Whether a form is lost on the way to a provider.
    loses_form: bool,
    /// Whether there is the form for an address and a password.
    has_form: bool,
    fields: Vec<Field>,
    tenant: Field,
    /// The tenants of which the person must choose one.
    tenants: Vec<TenantSummary>,
    /// Whether this installation accepts passkeys.
    has_passkeys: bool,
    sends_mail: bool,
    /// Whether people may sign in by a message to their address.
    offers_email: bool,
    passkey_error: String,
}

#[derive(Template)]
#[template(path = "second-factor.html")]
struct SecondFactorPage {
    frame: Frame,
    next: String,
    kept: String,
    error: String,
    proofs: Proofs,
}

#[derive(Template)]
#[template(path = "register.html")]
struct RegisterPage {
    frame: Frame,
    error: String,
    fields: Vec<Field>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Arrival {
    next: String,
    ended: String,
    out: String,
    late: String,
}

/// Returns the page on which a person signs in after it has sent a form without a session. The form is shown again
/// then.
pub(crate) async fn with_form(
    console: &Console,
    asks_address: bool,
    (next, kept): (String, &Form),
    cookie: Option<HeaderValue>,
) -> Result<Response, Problem> {
    let empty = first_step(console, asks_address, &Form::default(), &[]).await?;
    let (kept, notice) = (kept.encoded(), text::t("session-ended-form-kept"));
    Ok(with_cookie(cookie, page(StatusCode::UNAUTHORIZED, &SignInPage { next, kept, notice, ..empty })?))
}

/// Returns the form with the typed values.
async fn form_of(console: &Console, form: &Form, errors: &[FieldError]) -> Result<SignInPage, Problem> {
    let offers_email = console.iam.email_logins().are_offered().await?;
    let field = |field: Field| field.shown(form, errors);
    let tenant = Field::text("tenant", text::t("tenant")).optional().with_hint(text::t("tenant-hint"));
    Ok(SignInPage {
        frame: Frame::without_session(console),
        next: destination(console, form.get("next")),
        kept: form.get(KEPT).to_owned(),
        notice: "",
        error: String::new(),
        is_first_run: false,
        asks_address: false,
        providers: Vec::new(),
        email: form.get("email").to_owned(),
        loses_form: false,
        has_form: true,
        fields: vec![field(Field::email().first()), field(Field::password("current-password"))],
        tenant: field(tenant.completed_as("organization")),
        tenants: Vec::new(),
        has_passkeys: console.has_passkeys(),
        sends_mail: console.iam.sends_mail(),
        offers_email,
        passkey_error: String::new(),
    })
}

/// Returns the form with which sign-in begins: where people can sign in by a provider, that for the address.
async fn first_step(
    console: &Console,
    asks_address: bool,
    form: &Form,
    errors: &[FieldError],
) -> Result<SignInPage, Problem> {
    let shown = form_of(console, form, errors).await?;
    if !asks_address {
        return Ok(shown);
    }
    Ok(SignInPage { asks_address, fields: vec![Field::email().first().shown(form, errors)], ..shown })
}

async fn show(
    State(console): State<Console>,
    session: Option<Extension<SessionCookie>>,
    parts: Parts,
    Query(arrival): Query<Arrival>,
) -> Result<Response, Problem> {
    let next = destination(&console, &arrival.next);
    if session.is_some() {
        return Ok(Redirect::to(&next).into_response());
    }
    let is_empty = console.iam.is_empty().await.map_err(Error::from)?;
    let is_open = console.iam.settings().registration;
    let notice = match () {
        () if is_empty && !is_open => text::t("first-run-closed"),
        () if !arrival.out.is_empty() => text::t("signed-out"),
        () if !arrival.ended.is_empty() => text::t("session-ended"),
        () if arrival.late == provider::LATE => text::t("provider-late"),
        () if arrival.late == email_login::LATE => text::t("email-login-late"),
        () if !arrival.late.is_empty() => text::t("sign-in-late"),
        () => "",
    };
    let asks_address = console.provider_callback(&parts).is_some();
    let empty = first_step(&console, asks_address, &Form::default(), &[]).await?;
    page(StatusCode::OK, &SignInPage { next, notice, is_first_run: is_empty && is_open, ..empty })
}

async fn sign_in(
    State(console): State<Console>,
    Context(context): Context,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    if let Err(problem) = console.count_attempt(&context).await {
        let error = problem.to_string();
        return refused(problem, &SignInPage { error, ..form_of(&console, &form, &[]).await? });
    }
    let login = Login {
        email: form.get("email").to_owned(),
        password: form.get("password").into(),
        tenant: form.given("tenant"),
    };
    match console.iam.sessions().login(&context, login).await {
        Ok(logged_in) => begin(&console, &parts, logged_in, &form),
        Err(Error::SecondFactorRequired(pending)) => {
            to_second_step(&console, &parts, &form, (&pending.challenge, &pending.methods))
        }
        Err(Error::FederationRequired(providers)) if console.provider_callback(&parts).is_some() => {
            let error = text::t("password-refused").to_owned();
            let shown = provider::choice(&console, &form, providers, false).await?;
            page(StatusCode::FORBIDDEN, &SignInPage { error, ..shown })
        }
        Err(Error::Validation(errors)) => page(StatusCode::BAD_REQUEST, &form_of(&console, &form, &errors).await?),
        Err(Error::Conflict(Conflict::SeveralTenants(tenants))) => {
            let error = text::t("several-tenants").to_owned();
            page(StatusCode::CONFLICT, &SignInPage { tenants, error, ..form_of(&console, &form, &[]).await? })
        }
        Err(error) => {
            let text = match &error {
                Error::Unauthenticated(Unauthenticated::Credentials) => text::t("incorrect").to_owned(),
                error => error.to_string(),
            };
            let shown = form_of(&console, &form, &[]).await?;
            // The address is there already: the person types the password again.
            let is_first = |field: &Field| field.kind == "password";
            let fields = shown.fields.into_iter().map(|field| Field { is_first: is_first(&field), ..field }).collect();
            refused(error, &SignInPage { error: text, fields, ..shown })
        }
    }
}

/// Leads to the second step of a sign-in, which answers this challenge by one of these methods.
fn to_second_step(
    console: &Console,
    parts: &Parts,
    form: &Form,
    (challenge, methods): (&ChallengeToken, &[AuthenticationMethod]),
) -> Result<Response, Problem> {
    let names: Vec<&str> = methods.iter().map(|method| method.as_str()).collect();
    let texts = [challenge.expose(), &names.join(" ")];
    let cookie = TemporaryCookie::SecondFactor.keep("", &texts, console.settings.cookie(parts));
    if !form.get(KEPT).is_empty() {
        // A form that waits for the session is too long for an address or a cookie.
        let second_step = second_step(console, form, Proofs::of(methods), String::new());
        return Ok(with_cookie(cookie, page(StatusCode::OK, &second_step)?));
    }
    let next = destination(console, form.get("next"));
    let address = format!("{}/sign-in/second-factor?{}", console.base(), query(&[("next", &next)]));
    Ok(with_cookie(cookie, Redirect::to(&address)))
}

/// Returns the form of a person who has forgotten its password.
fn forgot_page(console: &Console, form: &Form, errors: &[FieldError]) -> FormPage {
    let tenant = Field::text("tenant", text::t("tenant")).optional().with_hint(text::t("tenant-hint"));
    FormPage {
        frame: Frame::without_session(console),
        title: text::t("new-password-by-mail"),
        notice: "",
        intro: text::t("forgot-what"),
        error: String::new(),
        fields: [Field::email(), tenant.completed_as("organization")].map(|field| field.shown(form, errors)).into(),
        button: text::t("send-link"),
        back: "/sign-in".to_owned(),
    }
}

async fn show_forgot(State(console): State<Console>) -> Result<Response, Problem> {
    page(StatusCode::OK, &forgot_page(&console, &Form::default(), &[]))
}

/// Sends a link for a new password. The answer is the same whether a user has the address or not.
async fn forgot(
    State(console): State<Console>,
    Context(context): Context,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    if let Err(problem) = console.count_attempt(&context).await {
        let error = problem.to_string();
        return refused(problem, &FormPage { error, ..forgot_page(&console, &form, &[]) });
    }
    let tenant = form.given("tenant");
    match console.iam.recovery().forgot(&context, form.get("email"), tenant.as_deref()).await {
        Ok(()) => {
            let shown = forgot_page(&console, &Form::default(), &[]);
            page(StatusCode::OK, &FormPage { notice: text::t("forgot-sent"), ..shown })
        }
        Err(error) => {
            refused_form(error, async |errors, error| Ok(FormPage { error, ..forgot_page(&console, &form, &errors) }))
                .await
        }
    }
}

/// A sign-in whose password is right, and which waits for a second factor.
struct Pending {
    challenge: ChallengeToken,
    proofs: Proofs,
}

impl Pending {
    fn read(console: &Console, parts: &Parts) -> Option<Self> {
        let texts = TemporaryCookie::SecondFactor.read(parts, console.settings.cookie(parts))?;
        let [challenge, methods] = texts.as_slice() else { return None };
        Some(Self { challenge: challenge.as_str().into(), proofs: Proofs::named(methods) })
    }
}

/// Leads back to the first step, because the second one came too late.
async fn too_late(console: &Console, parts: &Parts, form: &Form) -> Result<Response, Problem> {
    let cookie = TemporaryCookie::SecondFactor.forgotten(console.settings.cookie(parts));
    if !form.get(KEPT).is_empty() {
        let asks_address = console.provider_callback(parts).is_some();
        let empty = first_step(console, asks_address, form, &[]).await?;
        let again = SignInPage { notice: text::t("sign-in-late"), ..empty };
        return Ok(with_cookie(cookie, page(StatusCode::UNAUTHORIZED, &again)?));
    }
    let next = destination(console, form.get("next"));
    let address = format!("{}/sign-in?{}", console.base(), query(&[("late", "1"), ("next", &next)]));
    Ok(with_cookie(cookie, Redirect::to(&address)))
}

/// Returns the page of the second step, which leads where that of the first step does.
fn second_step(console: &Console, form: &Form, proofs: Proofs, error: String) -> SecondFactorPage {
    let (frame, next) = (Frame::without_session(console), destination(console, form.get("next")));
    SecondFactorPage { frame, next, kept: form.get(KEPT).to_owned(), error, proofs }
}

async fn show_second_factor(
    State(console): State<Console>,
    parts: Parts,
    Query(arrival): Query<Arrival>,
) -> Result<Response, Problem> {
    let Some(pending) = Pending::read(&console, &parts) else {
        return too_late(&console, &parts, &Form::with("next", arrival.next)).await;
    };
    page(StatusCode::OK, &second_step(&console, &Form::with("next", arrival.next), pending.proofs, String::new()))
}

async fn second_factor(
    State(console): State<Console>,
    Context(context): Context,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let Some(Pending { challenge, proofs }) = Pending::read(&console, &parts) else {
        return too_late(&console, &parts, &form).await;
    };
    let wrong = |proofs: Proofs, error| second_step(&console, &form, proofs.with(error), String::new());
    let (field, proof) = match typed_factor(&form) {
        Ok(typed) => typed,
        Err(error) => return page(StatusCode::BAD_REQUEST, &wrong(proofs, error)),
    };
    if let Err(problem) = console.count_attempt(&context).await {
        let text = problem.to_string();
        return refused(problem, &second_step(&console, &form, proofs, text));
    }
    match console.iam.sessions().login_with_factor(&context, &challenge, &proof).await {
        Ok(logged_in) => {
            let forgotten = TemporaryCookie::SecondFactor.forgotten(console.settings.cookie(&parts));
            Ok(with_cookie(forgotten, begin(&console, &parts, logged_in, &form)?))
        }
        Err(Error::Unauthenticated(Unauthenticated::Challenge)) => too_late(&console, &parts, &form).await,
        Err(error @ (Error::Unauthenticated(_) | Error::Validation(_))) => {
            let wrong_proof = ProofError::of(field, &error);
            refused(error, &wrong(proofs, wrong_proof))
        }
        Err(error) => {
            let text = error.to_string();
            refused(error, &second_step(&console, &form, proofs, text))
        }
    }
}

async fn second_factor_options(
    State(console): State<Console>,
    Context(context): Context,
    parts: Parts,
) -> Result<Response, Problem> {
    console.count_attempt(&context).await?;
    let pending = Pending::read(&console, &parts).ok_or_else(|| Error::from(Unauthenticated::Challenge))?;
    Ok(Json(console.iam.sessions().second_factor_options(&pending.challenge).await?).into_response())
}

async fn passkey_options(State(console): State<Console>, Context(context): Context) -> Result<Response, Problem> {
    console.count_attempt(&context).await?;
    Ok(Json(console.iam.sessions().passkey_options(None).await?).into_response())
}

/// Signs in by a passkey, which tells who the person is.
async fn passkey(
    State(console): State<Console>,
    Context(context): Context,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let asks_address = console.provider_callback(&parts).is_some();
    let empty = first_step(&console, asks_address, &form, &[]).await?;
    let with_error = |passkey_error| SignInPage { passkey_error, ..empty };
    if let Err(problem) = console.count_attempt(&context).await {
        let text = problem.to_string();
        return refused(problem, &with_error(text));
    }
    let credential = iam_json::from_slice(form.get(CREDENTIAL).as_bytes()).ok();
    let Some(response) = credential.and_then(|json| AuthenticationResponse::from_json(&json).ok()) else {
        return page(StatusCode::BAD_REQUEST, &with_error(text::t("passkey-unusable").to_owned()));
    };
    match console.iam.sessions().login_by_passkey(&context, &response).await {
        Ok(logged_in) => begin(&console, &parts, logged_in, &form),
        Err(error) => {
            let text = error.to_string();
            refused(error, &with_error(text))
        }
    }
}

/// The fields of a registration, with the typed values and their errors.
fn registration(console: &Console, form: &Form, errors: &[FieldError], error: String) -> RegisterPage {
    let (policy, second_factor) = (PasswordPolicy::default(), SecondFactorPolicy::default());
    let rule = text::password_hint(policy, policy.min_length(second_factor));
    let fields = [
        Field::text("tenantName", text::t("tenant-name"))
            .optional()
            .completed_as("organization")
            .with_hint(text::t("new-tenant-hint")),
        Field::text("firstName", text::t("first-name")).completed_as("given-name"),
        Field::text("lastName", text::t("last-name")).completed_as("family-name"),
        Field::email(),
        Field::password("new-password").with_hint(rule),
    ];
    let fields = fields.map(|field| field.shown(form, errors));
    RegisterPage { frame: Frame::without_session(console), error, fields: fields.into() }
}

async fn show_registration(State(console): State<Console>) -> Result<Response, Problem> {
    if !console.iam.is_empty().await.map_err(Error::from)? {
        return Ok(Redirect::to(&format!("{}/sign-in", console.base())).into_response());
    }
    page(StatusCode::OK, &registration(&console, &Form::default(), &[], String::new()))
}

async fn register(
    State(console): State<Console>,
    Context(context): Context,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    if let Err(problem) = console.count_attempt(&context).await {
        let text = problem.to_string();
        return refused(problem, &registration(&console, &form, &[], text));
    }
    if !console.iam.is_empty().await.map_err(Error::from)? {
        let asks_address = console.provider_callback(&parts).is_some();
        let empty = first_step(&console, asks_address, &form, &[]).await?;
        return page(StatusCode::CONFLICT, &SignInPage { notice: text::t("not-first"), ..empty });
    }
    let new = Registration { user: form.new_user(), tenant_name: form.given("tenantName") };
    match console.iam.tenants().register(&context, new).await {
        Ok(registered) => begin(&console, &parts, registered.login, &Form::default()),
        Err(Error::Validation(errors)) => {
            page(StatusCode::BAD_REQUEST, &registration(&console, &form, &errors, String::new()))
        }
        Err(error) => {
            let text = error.to_string();
            refused(error, &registration(&console, &form, &[], text))
        }
    }
}

/// Gives the browser the cookie of a new session, and leads the person where it wanted to go: to a page, or to a form that
/// it has sent without a session.
fn begin(console: &Console, parts: &Parts, login: LoggedIn, form: &Form) -> Result<Response, Problem> {
    let next = destination(console, form.get("next"));
    let session = SessionCookie::begin(login.tokens);
    let kept = Form::parse(form.get(KEPT).as_bytes());
    let shown = if kept.is_empty() {
        Redirect::to(&next).into_response()
    } else {
        let email = Some(login.user.email.as_str().to_owned());
        let enrol_by = login.enrol_by.filter(|until| console.iam.now() < *until);
        let session = FrameSession {
            email,
            tenant: None,
            form_token: session.form_token(),
            enrol_by,
            acting: None,
            grants: None,
            unseen_runs: 0,
        };
        let (density, theme, session) = (Density::of(console, parts), Theme::of(console, parts), Some(session));
        let frame = Frame { density, theme, session, ..Frame::without_session(console) };
        resume(StatusCode::OK, frame, (next, kept), text::t("send-again-why"))?
    };
    let cookies = session.headers(console.settings.cookie(parts));
    Ok(with_cookie(cookies, shown))
}

/// Ends the session, also one that can only be used to set up a second factor.
async fn sign_out(
    State(console): State<Console>,
    Context(context): Context,
    parts: Parts,
    session: Option<Extension<SessionCookie>>,
) -> Result<Response, Problem> {
    if let Some(Extension(session)) = session {
        match console.iam.verify(session.access.expose()).await {
            Ok(token) => {
                let caller = console.iam.authenticate_without_factor(&token, context).await;
                match caller {
                    Ok(caller) => console.iam.sessions().logout(&caller).await?,
                    // The session has ended already.
                    Err(Error::Unauthenticated(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(Error::Unauthenticated(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(forget(&console, &parts))
}

async fn sign_out_everywhere(
    State(console): State<Console>,
    signed_in: SignedIn,
    parts: Parts,
) -> Result<Response, Problem> {
    console.iam.sessions().logout_all(&signed_in.caller).await?;
    Ok(forget(&console, &parts))
}

/// Makes the browser forget the cookie.
fn forget(console: &Console, parts: &Parts) -> Response {
    let cookie = console.settings.cookie(parts).forgotten();
    with_cookie(cookie, Redirect::to(&format!("{}/sign-in?out=1", console.base())))
}
