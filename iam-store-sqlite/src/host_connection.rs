//! The connection of a transaction of the host program, and savepoints in it.

use std::fmt::{self, Debug, Formatter};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use sqlx::{Executor as _, Sqlite, SqliteConnection, Transaction};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

/// The connection of a [`HostTransaction`](crate::HostTransaction), for the host program's own statements. While it is
/// held, all calls of the services in the transaction wait.
pub struct HostConnection(pub(crate) OwnedMutexGuard<Host>);

/// A host transaction. Only one task at a time uses it. Clones share it.
#[derive(Clone)]
pub(crate) struct Shared(pub(crate) Arc<Mutex<Host>>);

pub(crate) struct Host {
    /// `None` when the transaction is committed.
    pub(crate) transaction: Option<Transaction<'static, Sqlite>>,
    /// Whether the transaction must not be used or committed any more.
    pub(crate) is_over: bool,
}

/// A savepoint in a host transaction. Dropping it rolls back to the savepoint.
pub(crate) struct Part(Option<HostConnection>);

const UNDO: &str = "ROLLBACK TO SAVEPOINT iam; RELEASE SAVEPOINT iam";
/// If the rollback to a savepoint takes longer, the host transaction cannot be used any more.
const UNDO_TIMEOUT: Duration = Duration::from_secs(5);

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

pub(crate) fn over() -> sqlx::Error {
    sqlx::Error::Protocol("the transaction of the host program is over".to_owned())
}
