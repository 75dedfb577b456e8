//! Connections to a database that may become unreachable.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};
use std::{io, mem};

use iam_model::store_error::StoreError;
use iam_store_sql::pool::{PING_TIMEOUT, Pool};
use sqlx::{Connection as _, Executor as _, Postgres};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use crate::error::{means_outage, store_error};

/// A query that has waited this long causes a check whether the database is reachable. It is also the minimum time
/// between two checks.
const PATIENCE: Duration = Duration::from_millis(500);
/// A connection attempt that takes longer has failed.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The same for a replica. The primary can answer instead.
const REPLICA_CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// When no query was answered for this long, the database may be reachable while all connections of the pool are
/// lost. Less than the time that a query waits for a connection.
const SILENCE: Duration = Duration::from_secs(4);

/// Terminates all other connections of this process, by its application name, which is unique. After a network
/// failure, the server does not know that connections are lost, and does not release their locks. While the database
/// is unreachable, this process uses no other connections than those of a feed, which is then opened again.
const TERMINATE_LOST: &str = "
    SELECT pg_terminate_backend(pid)
    FROM pg_stat_activity
    WHERE usename = current_user
        AND application_name = current_setting('application_name')
        AND pid <> pg_backend_pid()";

/// A connection pool, and whether its database is reachable.
///
/// The pool tries to connect until its timeout, so that all requests would wait that long while the database is
/// unreachable. And when a network drops all packets without an error, the connections of the pool are lost, but the
/// kernel closes them only a quarter of an hour later. So one of the waiting tasks connects outside the pool. When
/// that fails, the pool is replaced by a new one, and all requests fail at once until a task can connect again.
#[derive(Debug)]
pub(crate) struct Connections {
    /// The name of the server in errors.
    name: &'static str,
    connect_timeout: Duration,
    state: RwLock<State>,
    /// When the last check ended. A running check holds the lock.
    last_check: Arc<Mutex<Option<Instant>>>,
    made: Instant,
    /// When the last query was answered, in milliseconds since `made`.
    answered: AtomicU64,
}

#[derive(Clone, Debug)]
struct State {
    /// Replaced after an outage, unless it is of the host program.
    pool: Pool<Postgres>,
    is_unreachable: bool,
    /// How often the database became unreachable.
    outages: u64,
}

impl Connections {
    pub(crate) fn new(pool: Pool<Postgres>) -> Self {
        Self::named(pool, "database", CONNECT_TIMEOUT)
    }

    pub(crate) fn of_replica(pool: Pool<Postgres>) -> Self {
        Self::named(pool, "replica", REPLICA_CONNECT_TIMEOUT)
    }

    fn named(pool: Pool<Postgres>, name: &'static str, connect_timeout: Duration) -> Self {
        Self {
            name,
            connect_timeout,
            state: RwLock::new(State { pool, is_unreachable: false, outages: 0 }),
            last_check: Arc::default(),
            made: Instant::now(),
            answered: AtomicU64::default(),
        }
    }

    pub(crate) fn pool(&self) -> Pool<Postgres> {
        self.read().pool.clone()
    }

    /// Waits for the database's answer to a query. Returns an error as soon as the database is found unreachable.
    pub(crate) async fn answer<T>(
        self: &Arc<Self>,
        query: impl Future<Output = sqlx::Result<T>>,
    ) -> Result<T, StoreError> {
        if self.read().is_unreachable {
            self.check(Instant::now()).await;
            if self.read().is_unreachable {
                return Err(unreachable_error());
            }
        }
        let answer = tokio::select! {
            biased;
            answer = query => answer,
            () = self.wait_for_outage() => return Err(unreachable_error()),
        };
        if matches!(answer, Ok(_) | Err(sqlx::Error::Database(_))) {
            self.answered.store(self.millis(Instant::now()), Ordering::Relaxed);
        }
        answer.map_err(store_error)
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn millis(&self, moment: Instant) -> u64 {
        moment.duration_since(self.made).as_millis() as u64
    }

    fn has_answered_since(&self, moment: Instant) -> bool {
        self.answered.load(Ordering::Relaxed) > self.millis(moment)
    }

    /// Returns when the database is found unreachable.
    async fn wait_for_outage(self: &Arc<Self>) {
        let (since, outages) = (Instant::now(), self.read().outages);
        while self.read().outages == outages {
            sleep(PATIENCE).await;
            self.check(since).await;
        }
    }

    /// Checks whether the database is reachable, for a query that has waited since `since`. Does nothing while
    /// another task checks, or if one has just checked. The check continues when its future is dropped: clients may
    /// give up before it ends.
    async fn check(self: &Arc<Self>, since: Instant) {
        let Ok(mut last_check) = Arc::clone(&self.last_check).try_lock_owned() else { return };
        if last_check.is_some_and(|ended| ended.elapsed() < PATIENCE) {
            return;
        }
        let this = Arc::clone(self);
        let checking = tokio::spawn(async move {
            this.probe(since).await;
            *last_check = Some(Instant::now());
        });
        let _ = checking.await;
    }

    /// Connects to the database to find out whether it is reachable, for a query that has waited since `since`.
    async fn probe(&self, since: Instant) {
        let State { pool, is_unreachable, .. } = self.read().clone();
        let began = Instant::now();
        let connected = timeout(self.connect_timeout, connect(&pool, is_unreachable)).await;
        let is_refused = matches!(&connected, Ok(Err(error)) if !means_outage(error));
        if is_unreachable {
            // The store's own pool is new and has no connection yet. While the server refuses connections, no query
            // can be answered.
            if matches!(connected, Ok(Ok(()))) || (is_refused && !pool.is_own()) {
                self.write().is_unreachable = false;
                tracing::info!("the {} is reachable again", self.name);
            }
            return;
        }
        let is_reachable = match connected {
            Ok(Ok(())) => since.elapsed() < SILENCE || self.has_answered_since(since) || has_connections(&pool).await,
            // A new connection may take long, or be refused, while the server answers on other connections.
            _ => is_refused || self.has_answered_since(began),
        };
        if !is_reachable {
            self.note_outage();
        }
    }

    fn note_outage(&self) {
        let mut state = self.write();
        // A pool that was closed on purpose returns its own error.
        if state.pool.is_closed() {
            return;
        }
        state.is_unreachable = true;
        state.outages += 1;
        if let Some(renewed) = state.pool.renewed() {
            // Not closed: that would wait for connections in use, which may never be returned.
            mem::replace(&mut state.pool, renewed).abandon();
        }
        tracing::warn!("the {} is unreachable", self.name);
    }
}

/// Connects outside the pool. After an outage, also terminates the lost connections of the store's former pool. A
/// pooler looks after its own connections to the database, and can accept a connection without reaching it.
async fn connect(pool: &Pool<Postgres>, is_unreachable: bool) -> sqlx::Result<()> {
    let mut connection = pool.connect_once().await?;
    if pool.has_session_per_transaction() {
        connection.execute("SELECT 1").await?;
    } else if is_unreachable && pool.is_own() {
        connection.execute(TERMINATE_LOST).await?;
    }
    connection.close().await
}

/// Whether the pool can still provide a working connection.
async fn has_connections(pool: &Pool<Postgres>) -> bool {
    let acquired = timeout(PING_TIMEOUT, async {
        let mut connection = pool.acquire().await?;
        connection.ping().await?;
        connection.give_back();
        Ok::<_, sqlx::Error>(())
    });
    matches!(acquired.await, Ok(Ok(())))
}

fn unreachable_error() -> StoreError {
    StoreError::Unavailable(io::Error::new(io::ErrorKind::NotConnected, "the database is unreachable").into())
}
