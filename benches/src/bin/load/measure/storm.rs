//! The effect of endless logins on reads.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use iam_benches::Outcome;
use rustix::param::clock_ticks_per_second;
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::load::{CONNECTIONS, Rounds, Side};
use super::paced::{self, Pace};
use super::series::{Figure, Round, Series};
use crate::client::Connection;
use crate::work::Work;

/// The number of clients that log in without a pause, except for the pause that `Retry-After` asks for.
pub(crate) const CLIENTS: u64 = 64;

/// Reads at the same rate, among logins and alone.
pub(crate) struct Reads {
    pub(crate) among_logins: Series,
    pub(crate) alone: Series,
    pub(crate) logins: Arc<Logins>,
}

/// The results of the logins.
#[derive(Default)]
pub(crate) struct Logins {
    pub(crate) succeeded: AtomicU64,
    /// Refused with 503, because too many logins were waiting.
    pub(crate) shed: AtomicU64,
    is_over: AtomicBool,
}

/// Reads at the rate that keeps one core busy, and so leaves the other cores to the logins.
pub(crate) async fn measure(address: SocketAddr, read: Work, login: Work, rounds: Rounds) -> Outcome<Reads> {
    let (read, login) = (Arc::new(read), Arc::new(login));
    let rate = rate_of_one_core(address, &read, rounds.length).await?;
    let pace = pace(rate, rounds.length);
    let mut reads = Reads { among_logins: Series::new(), alone: Series::new(), logins: Arc::default() };
    for _ in 0..rounds.count {
        reads.alone.push(paced::round(address, &read, pace).await?);
        let round = round_among_logins(address, &read, &login, pace, &reads.logins).await?;
        reads.among_logins.push(round);
    }
    Ok(reads)
}

/// The number of reads per second that keep one core busy (client, server and database together), without other
/// requests.
async fn rate_of_one_core(address: SocketAddr, read: &Arc<Work>, length: Duration) -> Outcome<f64> {
    let side = Side::Http { address, work: Arc::clone(read), connections: CONNECTIONS };
    side.round(length / 3).await?;
    let mut most = Series::new();
    most.push(side.round(length).await?);
    // A request costs more when fewer run at once, so half of the highest rate is not half of the work.
    let rate = most.figure(Figure::Rate) / 2.0;
    let (began, before) = (Instant::now(), cpu_time()?);
    paced::round(address, read, pace(rate, length)).await?;
    let cores = (cpu_time()? - before) / began.elapsed().as_secs_f64();
    Ok(rate / cores.max(1.0))
}

fn pace(rate: f64, length: Duration) -> Pace {
    Pace { rate, length, connections: CONNECTIONS }
}

/// The seconds for which all cores together have worked since the start of the machine.
fn cpu_time() -> Outcome<f64> {
    let statistics = fs::read_to_string("/proc/stat")?;
    let ticks = statistics.lines().next().unwrap_or_default().split_ascii_whitespace().skip(1);
    let ticks: Vec<u64> = ticks.map(str::parse).collect::<Result<_, _>>()?;
    // In order: user, nice, system, idle, iowait, irq, softirq.
    let worked: u64 = [0, 1, 2, 5, 6].iter().filter_map(|&index: &usize| ticks.get(index)).sum();
    Ok(worked as f64 / clock_ticks_per_second() as f64)
}

async fn round_among_logins(
    address: SocketAddr,
    read: &Arc<Work>,
    login: &Arc<Work>,
    pace: Pace,
    logins: &Arc<Logins>,
) -> Outcome<Round> {
    logins.is_over.store(false, Ordering::Relaxed);
    let clients = start_logins(address, Arc::clone(login), Arc::clone(logins));
    // After that time, every client has had an answer, or waits for one.
    sleep(pace.length / 3).await;
    let round = paced::round(address, read, pace).await;
    logins.is_over.store(true, Ordering::Relaxed);
    // The clients still wait for their last answers. That must not block this thread.
    tokio::task::spawn_blocking(|| clients.join()).await?.map_err(|_| "the logins failed")??;
    round
}

/// Starts the logins on a separate thread, so that reads do not wait in the client for the count of the logins.
fn start_logins(address: SocketAddr, login: Arc<Work>, logins: Arc<Logins>) -> JoinHandle<Outcome> {
    thread::spawn(move || {
        Builder::new_current_thread().enable_all().build()?.block_on(async {
            let mut clients = JoinSet::new();
            for seed in 0..CLIENTS {
                let connection = Connection::open(address).await?;
                clients.spawn(log_in(connection, Arc::clone(&login), Arc::clone(&logins), seed));
            }
            while let Some(client) = clients.join_next().await {
                client??;
            }
            Ok(())
        })
    })
}

async fn log_in(mut connection: Connection, login: Arc<Work>, logins: Arc<Logins>, seed: u64) -> Outcome {
    let mut random = fastrand::Rng::with_seed(seed);
    while !logins.is_over.load(Ordering::Relaxed) {
        let answer = connection.ask(&login.next(&mut random)?).await?;
        if answer.status == 503 {
            let wait = Instant::now() + answer.retry_after.ok_or("503 without Retry-After")?;
            logins.shed.fetch_add(1, Ordering::Relaxed);
            while Instant::now() < wait && !logins.is_over.load(Ordering::Relaxed) {
                sleep(Duration::from_millis(20)).await;
            }
        } else {
            login.expect(&answer)?;
            logins.succeeded.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}
