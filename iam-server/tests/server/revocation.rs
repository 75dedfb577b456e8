//! What one process is told counts at the others within a second, though they do not ask the database who asks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Answer, Client, PASSWORD, text};
use crate::process::{PATIENCE, Server, wait_for};
use crate::store::Store;

/// What the documents promise.
pub(crate) const PROMISE: Duration = Duration::from_secs(1);
const TRIALS: usize = 1_000;
/// What somebody asks for who may see roles. Unlike `/auth/me`, it does not read the session itself.
pub(crate) const READ: &str = "/api/v1/roles?limit=1";
const READER: &str = "ada@navy.example";

#[test]
fn who_is_refused_stays_refused_and_nobody_is_let_in_a_second_after_the_acknowledgement() {
    let store = Store::postgres();
    let servers: Vec<Server> = (0..3).map(|_| store.serve()).collect();
    let clients: Vec<Client> = servers.iter().map(Server::client).collect();
    let session = clients[0].register("grace@navy.example");
    let admins: Vec<Client> = clients.iter().map(|client| client.with_token(&session.access)).collect();
    for client in &clients {
        wait_until_changes_are_heard(client);
    }
    let mut reader = Reader::new(&clients, &admins[0]);
    for trial in 0..TRIALS {
        let (admin, taking) = (&admins[trial % 3], Taking::ALL[trial % Taking::ALL.len()]);
        let others = [(trial + 1) % 3, (trial + 2) % 3].map(|number| clients[number].with_token(&reader.access));
        assert_none_is_let_in(&others, taking, || reader.take(admin, taking));
        reader.give_back(&clients, admin, taking);
    }
    for client in &clients {
        assert_nothing_is_asked_about_who_is_known(&client.with_token(&reader.access), client);
    }
}

/// How somebody is kept from reading.
#[derive(Clone, Copy, Debug)]
enum Taking {
    EndSession,
    SuspendUser,
    RevokeRole,
    ChangeRole,
    SuspendOrganization,
}

impl Taking {
    const ALL: [Self; 5] =
        [Self::EndSession, Self::SuspendUser, Self::RevokeRole, Self::ChangeRole, Self::SuspendOrganization];
}

/// Somebody who may read by a role in an organization.
struct Reader {
    user: String,
    access: String,
    session: String,
    role: String,
    organization: String,
    assignment: String,
}

impl Reader {
    fn new(clients: &[Client], admin: &Client) -> Self {
        let user = json!({ "email": READER, "password": PASSWORD, "firstName": "Ada", "lastName": "Lovelace" });
        let made = |path: &str, body: &Value| text(&admin.post(path, body).expect(201)["id"]);
        let user = made("/api/v1/users", &user);
        let role = made("/api/v1/roles", &json!({ "name": "READER", "permissions": ["roles:read"] }));
        let organization = made("/api/v1/organizations", &json!({ "name": "Engines" }));
        let assignment = made(
            "/api/v1/role-assignments",
            &json!({ "userId": user, "roleId": role, "organizationId": organization }),
        );
        let mut reader = Self { user, access: String::new(), session: String::new(), role, organization, assignment };
        reader.log_in(&clients[0]);
        reader
    }

    fn log_in(&mut self, client: &Client) {
        self.access = client.log_in(READER).access;
        self.session = text(&client.with_token(&self.access).get("/api/v1/auth/me").expect(200)["session"]["id"]);
    }

    fn take(&self, admin: &Client, taking: Taking) {
        let status = match taking {
            Taking::EndSession => admin.try_delete(&format!("/api/v1/sessions/{}", self.session)),
            Taking::SuspendUser => admin.try_post(&format!("/api/v1/users/{}/suspend", self.user), &json!({})),
            Taking::RevokeRole => admin.try_delete(&format!("/api/v1/role-assignments/{}", self.assignment)),
            Taking::ChangeRole => self.permit(admin, "users:read"),
            Taking::SuspendOrganization => self.set_organization(admin, "SUSPENDED"),
        };
        let status = status.unwrap().status;
        assert!([200, 204].contains(&status), "{taking:?}: {status}");
    }

    fn give_back(&mut self, clients: &[Client], admin: &Client, taking: Taking) {
        match taking {
            Taking::EndSession => self.log_in(&clients[0]),
            Taking::SuspendUser => {
                admin.post(&format!("/api/v1/users/{}/reactivate", self.user), &json!({})).expect(200);
                self.log_in(&clients[0]);
            }
            Taking::RevokeRole => {
                let body = json!({ "userId": self.user, "roleId": self.role, "organizationId": self.organization });
                self.assignment = text(&admin.post("/api/v1/role-assignments", &body).expect(201)["id"]);
            }
            Taking::ChangeRole => drop(self.permit(admin, "roles:read").unwrap().expect(200)),
            Taking::SuspendOrganization => drop(self.set_organization(admin, "ACTIVE").unwrap().expect(200)),
        }
    }

