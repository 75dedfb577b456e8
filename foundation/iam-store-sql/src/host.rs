//! Transactions of the host program, and savepoints in them.

use std::fmt::{self, Debug, Formatter};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use iam_model::store::Store;
use iam_model::store_error::StoreError;
use sqlx::{Database, Transaction};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

use crate::database::SqlDatabase;
use crate::store::SqlStore;

/// The connection of a transaction of the host program, for the host program's own statements. While it is held, all
/// calls of the services in the transaction wait.
pub struct HostConnection<DB: Database>(OwnedMutexGuard<State<DB>>);

/// A transaction of the host program. Only one task at a time uses it. Clones share it.
pub struct SharedTransaction<DB: Database> {
    state: Arc<Mutex<State<DB>>>,
    may_end_by_itself: bool,
}

/// A transaction of the host program in which a store takes part.
#[derive(Debug)]
pub struct HostTransaction<S: SqlStore<Database: SqlDatabase>> {
    shared: SharedTransaction<S::Database>,
    store: S,
}

impl<S: SqlStore<Database: SqlDatabase>> HostTransaction<S> {
    /// Puts together a transaction and the store whose statements are executed in it.
    pub fn new(shared: SharedTransaction<S::Database>, store: S) -> Self {
        Self { shared, store }
    }

    /// Returns the connection, in the transaction. Drop it before the next call of a service, which would wait for it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] when the transaction is over, because a unit of work in it could not be rolled back.
    pub async fn connection(&self) -> Result<HostConnection<S::Database>, StoreError> {
        self.shared.take_live().await.map_err(S::store_error)
    }
}

#[async_trait]
impl<S> iam_model::store::HostTransaction for HostTransaction<S>
where
    S: SqlStore<Database: SqlDatabase> + Store + Clone + 'static,
{
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn commit(self) -> Result<(), StoreError> {
        let mut connection = self.shared.take().await.map_err(S::store_error)?;
        // After a failed statement, PostgreSQL answers a COMMIT with a silent rollback, but this statement with an
        // error.
        S::Database::execute(&mut connection, "SELECT 1").await.map_err(S::store_error)?;
        SharedTransaction::commit(connection).await.map_err(S::store_error)
    }
}

struct State<DB: Database> {
    /// `None` when the transaction is committed.
    transaction: Option<Transaction<'static, DB>>,
    /// Whether the transaction must not be used or committed any more.
    is_over: bool,
}

/// A savepoint in a transaction of the host program. Dropping it rolls back to the savepoint.
pub struct Savepoint<DB: SqlDatabase>(Option<HostConnection<DB>>);

const UNDO: &str = "ROLLBACK TO SAVEPOINT iam; RELEASE SAVEPOINT iam";
/// If the rollback to a savepoint takes longer, the transaction cannot be used any more.
const UNDO_TIMEOUT: Duration = Duration::from_secs(5);

impl<DB: SqlDatabase> SharedTransaction<DB> {
    /// Shares a transaction. `may_end_by_itself`: whether the database rolls back whole transactions without a
    /// statement that says so.
    pub fn new(transaction: Transaction<'static, DB>, may_end_by_itself: bool) -> Self {
        let state = State { transaction: Some(transaction), is_over: false };
        Self { state: Arc::new(Mutex::new(state)), may_end_by_itself }
    }

    /// Returns the connection when no other task uses it.
    ///
    /// # Errors
    ///
    /// When the transaction is over.
    pub(crate) async fn take(&self) -> sqlx::Result<HostConnection<DB>> {
        let state = Arc::clone(&self.state).lock_owned().await;
        if state.is_over || state.transaction.is_none() { Err(over()) } else { Ok(HostConnection(state)) }
    }

    /// Returns the connection, if the database has not ended the transaction by itself. Otherwise the next statement
    /// would be committed on its own: a SAVEPOINT would begin a transaction, and its RELEASE would commit it.
    async fn take_live(&self) -> sqlx::Result<HostConnection<DB>> {
        let mut connection = self.take().await?;
        if self.may_end_by_itself {
            // A BEGIN inside a transaction fails. So if it succeeds, the transaction of the host program is over.
            if DB::execute(&mut connection, "BEGIN").await.is_ok() {
                connection.0.is_over = true;
                DB::execute(&mut connection, "ROLLBACK").await?;
                return Err(over());
            }
        }
        Ok(connection)
    }

