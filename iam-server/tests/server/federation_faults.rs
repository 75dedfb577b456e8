//! Logins by a foreign OpenID Connect provider while servers and the provider are killed, and at several replicas.

use std::net::{SocketAddr, TcpListener};
use std::thread;

use serde_json::{Value, json};

use crate::client::{Answer, Client, text};
use crate::federation::{DONE, Fixture, Page, Provider, Web};
use crate::process::{Server, TIMEOUT, free_address, wait_for};
use crate::store::Store;

/// Where people reach the servers. No program answers there: the browser stops, and a test chooses the server.
const PUBLIC: &str = "https://iam.example.com";

/// A tenant whose servers are behind one address.
struct Service {
    fixture: Fixture,
    provider: SocketAddr,
}

impl Service {
    fn on(store: Store) -> (Self, Provider) {
        let provider = free_address();
        let start = |callback: &str, backchannel: &str| Provider::oidc_provider(provider, callback, backchannel);
        let (fixture, running) = Fixture::on(store, Some(PUBLIC), start);
        (Self { fixture, provider }, running)
    }

    fn after_kill(self) -> Self {
        Self { fixture: self.fixture.after_kill(), ..self }
    }

    fn callback(&self) -> String {
        text(&self.fixture.provider["callbackUrl"])
    }

    /// Starts the provider again.
    fn start_provider(&self) -> Provider {
        let callback = self.callback();
        Provider::oidc_provider(self.provider, &callback, &callback)
    }

    fn keys_of_provider(&self) -> Value {
        Client::of(self.provider).get("/jwks").expect(200)
    }

    /// Begins a login at a server. Returns the path to which the provider sends the browser back.
    fn log_in_at_provider(&self, server: &Server) -> String {
        let web = Web::ending_at(&self.callback());
        let page = web.open(&self.fixture.start(&server.client(), &json!({})));
        let page = web.send(&page, &[("login", "grace"), ("password", "x")]);
        let path = page.redirect.strip_prefix(PUBLIC);
        path.unwrap_or_else(|| panic!("leads to '{}': {}", page.redirect, page.body)).to_owned()
    }

    fn finish(&self, server: &Server, page: &Page) -> Answer {
        self.fixture.finish(&server.client(), page)
    }

    /// A whole login at the one server.
    fn log_in(&self) -> Value {
        let server = &self.fixture.server;
        let path = self.log_in_at_provider(server);
        self.finish(server, &come_back(server, &path)).expect(200)
    }

    /// The users who have logged in by the provider, as the audit log names them.
    fn logins(&self) -> Vec<Value> {
        let entries = self.fixture.ada.audit_entries("&action=LOGIN");
        let by_provider = entries.into_iter().filter(|entry| entry["metadata"]["method"] == "federation");
        by_provider.map(|entry| entry["userId"].clone()).collect()
    }

    fn users(&self) -> usize {
        self.fixture.ada.get("/api/v1/users").expect(200)["data"].as_array().unwrap().len()
    }
}

/// Comes back from the provider to this server.
fn come_back(server: &Server, path: &str) -> Page {
    Web::new().request(&format!("http://{}{path}", server.address), &[])
}

#[track_caller]
fn expect_refusal_of(field: &str, answer: Answer) {
    let problem = answer.expect(400);
    assert_eq!(problem["errors"][0]["field"], field, "{problem}");
}

#[test]
fn a_login_that_has_come_back_is_finished_once_although_the_server_is_killed() {
    let (service, _running) = Service::on(Store::sqlite());
    let path = service.log_in_at_provider(&service.fixture.server);
    let page = come_back(&service.fixture.server, &path);

    let service = service.after_kill();
    let grace = service.finish(&service.fixture.server, &page).expect(200);
    assert_eq!(grace["user"]["email"], "grace@example.com");

    let service = service.after_kill();
    let server = &service.fixture.server;
    expect_refusal_of("code", service.finish(server, &page));
    expect_refusal_of("state", server.client().get(&path));
    server.client().with_token(&text(&grace["accessToken"])).get("/api/v1/auth/me").expect(200);
    assert_eq!(service.logins(), [grace["user"]["id"].clone()]);
}

