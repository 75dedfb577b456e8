//! The store when connections, the network or the server fail.

use std::time::Duration;

use iam_core::maintenance::{MaintenanceStore as _, Turn};
use iam_core::tenant::{Directory as _, TenantStore as _};
use iam_core::{EmailKey, Store as _, StoreError, TenantId};
use iam_store_postgres::PostgresStore;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};
use test_support::postgres::TestDatabase;
use test_support::proxy::{Fault, Proxy};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::changes::expect_connections;

/// How many connections a store has.
const CONNECTIONS: usize = 16;
/// How many of them units of work may use at the same time.
const PERMITS: usize = 12;

/// Keeps every connection busy.
pub(crate) async fn occupy(store: &PostgresStore) -> Vec<Box<dyn Turn>> {
    occupy_some(store, CONNECTIONS).await
}

/// Keeps so many connections busy. Each turn has a transaction of its own, and is no unit of work.
async fn occupy_some(store: &PostgresStore, count: usize) -> Vec<Box<dyn Turn>> {
    let mut busy = Vec::new();
    for _ in 0..count {
        let job = Uuid::now_v7().to_string().leak();
        busy.push(store.take_turn(job).await.unwrap().unwrap());
    }
    busy
}

/// A tenant that uses no connection yet. One tenant gets at most half of the connections.
fn fresh_tenant() -> TenantId {
    Uuid::now_v7().into()
}

/// Terminates all connections to the database.
async fn terminate_connections(url: &str) {
    let other = PgPool::connect(url).await.unwrap();
    let all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    sqlx::query(all).execute(&other).await.unwrap();
    other.close().await;
}

#[tokio::test]
async fn a_lost_connection_is_a_transient_error_and_is_replaced() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.ping().await.unwrap();
    terminate_connections(database.url()).await;
    let lost = store.ping().await;
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
    store.ping().await.unwrap();
}

/// An operator closes the database for a while, or changes the password of the server.
#[tokio::test]
async fn a_refused_connection_is_a_transient_error() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    let options: PgConnectOptions = database.url().parse().unwrap();
    let name = options.get_database().unwrap().to_owned();
    let mut operator = options.database("postgres").connect().await.unwrap();
    let allow = |is_allowed: bool| AssertSqlSafe(format!("ALTER DATABASE {name} ALLOW_CONNECTIONS {is_allowed}"));
    operator.execute(allow(false)).await.unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1";
    sqlx::query(end).bind(&name).execute(&mut operator).await.unwrap();
    for _ in 0..2 {
        let refused = store.ping().await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    }
    operator.execute(allow(true)).await.unwrap();
    store.ping().await.unwrap();
}

#[tokio::test]
async fn a_connection_that_is_lost_while_idle_causes_no_error() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.ping().await.unwrap();
    terminate_connections(database.url()).await;
    sleep(Duration::from_millis(1200)).await;
    store.ping().await.unwrap();
}

#[tokio::test]
async fn a_missing_server_is_unavailable() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let refused = PostgresStore::connect(&format!("postgres://nobody@127.0.0.1:{port}/nothing")).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
}

#[tokio::test]
async fn a_closed_store_is_unavailable() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.close().await;
    let closed = store.ping().await;
    assert!(matches!(closed, Err(StoreError::Unavailable(_))), "{closed:?}");
}

#[tokio::test]
async fn closing_a_store_closes_its_idle_connections() {
    let database = TestDatabase::create().await;
    let mut asks = PgConnection::connect(database.url()).await.unwrap();
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.ping().await.unwrap();
    expect_connections(&mut asks, 1).await;
    timeout(PATIENCE, store.close()).await.unwrap();
    expect_connections(&mut asks, 0).await;
}

