//! Service accounts and API keys.

use serde_json::{Value, json};

use super::{Expected, Fixture, entry};
use crate::people::Person;

/// An entry about a key, by Ada.
fn about(fixture: &Fixture<'_>, action: &str, key: &str) -> Expected {
    entry(action, "API_KEY", key.to_owned(), fixture.ada.user.clone())
        .metadata(json!({ "targetUserId": fixture.bob.user }))
}

/// A key of Bob, and its audited fields.
async fn key(fixture: &Fixture<'_>) -> (String, Value) {
    let key = fixture.app.key(&fixture.ada, &fixture.bob.user, &json!({ "permissions": ["users:read"] })).await;
    let fields = json!({
        "name": "nightly", "permissions": ["users:read"], "organizationId": null, "expiresAt": key["expiresAt"],
    });
    (key["id"].as_str().unwrap().to_owned(), fields)
}

pub(super) async fn create_account(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let create = |by: &Person, body: Value| app.post("/service-accounts").by(by).json(&body);
    fixture.refuses(create(ada, json!({})), "validation-error").await;
    fixture.refuses(create(bob, json!({ "name": "Importer" })), "forbidden").await;
    let (answer, correlation_id) = fixture.answer(create(ada, json!({ "name": "Importer" })), 201).await;
    let made = entry("CREATE", "USER", fixture.made(&answer), ada.user.clone());
    let made =
        made.creating(json!({ "kind": "SERVICE", "name": "Importer", "homeOrganizationId": null, "status": "ACTIVE" }));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[made]);
}

pub(super) async fn create(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let path = format!("/users/{}/api-keys", bob.user);
    let create = |by: &Person, body: Value| app.post(&path).by(by).json(&body);
    fixture.refuses(create(ada, json!({})), "validation-error").await;
    let carol = app.colleague(ada, &crate::access_table::fresh_email()).await;
    fixture.refuses(create(&carol, json!({ "name": "nightly" })), "forbidden").await;
    let body = json!({ "name": "nightly", "permissions": ["users:read"] });
    let (answer, correlation_id) = fixture.answer(create(ada, body), 201).await;
    let made = answer.json();
    let made = about(fixture, "CREATE", &fixture.made(&answer)).creating(json!({
        "name": "nightly", "permissions": ["users:read"], "organizationId": null, "expiresAt": made["expiresAt"],
    }));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[made]);
}

pub(super) async fn update(fixture: &Fixture<'_>) {
    let Fixture { app, ada, .. } = fixture;
    let (key, _) = key(fixture).await;
    let path = format!("/api-keys/{key}");
    let update = |body: Value| app.patch(&path).by(ada).json(&body);
    fixture.refuses(update(json!({ "permissions": ["*"] })), "validation-error").await;
    fixture.records(update(json!({})), 200, []).await;
    fixture.records(update(json!({ "name": "nightly" })), 200, []).await;
    let [before, after] = [json!({ "name": "nightly" }), json!({ "name": "hourly" })];
    let metadata = json!({ "changedFields": ["name"], "targetUserId": fixture.bob.user });
    let updated = about(fixture, "UPDATE", &key).changing(before, after).metadata(metadata);
    fixture.records(update(json!({ "name": "hourly" })), 200, [updated]).await;
}

pub(super) async fn rotate(fixture: &Fixture<'_>) {
    let Fixture { app, ada, .. } = fixture;
    let (key, _) = key(fixture).await;
    let path = format!("/api-keys/{key}/rotate");
    let rotate = |body: Value| app.post(&path).by(ada).json(&body);
    fixture.refuses(rotate(json!({ "overlapSeconds": 86_401 })), "validation-error").await;
    let metadata = json!({ "targetUserId": fixture.bob.user, "isRotated": true, "formerUntil": null });
    let rotated = about(fixture, "UPDATE", &key).metadata(metadata);
    fixture.records(rotate(json!({})), 200, [rotated]).await;
}

pub(super) async fn delete(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let (key, fields) = key(fixture).await;
    let path = format!("/api-keys/{key}");
    let carol = app.colleague(ada, &crate::access_table::fresh_email()).await;
    fixture.refuses(app.delete(&path).by(&carol), "forbidden").await;
    fixture
        .records(
            app.delete(&path).by(bob),
            204,
            [Expected({
                let Expected(mut entry) = about(fixture, "DELETE", &key).deleting(fields);
                entry["userId"] = json!(bob.user);
                entry
            })],
        )
        .await;
    fixture.refuses(app.delete(&path).by(ada), "not-found").await;
}

pub(super) async fn introspect(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let introspect = |by: &Person| app.post("/auth/introspect").by(by).json(&json!({ "token": bob.access }));
    fixture.refuses(introspect(bob), "forbidden").await;
    fixture.records(introspect(ada), 200, []).await;
}
