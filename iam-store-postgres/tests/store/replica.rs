//! The store when streaming replicas of the database answer lists.

use std::sync::Arc;
use std::time::{Duration, Instant};

use iam_conformance::World;
use iam_core::StoreError;
use iam_core::access::VisibleScope;
use iam_core::audit::{AuditFilter, AuditStore as _, SequenceStore as _};
use iam_core::page::PageRequest;
use iam_core::permission::PermissionStore as _;
use iam_core::tenant::Tenant;
use iam_core::user::{UserFilter, UserSort, UserStore as _};
use iam_store_postgres::PostgresStore;
use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{Connection as _, Executor as _};
use test_support::postgres::TestDatabase;
use test_support::proxy::{Fault, Proxy};
use tokio::runtime::Handle;
use tokio::task::{JoinSet, block_in_place};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

/// The time limit of each step of a test.
const PATIENCE: Duration = Duration::from_secs(30);

/// Calls `ask` until it answers with true.
async fn until(what: &str, mut ask: impl AsyncFnMut() -> bool) {
    let asking = async {
        while !ask().await {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, asking).await.unwrap_or_else(|_| panic!("waited for {what}"));
}

/// A tenant in a database with replicas.
struct Fixture {
    database: TestDatabase,
    /// With the replicas.
    store: PostgresStore,
    /// The store of another process, without replicas.
    other: World,
    tenant: Tenant,
}

impl Fixture {
    /// With the two replicas, by these URLs.
    async fn new(urls: impl FnOnce(Vec<String>) -> Vec<String>) -> Self {
        Self::in_database(TestDatabase::create().await, urls).await
    }

    async fn in_database(database: TestDatabase, urls: impl FnOnce(Vec<String>) -> Vec<String>) -> Self {
        let store = PostgresStore::connect(database.url()).await.unwrap();
        store.migrate().await.unwrap();
        let other = World::new(Arc::new(store.clone()));
        let tenant = other.tenant("acme").await;
        other.user(&tenant, ADA).await;
        for url in database.replica_urls() {
            catch_up(&database, &url).await;
        }
        let urls = urls(database.replica_urls());
        let store = PostgresStore::connect(database.url()).await.unwrap();
        let store = store.with_replicas(urls.iter().map(String::as_str)).unwrap();
        Self { database, store, other, tenant }
    }

    async fn emails(&self) -> Vec<String> {
        let (filter, page) = (UserFilter::default(), PageRequest::default());
        let (everywhere, sort) = (VisibleScope::Tenant, UserSort::default());
        let listing = self.store.users(self.tenant.id, &filter, &everywhere, sort, page, self.other.now());
        let mut emails: Vec<String> =
            listing.await.unwrap().items.into_iter().map(|user| user.email.to_string()).collect();
        emails.sort_unstable();
        emails
    }

    /// How many entries a page of the audit log has. An export reads such pages.
    async fn entries(&self) -> usize {
        self.store.audit_entries(self.tenant.id, &AuditFilter::default(), None, 1_000).await.unwrap().len()
    }

    async fn permissions(&self) -> u64 {
        self.store.permissions(self.tenant.id, PageRequest::default()).await.unwrap().total
    }

    /// Waits until every replica answers lists.
    async fn until_all_answer(&self) {
        let urls = self.database.replica_urls();
        for url in &urls {
            disconnect(url).await;
        }
        until("the replicas", async || {
            self.emails().await;
            answering(&urls).await == urls.len()
        })
        .await;
    }
}

/// Ends all other connections to the database.
async fn disconnect(url: &str) {
    let mut server = PgConnection::connect(url).await.unwrap();
    let disconnect = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    server.execute(disconnect).await.unwrap();
}

/// How many of these servers have a connection that has read a list last.
async fn answering(urls: &[String]) -> usize {
    let has_listed = "SELECT EXISTS (SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%found%')";
    let mut count = 0;
    for url in urls {
        let mut answer = None;
        // A replica ends a query that its replay would have to wait for.
        until("an answer", async || {
            let mut server = PgConnection::connect(url).await.unwrap();
            answer = sqlx::query_scalar::<_, bool>(has_listed).fetch_one(&mut server).await.ok();
            answer.is_some()
        })
        .await;
        count += usize::from(answer == Some(true));
    }
    count
}

/// Waits until a replica has everything that is committed.
async fn catch_up(database: &TestDatabase, replica: &str) {
    let end = "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint";
    let end: i64 = sqlx::query_scalar(end).fetch_one(&database.pool()).await.unwrap();
    until("a replica", async || {
        let Ok(mut replica) = PgConnection::connect(replica).await else { return false };
        let replayed = "SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint";
        sqlx::query_scalar::<_, i64>(replayed).fetch_one(&mut replica).await.is_ok_and(|replayed| replayed >= end)
    })
    .await;
}

/// Replicas that replay nothing until [`end`](Self::end).
struct Held(Vec<PgPool>);

impl Held {
    async fn new(database: &TestDatabase) -> Self {
        let mut pools = Vec::new();
        for url in database.replica_urls() {
            let pool = PgPool::connect(&url).await.unwrap();
            pool.execute("SELECT pg_wal_replay_pause()").await.unwrap();
            until("the pause", async || {
                let state = sqlx::query_scalar::<_, String>("SELECT pg_get_wal_replay_pause_state()");
                state.fetch_one(&pool).await.unwrap() == "paused"
            })
            .await;
            pools.push(pool);
        }
        Self(pools)
    }

    async fn end(&self) {
        for pool in &self.0 {
            // A failure must not hide that of the test.
            let _ = pool.execute("SELECT pg_wal_replay_resume()").await;
        }
    }
}

impl Drop for Held {
    /// Lets the replicas go on also if the test has failed.
    fn drop(&mut self) {
        block_in_place(|| Handle::current().block_on(self.end()));
    }
}

const ADA: &str = "ada@example.com";
const GRACE: &str = "grace@example.com";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn lists_are_read_from_every_replica() {
    let fixture = Fixture::new(|urls| urls).await;
    fixture.until_all_answer().await;
    for _ in 0..4 {
        assert_eq!(fixture.emails().await, [ADA]);
    }
    assert_eq!(answering(&[fixture.database.url().to_owned()]).await, 0, "the primary has read no list");
}

/// What this process or another one has written is in the next list, page of the audit log, and export, also while the
/// replicas are behind. They are used again when they are no longer behind.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn a_list_has_everything_that_is_committed() {
    let fixture = Fixture::new(|urls| urls).await;
    let own = World::new(Arc::new(fixture.store.clone()));
    fixture.until_all_answer().await;
    let (held, entries, permissions) =
        (Held::new(&fixture.database).await, fixture.entries().await, fixture.permissions().await);
    for number in 0..10 {
        let (world, users, email) =
            (if number % 2 == 0 { &own } else { &fixture.other }, number + 1, format!("b{number}@example.com"));
        world.user(&fixture.tenant, &email).await;
        assert_eq!(fixture.emails().await.len(), 1 + users);
        assert!(fixture.entries().await >= entries + users);
        world.permission(&fixture.tenant, &format!("b{number}:read")).await;
        assert_eq!(fixture.permissions().await, permissions + users as u64);
    }
    held.end().await;
    fixture.until_all_answer().await;
    assert_eq!(fixture.emails().await.len(), 11);
}

