//! People log in by identity providers (`docs/federation.md`): what the tests in the files below share.

mod account;
mod faults;
mod flow;
mod identity;
mod invitation;
mod logout;
mod password_login;
mod step_up;

use iam_core::federation::code_challenge;
use iam_core::identity_provider::{NewIdentityProvider, Provisioning};
use serde_json::{Value, json};
use test_support::identity_provider::ISSUER;

use crate::app::{REDIRECT, TestApp};
use crate::people::{Person, with};
use crate::request::Response;

pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/// A tenant with a VERIFIED domain, example.com, and a provider that speaks for it.
struct Fixture {
    app: TestApp,
    ada: Person,
    provider: Value,
}

impl Fixture {
    async fn new(app: TestApp, members: Value) -> Self {
        let ada = app.register("ada@other.example").await;
        let domain = app.domain(&ada, "example.com").await;
        app.publish(&domain);
        app.post(&format!("/domains/{}/verify", domain["id"].as_str().unwrap())).by(&ada).send().await.ok();
        let provider = app.provider(&ada, &with(json!({ "domainIds": [domain["id"]] }), &members)).await;
        Self { app, ada, provider }
    }

    fn start(&self) -> Value {
        json!({ "providerId": self.provider["id"], "redirectUri": REDIRECT, "codeChallenge": code_challenge(VERIFIER) })
    }

    async fn begin(&self) -> String {
        let started = self.app.post("/auth/federation/start").json(&self.start()).send().await.ok();
        started["authorizationUrl"].as_str().unwrap().to_owned()
    }

    /// Comes back from the provider. Returns where the browser goes.
    async fn come_back(&self, query: &str) -> Response {
        let path = format!("/auth/federation/callback/{}?{query}", self.provider["id"].as_str().unwrap());
        self.app.get(&path).send().await
    }

    /// A login of a person with these claims up to the code, or to the error.
    async fn result(&self, claims: &Value) -> Result<String, String> {
        self.returned(&self.app.at_provider(&self.begin().await, claims)).await
    }

    /// Comes back from the provider. Returns the code, or the error.
    async fn returned(&self, query: &str) -> Result<String, String> {
        let answer = self.come_back(query).await;
        assert_eq!(answer.status(), 303, "{}", answer.text());
        let location = answer.header("location").unwrap();
        match location.strip_prefix(&format!("{REDIRECT}?code=")) {
            Some(code) => Ok(code.to_owned()),
            None => Err(location.strip_prefix(&format!("{REDIRECT}?error=")).unwrap().to_owned()),
        }
    }

    async fn finish(&self, code: &str) -> Response {
        let body = json!({ "code": code, "codeVerifier": VERIFIER });
        self.app.post("/auth/federation/finish").json(&body).send().await
    }

    async fn log_in(&self, claims: &Value) -> Response {
        let code = self.result(claims).await.unwrap();
        self.finish(&code).await
    }

    /// A user with a verified address.
    async fn verified(&self, email: &str) -> String {
        let user = self.app.add_user(&self.ada, email).await;
        let system = iam_core::Caller::system(self.ada.tenant.parse().unwrap(), "test");
        self.app.iam.users().verify_email(&system, email).await.unwrap();
        user
    }

    async fn failures(&self) -> Vec<Value> {
        let entries = self.app.audit(&self.ada, &[("action", "LOGIN_FAILURE")]).await;
        entries.iter().map(|entry| entry["metadata"].clone()).collect()
    }
}

/// Links an account to a person. Returns the last answer.
async fn link(fixture: &Fixture, person: &Person, finisher: Option<&Person>, claims: &Value) -> Response {
    let started = fixture.app.post("/auth/identities/start").by(person).json(&fixture.start()).send().await.ok();
    let url = started["authorizationUrl"].as_str().unwrap();
    let query = fixture.app.at_provider(url, claims);
    let answer = fixture.come_back(&query).await;
    let code = answer.header("location").unwrap().split("code=").nth(1).unwrap().to_owned();
    let finish = fixture.app.post("/auth/federation/finish");
    let finish = finish.json(&json!({ "code": code, "codeVerifier": VERIFIER }));
    match finisher {
        Some(person) => finish.by(person).send().await,
        None => finish.send().await,
    }
}

