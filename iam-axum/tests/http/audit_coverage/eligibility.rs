//! Eligibilities.

use serde_json::{Value, json};

use super::{Expected, Fixture, entry};
use crate::people::{Person, with};

/// A role, and the body of an eligibility of Bob for it.
async fn role(fixture: &Fixture<'_>) -> (String, Value) {
    let role = fixture.app.role(&fixture.ada, "CLERK", &["users:read"]).await;
    let body = json!({ "roleId": role, "userId": fixture.bob.user });
    (role, body)
}

/// An entry about an eligibility of Bob, by Ada.
fn about(fixture: &Fixture<'_>, action: &str, eligibility: &str, role: &str) -> Expected {
    entry(action, "ELIGIBILITY", eligibility.to_owned(), fixture.ada.user.clone())
        .metadata(json!({ "roleId": role, "targetUserId": fixture.bob.user }))
}

fn fields(body: &Value) -> Value {
    let defaults = json!({
        "organizationId": null,
        "heldRoleId": null,
        "maxSeconds": 28_800,
        "approvals": 1,
        "approverRoleId": null,
        "expiresAt": null,
    });
    with(defaults, body)
}

pub(super) async fn create(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let (role, body) = role(fixture).await;
    let create = |by: &Person, body: &Value| app.new_eligibility(by, body);
    fixture.refuses(create(ada, &json!({})), "validation-error").await;
    fixture.refuses(create(ada, &with(body.clone(), &json!({ "userId": role }))), "not-found").await;
    fixture.refuses(create(bob, &body), "forbidden").await;
    let (answer, correlation_id) = fixture.answer(create(ada, &body), 201).await;
    let made = about(fixture, "CREATE", &fixture.made(&answer), &role).creating(fields(&body));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[made]);
}

pub(super) async fn update(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let (role, body) = role(fixture).await;
    let id = app.eligibility(ada, &body).await;
    let update = |by: &Person, change: &Value| app.change_eligibility(by, &id, change);
    fixture.refuses(update(ada, &json!({ "maxSeconds": 0 })), "validation-error").await;
    fixture.refuses(update(bob, &json!({ "maxSeconds": 600 })), "forbidden").await;
    fixture.records(update(ada, &json!({ "maxSeconds": 28_800 })), 200, []).await;
    let [before, after] = [json!({ "maxSeconds": 28_800 }), json!({ "maxSeconds": 600 })];
    let updated = about(fixture, "UPDATE", &id, &role).changing(before, after.clone());
    let metadata = with(updated.0["metadata"].clone(), &json!({ "changedFields": ["maxSeconds"] }));
    fixture.records(update(ada, &after), 200, [updated.metadata(metadata)]).await;
}

pub(super) async fn delete(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let (role, body) = role(fixture).await;
    let id = app.eligibility(ada, &body).await;
    let path = format!("/eligibilities/{id}");
    fixture.refuses(app.delete(&path).by(bob), "forbidden").await;
    let removed = about(fixture, "DELETE", &id, &role).deleting(fields(&body));
    fixture.records(app.delete(&path).by(ada), 204, [removed]).await;
    fixture.refuses(app.delete(&path).by(ada), "not-found").await;
}
