//! A change at one process takes effect at the others within a second, although they do not query the database for
//! the session of each request.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use iam_http_client::RequestError;
use serde_json::{Value, json};
use test_support::repetitions;

use crate::client::{Answer, Client, PASSWORD, text};
use crate::process::{Server, TIMEOUT, wait_for};
use crate::store::Store;

/// The delay that the documents promise.
pub(crate) const PROMISE: Duration = Duration::from_secs(1);
/// The number of revocations in a long run.
const TRIALS: usize = 1_000;
/// A request that needs the permission to read roles. Unlike `/auth/me`, it does not read the session itself.
pub(crate) const READ: &str = "/api/v1/roles?limit=1";
const READER: &str = "ada@navy.example";

#[test]
fn a_revocation_takes_effect_within_a_second_and_stays_in_effect() {
    let store = Store::postgres();
    let servers: Vec<Server> = (0..3).map(|_| store.serve()).collect();
    let clients: Vec<Client> = servers.iter().map(Server::client).collect();
    let session = clients[0].register("grace@navy.example");
    let admins: Vec<Client> = clients.iter().map(|client| client.with_token(&session.access)).collect();
    for client in &clients {
        wait_until_changes_are_received(client);
    }
    let mut reader = Reader::new(&clients, &admins[0]);
    for trial in 0..repetitions(TRIALS) {
        let (admin, revocation) = (&admins[trial % 3], Revocation::ALL[trial % Revocation::ALL.len()]);
        let others = [(trial + 1) % 3, (trial + 2) % 3].map(|number| clients[number].with_token(&reader.access));
        assert_reads_end_in_time(&others, revocation, || reader.revoke(admin, revocation));
        reader.restore(&clients, admin, revocation);
    }
    for client in &clients {
        assert_cached_sessions_cause_no_query(&client.with_token(&reader.access), client);
    }
}

/// A way to revoke a user's access.
#[derive(Clone, Copy, Debug)]
enum Revocation {
    EndSession,
    SuspendUser,
    RevokeRole,
    ChangeRole,
    SuspendOrganization,
}

impl Revocation {
    const ALL: [Self; 5] =
        [Self::EndSession, Self::SuspendUser, Self::RevokeRole, Self::ChangeRole, Self::SuspendOrganization];
}

/// A user who may read, by a role in an organization.
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

    fn revoke(&self, admin: &Client, revocation: Revocation) {
        let status = match revocation {
            Revocation::EndSession => admin.try_delete(&format!("/api/v1/sessions/{}", self.session)),
            Revocation::SuspendUser => admin.try_post(&format!("/api/v1/users/{}/suspend", self.user), &json!({})),
            Revocation::RevokeRole => admin.try_delete(&format!("/api/v1/role-assignments/{}", self.assignment)),
            Revocation::ChangeRole => self.permit(admin, "users:read"),
            Revocation::SuspendOrganization => self.set_organization(admin, "SUSPENDED"),
        };
        let status = status.unwrap().status;
        assert!([200, 204].contains(&status), "{revocation:?}: {status}");
    }

    fn restore(&mut self, clients: &[Client], admin: &Client, revocation: Revocation) {
        match revocation {
            Revocation::EndSession => self.log_in(&clients[0]),
            Revocation::SuspendUser => {
                admin.post(&format!("/api/v1/users/{}/reactivate", self.user), &json!({})).expect(200);
                self.log_in(&clients[0]);
            }
            Revocation::RevokeRole => {
                let body = json!({ "userId": self.user, "roleId": self.role, "organizationId": self.organization });
                self.assignment = text(&admin.post("/api/v1/role-assignments", &body).expect(201)["id"]);
            }
            Revocation::ChangeRole => drop(self.permit(admin, "roles:read").unwrap().expect(200)),
            Revocation::SuspendOrganization => drop(self.set_organization(admin, "ACTIVE").unwrap().expect(200)),
        }
    }

    fn permit(&self, admin: &Client, permission: &str) -> Result<Answer, RequestError> {
        admin.try_patch(&format!("/api/v1/roles/{}", self.role), &json!({ "permissions": [permission] }))
    }

    fn set_organization(&self, admin: &Client, status: &str) -> Result<Answer, RequestError> {
        admin.try_patch(&format!("/api/v1/organizations/{}", self.organization), &json!({ "status": status }))
    }
}

