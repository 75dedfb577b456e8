//! Logins by a provider (`docs/federation.md#the-flow`).

use chrono::{SubsecRound as _, TimeDelta};
use iam_core::federation::code_challenge;
use iam_core::identity_provider::{NewIdentityProvider, Provisioning};
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use crate::app::{REDIRECT, TestApp, shown};
use crate::people::{PASSWORD, Person, with};
use crate::provider::{ISSUER, sign};
use crate::request::{Response, each};

in_memory_with_mail![
    the_providers_of_a_tenant_are_public,
    the_domain_of_an_address_leads_to_its_providers,
    a_start_asks_the_provider_with_its_own_secrets,
    every_invalid_field_of_a_start_is_named,
    a_new_person_becomes_a_user_with_the_roles_of_the_provider,
    a_known_person_logs_in,
    an_address_may_be_at_the_userinfo_endpoint_alone,
    a_user_with_the_address_is_linked,
    nobody_is_linked_by_an_address_that_is_not_proven,
    a_holder_of_all_permissions_is_never_linked_by_address,
    a_second_person_with_the_address_is_not_linked,
    a_social_provider_makes_users_and_links_nobody,
    an_account_that_a_social_provider_made_is_not_linked_by_its_address,
    a_provider_that_is_off_makes_and_links_nobody,
    a_person_is_named_as_when_the_code_was_made,
    first_logins_at_the_same_time_find_one_user,
    a_code_works_once_and_for_its_client_only,
    a_state_works_once_and_at_its_own_callback,
    a_refused_token_is_recorded_with_its_cause,
    an_answer_of_the_provider_becomes_an_error_of_the_client,
    a_suspended_and_a_deleted_user_are_refused_at_the_end,
    a_user_with_a_second_factor_is_asked_for_it,
    a_trusted_factor_of_the_provider_counts,
    a_session_without_the_time_of_its_proof_is_not_fresh,
    a_user_links_and_removes_its_own_account,
    an_administrator_removes_the_identity_of_another_user,
    the_last_way_to_log_in_stays,
    a_user_without_a_password_chooses_one_by_a_link,
    a_link_belongs_to_the_session_that_began_it,
    a_link_is_made_at_a_provider_of_the_own_tenant,
    an_account_belongs_to_one_user,
    a_removed_provider_takes_its_identities,
    a_login_is_recorded_with_its_method,
    a_pending_invitation_is_accepted_on_the_way,
    an_invitation_without_the_rights_of_its_inviter_is_left,
    an_invitation_to_all_permissions_needs_its_mail,
    a_social_provider_accepts_no_invitation,
    the_values_of_an_identity_are_erased_with_its_user,
    a_session_authenticates_again_by_its_provider,
    a_step_up_needs_the_person_of_the_session_and_a_new_proof,
    a_step_up_is_for_the_provider_of_the_session,
    a_step_up_does_not_replace_the_second_factor,
    a_logout_at_the_provider_ends_the_sessions_that_it_names,
    a_logout_token_works_once_and_must_be_one,
    a_logout_of_an_account_ends_its_sessions_without_a_name,
    a_head_request_spends_no_state,
    a_right_password_is_refused_where_the_provider_is_known,
    a_holder_of_all_permissions_may_use_its_password,
    a_linked_person_with_another_address_uses_the_provider,
    an_invitation_is_accepted_at_the_provider_where_passwords_are_not_allowed,
    a_way_to_log_in_that_does_not_work_does_not_count,
    a_forgotten_password_sends_nothing_where_the_provider_is_known,
    a_browser_that_comes_back_too_late_sees_a_page,
    a_provider_that_does_not_answer_is_unavailable,
    an_api_key_begins_no_step_up,
];

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
        let query = self.app.providers.log_in(&self.begin().await, &self.app, claims);
        let answer = self.come_back(&query).await;
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

async fn the_providers_of_a_tenant_are_public(app: TestApp) {
    let Fixture { app, ada, provider } = Fixture::new(app, json!({})).await;
    app.provider(&ada, &json!({ "name": "Off", "enabled": false })).await;
    let list = async |tenant: &str| app.get("/auth/federation/providers").query("tenant", tenant).send().await.ok();
    let expected = json!({ "data": [{ "id": provider["id"], "name": "Acme", "slug": "acme" }] });
    assert_eq!(list(&ada.tenant).await, expected);
    assert_eq!(list("nobody").await, json!({ "data": [] }));
    assert_eq!(app.get("/auth/federation/providers").send().await.invalid_fields(), ["tenant"]);
}

async fn the_domain_of_an_address_leads_to_its_providers(app: TestApp) {
    let Fixture { app, ada, provider } = Fixture::new(app, json!({})).await;
    let discover = async |email: &str| {
        let body = json!({ "email": email });
        app.post("/auth/federation/discover").json(&body).send().await.ok()
    };
    let found = discover("Nobody@EXAMPLE.com").await;
    assert_eq!(each(&json!({ "data": found["providers"] }), "id"), [provider["id"].as_str().unwrap()]);
    assert_eq!(found["passwordAllowed"], true);
    for other in ["ada@other.example", "x@sub.example.com"] {
        assert_eq!(discover(other).await["providers"], json!([]), "{other}");
    }
    // A squatter shows nothing.
    let eve = app.register("eve@example.net").await;
    let domain = app.domain(&eve, "victim.example").await;
    app.provider(&eve, &json!({ "domainIds": [domain["id"]] })).await;
    assert_eq!(discover("x@victim.example").await["providers"], json!([]));
    let refused = app.post("/auth/federation/discover").json(&json!({ "email": "x" })).send().await;
    assert_eq!(refused.invalid_fields(), ["email"]);
    let off = json!({ "enabled": false });
    app.patch(&format!("/identity-providers/{}", provider["id"].as_str().unwrap()))
        .by(&ada)
        .json(&off)
        .send()
        .await
        .ok();
    assert_eq!(discover("x@example.com").await["providers"], json!([]));
}

