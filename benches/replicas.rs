//! How many lists a second the primary answers alone, with one replica, and with two. `scripts/bench-replicas` runs it
//! with each server in a cgroup of its own.

use std::io::{Write as _, stdout};
use std::sync::Arc;
use std::time::{Duration, Instant};

use iam_benches::{CHEAP, Outcome, fill, iam, register};
use iam_core::page::{PageRequest, SortOrder};
use iam_core::user::{UserFilter, UserPatch, UserSort, UserSortKey};
use iam_core::{Caller, Iam, UserId};
use iam_store_postgres::PostgresStore;
use sqlx::Executor as _;
use test_support::postgres::TestDatabase;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

/// How many users the tenant has.
const USERS: u64 = 1_000;
/// How many tasks list users at the same time.
const READERS: usize = 32;
/// How long they do.
const READING: Duration = Duration::from_secs(5);
/// How often each row is measured. The result is the median.
const ROUNDS: usize = 5;
/// How many changes a second are made meanwhile.
const WRITES: [u32; 2] = [0, 10];

#[tokio::main]
async fn main() -> Outcome {
    let database = TestDatabase::create().await;
    let primary = PostgresStore::connect(database.url()).await?;
    primary.migrate().await?;
    let urls = database.replica_urls();
    let mut services = vec![iam(Arc::new(primary.clone()), CHEAP).await?];
    for count in 1..=urls.len() {
        let store = PostgresStore::connect(database.url()).await?;
        let store = store.with_replicas(urls.iter().take(count).map(String::as_str))?;
        services.push(iam(Arc::new(store), CHEAP).await?);
    }
    let alone = services.first().ok_or("there is no service")?;
    let tenant = register(alone).await?.tenant.id;
    let users: Arc<[UserId]> = fill(alone, tenant, 1, USERS).await?.into();
    let caller = Caller::system(tenant, "benchmark");
    // Otherwise autovacuum does it in the middle of a row.
    database.connect().await.execute("VACUUM ANALYZE").await?;
    // The replicas have the users, and each has connections.
    sleep(Duration::from_secs(2)).await;
    for iam in &services {
        lists(iam, &caller, &users, 0).await?;
    }
    for writes in WRITES {
        // In turn, so that a slow minute of the machine changes no comparison.
        let mut rows: Vec<Vec<Row>> = services.iter().map(|_| Vec::new()).collect();
        for _ in 0..ROUNDS {
            for (iam, row) in services.iter().zip(&mut rows) {
                row.push(lists(iam, &caller, &users, writes).await?);
            }
        }
        writeln!(stdout(), "{READERS} tasks list 20 of {USERS} users, beside {writes} changes a second:")?;
        for (replicas, mut row) in rows.into_iter().enumerate() {
            row.sort_by(|one, other| one.a_second.total_cmp(&other.a_second));
            let Row { a_second, p50, p99 } = row.get(ROUNDS / 2).copied().ok_or("there is no round")?;
            writeln!(stdout(), "  {replicas} replicas: {a_second:.0}/s, p50 {p50:.0?}, p99 {p99:.0?}")?;
        }
    }
    for iam in services {
        iam.close().await;
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Row {
    a_second: f64,
    p50: Duration,
    p99: Duration,
}

/// Lists users in all tasks, beside so many changes a second.
async fn lists(iam: &Iam, caller: &Caller, users: &Arc<[UserId]>, writes: u32) -> Outcome<Row> {
    let (began, sort, page) = (
        Instant::now(),
        UserSort { by: UserSortKey::CreatedAt, order: SortOrder::Descending },
        PageRequest::new(1, 20)?,
    );
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let (iam, caller) = (iam.clone(), caller.clone());
        readers.spawn(async move {
            let mut times = Vec::new();
            while began.elapsed() < READING {
                let since = Instant::now();
                iam.users().list(&caller, &UserFilter::default(), sort, page).await?;
                times.push(since.elapsed());
            }
            Outcome::Ok(times)
        });
    }
    let mut writers = JoinSet::new();
    if writes > 0 {
        let (iam, caller, users) = (iam.clone(), caller.clone(), Arc::clone(users));
        writers.spawn(async move {
            let mut ticks = interval(Duration::from_secs(1) / writes);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            while began.elapsed() < READING {
                ticks.tick().await;
                let user = fastrand::choice(&*users).copied().ok_or("there is no user")?;
                let name = Some(fastrand::alphabetic().to_string());
                iam.users().update(&caller, user, UserPatch { first_name: name, ..UserPatch::default() }).await?;
            }
            Outcome::Ok(())
        });
    }
    let times: Vec<Vec<Duration>> = readers.join_all().await.into_iter().collect::<Outcome<_>>()?;
    let mut times = times.concat();
    let a_second = times.len() as f64 / began.elapsed().as_secs_f64();
    writers.join_all().await.into_iter().collect::<Outcome>()?;
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().ok_or("there is no list");
    Ok(Row { a_second, p50: at(50)?, p99: at(99)? })
}
