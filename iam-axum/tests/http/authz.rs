//! `/authz/check` and `/auth/me`: which permissions a user has, and why (`docs/http-api.md#checks`).

use chrono::TimeDelta;
use iam_core::OrganizationId;
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::people::Person;
use crate::request::{Response, members};

in_memory![
    a_decision_names_the_grant_that_allows_it,
    a_decision_names_every_role_that_grants_the_permission,
    a_grant_in_an_organization_covers_it_and_everything_below,
    a_wildcard_grants_the_permissions_that_it_covers,
    nothing_is_granted_without_a_role,
    the_reason_says_that_a_role_has_expired,
    the_reason_says_that_an_organization_is_not_active,
    the_reason_says_that_the_permission_is_held_elsewhere,
    a_caller_limited_to_an_organization_learns_no_grants_elsewhere,
    an_expired_role_does_not_hide_another_grant,
    a_user_who_is_not_active_has_no_permissions,
    an_application_checks_permissions_of_its_own,
    invalid_and_unknown_fields_of_a_check_are_400_and_named,
    a_check_of_an_invalid_or_wildcard_permission_is_400,
    bulk_checks_are_answered_in_order,
    a_bulk_check_has_1_to_100_checks,
    a_bulk_check_names_every_invalid_field,
    a_check_about_oneself_needs_no_permission,
    a_check_about_others_needs_role_assignments_read_there,
    a_bulk_check_with_one_forbidden_check_is_refused,
    unknown_users_and_organizations_are_404_and_named,
    users_and_organizations_of_another_tenant_are_404,
    only_tenant_wide_grants_count_in_a_deleted_organization,
    a_check_is_not_recorded,
    me_shows_roles_and_permissions_including_inherited_ones,
    me_shows_a_role_until_it_expires,
    me_shows_no_permissions_in_a_suspended_organization,
    me_shows_wildcards_unexpanded,
    me_refuses_a_suspended_user,
    a_check_agrees_with_the_decision_of_the_endpoint,
];

async fn check(app: &TestApp, by: &Person, question: &Value) -> Response {
    app.post("/authz/check").by(by).json(question).send().await
}

async fn check_all(app: &TestApp, by: &Person, questions: &[Value]) -> Response {
    app.post("/authz/check/bulk").by(by).json(&json!({ "checks": questions })).send().await
}

/// The decision whether the caller may read users in this organization, or tenant-wide without one.
async fn check_users_read(app: &TestApp, by: &Person, organization: Option<OrganizationId>) -> Value {
    check(app, by, &json!({ "permission": "users:read", "organizationId": organization })).await.ok()
}

async fn me(app: &TestApp, by: &Person) -> Value {
    app.get("/auth/me").by(by).send().await.ok()
}

/// Checks that the decision is a denial and that its reason contains this text.
fn is_denied(decision: &Value, reason: &str) {
    assert_eq!((&decision["allowed"], &decision["grants"]), (&json!(false), &json!([])));
    let found = decision["reason"].as_str().unwrap();
    assert!(found.contains(reason), "{found}");
}

/// Checks that the decision is positive and names a grant.
fn is_allowed(decision: &Value) {
    assert_eq!(decision["allowed"], true, "{decision}");
    assert_ne!(decision["grants"], json!([]));
}

async fn a_decision_names_the_grant_that_allows_it(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let assignment = app.assign(&ada, &bob.user, "MEMBER", None, None).await;
    let decision = check_users_read(&app, &bob, None).await;
    assert_eq!(members(&decision), ["allowed", "grants", "reason"]);
    let grant = json!({
        "assignmentId": assignment, "roleId": app.role_id(&ada, "MEMBER").await, "roleName": "MEMBER",
        "organizationId": null, "inheritedFrom": null, "grantedBy": null, "directoryGroupId": null,
        "accessRequestId": null,
        "grantedAt": app.now(),
    });
    assert_eq!((&decision["allowed"], &decision["grants"]), (&json!(true), &json!([grant])));
    assert_eq!(decision["reason"], "Granted by MEMBER (tenant-wide).");
}

