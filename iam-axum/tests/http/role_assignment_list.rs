//! `GET /role-assignments` (`docs/http-api.md#role-assignments`).

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::people::Person;
use crate::request::{Request, each, each_sorted, members};

on_every_store![
    "filters, orders and pages are statements of the store";
    items_embed_user_role_and_organization,
    every_filter_finds_the_matching_items,
    filters_are_combined_and_counted,
    expired_assignments_are_listed_only_on_demand,
    assignments_that_end_before_a_moment_are_found,
    the_default_order_is_newest_first_then_by_id,
    pages_follow_each_other_without_gap,
    a_400_names_the_parameter_with_an_invalid_value,
    every_invalid_parameter_is_named_at_once,
    unknown_ids_and_ids_of_another_tenant_find_nothing,
    the_list_shows_only_assignments_that_the_caller_may_read,
    the_list_needs_the_permission_in_at_least_one_scope,
];

fn listing<'a>(app: &'a TestApp, by: &Person, query: &[(&str, &str)]) -> Request<'a> {
    let request = app.get("/role-assignments").by(by);
    query.iter().fold(request, |request, (name, value)| request.query(name, value))
}

async fn ids(app: &TestApp, by: &Person, query: &[(&str, &str)]) -> Vec<String> {
    each_sorted(&listing(app, by, query).send().await.ok(), "id")
}

fn sorted<const N: usize>(ids: [&String; N]) -> Vec<String> {
    let mut ids = ids.map(Clone::clone).to_vec();
    ids.sort_unstable();
    ids
}

/// The administrator of a new tenant, and the id of its assignment as administrator.
async fn registered(app: &TestApp) -> (Person, String) {
    let ada = app.register("ada@example.com").await;
    let [first] = <[String; 1]>::try_from(ids(app, &ada, &[]).await).unwrap();
    (ada, first)
}

