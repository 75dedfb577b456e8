//! `GET /users` (`docs/http-api.md#lists`).

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{Person, profile, with};
use crate::request::{Request, members};

on_every_store![
    "search, orders and pages are statements of the store";
    items_have_only_the_list_fields,
    a_page_has_twenty_items_by_default,
    pages_follow_each_other_without_gap,
    a_page_past_the_end_is_empty,
    page_and_limit_are_bounded,
    a_400_names_the_parameter_with_an_invalid_value,
    every_invalid_parameter_is_named_at_once,
    the_default_order_is_newest_first_then_by_id,
    every_sort_key_sorts_both_ways,
    a_user_who_never_logged_in_sorts_before_any_login,
    status_filters_the_list,
    search_finds_a_substring_of_email_or_names_in_any_letter_case,
    search_finds_all_words_wherever_they_are,
    search_has_at_most_8_words,
    search_takes_percent_and_underscore_literally,
    organization_id_finds_users_with_an_unexpired_role_in_it,
    an_unknown_organization_has_no_members,
    filters_are_combined_and_counted,
];

/// Creates a user with these members in its profile. Returns its id.
async fn add(app: &TestApp, by: &Person, members: &Value) -> String {
    let body = with(profile("unused@example.com"), members);
    let user = app.post("/users").by(by).json(&body).send().await.created();
    user["id"].as_str().unwrap().to_owned()
}

/// The list with these parameters.
fn listing<'a>(app: &'a TestApp, by: &Person, query: &[(&str, &str)]) -> Request<'a> {
    let request = app.get("/users").by(by);
    query.iter().fold(request, |request, (name, value)| request.query(name, value))
}

/// The local parts of the addresses that a list shows.
async fn names(app: &TestApp, by: &Person, query: &[(&str, &str)]) -> Vec<String> {
    let body = listing(app, by, query).send().await.ok();
    let name = |item: &Value| item["email"].as_str().unwrap().split('@').next().unwrap().to_owned();
    body["data"].as_array().unwrap().iter().map(name).collect()
}

/// An administrator, and other users, each created a second after the one before. Returns the administrator.
async fn with_users(app: &TestApp, emails: &[&str]) -> Person {
    let ada = app.register("ada@example.com").await;
    for email in emails {
        app.pass(TimeDelta::seconds(1));
        app.add_user(&ada, email).await;
    }
    ada
}

async fn items_have_only_the_list_fields(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = app.get("/users").by(&ada).send().await.ok();
    assert_eq!(members(&body), ["data", "pagination"]);
    let expected = json!({
        "id": ada.user, "kind": "HUMAN", "email": "ada@example.com", "firstName": "Ada", "lastName": "Lovelace",
        "status": "ACTIVE", "lastLoginAt": app.now(),
    });
    assert_eq!(body["data"], json!([expected]));
}