async fn a_decision_names_every_role_that_grants_the_permission(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let [company, sales] = app.chain(&ada, "company").await;
    app.role(&ada, "CLERK", &["organizations:read"]).await;
    let wide = app.assign(&ada, &bob.user, "AUDITOR", None, None).await;
    let above = app.assign(&ada, &bob.user, "MEMBER", Some(company), None).await;
    let there = app.assign(&ada, &bob.user, "ORGANIZATION_ADMIN", Some(sales), None).await;
    app.assign(&ada, &bob.user, "CLERK", None, None).await;
    let grants = check_users_read(&app, &bob, Some(sales)).await["grants"].as_array().unwrap().clone();
    let mut found: Vec<[&Value; 3]> = grants
        .iter()
        .map(|grant| [&grant["assignmentId"], &grant["organizationId"], &grant["inheritedFrom"]])
        .collect();
    found.sort_by_key(|grant| grant[0].to_string());
    let (company, sales) = (json!(company), json!(sales));
    let [wide, above, there] = [json!(wide), json!(above), json!(there)];
    let mut expected =
        vec![[&wide, &Value::Null, &Value::Null], [&above, &company, &company], [&there, &sales, &Value::Null]];
    expected.sort_by_key(|grant| grant[0].to_string());
    assert_eq!(found, expected);
}

async fn a_grant_in_an_organization_covers_it_and_everything_below(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let [company, sales, shop, shelf] = app.chain(&ada, "company").await;
    app.assign(&ada, &bob.user, "MEMBER", Some(sales), None).await;
    for (organization, inherited) in [(sales, Value::Null), (shop, json!(sales)), (shelf, json!(sales))] {
        let decision = check_users_read(&app, &bob, Some(organization)).await;
        is_allowed(&decision);
        let grant = &decision["grants"][0];
        assert_eq!((&grant["organizationId"], &grant["inheritedFrom"]), (&json!(sales), &inherited));
    }
    is_denied(&check_users_read(&app, &bob, None).await, "other places only");
    let above = json!({ "permission": "users:read", "organizationId": company });
    assert_eq!(check(&app, &bob, &above).await.fields("not-found"), ["organizationId"]);
    let about_bob = json!({ "permission": "users:read", "organizationId": company, "userId": bob.user });
    is_denied(&check(&app, &ada, &about_bob).await.ok(), "other places only");
}

async fn a_wildcard_grants_the_permissions_that_it_covers(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    is_allowed(&check_users_read(&app, &ada, None).await);
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["users:*"]).await;
    is_allowed(&check_users_read(&app, &bob, None).await);
    is_denied(&check(&app, &bob, &json!({ "permission": "roles:read" })).await.ok(), "No role");
}

async fn nothing_is_granted_without_a_role(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    is_denied(&check_users_read(&app, &bob, None).await, "No role of the user includes this permission.");
    app.permit(&bob, &["users:update"]).await;
    is_denied(&check_users_read(&app, &bob, None).await, "No role of the user includes this permission.");
}

async fn the_reason_says_that_a_role_has_expired(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let expiry = app.iam.now() + TimeDelta::minutes(1);
    app.assign(&ada, &bob.user, "MEMBER", Some(sales), Some(expiry)).await;
    let about_bob = json!({ "permission": "users:read", "organizationId": sales, "userId": bob.user });
    app.pass(TimeDelta::milliseconds(59_999));
    is_allowed(&check(&app, &ada, &about_bob).await.ok());
    app.pass(TimeDelta::milliseconds(1));
    is_denied(&check(&app, &ada, &about_bob).await.ok(), "expired");
    // Bob has no grant in force there, so the organization is not found for him.
    let about_oneself = json!({ "permission": "users:read", "organizationId": sales });
    check(&app, &bob, &about_oneself).await.problem("not-found");
}

