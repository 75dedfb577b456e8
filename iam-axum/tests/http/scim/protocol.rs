//! The protocol of directories: bodies, entity tags, errors, and what is kept of requests
//! (`docs/directories.md#the-protocol`).

use std::sync::Arc;

use axum::Router;
use axum::http::Method;
use chrono::TimeDelta;
use iam_axum::rate_limit::MemoryRateLimiter;
use iam_axum::{ApiPart, Settings};
use serde_json::{Value, json};

use super::{SCIM_JSON, Staff, path, person};
use crate::api_key::text;
use crate::app::{TestApp, shown};
use crate::limiter::limits;

in_memory![
    a_body_may_have_the_type_of_scim_or_of_json_or_none,
    a_body_of_another_type_is_415,
    a_body_that_is_no_json_object_is_400,
    a_body_that_is_too_large_is_413,
    an_answer_accepts_any_accept_header,
    without_a_valid_key_an_answer_is_401,
    the_key_of_a_suspended_account_is_401,
    a_key_without_a_directory_and_a_session_are_403,
    a_path_that_does_not_exist_is_404,
    a_method_that_a_path_does_not_have_is_405,
    over_the_limit_an_answer_is_429_and_says_when_to_try_again,
    each_user_has_its_address_and_its_tag,
    the_tag_changes_whenever_the_user_changes,
    a_change_needs_the_version_that_it_names,
    a_user_that_the_directory_has_is_304,
    an_administrator_sees_the_last_request_and_the_refusals,
    of_the_requests_that_are_not_refused_one_a_minute_is_kept,
    twenty_refusals_are_kept,
    a_late_body_is_checked_against_the_rights_at_its_arrival,
    a_host_can_leave_directories_out,
    a_host_has_directories_below_its_own_prefix,
    addresses_begin_by_the_public_url,
];

async fn a_body_may_have_the_type_of_scim_or_of_json_or_none(app: TestApp) {
    let staff = Staff::of(&app).await;
    let types = [
        "application/scim+json",
        "application/scim+json; charset=utf-8",
        "Application/SCIM+JSON",
        "application/json",
        "application/json;charset=UTF-8",
    ];
    for (number, content_type) in types.into_iter().map(Some).chain([None]).enumerate() {
        let body = person(&format!("user{number}"), &json!({})).to_string();
        let request = staff.request(Method::POST, "/Users").body(body);
        let request = match content_type {
            Some(content_type) => request.header("content-type", content_type),
            None => request,
        };
        request.send().await.scim(201);
    }
}

async fn a_body_of_another_type_is_415(app: TestApp) {
    let staff = Staff::of(&app).await;
    let body = person("grace", &json!({})).to_string();
    for content_type in ["text/plain", "application/json+scim", "application/x-www-form-urlencoded", ""] {
        let request = staff.request(Method::POST, "/Users").body(body.clone()).header("content-type", content_type);
        let detail = request.send().await.refused(415, None);
        assert!(detail.contains(SCIM_JSON), "{detail}");
    }
    let encoded = staff.post(&person("grace", &json!({}))).header("content-encoding", "gzip");
    encoded.send().await.refused(415, None);
}

/// It would be read a second time as JSON.
const HIDDEN: &str = r#"{"userName":{"$serde_json::private::RawValue":"\"grace\""}}"#;

async fn a_body_that_is_no_json_object_is_400(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    for body in ["", "{", "[]", "null", "\"grace\"", "7", "{\"userName\": grace}", "{} {}", HIDDEN] {
        for (method, path) in [
            (Method::POST, "/Users".to_owned()),
            (Method::POST, "/Users/.search".to_owned()),
            (Method::PUT, path(&user)),
            (Method::PATCH, path(&user)),
            (Method::POST, "/Groups".to_owned()),
            (Method::POST, "/Groups/.search".to_owned()),
        ] {
            let request = staff.request(method, &path).header("content-type", SCIM_JSON).body(body);
            let answer = app.unrecorded(&staff.ada, request.send()).await;
            let detail = answer.refused(400, Some("invalidSyntax"));
            assert!(!detail.contains("grace"), "{detail}");
        }
    }
    staff.post(&json!({})).send().await.refused(400, Some("invalidValue"));
    staff.post(&json!({ "not": "a user" })).send().await.refused(400, Some("invalidValue"));
}

