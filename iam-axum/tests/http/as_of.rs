//! Questions about earlier and later moments, and who holds a permission
//! (`docs/foresight.md#what-was-and-what-will-be`, `docs/foresight.md#who-can`).

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::people::Person;
use crate::request::{Request, each, each_sorted, members};

on_every_store![
    "the past is read by statements of the store";
    a_check_answers_for_an_earlier_moment,
    a_check_uses_the_role_the_tree_and_the_status_of_the_moment,
    a_check_answers_for_a_later_moment_as_things_stand,
    the_past_needs_audit_logs_read_tenant_wide,
    an_api_key_asks_about_the_past_of_a_user_only,
    each_item_of_a_bulk_check_has_its_own_moment,
    a_moment_before_the_tenant_is_400_with_the_first_moment,
    retention_moves_the_first_moment,
    each_grant_names_who_made_it_and_when,
    a_list_shows_what_was_held,
    a_list_of_the_past_shows_the_names_of_then,
    a_users_roles_are_listed_as_they_were,
    a_list_of_the_past_stays_within_the_visible_scope,
    who_lists_the_users_with_their_grants,
    who_agrees_with_a_check_of_every_user,
    who_is_answered_for_other_moments,
    who_needs_role_assignments_read_there,
    who_pages_by_user,
    invalid_parameters_are_400_and_named,
];

async fn check(app: &TestApp, by: &Person, question: Value) -> Value {
    app.post("/authz/check").by(by).json(&question).send().await.ok()
}

fn who<'a>(app: &'a TestApp, by: &Person, permission: &str) -> Request<'a> {
    app.get("/authz/who").by(by).query("permission", permission)
}

/// A moment of the service, after which time has passed.
fn moment(app: &TestApp) -> String {
    let now = app.now();
    app.pass(TimeDelta::seconds(1));
    now
}

async fn a_check_answers_for_an_earlier_moment(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.role(&ada, "READER", &["users:read"]).await;
    let before = moment(&app);
    let held = app.assign(&ada, &bob, "READER", None, None).await;
    let while_held = moment(&app);
    app.delete(&format!("/role-assignments/{held}")).by(&ada).send().await.no_content();
    let after = moment(&app);
    for (at, is_allowed) in [(before, false), (while_held, true), (after, false)] {
        let decision = check(&app, &ada, json!({ "permission": "users:read", "userId": bob, "at": at })).await;
        assert_eq!(decision["allowed"], is_allowed, "{at}");
        assert_eq!(decision["grants"].as_array().unwrap().len(), usize::from(is_allowed));
    }
    assert_eq!(check(&app, &ada, json!({ "permission": "users:read", "userId": bob })).await["allowed"], false);
}

async fn a_check_uses_the_role_the_tree_and_the_status_of_the_moment(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let [north, south] = [app.organization(&ada, "north").await, app.organization(&ada, "south").await];
    let harbour = app.below(&ada, north, "harbour").await;
    let role = app.role(&ada, "READER", &["users:read"]).await;
    app.assign(&ada, &bob, "READER", Some(north), None).await;
    let start = moment(&app);
    let change = async |path: String, body: Value| {
        app.patch(&path).by(&ada).json(&body).send().await.ok();
        moment(&app)
    };
    let moved = change(format!("/organizations/{harbour}"), json!({ "parentId": south })).await;
    let back = change(format!("/organizations/{harbour}"), json!({ "parentId": north })).await;
    let emptied = change(format!("/roles/{role}"), json!({ "permissions": [] })).await;
    let filled = change(format!("/roles/{role}"), json!({ "permissions": ["users:*"] })).await;
    let asleep = change(format!("/organizations/{north}"), json!({ "status": "SUSPENDED" })).await;
    let awake = change(format!("/organizations/{north}"), json!({ "status": "ACTIVE" })).await;
    let suspended = change(format!("/users/{bob}"), json!({ "status": "SUSPENDED" })).await;
    app.delete(&format!("/users/{bob}")).by(&ada).send().await.no_content();
    let deleted = moment(&app);
    for (what, at, is_allowed) in [
        ("start", start, true),
        ("moved", moved, false),
        ("back", back, true),
        ("emptied", emptied, false),
        ("filled", filled, true),
        ("asleep", asleep, false),
        ("awake", awake, true),
        ("suspended", suspended, false),
        ("deleted", deleted, false),
    ] {
        let question = json!({ "permission": "users:read", "userId": bob, "organizationId": harbour, "at": at });
        assert_eq!(check(&app, &ada, question).await["allowed"], is_allowed, "{what}");
    }
}

