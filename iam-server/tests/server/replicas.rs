//! Several servers over one PostgreSQL database.

use std::thread;

use serde_json::{Value, json};

use crate::client::{Answer, Client, PASSWORD, text};
use crate::load::{Load, assert_all_are_there_once};
use crate::process::{Server, Starting, TIMEOUT, wait_for};
use crate::revocation::expect_refusal;
use crate::store::Store;

#[test]
fn two_replicas_that_start_together_are_one_service() {
    // Repeated, because a race does not go wrong every time.
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
        expect_refusal(&at_other);

        let session = other.client().log_in("grace@navy.example");
        one.client().with_token(&session.access).get("/api/v1/auth/me").expect(200);
    }
}

#[test]
fn a_replica_continues_when_the_other_one_stops() {
    let store = Store::postgres();
    let (one, other) = (store.serve(), store.serve());
    let session = one.client().register("grace@navy.example");
    assert_eq!(one.stop().code, Some(0));
    other.client().with_token(&session.access).get("/api/v1/auth/me").expect(200);
    other.client().log_in("grace@navy.example");
}

#[test]
fn replicas_count_failed_logins_together() {
    let store = Store::postgres();
    let (one, other) = (store.serve(), store.serve());
    one.client().register("grace@navy.example");
    let wrong = serde_json::json!({ "email": "grace@navy.example", "password": "Wrong-Horse-8!" });
    for server in [&one, &other, &one, &other, &one] {
        server.client().post("/api/v1/auth/login", &wrong).expect(401);
    }
    other.client().post("/api/v1/auth/login", &wrong).expect(403);
}

/// Clients repeat unanswered requests under an idempotency key. So every acknowledged change exists once, and no
/// other change exists.
#[test]
fn killed_replicas_lose_nothing_and_do_nothing_twice() {
    kill_replicas(&Store::postgres());
}

/// The sessions of a killed replica go on with the next transaction of another one.
#[test]
fn killed_replicas_behind_a_pooler_lose_nothing_and_do_nothing_twice() {
    kill_replicas(&Store::behind_pooler());
}

fn kill_replicas(store: &Store) {
    const REPLICAS: usize = 3;
    const KILLS: usize = 9;
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
    let client = servers[0].as_ref().unwrap().client().with_token(&session.access);
    assert_all_are_there_once(&client, made);
    // Each replica was killed while it sequenced entries.
    let unsealed = || client.get("/api/v1/audit-logs/checkpoint").expect(200)["unsealed"].as_array().unwrap().len();
    wait_for("all entries to be sequenced", TIMEOUT, || (unsealed() == 0).then_some(()));
    let verified = store.iam_server().args(["audit", "verify"]).run();
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

/// A change at one replica takes effect there with the next request, and soon at all replicas.
#[test]
fn three_replicas_are_one_service() {
    let store = Store::postgres();
    let servers: Vec<Server> = (0..3).map(|_| store.serve()).collect();
    let session = servers[0].client().register("grace@navy.example");
    let admins: Vec<Client> = servers.iter().map(|server| server.client().with_token(&session.access)).collect();

    // A request and its repeats, at the same moment and at different replicas, have one effect.
    let ada = json!({ "email": "ada@navy.example", "password": PASSWORD, "firstName": "Ada", "lastName": "Lovelace" });
    let create = |admin: &Client| admin.with_key("ada").post("/api/v1/users", &ada);
    let answers: Vec<Answer> = thread::scope(|scope| {
        let asked: Vec<_> = admins.iter().map(|admin| scope.spawn(|| create(admin))).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    let answers = answers.into_iter().chain(admins.iter().map(create));
    let made: Vec<Value> = answers.map(|answer| answer.expect(201)).collect();
    assert!(made.iter().all(|user| *user == made[0]), "{made:?}");
    let ada = text(&made[0]["id"]);

    // A role assignment, its end and a suspension of the user take effect.
    let roles = admins[0].get("/api/v1/roles").expect(200);
    let admin_role = roles["data"].as_array().unwrap().iter().find(|role| role["name"] == "TENANT_ADMIN").unwrap();
    let assignment = json!({ "userId": ada, "roleId": admin_role["id"] });
    for (number, server) in servers.iter().enumerate() {
        let (here, there) = (&admins[number], &admins[(number + 1) % 3]);
        let hers = server.client().log_in("ada@navy.example");
        let asks = |path: &str| -> Vec<u16> {
            servers.iter().map(|server| server.client().with_token(&hers.access).get(path).status).collect()
        };
        let becomes = |path: &str, status: u16| {
            wait_for("the change to take effect everywhere", TIMEOUT, || (asks(path) == [status; 3]).then_some(()));
        };
        assert_eq!(asks("/api/v1/users"), [403; 3]);
        let given = text(&here.post("/api/v1/role-assignments", &assignment).expect(201)["id"]);
        assert_eq!(asks("/api/v1/users")[number], 200);
        becomes("/api/v1/users", 200);
        assert_eq!(there.try_delete(&format!("/api/v1/role-assignments/{given}")).unwrap().status, 204);
        assert_eq!(asks("/api/v1/users")[(number + 1) % 3], 403);
        becomes("/api/v1/users", 403);
        here.post_text(&format!("/api/v1/users/{ada}/suspend"), "").expect(200);
        assert_eq!(asks("/api/v1/users")[number], 401);
        becomes("/api/v1/users", 401);
        there.post_text(&format!("/api/v1/users/{ada}/reactivate"), "").expect(200);
    }
}

/// Each sweeper counts what it has removed itself. Together they have removed everything, once.
#[test]
fn sweepers_of_three_replicas_remove_everything_once() {
    const SESSIONS: u64 = 3_000;
    let store = Store::postgres();
    let server = store.serve();
    server.client().register("grace@navy.example");
    assert_eq!(server.stop().code, Some(0));
    store.tamper(&format!(
        "INSERT INTO sessions
        SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'expires_at', now() - '1 h'::interval))).*
        FROM sessions s, generate_series(1, {SESSIONS})"
    ));
    // A server sweeps as soon as it has started.
    let servers: Vec<Starting> = (0..3).map(|_| store.iam_server().start()).collect();
    let servers: Vec<Server> = servers.into_iter().map(Starting::ready).collect();
    let removed = || servers.iter().map(removed_sessions).sum::<u64>();
    wait_for("the sweep", TIMEOUT, || (removed() >= SESSIONS).then_some(()));
    assert_eq!(removed(), SESSIONS);
}

fn removed_sessions(server: &Server) -> u64 {
    let metrics = text(&server.client().get("/metrics").expect(200));
    let removed = r#"sweeper_removed_total{sweeper="expired_sessions"} "#;
    metrics.lines().find_map(|line| line.strip_prefix(removed)).map_or(0, |removed| removed.parse().unwrap())
}