async fn the_reason_says_that_an_organization_is_not_active(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let [company, sales, shop] = app.chain(&ada, "company").await;
    app.assign(&ada, &bob.user, "MEMBER", Some(sales), None).await;
    for suspended in [company, sales] {
        let path = format!("/organizations/{suspended}");
        app.patch(&path).by(&ada).json(&json!({ "status": "SUSPENDED" })).send().await.ok();
        for organization in [sales, shop] {
            let about_bob = json!({ "permission": "users:read", "organizationId": organization, "userId": bob.user });
            is_denied(&check(&app, &ada, &about_bob).await.ok(), "not active");
            is_denied(&check_users_read(&app, &bob, Some(organization)).await, "not active");
        }
        app.patch(&path).by(&ada).json(&json!({ "status": "ACTIVE" })).send().await.ok();
        is_allowed(&check_users_read(&app, &bob, Some(shop)).await);
    }
    // A grant above a suspended organization counts in it.
    app.patch(&format!("/organizations/{shop}")).by(&ada).json(&json!({ "status": "SUSPENDED" })).send().await.ok();
    is_allowed(&check_users_read(&app, &bob, Some(shop)).await);
}

async fn the_reason_says_that_the_permission_is_held_elsewhere(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let [sales, stock] = [app.organization(&ada, "sales").await, app.organization(&ada, "stock").await];
    app.assign(&ada, &bob.user, "MEMBER", Some(sales), None).await;
    app.permit_in(&bob, stock, &["roles:read"]).await;
    for organization in [None, Some(stock)] {
        is_denied(&check_users_read(&app, &bob, organization).await, "other places only");
    }
}

async fn a_caller_limited_to_an_organization_learns_no_grants_elsewhere(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [sales, stock] = [app.organization(&ada, "sales").await, app.organization(&ada, "stock").await];
    let mallory = app.colleague_in(&ada, sales, "mallory@example.com", &["role-assignments:read"]).await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "MEMBER", Some(stock), None).await;
    let about_bob = json!({ "permission": "users:read", "organizationId": sales, "userId": bob.user });
    let decision = async || check(&app, &mallory, &about_bob).await.ok();
    is_denied(&decision().await, "No role of the user");
    app.set_status(&ada, &bob.user, "SUSPENDED").await;
    is_denied(&decision().await, "No role of the user");
    // Mallory may see Bob's grant in `sales`, and therefore also that his suspension makes it ineffective.
    app.assign(&ada, &bob.user, "MEMBER", Some(sales), None).await;
    is_denied(&decision().await, "SUSPENDED");
    app.set_status(&ada, &bob.user, "ACTIVE").await;
    is_allowed(&decision().await);
}

async fn an_expired_role_does_not_hide_another_grant(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    app.assign(&ada, &bob.user, "MEMBER", Some(sales), None).await;
    app.assign(&ada, &bob.user, "ORGANIZATION_ADMIN", Some(sales), Some(app.iam.now() + TimeDelta::minutes(1))).await;
    app.pass(TimeDelta::minutes(1));
    let decision = check_users_read(&app, &bob, Some(sales)).await;
    is_allowed(&decision);
    assert_eq!(decision["grants"].as_array().unwrap().len(), 1);
}

async fn a_user_who_is_not_active_has_no_permissions(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.assign(&ada, &bob, "MEMBER", None, None).await;
    let about_bob = json!({ "permission": "users:read", "userId": bob });
    is_allowed(&check(&app, &ada, &about_bob).await.ok());
    for status in ["SUSPENDED", "INACTIVE"] {
        app.set_status(&ada, &bob, status).await;
        is_denied(&check(&app, &ada, &about_bob).await.ok(), status);
    }
}

async fn an_application_checks_permissions_of_its_own(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.post("/permissions").by(&ada).json(&json!({ "name": "orders:refund" })).send().await.created();
    let sales = app.organization(&ada, "sales").await;
    let bob = app.colleague_in(&ada, sales, "bob@example.com", &["orders:refund"]).await;
    let may = async |permission: &str, organization: Option<OrganizationId>| {
        let question = json!({ "permission": permission, "organizationId": organization });
        check(&app, &bob, &question).await.ok()["allowed"].clone()
    };
    assert_eq!(may("orders:refund", Some(sales)).await, true);
    assert_eq!(may("orders:refund", None).await, false);
    assert_eq!(may("orders:read", Some(sales)).await, false);
}