    /// Sets a savepoint.
    ///
    /// # Errors
    ///
    /// When the transaction is over, or the database refuses.
    pub(crate) async fn begin(&self) -> sqlx::Result<Savepoint<DB>> {
        let mut connection = self.take_live().await?;
        DB::execute(&mut connection, "SAVEPOINT iam").await?;
        Ok(Savepoint(Some(connection)))
    }

    /// Commits the transaction of a connection. Not a method of the connection, because the host program must not call
    /// it: the store's transaction has more to do than the database.
    ///
    /// # Errors
    ///
    /// When the transaction is over, or the database refuses.
    pub(crate) async fn commit(mut connection: HostConnection<DB>) -> sqlx::Result<()> {
        match connection.0.transaction.take() {
            Some(transaction) => transaction.commit().await,
            None => Err(over()),
        }
    }
}

impl<DB: SqlDatabase> Savepoint<DB> {
    /// Releases the savepoint. The unit of work is complete, so it is not rolled back when this future is dropped.
    ///
    /// # Errors
    ///
    /// When the database refuses.
    pub(crate) async fn release(mut self) -> sqlx::Result<()> {
        let Some(mut connection) = self.0.take() else { return Ok(()) };
        DB::execute(&mut connection, "RELEASE SAVEPOINT iam").await.map(drop)
    }

    /// Rolls back to the savepoint.
    ///
    /// # Errors
    ///
    /// When the database refuses.
    pub(crate) async fn rollback(mut self) -> sqlx::Result<()> {
        DB::execute(&mut self, UNDO).await?;
        self.0 = None;
        Ok(())
    }
}

/// Half a unit of work must not be committed with the rest. So the transaction is over, unless the rollback to the
/// savepoint succeeds.
impl<DB: SqlDatabase> Drop for Savepoint<DB> {
    fn drop(&mut self) {
        let Some(mut connection) = self.0.take() else { return };
        connection.0.is_over = true;
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                if let Ok(Ok(_)) = timeout(UNDO_TIMEOUT, DB::execute(&mut connection, UNDO)).await {
                    connection.0.is_over = false;
                }
            });
        }
    }
}

impl<DB: SqlDatabase> Deref for Savepoint<DB> {
    type Target = DB::Connection;

    #[expect(clippy::expect_used, reason = "only methods that consume the savepoint take its connection")]
    fn deref(&self) -> &DB::Connection {
        self.0.as_ref().expect("the savepoint has not ended")
    }
}

impl<DB: SqlDatabase> DerefMut for Savepoint<DB> {
    #[expect(clippy::expect_used, reason = "only methods that consume the savepoint take its connection")]
    fn deref_mut(&mut self) -> &mut DB::Connection {
        self.0.as_mut().expect("the savepoint has not ended")
    }
}

impl<DB: Database> Deref for HostConnection<DB> {
    type Target = DB::Connection;

    #[expect(clippy::expect_used, reason = "only the commit takes the transaction")]
    fn deref(&self) -> &DB::Connection {
        self.0.transaction.as_ref().expect("the transaction is not committed")
    }
}

impl<DB: Database> DerefMut for HostConnection<DB> {
    #[expect(clippy::expect_used, reason = "only the commit takes the transaction")]
    fn deref_mut(&mut self) -> &mut DB::Connection {
        self.0.transaction.as_mut().expect("the transaction is not committed")
    }
}

impl<DB: Database> Clone for SharedTransaction<DB> {
    fn clone(&self) -> Self {
        Self { state: Arc::clone(&self.state), may_end_by_itself: self.may_end_by_itself }
    }
}

impl<DB: Database> Debug for SharedTransaction<DB> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SharedTransaction").finish_non_exhaustive()
    }
}

impl<DB: Database> Debug for HostConnection<DB> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HostConnection").finish_non_exhaustive()
    }
}

fn over() -> sqlx::Error {
    sqlx::Error::Protocol("the transaction of the host program is over".to_owned())
}
