//! Host transactions: a host program changes its own tables and those of IAM in one transaction.

use std::sync::Arc;

use iam_core::{HostTransaction as _, Store, StoreError};
use iam_store_postgres::{HostTransaction, PostgresStore};
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::{Executor as _, query_scalar};
use test_support::host::{self, Host};
use test_support::postgres::TestDatabase;

struct Program {
    store: PostgresStore,
    pool: PgPool,
}

impl Program {
    async fn start() -> (Self, TestDatabase) {
        let database = TestDatabase::create().await;
        let store = database.store().await;
        store.migrate().await.unwrap();
        let pool = PgPoolOptions::new().max_connections(2).connect(database.url()).await.unwrap();
        pool.execute("CREATE TABLE notes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)").await.unwrap();
        (Self { store, pool }, database)
    }
}

impl Host for Program {
    type Transaction = HostTransaction;

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn begin(&self) -> HostTransaction {
        self.store.join(self.pool.begin().await.unwrap()).await.unwrap()
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
            let (host, _database) = Program::start().await;
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

/// PostgreSQL itself answers such a COMMIT with a rollback and no error.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_failed_statement_of_the_host_program_the_commit_fails() {
    let (host, _database) = Program::start().await;
    let transaction = host.begin().await;
    Program::note(&transaction).await;
    transaction.connection().await.unwrap().execute("SELECT 1 / 0").await.unwrap_err();
    transaction.commit().await.unwrap_err();
    assert_eq!(host.notes().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_transaction_must_be_read_committed_and_read_write() {
    let (host, _database) = Program::start().await;
    for isolation in ["REPEATABLE READ", "SERIALIZABLE", "READ COMMITTED, READ ONLY"] {
        let mut transaction = host.pool.begin().await.unwrap();
        let set = sqlx::AssertSqlSafe(format!("SET TRANSACTION ISOLATION LEVEL {isolation}"));
        transaction.execute(set).await.unwrap();
        assert!(matches!(host.store.join(transaction).await, Err(StoreError::Failed(_))), "{isolation}");
    }
}