async fn invalid_and_unknown_fields_of_a_check_are_400_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let wrong = json!({ "permission": "users", "organizationId": "x", "userId": 5 });
    assert_eq!(check(&app, &ada, &wrong).await.invalid_fields(), ["userId"]);
    let wrong = json!({ "permission": "users", "organizationId": "x", "userId": "y" });
    assert_eq!(check(&app, &ada, &wrong).await.invalid_fields(), ["permission", "organizationId", "userId"]);
    assert_eq!(check(&app, &ada, &json!({})).await.invalid_fields(), ["permission"]);
    let unknown = json!({ "permission": "users:read", "organization": "x" });
    assert_eq!(check(&app, &ada, &unknown).await.invalid_fields(), ["organization"]);
    let nulls = json!({ "permission": "users:read", "organizationId": null, "userId": null });
    is_allowed(&check(&app, &ada, &nulls).await.ok());
}

async fn a_check_of_an_invalid_or_wildcard_permission_is_400(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for bad in ["", "users", "users:", ":read", "users:*", "*", "Users:read", "users:read:all", "users:read "] {
        assert_eq!(check(&app, &ada, &json!({ "permission": bad })).await.invalid_fields(), ["permission"], "{bad}");
    }
}

async fn bulk_checks_are_answered_in_order(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let [sales, stock] = [app.organization(&ada, "sales").await, app.organization(&ada, "stock").await];
    app.assign(&ada, &bob.user, "MEMBER", Some(sales), None).await;
    let questions = [
        json!({ "permission": "users:read", "organizationId": sales, "userId": bob.user }),
        json!({ "permission": "users:read", "organizationId": stock, "userId": bob.user }),
        json!({ "permission": "users:read" }),
        json!({ "permission": "users:delete", "organizationId": sales, "userId": bob.user }),
        json!({ "permission": "users:read", "organizationId": sales, "userId": bob.user }),
        json!({ "permission": "users:delete", "organizationId": stock, "userId": ada.user }),
    ];
    let body = check_all(&app, &ada, &questions).await.ok();
    assert_eq!(members(&body), ["data"]);
    let answers = body["data"].as_array().unwrap();
    let allowed: Vec<bool> = answers.iter().map(|answer| answer["allowed"].as_bool().unwrap()).collect();
    assert_eq!(allowed, [true, false, true, false, true, true]);
    for (question, answer) in questions.iter().zip(answers) {
        assert_eq!(check(&app, &ada, question).await.ok(), *answer);
    }
}

async fn a_bulk_check_has_1_to_100_checks(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let question = json!({ "permission": "users:read" });
    for count in [1, 100] {
        let body = check_all(&app, &ada, &vec![question.clone(); count]).await.ok();
        assert_eq!(body["data"].as_array().unwrap().len(), count);
    }
    for count in [0, 101] {
        let refused = check_all(&app, &ada, &vec![question.clone(); count]).await;
        assert_eq!(refused.invalid_fields(), ["checks"]);
    }
    let missing = app.post("/authz/check/bulk").by(&ada).json(&json!({})).send().await;
    assert_eq!(missing.invalid_fields(), ["checks"]);
}

async fn a_bulk_check_names_every_invalid_field(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let good = json!({ "permission": "users:read" });
    let wrong = json!({ "permission": "*", "userId": "x" });
    let refused = check_all(&app, &ada, &[good.clone(), wrong, json!({ "permission": "users" })]).await;
    assert_eq!(refused.invalid_fields(), ["checks[1].permission", "checks[1].userId", "checks[2].permission"]);
    let unknown = json!({ "permission": "users:read", "user": "x" });
    assert_eq!(check_all(&app, &ada, &[good, unknown]).await.invalid_fields(), ["checks[1].user"]);
}

async fn a_check_about_oneself_needs_no_permission(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let question = json!({ "permission": "users:read", "userId": bob.user });
    is_denied(&check(&app, &bob, &question).await.ok(), "No role");
    let sales = app.organization(&ada, "sales").await;
    app.permit_in(&bob, sales, &[]).await;
    is_denied(&check_users_read(&app, &bob, Some(sales)).await, "No role");
    let both = [json!({ "permission": "users:read" }), question];
    check_all(&app, &bob, &both).await.ok();
}

