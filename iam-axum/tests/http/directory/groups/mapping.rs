//! Groups of directories are mapped to roles (`docs/directories.md#mapping-a-group`).

use axum::http::Method;
use serde_json::{Value, json};

use super::Company;
use crate::app::TestApp;
use crate::request::{each, members};

in_memory![
    a_group_is_mapped_to_roles,
    a_mapping_says_all_roles,
    every_invalid_field_of_a_mapping_is_named,
    what_a_mapping_names_must_exist_and_be_possible,
    a_mapping_needs_the_permission_to_assign_in_each_new_place,
    a_mapping_needs_the_version_that_it_names,
    a_preview_of_a_mapping_says_who_gains_and_loses_what,
    a_preview_of_a_mapping_that_is_refused_names_the_rule,
    a_removed_organization_is_in_no_mapping,
];

/// The role assignments of a user: role, organization and group.
async fn held(company: &Company<'_>, user: &str) -> Vec<[Value; 3]> {
    let held = company.app.get(&format!("/users/{user}/roles")).by(&company.ada).send().await.ok();
    let of = |held: &Value| ["roleId", "organizationId", "directoryGroupId"].map(|name| held[name].clone());
    let mut held: Vec<_> = held["data"].as_array().unwrap().iter().map(of).collect();
    held.sort_by_key(|held| json!(held).to_string());
    held
}

