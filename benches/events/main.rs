//! Events: the feed of a long backlog, the lag from a change to a reader and to a receiver, and what waiting costs.
//!
//! `cargo bench -p iam-benches --bench events` under `scripts/with-postgres`. `-- SQLite` leaves the other database
//! out. It takes about five minutes.

mod backlog;
mod receivers;

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use iam_benches::database::{Database, selected};
use iam_benches::{CHEAP, Outcome, iam, register, settings};
use iam_core::audit::NewEvent;
use iam_core::credential::LoginFailure;
use iam_core::observe::Observer;
use iam_core::webhook::DeliveryStatus;
use iam_core::{Caller, Iam, StoreError};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::receivers::compare_receivers;

/// How much is measured.
struct Size {
    /// The entries of the backlog.
    backlog: u64,
    /// The events whose lag is measured.
    events: usize,
    /// The webhooks, of which half have dead receivers.
    webhooks: usize,
    /// How long ten readers wait.
    wait: Duration,
}

const FULL: Size = Size { backlog: 1_000_000, events: 200, webhooks: 1_000, wait: Duration::from_secs(10) };
const SMALL: Size = Size { backlog: 2_000, events: 2, webhooks: 40, wait: Duration::from_millis(300) };

#[tokio::main]
async fn main() -> Outcome {
    // `cargo bench` passes `--bench`. `cargo test` does not, and only checks that the bench runs.
    let size = if env::args().any(|argument| argument == "--bench") { FULL } else { SMALL };
    for kind in selected() {
        measure(kind, &size).await?;
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the bench prints its results")]
async fn measure(kind: &str, size: &Size) -> Outcome {
    println!("## {kind}\n\n| Work | Measured | Floor | Ratio |\n|---|--:|--:|--:|");
    backlog::measure(&Database::of(kind).await?, size.backlog).await?;
    let database = Database::of(kind).await?;
    println!("| from a commit to a reader, p50 / p99 | {} | | |", lag_of_reader(&database, size.events).await?);
    let queries = queries_of_waiters(&database, size.wait).await?;
    println!("| queries of ten readers that wait for {:?} | {queries} | 0 | |", size.wait);
    compare_receivers(kind, size.webhooks, (size.events / 4).max(1)).await
}

/// The tasks of a running server that events need. They end when this is dropped.
struct Tasks(Vec<JoinHandle<()>>);

impl Tasks {
    /// Sequences entries, as often as the server, and follows the changes of others.
    fn of(iam: &Iam) -> Self {
        let (sequencer, follower) = (iam.clone(), iam.clone());
        let sequencing = tokio::spawn(async move {
            loop {
                let is_more = sequencer.sequence_audit_logs().await.is_ok_and(|sequenced| sequenced.more);
                sleep(Duration::from_millis(if is_more { 0 } else { 250 })).await;
            }
        });
        Self(vec![sequencing, follow(follower)])
    }

    /// Sends the events of webhooks, too.
    fn sending(iam: &Iam) -> Self {
        let (mut tasks, sender) = (Self::of(iam), iam.clone());
        tasks.0.push(tokio::spawn(async move {
            let _ended = sender.deliver_webhooks(std::future::pending()).await;
        }));
        tasks
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

fn follow(iam: Iam) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            let _ended = iam.follow_changes().await;
            sleep(Duration::from_millis(100)).await;
        }
    })
}

async fn write(iam: &Iam, caller: &Caller) -> Outcome {
    let (action, resource_type) = ("SENT".to_owned(), "LETTER".to_owned());
    iam.audit().log(caller, NewEvent { action, resource_type, ..NewEvent::default() }).await?;
    Ok(())
}

/// The time from the end of a commit until a reader of the feed has the event.
async fn lag_of_reader(database: &Database, events: usize) -> Outcome<String> {
    let iam = iam(database.store().await?, CHEAP).await?;
    let caller = Caller::system(register(&iam).await?.tenant.id, "benchmark");
    let _tasks = Tasks::of(&iam);
    sleep(Duration::from_secs(1)).await;
    let mut feed = iam.audit().follow(&caller, None, 500);
    feed.next().await?;
    let mut lags = Vec::new();
    for number in 0..events {
        // Not in step with the sequencer.
        sleep(Duration::from_millis(1 + number as u64 * 37 % 251)).await;
        write(&iam, &caller).await?;
        let committed = Instant::now();
        feed.next().await?;
        lags.push(committed.elapsed());
    }
    Ok(shown(&mut lags))
}

/// Counts the queries of ten readers that wait while nothing happens.
async fn queries_of_waiters(database: &Database, wait: Duration) -> Outcome<u64> {
    let queries = Arc::new(Queries::default());
    let builder = Iam::builder(database.store().await?).settings(settings(CHEAP)?);
    let iam = builder.observer(Arc::clone(&queries) as Arc<dyn Observer>).build().await?;
    let caller = Caller::system(register(&iam).await?.tenant.id, "benchmark");
    while iam.sequence_audit_logs().await?.more {}
    let following = follow(iam.clone());
    sleep(Duration::from_secs(1)).await;
    let read = async || {
        let mut feed = iam.audit().follow(&caller, None, 500);
        let events = feed.next().await?.events.len();
        // All are read, so this one waits.
        Outcome::Ok((events, feed.next_within(wait).await?.events.len()))
    };
    let counted = async {
        sleep(wait / 4).await;
        let before = queries.0.load(Ordering::Relaxed);
        sleep(wait / 2).await;
        queries.0.load(Ordering::Relaxed) - before
    };
    let readers =
        async { tokio::try_join!(read(), read(), read(), read(), read(), read(), read(), read(), read(), read()) };
    let (waited, counted) = tokio::join!(readers, counted);
    waited?;
    following.abort();
    Ok(counted)
}

/// Counts the operations of the store.
#[derive(Default)]
struct Queries(AtomicU64);

impl Observer for Queries {
    fn store_answered(&self, _: &'static str, _: Duration, _: Option<&StoreError>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn login_failed(&self, _: LoginFailure) {}

    fn password_hashed(&self, _: Duration, _: Duration) {}

    fn password_refused(&self) {}

    fn webhook_attempted(&self, _: DeliveryStatus) {}
}

/// The median and the 99th percentile.
fn shown(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: f64| times.get(((times.len() as f64 - 1.0) * share) as usize).copied().unwrap_or_default();
    format!("{:.0?} / {:.0?}", at(0.5), at(0.99))
}