async fn a_page_has_twenty_items_by_default(app: TestApp) {
    let emails: Vec<String> = (0..20).map(|number| format!("user{number}@example.com")).collect();
    let ada = with_users(&app, &emails.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let body = app.get("/users").by(&ada).send().await.ok();
    assert_eq!(body["data"].as_array().unwrap().len(), 20);
    let expected = json!({ "total": 21, "page": 1, "limit": 20, "totalPages": 2, "hasNext": true, "hasPrev": false });
    assert_eq!(body["pagination"], expected);
}

async fn pages_follow_each_other_without_gap(app: TestApp) {
    let ada = with_users(&app, &["b@example.com", "c@example.com", "d@example.com", "e@example.com"]).await;
    let mut seen = Vec::new();
    for (page, has_next, has_prev) in [("1", true, false), ("2", true, true), ("3", false, true)] {
        let query = [("page", page), ("limit", "2")];
        let pagination = listing(&app, &ada, &query).send().await.ok()["pagination"].clone();
        let page: u32 = page.parse().unwrap();
        let expected = json!({
            "total": 5, "page": page, "limit": 2, "totalPages": 3, "hasNext": has_next, "hasPrev": has_prev,
        });
        assert_eq!(pagination, expected);
        seen.extend(names(&app, &ada, &query).await);
    }
    assert_eq!(seen, ["e", "d", "c", "b", "ada"]);
}

async fn a_page_past_the_end_is_empty(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for page in ["2", "1000000", "18446744073709551615"] {
        let body = listing(&app, &ada, &[("page", page), ("limit", "100")]).send().await.ok();
        assert_eq!(body["data"], json!([]));
        let page: u64 = page.parse().unwrap();
        let expected =
            json!({ "total": 1, "page": page, "limit": 100, "totalPages": 1, "hasNext": false, "hasPrev": true });
        assert_eq!(body["pagination"], expected);
    }
    let nothing = listing(&app, &ada, &[("search", "no match")]).send().await.ok();
    let expected = json!({ "total": 0, "page": 1, "limit": 20, "totalPages": 0, "hasNext": false, "hasPrev": false });
    assert_eq!(nothing, json!({ "data": [], "pagination": expected }));
}

async fn page_and_limit_are_bounded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for limit in ["1", "100"] {
        listing(&app, &ada, &[("limit", limit)]).send().await.ok();
    }
    for value in ["0", "-1", "1.5", "x", "", "1 ", "0x1"] {
        assert_eq!(listing(&app, &ada, &[("page", value)]).send().await.invalid_fields(), ["page"], "{value}");
        assert_eq!(listing(&app, &ada, &[("limit", value)]).send().await.invalid_fields(), ["limit"], "{value}");
    }
    assert_eq!(listing(&app, &ada, &[("limit", "101")]).send().await.invalid_fields(), ["limit"]);
}

async fn a_400_names_the_parameter_with_an_invalid_value(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let cases = [
        ("status", "active"),
        ("status", "DELETED"),
        ("sortBy", "password"),
        ("sortBy", "created_at"),
        ("sortOrder", "DESC"),
        ("sortOrder", "down"),
        ("organizationId", "17"),
        ("organizationId", "null"),
    ];
    for (name, value) in cases {
        assert_eq!(listing(&app, &ada, &[(name, value)]).send().await.invalid_fields(), [name], "{value}");
    }
}

async fn every_invalid_parameter_is_named_at_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let names = ["page", "limit", "status", "organizationId", "sortBy", "sortOrder"];
    let query = names.map(|name| (name, "x"));
    let mut fields = listing(&app, &ada, &query).send().await.invalid_fields();
    fields.sort_unstable();
    assert_eq!(fields, ["limit", "organizationId", "page", "sortBy", "sortOrder", "status"]);
}

