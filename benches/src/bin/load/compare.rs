//! Measuring two sides in turn: a machine that drifts, drifts for both.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use iam_benches::Outcome;
use tokio::task::JoinSet;

use crate::client::Connection;
use crate::hash;
use crate::scene::Scene;
use crate::work::Work;

/// How many requests are under way at a time.
pub(crate) const CONNECTIONS: u64 = 16;
const ROUNDS: u32 = 5;
/// How long each side runs before its first round counts.
const WARM_UP: Duration = Duration::from_millis(300);

/// Who does the work.
pub(crate) enum Side {
    Http { address: SocketAddr, work: Arc<Work> },
    Hash,
}

/// What one side did in one go.
#[derive(Clone, Default)]
pub(crate) struct Round {
    pub(crate) latencies: Vec<Duration>,
    pub(crate) elapsed: Duration,
}

/// The rounds of one side.
#[derive(Clone, Default)]
pub(crate) struct Series(Vec<Round>);

/// A kind of work, as the server does it and as its floor does.
pub(crate) struct Comparison {
    pub(crate) work: &'static str,
    pub(crate) floor_name: &'static str,
    pub(crate) server: Series,
    pub(crate) floor: Series,
}

/// Everything that is measured under load. Each side works for this long in all.
pub(crate) async fn all(scene: &Scene, length: Duration) -> Outcome<Vec<Comparison>> {
    let mut comparisons = Vec::new();
    let (server, floor) = scene.get_user();
    let [server, floor] = alternate(&[server, floor], length).await?;
    comparisons.push(Comparison { work: "GET /users/{id}", floor_name: "one select", server, floor });
    let (server, floor) = scene.list_users();
    let [server, floor] = alternate(&[server, floor], length).await?;
    comparisons.push(Comparison { work: "GET /users?limit=20", floor_name: "count and page", server, floor });
    let [server, floor] = alternate(&[scene.login(), Side::Hash], length).await?;
    comparisons.push(Comparison { work: "POST /auth/login", floor_name: "bare hash", server, floor });
    // The last, because it makes the tables grow.
    let (server, inserts) = scene.create_users();
    let [server, inserts, floor] = alternate(&[server, inserts, Side::Hash], length).await?;
    comparisons.push(Comparison { work: "POST /users", floor_name: "bare hash", server: server.clone(), floor });
    comparisons.push(Comparison { work: "POST /users", floor_name: "three inserts", server, floor: inserts });
    Ok(comparisons)
}

async fn alternate<const N: usize>(sides: &[Side; N], length: Duration) -> Outcome<[Series; N]> {
    for side in sides {
        side.round(WARM_UP).await?;
    }
    let mut series = [const { Series(Vec::new()) }; N];
    for _ in 0..ROUNDS {
        for (side, series) in sides.iter().zip(&mut series) {
            series.0.push(side.round(length / ROUNDS).await?);
        }
    }
    Ok(series)
}

impl Side {
    pub(crate) fn http(address: SocketAddr, work: Work) -> Self {
        Self::Http { address, work: Arc::new(work) }
    }

    async fn round(&self, length: Duration) -> Outcome<Round> {
        match self {
            Self::Http { address, work } => load(*address, work, length).await,
            Self::Hash => hash::round(length).await,
        }
    }
}

/// Keeps every connection busy for a while.
async fn load(address: SocketAddr, work: &Arc<Work>, length: Duration) -> Outcome<Round> {
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        connections.push(Connection::open(address).await?);
    }
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for (seed, connection) in (0..).zip(connections) {
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
        connection.ask(&work.next(&mut random)?).await?.expect(work.status)?;
        latencies.push(began.elapsed());
    }
}

impl Round {
    fn rate(&self) -> f64 {
        self.latencies.len() as f64 / self.elapsed.as_secs_f64()
    }
}

impl Series {
    /// Requests per second, over all rounds.
    pub(crate) fn rate(&self) -> f64 {
        let count: usize = self.0.iter().map(|round| round.latencies.len()).sum();
        let elapsed: Duration = self.0.iter().map(|round| round.elapsed).sum();
        count as f64 / elapsed.as_secs_f64()
    }

    /// The latency that this share of the requests, in percent, does not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let mut latencies: Vec<Duration> = self.0.iter().flat_map(|round| &round.latencies).copied().collect();
        latencies.sort_unstable();
        let rank = (latencies.len() * percent).div_ceil(100).saturating_sub(1);
        latencies.get(rank).copied().unwrap_or_default()
    }
}

impl Comparison {
    /// What the server reaches of its floor, over all rounds.
    pub(crate) fn ratio(&self) -> f64 {
        self.server.rate() / self.floor.rate()
    }

    /// The lowest and the highest ratio of a round.
    pub(crate) fn spread(&self) -> (f64, f64) {
        let ratios = self.server.0.iter().zip(&self.floor.0).map(|(server, floor)| server.rate() / floor.rate());
        ratios.fold((f64::INFINITY, 0.0), |(low, high), ratio| (low.min(ratio), high.max(ratio)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_latencies_that_were_seen() {
        let latencies = (1..=200).map(Duration::from_millis).collect();
        let series = Series(vec![Round { latencies, elapsed: Duration::from_secs(2) }]);
        assert_eq!(series.percentile(50), Duration::from_millis(100));
        assert_eq!(series.percentile(99), Duration::from_millis(198));
        assert_eq!(series.rate(), 100.0);
        assert_eq!(Series::default().percentile(50), Duration::ZERO);
    }
}
