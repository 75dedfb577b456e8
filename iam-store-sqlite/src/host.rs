//! Transactions of the host program.

use std::fmt::{self, Debug, Formatter};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use iam_core::{Store, StoreError};
use sqlx::{Executor as _, Sqlite, SqliteConnection, Transaction};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

use crate::SqliteStore;
use crate::error::store_error;
use crate::source::Source;

/// A transaction of the host program in which the store takes part. [`SqliteStore::join`] makes it.
#[derive(Debug)]
pub struct HostTransaction {
    shared: Shared,
    store: SqliteStore,
}

/// The connection of a [`HostTransaction`], for the host program's own statements. While it is held, all calls of the
/// services in the transaction wait.
pub struct HostConnection(OwnedMutexGuard<Host>);

/// A host transaction. Only one task at a time uses it. Clones share it.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Host>>);

struct Host {
    /// `None` when the transaction is committed.
    transaction: Option<Transaction<'static, Sqlite>>,
    /// Whether the transaction must not be used or committed any more.
    is_over: bool,
}

/// A savepoint in a host transaction. Dropping it rolls back to the savepoint.
pub(crate) struct Part(Option<HostConnection>);

const UNDO: &str = "ROLLBACK TO SAVEPOINT iam; RELEASE SAVEPOINT iam";
/// If the rollback to a savepoint takes longer, the host transaction cannot be used any more.
const UNDO_TIMEOUT: Duration = Duration::from_secs(5);

impl SqliteStore {
    /// Takes part in a transaction that the host program has begun in this file, on a connection of its own pool. So
    /// its own tables and those of IAM change together or not at all. For [`Iam::within`](iam_core::Iam::within).
    ///
    /// Begin it with `BEGIN IMMEDIATE`, as this store does: a transaction that reads first and writes later fails if
    /// another transaction wrote in between. Erased data is overwritten with zeros in the file, as in the store's own
    /// transactions (`secure_delete`).
    ///
    /// ```no_run
    /// use iam_core::user::NewUser;
    /// use iam_core::{Caller, Iam};
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
        let host = Host { transaction: Some(transaction), is_over: false };
        let shared = Shared(Arc::new(Mutex::new(host)));
        let source = Source::Host(shared.clone());
        let store = Self { writer: source.clone(), readers: source, follower: self.follower.clone() };
        Ok(HostTransaction { shared, store })
    }
}

impl HostTransaction {
    /// Returns the connection, in the transaction. Drop it before the next call of a service, which would wait for
    /// it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] when the transaction is over, because a unit of work in it could not be rolled back.
    pub async fn connection(&self) -> Result<HostConnection, StoreError> {
        self.shared.take().await.map_err(store_error)
    }
}

#[async_trait]
impl iam_core::HostTransaction for HostTransaction {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn commit(self) -> Result<(), StoreError> {
        let mut guard = self.shared.take().await.map_err(store_error)?;
        match guard.0.transaction.take() {
            Some(transaction) => transaction.commit().await.map_err(store_error),
            None => Err(store_error(over())),
        }
    }
}

impl Shared {
    pub(crate) async fn take(&self) -> sqlx::Result<HostConnection> {
        let host = Arc::clone(&self.0).lock_owned().await;
        if host.is_over || host.transaction.is_none() { Err(over()) } else { Ok(HostConnection(host)) }
    }

    pub(crate) async fn begin(&self) -> sqlx::Result<Part> {
        let mut guard = self.take().await?;
        // In some cases SQLite itself rolls back the whole transaction, for instance if the disk is full. A SAVEPOINT
        // after that would begin a new transaction, and its RELEASE would commit it. A BEGIN inside a transaction
        // fails. So if it succeeds, the host transaction is over.
        if guard.execute("BEGIN").await.is_ok() {
            guard.0.is_over = true;
            guard.execute("ROLLBACK").await?;
            return Err(over());
        }
        guard.execute("SAVEPOINT iam").await?;
        Ok(Part(Some(guard)))
    }
}

impl Part {
    /// Releases the savepoint. The unit of work is complete, so it is not rolled back when this future is dropped.
    pub(crate) async fn keep(mut self) -> sqlx::Result<()> {
        let Some(mut guard) = self.0.take() else { return Ok(()) };
        guard.execute("RELEASE SAVEPOINT iam").await.map(drop)
    }
}

/// Half a unit of work must not be committed with the rest. So the host transaction is over, unless the rollback to
/// the savepoint succeeds.
impl Drop for Part {
    fn drop(&mut self) {
        let Some(mut guard) = self.0.take() else { return };
        guard.0.is_over = true;
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                if let Ok(Ok(_)) = timeout(UNDO_TIMEOUT, guard.execute(UNDO)).await {
                    guard.0.is_over = false;
                }
            });
        }
    }
}

impl Deref for Part {
    type Target = SqliteConnection;

    #[expect(clippy::expect_used, reason = "only methods that consume the savepoint take its connection")]
    fn deref(&self) -> &SqliteConnection {
        self.0.as_ref().expect("the savepoint has not ended")
    }
}

impl DerefMut for Part {
    #[expect(clippy::expect_used, reason = "only methods that consume the savepoint take its connection")]
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        self.0.as_mut().expect("the savepoint has not ended")
    }
}

impl Debug for Shared {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Deref for HostConnection {
    type Target = SqliteConnection;

    #[expect(clippy::expect_used, reason = "only the commit takes the transaction")]
    fn deref(&self) -> &SqliteConnection {
        self.0.transaction.as_ref().expect("the transaction is not committed")
    }
}

impl DerefMut for HostConnection {
    #[expect(clippy::expect_used, reason = "only the commit takes the transaction")]
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        self.0.transaction.as_mut().expect("the transaction is not committed")
    }
}

impl Debug for HostConnection {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HostConnection").finish_non_exhaustive()
    }
}

fn over() -> sqlx::Error {
    sqlx::Error::Protocol("the transaction of the host program is over".to_owned())
}
