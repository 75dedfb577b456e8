//! `/account`: the pages to which the links in messages lead (`docs/http-api.md#links-by-mail`), which work without
//! JavaScript, and the page for passkeys (`docs/http-api.md#registering-a-passkey`), which needs it.
//!
//! A page shows a form with the token of the link. Only sending the form uses the token, because mail programs and
//! virus scanners open links, too.

use std::future::{self, Ready};
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::map_response;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use iam_core::brand::Logo;
use iam_core::invitation::{Acceptance, InvitationDetails};
use iam_core::link::{LinkDetails, LinkToken};
use iam_core::tenant::PasswordPolicy;
use iam_core::{Error, FieldError, Iam};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context};
use serde::Deserialize;

use crate::extract::{Context, Form, Query};
use crate::problem::{Kind, Problem};
use crate::request_state::HumanPage;
use crate::settings::{ApiPart, Settings};
use crate::state::ApiState;

/// The paths of the pages, with the parts of the API that they use.
const VERIFY: &str = "/account/verify";
const RESET: &str = "/account/reset";
const INVITATION: &str = "/account/invitation";
const LOGIN: &str = "/account/login";

/// Only styles and pictures of this service, and forms that it receives itself.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; \
     frame-ancestors 'none'";

/// The same, and scripts of this service, which call the API.
#[cfg(feature = "passkeys")]
const POLICY_WITH_SCRIPT: &str = "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; \
     connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const TEMPLATES: &[(&str, &str)] = &[
    ("page.html", include_str!("page.html")),
    ("verify.html", include_str!("verify.html")),
    ("reset.html", include_str!("reset.html")),
    ("invitation.html", include_str!("invitation.html")),
    ("login.html", include_str!("login.html")),
    ("message.html", include_str!("message.html")),
    #[cfg(feature = "passkeys")]
    ("passkey.html", include_str!("passkey.html")),
];

/// Returns the pages of these parts.
pub(crate) fn routes(has: impl Fn(ApiPart) -> bool) -> Router<ApiState> {
    let style = ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("style.css"));
    let mut router = Router::new()
        .route("/account/style.css", get(async move || style))
        .route("/account/brand.css", get(brand_style))
        .route("/account/logo", get(logo));
    if has(ApiPart::Verification) {
        router = router.route(VERIFY, get(ask_to_verify).post(verify));
    }
    if has(ApiPart::Recovery) {
        router = router.route(RESET, get(ask_for_password).post(reset));
    }
    if has(ApiPart::Invitations) {
        router = router.route(INVITATION, get(ask_to_accept).post(accept));
    }
    if has(ApiPart::EmailLogin) {
        router = router.route(LOGIN, get(ask_to_log_in));
    }
    let router = router.layer(map_response(with_policy(POLICY)));
    #[cfg(feature = "passkeys")]
    let router = if has(ApiPart::Factors) { router.merge(passkey_page()) } else { router };
    router
}

/// The page on which a person logs in and adds passkeys. Browsers offer passkeys to scripts only.
#[cfg(feature = "passkeys")]
fn passkey_page() -> Router<ApiState> {
    let script = ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("passkey.js"));
    Router::new()
        .route("/account/passkey", get(ask_for_passkey))
        .route("/account/passkey.js", get(async move || script))
        .layer(map_response(with_policy(POLICY_WITH_SCRIPT)))
}

#[cfg(feature = "passkeys")]
async fn ask_for_passkey(State(settings): State<Arc<Settings>>) -> Result<Response, Problem> {
    page(&settings, StatusCode::OK, "passkey.html", context! { title => "Your account" })
}

/// Adds a Content Security Policy to responses.
fn with_policy(policy: &'static str) -> impl Fn(Response) -> Ready<Response> + Clone {
    move |mut response| {
        // The logo has a stricter one.
        response.headers_mut().entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(policy));
        future::ready(response)
    }
}

/// The colours of the brand.
async fn brand_style(State(settings): State<Arc<Settings>>) -> Result<Response, Problem> {
    let style = settings.brand.style().ok_or_else(|| Problem::new(Kind::NotFound))?;
    Ok(([(header::CONTENT_TYPE, "text/css; charset=utf-8")], style).into_response())
}

async fn logo(State(settings): State<Arc<Settings>>) -> Result<Response, Problem> {
    let logo = settings.brand.logo().ok_or_else(|| Problem::new(Kind::NotFound))?;
    let headers = [(header::CONTENT_TYPE, logo.content_type()), (header::CONTENT_SECURITY_POLICY, Logo::POLICY)];
    Ok((headers, logo.content().to_vec()).into_response())
}

/// The content of a link. Programs between the message and the browser may add parameters of their own to it.
#[derive(Deserialize)]
struct Link {
    #[serde(default)]
    token: String,
}

