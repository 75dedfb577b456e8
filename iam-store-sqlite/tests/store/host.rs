//! A host program that changes its own tables and those of IAM in one transaction.

use std::sync::Arc;

use iam_core::{Store, StoreError};
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
            let (host, _ground) = Program::start().await;
            host::$case(host).await;
        })+
    };
}

cases! {
    all_is_committed_together,
    a_call_sees_what_the_one_before_has_made,
    what_is_dropped_leaves_nothing,
    a_call_that_fails_undoes_itself_alone,
    a_call_that_is_given_up_leaves_no_half,
    what_is_revoked_counts_with_the_commit,
    permissions_are_asked_for,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_checks_no_references_or_is_elsewhere_is_refused() {
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
