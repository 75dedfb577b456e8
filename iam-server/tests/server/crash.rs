//! `kill -9` in a stream of writes: whatever was acknowledged is there, with its audit entry, and nothing is there
//! without one.
//!
//! PostgreSQL runs with `fsync=off` here: that would matter if the machine lost power, and it is the server that is
//! killed, while the database and the kernel live on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, PASSWORD, text};
use crate::process::{PATIENCE, wait_for};
use crate::store::Store;

const ROUNDS: usize = 3;
const CLIENTS: usize = 4;
/// How many users a round acknowledges at least before it is cut short, so that there is something to lose.
const AT_LEAST: usize = 8;

/// By the identifier, the e-mail.
type Users = BTreeMap<String, String>;

/// One client creates users until the server is gone, and notes those that were acknowledged.
fn create_users(client: &Client, name: &str, acknowledged: &Mutex<Users>) {
    for number in 0.. {
        let email = format!("{name}-{number}@navy.example");
        let user = json!({ "email": email, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
        // A connection that breaks is the kill; an answer that comes must be a good one.
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

/// How many entries say that it was created, by the user's identifier.
fn creations(client: &Client) -> BTreeMap<String, usize> {
    let mut entries = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/api/v1/audit-logs?resourceType=USER&action=CREATE&limit=20{cursor}");
        let body = client.get(&path).expect(200);
        for entry in body["data"].as_array().unwrap() {
            *entries.entry(text(&entry["resourceId"])).or_insert(0) += 1;
        }
        match &body["pagination"]["nextCursor"] {
            Value::String(next) => cursor = format!("&cursor={next}"),
            _ => return entries,
        }
    }
}

/// The users and their entries as they stand together. PostgreSQL may still be at work on what the server asked of it
/// before it was killed, so what changes while it is read is read again.
fn what_is_stored(client: &Client) -> (Users, BTreeMap<String, usize>) {
    wait_for("the database to come to rest", PATIENCE, || {
        let before = (all_users(client), creations(client));
        let after = (all_users(client), creations(client));
        (before == after).then_some(after)
    })
}

fn nothing_is_lost(store: &Store, kind: &str) {
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
            wait_for("the first users to be acknowledged", PATIENCE, enough);
            thread::sleep(Duration::from_millis(random.u64(200..=1000)));
            server.kill();
        });
        let noted = noted.into_inner().unwrap();
        let count = noted.len();
        acknowledged.extend(noted);

        server = store.serve();
        // The session of before the crash still stands.
        let client = server.client().with_token(&session.access);
        let (users, creations) = what_is_stored(&client);
        println!("{kind}: round {round}: {count} users acknowledged, {} stored in all", users.len());
        for (id, email) in &acknowledged {
            assert_eq!(users.get(id), Some(email), "{email} was acknowledged in round {round} or before");
        }
        let with_entry: BTreeSet<&String> = creations.keys().collect();
        assert_eq!(users.keys().collect::<BTreeSet<_>>(), with_entry, "users, and what the entries speak of");
        let doubled: Vec<_> = creations.iter().filter(|(_, count)| **count != 1).collect();
        assert!(doubled.is_empty(), "{doubled:?}");
        // At most one request of each client was cut off in each round.
        assert!(users.len() <= acknowledged.len() + round * CLIENTS, "{} users", users.len());
    }
}

#[test]
fn sqlite_keeps_what_was_acknowledged() {
    nothing_is_lost(&Store::sqlite(), "SQLite");
}

#[test]
fn postgresql_keeps_what_was_acknowledged() {
    nothing_is_lost(&Store::postgres(), "PostgreSQL");
}