#[test]
fn a_server_that_is_killed_in_the_callback_leaves_nothing_of_the_login() {
    let (service, running) = Service::on(Store::sqlite());
    let path = service.log_in_at_provider(&service.fixture.server);
    drop(running);
    // In place of the provider: it accepts connections, and never answers.
    let silent = TcpListener::bind(service.provider).unwrap();
    silent.set_nonblocking(true).unwrap();
    let (client, back) = (service.fixture.server.client(), path.clone());
    let unanswered = thread::spawn(move || client.try_get(&back));
    // By now, the state is spent.
    let connection = wait_for("the request for the tokens", TIMEOUT, || silent.accept().ok());
    let service = service.after_kill();
    assert!(unanswered.join().unwrap().is_err());
    drop((connection, silent));

    let _running = service.start_provider();
    expect_refusal_of("state", service.fixture.server.client().get(&path));
    assert_eq!((service.users(), service.logins().len()), (1, 0));
    // The person begins again.
    let grace = service.log_in();
    assert_eq!((service.users(), service.logins()), (2, vec![grace["user"]["id"].clone()]));
}

#[test]
fn each_step_of_a_login_may_reach_another_replica() {
    let (service, _running) = Service::on(Store::postgres());
    let (one, other) = (&service.fixture.server, &service.fixture.replica());
    for [start, callback, finish] in [[one, other, one], [one, one, other], [other, one, one]] {
        let path = service.log_in_at_provider(start);
        let page = come_back(callback, &path);
        let grace = service.finish(finish, &page).expect(200);
        for server in [one, other] {
            server.client().with_token(&text(&grace["accessToken"])).get("/api/v1/auth/me").expect(200);
            expect_refusal_of("code", service.finish(server, &page));
            expect_refusal_of("state", server.client().get(&path));
        }
    }
    // The first login makes the user whom the others find.
    assert_eq!((service.users(), service.logins().len()), (2, 3));
}

#[test]
fn a_code_is_taken_by_one_of_two_replicas() {
    const ROUNDS: usize = 5;
    let (service, _running) = Service::on(Store::postgres());
    let (one, other) = (&service.fixture.server, &service.fixture.replica());
    // Repeated, because a race does not go wrong every time.
    for _ in 0..ROUNDS {
        let page = come_back(one, &service.log_in_at_provider(other));
        let (service, page) = (&service, &page);
        let mut statuses = thread::scope(|scope| {
            let asked = [one, other].map(|server| scope.spawn(move || service.finish(server, page).status));
            asked.map(|asked| asked.join().unwrap())
        });
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400]);
    }
    assert_eq!((service.users(), service.logins().len()), (2, ROUNDS));
}

#[test]
fn new_keys_of_a_provider_are_read() {
    let (service, running) = Service::on(Store::sqlite());
    let (first, former) = (service.log_in(), service.keys_of_provider());
    drop(running);
    let _running = service.start_provider();
    assert_ne!(service.keys_of_provider(), former);
    assert_eq!(service.log_in()["user"]["id"], first["user"]["id"]);
}

#[test]
fn a_login_ends_if_the_provider_is_killed_before_it_tells_who_the_person_is() {
    let (service, running) = Service::on(Store::sqlite());
    let server = &service.fixture.server;
    let path = service.log_in_at_provider(server);
    drop(running);
    assert_eq!(come_back(server, &path).redirect, format!("{DONE}?error=unavailable"));
    expect_refusal_of("state", server.client().get(&path));
    // No token was refused.
    assert!(service.fixture.ada.audit_entries("&action=LOGIN_FAILURE").is_empty());

    let _running = service.start_provider();
    let grace = service.log_in();
    assert_eq!(service.logins(), [grace["user"]["id"].clone()]);
}
