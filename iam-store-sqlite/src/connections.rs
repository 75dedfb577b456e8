//! The connections to the file.
//!
//! The driver's pool pings each connection that is returned. So for every statement and every transaction, the thread
//! of the connection has two turns. A connection to a file that has just answered works, so here it goes to its next
//! use without a ping.

use std::fmt::{self, Debug, Formatter};
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long to wait for a connection that other tasks use. An error is better than a queue of requests whose clients
/// have given up.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// Takes the write lock at once. A transaction that reads first and takes the lock later fails if another transaction
/// wrote in between, even with a long busy timeout.
pub(crate) const BEGIN: &str = "BEGIN IMMEDIATE";

/// Connections to the file. Each is opened when it is first needed, and only one task at a time uses it. Tasks get
/// connections in the order in which they ask. Clones share them.
#[derive(Clone)]
pub(crate) struct Connections(Arc<Shared>);

struct Shared {
    options: SqliteConnectOptions,
    idle: Mutex<Vec<SqliteConnection>>,
    most: u32,
    permits: Arc<Semaphore>,
}

impl Connections {
    /// Makes a set of at most `most` connections. Opens none of them yet.
    pub(crate) fn new(options: SqliteConnectOptions, most: u32) -> Self {
        let permits = Arc::new(Semaphore::new(most as usize));
        Self(Arc::new(Shared { options, idle: Mutex::default(), most, permits }))
    }

    pub(crate) fn options(&self) -> &SqliteConnectOptions {
        &self.0.options
    }

    /// Returns the idle connection that was used last, or opens another one.
    pub(crate) async fn take(&self) -> sqlx::Result<Lent> {
        let permit = timeout(ACQUIRE_TIMEOUT, Arc::clone(&self.0.permits).acquire_owned());
        let permit = permit.await.map_err(|_| sqlx::Error::PoolTimedOut)?.map_err(|_| sqlx::Error::PoolClosed)?;
        let idle = self.0.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => SqliteConnection::connect_with(&self.0.options).await?,
        };
        Ok(Lent { lent: Some((connection, permit)), of: self.clone(), writes: false })
    }

    /// Begins a transaction that writes.
    pub(crate) async fn begin(&self) -> sqlx::Result<Begun> {
        let mut lent = self.take().await?;
        lent.writes = true;
        sqlx::query(BEGIN).execute(&mut *lent).await.inspect_err(|_| lent.writes = false)?;
        Ok(Begun(lent))
    }

    fn keep(&self, connection: SqliteConnection, permit: OwnedSemaphorePermit) {
        self.0.idle().push(connection);
        // Not earlier: the task that gets the permit looks for an idle connection.
        drop(permit);
    }

    /// Waits until no connection is in use, and closes all. Later callers get an error.
    pub(crate) async fn close(&self) {
        // Held until the semaphore is closed, so that no task gets a connection in between.
        let _all = self.0.permits.acquire_many(self.0.most).await;
        self.0.permits.close();
        let idle = mem::take(&mut *self.0.idle());
        for connection in idle {
            if let Err(error) = connection.close().await {
                tracing::warn!(%error, "closing a connection to the database failed");
            }
        }
    }
}

impl Debug for Connections {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Shared { options, most, .. } = &*self.0;
        let file = options.get_filename();
        formatter.debug_struct("Connections").field("file", &file).field("most", most).finish_non_exhaustive()
    }
}

impl Shared {
    fn idle(&self) -> MutexGuard<'_, Vec<SqliteConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection in use. When it is dropped, it becomes idle again after it has answered.
pub(crate) struct Lent {
    /// The connection and its permit. `None` when the connection is returned.
    lent: Option<(SqliteConnection, OwnedSemaphorePermit)>,
    of: Connections,
    /// Whether a transaction may have begun and not ended.
    writes: bool,
}

impl Lent {
    /// Returns the connection after a use without an error.
    pub(crate) fn keep(mut self) {
        if let Some((connection, permit)) = self.lent.take() {
            self.of.keep(connection, permit);
        }
    }
}

impl Deref for Lent {
    type Target = SqliteConnection;

    #[expect(clippy::expect_used, reason = "only methods that consume this take the connection")]
    fn deref(&self) -> &SqliteConnection {
        &self.lent.as_ref().expect("the connection is not returned").0
    }
}

impl DerefMut for Lent {
    #[expect(clippy::expect_used, reason = "only methods that consume this take the connection")]
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.lent.as_mut().expect("the connection is not returned").0
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let (Some((mut connection, permit)), Ok(runtime)) = (self.lent.take(), Handle::try_current()) else { return };
        let (of, writes) = (self.of.clone(), self.writes);
        runtime.spawn(async move {
            // The thread of the connection may still execute a cancelled statement, or may have died. If there is no
            // transaction to roll back, SQLite has rolled it back after an error, and the connection is closed.
            let works = match writes {
                true => sqlx::query("ROLLBACK").execute(&mut connection).await.is_ok(),
                false => connection.ping().await.is_ok(),
            };
            if works {
                of.keep(connection, permit);
            }
        });
    }
}

