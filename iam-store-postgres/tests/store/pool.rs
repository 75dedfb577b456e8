//! What the store does when the server goes away.

use std::time::Duration;

use iam_core::tenant::{Directory as _, TenantStore as _};
use iam_core::{EmailKey, Store as _, StoreError, TenantId};
use iam_store_postgres::PostgresStore;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPool};
use sqlx::{ConnectOptions as _, Postgres};
use test_support::postgres::TestDatabase;
use test_support::proxy::{Fault, Proxy};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

/// How many connections a store has.
const CONNECTIONS: usize = 16;
/// How many of them units of work use.
const PLACES: usize = 12;

/// Keeps every connection busy.
pub(crate) async fn occupy(store: &PostgresStore) -> Vec<PoolConnection<Postgres>> {
    let mut busy = Vec::new();
    for _ in 0..CONNECTIONS {
        busy.push(store.pool().acquire().await.unwrap());
    }
    busy
}

async fn hang_up(url: &str) {
    let other = PgPool::connect(url).await.unwrap();
    let all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    sqlx::query(all).execute(&other).await.unwrap();
    other.close().await;
}

#[tokio::test]
async fn a_lost_connection_is_passing_and_is_replaced() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.ping().await.unwrap();
    hang_up(database.url()).await;
    let lost = store.ping().await;
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
    store.ping().await.unwrap();
}

#[tokio::test]
async fn a_connection_lost_while_it_rested_is_not_even_noticed() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.ping().await.unwrap();
    hang_up(database.url()).await;
    sleep(Duration::from_millis(1200)).await;
    store.ping().await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
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

/// Closing the pool waits for all its connections, also for those that are kept for the next statement.
#[tokio::test]
async fn closing_takes_along_what_is_kept() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.ping().await.unwrap();
    timeout(PATIENCE, store.close()).await.unwrap();
    let pool = PostgresStore::connect(database.url()).await.unwrap();
    pool.ping().await.unwrap();
    timeout(PATIENCE, pool.pool().close()).await.unwrap();
}

/// There is no task then that could give connections back.
#[test]
fn a_store_may_outlive_its_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (database, store) = runtime.block_on(async {
        let database = TestDatabase::create().await;
        let store = PostgresStore::connect(database.url()).await.unwrap();
        store.migrate().await.unwrap();
        store.ping().await.unwrap();
        (database, store)
    });
    let unended = runtime.block_on(store.begin(TenantId::NONE)).unwrap();
    drop(unended);
    assert!(!store.pool().is_closed());
    runtime.block_on(store.ping()).unwrap();
    drop(store);
    runtime.block_on(async { drop(database) });
}

/// Whoever waits is given a connection as soon as one is free, and not only one that is not kept.
#[tokio::test]
async fn whoever_waits_gets_what_others_have_used() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.migrate().await.unwrap();
    let mut elsewhere = Vec::new();
    for _ in PLACES..CONNECTIONS {
        elsewhere.push(store.pool().acquire().await.unwrap());
    }
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

/// Whoever stops waiting for an answer does not leave it to the next who asks.
#[tokio::test]
async fn what_was_given_up_is_answered_to_nobody() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.migrate().await.unwrap();
    let other = PgPool::connect(database.url()).await.unwrap();
    for _ in 0..2 * CONNECTIONS {
        let mut holding = other.begin().await.unwrap();
        sqlx::query("LOCK TABLE iam.tenants").execute(&mut *holding).await.unwrap();
        let given_up = timeout(Duration::from_millis(20), store.is_empty()).await;
        assert!(given_up.is_err());
        holding.rollback().await.unwrap();
        assert!(store.is_migrated().await.unwrap());
        assert_eq!(store.tenant(TenantId::NONE).await.unwrap(), None);
        assert!(store.is_empty().await.unwrap());
    }
    timeout(PATIENCE, occupy(&store)).await.unwrap();
}