async fn a_group_is_mapped_to_roles(app: TestApp) {
    let company = Company::of(&app).await;
    let [one, other] = [company.user().await, company.user().await];
    let group = company.group("Sales", &[&one, &other]).await;
    let role = app.role(&company.ada, "CLERK", &["roles:read"]).await;
    let branch = app.organization(&company.ada, "branch").await;
    let grants = json!([
        { "roleId": role, "organizationId": branch },
        { "roleId": app.role_id(&company.ada, "MEMBER").await, "organizationId": branch },
    ]);
    // MEMBER reads organizations, which the account may not.
    company.map(&company.ada, &group, &grants).send().await.problem("forbidden");
    app.role(&company.ada, "MORE", &["organizations:read"]).await;
    app.assign(&company.ada, &company.account, "MORE", None, None).await;
    let mapped = company.map(&company.ada, &group, &grants).send().await.ok();
    let mut expected: Vec<[Value; 3]> = mapped["grants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|grant| [grant["roleId"].clone(), grant["organizationId"].clone(), json!(group)])
        .collect();
    assert_eq!(expected.len(), 2);
    expected.sort_by_key(|held| json!(held).to_string());
    for user in [&one, &other] {
        assert_eq!(held(&company, user).await, expected);
    }
}

async fn a_mapping_says_all_roles(app: TestApp) {
    let company = Company::of(&app).await;
    let user = company.user().await;
    let group = company.group("Sales", &[&user]).await;
    let [one, other] =
        [app.role(&company.ada, "ONE", &["roles:read"]).await, app.role(&company.ada, "OTHER", &["users:read"]).await];
    let branch = app.organization(&company.ada, "branch").await;
    for grants in [
        json!([{ "roleId": one, "organizationId": null }]),
        json!([{ "roleId": other, "organizationId": null }]),
        json!([{ "roleId": other, "organizationId": branch }]),
        json!([]),
    ] {
        let mapped = company.map(&company.ada, &group, &grants).send().await.ok();
        assert_eq!(mapped["grants"], grants);
        let expected: Vec<[Value; 3]> = grants
            .as_array()
            .unwrap()
            .iter()
            .map(|grant| [grant["roleId"].clone(), grant["organizationId"].clone(), json!(group)])
            .collect();
        assert_eq!(held(&company, &user).await, expected, "{grants}");
        let same = app.unrecorded(&company.ada, company.map(&company.ada, &group, &grants).send()).await;
        assert_eq!(same.ok(), mapped);
    }
}

async fn every_invalid_field_of_a_mapping_is_named(app: TestApp) {
    let company = Company::of(&app).await;
    let group = company.group("Sales", &[]).await;
    let role = app.role(&company.ada, "CLERK", &[]).await;
    let one = json!({ "roleId": role });
    for (body, fields) in [
        (json!({}), vec!["grants"]),
        (json!({ "grants": null }), vec!["grants"]),
        (json!({ "grants": {} }), vec!["grants"]),
        (json!({ "grants": [{}] }), vec!["grants[0].roleId"]),
        (json!({ "grants": [one, { "roleId": role, "role": "CLERK" }] }), vec!["grants[1].role"]),
        (
            json!({ "grants": [{ "roleId": "x", "organizationId": "y" }, { "roleId": "z" }] }),
            vec!["grants[0].roleId", "grants[0].organizationId", "grants[1].roleId"],
        ),
        (json!({ "grants": vec![&one; 21] }), vec!["grants"]),
        (json!({ "grants": [], "members": [] }), vec!["members"]),
    ] {
        let request = app.put(&company.path(&format!("/{group}/grants"))).by(&company.ada).json(&body);
        let found = app.unrecorded(&company.ada, request.send()).await.invalid_fields();
        // Of too many items, some are the same, too.
        assert_eq!(found[..fields.len()], fields, "{body}");
    }
    let twice = company.map(&company.ada, &group, &json!([one, one])).send().await.invalid_fields();
    assert!(twice.len() == 1 && twice[0].starts_with("grants[1]"), "{twice:?}");
}

async fn what_a_mapping_names_must_exist_and_be_possible(app: TestApp) {
    let company = Company::of(&app).await;
    let eve = app.register("eve@example.net").await;
    let group = company.group("Sales", &[]).await;
    let (ada, role) = (&company.ada, app.role(&company.ada, "CLERK", &[]).await);
    let theirs = app.role(&eve, "CLERK", &[]).await;
    let their_branch = app.organization(&eve, "branch").await.to_string();
    let refused = async |grants: Value, kind: &str| {
        app.unrecorded(ada, company.map(ada, &group, &grants).send()).await.fields(kind)
    };
    for unknown in [&theirs, &group] {
        let grants = json!([{ "roleId": role }, { "roleId": unknown }]);
        assert_eq!(refused(grants, "not-found").await, ["grants[1].roleId"]);
    }
    for unknown in [&their_branch, &group] {
        let grants = json!([{ "roleId": role, "organizationId": unknown }]);
        assert_eq!(refused(grants, "not-found").await, ["grants[0].organizationId"]);
    }
    // A role has a scope.
    let branch = app.organization(ada, "branch").await;
    let (of_tenant, of_organization) =
        (app.role_id(ada, "AUDITOR").await, app.role_id(ada, "ORGANIZATION_ADMIN").await);
    for (role, organization) in [(&of_tenant, json!(branch)), (&of_organization, Value::Null)] {
        let grants = json!([{ "roleId": role, "organizationId": organization }]);
        assert_eq!(refused(grants, "validation").await, ["grants[0].organizationId"]);
    }
    app.delete(&format!("/organizations/{branch}")).by(ada).send().await.no_content();
    let grants = json!([{ "roleId": role, "organizationId": branch }]);
    app.unrecorded(ada, company.map(ada, &group, &grants).send()).await.problem("conflict");
}

async fn a_mapping_needs_the_permission_to_assign_in_each_new_place(app: TestApp) {
    let company = Company::of(&app).await;
    let group = company.group("Sales", &[]).await;
    let role = app.role(&company.ada, "CLERK", &["roles:read"]).await;
    let [north, south] = [app.organization(&company.ada, "north").await, app.organization(&company.ada, "south").await];
    let bob = app.colleague_who_may(&company.ada, "bob@example.com", &["directories:update"]).await;
    app.permit_in(&bob, north, &["role-assignments:create", "roles:read"]).await;
    let there = json!([{ "roleId": role, "organizationId": north }]);
    company.map(&bob, &group, &json!([{ "roleId": role }])).send().await.lacks("role-assignments:create");
    let elsewhere = json!([{ "roleId": role, "organizationId": south }]);
    let refused = app.unrecorded(&company.ada, company.map(&bob, &group, &elsewhere).send()).await;
    assert!(matches!(refused.status(), 403 | 404), "{}", refused.text());
    assert_eq!(company.map(&bob, &group, &there).send().await.ok()["grants"], there);
    // A place that is not new needs nothing.
    let both = json!([{ "roleId": role, "organizationId": south }, { "roleId": role, "organizationId": north }]);
    company.map(&company.ada, &group, &elsewhere).send().await.ok();
    company.map(&bob, &group, &both).send().await.ok();
}

async fn a_mapping_needs_the_version_that_it_names(app: TestApp) {
    let company = Company::of(&app).await;
    let group = company.group("Sales", &[]).await;
    let role = app.role(&company.ada, "CLERK", &["roles:read"]).await;
    let at = format!("/{group}");
    let tag = async || company.get(&at).send().await.header("etag").unwrap().to_owned();
    let first = tag().await;
    assert_eq!(company.get(&at).header("if-none-match", &first).send().await.status(), 304);
    let grants = json!([{ "roleId": role }]);
    let mapped = company.map(&company.ada, &group, &grants).header("if-match", &first).send().await;
    mapped.ok();
    assert_eq!(mapped.header("etag"), Some(tag().await.as_str()));
    assert_ne!(mapped.header("etag"), Some(first.as_str()));
    let stale = company.map(&company.ada, &group, &json!([])).header("if-match", &first);
    app.unrecorded(&company.ada, stale.send()).await.problem("precondition-failed");
    // A change of the directory is a change of the group, too.
    let seen = tag().await;
    let user = company.user().await;
    let path = format!("/scim/v2/Groups/{group}");
    let message = json!({ "Operations": [{ "op": "add", "path": "members", "value": [{ "value": user }] }] });
    let change = app.request(Method::PATCH, &path).bearer(&company.key).body(message.to_string());
    assert_eq!(change.send().await.status(), 200);
    let stale = company.map(&company.ada, &group, &json!([])).header("if-match", &seen);
    app.unrecorded(&company.ada, stale.send()).await.problem("precondition-failed");
    let wrong = company.map(&company.ada, &group, &json!([])).header("if-match", "none");
    assert_eq!(wrong.send().await.invalid_fields(), ["If-Match"]);
}

async fn a_preview_of_a_mapping_says_who_gains_and_loses_what(app: TestApp) {
    let company = Company::of(&app).await;
    let [one, other] = [company.user().await, company.user().await];
    let group = company.group("Sales", &[&one, &other]).await;
    let role = app.role(&company.ada, "CLERK", &["roles:read"]).await;
    let by_hand = app.assign(&company.ada, &other, "CLERK", None, None).await;
    let preview = async |grants: &Value| {
        let request = company.map(&company.ada, &group, grants).query("preview", "true");
        app.unrecorded(&company.ada, request.send()).await.ok()
    };
    let row = |user: &str, change: &str, via: Value| {
        json!({
            "userId": user, "organizationId": null, "permission": "roles:read", "change": change, "via": via,
            "from": app.now(), "until": null,
        })
    };
    let grants = json!([{ "roleId": role }]);
    // The other one holds it already.
    let found = preview(&grants).await;
    let expected =
        json!({ "allowed": true, "users": 1, "changes": [row(&one, "GAINED", json!([]))], "truncated": false });
    assert_eq!(found, expected);
    assert_eq!(company.get(&format!("/{group}")).send().await.ok()["grants"], json!([]));
    assert!(held(&company, &one).await.is_empty());
    company.map(&company.ada, &group, &grants).send().await.ok();
    let given = app.get(&format!("/users/{one}/roles")).by(&company.ada).send().await.ok();
    let found = preview(&json!([])).await;
    assert_eq!(found["changes"], json!([row(&one, "LOST", json!(each(&given, "id")))]));
    // The preview of a removal by hand knows that the group gives it, too.
    let removal = app.delete(&format!("/role-assignments/{by_hand}")).by(&company.ada).query("preview", "true");
    assert_eq!(removal.send().await.ok()["users"], 0);
}

async fn a_preview_of_a_mapping_that_is_refused_names_the_rule(app: TestApp) {
    let company = Company::of(&app).await;
    let group = company.group("Sales", &[]).await;
    let above = app.role(&company.ada, "ABOVE", &["roles:update"]).await;
    let grants = json!([{ "roleId": above }]);
    let permissions = ["directories:update", "role-assignments:create"];
    let bob = app.colleague_who_may(&company.ada, "bob@example.com", &permissions).await;
    // Bob does not hold what the role gives, and neither does the account.
    for (by, words) in [(&bob, "higher privileges than your own"), (&company.ada, "service account")] {
        let request = company.map(by, &group, &grants).query("preview", "true");
        let found = app.unrecorded(&company.ada, request.send()).await.ok();
        assert_eq!(members(&found), ["allowed", "changes", "problem", "truncated", "users"], "{found}");
        assert_eq!((&found["allowed"], &found["problem"]["status"]), (&json!(false), &json!(403)));
        assert!(found["problem"]["detail"].as_str().unwrap().contains(words), "{found}");
    }
    let carol = app.colleague_who_may(&company.ada, "carol@example.com", &["directories:read"]).await;
    company.map(&carol, &group, &grants).query("preview", "true").send().await.lacks("directories:update");
}

async fn a_removed_organization_is_in_no_mapping(app: TestApp) {
    let company = Company::of(&app).await;
    let user = company.user().await;
    let group = company.group("Sales", &[&user]).await;
    let role = app.role(&company.ada, "CLERK", &["roles:read"]).await;
    let [kept, removed] =
        [app.organization(&company.ada, "kept").await, app.organization(&company.ada, "removed").await];
    let [stays, goes] = [kept, removed].map(|place| json!({ "roleId": role, "organizationId": place }));
    company.map(&company.ada, &group, &json!([stays, goes])).send().await.ok();
    app.delete(&format!("/organizations/{removed}")).by(&company.ada).send().await.no_content();
    assert_eq!(company.get(&format!("/{group}")).send().await.ok()["grants"], json!([stays]));
    assert_eq!(held(&company, &user).await, [[json!(role), json!(kept), json!(group)]]);
    // It does not come back with the organization.
    let restored =
        app.patch(&format!("/organizations/{removed}")).by(&company.ada).json(&json!({ "status": "ACTIVE" }));
    restored.send().await.ok();
    assert_eq!(held(&company, &user).await.len(), 1);
}