async fn a_check_about_others_needs_role_assignments_read_there(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [company, sales] = app.chain(&ada, "company").await;
    let stock = app.below(&ada, company, "stock").await;
    let bob = app.colleague_in(&ada, sales, "bob@example.com", &["role-assignments:read"]).await;
    let about_ada = |organization: Option<OrganizationId>| json!({ "permission": "users:read", "organizationId": organization, "userId": ada.user });
    is_allowed(&check(&app, &bob, &about_ada(Some(sales))).await.ok());
    for hidden in [company, stock] {
        assert_eq!(check(&app, &bob, &about_ada(Some(hidden))).await.fields("not-found"), ["organizationId"]);
    }
    check(&app, &bob, &about_ada(None)).await.lacks("role-assignments:read");
    app.permit_in(&bob, stock, &["users:read"]).await;
    check(&app, &bob, &about_ada(Some(stock))).await.lacks("role-assignments:read");
    app.permit(&bob, &["role-assignments:read"]).await;
    for organization in [None, Some(company), Some(stock)] {
        is_allowed(&check(&app, &bob, &about_ada(organization)).await.ok());
    }
}

async fn a_bulk_check_with_one_forbidden_check_is_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let good = json!({ "permission": "users:read" });
    let about_ada = json!({ "permission": "users:read", "userId": ada.user });
    check_all(&app, &bob, &[good.clone(), about_ada]).await.lacks("role-assignments:read");
    let hidden = json!({ "permission": "users:read", "organizationId": sales });
    let refused = check_all(&app, &bob, &[good, hidden]).await;
    assert_eq!(refused.fields("not-found"), ["checks[1].organizationId"]);
}

async fn unknown_users_and_organizations_are_404_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let unknown = &ada.tenant;
    for field in ["userId", "organizationId"] {
        let question = json!({ "permission": "users:read", field: unknown });
        assert_eq!(check(&app, &ada, &question).await.fields("not-found"), [field]);
        let several = [json!({ "permission": "users:read" }), question];
        let refused = check_all(&app, &ada, &several).await;
        assert_eq!(refused.fields("not-found"), [format!("checks[1].{field}")]);
    }
}

async fn users_and_organizations_of_another_tenant_are_404(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let foreign = app.organization(&eve, "foreign").await;
    for (field, id) in [("userId", json!(eve.user)), ("organizationId", json!(foreign))] {
        let question = json!({ "permission": "users:read", field: id });
        assert_eq!(check(&app, &ada, &question).await.fields("not-found"), [field]);
    }
}

async fn only_tenant_wide_grants_count_in_a_deleted_organization(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [company, sales] = app.chain(&ada, "company").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "MEMBER", Some(company), None).await;
    app.delete(&format!("/organizations/{sales}")).by(&ada).send().await.no_content();
    is_allowed(&check_users_read(&app, &ada, Some(sales)).await);
    let question = json!({ "permission": "users:read", "organizationId": sales });
    check(&app, &bob, &question).await.problem("not-found");
}

async fn a_check_is_not_recorded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.unrecorded(&ada, check_users_read(&app, &ada, None)).await;
    app.unrecorded(&ada, check_all(&app, &ada, &[json!({ "permission": "users:read" })])).await.ok();
}

async fn me_shows_roles_and_permissions_including_inherited_ones(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let none = me(&app, &bob).await;
    assert_eq!((&none["roles"], &none["permissions"]), (&json!([]), &json!({ "tenant": [], "organizations": [] })));
    let [company, sales, _] = app.chain(&ada, "company").await;
    let stock = app.organization(&ada, "stock").await;
    app.permit(&bob, &["tenants:read", "roles:read"]).await;
    app.assign(&ada, &bob.user, "MEMBER", Some(company), None).await;
    app.permit_in(&bob, sales, &["users:update", "users:read"]).await;
    let admin = app.assign(&ada, &bob.user, "MEMBER", Some(stock), None).await;
    let body = me(&app, &bob).await;
    let permissions = &body["permissions"];
    assert_eq!(members(permissions), ["organizations", "tenant"]);
    assert_eq!(permissions["tenant"], json!(["roles:read", "tenants:read"]));
    let organizations = permissions["organizations"].as_array().unwrap();
    let of = |id: OrganizationId| {
        &organizations.iter().find(|organization| organization["organizationId"] == json!(id)).unwrap()["permissions"]
    };
    assert_eq!(organizations.len(), 3);
    assert_eq!(*of(company), json!(["organizations:read", "users:read"]));
    assert_eq!(*of(sales), json!(["organizations:read", "users:read", "users:update"]));
    assert_eq!(*of(stock), json!(["organizations:read", "users:read"]));
    let roles = body["roles"].as_array().unwrap();
    assert_eq!(roles.len(), 4);
    let shown = roles.iter().find(|role| role["assignmentId"] == json!(admin)).unwrap();
    let expected = json!({
        "assignmentId": admin, "role": { "id": app.role_id(&ada, "MEMBER").await, "name": "MEMBER" },
        "organization": { "id": stock, "name": "Organization stock" }, "expiresAt": null,
    });
    assert_eq!(*shown, expected);
    assert_eq!(roles.iter().filter(|role| role.get("organization").is_none()).count(), 1);
}

