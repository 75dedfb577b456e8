//! A directory makes users and groups, changes them and suspends half of the users, over eight connections, while
//! answers are lost and the server is killed. At the end, the directory and the tenant agree: nothing is missing or
//! doubled, and each change has one entry.
//!
//! `IAM_PROVISIONING_USERS` and `IAM_PROVISIONING_GROUPS` set the size.

mod agreement;
mod connection;
mod plan;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};

use crate::client::text;
use crate::process::{Server, wait_for};
use crate::store::Store;

use agreement::Agreement;
use connection::Connection;
use plan::{Plan, Step};

const CONNECTIONS: usize = 8;
/// How long the steps before a kill may take. Each step has a limit of its own.
const LIMIT: Duration = Duration::from_secs(3_600);

const ADMINISTRATOR: &str = "admiral@navy.example";
/// The permission that all mapped roles give.
const CREW: &str = "ships:sail";
/// What the service account may do, and its key.
const PERMISSIONS: [&str; 6] =
    ["users:create", "users:read", "users:update", "role-assignments:create", "role-assignments:delete", CREW];

/// A directory, and what it knows.
struct Run {
    plan: Plan,
    /// Where the server is. `None` after a kill.
    address: Mutex<Option<SocketAddr>>,
    /// The token of the administrator.
    admin: String,
    /// The API key of the directory.
    key: String,
    /// The identifier of the directory.
    directory: String,
    /// The roles to which groups are mapped.
    roles: Vec<String>,
    /// The identifiers of its users, once it knows them.
    users: Vec<OnceLock<String>>,
    /// The identifiers of its groups, once it knows them.
    groups: Vec<OnceLock<String>>,
}

impl Run {
    fn begin(server: &Server, plan: Plan) -> Self {
        let admin = server.client().register(ADMINISTRATOR).access;
        let client = server.client().with_token(&admin);
        let made = |path: &str, body: Value| client.post(&format!("/api/v1/{path}"), &body).expect(201);
        let id = |made: Value| text(&made["id"]);
        made("permissions", json!({ "name": CREW }));
        let account = id(made("service-accounts", json!({ "name": "Navy" })));
        let role = id(made("roles", json!({ "name": "DIRECTORY", "permissions": PERMISSIONS })));
        made("role-assignments", json!({ "userId": account, "roleId": role }));
        let key = json!({ "name": "navy", "permissions": PERMISSIONS });
        let key = text(&made(&format!("users/{account}/api-keys"), key)["key"]);
        let directory = id(made("directories", json!({ "name": "Navy", "serviceAccountId": account })));
        let role = |number| json!({ "name": format!("CREW_{number}"), "permissions": [CREW] });
        let roles = (0..plan.roles()).map(|number| id(made("roles", role(number)))).collect();
        let unknown = |count: usize| (0..count).map(|_| OnceLock::new()).collect();
        let (users, groups) = (unknown(plan.users), unknown(plan.groups));
        Self { plan, address: Mutex::new(Some(server.address)), admin, key, directory, roles, users, groups }
    }

    fn user(&self, number: usize) -> &str {
        self.users[number].get().unwrap()
    }

    fn group(&self, number: usize) -> &str {
        self.groups[number].get().unwrap()
    }

    /// The role to which a group is mapped.
    fn role(&self, group: usize) -> Option<&str> {
        Some(&self.roles[self.plan.role(group)?])
    }

    /// Takes steps over all connections, in any order, and kills the server in the middle. Returns the server after it.
    fn take(&self, mut steps: Vec<Step>, server: Server, store: &Store, random: &mut Rng) -> Server {
        random.shuffle(&mut steps);
        let before_kill = random.usize(steps.len() / 4..=steps.len() * 3 / 4);
        let (next, taken, working) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(CONNECTIONS));
        thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                let (steps, next, taken, working) = (&steps, &next, &taken, Working(&working));
                let mut connection = Connection::new(self, random.fork());
                scope.spawn(move || {
                    let _working = working;
                    while let Some(step) = steps.get(next.fetch_add(1, Ordering::Relaxed)) {
                        connection.take(step);
                        taken.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            wait_for("the steps before the kill", LIMIT, || {
                let is_due = taken.load(Ordering::Relaxed) >= before_kill;
                (is_due || working.load(Ordering::Relaxed) == 0).then_some(())
            });
            server.kill();
            *self.address.lock().unwrap() = None;
            let server = store.serve();
            *self.address.lock().unwrap() = Some(server.address);
            server
        })
    }
}

/// A connection that has not ended, also not by a failure.
struct Working<'a>(&'a AtomicUsize);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn assert_directory_and_tenant_agree(store: &Store, kind: &str) {
    let seed = fastrand::u64(..);
    println!("{kind}: seed {seed}");
    let mut random = Rng::with_seed(seed);
    let server = store.serve();
    let mut run = Run::begin(&server, Plan::from_environment());
    let server = run.take(run.plan.creations(), server, store, &mut random);
    // The first token could expire in a long run.
    run.admin = server.client().log_in(ADMINISTRATOR).access;
    let server = run.take(run.plan.changes(), server, store, &mut random);
    let server = run.take(run.plan.departures(), server, store, &mut random);
    run.admin = server.client().log_in(ADMINISTRATOR).access;
    Agreement::of(&run, &server).check(store);
}

#[test]
fn a_directory_and_its_tenant_agree_on_sqlite_although_the_server_is_killed() {
    assert_directory_and_tenant_agree(&Store::sqlite(), "SQLite");
}

#[test]
fn a_directory_and_its_tenant_agree_on_postgresql_although_the_server_is_killed() {
    assert_directory_and_tenant_agree(&Store::postgres(), "PostgreSQL");
}
