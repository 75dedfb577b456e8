//! Several servers over one PostgreSQL database.

use crate::load::{Load, assert_all_are_there_once};
use crate::process::{Server, Starting};
use crate::store::Store;

#[test]
fn two_that_start_at_the_same_moment_are_one_service() {
    // More than once, because a race that goes wrong need not go wrong each time.
    for _ in 0..3 {
        let store = Store::postgres();
        let starting = [store.iam_server().start(), store.iam_server().start()];
        let [one, other] = starting.map(Starting::ready);
        for server in [&one, &other] {
            server.client().get("/health/ready").expect(200);
        }
        let keys = one.client().get("/.well-known/jwks.json").expect(200);
        assert_eq!(keys["keys"].as_array().map(Vec::len), Some(1), "{keys}");
        assert_eq!(other.client().get("/.well-known/jwks.json").expect(200), keys);

        let session = one.client().register("grace@navy.example");
        let at_one = one.client().with_token(&session.access);
        let at_other = other.client().with_token(&session.access);
        assert_eq!(at_other.get("/api/v1/auth/me").expect(200)["user"]["id"], session.user);
        at_one.post_text("/api/v1/auth/logout", "").expect(204);
        at_other.get("/api/v1/auth/me").expect(401);

        let session = other.client().log_in("grace@navy.example");
        one.client().with_token(&session.access).get("/api/v1/auth/me").expect(200);
    }
}

#[test]
fn one_goes_on_when_the_other_stops() {
    let store = Store::postgres();
    let (one, other) = (store.serve(), store.serve());
    let session = one.client().register("grace@navy.example");
    assert_eq!(one.stop().code, Some(0));
    other.client().with_token(&session.access).get("/api/v1/auth/me").expect(200);
    other.client().log_in("grace@navy.example");
}

#[test]
fn failed_logins_are_counted_over_both() {
    let store = Store::postgres();
    let (one, other) = (store.serve(), store.serve());
    one.client().register("grace@navy.example");
    let wrong = serde_json::json!({ "email": "grace@navy.example", "password": "Wrong-Horse-8!" });
    for server in [&one, &other, &one, &other, &one] {
        server.client().post("/api/v1/auth/login", &wrong).expect(401);
    }
    other.client().post("/api/v1/auth/login", &wrong).expect(403);
}

/// Clients repeat under a key what was not answered. So whatever was acknowledged is there once, and nothing else is.
#[test]
fn replicas_that_are_killed_one_after_another_lose_nothing_and_do_nothing_twice() {
    const REPLICAS: usize = 3;
    const KILLS: usize = 9;
    let store = Store::postgres();
    let mut servers: Vec<Option<Server>> = (0..REPLICAS).map(|_| Some(store.serve())).collect();
    let addresses = servers.iter().flatten().map(|server| server.address).collect();
    let session = servers[0].as_ref().unwrap().client().register("grace@navy.example");
    let made = Load::during(addresses, &session.access, |load| {
        for kill in 0..KILLS {
            load.wait_for(10);
            let victim = kill % REPLICAS;
            servers[victim].take().unwrap().kill();
            let server = store.serve();
            load.moved(victim, server.address);
            servers[victim] = Some(server);
        }
    });
    assert_all_are_there_once(&servers[0].as_ref().unwrap().client().with_token(&session.access), made);
}
