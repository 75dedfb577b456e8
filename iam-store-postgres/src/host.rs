//! Transactions of the host program.

use iam_model::store_error::StoreError;
use iam_store_sql::host::SharedTransaction;
use sqlx::{Executor as _, Postgres, Row as _, Transaction};

use crate::error::store_error;
use crate::store::PostgresStore;

/// The connection of a [`HostTransaction`], for the host program's own statements. While it is held, all calls of the
/// services in the transaction wait.
pub type HostConnection = iam_store_sql::host::HostConnection<Postgres>;

/// A transaction of the host program in which the store takes part. [`PostgresStore::join`] makes it.
pub type HostTransaction = iam_store_sql::host::HostTransaction<PostgresStore>;

impl PostgresStore {
    /// Takes part in a transaction that the host program has begun in this database, on a connection of any pool. So
    /// its own tables and those of IAM change together or not at all. For `Iam::within` of
    /// `iam-core`.
    ///
    /// ```no_run
    /// use iam_core::user::NewUser;
    /// use iam_core::Caller;
    /// use iam_core::Iam;
    /// use iam_store_postgres::PostgresStore;
    /// use sqlx::PgPool;
    ///
    /// async fn hire(
    ///     pool: &PgPool,
    ///     store: &PostgresStore,
    ///     iam: &Iam,
    ///     caller: &Caller,
    ///     user: NewUser,
    ///     salary: i64,
    /// ) -> Result<(), Box<dyn std::error::Error>> {
    ///     let transaction = iam.within(store.join(pool.begin().await?).await?);
    ///     let user = transaction.users().create(caller, user).await?;
    ///     sqlx::query("INSERT INTO employees (user_id, salary) VALUES ($1, $2)")
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
    /// [`StoreError::Failed`] when the transaction is read-only or its isolation is not READ COMMITTED, which is
    /// PostgreSQL's default: after waiting for a lock, the store must see the writes of the other transaction. Other
    /// errors of the database.
    pub async fn join(&self, mut transaction: Transaction<'static, Postgres>) -> Result<HostTransaction, StoreError> {
        let settings = "SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')";
        let row = transaction.fetch_one(settings).await.map_err(store_error)?;
        let (isolation, is_read_only): (String, String) =
            (row.try_get(0).map_err(store_error)?, row.try_get(1).map_err(store_error)?);
        if isolation != "read committed" || is_read_only != "off" {
            return Err(StoreError::Failed("the transaction must be READ COMMITTED and READ WRITE".into()));
        }
        // After an error, PostgreSQL refuses all statements until the rollback.
        let shared = SharedTransaction::new(transaction, false);
        let store = Self { host: Some(shared.clone()), ..self.clone() };
        Ok(HostTransaction::new(shared, store))
    }
}
