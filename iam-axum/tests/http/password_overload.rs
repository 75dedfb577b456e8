//! More concurrent passwords than the service can hash.

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use futures_util::future::join_all;
use iam_core::credential::HashingCost;
use iam_core::observe::Observer;
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::app::TestApp;
use crate::hashes::Hashes;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD, profile};
use crate::request::{Request, Response};

in_memory![repeated_and_refused_requests_make_no_hash];

/// A full queue refuses a request before the store is asked. So one store is enough. The hashes that a test leaves
/// running take the processors of later tests for seconds.
mod full_queue {
    use super::*;

    on_stores!(
        memory: a_full_queue_refuses_known_and_unknown_users_alike,
        logins_cannot_fill_the_queue_share_of_users,
        a_login_refused_by_the_queue_is_neither_counted_nor_recorded,
        requests_without_a_hash_succeed_while_the_queue_is_full,
        a_full_queue_share_refuses_only_its_own_clients
    );
}

/// A cost at which one hash takes longer than a test.
const ENDLESS: HashingCost = HashingCost { memory_kib: 64, passes: 200_000, lanes: 1 };
const PATIENCE: Duration = Duration::from_secs(60);
/// A request without an answer after this time waits for a hash. All such times of a test together are short beside a
/// hash, so that no hash is finished before the test is.
const ANSWER_TIME: Duration = Duration::from_millis(100);

/// Runs `act` while so many logins, each from its own network, wait at the same service that the hash queue is full.
async fn with_full_queue(app: &TestApp, act: impl AsyncFn(&TestApp, &Person)) {
    with_full_queue_from(app, |number| format!("10.0.{number}.1"), act).await;
}

/// The same with logins from these addresses.
async fn with_full_queue_from(app: &TestApp, address: impl Fn(usize) -> String, act: impl AsyncFn(&TestApp, &Person)) {
    let ada = app.register("ada@example.com").await;
    // Until the first hash is finished, the service assumes that a hash takes ten milliseconds.
    let set = |settings: &mut iam_core::Settings| {
        settings.hashing_cost = ENDLESS;
        settings.password_wait = Duration::from_millis(100);
    };
    let busy = app.with_settings(set).await;
    let full = full_queue_len();
    // A refused login tries again until the hashing threads and the queue are full.
    let logins = join_all((0..2 * full).map(async |number| {
        let attempt = || busy.attempt(&format!("{number}@example.com"), PASSWORD).from(&address(number));
        while attempt().send().await.status() == 503 {
            sleep(Duration::from_millis(1)).await;
        }
    }));
    let acting = async {
        while busy.iam.passwords_waiting() < full {
            sleep(Duration::from_millis(1)).await;
        }
        act(&busy, &ada).await;
    };
    tokio::select! {
        _ = logins => panic!("all logins got an answer"),
        done = timeout(PATIENCE, acting) => done.unwrap(),
    }
    assert_eq!(busy.iam.passwords_waiting(), 0);
}

/// How many passwords of one share wait when there is no room for another one: ten of ten milliseconds for each thread
/// are at the bound of 100 milliseconds, and one more is above it.
fn full_queue_len() -> usize {
    10 * available_parallelism().unwrap().get() + 1
}

/// Whether a request waits for its hash. Otherwise it is answered.
async fn waits(request: Request<'_>) -> bool {
    timeout(ANSWER_TIME, request.send()).await.is_err()
}

/// The answer to a request for which the queue has no room. While the hashing threads take their first passwords, the
/// queue has room for another request, which then waits without an answer. Such a request is cancelled and sent again.
async fn answer_of_the_full_queue(request: Request<'_>) -> Response {
    loop {
        if let Ok(answer) = timeout(ANSWER_TIME, request.clone().send()).await {
            return answer;
        }
    }
}

