//! Measures the server under load, beside the least that the same work can cost on the same database.
//!
//! `scripts/bench-load` builds what it needs and runs it; `docs/performance.md` says what is measured.

mod client;
mod compare;
mod facts;
mod floor;
mod hash;
mod process;
mod report;
mod scene;
mod soak;
mod startup;
mod work;

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, Parser};
use iam_benches::Outcome;
use iam_benches::database::Database;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use uuid::Uuid;

use crate::scene::Scene;

#[derive(Parser)]
enum Arguments {
    /// Measure on a new SQLite file
    Sqlite(Length),
    /// Measure on a new database of the server that `IAM_TEST_POSTGRES_URL` names
    Postgres(Length),
    /// Let the server work on a new SQLite file, and look what grows
    SoakSqlite(Soak),
    /// The same on a new database of the server that `IAM_TEST_POSTGRES_URL` names
    SoakPostgres(Soak),
    /// Serve bare queries, for the run that started this
    #[command(hide = true)]
    Floor(Floor),
}

#[derive(Args)]
struct Length {
    /// How long each measurement takes
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
}

#[derive(Args)]
struct Soak {
    /// How long
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    minutes: u64,
}

impl Soak {
    fn length(&self) -> Duration {
        Duration::from_secs(self.minutes * 60)
    }
}

#[derive(Args)]
struct Floor {
    #[arg(long)]
    database_url: String,
    #[arg(long)]
    listen: SocketAddr,
    #[arg(long)]
    tenant: Uuid,
}

fn main() -> Outcome {
    match Arguments::parse() {
        // As many threads as the server has.
        Arguments::Floor(floor) => {
            let runtime = Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(floor::serve(&floor.database_url, floor.listen, floor.tenant))
        }
        Arguments::Sqlite(length) => on_one_thread(run(Database::sqlite(), length)),
        Arguments::Postgres(length) => on_one_thread(async { run(Database::postgres().await?, length).await }),
        Arguments::SoakSqlite(soak) => on_one_thread(async { soak::run(&Database::sqlite(), soak.length()).await }),
        Arguments::SoakPostgres(soak) => {
            on_one_thread(async { soak::run(&Database::postgres().await?, soak.length()).await })
        }
    }
}

/// One thread is enough for the client, and leaves the most to whom is measured.
fn on_one_thread(work: impl Future<Output = Outcome>) -> Outcome {
    Builder::new_current_thread().enable_all().build()?.block_on(until_stopped(work))
}

async fn run(database: Database, Length { seconds }: Length) -> Outcome {
    report::heading(&facts::gather(&database).await?)?;
    let scene = Scene::set(&database).await?;
    let comparisons = compare::all(&scene, Duration::from_secs(seconds)).await?;
    report::comparisons(&comparisons)?;
    scene.end().await?;
    if let Database::Sqlite(file) = &database {
        report::startup(&startup::measure(file).await?)?;
    }
    Ok(())
}

/// Drops the work, and with it the processes that it has started, when somebody stops this one.
async fn until_stopped(work: impl Future<Output = Outcome>) -> Outcome {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        result = work => result,
        _ = terminate.recv() => Err("terminated".into()),
        _ = interrupt.recv() => Err("interrupted".into()),
    }
}
