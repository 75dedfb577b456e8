//! The network between the server and its PostgreSQL fails.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;
use test_support::proxy::{Fault, Proxy};

use crate::load::{Load, assert_all_are_there_once};
use crate::process::{PATIENCE, wait_for};
use crate::revocation::{PROMISE, metric, wait_until_changes_are_heard};
use crate::store::Store;

/// How many connections to the database a server has at most: those for requests, and two to hear what others commit.
const CONNECTIONS: usize = 16 + 2;

/// The database answers 503 as long as it is away, quickly and with a reason, and goes on by itself.
#[test]
fn readiness_follows_the_database_and_liveness_does_not() {
    let store = Store::postgres();
    let proxy = Proxy::before(store.url());
    let server = store.iam_server().env("IAM_DATABASE_URL", proxy.url(store.url())).serve();
    let client = server.client();
    let session = client.register("grace@navy.example");
    let user = client.with_token(&session.access);
    for fault in [Fault::Gone, Fault::Reset, Fault::Silent] {
        assert_eq!(client.get("/health/ready").expect(200)["checks"]["database"]["status"], "ok");
        proxy.set(fault);
        let problem = wait_for("the database to be missed", PATIENCE, || {
            let answer = client.get("/health/ready");
            (answer.status == 503).then_some(answer.body)
        });
        assert_eq!(problem["type"], "https://iam.invalid/problems/unavailable", "{fault:?}");
        assert_eq!(problem["checks"]["database"]["status"], "unavailable", "{fault:?}");
        client.get("/health/live").expect(200);
        client.get("/health").expect(200);
        // If each waited for half a second, that would be too long.
        let started = Instant::now();
        for _ in 0..200 {
            let problem = user.get("/api/v1/auth/me").expect(503);
            assert_eq!(problem["type"], "https://iam.invalid/problems/unavailable", "{fault:?}");
        }
        assert!(started.elapsed() < 2 * PATIENCE, "{fault:?}: they waited");
        proxy.set(Fault::None);
        wait_for("the server to recover", PATIENCE, || (client.get("/health/ready").status == 200).then_some(()));
        user.get("/api/v1/auth/me").expect(200);
    }
    server.log().wait_for_line("the database is away");
    server.log().wait_for_line("the database is back");
    let ended = server.stop();
    assert_eq!(ended.code, Some(0));
    assert!(!ended.log.contains("panicked"), "{}", ended.log);
}

/// Who is known is let in without a question to the database, but only while others are heard.
#[test]
fn who_was_logged_out_elsewhere_is_not_let_in_because_nothing_is_heard() {
    let store = Store::postgres();
    let proxy = Proxy::before(store.url());
    let (near, far) = (store.serve(), store.iam_server().env("IAM_DATABASE_URL", proxy.url(store.url())).serve());
    let session = near.client().register("grace@navy.example");
    let (there, beyond) = (near.client().with_token(&session.access), far.client().with_token(&session.access));
    // Answered from what is kept alone.
    let ask = || beyond.post("/api/v1/authz/check", &json!({ "permission": "users:read" })).status;
    wait_until_changes_are_heard(&beyond);
    wait_for("answers that cost no query", PATIENCE, || {
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
    wait_until_changes_are_heard(&beyond);
    let status = wait_for("the database to be asked again", PATIENCE, || Some(ask()).filter(|status| *status != 503));
    assert_eq!(status, 401);
}

/// Then the feed does not end.
#[test]
fn what_is_heard_too_late_is_in_the_log() {
    let store = Store::postgres();
    let proxy = Proxy::before(store.url());
    let server = store.iam_server().env("IAM_DATABASE_URL", proxy.url(store.url())).serve();
    wait_until_changes_are_heard(&server.client());
    proxy.set(Fault::Slow(PROMISE / 2));
    server.log().wait_for_line("they are heard too late");
    assert_eq!(metric(&server.client(), "changes_heard"), 0.0);
    proxy.set(Fault::None);
    server.log().wait_for_line("following changes works again");
    wait_until_changes_are_heard(&server.client());
}

/// A minute of faults of every kind under load: nothing acknowledged is lost, nothing is done twice, and no connection is
/// lost.
#[test]
fn a_minute_of_faults_under_load() {
    const MINUTE: Duration = Duration::from_secs(60);
    let slow = Fault::Slow(Duration::from_millis(300));
    let faults = [Fault::Reset, slow, Fault::Gone, Fault::Silent, Fault::Severed];
    let store = Store::postgres();
    let proxy = Proxy::before(store.url());
    let server = store
        .iam_server()
        .env("IAM_DATABASE_URL", proxy.url(store.url()))
        // A change that is cut off in silence is given up then.
        .env("IAM_REQUEST_TIMEOUT", "4s")
        .serve();
    let session = server.client().register("grace@navy.example");
    let started = Instant::now();
    let made = Load::during(vec![server.address], &session.access, |load| {
        for fault in faults.into_iter().cycle().take_while(|_| started.elapsed() < MINUTE) {
            load.wait_for(10);
            proxy.set(fault);
            // Another time each time, and long enough that silence is noticed.
            sleep(Duration::from_secs(1) + Duration::from_nanos(started.elapsed().subsec_nanos().into()));
            proxy.set(Fault::None);
            let healed = Instant::now();
            load.wait_for(10);
            println!("{fault:?}: ten more were made {:?} after it was mended", healed.elapsed());
        }
    });
    println!("{} were made", made.len());
    assert_all_are_there_once(&server.client().with_token(&session.access), made);
    // Those that fell silent are closed by a reset, as by a kernel that gives them up.
    proxy.set(Fault::Reset);
    wait_for("all connections to be reset", PATIENCE, || (proxy.connections() == 0).then_some(()));
    proxy.set(Fault::None);
    wait_for("the server to recover", PATIENCE, || (server.client().get("/health/ready").status == 200).then_some(()));
    assert!(proxy.connections() <= CONNECTIONS, "{}", proxy.connections());
    let ended = server.stop();
    assert_eq!(ended.code, Some(0));
    assert!(!ended.log.contains("panicked"), "{}", ended.log);
}