async fn a_body_that_is_too_large_is_413(app: TestApp) {
    let staff = Staff::of(&app).await;
    let body = person("grace", &json!({ "nickName": "x".repeat(256 * 1024) }));
    staff.post(&body).send().await.refused(413, None);
}

async fn an_answer_accepts_any_accept_header(app: TestApp) {
    let staff = Staff::of(&app).await;
    for accept in ["*/*", "application/scim+json; charset=utf-8", "application/json", "text/html"] {
        staff.get("/Users").header("accept", accept).send().await.scim(200);
    }
}

async fn without_a_valid_key_an_answer_is_401(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    let (bare, unknown) = (staff.key.as_str(), format!("Bearer {}x", staff.key));
    for authorization in
        [None, Some("non-token"), Some("Bearer "), Some("Basic eDp5"), Some(bare), Some(unknown.as_str())]
    {
        for (method, path) in [
            (Method::GET, "/Users".to_owned()),
            (Method::POST, "/Users".to_owned()),
            (Method::POST, "/.search".to_owned()),
            (Method::GET, path(&user)),
            (Method::GET, "/Users/77c".to_owned()),
            (Method::PUT, path(&user)),
            (Method::PATCH, path(&user)),
            (Method::DELETE, path(&user)),
            (Method::GET, "/Groups".to_owned()),
            (Method::POST, "/Groups".to_owned()),
            (Method::POST, "/Groups/.search".to_owned()),
            (Method::GET, "/Groups/77c".to_owned()),
            (Method::PUT, "/Groups/77c".to_owned()),
            (Method::PATCH, "/Groups/77c".to_owned()),
            (Method::DELETE, "/Groups/77c".to_owned()),
        ] {
            // The key is missed before the body is read.
            let request = app.request(method, &format!("/scim/v2{path}")).header("content-type", "text/plain");
            let request = match authorization {
                Some(authorization) => request.header("authorization", authorization),
                None => request,
            };
            let answer = request.send().await;
            answer.refused(401, None);
            assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"), "{authorization:?}");
        }
    }
    assert_eq!(staff.shown(&user).await, user);
}

async fn the_key_of_a_suspended_account_is_401(app: TestApp) {
    let staff = Staff::of(&app).await;
    staff.get("/Users").send().await.scim(200);
    app.set_status(&staff.ada, &staff.account, "SUSPENDED").await;
    staff.get("/Users").send().await.refused(401, None);
    app.set_status(&staff.ada, &staff.account, "ACTIVE").await;
    staff.get("/Users").send().await.scim(200);
    let revoked = app.delete(&format!("/api-keys/{}", staff.key_id)).by(&staff.ada);
    revoked.send().await.no_content();
    staff.get("/Users").send().await.refused(401, None);
}

async fn a_key_without_a_directory_and_a_session_are_403(app: TestApp) {
    let staff = Staff::of(&app).await;
    let robot = app.robot(&staff.ada, &["users:*"]).await;
    let key = app.key(&staff.ada, &robot, &json!({})).await;
    for token in [text(&key), &staff.ada.access] {
        for request in [
            app.request(Method::GET, "/scim/v2/Users"),
            app.request(Method::POST, "/scim/v2/Users").body(person("grace", &json!({})).to_string()),
            app.request(Method::GET, "/scim/v2/Groups"),
            app.request(Method::POST, "/scim/v2/Groups").body(json!({ "displayName": "Sales" }).to_string()),
            app.request(Method::POST, "/scim/v2/.search").body("{}"),
        ] {
            let detail = request.bearer(token).send().await.refused(403, None);
            assert_eq!(detail, "This API key belongs to no directory.");
        }
    }
    let removed = app.delete(&format!("/directories/{}?users=keep", staff.directory)).by(&staff.ada);
    removed.send().await.no_content();
    staff.get("/Users").send().await.refused(403, None);
}

