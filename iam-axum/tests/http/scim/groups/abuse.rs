//! Attacks by groups (`docs/directories.md#attackers`). Each is refused, or gives nothing.

use axum::http::Method;
use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{references, unknown};
use crate::api_key::text;
use crate::app::TestApp;
use crate::scim::Staff;

in_memory![
    a_name_grants_nothing,
    a_group_with_the_name_of_a_mapped_one_is_not_mapped,
    a_thief_of_the_key_maps_no_group,
    a_key_gives_no_more_than_its_own_permissions_allow,
    an_administrator_maps_no_group_above_its_own_rights,
    an_administrator_maps_no_group_above_the_rights_of_the_account,
    a_permission_is_put_into_a_mapped_role_only_by_who_holds_it,
    a_directory_does_not_fill_the_group_of_another_one,
    a_filter_is_bounded_before_it_is_read,
];

/// What the administrator asks of the grants of a group.
fn grants(role: &str) -> Value {
    json!([{ "roleId": role }])
}

async fn a_name_grants_nothing(app: TestApp) {
    let staff = Staff::with(&app, &["*"], &json!({})).await;
    let grace = staff.made("grace", &json!({})).await;
    for name in ["Administrators", "TENANT_ADMIN", "Global Administrator", "*"] {
        staff.grouped(name, &[&grace]).await;
    }
    let role = app.role_id(&staff.ada, "TENANT_ADMIN").await;
    let body = json!({
        "displayName": "Owners", "externalId": role, "members": references(&[&grace]),
        "grants": [{ "roleId": role }], "roles": [{ "value": role }],
    });
    let group = staff.post_group(&body).send().await.scim(201);
    let operations = json!([{ "op": "add", "path": "grants", "value": [{ "roleId": role }] }]);
    staff.patched(&group, &operations).await;
    assert!(staff.roles_of(&grace).await.is_empty());
    let shown = app.get(&staff.administered(&group)).by(&staff.ada).send().await.ok();
    assert_eq!(shown["grants"], json!([]));
}

async fn a_group_with_the_name_of_a_mapped_one_is_not_mapped(app: TestApp) {
    let staff = Staff::with(&app, &["users:*", "role-assignments:*", "roles:read"], &json!({})).await;
    let role = app.role(&staff.ada, "CLERK", &["roles:read"]).await;
    let grace = staff.made("grace", &json!({})).await;
    let body = json!({ "displayName": "Sales", "externalId": "9c41", "members": references(&[&grace]) });
    let first = staff.post_group(&body).send().await.scim(201);
    staff.map(&first, &grants(&role)).send().await.ok();
    staff.delete(&super::path(&first)).send().await.no_content();
    let second = staff.post_group(&body).send().await.scim(201);
    assert!(staff.roles_of(&grace).await.is_empty());
    let shown = app.get(&staff.administered(&second)).by(&staff.ada).send().await.ok();
    assert_eq!(shown["grants"], json!([]));
}

async fn a_thief_of_the_key_maps_no_group(app: TestApp) {
    let staff = Staff::with(&app, &["users:*", "role-assignments:*", "roles:read"], &json!({})).await;
    let role = app.role(&staff.ada, "CLERK", &["roles:read"]).await;
    let grace = staff.made("grace", &json!({})).await;
    let group = staff.grouped("Sales", &[&grace]).await;
    let path = format!("{}/grants", staff.administered(&group));
    let map = |role: &str| app.put(&path).bearer(&staff.key).json(&json!({ "grants": grants(role) }));
    app.unrecorded(&staff.ada, map(&role).send()).await.lacks("directories:update");
    // An account with the permission gives what it holds, and no more.
    app.role(&staff.ada, "MAPPER", &["directories:update"]).await;
    app.assign(&staff.ada, &staff.account, "MAPPER", None, None).await;
    let admin = app.role_id(&staff.ada, "TENANT_ADMIN").await;
    app.unrecorded(&staff.ada, map(&admin).send()).await.problem("forbidden");
    map(&role).send().await.ok();
    assert_eq!(staff.roles_of(&grace).await[0]["roleId"], role);
}

