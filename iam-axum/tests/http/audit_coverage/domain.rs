//! Domains.

use serde_json::{Value, json};

use super::{Expected, Fixture, entry};
use crate::people::Person;

/// An entry about a domain, by Ada.
fn about(fixture: &Fixture<'_>, action: &str, domain: &Value) -> Expected {
    entry(action, "DOMAIN", domain["id"].as_str().unwrap().to_owned(), fixture.ada.user.clone())
}

fn fields(status: &str) -> Value {
    json!({ "domain": "audited.example", "status": status })
}

pub(super) async fn create(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let create = |by: &Person, domain: &str| app.post("/domains").by(by).json(&json!({ "domain": domain }));
    fixture.refuses(create(ada, "localhost"), "validation-error").await;
    fixture.refuses(create(bob, "audited.example"), "forbidden").await;
    let (answer, correlation_id) = fixture.answer(create(ada, "audited.example"), 201).await;
    let made = json!({ "id": fixture.made(&answer) });
    let expected = about(fixture, "CREATE", &made).creating(fields("PENDING"));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[expected]);
    fixture.refuses(create(ada, "audited.example"), "conflict").await;
}

pub(super) async fn verify(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let domain = app.domain(ada, "audited.example").await;
    let path = format!("/domains/{}/verify", domain["id"].as_str().unwrap());
    fixture.refuses(app.post(&path).by(bob), "forbidden").await;
    fixture.refuses(app.post(&path).by(ada), "conflict").await;
    app.publish(&domain);
    let (before, after) = (json!({ "status": "PENDING" }), json!({ "status": "VERIFIED" }));
    let verified = about(fixture, "UPDATE", &domain).updating(before, after);
    fixture.records(app.post(&path).by(ada), 200, [verified]).await;
    fixture.records(app.post(&path).by(ada), 200, []).await;
}

pub(super) async fn delete(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let domain = app.domain(ada, "audited.example").await;
    let path = format!("/domains/{}", domain["id"].as_str().unwrap());
    fixture.refuses(app.delete(&path).by(bob), "forbidden").await;
    let removed = about(fixture, "DELETE", &domain).deleting(fields("PENDING"));
    fixture.records(app.delete(&path).by(ada), 204, [removed]).await;
    fixture.refuses(app.delete(&path).by(ada), "not-found").await;
}
