//! Logins by a provider (`docs/federation.md#the-flow`).

use chrono::TimeDelta;
use iam_core::federation::code_challenge;
use serde_json::{Value, json};
use test_support::identity_provider::ISSUER;

use super::{Fixture, VERIFIER};
use crate::app::TestApp;
use crate::people::{PASSWORD, Person, with};
use crate::request::each;

in_memory_with_mail![
    the_providers_of_a_tenant_are_public,
    the_domain_of_an_address_leads_to_its_providers,
    a_start_asks_the_provider_with_its_own_secrets,
    every_invalid_field_of_a_start_is_named,
    a_known_person_logs_in,
    a_code_works_once_and_for_its_client_only,
    a_state_works_once_and_at_its_own_callback,
    a_head_request_spends_no_state,
    a_browser_that_comes_back_too_late_sees_a_page,
    a_person_is_named_as_when_the_code_was_made,
    a_suspended_and_a_deleted_user_are_refused_at_the_end,
    a_user_with_a_second_factor_is_asked_for_it,
    a_login_that_waits_for_a_factor_ends_with_its_provider,
    a_trusted_factor_of_the_provider_counts,
    a_session_without_the_time_of_its_proof_is_not_fresh,
    a_login_is_recorded_with_its_method,
];

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
    let query = fixture.app.at_provider(&fixture.begin().await, &json!({}));
    assert_eq!(fixture.come_back(&query).await.status(), 303);
    for query in [query.as_str(), "code=x&state=x", "code=x", ""] {
        let answer = fixture.come_back(query).await;
        assert_eq!((answer.invalid_fields(), answer.header("location")), (vec!["state".to_owned()], None), "{query}");
    }
    let other = fixture.app.provider(&fixture.ada, &json!({ "name": "Other" })).await;
    let query = fixture.app.at_provider(&fixture.begin().await, &json!({}));
    let path = format!("/auth/federation/callback/{}?{query}", other["id"].as_str().unwrap());
    assert_eq!(fixture.app.get(&path).send().await.invalid_fields(), ["state"], "another provider mixes in");
    let query = fixture.app.at_provider(&fixture.begin().await, &json!({}));
    fixture.app.pass(TimeDelta::minutes(10));
    assert_eq!(fixture.come_back(&query).await.invalid_fields(), ["state"], "it lives ten minutes");
}

async fn a_head_request_spends_no_state(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let query = fixture.app.at_provider(&fixture.begin().await, &json!({}));
    let path = format!("/api/v1/auth/federation/callback/{}?{query}", fixture.provider["id"].as_str().unwrap());
    assert_eq!(fixture.app.request(axum::http::Method::HEAD, &path).send_to_host().await.0, 405);
    assert_eq!(fixture.come_back(&query).await.status(), 303);
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

async fn a_login_that_waits_for_a_factor_ends_with_its_provider(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, provider } = &fixture;
    let authenticator = app.enrol(&Person::logged_in(&fixture.log_in(&json!({})).await.ok())).await;
    let pending = fixture.log_in(&json!({})).await.problem("second-factor-required");
    app.pass(TimeDelta::seconds(30));
    let body = json!({ "challenge": pending["challenge"], "code": authenticator.code(app, 0) });
    let answer = async || app.post("/auth/login/second-factor").json(&body).send().await;
    let path = format!("/identity-providers/{}", provider["id"].as_str().unwrap());
    let enable = async |enabled: bool| {
        app.patch(&path).by(ada).json(&json!({ "enabled": enabled })).send().await.ok();
    };
    enable(false).await;
    answer().await.problem("unauthorized");
    enable(true).await;
    answer().await.ok();
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
