//! `GET /users/:id/roles` (`docs/http-api.md#role-assignments`).

use chrono::TimeDelta;
use iam_core::clock::Clock as _;
use serde_json::json;

use crate::app::TestApp;

in_memory![
    the_roles_of_a_user_embed_role_and_organization,
    a_role_is_not_listed_from_the_instant_of_its_expiry,
    reading_own_roles_needs_no_permission_but_reading_others_does,
    the_roles_of_an_unknown_user_are_not_found,
];

async fn the_roles_of_a_user_embed_role_and_organization(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let sales = app.organization(&ada, "sales").await.to_string();
    let auditor = app.assign(&ada, &bob, "AUDITOR", None, None).await;
    app.pass(TimeDelta::seconds(1));
    let member = app.assign(&ada, &bob, "MEMBER", Some(sales.parse().unwrap()), None).await;
    let body = app.get(&format!("/users/{bob}/roles")).by(&ada).send().await.ok();
    let [newest, oldest] = [&body["data"][0], &body["data"][1]];
    assert_eq!(body["data"].as_array().unwrap().len(), 2);
    let expected = json!({
        "id": member, "userId": bob, "roleId": newest["roleId"], "organizationId": sales, "expiresAt": null,
        "createdAt": app.now(), "createdBy": null, "directoryGroupId": null, "accessRequestId": null,
        "role": { "id": newest["roleId"], "name": "MEMBER" },
        "organization": { "id": sales, "name": "Organization sales" },
    });
    assert_eq!(*newest, expected);
    assert_eq!((&oldest["id"], &oldest["role"]["name"]), (&json!(auditor), &json!("AUDITOR")));
    assert_eq!((&oldest["organizationId"], oldest.get("organization")), (&json!(null), None));
}

async fn a_role_is_not_listed_from_the_instant_of_its_expiry(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let expiry = app.clock.now() + TimeDelta::seconds(5);
    app.assign(&ada, &bob, "MEMBER", None, Some(expiry)).await;
    app.pass(TimeDelta::milliseconds(4_999));
    let roles = async || app.get(&format!("/users/{bob}/roles")).by(&ada).send().await.ok()["data"].clone();
    assert_eq!(roles().await[0]["role"]["name"], "MEMBER");
    app.pass(TimeDelta::milliseconds(1));
    assert_eq!(roles().await, json!([]));
}

async fn reading_own_roles_needs_no_permission_but_reading_others_does(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    assert_eq!(app.get(&format!("/users/{}/roles", bob.user)).by(&bob).send().await.ok(), json!({ "data": [] }));
    assert_eq!(app.get("/users/17/roles").by(&bob).send().await.invalid_fields(), ["id"]);
    let refused = app.get(&format!("/users/{}/roles", ada.user)).by(&bob).send().await.problem("forbidden");
    assert_eq!(refused["detail"], "Missing permission: role-assignments:read.");
}

async fn the_roles_of_an_unknown_user_are_not_found(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let path = format!("/users/{}/roles", ada.tenant);
    app.get(&path).by(&ada).send().await.problem("not-found");
}
