//! Measures the sides in turn, so that a change in the machine's speed affects all of them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use iam_benches::Outcome;
use tokio::task::JoinSet;

use super::hash;
use super::series::{Round, Series};
use crate::client::Connection;
use crate::work::Work;

/// The default number of requests at a time.
pub(crate) const CONNECTIONS: u64 = 16;

/// The number of rounds, and the length of each.
#[derive(Clone, Copy)]
pub(crate) struct Rounds {
    pub(crate) count: u32,
    pub(crate) length: Duration,
    /// Whether the figures have no meaning, because only the measurement itself is tried.
    pub(crate) is_trial: bool,
}

/// A side of a comparison: it does the work.
pub(crate) enum Side {
    Http { address: SocketAddr, work: Arc<Work>, connections: u64 },
    Hash,
}

impl Side {
    pub(crate) fn http(address: SocketAddr, work: Work) -> Self {
        Self::Http { address, work: Arc::new(work), connections: CONNECTIONS }
    }

    /// The same, but with one request at a time.
    pub(crate) fn one_by_one(address: SocketAddr, work: Work) -> Self {
        Self::Http { address, work: Arc::new(work), connections: 1 }
    }

    pub(crate) async fn round(&self, length: Duration) -> Outcome<Round> {
        match self {
            Self::Http { address, work, connections } => load(*address, work, *connections, length).await,
            Self::Hash => hash::round(length).await,
        }
    }
}

/// Measures each side in each round. Before the first round, each side has a short round that does not count.
pub(crate) async fn alternate<const N: usize>(sides: &[Side; N], rounds: Rounds) -> Outcome<[Series; N]> {
    for side in sides {
        side.round(rounds.length / 3).await?;
    }
    let mut series = [const { Series::new() }; N];
    for _ in 0..rounds.count {
        for (side, series) in sides.iter().zip(&mut series) {
            series.push(side.round(rounds.length).await?);
        }
    }
    Ok(series)
}

/// Keeps every connection busy for this time.
async fn load(address: SocketAddr, work: &Arc<Work>, connections: u64, length: Duration) -> Outcome<Round> {
    let mut open = Vec::new();
    for _ in 0..connections {
        open.push(Connection::open(address).await?);
    }
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for (seed, connection) in (0..).zip(open) {
        tasks.spawn(drive(connection, Arc::clone(work), began + length, seed));
    }
    let mut latencies = Vec::new();
    while let Some(task) = tasks.join_next().await {
        latencies.extend(task??);
    }
    Ok(Round { latencies, elapsed: began.elapsed() })
}

async fn drive(mut connection: Connection, work: Arc<Work>, deadline: Instant, seed: u64) -> Outcome<Vec<Duration>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut latencies = Vec::new();
    loop {
        let began = Instant::now();
        if began >= deadline {
            return Ok(latencies);
        }
        work.expect(&connection.ask(&work.next(&mut random)?).await?)?;
        latencies.push(began.elapsed());
    }
}
