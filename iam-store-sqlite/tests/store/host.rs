//! Host transactions: a host program changes its own tables and those of IAM in one transaction.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::audit::{AuditFilter, NewEvent};
use iam_core::{Caller, Store, StoreError};
use iam_store_sqlite::{HostTransaction, SqliteStore};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use sqlx::{Executor as _, query_scalar};
use test_support::host::{self, Host};
use test_support::sqlite::TestFile;

struct Program {
    store: SqliteStore,
    pool: SqlitePool,
}

impl Program {
    async fn start() -> (Self, TestFile) {
        let file = TestFile::create();
        let store = SqliteStore::open(file.url()).await.unwrap();
        store.migrate().await.unwrap();
        let pool = SqlitePool::connect(file.url()).await.unwrap();
        pool.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY)").await.unwrap();
        (Self { store, pool }, file)
    }
}

impl Host for Program {
    type Transaction = HostTransaction;

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn begin(&self) -> HostTransaction {
        self.store.join(self.pool.begin_with("BEGIN IMMEDIATE").await.unwrap()).await.unwrap()
    }

    async fn note(transaction: &HostTransaction) {
        transaction.connection().await.unwrap().execute("INSERT INTO notes DEFAULT VALUES").await.unwrap();
    }

    async fn notes(&self) -> i64 {
        query_scalar("SELECT count(*) FROM notes").fetch_one(&self.pool).await.unwrap()
    }
}

macro_rules! cases {
    ($($case:ident),+ $(,)?) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $case() {
            let (host, _file) = Program::start().await;
            host::$case(host).await;
        })+
    };
}

cases! {
    the_rows_of_host_and_iam_commit_together,
    a_call_sees_the_rows_of_earlier_calls,
    a_dropped_host_transaction_leaves_nothing,
    a_failed_call_rolls_back_only_itself,
    a_cancelled_call_applies_all_of_its_changes_or_none,
    a_suspension_takes_effect_with_the_commit,
    permissions_are_checked_in_a_host_transaction,
}

/// SQLite itself rolls back a transaction in some cases, for instance if the disk is full.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_committed_after_the_transaction_was_rolled_back() {
    let (host, _file) = Program::start().await;
    let world = World::new(host.store());
    let (tenant, iam) = (world.tenant("acme").await, world.iam().await);
    let system = Caller::system(tenant.id, "test");
    let transaction = iam.within(host.begin().await);
    Program::note(&transaction).await;
    transaction.connection().await.unwrap().execute("ROLLBACK").await.unwrap();
    let event = || NewEvent { action: "SENT".into(), resource_type: "INVOICE".into(), ..NewEvent::default() };
    transaction.audit().log(&system, event()).await.unwrap_err();
    transaction.audit().log(&system, event()).await.unwrap_err();
    transaction.commit().await.unwrap_err();
    assert_eq!(host.notes().await, 0);
    let log = iam.audit().list(&system, AuditFilter::default(), None, 10).await.unwrap();
    assert!(log.entries.iter().all(|entry| entry.action != "SENT"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_transaction_must_check_foreign_keys_and_use_the_same_file() {
    let (host, file) = Program::start().await;
    let elsewhere = TestFile::create();
    let unchecked: SqliteConnectOptions = file.url().parse().unwrap();
    let other: SqliteConnectOptions = elsewhere.url().parse().unwrap();
    for options in [unchecked.foreign_keys(false), other.create_if_missing(true)] {
        let pool = SqlitePool::connect_with(options).await.unwrap();
        let transaction = pool.begin_with("BEGIN IMMEDIATE").await.unwrap();
        assert!(matches!(host.store.join(transaction).await, Err(StoreError::Failed(_))));
    }
}