async fn a_check_answers_for_a_later_moment_as_things_stand(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let expiry = app.iam.now() + TimeDelta::hours(1);
    app.assign(&ada, &bob.user, "MEMBER", None, Some(expiry)).await;
    let bob = app.login(&bob).await;
    for (at, is_allowed) in [(expiry - TimeDelta::milliseconds(1), true), (expiry, false)] {
        let question = json!({ "permission": "users:read", "userId": bob.user, "at": shown(at) });
        assert_eq!(check(&app, &ada, question).await["allowed"], is_allowed);
        // A caller needs no permission for a question about itself.
        let own = json!({ "permission": "users:read", "at": shown(at) });
        assert_eq!(check(&app, &bob, own).await["allowed"], is_allowed);
    }
}

async fn the_past_needs_audit_logs_read_tenant_wide(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["role-assignments:read"]).await;
    let at = moment(&app);
    app.permit_in(&bob, north, &["audit-logs:read", "role-assignments:read"]).await;
    let bob = app.login(&bob).await;
    let requests = |by: &Person| {
        let question = |user: Option<&str>| json!({ "permission": "users:read", "userId": user, "at": at });
        [
            app.post("/authz/check").by(by).json(&question(Some(&ada.user))),
            app.post("/authz/check").by(by).json(&question(None)),
            app.post("/authz/check/bulk").by(by).json(&json!({ "checks": [question(Some(&ada.user))] })),
            who(&app, by, "users:read").query("at", &at),
            app.get("/role-assignments").by(by).query("asOf", &at),
            app.get(&format!("/users/{}/roles", ada.user)).by(by).query("asOf", &at),
        ]
    };
    for request in requests(&bob) {
        request.send().await.lacks("audit-logs:read");
    }
    let cyd = app.colleague_who_may(&ada, "cyd@example.com", &["role-assignments:read", "audit-logs:read"]).await;
    for request in requests(&cyd) {
        request.send().await.ok();
    }
    // In an organization, it is not enough.
    let eve = app.colleague_in(&ada, north, "eve@example.com", &["audit-logs:read", "role-assignments:read"]).await;
    let request = who(&app, &eve, "users:read").query("organizationId", &north.to_string());
    request.query("at", &at).send().await.lacks("audit-logs:read");
    let dan = app.colleague_who_may(&ada, "dan@example.com", &["audit-logs:read"]).await;
    let [check_other, own, bulk, who, list, of_user] = requests(&dan);
    for request in [check_other, bulk, who, list, of_user] {
        request.send().await.lacks("role-assignments:read");
    }
    own.send().await.ok();
}

async fn an_api_key_asks_about_the_past_of_a_user_only(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let key = app.key(&ada, &ada.user, &json!({})).await["key"].as_str().unwrap().to_owned();
    let at = moment(&app);
    let ask = |user: Option<&str>| {
        let question = json!({ "permission": "users:read", "userId": user, "at": at });
        app.post("/authz/check").bearer(&key).json(&question)
    };
    assert_eq!(ask(None).send().await.invalid_fields(), ["userId"]);
    assert_eq!(ask(Some(&ada.user)).send().await.ok()["allowed"], true);
}

async fn each_item_of_a_bulk_check_has_its_own_moment(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let before = moment(&app);
    let expiry = app.iam.now() + TimeDelta::hours(1);
    app.assign(&ada, &bob, "MEMBER", None, Some(expiry)).await;
    let held = moment(&app);
    let item = |at: Option<String>| json!({ "permission": "users:read", "userId": bob, "at": at });
    let checks = [item(Some(before)), item(Some(held)), item(None), item(Some(shown(expiry)))];
    let body = app.post("/authz/check/bulk").by(&ada).json(&json!({ "checks": checks })).send().await.ok();
    let allowed: Vec<bool> =
        body["data"].as_array().unwrap().iter().map(|item| item["allowed"].as_bool().unwrap()).collect();
    assert_eq!(allowed, [false, true, true, false]);
}

