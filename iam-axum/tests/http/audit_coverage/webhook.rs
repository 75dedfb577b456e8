//! Webhooks.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{Expected, Fixture, entry};
use crate::app::shown;
use crate::people::Person;

const URL: &str = "https://example.com/hook";

/// An entry about a webhook, by Ada.
fn about(fixture: &Fixture<'_>, action: &str, webhook: &str) -> Expected {
    entry(action, "WEBHOOK", webhook.to_owned(), fixture.ada.user.clone())
}

/// A webhook of Ada's tenant.
async fn webhook(fixture: &Fixture<'_>) -> String {
    let body = json!({ "url": URL, "types": ["USER.*"] });
    let made = fixture.app.post("/webhooks").by(&fixture.ada).json(&body).send().await.created();
    made["id"].as_str().unwrap().to_owned()
}

fn fields() -> Value {
    json!({ "url": URL, "types": ["USER.*"], "format": "native", "description": "", "enabled": true })
}

pub(super) async fn create(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let create = |by: &Person, body: Value| app.post("/webhooks").by(by).json(&body);
    fixture.refuses(create(ada, json!({ "url": "http://10.0.0.1", "types": ["USER.*"] })), "validation-error").await;
    let body = json!({ "url": URL, "types": ["USER.*"] });
    fixture.refuses(create(bob, body.clone()), "forbidden").await;
    let (answer, correlation_id) = fixture.answer(create(ada, body), 201).await;
    let made = about(fixture, "CREATE", &fixture.made(&answer)).creating(fields());
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[made]);
}

pub(super) async fn update(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let webhook = webhook(fixture).await;
    let path = format!("/webhooks/{webhook}");
    let update = |by: &Person, body: Value| app.patch(&path).by(by).json(&body);
    fixture.refuses(update(ada, json!({ "types": [] })), "validation-error").await;
    fixture.refuses(update(bob, json!({ "enabled": false })), "forbidden").await;
    fixture.records(update(ada, json!({})), 200, []).await;
    fixture.records(update(ada, json!({ "url": URL })), 200, []).await;
    let [before, after] = [json!({ "enabled": true }), json!({ "enabled": false })];
    let updated = about(fixture, "UPDATE", &webhook).updating(before, after);
    fixture.records(update(ada, json!({ "enabled": false })), 200, [updated]).await;
}

pub(super) async fn rotate_secret(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let webhook = webhook(fixture).await;
    let path = format!("/webhooks/{webhook}/rotate-secret");
    fixture.refuses(app.post(&path).by(bob), "forbidden").await;
    // The call comes a millisecond later.
    let until = shown(app.iam.now() + TimeDelta::days(1) + TimeDelta::milliseconds(1));
    let rotated = about(fixture, "UPDATE", &webhook).metadata(json!({ "isRotated": true, "formerUntil": until }));
    fixture.records(app.post(&path).by(ada), 200, [rotated]).await;
}

/// A test sends a request and changes nothing.
pub(super) async fn test(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let path = format!("/webhooks/{}/test", webhook(fixture).await);
    fixture.refuses(app.post(&path).by(bob), "forbidden").await;
    fixture.records(app.post(&path).by(ada), 200, []).await;
}

pub(super) async fn replay(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let webhook = webhook(fixture).await;
    app.sequence().await;
    let path = format!("/webhooks/{webhook}/replay");
    let replay = |by: &Person, from: u64| app.post(&path).by(by).json(&json!({ "fromSequence": from }));
    fixture.refuses(replay(bob, 1), "forbidden").await;
    fixture.refuses(replay(ada, 0), "validation-error").await;
    let replayed = about(fixture, "UPDATE", &webhook).metadata(json!({ "replayedFrom": 1 }));
    fixture.records(replay(ada, 1), 202, [replayed]).await;
}

pub(super) async fn delete(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let webhook = webhook(fixture).await;
    let path = format!("/webhooks/{webhook}");
    fixture.refuses(app.delete(&path).by(bob), "forbidden").await;
    let deleted = about(fixture, "DELETE", &webhook).deleting(fields());
    fixture.records(app.delete(&path).by(ada), 204, [deleted]).await;
    fixture.refuses(app.delete(&path).by(ada), "not-found").await;
}
