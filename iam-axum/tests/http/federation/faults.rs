//! Faults of providers (`docs/federation.md#the-flow`).

use chrono::TimeDelta;
use serde_json::json;
use test_support::identity_provider::ISSUER;

use super::{Fixture, send_logout};
use crate::app::{REDIRECT, TestApp};

in_memory_with_mail![
    a_refused_token_is_recorded_with_its_cause,
    an_answer_of_the_provider_becomes_an_error_of_the_client,
    a_provider_that_does_not_answer_is_unavailable,
    a_provider_that_fails_is_not_asked_by_each_request,
    the_clock_of_a_provider_may_be_ahead_by_half_a_minute,
    a_key_that_has_changed_since_the_start_is_read_again_once_a_minute,
];

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
        let query = fixture.app.at_provider(&fixture.begin().await, &json!({}));
        let state = query.split("state=").nth(1).unwrap();
        let answer = fixture.come_back(&format!("error={error}&state={state}")).await;
        assert_eq!(answer.header("location").unwrap(), format!("{REDIRECT}?error={expected}"));
    }
}

async fn a_provider_that_does_not_answer_is_unavailable(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, .. } = &fixture;
    app.providers.answer(ISSUER, 500, "");
    let asked = app.providers.asked();
    app.post("/auth/federation/start").json(&fixture.start()).send().await.problem("unavailable");
    app.post("/auth/identities/start").by(ada).json(&fixture.start()).send().await.problem("unavailable");
    send_logout(&fixture, &app.logout_token()).await.problem("unavailable");
    assert_eq!(app.providers.asked(), asked + 1);
}

async fn a_provider_that_fails_is_not_asked_by_each_request(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let app = &fixture.app;
    let (token, url) = (app.logout_token(), fixture.begin().await);
    app.providers.go_down();
    let asked = app.providers.asked();
    for _ in 0..3 {
        send_logout(&fixture, &token).await.problem("unavailable");
    }
    assert_eq!(app.providers.asked(), asked + 1);
    assert_eq!(fixture.returned(&app.at_provider(&url, &json!({}))).await, Err("unavailable".to_owned()));
}

async fn the_clock_of_a_provider_may_be_ahead_by_half_a_minute(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let app = &fixture.app;
    let ahead = app.iam.now() + TimeDelta::seconds(30);
    let query = app.providers.log_in(&fixture.begin().await, ahead, &json!({}));
    let code = fixture.returned(&query).await.unwrap();
    let grace = fixture.finish(&code).await.ok();
    let me = app.get("/auth/me").bearer(grace["accessToken"].as_str().unwrap()).send().await.ok();
    assert_eq!(me["authTime"], app.now(), "no session has authenticated in the future");
}

async fn a_key_that_has_changed_since_the_start_is_read_again_once_a_minute(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let providers = &fixture.app.providers;
    fixture.log_in(&json!({})).await.ok();
    assert_eq!(providers.keys_read(), 1);
    let url = fixture.begin().await;
    providers.rotate_key("two");
    let code = fixture.returned(&fixture.app.at_provider(&url, &json!({}))).await.unwrap();
    fixture.finish(&code).await.ok();
    assert_eq!(providers.keys_read(), 2);
    providers.rotate_key("three");
    assert_eq!(fixture.result(&json!({})).await, Err("login_failed".to_owned()));
    assert_eq!(fixture.failures().await[0]["cause"], "SIGNATURE");
    assert_eq!(providers.keys_read(), 2);
}
