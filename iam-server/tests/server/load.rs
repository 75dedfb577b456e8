//! Clients that create organizations. They repeat an unanswered request under its idempotency key until it succeeds.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Client, text};
use crate::process::{TIMEOUT, wait_for};

const CLIENTS: usize = 4;

/// The created organizations, and the servers that create them.
pub(crate) struct Load {
    addresses: Mutex<Vec<SocketAddr>>,
    /// Ids by names.
    created: Mutex<BTreeMap<String, String>>,
    /// When the last one was created.
    last: Mutex<Option<Instant>>,
    enough: AtomicBool,
}

impl Load {
    /// Lets clients work while something happens to the servers. Returns the acknowledged organizations.
    pub(crate) fn during(
        addresses: Vec<SocketAddr>,
        token: &str,
        happens: impl FnOnce(&Self),
    ) -> BTreeMap<String, String> {
        let (created, last, enough) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        let load = Self { addresses: Mutex::new(addresses), created, last, enough };
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                let load = &load;
                scope.spawn(move || {
                    for number in 0.. {
                        if load.enough.load(Ordering::Relaxed) {
                            return;
                        }
                        let name = format!("branch-{client}-{number}");
                        let id = load.create(token, &name);
                        load.created.lock().unwrap().insert(name, id);
                        *load.last.lock().unwrap() = Some(Instant::now());
                    }
                });
            }
            let happened = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| happens(&load)));
            load.enough.store(true, Ordering::Relaxed);
            if let Err(failure) = happened {
                std::panic::resume_unwind(failure);
            }
        });
        load.created.into_inner().unwrap()
    }

    /// Waits until this many more organizations are created.
    pub(crate) fn wait_for(&self, more: usize) {
        let before = self.created.lock().unwrap().len();
        let grown = || (self.created.lock().unwrap().len() >= before + more).then_some(());
        wait_for("organizations to be created", TIMEOUT, grown);
    }

    /// Waits until an organization is created after a moment. Returns how long that took. The first half second does
    /// not count: an acknowledgement from before the moment may still arrive.
    pub(crate) fn pause_since(&self, moment: Instant, limit: Duration) -> Duration {
        let earliest = moment + Duration::from_millis(500);
        wait_for("an organization to be created", limit, || {
            self.last.lock().unwrap().filter(|last| *last > earliest).map(|last| last - moment)
        })
    }

    /// Sets the new address of a server.
    pub(crate) fn moved(&self, server: usize, address: SocketAddr) {
        self.addresses.lock().unwrap()[server] = address;
    }

    /// Creates an organization. Tries one server after another until it gets an answer.
    fn create(&self, token: &str, name: &str) -> String {
        let started = Instant::now();
        for attempt in name.len().. {
            assert!(started.elapsed() < 2 * TIMEOUT, "{name} is not created");
            let address = {
                let addresses = self.addresses.lock().unwrap();
                addresses[attempt % addresses.len()]
            };
            let client = Client::of(address).with_token(token).with_key(name);
            match client.try_post("/api/v1/organizations", &json!({ "name": name })) {
                Ok(answer) if answer.status == 201 => return text(&answer.body["id"]),
                // A client may repeat these: the service is unavailable, or the same request is still in progress.
                Ok(answer) => assert!([409, 503].contains(&answer.status), "{name}: {} {}", answer.status, answer.body),
                // The server was killed, or has not started yet.
                Err(_) => {}
            }
            thread::sleep(Duration::from_millis(20));
        }
        unreachable!("the loop does not end")
    }
}

/// Fails unless every acknowledged organization exists once and is recorded once, and no other one exists.
pub(crate) fn assert_all_are_there_once(client: &Client, created: BTreeMap<String, String>) {
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
    assert_eq!(found, created);
    let entries = client.audit_entries("&resourceType=ORGANIZATION&action=CREATE");
    let mut recorded: Vec<String> = entries.iter().map(|entry| text(&entry["resourceId"])).collect();
    recorded.sort_unstable();
    let mut ids: Vec<String> = created.into_values().collect();
    ids.sort_unstable();
    assert_eq!(recorded, ids);
}
