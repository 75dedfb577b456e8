//! Several servers over one PostgreSQL database.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::client::{Client, text};
use crate::process::{PATIENCE, Server, Starting, wait_for};
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

/// Makes an organization, at one replica or another, as often as it takes to get an answer.
fn make(addresses: &Mutex<Vec<SocketAddr>>, token: &str, name: &str) -> String {
    for attempt in name.len().. {
        let address = {
            let addresses = addresses.lock().unwrap();
            addresses[attempt % addresses.len()]
        };
        let client = Client::of(address).with_token(token).with_key(name);
        match client.try_post("/api/v1/organizations", &json!({ "name": name })) {
            Ok(answer) if answer.status == 201 => return text(&answer.body["id"]),
            // What a client may repeat: the service is away, or the same request is still at work.
            Ok(answer) => assert!([409, 503].contains(&answer.status), "{name}: {} {}", answer.status, answer.body),
            // The replica was killed, or is not there yet.
            Err(_) => {}
        }
        thread::sleep(Duration::from_millis(20));
    }
    unreachable!("it is tried for ever")
}

/// Clients repeat under a key what was not answered. So whatever was acknowledged is there once, and nothing else is.
#[test]
fn replicas_that_are_killed_one_after_another_lose_nothing_and_do_nothing_twice() {
    const REPLICAS: usize = 3;
    const CLIENTS: usize = 4;
    const KILLS: usize = 9;
    let store = Store::postgres();
    let mut servers: Vec<Option<Server>> = (0..REPLICAS).map(|_| Some(store.serve())).collect();
    let addresses = Mutex::new(servers.iter().flatten().map(|server| server.address).collect::<Vec<_>>());
    let session = servers[0].as_ref().unwrap().client().register("grace@navy.example");
    let (made, enough) = (Mutex::new(BTreeMap::new()), AtomicBool::new(false));
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (addresses, made, enough, token) = (&addresses, &made, &enough, &session.access);
            scope.spawn(move || {
                for number in 0.. {
                    if enough.load(Ordering::Relaxed) {
                        return;
                    }
                    let name = format!("branch-{client}-{number}");
                    let id = make(addresses, token, &name);
                    made.lock().unwrap().insert(name, id);
                }
            });
        }
        for kill in 0..KILLS {
            let before = made.lock().unwrap().len();
            let grown = || (made.lock().unwrap().len() >= before + 10).then_some(());
            wait_for("some to be made", PATIENCE, grown);
            let victim = kill % REPLICAS;
            servers[victim].take().unwrap().kill();
            let server = store.serve();
            addresses.lock().unwrap()[victim] = server.address;
            servers[victim] = Some(server);
        }
        enough.store(true, Ordering::Relaxed);
    });
    let made = made.into_inner().unwrap();
    let client = servers[0].as_ref().unwrap().client().with_token(&session.access);
    let mut found = BTreeMap::new();
    for page in 1.. {
        let body = client.get(&format!("/api/v1/organizations?limit=100&page={page}")).expect(200);
        for organization in body["data"].as_array().unwrap() {
            let twice = found.insert(text(&organization["name"]), text(&organization["id"]));
            assert_eq!(twice, None, "{organization}");
        }
        if body["pagination"]["hasNext"] == false {
            break;
        }
    }
    assert_eq!(found, made);
    let entries = client.audit_entries("&resourceType=ORGANIZATION&action=CREATE");
    let mut recorded: Vec<String> = entries.iter().map(|entry| text(&entry["resourceId"])).collect();
    recorded.sort_unstable();
    let mut ids: Vec<String> = made.into_values().collect();
    ids.sort_unstable();
    assert_eq!(recorded, ids);
}