async fn a_full_queue_refuses_known_and_unknown_users_alike(app: TestApp) {
    with_full_queue(&app, async |busy, ada| {
        for request in [
            busy.attempt(&ada.email, PASSWORD),
            busy.attempt(&ada.email, WRONG_PASSWORD),
            busy.attempt("unknown@example.com", PASSWORD),
            busy.attempt_at(&ada.tenant, &ada.email, PASSWORD),
            busy.post("/auth/register").json(&profile("eve@example.com")),
        ] {
            let answer = answer_of_the_full_queue(request).await;
            let problem = answer.problem("unavailable");
            // A second, unless a hash has ended meanwhile, whose time the service takes for that of each hash.
            let seconds = problem["retryAfter"].as_u64().unwrap().to_string();
            assert_eq!(problem["detail"], format!("The service is busy. Try again in {seconds} seconds."));
            assert_eq!(answer.header("retry-after"), Some(seconds.as_str()));
        }
    })
    .await;
    app.register("eve@example.com").await;
}

async fn logins_cannot_fill_the_queue_share_of_users(app: TestApp) {
    with_full_queue(&app, async |busy, ada| {
        let change = json!({ "currentPassword": PASSWORD, "newPassword": "An0ther$ecret" });
        for request in [
            busy.post("/users").by(ada).json(&profile("eve@example.com")),
            busy.post("/auth/password").by(ada).json(&change),
        ] {
            assert!(waits(request).await);
        }
    })
    .await;
}

async fn a_login_refused_by_the_queue_is_neither_counted_nor_recorded(app: TestApp) {
    with_full_queue(&app, async |busy, ada| {
        for _ in 0..10 {
            answer_of_the_full_queue(busy.attempt(&ada.email, WRONG_PASSWORD)).await.problem("unavailable");
        }
    })
    .await;
    let ada = Person::logged_in(&app.attempt("ada@example.com", PASSWORD).send().await.ok());
    let failures = app.get("/audit-logs").query("action", "LOGIN_FAILURE").by(&ada).send().await.ok();
    assert_eq!(failures["data"], json!([]));
}

async fn requests_without_a_hash_succeed_while_the_queue_is_full(app: TestApp) {
    with_full_queue(&app, async |busy, ada| {
        assert_eq!(busy.user(ada, &ada.user).await["email"], "ada@example.com");
        let refreshed = busy.post("/auth/refresh").json(&json!({ "refreshToken": ada.refresh })).send().await.ok();
        assert!(refreshed["accessToken"].is_string());
        busy.post("/auth/logout").by(ada).send().await.no_content();
    })
    .await;
}

async fn a_full_queue_share_refuses_only_its_own_clients(app: TestApp) {
    with_full_queue_from(
        &app,
        |number| format!("192.0.2.{number}"),
        async |busy, ada| {
            // The hash of a known user has the cost of the other service, and would soon be finished.
            let attempt = |address: &str| busy.attempt("unknown@example.com", PASSWORD).from(address);
            answer_of_the_full_queue(attempt("192.0.2.200")).await.problem("unavailable");
            assert!(waits(attempt("192.0.3.1")).await);
            assert!(waits(attempt("2001:db8::1")).await);
            assert!(waits(busy.post("/auth/register").json(&profile("eve@example.com")).from("198.51.100.1")).await);
            // A user of a tenant has another queue share than the anonymous clients of its network.
            assert!(waits(busy.post("/users").by(ada).json(&profile("eve@example.com")).from("192.0.2.200")).await);
        },
    )
    .await;
}

/// Otherwise one tenant could fill the queue with requests that are refused.
async fn repeated_and_refused_requests_make_no_hash(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let create = || app.post("/users").by(&ada).header("idempotency-key", "one").json(&profile("grace@example.com"));
    let made = create().send().await.created();
    let register = || app.post("/auth/register").header("idempotency-key", "two").json(&profile("alan@example.com"));
    register().send().await.created();
    let hashes = Arc::new(Hashes::default());
    let app = app.observed(Arc::clone(&hashes) as Arc<dyn Observer>, |_| {}).await;
    let create = |key: &'static str, email: &str| {
        app.post("/users").by(&ada).header("idempotency-key", key).json(&profile(email))
    };
    assert_eq!(create("one", "grace@example.com").send().await.created(), made);
    create("one", "other@example.com").send().await.problem("idempotency-key-reused");
    create("other", "GRACE@example.com").send().await.problem("conflict");
    assert_eq!(hashes.count(), 0);
    let again = app.post("/auth/register").header("idempotency-key", "two").json(&profile("alan@example.com"));
    again.send().await.created();
    assert_eq!(hashes.count(), 1, "the login after the repeated registration");
}
