//! Second factors.

use serde_json::{Value, json};

use super::{Expected, Fixture, entry};
use crate::authenticator::Authenticator;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD};

/// An entry about a factor of Bob.
fn about(fixture: &Fixture<'_>, action: &str, id: &str, by: &Person) -> Expected {
    entry(action, "FACTOR", id.to_owned(), by.user.clone()).metadata(json!({ "targetUserId": fixture.bob.user }))
}

/// The values of a factor.
fn values(name: &str) -> Value {
    json!({ "type": "totp", "name": name })
}

fn issued(fixture: &Fixture<'_>) -> Expected {
    let user = &fixture.bob.user;
    entry("RECOVERY_CODES_ISSUED", "USER", user.clone(), user.clone()).metadata(json!({ "count": 10 }))
}

/// The session that sets up the first factor has authenticated by it.
fn renewed(fixture: &Fixture<'_>, method: &str) -> Expected {
    let bob = &fixture.bob;
    entry("UPDATE", "SESSION", bob.session.clone(), bob.user.clone()).metadata(json!({ "method": method }))
}

fn failed(fixture: &Fixture<'_>, reason: &str, attempts: u32) -> Expected {
    let metadata = json!({ "email": fixture.bob.email, "reason": reason, "attemptCount": attempts });
    entry("LOGIN_FAILURE", "USER", None, None).metadata(metadata)
}

pub(super) async fn finish_login(fixture: &Fixture<'_>) {
    let Fixture { app, bob, ada, .. } = fixture;
    let authenticator = app.enrol(bob).await;
    let challenge = app.challenge(bob).await;
    let answer = |body: Value| app.post("/auth/login/second-factor").json(&body);
    fixture.refuses(answer(json!({ "challenge": challenge })), "validation-error").await;
    fixture.refuses(answer(json!({ "challenge": "iamc_", "code": "000000" })), "unauthorized").await;
    let wrong = answer(json!({ "challenge": challenge, "code": "000000" }));
    fixture.records(wrong, 401, [failed(fixture, "SECOND_FACTOR", 1)]).await;
    let right = answer(json!({ "challenge": challenge, "code": authenticator.code(app, 0) }));
    let (login, correlation_id) = fixture.answer(right, 200).await;
    let session = Person::logged_in(&login.json()).session;
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    let began = entry("LOGIN", "SESSION", session, bob.user.clone()).metadata(json!({ "method": "password+totp" }));
    fixture.compare(&entries, &correlation_id, &bob.tenant, &[began]);
}

pub(super) async fn options(fixture: &Fixture<'_>) {
    let Fixture { app, bob, operation, .. } = fixture;
    app.passkey(bob).await;
    let body = match operation.as_str() {
        "POST /auth/login/second-factor/options" => json!({ "challenge": app.challenge(bob).await }),
        _ => json!({}),
    };
    let path = operation.strip_prefix("POST ").unwrap();
    fixture.records(app.post(path).by(bob).json(&body), 200, []).await;
}

pub(super) async fn log_in_by_passkey(fixture: &Fixture<'_>) {
    let Fixture { app, bob, ada, .. } = fixture;
    let mut laptop = app.passkey(bob).await;
    let log_in = |credential: Value| app.post("/auth/passkeys/login").json(&json!({ "credential": credential }));
    fixture.refuses(log_in(json!({})), "validation-error").await;
    let options = app.passkey_options(&json!({})).await;
    let answer = laptop.answer_with(&options, |answer| answer.client_data["crossOrigin"] = json!(true));
    fixture.records(log_in(answer), 401, [failed(fixture, "SECOND_FACTOR", 0)]).await;
    let answer = laptop.answer(&app.passkey_options(&json!({})).await);
    let (login, correlation_id) = fixture.answer(log_in(answer), 200).await;
    let session = Person::logged_in(&login.json()).session;
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    let began = entry("LOGIN", "SESSION", session, bob.user.clone()).metadata(json!({ "method": "passkey" }));
    fixture.compare(&entries, &correlation_id, &bob.tenant, &[began]);
}