/// Drops a unit of work while it waits for a lock that somebody else holds.
async fn wait_in_vain(store: &PostgresStore, email: &EmailKey) {
    let mut waiting = store.begin(TenantId::NONE).await.unwrap();
    let given_up = timeout(Duration::from_millis(20), waiting.lock_guarded_account(email, None)).await;
    assert!(given_up.is_err());
}

/// A unit of work that is dropped, also while it waits, gives back what it holds: its locks and its connection.
#[tokio::test]
async fn what_a_dropped_unit_of_work_held_is_free() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.migrate().await.unwrap();
    let email = "ada@example.com".parse::<iam_core::Email>().unwrap().key();
    for _ in 0..2 * CONNECTIONS {
        let mut holding = store.begin(TenantId::NONE).await.unwrap();
        holding.lock_guarded_account(&email, None).await.unwrap();
        wait_in_vain(&store, &email).await;
        drop(holding);
        let mut next = store.begin(TenantId::NONE).await.unwrap();
        timeout(PATIENCE, next.lock_guarded_account(&email, None)).await.unwrap().unwrap();
        next.commit().await.unwrap();
    }
    timeout(PATIENCE, occupy(&store)).await.unwrap();
}

/// Also while those are rolled back who were given up in the middle of a statement.
#[tokio::test]
async fn units_of_work_that_were_given_up_leave_connections_to_those_who_read() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.migrate().await.unwrap();
    let email = "ada@example.com".parse::<iam_core::Email>().unwrap().key();
    let mut holding = store.begin(TenantId::NONE).await.unwrap();
    holding.lock_guarded_account(&email, None).await.unwrap();
    for _ in 0..PLACES - 1 {
        wait_in_vain(&store, &email).await;
    }
    // Their connections are busy for as long as the database waits for the lock.
    let more: JoinSet<_> = (0..PLACES)
        .map(|_| {
            let store = store.clone();
            async move { store.begin(TenantId::NONE).await }
        })
        .collect();
    sleep(Duration::from_millis(100)).await;
    timeout(Duration::from_secs(1), store.is_empty()).await.unwrap().unwrap();
    drop(holding);
    for begun in more.join_all().await {
        begun.unwrap();
    }
}

/// Each unit of work keeps its connection while the disk is slow.
#[tokio::test]
async fn units_of_work_leave_connections_to_those_who_read() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.migrate().await.unwrap();
    let tenant = TenantId::from(Uuid::now_v7());
    let mut working = Vec::new();
    for _ in 0..PLACES {
        working.push(store.begin(tenant).await.unwrap());
    }
    let waiting: JoinSet<_> = (0..CONNECTIONS)
        .map(|_| {
            let store = store.clone();
            async move { store.begin(tenant).await.map(drop) }
        })
        .collect();
    for _ in 0..3 {
        store.is_empty().await.unwrap();
    }
    drop(working);
    waiting.join_all().await.into_iter().for_each(Result::unwrap);
}

/// Whoever holds a lock for too long keeps nobody waiting for ever.
#[tokio::test]
async fn a_lock_that_is_held_for_too_long_is_unavailable() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.migrate().await.unwrap();
    let other = PgPool::connect(database.url()).await.unwrap();
    let mut holding = other.begin().await.unwrap();
    sqlx::query("LOCK TABLE iam.tenants").execute(&mut *holding).await.unwrap();
    let waiting = store.is_empty().await;
    assert!(matches!(waiting, Err(StoreError::Unavailable(_))), "{waiting:?}");
    holding.rollback().await.unwrap();
    assert!(store.is_empty().await.unwrap());
}

/// What takes too long is given up; what grows with the data may take its time.
#[tokio::test]
async fn statements_have_a_limit() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    let show = sqlx::query_scalar::<_, String>("SHOW statement_timeout");
    assert_eq!(show.fetch_one(&store.pool()).await.unwrap(), "30s");
    store.migrate().await.unwrap();
    let show = sqlx::query_scalar::<_, String>("SHOW lock_timeout");
    assert_eq!(show.fetch_one(&store.pool()).await.unwrap(), "10s");
}

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(30);

