//! The store when streaming replicas of the database answer lists.

use std::sync::Arc;
use std::time::Duration;

use iam_conformance::World;
use iam_core::StoreError;
use iam_core::access::VisibleScope;
use iam_core::audit::SequenceStore as _;
use iam_core::page::PageRequest;
use iam_core::tenant::Tenant;
use iam_core::user::{UserFilter, UserSort, UserStore as _};
use iam_store_postgres::PostgresStore;
use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{Connection as _, Executor as _};
use test_support::postgres::TestDatabase;
use test_support::proxy::{Fault, Proxy};
use tokio::time::{sleep, timeout};

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

/// A tenant in a database with two replicas.
struct Scene {
    database: TestDatabase,
    /// With the replicas.
    store: PostgresStore,
    /// The store of another process, without replicas.
    other: World,
    tenant: Tenant,
}

impl Scene {
    async fn new(replicas: impl FnOnce(Vec<String>) -> Vec<String>) -> Self {
        let database = TestDatabase::create().await;
        let store = PostgresStore::connect(database.url()).await.unwrap();
        store.migrate().await.unwrap();
        let other = World::new(Arc::new(store.clone()));
        let tenant = other.tenant("acme").await;
        other.user(&tenant, "ada@example.com").await;
        for url in database.replica_urls() {
            caught_up(&database, &url).await;
        }
        let urls = replicas(database.replica_urls());
        let store = PostgresStore::connect(database.url()).await.unwrap();
        let store = store.with_replicas(urls.iter().map(String::as_str)).unwrap();
        Self { database, store, other, tenant }
    }

    async fn emails(&self) -> Vec<String> {
        let (filter, page) = (UserFilter::default(), PageRequest::default());
        let (everywhere, sort) = (VisibleScope::Everywhere, UserSort::default());
        let listing = self.store.users(self.tenant.id, &filter, &everywhere, sort, page, self.other.now());
        let mut emails: Vec<String> =
            listing.await.unwrap().items.into_iter().map(|user| user.email.to_string()).collect();
        emails.sort_unstable();
        emails
    }

    /// How many connections of a replica have read a list.
    async fn listed(&self) -> i64 {
        let mut count = 0;
        for url in self.database.replica_urls() {
            let mut replica = PgConnection::connect(&url).await.unwrap();
            let listed = "SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%found%'";
            count += sqlx::query_scalar::<_, i64>(listed).fetch_one(&mut replica).await.unwrap();
        }
        count
    }
}

/// Waits until a replica has everything that is committed.
async fn caught_up(database: &TestDatabase, replica: &str) {
    let end = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint";
    let end: i64 = sqlx::query_scalar(end).fetch_one(&database.pool()).await.unwrap();
    until("a replica", async || {
        let Ok(mut replica) = PgConnection::connect(replica).await else { return false };
        let replayed = "SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint";
        sqlx::query_scalar::<_, i64>(replayed).fetch_one(&mut replica).await.unwrap() >= end
    })
    .await;
}

/// Replicas that replay nothing until this is dropped.
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

    async fn end(self) {
        for pool in self.0 {
            pool.execute("SELECT pg_wal_replay_resume()").await.unwrap();
            pool.close().await;
        }
    }
}

const ADA: &str = "ada@example.com";
const GRACE: &str = "grace@example.com";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn lists_are_read_from_every_replica() {
    let scene = Scene::new(|urls| urls).await;
    for _ in 0..4 {
        assert_eq!(scene.emails().await, [ADA]);
    }
    assert_eq!(scene.listed().await, 2);
}

/// A write of this process is in its next list, also while the replicas are behind.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn a_process_reads_its_own_writes() {
    let scene = Scene::new(|urls| urls).await;
    let own = World::new(Arc::new(scene.store.clone()));
    assert_eq!(scene.emails().await, [ADA]);
    let held = Held::new(&scene.database).await;
    for number in 0..20 {
        own.user(&scene.tenant, &format!("b{number:02}@example.com")).await;
        assert_eq!(scene.emails().await.len(), 2 + number);
    }
    held.end().await;
    own.user(&scene.tenant, GRACE).await;
    until("the replicas", async || {
        assert_eq!(scene.emails().await.len(), 22);
        scene.listed().await == 2
    })
    .await;
}

/// What another process has written is in the list soon, also if the replicas never get it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn a_replica_that_stands_still_is_not_used_for_long() {
    let scene = Scene::new(|urls| urls).await;
    assert_eq!(scene.emails().await, [ADA]);
    let held = Held::new(&scene.database).await;
    scene.other.user(&scene.tenant, GRACE).await;
    until("the user", async || scene.emails().await == [ADA, GRACE]).await;
    held.end().await;
}

/// The size of a log is read from the primary, so its entries must be as new.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn a_log_is_never_shorter_than_its_size() {
    let scene = Scene::new(|urls| urls).await;
    let held = Held::new(&scene.database).await;
    for number in 0..5 {
        scene.other.user(&scene.tenant, &format!("b{number}@example.com")).await;
        scene.other.sequence().await;
        let heads = scene.store.log_heads(&[scene.tenant.id]).await.unwrap();
        let entries = scene.store.sequenced_entries(scene.tenant.id, 0, 100).await.unwrap();
        assert_eq!(entries.len() as u64, heads[0].size);
    }
    held.end().await;
}

/// Lists go on without an error when a replica is lost, and use it again later.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn a_lost_replica_causes_no_error() {
    for fault in [Fault::Gone, Fault::Closed, Fault::Reset, Fault::Silent, Fault::Severed] {
        let mut proxies = Vec::new();
        let scene = Scene::new(|urls| {
            proxies = urls.iter().map(|url| Proxy::before(url)).collect();
            proxies.iter().zip(&urls).map(|(proxy, url)| proxy.url(url)).collect()
        })
        .await;
        for _ in 0..4 {
            assert_eq!(scene.emails().await, [ADA]);
        }
        for proxy in &proxies {
            proxy.set(fault);
        }
        let during = async {
            for _ in 0..200 {
                assert_eq!(scene.emails().await, [ADA], "{fault:?}");
            }
        };
        timeout(PATIENCE, during).await.unwrap_or_else(|_| panic!("{fault:?}: the lists waited"));
        for proxy in &proxies {
            proxy.set(Fault::None);
        }
        until("the replicas", async || {
            assert_eq!(scene.emails().await, [ADA], "{fault:?}");
            proxies.iter().all(|proxy| proxy.connections() > 0)
        })
        .await;
    }
}

/// What ended on the primary could still be valid there.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn a_standby_is_refused_as_the_database() {
    let scene = Scene::new(|urls| urls).await;
    for url in scene.database.replica_urls() {
        let refused = PostgresStore::connect(&url).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    }
}

/// A URL that leads to the primary is no replica: it would never be known how new its data is.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the replicas of scripts/with-replicas; scripts/check-replicas runs it"]
async fn a_url_of_something_else_is_not_used() {
    let database = TestDatabase::create().await;
    let url = database.url().to_owned();
    let missing = "postgres://nobody@127.0.0.1:1/nothing".to_owned();
    let scene = Scene::new(|_| vec![url, missing]).await;
    scene.other.user(&scene.tenant, GRACE).await;
    assert_eq!(scene.emails().await, [ADA, GRACE]);
    assert!(PostgresStore::connect(scene.database.url()).await.unwrap().with_replicas(["replica"]).is_err());
}
