//! Measuring sides in turn: a machine that drifts, drifts for all of them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use iam_benches::Outcome;
use tokio::task::JoinSet;

use super::hash;
use super::series::{Round, Series};
use crate::client::Connection;
use crate::work::Work;

/// How many requests are under way at a time, where it is not said otherwise.
pub(crate) const CONNECTIONS: u64 = 16;

/// How often each side is measured, and for how long.
#[derive(Clone, Copy)]
pub(crate) struct Rounds {
    pub(crate) count: u32,
    pub(crate) length: Duration,
}

/// Who does the work.
pub(crate) enum Side {
    Http { address: SocketAddr, work: Arc<Work>, connections: u64 },
    Hash,
}

impl Side {
    pub(crate) fn http(address: SocketAddr, work: Work) -> Self {
        Self::Http { address, work: Arc::new(work), connections: CONNECTIONS }
    }

    /// The same with one request after the other.
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

/// Measures each side in each round, after a round that does not count.
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

/// Keeps every connection busy for a while.
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
