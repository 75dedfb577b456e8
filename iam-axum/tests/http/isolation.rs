//! For a caller, the resources of another tenant do not exist (`docs/http-api.md#403-or-404`).

use serde_json::json;

use crate::access_table::fresh_email;
use crate::app::TestApp;
use crate::openapi::{Operation, document, operations};
use crate::permissions::Fixture;

on_every_store_with_mail![
    "each statement of the store names the tenant";
    ids_of_another_tenant_are_not_found_on_any_path,
    lists_show_only_the_callers_tenant,
    a_filter_by_an_id_of_another_tenant_finds_nothing,
    audit_entries_of_another_tenant_are_not_shown,
    a_forged_tenant_id_gives_no_access,
];

/// The operations come from the OpenAPI document, so a new one is covered at once.
async fn ids_of_another_tenant_are_not_found_on_any_path(app: TestApp) {
    let document = document();
    // A public operation has no caller to whom another tenant could be foreign.
    let is_tried =
        |operation: &Operation| operation.path.contains("{id}") && operation.required_permission() != "public";
    for operation in operations(&document).into_iter().filter(is_tried) {
        let fixture = Fixture::set(&app, &operation).await;
        let eve = app.register(&fresh_email()).await;
        let before = app.audit(&fixture.administrator, &[]).await;
        let answer = fixture.request(&app, &document, &operation).by(&eve).send().await;
        assert_eq!(answer.status(), 404, "{operation}: {}", answer.text());
        assert_eq!(app.audit(&fixture.administrator, &[]).await, before, "{operation}");
    }
}

async fn lists_show_only_the_callers_tenant(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    for (person, email) in [(&ada, "ada@example.com"), (&eve, "eve@example.com")] {
        let body = app.get("/users").by(person).send().await.ok();
        assert_eq!((&body["data"][0]["email"], &body["pagination"]["total"]), (&json!(email), &json!(1)));
    }
    app.role(&ada, "CLERK", &[]).await;
    app.organization(&ada, "sales").await;
    app.post("/permissions").by(&ada).json(&json!({ "name": "orders:refund" })).send().await.created();
    for (path, total) in [("/roles", 4), ("/permissions", 76), ("/role-assignments", 1), ("/organizations", 0)] {
        assert_eq!(app.get(path).by(&eve).send().await.ok()["pagination"]["total"], total, "{path}");
        assert_ne!(app.get(path).by(&ada).send().await.ok()["data"], app.get(path).by(&eve).send().await.ok()["data"]);
    }
}

async fn a_filter_by_an_id_of_another_tenant_finds_nothing(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let sales = app.organization(&ada, "sales").await;
    app.assign(&ada, &ada.user, "MEMBER", Some(sales), None).await;
    let listed = app.get("/users").by(&eve).query("organizationId", &sales.to_string()).send().await.ok();
    assert_eq!(listed["data"], json!([]));
    for (name, value) in [("userId", &ada.user), ("resourceId", &ada.user), ("resourceId", &ada.tenant)] {
        assert!(app.audit(&eve, &[(name, value)]).await.is_empty());
    }
}

async fn audit_entries_of_another_tenant_are_not_shown(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    for person in [&ada, &eve] {
        let entries = app.audit(person, &[]).await;
        assert_eq!(entries.len(), 4);
        assert!(entries.iter().all(|entry| entry["tenantId"] == person.tenant));
    }
}

async fn a_forged_tenant_id_gives_no_access(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    for header in ["x-tenant-id", "tenant-id", "x-forwarded-host"] {
        let request = app.get(&format!("/users/{}", ada.user)).by(&eve).header(header, &ada.tenant);
        request.send().await.problem("not-found");
    }
    let body = json!({ "firstName": "Mine", "tenantId": ada.tenant });
    let refused = app.patch(&format!("/users/{}", eve.user)).by(&eve).json(&body).send().await;
    assert_eq!(refused.invalid_fields(), ["tenantId"]);
}
