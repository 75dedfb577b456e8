//! `/roles` (`docs/http-api.md#roles-and-permissions`).

use chrono::TimeDelta;
use iam_core::role::RoleScope;
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::people::{Person, says, with};
use crate::request::{Response, each, each_sorted, members};

in_memory![
    a_new_tenant_has_the_built_in_roles,
    create_answers_201_with_the_full_role,
    description_scope_and_permissions_may_be_absent,
    names_are_upper_snake_case,
    create_names_every_invalid_field,
    a_name_is_unique_in_the_tenant,
    a_400_names_the_index_of_an_unregistered_permission,
    a_role_has_at_most_500_permissions,
    a_role_can_hold_wildcards_and_registered_permissions,
    get_shows_the_role,
    an_unknown_role_is_not_found,
    roles_are_listed_newest_first_in_pages,
    patch_changes_only_the_given_fields,
    patch_takes_null_as_absent,
    a_patch_that_changes_nothing_writes_and_records_nothing,
    patch_to_a_taken_name_is_a_conflict,
    patch_names_every_invalid_field,
    a_change_applies_at_once_to_all_users_with_the_role,
    system_roles_cannot_be_changed_or_deleted,
    delete_answers_204_and_frees_the_name,
    a_role_in_use_cannot_be_deleted,
    an_expired_assignment_does_not_prevent_a_delete,
    a_scope_that_contradicts_an_assignment_is_a_conflict,
    a_caller_cannot_create_a_role_with_more_than_it_holds,
    a_caller_cannot_add_permissions_that_it_does_not_hold,
    a_caller_cannot_add_permissions_for_longer_than_it_holds_them,
    removing_permissions_needs_only_roles_update,
    reading_needs_the_permission_in_any_scope,
    changing_needs_the_permission_tenant_wide,
    changes_are_recorded_with_their_values,
    a_refused_change_writes_and_records_nothing,
];

async fn a_role_has_at_most_500_permissions(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let many = |count: usize| vec!["users:read"; count];
    let role = create(&app, &ada, &json!({ "name": "WIDE", "permissions": many(500) })).await.created();
    let refused = create(&app, &ada, &json!({ "name": "WIDER", "permissions": many(501) })).await;
    assert_eq!(refused.invalid_fields(), ["permissions"]);
    let path = format!("/roles/{}", role["id"].as_str().unwrap());
    let refused = app.patch(&path).by(&ada).json(&json!({ "permissions": many(501) })).send().await;
    assert_eq!(refused.invalid_fields(), ["permissions"]);
}

async fn create(app: &TestApp, by: &Person, body: &Value) -> Response {
    app.post("/roles").by(by).json(body).send().await
}

async fn patch(app: &TestApp, by: &Person, id: &str, body: &Value) -> Response {
    app.patch(&format!("/roles/{id}")).by(by).json(body).send().await
}

async fn role(app: &TestApp, by: &Person, id: &str) -> Value {
    app.get(&format!("/roles/{id}")).by(by).send().await.ok()
}

fn id(created: &Value) -> &str {
    created["id"].as_str().unwrap()
}

async fn a_new_tenant_has_the_built_in_roles(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let listed = app.get("/roles").by(&ada).send().await.ok();
    let mut roles = listed["data"].as_array().unwrap().clone();
    roles.sort_by_key(|role| role["name"].as_str().unwrap().to_owned());
    let expected = [
        (
            "AUDITOR",
            "TENANT",
            json!([
                "audit-logs:read",
                "organizations:read",
                "permissions:read",
                "role-assignments:read",
                "roles:read",
                "users:read"
            ]),
        ),
        ("MEMBER", "ANY", json!(["organizations:read", "users:read"])),
        (
            "ORGANIZATION_ADMIN",
            "ORGANIZATION",
            json!(["organizations:*", "permissions:read", "role-assignments:*", "roles:read", "users:read"]),
        ),
        ("TENANT_ADMIN", "TENANT", json!(["*"])),
    ];
    assert_eq!(roles.len(), expected.len());
    for (role, (name, scope, permissions)) in roles.iter().zip(expected) {
        let expected = json!({ "name": name, "scope": scope, "permissions": permissions, "system": true });
        assert_eq!(with(role.clone(), &expected), *role);
    }
}

