//! `/permissions` (`docs/http-api.md#roles-and-permissions`). Which permission each operation needs is in
//! `permissions.rs`.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{Person, says};
use crate::permissions::built_in;
use crate::request::{Response, each, each_sorted, members};

in_memory![
    the_catalogue_starts_with_the_built_in_permissions,
    create_answers_201_with_the_permission,
    a_name_consists_of_resource_and_action,
    names_of_the_service_are_reserved,
    create_names_every_invalid_field,
    a_name_is_unique_in_the_tenant,
    permissions_are_listed_newest_first_in_pages,
    a_registered_permission_can_be_granted,
    delete_answers_204_and_frees_the_name,
    a_permission_in_a_role_cannot_be_deleted,
    built_in_permissions_cannot_be_deleted,
    an_unknown_permission_is_not_found,
    reading_needs_the_permission_in_any_scope,
    changing_needs_the_permission_tenant_wide,
    a_permission_that_a_wildcard_gives_only_to_others_is_refused,
    changes_are_recorded_with_their_values,
];

async fn create(app: &TestApp, by: &Person, body: &Value) -> Response {
    app.post("/permissions").by(by).json(body).send().await
}

async fn delete(app: &TestApp, by: &Person, id: &str) -> Response {
    app.delete(&format!("/permissions/{id}")).by(by).send().await
}

/// Registers a permission. Returns its id.
async fn register(app: &TestApp, by: &Person, name: &str) -> String {
    create(app, by, &json!({ "name": name })).await.created()["id"].as_str().unwrap().to_owned()
}

async fn the_catalogue_starts_with_the_built_in_permissions(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = app.get("/permissions").by(&ada).query("limit", "100").send().await.ok();
    let mut expected: Vec<String> = built_in().collect();
    expected.sort_unstable();
    assert_eq!(each_sorted(&body, "name"), expected);
    for permission in body["data"].as_array().unwrap() {
        assert_eq!(members(permission), ["createdAt", "description", "id", "name", "system"]);
        assert_eq!(permission["system"], true);
        assert!(!permission["description"].as_str().unwrap().is_empty());
    }
}

async fn create_answers_201_with_the_permission(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "orders:refund", "description": " Give money back. " });
    let created = create(&app, &ada, &body).await.created();
    let expected = json!({
        "id": created["id"], "name": "orders:refund", "description": "Give money back.", "system": false,
        "createdAt": app.now(),
    });
    assert_eq!(created, expected);
    let bare = create(&app, &ada, &json!({ "name": "orders:read", "description": null })).await.created();
    assert_eq!(bare["description"], "");
}

async fn a_name_consists_of_resource_and_action(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [longest, too_long] = [118, 119].map(|length| format!("o:{}", "r".repeat(length)));
    for good in ["o:r", "orders-2:refund-2", "orders-:refund-", &longest] {
        assert_eq!(create(&app, &ada, &json!({ "name": good })).await.created()["name"], good);
    }
    let malformed =
        ["", "orders", "orders:", ":refund", "orders:*", "*", "Orders:refund", "2:x", "-a:b", "a:-b", "a:b:c"];
    for bad in malformed.into_iter().chain(["a: b", &too_long]) {
        assert_eq!(create(&app, &ada, &json!({ "name": bad })).await.invalid_fields(), ["name"], "{bad}");
    }
}

async fn names_of_the_service_are_reserved(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for reserved in [
        "domains:read",
        "domains:transfer",
        "identity-providers:sync",
        "directories:sync",
        "eligibilities:read",
        "access-requests:create",
        "impersonations:create",
        "iam-keys:read",
    ] {
        let refused = app.unrecorded(&ada, create(&app, &ada, &json!({ "name": reserved }))).await;
        assert_eq!(refused.invalid_fields(), ["name"], "{reserved}");
    }
    for free in ["users:export", "domain:read", "app-domains:read", "iam:read", "orders:iam-keys"] {
        register(&app, &ada, free).await;
    }
}

async fn create_names_every_invalid_field(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert_eq!(create(&app, &ada, &json!({})).await.invalid_fields(), ["name"]);
    let wrong = json!({ "name": "x", "description": "x".repeat(501) });
    assert_eq!(create(&app, &ada, &wrong).await.invalid_fields(), ["name", "description"]);
    for field in ["system", "id", "createdAt"] {
        assert_eq!(create(&app, &ada, &json!({ "name": "a:b", field: null })).await.invalid_fields(), [field]);
    }
    assert_eq!(create(&app, &ada, &json!({ "name": 17 })).await.invalid_fields(), ["name"]);
}

async fn a_name_is_unique_in_the_tenant(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    register(&app, &ada, "orders:refund").await;
    for taken in ["orders:refund", "users:read"] {
        app.unrecorded(&ada, create(&app, &ada, &json!({ "name": taken }))).await.problem("conflict");
    }
    register(&app, &eve, "orders:refund").await;
}