async fn a_moment_before_the_tenant_is_400_with_the_first_moment(app: TestApp) {
    app.pass(TimeDelta::seconds(1));
    let (early, first) = (shown(app.iam.now() - TimeDelta::milliseconds(1)), app.now());
    let ada = app.register("ada@example.com").await;
    app.pass(TimeDelta::seconds(1));
    let question = |at: &str| json!({ "permission": "users:read", "at": at });
    let checks = json!({ "checks": [question(&first), question(&early)] });
    for (request, field) in [
        (app.post("/authz/check").by(&ada).json(&question(&early)), "at"),
        (app.post("/authz/check/bulk").by(&ada).json(&checks), "checks[1].at"),
        (who(&app, &ada, "users:read").query("at", &early), "at"),
        (app.get("/role-assignments").by(&ada).query("asOf", &early), "asOf"),
        (app.get(&format!("/users/{}/roles", ada.user)).by(&ada).query("asOf", &early), "asOf"),
    ] {
        let response = request.send().await;
        assert_eq!(response.invalid_fields(), [field]);
        assert!(response.text().contains(&first), "{}", response.text());
    }
    assert_eq!(check(&app, &ada, question(&first)).await["allowed"], true);
}

async fn retention_moves_the_first_moment(app: TestApp) {
    let app = app.with_settings(|settings| settings.audit_min_retention = TimeDelta::days(1)).await;
    let ada = app.register("ada@example.com").await;
    app.sequence().await;
    let early = moment(&app);
    let system = iam_core::Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.audit().set_retention(&system, Some(10)).await.unwrap();
    app.iam.audit().hasten_retention(&system).await.unwrap();
    app.pass(TimeDelta::days(11));
    app.iam.audit().apply_retention(&system).await.unwrap();
    let ada = app.login(&ada).await;
    let question = |at: &str| json!({ "permission": "users:read", "at": at });
    let refused = app.post("/authz/check").by(&ada).json(&question(&early)).send().await;
    assert_eq!(refused.invalid_fields(), ["at"]);
    let first = shown(app.iam.now() - TimeDelta::days(10));
    assert!(refused.text().contains(&first), "{}", refused.text());
    assert_eq!(check(&app, &ada, question(&first)).await["allowed"], true);
}

async fn each_grant_names_who_made_it_and_when(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let body = json!({ "userId": bob, "roleId": app.role_id(&ada, "MEMBER").await });
    app.post("/role-assignments").by(&ada).json(&body).send().await.created();
    let at = moment(&app);
    for asked in [Value::Null, json!(at)] {
        let decision = check(&app, &ada, json!({ "permission": "users:read", "userId": bob, "at": asked })).await;
        let grant = &decision["grants"][0];
        assert_eq!((&grant["grantedBy"], &grant["grantedAt"]), (&json!(ada.user), &json!(at)));
    }
    // The service itself gives roles for trusted code.
    let cyd = app.add_user(&ada, "cyd@example.com").await;
    app.assign(&ada, &cyd, "MEMBER", None, None).await;
    let decision = check(&app, &ada, json!({ "permission": "users:read", "userId": cyd })).await;
    assert_eq!(decision["grants"][0]["grantedBy"], Value::Null);
}

async fn a_list_shows_what_was_held(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let first = app.assign(&ada, &bob, "MEMBER", None, None).await;
    let early = moment(&app);
    app.delete(&format!("/role-assignments/{first}")).by(&ada).send().await.no_content();
    let second = app.assign(&ada, &bob, "AUDITOR", None, None).await;
    app.pass(TimeDelta::seconds(1));
    let list = async |query: &[(&str, &str)]| {
        let request = app.get("/role-assignments").by(&ada).query("userId", &bob);
        let request = query.iter().fold(request, |request, (name, value)| request.query(name, value));
        each(&request.send().await.ok(), "id")
    };
    assert_eq!(list(&[("asOf", &early)]).await, [first]);
    assert_eq!(list(&[]).await, std::slice::from_ref(&second));
    assert_eq!(list(&[("asOf", &app.now())]).await, [second]);
    let later = shown(app.iam.now() + TimeDelta::days(1));
    assert_eq!(list(&[("asOf", &later)]).await.len(), 1);
}

async fn a_list_of_the_past_shows_the_names_of_then(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let north = app.organization(&ada, "north").await;
    let role = app.role(&ada, "READER", &["users:read"]).await;
    let held = app.assign(&ada, &bob, "READER", Some(north), None).await;
    let at = moment(&app);
    app.delete(&format!("/role-assignments/{held}")).by(&ada).send().await.no_content();
    app.patch(&format!("/organizations/{north}")).by(&ada).json(&json!({ "name": "South" })).send().await.ok();
    app.delete(&format!("/roles/{role}")).by(&ada).send().await.no_content();
    let listed = app.get("/role-assignments").by(&ada).query("asOf", &at).query("userId", &bob).send().await.ok();
    let [item] = listed["data"].as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!(item["role"], json!({ "id": role, "name": "READER" }));
    assert_eq!(item["organization"], json!({ "id": north, "name": "Organization north" }));
    assert_eq!(item["user"], json!({ "id": bob, "email": "bob@example.com" }));
}