async fn a_start_asks_the_provider_with_its_own_secrets(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let body = with(fixture.start(), &json!({ "loginHint": "grace@example.com" }));
    let started = fixture.app.post("/auth/federation/start").json(&body).send().await.ok();
    assert_eq!(started["expiresIn"], 600);
    let url = url::Url::parse(started["authorizationUrl"].as_str().unwrap()).unwrap();
    assert!(url.as_str().starts_with("https://login.example.com/authorize?"));
    let query: std::collections::HashMap<String, String> = url.query_pairs().into_owned().collect();
    let callback = fixture.provider["callbackUrl"].as_str().unwrap();
    for (name, expected) in [
        ("response_type", "code"),
        ("client_id", "iam"),
        ("redirect_uri", callback),
        ("scope", "openid email profile"),
        ("code_challenge_method", "S256"),
        ("login_hint", "grace@example.com"),
    ] {
        assert_eq!(query[name], expected);
    }
    assert_ne!(query["code_challenge"], code_challenge(VERIFIER));
    assert!(query["nonce"].len() == 43 && query["state"].len() > 43 && query["nonce"] != query["state"]);
}

async fn every_invalid_field_of_a_start_is_named(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let start = async |members: Value| {
        fixture.app.post("/auth/federation/start").json(&with(fixture.start(), &members)).send().await
    };
    let body = json!({ "redirectUri": "https://evil.example/cb", "codeChallenge": "x", "loginHint": "x".repeat(255) });
    assert_eq!(start(body).await.invalid_fields(), ["redirectUri", "codeChallenge", "loginHint"]);
    assert_eq!(start(json!({ "providerId": "x" })).await.invalid_fields(), ["providerId"]);
    assert_eq!(start(json!({ "providerId": fixture.ada.tenant })).await.fields("not-found"), ["providerId"]);
    let off = json!({ "enabled": false });
    let path = format!("/identity-providers/{}", fixture.provider["id"].as_str().unwrap());
    fixture.app.patch(&path).by(&fixture.ada).json(&off).send().await.ok();
    assert_eq!(start(json!({})).await.fields("not-found"), ["providerId"]);
}

async fn a_new_person_becomes_a_user_with_the_roles_of_the_provider(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, provider } = &fixture;
    let member = app.role_id(ada, "MEMBER").await;
    let grows = app.role(ada, "GROWS", &["users:read"]).await;
    let roles = json!({ "roles": [{ "roleId": member }, { "roleId": grows }] });
    let path = format!("/identity-providers/{}", provider["id"].as_str().unwrap());
    app.patch(&path).by(ada).json(&roles).send().await.ok();
    // A role that has got all permissions since is not given.
    app.patch(&format!("/roles/{grows}")).by(ada).json(&json!({ "permissions": ["*"] })).send().await.ok();
    let grace = fixture.log_in(&json!({})).await.ok();
    let user = &grace["user"];
    assert_eq!((&user["email"], &user["firstName"]), (&json!("grace@example.com"), &json!("Grace")));
    assert!(user["emailVerifiedAt"].is_string());
    let id = user["id"].as_str().unwrap();
    let held = app.get(&format!("/users/{id}/roles")).by(ada).send().await.ok();
    assert_eq!(held["data"].as_array().unwrap().len(), 1);
    assert_eq!(held["data"][0]["role"]["name"], "MEMBER");
    let identities = app.get(&format!("/users/{id}/identities")).by(ada).send().await.ok();
    assert_eq!(identities["data"][0]["subject"], "248289761001");
}

async fn a_known_person_logs_in(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let first = fixture.log_in(&json!({})).await.ok();
    // The subject decides, whatever the address is.
    let second = fixture.log_in(&json!({ "email": "other@evil.example", "email_verified": false })).await.ok();
    assert_eq!(first["user"]["id"], second["user"]["id"]);
    assert_eq!(second["user"]["email"], "grace@example.com");
    let me = fixture.app.get("/auth/me").bearer(second["accessToken"].as_str().unwrap()).send().await.ok();
    assert_eq!(me["user"]["id"], first["user"]["id"]);
}

async fn an_address_may_be_at_the_userinfo_endpoint_alone(app: TestApp) {
    app.providers.tell(&json!({ "sub": "248289761001", "email": "grace@example.com", "email_verified": true }));
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let bare = json!({ "email": null, "email_verified": null });
    assert_eq!(fixture.log_in(&bare).await.ok()["user"]["email"], "grace@example.com");
    assert_eq!(fixture.result(&with(bare, &json!({ "sub": "another" }))).await, Err("not_linked".to_owned()));
}

async fn a_user_with_the_address_is_linked(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let grace = fixture.verified("grace@example.com").await;
    assert_eq!(fixture.log_in(&json!({})).await.ok()["user"]["id"], json!(grace));
    let identities = fixture.app.get(&format!("/users/{grace}/identities")).by(&fixture.ada).send().await.ok();
    assert_eq!(identities["data"][0]["email"], "grace@example.com");
    assert_eq!(fixture.log_in(&json!({ "email": null })).await.ok()["user"]["id"], json!(grace));
}

async fn nobody_is_linked_by_an_address_that_is_not_proven(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let not_linked = Err("not_linked".to_owned());
    // Nobody has the address, and no user is made.
    assert_eq!(fixture.result(&json!({})).await, not_linked);
    // The user has not proven it.
    fixture.app.add_user(&fixture.ada, "grace@example.com").await;
    assert_eq!(fixture.result(&json!({})).await, not_linked);
    // The provider does not say that it is verified, or speaks for another domain.
    fixture.verified("bob@example.com").await;
    fixture.verified("bob@elsewhere.example").await;
    assert_eq!(fixture.result(&json!({ "email": "bob@example.com", "email_verified": false })).await, not_linked);
    assert_eq!(fixture.result(&json!({ "email": "bob@elsewhere.example" })).await, not_linked);
    assert_eq!(fixture.result(&json!({ "email": null })).await, not_linked);
    assert!(fixture.failures().await.iter().all(|failure| failure["cause"] == "NOT_LINKED"));
    assert_eq!(fixture.failures().await.len(), 5);
}

async fn a_holder_of_all_permissions_is_never_linked_by_address(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE", "trustsEmail": true })).await;
    let grace = fixture.verified("grace@example.com").await;
    let until = fixture.app.iam.now() + TimeDelta::days(1);
    fixture.app.assign(&fixture.ada, &grace, "TENANT_ADMIN", None, Some(until)).await;
    assert_eq!(fixture.result(&json!({})).await, Err("not_linked".to_owned()));
}

async fn a_second_person_with_the_address_is_not_linked(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    fixture.verified("grace@example.com").await;
    fixture.log_in(&json!({})).await.ok();
    assert_eq!(fixture.result(&json!({ "sub": "another" })).await, Err("not_linked".to_owned()));
}