/// Lets the people of the tenant log in by their providers only.
async fn federated(fixture: &Fixture) {
    let Fixture { app, ada, .. } = fixture;
    let body = json!({ "passwordLogin": "FEDERATED" });
    app.patch(&format!("/tenants/{}", ada.tenant)).by(ada).json(&body).send().await.ok();
}

async fn send_logout(fixture: &Fixture, token: &str) -> Response {
    let path = format!("/auth/federation/backchannel-logout/{}", fixture.provider["id"].as_str().unwrap());
    fixture.app.post(&path).form(&json!({ "logout_token": token })).send().await
}

impl TestApp {
    /// A social provider of the tenant of an administrator, which makes users.
    pub(crate) async fn social_provider(&self, tenant: &str) -> String {
        let system = iam_core::Caller::system(tenant.parse().unwrap(), "test");
        let new = NewIdentityProvider {
            name: "Social".to_owned(),
            issuer: ISSUER.to_owned(),
            client_id: "iam".to_owned(),
            provisioning: Provisioning::Create,
            ..NewIdentityProvider::default()
        };
        self.iam.identity_providers().create(&system, new).await.unwrap().id.to_string()
    }

    /// Lets a person with these claims log in at the provider to which a browser was sent. Returns the query with which
    /// the browser comes back.
    fn at_provider(&self, authorization_url: &str, claims: &Value) -> String {
        self.providers.log_in(authorization_url, self.iam.now(), claims)
    }

    /// A logout token of a provider, with these claims in place of the usual ones.
    fn logout(&self, members: &Value) -> String {
        let now = self.iam.now().timestamp();
        let claims = json!({
            "iss": ISSUER,
            "aud": "iam",
            "iat": now,
            "exp": now + 120,
            "jti": uuid::Uuid::now_v7(),
            "events": { "http://schemas.openid.net/event/backchannel-logout": {} },
        });
        let mut claims = with(claims, members);
        claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        self.providers.sign(&claims)
    }

    /// A logout token that ends nothing.
    pub(crate) fn logout_token(&self) -> String {
        self.logout(&json!({ "sub": "nobody" }))
    }

    /// The query with which a browser comes back from a provider, for a person with these claims.
    pub(crate) async fn federated_query(&self, provider: &str, claims: &Value) -> String {
        let start =
            json!({ "providerId": provider, "redirectUri": REDIRECT, "codeChallenge": code_challenge(VERIFIER) });
        let started = self.post("/auth/federation/start").json(&start).send().await.ok();
        self.at_provider(started["authorizationUrl"].as_str().unwrap(), claims)
    }

    /// The code that a browser brings back from a provider, for a person with these claims.
    pub(crate) async fn federated_code(&self, provider: &str, claims: &Value) -> String {
        let query = self.federated_query(provider, claims).await;
        self.returned_code(provider, &query).await
    }

    async fn returned_code(&self, provider: &str, query: &str) -> String {
        let answer = self.get(&format!("/auth/federation/callback/{provider}?{query}")).send().await;
        answer.header("location").unwrap().split("?code=").nth(1).unwrap().to_owned()
    }

    /// Links an account at a provider to a person. Returns the id of the identity.
    pub(crate) async fn linked(&self, provider: &str, person: &Person) -> String {
        let start =
            json!({ "providerId": provider, "redirectUri": REDIRECT, "codeChallenge": code_challenge(VERIFIER) });
        let started = self.post("/auth/identities/start").by(person).json(&start).send().await.ok();
        let claims = json!({ "sub": person.user });
        let query = self.at_provider(started["authorizationUrl"].as_str().unwrap(), &claims);
        let code = self.returned_code(provider, &query).await;
        let body = json!({ "code": code, "codeVerifier": VERIFIER });
        self.post("/auth/federation/finish").by(person).json(&body).send().await.no_content();
        let list = self.get(&format!("/users/{}/identities", person.user)).by(person).send().await.ok();
        list["data"][0]["id"].as_str().unwrap().to_owned()
    }
}
