//! Clients that make organizations and do not give up: what was not answered they repeat under its key.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Client, text};
use crate::process::{PATIENCE, wait_for};

const CLIENTS: usize = 4;

/// What is being made, and where.
pub(crate) struct Load {
    addresses: Mutex<Vec<SocketAddr>>,
    /// Identifiers by names.
    made: Mutex<BTreeMap<String, String>>,
    enough: AtomicBool,
}

impl Load {
    /// Lets clients work while something happens to the servers, and gives what they were told is made.
    pub(crate) fn during(
        addresses: Vec<SocketAddr>,
        token: &str,
        happens: impl FnOnce(&Self),
    ) -> BTreeMap<String, String> {
        let (made, enough) = (Mutex::default(), AtomicBool::new(false));
        let load = Self { addresses: Mutex::new(addresses), made, enough };
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                let load = &load;
                scope.spawn(move || {
                    for number in 0.. {
                        if load.enough.load(Ordering::Relaxed) {
                            return;
                        }
                        let name = format!("branch-{client}-{number}");
                        let id = load.make(token, &name);
                        load.made.lock().unwrap().insert(name, id);
                    }
                });
            }
            let happened = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| happens(&load)));
            load.enough.store(true, Ordering::Relaxed);
            if let Err(failure) = happened {
                std::panic::resume_unwind(failure);
            }
        });
        load.made.into_inner().unwrap()
    }

    /// Waits until so many more are made.
    pub(crate) fn wait_for(&self, more: usize) {
        let before = self.made.lock().unwrap().len();
        let grown = || (self.made.lock().unwrap().len() >= before + more).then_some(());
        wait_for("some to be made", PATIENCE, grown);
    }

    /// A server has another address now.
    pub(crate) fn moved(&self, server: usize, address: SocketAddr) {
        self.addresses.lock().unwrap()[server] = address;
    }

    /// At one server or another, as often as it takes to get an answer.
    fn make(&self, token: &str, name: &str) -> String {
        let started = Instant::now();
        for attempt in name.len().. {
            assert!(started.elapsed() < 2 * PATIENCE, "{name} is not made");
            let address = {
                let addresses = self.addresses.lock().unwrap();
                addresses[attempt % addresses.len()]
            };
            let client = Client::of(address).with_token(token).with_key(name);
            match client.try_post("/api/v1/organizations", &json!({ "name": name })) {
                Ok(answer) if answer.status == 201 => return text(&answer.body["id"]),
                // What a client may repeat: the service is away, or the same request is still at work.
                Ok(answer) => assert!([409, 503].contains(&answer.status), "{name}: {} {}", answer.status, answer.body),
                // The server was killed, or is not there yet.
                Err(_) => {}
            }
            thread::sleep(Duration::from_millis(20));
        }
        unreachable!("it is tried for ever")
    }
}

/// Whatever was acknowledged is there and recorded, once each, and nothing else is.
pub(crate) fn assert_all_are_there_once(client: &Client, made: BTreeMap<String, String>) {
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
