//! The time for a page of the audit log in a tenant with ten thousand entries, and in one with ten million: for each
//! filter, at the newest end, in the middle and at the oldest end.
//!
//! `cargo bench -p iam-benches --bench audit_pages` under `scripts/with-postgres`. `-- --plans` also shows the plans of
//! PostgreSQL and SQLite. `-- SQLite` leaves the other database out. It needs about 15 GB of disk while it runs.

mod plans;

use std::env;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use iam_benches::audit_log::{self, START, YEAR_MILLIS};
use iam_benches::database::{Database, selected};
use iam_benches::{Outcome, id};
use iam_core::audit::{AuditFilter, AuditPage, Cursor};
use iam_core::{AuditEntryId, Caller, Iam, TenantId, UserId};
use uuid::Uuid;

/// The number of entries in the small and in the large tenant.
const FULL: [u64; 2] = [10_000, 10_000_000];
const SMALL: [u64; 2] = [300, 3_000];
/// The number of other tenants in the database, and the number of entries in each of them.
const OTHERS: u64 = 100;
const OTHER: u64 = 1_000;
const LIMIT: u32 = 20;
/// How often a page is read. The result is the median.
const READS: usize = 101;

#[tokio::main]
async fn main() -> Outcome {
    // `cargo bench` passes `--bench`. `cargo test` does not, and only checks that the bench runs.
    let is_bench = env::args().any(|argument| argument == "--bench");
    let (sizes, others) = if is_bench { (FULL, OTHERS) } else { (SMALL, 2) };
    for kind in selected() {
        compare(kind, sizes, others).await?;
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the bench prints its results")]
async fn compare(kind: &str, [small, large]: [u64; 2], others: u64) -> Outcome {
    let few = Log::new(Database::of(kind).await?, small, others).await?;
    let many = Log::new(Database::of(kind).await?, large, others).await?;
    println!("## {kind}\n\n| Filter | Page | {small} entries | {large} entries | ratio |\n|---|---|---|---|---|");
    for (name, filter) in FILTERS {
        for position in [Position::Newest, Position::Middle, Position::Oldest] {
            let (few, many) = (few.time(filter, position).await?, many.time(filter, position).await?);
            let ratio = many.as_secs_f64() / few.as_secs_f64();
            println!("| {name} | {position:?} | {:.0} µs | {:.0} µs | {ratio:.2} |", micros(few), micros(many));
        }
    }
    if env::args().any(|argument| argument == "--plans") {
        println!("\n{}", many.plans().await?);
    }
    Ok(())
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

#[derive(Clone, Copy, Debug)]
enum Position {
    Newest,
    Middle,
    Oldest,
}

type Filter = fn(&Log) -> AuditFilter;

const FILTERS: [(&str, Filter); 12] = [
    ("none", |_| AuditFilter::default()),
    ("action, common", |_| AuditFilter { action: Some("TOKEN_REFRESH".into()), ..AuditFilter::default() }),
    ("action, 1 in 100", |_| AuditFilter { action: Some("DELETE".into()), ..AuditFilter::default() }),
    ("action, rare", |_| AuditFilter { action: Some("ERASE".into()), ..AuditFilter::default() }),
    ("action, never", |_| AuditFilter { action: Some("NEVER".into()), ..AuditFilter::default() }),
    ("resourceType, common", |_| AuditFilter { resource_type: Some("SESSION".into()), ..AuditFilter::default() }),
    ("resourceType, rare", |_| AuditFilter { resource_type: Some("TENANT".into()), ..AuditFilter::default() }),
    ("resourceId", |log| AuditFilter { resource_id: Some(id(log.entries / 2).to_string()), ..AuditFilter::default() }),
    ("userId", |_| AuditFilter { user_id: Some(UserId::from_uuid(id(7))), ..AuditFilter::default() }),
    ("organizationId", |_| AuditFilter { organization_id: Some(id(7).into()), ..AuditFilter::default() }),
    ("correlationId", |log| {
        let id = format!("request-{}", log.entries / 2).parse().ok();
        AuditFilter { correlation_id: id, ..AuditFilter::default() }
    }),
    ("dates, a day", |log| {
        let day = log.moment(log.entries / 2);
        AuditFilter { from: Some(day), until: Some(day + TimeDelta::days(1)), ..AuditFilter::default() }
    }),
];

/// A tenant with this number of entries, spread evenly over a year.
struct Log {
    database: Database,
    iam: Iam,
    caller: Caller,
    entries: u64,
}

impl Log {
    async fn new(database: Database, entries: u64, others: u64) -> Outcome<Self> {
        let store = database.store().await?;
        let iam = Iam::builder(store).build().await?;
        let tenant = TenantId::from_uuid(id(1));
        let others = (0..others).map(|other| (TenantId::from_uuid(id(1_000 + other)), OTHER));
        let tenants: Vec<_> = std::iter::once((tenant, entries)).chain(others).collect();
        audit_log::fill(&database, &tenants).await?;
        Ok(Self { database, iam, caller: Caller::system(tenant, "bench"), entries })
    }

    fn moment(&self, number: u64) -> DateTime<Utc> {
        let millis = number * YEAR_MILLIS / self.entries;
        START + TimeDelta::milliseconds(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    async fn page(&self, filter: Filter, position: Position) -> Outcome<AuditPage> {
        let after = |number| Cursor { created_at: self.moment(number), id: AuditEntryId::from_uuid(Uuid::max()) };
        let after = match position {
            Position::Newest => None,
            Position::Middle => Some(after(self.entries / 2)),
            Position::Oldest => Some(after(u64::from(LIMIT))),
        };
        Ok(self.iam.audit().list(&self.caller, filter(self), after, LIMIT).await?)
    }

    /// The median time of a page.
    async fn time(&self, filter: Filter, position: Position) -> Outcome<Duration> {
        let mut times = Vec::with_capacity(READS);
        for _ in 0..READS {
            let begun = Instant::now();
            self.page(filter, position).await?;
            times.push(begun.elapsed());
        }
        times.sort_unstable();
        Ok(times.get(READS / 2).copied().unwrap_or_default())
    }

    async fn plans(&self) -> Outcome<String> {
        plans::plans(&self.database).await
    }
}
