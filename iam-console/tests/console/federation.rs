//! Sign-in by an identity provider, and accounts that are linked (`docs/federation.md#in-the-console`).

#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use chrono::TimeDelta;
use iam_core::assignment::NewAssignment;
use iam_core::identity_provider::{IdentityProviderPatch, NewIdentityProvider};
use iam_core::tenant::{PasswordLogin, TenantPatch};
use iam_core::{Caller, IdentityProviderId, RequestContext, UserId};
use serde_json::json;
use test_support::identity_provider::{ISSUER, Providers, query_of};
use totp_rs::Totp;

use crate::app::{Answer, App, EMAIL, PASSWORD, encoded, person, request};

const ORIGIN: &str = "http://iam.example.com";
const CALLBACK: &str = "http://iam.example.com/console/sign-in/provider";
const START: &str = "/console/sign-in/provider";
const ACCOUNT: &str = "/console/account";
const STEP_UP: &str = "/console/step-up/provider";
const END_SESSION: &str = "/console/account/end-session";
const GRACE: &str = "grace@example.com";
/// The account of Ada at the provider.
const ADA_THERE: (&str, &str) = ("ada", "ada@social.example");

/// A tenant whose domain example.com has a provider, with its administrator Ada, and with Grace, who holds no role.
struct World {
    app: App,
    providers: Providers,
    ada: Caller,
    grace: UserId,
    provider: IdentityProviderId,
}

impl World {
    async fn new() -> Self {
        Self::with_redirects(&[CALLBACK]).await
    }

    async fn with_redirects(redirects: &[&str]) -> Self {
        let providers = Providers::default();
        let app = App::with_providers(&providers, redirects).await;
        let ada = app.register(EMAIL).await;
        let system = Caller::system(ada.tenant(), "test");
        let domain = app.iam.domains().create(&system, "example.com").await.unwrap();
        app.iam.domains().trust(&system, domain.id).await.unwrap();
        let (name, issuer, client_id) = ("<b>Acme</b>".to_owned(), ISSUER.to_owned(), "iam".to_owned());
        let new = NewIdentityProvider { name, issuer, client_id, domains: vec![domain.id], ..Default::default() };
        let provider = app.iam.identity_providers().create(&system, new).await.unwrap().id;
        let grace = app.iam.users().create(&ada, person(GRACE, "Grace")).await.unwrap().id;
        app.iam.users().verify_email(&system, GRACE).await.unwrap();
        Self { app, providers, ada, grace, provider }
    }

    /// Allows no passwords for the addresses of the provider.
    async fn without_passwords(&self) {
        let patch = TenantPatch { password_login: Some(PasswordLogin::Federated), ..TenantPatch::default() };
        let system = Caller::system(self.ada.tenant(), "test");
        self.app.iam.tenants().update(&system, self.ada.tenant(), patch).await.unwrap();
    }

    async fn find(&self, email: &str) -> Answer {
        self.app.post("/console/sign-in/address", "", &[("email", email), ("next", ACCOUNT)]).await
    }

    /// Begins to sign in. Returns the page that leads to the provider.
    async fn start(&self, more: &[(&str, &str)]) -> Answer {
        let provider = self.provider.to_string();
        let fields = [("provider", &*provider), ("email", GRACE), ("next", ACCOUNT)];
        let fields = [fields.as_slice(), more].concat();
        let answer = self.app.post(START, "", &fields).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        answer
    }

    /// Comes back from the provider with this query. Returns where the browser goes.
    async fn come_back(&self, query: &str) -> String {
        let context = RequestContext::default();
        let outcome = self.app.iam.federation().callback(&context, self.provider, query).await.unwrap();
        outcome.location.strip_prefix(ORIGIN).unwrap().to_owned()
    }

    /// Logs in at the provider to which a page leads. Returns where the browser goes.
    async fn log_in(&self, page: &Answer, person: (&str, &str)) -> String {
        let query = self.log_in_there(page, person);
        self.come_back(&query).await
    }

    /// Logs in at the provider to which a page leads, with a subject and an address. Returns the query with which the
    /// browser comes back.
    fn log_in_there(&self, page: &Answer, (subject, email): (&str, &str)) -> String {
        let claims = json!({ "sub": subject, "email": email });
        self.providers.log_in(&address_in(page), self.app.iam.now(), &claims)
    }

