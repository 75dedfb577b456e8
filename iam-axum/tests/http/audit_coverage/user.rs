//! Users and their states.

use serde_json::{Value, json};

use super::{Expected, Fixture, ended, entry, granted};
use crate::access_table::fresh_email;
use crate::people::{Person, profile, with};
use crate::request::Request;

/// An entry about Bob, by Ada.
fn about(fixture: &Fixture<'_>, action: &str) -> Expected {
    entry(action, "USER", fixture.bob.user.clone(), fixture.ada.user.clone())
}

fn status(status: &str) -> Value {
    json!({ "status": status })
}

fn fields(email: &str) -> Value {
    json!({ "email": email, "firstName": "Ada", "lastName": "Lovelace", "homeOrganizationId": null, "status": "ACTIVE" })
}

pub(super) async fn create(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let create = |by: &Person, body: &Value| app.post("/users").by(by).json(body);
    let email = fresh_email();
    fixture.refuses(create(ada, &json!({})), "validation-error").await;
    fixture.refuses(create(bob, &profile(&email)), "forbidden").await;
    fixture.refuses(create(ada, &profile(&bob.email)), "conflict").await;
    let (answer, correlation_id) = fixture.answer(create(ada, &profile(&email)), 201).await;
    let made = entry("CREATE", "USER", fixture.made(&answer), ada.user.clone());
    let made = made.creating(with(fields(&email), &json!({ "password": "[REDACTED]" })));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[made]);
}

pub(super) async fn update(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let path = format!("/users/{}", bob.user);
    let update = |by: &Person, body: Value| app.patch(&path).by(by).json(&body);
    let updated = |before, after| about(fixture, "UPDATE").updating(before, after);
    fixture.refuses(update(ada, json!({ "email": "x" })), "validation-error").await;
    fixture.refuses(update(bob, json!({ "firstName": "Bob" })), "forbidden").await;
    fixture.refuses(update(ada, json!({ "email": ada.email })), "conflict").await;
    fixture.refuses(app.patch(&format!("/users/{}", ada.tenant)).by(ada).json(&json!({})), "not-found").await;
    fixture.records(update(ada, json!({})), 200, []).await;
    fixture.records(update(ada, json!({ "firstName": "Ada", "email": bob.email, "status": "ACTIVE" })), 200, []).await;
    let [before, after] = [json!({ "firstName": "Ada" }), json!({ "firstName": "Bob" })];
    fixture.records(update(ada, after.clone()), 200, [updated(before, after)]).await;
    let [before, after] = [Value::Null, json!("00u1")].map(|id| json!({ "externalId": id }));
    fixture.records(update(ada, after.clone()), 200, [updated(before.clone(), after.clone())]).await;
    fixture.records(update(ada, before.clone()), 200, [updated(after, before)]).await;
    let email = fresh_email();
    let [before, after] =
        [("Lovelace", &bob.email), ("King", &email)].map(|(name, email)| json!({ "email": email, "lastName": name }));
    fixture.records(update(ada, after.clone()), 200, [updated(before, after)]).await;
    let [active, suspended, inactive] = ["ACTIVE", "SUSPENDED", "INACTIVE"].map(status);
    let beside = about(fixture, "USER_SUSPENDED").changing(active.clone(), suspended.clone());
    let expected = [updated(active.clone(), suspended.clone()), beside, ended(bob, ada, "USER_SUSPENDED")];
    fixture.records(update(ada, suspended.clone()), 200, expected).await;
    fixture.records(update(ada, suspended.clone()), 200, []).await;
    let beside = about(fixture, "USER_REACTIVATED").changing(suspended.clone(), active.clone());
    fixture.records(update(ada, active.clone()), 200, [updated(suspended, active.clone()), beside]).await;
    let (assignment, role) = member(fixture).await;
    let revoked = revoked(fixture, &assignment, &role);
    fixture.records(update(ada, inactive.clone()), 200, [updated(active.clone(), inactive.clone()), revoked]).await;
    fixture.records(update(ada, inactive.clone()), 200, []).await;
    fixture.records(update(ada, active.clone()), 200, [updated(inactive, active)]).await;
}

