//! The connections to the file.
//!
//! The driver's pool asks each connection that is given back whether it still works. That takes its thread two turns for every
//! statement and every transaction, and a connection to a file that has just answered does work: here it goes to the next
//! use as it is.

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

/// How long to wait for those before. Rather an error than a queue that nobody waits for any more.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// Takes the lock of the only writer at once. A transaction that begins by reading and takes it later fails when
/// another one wrote in between, however long it is willing to wait.
pub(crate) const BEGIN: &str = "BEGIN IMMEDIATE";

/// Some connections to the file, each opened when it is first needed and used by one at a time, in the order of asking;
/// clones share them.
#[derive(Clone)]
pub(crate) struct Connections(Arc<Shared>);

struct Shared {
    options: SqliteConnectOptions,
    idle: Mutex<Vec<SqliteConnection>>,
    most: u32,
    places: Arc<Semaphore>,
}

impl Connections {
    /// At most so many.
    pub(crate) fn new(options: SqliteConnectOptions, most: u32) -> Self {
        let places = Arc::new(Semaphore::new(most as usize));
        Self(Arc::new(Shared { options, idle: Mutex::default(), most, places }))
    }

    pub(crate) fn options(&self) -> &SqliteConnectOptions {
        &self.0.options
    }

    /// The connection that was used last, or another one.
    pub(crate) async fn take(&self) -> sqlx::Result<Lent> {
        let place = timeout(ACQUIRE_TIMEOUT, Arc::clone(&self.0.places).acquire_owned());
        let place = place.await.map_err(|_| sqlx::Error::PoolTimedOut)?.map_err(|_| sqlx::Error::PoolClosed)?;
        let idle = self.0.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => SqliteConnection::connect_with(&self.0.options).await?,
        };
        Ok(Lent { lent: Some((connection, place)), of: self.clone(), writes: false })
    }

    /// Begins to write.
    pub(crate) async fn begin(&self) -> sqlx::Result<Begun> {
        let mut lent = self.take().await?;
        lent.writes = true;
        sqlx::query(BEGIN).execute(&mut *lent).await.inspect_err(|_| lent.writes = false)?;
        Ok(Begun(lent))
    }

    fn keep(&self, connection: SqliteConnection, place: OwnedSemaphorePermit) {
        self.0.idle().push(connection);
        // Not before: whoever gets the place looks for the connection.
        drop(place);
    }

    /// Closes all when they are not in use any more, for whoever comes later too.
    pub(crate) async fn close(&self) {
        // Held until nobody gets one any more.
        let _all = self.0.places.acquire_many(self.0.most).await;
        self.0.places.close();
        let idle = mem::take(&mut *self.0.idle());
        for connection in idle {
            if let Err(error) = connection.close().await {
                tracing::warn!(%error, "a connection to the database was not closed in order");
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

/// A connection that is in use. Dropped, it is of use again once it has answered.
pub(crate) struct Lent {
    /// Until it is given back, with its place.
    lent: Option<(SqliteConnection, OwnedSemaphorePermit)>,
    of: Connections,
    /// Whether a transaction may have begun that has not ended.
    writes: bool,
}

impl Lent {
    /// Gives back a connection whose use has ended well.
    pub(crate) fn keep(mut self) {
        if let Some((connection, place)) = self.lent.take() {
            self.of.keep(connection, place);
        }
    }
}

impl Deref for Lent {
    type Target = SqliteConnection;

    #[expect(clippy::expect_used, reason = "only what consumes this takes the connection")]
    fn deref(&self) -> &SqliteConnection {
        &self.lent.as_ref().expect("it was not given back").0
    }
}

impl DerefMut for Lent {
    #[expect(clippy::expect_used, reason = "only what consumes this takes the connection")]
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.lent.as_mut().expect("it was not given back").0
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let (Some((mut connection, place)), Ok(runtime)) = (self.lent.take(), Handle::try_current()) else { return };
        let (of, writes) = (self.of.clone(), self.writes);
        runtime.spawn(async move {
            // Its thread may still be at what nobody waits for any more, or have died. Where no transaction is left to be rolled
            // back, SQLite has met with an error that is best left behind.
            let works = match writes {
                true => sqlx::query("ROLLBACK").execute(&mut connection).await.is_ok(),
                false => connection.ping().await.is_ok(),
            };
            if works {
                of.keep(connection, place);
            }
        });
    }
}

/// A transaction that writes; dropping it rolls back.
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

    /// A query that takes as good as forever, unless whoever asked is gone when its first row comes.
    const ENDLESS_ROWS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";

    #[tokio::test]
    async fn a_connection_goes_from_one_use_to_the_next_as_it_is() {
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
    async fn what_was_given_up_is_answered_to_nobody() {
        let (connections, _file) = counted(1).await;
        for patience in [0, 1, 10] {
            let source = on(&connections);
            let endless = sqlx::query(ENDLESS_ROWS).fetch_all(&source);
            assert!(timeout(Duration::from_millis(patience), endless).await.is_err());
            assert_eq!(timeout(PATIENCE, rows(&connections)).await.unwrap(), 0);
        }
    }

    #[tokio::test]
    async fn what_is_not_committed_is_rolled_back_before_anybody_else_writes() {
        let (connections, _file) = counted(1).await;
        let insert = "INSERT INTO t VALUES (1)";
        for expected in 0..3 {
            let mut dropped = connections.begin().await.unwrap();
            sqlx::query(insert).execute(&mut *dropped).await.unwrap();
            drop(dropped);
            // Given up at any step.
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
    async fn a_transaction_that_sqlite_has_rolled_back_leaves_a_connection_of_use() {
        let (connections, _file) = counted(1).await;
        let mut begun = connections.begin().await.unwrap();
        sqlx::query("ROLLBACK").execute(&mut *begun).await.unwrap();
        begun.commit().await.unwrap_err();
        connections.begin().await.unwrap().commit().await.unwrap();
    }

    #[tokio::test]
    async fn closing_waits_for_those_who_came_before() {
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