    /// Links an account at the provider to Ada.
    async fn link(&self, cookie: &str) {
        let provider = self.provider.to_string();
        let path = "/console/account/identities/start";
        let page = self.app.post_signed(path, cookie, &[("provider", &provider)]).await;
        let back = self.log_in(&page, ("ada", "ada@social.example")).await;
        let answer = self.app.get(&back, &page.cookies(cookie)).await;
        assert_eq!(answer.location(), "/console/account?done=linked", "{}", answer.body);
    }

    /// Signs Ada in by the provider. Eleven minutes later, returns the cookie, and another session of her.
    async fn late_at_provider(&self) -> (String, String) {
        self.link(&self.app.sign_in(EMAIL).await).await;
        let page = self.start(&[]).await;
        let (pending, back) = (page.cookies(""), self.log_in(&page, ADA_THERE).await);
        let cookie = self.app.get(&back, &pending).await.cookies(&pending);
        self.app.clock.advance(TimeDelta::minutes(11));
        let (_, other) = self.ada.require_user().unwrap();
        (cookie, other.to_string())
    }

    /// Begins to confirm at the provider that it is the same person. Returns the page that leads to the provider.
    async fn confirm(&self, asked: &Answer, cookie: &str) -> Answer {
        let (provider, next) = (self.provider.to_string(), asked.hidden("next"));
        let kept = if asked.body.contains(r#"name="kept""#) { asked.hidden("kept") } else { String::new() };
        let kept = kept.replace("&#38;", "&");
        let fields = [("provider", &*provider), ("next", &*next), ("kept", &*kept)];
        let page = self.app.post_signed(STEP_UP, cookie, &fields).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        page
    }

    /// Returns the number of sessions of Ada.
    async fn sessions(&self) -> usize {
        let (user, _) = self.ada.require_user().unwrap();
        self.app.iam.sessions().list(&self.ada, user).await.unwrap().len()
    }
}

/// Returns the address to which a page leads at once.
fn address_in(page: &Answer) -> String {
    let (_, rest) = page.body.split_once(r#"content="0; url="#).unwrap_or_else(|| panic!("{}", page.body));
    rest.split('"').next().unwrap().replace("&#38;", "&")
}

#[tokio::test]
async fn the_address_comes_first_and_leads_to_its_provider() {
    let world = World::new().await;
    let page = world.app.get("/console/sign-in?next=%2Fconsole%2Faccount", "").await;
    assert!(page.body.contains(r#"action="/console/sign-in/address""#), "{}", page.body);
    assert!(page.body.contains("data-passkey") && !page.body.contains(r#"type="password""#), "{}", page.body);
    assert_eq!((page.hidden("next").as_str(), page.body.matches(" autofocus").count()), (ACCOUNT, 1));

    let found = world.find(GRACE).await;
    assert_eq!(found.status, StatusCode::OK);
    assert_eq!(found.hidden("provider"), world.provider.to_string());
    assert_eq!((found.hidden("email").as_str(), found.hidden("next").as_str()), (GRACE, ACCOUNT));
    assert!(found.body.contains("Sign in with &#60;b&#62;Acme") && !found.body.contains("<b>Acme"), "{}", found.body);
    assert!(found.body.contains(r#"type="password""#), "{}", found.body);

    let other = world.find("x@elsewhere.example").await;
    assert!(!other.body.contains(START) && other.body.contains(r#"value="x@elsewhere.example""#), "{}", other.body);
    let (before, _) = other.body.split_once(" autofocus").unwrap();
    assert!(before.rsplit('<').next().unwrap().starts_with(r#"input id="password""#), "{}", other.body);
    let wrong = world.find("grace").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.body.contains("email-error") && !wrong.body.contains(r#"type="password""#), "{}", wrong.body);
}

#[tokio::test]
async fn without_passwords_only_the_provider_is_offered_and_an_administrator_can_still_type_one() {
    let world = World::new().await;
    world.without_passwords().await;
    let found = world.find(EMAIL).await;
    assert!(found.body.contains(START) && !found.body.contains(r#"type="password""#), "{}", found.body);
    let typed = world.app.post("/console/sign-in/password", "", &[("email", EMAIL), ("next", ACCOUNT)]).await;
    assert!(typed.body.contains(r#"type="password""#) && typed.body.contains(EMAIL), "{}", typed.body);
    world.app.sign_in(EMAIL).await;

    let refused = world.app.post("/console/sign-in", "", &[("email", GRACE), ("password", PASSWORD)]).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert_eq!(refused.hidden("provider"), world.provider.to_string());
    assert!(refused.body.contains("does not allow passwords"), "{}", refused.body);
    assert!(!refused.body.contains(r#"type="password""#), "{}", refused.body);
}

#[tokio::test]
async fn a_page_leads_to_the_provider_with_the_address_of_the_person() {
    let world = World::new().await;
    let page = world.start(&[]).await;
    let address = address_in(&page);
    assert!(address.starts_with("https://login.example.com/authorize?"), "{address}");
    assert_eq!(query_of(&address)["login_hint"], GRACE);
    let line = page.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(line.starts_with("__Host-iam-console-provider=~"), "{line}");
    assert!(line.ends_with("; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=660"), "{line}");
    let verifier = page.cookie().split('~').nth(2).unwrap().to_owned();
    assert!(!page.body.contains(&verifier), "{}", page.body);
}

#[tokio::test]
async fn a_person_signs_in_by_the_provider_and_goes_where_it_wanted() {
    let world = World::new().await;
    let page = world.start(&[]).await;
    let (pending, back) = (page.cookies(""), world.log_in(&page, ("grace", GRACE)).await);
    // The site of the provider leads here, so the browser sends no cookie yet.
    let sent = request(Method::GET, &back, "").header("sec-fetch-site", "cross-site");
    let again = world.app.send(sent.body(Body::empty()).unwrap()).await;
    assert_eq!((again.status, address_in(&again)), (StatusCode::OK, back.clone()));
    assert!(!again.headers.contains_key(header::SET_COOKIE));

    let answer = world.app.get(&back, &pending).await;
    assert_eq!(answer.location(), ACCOUNT, "{}", answer.body);
    let cookies = answer.cookies(&pending);
    assert!(!cookies.contains("iam-console-provider"), "{cookies}");
    let account = world.app.get(ACCOUNT, &cookies).await;
    assert!(account.body.contains(GRACE) && account.body.contains("Linked accounts"), "{}", account.body);
    // The code works once.
    let answer = world.app.get(&back, &pending).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("took too long"), "{}", answer.body);
}

#[tokio::test]
async fn a_form_that_waits_for_a_session_waits_at_the_provider_too() {
    let world = World::new().await;
    let page = world.start(&[("kept", "firstName=Grace&lastName=Hopper")]).await;
    let back = world.log_in(&page, ("grace", GRACE)).await;
    let resumed = world.app.get(&back, &page.cookies("")).await;
    assert!(resumed.body.contains("<dt>lastName</dt><dd>Hopper</dd>"), "{}", resumed.body);

    let long = format!("firstName={}", "x".repeat(2_000));
    let found = world.app.post("/console/sign-in/address", "", &[("email", GRACE), ("kept", &long)]).await;
    assert!(found.body.contains("too long to be kept"), "{}", found.body);
    let page = world.start(&[("kept", &long)]).await;
    assert!(page.headers[header::SET_COOKIE].len() < 4_000);
    let back = world.log_in(&page, ("grace", GRACE)).await;
    assert_eq!(world.app.get(&back, &page.cookies("")).await.location(), "/console");
}

#[tokio::test]
async fn the_second_factor_is_asked_for_after_the_provider() {
    let world = World::new().await;
    let World { app, ada, .. } = &world;
    world.link(&app.sign_in(EMAIL).await).await;
    let setup = app.iam.factors().add_totp(ada, None).await.unwrap();
    let totp = Totp::from_url(setup.uri.expose()).unwrap();
    let code = |app: &App| totp.generate(u64::try_from(app.iam.now().timestamp()).unwrap()).to_string();
    app.iam.factors().confirm_totp(ada, setup.id, &code(app).into()).await.unwrap();
    app.clock.advance(TimeDelta::minutes(1));

    let page = world.start(&[]).await;
    let back = world.log_in(&page, ("ada", "ada@social.example")).await;
    let answer = app.get(&back, &page.cookies("")).await;
    assert_eq!(answer.location(), "/console/sign-in/second-factor?next=%2Fconsole%2Faccount", "{}", answer.body);
    let pending = answer.cookies("");
    let typed = code(app);
    let fields = [("next", ACCOUNT), ("proof-code", &*typed)];
    let answer = app.post("/console/sign-in/second-factor", &pending, &fields).await;
    assert_eq!(answer.location(), ACCOUNT, "{}", answer.body);
}

#[tokio::test]
async fn each_error_of_the_provider_says_what_to_do() {
    let world = World::new().await;
    for (error, status, text) in [
        ("access_denied", StatusCode::UNAUTHORIZED, "The provider did not sign you in"),
        ("login_failed", StatusCode::UNAUTHORIZED, "is not accepted"),
        ("not_linked", StatusCode::UNAUTHORIZED, "No user is linked"),
        ("unavailable", StatusCode::SERVICE_UNAVAILABLE, "does not answer"),
        ("<i>invented</i>", StatusCode::UNAUTHORIZED, "is not accepted"),
    ] {
        let pending = world.start(&[]).await.cookies("");
        let path = format!("{START}?{}", encoded(&[("error", error)]));
        let answer = world.app.get(&path, &pending).await;
        assert_eq!(answer.status, status, "{error}");
        assert!(answer.body.contains(text) && !answer.body.contains("invented"), "{error}: {}", answer.body);
        // The person can begin again.
        assert_eq!(answer.hidden("next"), ACCOUNT, "{error}");
        assert_eq!(answer.cookies(&pending), "", "{error}");
    }
    let page = world.start(&[]).await;
    let state = query_of(&address_in(&page))["state"].clone();
    let back = world.come_back(&format!("error=access_denied&state={state}")).await;
    assert_eq!(back, format!("{START}?error=access_denied"));
    let page = world.start(&[]).await;
    assert_eq!(world.log_in(&page, ("bob", "bob@example.com")).await, format!("{START}?error=not_linked"));
    let page = world.start(&[]).await;
    let query = world.log_in_there(&page, ("grace", GRACE));
    world.providers.go_down();
    assert_eq!(world.come_back(&query).await, format!("{START}?error=unavailable"));
}

#[tokio::test]
async fn without_the_cookie_of_the_browser_that_began_nothing_begins() {
    let world = World::new().await;
    let (page, other) = (world.start(&[]).await, world.start(&[]).await);
    let back = world.log_in(&page, ("grace", GRACE)).await;
    for cookie in ["", "__Host-iam-console-provider=~x", "__Host-iam-console-provider=~eA~eA~eA~eA"] {
        let answer = world.app.get(&back, cookie).await;
        assert_eq!(answer.location(), "/console/sign-in?late=provider", "{cookie}");
        assert!(!answer.headers.contains_key(header::SET_COOKIE), "{cookie}");
    }
    assert!(world.app.get("/console/sign-in?late=provider", "").await.body.contains("The sign-in took too long"));
    // A code of another browser does not sign in.
    let answer = world.app.get(&back, &other.cookies("")).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(!answer.cookies("").contains("iam-console="), "{answer:?}");
    let answer = world.app.get(&format!("{START}?code=x&more=1"), "").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn an_account_is_linked_and_removed_on_my_account() {
    let world = World::new().await;
    let app = &world.app;
    let cookie = app.sign_in(EMAIL).await;
    let account = app.get(ACCOUNT, &cookie).await.body;
    assert!(account.contains("Link &#60;b&#62;Acme") && account.contains("No account is linked"), "{account}");
    world.link(&cookie).await;
    let account = app.get("/console/account?done=linked", &cookie).await.body;
    assert!(account.contains("The account is linked") && account.contains("ada@social.example"), "{account}");
    assert!(!account.contains("/identities/start"), "{account}");
    let page = world.start(&[]).await;
    let back = world.log_in(&page, ("ada", "ada@social.example")).await;
    assert_eq!(app.get(&back, &page.cookies("")).await.location(), ACCOUNT);

    let (_, rest) = account.split_once(r#"action="/console/account/identities/"#).unwrap();
    let path = format!("/console/account/identities/{}/remove", rest.split('/').next().unwrap());
    // Another person finds nothing there.
    let grace = app.sign_in(GRACE).await;
    assert_eq!(app.post_signed(&path, &grace, &[]).await.status, StatusCode::FORBIDDEN);
    app.clock.advance(TimeDelta::minutes(11));
    let asked = app.post_signed(&path, &cookie, &[]).await;
    assert_eq!(asked.status, StatusCode::FORBIDDEN);
    assert!(asked.body.contains("proof-password"), "{}", asked.body);
    let answer = app.post_signed(&path, &cookie, &[("proof-password", PASSWORD)]).await;
    assert_eq!(answer.location(), "/console/account?done=unlinked", "{}", answer.body);
    assert!(app.get(ACCOUNT, &cookie).await.body.contains("No account is linked"));
}

#[tokio::test]
async fn the_overview_shows_the_administrators_whom_a_provider_can_sign_in() {
    let world = World::new().await;
    let World { app, ada, grace, provider, .. } = &world;
    let cookie = app.sign_in(EMAIL).await;
    let overview = async || app.get("/console", &cookie).await.body;
    let page = world.start(&[]).await;
    let back = world.log_in(&page, ("grace", GRACE)).await;
    assert_eq!(app.get(&back, &page.cookies("")).await.location(), ACCOUNT);
    assert!(!overview().await.contains(r#"id="hand-linked""#));

    // The link stays although its user holds all permissions now.
    let role = app.iam.roles().by_name(ada, "TENANT_ADMIN").await.unwrap().unwrap().id;
    let new = NewAssignment { user: *grace, role, organization: None, expires_at: None };
    app.iam.assignments().create(ada, new).await.unwrap();
    let body = overview().await;
    assert!(body.contains("1 administrator has a linked account"), "{body}");
    let line = format!(r#"<li><span><a href="/console/users/{grace}">{GRACE}</a> · &#60;b&#62;Acme"#);
    assert!(body.contains(&line) && !body.contains("<b>Acme"), "{body}");
    assert!(!body.contains(&format!("{EMAIL}</a> ·")) && !body.contains("Only 100 holders"), "{body}");

    for (email, permission) in [("olga@example.com", "role-assignments:read"), ("bob@example.com", "users:read")] {
        app.person_with(ada, email, &[permission]).await;
        let cookie = app.sign_in(email).await;
        assert!(!app.get("/console", &cookie).await.body.contains(r#"id="hand-linked""#), "{permission}");
    }
    let patch = IdentityProviderPatch { enabled: Some(false), ..IdentityProviderPatch::default() };
    app.iam.identity_providers().update(ada, *provider, patch).await.unwrap();
    assert!(!overview().await.contains(r#"id="hand-linked""#), "nobody signs in by a provider that is not enabled");
}

#[tokio::test]
async fn a_link_needs_a_recent_proof_and_the_session_that_began_it() {
    let world = World::new().await;
    let app = &world.app;
    let (cookie, provider) = (app.sign_in(EMAIL).await, world.provider.to_string());
    let (path, fields) = ("/console/account/identities/start", [("provider", &*provider)]);
    app.clock.advance(TimeDelta::minutes(11));
    let asked = app.post_signed(path, &cookie, &fields).await;
    assert_eq!((asked.status, asked.hidden("provider")), (StatusCode::FORBIDDEN, provider.clone()));
    let page = app.post_signed(path, &cookie, &[fields[0], ("proof-password", PASSWORD)]).await;
    let back = world.log_in(&page, ("ada", "ada@social.example")).await;
    let pending = page.cookies("");
    let grace = app.sign_in(GRACE).await;
    let answer = app.get(&back, &format!("{grace}; {pending}")).await;
    assert_eq!(answer.location(), "/console/account?done=link-late", "{}", answer.body);
    let answer = app.get(&back, &pending).await;
    assert_eq!(answer.location(), ACCOUNT, "without a session");
    assert!(app.get(ACCOUNT, &grace).await.body.contains("No account is linked"));

    let page = app.post_signed(path, &grace, &fields).await;
    let denied = app.get(&format!("{START}?error=access_denied"), &page.cookies(&grace)).await;
    assert_eq!(denied.status, StatusCode::UNAUTHORIZED);
    assert!(
        denied.body.contains("The provider did not sign you in") && denied.body.contains("My account"),
        "{}",
        denied.body
    );
    // The account at the provider belongs to Ada.
    world.link(&app.sign_in(EMAIL).await).await;
    let page = app.post_signed(path, &grace, &fields).await;
    let back = world.log_in(&page, ("ada", "ada@social.example")).await;
    let taken = app.get(&back, &page.cookies(&grace)).await;
    assert_eq!(taken.status, StatusCode::CONFLICT);
    assert!(taken.body.contains("belongs to another user") && taken.body.contains("My account"), "{}", taken.body);
}

#[tokio::test]
async fn where_the_address_of_the_console_is_not_allowed_no_provider_is_offered() {
    let others = ["http://iam.example.com/console/sign-in/provider/", "https://app.example/"];
    let world = World::with_redirects(&others).await;
    let app = &world.app;
    let page = app.get("/console/sign-in", "").await.body;
    assert!(page.contains(r#"action="/console/sign-in""#) && page.contains(r#"type="password""#), "{page}");
    assert!(!world.find(GRACE).await.body.contains(START));
    let provider = world.provider.to_string();
    assert_eq!(app.post(START, "", &[("provider", &provider)]).await.status, StatusCode::SERVICE_UNAVAILABLE);
    let cookie = app.sign_in(EMAIL).await;
    assert!(!app.get(ACCOUNT, &cookie).await.body.contains("Linked accounts"));
    let answer = app.post_signed("/console/account/identities/start", &cookie, &[("provider", &provider)]).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    world.without_passwords().await;
    let refused = app.post("/console/sign-in", "", &[("email", GRACE), ("password", PASSWORD)]).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(!refused.body.contains(START) && refused.body.contains(r#"type="password""#), "{}", refused.body);
}

#[tokio::test]
async fn a_session_that_began_by_the_provider_is_confirmed_there_and_the_change_is_made() {
    let world = World::new().await;
    let app = &world.app;
    let (cookie, other) = world.late_at_provider().await;
    let fields = [("session", &*other), ("reason", "x&y")];
    let asked = app.post_signed(END_SESSION, &cookie, &fields).await;
    assert_eq!(asked.status, StatusCode::FORBIDDEN);
    assert!(asked.body.contains("Confirm at &#60;b&#62;Acme") && asked.body.contains(STEP_UP), "{}", asked.body);
    assert_eq!((asked.hidden("next").as_str(), asked.hidden("session")), (END_SESSION, other.clone()));

    let page = world.confirm(&asked, &cookie).await;
    let (pending, back) = (page.cookies(&cookie), world.log_in(&page, ADA_THERE).await);
    let sent = request(Method::GET, &back, "").header("sec-fetch-site", "cross-site");
    let again = app.send(sent.body(Body::empty()).unwrap()).await;
    assert_eq!((again.status, address_in(&again)), (StatusCode::OK, back.clone()));
    let resumed = app.get(&back, &pending).await;
    assert_eq!(resumed.status, StatusCode::OK);
    let action = format!(r#"action="{END_SESSION}""#);
    for part in ["You have confirmed", "<dd>x&#38;y</dd>", &action] {
        assert!(resumed.body.contains(part), "{part}: {}", resumed.body);
    }
    assert_eq!((resumed.hidden("session"), resumed.cookies(&pending)), (other.clone(), cookie.clone()));

    let before = world.sessions().await;
    let token = resumed.hidden("form-token");
    let answer = app.post(END_SESSION, &cookie, &[fields[0], fields[1], ("form-token", &token)]).await;
    assert_eq!(answer.location(), "/console/account?done=session", "{}", answer.body);
    assert_eq!(world.sessions().await, before - 1);
}

#[tokio::test]
async fn the_account_of_another_person_at_the_provider_confirms_nothing_and_the_form_is_kept() {
    let world = World::new().await;
    let app = &world.app;
    let (cookie, other) = world.late_at_provider().await;
    let fields = [("session", &*other)];
    let before = world.sessions().await;
    let asked = app.post_signed(END_SESSION, &cookie, &fields).await;
    let page = world.confirm(&asked, &cookie).await;
    let back = world.log_in(&page, ("grace", GRACE)).await;
    let refused = app.get(&back, &page.cookies(&cookie)).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert!(refused.body.contains("is not linked to you here"), "{}", refused.body);
    assert_eq!((refused.hidden("session"), refused.cookies(&page.cookies(&cookie))), (other.clone(), cookie.clone()));

    let page = world.confirm(&refused, &cookie).await;
    let denied = app.get(&format!("{START}?error=access_denied"), &page.cookies(&cookie)).await;
    assert_eq!((denied.status, denied.hidden("session")), (StatusCode::UNAUTHORIZED, other.clone()));
    assert!(
        denied.body.contains("The provider did not sign you in") && denied.body.contains(STEP_UP),
        "{}",
        denied.body
    );

    let again = app.post_signed(END_SESSION, &cookie, &fields).await;
    assert_eq!(again.status, StatusCode::FORBIDDEN);
    assert_eq!(world.sessions().await, before);
}

#[tokio::test]
async fn another_session_does_not_see_the_form_that_waits_for_the_provider() {
    let world = World::new().await;
    let app = &world.app;
    let (cookie, other) = world.late_at_provider().await;
    let asked = app.post_signed(END_SESSION, &cookie, &[("session", &other)]).await;
    let page = world.confirm(&asked, &cookie).await;
    let (pending, back) = (page.cookies(""), world.log_in(&page, ADA_THERE).await);
    let grace = app.sign_in(GRACE).await;
    let answer = app.get(&back, &format!("{grace}; {pending}")).await;
    assert_eq!(answer.location(), "/console/account?done=link-late", "{}", answer.body);
    assert_eq!(app.get(&back, &pending).await.location(), "/console/sign-in?late=provider", "without a session");
    let account = app.get("/console/account?done=link-late", &grace).await;
    assert!(account.body.contains("too long to come back"), "{}", account.body);
}

#[tokio::test]
async fn a_form_that_is_too_long_for_the_provider_is_lost_and_the_session_is_confirmed() {
    let world = World::new().await;
    let app = &world.app;
    let (cookie, other) = world.late_at_provider().await;
    let long = "x".repeat(2_000);
    let asked = app.post_signed(END_SESSION, &cookie, &[("session", &other), ("reason", &long)]).await;
    assert!(asked.body.contains("too long to be kept"), "{}", asked.body);
    assert_eq!(asked.hidden("next"), "/console/account/second-factor");
    let page = world.confirm(&asked, &cookie).await;
    let back = world.log_in(&page, ADA_THERE).await;
    assert_eq!(app.get(&back, &page.cookies(&cookie)).await.location(), "/console");
    let answer = app.post_signed(END_SESSION, &cookie, &[("session", &other)]).await;
    assert_eq!(answer.location(), "/console/account?done=session", "{}", answer.body);
}

#[tokio::test]
async fn a_session_that_began_by_a_password_is_offered_no_provider() {
    let world = World::new().await;
    let app = &world.app;
    let cookie = app.sign_in(EMAIL).await;
    world.link(&cookie).await;
    app.clock.advance(TimeDelta::minutes(11));
    let (_, other) = world.ada.require_user().unwrap();
    let (other, provider) = (other.to_string(), world.provider.to_string());
    let asked = app.post_signed(END_SESSION, &cookie, &[("session", &other)]).await;
    assert_eq!(asked.status, StatusCode::FORBIDDEN);
    assert!(asked.body.contains("proof-password") && !asked.body.contains(STEP_UP), "{}", asked.body);
    let kept = format!("session={other}");
    let fields = [("provider", &*provider), ("next", END_SESSION), ("kept", &*kept)];
    let refused = app.post_signed(STEP_UP, &cookie, &fields).await;
    assert_eq!((refused.status, refused.hidden("session")), (StatusCode::BAD_REQUEST, other));
    assert!(refused.body.contains("did not start at that provider"), "{}", refused.body);
}