async fn create_answers_201_with_the_full_role(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({
        "name": "SHIFT_LEADER", "description": "  Leads a shift. ", "scope": "ORGANIZATION",
        "permissions": ["users:read", "organizations:*", "users:read"],
    });
    let created = create(&app, &ada, &body).await.created();
    let expected = json!({
        "id": created["id"], "name": "SHIFT_LEADER", "description": "Leads a shift.", "scope": "ORGANIZATION",
        "permissions": ["organizations:*", "users:read"], "system": false,
        "createdAt": app.now(), "updatedAt": app.now(),
    });
    assert_eq!(created, expected);
}

async fn description_scope_and_permissions_may_be_absent(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bare = create(&app, &ada, &json!({ "name": "BARE" })).await.created();
    let nulls = json!({ "name": "NULLS", "description": null, "scope": null });
    for created in [bare, create(&app, &ada, &nulls).await.created()] {
        let found = [&created["description"], &created["scope"], &created["permissions"]];
        assert_eq!(found, [&json!(""), &json!("ANY"), &json!([])]);
    }
}

async fn names_are_upper_snake_case(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for good in ["A", "TIER_2_SUPPORT", &"A".repeat(120)] {
        assert_eq!(create(&app, &ada, &json!({ "name": good })).await.created()["name"], good);
    }
    for bad in ["", "member", "Member", "_A", "A_", "A__B", "A-B", "A B", "2ND", "Ä", &"A".repeat(121)] {
        assert_eq!(create(&app, &ada, &json!({ "name": bad })).await.invalid_fields(), ["name"], "{bad}");
    }
}

async fn create_names_every_invalid_field(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert_eq!(create(&app, &ada, &json!({})).await.invalid_fields(), ["name"]);
    let wrong =
        json!({ "name": "x", "description": "x".repeat(501), "permissions": ["users:read", "users", "*:read"] });
    let expected = ["name", "description", "permissions[1]", "permissions[2]"];
    assert_eq!(create(&app, &ada, &wrong).await.invalid_fields(), expected);
    for (field, value) in
        [("scope", json!("GLOBAL")), ("system", json!(true)), ("id", json!("x")), ("tenantId", json!("x"))]
    {
        assert_eq!(create(&app, &ada, &json!({ "name": "A", field: value })).await.invalid_fields(), [field]);
    }
    let wrong = create(&app, &ada, &json!({ "name": "A", "permissions": ["users:read", 17] })).await;
    assert_eq!(wrong.invalid_fields(), ["permissions[1]"]);
    assert_eq!(create(&app, &ada, &json!({ "name": "A", "permissions": "*" })).await.invalid_fields(), ["permissions"]);
}

async fn a_name_is_unique_in_the_tenant(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    create(&app, &ada, &json!({ "name": "CLERK" })).await.created();
    for taken in ["CLERK", "MEMBER"] {
        app.unrecorded(&ada, create(&app, &ada, &json!({ "name": taken }))).await.problem("conflict");
    }
    create(&app, &eve, &json!({ "name": "CLERK" })).await.created();
}

async fn a_400_names_the_index_of_an_unregistered_permission(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let permissions = json!(["users:read", "orders:refund", "users:fire", "*", "orders:*"]);
    let wrong = create(&app, &ada, &json!({ "name": "CLERK", "permissions": permissions })).await;
    let expected = ["permissions[1]", "permissions[2]", "permissions[4]"];
    assert_eq!(wrong.invalid_fields(), expected);
    let clerk = create(&app, &ada, &json!({ "name": "CLERK" })).await.created();
    let wrong = patch(&app, &ada, id(&clerk), &json!({ "permissions": permissions })).await;
    assert_eq!(wrong.invalid_fields(), expected);
    assert_eq!(role(&app, &ada, id(&clerk)).await, clerk);
}

