//! `/metrics` (`docs/operating.md#metrics`).

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::Method;
use iam_axum::Metrics;
use iam_core::observe::Observer;
use serde_json::json;

use crate::app::TestApp;
use crate::people::{PASSWORD, WRONG_PASSWORD};

in_memory![
    requests_are_counted_by_method_route_template_and_status_class,
    requests_without_a_route_are_counted_as_route_none,
    requests_of_directories_are_counted_without_identifiers,
    sessions_are_counted_in_the_store,
    failed_logins_are_counted_by_reason,
    store_calls_are_measured_by_operation,
    the_wait_for_password_hashing_is_measured,
    metrics_identify_no_user_tenant_or_address,
    concurrent_scrapes_share_a_text,
    a_client_of_the_internet_finds_no_metrics_beside_the_api,
    without_metrics_the_path_is_not_found,
    metrics_can_be_served_by_another_router,
];

/// The same service with metrics, and these metrics.
async fn measured(app: &TestApp) -> (TestApp, Metrics) {
    let metrics = Metrics::new().unwrap();
    let shown = metrics.clone();
    (app.observed(Arc::new(metrics.clone()), |settings| settings.metrics = Some(shown)).await, metrics)
}

async fn scrape(app: &TestApp) -> String {
    let answer = app.request(Method::GET, "/metrics").send().await;
    answer.ok_of("text/plain; version=0.0.4")
}

/// The value of a series, or 0 if the text does not contain the series.
fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().unwrap())
}

