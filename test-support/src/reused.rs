//! PostgreSQL stores that the tests of a process use one after the other.
//!
//! Opening connections takes longer than most tests: each new server process fills its caches of the schema again. So a
//! test that passes leaves its store, with all connections, to the next test of the process.
//!
//! A connection belongs to the runtime that opened it. So all tests with such a store run on the same runtime, by
//! [`run`].

use std::pin::{Pin, pin};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use iam_core::Store as _;
use iam_store_postgres::PostgresStore;
use sqlx::{Executor as _, PgConnection};
use tokio::runtime::Runtime;

use crate::postgres::TestDatabase;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("the system has threads"));

/// Runs a test on the runtime of all tests of this process.
pub fn run<T>(test: impl Future<Output = T>) -> T {
    // The tests share one `block_on`: the compiler would take twice as long for one of each test.
    let test: Pin<&mut dyn Future<Output = T>> = pin!(test);
    RUNTIME.block_on(test)
}

/// The stores that no test uses at the moment.
static IDLE: Mutex<Vec<Open>> = Mutex::new(Vec::new());

fn idle() -> MutexGuard<'static, Vec<Open>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Open {
    store: Arc<PostgresStore>,
    /// Connections of a superuser to each node, which delete the rows.
    owners: Vec<PgConnection>,
    _database: TestDatabase,
}

/// An empty store, whose database no other test uses at the same time. Only for tests that [`run`] runs, and that do
/// not change the schema.
pub struct ReusedStore {
    store: Arc<PostgresStore>,
    /// `None` only after the drop.
    open: Option<Open>,
}

impl ReusedStore {
    /// Takes a store that an earlier test has left, or opens one in a new database with `open`.
    ///
    /// # Panics
    ///
    /// When `IAM_TEST_POSTGRES_URL` is not set, or the server does not answer.
    pub async fn take(open: impl AsyncFnOnce(&TestDatabase) -> PostgresStore) -> Self {
        while let Some(mut left) = { idle().pop() } {
            empty(&mut left.owners).await;
            // A test may have closed the store.
            if left.store.ping().await.is_ok() {
                return Self { store: Arc::clone(&left.store), open: Some(left) };
            }
        }
        let (database, owners) = TestDatabase::reused().await;
        let store = Arc::new(open(&database).await);
        Self { store: Arc::clone(&store), open: Some(Open { store, owners, _database: database }) }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> Arc<PostgresStore> {
        Arc::clone(&self.store)
    }
}

/// The time limit for tasks that a test has left running. After it, the next test gets another database.
const TASKS_TIMEOUT: Duration = Duration::from_secs(1);

impl Drop for ReusedStore {
    /// Leaves the store to another test if this one has passed and nothing uses the store any more.
    fn drop(&mut self) {
        let Some(open) = self.open.take() else { return };
        if std::thread::panicking() {
            return;
        }
        let started = Instant::now();
        // `self.store` and `open.store` remain.
        while Arc::strong_count(&open.store) > 2 {
            if started.elapsed() > TASKS_TIMEOUT {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        idle().push(open);
    }
}

/// Deletes every row of a database, over connections of a superuser to each of its nodes.
///
/// # Panics
///
/// When a node does not answer.
pub async fn empty(owners: &mut [PgConnection]) {
    for owner in owners {
        owner.execute(EMPTY).await.expect("the rows can be deleted");
    }
}

/// Deletes every row of the schema `iam`. The partitions stay. The role of a replica disables foreign keys and the
/// triggers that protect the audit log. On Citus, it deletes the rows of the shards of one node.
const EMPTY: &str = "
    BEGIN;
    SET LOCAL session_replication_role = replica;
    SET LOCAL citus.override_table_visibility = off;
    SET LOCAL citus.enable_manual_changes_to_shards = on;
    DO $$
    DECLARE t record;
    BEGIN
        FOR t IN
            SELECT oid::regclass AS name
            FROM pg_class
            WHERE relnamespace = 'iam'::regnamespace AND relkind = 'r' AND relname <> '_migrations'
                AND pg_relation_size(oid) > 0
        LOOP
            EXECUTE format('DELETE FROM %s', t.name);
        END LOOP;
    END $$;
    COMMIT";