async fn is_away(store: &PostgresStore) -> bool {
    matches!(store.ping().await, Err(StoreError::Unavailable(_)))
}

/// Whatever became of the connections: as many as ever can be used at once afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_away_nobody_waits_and_it_comes_back_by_itself() {
    let database = TestDatabase::create().await;
    let proxy = Proxy::before(database.url());
    let store = PostgresStore::connect(&proxy.url(database.url())).await.unwrap();
    let tenant = TenantId::from_uuid(Uuid::nil());
    for fault in [Fault::Gone, Fault::Reset, Fault::Silent] {
        let _before = occupy(&store).await;
        proxy.set(fault);
        let waiting = store.ping().await;
        assert!(matches!(waiting, Err(StoreError::Unavailable(_))), "{fault:?}: {waiting:?}");
        // If each waited for half a second, that would be too long.
        let all = async {
            for _ in 0..1_000 {
                assert!(is_away(&store).await, "{fault:?}");
            }
        };
        timeout(PATIENCE, all).await.unwrap_or_else(|_| panic!("{fault:?}: they waited"));
        proxy.set(Fault::None);
        let back = async {
            while is_away(&store).await {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, back).await.unwrap_or_else(|_| panic!("{fault:?}: it stayed away"));
        let mut after = Vec::new();
        for _ in 0..PLACES {
            after.push(store.begin(tenant).await.unwrap_or_else(|error| panic!("{fault:?}: {error}")));
        }
    }
}

/// As when a firewall forgets them: nobody says that they are gone, and the database lets everybody in.
#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_lost_alone_are_replaced() {
    let database = TestDatabase::create().await;
    for are_busy in [false, true] {
        let proxy = Proxy::before(database.url());
        let store = PostgresStore::connect(&proxy.url(database.url())).await.unwrap();
        let tenant = TenantId::from_uuid(Uuid::nil());
        let mut busy = occupy(&store).await;
        if !are_busy {
            busy.clear();
            // Until all are given back, and have rested.
            sleep(Duration::from_millis(1_500)).await;
        }
        proxy.set(Fault::Severed);
        let mut waiting = JoinSet::new();
        for _ in 0..PLACES {
            let store = store.clone();
            waiting.spawn(async move {
                loop {
                    if let Ok(transaction) = store.begin(tenant).await {
                        return transaction;
                    }
                    sleep(Duration::from_millis(20)).await;
                }
            });
        }
        // All at once: none is given back before all have one.
        timeout(PATIENCE, waiting.join_all()).await.unwrap_or_else(|_| panic!("busy: {are_busy}"));
    }
}

#[tokio::test]
async fn the_name_of_a_process_is_its_own_however_long_it_is() {
    let database = TestDatabase::create().await;
    let mut names = Vec::new();
    for _ in 0..2 {
        let options: PgConnectOptions = database.url().parse().unwrap();
        let url = options.application_name(&"x".repeat(63)).to_url_lossy();
        let store = PostgresStore::connect(url.as_str()).await.unwrap();
        let name = sqlx::query_scalar::<_, String>("SHOW application_name");
        names.push(name.fetch_one(&store.pool()).await.unwrap());
    }
    assert_ne!(names[0], names[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_while_the_network_falls_silent_is_unavailable() {
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
    let read = timeout(PATIENCE, reading).await.expect("nobody would ever answer").unwrap();
    assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
}

/// A database that has no connection to spare is there, and whoever waits for one of the pool's gets it.
#[tokio::test(flavor = "multi_thread")]
async fn a_busy_pool_is_waited_for() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    let busy = occupy(&store).await;
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { store.ping().await }
    });
    // Long enough that it has looked for the database.
    sleep(Duration::from_secs(2)).await;
    assert!(!waiting.is_finished());
    drop(busy);
    waiting.await.unwrap().unwrap();
}