pub(super) async fn add_passkey(fixture: &Fixture<'_>) {
    let Fixture { app, bob, ada, .. } = fixture;
    let add = |credential: Value| app.post("/auth/factors/passkeys").by(bob).json(&json!({ "credential": credential }));
    fixture.refuses(add(json!({})), "validation-error").await;
    let (made, correlation_id) = fixture.answer(add(app.new_passkey(bob).await), 201).await;
    let values = json!({ "type": "passkey", "name": "Passkey" });
    let created = about(fixture, "CREATE", made.json()["id"].as_str().unwrap(), bob).creating(values);
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &bob.tenant, &[created, issued(fixture), renewed(fixture, "passkey")]);
}

pub(super) async fn step_up(fixture: &Fixture<'_>) {
    let Fixture { app, bob, .. } = fixture;
    let step_up = |password: &str| app.post("/auth/step-up").by(bob).json(&json!({ "password": password }));
    fixture.refuses(step_up(""), "validation-error").await;
    fixture.records(step_up(WRONG_PASSWORD), 401, [failed(fixture, "INVALID_PASSWORD", 1)]).await;
    fixture.records(step_up(PASSWORD), 204, [renewed(fixture, "password")]).await;
}

pub(super) async fn add_totp(fixture: &Fixture<'_>) {
    let add = |name: &str| fixture.app.post("/auth/factors/totp").by(&fixture.bob).json(&json!({ "name": name }));
    fixture.refuses(add(""), "validation-error").await;
    fixture.records(add("Phone"), 201, []).await;
}

pub(super) async fn confirm_totp(fixture: &Fixture<'_>) {
    let Fixture { app, bob, .. } = fixture;
    let setup = app.post("/auth/factors/totp").by(bob).json(&json!({ "name": "Phone" })).send().await.created();
    let authenticator = Authenticator::scan(&setup);
    let path = format!("/auth/factors/totp/{}/confirm", authenticator.id);
    let confirm = |code: &str| app.post(&path).by(bob).json(&json!({ "code": code }));
    fixture.refuses(confirm("000000"), "validation-error").await;
    let created = about(fixture, "CREATE", &authenticator.id, bob).creating(values("Phone"));
    fixture
        .records(confirm(&authenticator.code(app, 0)), 200, [created, issued(fixture), renewed(fixture, "totp")])
        .await;
    fixture.refuses(confirm(&authenticator.code(app, 1)), "conflict").await;
}

pub(super) async fn issue_recovery_codes(fixture: &Fixture<'_>) {
    let issue = || fixture.app.post("/auth/factors/recovery-codes").by(&fixture.bob);
    fixture.refuses(issue(), "conflict").await;
    fixture.app.enrol(&fixture.bob).await;
    fixture.records(issue(), 200, [issued(fixture)]).await;
}

pub(super) async fn rename(fixture: &Fixture<'_>) {
    let id = fixture.app.enrol(&fixture.bob).await.id;
    let path = format!("/auth/factors/{id}");
    let rename = |name: &str| fixture.app.patch(&path).by(&fixture.bob).json(&json!({ "name": name }));
    fixture.refuses(rename(""), "validation-error").await;
    let (before, after) = (json!({ "name": "Authenticator app" }), json!({ "name": "Phone" }));
    let renamed = entry("UPDATE", "FACTOR", id.clone(), fixture.bob.user.clone()).changing(before, after);
    let metadata = json!({ "targetUserId": fixture.bob.user, "changedFields": ["name"] });
    fixture.records(rename("Phone"), 200, [renamed.metadata(metadata)]).await;
    fixture.records(rename("Phone"), 200, []).await;
}

pub(super) async fn remove(fixture: &Fixture<'_>) {
    let id = fixture.app.enrol(&fixture.bob).await.id;
    let path = format!("/auth/factors/{id}");
    let remove = || fixture.app.delete(&path).by(&fixture.bob);
    let removed = about(fixture, "DELETE", &id, &fixture.bob).deleting(values("Authenticator app"));
    fixture.records(remove(), 204, [removed]).await;
    fixture.refuses(remove(), "not-found").await;
}

pub(super) async fn reset(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let id = app.enrol(bob).await.id;
    app.set_up(bob).await;
    let path = format!("/users/{}/factors", bob.user);
    fixture.refuses(app.delete(&path).by(bob), "forbidden").await;
    let removed = about(fixture, "DELETE", &id, ada).deleting(values("Authenticator app"));
    let ended = super::ended(bob, ada, "FACTORS_REMOVED");
    fixture.records(app.delete(&path).by(ada), 204, [removed, ended]).await;
    fixture.records(app.delete(&path).by(ada), 204, []).await;
}