/// The content of a form.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct Sent {
    token: String,
    /// For the password manager of the browser. The account is that of the token.
    #[serde(rename = "email")]
    _email: String,
    new_password: String,
    password: String,
    first_name: String,
    last_name: String,
}

async fn ask_to_verify(
    State(iam): State<Iam>,
    State(settings): State<Arc<Settings>>,
    Query(sent): Query<Link>,
) -> Result<Response, Problem> {
    match iam.verification().look_up(&LinkToken::from(&*sent.token)).await {
        Ok(link) => form(&settings, "verify.html", "Confirm your e-mail address", &link, (&sent.token, None)),
        Err(error) => refused(&settings, error),
    }
}

async fn verify(
    State(iam): State<Iam>,
    State(settings): State<Arc<Settings>>,
    Context(context): Context,
    Form(sent): Form<Sent>,
) -> Result<Response, Problem> {
    match iam.verification().verify(&context, &sent.token.into()).await {
        Ok(()) => message(
            &settings,
            StatusCode::OK,
            "Thank you",
            "Your e-mail address is confirmed. You can close this page.",
        ),
        Err(error) => refused(&settings, error),
    }
}

async fn ask_for_password(
    State(iam): State<Iam>,
    State(settings): State<Arc<Settings>>,
    Query(sent): Query<Link>,
) -> Result<Response, Problem> {
    match iam.recovery().look_up(&LinkToken::from(&*sent.token)).await {
        Ok(link) => form(&settings, "reset.html", NEW_PASSWORD, &link, (&sent.token, None)),
        Err(error) => refused(&settings, error),
    }
}

async fn reset(
    State(iam): State<Iam>,
    State(settings): State<Arc<Settings>>,
    Context(context): Context,
    Form(sent): Form<Sent>,
) -> Result<Response, Problem> {
    let token = LinkToken::from(sent.token);
    // A password that is refused must not end on a page without the form.
    let link = match iam.recovery().look_up(&token).await {
        Ok(link) => link,
        Err(error) => return refused(&settings, error),
    };
    match iam.recovery().reset(&context, &token, sent.new_password.into()).await {
        Ok(()) => ready(&settings, "Your password is saved", "Log in with it."),
        Err(Error::Validation(errors)) => match error_of(&errors, "newPassword") {
            Some(error) => form(&settings, "reset.html", NEW_PASSWORD, &link, (token.expose(), Some(error))),
            None => refused(&settings, Error::Validation(errors)),
        },
        Err(error) => refused(&settings, error),
    }
}

const NEW_PASSWORD: &str = "Choose a new password";

async fn ask_to_accept(
    State(iam): State<Iam>,
    State(settings): State<Arc<Settings>>,
    Query(link): Query<Link>,
) -> Result<Response, Problem> {
    let invitation = match iam.invitations().look_up(&LinkToken::from(&*link.token)).await {
        Ok(invitation) => invitation,
        Err(error) => return refused(&settings, error),
    };
    let sent = Sent {
        first_name: invitation.first_name.as_ref().map_or_else(String::new, ToString::to_string),
        last_name: invitation.last_name.as_ref().map_or_else(String::new, ToString::to_string),
        token: link.token,
        ..Sent::default()
    };
    invitation_form(&settings, &invitation, &sent, &[])
}

async fn accept(
    State(iam): State<Iam>,
    State(settings): State<Arc<Settings>>,
    Context(context): Context,
    Form(sent): Form<Sent>,
) -> Result<Response, Problem> {
    let token = LinkToken::from(&*sent.token);
    let invitation = match iam.invitations().look_up(&token).await {
        Ok(invitation) => invitation,
        Err(error) => return refused(&settings, error),
    };
    let acceptance = Acceptance {
        token,
        password: sent.password.as_str().into(),
        first_name: sent.first_name.clone(),
        last_name: sent.last_name.clone(),
    };
    match iam.invitations().accept(&context, acceptance).await {
        Ok(_) => ready(&settings, "Welcome", "Your account is ready. Log in with your password."),
        Err(Error::Validation(errors)) if error_of(&errors, "token").is_none() => {
            invitation_form(&settings, &invitation, &sent, &errors)
        }
        Err(error) => refused(&settings, error),
    }
}

/// Shows who logs in. The form goes to a page that can begin a session in the browser.
async fn ask_to_log_in(
    State(iam): State<Iam>,
    State(settings): State<Arc<Settings>>,
    Query(sent): Query<Link>,
) -> Result<Response, Problem> {
    let link = match iam.email_logins().look_up(&LinkToken::from(&*sent.token)).await {
        Ok(link) => link,
        Err(error) => return refused(&settings, error),
    };
    let values = context! {
        title => "Log in",
        email => link.email.as_str(),
        tenant => link.tenant.as_str(),
        token => sent.token,
        action => settings.login_by_link.as_deref().unwrap_or_default(),
    };
    page(&settings, StatusCode::OK, "login.html", values)
}