async fn a_role_can_hold_wildcards_and_registered_permissions(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.post("/permissions").by(&ada).json(&json!({ "name": "orders:refund" })).send().await.created();
    let permissions = json!(["*", "orders:*", "orders:refund", "users:*"]);
    let created = create(&app, &ada, &json!({ "name": "CLERK", "permissions": permissions })).await.created();
    assert_eq!(created["permissions"], permissions);
}

async fn get_shows_the_role(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "CLERK", "permissions": ["users:read"] });
    let created = create(&app, &ada, &body).await.created();
    assert_eq!(role(&app, &ada, id(&created)).await, created);
}

async fn an_unknown_role_is_not_found(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.get(&format!("/roles/{}", ada.user)).by(&ada).send().await.problem("not-found");
    app.delete(&format!("/roles/{}", ada.user)).by(&ada).send().await.problem("not-found");
    patch(&app, &ada, &ada.user, &json!({ "name": "CLERK" })).await.problem("not-found");
    assert_eq!(app.get("/roles/17").by(&ada).send().await.invalid_fields(), ["id"]);
    assert_eq!(app.delete("/roles/17").by(&ada).send().await.invalid_fields(), ["id"]);
    assert_eq!(patch(&app, &ada, "17", &json!({})).await.invalid_fields(), ["id"]);
}

async fn roles_are_listed_newest_first_in_pages(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for name in ["FIRST", "SECOND", "THIRD"] {
        app.pass(TimeDelta::seconds(1));
        create(&app, &ada, &json!({ "name": name })).await.created();
    }
    let body = app.get("/roles").by(&ada).query("limit", "3").send().await.ok();
    assert_eq!(each(&body, "name"), ["THIRD", "SECOND", "FIRST"]);
    let expected = json!({ "total": 7, "page": 1, "limit": 3, "totalPages": 3, "hasNext": true, "hasPrev": false });
    assert_eq!(body["pagination"], expected);
    let last = app.get("/roles").by(&ada).query("limit", "3").query("page", "3").send().await.ok();
    assert_eq!((last["data"].as_array().unwrap().len(), &last["pagination"]["hasNext"]), (1, &json!(false)));
    for (name, value) in [("limit", "0"), ("limit", "101"), ("page", "0"), ("page", "x")] {
        assert_eq!(app.get("/roles").by(&ada).query(name, value).send().await.invalid_fields(), [name]);
    }
}

async fn patch_changes_only_the_given_fields(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "CLERK", "description": "Writes.", "permissions": ["users:read"] });
    let mut expected = create(&app, &ada, &body).await.created();
    let id = id(&expected).to_owned();
    for change in [
        json!({ "name": "SCRIBE" }),
        json!({ "description": "" }),
        json!({ "scope": "TENANT" }),
        json!({ "permissions": ["roles:read", "users:*"] }),
        json!({ "permissions": [] }),
        json!({ "name": "CLERK", "description": "Reads.", "scope": "ANY", "permissions": ["users:read"] }),
    ] {
        app.pass(TimeDelta::seconds(1));
        expected = with(with(expected, &change), &json!({ "updatedAt": app.now() }));
        assert_eq!(patch(&app, &ada, &id, &change).await.ok(), expected);
        assert_eq!(role(&app, &ada, &id).await, expected);
    }
}

async fn patch_takes_null_as_absent(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "CLERK", "description": "Writes.", "permissions": ["users:read"] });
    let before = create(&app, &ada, &body).await.created();
    let nulls = json!({ "name": null, "description": null, "scope": null, "permissions": null });
    changes_nothing(&app, &ada, &before, &nulls).await;
}

