//! Service accounts and API keys.

use serde_json::{Value, json};

use super::{Expected, Scene, entry};
use crate::people::Person;

/// An entry about a key, by Ada.
fn about(scene: &Scene<'_>, action: &str, key: &str) -> Expected {
    entry(action, "API_KEY", key.to_owned(), scene.ada.user.clone()).metadata(json!({ "targetUserId": scene.bob.user }))
}

/// A key of Bob, and its audited fields.
async fn key(scene: &Scene<'_>) -> (String, Value) {
    let key = scene.app.key(&scene.ada, &scene.bob.user, &json!({ "permissions": ["users:read"] })).await;
    let fields = json!({
        "displayName": "nightly", "permissions": ["users:read"], "organizationId": null, "expiresAt": key["expiresAt"],
    });
    (key["id"].as_str().unwrap().to_owned(), fields)
}

pub(super) async fn create_account(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let create = |by: &Person, body: Value| app.post("/service-accounts").by(by).json(&body);
    scene.refuses(create(ada, json!({})), "validation-error").await;
    scene.refuses(create(bob, json!({ "name": "Importer" })), "forbidden").await;
    let (answer, correlation_id) = scene.answer(create(ada, json!({ "name": "Importer" })), 201).await;
    let made = entry("CREATE", "USER", scene.made(&answer), ada.user.clone());
    let made = made.creating(json!({ "kind": "SERVICE", "name": "Importer", "status": "ACTIVE" }));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    scene.compare(&entries, &correlation_id, &ada.tenant, &[made]);
}

pub(super) async fn create(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let path = format!("/users/{}/api-keys", bob.user);
    let create = |by: &Person, body: Value| app.post(&path).by(by).json(&body);
    scene.refuses(create(ada, json!({})), "validation-error").await;
    let carol = app.colleague(ada, &crate::table::fresh_email()).await;
    scene.refuses(create(&carol, json!({ "name": "nightly" })), "forbidden").await;
    let (answer, correlation_id) = scene.answer(create(ada, json!({ "name": "nightly" })), 201).await;
    let made = answer.json();
    let made = about(scene, "CREATE", &scene.made(&answer)).creating(json!({
        "displayName": "nightly", "permissions": null, "organizationId": null, "expiresAt": made["expiresAt"],
    }));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    scene.compare(&entries, &correlation_id, &ada.tenant, &[made]);
}

pub(super) async fn update(scene: &Scene<'_>) {
    let Scene { app, ada, .. } = scene;
    let (key, _) = key(scene).await;
    let path = format!("/api-keys/{key}");
    let update = |body: Value| app.patch(&path).by(ada).json(&body);
    scene.refuses(update(json!({ "permissions": ["*"] })), "validation-error").await;
    scene.records(update(json!({})), 200, []).await;
    scene.records(update(json!({ "name": "nightly" })), 200, []).await;
    let [before, after] = [json!({ "displayName": "nightly" }), json!({ "displayName": "hourly" })];
    let metadata = json!({ "changedFields": ["displayName"], "targetUserId": scene.bob.user });
    let updated = about(scene, "UPDATE", &key).changing(before, after).metadata(metadata);
    scene.records(update(json!({ "name": "hourly" })), 200, [updated]).await;
}

pub(super) async fn rotate(scene: &Scene<'_>) {
    let Scene { app, ada, .. } = scene;
    let (key, _) = key(scene).await;
    let path = format!("/api-keys/{key}/rotate");
    let rotate = |body: Value| app.post(&path).by(ada).json(&body);
    scene.refuses(rotate(json!({ "overlapSeconds": 86_401 })), "validation-error").await;
    let metadata = json!({ "targetUserId": scene.bob.user, "isRotated": true, "formerUntil": null });
    let rotated = about(scene, "UPDATE", &key).metadata(metadata);
    scene.records(rotate(json!({})), 200, [rotated]).await;
}

pub(super) async fn delete(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let (key, fields) = key(scene).await;
    let path = format!("/api-keys/{key}");
    let carol = app.colleague(ada, &crate::table::fresh_email()).await;
    scene.refuses(app.delete(&path).by(&carol), "forbidden").await;
    scene
        .records(
            app.delete(&path).by(bob),
            204,
            [Expected({
                let Expected(mut entry) = about(scene, "DELETE", &key).deleting(fields);
                entry["userId"] = json!(bob.user);
                entry
            })],
        )
        .await;
    scene.refuses(app.delete(&path).by(ada), "not-found").await;
}

pub(super) async fn introspect(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let introspect = |by: &Person| app.post("/auth/introspect").by(by).json(&json!({ "token": bob.access }));
    scene.refuses(introspect(bob), "forbidden").await;
    scene.records(introspect(ada), 200, []).await;
}