async fn a_users_roles_are_listed_as_they_were(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let first = app.assign(&ada, &bob, "MEMBER", None, None).await;
    let early = moment(&app);
    app.delete(&format!("/role-assignments/{first}")).by(&ada).send().await.no_content();
    app.pass(TimeDelta::seconds(1));
    let roles = async |as_of: Option<&str>| {
        let request = app.get(&format!("/users/{bob}/roles")).by(&ada);
        let request = as_of.into_iter().fold(request, |request, at| request.query("asOf", at));
        each(&request.send().await.ok(), "id")
    };
    assert_eq!((roles(Some(&early)).await, roles(None).await), (vec![first], vec![]));
}

async fn a_list_of_the_past_stays_within_the_visible_scope(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [north, south] = [app.organization(&ada, "north").await, app.organization(&ada, "south").await];
    let cyd = app.add_user(&ada, "cyd@example.com").await;
    let in_north = app.assign(&ada, &cyd, "MEMBER", Some(north), None).await;
    let in_south = app.assign(&ada, &cyd, "MEMBER", Some(south), None).await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["audit-logs:read"]).await;
    app.permit_in(&bob, north, &["role-assignments:read"]).await;
    let bob = app.login(&bob).await;
    let at = moment(&app);
    let list = async |by: &Person| {
        let request = app.get("/role-assignments").by(by).query("asOf", &at).query("userId", &cyd);
        let roles = app.get(&format!("/users/{cyd}/roles")).by(by).query("asOf", &at);
        (each_sorted(&request.send().await.ok(), "id"), each_sorted(&roles.send().await.ok(), "id"))
    };
    let mut both = vec![in_north.clone(), in_south];
    both.sort_unstable();
    assert_eq!(list(&ada).await, (both.clone(), both));
    assert_eq!(list(&bob).await, (vec![in_north.clone()], vec![in_north]));
}

async fn who_lists_the_users_with_their_grants(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let [root, branch] = app.chain(&ada, "level").await;
    let permission = json!({ "name": "orders:refund" });
    app.post("/permissions").by(&ada).json(&permission).send().await.created();
    let role = app.role(&ada, "READER", &["orders:*"]).await;
    let body = json!({ "userId": bob, "roleId": role, "organizationId": root });
    let held = app.post("/role-assignments").by(&ada).json(&body).send().await.created()["id"].clone();
    let found = who(&app, &ada, "orders:refund").query("organizationId", &branch.to_string()).send().await.ok();
    assert_eq!(members(&found), ["data", "pagination"]);
    let item = found["data"].as_array().unwrap().iter().find(|item| item["userId"] == bob).unwrap();
    let grant = json!({
        "assignmentId": held, "roleId": role, "roleName": "READER", "organizationId": root, "inheritedFrom": root,
        "grantedBy": ada.user, "directoryGroupId": null, "accessRequestId": null, "grantedAt": app.now(),
    });
    let user = json!({ "id": bob, "email": "bob@example.com" });
    assert_eq!(item, &json!({ "userId": bob, "user": user, "grants": [grant] }));
    assert_eq!(each_sorted(&found, "userId").len(), 2);
}

async fn who_agrees_with_a_check_of_every_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, branch] = app.chain(&ada, "level").await;
    let other = app.organization(&ada, "other").await;
    let asleep = app.below(&ada, root, "asleep").await;
    let patch = json!({ "status": "SUSPENDED" });
    app.role(&ada, "READER", &["users:read"]).await;
    app.role(&ada, "USERS", &["users:*"]).await;
    let expiry = app.iam.now() + TimeDelta::seconds(1);
    let mut users = vec![ada.user.clone()];
    for (number, (role, place, until)) in [
        ("READER", None, None),
        ("USERS", Some(root), None),
        ("READER", Some(branch), None),
        ("READER", Some(other), None),
        ("READER", Some(asleep), None),
        ("READER", None, Some(expiry)),
        ("MEMBER", Some(branch), None),
    ]
    .into_iter()
    .enumerate()
    {
        let user = app.add_user(&ada, &format!("user{number}@example.com")).await;
        app.assign(&ada, &user, role, place, until).await;
        users.push(user);
    }
    let suspended = app.add_user(&ada, "suspended@example.com").await;
    app.assign(&ada, &suspended, "READER", None, None).await;
    app.set_status(&ada, &suspended, "SUSPENDED").await;
    users.push(suspended);
    app.patch(&format!("/organizations/{asleep}")).by(&ada).json(&patch).send().await.ok();
    app.pass(TimeDelta::seconds(1));
    for place in [None, Some(root), Some(branch), Some(other), Some(asleep)] {
        let mut expected = Vec::new();
        for user in &users {
            let question = json!({ "permission": "users:read", "userId": user, "organizationId": place });
            if check(&app, &ada, question).await["allowed"] == true {
                expected.push(user.clone());
            }
        }
        expected.sort_unstable();
        let request = who(&app, &ada, "users:read");
        let request = place.iter().fold(request, |request, id| request.query("organizationId", &id.to_string()));
        assert_eq!(each_sorted(&request.send().await.ok(), "userId"), expected, "{place:?}");
    }
}