async fn a_patch_that_changes_nothing_writes_and_records_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "CLERK", "description": "Writes.", "permissions": ["users:read", "roles:read"] });
    let before = create(&app, &ada, &body).await.created();
    let same = json!({ "permissions": ["users:read", "roles:read", "users:read"], "description": " Writes. " });
    for body in [json!({}), body, same] {
        changes_nothing(&app, &ada, &before, &body).await;
    }
}

async fn changes_nothing(app: &TestApp, by: &Person, before: &Value, body: &Value) {
    app.pass(TimeDelta::seconds(1));
    assert_eq!(app.unrecorded(by, patch(app, by, id(before), body)).await.ok(), *before);
    assert_eq!(role(app, by, id(before)).await, *before);
}

async fn patch_to_a_taken_name_is_a_conflict(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let clerk = create(&app, &ada, &json!({ "name": "CLERK" })).await.created();
    let body = json!({ "name": "MEMBER", "description": "New." });
    app.unrecorded(&ada, patch(&app, &ada, id(&clerk), &body)).await.problem("conflict");
    assert_eq!(role(&app, &ada, id(&clerk)).await, clerk);
}

async fn patch_names_every_invalid_field(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let clerk = create(&app, &ada, &json!({ "name": "CLERK" })).await.created();
    let wrong = json!({ "name": "clerk", "description": "a\u{7}", "permissions": ["Users:read"] });
    let expected = ["name", "description", "permissions[0]"];
    assert_eq!(patch(&app, &ada, id(&clerk), &wrong).await.invalid_fields(), expected);
    for (field, value) in [("scope", json!("any")), ("name", json!(17)), ("system", json!(true)), ("id", Value::Null)] {
        assert_eq!(patch(&app, &ada, id(&clerk), &json!({ field: value })).await.invalid_fields(), [field]);
    }
}

async fn a_change_applies_at_once_to_all_users_with_the_role(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let clerk = app.role(&ada, "CLERK", &["roles:read"]).await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "CLERK", None, None).await;
    app.get("/users").by(&bob).send().await.lacks("users:read");
    patch(&app, &ada, &clerk, &json!({ "permissions": ["users:read"] })).await.ok();
    app.get("/users").by(&bob).send().await.ok();
    app.get("/roles").by(&bob).send().await.lacks("roles:read");
}

async fn system_roles_cannot_be_changed_or_deleted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for name in ["TENANT_ADMIN", "ORGANIZATION_ADMIN", "MEMBER", "AUDITOR"] {
        let id = app.role_id(&ada, name).await;
        let before = role(&app, &ada, &id).await;
        for change in [
            json!({ "name": "OTHER" }),
            json!({ "description": "Other." }),
            json!({ "permissions": ["tenants:read"] }),
            json!({ "permissions": [] }),
            json!({ "scope": if before["scope"] == "ANY" { "TENANT" } else { "ANY" } }),
        ] {
            app.unrecorded(&ada, patch(&app, &ada, &id, &change)).await.problem("conflict");
        }
        app.unrecorded(&ada, app.delete(&format!("/roles/{id}")).by(&ada).send()).await.problem("conflict");
        assert_eq!(role(&app, &ada, &id).await, before);
    }
}

async fn delete_answers_204_and_frees_the_name(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let path = format!("/roles/{}", app.role(&ada, "CLERK", &[]).await);
    app.delete(&path).by(&ada).send().await.no_content();
    app.get(&path).by(&ada).send().await.problem("not-found");
    app.unrecorded(&ada, app.delete(&path).by(&ada).send()).await.problem("not-found");
    create(&app, &ada, &json!({ "name": "CLERK" })).await.created();
}

async fn a_role_in_use_cannot_be_deleted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    for (name, organization) in [("EVERYWHERE", None), ("IN_SALES", Some(sales))] {
        let path = format!("/roles/{}", app.role(&ada, name, &[]).await);
        let assignment = app.assign(&ada, &ada.user, name, organization, None).await;
        app.unrecorded(&ada, app.delete(&path).by(&ada).send()).await.problem("conflict");
        app.get(&path).by(&ada).send().await.ok();
        app.delete(&format!("/role-assignments/{assignment}")).by(&ada).send().await.no_content();
        app.delete(&path).by(&ada).send().await.no_content();
    }
}

