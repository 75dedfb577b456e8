//! The headers by which a host program announces the removal of routes (RFC 9745, RFC 8594).

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use chrono::{TimeZone as _, Utc};
use iam_axum::{Deprecation, Settings, router, with_conventions};
use iam_core::Iam;
use iam_core::clock::Timestamp;
use iam_store_memory::MemoryStore;
use tower::ServiceExt as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

fn day(year: i32) -> Timestamp {
    Utc.with_ymd_and_hms(year, 1, 2, 3, 4, 5).unwrap()
}

fn deprecation() -> Deprecation {
    Deprecation::since(day(2026), "https://example.com/v2".parse().unwrap())
}

/// The API at `/v1`, which is deprecated, and at `/v2`.
async fn host(deprecation: Deprecation) -> Router {
    let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
    let api = router(iam, Settings::default());
    let old = Router::new().nest("/v1", api.clone()).layer(deprecation.layer());
    with_conventions(old.nest("/v2", api), Settings::default())
}

async fn get(host: &Router, path: &str) -> Response {
    host.clone().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap()
}

fn deprecation_headers(answer: &Response) -> [Option<&str>; 3] {
    ["deprecation", "sunset", "link"].map(|name| answer.headers().get(name).map(|value| value.to_str().unwrap()))
}

#[tokio::test]
async fn only_the_deprecated_version_says_so_in_every_answer() {
    let host = host(deprecation().until(day(2027))).await;
    let expected = [
        Some("@1767323045"),
        Some("Sat, 02 Jan 2027 03:04:05 GMT"),
        Some("<https://example.com/v2>; rel=\"deprecation sunset\""),
    ];
    for (path, status) in [("/health", 200), ("/users", 401), ("/users/1/2", 404)] {
        let [old, new] = [get(&host, &format!("/v1{path}")).await, get(&host, &format!("/v2{path}")).await];
        assert_eq!((old.status(), deprecation_headers(&old)), (status.try_into().unwrap(), expected), "{path}");
        assert_eq!((new.status(), deprecation_headers(&new)), (status.try_into().unwrap(), [None; 3]), "{path}");
    }
}

#[tokio::test]
async fn without_an_end_date_there_is_no_sunset_header() {
    let answer = get(&host(deprecation()).await, "/v1/health").await;
    let expected = [Some("@1767323045"), None, Some("<https://example.com/v2>; rel=\"deprecation\"")];
    assert_eq!(deprecation_headers(&answer), expected);
}

#[tokio::test]
async fn deprecated_routes_are_also_deprecated_in_the_document() {
    /// List orders
    #[utoipa::path(get, path = "/orders", responses((status = 200, description = "The orders")))]
    async fn orders() {}
    /// Check health
    #[utoipa::path(get, path = "/health", responses((status = 200, description = "Healthy")))]
    async fn health() {}
    let routes = OpenApiRouter::new().routes(deprecation().routes(routes!(orders))).routes(routes!(health));
    let (router, document) = routes.split_for_parts();
    let document = serde_json::to_value(document).unwrap();
    for (path, is_deprecated) in [("/orders", true), ("/health", false)] {
        assert_eq!(document["paths"][path]["get"]["deprecated"] == true, is_deprecated, "{path}");
        assert_eq!(deprecation_headers(&get(&router, path).await)[0].is_some(), is_deprecated, "{path}");
    }
}

#[test]
fn a_sunset_is_never_before_the_deprecation() {
    assert_eq!(deprecation().until(day(2025)), deprecation().until(day(2026)));
    assert_ne!(deprecation().until(day(2027)), deprecation().until(day(2026)));
}
