//! `?preview=true`: what a change would do to the rights of users (`docs/foresight.md#before-a-change-the-preview`).

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::openapi::{document, operations};
use crate::people::Person;
use crate::request::{Request, Response, members};

in_memory![
    a_preview_names_user_place_permission_and_time,
    a_preview_names_the_assignments_that_give_the_right,
    every_change_of_rights_has_a_preview,
    what_a_preview_says_happens_when_the_change_is_made,
    a_right_has_one_row_at_the_topmost_place,
    a_right_that_another_role_gives_does_not_change,
    a_caller_without_the_permission_gets_403,
    an_escalation_is_not_allowed,
    the_loss_of_the_last_administrator_is_not_allowed,
    a_conflict_is_not_allowed,
    of_two_conflicts_a_preview_names_the_one_of_the_change,
    a_rule_that_refuses_the_change_is_the_problem,
    what_the_caller_may_not_see_is_counted_and_not_shown,
    a_preview_is_not_kept_under_an_idempotency_key,
    a_preview_does_not_repeat_the_response_to_an_earlier_request,
    a_preview_is_400_for_a_change_that_has_none,
    a_preview_evaluates_if_match,
    an_invalid_preview_parameter_is_400,
    a_preview_needs_a_token,
];

async fn preview(request: Request<'_>) -> Value {
    let body = request.query("preview", "true").send().await.ok();
    assert_eq!(members(&body), ["allowed", "changes", "truncated", "users"], "{body}");
    assert_eq!(body["allowed"], true);
    body
}

async fn refusal(request: Request<'_>) -> Value {
    let body = request.query("preview", "true").send().await.ok();
    assert_eq!(members(&body), ["allowed", "changes", "problem", "truncated", "users"], "{body}");
    assert_eq!((&body["allowed"], &body["users"], &body["changes"]), (&json!(false), &json!(0), &json!([])));
    body["problem"].clone()
}

fn kind(problem: &Value) -> &str {
    problem["type"].as_str().unwrap().rsplit('/').next().unwrap()
}

fn assignment(user: &str, role: &str, organization: Option<&str>) -> Value {
    json!({ "userId": user, "roleId": role, "organizationId": organization })
}

/// The rows about a permission.
fn rows<'a>(preview: &'a Value, permission: &str) -> Vec<&'a Value> {
    let rows = preview["changes"].as_array().unwrap();
    rows.iter().filter(|row| row["permission"] == permission).collect()
}

async fn a_preview_names_user_place_permission_and_time(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let sales = app.organization(&ada, "sales").await.to_string();
    let role = app.role(&ada, "READER", &["users:read"]).await;
    let until = shown(app.iam.now() + TimeDelta::hours(1));
    let mut body = assignment(&bob, &role, Some(&sales));
    body["expiresAt"] = json!(until);
    let found = preview(app.post("/role-assignments").by(&ada).json(&body)).await;
    let row = json!({
        "userId": bob, "organizationId": sales, "permission": "users:read", "change": "GAINED", "via": [],
        "from": app.now(), "until": until,
    });
    assert_eq!(found, json!({ "allowed": true, "users": 1, "changes": [row], "truncated": false }));
}

async fn a_preview_names_the_assignments_that_give_the_right(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.role(&ada, "READER", &["users:read"]).await;
    let held = app.assign(&ada, &bob, "READER", None, None).await;
    let found = preview(app.delete(&format!("/role-assignments/{held}")).by(&ada)).await;
    let row = json!({
        "userId": bob, "organizationId": null, "permission": "users:read", "change": "LOST", "via": [held],
        "from": app.now(), "until": null,
    });
    assert_eq!(found["changes"], json!([row]));
}

