//! What a manifest may be, and how it is refused.

use chrono::TimeDelta;
use serde_json::{Value, json};
use test_support::identity_provider::ISSUER;

use super::{apply, export, preview, texts};
use crate::app::TestApp;
use crate::people::with;

in_memory![
    an_error_names_the_field_of_the_manifest,
    a_refused_preview_has_the_changes_and_the_problem,
    prune_removes_what_manifests_have_made,
    a_manifest_has_at_most_1_mib_and_5000_items,
    null_is_as_good_as_absent_where_the_schema_says_so,
    what_conflicts_is_refused,
    a_webhook_needs_what_it_needs_by_itself,
    a_directory_is_known_by_its_service_account,
    a_provider_is_made_by_a_person_and_its_secret_is_never_shown,
    a_provider_that_cannot_be_made_is_named,
];

async fn an_error_names_the_field_of_the_manifest(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (manifest, fields) in [
        (json!({ "role": [] }), vec!["role"]),
        (json!({ "roles": [{ "nmae": "CLERK" }] }), vec!["roles[0].nmae"]),
        (json!({ "roles": [{ "name": "CLERK", "scope": "BOTH" }] }), vec!["roles[0].scope"]),
        (json!({ "roles": {} }), vec!["roles"]),
        (json!({ "roles": [["CLERK", "", "ANY", ["*"]]] }), vec!["roles[0]"]),
        (json!({ "settings": ["New name", "seed"] }), vec!["settings"]),
        (json!({ "roles": [{}, { "name": "clerk" }] }), vec!["roles[0].name", "roles[1].name"]),
        (
            json!({ "organizations": [
                { "slug": "one", "name": "One", "parent": "two" }, { "slug": "two", "name": "Two", "parent": "one" },
            ] }),
            vec!["organizations[0].parent", "organizations[1].parent"],
        ),
        (
            json!({ "serviceAccounts": [{ "name": "Robot", "assignments": [{ "role": "NONE" }] }] }),
            vec!["serviceAccounts[0].assignments[0].role"],
        ),
    ] {
        let refused = app.unrecorded(&ada, apply(&app, &ada, &manifest)).await;
        assert_eq!(refused.invalid_fields(), fields, "{manifest}");
    }
    let path = format!("/tenants/{}/apply", ada.tenant);
    for (name, value) in [("prune", "yes"), ("preview", "1")] {
        let refused = app.post(&path).by(&ada).json(&json!({})).query(name, value).send().await;
        assert_eq!(refused.invalid_fields(), [name]);
    }
}

async fn a_refused_preview_has_the_changes_and_the_problem(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let author = ["tenants:read", "roles:read", "roles:create"];
    let bob = app.colleague_who_may(&ada, "bob@example.com", &author).await;
    let manifest = json!({ "roles": [
        { "name": "READER", "permissions": ["roles:read"] }, { "name": "ABOVE", "permissions": ["users:delete"] },
    ] });
    let refused = apply(&app, &bob, &manifest).await;
    refused.escalates();
    assert_eq!(refused.fields("forbidden"), ["roles[1]"]);
    let previewed = preview(&app, &bob, &manifest).await;
    assert_eq!(texts(&previewed["changes"], "name"), ["READER", "ABOVE"]);
    let shown = &previewed["preview"];
    assert_eq!((&shown["allowed"], &shown["problem"]["errors"][0]["field"]), (&json!(false), &json!("roles[1]")));
    // Without the permission to read, a preview shows nothing.
    let eve = app.colleague_who_may(&ada, "eve@example.com", &["roles:read", "roles:create"]).await;
    let request = app.post(&format!("/tenants/{}/apply", eve.tenant)).by(&eve).json(&manifest);
    request.query("preview", "true").send().await.lacks("tenants:read");
}

async fn prune_removes_what_manifests_have_made(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.role(&ada, "BY_HAND", &[]).await;
    apply(&app, &ada, &json!({ "roles": [{ "name": "ONE" }, { "name": "TWO" }] })).await.ok();
    let path = format!("/tenants/{}/apply", ada.tenant);
    let manifest = json!({ "roles": [{ "name": "TWO" }] });
    let pruned = app.post(&path).by(&ada).json(&manifest).query("prune", "true").send().await.ok();
    assert_eq!(
        (texts(&pruned["changes"], "action"), texts(&pruned["changes"], "name")),
        (vec!["REMOVE".to_owned()], vec!["ONE".to_owned()])
    );
    assert_eq!(texts(&export(&app, &ada).await["roles"], "name"), ["BY_HAND", "TWO"]);
}