pub(super) async fn update_own(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    app.define(ada, &json!([{ "key": "floor", "type": "STRING", "personWrites": true }])).await;
    let update = |attributes: Value| app.patch("/auth/me").by(bob).json(&json!({ "attributes": attributes }));
    let updated = |before, after| {
        let [before, after] = [before, after].map(|attributes: Value| json!({ "attributes": attributes }));
        entry("UPDATE", "USER", bob.user.clone(), bob.user.clone()).updating(before, after)
    };
    fixture.refuses(update(json!({ "other": "x" })), "validation-error").await;
    fixture.refuses(update(json!({ "floor": 3 })), "validation-error").await;
    fixture.records(update(json!({})), 200, []).await;
    fixture.records(update(json!({ "floor": null })), 200, []).await;
    fixture.records(update(json!({ "floor": "3" })), 200, [updated(json!({}), json!({ "floor": "3" }))]).await;
    fixture.records(update(json!({ "floor": "3" })), 200, []).await;
    let changed = updated(json!({ "floor": "3" }), json!({ "floor": "4" }));
    fixture.records(update(json!({ "floor": "4" })), 200, [changed]).await;
    fixture.records(update(json!({ "floor": null })), 200, [updated(json!({ "floor": "4" }), json!({}))]).await;
}

/// Assigns Bob the role MEMBER. Returns the ids of the assignment and of the role.
async fn member(fixture: &Fixture<'_>) -> (String, String) {
    let Fixture { app, ada, bob, .. } = fixture;
    (app.assign(ada, &bob.user, "MEMBER", None, None).await, app.role_id(ada, "MEMBER").await)
}

/// The entry of this assignment, which is revoked because Bob is deleted.
fn revoked(fixture: &Fixture<'_>, assignment: &str, role: &str) -> Expected {
    let mut revoked = granted("ROLE_REVOKED", assignment, &fixture.ada, &fixture.bob.user, (role, "MEMBER"), None);
    revoked.0["metadata"]["reason"] = json!("USER_DELETED");
    revoked
}

pub(super) async fn delete(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let delete = |by: &Person, id: &str| app.delete(&format!("/users/{id}")).by(by);
    let (assignment, role) = member(fixture).await;
    fixture.refuses(delete(ada, "17"), "validation-error").await;
    fixture.refuses(delete(bob, &ada.user), "forbidden").await;
    fixture.refuses(delete(ada, &ada.tenant), "not-found").await;
    fixture.refuses(delete(ada, &ada.user), "conflict").await;
    let deleted = about(fixture, "DELETE").deleting(fields(&bob.email));
    let expected = [deleted, ended(bob, ada, "USER_DELETED"), revoked(fixture, &assignment, &role)];
    fixture.records(delete(ada, &bob.user), 204, expected).await;
    fixture.records(delete(ada, &bob.user), 204, []).await;
}

/// Checks an action with its own path that changes Bob's status from `before`.
async fn change_status(fixture: &Fixture<'_>, action: &str, before: &str, expected: impl AsRef<[Expected]>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let act = |by: &Person, id: &str| -> Request<'_> { app.post(&format!("/users/{id}/{action}")).by(by) };
    app.set_status(ada, &bob.user, before).await;
    fixture.refuses(act(ada, "17"), "validation-error").await;
    fixture.refuses(act(ada, &ada.tenant), "not-found").await;
    fixture.records(act(ada, &bob.user), 200, expected).await;
    fixture.records(act(ada, &bob.user), 200, []).await;
    app.set_status(ada, &bob.user, "INACTIVE").await;
    fixture.refuses(act(ada, &bob.user), "conflict").await;
}

pub(super) async fn suspend(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    fixture.refuses(app.post(&format!("/users/{}/suspend", ada.user)).by(bob), "forbidden").await;
    fixture.refuses(app.post(&format!("/users/{}/suspend", ada.user)).by(ada), "conflict").await;
    let suspended = about(fixture, "USER_SUSPENDED").changing(status("ACTIVE"), status("SUSPENDED"));
    change_status(fixture, "suspend", "ACTIVE", [suspended, ended(bob, ada, "USER_SUSPENDED")]).await;
}

pub(super) async fn reactivate(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    fixture.refuses(app.post(&format!("/users/{}/reactivate", ada.user)).by(bob), "forbidden").await;
    let reactivated = about(fixture, "USER_REACTIVATED").changing(status("SUSPENDED"), status("ACTIVE"));
    change_status(fixture, "reactivate", "SUSPENDED", [reactivated]).await;
}

pub(super) async fn export(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let path = format!("/users/{}/export", bob.user);
    let read =
        |format: &str| entry("READ", "USER", bob.user.clone(), ada.user.clone()).metadata(json!({ "format": format }));
    fixture.refuses(app.get(&path).by(ada).query("format", "pdf"), "validation-error").await;
    fixture.refuses(app.get(&format!("/users/{}/export", ada.user)).by(bob), "forbidden").await;
    fixture.records(app.get(&path).by(ada), 200, [read("application/json")]).await;
    fixture.records(app.get(&path).by(ada).query("format", "html"), 200, [read("text/html")]).await;
}