/// Returns the rules for a password, for the person who chooses one.
fn rule(policy: PasswordPolicy, min_length: usize) -> String {
    let length = format!("{min_length} to {} characters", PasswordPolicy::MAX_LENGTH);
    match policy {
        PasswordPolicy::Seed => {
            format!("{length}, with an upper-case and a lower-case letter, a digit and one of ! @ # $ % ^ & *")
        }
        PasswordPolicy::Nist => format!("{length} of any kind, such as several words"),
        PasswordPolicy::Asvs => format!("{length} of any kind; 15 or more are better"),
    }
}

/// Returns the error of a field.
fn error_of<'a>(errors: &'a [FieldError], field: &str) -> Option<&'a str> {
    errors.iter().find(|error| error.field == field).map(|error| &*error.message)
}

/// Returns the page of an invitation, with the values that were sent and their errors.
fn invitation_form(
    settings: &Settings,
    invitation: &InvitationDetails,
    sent: &Sent,
    errors: &[FieldError],
) -> Result<Response, Problem> {
    let error = |field: &str| error_of(errors, field).unwrap_or_default();
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let field = |id: &str, name: &str, label: &str, autocomplete: &str, value: &str| {
        context! { id, name, label, autocomplete, value, error => error(name) }
    };
    let names = vec![
        field("first-name", "firstName", "First name", "given-name", &sent.first_name),
        field("last-name", "lastName", "Last name", "family-name", &sent.last_name),
    ];
    let values = context! {
        title => "Accept the invitation",
        email => invitation.email.as_str(),
        tenant => invitation.tenant.as_str(),
        token => sent.token.as_str(),
        names,
        min_length => invitation.min_password_length,
        rule => rule(invitation.password_policy, invitation.min_password_length),
        error => error("password"),
    };
    page(settings, status, "invitation.html", values)
}

/// Returns the page of a form. With an error, the form was sent and refused.
fn form(
    settings: &Settings,
    template: &str,
    title: &str,
    link: &LinkDetails,
    (token, error): (&str, Option<&str>),
) -> Result<Response, Problem> {
    let status = if error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let values = context! {
        title,
        email => link.email.as_str(),
        tenant => link.tenant.as_str(),
        token,
        min_length => link.min_password_length,
        rule => rule(link.password_policy, link.min_password_length),
        error => error.unwrap_or_default(),
    };
    page(settings, status, template, values)
}

/// Returns a page with a message.
fn message(settings: &Settings, status: StatusCode, title: &str, message: &str) -> Result<Response, Problem> {
    page(settings, status, "message.html", context! { title, message, login_page => "" })
}

/// Returns the page of a person who can log in now.
fn ready(settings: &Settings, title: &str, message: &str) -> Result<Response, Problem> {
    let login_page = settings.login_page.as_deref().unwrap_or_default();
    page(settings, StatusCode::OK, "message.html", context! { title, message, login_page })
}

/// Returns the page for a link that cannot be used, or the problem if something else went wrong.
fn refused(settings: &Settings, error: Error) -> Result<Response, Problem> {
    match error {
        Error::Validation(_) => message(
            settings,
            StatusCode::BAD_REQUEST,
            "This link does not work",
            "It was used, was replaced by a newer one, or has expired. Ask for a new message.",
        ),
        Error::Conflict(_) | Error::About { .. } => {
            message(settings, StatusCode::CONFLICT, "This is not possible", &error.to_string())
        }
        error => Err(error.into()),
    }
}

fn page(settings: &Settings, status: StatusCode, template: &str, values: Value) -> Result<Response, Problem> {
    static PAGES: LazyLock<Result<Environment<'static>, minijinja::Error>> = LazyLock::new(environment);
    let brand = context! {
        name => settings.brand.name().unwrap_or_default(),
        has_logo => settings.brand.logo().is_some(),
        has_style => settings.brand.accent().is_some(),
    };
    let values = context! { brand, ..values };
    let html = match &*PAGES {
        Ok(pages) => pages.get_template(template).and_then(|template| template.render(values)),
        Err(error) => {
            tracing::error!(%error, "the templates of the pages are invalid");
            return Err(Problem::new(Kind::Internal));
        }
    };
    let html = html.map_err(|error| {
        tracing::error!(%error, template, "a page cannot be shown");
        Problem::new(Kind::Internal)
    })?;
    Ok(HumanPage((status, Html(html))).into_response())
}

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}
