//! Manifests: each change has the entry that it has when it is made alone.

use serde_json::{Value, json};

use super::{Fixture, entry, granted};
use crate::people::Person;

pub(super) async fn apply(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let path = format!("/tenants/{}/apply", ada.tenant);
    let apply = |by: &Person, body: &Value| app.post(&path).by(by).json(body);
    let manifest = json!({
        "permissions": [{ "name": "orders:read" }],
        "organizations": [{ "slug": "north", "name": "North" }],
        "serviceAccounts": [{ "name": "Robot", "assignments": [{ "role": "MEMBER", "organization": "north" }] }],
    });
    fixture.refuses(apply(ada, &json!({ "roles": [{ "name": "clerk" }] })), "validation-error").await;
    fixture.refuses(apply(bob, &manifest), "forbidden").await;
    fixture.refuses(app.post(&format!("/tenants/{}/apply", ada.user)).by(ada).json(&manifest), "not-found").await;
    let built_in = json!({ "permissions": [{ "name": "orders:read" }], "roles": [{ "name": "TENANT_ADMIN" }] });
    fixture.refuses(apply(ada, &built_in), "conflict").await;
    fixture.records(apply(ada, &manifest).query("preview", "true"), 200, []).await;
    let (answer, correlation_id) = fixture.answer(apply(ada, &manifest), 200).await;
    let changes = answer.json()["changes"].clone();
    let id = |number: usize| changes[number]["id"].as_str().unwrap().to_owned();
    let made = |resource_type: &str, number: usize, fields: Value| {
        entry("CREATE", resource_type, id(number), ada.user.clone()).creating(fields)
    };
    let (account, organization, role) = (id(2), id(1), app.role_id(ada, "MEMBER").await);
    let account_fields = json!({ "kind": "SERVICE", "name": "Robot", "homeOrganizationId": null, "status": "ACTIVE" });
    let expected = [
        made("PERMISSION", 0, json!({ "name": "orders:read", "description": "" })),
        made("ORGANIZATION", 1, json!({ "name": "North", "slug": "north", "status": "ACTIVE", "parentId": null })),
        made("USER", 2, account_fields),
        granted("ROLE_ASSIGNED", &id(3), ada, &account, (&role, "MEMBER"), Some(&organization)),
    ];
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &expected);
    fixture.records(apply(ada, &manifest), 200, []).await;
}
