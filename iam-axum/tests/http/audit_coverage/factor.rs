//! Second factors.

use serde_json::{Value, json};

use super::{Expected, Scene, entry};
use crate::authenticator::Authenticator;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD};

/// An entry about a factor of Bob.
fn about(scene: &Scene<'_>, action: &str, id: &str, by: &Person) -> Expected {
    entry(action, "FACTOR", id.to_owned(), by.user.clone()).metadata(json!({ "targetUserId": scene.bob.user }))
}

/// The values of a factor.
fn values(name: &str) -> Value {
    json!({ "type": "totp", "displayName": name })
}

fn issued(scene: &Scene<'_>) -> Expected {
    let user = &scene.bob.user;
    entry("RECOVERY_CODES_ISSUED", "USER", user.clone(), user.clone()).metadata(json!({ "count": 10 }))
}

fn failed(scene: &Scene<'_>, reason: &str, attempts: u32) -> Expected {
    let metadata = json!({ "email": scene.bob.email, "reason": reason, "attemptCount": attempts });
    entry("LOGIN_FAILURE", "USER", None, None).metadata(metadata)
}

pub(super) async fn finish_login(scene: &Scene<'_>) {
    let Scene { app, bob, ada, .. } = scene;
    let authenticator = app.enrol(bob).await;
    let challenge = app.challenge(bob).await;
    let answer = |body: Value| app.post("/auth/login/second-factor").json(&body);
    scene.refuses(answer(json!({ "challenge": challenge })), "validation-error").await;
    scene.refuses(answer(json!({ "challenge": "iamc_", "code": "000000" })), "unauthorized").await;
    let wrong = answer(json!({ "challenge": challenge, "code": "000000" }));
    scene.records(wrong, 401, [failed(scene, "SECOND_FACTOR", 1)]).await;
    let right = answer(json!({ "challenge": challenge, "code": authenticator.code(app, 0) }));
    let (login, correlation_id) = scene.answer(right, 200).await;
    let session = Person::logged_in(&login.json()).session;
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    let began = entry("LOGIN", "SESSION", session, bob.user.clone()).metadata(json!({ "method": "password+totp" }));
    scene.compare(&entries, &correlation_id, &bob.tenant, &[began]);
}

pub(super) async fn options(scene: &Scene<'_>) {
    let Scene { app, bob, operation, .. } = scene;
    app.passkey(bob).await;
    let body = match operation.as_str() {
        "POST /auth/login/second-factor/options" => json!({ "challenge": app.challenge(bob).await }),
        _ => json!({}),
    };
    let path = operation.strip_prefix("POST ").unwrap();
    scene.records(app.post(path).by(bob).json(&body), 200, []).await;
}

pub(super) async fn log_in_by_passkey(scene: &Scene<'_>) {
    let Scene { app, bob, ada, .. } = scene;
    let mut laptop = app.passkey(bob).await;
    let log_in = |credential: Value| app.post("/auth/passkeys/login").json(&json!({ "credential": credential }));
    scene.refuses(log_in(json!({})), "validation-error").await;
    let options = app.passkey_options(&json!({})).await;
    let answer = laptop.answer_with(&options, |answer| answer.client_data["crossOrigin"] = json!(true));
    scene.records(log_in(answer), 401, [failed(scene, "SECOND_FACTOR", 0)]).await;
    let answer = laptop.answer(&app.passkey_options(&json!({})).await);
    let (login, correlation_id) = scene.answer(log_in(answer), 200).await;
    let session = Person::logged_in(&login.json()).session;
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    let began = entry("LOGIN", "SESSION", session, bob.user.clone()).metadata(json!({ "method": "passkey" }));
    scene.compare(&entries, &correlation_id, &bob.tenant, &[began]);
}

pub(super) async fn add_passkey(scene: &Scene<'_>) {
    let Scene { app, bob, ada, .. } = scene;
    let add = |credential: Value| app.post("/auth/factors/passkeys").by(bob).json(&json!({ "credential": credential }));
    scene.refuses(add(json!({})), "validation-error").await;
    let (made, correlation_id) = scene.answer(add(app.new_passkey(bob).await), 201).await;
    let values = json!({ "type": "passkey", "displayName": "Passkey" });
    let created = about(scene, "CREATE", made.json()["id"].as_str().unwrap(), bob).creating(values);
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    scene.compare(&entries, &correlation_id, &bob.tenant, &[created, issued(scene)]);
}

