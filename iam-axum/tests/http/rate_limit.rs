//! Rate limits (`docs/http-api.md#rate-limits`).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::Method;
use chrono::TimeDelta;
use iam_axum::Settings;
use iam_axum::rate_limit::MemoryRateLimiter;
use iam_core::StoreError;
use iam_core::credential::LoginFailure;
use iam_core::observe::Observer;
use serde_json::{Value, json};

use crate::api_key::text;
use crate::app::TestApp;
use crate::limiter::limits;
use crate::people::{PASSWORD, Person};
use crate::request::Response;

in_memory![
    every_answer_says_how_many_requests_remain,
    a_request_over_the_limit_is_429_until_the_limit_has_room,
    the_public_operations_of_authentication_share_a_limit,
    a_user_has_one_limit_for_all_sessions_and_addresses,
    requests_without_a_valid_token_are_counted_by_address,
    the_token_of_an_ended_session_does_not_use_up_the_users_limit,
    a_rate_limited_request_does_not_call_the_store,
    a_key_has_a_limit_of_its_own,
    a_user_who_acts_as_another_one_uses_up_its_own_limit,
    an_unknown_key_counts_for_the_address_before_it_is_looked_for,
    an_ipv6_network_of_64_bits_is_one_client,
    only_trusted_proxies_set_the_client_address_of_a_request,
    health_and_documents_are_not_limited,
    without_a_rate_limiter_the_headers_are_absent,
];

const ADDRESS: &str = "198.51.100.1";

/// The same service with rate limits, which use the same clock.
fn limited(app: &TestApp, user: u32, authentication: u32, anonymous: u32) -> TestApp {
    app.with_http_settings(limiting(app, user, authentication, anonymous))
}

fn limiting(app: &TestApp, user: u32, authentication: u32, anonymous: u32) -> impl FnOnce(&mut Settings) {
    let limiter = MemoryRateLimiter::with_clock(limits(user, authentication, anonymous), app.clock.clone());
    |settings| {
        settings.rate_limiter = Some(Arc::new(limiter));
        settings.trusted_proxies = vec!["203.0.113.0/24".parse().unwrap()];
    }
}

/// The values of the headers: the limit, the remaining requests, and the seconds from now until all requests of the
/// limit are available again.
fn says(answer: &Response) -> Option<(u64, u64, u64)> {
    let number = |name| answer.header(name).map(|text| text.parse::<u64>().unwrap());
    let limit = number("x-ratelimit-limit")?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    // The system's clock may have moved since the answer.
    let reset = number("x-ratelimit-reset").unwrap().saturating_sub(now);
    Some((limit, number("x-ratelimit-remaining").unwrap(), reset))
}

fn remaining(answer: &Response) -> u64 {
    says(answer).unwrap().1
}

async fn me(app: &TestApp, person: &Person) -> Response {
    app.get("/auth/me").by(person).send().await
}

async fn every_answer_says_how_many_requests_remain(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = limited(&app, 10, 20, 30);
    for (answer, limit) in [
        (me(&app, &ada).await, 10),
        (app.get("/users/7").by(&ada).send().await, 10),
        (app.post("/users").by(&ada).json(&json!({})).send().await, 10),
        (app.put("/users").by(&ada).send().await, 10),
        (app.get("/nothing").by(&ada).send().await, 10),
        (app.attempt(&ada.email, PASSWORD).from(ADDRESS).send().await, 20),
        (app.attempt(&ada.email, "wrong").from(ADDRESS).send().await, 20),
        (app.get("/users").from(ADDRESS).send().await, 30),
        (app.get("/nothing").from(ADDRESS).send().await, 30),
        (app.request(Method::GET, "/.well-known/jwks.json").from(ADDRESS).send().await, 30),
    ] {
        let (found, remaining, reset) = says(&answer).unwrap_or_else(|| panic!("{}", answer.text()));
        assert_eq!(found, limit, "{}", answer.text());
        assert!(remaining < limit && (1..=61).contains(&reset), "{remaining} {reset}");
    }
}

async fn a_request_over_the_limit_is_429_until_the_limit_has_room(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = limited(&app, 6, 1, 1);
    for left in (0..6).rev() {
        assert_eq!(remaining(&me(&app, &ada).await), left);
    }
    app.pass(TimeDelta::milliseconds(7_500));
    let refused = app.post("/users").by(&ada).json(&json!({ "email": 7 })).send().await;
    let problem = refused.problem("rate-limited");
    assert_eq!((refused.header("retry-after"), &problem["retryAfter"]), (Some("3"), &json!(3)));
    assert!(refused.detail("rate-limited").contains("3 seconds"), "{problem}");
    assert_eq!(remaining(&refused), 0);
    app.pass(TimeDelta::milliseconds(2_499));
    me(&app, &ada).await.problem("rate-limited");
    app.pass(TimeDelta::milliseconds(1));
    me(&app, &ada).await.ok();
    me(&app, &ada).await.problem("rate-limited");
    app.pass(TimeDelta::minutes(1));
    assert_eq!(remaining(&me(&app, &ada).await), 5);
}

