//! Users and their states.

use serde_json::{Value, json};

use super::{Expected, Scene, ended, entry, granted};
use crate::people::{Person, profile, with};
use crate::request::Request;
use crate::table::fresh_email;

/// An entry about Bob, by Ada.
fn about(scene: &Scene<'_>, action: &str) -> Expected {
    entry(action, "USER", scene.bob.user.clone(), scene.ada.user.clone())
}

fn status(status: &str) -> Value {
    json!({ "status": status })
}

fn fields(email: &str) -> Value {
    json!({ "email": email, "firstName": "Ada", "lastName": "Lovelace", "status": "ACTIVE" })
}

pub(super) async fn create(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let create = |by: &Person, body: &Value| app.post("/users").by(by).json(body);
    let email = fresh_email();
    scene.refuses(create(ada, &json!({})), "validation-error").await;
    scene.refuses(create(bob, &profile(&email)), "forbidden").await;
    scene.refuses(create(ada, &profile(&bob.email)), "conflict").await;
    let (answer, correlation_id) = scene.answer(create(ada, &profile(&email)), 201).await;
    let made = entry("CREATE", "USER", scene.made(&answer), ada.user.clone());
    let made = made.creating(with(fields(&email), &json!({ "password": "[REDACTED]" })));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    scene.compare(&entries, &correlation_id, &ada.tenant, &[made]);
}

pub(super) async fn update(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let path = format!("/users/{}", bob.user);
    let update = |by: &Person, body: Value| app.patch(&path).by(by).json(&body);
    let updated = |before, after| about(scene, "UPDATE").updating(before, after);
    scene.refuses(update(ada, json!({ "email": "x" })), "validation-error").await;
    scene.refuses(update(bob, json!({ "firstName": "Bob" })), "forbidden").await;
    scene.refuses(update(ada, json!({ "email": ada.email })), "conflict").await;
    scene.refuses(app.patch(&format!("/users/{}", ada.tenant)).by(ada).json(&json!({})), "not-found").await;
    scene.records(update(ada, json!({})), 200, []).await;
    scene.records(update(ada, json!({ "firstName": "Ada", "email": bob.email, "status": "ACTIVE" })), 200, []).await;
    let [before, after] = [json!({ "firstName": "Ada" }), json!({ "firstName": "Bob" })];
    scene.records(update(ada, after.clone()), 200, [updated(before, after)]).await;
    let email = fresh_email();
    let [before, after] =
        [("Lovelace", &bob.email), ("King", &email)].map(|(name, email)| json!({ "email": email, "lastName": name }));
    scene.records(update(ada, after.clone()), 200, [updated(before, after)]).await;
    let [active, suspended, inactive] = ["ACTIVE", "SUSPENDED", "INACTIVE"].map(status);
    let beside = about(scene, "USER_SUSPENDED").changing(active.clone(), suspended.clone());
    let expected = [updated(active.clone(), suspended.clone()), beside, ended(bob, ada, "USER_SUSPENDED")];
    scene.records(update(ada, suspended.clone()), 200, expected).await;
    scene.records(update(ada, suspended.clone()), 200, []).await;
    let beside = about(scene, "USER_REACTIVATED").changing(suspended.clone(), active.clone());
    scene.records(update(ada, active.clone()), 200, [updated(suspended, active.clone()), beside]).await;
    let (assignment, role) = member(scene).await;
    let revoked = revoked(scene, &assignment, &role);
    scene.records(update(ada, inactive.clone()), 200, [updated(active.clone(), inactive.clone()), revoked]).await;
    scene.records(update(ada, inactive.clone()), 200, []).await;
    scene.records(update(ada, active.clone()), 200, [updated(inactive, active)]).await;
}

/// Assigns Bob the role MEMBER. Returns the ids of the assignment and of the role.
async fn member(scene: &Scene<'_>) -> (String, String) {
    let Scene { app, ada, bob, .. } = scene;
    (app.assign(ada, &bob.user, "MEMBER", None, None).await, app.role_id(ada, "MEMBER").await)
}

/// The entry of this assignment, which is revoked because Bob is deleted.
fn revoked(scene: &Scene<'_>, assignment: &str, role: &str) -> Expected {
    let mut revoked = granted("ROLE_REVOKED", assignment, &scene.ada, &scene.bob.user, (role, "MEMBER"), None);
    revoked.0["metadata"]["reason"] = json!("USER_DELETED");
    revoked
}

pub(super) async fn delete(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let delete = |by: &Person, id: &str| app.delete(&format!("/users/{id}")).by(by);
    let (assignment, role) = member(scene).await;
    scene.refuses(delete(ada, "17"), "validation-error").await;
    scene.refuses(delete(bob, &ada.user), "forbidden").await;
    scene.refuses(delete(ada, &ada.tenant), "not-found").await;
    scene.refuses(delete(ada, &ada.user), "conflict").await;
    let deleted = about(scene, "DELETE").deleting(fields(&bob.email));
    let expected = [deleted, ended(bob, ada, "USER_DELETED"), revoked(scene, &assignment, &role)];
    scene.records(delete(ada, &bob.user), 204, expected).await;
    scene.records(delete(ada, &bob.user), 204, []).await;
}

/// Checks an action with its own path that changes Bob's status from `before`.
async fn change_status(scene: &Scene<'_>, action: &str, before: &str, expected: impl AsRef<[Expected]>) {
    let Scene { app, ada, bob, .. } = scene;
    let act = |by: &Person, id: &str| -> Request<'_> { app.post(&format!("/users/{id}/{action}")).by(by) };
    app.set_status(ada, &bob.user, before).await;
    scene.refuses(act(ada, "17"), "validation-error").await;
    scene.refuses(act(ada, &ada.tenant), "not-found").await;
    scene.records(act(ada, &bob.user), 200, expected).await;
    scene.records(act(ada, &bob.user), 200, []).await;
    app.set_status(ada, &bob.user, "INACTIVE").await;
    scene.refuses(act(ada, &bob.user), "conflict").await;
}

pub(super) async fn suspend(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    scene.refuses(app.post(&format!("/users/{}/suspend", ada.user)).by(bob), "forbidden").await;
    scene.refuses(app.post(&format!("/users/{}/suspend", ada.user)).by(ada), "conflict").await;
    let suspended = about(scene, "USER_SUSPENDED").changing(status("ACTIVE"), status("SUSPENDED"));
    change_status(scene, "suspend", "ACTIVE", [suspended, ended(bob, ada, "USER_SUSPENDED")]).await;
}

pub(super) async fn reactivate(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    scene.refuses(app.post(&format!("/users/{}/reactivate", ada.user)).by(bob), "forbidden").await;
    let reactivated = about(scene, "USER_REACTIVATED").changing(status("SUSPENDED"), status("ACTIVE"));
    change_status(scene, "reactivate", "SUSPENDED", [reactivated]).await;
}