async fn a_key_gives_no_more_than_its_own_permissions_allow(app: TestApp) {
    let staff = Staff::with(&app, &["users:*", "role-assignments:*", "roles:read"], &json!({})).await;
    let role = app.role(&staff.ada, "CLERK", &["roles:read"]).await;
    let [grace, alan] = [staff.made("grace", &json!({})).await, staff.made("alan", &json!({})).await];
    let group = staff.grouped("Sales", &[&grace]).await;
    staff.map(&group, &grants(&role)).send().await.ok();
    let narrow = app.key(&staff.ada, &staff.account, &json!({ "permissions": ["users:read", "users:update"] })).await;
    let message = |op: &str, user: &Value| {
        let users = references(&[user]);
        json!({ "Operations": [{ "op": op, "path": "members", "value": users }] })
    };
    for (body, missing) in
        [(message("add", &alan), "role-assignments:create"), (message("remove", &grace), "role-assignments:delete")]
    {
        let request = app.request(Method::PATCH, &format!("/scim/v2{}", super::path(&group)));
        let request = request.bearer(text(&narrow)).body(body.to_string());
        let answer = app.unrecorded(&staff.ada, request.send()).await;
        assert_eq!(answer.refused(403, None), format!("Missing permission: {missing}."));
    }
    // It gives roles that it holds itself.
    let permissions = ["users:read", "users:update", "role-assignments:*", "roles:read"];
    for (permissions, status) in [(&permissions[..3], 403), (&permissions[..], 200)] {
        let key = app.key(&staff.ada, &staff.account, &json!({ "permissions": permissions })).await;
        let request = app.request(Method::PATCH, &format!("/scim/v2{}", super::path(&group)));
        request.bearer(text(&key)).body(message("add", &alan).to_string()).send().await.scim(status);
    }
    assert_eq!(staff.roles_of(&alan).await[0]["roleId"], role);
}

async fn an_administrator_maps_no_group_above_its_own_rights(app: TestApp) {
    let staff = Staff::with(&app, &["*"], &json!({})).await;
    let permissions = ["directories:update", "role-assignments:create", "roles:read"];
    let bob = app.colleague_who_may(&staff.ada, "bob@example.com", &permissions).await;
    let grace = staff.made("grace", &json!({})).await;
    let group = staff.grouped("Sales", &[&grace]).await;
    let path = format!("{}/grants", staff.administered(&group));
    let [below, above] =
        [app.role(&staff.ada, "BELOW", &["roles:read"]).await, app.role(&staff.ada, "ABOVE", &["roles:update"]).await];
    let admin = app.role_id(&staff.ada, "TENANT_ADMIN").await;
    let map = |grants: Value| app.put(&path).by(&bob).json(&json!({ "grants": grants }));
    for role in [&above, &admin] {
        // Also for a group without members, which get the role later.
        let empty = staff.grouped(role, &[]).await;
        let of_empty = app.put(&format!("{}/grants", staff.administered(&empty))).by(&bob);
        for request in [map(grants(role)), of_empty.json(&json!({ "grants": grants(role) }))] {
            app.unrecorded(&staff.ada, request.send()).await.escalates();
        }
        let both = json!([{ "roleId": below }, { "roleId": role }]);
        app.unrecorded(&staff.ada, map(both).send()).await.escalates();
    }
    map(grants(&below)).send().await.ok();
    // What another administrator has given stays, and is given to no other group.
    staff.map(&group, &grants(&above)).send().await.ok();
    map(json!([{ "roleId": above }, { "roleId": below }])).send().await.ok();
}

