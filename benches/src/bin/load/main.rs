//! Measures the server under load, and compares it with the least that the same work can cost on the same database.
//!
//! `scripts/bench-load` builds the programs and runs this one. `docs/performance.md` describes the measurements.

mod api;
mod client;
mod data;
mod fairness;
mod floor;
mod installation;
mod measure;
mod process;
mod report;
mod router;
mod soak;
mod text;
mod work;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser};
use iam_benches::Outcome;
use mimalloc::MiMalloc;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use uuid::Uuid;

use crate::measure::load::Rounds;
use crate::measure::{Kind, Scale};

/// The allocator of the server, so that the floor has no worse one.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[derive(Parser)]
enum Arguments {
    /// Measure on new SQLite files
    Sqlite(Options),
    /// Measure on new databases of the server that `IAM_TEST_POSTGRES_URL` names
    Postgres(Options),
    /// Run the server under load on a new SQLite file, and report what grows
    SoakSqlite(Soak),
    /// The same on a new database of the server that `IAM_TEST_POSTGRES_URL` names
    SoakPostgres(Soak),
    /// Measure what a tenant that does its worst costs another tenant, on a new SQLite file
    FairnessSqlite,
    /// The same on a new database of the server that `IAM_TEST_POSTGRES_URL` names
    FairnessPostgres,
    /// Serve bare queries, for the run that started this
    #[command(hide = true)]
    Floor {
        #[command(flatten)]
        service: Service,
        #[arg(long)]
        tenant: Uuid,
    },
    /// Serve the API with the least cost of a hash, for the run that started this
    #[command(hide = true)]
    Router(Service),
}

#[derive(Args)]
struct Options {
    /// The number of seconds for which each side of each measurement works, in five rounds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// Only check that everything can be measured: little data, short rounds
    #[arg(long, conflicts_with_all = ["seconds"])]
    quick: bool,
    /// Only measure the requests whose work in the table contains this text, with little data, and print them
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["quick", "docs"])]
    only: Option<String>,
    /// The directory of performance.md, into which the figures are written; without it, they are printed
    #[arg(long)]
    docs: Option<PathBuf>,
}

#[derive(Args)]
struct Soak {
    /// The number of minutes
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    minutes: u64,
}

#[derive(Args)]
struct Service {
    #[arg(long)]
    database_url: String,
    #[arg(long)]
    listen: SocketAddr,
}

impl Options {
    fn scale(&self) -> Scale {
        if self.quick {
            let rounds = Rounds { count: 2, length: Duration::from_millis(300), is_trial: true };
            let users = [1_000, 10_000];
            let entries = [300, 3_000];
            return Scale { users, organizations: 1_000, entries, sessions: 200, revocations: 20, starts: 2, rounds };
        }
        let rounds = Rounds { count: 5, length: Duration::from_secs(self.seconds) / 5, is_trial: false };
        let many = if self.only.is_some() { 1 } else { 1_000 };
        let users = [1_000, 1_000 * many];
        let entries = [10_000, 10_000 * many];
        Scale { users, organizations: 10_000, entries, sessions: 10_000, revocations: 1_000, starts: 10, rounds }
    }

    async fn run(self, kind: Kind) -> Outcome {
        if let Some(text) = &self.only {
            let (comparisons, revocations) = measure::only(kind, &self.scale(), text).await?;
            return report::print(&comparisons, &revocations);
        }
        let facts = report::facts::gather(&kind.database().await?).await?;
        let results = measure::all(kind, &self.scale()).await?;
        report::publish(kind, &facts, &results, self.docs.as_deref())
    }
}

impl Soak {
    async fn run(self, kind: Kind) -> Outcome {
        soak::run(&kind.database().await?, Duration::from_secs(self.minutes * 60)).await
    }
}

fn main() -> Outcome {
    match Arguments::parse() {
        Arguments::Floor { service, tenant } => {
            on_all_cores(floor::serve(&service.database_url, service.listen, tenant))
        }
        Arguments::Router(service) => on_all_cores(router::serve(&service.database_url, service.listen)),
        Arguments::Sqlite(options) => on_one_thread(options.run(Kind::Sqlite)),
        Arguments::Postgres(options) => on_one_thread(options.run(Kind::Postgres)),
        Arguments::SoakSqlite(soak) => on_one_thread(soak.run(Kind::Sqlite)),
        Arguments::SoakPostgres(soak) => on_one_thread(soak.run(Kind::Postgres)),
        Arguments::FairnessSqlite => on_one_thread(fairness::run(Kind::Sqlite)),
        Arguments::FairnessPostgres => on_one_thread(fairness::run(Kind::Postgres)),
    }
}

/// Runs the work on as many threads as the server has.
fn on_all_cores(work: impl Future<Output = Outcome>) -> Outcome {
    Builder::new_multi_thread().enable_all().build()?.block_on(work)
}

/// Runs the work on one thread. That is enough for the client, and leaves the most processor time to the measured
/// process.
fn on_one_thread(work: impl Future<Output = Outcome>) -> Outcome {
    Builder::new_current_thread().enable_all().build()?.block_on(until_stopped(work))
}

/// Runs the work until this process is stopped. Then it drops the work, and with it the processes that it has started.
async fn until_stopped(work: impl Future<Output = Outcome>) -> Outcome {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        result = work => result,
        _ = terminate.recv() => Err("terminated".into()),
        _ = interrupt.recv() => Err("interrupted".into()),
    }
}