async fn a_social_provider_makes_users_and_links_nobody(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE", "domainIds": [], "trustsEmail": true })).await;
    fixture.verified("bob@social.example").await;
    let not_linked = Err("not_linked".to_owned());
    assert_eq!(fixture.result(&json!({ "email": "bob@social.example" })).await, not_linked);
    assert_eq!(fixture.result(&json!({ "email": "eve@social.example", "email_verified": false })).await, not_linked);
    // It does not speak for a domain that the tenant has proven, whoever types the address there.
    assert_eq!(fixture.result(&json!({ "email": "chief@example.com" })).await, not_linked);
    fixture.log_in(&json!({ "email": "eve@social.example" })).await.ok();
}

async fn an_account_that_a_social_provider_made_is_not_linked_by_its_address(app: TestApp) {
    let ada = app.register("ada@other.example").await;
    let social = app.social_provider(&ada.tenant).await;
    let code = app.federated_code(&social, &json!({ "sub": "thief" })).await;
    let body = json!({ "code": code, "codeVerifier": VERIFIER });
    let thief = app.post("/auth/federation/finish").json(&body).send().await.ok();
    assert_eq!(thief["user"]["email"], "grace@example.com");
    // The company comes later, and proves its domain.
    let domain = app.domain(&ada, "example.com").await;
    app.publish(&domain);
    app.post(&format!("/domains/{}/verify", domain["id"].as_str().unwrap())).by(&ada).send().await.ok();
    let members = json!({ "domainIds": [domain["id"]], "provisioning": "CREATE", "trustsEmail": true });
    let provider = app.provider(&ada, &members).await;
    let fixture = Fixture { app, ada, provider };
    assert_eq!(fixture.result(&json!({})).await, Err("not_linked".to_owned()));
}

async fn a_provider_that_is_off_makes_and_links_nobody(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "OFF" })).await;
    fixture.verified("grace@example.com").await;
    assert_eq!(fixture.result(&json!({})).await, Err("not_linked".to_owned()));
}

async fn a_code_works_once_and_for_its_client_only(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let code = fixture.result(&json!({})).await.unwrap();
    fixture.finish(&code).await.ok();
    assert_eq!(fixture.finish(&code).await.invalid_fields(), ["code"]);
    let code = fixture.result(&json!({})).await.unwrap();
    let thief = json!({ "code": code, "codeVerifier": "x".repeat(43) });
    let stolen = fixture.app.post("/auth/federation/finish").json(&thief).send().await;
    assert_eq!(stolen.invalid_fields(), ["code"]);
    assert_eq!(fixture.finish(&code).await.invalid_fields(), ["code"], "a wrong verifier spends it");
    let code = fixture.result(&json!({})).await.unwrap();
    fixture.app.pass(TimeDelta::seconds(60));
    assert_eq!(fixture.finish(&code).await.invalid_fields(), ["code"], "it lives a minute");
    assert_eq!(
        fixture.app.post("/auth/federation/finish").json(&json!({})).send().await.invalid_fields(),
        ["code", "codeVerifier"]
    );
}

async fn a_state_works_once_and_at_its_own_callback(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let query = fixture.app.providers.log_in(&fixture.begin().await, &fixture.app, &json!({}));
    assert_eq!(fixture.come_back(&query).await.status(), 303);
    for query in [query.as_str(), "code=x&state=x", "code=x", ""] {
        let answer = fixture.come_back(query).await;
        assert_eq!((answer.invalid_fields(), answer.header("location")), (vec!["state".to_owned()], None), "{query}");
    }
    let other = fixture.app.provider(&fixture.ada, &json!({ "name": "Other" })).await;
    let query = fixture.app.providers.log_in(&fixture.begin().await, &fixture.app, &json!({}));
    let path = format!("/auth/federation/callback/{}?{query}", other["id"].as_str().unwrap());
    assert_eq!(fixture.app.get(&path).send().await.invalid_fields(), ["state"], "another provider mixes in");
    let query = fixture.app.providers.log_in(&fixture.begin().await, &fixture.app, &json!({}));
    fixture.app.pass(TimeDelta::minutes(10));
    assert_eq!(fixture.come_back(&query).await.invalid_fields(), ["state"], "it lives ten minutes");
}

async fn a_refused_token_is_recorded_with_its_cause(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let now = fixture.app.iam.now().timestamp();
    for (claims, cause) in [
        (json!({ "nonce": "other" }), "NONCE"),
        (json!({ "aud": "other" }), "AUDIENCE"),
        (json!({ "iss": "https://evil.example" }), "ISSUER"),
        (json!({ "exp": now - 1 }), "EXPIRED"),
        (json!({ "iat": now + 61 }), "EXPIRED"),
    ] {
        assert_eq!(fixture.result(&claims).await, Err("login_failed".to_owned()), "{cause}");
        let failures = fixture.failures().await;
        let newest = &failures[0];
        assert_eq!((&newest["reason"], &newest["cause"]), (&json!("FEDERATION"), &json!(cause)));
        assert_eq!(newest["providerId"], fixture.provider["id"]);
    }
}

async fn an_answer_of_the_provider_becomes_an_error_of_the_client(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    for (error, expected) in
        [("access_denied", "access_denied"), ("server_error", "unavailable"), ("invalid_scope", "login_failed")]
    {
        let query = fixture.app.providers.log_in(&fixture.begin().await, &fixture.app, &json!({}));
        let state = query.split("state=").nth(1).unwrap();
        let answer = fixture.come_back(&format!("error={error}&state={state}")).await;
        assert_eq!(answer.header("location").unwrap(), format!("{REDIRECT}?error={expected}"));
    }
}

async fn a_suspended_and_a_deleted_user_are_refused_at_the_end(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let grace = fixture.log_in(&json!({})).await.ok()["user"]["id"].as_str().unwrap().to_owned();
    fixture.app.set_status(&fixture.ada, &grace, "SUSPENDED").await;
    fixture.log_in(&json!({})).await.problem("forbidden");
    fixture.app.set_status(&fixture.ada, &grace, "ACTIVE").await;
    fixture.app.set_status(&fixture.ada, &grace, "INACTIVE").await;
    fixture.log_in(&json!({})).await.problem("unauthorized");
}

