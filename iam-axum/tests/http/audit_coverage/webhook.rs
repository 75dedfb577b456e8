//! Webhooks.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{Expected, Scene, entry};
use crate::app::shown;
use crate::people::Person;

const URL: &str = "https://example.com/hook";

/// An entry about a webhook, by Ada.
fn about(scene: &Scene<'_>, action: &str, webhook: &str) -> Expected {
    entry(action, "WEBHOOK", webhook.to_owned(), scene.ada.user.clone())
}

/// A webhook of Ada's tenant.
async fn webhook(scene: &Scene<'_>) -> String {
    let body = json!({ "url": URL, "types": ["USER.*"] });
    let made = scene.app.post("/webhooks").by(&scene.ada).json(&body).send().await.created();
    made["id"].as_str().unwrap().to_owned()
}

fn fields() -> Value {
    json!({ "url": URL, "types": ["USER.*"], "description": "", "enabled": true })
}

pub(super) async fn create(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let create = |by: &Person, body: Value| app.post("/webhooks").by(by).json(&body);
    scene.refuses(create(ada, json!({ "url": "http://10.0.0.1", "types": ["USER.*"] })), "validation-error").await;
    let body = json!({ "url": URL, "types": ["USER.*"] });
    scene.refuses(create(bob, body.clone()), "forbidden").await;
    let (answer, correlation_id) = scene.answer(create(ada, body), 201).await;
    let made = about(scene, "CREATE", &scene.made(&answer)).creating(fields());
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    scene.compare(&entries, &correlation_id, &ada.tenant, &[made]);
}

pub(super) async fn update(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let webhook = webhook(scene).await;
    let path = format!("/webhooks/{webhook}");
    let update = |by: &Person, body: Value| app.patch(&path).by(by).json(&body);
    scene.refuses(update(ada, json!({ "types": [] })), "validation-error").await;
    scene.refuses(update(bob, json!({ "enabled": false })), "forbidden").await;
    scene.records(update(ada, json!({})), 200, []).await;
    scene.records(update(ada, json!({ "url": URL })), 200, []).await;
    let [before, after] = [json!({ "enabled": true }), json!({ "enabled": false })];
    let updated = about(scene, "UPDATE", &webhook).updating(before, after);
    scene.records(update(ada, json!({ "enabled": false })), 200, [updated]).await;
}

pub(super) async fn rotate_secret(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let webhook = webhook(scene).await;
    let path = format!("/webhooks/{webhook}/rotate-secret");
    scene.refuses(app.post(&path).by(bob), "forbidden").await;
    // The call comes a millisecond later.
    let until = shown(app.iam.now() + TimeDelta::days(1) + TimeDelta::milliseconds(1));
    let rotated = about(scene, "UPDATE", &webhook).metadata(json!({ "isRotated": true, "formerUntil": until }));
    scene.records(app.post(&path).by(ada), 200, [rotated]).await;
}

/// A test sends a request and changes nothing.
pub(super) async fn test(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let path = format!("/webhooks/{}/test", webhook(scene).await);
    scene.refuses(app.post(&path).by(bob), "forbidden").await;
    scene.records(app.post(&path).by(ada), 200, []).await;
}

pub(super) async fn replay(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let webhook = webhook(scene).await;
    app.sequence().await;
    let path = format!("/webhooks/{webhook}/replay");
    let replay = |by: &Person, from: u64| app.post(&path).by(by).json(&json!({ "fromSequence": from }));
    scene.refuses(replay(bob, 1), "forbidden").await;
    scene.refuses(replay(ada, 0), "validation-error").await;
    let replayed = about(scene, "UPDATE", &webhook).metadata(json!({ "replayedFrom": 1 }));
    scene.records(replay(ada, 1), 202, [replayed]).await;
}

pub(super) async fn delete(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let webhook = webhook(scene).await;
    let path = format!("/webhooks/{webhook}");
    scene.refuses(app.delete(&path).by(bob), "forbidden").await;
    let deleted = about(scene, "DELETE", &webhook).deleting(fields());
    scene.records(app.delete(&path).by(ada), 204, [deleted]).await;
    scene.refuses(app.delete(&path).by(ada), "not-found").await;
}