async fn a_path_that_does_not_exist_is_404(app: TestApp) {
    let staff = Staff::of(&app).await;
    for path in ["/users", "/Users/", "/Users/1/2", "/groups", "/Groups/", "/Groups/1/members", "/Roles"] {
        staff.get(path).send().await.refused(404, None);
    }
    app.request(Method::GET, "/scim").send().await.problem("not-found");
    app.request(Method::GET, "/scim/v2x").send().await.problem("not-found");
}

async fn a_method_that_a_path_does_not_have_is_405(app: TestApp) {
    let staff = Staff::of(&app).await;
    for (method, path, allow) in [
        (Method::DELETE, "/Users", "GET,HEAD,POST"),
        (Method::GET, "/Users/.search", "POST"),
        (Method::POST, "/Users/77c", "GET,HEAD,PUT,PATCH,DELETE"),
        (Method::DELETE, "/Groups", "GET,HEAD,POST"),
        (Method::GET, "/Groups/.search", "POST"),
        (Method::POST, "/Groups/77c", "GET,HEAD,PUT,PATCH,DELETE"),
        (Method::GET, "/.search", "POST"),
    ] {
        let answer = staff.request(method, path).send().await;
        answer.refused(405, None);
        let mut allowed: Vec<&str> = answer.header("allow").unwrap().split(',').collect();
        let mut expected: Vec<&str> = allow.split(',').collect();
        allowed.sort_unstable();
        expected.sort_unstable();
        assert_eq!(allowed, expected, "{path}");
    }
}

async fn over_the_limit_an_answer_is_429_and_says_when_to_try_again(app: TestApp) {
    let staff = Staff::of(&app).await;
    let limiter = MemoryRateLimiter::with_clock(limits(1, 60, 60), app.clock.clone());
    let app = app.with_http_settings(|settings| settings.rate_limiter = Some(Arc::new(limiter)));
    let staff = staff.on(&app);
    staff.get("/Users").send().await.scim(200);
    for request in [staff.get("/Users"), staff.post(&person("grace", &json!({})))] {
        let answer = request.send().await;
        answer.refused(429, None);
        assert_eq!(answer.header("retry-after"), Some("60"));
    }
}

async fn each_user_has_its_address_and_its_tag(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    let operations = json!([{ "op": "replace", "path": "title", "value": "Admiral" }]);
    for request in [
        staff.post(&person("alan", &json!({}))),
        staff.get(&path(&user)),
        staff.put(&user, &person("grace", &json!({}))),
        staff.patch(&user, &operations),
    ] {
        let answer = request.header("host", "iam.example").send().await;
        let shown = answer.scim(if answer.status() == 201 { 201 } else { 200 });
        let location = format!("http://iam.example/scim/v2/Users/{}", shown["id"].as_str().unwrap());
        assert_eq!(answer.header("location"), Some(location.as_str()));
        assert_eq!(shown["meta"]["location"], location);
        assert_eq!(answer.header("etag"), shown["meta"]["version"].as_str());
        assert!(answer.header("etag").unwrap().starts_with("W/\""), "{shown}");
    }
}

async fn the_tag_changes_whenever_the_user_changes(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    let version = async || staff.shown(&user).await["meta"]["version"].clone();
    let first = version().await;
    assert_eq!(first, user["meta"]["version"]);
    let changed = staff.patched(&user, &json!([{ "op": "add", "path": "title", "value": "x" }])).await;
    assert_ne!(changed["meta"]["version"], first);
    assert_eq!(version().await, changed["meta"]["version"]);
    app.pass(TimeDelta::milliseconds(1));
    let by_hand = app.patch(&format!("/users/{}", user["id"].as_str().unwrap())).by(&staff.ada);
    by_hand.json(&json!({ "firstName": "Amazing" })).send().await.ok();
    assert_ne!(version().await, changed["meta"]["version"]);
}

