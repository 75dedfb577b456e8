//! The conventions of every path (`docs/http-api.md#headers`). [`Response`](crate::request::Response) checks in every
//! test that each answer has its correlation id and security headers, and that each failure is a complete problem
//! document.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::{HeaderValue, Method};
use futures_util::future::join_all;
use iam_core::clock::testing::FixedClock;
use iam_core::clock::{Clock, Timestamp};
use serde_json::json;

use crate::app::TestApp;
use crate::people::{PASSWORD, profile};
use crate::request::{Request, Response};

in_memory![
    a_correlation_id_of_visible_ascii_is_echoed,
    any_other_correlation_id_is_replaced_by_a_uuid,
    no_answer_may_be_stored,
    the_public_keys_may_be_cached,
    an_unknown_path_is_a_404_problem,
    a_wrong_method_is_405_and_names_the_allowed_ones,
    the_unprefixed_paths_are_an_alias,
    root_paths_carry_no_prefix,
    the_base_of_problem_types_is_configurable,
    the_prefix_is_configurable,
    no_panic_reaches_a_client,
    concurrent_requests_cause_no_server_error,
    concurrent_changes_of_rights_cause_no_server_error,
    the_client_address_is_the_address_of_the_peer,
    forwarded_addresses_count_only_from_trusted_proxies,
];

async fn health_with(app: &TestApp, correlation_id: &str) -> Response {
    app.get("/health").header("x-correlation-id", correlation_id).send().await
}

async fn a_correlation_id_of_visible_ascii_is_echoed(app: TestApp) {
    for id in ["x", "!~", "018f-Ab_c.d:e/f", &"x".repeat(128)] {
        assert_eq!(health_with(&app, id).await.header("x-correlation-id"), Some(id));
    }
    for status in [401, 404] {
        let path = if status == 401 { "/users" } else { "/nowhere" };
        let answer = app.get(path).header("x-correlation-id", "mine").send().await;
        assert_eq!((answer.status(), answer.header("x-correlation-id")), (status, Some("mine")));
    }
}

async fn any_other_correlation_id_is_replaced_by_a_uuid(app: TestApp) {
    let is_uuid = |answer: &Response| answer.header("x-correlation-id").unwrap().parse::<uuid::Uuid>().is_ok();
    for id in ["", " ", "a b", "ü", "a\tb", &"x".repeat(129)] {
        assert!(is_uuid(&health_with(&app, id).await), "{id}");
    }
    let [first, second] = [app.get("/health").send().await, app.get("/health").send().await];
    assert!(is_uuid(&first) && is_uuid(&second));
    assert_ne!(first.header("x-correlation-id"), second.header("x-correlation-id"));
}

async fn no_answer_may_be_stored(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let answers = [
        app.post("/auth/register").json(&profile("bob@example.com")).send().await,
        app.attempt("ada@example.com", PASSWORD).send().await,
        app.attempt("ada@example.com", "x").send().await,
        app.post("/auth/refresh").json(&json!({ "refreshToken": ada.refresh })).send().await,
        app.get("/auth/me").by(&ada).send().await,
        app.get("/users").by(&ada).send().await,
        app.get(&format!("/users/{}", ada.user)).by(&ada).send().await,
        app.get(&format!("/users/{}/sessions", ada.user)).by(&ada).send().await,
        app.get("/audit-logs").by(&ada).send().await,
        app.get("/audit-logs/export").by(&ada).send().await,
        app.get("/audit-logs/export").by(&ada).header("accept", "text/csv").send().await,
        app.get("/audit-logs/checkpoint").by(&ada).send().await,
        app.get("/role-assignments").by(&ada).send().await,
    ];
    for answer in answers {
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{}", answer.text());
    }
}

async fn the_public_keys_may_be_cached(app: TestApp) {
    let answer = app.request(Method::GET, "/.well-known/jwks.json").send().await;
    assert_ne!(answer.header("cache-control"), Some("no-store"));
}

async fn an_unknown_path_is_a_404_problem(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for path in ["/", "/api", "/api/v1", "/api/v1/nowhere", "/api/v2/users", "/users/", "/nowhere", "//users"] {
        app.request(Method::GET, path).send().await.problem("not-found");
        app.request(Method::POST, path).by(&ada).json(&json!({})).send().await.problem("not-found");
    }
}

async fn a_wrong_method_is_405_and_names_the_allowed_ones(app: TestApp) {
    let cases = [
        (Method::PUT, "/users", &["GET", "POST"][..]),
        (Method::POST, "/users/17", &["GET", "PATCH", "DELETE"]),
        (Method::GET, "/auth/login", &["POST"]),
        (Method::DELETE, "/health", &["GET"]),
        (Method::PATCH, "/audit-logs", &["GET", "POST"]),
        (Method::DELETE, "/audit-logs/17", &["GET"]),
        (Method::PUT, "/audit-logs/export", &["GET"]),
        (Method::DELETE, "/audit-logs/retention", &["GET", "PUT"]),
    ];
    for (method, path, expected) in cases {
        for prefix in ["", "/api/v1"] {
            let answer = app.request(method.clone(), &format!("{prefix}{path}")).send().await;
            answer.problem("method-not-allowed");
            let allowed: Vec<&str> = answer.header("allow").unwrap().split(',').map(str::trim).collect();
            assert!(expected.iter().all(|method| allowed.contains(method)), "{allowed:?}");
            assert!(!allowed.contains(&method.as_str()));
        }
    }
}

