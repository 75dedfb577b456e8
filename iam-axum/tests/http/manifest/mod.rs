//! `/tenants/:id/apply` and `/tenants/:id/manifest` (`docs/manifests.md`).

mod input;
mod schema;

use serde_json::{Value, json};
use test_support::identity_provider::ISSUER;

use crate::app::TestApp;
use crate::people::Person;
use crate::request::Response;

on_every_store![
    "all changes of a manifest are one transaction of the store, which a preview rolls back";
    an_applied_manifest_is_the_exported_one,
    a_preview_changes_nothing_and_shows_who_gains,
    a_manifest_that_is_refused_changes_nothing,
];

/// This member of every item of a list.
fn texts(list: &Value, member: &str) -> Vec<String> {
    let text = |item: &Value| item[member].as_str().unwrap_or_else(|| panic!("no {member} in {item}")).to_owned();
    list.as_array().unwrap().iter().map(text).collect()
}

async fn apply(app: &TestApp, by: &Person, manifest: &Value) -> Response {
    app.post(&format!("/tenants/{}/apply", by.tenant)).by(by).json(manifest).send().await
}

async fn export(app: &TestApp, by: &Person) -> Value {
    app.get(&format!("/tenants/{}/manifest", by.tenant)).by(by).send().await.ok()
}

async fn preview(app: &TestApp, by: &Person, manifest: &Value) -> Value {
    let request = app.post(&format!("/tenants/{}/apply", by.tenant)).by(by).json(manifest);
    request.query("preview", "true").send().await.ok()
}

/// Every field that a manifest can have, except for the domains and the secret of a provider.
fn shops() -> Value {
    json!({
        "settings": {
            "name": "Shops",
            "passwordPolicy": "asvs-5",
            "secondFactor": "OPTIONAL",
            "secondFactorGraceDays": 3,
            "passwordLogin": "ALLOWED",
            "emailLogin": "ON",
            "authzenIdentifiers": "NAME",
            "userAttributes": [{
                "key": "costCentre", "type": "STRING", "searchable": true, "personReads": true, "personWrites": true,
                "inToken": true,
            }],
            "organizationAttributes": [{ "key": "region", "type": "NUMBER", "searchable": true }],
            "unregisteredAttributes": "REFUSED",
        },
        "permissions": [{ "name": "orders:refund", "description": "Give money back" }],
        "roles": [{
            "name": "CLERK",
            "description": "Sells",
            "scope": "ORGANIZATION",
            "permissions": ["orders:refund", "users:read"],
        }],
        "organizations": [
            { "slug": "harbour", "name": "Harbour", "parent": "north", "status": "SUSPENDED" },
            { "slug": "north", "name": "North" },
        ],
        "serviceAccounts": [{
            "name": "Billing",
            "home": "north",
            "status": "SUSPENDED",
            "assignments": [{ "role": "CLERK", "organization": "north", "expiresAt": "2100-01-31T09:15:00.123Z" }],
        }, { "name": "Entra" }],
        "identityProviders": [{
            "slug": "entra",
            "name": "Entra ID",
            "issuer": ISSUER,
            "clientId": "iam",
            "scopes": ["openid", "email"],
            "trustsEmail": true,
            "subjectClaim": "oid",
            "provisioning": "CREATE",
            "roles": [{ "role": "CLERK", "organization": "north" }],
            "factorIsTrusted": true,
            "enabled": false,
        }],
        "directories": [{
            "serviceAccount": "Entra", "name": "Staff", "identityProvider": "entra", "adopt": true,
        }],
        "webhooks": [{
            "url": "https://example.com/hook",
            "types": ["USER.*", "ROLE.CREATE"],
            "format": "ocsf",
            "description": "To the SIEM",
            "enabled": false,
        }],
    })
}

async fn an_applied_manifest_is_the_exported_one(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let applied = apply(&app, &ada, &shops()).await.ok();
    assert_eq!(
        texts(&applied["changes"], "kind"),
        [
            "SETTINGS",
            "PERMISSION",
            "ROLE",
            "ORGANIZATION",
            "ORGANIZATION",
            "SERVICE_ACCOUNT",
            "SERVICE_ACCOUNT",
            "ROLE_ASSIGNMENT",
            "WEBHOOK",
            "IDENTITY_PROVIDER",
            "DIRECTORY",
        ]
    );
    assert!(applied.get("preview").is_none());
    assert_eq!(export(&app, &ada).await, shops());
    assert_eq!(apply(&app, &ada, &shops()).await.ok(), json!({ "changes": [] }));
    let empty = apply(&app, &ada, &json!({})).await.ok();
    assert_eq!(empty, json!({ "changes": [] }));
}

async fn a_preview_changes_nothing_and_shows_who_gains(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let before = export(&app, &ada).await;
    let mut manifest = shops();
    manifest["serviceAccounts"][0]["status"] = json!("ACTIVE");
    let previewed = app.unrecorded(&ada, preview(&app, &ada, &manifest)).await;
    assert_eq!(export(&app, &ada).await, before);
    assert_eq!(previewed["preview"]["allowed"], true, "{previewed}");
    let rows = &previewed["preview"]["changes"];
    assert_eq!(texts(rows, "permission"), ["orders:refund", "users:read"]);
    assert_eq!(texts(rows, "change"), ["GAINED", "GAINED"]);
    assert_eq!(rows[0]["userId"], previewed["changes"][5]["id"]);
    assert_eq!(rows[0]["organizationId"], previewed["changes"][3]["id"]);
    let applied = apply(&app, &ada, &manifest).await.ok();
    assert_eq!(texts(&applied["changes"], "name"), texts(&previewed["changes"], "name"));
}

async fn a_manifest_that_is_refused_changes_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let before = export(&app, &ada).await;
    let mut manifest = shops();
    manifest["roles"][0]["permissions"] = json!(["orders:refund", "orders:cancel"]);
    let refused = app.unrecorded(&ada, apply(&app, &ada, &manifest)).await;
    assert_eq!(refused.invalid_fields(), ["roles[0].permissions[1]"]);
    manifest["roles"][0]["permissions"] = json!([]);
    manifest["serviceAccounts"][0]["assignments"][0] = json!({ "role": "CLERK" });
    let refused = app.unrecorded(&ada, apply(&app, &ada, &manifest)).await;
    assert_eq!(refused.fields("validation"), ["serviceAccounts[0].assignments[0].organization"]);
    assert_eq!(export(&app, &ada).await, before);
}