async fn a_user_with_a_second_factor_is_asked_for_it(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    fixture.verified("grace@example.com").await;
    let login = fixture.app.attempt("grace@example.com", PASSWORD).send().await.ok();
    let authenticator = fixture.app.enrol(&Person::logged_in(&login)).await;
    let pending = fixture.log_in(&json!({})).await.problem("second-factor-required");
    let body = json!({ "challenge": pending["challenge"], "code": authenticator.code(&fixture.app, 1) });
    fixture.app.pass(TimeDelta::seconds(30));
    let finished = fixture.app.post("/auth/login/second-factor").json(&body).send().await.ok();
    let me = fixture.app.get("/auth/me").bearer(finished["accessToken"].as_str().unwrap()).send().await.ok();
    assert_eq!(me["amr"], json!(["fed", "otp", "mfa"]));
}

async fn a_trusted_factor_of_the_provider_counts(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "factorIsTrusted": true })).await;
    fixture.verified("grace@example.com").await;
    let login = fixture.app.attempt("grace@example.com", PASSWORD).send().await.ok();
    fixture.app.enrol(&Person::logged_in(&login)).await;
    fixture.log_in(&json!({ "amr": ["pwd"] })).await.problem("second-factor-required");
    fixture.log_in(&json!({ "amr": ["pwd", "mfa"] })).await.ok();
}

async fn a_session_without_the_time_of_its_proof_is_not_fresh(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let change = json!({ "name": "key" });
    for (claims, is_fresh) in [(json!({}), true), (json!({ "auth_time": null }), false)] {
        let login = fixture.log_in(&claims).await.ok();
        let path = format!("/users/{}/api-keys", login["user"]["id"].as_str().unwrap());
        let answer = fixture.app.post(&path).bearer(login["accessToken"].as_str().unwrap()).json(&change).send().await;
        assert_eq!(answer.status(), if is_fresh { 201 } else { 401 }, "{}", answer.text());
    }
}

/// Links an account to a person. Returns the last answer.
async fn link(fixture: &Fixture, person: &Person, finisher: Option<&Person>, claims: &Value) -> Response {
    let started = fixture.app.post("/auth/identities/start").by(person).json(&fixture.start()).send().await.ok();
    let url = started["authorizationUrl"].as_str().unwrap();
    let query = fixture.app.providers.log_in(url, &fixture.app, claims);
    let answer = fixture.come_back(&query).await;
    let code = answer.header("location").unwrap().split("code=").nth(1).unwrap().to_owned();
    let finish = fixture.app.post("/auth/federation/finish");
    let finish = finish.json(&json!({ "code": code, "codeVerifier": VERIFIER }));
    match finisher {
        Some(person) => finish.by(person).send().await,
        None => finish.send().await,
    }
}

async fn a_user_links_and_removes_its_own_account(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "OFF" })).await;
    let Fixture { app, ada, .. } = &fixture;
    let claims = json!({ "email": "ada.private@social.example" });
    link(&fixture, ada, Some(ada), &claims).await.no_content();
    assert_eq!(fixture.log_in(&claims).await.ok()["user"]["id"], json!(ada.user));
    let path = format!("/users/{}/identities", ada.user);
    let list = app.get(&path).by(ada).send().await.ok();
    let identity = format!("/identities/{}", list["data"][0]["id"].as_str().unwrap());
    let grace = app.colleague(ada, "grace@example.com").await;
    app.delete(&identity).by(&grace).send().await.problem("forbidden");
    app.get(&path).by(&grace).send().await.problem("forbidden");
    app.delete(&identity).by(ada).send().await.no_content();
    assert_eq!(app.get(&path).by(ada).send().await.ok()["data"], json!([]));
    assert_eq!(fixture.result(&claims).await, Err("not_linked".to_owned()));
}

async fn an_administrator_removes_the_identity_of_another_user(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, .. } = &fixture;
    let remove = async |id: &str, by: &Person| app.delete(&format!("/identities/{id}")).by(by).send().await;
    let clerk = app.colleague(ada, "clerk@example.com").await;
    app.role(ada, "CLERK", &["users:read", "users:update"]).await;
    app.assign(ada, &clerk.user, "CLERK", None, None).await;
    let social = app.social_provider(&ada.tenant).await;
    let grace = app.colleague(ada, "grace@example.com").await;
    let (of_ada, of_grace) = (app.linked(&social, ada).await, app.linked(&social, &grace).await);
    // A clerk does not cover what the administrator may do.
    remove(&of_ada, &clerk).await.problem("forbidden");
    remove(&of_grace, &clerk).await.no_content();
    remove(&of_grace, &clerk).await.problem("not-found");
    let removed = &app.audit(ada, &[("resourceType", "IDENTITY"), ("action", "DELETE")]).await[0];
    assert_eq!((&removed["userId"], &removed["metadata"]["targetUserId"]), (&json!(clerk.user), &json!(grace.user)));
}

async fn the_last_way_to_log_in_stays(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let grace = fixture.log_in(&json!({ "auth_time": fixture.app.iam.now().timestamp() })).await.ok();
    let path = format!("/users/{}/identities", grace["user"]["id"].as_str().unwrap());
    let list = fixture.app.get(&path).by(&fixture.ada).send().await.ok();
    let identity = format!("/identities/{}", list["data"][0]["id"].as_str().unwrap());
    fixture.app.delete(&identity).by(&fixture.ada).send().await.problem("conflict");
    let token = grace["accessToken"].as_str().unwrap();
    fixture.app.delete(&identity).bearer(token).send().await.problem("conflict");
    assert_eq!(fixture.app.get(&path).by(&fixture.ada).send().await.ok(), list);
}

async fn a_user_without_a_password_chooses_one_by_a_link(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let app = &fixture.app;
    fixture.log_in(&json!({})).await.ok();
    let login = async |password: &str| {
        let body = json!({ "email": "grace@example.com", "password": password });
        app.post("/auth/login").json(&body).send().await
    };
    for guess in ["!", PASSWORD] {
        login(guess).await.problem("unauthorized");
    }
    app.post("/auth/password/forgot").json(&json!({ "email": "grace@example.com" })).send().await.accepted();
    let token = app.token(MailKind::Reset, "grace@example.com").await;
    let body = json!({ "token": token, "newPassword": PASSWORD });
    app.post("/auth/password/reset").json(&body).send().await.no_content();
    let session = login(PASSWORD).await.ok();
    let path = format!("/users/{}/identities", session["user"]["id"].as_str().unwrap());
    let list = app.get(&path).by(&fixture.ada).send().await.ok();
    let identity = format!("/identities/{}", list["data"][0]["id"].as_str().unwrap());
    app.delete(&identity).by(&fixture.ada).send().await.no_content();
}