async fn the_public_operations_of_authentication_share_a_limit(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = limited(&app, 100, 3, 100);
    app.attempt(&ada.email, PASSWORD).from(ADDRESS).send().await.ok();
    app.post("/auth/refresh").from(ADDRESS).json(&json!({ "refreshToken": ada.refresh })).send().await.ok();
    app.post("/auth/register").from(ADDRESS).json(&json!({})).send().await.problem("validation-error");
    for path in ["/auth/login", "/auth/refresh", "/auth/register"] {
        app.post(path).from(ADDRESS).json(&json!({})).send().await.problem("rate-limited");
        app.request(Method::POST, path).from(ADDRESS).json(&json!({})).send().await.problem("rate-limited");
    }
    app.attempt(&ada.email, PASSWORD).from("198.51.100.2").send().await.ok();
    me(&app, &ada).await.ok();
}

async fn a_user_has_one_limit_for_all_sessions_and_addresses(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (again, bob) = (app.login(&ada).await, app.colleague(&ada, "bob@example.com").await);
    let app = limited(&app, 3, 100, 100);
    for (person, address) in [(&ada, ADDRESS), (&again, ADDRESS), (&ada, "198.51.100.2")] {
        app.get("/auth/me").by(person).from(address).send().await.ok();
    }
    me(&app, &again).await.problem("rate-limited");
    assert_eq!(remaining(&me(&app, &bob).await), 2);
}

async fn requests_without_a_valid_token_are_counted_by_address(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = limited(&app, 100, 100, 3);
    app.get("/users").from(ADDRESS).send().await.problem("unauthorized");
    app.get("/users").from(ADDRESS).bearer("invented").send().await.problem("unauthorized");
    app.get("/users").from(ADDRESS).bearer(&with_another_signature(&ada.access)).send().await.problem("unauthorized");
    app.get("/users").from(ADDRESS).bearer("another").send().await.problem("rate-limited");
    app.get("/users").from(ADDRESS).by(&ada).send().await.ok();
    app.get("/users").from("198.51.100.2").send().await.problem("unauthorized");
}

/// The token with a signature that the service did not make.
fn with_another_signature(token: &str) -> String {
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let reversed: String = signature.chars().rev().collect();
    format!("{signed}.{reversed}")
}

async fn the_token_of_an_ended_session_does_not_use_up_the_users_limit(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let stolen = app.login(&ada).await;
    app.post("/auth/logout").by(&stolen).send().await;
    let app = limited(&app, 10, 100, 3);
    let attempt = async || app.get("/users").from(ADDRESS).by(&stolen).send().await;
    // The first request finds out that the session has ended, and counts for the user.
    let first = attempt().await;
    first.problem("unauthorized");
    assert_eq!(remaining(&first), 9);
    for left in (0..3).rev() {
        let answer = attempt().await;
        answer.problem("unauthorized");
        assert_eq!(says(&answer).map(|(limit, remaining, _)| (limit, remaining)), Some((3, left)));
    }
    attempt().await.problem("rate-limited");
    assert_eq!(remaining(&me(&app, &ada).await), 8);
}