async fn a_manifest_has_at_most_1_mib_and_5000_items(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let send = async |manifest: String| {
        let request = app.post(&format!("/tenants/{}/apply", ada.tenant)).by(&ada);
        request.header("content-type", "application/json").body(manifest).send().await
    };
    let padded = |length: usize| format!("{{}}{}", " ".repeat(length - 2));
    send(padded(1024 * 1024)).await.ok();
    send(padded(1024 * 1024 + 1)).await.problem("payload-too-large");
    let items: Vec<Value> = (0..5_001).map(|number| json!({ "name": format!("a:b{number}") })).collect();
    let refused = send(json!({ "permissions": items }).to_string()).await;
    assert_eq!(refused.invalid_fields(), ["$"]);
}

async fn null_is_as_good_as_absent_where_the_schema_says_so(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let manifest = json!({
        "settings": { "name": null, "passwordPolicy": null, "secondFactorGraceDays": null },
        "organizations": [{ "slug": "one", "name": "One", "parent": null, "status": null }],
        "serviceAccounts": [{ "name": "Robot", "home": null, "status": null, "assignments": [
            { "role": "MEMBER", "organization": null, "expiresAt": null },
        ] }],
    });
    let applied = apply(&app, &ada, &manifest).await.ok();
    assert_eq!(texts(&applied["changes"], "kind"), ["ORGANIZATION", "SERVICE_ACCOUNT", "ROLE_ASSIGNMENT"]);
    let refused = apply(&app, &ada, &json!({ "roles": null })).await;
    assert_eq!(refused.invalid_fields(), ["roles"]);
}

async fn what_conflicts_is_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let refused = apply(&app, &ada, &json!({ "roles": [{ "name": "TENANT_ADMIN" }] })).await;
    assert_eq!(refused.fields("conflict"), ["roles[0]"]);
    let account = json!({ "name": "Robot" });
    for _ in 0..2 {
        app.post("/service-accounts").by(&ada).json(&account).send().await.created();
    }
    let refused = apply(&app, &ada, &json!({ "serviceAccounts": [account] })).await;
    assert_eq!(refused.invalid_fields(), ["serviceAccounts[0].name"]);
    app.get(&format!("/tenants/{}/manifest", ada.tenant)).by(&ada).send().await.problem("conflict");
}

async fn a_webhook_needs_what_it_needs_by_itself(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let hook = |url: &str| json!({ "webhooks": [{ "url": url, "types": ["USER.*"] }] });
    let refused = apply(&app, &ada, &hook("https://127.0.0.1/hook")).await;
    assert_eq!(refused.invalid_fields(), ["webhooks[0].url"]);
    let bob = ["tenants:read", "webhooks:read", "webhooks:create"];
    let bob = app.colleague_who_may(&ada, "bob@example.com", &bob).await;
    let refused = apply(&app, &bob, &hook("https://example.com/hook")).await;
    assert_eq!(refused.fields("forbidden"), ["webhooks[0]"]);

    apply(&app, &ada, &hook("https://example.com/hook")).await.ok();
    let exported = export(&app, &ada).await;
    assert_eq!(exported["webhooks"][0]["url"], "https://example.com/hook");
    assert!(!exported.to_string().contains("whsec_"));
    let twin = json!({ "url": "https://example.com/hook", "types": ["ROLE.*"] });
    app.post("/webhooks").by(&ada).json(&twin).send().await.created();
    app.get(&format!("/tenants/{}/manifest", ada.tenant)).by(&ada).send().await.problem("conflict");
    let refused = apply(&app, &ada, &hook("https://example.com/hook")).await;
    assert_eq!(refused.invalid_fields(), ["webhooks[0].url"]);
}

async fn a_directory_is_known_by_its_service_account(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let manifest = |name: &str| {
        json!({
            "serviceAccounts": [{ "name": "Entra" }],
            "directories": [{ "serviceAccount": "Entra", "name": name }],
        })
    };
    apply(&app, &ada, &manifest("Staff")).await.ok();
    let changed = apply(&app, &ada, &manifest("People")).await.ok();
    assert_eq!(changed["changes"][0]["before"], json!({ "name": "Staff" }));
    assert_eq!(changed["changes"].as_array().unwrap().len(), 1);
    let unknown = json!({ "directories": [{ "serviceAccount": "Entra", "name": "x", "identityProvider": "none" }] });
    assert_eq!(apply(&app, &ada, &unknown).await.invalid_fields(), ["directories[0].identityProvider"]);
    let asleep = json!({
        "serviceAccounts": [{ "name": "Okta", "status": "SUSPENDED" }],
        "directories": [{ "serviceAccount": "Okta", "name": "x" }],
    });
    assert_eq!(apply(&app, &ada, &asleep).await.invalid_fields(), ["directories[0].serviceAccount"]);
    let path = format!("/tenants/{}/apply", ada.tenant);
    let pruned = app.post(&path).by(&ada).json(&json!({})).query("prune", "true").send().await.ok();
    assert_eq!(texts(&pruned["changes"], "kind"), ["DIRECTORY", "SERVICE_ACCOUNT"]);
}