async fn an_administrator_maps_no_group_above_the_rights_of_the_account(app: TestApp) {
    let staff = Staff::with(&app, &["users:*", "role-assignments:*"], &json!({})).await;
    let grace = staff.made("grace", &json!({})).await;
    let group = staff.grouped("Sales", &[&grace]).await;
    let role = app.role(&staff.ada, "CLERK", &["roles:read"]).await;
    let admin = app.role_id(&staff.ada, "TENANT_ADMIN").await;
    let branch = app.organization(&staff.ada, "branch").await;
    for grants in [grants(&role), grants(&admin), json!([{ "roleId": role, "organizationId": branch }])] {
        let answer = app.unrecorded(&staff.ada, staff.map(&group, &grants).send()).await;
        let detail = answer.detail("forbidden");
        assert!(detail.starts_with("the service account of the directory does not hold"), "{detail}");
    }
    assert!(staff.roles_of(&grace).await.is_empty());
    // An account that holds it in an organization covers it there.
    app.assign(&staff.ada, &staff.account, "CLERK", Some(branch), None).await;
    let there = json!([{ "roleId": role, "organizationId": branch }]);
    app.unrecorded(&staff.ada, staff.map(&group, &grants(&role)).send()).await.problem("forbidden");
    staff.map(&group, &there).send().await.ok();
    assert_eq!(staff.roles_of(&grace).await[0]["organizationId"], json!(branch));
}

/// Also while the group has no members: those whom the directory adds later would get it.
async fn a_permission_is_put_into_a_mapped_role_only_by_who_holds_it(app: TestApp) {
    let staff = Staff::with(&app, &["*"], &json!({})).await;
    let bob = app.colleague_who_may(&staff.ada, "bob@example.com", &["roles:update"]).await;
    let role = app.role(&staff.ada, "CLERK", &["roles:read"]).await;
    let group = staff.grouped("Sales", &[]).await;
    staff.map(&group, &grants(&role)).send().await.ok();
    let change = |permissions: Value| {
        let body = json!({ "permissions": permissions });
        app.patch(&format!("/roles/{role}")).by(&bob).json(&body)
    };
    let more = json!(["roles:read", "users:delete"]);
    app.unrecorded(&staff.ada, change(more.clone()).send()).await.escalates();
    // A right that ends is not enough: a mapping has no end.
    let until = app.iam.now() + TimeDelta::days(1);
    app.permit_until(&bob, &["users:delete"], None, Some(until)).await;
    app.unrecorded(&staff.ada, change(more).send()).await.escalates();
    change(json!([])).send().await.ok();
}

async fn a_directory_does_not_fill_the_group_of_another_one(app: TestApp) {
    let staff = Staff::with(&app, &["*"], &json!({})).await;
    let beside = Staff::at(&app, &staff.ada, &["*"], &json!({})).await;
    let mallory = beside.made("mallory", &json!({})).await;
    let role = app.role(&staff.ada, "CLERK", &["roles:read"]).await;
    let group = staff.grouped("Sales", &[]).await;
    staff.map(&group, &grants(&role)).send().await.ok();
    let operations = json!([{ "op": "add", "path": "members", "value": references(&[&mallory]) }]);
    // Neither does its key find the group, nor does the other directory take its user.
    beside.patch(&unknown(&group["id"]), &operations).send().await.refused(404, None);
    staff.patch(&group, &operations).send().await.refused(400, Some("invalidValue"));
    // A mapping by the path of another directory finds nothing either.
    let path = format!("/directories/{}/groups/{}/grants", beside.directory, group["id"].as_str().unwrap());
    app.put(&path).by(&staff.ada).json(&json!({ "grants": [] })).send().await.problem("not-found");
    assert!(staff.roles_of(&mallory).await.is_empty());
}

async fn a_filter_is_bounded_before_it_is_read(app: TestApp) {
    let staff = Staff::of(&app).await;
    staff.grouped("Sales", &[]).await;
    let levels = |count: usize| format!("{}displayName pr{}", "(".repeat(count), ")".repeat(count));
    let terms = |count: usize| vec!["displayName pr"; count].join(" or ");
    let long = format!(r#"displayName eq "{}""#, "x".repeat(4096));
    for path in ["/Groups/.search", "/.search"] {
        let search = async |filter: String| staff.write(Method::POST, path, &json!({ "filter": filter })).send().await;
        assert_eq!(search(levels(60)).await.scim(200)["totalResults"], 1);
        assert_eq!(search(terms(100)).await.scim(200)["totalResults"], 1);
        for filter in [levels(65), terms(101), long.clone(), "(".repeat(200_000), "not (".repeat(50_000) + "a pr"] {
            search(filter).await.refused(400, Some("invalidFilter"));
        }
    }
}