async fn a_link_is_made_at_a_provider_of_the_own_tenant(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let eve = fixture.app.register("eve@example.net").await;
    let refused = fixture.app.post("/auth/identities/start").by(&eve).json(&fixture.start()).send().await;
    assert_eq!(refused.fields("not-found"), ["providerId"]);
}

async fn a_link_belongs_to_the_session_that_began_it(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let second = fixture.app.login(&fixture.ada).await;
    for finisher in [None, Some(&second)] {
        let answer = link(&fixture, &fixture.ada, finisher, &json!({})).await;
        assert_eq!(answer.invalid_fields(), ["code"]);
    }
}

async fn an_account_belongs_to_one_user(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let grace = fixture.app.colleague(&fixture.ada, "grace@example.com").await;
    link(&fixture, &grace, Some(&grace), &json!({})).await.no_content();
    link(&fixture, &fixture.ada, Some(&fixture.ada), &json!({})).await.problem("conflict");
    link(&fixture, &grace, Some(&grace), &json!({ "sub": "another" })).await.problem("conflict");
}

async fn a_removed_provider_takes_its_identities(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let grace = fixture.log_in(&json!({})).await.ok();
    let path = format!("/identity-providers/{}", fixture.provider["id"].as_str().unwrap());
    fixture.app.delete(&path).by(&fixture.ada).send().await.no_content();
    let identities = format!("/users/{}/identities", grace["user"]["id"].as_str().unwrap());
    assert_eq!(fixture.app.get(&identities).by(&fixture.ada).send().await.ok()["data"], json!([]));
    fixture.app.get("/auth/me").bearer(grace["accessToken"].as_str().unwrap()).send().await.ok();
}

async fn a_login_is_recorded_with_its_method(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let grace = fixture.log_in(&json!({})).await.ok();
    let logins = fixture.app.audit(&fixture.ada, &[("action", "LOGIN")]).await;
    let login = logins.iter().find(|entry| entry["userId"] == grace["user"]["id"]).unwrap();
    assert_eq!(login["metadata"]["method"], "federation");
    assert_eq!(login["metadata"]["providerId"], fixture.provider["id"]);
    let linked = fixture.app.audit(&fixture.ada, &[("resourceType", "IDENTITY")]).await;
    assert_eq!(
        (&linked[0]["action"], &linked[0]["metadata"]["targetUserId"]),
        (&json!("CREATE"), &grace["user"]["id"])
    );
    assert_eq!(linked[0]["newValue"]["issuer"], ISSUER);
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

    /// The claims of a logout token of a provider, with these members in place of the usual ones.
    fn logout(&self, members: &Value) -> Value {
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
        claims
    }

    /// A logout token that ends nothing.
    pub(crate) fn logout_token(&self) -> String {
        sign(&self.logout(&json!({ "sub": "nobody" })))
    }

    /// The query with which a browser comes back from a provider, for a person with these claims.
    pub(crate) async fn federated_query(&self, provider: &str, claims: &Value) -> String {
        let start =
            json!({ "providerId": provider, "redirectUri": REDIRECT, "codeChallenge": code_challenge(VERIFIER) });
        let started = self.post("/auth/federation/start").json(&start).send().await.ok();
        self.providers.log_in(started["authorizationUrl"].as_str().unwrap(), self, claims)
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
        let query = self.providers.log_in(started["authorizationUrl"].as_str().unwrap(), self, &claims);
        let code = self.returned_code(provider, &query).await;
        let body = json!({ "code": code, "codeVerifier": VERIFIER });
        self.post("/auth/federation/finish").by(person).json(&body).send().await.no_content();
        let list = self.get(&format!("/users/{}/identities", person.user)).by(person).send().await.ok();
        list["data"][0]["id"].as_str().unwrap().to_owned()
    }
}

/// The password of a right login, in a tenant that wants its people to use their providers.
async fn federated(fixture: &Fixture) {
    let Fixture { app, ada, .. } = fixture;
    let body = json!({ "passwordLogin": "FEDERATED" });
    app.patch(&format!("/tenants/{}", ada.tenant)).by(ada).json(&body).send().await.ok();
}

async fn a_pending_invitation_is_accepted_on_the_way(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, provider } = &fixture;
    let [member, auditor] = [app.role_id(ada, "MEMBER").await, app.role_id(ada, "AUDITOR").await];
    let path = format!("/identity-providers/{}", provider["id"].as_str().unwrap());
    app.patch(&path).by(ada).json(&json!({ "roles": [{ "roleId": member }] })).send().await.ok();
    let branch = app.organization(ada, "branch").await.to_string();
    let roles = json!([{ "roleId": member, "organizationId": branch }, { "roleId": member }, { "roleId": auditor }]);
    let invitation = app.invite(ada, &json!({ "email": "Grace@Example.com", "roles": roles })).await;
    let token = app.token(MailKind::Invitation, "Grace@Example.com").await;
    let grace = fixture.log_in(&json!({})).await.ok();
    let shown = app.get(&format!("/invitations/{invitation}")).by(ada).send().await.ok();
    assert_eq!(shown["status"], "ACCEPTED");
    let held = app.get(&format!("/users/{}/roles", grace["user"]["id"].as_str().unwrap())).by(ada).send().await.ok();
    assert_eq!(held["data"].as_array().unwrap().len(), 3);
    let late = json!({ "token": token, "password": PASSWORD, "firstName": "Eve", "lastName": "Evil" });
    assert_eq!(app.post("/invitations/accept").json(&late).send().await.invalid_fields(), ["token"]);
}

async fn an_invitation_without_the_rights_of_its_inviter_is_left(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, .. } = &fixture;
    let clerk = app.colleague(ada, "clerk@example.com").await;
    app.role(ada, "CLERK", &["invitations:create", "role-assignments:create", "users:read"]).await;
    app.assign(ada, &clerk.user, "CLERK", None, None).await;
    let role = app.role_id(ada, "CLERK").await;
    app.invite(&clerk, &json!({ "email": "grace@example.com", "roles": [{ "roleId": role }] })).await;
    app.set_status(ada, &clerk.user, "SUSPENDED").await;
    let grace = fixture.log_in(&json!({})).await.ok();
    let held = app.get(&format!("/users/{}/roles", grace["user"]["id"].as_str().unwrap())).by(ada).send().await.ok();
    assert_eq!(held["data"], json!([]));
}