async fn an_expired_assignment_does_not_prevent_a_delete(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let path = format!("/roles/{}", app.role(&ada, "CLERK", &[]).await);
    let expiry = app.iam.now() + TimeDelta::seconds(5);
    let assignment = app.assign(&ada, &ada.user, "CLERK", None, Some(expiry)).await;
    app.pass(TimeDelta::milliseconds(4_999));
    app.delete(&path).by(&ada).send().await.problem("conflict");
    app.pass(TimeDelta::milliseconds(1));
    app.delete(&path).by(&ada).send().await.no_content();
    let revoked = &app.history(&ada, &assignment).await[0];
    says(revoked, &ada, "ROLE_REVOKED", "ROLE_ASSIGNMENT", &assignment);
    assert_eq!(revoked["metadata"]["reason"], "EXPIRED");
}

async fn a_scope_that_contradicts_an_assignment_is_a_conflict(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    for (name, organization, contradicting, fitting) in
        [("EVERYWHERE", None, "ORGANIZATION", "TENANT"), ("IN_SALES", Some(sales), "TENANT", "ORGANIZATION")]
    {
        let role = app.role(&ada, name, &[]).await;
        app.assign(&ada, &ada.user, name, organization, None).await;
        patch(&app, &ada, &role, &json!({ "scope": contradicting })).await.problem("conflict");
        assert_eq!(patch(&app, &ada, &role, &json!({ "scope": fitting })).await.ok()["scope"], fitting);
    }
}

async fn a_caller_cannot_create_a_role_with_more_than_it_holds(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let four = ["users:create", "users:read", "users:update", "users:delete"];
    let bob = app.colleague_who_may(&ada, "bob@example.com", &four).await;
    app.permit(&bob, &["roles:create"]).await;
    app.permit_in(&bob, sales, &["tenants:read"]).await;
    for beyond in ["users:*", "*", "sessions:read", "tenants:read"] {
        let body = json!({ "name": "CLERK", "permissions": ["users:read", beyond] });
        app.unrecorded(&ada, create(&app, &bob, &body)).await.escalates();
    }
    create(&app, &bob, &json!({ "name": "CLERK", "permissions": four })).await.created();
}

async fn a_caller_cannot_add_permissions_that_it_does_not_hold(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let clerk = app.role(&ada, "CLERK", &["sessions:read"]).await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["roles:update", "users:read"]).await;
    for beyond in ["*", "users:*", "users:delete", "sessions:delete"] {
        let body = json!({ "permissions": ["sessions:read", "users:read", beyond] });
        app.unrecorded(&ada, patch(&app, &bob, &clerk, &body)).await.escalates();
    }
    // The caller does not grant the permissions that the role already has.
    patch(&app, &bob, &clerk, &json!({ "permissions": ["sessions:read", "users:read"] })).await.ok();
}

async fn a_caller_cannot_add_permissions_for_longer_than_it_holds_them(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let clerk = app.role(&ada, "CLERK", &[]).await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["roles:update"]).await;
    let [soon, later] = [1, 2].map(|minutes| app.iam.now() + TimeDelta::minutes(minutes));
    app.permit_until(&bob, &["users:read"], None, Some(soon)).await;
    let carl = app.add_user(&ada, "carl@example.com").await;
    let held = app.assign(&ada, &carl, "CLERK", None, Some(later)).await;
    let body = json!({ "permissions": ["users:read"] });
    app.unrecorded(&ada, patch(&app, &bob, &clerk, &body)).await.escalates();
    let shorter = json!({ "expiresAt": shown(soon) });
    app.patch(&format!("/role-assignments/{held}")).by(&ada).json(&shorter).send().await.ok();
    patch(&app, &bob, &clerk, &body).await.ok();
}