async fn a_change_needs_the_version_that_it_names(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    let operations = json!([{ "op": "replace", "path": "title", "value": "Admiral" }]);
    let title = json!({ "title": "Admiral" });
    let changes =
        || [staff.patch(&user, &operations), staff.put(&user, &person("grace", &title)), staff.delete(&path(&user))];
    let stale = user["meta"]["version"].as_str().unwrap();
    staff.patched(&user, &json!([{ "op": "add", "path": "locale", "value": "en" }])).await;
    for seen in [stale, "\"other\"", "other", ""] {
        for change in changes() {
            let answer = app.unrecorded(&staff.ada, change.header("if-match", seen).send()).await;
            answer.refused(412, None);
        }
    }
    let current = || async { staff.shown(&user).await["meta"]["version"].as_str().unwrap().to_owned() };
    for seen in [current().await, current().await.replace("W/", ""), "*".to_owned()] {
        staff.put(&user, &person("grace", &json!({ "locale": "en" }))).header("if-match", &seen).send().await.scim(200);
    }
    for change in changes() {
        let seen = format!("{stale}, {}", current().await);
        let answer = change.header("if-match", &seen).send().await;
        assert!(matches!(answer.status(), 200 | 204), "{}", answer.text());
    }
}

async fn a_user_that_the_directory_has_is_304(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    let version = user["meta"]["version"].as_str().unwrap();
    for seen in [version, &version.replace("W/", ""), "*", &format!("\"other\", {version}")] {
        let answer = staff.get(&path(&user)).header("if-none-match", seen).send().await;
        assert_eq!((answer.status(), answer.header("etag"), answer.text()), (304, Some(version), String::new()));
    }
    staff.get(&path(&user)).header("if-none-match", "\"other\"").send().await.scim(200);
}

async fn an_administrator_sees_the_last_request_and_the_refusals(app: TestApp) {
    let staff = Staff::of(&app).await;
    assert_eq!(staff.of_administrator().await["lastRequestAt"], Value::Null);
    let user = staff.made("grace", &json!({})).await;
    let first = staff.of_administrator().await;
    assert_eq!((&first["lastRequestAt"], &first["refusals"]), (&json!(app.now()), &json!([])));
    let mut expected = Vec::new();
    for (request, kept, status, detail) in [
        (
            staff.post(&person("grace", &json!({}))),
            "POST /Users",
            409,
            "userName: Another user of the directory has this user name.",
        ),
        (staff.get("/Users/77c"), "GET /Users", 404, "User not found."),
        (staff.patch(&user, &json!([])), "PATCH /Users", 400, "Operations must be a list of changes"),
        (
            staff.post(&json!({})).header("content-encoding", "br"),
            "POST /Users",
            415,
            "Send a body as application/scim+json.",
        ),
    ] {
        app.pass(TimeDelta::seconds(1));
        assert_eq!(request.send().await.refused(status, scim_type(status)), detail);
        expected.insert(0, json!({ "at": app.now(), "request": kept, "status": status, "detail": detail }));
    }
    let shown = staff.of_administrator().await;
    assert_eq!(shown["refusals"], json!(expected));
    assert_eq!(shown["lastRequestAt"], app.now());
    // Neither of them is a change.
    assert_eq!(shown["updatedAt"], first["updatedAt"]);
    assert_eq!(app.history(&staff.ada, &staff.directory).await.len(), 1);
}

fn scim_type(status: u16) -> Option<&'static str> {
    match status {
        400 => Some("invalidSyntax"),
        409 => Some("uniqueness"),
        _ => None,
    }
}

