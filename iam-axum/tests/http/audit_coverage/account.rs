//! Addresses and passwords by links.

use chrono::TimeDelta;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use super::{Expected, Scene, ended, entry};
use crate::app::shown;
use crate::people::{PASSWORD, WRONG_PASSWORD};
use crate::table::fresh_email;

/// The entry of an address that the next request verifies. Each request of a scene comes a millisecond later.
fn verified_next(scene: &Scene<'_>) -> Expected {
    let at = shown(scene.app.iam.now() + TimeDelta::milliseconds(1));
    entry("EMAIL_VERIFIED", "USER", scene.bob.user.clone(), scene.bob.user.clone())
        .changing(json!({ "emailVerifiedAt": null }), json!({ "emailVerifiedAt": at }))
}

/// The token of the newest link to Bob.
async fn token(scene: &Scene<'_>, kind: MailKind) -> String {
    let mails = scene.app.mails().await;
    let mail = mails.iter().rfind(|mail| mail.kind == kind && mail.to.as_str() == scene.bob.email).unwrap();
    crate::mail::tokens(mail).remove(0)
}

pub(super) async fn request_verification(scene: &Scene<'_>) {
    let request = || scene.app.post("/auth/email/verification");
    scene.refuses(request(), "unauthorized").await;
    scene.records(request().by(&scene.bob), 202, []).await;
}

pub(super) async fn verify(scene: &Scene<'_>) {
    let verify = |token: &str| scene.app.post("/auth/email/verify").json(&json!({ "token": token }));
    scene.refuses(verify("iaml_"), "validation-error").await;
    let token = token(scene, MailKind::Verify).await;
    scene.records(verify(&token), 204, [verified_next(scene)]).await;
    scene.refuses(verify(&token), "validation-error").await;
}

pub(super) async fn change(scene: &Scene<'_>) {
    let change = |new: &str, password: &str| {
        let body = json!({ "newEmail": new, "currentPassword": password });
        scene.app.post("/auth/email").by(&scene.bob).json(&body)
    };
    scene.refuses(change("no address", PASSWORD), "validation-error").await;
    let metadata = json!({ "email": scene.bob.email, "reason": "INVALID_PASSWORD", "attemptCount": 1 });
    let failed = entry("LOGIN_FAILURE", "USER", None, None).metadata(metadata);
    scene.records(change(&fresh_email(), WRONG_PASSWORD), 400, [failed]).await;
    scene.records(change(&fresh_email(), PASSWORD), 202, []).await;
}

pub(super) async fn forgot(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let forgot = |body: Value| app.post("/auth/password/forgot").json(&body);
    scene.refuses(forgot(json!({})), "validation-error").await;
    scene.records(forgot(json!({ "email": fresh_email() })), 202, []).await;
    app.mails().await;
    // The request is recorded when the account is found, with its origin.
    let request = forgot(json!({ "email": bob.email, "tenant": bob.tenant }));
    let (_, correlation_id) = scene.answer(request, 202).await;
    app.mails().await;
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    let requested = entry("PASSWORD_RESET_REQUESTED", "USER", bob.user.clone(), None);
    scene.compare(&entries, &correlation_id, &bob.tenant, &[requested]);
}

pub(super) async fn reset(scene: &Scene<'_>) {
    let Scene { app, bob, .. } = scene;
    let reset = |token: &str, password: &str| {
        app.post("/auth/password/reset").json(&json!({ "token": token, "newPassword": password }))
    };
    scene.refuses(reset("iaml_", "N3w&Password"), "validation-error").await;
    let body = json!({ "email": bob.email, "tenant": bob.tenant });
    app.post("/auth/password/forgot").json(&body).send().await.accepted();
    let token = token(scene, MailKind::Reset).await;
    scene.refuses(reset(&token, "weak"), "validation-error").await;
    let changed = entry("PASSWORD_CHANGE", "USER", bob.user.clone(), bob.user.clone());
    let changed = changed.metadata(json!({ "method": "reset" }));
    // The caller is anonymous.
    let ended = ended(bob, bob, "PASSWORD_CHANGE").with("userId", Value::Null);
    scene.records(reset(&token, "N3w&Password"), 204, [verified_next(scene), changed, ended]).await;
    scene.refuses(reset(&token, "N3w&Password"), "validation-error").await;
}

pub(super) async fn start(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let path = format!("/users/{}/password-reset", bob.user);
    scene.refuses(app.post(&path).by(bob), "forbidden").await;
    let requested = || entry("PASSWORD_RESET_REQUESTED", "USER", bob.user.clone(), ada.user.clone());
    for _ in 0..3 {
        scene.records(app.post(&path).by(ada), 202, [requested()]).await;
    }
    // Beyond the limit for the address, no link is issued.
    scene.records(app.post(&path).by(ada), 202, []).await;
}