/// A pool of the host program is closed with its store, and closing it waits for all its connections.
#[tokio::test]
async fn closing_a_store_closes_the_pool_of_the_host_program() {
    let database = TestDatabase::create().await;
    let pool = PgPool::connect(database.url()).await.unwrap();
    let store = PostgresStore::from_pool(pool.clone());
    store.ping().await.unwrap();
    let dropped = store.begin(TenantId::NONE).await.unwrap();
    drop(dropped);
    timeout(PATIENCE, store.close()).await.unwrap();
    assert!(pool.is_closed());
}

/// The host program can use every connection that no statement of the store uses.
#[tokio::test]
async fn a_store_on_a_pool_of_the_host_program_keeps_no_connection() {
    let database = TestDatabase::create().await;
    let options = PgPoolOptions::new().max_connections(1).acquire_timeout(PATIENCE);
    let pool = options.connect(database.url()).await.unwrap();
    let store = PostgresStore::from_pool(pool.clone());
    store.migrate().await.unwrap();
    for _ in 0..3 {
        store.ping().await.unwrap();
        drop(store.begin(TenantId::NONE).await.unwrap());
        store.begin(TenantId::NONE).await.unwrap().commit().await.unwrap();
        pool.acquire().await.unwrap();
    }
}

/// Without a runtime, no task can roll back.
#[test]
fn a_store_may_outlive_its_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (database, store) = runtime.block_on(async {
        let database = TestDatabase::create().await;
        let store = database.store().await;
        store.migrate().await.unwrap();
        store.ping().await.unwrap();
        (database, store)
    });
    let unended = runtime.block_on(store.begin(TenantId::NONE)).unwrap();
    drop(unended);
    runtime.block_on(store.ping()).unwrap();
    drop(store);
    runtime.block_on(async { drop(database) });
}

/// A waiting query gets the next connection that is returned.
#[tokio::test]
async fn a_waiting_query_gets_a_connection_that_another_query_returns() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.migrate().await.unwrap();
    let _busy = occupy_some(&store, CONNECTIONS - PERMITS).await;
    let other = PgPool::connect(database.url()).await.unwrap();
    let mut holding = other.begin().await.unwrap();
    sqlx::query("LOCK TABLE iam.tenants").execute(&mut *holding).await.unwrap();
    let asking: JoinSet<_> = (0..2 * CONNECTIONS)
        .map(|_| {
            let store = store.clone();
            async move { store.is_empty().await }
        })
        .collect();
    sleep(Duration::from_millis(300)).await;
    holding.rollback().await.unwrap();
    assert!(asking.join_all().await.into_iter().all(Result::unwrap));
}

/// When a query is cancelled, the next query on its connection does not get its answer.
#[tokio::test]
async fn the_answer_to_a_cancelled_query_reaches_no_other_query() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    store.migrate().await.unwrap();
    let other = PgPool::connect(database.url()).await.unwrap();
    for _ in 0..2 * CONNECTIONS {
        let mut holding = other.begin().await.unwrap();
        sqlx::query("LOCK TABLE iam.tenants").execute(&mut *holding).await.unwrap();
        let cancelled = timeout(Duration::from_millis(20), store.is_empty()).await;
        assert!(cancelled.is_err());
        holding.rollback().await.unwrap();
        assert!(store.is_migrated().await.unwrap());
        assert_eq!(store.tenant(TenantId::NONE).await.unwrap(), None);
        assert!(store.is_empty().await.unwrap());
    }
    timeout(PATIENCE, occupy(&store)).await.unwrap();
}

/// Drops a unit of work while it waits for a lock that another one of the tenant holds.
async fn cancel_while_waiting(store: &PostgresStore, tenant: TenantId, email: &EmailKey) {
    let mut waiting = store.begin(tenant).await.unwrap();
    let cancelled = timeout(Duration::from_millis(20), waiting.lock_guarded_account(email, None)).await;
    assert!(cancelled.is_err());
}

