//! A host application whose people sign in with the account of their company.
//!
//! `cargo run -p iam-examples --example sign-in-with` serves it. Then open
//! <http://localhost:3000/sign-in?email=grace@example.com>.

mod company;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use iam_axum::{Context, HumanPage, Kind, Problem, Query, with_conventions};
use iam_core::federation::{Finished, StartFederation, code_challenge};
use iam_core::identity_provider::{NewIdentityProvider, Provisioning};
use iam_core::random::{Random as _, SystemRandom};
use iam_core::tenant::Registration;
use iam_core::user::NewUser;
use iam_core::{Caller, Iam, RequestContext, Settings, TenantId};
use iam_store_memory::MemoryStore;
use serde::Deserialize;
use tokio::net::TcpListener;
use url::Url;

use company::Company;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Where the browser finds this application.
const HERE: &str = "http://localhost:3000";

/// The cookie with the secret of a sign-in that has begun.
const COOKIE: &str = "sign_in";

#[tokio::main]
async fn main() -> Result<()> {
    tracing_subscriber::fmt().init();
    let company = Arc::new(Company::new()?);
    let (iam, _) = open(company.clone()).await?;
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    tracing::info!("open {HERE}/sign-in?email=grace@example.com");
    // With the addresses of the clients, which IAM's rate limits need.
    axum::serve(listener, app(iam, company).into_make_service_with_connect_info::<SocketAddr>()).await?;
    Ok(())
}

/// Opens IAM with a tenant whose people sign in with the account of their company.
async fn open(company: Arc<Company>) -> Result<(Iam, TenantId)> {
    let mut settings = Settings::default();
    settings.federation_redirects = vec![format!("{HERE}/signed-in")];
    let callbacks: Url = format!("{HERE}/api/v1/auth/federation/callback/").parse()?;
    let builder = Iam::builder(Arc::new(MemoryStore::new())).settings(settings);
    let iam = builder.federation(company, callbacks).build().await?;

    let user = NewUser {
        email: "ada@example.com".to_owned(),
        password: "Passw0rd!".into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    };
    let registration = Registration { user, tenant_name: Some("Analytical Engines".to_owned()) };
    let tenant = iam.tenants().register(&RequestContext::default(), registration).await?.tenant.id;
    let system = Caller::system(tenant, "set-up");
    let domain = iam.domains().create(&system, "example.com").await?;
    // Trusted code may say that the domain belongs to the tenant. An administrator proves it by a record of the DNS.
    iam.domains().trust(&system, domain.id).await?;
    let provider = NewIdentityProvider {
        name: "Analytical Engines".to_owned(),
        issuer: company::ISSUER.to_owned(),
        client_id: "application".to_owned(),
        client_secret: Some("a secret that the company has given out".into()),
        domains: vec![domain.id],
        provisioning: Provisioning::Create,
        ..NewIdentityProvider::default()
    };
    iam.identity_providers().create(&system, provider).await?;
    Ok((iam, tenant))
}

fn app(iam: Iam, company: Arc<Company>) -> Router {
    let settings = iam_axum::Settings::default();
    let app = Router::new()
        .route("/sign-in", get(sign_in))
        .route("/signed-in", get(signed_in))
        .with_state(iam.clone())
        .nest("/company", company::router(company))
        .nest("/api/v1", iam_axum::router(iam, settings.clone()));
    with_conventions(app, settings)
}

#[derive(Deserialize)]
struct SignIn {
    #[serde(default)]
    email: String,
}

/// Sends the browser to the provider that speaks for the domain of the address.
async fn sign_in(
    State(iam): State<Iam>,
    Context(context): Context,
    Query(SignIn { email }): Query<SignIn>,
) -> std::result::Result<Response, Problem> {
    let discovered = iam.federation().discover(&email).await?;
    // If there are several, a real application lets the person choose.
    let Some(provider) = discovered.providers.into_iter().next() else {
        return Ok(page(StatusCode::NOT_FOUND, "No company is known for this address. Sign in by password."));
    };
    let verifier = secret();
    let start = StartFederation {
        provider: provider.id,
        redirect_uri: format!("{HERE}/signed-in"),
        code_challenge: code_challenge(&verifier),
        login_hint: Some(email),
    };
    let started = iam.federation().start(&context, start).await?;
    let cookie = cookie(&verifier, started.expires_in.as_secs());
    Ok(([cookie], Redirect::to(started.authorization_url.as_str())).into_response())
}

#[derive(Deserialize)]
struct Returned {
    code: Option<String>,
    error: Option<String>,
}

/// Where the browser comes back at the end, with a code or an error.
async fn signed_in(
    State(iam): State<Iam>,
    Context(context): Context,
    Query(returned): Query<Returned>,
    headers: HeaderMap,
) -> std::result::Result<Response, Problem> {
    if let Some(error) = returned.error {
        return Ok(page(StatusCode::FORBIDDEN, explanation(&error)));
    }
    // Without the secret, the code may be of a sign-in that another person has begun.
    let (Some(code), Some(verifier)) = (returned.code, verifier_in(&headers)) else {
        return Ok(page(StatusCode::BAD_REQUEST, "This browser has begun no sign-in. Begin again."));
    };
    let code = code.into();
    let Finished::LoggedIn(logged_in) = iam.federation().finish(&context, None, &code, verifier).await? else {
        return Err(Problem::new(Kind::Internal));
    };
    // A real application keeps `logged_in.tokens` on its side, and sets the cookie of its own session here.
    let user = &logged_in.user;
    let (first_name, last_name) = (user.first_name.as_str(), user.last_name.as_str());
    let text = format!("{first_name} {last_name} ({}) has signed in.", user.email);
    Ok(([cookie("", 0)], page(StatusCode::OK, text)).into_response())
}

/// Explains an error. The text of the request is not repeated: everyone can write such an address.
fn explanation(error: &str) -> &'static str {
    match error {
        "access_denied" => "You have not agreed at your company. Begin again if you want to sign in.",
        "not_linked" => "You have no account here. Ask your administrator.",
        "unavailable" => "Your company does not answer. Try again later.",
        _ => "The sign-in has failed. Begin again, and tell your administrator if it fails again.",
    }
}

/// A page in plain text, which needs no escapes.
fn page(status: StatusCode, text: impl Into<String>) -> Response {
    let text: String = text.into();
    HumanPage((status, text)).into_response()
}

/// The cookie comes along when the browser comes back from the provider, so it cannot be `Strict`. Over HTTPS, add
/// `Secure`.
fn cookie(value: &str, max_age: u64) -> (HeaderName, String) {
    let text = format!("{COOKIE}={value}; Path=/signed-in; Max-Age={max_age}; HttpOnly; SameSite=Lax");
    (header::SET_COOKIE, text)
}

fn verifier_in(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|field| field.to_str().ok());
    let mut pairs = cookies.flat_map(|field| field.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find_map(|(name, value)| (name == COOKIE && !value.is_empty()).then_some(value))
}

/// Returns a text that cannot be guessed, of 64 characters.
fn secret() -> String {
    let mut bytes = [0; 32];
    SystemRandom.fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
