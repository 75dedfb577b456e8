//! Idle connections that are used again without the pool.
//!
//! The pool pings each connection that is returned, which is another round trip for every statement and every
//! transaction. A connection that has just answered works, so it stays here until its next use. The connection that
//! was used last is used next, because its caches in the database are warm. Now and then, a connection returns to the
//! pool, which checks it.

use std::fmt::{self, Debug, Formatter};
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgPool;
use sqlx::{Connection as _, Executor as _, PgConnection, Postgres};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// A connection that does not answer a ping within this time is lost.
pub(crate) const PING_TIMEOUT: Duration = Duration::from_secs(1);
/// A connection that was idle for longer is pinged before its next use.
pub(crate) const TRUSTED_IDLE: Duration = Duration::from_secs(1);
/// A connection that left the pool longer ago returns to the pool after its next use. The pool closes old
/// connections.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// If a rollback takes longer, the connection is closed.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(5);

/// Always READ COMMITTED, also when the database has another default. A lock or a constraint guards every rule for
/// which two transactions can race. After waiting for a lock, a statement must see what the other transaction wrote.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// A pool, and its connections that are idle outside it. Clones share them.
#[derive(Clone)]
pub(crate) struct Kept(Arc<Shared>);

struct Shared {
    pool: PgPool,
    state: Mutex<State>,
    /// Permits for connections that may stay outside the pool while they are idle. The other connections return to
    /// the pool after each use, so that other users of the pool can get them.
    permits: Arc<Semaphore>,
}

#[derive(Default)]
struct State {
    idle: Vec<Idle>,
    /// How many tasks wait for a connection from the pool.
    waiting: usize,
}

struct Idle {
    lent: Lent,
    used: Instant,
}

/// Counts a task that waits for a connection from the pool, until it is dropped.
struct Waiting<'a>(&'a Shared);

impl Kept {
    /// Keeps at most `most` idle connections outside the pool.
    pub(crate) fn new(pool: PgPool, most: u32) -> Self {
        let permits = Arc::new(Semaphore::new(most as usize));
        let shared = Arc::new(Shared { pool, state: Mutex::default(), permits });
        // Closing the pool waits until all its connections are returned.
        if most > 0
            && let Ok(runtime) = Handle::try_current()
        {
            let (closed, shared) = (shared.pool.close_event(), Arc::downgrade(&shared));
            runtime.spawn(async move {
                closed.await;
                if let Some(shared) = shared.upgrade() {
                    shared.release();
                }
            });
        }
        Self(shared)
    }

    pub(crate) fn pool(&self) -> &PgPool {
        &self.0.pool
    }

    /// Returns the idle connections to the pool.
    pub(crate) fn release(&self) -> &PgPool {
        self.0.release();
        self.pool()
    }

    /// Returns a connection that works, as far as can be known.
    pub(crate) async fn take(&self) -> sqlx::Result<Lent> {
        let _waiting = loop {
            match self.0.pop() {
                Ok(Idle { mut lent, used }) => {
                    if used.elapsed() <= TRUSTED_IDLE || lent.works().await {
                        return Ok(lent);
                    }
                    lent.close();
                }
                Err(waiting) => break waiting,
            }
        };
        let permit = Arc::clone(&self.0.permits).try_acquire_owned().ok();
        Ok(Lent { connection: self.0.pool.acquire().await?, since: Instant::now(), permit })
    }

    /// Keeps a connection for its next use. Its last use must have ended without an error.
    pub(crate) fn keep(&self, lent: Lent) {
        if lent.permit.is_none() || lent.since.elapsed() > KEPT_FOR {
            return;
        }
        let mut state = self.0.state();
        // A waiting task gets the connection from the pool.
        if state.waiting == 0 && !self.0.pool.is_closed() {
            state.idle.push(Idle { lent, used: Instant::now() });
        }
    }

    /// Begins a transaction. It holds the permit, if there is one, as long as its connection.
    pub(crate) async fn begin(&self, permit: Option<OwnedSemaphorePermit>) -> sqlx::Result<Begun> {
        let mut begun = Begun { lent: Some(self.take().await?), kept: self.clone(), permit };
        begun.execute(BEGIN).await?;
        Ok(begun)
    }
}

impl Debug for Kept {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Kept").field("pool", &self.0.pool).finish_non_exhaustive()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the idle connection that was used last. If there is none, counts the calling task as waiting.
    fn pop(&self) -> Result<Idle, Waiting<'_>> {
        let mut state = self.state();
        state.idle.pop().ok_or_else(|| {
            state.waiting += 1;
            Waiting(self)
        })
    }

    fn release(&self) {
        let idle = mem::take(&mut self.state().idle);
        for Idle { lent, .. } in idle {
            lent.give_back();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.release();
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}

/// A connection in use. When it is dropped, it returns to the pool, which checks that it works.
pub(crate) struct Lent {
    connection: PoolConnection<Postgres>,
    /// When it came from the pool.
    since: Instant,
    /// With a permit, the connection may stay outside the pool while it is idle.
    permit: Option<OwnedSemaphorePermit>,
}

impl Lent {
    async fn works(&mut self) -> bool {
        matches!(timeout(PING_TIMEOUT, self.connection.ping()).await, Ok(Ok(())))
    }

    fn close(mut self) {
        self.connection.close_on_drop();
        self.give_back();
    }

    fn give_back(self) {
        // The pool spawns a task to take a connection back. Without a runtime for it, the connection is closed at
        // once.
        if Handle::try_current().is_err() {
            drop(self.connection.detach());
        }
    }
}

impl Deref for Lent {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

/// A transaction. Dropping it rolls back.
pub(crate) struct Begun {
    /// `None` when the transaction has ended.
    lent: Option<Lent>,
    kept: Kept,
    permit: Option<OwnedSemaphorePermit>,
}

impl Begun {
    pub(crate) async fn commit(self) -> sqlx::Result<()> {
        self.end("COMMIT").await
    }

    pub(crate) async fn rollback(self) -> sqlx::Result<()> {
        self.end("ROLLBACK").await
    }

    async fn end(mut self, statement: &'static str) -> sqlx::Result<()> {
        (&mut *self).execute(statement).await?;
        if let Some(lent) = self.lent.take() {
            self.kept.keep(lent);
        }
        Ok(())
    }
}

impl Deref for Begun {
    type Target = PgConnection;

    #[expect(clippy::expect_used, reason = "only methods that consume the transaction take its connection")]
    fn deref(&self) -> &PgConnection {
        self.lent.as_ref().expect("a transaction has a connection")
    }
}

impl DerefMut for Begun {
    #[expect(clippy::expect_used, reason = "only methods that consume the transaction take its connection")]
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.lent.as_mut().expect("a transaction has a connection")
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let Some(mut lent) = self.lent.take() else { return };
        let (kept, permit) = (self.kept.clone(), self.permit.take());
        let Ok(runtime) = Handle::try_current() else {
            return lent.give_back();
        };
        runtime.spawn(async move {
            // The server may still be executing the last statement.
            match timeout(ROLLBACK_TIMEOUT, lent.execute("ROLLBACK")).await {
                Ok(Ok(_)) => kept.keep(lent),
                _ => lent.close(),
            }
            drop(permit);
        });
    }
}