/// A unit of work that is dropped, also while it waits, releases its locks and its connection.
#[tokio::test]
async fn a_dropped_unit_of_work_releases_its_locks_and_its_connection() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    store.migrate().await.unwrap();
    let email = "ada@example.com".parse::<iam_core::Email>().unwrap().key();
    for _ in 0..2 * CONNECTIONS {
        let mut holding = store.begin(TenantId::NONE).await.unwrap();
        holding.lock_guarded_account(&email, None).await.unwrap();
        cancel_while_waiting(&store, TenantId::NONE, &email).await;
        drop(holding);
        let mut next = store.begin(TenantId::NONE).await.unwrap();
        timeout(PATIENCE, next.lock_guarded_account(&email, None)).await.unwrap().unwrap();
        next.commit().await.unwrap();
    }
    timeout(PATIENCE, occupy(&store)).await.unwrap();
}

/// Units of work that are dropped in the middle of a statement keep their permits until they are rolled back.
#[tokio::test]
async fn cancelled_units_of_work_leave_connections_to_reads() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    store.migrate().await.unwrap();
    let email = "ada@example.com".parse::<iam_core::Email>().unwrap().key();
    let tenants = [fresh_tenant(), fresh_tenant()];
    let mut holding = Vec::new();
    for tenant in tenants {
        let mut unit = store.begin(tenant).await.unwrap();
        unit.lock_guarded_account(&email, None).await.unwrap();
        holding.push(unit);
    }
    for tenant in tenants.into_iter().cycle().take(PERMITS - tenants.len()) {
        cancel_while_waiting(&store, tenant, &email).await;
    }
    // Their connections are busy for as long as the database waits for the lock.
    let more: JoinSet<_> = (0..PERMITS)
        .map(|_| {
            let store = store.clone();
            async move { store.begin(fresh_tenant()).await }
        })
        .collect();
    sleep(Duration::from_millis(100)).await;
    timeout(Duration::from_secs(1), store.is_empty()).await.unwrap().unwrap();
    drop(holding);
    for begun in more.join_all().await {
        begun.unwrap();
    }
}

/// Each unit of work holds its connection while the disk is slow.
#[tokio::test]
async fn units_of_work_leave_connections_to_reads() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    store.migrate().await.unwrap();
    let mut working = Vec::new();
    for _ in 0..PERMITS {
        working.push(store.begin(fresh_tenant()).await.unwrap());
    }
    let waiting: JoinSet<_> = (0..CONNECTIONS)
        .map(|_| {
            let store = store.clone();
            async move { store.begin(fresh_tenant()).await.map(drop) }
        })
        .collect();
    for _ in 0..3 {
        store.is_empty().await.unwrap();
    }
    drop(working);
    waiting.join_all().await.into_iter().for_each(Result::unwrap);
}

/// When another transaction holds a lock for too long, a query fails and does not wait forever.
#[tokio::test]
async fn a_query_that_waits_too_long_for_a_lock_is_unavailable() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    store.migrate().await.unwrap();
    let other = PgPool::connect(database.url()).await.unwrap();
    let mut holding = other.begin().await.unwrap();
    sqlx::query("LOCK TABLE iam.tenants").execute(&mut *holding).await.unwrap();
    let waiting = store.is_empty().await;
    assert!(matches!(waiting, Err(StoreError::Unavailable(_))), "{waiting:?}");
    holding.rollback().await.unwrap();
    assert!(store.is_empty().await.unwrap());
}

/// The time limit of each step of a test.
const PATIENCE: Duration = Duration::from_secs(30);

async fn is_unavailable(store: &PostgresStore) -> bool {
    matches!(store.ping().await, Err(StoreError::Unavailable(_)))
}

