//! Sessions that authenticate again at their provider (`docs/federation.md#step-up`).

use chrono::{SubsecRound as _, TimeDelta};
use serde_json::{Value, json};

use super::{Fixture, VERIFIER};
use crate::app::{TestApp, shown};
use crate::factor::set_policy;
use crate::people::{Person, with};
use crate::request::Response;

in_memory_with_mail![
    a_session_authenticates_again_by_its_provider,
    a_step_up_needs_the_person_of_the_session_and_a_new_proof,
    a_step_up_is_for_the_provider_of_the_session,
    a_step_up_does_not_replace_the_second_factor,
    a_person_who_must_set_up_a_factor_steps_up_before,
    a_factor_at_a_trusted_provider_meets_the_demand_for_one,
    an_api_key_begins_no_step_up,
];

/// Begins a step-up of a session, and comes back as a person with these claims. Returns the last answer.
async fn step_up(fixture: &Fixture, token: &str, claims: &Value) -> Response {
    let app = &fixture.app;
    let start = with(fixture.start(), &json!({ "stepUp": true }));
    let started = app.post("/auth/federation/start").bearer(token).json(&start).send().await.ok();
    let url = started["authorizationUrl"].as_str().unwrap();
    assert!(url.contains("prompt=login") && url.contains("max_age=0"), "{url}");
    let answer = fixture.come_back(&app.at_provider(url, claims)).await;
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
    let answer = fixture.come_back(&fixture.app.at_provider(url, &json!({}))).await;
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

async fn a_person_who_must_set_up_a_factor_steps_up_before(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, .. } = &fixture;
    set_policy(app, ada, "REQUIRED", 0).await;
    let grace = fixture.log_in(&json!({ "auth_time": null })).await.ok();
    let (token, person) = (grace["accessToken"].as_str().unwrap(), Person::logged_in(&grace));
    let list = async || app.get(&format!("/users/{}/identities", person.user)).by(&person).send().await;
    list().await.needs_factor();
    let set_up = async || app.post("/auth/factors/totp").by(&person).json(&json!({})).send().await;
    set_up().await.problem("insufficient-authentication");
    step_up(&fixture, token, &json!({})).await.no_content();
    app.enrol(&person).await;
    list().await.ok();
    // A restricted session links nothing.
    let restricted =
        Person::logged_in(&fixture.log_in(&json!({ "sub": "eve", "email": "eve@example.com" })).await.ok());
    let linking = app.post("/auth/identities/start").by(&restricted).json(&fixture.start()).send().await;
    linking.needs_factor();
}

async fn a_factor_at_a_trusted_provider_meets_the_demand_for_one(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE", "factorIsTrusted": true })).await;
    let Fixture { app, ada, .. } = &fixture;
    set_policy(app, ada, "REQUIRED", 0).await;
    for (methods, answer) in [(json!(["pwd"]), 403), (json!(["pwd", "mfa"]), 200)] {
        let grace = Person::logged_in(&fixture.log_in(&json!({ "amr": methods })).await.ok());
        let list = app.get(&format!("/users/{}/identities", grace.user)).by(&grace).send().await;
        assert_eq!(list.status(), answer, "{methods}: {}", list.text());
    }
}

async fn an_api_key_begins_no_step_up(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, .. } = &fixture;
    let key = app.key(ada, &ada.user, &json!({ "permissions": [] })).await;
    let start = with(fixture.start(), &json!({ "stepUp": true }));
    let by_key = app.post("/auth/federation/start").bearer(key["key"].as_str().unwrap()).json(&start);
    by_key.send().await.problem("forbidden");
}
