//! Invitations.

use chrono::TimeDelta;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use super::{Fixture, entry, granted};
use crate::access_table::fresh_email;
use crate::app::shown;
use crate::people::{PASSWORD, Person};

/// The recorded fields of a pending invitation that was created now.
fn fields(fixture: &Fixture<'_>, email: &str, roles: &Value) -> Value {
    json!({
        "email": email,
        "firstName": null,
        "lastName": null,
        "roles": roles,
        "status": "PENDING",
        "expiresAt": shown(fixture.app.iam.now() + TimeDelta::days(7)),
    })
}

pub(super) async fn create(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let email = fresh_email();
    let role = app.role_id(ada, "MEMBER").await;
    let roles = json!([{ "roleId": role, "organizationId": null, "expiresAt": null }]);
    let create = |by: &Person| app.post("/invitations").by(by).json(&json!({ "email": email, "roles": roles }));
    fixture.refuses(create(bob), "forbidden").await;
    fixture.refuses(app.post("/invitations").by(ada).json(&json!({})), "validation-error").await;
    let (answer, correlation_id) = fixture.answer(create(ada), 201).await;
    let created = entry("CREATE", "INVITATION", fixture.made(&answer), ada.user.clone());
    let created = created.creating(fields(fixture, &email, &roles));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[created]);
    fixture.refuses(create(ada), "conflict").await;
}

pub(super) async fn look_up(fixture: &Fixture<'_>) {
    let Fixture { app, ada, .. } = fixture;
    let email = fresh_email();
    app.invite(ada, &json!({ "email": email, "roles": [] })).await;
    let token = app.token(MailKind::Invitation, &email).await;
    let look_up = |token: &str| app.post("/invitations/lookup").json(&json!({ "token": token }));
    fixture.records(look_up(&token), 200, []).await;
    fixture.refuses(look_up("iaml_"), "validation-error").await;
}

pub(super) async fn accept(fixture: &Fixture<'_>) {
    let Fixture { app, ada, .. } = fixture;
    let email = fresh_email();
    let role = app.role_id(ada, "MEMBER").await;
    let invitation = app.invite(ada, &json!({ "email": email, "roles": [{ "roleId": role }] })).await;
    let token = app.token(MailKind::Invitation, &email).await;
    let accept = |token: &str| {
        let body = json!({ "token": token, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
        app.post("/invitations/accept").json(&body)
    };
    fixture.refuses(accept("iaml_"), "validation-error").await;
    let (answer, correlation_id) = fixture.answer(accept(&token), 201).await;
    let grace = Person::logged_in(&answer.json());
    let of_grace = |action, resource_type, id: &str| entry(action, resource_type, id.to_owned(), grace.user.clone());
    let user = json!({
        "email": email, "firstName": "Grace", "lastName": "Hopper", "homeOrganizationId": null, "status": "ACTIVE",
        "password": "[REDACTED]",
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
    fixture.compare(&entries, &correlation_id, &ada.tenant, &expected);
    fixture.refuses(accept(&token), "validation-error").await;
}

pub(super) async fn delete(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let email = fresh_email();
    let id = app.invite(ada, &json!({ "email": email, "roles": [] })).await;
    let recorded = fields(fixture, &email, &json!([]));
    let delete = |by: &Person| app.delete(&format!("/invitations/{id}")).by(by);
    fixture.refuses(delete(bob), "forbidden").await;
    let deleted = entry("DELETE", "INVITATION", id.clone(), ada.user.clone()).deleting(recorded);
    fixture.records(delete(ada), 204, [deleted]).await;
    fixture.refuses(delete(ada), "conflict").await;
}

pub(super) async fn resend(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let id = app.invite(ada, &json!({ "email": fresh_email(), "roles": [] })).await;
    let resend = |by: &Person| app.post(&format!("/invitations/{id}/resend")).by(by);
    // A message that still waits is sent with the newest link, and counts once.
    let deliver = async || while app.iam.deliver_mail().await.unwrap().more {};
    deliver().await;
    let expiry = || json!({ "expiresAt": shown(app.iam.now() + TimeDelta::days(7)) });
    let mut before = expiry();
    fixture.refuses(resend(bob), "forbidden").await;
    for _ in 0..2 {
        let (_, correlation_id) = fixture.answer(resend(ada), 202).await;
        let updated = entry("UPDATE", "INVITATION", id.clone(), ada.user.clone()).updating(before, expiry());
        let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
        fixture.compare(&entries, &correlation_id, &ada.tenant, &[updated]);
        deliver().await;
        before = expiry();
    }
    // Beyond the limit for the address, no link is issued.
    fixture.records(resend(ada), 202, []).await;
}
