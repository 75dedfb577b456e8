//! Transactions of the host program.

use std::fmt::{self, Debug, Formatter};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use iam_core::{Store, StoreError};
use sqlx::{Executor as _, PgConnection, Postgres, Row as _, Transaction};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

use crate::PostgresStore;
use crate::error::store_error;

/// A transaction of the host program in which the store takes part. [`PostgresStore::join`] makes it.
#[derive(Debug)]
pub struct HostTransaction {
    shared: Shared,
    store: PostgresStore,
}

/// The connection of a [`HostTransaction`], for the host program's own statements. While it is held, all calls of the
/// services in the transaction wait.
pub struct HostConnection(OwnedMutexGuard<Host>);

/// A host transaction. Only one task at a time uses it. Clones share it.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Host>>);

struct Host {
    /// `None` when the transaction is committed.
    transaction: Option<Transaction<'static, Postgres>>,
    /// Whether the transaction must not be used or committed any more.
    is_over: bool,
}

/// A savepoint in a host transaction. Dropping it rolls back to the savepoint.
pub(crate) struct Part(Option<HostConnection>);

const UNDO: &str = "ROLLBACK TO SAVEPOINT iam; RELEASE SAVEPOINT iam";
/// If the rollback to a savepoint takes longer, the host transaction cannot be used any more.
const UNDO_TIMEOUT: Duration = Duration::from_secs(5);

impl PostgresStore {
    /// Takes part in a transaction that the host program has begun in this database, on a connection of any pool. So
    /// its own tables and those of IAM change together or not at all. For [`Iam::within`](iam_core::Iam::within).
    ///
    /// ```no_run
    /// use iam_core::user::NewUser;
    /// use iam_core::{Caller, Iam};
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
    /// PostgreSQL's default: after waiting for a lock, the store must see what the other transaction wrote. Other
    /// errors of the database.
    pub async fn join(&self, mut transaction: Transaction<'static, Postgres>) -> Result<HostTransaction, StoreError> {
        let settings = "SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')";
        let row = transaction.fetch_one(settings).await.map_err(store_error)?;
        let (isolation, is_read_only): (String, String) =
            (row.try_get(0).map_err(store_error)?, row.try_get(1).map_err(store_error)?);
        if isolation != "read committed" || is_read_only != "off" {
            return Err(StoreError::Failed("the transaction must be READ COMMITTED and READ WRITE".into()));
        }
        let host = Host { transaction: Some(transaction), is_over: false };
        let shared = Shared(Arc::new(Mutex::new(host)));
        let store = Self { host: Some(shared.clone()), ..self.clone() };
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
        // After a failed statement, PostgreSQL answers a COMMIT with a silent rollback, but this statement with an
        // error.
        guard.execute("SELECT 1").await.map_err(store_error)?;
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

    pub(crate) async fn undo(mut self) -> sqlx::Result<()> {
        self.execute(UNDO).await?;
        self.0 = None;
        Ok(())
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
    type Target = PgConnection;

    #[expect(clippy::expect_used, reason = "only methods that consume the savepoint take its connection")]
    fn deref(&self) -> &PgConnection {
        self.0.as_ref().expect("the savepoint has not ended")
    }
}

impl DerefMut for Part {
    #[expect(clippy::expect_used, reason = "only methods that consume the savepoint take its connection")]
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.0.as_mut().expect("the savepoint has not ended")
    }
}

impl Debug for Shared {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Deref for HostConnection {
    type Target = PgConnection;

    #[expect(clippy::expect_used, reason = "only the commit takes the transaction")]
    fn deref(&self) -> &PgConnection {
        self.0.transaction.as_ref().expect("the transaction is not committed")
    }
}

impl DerefMut for HostConnection {
    #[expect(clippy::expect_used, reason = "only the commit takes the transaction")]
    fn deref_mut(&mut self) -> &mut PgConnection {
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