async fn the_values_of_an_identity_are_erased_with_its_user(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, .. } = &fixture;
    let grace = fixture.log_in(&json!({ "sub": "grace.hopper" })).await.ok()["user"]["id"].clone();
    let path = format!("/users/{}", grace.as_str().unwrap());
    app.delete(&path).by(ada).send().await.no_content();
    let list = app.get(&format!("{path}/identities")).by(ada).send().await.ok();
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    app.sequence().await;
    app.post("/audit-logs/erasures").by(ada).json(&json!({ "userId": grace })).send().await.ok();
    assert_eq!(app.get(&format!("{path}/identities")).by(ada).send().await.ok()["data"], json!([]));
    let entries = app.audit(ada, &[("resourceType", "IDENTITY")]).await;
    assert_eq!(entries.len(), 2);
    for entry in entries {
        assert!(!entry.to_string().contains("grace.hopper") && !entry.to_string().contains("grace@"), "{entry}");
    }
}

/// Begins a step-up of a session, and comes back as a person with these claims. Returns the last answer.
async fn step_up(fixture: &Fixture, token: &str, claims: &Value) -> Response {
    let app = &fixture.app;
    let start = with(fixture.start(), &json!({ "stepUp": true }));
    let started = app.post("/auth/federation/start").bearer(token).json(&start).send().await.ok();
    let url = started["authorizationUrl"].as_str().unwrap();
    assert!(url.contains("prompt=login") && url.contains("max_age=0"), "{url}");
    let answer = fixture.come_back(&app.providers.log_in(url, app, claims)).await;
    let code = answer.header("location").unwrap().split("code=").nth(1).unwrap().to_owned();
    let body = json!({ "code": code, "codeVerifier": VERIFIER });
    app.post("/auth/federation/finish").bearer(token).json(&body).send().await
}

async fn a_session_authenticates_again_by_its_provider(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let app = &fixture.app;
    let grace = fixture.log_in(&json!({ "auth_time": null })).await.ok();
    let (token, id) = (grace["accessToken"].as_str().unwrap(), grace["user"]["id"].as_str().unwrap());
    let make =
        async || app.post(&format!("/users/{id}/api-keys")).bearer(token).json(&json!({ "name": "key" })).send().await;
    make().await.problem("insufficient-authentication");
    let two_minutes_ago = app.iam.now() - TimeDelta::minutes(2);
    step_up(&fixture, token, &json!({ "auth_time": two_minutes_ago.timestamp() })).await.no_content();
    make().await.created();
    let me = app.get("/auth/me").bearer(token).send().await.ok();
    assert_eq!((&me["amr"], &me["authTime"]), (&json!(["fed"]), &json!(shown(two_minutes_ago.trunc_subsecs(0)))));
}

async fn a_step_up_needs_the_person_of_the_session_and_a_new_proof(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let grace = fixture.log_in(&json!({ "auth_time": null })).await.ok();
    let token = grace["accessToken"].as_str().unwrap();
    step_up(&fixture, token, &json!({ "sub": "another" })).await.problem("unauthorized");
    assert_eq!(fixture.failures().await[0]["cause"], "NOT_LINKED");
    let now = fixture.app.iam.now();
    for claims in [
        json!({ "auth_time": null }),
        json!({ "auth_time": (now - TimeDelta::minutes(10)).timestamp() }),
        json!({ "auth_time": (now + TimeDelta::seconds(62)).timestamp() }),
    ] {
        step_up(&fixture, token, &claims).await.problem("insufficient-authentication");
    }
    // The code of one session is worth nothing in another one.
    let start = with(fixture.start(), &json!({ "stepUp": true }));
    let started = fixture.app.post("/auth/federation/start").bearer(token).json(&start).send().await.ok();
    let url = started["authorizationUrl"].as_str().unwrap();
    let answer = fixture.come_back(&fixture.app.providers.log_in(url, &fixture.app, &json!({}))).await;
    let code = answer.header("location").unwrap().split("code=").nth(1).unwrap().to_owned();
    assert_eq!(fixture.finish(&code).await.invalid_fields(), ["code"]);
}

async fn a_step_up_is_for_the_provider_of_the_session(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, .. } = &fixture;
    let start = with(fixture.start(), &json!({ "stepUp": true }));
    app.post("/auth/federation/start").json(&start).send().await.problem("unauthorized");
    let by_password = app.post("/auth/federation/start").by(ada).json(&start).send().await;
    assert_eq!(by_password.invalid_fields(), ["providerId"]);
    let linking = app.post("/auth/identities/start").by(ada).json(&start).send().await;
    assert_eq!(linking.invalid_fields(), ["stepUp"]);
}

async fn a_step_up_does_not_replace_the_second_factor(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let app = &fixture.app;
    let grace = fixture.log_in(&json!({})).await.ok();
    app.enrol(&Person::logged_in(&grace)).await;
    let token = grace["accessToken"].as_str().unwrap();
    step_up(&fixture, token, &json!({})).await.problem("unauthorized");
    let trusting = json!({ "factorIsTrusted": true });
    let path = format!("/identity-providers/{}", fixture.provider["id"].as_str().unwrap());
    app.patch(&path).by(&fixture.ada).json(&trusting).send().await.ok();
    step_up(&fixture, token, &json!({ "amr": ["pwd", "mfa"] })).await.no_content();
}

async fn send_logout(fixture: &Fixture, token: &str) -> Response {
    let path = format!("/auth/federation/backchannel-logout/{}", fixture.provider["id"].as_str().unwrap());
    fixture.app.post(&path).form(&json!({ "logout_token": token })).send().await
}

/// Sends a logout token that is accepted.
async fn log_out(fixture: &Fixture, members: &Value) {
    let answer = send_logout(fixture, &sign(&fixture.app.logout(members))).await;
    assert_eq!((answer.status(), answer.text().as_str()), (200, ""));
}

