//! Connections that go from one use to the next without the pool.
//!
//! The pool asks each connection that is given back whether it still works, which is another round trip for every statement
//! and every transaction. One that has just answered does work. So it is kept here, and the last one is the next to be used,
//! whose caches in the database are warm. The pool's own checks are left to now and then.

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

/// A connection that does not answer by then is lost.
pub(crate) const PING_TIMEOUT: Duration = Duration::from_secs(1);
/// A connection that was idle for longer is asked whether it still works.
pub(crate) const TRUSTED_IDLE: Duration = Duration::from_secs(1);
/// For how long a connection is kept before the pool sees it again, which closes those that are old.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// A transaction that is not rolled back by then goes with its connection.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(5);

/// READ COMMITTED, whatever the database's default: every rule that two transactions can race for is guarded by a lock or
/// a constraint, and after waiting for a lock a statement must see what the other one wrote.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// A pool, and those of its connections that are kept; clones share them.
#[derive(Clone)]
pub(crate) struct Kept(Arc<Shared>);

struct Shared {
    pool: PgPool,
    state: Mutex<State>,
    /// Of connections that may be kept. The others go back to the pool after each use, so that it has some for whoever else
    /// uses it.
    places: Arc<Semaphore>,
}

#[derive(Default)]
struct State {
    idle: Vec<Idle>,
    /// How many wait for a connection of the pool.
    waiting: usize,
}

struct Idle {
    lent: Lent,
    used: Instant,
}

/// Somebody who waits for a connection of the pool.
struct Waiting<'a>(&'a Shared);

impl Kept {
    /// Keeps at most so many.
    pub(crate) fn new(pool: PgPool, most: u32) -> Self {
        let places = Arc::new(Semaphore::new(most as usize));
        let shared = Arc::new(Shared { pool, state: Mutex::default(), places });
        // Closing the pool waits for all its connections.
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

    /// Gives the pool back what is idle.
    pub(crate) fn release(&self) -> &PgPool {
        self.0.release();
        self.pool()
    }

    /// A connection that works, as far as can be known.
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
        let place = Arc::clone(&self.0.places).try_acquire_owned().ok();
        Ok(Lent { connection: self.0.pool.acquire().await?, since: Instant::now(), place })
    }

    /// Keeps a connection whose use has ended well.
    pub(crate) fn keep(&self, lent: Lent) {
        if lent.place.is_none() || lent.since.elapsed() > KEPT_FOR {
            return;
        }
        let mut state = self.0.state();
        // Whoever waits gets it by way of the pool.
        if state.waiting == 0 && !self.0.pool.is_closed() {
            state.idle.push(Idle { lent, used: Instant::now() });
        }
    }

    /// Begins a transaction, which gives back the place that it takes, if any, with its connection.
    pub(crate) async fn begin(&self, place: Option<OwnedSemaphorePermit>) -> sqlx::Result<Begun> {
        let mut begun = Begun { lent: Some(self.take().await?), kept: self.clone(), place };
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

    /// What was used last, or a place among those who wait.
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

/// A connection that is in use. Dropped, it goes back to the pool, which makes sure that it works.
pub(crate) struct Lent {
    connection: PoolConnection<Postgres>,
    /// When it came from the pool.
    since: Instant,
    /// With it, it may be kept.
    place: Option<OwnedSemaphorePermit>,
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
        // The pool takes a connection back by a task. Where there is no runtime for that any more, it ends at once.
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

/// A transaction; dropping it rolls back.
pub(crate) struct Begun {
    /// Until it has ended.
    lent: Option<Lent>,
    kept: Kept,
    place: Option<OwnedSemaphorePermit>,
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

    #[expect(clippy::expect_used, reason = "only what consumes a transaction takes its connection")]
    fn deref(&self) -> &PgConnection {
        self.lent.as_ref().expect("a transaction has a connection")
    }
}

impl DerefMut for Begun {
    #[expect(clippy::expect_used, reason = "only what consumes a transaction takes its connection")]
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.lent.as_mut().expect("a transaction has a connection")
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let Some(mut lent) = self.lent.take() else { return };
        let (kept, place) = (self.kept.clone(), self.place.take());
        let Ok(runtime) = Handle::try_current() else {
            return lent.give_back();
        };
        runtime.spawn(async move {
            // What was asked last may not have been answered yet.
            match timeout(ROLLBACK_TIMEOUT, lent.execute("ROLLBACK")).await {
                Ok(Ok(_)) => kept.keep(lent),
                _ => lent.close(),
            }
            drop(place);
        });
    }
}
