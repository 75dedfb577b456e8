//! `/health`, `/health/live` and `/health/ready` (`docs/operating.md#health`).

use axum::http::Method;
use serde_json::json;

use crate::app::TestApp;
use crate::request::members;

in_memory![
    health_shows_status_service_version_time_and_environment,
    health_shows_the_settings,
    live_is_ok,
    ready_shows_the_result_of_each_check,
    health_is_reachable_with_and_without_prefix_and_token,
];

// The memory store never fails.
mod without_a_database {
    on_stores!(sqlite: ready_is_503_with_the_same_checks, live_and_health_still_answer, requests_are_503);
    on_stores!(postgres: ready_is_503_with_the_same_checks, live_and_health_still_answer, requests_are_503);

    use super::{live_and_health_still_answer, ready_is_503_with_the_same_checks, requests_are_503};
}

async fn health_shows_status_service_version_time_and_environment(app: TestApp) {
    let body = app.get("/health").send().await.ok();
    assert_eq!(members(&body), ["environment", "service", "status", "timestamp", "version"]);
    assert_eq!((&body["status"], &body["timestamp"]), (&json!("ok"), &json!(app.now())));
    assert_eq!(body["version"], env!("CARGO_PKG_VERSION"));
}

async fn health_shows_the_settings(app: TestApp) {
    let app = app.with_http_settings(|settings| {
        settings.service = "accounts".to_owned();
        settings.version = "7.1.0".to_owned();
        settings.environment = "staging".to_owned();
    });
    let body = app.get("/health").send().await.ok();
    assert_eq!((&body["service"], &body["version"]), (&json!("accounts"), &json!("7.1.0")));
    assert_eq!(body["environment"], "staging");
}

async fn live_is_ok(app: TestApp) {
    assert_eq!(app.get("/health/live").send().await.ok(), json!({ "status": "ok" }));
}

async fn ready_shows_the_result_of_each_check(app: TestApp) {
    let body = app.get("/health/ready").send().await.ok();
    let latency = &body["checks"]["database"]["latencyMs"];
    assert!(latency.as_f64().is_some_and(|latency| latency >= 0.0));
    let checks = json!({ "database": { "status": "ok", "latencyMs": latency }, "migrations": { "status": "ok" } });
    assert_eq!(body, json!({ "status": "ok", "checks": checks }));
}

async fn health_is_reachable_with_and_without_prefix_and_token(app: TestApp) {
    for path in ["/health", "/health/live", "/health/ready"] {
        for prefix in ["", "/api/v1"] {
            let path = format!("{prefix}{path}");
            assert_eq!(app.request(Method::GET, &path).bearer("no token").send().await.ok()["status"], "ok");
        }
    }
}

async fn ready_is_503_with_the_same_checks(app: TestApp) {
    app.iam.close().await;
    let problem = app.get("/health/ready").send().await.problem("unavailable");
    assert_eq!(members(&problem["checks"]), ["database", "migrations"]);
    for check in ["database", "migrations"] {
        assert_ne!(problem["checks"][check]["status"], "ok");
    }
    assert!(problem["checks"]["database"]["latencyMs"].is_number());
}

async fn live_and_health_still_answer(app: TestApp) {
    app.iam.close().await;
    app.get("/health/live").send().await.ok();
    app.get("/health").send().await.ok();
}

async fn requests_are_503(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.iam.close().await;
    for request in [
        app.get("/auth/me").by(&ada),
        app.attempt("ada@example.com", crate::people::PASSWORD),
        app.post("/auth/refresh").json(&json!({ "refreshToken": ada.refresh })),
        app.post("/auth/register").json(&crate::people::profile("bob@example.com")),
    ] {
        request.send().await.problem("unavailable");
    }
}
