//! The server under load for a chosen time. Checks whether its memory grows, and which tables grow.

use std::collections::BTreeMap;
use std::io::{Write as _, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use iam_benches::Outcome;
use iam_benches::database::{Bare, Database};
use iam_core::role::TENANT_ADMIN;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::api::{ask, credentials, person, text};
use crate::client::Connection;
use crate::process::Process;

const WORKERS: u64 = 16;
/// The number of memory samples.
const SAMPLES: u32 = 60;
/// The permitted growth of the memory from the second third of the time to the last third, as a fraction.
const TOLERANCE: f64 = 0.05;

/// Runs the load for this long. Fails if the memory or a table grows that should not.
pub(crate) async fn run(database: &Database, length: Duration) -> Outcome {
    let server = Process::server(database.url()).await?;
    let mut workers = Worker::all(&server).await?;
    // One round before the count, so that the rows that a round leaves are already in it.
    for worker in &mut workers {
        worker.round().await?;
    }
    let bare = database.bare().await?;
    let before = rows(&bare).await?;
    let rounds = Arc::<AtomicU64>::default();
    let deadline = Instant::now() + length;
    let mut tasks = JoinSet::new();
    for worker in workers {
        tasks.spawn(worker.work(deadline, Arc::clone(&rounds)));
    }
    let memory = watch(&server, length, &rounds).await?;
    while let Some(task) = tasks.join_next().await {
        task??;
    }
    let after = rows(&bare).await?;
    server.stop().await?;
    check(&memory, &before, &after)
}

/// An administrator with a connection.
struct Worker {
    connection: Connection,
    number: u64,
    user: String,
    organization: String,
}

impl Worker {
    async fn all(server: &Process) -> Outcome<Vec<Self>> {
        let mut connection = Connection::open(server.address).await?;
        let first = person(0);
        let registered = ask(&mut connection, "POST", "/auth/register", None, Some(first), 201).await?;
        let token = text(&registered, "/accessToken")?;
        let roles = ask(&mut connection, "GET", "/roles", Some(&token), None, 200).await?;
        let roles = roles.get("data").and_then(Value::as_array).ok_or("there are no roles")?;
        let role = roles.iter().find(|role| role.get("name").is_some_and(|name| name == TENANT_ADMIN));
        let role = text(role.ok_or("there is no administrator")?, "/id")?;
        let mut workers = Vec::new();
        for number in 1..=WORKERS {
            let mut make = async |path, body| {
                let made = ask(&mut connection, "POST", path, Some(&token), Some(body), 201).await?;
                text(&made, "/id")
            };
            let user = make("/users", person(number)).await?;
            make("/role-assignments", json!({ "userId": user, "roleId": role })).await?;
            let organization = make("/organizations", json!({ "name": format!("Branch {number}") })).await?;
            let connection = Connection::open(server.address).await?;
            workers.push(Self { connection, number, user, organization });
        }
        Ok(workers)
    }

    async fn work(mut self, deadline: Instant, rounds: Arc<AtomicU64>) -> Outcome {
        while Instant::now() < deadline {
            self.round().await?;
            rounds.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Does a round from login to logout. It leaves only audit entries.
    async fn round(&mut self) -> Outcome {
        let Self { connection, number, user, organization } = self;
        let login = Some(credentials(*number));
        let session = ask(connection, "POST", "/auth/login", None, login, 200).await?;
        let refresh = json!({ "refreshToken": text(&session, "/refreshToken")? });
        let session = ask(connection, "POST", "/auth/refresh", None, Some(refresh), 200).await?;
        let token = text(&session, "/accessToken")?;
        let mut by =
            async |method, path: &str, body, status| ask(connection, method, path, Some(&token), body, status).await;
        by("GET", "/auth/me", None, 200).await?;
        let name = json!({ "firstName": format!("Ada {}", fastrand::u16(..)) });
        by("PATCH", &format!("/users/{user}"), Some(name), 200).await?;
        let name = json!({ "name": format!("Branch {number} {}", fastrand::u16(..)) });
        by("PATCH", &format!("/organizations/{organization}"), Some(name), 200).await?;
        let role = json!({ "name": format!("SOAK_{number}"), "permissions": ["users:read"] });
        let role = text(&by("POST", "/roles", Some(role), 201).await?, "/id")?;
        let given = json!({ "userId": user, "roleId": role, "organizationId": organization });
        let given = text(&by("POST", "/role-assignments", Some(given), 201).await?, "/id")?;
        by("GET", &format!("/users/{user}/roles"), None, 200).await?;
        by("DELETE", &format!("/role-assignments/{given}"), None, 204).await?;
        by("DELETE", &format!("/roles/{role}"), None, 204).await?;
        by("GET", "/users?search=ada&limit=100", None, 200).await?;
        by("GET", "/audit-logs?limit=100", None, 200).await?;
        by("POST", "/auth/logout", None, 204).await?;
        ask(connection, "GET", "/auth/me", Some(&token), None, 401).await?;
        Ok(())
    }
}

/// Prints the progress at intervals. Returns the samples of the server's memory, in MiB.
async fn watch(server: &Process, length: Duration, rounds: &AtomicU64) -> Outcome<Vec<f64>> {
    let (began, mut memory) = (Instant::now(), Vec::new());
    for sample in 1..=SAMPLES {
        sleep((length * sample / SAMPLES).saturating_sub(began.elapsed())).await;
        let resident = server.resident_memory()?;
        memory.push(resident);
        let (elapsed, rounds) = (began.elapsed().as_secs(), rounds.load(Ordering::Relaxed));
        writeln!(stdout(), "{elapsed:5} s  {rounds:8} rounds  {resident:7.1} MiB")?;
    }
    Ok(memory)
}

/// The number of rows in each table.
async fn rows(bare: &Bare) -> Outcome<BTreeMap<String, i64>> {
    let tables: Vec<String> = match bare {
        Bare::Sqlite(pool) => {
            let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
            sqlx::query_scalar(tables).fetch_all(pool).await?
        }
        Bare::Postgres(pool) => {
            let tables = "SELECT 'iam.' || relname FROM pg_class
                WHERE relnamespace = 'iam'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition";
            sqlx::query_scalar(tables).fetch_all(pool).await?
        }
    };
    let mut rows = BTreeMap::new();
    for table in tables {
        // The name comes from the database's catalogue, not from outside.
        let count = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
        let count = match bare {
            Bare::Sqlite(pool) => sqlx::query_scalar(count).fetch_one(pool).await?,
            Bare::Postgres(pool) => sqlx::query_scalar(count).fetch_one(pool).await?,
        };
        rows.insert(table, count);
    }
    Ok(rows)
}

fn check(memory: &[f64], before: &BTreeMap<String, i64>, after: &BTreeMap<String, i64>) -> Outcome {
    let mut out = stdout().lock();
    let third = memory.len() / 3;
    let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len() as f64;
    let (_, rest) = memory.split_at(third);
    let (second, last) = rest.split_at(third);
    let (second, last) = (mean(second), mean(last));
    writeln!(out, "\nResident memory: {second:.1} MiB in the second third of the time, {last:.1} MiB in the last")?;
    let mut growing = Vec::new();
    for (table, after) in after {
        let before = before.get(table).copied().unwrap_or_default();
        writeln!(out, "{table}: {before} rows before, {after} after")?;
        if *after > before && !table.contains("audit") {
            growing.push(table.as_str());
        }
    }
    if last > second * (1.0 + TOLERANCE) {
        return Err("the memory grows".into());
    }
    if !growing.is_empty() {
        return Err(format!("tables grow: {}", growing.join(", ")).into());
    }
    Ok(())
}