/// A list waits only a moment for a replica that lags, and later lists do not wait at all.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn a_replica_that_stands_still_delays_no_lists() {
    let fixture = Fixture::new(|urls| urls).await;
    fixture.until_all_answer().await;
    let held = Held::new(&fixture.database).await;
    fixture.other.user(&fixture.tenant, GRACE).await;
    // One list for each replica waits.
    for _ in 0..2 {
        assert_eq!(fixture.emails().await, [ADA, GRACE]);
    }
    let since = Instant::now();
    for _ in 0..200 {
        assert_eq!(fixture.emails().await, [ADA, GRACE]);
    }
    assert!(since.elapsed() < Duration::from_secs(4), "the lists took {:?}", since.elapsed());
    held.end().await;
    fixture.until_all_answer().await;
}

/// The size of a log is read from the primary, so its entries must be as new.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn a_log_is_never_shorter_than_its_size() {
    let fixture = Fixture::new(|urls| urls).await;
    let check = async || {
        for number in 0..5 {
            fixture.other.user(&fixture.tenant, &format!("{}@example.com", Uuid::now_v7())).await;
            fixture.other.sequence().await;
            let heads = fixture.store.log_heads(&[fixture.tenant.id]).await.unwrap();
            let entries = fixture.store.sequenced_entries(fixture.tenant.id, 0, 100).await.unwrap();
            assert_eq!(entries.len() as u64, heads[0].frontier.size(), "{number}");
        }
    };
    check().await;
    let held = Held::new(&fixture.database).await;
    check().await;
    held.end().await;
}

