//! The layers around a request: time limits, compression, and web pages of other origins (CORS).

use std::io::Read as _;
use std::time::Duration;

use axum::http::{HeaderValue, Method};
use iam_core::credential::HashingCost;
use serde_json::json;

use crate::app::TestApp;
use crate::people::PASSWORD;
use crate::request::Response;

in_memory![
    large_answers_are_compressed_on_demand,
    public_files_have_a_tag_for_each_encoding,
    answers_with_tokens_are_never_compressed,
    a_request_that_takes_too_long_is_503,
    by_default_no_web_page_of_another_origin_may_use_the_api,
    web_pages_of_configured_origins_may_use_the_api,
];

fn unpacked(packed: &Response) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.bytes()).read_to_string(&mut text).unwrap();
    text
}

async fn large_answers_are_compressed_on_demand(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let list = app.get("/permissions").query("limit", "100").by(&ada).send().await;
    assert_eq!(list.header("content-encoding"), None);
    let packed =
        app.get("/permissions").query("limit", "100").by(&ada).header("accept-encoding", "gzip").send_packed().await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let text = unpacked(&packed);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), list.ok());
    assert!(packed.bytes().len() < text.len() / 2);
    let small = app.get("/health").header("accept-encoding", "gzip").send().await;
    assert_eq!(small.header("content-encoding"), None);
}

/// They need no token and have no rate limit, so they are made and compressed once.
async fn public_files_have_a_tag_for_each_encoding(app: TestApp) {
    for path in [
        "/openapi.json",
        "/docs/",
        "/docs/swagger-ui-bundle.js",
        "/docs/swagger-initializer.js",
        "/docs/book/http-api",
        "/docs/book/style.css",
    ] {
        let get = || app.request(Method::GET, path);
        let (plain, packed) = (get().send().await, get().header("accept-encoding", "gzip").send_packed().await);
        assert_eq!((plain.status(), plain.header("content-encoding")), (200, None), "{path}");
        assert_eq!((packed.status(), packed.header("content-encoding")), (200, Some("gzip")), "{path}");
        assert_eq!(unpacked(&packed), plain.text(), "{path}");
        assert_ne!(plain.header("etag").unwrap(), packed.header("etag").unwrap(), "{path}");
        for answer in [&plain, &packed] {
            assert_eq!(
                (answer.header("vary"), answer.header("cache-control")),
                (Some("accept-encoding"), Some("no-cache"))
            );
        }
        let kept = get().header("accept-encoding", "gzip").header("if-none-match", packed.header("etag").unwrap());
        assert_eq!(kept.send().await.status(), 304, "{path}");
    }
    app.request(Method::GET, "/docs/unknown.js").send().await.problem("not-found");
}

async fn answers_with_tokens_are_never_compressed(app: TestApp) {
    let long = json!({ "email": "ada@example.com", "password": PASSWORD, "firstName": "A".repeat(100), "lastName": "L".repeat(100), "tenantName": "T".repeat(120) });
    let registered = app.post("/auth/register").header("accept-encoding", "gzip").json(&long).send().await;
    registered.created();
    assert!(registered.text().len() > 1024);
    assert_eq!(registered.header("content-encoding"), None);
    let login = json!({ "email": "ada@example.com", "password": PASSWORD });
    let logged_in = app.post("/auth/login").header("accept-encoding", "gzip").json(&login).send().await;
    let refresh = json!({ "refreshToken": logged_in.ok()["refreshToken"] });
    let refreshed = app.post("/auth/refresh").header("accept-encoding", "gzip").json(&refresh).send().await;
    refreshed.ok();
    assert_eq!((logged_in.header("content-encoding"), refreshed.header("content-encoding")), (None, None));
}

async fn a_request_that_takes_too_long_is_503(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    // The login hashes the password again at this cost, which takes far longer than the timeout. The body arrives
    // within half of the timeout, also while other tests take the processors.
    let cost = HashingCost { passes: 100, ..HashingCost::default() };
    let costly = app.with_settings(|settings| settings.hashing_cost = cost).await;
    let hasty = costly.with_http_settings(|settings| settings.request_timeout = Duration::from_millis(200));
    let login = json!({ "email": ada.email, "password": PASSWORD });
    hasty.post("/auth/login").json(&login).send().await.problem("unavailable");
    app.post("/auth/login").json(&login).send().await.ok();
}

async fn by_default_no_web_page_of_another_origin_may_use_the_api(app: TestApp) {
    for method in [Method::GET, Method::OPTIONS] {
        let answer = app
            .request(method, "/api/v1/users")
            .header("origin", "https://app.example.com")
            .header("access-control-request-method", "GET")
            .send_packed()
            .await;
        let allowed = answer.headers.keys().find(|name| name.as_str().starts_with("access-control-allow-o"));
        assert_eq!(allowed, None);
    }
}

async fn web_pages_of_configured_origins_may_use_the_api(app: TestApp) {
    let app = app.with_http_settings(|settings| {
        settings.cors_origins = vec![HeaderValue::from_static("https://app.example.com")];
    });
    let ask = async |method: Method, origin: &str| {
        let request = app.request(method, "/api/v1/users").header("origin", origin);
        request.header("access-control-request-method", "POST").send_packed().await
    };
    for method in [Method::OPTIONS, Method::GET] {
        let allowed = ask(method.clone(), "https://app.example.com").await;
        assert_eq!(allowed.header("access-control-allow-origin"), Some("https://app.example.com"), "{method}");
        assert_eq!(allowed.header("access-control-allow-credentials"), None);
        let refused = ask(method.clone(), "https://app.example.com.evil.example").await;
        assert_eq!(refused.header("access-control-allow-origin"), None, "{method}");
    }
    let preflight = ask(Method::OPTIONS, "https://app.example.com").await;
    assert_eq!(preflight.status(), 200);
    assert!(preflight.header("access-control-allow-methods").unwrap().contains("PATCH"));
    for header in ["authorization", "traceparent"] {
        assert!(preflight.header("access-control-allow-headers").unwrap().contains(header), "{header}");
    }
    // An error has these headers, too, because the page must be able to read it.
    let error = ask(Method::GET, "https://app.example.com").await;
    assert_eq!(error.status(), 401);
    for header in ["www-authenticate", "x-correlation-id"] {
        assert!(error.header("access-control-expose-headers").unwrap().contains(header), "{header}");
    }
}