/// A manifest with a provider that has these members in place of its own.
fn entra(members: &Value) -> Value {
    let provider = json!({ "slug": "entra", "name": "Entra ID", "issuer": ISSUER, "clientId": "iam" });
    json!({ "identityProviders": [with(provider, members)] })
}

async fn a_provider_is_made_by_a_person_and_its_secret_is_never_shown(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let manifest = entra(&json!({ "clientSecret": "very-secret" }));
    let mut shown = vec![preview(&app, &ada, &manifest).await];
    shown.push(apply(&app, &ada, &manifest).await.ok());
    assert_eq!(shown[1]["changes"][0]["after"]["clientSecret"], "(new secret)");
    assert_eq!(apply(&app, &ada, &manifest).await.ok(), json!({ "changes": [] }));
    assert_eq!(apply(&app, &ada, &entra(&json!({}))).await.ok(), json!({ "changes": [] }));
    let other = entra(&json!({ "clientSecret": "other-secret" }));
    shown.push(apply(&app, &ada, &other).await.ok());
    assert_eq!(shown[2]["changes"][0]["before"], json!({ "clientSecret": "(former secret)" }));
    shown.push(export(&app, &ada).await);
    shown.push(json!(app.audit(&ada, &[("resourceType", "IDENTITY_PROVIDER")]).await));
    // It is known by the field, also where it cannot be read.
    for secret in [json!({ "env": "y-secret" }), json!(["y-secret"]), json!(77_777)] {
        let refused = apply(&app, &ada, &entra(&json!({ "clientSecret": secret }))).await;
        assert_eq!(refused.invalid_fields(), ["identityProviders[0].clientSecret"]);
        shown.push(json!(refused.text()));
    }
    let long = "r-secret".repeat(65);
    let refused = apply(&app, &ada, &entra(&json!({ "clientSecret": long }))).await;
    assert_eq!(refused.invalid_fields(), ["identityProviders[0].clientSecret"]);
    shown.push(json!(refused.text()));
    let shown = json!(shown).to_string();
    assert!(!shown.contains("y-secret") && !shown.contains("r-secret") && !shown.contains("77777"), "{shown}");

    let key = app.key(&ada, &ada.user, &json!({ "permissions": ["*"] })).await;
    let path = format!("/tenants/{}/apply", ada.tenant);
    let by_key =
        async |manifest: &Value| app.post(&path).bearer(key["key"].as_str().unwrap()).json(manifest).send().await;
    assert_eq!(by_key(&entra(&json!({}))).await.ok(), json!({ "changes": [] }));
    assert_eq!(by_key(&other).await.fields("forbidden"), ["identityProviders[0]"]);
    assert_eq!(by_key(&manifest).await.fields("forbidden"), ["identityProviders[0]"]);
    let okta = entra(&json!({ "slug": "okta" }));
    assert_eq!(by_key(&okta).await.fields("forbidden"), ["identityProviders[0]"]);
    app.pass(TimeDelta::minutes(11));
    apply(&app, &ada, &okta).await.problem("insufficient-authentication");
}

async fn a_provider_that_cannot_be_made_is_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.role(&ada, "EVERYTHING", &["*"]).await;
    for (members, field) in [
        (json!({ "issuer": "https://absent.example" }), "issuer"),
        (json!({ "issuer": "absent" }), "issuer"),
        (json!({ "scopes": ["email"] }), "scopes"),
        (json!({ "domains": ["example.com"] }), "domains[0]"),
        (json!({ "roles": [{ "role": "NONE" }] }), "roles[0].role"),
        (json!({ "roles": [{ "role": "MEMBER" }, { "role": "EVERYTHING" }] }), "roles[1].role"),
        (json!({ "roles": [{ "role": "MEMBER" }, { "role": "MEMBER" }] }), "roles[1].role"),
    ] {
        let refused = app.unrecorded(&ada, apply(&app, &ada, &entra(&members))).await;
        assert_eq!(refused.invalid_fields(), [format!("identityProviders[0].{field}")], "{members}");
    }
    let offline = app.offline().await;
    apply(&offline, &ada, &entra(&json!({}))).await.problem("unavailable");
    let domain = app.domain(&ada, "example.com").await;
    let speaking = entra(&json!({ "domains": ["Example.com"] }));
    apply(&app, &ada, &speaking).await.ok();
    let providers = app.get("/identity-providers").by(&ada).send().await.ok();
    assert_eq!(providers["data"][0]["domainIds"], json!([domain["id"]]));
    assert_eq!(apply(&app, &ada, &speaking).await.ok(), json!({ "changes": [] }));
    let bob = ["tenants:read", "roles:read", "organizations:read", "identity-providers:read"];
    let bob = app.colleague_who_may(&ada, "bob@example.com", &bob).await;
    apply(&app, &bob, &speaking).await.lacks("domains:read");
}