async fn of_the_requests_that_are_not_refused_one_a_minute_is_kept(app: TestApp) {
    let staff = Staff::of(&app).await;
    let last = async || staff.of_administrator().await["lastRequestAt"].clone();
    staff.get("/Users").send().await.scim(200);
    let first = app.now();
    app.pass(TimeDelta::seconds(59));
    staff.get("/Users").send().await.scim(200);
    assert_eq!(last().await, first);
    app.pass(TimeDelta::seconds(1));
    staff.get("/Users").send().await.scim(200);
    assert_eq!(last().await, app.now());
    // No caller has authenticated, so no directory has sent it.
    app.pass(TimeDelta::minutes(2));
    app.request(Method::GET, "/scim/v2/Users").send().await.refused(401, None);
    app.request(Method::GET, "/scim/v2/Schemas").send().await.scim(200);
    assert_eq!(last().await, shown(app.iam.now() - TimeDelta::minutes(2)));
    // The schemas of a directory have the attributes of its tenant.
    staff.get("/Schemas").send().await.scim(200);
    assert_eq!(last().await, app.now());
}

async fn twenty_refusals_are_kept(app: TestApp) {
    let staff = Staff::of(&app).await;
    for _ in 0..21 {
        app.pass(TimeDelta::seconds(1));
        staff.get("/Users/77c").send().await.refused(404, None);
    }
    let refusals = staff.of_administrator().await["refusals"].as_array().unwrap().clone();
    assert_eq!(refusals.len(), 20);
    assert_eq!(refusals[0]["at"], app.now());
}

async fn a_late_body_is_checked_against_the_rights_at_its_arrival(app: TestApp) {
    let staff = Staff::of(&app).await;
    let request = staff.post(&person("grace", &json!({})));
    let meanwhile = async { app.set_status(&staff.ada, &staff.account, "SUSPENDED").await };
    request.send_after(meanwhile).await.refused(401, None);
    app.set_status(&staff.ada, &staff.account, "ACTIVE").await;
    assert_eq!(staff.get("/Users").send().await.scim(200)["totalResults"], 0);
}

async fn a_host_can_leave_directories_out(app: TestApp) {
    let staff = Staff::of(&app).await;
    let app = app.with_http_settings(|settings| {
        settings.parts.remove(&ApiPart::Directories);
    });
    let staff = staff.on(&app);
    staff.get("/Users").send().await.problem("not-found");
}

async fn a_host_has_directories_below_its_own_prefix(app: TestApp) {
    let staff = Staff::of(&app).await;
    let mut settings = Settings::default();
    settings.rate_limiter = None;
    let mut host = app.with_http_settings(|_| {});
    host.router = Router::new().nest("/iam/v1", iam_axum::router(app.iam.clone(), settings));
    let request = |method: Method, path: &str| {
        host.request(method, &format!("/iam/v1/scim/v2{path}")).bearer(&staff.key).header("host", "shop.example")
    };
    let made = request(Method::POST, "/Users").body(person("grace", &json!({})).to_string()).send_packed().await;
    let user = made.scim(201);
    let location = format!("http://shop.example/iam/v1/scim/v2{}", path(&user));
    assert_eq!((&user["meta"]["location"], made.header("location")), (&json!(location), Some(location.as_str())));
    request(Method::GET, "/Users/77c").send_packed().await.refused(404, None);
    request(Method::GET, "/Other").send_packed().await.refused(404, None);
    assert_eq!(staff.of_administrator().await["refusals"][0]["request"], "GET /Users");
}

async fn addresses_begin_by_the_public_url(app: TestApp) {
    let staff = Staff::of(&app).await;
    let set = |settings: &mut Settings| settings.public_url = Some("https://iam.example.com".to_owned());
    let app = app.with_http_settings(set);
    let staff = staff.on(&app);
    let made = staff.post(&person("grace", &json!({}))).header("host", "other.example").send().await;
    let location = format!("https://iam.example.com/scim/v2{}", path(&made.scim(201)));
    assert_eq!(made.header("location"), Some(location.as_str()));
}