    fn permit(&self, admin: &Client, permission: &str) -> Result<Answer, ureq::Error> {
        admin.try_patch(&format!("/api/v1/roles/{}", self.role), &json!({ "permissions": [permission] }))
    }

    fn set_organization(&self, admin: &Client, status: &str) -> Result<Answer, ureq::Error> {
        admin.try_patch(&format!("/api/v1/organizations/{}", self.organization), &json!({ "status": status }))
    }
}

/// Reads at other processes all the time while something is taken away.
fn assert_none_is_let_in(others: &[Client; 2], taking: Taking, take: impl FnOnce()) {
    let allowed = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let (acknowledged, reads) = thread::scope(|scope| {
        let reading: Vec<_> = others
            .iter()
            .zip(&allowed)
            .map(|(client, allowed)| scope.spawn(move || read_until_refused(client, taking, allowed)))
            .collect();
        let deadline = Instant::now() + PATIENCE;
        while allowed.iter().any(|allowed| allowed.load(Ordering::Relaxed) < 2) {
            assert!(Instant::now() < deadline, "{taking:?}: nobody is allowed to read");
            thread::sleep(Duration::from_millis(1));
        }
        take();
        let acknowledged = Instant::now();
        (acknowledged, reading.into_iter().map(|reading| reading.join().unwrap()).collect::<Vec<_>>())
    });
    for reads in reads {
        let last = reads.iter().rfind(|read| read.is_allowed).unwrap();
        assert!(last.sent <= acknowledged + PROMISE, "{taking:?}: one was let in {:?} later", last.sent - acknowledged);
    }
}

struct Read {
    sent: Instant,
    is_allowed: bool,
}

/// Whoever is refused once is refused from then on.
fn read_until_refused(client: &Client, taking: Taking, allowed: &AtomicUsize) -> Vec<Read> {
    const REFUSALS: usize = 3;
    let began = Instant::now();
    let (mut reads, mut refusals) = (Vec::new(), 0);
    while refusals < REFUSALS {
        assert!(began.elapsed() < PATIENCE, "{taking:?}: nobody is refused");
        let sent = Instant::now();
        let status = client.get(READ).status;
        let is_allowed = status == 200;
        assert!(is_allowed || [401, 403].contains(&status), "{taking:?}: {status}");
        if is_allowed {
            assert_eq!(refusals, 0, "{taking:?}: one was refused and let in again");
            allowed.fetch_add(1, Ordering::Relaxed);
        } else if allowed.load(Ordering::Relaxed) > 0 {
            // Before that, what was given back last is still to be heard of.
            refusals += 1;
        }
        reads.push(Read { sent, is_allowed });
    }
    reads
}

/// Otherwise all of this would prove nothing.
fn assert_nothing_is_asked_about_who_is_known(reader: &Client, client: &Client) {
    wait_for("some reads of somebody known", PATIENCE, || {
        reader.get(READ).expect(200);
        let asked = || metric(client, r#"database_query_duration_ms_count{operation="session_snapshot"}"#);
        let before = asked();
        (0..10).for_each(|_| drop(reader.get(READ).expect(200)));
        (asked() == before).then_some(())
    });
}

pub(crate) fn wait_until_changes_are_heard(client: &Client) {
    wait_for("changes to be heard", PATIENCE, || (metric(client, "changes_heard") == 1.0).then_some(()));
}

/// Reads until the session is refused, as it must be from a second after this was called.
pub(crate) fn expect_refusal(client: &Client) {
    let promised = Instant::now() + PROMISE;
    loop {
        let sent = Instant::now();
        match client.get(READ).status {
            401 => return,
            status => assert!(status == 200 && sent <= promised, "{status}, {:?} too late", sent - promised),
        }
    }
}

/// How long a refusal that is promised within a second may take on a busy machine. Keys are read again every 20 seconds, heard
/// of or not, and this must be less.
const SOON: Duration = Duration::from_secs(10);

/// Reads until it is refused, by whatever: an end of the session, or of the key that signed its token.
pub(crate) fn wait_until_refused(client: &Client) {
    wait_for("a refusal", SOON, || match client.get(READ).status {
        401 => Some(()),
        status => {
            assert_eq!(status, 200);
            None
        }
    });
}

pub(crate) fn metric(client: &Client, series: &str) -> f64 {
    let metrics = text(&client.get("/metrics").expect(200));
    let value = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    value.map_or(0.0, |value| value.parse().unwrap())
}
