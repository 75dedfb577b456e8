//! Webhooks: what receivers get from a server that is restarted, killed or one of several.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Session, text};
use crate::process::{Launch, Server, TIMEOUT, wait_for};
use crate::store::Store;

/// A receiver that accepts every event. It notes their resources.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let received = Arc::default();
        let this = Self { address: listener.local_addr().unwrap(), received: Arc::clone(&received) };
        thread::spawn(move || {
            for connection in listener.incoming() {
                let (connection, received) = (connection.unwrap(), Arc::clone(&received));
                thread::spawn(move || serve(connection, &received));
            }
        });
        this
    }

    fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub(crate) fn resources(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }

    /// Waits until it got the event about each of these resources.
    fn wait_for_all(&self, expected: &BTreeSet<String>) {
        let all = || expected.is_subset(&self.resources().into_iter().collect()).then_some(());
        wait_for("the events", TIMEOUT, all);
    }
}

fn serve(mut connection: TcpStream, received: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    // A killed server leaves a request that is cut off.
    while let Some(body) = read_request(&mut reader) {
        let message: Value = serde_json::from_slice(&body).unwrap();
        // A test has no resource.
        if let Some(resource) = message["data"]["resourceId"].as_str() {
            received.lock().unwrap().push(resource.to_owned());
        }
        if connection.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").is_err() {
            return;
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().ok(),
            None if line == "\r\n" => break,
            _ => {}
        }
    }
    let mut body = vec![0; length?];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

/// A server whose webhooks may reach this machine.
fn server(store: &Store) -> Launch {
    store.iam_server().env("IAM_WEBHOOKS_ALLOW_PRIVATE", "on")
}

fn add_webhook(client: &Client, url: &str) -> Value {
    client.post("/api/v1/webhooks", &json!({ "url": url, "types": ["LETTER.*"] })).expect(201)
}

/// Records an event of the application.
fn write(client: &Client, resource: &str) {
    let event = json!({ "action": "SENT", "resourceType": "LETTER", "resourceId": resource });
    client.post("/api/v1/audit-logs", &event).expect(201);
}

#[test]
fn webhooks_reach_private_addresses_only_where_the_operator_allows_it() {
    let (store, receiver) = (Store::sqlite(), Receiver::new());
    let strict = store.serve();
    let session = strict.client().register("grace@navy.example");
    let client = strict.client().with_token(&session.access);
    let body = json!({ "url": receiver.url(), "types": ["LETTER.*"] });
    let refused = client.post("/api/v1/webhooks", &body).expect(400);
    assert_eq!(refused["errors"][0]["field"], "url", "{refused}");
    strict.stop();

    let open = server(&store).serve();
    open.log().wait_for_line("webhooks_allow_private is on");
    let client = open.client().with_token(&session.access);
    let webhook = add_webhook(&client, &receiver.url());
    write(&client, "one");
    receiver.wait_for_all(&["one".to_owned()].into());
    open.stop();

    // A webhook from before the change of the setting reaches nothing either.
    let strict = store.serve();
    let client = strict.client().with_token(&session.access);
    let path = format!("/api/v1/webhooks/{}/test", text(&webhook["id"]));
    let answer = client.post_text(&path, "").expect(200);
    assert_eq!(answer["error"], "the host leads to no public address");
    assert_eq!(receiver.resources(), ["one"]);
}

#[test]
fn a_restarted_server_continues_with_the_next_event() {
    for store in [Store::sqlite(), Store::postgres()] {
        let receiver = Receiver::new();
        let mut running = server(&store).serve();
        let session = running.client().register("grace@navy.example");
        add_webhook(&running.client().with_token(&session.access), &receiver.url());
        for round in 0..3 {
            let client = running.client().with_token(&session.access);
            let resources = [0, 1].map(|number| format!("{round}-{number}"));
            resources.iter().for_each(|resource| write(&client, resource));
            if round == 1 {
                receiver.wait_for_all(&resources.into());
            }
            let ended = running.stop();
            assert_eq!(ended.code, Some(0), "{}", ended.log);
            running = server(&store).serve();
        }
        let expected: Vec<_> = (0..3).flat_map(|round| [0, 1].map(|number| format!("{round}-{number}"))).collect();
        receiver.wait_for_all(&expected.iter().cloned().collect());
        // A server that stops ends its attempts, so each event comes once.
        assert_eq!(receiver.resources(), expected);
    }
}

/// Kills the delivering replica again and again while events are recorded through another one.
#[test]
fn killed_replicas_send_every_event_in_order() {
    const KILLS: usize = 5;
    const EVENTS: usize = 20;
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (store, receiver) = (Store::postgres(), Receiver::new());
    let mut delivering = server(&store).serve();
    let session = delivering.client().register("grace@navy.example");
    add_webhook(&delivering.client().with_token(&session.access), &receiver.url());
    let mut longest = Duration::ZERO;
    for kill in 0..KILLS {
        let next = server(&store).serve();
        let killed = thread::scope(|scope| {
            let client = next.client().with_token(&session.access);
            scope.spawn(move || (0..EVENTS).for_each(|number| write(&client, &resource(kill, number))));
            thread::sleep(Duration::from_millis(random.u64(0..300)));
            delivering.kill();
            Instant::now()
        });
        write(&next.client().with_token(&session.access), &resource(kill, EVENTS));
        receiver.wait_for_all(&[resource(kill, EVENTS)].into());
        longest = longest.max(killed.elapsed());
        delivering = next;
    }
    let expected: Vec<_> = (0..KILLS).flat_map(|kill| (0..=EVENTS).map(move |number| resource(kill, number))).collect();
    receiver.wait_for_all(&expected.iter().cloned().collect());
    println!("a killed replica was replaced within {longest:?}");
    let received = receiver.resources();
    // Events may come twice, but each one comes for the first time after those before it.
    let mut seen = BTreeSet::new();
    let first: Vec<_> = received.iter().filter(|resource| seen.insert((*resource).clone())).cloned().collect();
    assert_eq!(first, expected);
    println!("{} of {} events came twice", received.len() - expected.len(), expected.len());
    shown_as_delivered(&delivering, &session, expected.len());
}

fn resource(kill: usize, number: usize) -> String {
    format!("{kill}-{number}")
}

fn shown_as_delivered(server: &Server, session: &Session, count: usize) {
    let client = server.client().with_token(&session.access);
    let webhooks = client.get("/api/v1/webhooks").expect(200);
    let path = format!("/api/v1/webhooks/{}/deliveries", text(&webhooks["data"][0]["id"]));
    let all = || {
        let deliveries = client.get(&path).expect(200);
        let statuses = deliveries["data"].as_array().unwrap().iter().map(|delivery| text(&delivery["status"]));
        (statuses.filter(|status| status == "DELIVERED").count() == count).then_some(())
    };
    wait_for("the deliveries to be recorded", TIMEOUT, all);
}