async fn the_unprefixed_paths_are_an_alias(app: TestApp) {
    let body = app.request(Method::POST, "/auth/register").json(&profile("ada@example.com")).send().await.created();
    let token = body["accessToken"].as_str().unwrap();
    for path in ["/auth/me", "/users", "/audit-logs"] {
        let plain = app.request(Method::GET, path).bearer(token).send().await.ok();
        assert_eq!(app.get(path).bearer(token).send().await.ok(), plain);
    }
}

async fn root_paths_carry_no_prefix(app: TestApp) {
    for path in ["/.well-known/jwks.json", "/openapi.json"] {
        app.request(Method::GET, path).send().await.ok();
    }
    let ui = app.request(Method::GET, "/docs/").send().await;
    assert_eq!(ui.status(), 200);
    assert!(ui.text().contains("swagger"));
    assert!(matches!(app.request(Method::GET, "/docs").send().await.status(), 200 | 301..=308));
}

async fn the_base_of_problem_types_is_configurable(app: TestApp) {
    for base in ["https://errors.example.com/v1", "https://errors.example.com/v1/"] {
        let app = app.with_http_settings(|settings| settings.problem_type_base = base.to_owned());
        let problem = app.get("/users").send().await.problem("unauthorized");
        assert_eq!(problem["type"], "https://errors.example.com/v1/unauthorized");
    }
}

async fn the_prefix_is_configurable(app: TestApp) {
    for (prefix, server) in [("/iam", "/iam"), ("/iam/v7", "/iam/v7"), ("/iam/v8/", "/iam/v8"), ("/", "/"), ("", "/")] {
        let app = app.with_http_settings(|settings| settings.prefix = prefix.to_owned());
        let document = app.request(Method::GET, "/openapi.json").send().await.ok();
        assert_eq!(document["servers"][0]["url"], server);
        app.request(Method::GET, &format!("{}/health", server.trim_end_matches('/'))).send().await.ok();
        app.request(Method::GET, "/health").send().await.ok();
        // Not `send`, for which this is the path of an operation.
        app.request(Method::GET, "/api/v1/health").send_packed().await.problem("not-found");
    }
}

/// A clock that panics while its flag is set, so that all code that reads the time panics, too.
struct BrittleClock(FixedClock, Arc<AtomicBool>);

impl Clock for BrittleClock {
    fn now(&self) -> Timestamp {
        assert!(!self.1.load(Ordering::Relaxed), "a text that no client may see");
        self.0.now()
    }
}

async fn no_panic_reaches_a_client(app: TestApp) {
    let breaks = Arc::new(AtomicBool::new(false));
    let app = app.with_clock(BrittleClock(app.clock.clone(), Arc::clone(&breaks))).await;
    let ada = app.register("ada@example.com").await;
    breaks.store(true, Ordering::Relaxed);
    for request in [app.get("/health"), app.get("/users").by(&ada), app.attempt("ada@example.com", "x")] {
        let answer = request.header("x-correlation-id", "broken").send().await;
        answer.problem("internal");
        assert!(!answer.text().contains("a text that no client may see"));
        assert_eq!(answer.header("x-correlation-id"), Some("broken"));
    }
    breaks.store(false, Ordering::Relaxed);
    app.get("/users").by(&ada).send().await.ok();
}

async fn concurrent_requests_cause_no_server_error(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "MEMBER", None, None).await;
    let path = format!("/users/{}", bob.user);
    for round in 0..4 {
        let patch = |body| app.patch(&path).by(&ada).json(&body);
        let change = json!({ "currentPassword": PASSWORD, "newPassword": PASSWORD });
        let requests = [
            app.attempt("bob@example.com", PASSWORD),
            app.attempt("bob@example.com", "x"),
            app.post("/auth/refresh").json(&json!({ "refreshToken": bob.refresh })),
            app.post("/auth/password").by(&bob).json(&change),
            patch(json!({ "firstName": format!("Bob{round}"), "email": format!("bob{round}@example.com") })),
            patch(json!({ "status": "SUSPENDED" })),
            app.post(&format!("{path}/reactivate")).by(&ada),
            app.attempt("bob@example.com", PASSWORD),
            app.post("/auth/logout").by(&bob),
            patch(json!({ "email": "bob@example.com", "status": "ACTIVE" })),
            app.delete(&path).by(&ada),
            app.post("/auth/logout-all").by(&bob),
            app.delete(&format!("/sessions/{}", bob.session)).by(&ada),
            patch(json!({ "status": "ACTIVE" })),
            app.get(&path).by(&ada),
            app.get("/audit-logs").by(&ada),
        ];
        for answer in join_all(requests.map(Request::send_in_race)).await {
            assert!(answer.status() < 500, "{}", answer.text());
        }
    }
}

