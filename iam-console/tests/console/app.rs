#![cfg(test)]

use std::collections::HashMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use iam_axum::rate_limit::{MemoryRateLimiter, RateLimits};
use iam_console::Settings;
use iam_core::assignment::NewAssignment;
use iam_core::brand::Brand;
use iam_core::clock::testing::FixedClock;
use iam_core::domain::{Domain, LookupError, TxtResolver};
use iam_core::factor::webauthn::RelyingParty;
use iam_core::mail::{LinkPages, Mail, MailError, MailKind, Mailer};
use iam_core::role::NewRole;
use iam_core::session::Login;
use iam_core::tenant::Registration;
use iam_core::user::NewUser;
use iam_core::webhook::{AddressPolicy, SendError, WebhookRequest, WebhookSender};
use iam_core::{Builder, Caller, Iam, RequestContext};
use iam_store_memory::MemoryStore;
use serde_json::json;
use test_support::identity_provider::Providers;
use tower::ServiceExt as _;

pub(crate) const HOST: &str = "iam.example.com";
pub(crate) const ORIGIN: &str = "https://iam.example.com";
pub(crate) const EMAIL: &str = "ada@example.com";
pub(crate) const PASSWORD: &str = "Passw0rd!";
/// Where identity providers send people back to.
pub(crate) const CALLBACKS: &str = "https://iam.example.com/iam/v1/auth/federation/callback/";

/// The console over a store in memory, with a clock that stands still.
pub(crate) struct App {
    pub(crate) iam: Iam,
    pub(crate) clock: FixedClock,
    /// The records of the DNS, which only a console with federation reads.
    pub(crate) zone: Zone,
    router: Router,
}

/// A mailer that these tests never call.
struct Unsent;

#[async_trait]
impl Mailer for Unsent {
    async fn send(&self, _: &Mail) -> Result<(), MailError> {
        Err("there is no mail".into())
    }
}

/// A mailer that keeps the messages. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Mailbox(Arc<Mutex<Vec<Mail>>>);

impl Mailbox {
    /// Takes the last message of a kind, after all that are due were sent.
    pub(crate) async fn last(&self, app: &App, kind: MailKind) -> Option<Mail> {
        while app.iam.deliver_mail().await.unwrap().more {}
        let mut mails = self.0.lock().unwrap();
        let last = mails.iter().rposition(|mail| mail.kind == kind)?;
        Some(mails.remove(last))
    }
}

#[async_trait]
impl Mailer for Mailbox {
    async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        self.0.lock().unwrap().push(mail.clone());
        Ok(())
    }
}

/// What webhooks send to: it accepts everything, unless its address ends with `/refuse`.
struct Receiver;

#[async_trait]
impl WebhookSender for Receiver {
    fn address_policy(&self) -> AddressPolicy {
        AddressPolicy::Public
    }

    async fn send(&self, request: WebhookRequest) -> Result<u16, SendError> {
        Ok(if request.url.as_str().ends_with("/refuse") { 500 } else { 204 })
    }
}

/// The records of type TXT, by name. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Zone(Arc<Mutex<HashMap<String, Vec<String>>>>);

impl Zone {
    /// Publishes the record that proves a domain.
    pub(crate) fn publish(&self, domain: &Domain) {
        self.0.lock().unwrap().insert(domain.record_name(), vec![domain.record_value()]);
    }
}

#[async_trait]
impl TxtResolver for Zone {
    async fn txt(&self, name: &str) -> Result<Vec<String>, LookupError> {
        Ok(self.0.lock().unwrap().get(name).cloned().unwrap_or_default())
    }
}