/// Every operation that has a preview, with the number of users that it affects.
async fn every_change_of_rights_has_a_preview(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let cyd = app.add_user(&ada, "cyd@example.com").await;
    app.set_status(&ada, &cyd, "SUSPENDED").await;
    let dan = app.add_user(&ada, "dan@example.com").await;
    app.set_status(&ada, &dan, "INACTIVE").await;
    let [root, branch] = app.chain(&ada, "level").await.map(|id| id.to_string());
    let other = app.organization(&ada, "other").await.to_string();
    let role = app.role(&ada, "READER", &["users:read"]).await;
    let free = app.role(&ada, "FREE", &["roles:read"]).await;
    let held = app.assign(&ada, &bob, "READER", root.parse().ok(), None).await;
    app.assign(&ada, &cyd, "READER", None, None).await;
    let patch_user =
        |id: &str, status: &str| app.patch(&format!("/users/{id}")).by(&ada).json(&json!({ "status": status }));
    let new = assignment(&bob, &free, None);
    let bulk = json!({ "assignments": [new, assignment(&ada.user, &free, None)] });
    let patch_organization = |body: Value| app.patch(&format!("/organizations/{branch}")).by(&ada).json(&body);
    let requests: Vec<(&str, Request<'_>, u64)> = vec![
        ("assign", app.post("/role-assignments").by(&ada).json(&new), 1),
        // Ada is an administrator: she gains nothing.
        ("assign several", app.post("/role-assignments/bulk").by(&ada).json(&bulk), 1),
        (
            "change the expiry",
            app.patch(&format!("/role-assignments/{held}"))
                .by(&ada)
                .json(&json!({ "expiresAt": shown(app.iam.now() + TimeDelta::hours(1)) })),
            1,
        ),
        ("revoke", app.delete(&format!("/role-assignments/{held}")).by(&ada), 1),
        (
            "create a role",
            app.post("/roles").by(&ada).json(&json!({ "name": "NEW", "permissions": ["users:read"] })),
            0,
        ),
        ("change a role", app.patch(&format!("/roles/{role}")).by(&ada).json(&json!({ "permissions": [] })), 1),
        ("delete a role", app.delete(&format!("/roles/{free}")).by(&ada), 0),
        ("create an organization", app.post("/organizations").by(&ada).json(&json!({ "name": "New" })), 0),
        ("move an organization", patch_organization(json!({ "parentId": other })), 1),
        ("suspend an organization", patch_organization(json!({ "status": "SUSPENDED" })), 0),
        ("delete an organization", app.delete(&format!("/organizations/{branch}")).by(&ada), 1),
        ("suspend a user", app.post(&format!("/users/{bob}/suspend")).by(&ada), 1),
        ("reactivate a user", app.post(&format!("/users/{cyd}/reactivate")).by(&ada), 1),
        ("suspend a user by its status", patch_user(&bob, "SUSPENDED"), 1),
        ("delete a user by its status", patch_user(&bob, "INACTIVE"), 1),
        ("restore a user", patch_user(&dan, "ACTIVE"), 0),
        ("delete a user", app.delete(&format!("/users/{bob}")).by(&ada), 1),
    ];
    for (what, request, users) in requests {
        let found = app.unrecorded(&ada, preview(request)).await;
        assert_eq!(found["users"], users, "{what}: {found}");
        assert_eq!(found["changes"].as_array().unwrap().is_empty(), users == 0, "{what}");
    }
    // Nothing has changed.
    assert_eq!(app.user(&ada, &bob).await["status"], "ACTIVE");
    assert_eq!(app.user(&ada, &cyd).await["status"], "SUSPENDED");
    assert_eq!(app.get(&format!("/role-assignments?userId={bob}")).by(&ada).send().await.ok()["data"][0]["id"], held);
    assert_eq!(app.get(&format!("/organizations/{branch}")).by(&ada).send().await.ok()["parentId"], root);
    assert_eq!(app.get(&format!("/roles/{role}")).by(&ada).send().await.ok()["permissions"], json!(["users:read"]));
}

async fn what_a_preview_says_happens_when_the_change_is_made(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [north, south] = [app.organization(&ada, "north").await, app.organization(&ada, "south").await];
    let harbour = app.below(&ada, north, "harbour").await.to_string();
    app.role(&ada, "READER", &["users:read"]).await;
    let [bob, cyd] = [app.add_user(&ada, "bob@example.com").await, app.add_user(&ada, "cyd@example.com").await];
    app.assign(&ada, &bob, "READER", Some(north), None).await;
    app.assign(&ada, &cyd, "READER", Some(south), None).await;
    let may = async |user: &str| {
        let question = json!({ "permission": "users:read", "userId": user, "organizationId": harbour });
        app.post("/authz/check").by(&ada).json(&question).send().await.ok()["allowed"].as_bool().unwrap()
    };
    let patch = || app.patch(&format!("/organizations/{harbour}")).by(&ada).json(&json!({ "parentId": south }));
    let found = preview(patch()).await;
    let change = |user: &str| {
        let row = found["changes"].as_array().unwrap().iter().find(|row| row["userId"] == user).unwrap();
        assert_eq!(row["organizationId"], harbour);
        row["change"].as_str().unwrap().to_owned()
    };
    assert_eq!((change(&bob), change(&cyd), found["users"].as_u64()), ("LOST".into(), "GAINED".into(), Some(2)));
    assert_eq!((may(&bob).await, may(&cyd).await), (true, false));
    patch().send().await.ok();
    assert_eq!((may(&bob).await, may(&cyd).await), (false, true));
}