/// Lists go on without an error when a replica is lost, the other replica still answers, and the lost one answers again
/// when it is back.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn a_lost_replica_causes_no_error() {
    for fault in [Fault::Gone, Fault::Closed, Fault::Reset, Fault::Silent, Fault::Severed] {
        let mut proxy = None;
        let fixture = Fixture::new(|mut urls| {
            let before = proxy.insert(Proxy::before(&urls[0]));
            urls[0] = before.url(&urls[0]);
            urls
        })
        .await;
        let proxy = proxy.unwrap();
        fixture.until_all_answer().await;
        proxy.set(fault);
        let (began, mut slowest) = (Instant::now(), Duration::ZERO);
        for _ in 0..100 {
            let since = Instant::now();
            assert_eq!(fixture.emails().await, [ADA], "{fault:?}");
            slowest = slowest.max(since.elapsed());
        }
        println!("{fault:?}: 100 lists in {:?}, the slowest in {slowest:?}", began.elapsed());
        assert!(slowest < Duration::from_secs(2), "{fault:?}: a list took {slowest:?}");
        assert!(began.elapsed() < Duration::from_secs(6), "{fault:?}: the lists took {:?}", began.elapsed());
        assert_eq!(answering(&fixture.database.replica_urls()[1..]).await, 1, "{fault:?}");
        proxy.set(Fault::None);
        fixture.until_all_answer().await;
    }
}

/// A list that a replica was reading when it was lost is read from the primary.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn lists_in_progress_survive_the_loss_of_a_replica() {
    let fixture = Arc::new(Fixture::new(|urls| urls).await);
    fixture.until_all_answer().await;
    let ends = Instant::now() + Duration::from_secs(3);
    let readers: JoinSet<()> = (0..8)
        .map(|_| {
            let fixture = Arc::clone(&fixture);
            async move {
                while Instant::now() < ends {
                    assert_eq!(fixture.emails().await, [ADA]);
                }
            }
        })
        .collect();
    while Instant::now() < ends {
        for url in fixture.database.replica_urls() {
            disconnect(&url).await;
        }
        sleep(Duration::from_millis(100)).await;
    }
    readers.join_all().await;
    fixture.until_all_answer().await;
}

/// What ended on the primary could still be valid there.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn a_standby_is_refused_as_the_database() {
    let fixture = Fixture::new(|urls| urls).await;
    let refused = PostgresStore::connect(&fixture.database.replica_urls()[0]).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
}

/// Neither the primary itself nor a replica of another database is used.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn a_url_of_something_else_is_not_used() {
    let neighbour = Fixture::new(|urls| urls).await;
    let database = TestDatabase::create().await;
    let urls = [
        database.url().to_owned(),
        neighbour.database.replica_urls().remove(0),
        "postgres://absent@127.0.0.1:1/absent".to_owned(),
    ];
    for url in urls {
        let fixture = Fixture::new(|_| vec![url.clone()]).await;
        fixture.other.user(&fixture.tenant, GRACE).await;
        for _ in 0..2 {
            assert_eq!(fixture.emails().await, [ADA, GRACE]);
        }
        assert_eq!(answering(&[fixture.database.url().to_owned()]).await, 1, "the primary has answered");
    }
    assert!(PostgresStore::connect(database.url()).await.unwrap().with_replicas(["replica"]).is_err());
}

/// A replica that was promoted has its own changes. They are never read, although it has replayed everything that the
/// primary has committed. And replicas of the former primary are not used for the new one.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn a_promoted_replica_is_not_used() {
    let database = TestDatabase::create().await;
    let url = database.promotion_url();
    let fixture = Fixture::in_database(database, |_| vec![url.clone()]).await;
    until("the replica", async || {
        fixture.emails().await;
        answering(std::slice::from_ref(&url)).await == 1
    })
    .await;
    let mut promoted = PgConnection::connect(&url).await.unwrap();
    assert!(sqlx::query_scalar::<_, bool>("SELECT pg_promote()").fetch_one(&mut promoted).await.unwrap());
    promoted.execute("UPDATE iam.users SET email = 'grace@example.com'").await.unwrap();
    for _ in 0..100 {
        assert_eq!(fixture.emails().await, [ADA]);
        sleep(Duration::from_millis(10)).await;
    }
    // The replicas of the former primary have replayed more than the new one has written.
    fixture.database.pool().execute("CREATE TABLE more AS SELECT generate_series(1, 100000)").await.unwrap();
    let urls = fixture.database.replica_urls();
    for url in &urls {
        catch_up(&fixture.database, url).await;
    }
    let store = PostgresStore::connect(&url).await.unwrap();
    let fixture = Fixture { store: store.with_replicas(urls.iter().map(String::as_str)).unwrap(), ..fixture };
    for _ in 0..4 {
        assert_eq!(fixture.emails().await, [GRACE], "the new primary answers");
    }
}