/// A response, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl App {
    /// Returns the console of an installation without a tenant.
    pub(crate) async fn empty() -> Self {
        Self::with(|_| {}).await
    }

    /// Returns the console of an installation without a tenant, with settings of the services.
    pub(crate) async fn with(adjust: impl FnOnce(&mut iam_core::Settings)) -> Self {
        Self::build("/console", adjust, |builder| builder).await
    }

    /// Does the same for a console under another path.
    pub(crate) async fn at(path: &str, adjust: impl FnOnce(&mut iam_core::Settings)) -> Self {
        Self::build(path, adjust, |builder| builder).await
    }

    /// Returns the console of an installation without a tenant, which queues mail.
    pub(crate) async fn with_mail() -> Self {
        Self::build("/console", |_| {}, |builder| mailing(builder, Arc::new(Unsent))).await
    }

    /// Does the same for one whose messages arrive in this mailbox.
    pub(crate) async fn with_mailbox(mailbox: &Mailbox) -> Self {
        Self::build("/console", |_| {}, |builder| mailing(builder, Arc::new(mailbox.clone()))).await
    }

    /// Does the same for one that also looks up the records of domains, and reaches two identity providers and the
    /// server `broken.example`, which is none.
    pub(crate) async fn with_federation() -> Self {
        let (zone, providers) = (Zone::default(), Providers::default());
        providers.discover("https://entra.example", &json!({}));
        providers.answer("https://broken.example", 404, "");
        let resolver = Arc::new(zone.clone());
        let federated = |builder: Builder| {
            let callbacks = CALLBACKS.parse().unwrap();
            mailing(builder, Arc::new(Unsent)).resolver(resolver).federation(Arc::new(providers), callbacks)
        };
        let app = Self::build("/console", |_| {}, federated).await;
        Self { zone, ..app }
    }

    /// Returns the console of an installation without a tenant, which reaches these identity providers. A login may end
    /// at these addresses.
    pub(crate) async fn with_providers(providers: &Providers, redirects: &[&str]) -> Self {
        let callbacks = CALLBACKS.parse().unwrap();
        let redirects: Vec<String> = redirects.iter().map(|address| (*address).to_owned()).collect();
        let client = Arc::new(providers.clone());
        let adjust = |settings: &mut iam_core::Settings| {
            settings.federation_redirects = redirects;
            settings.relying_party = Some(relying_party());
        };
        Self::build("/console", adjust, |builder| builder.federation(client, callbacks)).await
    }

    async fn build(
        path: &str,
        adjust: impl FnOnce(&mut iam_core::Settings),
        more: impl FnOnce(Builder) -> Builder,
    ) -> Self {
        let clock = FixedClock::at("2026-01-31T09:15:00Z");
        let mut settings = iam_core::Settings::default();
        settings.hashing_cost = iam_core::credential::HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        adjust(&mut settings);
        let builder = Iam::builder(Arc::new(MemoryStore::new())).clock(clock.clone()).settings(settings);
        let iam = more(builder.webhooks(Arc::new(Receiver))).build().await.unwrap();
        let mut settings = Settings::default();
        settings.path = path.to_owned();
        let router = axum::Router::new().merge(iam_console::router(iam.clone(), settings));
        Self { iam, clock, zone: Zone::default(), router }
    }

    /// Returns the same console with a limit of requests of a user.
    pub(crate) fn limited(self, requests: u32) -> Self {
        let (requests, usual) = (NonZeroU32::new(requests).unwrap(), RateLimits::default());
        // A test without a limit of users has none of visitors either.
        let limits = RateLimits { user: requests, anonymous: requests.max(usual.anonymous), ..usual };
        let mut settings = Settings::default();
        "/console".clone_into(&mut settings.path);
        settings.api.rate_limiter = Some(Arc::new(MemoryRateLimiter::new(limits)));
        let router = axum::Router::new().merge(iam_console::router(self.iam.clone(), settings));
        Self { router, ..self }
    }

    /// Returns the same console without limits of requests.
    pub(crate) fn unlimited(self) -> Self {
        let mut settings = Settings::default();
        "/console".clone_into(&mut settings.path);
        settings.api.rate_limiter = None;
        let router = Router::new().merge(iam_console::router(self.iam.clone(), settings));
        Self { router, ..self }
    }

    /// Returns the same console with a brand.
    pub(crate) fn branded(self, brand: Brand) -> Self {
        let mut settings = Settings::default();
        settings.api.brand = brand;
        let router = Router::new().merge(iam_console::router(self.iam.clone(), settings));
        Self { router, ..self }
    }

    /// Returns the console of an installation with a tenant, whose administrator is Ada.
    pub(crate) async fn new() -> Self {
        let app = Self::empty().await;
        app.register(EMAIL).await;
        app
    }

    /// Registers another tenant. Returns its administrator.
    pub(crate) async fn register(&self, email: &str) -> Caller {
        let new = Registration { user: person(email, "Ada"), tenant_name: None };
        let registered = self.iam.tenants().register(&RequestContext::default(), new).await.unwrap();
        let token = registered.login.tokens.access.expose().to_owned();
        self.iam.authenticate(&token, RequestContext::default()).await.unwrap()
    }

    /// Logs in without the console. Returns the caller.
    pub(crate) async fn caller(&self, email: &str) -> Caller {
        let login = Login { email: email.to_owned(), password: PASSWORD.into(), tenant: None };
        let iam = self.iam.clone();
        // A task begins on an empty stack: that of a test is too small for a login below a long function.
        let caller = tokio::spawn(async move {
            let login = iam.sessions().login(&RequestContext::default(), login).await.unwrap();
            iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap()
        });
        caller.await.unwrap()
    }

    /// Adds a person with a role in the whole tenant that has these permissions.
    pub(crate) async fn person_with(&self, owner: &Caller, email: &str, permissions: &[&str]) {
        let user = self.iam.users().create(owner, person(email, "Grace")).await.unwrap().id;
        let name = email.split('@').next().unwrap().to_uppercase();
        let permissions = permissions.iter().map(|&permission| permission.to_owned()).collect();
        let new = NewRole { name, permissions, ..NewRole::default() };
        let role = self.iam.roles().create(owner, new).await.unwrap().id;
        let new = NewAssignment { user, role, organization: None, expires_at: None };
        self.iam.assignments().create(owner, new).await.unwrap();
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let body = String::from_utf8(bytes.to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// Returns the number of bytes of a body, as it is sent.
    pub(crate) async fn size_of(&self, request: Request<Body>) -> usize {
        let response = self.router.clone().oneshot(request).await.unwrap();
        response.into_body().collect().await.unwrap().to_bytes().len()
    }

    pub(crate) async fn get(&self, path: &str, cookie: &str) -> Answer {
        self.send(request(Method::GET, path, cookie).body(Body::empty()).unwrap()).await
    }

    /// Sends a form as a browser does.
    pub(crate) async fn post(&self, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Answer {
        self.send(form(path, cookie, fields)).await
    }

    /// Signs in. Returns the cookie.
    pub(crate) async fn sign_in(&self, email: &str) -> String {
        let answer = self.post("/console/sign-in", "", &[("email", email), ("password", PASSWORD)]).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
        answer.cookie()
    }

    /// Returns the token of the forms that a session sees.
    pub(crate) async fn form_token(&self, cookie: &str) -> String {
        let answer = self.get("/console/account", cookie).await;
        answer.hidden("form-token")
    }

    /// Sends a form of a page of this session.
    pub(crate) async fn post_signed(&self, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.form_token(cookie).await;
        let mut fields = fields.to_vec();
        fields.push(("form-token", &token));
        self.post(path, cookie, &fields).await
    }
}

impl Answer {
    /// Returns the cookies that a browser with these ones sends from now on.
    pub(crate) fn cookies(&self, before: &str) -> String {
        let mut kept: Vec<(String, String)> = Vec::new();
        let set = self.headers.get_all(header::SET_COOKIE).iter().map(|line| line.to_str().unwrap());
        for pair in before.split("; ").chain(set.map(|line| line.split(';').next().unwrap())) {
            let Some((name, value)) = pair.split_once('=') else { continue };
            kept.retain(|(known, _)| known != name);
            kept.push((name.to_owned(), value.to_owned()));
        }
        let kept = kept.into_iter().filter(|(_, value)| !value.is_empty());
        kept.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    /// Returns the cookie that a browser sends from now on.
    pub(crate) fn cookie(&self) -> String {
        let line = self.headers.get(header::SET_COOKIE).expect("a cookie").to_str().unwrap();
        line.split(';').next().unwrap().to_owned()
    }

    pub(crate) fn location(&self) -> &str {
        self.headers.get(header::LOCATION).expect("a redirect").to_str().unwrap()
    }

    /// Returns the value of a hidden field.
    pub(crate) fn hidden(&self, name: &str) -> String {
        let start = format!(r#"<input type="hidden" name="{name}" value=""#);
        let (_, rest) = self.body.split_once(&start).unwrap_or_else(|| panic!("no field {name}: {}", self.body));
        rest.split('"').next().unwrap().to_owned()
    }

    pub(crate) fn is_to_sign_in(&self) -> bool {
        self.status == StatusCode::SEE_OTHER && self.location().starts_with("/console/sign-in")
    }
}

fn mailing(builder: Builder, mailer: Arc<dyn Mailer>) -> Builder {
    let page = || "https://iam.example.com/page#{token}".parse().unwrap();
    let pages = LinkPages { verify: page(), reset: page(), invitation: page(), login: page() };
    builder.mail(mailer, pages)
}

/// The relying party of an installation at [`ORIGIN`].
pub(crate) fn relying_party() -> RelyingParty {
    RelyingParty::new(HOST, "Console", vec![ORIGIN.to_owned()]).unwrap()
}

pub(crate) fn person(email: &str, first_name: &str) -> NewUser {
    NewUser {
        email: email.to_owned(),
        password: PASSWORD.into(),
        first_name: first_name.to_owned(),
        last_name: "Lovelace".to_owned(),
    }
}

pub(crate) fn request(method: Method, path: &str, cookie: &str) -> axum::http::request::Builder {
    let client: SocketAddr = "192.0.2.7:50000".parse().unwrap();
    let builder = Request::builder().method(method).uri(path).header(header::HOST, HOST).extension(ConnectInfo(client));
    if cookie.is_empty() { builder } else { builder.header(header::COOKIE, cookie) }
}

/// Returns the fields as a browser sends them.
pub(crate) fn encoded(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

pub(crate) fn form(path: &str, cookie: &str, fields: &[(&str, &str)]) -> Request<Body> {
    let builder = request(Method::POST, path, cookie)
        .header(header::ORIGIN, ORIGIN)
        .header("sec-fetch-site", "same-origin")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    builder.body(Body::from(encoded(fields))).unwrap()
}