async fn items_embed_user_role_and_organization(app: TestApp) {
    let (ada, _) = registered(&app).await;
    let bob = app.add_user(&ada, "Bob@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let member = app.role_id(&ada, "MEMBER").await;
    let expiry = shown(app.iam.now() + TimeDelta::hours(1));
    let embedded = json!({
        "user": { "id": bob, "email": "Bob@example.com" }, "role": { "id": member, "name": "MEMBER" },
    });
    for organization in [Value::Null, json!(sales)] {
        app.pass(TimeDelta::seconds(1));
        let body = json!({ "userId": bob, "roleId": member, "organizationId": organization, "expiresAt": expiry });
        let mut expected = app.post("/role-assignments").by(&ada).json(&body).send().await.created();
        expected = crate::people::with(expected, &embedded);
        if organization.is_string() {
            expected["organization"] = json!({ "id": sales, "name": "Organization sales" });
        }
        let listed = listing(&app, &ada, &[("userId", &bob)]).send().await.ok();
        assert_eq!(members(&listed), ["data", "pagination"]);
        assert_eq!(listed["data"][0], expected);
    }
}

async fn every_filter_finds_the_matching_items(app: TestApp) {
    let (ada, first) = registered(&app).await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let [sales, below] = app.chain(&ada, "level").await;
    let member = app.role_id(&ada, "MEMBER").await;
    let own = app.assign(&ada, &ada.user, "MEMBER", None, None).await;
    let in_sales = app.assign(&ada, &bob, "MEMBER", Some(sales), None).await;
    let in_below = app.assign(&ada, &bob, "ORGANIZATION_ADMIN", Some(below), None).await;
    let (sales, below) = (sales.to_string(), below.to_string());
    let cases = [
        ("userId", &ada.user, sorted([&first, &own])),
        ("userId", &bob, sorted([&in_sales, &in_below])),
        ("roleId", &member, sorted([&own, &in_sales])),
        ("organizationId", &sales, sorted([&in_sales])),
        ("organizationId", &below, sorted([&in_below])),
    ];
    for (name, value, expected) in cases {
        assert_eq!(ids(&app, &ada, &[(name, value)]).await, expected, "{name}={value}");
    }
    assert_eq!(ids(&app, &ada, &[]).await, sorted([&first, &own, &in_sales, &in_below]));
}

async fn filters_are_combined_and_counted(app: TestApp) {
    let (ada, _) = registered(&app).await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let [sales, other] = [app.organization(&ada, "sales").await, app.organization(&ada, "other").await];
    for organization in [None, Some(sales), Some(other)] {
        app.assign(&ada, &bob, "MEMBER", organization, None).await;
    }
    let wanted = app.assign(&ada, &bob, "ORGANIZATION_ADMIN", Some(sales), None).await;
    let (sales, role) = (sales.to_string(), app.role_id(&ada, "ORGANIZATION_ADMIN").await);
    assert_eq!(ids(&app, &ada, &[("userId", &bob), ("organizationId", &sales), ("roleId", &role)]).await, [wanted]);
    let body = listing(&app, &ada, &[("userId", &bob), ("limit", "3"), ("page", "2")]).send().await.ok();
    let expected = json!({ "total": 4, "page": 2, "limit": 3, "totalPages": 2, "hasNext": false, "hasPrev": true });
    assert_eq!(body["pagination"], expected);
    assert_eq!(body["data"].as_array().unwrap().len(), 1);
}

async fn expired_assignments_are_listed_only_on_demand(app: TestApp) {
    let (ada, first) = registered(&app).await;
    let expiring = app.assign(&ada, &ada.user, "MEMBER", None, Some(app.iam.now() + TimeDelta::seconds(5))).await;
    app.pass(TimeDelta::milliseconds(4_999));
    assert_eq!(ids(&app, &ada, &[]).await, sorted([&first, &expiring]));
    app.pass(TimeDelta::milliseconds(1));
    assert_eq!(ids(&app, &ada, &[]).await, sorted([&first]));
    assert_eq!(ids(&app, &ada, &[("includeExpired", "false")]).await, sorted([&first]));
    let with_expired = [("includeExpired", "true"), ("userId", &ada.user)];
    let body = listing(&app, &ada, &with_expired).send().await.ok();
    assert_eq!(each_sorted(&body, "id"), sorted([&first, &expiring]));
    assert_eq!(body["pagination"]["total"], 2);
}

async fn assignments_that_end_before_a_moment_are_found(app: TestApp) {
    let (ada, _) = registered(&app).await;
    let (now, second) = (app.iam.now(), TimeDelta::seconds(1));
    let soon = app.assign(&ada, &ada.user, "MEMBER", None, Some(now + second * 5)).await;
    let later = app.assign(&ada, &ada.user, "AUDITOR", None, Some(now + second * 9)).await;
    let before = async |seconds: i32, more: &[(&str, &str)]| {
        let moment = shown(now + second * seconds);
        ids(&app, &ada, &[[("endsBefore", &*moment)].as_slice(), more].concat()).await
    };
    assert_eq!(before(5, &[]).await, Vec::<String>::new());
    assert_eq!(before(6, &[]).await, sorted([&soon]));
    assert_eq!(before(10, &[]).await, sorted([&soon, &later]));
    app.pass(second * 5);
    assert_eq!(before(10, &[]).await, sorted([&later]));
    assert_eq!(before(10, &[("includeExpired", "true")]).await, sorted([&soon, &later]));
}

async fn the_default_order_is_newest_first_then_by_id(app: TestApp) {
    let (ada, first) = registered(&app).await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.pass(TimeDelta::seconds(1));
    let twins =
        [app.assign(&ada, &bob, "MEMBER", None, None).await, app.assign(&ada, &bob, "AUDITOR", None, None).await];
    app.pass(TimeDelta::seconds(1));
    let last = app.assign(&ada, &ada.user, "AUDITOR", None, None).await;
    let mut expected = vec![last];
    expected.extend(sorted([&twins[0], &twins[1]]));
    expected.push(first);
    assert_eq!(each(&listing(&app, &ada, &[]).send().await.ok(), "id"), expected);
}

async fn pages_follow_each_other_without_gap(app: TestApp) {
    let (ada, _) = registered(&app).await;
    for number in 0..4 {
        app.permit_in(&ada, app.organization(&ada, &format!("branch-{number}")).await, &[]).await;
    }
    let all = each(&listing(&app, &ada, &[]).send().await.ok(), "id");
    assert_eq!(all.len(), 5);
    let mut seen = Vec::new();
    for page in ["1", "2", "3"] {
        seen.extend(each(&listing(&app, &ada, &[("page", page), ("limit", "2")]).send().await.ok(), "id"));
    }
    assert_eq!(seen, all);
    let past = listing(&app, &ada, &[("page", "9")]).send().await.ok();
    let expected = json!({ "total": 5, "page": 9, "limit": 20, "totalPages": 1, "hasNext": false, "hasPrev": true });
    assert_eq!(past, json!({ "data": [], "pagination": expected }));
}

async fn a_400_names_the_parameter_with_an_invalid_value(app: TestApp) {
    let (ada, _) = registered(&app).await;
    let cases = [
        ("page", "0"),
        ("limit", "101"),
        ("limit", "x"),
        ("userId", "bob"),
        ("userId", ""),
        ("roleId", "MEMBER"),
        ("organizationId", "null"),
        ("includeExpired", "yes"),
        ("includeExpired", ""),
        ("endsBefore", "soon"),
    ];
    for (name, value) in cases {
        assert_eq!(listing(&app, &ada, &[(name, value)]).send().await.invalid_fields(), [name], "{value}");
    }
}

async fn every_invalid_parameter_is_named_at_once(app: TestApp) {
    let (ada, _) = registered(&app).await;
    let query = [("limit", "0"), ("userId", "x"), ("roleId", "x"), ("organizationId", "x"), ("includeExpired", "x")];
    let mut named = listing(&app, &ada, &query).send().await.invalid_fields();
    named.sort_unstable();
    assert_eq!(named, ["includeExpired", "limit", "organizationId", "roleId", "userId"]);
}

async fn unknown_ids_and_ids_of_another_tenant_find_nothing(app: TestApp) {
    let (ada, _) = registered(&app).await;
    let eve = app.register("eve@example.com").await;
    let sales = app.organization(&eve, "sales").await;
    app.assign(&eve, &eve.user, "MEMBER", Some(sales), None).await;
    let role = app.role_id(&eve, "MEMBER").await;
    for (name, value) in
        [("userId", &eve.user), ("roleId", &role), ("organizationId", &sales.to_string()), ("userId", &ada.tenant)]
    {
        assert!(ids(&app, &ada, &[(name, value)]).await.is_empty(), "{name}");
    }
}

async fn the_list_shows_only_assignments_that_the_caller_may_read(app: TestApp) {
    let (ada, _) = registered(&app).await;
    let [root, middle, leaf] = app.chain(&ada, "level").await;
    let carl = app.add_user(&ada, "carl@example.com").await;
    let mut made = Vec::new();
    for organization in [None, Some(root), Some(middle), Some(leaf)] {
        made.push(app.assign(&ada, &carl, "MEMBER", organization, None).await);
    }
    let bob = app.colleague(&ada, "bob@example.com").await;
    let own = app.permit_in(&bob, middle, &["role-assignments:read"]).await;
    let elsewhere = app.permit_in(&bob, root, &["users:read"]).await;
    let body = listing(&app, &bob, &[]).send().await.ok();
    assert_eq!(each_sorted(&body, "id"), sorted([&own, &made[2], &made[3]]));
    assert_eq!(body["pagination"]["total"], 3);
    assert!(ids(&app, &bob, &[("organizationId", &root.to_string())]).await.is_empty());
    assert_eq!(ids(&app, &bob, &[("userId", &carl)]).await, sorted([&made[2], &made[3]]));
    assert!(!ids(&app, &bob, &[("userId", &bob.user)]).await.contains(&elsewhere));
}

async fn the_list_needs_the_permission_in_at_least_one_scope(app: TestApp) {
    let (ada, _) = registered(&app).await;
    let sales = app.organization(&ada, "sales").await;
    let bob = app.colleague_in(&ada, sales, "bob@example.com", &["role-assignments:create"]).await;
    listing(&app, &bob, &[]).send().await.lacks("role-assignments:read");
}