async fn the_default_order_is_newest_first_then_by_id(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.pass(TimeDelta::seconds(1));
    let mut expected = Vec::new();
    for email in ["b@example.com", "c@example.com", "d@example.com"] {
        expected.push(app.add_user(&ada, email).await);
    }
    expected.sort_unstable();
    expected.push(ada.user.clone());
    for query in [&[][..], &[("sortBy", "createdAt")], &[("sortOrder", "desc")]] {
        let body = listing(&app, &ada, query).send().await.ok();
        let ids: Vec<&str> = body["data"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect();
        assert_eq!(ids, expected);
    }
}

async fn every_sort_key_sorts_both_ways(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let rows = [("m", "Zoe", "Berg", "SUSPENDED"), ("z", "Ben", "Cole", "INACTIVE"), ("b", "mia", "Abel", "ACTIVE")];
    for (email, first, last, _) in rows {
        app.pass(TimeDelta::seconds(1));
        let email = format!("{email}@example.com");
        add(&app, &ada, &json!({ "email": email, "firstName": first, "lastName": last })).await;
    }
    let listed = listing(&app, &ada, &[("sortBy", "email")]).send().await.ok();
    for (email, _, _, status) in rows {
        let email = format!("{email}@example.com");
        let is_meant = |item: &&Value| item["email"] == email;
        let id = listed["data"].as_array().unwrap().iter().find(is_meant).unwrap()["id"].as_str().unwrap();
        app.pass(TimeDelta::seconds(1));
        app.attempt(&email, crate::people::PASSWORD).send().await.ok();
        app.set_status(&ada, id, status).await;
    }
    let cases = [
        ("createdAt", ["ada", "m", "z", "b"]),
        ("updatedAt", ["ada", "b", "m", "z"]),
        ("email", ["ada", "b", "m", "z"]),
        ("firstName", ["ada", "z", "b", "m"]),
        ("lastName", ["b", "m", "z", "ada"]),
        ("lastLoginAt", ["ada", "m", "z", "b"]),
    ];
    for (key, mut expected) in cases {
        assert_eq!(names(&app, &ada, &[("sortBy", key), ("sortOrder", "asc")]).await, expected, "{key}");
        expected.reverse();
        assert_eq!(names(&app, &ada, &[("sortBy", key), ("sortOrder", "desc")]).await, expected, "{key}");
        assert_eq!(names(&app, &ada, &[("sortBy", key)]).await, expected, "{key}");
    }
    let by_status = names(&app, &ada, &[("sortBy", "status"), ("sortOrder", "asc")]).await;
    assert_eq!(by_status, ["ada", "b", "z", "m"]);
}

async fn a_user_who_never_logged_in_sorts_before_any_login(app: TestApp) {
    let ada = with_users(&app, &["never@example.com"]).await;
    assert_eq!(names(&app, &ada, &[("sortBy", "lastLoginAt"), ("sortOrder", "asc")]).await, ["never", "ada"]);
    assert_eq!(names(&app, &ada, &[("sortBy", "lastLoginAt"), ("sortOrder", "desc")]).await, ["ada", "never"]);
}

async fn status_filters_the_list(app: TestApp) {
    let ada = with_users(&app, &[]).await;
    for status in ["SUSPENDED", "INACTIVE"] {
        let id = app.add_user(&ada, &format!("{status}@example.com")).await;
        app.set_status(&ada, &id, status).await;
    }
    for (status, expected) in [("ACTIVE", "ada"), ("SUSPENDED", "SUSPENDED"), ("INACTIVE", "INACTIVE")] {
        assert_eq!(names(&app, &ada, &[("status", status)]).await, [expected]);
    }
    assert_eq!(names(&app, &ada, &[]).await.len(), 3, "deleted users are listed too");
}

async fn search_finds_a_substring_of_email_or_names_in_any_letter_case(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    add(&app, &ada, &json!({ "email": "first@example.com", "firstName": "Marie-Claire", "lastName": "Grün" })).await;
    add(&app, &ada, &json!({ "email": "Second@Claire.example", "firstName": "Ben", "lastName": "Öst" })).await;
    add(&app, &ada, &json!({ "email": "third@example.com", "firstName": "Ben", "lastName": "Eclair Sr" })).await;
    let cases: [(&str, &[&str]); 8] = [
        ("CLAIR", &["Second", "first", "third"]),
        ("claire", &["Second", "first"]),
        ("example.com", &["ada", "first", "third"]),
        ("öst", &["Second"]),
        ("GRÜN", &["first"]),
        ("eclair s", &["third"]),
        ("xyz ben", &[]),
        ("", &["Second", "ada", "first", "third"]),
    ];
    for (search, expected) in cases {
        let mut found = names(&app, &ada, &[("search", search)]).await;
        found.sort_unstable();
        assert_eq!(found, expected, "{search}");
    }
}

async fn search_finds_all_words_wherever_they_are(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    add(&app, &ada, &json!({ "email": "rene@exämple.de", "firstName": "Rene\u{301}", "lastName": "Weiß" })).await;
    for (search, expected) in [
        ("Ada Lovelace", "ada"),
        (" lovelace\u{a0}EXAMPLE.com ", "ada"),
        ("WEISS", "rene"),
        ("RENÉ weiß", "rene"),
        ("rene\u{301}", "rene"),
        ("exa\u{308}mple", "rene"),
        ("rene@xn--exmple-cua.de", "rene"),
    ] {
        assert_eq!(names(&app, &ada, &[("search", search)]).await, [expected], "{search}");
    }
    assert!(names(&app, &ada, &[("search", "ada weiß")]).await.is_empty());
}

async fn search_has_at_most_8_words(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert_eq!(names(&app, &ada, &[("search", "a d a l o v e c")]).await, ["ada"]);
    for path in ["/users", "/organizations"] {
        let many = app.get(path).query("search", "a d a l o v e l a").by(&ada).send().await;
        assert_eq!(many.invalid_fields(), ["search"], "{path}");
    }
}

async fn search_takes_percent_and_underscore_literally(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (email, name) in [("percent", "100%"), ("under_score", "Ben"), ("backslash", "a\\b"), ("quote", "O'Neil")] {
        add(&app, &ada, &json!({ "email": format!("{email}@example.com"), "firstName": name })).await;
    }
    let cases = [
        ("%", "percent"),
        ("0%", "percent"),
        ("_", "under_score"),
        ("r_s", "under_score"),
        ("\\", "backslash"),
        ("'", "quote"),
    ];
    for (search, expected) in cases {
        assert_eq!(names(&app, &ada, &[("search", search)]).await, [expected], "{search}");
    }
    for search in ["%%", "a%", "a_a", "\\%", "*", "?", "\u{0}", "a\u{0}"] {
        assert!(names(&app, &ada, &[("search", search)]).await.is_empty(), "{search}");
    }
}

async fn organization_id_finds_users_with_an_unexpired_role_in_it(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [sales, other] = [app.organization(&ada, "sales").await, app.organization(&ada, "other").await];
    let expiry = app.iam.now() + TimeDelta::minutes(1);
    let assignments = [
        ("lasting", Some(sales), None),
        ("expiring", Some(sales), Some(expiry)),
        ("elsewhere", Some(other), None),
        ("everywhere", None, None),
    ];
    for (name, organization, expires_at) in assignments {
        let user = app.add_user(&ada, &format!("{name}@example.com")).await;
        app.assign(&ada, &user, "MEMBER", organization, expires_at).await;
    }
    let query = [("organizationId", sales.to_string())];
    let query = query.each_ref().map(|(name, value)| (*name, value.as_str()));
    app.pass(TimeDelta::minutes(1) - TimeDelta::milliseconds(1));
    assert_eq!(names(&app, &ada, &query).await, ["lasting", "expiring"]);
    app.pass(TimeDelta::milliseconds(1));
    assert_eq!(names(&app, &ada, &query).await, ["lasting"]);
}

async fn an_unknown_organization_has_no_members(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert!(names(&app, &ada, &[("organizationId", &ada.tenant)]).await.is_empty());
}

async fn filters_are_combined_and_counted(app: TestApp) {
    let ada = with_users(&app, &["b1@example.com", "b2@example.com", "b3@example.com", "c1@example.com"]).await;
    let gone = names(&app, &ada, &[("search", "b2")]).await;
    assert_eq!(gone, ["b2"]);
    let b2 = listing(&app, &ada, &[("search", "b2")]).send().await.ok()["data"][0]["id"].clone();
    app.set_status(&ada, b2.as_str().unwrap(), "INACTIVE").await;
    let query = [("search", "b"), ("status", "ACTIVE"), ("sortBy", "email"), ("sortOrder", "asc"), ("limit", "1")];
    let body = listing(&app, &ada, &query).send().await.ok();
    assert_eq!(body["data"][0]["email"], "b1@example.com");
    assert_eq!((&body["pagination"]["total"], &body["pagination"]["totalPages"]), (&json!(2), &json!(2)));
}
