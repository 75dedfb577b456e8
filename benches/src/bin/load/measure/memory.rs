//! The memory of the server after many sessions have used it.

use std::ops::Range;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_benches::database::Database;
use iam_benches::{CHEAP, Outcome, PASSWORD, email, settings};
use iam_core::session::Login;
use iam_core::{Iam, RequestContext};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::load::CONNECTIONS;
use crate::client::Connection;
use crate::data;
use crate::installation::{Installation, Tenant};
use crate::process::Process;
use crate::work::Destination;

/// The number of users that a session lists. So ten thousand sessions are shown a million users.
const LISTED: u64 = 100;

pub(crate) struct Memory {
    pub(crate) sessions: u64,
    pub(crate) users: u64,
    /// At the end, in MiB.
    pub(crate) resident: f64,
    /// The peak, in MiB.
    pub(crate) peak: f64,
}

/// Gives this number of the tenant's users a role and a session, and lets a new server serve each session.
pub(crate) async fn measure(installation: Installation, tenant: &Tenant, sessions: u64) -> Outcome<Memory> {
    let readers = tenant.numbers().start..tenant.numbers().start + sessions;
    let role = installation.role(tenant).await?;
    let Installation { database, server } = installation;
    server.stop().await?;
    data::assign(&database, tenant.id, role, None, readers.clone()).await?;
    let tokens = tokens(&database, readers).await?;
    let server = Process::server(database.url()).await?;
    let tokens = Arc::new(Mutex::new(tokens.into_iter()));
    let mut clients = JoinSet::new();
    for seed in 0..CONNECTIONS {
        let connection = Connection::open(server.address).await?;
        clients.spawn(serve_all(connection, Arc::clone(&tokens), tenant.numbers(), seed));
    }
    while let Some(client) = clients.join_next().await {
        client??;
    }
    let (resident, peak) = (server.resident_memory()?, server.peak_memory()?);
    server.stop().await?;
    Ok(Memory { sessions, users: sessions * LISTED, resident, peak })
}

/// Logs in each of the users, whose passwords are hashed at the least cost. Returns their access tokens.
async fn tokens(database: &Database, users: Range<u64>) -> Outcome<Vec<String>> {
    let mut settings = settings(CHEAP)?;
    // Longer than it takes to serve all of them.
    settings.access_token_lifetime = TimeDelta::days(1);
    let iam = Iam::builder(database.store().await?).settings(settings).build().await?;
    let users = Arc::new(Mutex::new(users));
    let mut logins = JoinSet::new();
    for _ in 0..CONNECTIONS {
        logins.spawn(log_in(iam.clone(), Arc::clone(&users)));
    }
    let mut tokens = Vec::new();
    while let Some(some) = logins.join_next().await {
        tokens.extend(some??);
    }
    iam.close().await;
    Ok(tokens)
}

async fn log_in(iam: Iam, users: Arc<Mutex<Range<u64>>>) -> Outcome<Vec<String>> {
    let mut tokens = Vec::new();
    loop {
        let Some(number) = users.lock().await.next() else {
            return Ok(tokens);
        };
        let login = Login { email: email(number), password: PASSWORD.into(), tenant: None };
        let session = iam.sessions().login(&RequestContext::default(), login).await?;
        tokens.push(session.tokens.access.expose().to_owned());
    }
}

/// Reads a page of users and a single user in each session.
async fn serve_all(
    mut connection: Connection,
    tokens: Arc<Mutex<impl Iterator<Item = String>>>,
    users: Range<u64>,
    seed: u64,
) -> Outcome {
    let mut random = fastrand::Rng::with_seed(seed);
    let pages = (users.end - users.start).div_ceil(LISTED).min(100);
    loop {
        let Some(token) = tokens.lock().await.next() else {
            return Ok(());
        };
        let (page, user) = (random.u64(1..=pages), data::id(random.u64(users.clone())));
        let destination = Destination::server(token);
        for path in [format!("/users?limit={LISTED}&page={page}"), format!("/users/{user}")] {
            connection.ask(&destination.request("GET", &path, None)).await?.expect(200)?;
        }
    }
}
