//! Legal holds.

use serde_json::{Value, json};

use super::{Expected, Fixture, entry};
use crate::people::Person;

/// An entry about a legal hold, by Ada.
fn about(fixture: &Fixture<'_>, action: &str, hold: &Value) -> Expected {
    entry(action, "LEGAL_HOLD", hold["id"].as_str().unwrap().to_owned(), fixture.ada.user.clone())
}

fn fields(fixture: &Fixture<'_>) -> Value {
    json!({ "userId": fixture.bob.user, "reason": "Case 2026-17" })
}

pub(super) async fn create(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let create = |by: &Person, body: &Value| app.post("/legal-holds").by(by).json(body);
    fixture.refuses(create(ada, &json!({ "reason": " " })), "validation-error").await;
    fixture.refuses(create(bob, &fields(fixture)), "forbidden").await;
    let (answer, correlation_id) = fixture.answer(create(ada, &fields(fixture)), 201).await;
    let made = json!({ "id": fixture.made(&answer) });
    let expected = about(fixture, "CREATE", &made).creating(fields(fixture));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[expected]);
}

pub(super) async fn release(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let hold = app.post("/legal-holds").by(ada).json(&fields(fixture)).send().await.created();
    let path = format!("/legal-holds/{}/release", hold["id"].as_str().unwrap());
    let release = |by: &Person| app.post(&path).by(by).json(&json!({ "reason": "The case is closed." }));
    fixture.refuses(release(bob), "forbidden").await;
    let released = about(fixture, "DELETE", &hold).deleting(fields(fixture));
    let released = released.metadata(json!({ "releaseReason": "The case is closed." }));
    fixture.records(release(ada), 204, [released]).await;
    fixture.refuses(release(ada), "not-found").await;
}
