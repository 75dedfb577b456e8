//! Transactions of the host program.

use iam_model::store_error::StoreError;
use iam_store_sql::host::SharedTransaction;
use iam_store_sql::source::Source;
use sqlx::{Executor as _, Sqlite, Transaction};

use crate::error::store_error;
use crate::store::SqliteStore;

/// The connection of a [`HostTransaction`], for the host program's own statements. While it is held, all calls of the
/// services in the transaction wait.
pub type HostConnection = iam_store_sql::host::HostConnection<Sqlite>;

/// A transaction of the host program in which the store takes part. [`SqliteStore::join`] makes it.
pub type HostTransaction = iam_store_sql::host::HostTransaction<SqliteStore>;

impl SqliteStore {
    /// Takes part in a transaction that the host program has begun in this file, on a connection of its own pool. So
    /// its own tables and those of IAM change together or not at all. For `Iam::within` of
    /// `iam-core`.
    ///
    /// Begin it with `BEGIN IMMEDIATE`, as this store does: a transaction that reads first and writes later fails if
    /// another transaction wrote in between. Erased data is overwritten with zeros in the file, as in the store's own
    /// transactions (`secure_delete`).
    ///
    /// ```no_run
    /// use iam_core::user::NewUser;
    /// use iam_core::Caller;
    /// use iam_core::Iam;
    /// use iam_store_sqlite::SqliteStore;
    /// use sqlx::SqlitePool;
    ///
    /// async fn hire(
    ///     pool: &SqlitePool,
    ///     store: &SqliteStore,
    ///     iam: &Iam,
    ///     caller: &Caller,
    ///     user: NewUser,
    ///     salary: i64,
    /// ) -> Result<(), Box<dyn std::error::Error>> {
    ///     let transaction = iam.within(store.join(pool.begin_with("BEGIN IMMEDIATE").await?).await?);
    ///     let user = transaction.users().create(caller, user).await?;
    ///     sqlx::query("INSERT INTO employees (user_id, salary) VALUES (?1, ?2)")
    ///         .bind(user.id.as_uuid())
    ///         .bind(salary)
    ///         .execute(&mut *transaction.connection().await?)
    ///         .await?;
    ///     transaction.commit().await?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] when the connection does not check foreign keys, which the driver turns on by default, or
    /// when it is a connection to another file than the store's. Other errors of the database.
    pub async fn join(&self, mut transaction: Transaction<'static, Sqlite>) -> Result<HostTransaction, StoreError> {
        let are_checked = sqlx::query_scalar("SELECT foreign_keys FROM pragma_foreign_keys");
        let are_checked: bool = are_checked.fetch_one(&mut *transaction).await.map_err(store_error)?;
        if !are_checked {
            return Err(StoreError::Failed("the transaction's connection must check foreign keys".into()));
        }
        const FILE: &str = "SELECT file FROM pragma_database_list WHERE name = 'main'";
        let its_file: String = sqlx::query_scalar(FILE).fetch_one(&mut *transaction).await.map_err(store_error)?;
        let own_file: String = sqlx::query_scalar(FILE).fetch_one(&self.readers).await.map_err(store_error)?;
        if its_file != own_file {
            return Err(StoreError::Failed("the transaction is in another file than the store".into()));
        }
        transaction.execute("PRAGMA secure_delete = ON").await.map_err(store_error)?;
        // SQLite itself rolls back the whole transaction in some cases, for instance if the disk is full.
        let shared = SharedTransaction::new(transaction, true);
        let source = Source::Host(shared.clone());
        let follower = self.follower.clone();
        let store = Self { writer: source.clone(), readers: source, follower, turns: self.turns.clone() };
        Ok(HostTransaction::new(shared, store))
    }
}
