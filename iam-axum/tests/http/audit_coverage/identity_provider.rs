//! Identity providers.

use serde_json::{Value, json};
use test_support::identity_provider::ISSUER;

use super::{Expected, Fixture, entry};
use crate::people::Person;

/// An entry about a provider, by Ada.
fn about(fixture: &Fixture<'_>, action: &str, provider: &str) -> Expected {
    entry(action, "IDENTITY_PROVIDER", provider.to_owned(), fixture.ada.user.clone())
}

fn body() -> Value {
    json!({ "name": "Acme", "issuer": ISSUER, "clientId": "iam", "clientSecret": "very-secret" })
}

fn fields() -> Value {
    json!({
        "name": "Acme",
        "slug": "acme",
        "issuer": ISSUER,
        "clientId": "iam",
        "scopes": ["openid", "email", "profile"],
        "domainIds": [],
        "trustsEmail": false,
        "subjectClaim": "sub",
        "provisioning": "LINK",
        "roles": [],
        "factorIsTrusted": false,
        "enabled": true,
    })
}

/// A provider of Ada's tenant.
async fn provider(fixture: &Fixture<'_>) -> String {
    let provider = fixture.app.provider(&fixture.ada, &json!({ "clientSecret": "very-secret" })).await;
    provider["id"].as_str().unwrap().to_owned()
}

pub(super) async fn create(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let create = |by: &Person, body: &Value| app.post("/identity-providers").by(by).json(body);
    fixture.refuses(create(ada, &json!({})), "validation-error").await;
    fixture.refuses(create(bob, &body()), "forbidden").await;
    let (answer, correlation_id) = fixture.answer(create(ada, &body()), 201).await;
    let made = about(fixture, "CREATE", &fixture.made(&answer)).creating(fields());
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[made]);
}

pub(super) async fn update(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let provider = provider(fixture).await;
    let path = format!("/identity-providers/{provider}");
    let update = |by: &Person, body: Value| app.patch(&path).by(by).json(&body);
    fixture.refuses(update(ada, json!({ "slug": "No" })), "validation-error").await;
    fixture.refuses(update(bob, json!({ "name": "Other" })), "forbidden").await;
    fixture.records(update(ada, json!({})), 200, []).await;
    let [before, after] = [json!({ "enabled": true }), json!({ "enabled": false })];
    let updated = about(fixture, "UPDATE", &provider).updating(before, after);
    fixture.records(update(ada, json!({ "enabled": false })), 200, [updated]).await;
}

pub(super) async fn delete(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let provider = provider(fixture).await;
    let path = format!("/identity-providers/{provider}");
    fixture.refuses(app.delete(&path).by(bob), "forbidden").await;
    let other = app.social_provider(&ada.tenant).await;
    for (provider, person) in [(&provider, ada), (&provider, bob), (&other, ada)] {
        app.linked(provider, person).await;
    }
    let removed = about(fixture, "DELETE", &provider).deleting(fields()).metadata(json!({ "identities": 2 }));
    fixture.records(app.delete(&path).by(ada), 204, [removed]).await;
    fixture.refuses(app.delete(&path).by(ada), "not-found").await;
}
