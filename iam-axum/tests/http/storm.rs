//! More passwords at a time than can be hashed.

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

on_every_store![
    who_would_wait_for_too_long_is_refused_whoever_it_is,
    users_have_their_turn_however_many_strangers_there_are,
    a_login_that_is_refused_is_neither_counted_nor_recorded,
    what_needs_no_hash_goes_on,
    a_storm_from_one_network_or_tenant_keeps_out_its_own_alone,
    what_needs_no_hash_is_refused_before_one_is_made,
];

/// Far longer than a test takes.
const ENDLESS: HashingCost = HashingCost { memory_kib: 64, passes: 300_000, lanes: 1 };
const PATIENCE: Duration = Duration::from_secs(60);
/// Whoever has no answer by then waits for a hash.
const LET_IN: Duration = Duration::from_secs(1);

/// Does something while so many log in at the same service, from as many networks, that no more can.
async fn in_a_storm(app: &TestApp, act: impl AsyncFn(&TestApp, &Person)) {
    in_a_storm_from(app, |number| format!("10.0.{number}.1"), act).await;
}

async fn in_a_storm_from(app: &TestApp, address: impl Fn(usize) -> String, act: impl AsyncFn(&TestApp, &Person)) {
    let ada = app.register("ada@example.com").await;
    // As long as none was made, a hash is taken to last ten milliseconds.
    let set = |settings: &mut iam_core::Settings| {
        settings.hashing_cost = ENDLESS;
        settings.password_wait = Duration::from_millis(100);
    };
    let busy = app.with_settings(set).await;
    let threads = available_parallelism().unwrap().get();
    // Those who are refused try again until threads and queue are full.
    let visitors = join_all((0..20 * threads).map(async |number| {
        let attempt = || busy.attempt(&format!("{number}@example.com"), PASSWORD).from(&address(number));
        while attempt().send().await.status() == 503 {
            sleep(Duration::from_millis(1)).await;
        }
    }));
    let acting = async {
        while busy.iam.passwords_waiting() <= 10 * threads {
            sleep(Duration::from_millis(1)).await;
        }
        act(&busy, &ada).await;
    };
    tokio::select! {
        _ = visitors => panic!("somebody was let in"),
        done = timeout(PATIENCE, acting) => done.unwrap(),
    }
    assert_eq!(busy.iam.passwords_waiting(), 0);
}

/// The answer to whom there is no room for. As long as threads take their first passwords there is room for somebody, who would
/// get no answer: then the request is given up and sent again.
async fn answer_without_room(request: Request<'_>) -> Response {
    loop {
        if let Ok(answer) = timeout(LET_IN, request.clone().send()).await {
            return answer;
        }
    }
}

async fn who_would_wait_for_too_long_is_refused_whoever_it_is(app: TestApp) {
    in_a_storm(&app, async |busy, ada| {
        for request in [
            busy.attempt(&ada.email, PASSWORD),
            busy.attempt(&ada.email, WRONG_PASSWORD),
            busy.attempt("nobody@example.com", PASSWORD),
            busy.attempt_at(&ada.tenant, &ada.email, PASSWORD),
            busy.post("/auth/register").json(&profile("eve@example.com")),
        ] {
            let answer = answer_without_room(request).await;
            let problem = answer.problem("unavailable");
            assert_eq!(problem["detail"], "The service is busy. Try again in 1 seconds.");
            assert_eq!((&problem["retryAfter"], answer.header("retry-after")), (&json!(1), Some("1")));
        }
    })
    .await;
    app.register("eve@example.com").await;
}

async fn users_have_their_turn_however_many_strangers_there_are(app: TestApp) {
    in_a_storm(&app, async |busy, ada| {
        let change = json!({ "currentPassword": PASSWORD, "newPassword": "An0ther$ecret" });
        for request in [
            busy.post("/users").by(ada).json(&profile("eve@example.com")),
            busy.post("/auth/password").by(ada).json(&change),
        ] {
            assert!(timeout(LET_IN, request.send()).await.is_err(), "it waits for its hash");
        }
    })
    .await;
}

async fn a_login_that_is_refused_is_neither_counted_nor_recorded(app: TestApp) {
    in_a_storm(&app, async |busy, ada| {
        for _ in 0..10 {
            answer_without_room(busy.attempt(&ada.email, WRONG_PASSWORD)).await.problem("unavailable");
        }
    })
    .await;
    let ada = Person::logged_in(&app.attempt("ada@example.com", PASSWORD).send().await.ok());
    let failures = app.get("/audit-logs").query("action", "LOGIN_FAILURE").by(&ada).send().await.ok();
    assert_eq!(failures["data"], json!([]));
}

async fn what_needs_no_hash_goes_on(app: TestApp) {
    in_a_storm(&app, async |busy, ada| {
        assert_eq!(busy.user(ada, &ada.user).await["email"], "ada@example.com");
        let refreshed = busy.post("/auth/refresh").json(&json!({ "refreshToken": ada.refresh })).send().await.ok();
        assert!(refreshed["accessToken"].is_string());
        busy.post("/auth/logout").by(ada).send().await.no_content();
    })
    .await;
}

async fn a_storm_from_one_network_or_tenant_keeps_out_its_own_alone(app: TestApp) {
    in_a_storm_from(
        &app,
        |number| format!("192.0.2.{number}"),
        async |busy, ada| {
            let waits = async |request: Request<'_>| timeout(LET_IN, request.send()).await.is_err();
            let attempt = |address: &str| busy.attempt(&ada.email, PASSWORD).from(address);
            answer_without_room(attempt("192.0.2.200")).await.problem("unavailable");
            assert!(waits(attempt("192.0.3.1")).await);
            assert!(waits(attempt("2001:db8::1")).await);
            assert!(waits(busy.post("/auth/register").json(&profile("eve@example.com")).from("198.51.100.1")).await);
            // A user of a tenant is told from the other clients of its network.
            assert!(waits(busy.post("/users").by(ada).json(&profile("eve@example.com")).from("192.0.2.200")).await);
        },
    )
    .await;
}

/// Otherwise one tenant could fill the queue by asking for what it does not get.
async fn what_needs_no_hash_is_refused_before_one_is_made(app: TestApp) {
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
    assert_eq!(hashes.count(), 1, "that of its login");
}