async fn removing_permissions_needs_only_roles_update(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let clerk = app.role(&ada, "CLERK", &["users:*", "sessions:read"]).await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["roles:update"]).await;
    // A permission that the old wildcard includes is not new in the role.
    for permissions in [json!(["users:*"]), json!(["users:delete", "users:read"]), json!([])] {
        let body = json!({ "permissions": permissions });
        assert_eq!(patch(&app, &bob, &clerk, &body).await.ok()["permissions"], permissions);
    }
}

async fn reading_needs_the_permission_in_any_scope(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let bob = app.colleague_in(&ada, sales, "bob@example.com", &["roles:create"]).await;
    let path = format!("/roles/{}", app.role_id(&ada, "MEMBER").await);
    for path in ["/roles", &path] {
        app.get(path).by(&bob).send().await.lacks("roles:read");
    }
    app.permit_in(&bob, sales, &["roles:read"]).await;
    assert_eq!(app.get(&path).by(&bob).send().await.ok()["name"], "MEMBER");
    let [of_bob, of_ada] = [app.get("/roles").by(&bob).send().await.ok(), app.get("/roles").by(&ada).send().await.ok()];
    assert_eq!(of_bob, of_ada);
}

async fn changing_needs_the_permission_tenant_wide(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let bob = app.colleague_in(&ada, sales, "bob@example.com", &["*"]).await;
    let path = format!("/roles/{}", app.role_of_scope(&ada, "CLERK", RoleScope::Organization, &[]).await);
    create(&app, &bob, &json!({ "name": "OTHER" })).await.lacks("roles:create");
    app.patch(&path).by(&bob).json(&json!({ "name": "OTHER" })).send().await.lacks("roles:update");
    app.delete(&path).by(&bob).send().await.lacks("roles:delete");
    assert_eq!(each_sorted(&app.get("/roles").by(&ada).query("limit", "1").send().await.ok(), "name").len(), 1);
    assert_eq!(app.get(&path).by(&ada).send().await.ok()["name"], "CLERK");
}

async fn changes_are_recorded_with_their_values(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "CLERK", "description": "Writes.", "scope": "ANY", "permissions": ["users:read"] });
    let created = create(&app, &ada, &body).await.created();
    let id = id(&created);
    let change = json!({ "description": "Reads.", "permissions": ["roles:read", "users:read"], "scope": "ANY" });
    patch(&app, &ada, id, &change).await.ok();
    app.delete(&format!("/roles/{id}")).by(&ada).send().await.no_content();
    let entries = app.history(&ada, id).await;
    let [deleted, updated, made] = entries.as_slice() else { panic!("{entries:?}") };
    says(made, &ada, "CREATE", "ROLE", id);
    assert_eq!((&made["oldValue"], &made["newValue"]), (&Value::Null, &body));
    says(updated, &ada, "UPDATE", "ROLE", id);
    assert_eq!(updated["oldValue"], json!({ "description": "Writes.", "permissions": ["users:read"] }));
    let after = json!({ "description": "Reads.", "permissions": ["roles:read", "users:read"] });
    assert_eq!(updated["newValue"], after);
    assert_eq!(updated["metadata"], json!({ "changedFields": ["description", "permissions"] }));
    says(deleted, &ada, "DELETE", "ROLE", id);
    assert_eq!((&deleted["oldValue"], &deleted["newValue"]), (&with(body, &after), &Value::Null));
}

async fn a_refused_change_writes_and_records_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let before = app.get("/roles").by(&ada).send().await.ok();
    let entries = app.audit(&ada, &[]).await;
    create(&app, &bob, &json!({ "name": "CLERK" })).await.lacks("roles:create");
    create(&app, &ada, &json!({ "name": "CLERK", "permissions": ["orders:refund"] })).await.problem("validation-error");
    assert_eq!(app.get("/roles").by(&ada).send().await.ok(), before);
    assert_eq!(app.audit(&ada, &[]).await, entries);
    assert_eq!(members(&before), ["data", "pagination"]);
}
