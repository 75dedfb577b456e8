//! Requests at a fixed rate, independent of the answers to earlier requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use iam_benches::Outcome;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::series::Round;
use crate::client::Connection;
use crate::work::Work;

/// The requests per second, the length, and the number of connections.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) rate: f64,
    pub(crate) length: Duration,
    pub(crate) connections: u64,
}

/// Sends requests at this pace. A latency begins when its request is due. So it includes the time for which the request
/// waits for a connection, because earlier requests are late.
pub(crate) async fn round(address: SocketAddr, work: &Arc<Work>, pace: Pace) -> Outcome<Round> {
    let (sender, due) = unbounded_channel();
    let due = Arc::new(Mutex::new(due));
    let mut tasks = JoinSet::new();
    for seed in 0..pace.connections {
        let connection = Connection::open(address).await?;
        tasks.spawn(drive(connection, Arc::clone(work), Arc::clone(&due), seed));
    }
    let began = Instant::now();
    // A thread, because the runtime's timers are only exact to the millisecond.
    let clock = thread::spawn(move || keep_time(&sender, began, pace));
    let mut latencies = Vec::new();
    while let Some(task) = tasks.join_next().await {
        latencies.extend(task??);
    }
    clock.join().map_err(|_| "the clock of a measurement failed")?;
    Ok(Round { latencies, elapsed: began.elapsed() })
}

/// Sends the due time of each request at that time.
fn keep_time(sender: &UnboundedSender<Instant>, began: Instant, Pace { rate, length, .. }: Pace) {
    for number in 0_u32.. {
        let offset = Duration::from_secs_f64(f64::from(number) / rate);
        thread::sleep(offset.saturating_sub(began.elapsed()));
        if offset >= length || sender.send(began + offset).is_err() {
            return;
        }
    }
}

async fn drive(
    mut connection: Connection,
    work: Arc<Work>,
    due: Arc<Mutex<UnboundedReceiver<Instant>>>,
    seed: u64,
) -> Outcome<Vec<Duration>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut latencies = Vec::new();
    loop {
        // The lock is released at the end of the statement, so that the next connection can wait while this one works.
        let Some(due) = due.lock().await.recv().await else {
            return Ok(latencies);
        };
        work.expect(&connection.ask(&work.next(&mut random)?).await?)?;
        latencies.push(due.elapsed());
    }
}