/// Reads at other processes all the time while access is revoked. Fails if a read succeeds later than promised.
fn assert_reads_end_in_time(others: &[Client; 2], revocation: Revocation, revoke: impl FnOnce()) {
    let allowed = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let (acknowledged, reads) = thread::scope(|scope| {
        let reading: Vec<_> = others
            .iter()
            .zip(&allowed)
            .map(|(client, allowed)| scope.spawn(move || read_until_refused(client, revocation, allowed)))
            .collect();
        let deadline = Instant::now() + TIMEOUT;
        while allowed.iter().any(|allowed| allowed.load(Ordering::Relaxed) < 2) {
            assert!(Instant::now() < deadline, "{revocation:?}: no read is allowed");
            thread::sleep(Duration::from_millis(1));
        }
        revoke();
        let acknowledged = Instant::now();
        (acknowledged, reading.into_iter().map(|reading| reading.join().unwrap()).collect::<Vec<_>>())
    });
    for reads in reads {
        let last = reads.iter().rfind(|read| read.is_allowed).unwrap();
        assert!(
            last.sent <= acknowledged + PROMISE,
            "{revocation:?}: a read was allowed {:?} later",
            last.sent - acknowledged
        );
    }
}

struct Read {
    sent: Instant,
    is_allowed: bool,
}

/// Reads until several reads are refused. After the first refusal, no read may be allowed.
fn read_until_refused(client: &Client, revocation: Revocation, allowed: &AtomicUsize) -> Vec<Read> {
    const REFUSALS: usize = 3;
    let began = Instant::now();
    let (mut reads, mut refusals) = (Vec::new(), 0);
    while refusals < REFUSALS {
        assert!(began.elapsed() < TIMEOUT, "{revocation:?}: no read is refused");
        let sent = Instant::now();
        let status = client.get(READ).status;
        let is_allowed = status == 200;
        assert!(is_allowed || [401, 403].contains(&status), "{revocation:?}: {status}");
        if is_allowed {
            assert_eq!(refusals, 0, "{revocation:?}: a read was allowed after a refusal");
            allowed.fetch_add(1, Ordering::Relaxed);
        } else if allowed.load(Ordering::Relaxed) > 0 {
            // Before the first allowed read, the process may not know yet that the access was restored.
            refusals += 1;
        }
        reads.push(Read { sent, is_allowed });
    }
    reads
}

/// Fails unless reads of a cached session cause no query. Otherwise the test would prove nothing.
fn assert_cached_sessions_cause_no_query(reader: &Client, client: &Client) {
    wait_for("reads of a cached session without a query", TIMEOUT, || {
        // The process may not know yet that the access was restored.
        if reader.get(READ).status != 200 {
            return None;
        }
        let asked = || metric(client, r#"database_query_duration_ms_count{operation="session_snapshot"}"#);
        let before = asked();
        (0..10).for_each(|_| drop(reader.get(READ).expect(200)));
        (asked() == before).then_some(())
    });
}

pub(crate) fn wait_until_changes_are_received(client: &Client) {
    wait_for("change notifications to arrive", TIMEOUT, || (metric(client, "changes_heard") == 1.0).then_some(()));
}

/// Reads until the session is refused. One second after this call, it must be refused.
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

/// How long a refusal that is promised within a second may take on a busy machine. Servers read the keys again every
/// 20 seconds, with or without a notification, and this must be less.
const SOON: Duration = Duration::from_secs(10);

/// Reads until the client is refused: its session has ended, or the key that signed its token was revoked.
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