async fn a_logout_at_the_provider_ends_the_sessions_that_it_names(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let mut sessions = Vec::new();
    for claims in [
        json!({ "sid": "one" }),
        json!({ "sid": "two" }),
        json!({}),
        json!({ "sub": "other", "email": "o@example.com" }),
    ] {
        let token = fixture.log_in(&claims).await.ok()["accessToken"].as_str().unwrap().to_owned();
        sessions.push(token);
    }
    let live = async || {
        let mut live = Vec::new();
        for token in &sessions {
            live.push(fixture.app.get("/auth/me").bearer(token).send().await.status() == 200);
        }
        live
    };
    let subject = "248289761001";
    log_out(&fixture, &json!({ "sid": "one", "sub": subject })).await;
    assert_eq!(live().await, [false, true, true, true]);
    let entry = &fixture.app.audit(&fixture.ada, &[("action", "LOGOUT")]).await[0];
    assert_eq!(entry["metadata"]["reason"], "PROVIDER_LOGOUT");
    log_out(&fixture, &json!({ "sub": subject })).await;
    assert_eq!(live().await, [false, false, false, true]);
    for nothing in [json!({ "sub": "nobody" }), json!({ "sid": "one" }), json!({ "sid": "x".repeat(300) })] {
        log_out(&fixture, &nothing).await;
    }
    assert_eq!(live().await, [false, false, false, true]);
}

async fn a_logout_token_works_once_and_must_be_one(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let token = fixture.log_in(&json!({ "sid": "one" })).await.ok()["accessToken"].as_str().unwrap().to_owned();
    let now = fixture.app.iam.now().timestamp();
    for members in [
        json!({ "aud": "other" }),
        json!({ "iss": "https://evil.example" }),
        json!({ "iat": now - 600 }),
        json!({ "exp": now }),
        json!({ "jti": null }),
        json!({ "events": {} }),
        json!({ "nonce": "x" }),
        json!({ "sid": null }),
    ] {
        let members = with(json!({ "sid": "one" }), &members);
        let refused = send_logout(&fixture, &sign(&fixture.app.logout(&members))).await;
        assert_eq!(refused.invalid_fields(), ["logout_token"], "{members}");
    }
    for garbage in ["", "x", "a.b.c"] {
        assert_eq!(send_logout(&fixture, garbage).await.invalid_fields(), ["logout_token"]);
    }
    fixture.app.get("/auth/me").bearer(&token).send().await.ok();
    let once = sign(&fixture.app.logout(&json!({ "sid": "one" })));
    assert_eq!(send_logout(&fixture, &once).await.status(), 200);
    assert_eq!(send_logout(&fixture, &once).await.invalid_fields(), ["logout_token"]);
    let unknown = format!("/auth/federation/backchannel-logout/{}", fixture.ada.tenant);
    fixture.app.post(&unknown).form(&json!({ "logout_token": once })).send().await.problem("not-found");
}

async fn a_right_password_is_refused_where_the_provider_is_known(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, provider } = &fixture;
    fixture.verified("grace@example.com").await;
    let elsewhere = app.add_user(ada, "eve@elsewhere.example").await;
    let session = Person::logged_in(&app.attempt("grace@example.com", PASSWORD).send().await.ok());
    federated(&fixture).await;
    let refused = app.attempt("grace@example.com", PASSWORD).send().await.problem("federation-required");
    assert_eq!(refused["providers"][0]["id"], provider["id"]);
    assert_eq!(refused["providers"][0]["name"], "Acme");
    let failure = &fixture.failures().await[0];
    assert_eq!((&failure["reason"], &failure["attemptCount"]), (&json!("FEDERATION_REQUIRED"), &json!(0)));
    app.attempt("grace@example.com", "wrong").send().await.problem("unauthorized");
    app.attempt("eve@elsewhere.example", PASSWORD).send().await.ok();
    assert!(!elsewhere.is_empty());
    let step_up = app.post("/auth/step-up").by(&session).json(&json!({ "password": PASSWORD }));
    step_up.send().await.problem("federation-required");
    let discover = app.post("/auth/federation/discover").json(&json!({ "email": "x@example.com" }));
    assert_eq!(discover.send().await.ok()["passwordAllowed"], false);
    fixture.log_in(&json!({})).await.ok();
    // Without a provider that is enabled, the password counts again.
    let path = format!("/identity-providers/{}", provider["id"].as_str().unwrap());
    app.patch(&path).by(ada).json(&json!({ "enabled": false })).send().await.ok();
    app.attempt("grace@example.com", PASSWORD).send().await.ok();
}

async fn a_holder_of_all_permissions_may_use_its_password(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, .. } = &fixture;
    let grace = fixture.verified("grace@example.com").await;
    federated(&fixture).await;
    let branch = app.organization(ada, "branch").await;
    let everything = app.role(ada, "EVERYTHING", &["*"]).await;
    app.assign(ada, &grace, "EVERYTHING", Some(branch), None).await;
    app.attempt("grace@example.com", PASSWORD).send().await.problem("federation-required");
    let until = app.iam.now() + TimeDelta::hours(1);
    app.assign(ada, &grace, "EVERYTHING", None, Some(until)).await;
    app.attempt("grace@example.com", PASSWORD).send().await.ok();
    app.pass(TimeDelta::hours(1));
    app.attempt("grace@example.com", PASSWORD).send().await.problem("federation-required");
    assert!(!everything.is_empty());
}

async fn a_forgotten_password_sends_nothing_where_the_provider_is_known(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let app = &fixture.app;
    fixture.verified("grace@example.com").await;
    federated(&fixture).await;
    app.mails().await;
    for email in ["grace@example.com", "ada@other.example"] {
        app.post("/auth/password/forgot").json(&json!({ "email": email })).send().await.accepted();
    }
    let sent: Vec<String> = app.mails().await.iter().map(|mail| mail.to.as_str().to_owned()).collect();
    assert_eq!(sent, ["ada@other.example"]);
}

async fn a_browser_that_comes_back_too_late_sees_a_page(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let path = format!("/auth/federation/callback/{}?code=x&state=%3Cb%3E", fixture.provider["id"].as_str().unwrap());
    let page = fixture.app.get(&path).header("accept", "text/html,*/*;q=0.8").send().await;
    assert_eq!((page.status(), page.header("location")), (400, None));
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    assert!(page.text().contains("Begin again") && !page.text().contains("<b>"));
}