/// After an outage of any kind, the store has as many connections as before.
#[tokio::test(flavor = "multi_thread")]
async fn requests_fail_at_once_during_an_outage_and_work_again_after_it() {
    let database = TestDatabase::create().await;
    let proxy = Proxy::before(database.url());
    let store = PostgresStore::connect(&proxy.url(database.url())).await.unwrap();
    for fault in [Fault::Gone, Fault::Closed, Fault::Reset, Fault::Silent] {
        let _before = occupy(&store).await;
        proxy.set(fault);
        let waiting = store.ping().await;
        assert!(matches!(waiting, Err(StoreError::Unavailable(_))), "{fault:?}: {waiting:?}");
        // This would take too long if each request waited for half a second.
        let all = async {
            for _ in 0..1_000 {
                assert!(is_unavailable(&store).await, "{fault:?}");
            }
        };
        timeout(PATIENCE, all).await.unwrap_or_else(|_| panic!("{fault:?}: the requests waited"));
        proxy.set(Fault::None);
        let back = async {
            while is_unavailable(&store).await {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, back).await.unwrap_or_else(|_| panic!("{fault:?}: it stayed unavailable"));
        let mut after = Vec::new();
        for _ in 0..PERMITS {
            after.push(store.begin(fresh_tenant()).await.unwrap_or_else(|error| panic!("{fault:?}: {error}")));
        }
    }
}

/// For example, a firewall forgets the connections: neither side gets an error, and new connections work.
#[tokio::test(flavor = "multi_thread")]
async fn lost_connections_are_replaced_without_an_outage() {
    let database = TestDatabase::create().await;
    for are_busy in [false, true] {
        let proxy = Proxy::before(database.url());
        let store = PostgresStore::connect(&proxy.url(database.url())).await.unwrap();
        let mut busy = occupy(&store).await;
        if !are_busy {
            busy.clear();
            // All connections are returned and have been idle for more than a second.
            sleep(Duration::from_millis(1_500)).await;
        }
        proxy.set(Fault::Severed);
        let mut waiting = JoinSet::new();
        for _ in 0..PERMITS {
            let store = store.clone();
            waiting.spawn(async move {
                loop {
                    if let Ok(transaction) = store.begin(fresh_tenant()).await {
                        return transaction;
                    }
                    sleep(Duration::from_millis(20)).await;
                }
            });
        }
        // All at the same time: no connection is returned before every task has one.
        timeout(PATIENCE, waiting.join_all()).await.unwrap_or_else(|_| panic!("busy: {are_busy}"));
    }
}

#[tokio::test]
async fn the_application_name_is_unique_for_any_configured_name() {
    let database = TestDatabase::create().await;
    let options: PgConnectOptions = database.url().parse().unwrap();
    let url = options.application_name(&"x".repeat(63)).to_url_lossy();
    let one = PostgresStore::connect(url.as_str()).await.unwrap();
    let other = PostgresStore::connect(url.as_str()).await.unwrap();
    one.ping().await.unwrap();
    other.ping().await.unwrap();
    let names = "SELECT application_name FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let names: Vec<String> = sqlx::query_scalar(names).fetch_all(&database.pool()).await.unwrap();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_ne!(names[0], names[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_is_unavailable_when_the_network_becomes_silent() {
    let database = TestDatabase::create().await;
    let proxy = Proxy::before(database.url());
    let store = PostgresStore::connect(&proxy.url(database.url())).await.unwrap();
    store.migrate().await.unwrap();
    let other = PgPool::connect(database.url()).await.unwrap();
    let mut holding = other.begin().await.unwrap();
    sqlx::query("LOCK TABLE iam.tenants").execute(&mut *holding).await.unwrap();
    let reading = tokio::spawn(async move { store.is_empty().await });
    let waits =
        "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')";
    while !sqlx::query_scalar::<_, bool>(waits).fetch_one(&other).await.unwrap() {
        sleep(Duration::from_millis(20)).await;
    }
    proxy.set(Fault::Silent);
    let read = timeout(PATIENCE, reading).await.expect("the query does not wait forever").unwrap();
    assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
}

/// When the pool is busy but the database is reachable, a query waits for a connection and then gets it.
#[tokio::test(flavor = "multi_thread")]
async fn a_query_waits_for_a_busy_pool() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    let busy = occupy(&store).await;
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { store.ping().await }
    });
    // Long enough for a check whether the database is reachable.
    sleep(Duration::from_secs(2)).await;
    assert!(!waiting.is_finished());
    drop(busy);
    waiting.await.unwrap().unwrap();
}