async fn a_right_has_one_row_at_the_topmost_place(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let [root, branch] = app.chain(&ada, "level").await;
    let role = app.role(&ada, "READER", &["users:*"]).await;
    app.assign(&ada, &bob, "READER", Some(branch), None).await;
    let new = assignment(&bob, &role, Some(&root.to_string()));
    let found = preview(app.post("/role-assignments").by(&ada).json(&new)).await;
    let read = rows(&found, "users:read");
    assert_eq!((read.len(), &read[0]["organizationId"]), (1, &json!(root)));
    // Each permission as it is registered, not as the role contains it.
    assert!(rows(&found, "users:*").is_empty() && rows(&found, "users:delete").len() == 1);
}

async fn a_right_that_another_role_gives_does_not_change(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.role(&ada, "READER", &["users:read", "roles:read"]).await;
    app.role(&ada, "USERS", &["users:*"]).await;
    let held = app.assign(&ada, &bob, "READER", None, None).await;
    let until = app.iam.now() + TimeDelta::hours(1);
    app.assign(&ada, &bob, "USERS", None, Some(until)).await;
    let found = preview(app.delete(&format!("/role-assignments/{held}")).by(&ada)).await;
    let [read, roles] = [rows(&found, "users:read"), rows(&found, "roles:read")];
    assert_eq!((&read[0]["from"], &roles[0]["from"]), (&json!(shown(until)), &json!(app.now())));
}

async fn a_caller_without_the_permission_gets_403(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["role-assignments:read"]).await;
    let role = app.role(&ada, "READER", &["users:read"]).await;
    let body = assignment(&bob.user, &role, None);
    let request = app.post("/role-assignments").by(&bob).json(&body).query("preview", "true");
    request.send().await.lacks("role-assignments:create");
    let request = app.delete(&format!("/roles/{role}")).by(&bob).query("preview", "true");
    request.send().await.lacks("roles:delete");
}

async fn an_escalation_is_not_allowed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["role-assignments:*"]).await;
    let admin = app.role_id(&ada, "TENANT_ADMIN").await;
    let problem = refusal(app.post("/role-assignments").by(&bob).json(&assignment(&bob.user, &admin, None))).await;
    assert_eq!((kind(&problem), &problem["status"]), ("forbidden", &json!(403)));
    assert_eq!(problem["instance"], "/api/v1/role-assignments");
}

async fn the_loss_of_the_last_administrator_is_not_allowed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let problem = refusal(app.delete(&format!("/users/{}", ada.user)).by(&ada)).await;
    assert_eq!(kind(&problem), "conflict");
    assert!(problem["detail"].as_str().unwrap().contains("last active administrator"), "{problem}");
}

async fn a_conflict_is_not_allowed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let role = app.role(&ada, "READER", &["users:read"]).await;
    let other = app.role(&ada, "OTHER", &[]).await;
    app.organization(&ada, "sales").await;
    let north = app.organization(&ada, "north").await;
    app.assign(&ada, &bob, "READER", None, None).await;
    let named = |name: &str| json!({ "name": name, "permissions": [] });
    for request in [
        app.post("/role-assignments").by(&ada).json(&assignment(&bob, &role, None)),
        app.post("/roles").by(&ada).json(&named("READER")),
        app.patch(&format!("/roles/{other}")).by(&ada).json(&json!({ "name": "READER" })),
        app.delete(&format!("/roles/{role}")).by(&ada),
        app.post("/organizations").by(&ada).json(&json!({ "name": "New", "slug": "sales" })),
        app.patch(&format!("/organizations/{north}")).by(&ada).json(&json!({ "slug": "sales" })),
        app.patch(&format!("/users/{bob}")).by(&ada).json(&json!({ "email": "ADA@example.com" })),
    ] {
        assert_eq!(kind(&refusal(request).await), "conflict");
    }
}

async fn of_two_conflicts_a_preview_names_the_one_of_the_change(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.add_user(&ada, "bob@example.com").await;
    let path = format!("/users/{}", ada.user);
    let body = json!({ "email": "bob@example.com", "status": "SUSPENDED" });
    let problem = refusal(app.patch(&path).by(&ada).json(&body)).await;
    let change = app.patch(&path).by(&ada).json(&body).send().await;
    assert_eq!(change.problem("conflict")["detail"], problem["detail"]);
}