pub(super) async fn step_up(scene: &Scene<'_>) {
    let Scene { app, bob, .. } = scene;
    let step_up = |password: &str| app.post("/auth/step-up").by(bob).json(&json!({ "password": password }));
    scene.refuses(step_up(""), "validation-error").await;
    scene.records(step_up(WRONG_PASSWORD), 401, [failed(scene, "INVALID_PASSWORD", 1)]).await;
    let renewed = entry("UPDATE", "SESSION", bob.session.clone(), bob.user.clone());
    scene.records(step_up(PASSWORD), 204, [renewed.metadata(json!({ "method": "password" }))]).await;
}

pub(super) async fn add_totp(scene: &Scene<'_>) {
    let add = |name: &str| scene.app.post("/auth/factors/totp").by(&scene.bob).json(&json!({ "name": name }));
    scene.refuses(add(""), "validation-error").await;
    scene.records(add("Phone"), 201, []).await;
}

pub(super) async fn confirm_totp(scene: &Scene<'_>) {
    let Scene { app, bob, .. } = scene;
    let setup = app.post("/auth/factors/totp").by(bob).json(&json!({ "name": "Phone" })).send().await.created();
    let authenticator = Authenticator::scan(&setup);
    let path = format!("/auth/factors/totp/{}/confirm", authenticator.id);
    let confirm = |code: &str| app.post(&path).by(bob).json(&json!({ "code": code }));
    scene.refuses(confirm("000000"), "validation-error").await;
    let created = about(scene, "CREATE", &authenticator.id, bob).creating(values("Phone"));
    scene.records(confirm(&authenticator.code(app, 0)), 200, [created, issued(scene)]).await;
    scene.refuses(confirm(&authenticator.code(app, 1)), "conflict").await;
}

pub(super) async fn issue_recovery_codes(scene: &Scene<'_>) {
    let issue = || scene.app.post("/auth/factors/recovery-codes").by(&scene.bob);
    scene.refuses(issue(), "conflict").await;
    scene.app.enrol(&scene.bob).await;
    scene.records(issue(), 200, [issued(scene)]).await;
}

pub(super) async fn rename(scene: &Scene<'_>) {
    let id = scene.app.enrol(&scene.bob).await.id;
    let path = format!("/auth/factors/{id}");
    let rename = |name: &str| scene.app.patch(&path).by(&scene.bob).json(&json!({ "name": name }));
    scene.refuses(rename(""), "validation-error").await;
    let (before, after) = (json!({ "displayName": "Authenticator app" }), json!({ "displayName": "Phone" }));
    let renamed = entry("UPDATE", "FACTOR", id.clone(), scene.bob.user.clone()).changing(before, after);
    let metadata = json!({ "targetUserId": scene.bob.user, "changedFields": ["displayName"] });
    scene.records(rename("Phone"), 200, [renamed.metadata(metadata)]).await;
    scene.records(rename("Phone"), 200, []).await;
}

pub(super) async fn remove(scene: &Scene<'_>) {
    let id = scene.app.enrol(&scene.bob).await.id;
    let path = format!("/auth/factors/{id}");
    let remove = || scene.app.delete(&path).by(&scene.bob);
    let removed = about(scene, "DELETE", &id, &scene.bob).deleting(values("Authenticator app"));
    scene.records(remove(), 204, [removed]).await;
    scene.refuses(remove(), "not-found").await;
}

pub(super) async fn reset(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let id = app.enrol(bob).await.id;
    app.set_up(bob).await;
    let path = format!("/users/{}/factors", bob.user);
    scene.refuses(app.delete(&path).by(bob), "forbidden").await;
    let removed = about(scene, "DELETE", &id, ada).deleting(values("Authenticator app"));
    let ended = super::ended(bob, ada, "FACTORS_REMOVED");
    scene.records(app.delete(&path).by(ada), 204, [removed, ended]).await;
    scene.records(app.delete(&path).by(ada), 204, []).await;
}
