//! `GET /organizations` (`docs/http-api.md#lists`).

use chrono::TimeDelta;
use iam_core::OrganizationId;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::Person;
use crate::request::{Request, each, each_sorted, members};

on_every_store![
    "filters, orders and pages are statements of the store";
    items_are_full_organizations,
    roots_are_organizations_without_a_parent,
    parent_id_shows_only_direct_children,
    parent_id_and_root_together_are_refused,
    status_filters_the_list,
    inactive_organizations_are_listed_only_by_the_status_filter,
    search_finds_a_substring_of_the_name_in_any_letter_case,
    search_takes_percent_and_underscore_literally,
    filters_are_combined_and_counted,
    the_default_order_is_newest_first_then_by_id,
    every_sort_key_sorts_both_ways,
    pages_follow_each_other_without_gap,
    a_400_names_the_parameter_with_an_invalid_value,
    every_invalid_parameter_is_named_at_once,
    the_list_shows_only_organizations_that_the_caller_may_read,
    the_list_needs_the_permission_in_at_least_one_scope,
];

fn listing<'a>(app: &'a TestApp, by: &Person, query: &[(&str, &str)]) -> Request<'a> {
    let request = app.get("/organizations").by(by);
    query.iter().fold(request, |request, (name, value)| request.query(name, value))
}

async fn slugs(app: &TestApp, by: &Person, query: &[(&str, &str)]) -> Vec<String> {
    each(&listing(app, by, query).send().await.ok(), "slug")
}

async fn sorted(app: &TestApp, by: &Person, query: &[(&str, &str)]) -> Vec<String> {
    each_sorted(&listing(app, by, query).send().await.ok(), "slug")
}

async fn set_status(app: &TestApp, by: &Person, id: OrganizationId, status: &str) {
    let body = json!({ "status": status });
    app.patch(&format!("/organizations/{id}")).by(by).json(&body).send().await.ok();
}

/// Two roots, `north` and `south`. `north` has two children and a grandchild.
async fn with_branches(app: &TestApp) -> (Person, [OrganizationId; 5]) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let east = app.below(&ada, north, "north-east").await;
    let west = app.below(&ada, north, "north-west").await;
    let far = app.below(&ada, west, "far-north-west").await;
    let south = app.organization(&ada, "south").await;
    (ada, [north, east, west, far, south])
}

async fn items_are_full_organizations(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [above, below] = app.chain(&ada, "level").await;
    let body = listing(&app, &ada, &[("parentId", &above.to_string())]).send().await.ok();
    assert_eq!(members(&body), ["data", "pagination"]);
    let expected = json!({
        "id": below, "name": "Organization level-1", "slug": "level-1", "status": "ACTIVE", "parentId": above,
        "depth": 1, "createdAt": app.now(), "updatedAt": app.now(),
    });
    assert_eq!(body["data"], json!([expected]));
    let expected = json!({ "total": 1, "page": 1, "limit": 20, "totalPages": 1, "hasNext": false, "hasPrev": false });
    assert_eq!(body["pagination"], expected);
}

async fn roots_are_organizations_without_a_parent(app: TestApp) {
    let (ada, _) = with_branches(&app).await;
    for query in [&[("parentId", "null")][..], &[("root", "true")], &[("root", "true"), ("parentId", "null")]] {
        assert_eq!(sorted(&app, &ada, query).await, ["north", "south"], "{query:?}");
    }
    assert_eq!(sorted(&app, &ada, &[("root", "false")]).await, sorted(&app, &ada, &[]).await);
    assert_eq!(sorted(&app, &ada, &[]).await.len(), 5);
}

async fn parent_id_shows_only_direct_children(app: TestApp) {
    let (ada, [north, east, ..]) = with_branches(&app).await;
    assert_eq!(sorted(&app, &ada, &[("parentId", &north.to_string())]).await, ["north-east", "north-west"]);
    for childless in [east.to_string(), ada.tenant.clone()] {
        assert!(slugs(&app, &ada, &[("parentId", &childless)]).await.is_empty());
    }
}

async fn parent_id_and_root_together_are_refused(app: TestApp) {
    let (ada, [north, ..]) = with_branches(&app).await;
    let query = [("parentId", north.to_string()), ("root", "true".to_owned())];
    let query = query.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert_eq!(listing(&app, &ada, &query).send().await.invalid_fields(), ["root"]);
}

async fn status_filters_the_list(app: TestApp) {
    let (ada, [north, _, _, _, south]) = with_branches(&app).await;
    set_status(&app, &ada, north, "SUSPENDED").await;
    set_status(&app, &ada, south, "INACTIVE").await;
    assert_eq!(sorted(&app, &ada, &[("status", "SUSPENDED")]).await, ["north"]);
    assert_eq!(sorted(&app, &ada, &[("status", "INACTIVE")]).await, ["south"]);
    let active = ["far-north-west", "north-east", "north-west"];
    assert_eq!(sorted(&app, &ada, &[("status", "ACTIVE")]).await, active);
}

