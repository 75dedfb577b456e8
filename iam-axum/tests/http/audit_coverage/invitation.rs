//! Invitations.

use chrono::TimeDelta;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use super::{Scene, entry, granted};
use crate::app::shown;
use crate::people::{PASSWORD, Person};
use crate::table::fresh_email;

/// The recorded fields of a pending invitation that was created now.
fn fields(scene: &Scene<'_>, email: &str, roles: &Value) -> Value {
    json!({
        "email": email,
        "firstName": null,
        "lastName": null,
        "roles": roles,
        "status": "PENDING",
        "expiresAt": shown(scene.app.iam.now() + TimeDelta::days(7)),
    })
}

pub(super) async fn create(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let email = fresh_email();
    let role = app.role_id(ada, "MEMBER").await;
    let roles = json!([{ "roleId": role, "organizationId": null, "expiresAt": null }]);
    let create = |by: &Person| app.post("/invitations").by(by).json(&json!({ "email": email, "roles": roles }));
    scene.refuses(create(bob), "forbidden").await;
    scene.refuses(app.post("/invitations").by(ada).json(&json!({})), "validation-error").await;
    let (answer, correlation_id) = scene.answer(create(ada), 201).await;
    let created = entry("CREATE", "INVITATION", scene.made(&answer), ada.user.clone());
    let created = created.creating(fields(scene, &email, &roles));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    scene.compare(&entries, &correlation_id, &ada.tenant, &[created]);
    scene.refuses(create(ada), "conflict").await;
}

pub(super) async fn look_up(scene: &Scene<'_>) {
    let Scene { app, ada, .. } = scene;
    let email = fresh_email();
    app.invite(ada, &json!({ "email": email, "roles": [] })).await;
    let token = app.token(MailKind::Invitation, &email).await;
    let look_up = |token: &str| app.post("/invitations/lookup").json(&json!({ "token": token }));
    scene.records(look_up(&token), 200, []).await;
    scene.refuses(look_up("iaml_"), "validation-error").await;
}

pub(super) async fn accept(scene: &Scene<'_>) {
    let Scene { app, ada, .. } = scene;
    let email = fresh_email();
    let role = app.role_id(ada, "MEMBER").await;
    let invitation = app.invite(ada, &json!({ "email": email, "roles": [{ "roleId": role }] })).await;
    let token = app.token(MailKind::Invitation, &email).await;
    let accept = |token: &str| {
        let body = json!({ "token": token, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
        app.post("/invitations/accept").json(&body)
    };
    scene.refuses(accept("iaml_"), "validation-error").await;
    let (answer, correlation_id) = scene.answer(accept(&token), 201).await;
    let grace = Person::logged_in(&answer.json());
    let of_grace = |action, resource_type, id: &str| entry(action, resource_type, id.to_owned(), grace.user.clone());
    let user = json!({
        "email": email, "firstName": "Grace", "lastName": "Hopper", "status": "ACTIVE", "password": "[REDACTED]",
        "emailVerifiedAt": app.now(),
    });
    let held = app.get(&format!("/users/{}/roles", grace.user)).by(ada).send().await.ok();
    let assignment = held["data"][0]["id"].as_str().unwrap();
    let expected = [
        of_grace("CREATE", "USER", &grace.user).creating(user).metadata(json!({ "invitationId": invitation })),
        granted("ROLE_ASSIGNED", assignment, &grace, &grace.user, (&role, "MEMBER"), None),
        of_grace("ACCEPTED", "INVITATION", &invitation)
            .changing(json!({ "status": "PENDING" }), json!({ "status": "ACCEPTED" })),
        of_grace("LOGIN", "SESSION", &grace.session).metadata(json!({ "method": "password" })),
    ];
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    scene.compare(&entries, &correlation_id, &ada.tenant, &expected);
    scene.refuses(accept(&token), "validation-error").await;
}

pub(super) async fn delete(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let email = fresh_email();
    let id = app.invite(ada, &json!({ "email": email, "roles": [] })).await;
    let recorded = fields(scene, &email, &json!([]));
    let delete = |by: &Person| app.delete(&format!("/invitations/{id}")).by(by);
    scene.refuses(delete(bob), "forbidden").await;
    let deleted = entry("DELETE", "INVITATION", id.clone(), ada.user.clone()).deleting(recorded);
    scene.records(delete(ada), 204, [deleted]).await;
    scene.refuses(delete(ada), "conflict").await;
}

pub(super) async fn resend(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let id = app.invite(ada, &json!({ "email": fresh_email(), "roles": [] })).await;
    let resend = |by: &Person| app.post(&format!("/invitations/{id}/resend")).by(by);
    let expiry = || json!({ "expiresAt": shown(app.iam.now() + TimeDelta::days(7)) });
    let mut before = expiry();
    scene.refuses(resend(bob), "forbidden").await;
    for _ in 0..2 {
        let (_, correlation_id) = scene.answer(resend(ada), 202).await;
        let updated = entry("UPDATE", "INVITATION", id.clone(), ada.user.clone()).updating(before, expiry());
        let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
        scene.compare(&entries, &correlation_id, &ada.tenant, &[updated]);
        before = expiry();
    }
    // Beyond the limit for the address, no link is issued.
    scene.records(resend(ada), 202, []).await;
}