/// The store operations that were called.
#[derive(Default)]
struct StoreCalls(Mutex<Vec<&'static str>>);

impl Observer for StoreCalls {
    fn store_answered(&self, operation: &'static str, _: Duration, _: Option<&StoreError>) {
        self.0.lock().unwrap().push(operation);
    }

    fn login_failed(&self, _: LoginFailure) {}

    fn password_hashed(&self, _: Duration, _: Duration) {}

    fn password_refused(&self) {}
    fn webhook_attempted(&self, _: iam_core::webhook::DeliveryStatus) {}
}

async fn a_rate_limited_request_does_not_call_the_store(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let ended = app.login(&ada).await;
    app.post("/auth/logout").by(&ended).send().await;
    let calls = Arc::new(StoreCalls::default());
    let app = app.observed(Arc::clone(&calls) as Arc<dyn Observer>, limiting(&app, 3, 100, 1)).await;
    let by = async |token: &str| app.get("/auth/me").from(ADDRESS).bearer(token).send().await;
    let forged = with_another_signature(&ada.access);
    for (token, kind) in [(&ended.access, "unauthorized"), (&forged, "unauthorized")] {
        by(token).await.problem(kind);
    }
    for _ in 0..2 {
        by(&ada.access).await.ok();
    }
    calls.0.lock().unwrap().clear();
    for token in [&ada.access, &ended.access, &forged] {
        by(token).await.problem("rate-limited");
    }
    assert_eq!(*calls.0.lock().unwrap(), [""; 0]);
}

async fn a_key_has_a_limit_of_its_own(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [one, other] = [app.key(&ada, &ada.user, &json!({})).await, app.key(&ada, &ada.user, &json!({})).await];
    let app = limited(&app, 3, 100, 100);
    let by = async |key: &Value, address| app.get("/auth/me").from(address).bearer(text(key)).send().await;
    for (left, address) in [(2, ADDRESS), (1, "198.51.100.2"), (0, ADDRESS)] {
        assert_eq!(remaining(&by(&one, address).await), left);
    }
    by(&one, "198.51.100.3").await.problem("rate-limited");
    assert_eq!(remaining(&by(&other, ADDRESS).await), 2);
    assert_eq!(remaining(&me(&app, &ada).await), 2);
}

async fn a_user_who_acts_as_another_one_uses_up_its_own_limit(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let acting = app.acting(&ada, &bob).await;
    let app = limited(&app, 10, 20, 30);
    let left = async |person: &Person| remaining(&me(&app, person).await);
    assert_eq!((left(&acting).await, left(&ada).await, left(&bob).await), (9, 8, 9));
}

async fn an_unknown_key_counts_for_the_address_before_it_is_looked_for(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [key, revoked] = [app.key(&ada, &ada.user, &json!({})).await, app.key(&ada, &ada.user, &json!({})).await];
    let calls = Arc::new(StoreCalls::default());
    let app = app.observed(Arc::clone(&calls) as Arc<dyn Observer>, limiting(&app, 100, 100, 4)).await;
    let by = async |key: &str, address| app.get("/auth/me").from(address).bearer(key).send().await;
    by(text(&key), ADDRESS).await.ok();
    by(text(&revoked), ADDRESS).await.ok();
    app.delete(&format!("/api-keys/{}", revoked["id"].as_str().unwrap())).by(&ada).send().await.no_content();
    // The first request finds out that the key was revoked, and counts for the key.
    let found = by(text(&revoked), ADDRESS).await;
    found.problem("unauthorized");
    assert_eq!(says(&found).unwrap().0, 100);
    for left in [1, 0] {
        let answer = by(text(&revoked), ADDRESS).await;
        answer.problem("unauthorized");
        assert_eq!(says(&answer).map(|(limit, remaining, _)| (limit, remaining)), Some((4, left)));
    }
    calls.0.lock().unwrap().clear();
    for unknown in [text(&revoked), "iamk_x"] {
        by(unknown, ADDRESS).await.problem("rate-limited");
    }
    assert_eq!(*calls.0.lock().unwrap(), [""; 0]);
    by(text(&key), ADDRESS).await.ok();
    by("iamk_x", "198.51.100.2").await.problem("unauthorized");
}

async fn an_ipv6_network_of_64_bits_is_one_client(app: TestApp) {
    let app = limited(&app, 100, 100, 2);
    for address in ["2001:db8:0:1::1", "2001:db8:0:1:ffff::2"] {
        app.get("/users").from(address).send().await.problem("unauthorized");
    }
    app.get("/users").from("2001:db8:0:1::3").send().await.problem("rate-limited");
    app.get("/users").from("2001:db8:0:2::1").send().await.problem("unauthorized");
}

async fn only_trusted_proxies_set_the_client_address_of_a_request(app: TestApp) {
    let app = limited(&app, 100, 100, 1);
    let get = async |address, forwarded_for| {
        app.get("/users").from(address).header("x-forwarded-for", forwarded_for).send().await
    };
    get("203.0.113.9", "192.0.2.1").await.problem("unauthorized");
    get("203.0.113.9", "192.0.2.1").await.problem("rate-limited");
    get("203.0.113.9", "192.0.2.1, 192.0.2.2").await.problem("unauthorized");
    get(ADDRESS, "192.0.2.3").await.problem("unauthorized");
    get(ADDRESS, "192.0.2.4").await.problem("rate-limited");
}

async fn health_and_documents_are_not_limited(app: TestApp) {
    let app = limited(&app, 1, 1, 1);
    for path in ["/api/v1/health", "/api/v1/health/live", "/health/ready", "/openapi.json", "/docs/index.html"] {
        for _ in 0..3 {
            let answer = app.request(Method::GET, path).from(ADDRESS).send().await;
            assert_eq!((answer.status(), says(&answer)), (200, None), "{path}");
        }
    }
    // A path that only starts like one of these paths is limited.
    assert!(says(&app.request(Method::GET, "/healthy").from(ADDRESS).send().await).is_some());
}

async fn without_a_rate_limiter_the_headers_are_absent(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for _ in 0..70 {
        let answer = app.attempt(&ada.email, PASSWORD).send().await;
        assert_eq!((answer.status(), says(&answer)), (200, None));
    }
}