async fn a_rule_that_refuses_the_change_is_the_problem(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, branch] = app.chain(&ada, "level").await;
    let body = json!({ "parentId": branch });
    let problem = refusal(app.patch(&format!("/organizations/{root}")).by(&ada).json(&body)).await;
    assert_eq!((kind(&problem), &problem["errors"][0]["field"]), ("validation", &json!("parentId")));
}

async fn what_the_caller_may_not_see_is_counted_and_not_shown(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [north, south] = [app.organization(&ada, "north").await, app.organization(&ada, "south").await];
    let role = app.role(&ada, "READER", &["users:read"]).await;
    let cyd = app.add_user(&ada, "cyd@example.com").await;
    let dan = app.add_user(&ada, "dan@example.com").await;
    app.assign(&ada, &cyd, "READER", Some(north), None).await;
    app.assign(&ada, &dan, "READER", Some(south), None).await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["roles:update"]).await;
    let patch = |by: &Person| app.patch(&format!("/roles/{role}")).by(by).json(&json!({ "permissions": [] }));
    let found = preview(patch(&bob)).await;
    assert_eq!((&found["users"], &found["changes"]), (&json!(2), &json!([])));
    app.permit_in(&bob, north, &["role-assignments:read"]).await;
    let found = preview(patch(&app.login(&bob).await)).await;
    assert_eq!((&found["users"], found["changes"].as_array().unwrap().len()), (&json!(2), 1));
    assert_eq!(found["changes"][0]["userId"], cyd);
    assert_eq!(preview(patch(&ada)).await["changes"].as_array().unwrap().len(), 2);
}

fn keyed<'a>(app: &'a TestApp, by: &Person, name: &str) -> Request<'a> {
    let body = json!({ "name": name, "permissions": [] });
    app.post("/roles").by(by).json(&body).header("idempotency-key", "a-key")
}

fn was_replayed(response: &Response) -> bool {
    response.header("idempotent-replayed").is_some()
}

async fn a_preview_is_not_kept_under_an_idempotency_key(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    preview(keyed(&app, &ada, "READER")).await;
    let made = keyed(&app, &ada, "READER").send().await;
    assert!(!was_replayed(&made));
    made.created();
}

async fn a_preview_does_not_repeat_the_response_to_an_earlier_request(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    keyed(&app, &ada, "READER").send().await.created();
    let response = keyed(&app, &ada, "READER").query("preview", "true").send().await;
    assert!(!was_replayed(&response));
    assert_eq!(kind(&response.ok()["problem"]), "conflict");
    assert!(was_replayed(&keyed(&app, &ada, "READER").send().await));
}

async fn a_preview_is_400_for_a_change_that_has_none(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let changes = operations(&document()).into_iter().filter(|operation| !operation.method.is_safe());
    let without: Vec<_> = changes.filter(|change| !change.has_parameter("preview")).collect();
    assert!(without.len() > 20, "{}", without.len());
    for change in without {
        let path = format!("/api/v1{}", change.path_of(&ada.user));
        for preview in ["preview=true", "preview", "p%72eview=1", "preview=false"] {
            let request = app.request(change.method.clone(), &format!("{path}?{preview}")).by(&ada).json(&json!({}));
            let refused = app.unrecorded(&ada, request.send()).await;
            assert_eq!(refused.invalid_fields(), ["preview"], "{change}");
        }
    }
}

async fn a_preview_evaluates_if_match(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let role = app.role(&ada, "READER", &["users:read"]).await;
    let patch = |tag: &str| {
        let request = app.patch(&format!("/roles/{role}")).by(&ada).json(&json!({ "permissions": [] }));
        request.header("if-match", tag).query("preview", "true")
    };
    assert_eq!(patch("\"0\"").send().await.status(), 412);
    let tag = app.get(&format!("/roles/{role}")).by(&ada).send().await.header("etag").unwrap().to_owned();
    patch(&tag).send().await.ok();
}

async fn an_invalid_preview_parameter_is_400(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (value, fields) in [("yes", vec!["preview"]), ("", vec!["preview"])] {
        let request = app.delete(&format!("/users/{}", ada.user)).by(&ada).query("preview", value);
        assert_eq!(request.send().await.invalid_fields(), fields, "{value}");
    }
    let body = json!({ "name": "READER", "permissions": [] });
    app.post("/roles").by(&ada).json(&body).query("preview", "false").send().await.created();
}

async fn a_preview_needs_a_token(app: TestApp) {
    let body = json!({ "name": "READER", "permissions": [] });
    for value in ["true", "x"] {
        let response = app.post("/roles").json(&body).query("preview", value).send().await;
        response.problem("unauthorized");
    }
}
