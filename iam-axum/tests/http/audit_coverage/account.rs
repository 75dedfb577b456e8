//! Addresses and passwords by links.

use chrono::TimeDelta;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use super::{Expected, Fixture, ended, entry};
use crate::access_table::fresh_email;
use crate::app::shown;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD};

/// The entry of an address that the next request verifies. Each request of a fixture comes a millisecond later.
fn verified_next(fixture: &Fixture<'_>) -> Expected {
    let at = shown(fixture.app.iam.now() + TimeDelta::milliseconds(1));
    entry("EMAIL_VERIFIED", "USER", fixture.bob.user.clone(), fixture.bob.user.clone())
        .changing(json!({ "emailVerifiedAt": null }), json!({ "emailVerifiedAt": at }))
}

/// The token of the newest link to Bob.
async fn token(fixture: &Fixture<'_>, kind: MailKind) -> String {
    let mails = fixture.app.mails().await;
    let mail = mails.iter().rfind(|mail| mail.kind == kind && mail.to.as_str() == fixture.bob.email).unwrap();
    crate::mail::tokens(mail).remove(0)
}

pub(super) async fn request_verification(fixture: &Fixture<'_>) {
    let request = || fixture.app.post("/auth/email/verification");
    fixture.refuses(request(), "unauthorized").await;
    fixture.records(request().by(&fixture.bob), 202, []).await;
}

pub(super) async fn verify(fixture: &Fixture<'_>) {
    let verify = |token: &str| fixture.app.post("/auth/email/verify").json(&json!({ "token": token }));
    fixture.refuses(verify("iaml_"), "validation-error").await;
    let token = token(fixture, MailKind::Verify).await;
    fixture.records(verify(&token), 204, [verified_next(fixture)]).await;
    fixture.refuses(verify(&token), "validation-error").await;
}

pub(super) async fn change(fixture: &Fixture<'_>) {
    let change = |new: &str, password: &str| {
        let body = json!({ "newEmail": new, "currentPassword": password });
        fixture.app.post("/auth/email").by(&fixture.bob).json(&body)
    };
    fixture.refuses(change("no address", PASSWORD), "validation-error").await;
    let metadata = json!({ "email": fixture.bob.email, "reason": "INVALID_PASSWORD", "attemptCount": 1 });
    let failed = entry("LOGIN_FAILURE", "USER", None, None).metadata(metadata);
    fixture.records(change(&fresh_email(), WRONG_PASSWORD), 400, [failed]).await;
    fixture.records(change(&fresh_email(), PASSWORD), 202, []).await;
}

pub(super) async fn forgot(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let forgot = |body: Value| app.post("/auth/password/forgot").json(&body);
    fixture.refuses(forgot(json!({})), "validation-error").await;
    fixture.records(forgot(json!({ "email": fresh_email() })), 202, []).await;
    app.mails().await;
    // The request is recorded when the account is found, with its origin.
    let request = forgot(json!({ "email": bob.email, "tenant": bob.tenant }));
    let (_, correlation_id) = fixture.answer(request, 202).await;
    app.mails().await;
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    let requested = entry("PASSWORD_RESET_REQUESTED", "USER", bob.user.clone(), None);
    fixture.compare(&entries, &correlation_id, &bob.tenant, &[requested]);
}

pub(super) async fn reset(fixture: &Fixture<'_>) {
    let Fixture { app, bob, .. } = fixture;
    let reset = |token: &str, password: &str| {
        app.post("/auth/password/reset").json(&json!({ "token": token, "newPassword": password }))
    };
    fixture.refuses(reset("iaml_", "N3w&Password"), "validation-error").await;
    let body = json!({ "email": bob.email, "tenant": bob.tenant });
    app.post("/auth/password/forgot").json(&body).send().await.accepted();
    let token = token(fixture, MailKind::Reset).await;
    fixture.refuses(reset(&token, "weak"), "validation-error").await;
    let changed = entry("PASSWORD_CHANGE", "USER", bob.user.clone(), bob.user.clone());
    let changed = changed.metadata(json!({ "method": "reset" }));
    // The caller is anonymous.
    let ended = ended(bob, bob, "PASSWORD_CHANGE").with("userId", Value::Null);
    fixture.records(reset(&token, "N3w&Password"), 204, [verified_next(fixture), changed, ended]).await;
    fixture.refuses(reset(&token, "N3w&Password"), "validation-error").await;
}

pub(super) async fn start_email_login(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let start = |body: Value| app.post("/auth/email-login").json(&body);
    fixture.refuses(start(json!({})), "validation-error").await;
    fixture.records(start(json!({ "email": fresh_email() })), 202, []).await;
    app.allow_email_login(bob).await;
    app.mails().await;
    // The request is recorded when the account is found, with its origin.
    let (_, correlation_id) = fixture.answer(start(json!({ "email": bob.email, "tenant": bob.tenant })), 202).await;
    app.mails().await;
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    let requested = entry("EMAIL_LOGIN_REQUESTED", "USER", bob.user.clone(), None);
    fixture.compare(&entries, &correlation_id, &bob.tenant, &[requested]);
}

pub(super) async fn finish_email_login(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let finish = |body: Value| app.post("/auth/email-login/finish").json(&body);
    fixture.refuses(finish(json!({ "token": "iaml_" })), "validation-error").await;
    app.allow_email_login(bob).await;
    let begun = app.email_login(bob).await;
    let wrong = if begun.code == "00000000" { "00000001" } else { "00000000" };
    let metadata = json!({ "email": bob.email, "reason": "INVALID_CODE", "attemptCount": 1 });
    let failed = entry("LOGIN_FAILURE", "USER", None, None).metadata(metadata);
    fixture.records(finish(json!({ "flow": begun.flow, "code": wrong })), 400, [failed]).await;
    let right = json!({ "flow": begun.flow, "code": begun.code });
    let (answer, correlation_id) = fixture.answer(finish(right.clone()), 200).await;
    let session = Person::logged_in(&answer.json());
    let began = entry("LOGIN", "SESSION", session.session.clone(), session.user.clone());
    let began = began.metadata(json!({ "method": "email" }));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &bob.tenant, &[began]);
    fixture.refuses(finish(right), "validation-error").await;
}

pub(super) async fn start(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let path = format!("/users/{}/password-reset", bob.user);
    fixture.refuses(app.post(&path).by(bob), "forbidden").await;
    let requested = || entry("PASSWORD_RESET_REQUESTED", "USER", bob.user.clone(), ada.user.clone());
    for _ in 0..3 {
        fixture.records(app.post(&path).by(ada), 202, [requested()]).await;
        // A request that finds the message of the one before unsent counts with it.
        app.mails().await;
    }
    // Beyond the limit for the address, no link is issued.
    fixture.records(app.post(&path).by(ada), 202, []).await;
}