async fn permissions_are_listed_newest_first_in_pages(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for name in ["orders:first", "orders:second", "orders:third"] {
        app.pass(TimeDelta::seconds(1));
        register(&app, &ada, name).await;
    }
    let body = app.get("/permissions").by(&ada).query("limit", "3").send().await.ok();
    assert_eq!(each(&body, "name"), ["orders:third", "orders:second", "orders:first"]);
    let expected = json!({ "total": 79, "page": 1, "limit": 3, "totalPages": 27, "hasNext": true, "hasPrev": false });
    assert_eq!(body["pagination"], expected);
    for (name, value) in [("limit", "101"), ("page", "0")] {
        assert_eq!(app.get("/permissions").by(&ada).query(name, value).send().await.invalid_fields(), [name]);
    }
}

async fn a_registered_permission_can_be_granted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    register(&app, &ada, "orders:refund").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["orders:refund"]).await;
    let me = app.get("/auth/me").by(&bob).send().await.ok();
    assert_eq!(me["permissions"], json!({ "tenant": ["orders:refund"], "organizations": [] }));
}

async fn delete_answers_204_and_frees_the_name(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let id = register(&app, &ada, "orders:refund").await;
    delete(&app, &ada, &id).await.no_content();
    app.unrecorded(&ada, delete(&app, &ada, &id)).await.problem("not-found");
    let body = app.get("/permissions").by(&ada).query("limit", "100").send().await.ok();
    assert!(!each(&body, "name").contains(&"orders:refund".to_owned()));
    let refused = app.post("/roles").by(&ada).json(&json!({ "name": "CLERK", "permissions": ["orders:refund"] }));
    assert_eq!(refused.send().await.invalid_fields(), ["permissions[0]"]);
    register(&app, &ada, "orders:refund").await;
}

async fn a_permission_in_a_role_cannot_be_deleted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let id = register(&app, &ada, "orders:refund").await;
    let role = app.role(&ada, "CLERK", &["users:read", "orders:refund"]).await;
    app.unrecorded(&ada, delete(&app, &ada, &id)).await.problem("conflict");
    let body = json!({ "permissions": ["users:read"] });
    app.patch(&format!("/roles/{role}")).by(&ada).json(&body).send().await.ok();
    delete(&app, &ada, &id).await.no_content();
}

async fn built_in_permissions_cannot_be_deleted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = app.get("/permissions").by(&ada).query("limit", "100").send().await.ok();
    for id in each(&body, "id") {
        delete(&app, &ada, &id).await.problem("conflict");
    }
    assert_eq!(app.get("/permissions").by(&ada).query("limit", "100").send().await.ok(), body);
}

async fn an_unknown_permission_is_not_found(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    delete(&app, &ada, &ada.user).await.problem("not-found");
    assert_eq!(delete(&app, &ada, "users:read").await.invalid_fields(), ["id"]);
}

async fn reading_needs_the_permission_in_any_scope(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let bob = app.colleague_in(&ada, sales, "bob@example.com", &["roles:read"]).await;
    app.get("/permissions").by(&bob).send().await.lacks("permissions:read");
    app.permit_in(&bob, sales, &["permissions:read"]).await;
    let listed = app.get("/permissions").by(&bob).send().await.ok();
    assert_eq!(listed, app.get("/permissions").by(&ada).send().await.ok());
}

async fn changing_needs_the_permission_tenant_wide(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let bob = app.colleague_in(&ada, sales, "bob@example.com", &["*"]).await;
    let id = register(&app, &ada, "orders:refund").await;
    create(&app, &bob, &json!({ "name": "orders:read" })).await.lacks("permissions:create");
    delete(&app, &bob, &id).await.lacks("permissions:delete");
}

async fn a_permission_that_a_wildcard_gives_only_to_others_is_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    register(&app, &ada, "orders:read").await;
    app.role(&ada, "CLERK", &["orders:*"]).await;
    let carl = app.add_user(&ada, "carl@example.com").await;
    app.assign(&ada, &carl, "CLERK", None, None).await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["permissions:create", "orders:read"]).await;
    app.unrecorded(&ada, create(&app, &bob, &json!({ "name": "orders:refund" }))).await.escalates();
    create(&app, &bob, &json!({ "name": "invoices:send" })).await.created();
    app.permit(&bob, &["orders:*"]).await;
    create(&app, &bob, &json!({ "name": "orders:refund" })).await.created();
}

async fn changes_are_recorded_with_their_values(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "orders:refund", "description": "Give money back." });
    let created = create(&app, &ada, &body).await.created();
    let id = created["id"].as_str().unwrap();
    delete(&app, &ada, id).await.no_content();
    let entries = app.history(&ada, id).await;
    let [deleted, made] = entries.as_slice() else { panic!("{entries:?}") };
    says(made, &ada, "CREATE", "PERMISSION", id);
    assert_eq!((&made["oldValue"], &made["newValue"]), (&Value::Null, &body));
    says(deleted, &ada, "DELETE", "PERMISSION", id);
    assert_eq!((&deleted["oldValue"], &deleted["newValue"]), (&body, &Value::Null));
}
