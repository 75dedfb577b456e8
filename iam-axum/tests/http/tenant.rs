//! `/tenants/:id` (`docs/http-api.md#the-tenant`).

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{PASSWORD, Person, with};
use crate::request::{Response, members};

in_memory![
    get_shows_the_callers_tenant,
    patch_changes_name_and_slug,
    patch_records_only_the_changed_fields,
    a_patch_that_changes_nothing_writes_and_records_nothing,
    a_taken_slug_is_a_conflict,
    the_old_slug_of_a_tenant_is_free_again,
    invalid_and_unknown_fields_are_named,
    another_tenant_is_not_found_with_or_without_permission,
];

async fn get(app: &TestApp, by: &Person) -> Value {
    app.get(&format!("/tenants/{}", by.tenant)).by(by).send().await.ok()
}

async fn patch(app: &TestApp, by: &Person, body: &Value) -> Response {
    app.patch(&format!("/tenants/{}", by.tenant)).by(by).json(body).send().await
}

async fn get_shows_the_callers_tenant(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let tenant = get(&app, &ada).await;
    assert_eq!(
        members(&tenant),
        [
            "authzenIdentifiers",
            "createdAt",
            "emailLogin",
            "id",
            "name",
            "organizationAttributes",
            "passwordLogin",
            "passwordPolicy",
            "secondFactor",
            "secondFactorGraceDays",
            "slug",
            "status",
            "unregisteredAttributes",
            "updatedAt",
            "userAttributes"
        ]
    );
    assert_eq!((&tenant["id"], &tenant["status"]), (&json!(ada.tenant), &json!("ACTIVE")));
}

async fn patch_changes_name_and_slug(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let before = get(&app, &ada).await;
    app.pass(TimeDelta::minutes(1));
    let change = json!({ "name": "Analytical Engines", "slug": "engines-2" });
    let expected = with(before, &with(change.clone(), &json!({ "updatedAt": app.now() })));
    assert_eq!(patch(&app, &ada, &with(change, &json!({ "name": " Analytical Engines " }))).await.ok(), expected);
    assert_eq!(get(&app, &ada).await, expected);
    app.attempt_at("engines-2", "ada@example.com", PASSWORD).send().await.ok();
}

async fn patch_records_only_the_changed_fields(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let before = get(&app, &ada).await;
    patch(&app, &ada, &json!({ "name": before["name"], "slug": "engines" })).await.ok();
    let entries = app.audit(&ada, &[("action", "UPDATE")]).await;
    assert_eq!(entries.len(), 1);
    let entry = &entries[0];
    assert_eq!((&entry["resourceType"], &entry["resourceId"]), (&json!("TENANT"), &json!(ada.tenant)));
    assert_eq!((&entry["userId"], &entry["oldValue"]), (&json!(ada.user), &json!({ "slug": before["slug"] })));
    assert_eq!(entry["newValue"], json!({ "slug": "engines" }));
    assert_eq!(entry["metadata"]["changedFields"], json!(["slug"]));
}

async fn a_patch_that_changes_nothing_writes_and_records_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let before = get(&app, &ada).await;
    let entries = app.audit(&ada, &[]).await;
    app.pass(TimeDelta::minutes(1));
    let same = json!({ "name": before["name"], "slug": before["slug"] });
    for body in [json!({}), json!({ "name": null, "slug": null }), same] {
        assert_eq!(patch(&app, &ada, &body).await.ok(), before);
    }
    assert_eq!((get(&app, &ada).await, app.audit(&ada, &[]).await), (before, entries));
}

async fn a_taken_slug_is_a_conflict(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let before = get(&app, &eve).await;
    let taken = json!({ "slug": get(&app, &ada).await["slug"], "name": "Eve's" });
    patch(&app, &eve, &taken).await.problem("conflict");
    assert_eq!(get(&app, &eve).await, before);
    assert!(app.audit(&eve, &[("action", "UPDATE")]).await.is_empty());
}

async fn the_old_slug_of_a_tenant_is_free_again(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let slug = get(&app, &ada).await["slug"].clone();
    patch(&app, &ada, &json!({ "slug": "elsewhere" })).await.ok();
    patch(&app, &eve, &json!({ "slug": slug })).await.ok();
}

async fn invalid_and_unknown_fields_are_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for slug in ["", "A", "-a", "a-", "a--b", "a_b", "ü", "a b", &"a".repeat(64)] {
        assert_eq!(patch(&app, &ada, &json!({ "slug": slug })).await.invalid_fields(), ["slug"], "{slug}");
    }
    for name in ["", "  ", "a\u{0}b", &"a".repeat(121)] {
        assert_eq!(patch(&app, &ada, &json!({ "name": name })).await.invalid_fields(), ["name"], "{name}");
    }
    assert_eq!(patch(&app, &ada, &json!({ "name": "", "slug": "" })).await.invalid_fields(), ["name", "slug"]);
    for field in ["name", "slug", "status", "id"] {
        assert_eq!(patch(&app, &ada, &json!({ field: 17 })).await.invalid_fields(), [field]);
    }
    patch(&app, &ada, &json!({ "slug": "a".repeat(63), "name": "ü".repeat(120) })).await.ok();
    assert_eq!(app.get("/tenants/17").by(&ada).send().await.invalid_fields(), ["id"]);
}

async fn another_tenant_is_not_found_with_or_without_permission(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let bob = app.colleague(&ada, "bob@example.com").await;
    for id in [&eve.tenant, &ada.user] {
        for person in [&ada, &bob] {
            let path = format!("/tenants/{id}");
            app.get(&path).by(person).send().await.problem("not-found");
            app.patch(&path).by(person).json(&json!({ "name": "Mine" })).send().await.problem("not-found");
        }
    }
}