/// A transaction that writes. Dropping it rolls back.
pub(crate) struct Begun(Lent);

impl Begun {
    pub(crate) async fn commit(mut self) -> sqlx::Result<()> {
        sqlx::query("COMMIT").execute(&mut *self).await?;
        self.0.writes = false;
        self.0.keep();
        Ok(())
    }
}

impl Deref for Begun {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.0
    }
}

impl DerefMut for Begun {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use test_support::sqlite::TestFile;
    use tokio::time::sleep;

    use super::*;
    use crate::source::Source;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn on(connections: &Connections) -> Source {
        Source::Store(connections.clone())
    }

    async fn counted(most: u32) -> (Connections, TestFile) {
        let file = TestFile::create();
        let options = crate::open::options(file.url()).unwrap().create_if_missing(true);
        let connections = Connections::new(options, most);
        sqlx::query("CREATE TABLE t (c)").execute(&on(&connections)).await.unwrap();
        (connections, file)
    }

    async fn rows(connections: &Connections) -> i64 {
        sqlx::query_scalar("SELECT count(*) FROM t").fetch_one(&on(connections)).await.unwrap()
    }

    /// A query that practically never ends, unless its caller is gone when its first row comes.
    const ENDLESS_ROWS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";

    #[tokio::test]
    async fn a_connection_keeps_its_state_until_its_next_use() {
        let (connections, _file) = counted(2).await;
        let temporary = "CREATE TEMP TABLE mine (c)";
        sqlx::query(temporary).execute(&on(&connections)).await.unwrap();
        for _ in 0..3 {
            sqlx::query("SELECT c FROM mine").fetch_all(&on(&connections)).await.unwrap();
        }
        let both = [connections.take().await.unwrap(), connections.take().await.unwrap()];
        assert!(connections.take().now_or_never().is_none());
        both.into_iter().for_each(Lent::keep);
        connections.take().await.unwrap();
    }

    #[tokio::test]
    async fn the_answer_to_a_cancelled_query_reaches_no_other_query() {
        let (connections, _file) = counted(1).await;
        for patience in [0, 1, 10] {
            let source = on(&connections);
            let endless = sqlx::query(ENDLESS_ROWS).fetch_all(&source);
            assert!(timeout(Duration::from_millis(patience), endless).await.is_err());
            assert_eq!(timeout(PATIENCE, rows(&connections)).await.unwrap(), 0);
        }
    }

    #[tokio::test]
    async fn an_uncommitted_transaction_is_rolled_back_before_the_next_one() {
        let (connections, _file) = counted(1).await;
        let insert = "INSERT INTO t VALUES (1)";
        for expected in 0..3 {
            let mut dropped = connections.begin().await.unwrap();
            sqlx::query(insert).execute(&mut *dropped).await.unwrap();
            drop(dropped);
            // Cancelled after any number of steps.
            for steps in 0..4 {
                let mut halfway = Box::pin(async {
                    let mut begun = connections.begin().await.unwrap();
                    sqlx::query(insert).execute(&mut *begun).await.unwrap();
                    std::future::pending::<()>().await;
                });
                for _ in 0..steps {
                    assert!(halfway.as_mut().now_or_never().is_none());
                    sleep(Duration::from_millis(1)).await;
                }
            }
            let mut begun = timeout(PATIENCE, connections.begin()).await.unwrap().unwrap();
            sqlx::query(insert).execute(&mut *begun).await.unwrap();
            begun.commit().await.unwrap();
            assert_eq!(rows(&connections).await, expected + 1);
        }
    }

    #[tokio::test]
    async fn the_next_transaction_works_after_sqlite_rolled_one_back() {
        let (connections, _file) = counted(1).await;
        let mut begun = connections.begin().await.unwrap();
        sqlx::query("ROLLBACK").execute(&mut *begun).await.unwrap();
        begun.commit().await.unwrap_err();
        connections.begin().await.unwrap().commit().await.unwrap();
    }

    #[tokio::test]
    async fn closing_waits_for_connections_in_use() {
        let (connections, _file) = counted(1).await;
        let mut begun = connections.begin().await.unwrap();
        let closing = tokio::spawn({
            let connections = connections.clone();
            async move { connections.close().await }
        });
        tokio::task::yield_now().await;
        sqlx::query("INSERT INTO t VALUES (1)").execute(&mut *begun).await.unwrap();
        begun.commit().await.unwrap();
        timeout(PATIENCE, closing).await.unwrap().unwrap();
        assert!(matches!(connections.take().await, Err(sqlx::Error::PoolClosed)));
        connections.close().await;
    }
}
