//! The middleware of a service on axum.
#![cfg(test)]

use axum::Router;
use axum::routing::{get, post};
use iam_client::Client;
use iam_client::axum::{Authenticated, Guard};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fake::{Fake, Received, Reply};
use crate::tokens::{FIRST, SECOND, expected, verifier};

const BRANCH: Uuid = Uuid::from_u128(7);

/// A service behind the fake, at this address.
async fn serve(guard: Guard) -> String {
    let report = guard.require_permission("orders:report");
    let refund = guard.require_permission("orders:refund").in_organization("branch");
    let defect = guard.require_permission("orders:refund").in_organization("absent");
    let whoami = async |Authenticated(caller): Authenticated| caller.user.to_string();
    let router = Router::new()
        .route("/report", get(async || "reported").route_layer(report))
        .route("/branches/{branch}/refunds", post(whoami).route_layer(refund))
        .route("/defect", get(async || "").route_layer(defect))
        .route("/whoami", get(whoami).post(whoami))
        .with_state(guard);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// What the service answers to a check.
type Check = fn(&Value) -> Reply;

/// The fake answers checks by this function.
async fn service(check: Check) -> (Fake, String) {
    let fake = Fake::start(move |received: Received, _| async move {
        match received.path.as_str() {
            "/.well-known/jwks.json" => Reply::json(200, &json!({ "keys": [FIRST.jwk("k1")] })),
            "/api/v1/authz/check" => check(&serde_json::from_str(&received.body).unwrap()),
            path => unreachable!("{path}"),
        }
    })
    .await;
    let client =
        Client::builder(format!("{}/api/v1", fake.url)).api_key("of-the-service").retries(1, Default::default());
    let url = serve(Guard::new(&client.build().unwrap(), verifier(&fake))).await;
    (fake, url)
}

fn decides(allowed: bool) -> Reply {
    Reply::json(200, &json!({ "allowed": allowed, "reason": "Why.", "grants": [] }))
}

async fn ask(method: Method, url: &str, token: &str) -> (StatusCode, String, String) {
    let response = reqwest::Client::new().request(method, url).bearer_auth(token).send().await.unwrap();
    let header =
        |name| response.headers().get(name).map_or("", |value: &reqwest::header::HeaderValue| value.to_str().unwrap());
    let headers = format!("{};{}", header("content-type"), header("www-authenticate"));
    (response.status(), headers, response.text().await.unwrap())
}

#[tokio::test]
async fn the_service_decides_by_the_token_of_the_user() {
    let (fake, url) = service(|question| decides(question["permission"] == "orders:refund")).await;
    let token = FIRST.token("k1", |_, _| {});
    let (status, _, body) = ask(Method::POST, &format!("{url}/branches/{BRANCH}/refunds"), &token).await;
    assert_eq!((status.as_u16(), body.as_str()), (200, crate::tokens::USER.to_string().as_str()));
    let asked = fake.seen("POST", "/api/v1/authz/check");
    assert_eq!(asked[0].body, json!({ "organizationId": BRANCH, "permission": "orders:refund" }).to_string());
    assert_eq!(asked[0].token(), Some(token.as_str()), "not the key of the service");

    let (status, headers, body) = ask(Method::GET, &format!("{url}/report"), &token).await;
    assert_eq!((status.as_u16(), headers.as_str()), (403, "application/problem+json;"));
    let problem: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(problem["type"], "https://iam.invalid/problems/forbidden");
    assert_eq!(problem["detail"], "Missing permission: orders:report.");
}

#[tokio::test]
async fn a_token_that_is_not_valid_here_never_reaches_the_service() {
    let (fake, url) = service(|_| decides(true)).await;
    for (name, token) in [
        ("another tenant", FIRST.token("k1", |_, claims| claims["tenantId"] = json!(Uuid::from_u128(9)))),
        (
            "no audience",
            FIRST.token("k1", |_, claims| {
                claims.as_object_mut().unwrap().remove("aud");
            }),
        ),
        ("expired", FIRST.token("k1", |_, claims| claims["exp"] = json!(1))),
        ("another key", SECOND.token("k1", |_, _| {})),
        ("an API key", "iamk_x".to_owned()),
    ] {
        for path in ["/report", "/whoami"] {
            let (status, headers, body) = ask(Method::GET, &format!("{url}{path}"), &token).await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{name}");
            assert_eq!(headers, r#"application/problem+json;Bearer error="invalid_token""#, "{name}");
            assert!(!body.contains(&token), "{name}");
        }
    }
    assert!(fake.seen("POST", "/api/v1/authz/check").is_empty());

    let http = reqwest::Client::new();
    let valid = FIRST.token("k1", |_, _| {});
    // None, another scheme, and two of which a proxy may have checked the other.
    let none = http.get(format!("{url}/whoami"));
    let basic = http.get(format!("{url}/whoami")).basic_auth("ada", Some("x"));
    let two = http.get(format!("{url}/whoami")).bearer_auth(&valid).bearer_auth("other");
    for request in [none, basic, two] {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 401);
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
    }
}

#[tokio::test]
async fn a_token_that_may_change_nothing_changes_nothing() {
    let (_fake, url) = service(|_| decides(true)).await;
    let token = FIRST.token("k1", |_, claims| {
        claims["act"] = json!({ "sub": Uuid::from_u128(5) });
        claims["readOnly"] = json!(true);
    });
    assert_eq!(ask(Method::GET, &format!("{url}/whoami"), &token).await.0, 200);
    assert_eq!(ask(Method::POST, &format!("{url}/whoami"), &token).await.0, 403);
    assert_eq!(ask(Method::POST, &format!("{url}/branches/{BRANCH}/refunds"), &token).await.0, 403);
}

#[tokio::test]
async fn a_refusal_of_the_service_is_told_and_a_failure_lets_nothing_pass() {
    let token = FIRST.token("k1", |_, _| {});
    let cases: [(Check, u16); 9] = [
        (|_| Reply::token_refused(), 401),
        (|_| Reply::problem(403, "second-factor-required", ""), 403),
        (|_| Reply::problem(404, "not-found", ""), 404),
        (|_| Reply::problem(429, "rate-limited", "retry-after: 3\r\n"), 429),
        (|_| Reply::problem(400, "validation-error", ""), 500),
        (|_| Reply::problem(500, "internal", ""), 503),
        (|_| Reply::nothing(), 503),
        (|_| Reply::new(200, "content-type: text/html\r\n", "<html>"), 503),
        (|_| Reply::json(200, &json!({ "allowed": "yes" })), 503),
    ];
    for (check, expected) in cases {
        let (_fake, url) = service(check).await;
        let (status, headers, body) = ask(Method::GET, &format!("{url}/report"), &token).await;
        assert_eq!(status, expected, "{body}");
        assert!(headers.starts_with("application/problem+json"), "{headers}");
    }
}

#[tokio::test]
async fn a_route_without_its_organization_is_a_defect() {
    let (fake, url) = service(|_| decides(true)).await;
    let token = FIRST.token("k1", |_, _| {});
    assert_eq!(ask(Method::GET, &format!("{url}/defect"), &token).await.0, 500);
    let (status, _, body) = ask(Method::POST, &format!("{url}/branches/here/refunds"), &token).await;
    assert_eq!(status, 400);
    assert!(body.contains(r#""field":"branch""#), "{body}");
    assert!(fake.seen("POST", "/api/v1/authz/check").is_empty());
}

#[tokio::test]
async fn the_result_of_one_guard_is_none_of_another() {
    let fake = Fake::start(async |_, _| Reply::json(200, &json!({ "keys": [FIRST.jwk("k1")] }))).await;
    let client = Client::builder(&fake.url).build().unwrap();
    let guard = |tenants| {
        let expected = iam_client::Expected { tenants, ..expected() };
        Guard::new(&client, iam_client::TokenVerifier::new(&client, expected))
            .problem_type_base("https://shop.example/")
    };
    let (lax, strict) = (guard(iam_client::Tenants::Every), guard(iam_client::Tenants::Listed(vec![])));
    let token = FIRST.token("k1", |_, _| {});
    let request = axum::http::Request::builder().header("authorization", format!("Bearer {token}")).body(()).unwrap();
    let (mut parts, ()) = request.into_parts();
    lax.authenticate(&mut parts).await.unwrap();
    lax.authenticate(&mut parts).await.unwrap();
    let refused = strict.authenticate(&mut parts).await.unwrap_err();
    assert_eq!(refused.type_uri, "https://shop.example/unauthorized");
}