async fn inactive_organizations_are_listed_only_by_the_status_filter(app: TestApp) {
    let (ada, [north, east, _, _, south]) = with_branches(&app).await;
    for gone in [east, south] {
        app.delete(&format!("/organizations/{gone}")).by(&ada).send().await.no_content();
    }
    let parent = north.to_string();
    let queries: [&[(&str, &str)]; 4] = [&[], &[("root", "true")], &[("parentId", &parent)], &[("search", "o")]];
    for query in queries {
        let shown = slugs(&app, &ada, query).await;
        assert!(!shown.contains(&"north-east".to_owned()) && !shown.contains(&"south".to_owned()), "{query:?}");
    }
    assert_eq!(sorted(&app, &ada, &[("status", "INACTIVE")]).await, ["north-east", "south"]);
    let body = listing(&app, &ada, &[("status", "INACTIVE"), ("root", "true")]).send().await.ok();
    assert_eq!((&body["data"][0]["status"], &body["pagination"]["total"]), (&json!("INACTIVE"), &json!(1)));
}

async fn search_finds_a_substring_of_the_name_in_any_letter_case(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (name, slug) in [("Berlin Office", "a1"), ("OFFICE Paris", "a2"), ("Straße ÖSTLICH", "a3")] {
        let body = json!({ "name": name, "slug": slug });
        app.post("/organizations").by(&ada).json(&body).send().await.created();
    }
    let cases: [(&str, &[&str]); 6] = [
        ("office", &["a1", "a2"]),
        ("BERLIN o", &["a1"]),
        ("östl", &["a3"]),
        ("raße", &["a3"]),
        ("nowhere", &[]),
        ("", &["a1", "a2", "a3"]),
    ];
    for (search, expected) in cases {
        assert_eq!(sorted(&app, &ada, &[("search", search)]).await, expected, "{search}");
    }
}

async fn search_takes_percent_and_underscore_literally(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (name, slug) in [("100%", "percent"), ("under_score", "underscore"), ("a\\b", "backslash"), ("O'Neil", "q")] {
        let body = json!({ "name": name, "slug": slug });
        app.post("/organizations").by(&ada).json(&body).send().await.created();
    }
    for (search, expected) in [("%", "percent"), ("_", "underscore"), ("\\", "backslash"), ("'", "q")] {
        assert_eq!(slugs(&app, &ada, &[("search", search)]).await, [expected], "{search}");
    }
    for search in ["%%", "1%0", "r__s", "*", "\u{0}", "a\u{0}", "\u{10ffff}"] {
        assert!(slugs(&app, &ada, &[("search", search)]).await.is_empty(), "{search}");
    }
}

async fn filters_are_combined_and_counted(app: TestApp) {
    let (ada, [north, east, ..]) = with_branches(&app).await;
    set_status(&app, &ada, east, "SUSPENDED").await;
    let parent = north.to_string();
    let below = [("parentId", parent.as_str()), ("search", "NORTH"), ("status", "ACTIVE")];
    assert_eq!(slugs(&app, &ada, &below).await, ["north-west"]);
    let query = [("search", "north"), ("sortBy", "name"), ("sortOrder", "desc"), ("limit", "1"), ("page", "2")];
    let body = listing(&app, &ada, &query).send().await.ok();
    assert_eq!(each(&body, "slug"), ["north-east"]);
    let expected = json!({ "total": 4, "page": 2, "limit": 1, "totalPages": 4, "hasNext": true, "hasPrev": true });
    assert_eq!(body["pagination"], expected);
}

async fn the_default_order_is_newest_first_then_by_id(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.organization(&ada, "first").await;
    app.pass(TimeDelta::seconds(1));
    let mut twins = [app.organization(&ada, "twin-1").await, app.organization(&ada, "twin-2").await];
    twins.sort_unstable();
    app.pass(TimeDelta::seconds(1));
    app.organization(&ada, "last").await;
    let body = listing(&app, &ada, &[]).send().await.ok();
    assert_eq!((&body["data"][0]["slug"], &body["data"][3]["slug"]), (&json!("last"), &json!("first")));
    assert_eq!(each(&body, "id")[1..3], twins.map(|id| id.to_string()));
}