async fn concurrent_changes_of_rights_cause_no_server_error(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let member = app.role_id(&ada, "MEMBER").await;
    for round in 0..4 {
        let [upper, lower] = app.chain(&ada, &format!("x-{round}")).await;
        let other = app.organization(&ada, &format!("y-{round}")).await;
        let role = app.role(&ada, &format!("R{round}"), &["users:read"]).await;
        let held = app.assign(&ada, &bob.user, &format!("R{round}"), Some(lower), None).await;
        let path = |noun: &str, id: &dyn std::fmt::Display| format!("/{noun}/{id}");
        let give =
            |role: &str, organization| json!({ "userId": bob.user, "roleId": role, "organizationId": organization });
        let post = |path: &str, body| app.post(path).by(&ada).json(&body);
        let patch = |path: &str, body| app.patch(path).by(&ada).json(&body);
        let requests = [
            patch(&path("organizations", &upper), json!({ "parentId": other })),
            patch(&path("organizations", &other), json!({ "parentId": lower })),
            patch(&path("roles", &role), json!({ "permissions": ["users:*"], "scope": "ORGANIZATION" })),
            post("/role-assignments", give(&member, Some(lower))),
            post("/role-assignments", give(&role, None)),
            post("/role-assignments/bulk", json!({ "assignments": [give(&role, Some(other)), give(&member, None)] })),
            app.delete(&path("role-assignments", &held)).by(&ada),
            patch(&path("role-assignments", &held), json!({ "expiresAt": "2027-01-01T00:00:00Z" })),
            app.delete(&path("organizations", &lower)).by(&ada),
            post("/organizations", json!({ "name": "Below", "parentId": lower })),
            patch(&path("users", &bob.user), json!({ "status": "SUSPENDED" })),
            patch(&path("users", &bob.user), json!({ "status": "ACTIVE" })),
            app.delete(&path("users", &bob.user)).by(&ada),
            app.delete(&path("roles", &role)).by(&ada),
            post("/permissions", json!({ "name": format!("orders:refund-{round}") })),
            patch(&path("organizations", &lower), json!({ "status": "ACTIVE" })),
            patch(&path("users", &bob.user), json!({ "status": "ACTIVE" })),
            app.get("/role-assignments").by(&ada),
            app.get(&format!("/organizations/{upper}/tree")).by(&ada),
            app.get("/users").by(&bob),
        ];
        for answer in join_all(requests.map(Request::send_in_race)).await {
            assert!(answer.status() < 500, "{}", answer.text());
        }
        app.set_status(&ada, &bob.user, "ACTIVE").await;
    }
}

/// The client address in the session of a login that comes from `peer` with these `X-Forwarded-For` lines.
async fn recorded_address(app: &TestApp, peer: &str, forwarded: &[&str]) -> String {
    let mut request = app.attempt("ada@example.com", PASSWORD).from(peer);
    for line in forwarded {
        request = request.header("x-forwarded-for", line);
    }
    let token = request.send().await.ok()["accessToken"].as_str().unwrap().to_owned();
    let me = app.get("/auth/me").bearer(&token).send().await.ok();
    me["session"]["ipAddress"].as_str().unwrap().to_owned()
}

async fn the_client_address_is_the_address_of_the_peer(app: TestApp) {
    app.register("ada@example.com").await;
    for (peer, expected) in
        [("198.51.100.1", "198.51.100.1"), ("2001:db8::1", "2001:db8::1"), ("::ffff:192.0.2.1", "192.0.2.1")]
    {
        assert_eq!(recorded_address(&app, peer, &[]).await, expected);
        assert_eq!(recorded_address(&app, peer, &["203.0.113.9"]).await, expected);
    }
}

async fn forwarded_addresses_count_only_from_trusted_proxies(app: TestApp) {
    app.register("ada@example.com").await;
    let app = app.with_http_settings(|settings| {
        settings.trusted_proxies = vec!["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()];
    });
    let cases: [(&str, &[&str], &str); 9] = [
        ("192.0.2.1", &["203.0.113.9"], "192.0.2.1"),
        ("10.0.0.1", &[], "10.0.0.1"),
        ("10.0.0.1", &["203.0.113.9"], "203.0.113.9"),
        ("2001:db8::1", &["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", &["1.1.1.1, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        ("10.0.0.1", &["1.1.1.1", "203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", &["203.0.113.9, nonsense"], "10.0.0.1"),
        ("10.0.0.1", &["203.0.113.9,"], "203.0.113.9"),
        ("10.0.0.1", &[", 203.0.113.9 ,,", ""], "203.0.113.9"),
    ];
    for (peer, forwarded, expected) in cases {
        assert_eq!(recorded_address(&app, peer, forwarded).await, expected, "{peer} {forwarded:?}");
    }
}

#[tokio::test]
async fn a_correlation_id_that_is_not_utf_8_is_replaced() {
    let app = crate::store::memory().await;
    let mut request = app.get("/health");
    request.headers_mut().insert("x-correlation-id", HeaderValue::from_bytes(&[0xff, 0xfe]).unwrap());
    let answer = request.send().await;
    assert!(answer.header("x-correlation-id").unwrap().parse::<uuid::Uuid>().is_ok());
}
