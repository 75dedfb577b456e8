//! `kill -9` in a stream of writes: every acknowledged change exists with its audit entry, and no change exists
//! without one.
//!
//! PostgreSQL runs with `fsync=off` here. That would matter if the machine lost power. But the tests kill only the
//! server, and the database and the kernel continue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;
use test_support::repetitions;

use crate::client::{Client, PASSWORD, text};
use crate::process::{TIMEOUT, wait_for};
use crate::store::Store;

const ROUNDS: usize = 3;
const CLIENTS: usize = 4;
/// The fewest acknowledged users of a round before the kill, so that there is something to lose.
const AT_LEAST: usize = 8;

/// E-mails by user id.
type Users = BTreeMap<String, String>;

/// Creates users until the server is gone, and notes the acknowledged ones.
fn create_users(client: &Client, name: &str, acknowledged: &Mutex<Users>) {
    for number in 0.. {
        let email = format!("{name}-{number}@navy.example");
        let user = json!({ "email": email, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
        // A broken connection means the kill. An answer that arrives must be a success.
        let Ok(answer) = client.try_post("/api/v1/users", &user) else { return };
        let user = answer.expect(201);
        acknowledged.lock().unwrap().insert(text(&user["id"]), email);
    }
}

fn all_users(client: &Client) -> Users {
    let mut users = Users::new();
    for page in 1.. {
        let body = client.get(&format!("/api/v1/users?limit=20&page={page}")).expect(200);
        for user in body["data"].as_array().unwrap() {
            let twice = users.insert(text(&user["id"]), text(&user["email"]));
            assert_eq!(twice, None, "no user is on two pages");
        }
        if body["pagination"]["hasNext"] == false {
            break;
        }
    }
    users
}

/// Returns, by user id, how many entries record the creation of the user.
fn creations(client: &Client) -> BTreeMap<String, usize> {
    let mut entries = BTreeMap::new();
    for entry in client.audit_entries("&resourceType=USER&action=CREATE") {
        *entries.entry(text(&entry["resourceId"])).or_insert(0) += 1;
    }
    entries
}

/// Returns the stored users and their entries. PostgreSQL may still execute statements that the server sent before
/// the kill. So both are read again until they stop changing.
fn stored_users_and_entries(client: &Client) -> (Users, BTreeMap<String, usize>) {
    wait_for("the database to stop changing", TIMEOUT, || {
        let before = (all_users(client), creations(client));
        let after = (all_users(client), creations(client));
        (before == after).then_some(after)
    })
}

fn assert_nothing_is_lost(store: &Store, kind: &str) {
    let seed = fastrand::u64(..);
    println!("{kind}: seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut server = store.serve();
    let session = server.client().register("admiral@navy.example");
    let mut acknowledged = Users::from([(session.user.clone(), "admiral@navy.example".to_owned())]);

    for round in 1..=ROUNDS {
        let client = server.client().with_token(&session.access);
        let noted = Mutex::new(Users::new());
        thread::scope(|scope| {
            for number in 0..CLIENTS {
                let (client, noted) = (&client, &noted);
                scope.spawn(move || create_users(client, &format!("round-{round}-client-{number}"), noted));
            }
            let enough = || (noted.lock().unwrap().len() >= AT_LEAST).then_some(());
            wait_for("the first users to be acknowledged", TIMEOUT, enough);
            thread::sleep(Duration::from_millis(random.u64(200..=1000)));
            server.kill();
        });
        let noted = noted.into_inner().unwrap();
        let count = noted.len();
        acknowledged.extend(noted);

        server = store.serve();
        // The session from before the crash is still valid.
        let client = server.client().with_token(&session.access);
        let (users, creations) = stored_users_and_entries(&client);
        println!("{kind}: round {round}: {count} users acknowledged, {} stored in all", users.len());
        for (id, email) in &acknowledged {
            assert_eq!(users.get(id), Some(email), "{email} was acknowledged in round {round} or before");
        }
        let with_entry: BTreeSet<&String> = creations.keys().collect();
        assert_eq!(users.keys().collect::<BTreeSet<_>>(), with_entry, "the users, and the users that the entries name");
        let doubled: Vec<_> = creations.iter().filter(|(_, count)| **count != 1).collect();
        assert!(doubled.is_empty(), "{doubled:?}");
        // At most one request of each client was cut off in each round.
        assert!(users.len() <= acknowledged.len() + round * CLIENTS, "{} users", users.len());
    }
}

#[test]
fn sqlite_keeps_acknowledged_users_after_a_kill() {
    assert_nothing_is_lost(&Store::sqlite(), "SQLite");
}

#[test]
fn postgresql_keeps_acknowledged_users_after_a_kill() {
    assert_nothing_is_lost(&Store::postgres(), "PostgreSQL");
}

/// The fewest mutating requests of all rounds together, in a long run.
const REQUESTS: usize = 10_000;
const WRITERS: usize = 4;

/// A client that repeats three requests until the server is gone: it changes the name of its own user, changes the
/// name of its own organization, and records an event.
struct Writer {
    user: String,
    organization: String,
    number: usize,
}

/// The number of sent requests, and of acknowledged events.
#[derive(Default)]
struct Count {
    sent: AtomicUsize,
    events: AtomicUsize,
}

impl Writer {
    fn new(client: &Client, number: usize) -> Self {
        let email = format!("writer-{number}@navy.example");
        let user = json!({ "email": email, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
        let user = text(&client.post("/api/v1/users", &user).expect(201)["id"]);
        let organization = json!({ "name": format!("Fleet {number}") });
        let organization = text(&client.post("/api/v1/organizations", &organization).expect(201)["id"]);
        Self { user, organization, number }
    }

    /// Counts the requests that it sends and the acknowledged events. A broken connection means the kill.
    fn write(&self, client: &Client, round: usize, count: &Count) {
        let (user, organization) =
            (format!("/api/v1/users/{}", self.user), format!("/api/v1/organizations/{}", self.organization));
        let event = json!({ "action": "SAILED", "resourceType": "SHIP", "resourceId": self.number.to_string() });
        for step in 0.. {
            let name = format!("Round {round} step {step}");
            count.sent.fetch_add(3, Ordering::Relaxed);
            let Ok(answer) = client.try_patch(&user, &json!({ "firstName": name })) else { return };
            answer.expect(200);
            let Ok(answer) = client.try_patch(&organization, &json!({ "name": name })) else { return };
            answer.expect(200);
            let Ok(answer) = client.try_post("/api/v1/audit-logs", &event) else { return };
            answer.expect(201);
            count.events.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Fails unless the entries of a resource lead from its first name to its present one, and each entry starts with
    /// the name at which the previous one ended. A change without its entry is a gap, and so is an entry without its
    /// change.
    fn assert_chain(client: &Client, id: &str, field: &str, mut name: String, path: &str) {
        for entry in client.audit_entries(&format!("&resourceId={id}&action=UPDATE")) {
            assert_eq!(text(&entry["oldValue"][field]), name, "a change of {path} has no entry: {entry}");
            name = text(&entry["newValue"][field]);
        }
        assert_eq!(text(&client.get(&format!("{path}/{id}")).expect(200)[field]), name, "the last change of {path}");
    }

    fn assert_complete(&self, client: &Client) {
        Self::assert_chain(client, &self.user, "firstName", "Grace".to_owned(), "/api/v1/users");
        let fleet = format!("Fleet {}", self.number);
        Self::assert_chain(client, &self.organization, "name", fleet, "/api/v1/organizations");
    }
}

/// Kills the server at random moments in thousands of changes. Every change has its entry, every entry has
/// its change, and the sequence has no gap.
fn assert_every_change_is_audited(store: &Store, kind: &str) {
    let seed = fastrand::u64(..);
    println!("{kind}: seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut server = store.serve();
    let session = server.client().register("admiral@navy.example");
    let client = server.client().with_token(&session.access);
    let writers: Vec<Writer> = (0..WRITERS).map(|number| Writer::new(&client, number)).collect();
    let count = Count::default();
    let mut round = 0;
    while count.sent.load(Ordering::Relaxed) < repetitions(REQUESTS) {
        round += 1;
        let client = server.client().with_token(&session.access);
        thread::scope(|scope| {
            for writer in &writers {
                let (client, count) = (&client, &count);
                scope.spawn(move || writer.write(client, round, count));
            }
            thread::sleep(Duration::from_millis(random.u64(300..=2_000)));
            server.kill();
        });
        server = store.serve();
    }
    let client = server.client().with_token(&session.access);
    let unsealed = || client.get("/api/v1/audit-logs/checkpoint").expect(200)["unsealed"].as_array().unwrap().len();
    wait_for("all entries to be sequenced", TIMEOUT, || (unsealed() == 0).then_some(()));
    writers.iter().for_each(|writer| writer.assert_complete(&client));
    let events = client.audit_entries("&action=SAILED").len();
    let acknowledged = count.events.load(Ordering::Relaxed);
    // At most one event of each writer was cut off in each round.
    assert!((acknowledged..=acknowledged + round * WRITERS).contains(&events), "{events} of {acknowledged} events");

    let entries = client.audit_entries("").len();
    let sequenced = client.get("/api/v1/audit-logs/checkpoint").expect(200)["treeSize"].as_u64().unwrap();
    assert_eq!(sequenced, entries as u64, "every entry has one leaf");
    let verified = store.iam_server().args(["audit", "verify"]).run();
    assert_eq!(verified.code, Some(0), "{verified:?}");
    println!("{kind}: {} requests, {round} kills, {entries} entries", count.sent.load(Ordering::Relaxed));
}

#[test]
fn sqlite_audits_every_change_whenever_it_is_killed() {
    assert_every_change_is_audited(&Store::sqlite(), "SQLite");
}

#[test]
fn postgresql_audits_every_change_whenever_it_is_killed() {
    assert_every_change_is_audited(&Store::postgres(), "PostgreSQL");
}
