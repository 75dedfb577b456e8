//! The store behind a pooler that gives each transaction any session of the database.

use std::time::Duration;

use iam_core::maintenance::MaintenanceStore as _;
use iam_core::tenant::{Directory as _, TenantStore as _};
use iam_core::{EmailKey, Store as _, StoreError, TenantId};
use iam_store_postgres::PostgresStore;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _, Row as _};
use test_support::postgres::TestDatabase;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

/// The time limit of each step of a test.
const PATIENCE: Duration = Duration::from_secs(30);

async fn migrated(database: &TestDatabase) -> PostgresStore {
    let store = PostgresStore::connect_through_pooler(&database.pooler_url(), database.url()).await.unwrap();
    store.migrate().await.unwrap();
    store
}

async fn session(url: &str) -> PgConnection {
    let options: PgConnectOptions = url.parse().unwrap();
    options.extra_float_digits(None).connect().await.unwrap()
}

fn account() -> EmailKey {
    "ada@example.com".parse::<iam_core::Email>().unwrap().key()
}

/// Of two stores behind one pooler, the second would find the names of its statements in use.
#[tokio::test]
async fn no_statement_stays_prepared_after_its_transaction() {
    let database = TestDatabase::create().await;
    let store = migrated(&database).await;
    assert_eq!(store.tenant(TenantId::NONE).await.unwrap(), None);
    let mut begun = store.begin(TenantId::NONE).await.unwrap();
    begun.lock_guarded_account(&account(), None).await.unwrap();
    begun.commit().await.unwrap();
    let mut pooled = session(&database.pooler_url()).await;
    let sessions = sqlx::raw_sql("SELECT pg_backend_pid(), (SELECT count(*) FROM pg_prepared_statements)");
    let row = pooled.fetch_one(sessions).await.unwrap();
    assert_eq!(row.try_get_unchecked::<String, _>(1).unwrap(), "0");
}

/// More connections of stores than sessions of the pooler.
#[tokio::test(flavor = "multi_thread")]
async fn many_stores_share_a_few_sessions() {
    let database = TestDatabase::create().await;
    migrated(&database).await;
    let mut stores = Vec::new();
    for _ in 0..4 {
        stores.push(migrated(&database).await);
    }
    let work: JoinSet<_> = stores
        .iter()
        .flat_map(|store| (0..12).map(move |_| store.clone()))
        .map(|store| async move {
            for _ in 0..10 {
                assert!(store.is_empty().await.unwrap());
                let mut begun = store.begin(TenantId::from(Uuid::now_v7())).await.unwrap();
                begun.lock_guarded_account(&account(), None).await.unwrap();
                begun.commit().await.unwrap();
            }
        })
        .collect();
    timeout(PATIENCE, work.join_all()).await.unwrap();
}

#[tokio::test]
async fn a_turn_is_held_by_one_of_two_stores() {
    let database = TestDatabase::create().await;
    let (one, other) = (migrated(&database).await, migrated(&database).await);
    let turn = one.take_turn("job").await.unwrap().unwrap();
    for _ in 0..3 {
        assert!(other.take_turn("job").await.unwrap().is_none());
    }
    turn.end().await;
    assert!(other.take_turn("job").await.unwrap().is_some());
}

/// A dropped unit of work releases its locks, and its session has no transaction for the next user.
#[tokio::test]
async fn a_cancelled_unit_of_work_releases_its_locks() {
    let database = TestDatabase::create().await;
    let store = migrated(&database).await;
    for _ in 0..20 {
        let mut holding = store.begin(TenantId::NONE).await.unwrap();
        holding.lock_guarded_account(&account(), None).await.unwrap();
        let mut waiting = store.begin(TenantId::NONE).await.unwrap();
        let cancelled = timeout(Duration::from_millis(20), waiting.lock_guarded_account(&account(), None)).await;
        assert!(cancelled.is_err());
        drop((holding, waiting));
        let mut next = store.begin(TenantId::NONE).await.unwrap();
        timeout(PATIENCE, next.lock_guarded_account(&account(), None)).await.unwrap().unwrap();
        next.commit().await.unwrap();
        assert!(store.is_empty().await.unwrap());
    }
}

/// The pooler accepts connections, but its database does not answer. After that, everything goes on.
#[tokio::test(flavor = "multi_thread")]
async fn an_outage_behind_the_pooler_is_noticed_and_ends() {
    let database = TestDatabase::create().await;
    let store = migrated(&database).await;
    let pooler: PgConnectOptions = database.pooler_url().parse().unwrap();
    let name = pooler.get_database().unwrap().to_owned();
    let mut console = session(pooler.database("pgbouncer").to_url_lossy().as_str()).await;
    // Ends all connections of the database, and lets new ones wait.
    console.execute(AssertSqlSafe(format!("KILL {name}"))).await.unwrap();
    let unavailable = async {
        loop {
            let answer = store.ping().await;
            assert!(matches!(answer, Ok(()) | Err(StoreError::Unavailable(_))), "{answer:?}");
            if answer.is_err() {
                break;
            }
        }
        // At once: without a wait for the pooler.
        for _ in 0..1_000 {
            assert!(store.ping().await.is_err());
        }
    };
    timeout(PATIENCE, unavailable).await.unwrap();
    console.execute(AssertSqlSafe(format!("RESUME {name}"))).await.unwrap();
    let back = async {
        while store.ping().await.is_err() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, back).await.unwrap();
    assert!(store.is_empty().await.unwrap());
}

/// What the server asks of the operator: a direct URL that works.
#[tokio::test]
async fn a_direct_url_that_does_not_answer_is_an_error() {
    let database = TestDatabase::create().await;
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let missing = format!("postgres://nobody@127.0.0.1:{port}/nothing");
    let connected = PostgresStore::connect_through_pooler(&database.pooler_url(), &missing).await;
    assert!(matches!(connected, Err(StoreError::Unavailable(_))), "{connected:?}");
}