async fn requests_are_counted_by_method_route_template_and_status_class(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (app, _) = measured(&app).await;
    for path in ["/users", &format!("/users/{}", ada.user), &format!("/users/{}", ada.tenant)] {
        app.get(path).by(&ada).send().await;
        app.request(Method::GET, path).by(&ada).send().await;
    }
    app.post("/users").by(&ada).json(&json!({})).send().await.problem("validation-error");
    let text = scrape(&app).await;
    for (labels, count) in [
        (r#"method="GET",route="/users",status="2xx""#, 2.0),
        (r#"method="GET",route="/users/{id}",status="2xx""#, 2.0),
        (r#"method="GET",route="/users/{id}",status="4xx""#, 2.0),
        (r#"method="POST",route="/users",status="4xx""#, 1.0),
    ] {
        assert_eq!(value(&text, &format!("http_requests_total{{{labels}}}")), count, "{labels}\n{text}");
        assert_eq!(value(&text, &format!("http_request_duration_ms_count{{{labels}}}")), count, "{labels}");
        let all = format!("http_request_duration_ms_bucket{{{labels},le=\"+Inf\"}}");
        assert_eq!(value(&text, &all), count, "{labels}");
    }
}

async fn requests_without_a_route_are_counted_as_route_none(app: TestApp) {
    let (app, _) = measured(&app).await;
    for path in ["/nothing", "/nothing/else", "/../etc/passwd"] {
        app.request(Method::GET, path).send().await.problem("not-found");
    }
    app.request(Method::from_bytes(b"BREW").unwrap(), "/nothing").send().await.problem("not-found");
    let text = scrape(&app).await;
    assert_eq!(value(&text, r#"http_requests_total{method="GET",route="none",status="4xx"}"#), 3.0, "{text}");
    assert_eq!(value(&text, r#"http_requests_total{method="OTHER",route="none",status="4xx"}"#), 1.0, "{text}");
    assert!(!text.contains("nothing") && !text.contains("BREW"), "{text}");
}

async fn requests_of_directories_are_counted_without_identifiers(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (app, _) = measured(&app).await;
    for path in ["/Users/77c", &format!("/Users/{}", ada.user), "/Schemas/77c", "/Groups/77c", "/Other/77c"] {
        app.request(Method::GET, &format!("/scim/v2{path}")).by(&ada).send().await;
    }
    let text = scrape(&app).await;
    for (labels, count) in [
        (r#"method="GET",route="/scim/v2/Users/{id}",status="4xx""#, 2.0),
        (r#"method="GET",route="/scim/v2/Schemas/{id}",status="4xx""#, 1.0),
        (r#"method="GET",route="/scim/v2/Groups/{id}",status="4xx""#, 1.0),
        (r#"method="GET",route="none",status="4xx""#, 1.0),
    ] {
        assert_eq!(value(&text, &format!("http_requests_total{{{labels}}}")), count, "{labels}\n{text}");
    }
    assert!(!text.contains("77c"), "{text}");
}

async fn sessions_are_counted_in_the_store(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.login(&ada).await;
    app.register("eve@example.com").await;
    // Two replicas report the same number.
    for _ in 0..2 {
        let (measured, _) = measured(&app).await;
        assert_eq!(value(&scrape(&measured).await, "active_sessions"), 3.0);
    }
    app.post("/auth/logout").by(&ada).send().await.no_content();
    let (measured, _) = measured(&app).await;
    assert_eq!(value(&scrape(&measured).await, "active_sessions"), 2.0);
}

async fn failed_logins_are_counted_by_reason(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (app, _) = measured(&app).await;
    let failed = |text: &str, reason: &str| value(text, &format!("failed_login_attempts{{reason=\"{reason}\"}}"));
    let before = scrape(&app).await;
    assert!(before.contains(r#"failed_login_attempts{reason="INVALID_PASSWORD"} 0"#), "{before}");
    app.attempt(&ada.email, PASSWORD).send().await.ok();
    app.attempt(&ada.email, WRONG_PASSWORD).send().await.problem("unauthorized");
    app.attempt("unknown@example.com", PASSWORD).send().await.problem("unauthorized");
    let text = scrape(&app).await;
    assert_eq!((failed(&text, "INVALID_PASSWORD"), failed(&text, "UNKNOWN_USER")), (1.0, 1.0), "{text}");
}

async fn store_calls_are_measured_by_operation(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (app, _) = measured(&app).await;
    app.get(&format!("/users/{}", ada.user)).by(&ada).send().await.ok();
    app.post("/organizations").by(&ada).json(&json!({ "name": "Branch" })).send().await.created();
    let text = scrape(&app).await;
    for (operation, count) in
        [("session_snapshot", 2.0), ("user_with_attributes", 1.0), ("lock_tenant", 1.0), ("commit", 1.0)]
    {
        let series = format!("database_query_duration_ms_count{{operation=\"{operation}\"}}");
        assert_eq!(value(&text, &series), count, "{operation}\n{text}");
    }
}

async fn the_wait_for_password_hashing_is_measured(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (app, metrics) = measured(&app).await;
    for password in [PASSWORD, WRONG_PASSWORD] {
        app.attempt(&ada.email, password).send().await;
    }
    Observer::password_refused(&metrics);
    let text = scrape(&app).await;
    for (series, count) in
        [("password_wait_ms_count", 2.0), ("passwords_refused_total", 1.0), ("passwords_waiting", 0.0)]
    {
        assert!(text.contains(&format!("{series} ")), "{series}");
        assert_eq!(value(&text, series), count, "{series}\n{text}");
    }
}

async fn metrics_identify_no_user_tenant_or_address(app: TestApp) {
    let (app, _) = measured(&app).await;
    let ada = app.register("ada@example.com").await;
    app.get(&format!("/users/{}", ada.user)).by(&ada).send().await.ok();
    let text = scrape(&app).await;
    for secret in [&ada.user, &ada.tenant, &ada.session, &ada.email, "192.0.2.7"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

/// The path needs no token and has no rate limit. Each scrape counts, so two texts that were written apart differ.
async fn a_client_of_the_internet_finds_no_metrics_beside_the_api(app: TestApp) {
    let (app, _metrics) = measured(&app).await;
    let from = async |address: &str| app.request(Method::GET, "/metrics").from(address).send().await;
    for address in ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"] {
        from(address).await.problem("not-found");
    }
    for address in ["127.0.0.1", "::1", "10.1.2.3", "192.168.1.1", "fd00::1"] {
        assert_eq!(from(address).await.status(), 200, "{address}");
    }
}

async fn concurrent_scrapes_share_a_text(app: TestApp) {
    let (app, _) = measured(&app).await;
    app.get("/health").send().await.ok();
    let texts = futures_util::future::join_all((0..50).map(|_| scrape(&app))).await;
    assert!(texts.iter().all(|text| text.contains("route=\"/health\"")));
    assert!(texts.into_iter().collect::<BTreeSet<_>>().len() <= 2);
}

async fn without_metrics_the_path_is_not_found(app: TestApp) {
    app.request(Method::GET, "/metrics").send().await.problem("not-found");
    app.get("/metrics").send().await.problem("not-found");
}

async fn metrics_can_be_served_by_another_router(app: TestApp) {
    let metrics = Metrics::new().unwrap();
    let app = app.with_http_settings(|settings| {
        settings.metrics = Some(metrics.clone());
        settings.shows_metrics = false;
    });
    app.request(Method::GET, "/metrics").send().await.problem("not-found");
    let elsewhere = metrics.router(app.iam.clone());
    let request = axum::extract::Request::get("/metrics").body(axum::body::Body::empty()).unwrap();
    let answer = tower::ServiceExt::oneshot(elsewhere, request).await.unwrap();
    assert_eq!(answer.status(), 200);
    let text = axum::body::to_bytes(answer.into_body(), 1 << 20).await.unwrap();
    let text = String::from_utf8(text.to_vec()).unwrap();
    assert_eq!(value(&text, r#"http_requests_total{method="GET",route="none",status="4xx"}"#), 1.0, "{text}");
}