async fn every_sort_key_sorts_both_ways(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (name, slug) in [("beta", "b"), ("Alpha", "a"), ("Gamma", "c")] {
        app.pass(TimeDelta::seconds(1));
        let body = json!({ "name": name, "slug": slug });
        app.post("/organizations").by(&ada).json(&body).send().await.created();
    }
    app.pass(TimeDelta::seconds(1));
    let found = listing(&app, &ada, &[("search", "alpha")]).send().await.ok();
    let path = format!("/organizations/{}", found["data"][0]["id"].as_str().unwrap());
    app.patch(&path).by(&ada).json(&json!({ "status": "SUSPENDED" })).send().await.ok();
    for (key, expected) in [("name", ["a", "b", "c"]), ("createdAt", ["b", "a", "c"]), ("updatedAt", ["b", "c", "a"])] {
        let mut expected = expected.to_vec();
        assert_eq!(slugs(&app, &ada, &[("sortBy", key), ("sortOrder", "asc")]).await, expected, "{key}");
        expected.reverse();
        assert_eq!(slugs(&app, &ada, &[("sortBy", key), ("sortOrder", "desc")]).await, expected, "{key}");
        assert_eq!(slugs(&app, &ada, &[("sortBy", key)]).await, expected, "{key}");
    }
}

async fn pages_follow_each_other_without_gap(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for number in 0..5 {
        app.organization(&ada, &format!("branch-{number}")).await;
    }
    let all = slugs(&app, &ada, &[]).await;
    let mut seen = Vec::new();
    for page in ["1", "2", "3", "4"] {
        seen.extend(slugs(&app, &ada, &[("page", page), ("limit", "2")]).await);
    }
    assert_eq!(seen, all);
    let past = listing(&app, &ada, &[("page", "9"), ("limit", "2")]).send().await.ok();
    let expected = json!({ "total": 5, "page": 9, "limit": 2, "totalPages": 3, "hasNext": false, "hasPrev": true });
    assert_eq!(past, json!({ "data": [], "pagination": expected }));
}

async fn a_400_names_the_parameter_with_an_invalid_value(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let cases = [
        ("page", "0"),
        ("limit", "0"),
        ("limit", "101"),
        ("status", "active"),
        ("status", ""),
        ("sortBy", "slug"),
        ("sortBy", "Name"),
        ("sortOrder", "up"),
        ("parentId", "17"),
        ("parentId", ""),
        ("parentId", "NULL"),
        ("root", "yes"),
        ("root", ""),
    ];
    for (name, value) in cases {
        assert_eq!(listing(&app, &ada, &[(name, value)]).send().await.invalid_fields(), [name], "{value}");
    }
}

async fn every_invalid_parameter_is_named_at_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let query = [("limit", "0"), ("parentId", "x"), ("status", "x"), ("sortBy", "x"), ("sortOrder", "x")];
    let mut named = listing(&app, &ada, &query).send().await.invalid_fields();
    named.sort_unstable();
    assert_eq!(named, ["limit", "parentId", "sortBy", "sortOrder", "status"]);
}

async fn the_list_shows_only_organizations_that_the_caller_may_read(app: TestApp) {
    let (ada, [_, east, west, ..]) = with_branches(&app).await;
    let bob = app.colleague_in(&ada, west, "bob@example.com", &["organizations:read"]).await;
    app.permit_in(&bob, east, &["organizations:update"]).await;
    let body = listing(&app, &bob, &[]).send().await.ok();
    assert_eq!(each_sorted(&body, "slug"), ["far-north-west", "north-west"]);
    assert_eq!(body["pagination"]["total"], 2);
    let depths: Vec<&Value> = body["data"].as_array().unwrap().iter().map(|item| &item["depth"]).collect();
    assert!(depths.contains(&&json!(1)) && depths.contains(&&json!(2)), "{depths:?}");
    assert!(slugs(&app, &bob, &[("root", "true")]).await.is_empty());
    let gone = app.below(&ada, west, "gone").await;
    app.delete(&format!("/organizations/{gone}")).by(&ada).send().await.no_content();
    assert_eq!(slugs(&app, &ada, &[("status", "INACTIVE")]).await, ["gone"]);
    assert!(slugs(&app, &bob, &[("status", "INACTIVE")]).await.is_empty(), "it needs a tenant-wide grant");
    app.permit_in(&bob, east, &["organizations:read"]).await;
    assert_eq!(sorted(&app, &bob, &[("search", "north")]).await, ["far-north-west", "north-east", "north-west"]);
    app.permit(&bob, &["organizations:read"]).await;
    assert_eq!(slugs(&app, &bob, &[]).await.len(), 5);
}

async fn the_list_needs_the_permission_in_at_least_one_scope(app: TestApp) {
    let (ada, [north, ..]) = with_branches(&app).await;
    let bob = app.colleague_in(&ada, north, "bob@example.com", &["organizations:update"]).await;
    listing(&app, &bob, &[]).send().await.lacks("organizations:read");
}
