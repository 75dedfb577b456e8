//! The network between the server and its PostgreSQL fails.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;
use test_support::is_long_run;
use test_support::proxy::{Fault, Proxy};

use crate::load::{Load, assert_all_are_there_once};
use crate::process::{TIMEOUT, wait_for};
use crate::revocation::{PROMISE, metric, wait_until_changes_are_received};
use crate::store::Store;

/// The most connections of a server to the database: those for requests, and two for the change feed.
const CONNECTIONS: usize = 16 + 2;

/// As long as the database is unavailable, the server answers 503, quickly and with a reason. It recovers by itself.
#[test]
fn readiness_follows_the_database_and_liveness_does_not() {
    let store = Store::postgres();
    let proxy = Proxy::before(store.url());
    let server = store.iam_server().env("IAM_DATABASE_URL", proxy.url(store.url())).serve();
    let client = server.client();
    let session = client.register("grace@navy.example");
    let user = client.with_token(&session.access);
    for fault in [Fault::Gone, Fault::Closed, Fault::Reset, Fault::Silent] {
        assert_eq!(client.get("/health/ready").expect(200)["checks"]["database"]["status"], "ok");
        proxy.set(fault);
        let problem = wait_for("the server to notice the fault", TIMEOUT, || {
            let answer = client.get("/health/ready");
            (answer.status == 503).then_some(answer.body)
        });
        assert_eq!(problem["type"], "https://iam.invalid/problems/unavailable", "{fault:?}");
        assert_eq!(problem["checks"]["database"]["status"], "unavailable", "{fault:?}");
        client.get("/health/live").expect(200);
        client.get("/health").expect(200);
        // If each request waited for half a second, that would take too long.
        let started = Instant::now();
        for _ in 0..200 {
            let problem = user.get("/api/v1/auth/me").expect(503);
            assert_eq!(problem["type"], "https://iam.invalid/problems/unavailable", "{fault:?}");
        }
        assert!(started.elapsed() < 2 * TIMEOUT, "{fault:?}: the requests waited");
        proxy.set(Fault::None);
        wait_for("the server to recover", TIMEOUT, || (client.get("/health/ready").status == 200).then_some(()));
        user.get("/api/v1/auth/me").expect(200);
    }
    server.log().wait_for_line("the database is unreachable");
    server.log().wait_for_line("the database is reachable again");
    let ended = server.stop();
    assert_eq!(ended.code, Some(0));
    assert!(!ended.log.contains("panicked"), "{}", ended.log);
}

/// A caller with a cached session is admitted without a query, but only while change notifications arrive.
#[test]
fn a_cached_session_is_not_trusted_while_no_notifications_arrive() {
    let store = Store::postgres();
    let proxy = Proxy::before(store.url());
    let (near, far) = (store.serve(), store.iam_server().env("IAM_DATABASE_URL", proxy.url(store.url())).serve());
    let session = near.client().register("grace@navy.example");
    let (there, beyond) = (near.client().with_token(&session.access), far.client().with_token(&session.access));
    // Answered from the cache alone.
    let ask = || beyond.post("/api/v1/authz/check", &json!({ "permission": "users:read" })).status;
    wait_until_changes_are_received(&beyond);
    wait_for("answers that cost no query", TIMEOUT, || {
        let queries = || metric(&beyond, r#"database_query_duration_ms_count{operation="session_snapshot"}"#);
        let before = queries();
        assert_eq!([ask(), ask()], [200, 200]);
        (queries() == before).then_some(())
    });
    proxy.set(Fault::Silent);
    there.post_text("/api/v1/auth/logout", "").expect(204);
    sleep(PROMISE);
    assert_eq!([ask(), ask()], [503, 503]);
    proxy.set(Fault::None);
    wait_until_changes_are_received(&beyond);
    let status = wait_for("the database to be asked again", TIMEOUT, || Some(ask()).filter(|status| *status != 503));
    assert_eq!(status, 401);
}

/// Late notifications do not end the feed.
#[test]
fn late_notifications_are_in_the_log() {
    let store = Store::postgres();
    let proxy = Proxy::before(store.url());
    let server = store.iam_server().env("IAM_DATABASE_URL", proxy.url(store.url())).serve();
    wait_until_changes_are_received(&server.client());
    proxy.set(Fault::Slow(PROMISE / 2));
    server.log().wait_for_line("the change feed is too slow");
    assert_eq!(metric(&server.client(), "changes_heard"), 0.0);
    proxy.set(Fault::None);
    server.log().wait_for_line("the change feed works again");
    wait_until_changes_are_received(&server.client());
}

/// During faults of every kind under load, no acknowledged change is lost, no change is made twice, and
/// no connection leaks.
#[test]
fn faults_under_load_lose_and_repeat_nothing() {
    let time = Duration::from_secs(if is_long_run() { 60 } else { 20 });
    let slow = Fault::Slow(Duration::from_millis(300));
    let faults = [Fault::Reset, slow, Fault::Gone, Fault::Silent, Fault::Severed];
    let store = Store::postgres();
    let proxy = Proxy::before(store.url());
    let server = store
        .iam_server()
        .env("IAM_DATABASE_URL", proxy.url(store.url()))
        // After this time, a change whose connection fell silent is cancelled.
        .env("IAM_REQUEST_TIMEOUT", "4s")
        .serve();
    let session = server.client().register("grace@navy.example");
    let started = Instant::now();
    let created = Load::during(vec![server.address], &session.access, |load| {
        for fault in faults.into_iter().cycle().take_while(|_| started.elapsed() < time) {
            load.wait_for(10);
            proxy.set(fault);
            // A different time in every round, and long enough to notice silence.
            sleep(Duration::from_secs(1) + Duration::from_nanos(started.elapsed().subsec_nanos().into()));
            proxy.set(Fault::None);
            let healed = Instant::now();
            load.wait_for(10);
            println!("{fault:?}: ten more were created {:?} after its end", healed.elapsed());
        }
    });
    println!("{} were created", created.len());
    assert_all_are_there_once(&server.client().with_token(&session.access), created);
    // A reset closes the silent connections, as a kernel does after its time limit.
    proxy.set(Fault::Reset);
    wait_for("all connections to be reset", TIMEOUT, || (proxy.connections() == 0).then_some(()));
    proxy.set(Fault::None);
    wait_for("the server to recover", TIMEOUT, || (server.client().get("/health/ready").status == 200).then_some(()));
    assert!(proxy.connections() <= CONNECTIONS, "{}", proxy.connections());
    let ended = server.stop();
    assert_eq!(ended.code, Some(0));
    assert!(!ended.log.contains("panicked"), "{}", ended.log);
}