async fn me_shows_a_role_until_it_expires(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let expiry = app.iam.now() + TimeDelta::minutes(1);
    for organization in [None, Some(sales)] {
        app.assign(&ada, &bob.user, "MEMBER", organization, Some(expiry)).await;
    }
    app.pass(TimeDelta::milliseconds(59_999));
    let body = me(&app, &bob).await;
    assert_eq!(body["roles"][0]["expiresAt"], shown(expiry));
    assert_eq!(body["permissions"]["tenant"], json!(["organizations:read", "users:read"]));
    assert_eq!(body["permissions"]["organizations"][0]["organizationId"], json!(sales));
    app.pass(TimeDelta::milliseconds(1));
    let body = me(&app, &bob).await;
    assert_eq!((&body["roles"], &body["permissions"]), (&json!([]), &json!({ "tenant": [], "organizations": [] })));
}

async fn me_shows_no_permissions_in_a_suspended_organization(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [company, sales] = app.chain(&ada, "company").await;
    let bob = app.colleague_in(&ada, sales, "bob@example.com", &["users:read"]).await;
    let path = format!("/organizations/{company}");
    app.patch(&path).by(&ada).json(&json!({ "status": "SUSPENDED" })).send().await.ok();
    let body = me(&app, &bob).await;
    assert_eq!(body["permissions"], json!({ "tenant": [], "organizations": [] }));
    assert_eq!(body["roles"].as_array().unwrap().len(), 1);
    app.patch(&path).by(&ada).json(&json!({ "status": "ACTIVE" })).send().await.ok();
    let permissions = me(&app, &bob).await["permissions"]["organizations"].clone();
    assert_eq!(permissions, json!([{ "organizationId": sales, "permissions": ["users:read"] }]));
}

async fn me_shows_wildcards_unexpanded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert_eq!(me(&app, &ada).await["permissions"], json!({ "tenant": ["*"], "organizations": [] }));
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["users:*", "roles:read"]).await;
    assert_eq!(me(&app, &bob).await["permissions"]["tenant"], json!(["roles:read", "users:*"]));
}

async fn me_refuses_a_suspended_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.set_status(&ada, &bob.user, "SUSPENDED").await;
    app.get("/auth/me").by(&bob).send().await.problem("unauthorized");
    check(&app, &bob, &json!({ "permission": "users:read" })).await.problem("unauthorized");
}

/// A check allows an operation exactly if the endpoint accepts it.
async fn a_check_agrees_with_the_decision_of_the_endpoint(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [company, sales, shop] = app.chain(&ada, "company").await;
    let bob = app.colleague_in(&ada, sales, "bob@example.com", &["organizations:read"]).await;
    let carl = app.colleague_in(&ada, sales, "carl@example.com", &["organizations:update"]).await;
    let dora = app.colleague_who_may(&ada, "dora@example.com", &["organizations:*"]).await;
    for person in [&bob, &carl, &dora] {
        for organization in [company, sales, shop] {
            for (permission, request) in [
                ("organizations:read", app.get(&format!("/organizations/{organization}"))),
                ("organizations:update", app.patch(&format!("/organizations/{organization}")).json(&json!({}))),
            ] {
                let question =
                    json!({ "permission": permission, "organizationId": organization, "userId": person.user });
                let said = check(&app, &ada, &question).await.ok()["allowed"] == json!(true);
                assert_eq!(request.by(person).send().await.status() == 200, said, "{permission} {}", person.email);
            }
        }
    }
}