async fn who_is_answered_for_other_moments(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let before = moment(&app);
    let expiry = app.iam.now() + TimeDelta::hours(1);
    let held = app.assign(&ada, &bob, "MEMBER", None, Some(expiry)).await;
    let while_held = moment(&app);
    let users = async |at: &str| {
        each(&who(&app, &ada, "users:read").query("at", at).send().await.ok(), "userId").contains(&bob)
    };
    let later = [shown(expiry - TimeDelta::milliseconds(1)), shown(expiry)];
    assert!(!users(&before).await && users(&while_held).await && users(&later[0]).await && !users(&later[1]).await);
    app.delete(&format!("/role-assignments/{held}")).by(&ada).send().await.no_content();
    app.pass(TimeDelta::seconds(1));
    assert!(users(&while_held).await && !users(&later[0]).await);
}

async fn who_needs_role_assignments_read_there(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [north, south] = [app.organization(&ada, "north").await, app.organization(&ada, "south").await];
    let bob = app.colleague_in(&ada, north, "bob@example.com", &["role-assignments:read"]).await;
    let ask = |place: Option<String>| {
        let request = who(&app, &bob, "users:read");
        place.iter().fold(request, |request, id| request.query("organizationId", id))
    };
    ask(None).send().await.lacks("role-assignments:read");
    ask(Some(north.to_string())).send().await.ok();
    ask(Some(south.to_string())).send().await.problem("not-found");
    let cyd = app.colleague_in(&ada, north, "cyd@example.com", &["users:read"]).await;
    let request = who(&app, &cyd, "users:read").query("organizationId", &north.to_string());
    request.send().await.lacks("role-assignments:read");
    let stranger = app.register("eve@example.com").await;
    let request = who(&app, &stranger, "users:read").query("organizationId", &north.to_string());
    request.send().await.problem("not-found");
}

async fn who_pages_by_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for number in 0..4 {
        let user = app.add_user(&ada, &format!("user{number}@example.com")).await;
        app.assign(&ada, &user, "MEMBER", None, None).await;
    }
    let page = async |number: &str| {
        let found = who(&app, &ada, "users:read").query("page", number).query("limit", "2").send().await.ok();
        assert_eq!((&found["pagination"]["total"], &found["pagination"]["totalPages"]), (&json!(5), &json!(3)));
        each(&found, "userId")
    };
    let all = [page("1").await, page("2").await, page("3").await, page("4").await].concat();
    assert_eq!(all, each(&who(&app, &ada, "users:read").send().await.ok(), "userId"));
    assert!(all.is_sorted());
}

async fn invalid_parameters_are_400_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (permission, organization, at, fields) in [
        ("users", "", "", vec!["permission"]),
        ("", "", "", vec!["permission"]),
        ("users:*", "", "", vec!["permission"]),
        ("users:read", "x", "yesterday", vec!["organizationId", "at"]),
    ] {
        let mut request = who(&app, &ada, permission);
        for (name, value) in [("organizationId", organization), ("at", at)] {
            if !value.is_empty() {
                request = request.query(name, value);
            }
        }
        assert_eq!(request.send().await.invalid_fields(), fields, "{permission}");
    }
    app.get("/authz/who").by(&ada).send().await.invalid_fields();
    for path in ["/role-assignments".to_owned(), format!("/users/{}/roles", ada.user)] {
        assert_eq!(app.get(&path).by(&ada).query("asOf", "x").send().await.invalid_fields(), ["asOf"]);
    }
    let unknown = "01a2107e-5c11-7000-8000-3f9a6e0b7c1d";
    who(&app, &ada, "users:read").query("organizationId", unknown).send().await.problem("not-found");
}