async fn a_person_is_named_as_when_the_code_was_made(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, provider } = &fixture;
    let path = format!("/identity-providers/{}", provider["id"].as_str().unwrap());
    app.providers.discover("https://new.example.com", &json!({}));
    for change in [json!({ "subjectClaim": "oid" }), json!({ "issuer": "https://new.example.com" })] {
        let code = fixture.result(&json!({ "oid": "another" })).await.unwrap();
        app.patch(&path).by(ada).json(&change).send().await.ok();
        assert_eq!(fixture.finish(&code).await.invalid_fields(), ["code"], "{change}");
    }
}

async fn first_logins_at_the_same_time_find_one_user(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let mut codes = Vec::new();
    for _ in 0..3 {
        codes.push(fixture.result(&json!({})).await.unwrap());
    }
    let [first, second, third] = codes.as_slice() else { panic!() };
    let answers = tokio::join!(fixture.finish(first), fixture.finish(second), fixture.finish(third));
    let users = [answers.0, answers.1, answers.2].map(|answer| answer.ok()["user"]["id"].clone());
    assert!(users[0] == users[1] && users[1] == users[2]);
}

async fn an_invitation_to_all_permissions_needs_its_mail(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE", "trustsEmail": true })).await;
    let Fixture { app, ada, .. } = &fixture;
    let everything = app.role_id(ada, "TENANT_ADMIN").await;
    app.invite(ada, &json!({ "email": "grace@example.com", "roles": [{ "roleId": everything }] })).await;
    let code = fixture.result(&json!({})).await.unwrap();
    fixture.finish(&code).await.problem("unauthorized");
    federated(&fixture).await;
    let token = app.token(MailKind::Invitation, "grace@example.com").await;
    let body = json!({ "token": token, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
    app.post("/invitations/accept").json(&body).send().await.created();
}

async fn a_social_provider_accepts_no_invitation(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE", "domainIds": [] })).await;
    let claims = json!({ "email": "eve@social.example" });
    fixture.app.invite(&fixture.ada, &json!({ "email": "eve@social.example", "roles": [] })).await;
    assert_eq!(fixture.result(&claims).await, Err("not_linked".to_owned()));
}

async fn a_logout_of_an_account_ends_its_sessions_without_a_name(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let mut tokens = Vec::new();
    for claims in [json!({}), json!({ "sid": "one" })] {
        tokens.push(fixture.log_in(&claims).await.ok()["accessToken"].as_str().unwrap().to_owned());
    }
    let status = async |token: &str| fixture.app.get("/auth/me").bearer(token).send().await.status();
    // The session belongs to another person, as the token says.
    log_out(&fixture, &json!({ "sub": "another", "sid": "one" })).await;
    assert_eq!((status(&tokens[0]).await, status(&tokens[1]).await), (200, 200));
    log_out(&fixture, &json!({ "sub": "248289761001", "sid": "two" })).await;
    assert_eq!((status(&tokens[0]).await, status(&tokens[1]).await), (401, 200));
}

async fn a_head_request_spends_no_state(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let query = fixture.app.providers.log_in(&fixture.begin().await, &fixture.app, &json!({}));
    let path = format!("/api/v1/auth/federation/callback/{}?{query}", fixture.provider["id"].as_str().unwrap());
    assert_eq!(fixture.app.request(axum::http::Method::HEAD, &path).send_to_host().await.0, 405);
    assert_eq!(fixture.come_back(&query).await.status(), 303);
}

async fn a_linked_person_with_another_address_uses_the_provider(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, provider } = &fixture;
    let grace = app.colleague(ada, "grace@private.example").await;
    link(&fixture, &grace, Some(&grace), &json!({})).await.no_content();
    federated(&fixture).await;
    let refused = app.attempt("grace@private.example", PASSWORD).send().await.problem("federation-required");
    assert_eq!(refused["providers"][0]["id"], provider["id"]);
}

async fn an_invitation_is_accepted_at_the_provider_where_passwords_are_not_allowed(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, provider } = &fixture;
    federated(&fixture).await;
    app.invite(ada, &json!({ "email": "grace@example.com", "roles": [] })).await;
    let token = app.token(MailKind::Invitation, "grace@example.com").await;
    let body = json!({ "token": token, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
    app.post("/invitations/accept").json(&body).send().await.problem("federation-required");
    // A provider that makes no users would leave the person outside.
    let path = format!("/identity-providers/{}", provider["id"].as_str().unwrap());
    app.patch(&path).by(ada).json(&json!({ "provisioning": "LINK" })).send().await.ok();
    app.post("/invitations/accept").json(&body).send().await.created();
}

async fn a_way_to_log_in_that_does_not_work_does_not_count(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, .. } = &fixture;
    let grace = app.colleague(ada, "grace@example.com").await;
    link(&fixture, &grace, Some(&grace), &json!({})).await.no_content();
    let list = app.get(&format!("/users/{}/identities", grace.user)).by(&grace).send().await.ok();
    let identity = format!("/identities/{}", list["data"][0]["id"].as_str().unwrap());
    federated(&fixture).await;
    app.delete(&identity).by(ada).send().await.problem("conflict");
    let disabled = app.provider(ada, &json!({ "name": "Second" })).await;
    let path = format!("/identity-providers/{}", disabled["id"].as_str().unwrap());
    app.linked(disabled["id"].as_str().unwrap(), &grace).await;
    app.patch(&path).by(ada).json(&json!({ "enabled": false })).send().await.ok();
    app.delete(&identity).by(ada).send().await.problem("conflict");
    app.patch(&path).by(ada).json(&json!({ "enabled": true })).send().await.ok();
    app.delete(&identity).by(ada).send().await.no_content();
}

async fn a_provider_that_does_not_answer_is_unavailable(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, .. } = &fixture;
    app.providers.answer(ISSUER, 500, "");
    app.post("/auth/federation/start").json(&fixture.start()).send().await.problem("unavailable");
    app.post("/auth/identities/start").by(ada).json(&fixture.start()).send().await.problem("unavailable");
    send_logout(&fixture, &app.logout_token()).await.problem("unavailable");
}

async fn an_api_key_begins_no_step_up(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, .. } = &fixture;
    let key = app.key(ada, &ada.user, &json!({ "permissions": [] })).await;
    let start = with(fixture.start(), &json!({ "stepUp": true }));
    let by_key = app.post("/auth/federation/start").bearer(key["key"].as_str().unwrap()).json(&start);
    by_key.send().await.problem("forbidden");
}
