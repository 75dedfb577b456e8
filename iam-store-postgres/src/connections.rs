//! Connections to a database that may go away.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use iam_core::StoreError;
use sqlx::postgres::PgPool;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use crate::error::{is_going_away, store_error};
use crate::kept::{Kept, PING_TIMEOUT};

/// Whoever has waited for so long looks whether the database is there at all. This passes between two looks.
const PATIENCE: Duration = Duration::from_millis(500);
/// A database that does not let anybody in by then is away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// When nobody was answered for so long, it may be that the database is there and all connections to it are lost. Less
/// than somebody waits for a connection.
const SILENCE: Duration = Duration::from_secs(4);

/// Where a network fell silent, the server does not know that connections are lost, and keeps the locks that they hold. This
/// process has a name of its own there, and while its database is away it has no other connection but a feed's, which is
/// then begun anew.
const TERMINATE_LOST: &str = "
    SELECT pg_terminate_backend(pid)
    FROM pg_stat_activity
    WHERE usename = current_user
        AND application_name = current_setting('application_name')
        AND pid <> pg_backend_pid()";

/// A pool of connections, and whether there is a database behind it.
///
/// The pool alone tries to connect until its time is up, so that all requests would wait for as long while the database
/// is away. And where a network falls silent, its connections are lost until the kernel gives them up, a quarter of an
/// hour later. So one of those who wait connects apart from the pool; when that fails, the pool is given up for another,
/// and nobody waits any more until somebody can connect again.
#[derive(Debug)]
pub(crate) struct Connections {
    state: RwLock<State>,
    /// Whether the pool may be given up: one that the host program has made may not.
    is_own: bool,
    /// When somebody has looked last. Whoever looks holds it.
    looked: Arc<Mutex<Option<Instant>>>,
    made: Instant,
    /// When the pool has answered last, in milliseconds since this was made.
    answered: AtomicU64,
}

#[derive(Clone, Debug)]
struct State {
    kept: Kept,
    is_away: bool,
    /// How often it went away.
    losses: u64,
}

impl Connections {
    pub(crate) fn new(pool: PgPool, is_own: bool) -> Self {
        let most = if is_own { three_quarters(&pool) } else { 0 };
        Self {
            state: RwLock::new(State { kept: Kept::new(pool, most), is_away: false, losses: 0 }),
            is_own,
            looked: Arc::default(),
            made: Instant::now(),
            answered: AtomicU64::default(),
        }
    }

    /// The pool, with what is kept of it.
    pub(crate) fn pool(&self) -> PgPool {
        self.read().kept.release().clone()
    }

    pub(crate) fn kept(&self) -> Kept {
        self.read().kept.clone()
    }

    /// What the database answers; an error as soon as it turns out to be away.
    pub(crate) async fn answer<T>(
        self: &Arc<Self>,
        asked: impl Future<Output = sqlx::Result<T>>,
    ) -> Result<T, StoreError> {
        if self.read().is_away {
            self.look(Instant::now()).await;
            if self.read().is_away {
                return Err(away());
            }
        }
        let answer = tokio::select! {
            biased;
            answer = asked => answer,
            () = self.doubt() => return Err(away()),
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

    /// Ends when the database turns out to be away.
    async fn doubt(self: &Arc<Self>) {
        let (asked, losses) = (Instant::now(), self.read().losses);
        while self.read().losses == losses {
            sleep(PATIENCE).await;
            self.look(asked).await;
        }
    }

    /// Finds out whether the database is there, unless somebody does so at the moment, or just has. It goes on when nobody
    /// waits for it any more: clients may give up sooner than it takes.
    async fn look(self: &Arc<Self>, asked: Instant) {
        let Ok(mut looked) = Arc::clone(&self.looked).try_lock_owned() else { return };
        if looked.is_some_and(|looked| looked.elapsed() < PATIENCE) {
            return;
        }
        let this = Arc::clone(self);
        let looking = tokio::spawn(async move {
            this.find_out(asked).await;
            *looked = Some(Instant::now());
        });
        let _ = looking.await;
    }

    /// For somebody who has waited since this moment.
    async fn find_out(&self, asked: Instant) {
        let State { kept, is_away, .. } = self.read().clone();
        let pool = kept.pool();
        let began = Instant::now();
        let connected = timeout(CONNECT_TIMEOUT, self.connect(pool, is_away)).await;
        let is_refused = matches!(&connected, Ok(Err(error)) if !is_going_away(error));
        if is_away {
            // A pool of our own has no connection yet: where none can be had, there is nobody to answer.
            if matches!(connected, Ok(Ok(()))) || (is_refused && !self.is_own) {
                self.write().is_away = false;
                tracing::info!("the database is back");
            }
            return;
        }
        let is_there = match connected {
            Ok(Ok(())) => asked.elapsed() < SILENCE || self.has_answered_since(asked) || has_connections(pool).await,
            // Somebody may be let in late, or not be let in, while others are answered.
            _ => is_refused || self.has_answered_since(began),
        };
        if !is_there {
            self.lose();
        }
    }

    /// Connects apart from the pool. Where there is none behind the pool, those of before are lost.
    async fn connect(&self, pool: &PgPool, is_away: bool) -> sqlx::Result<()> {
        let mut connection = pool.connect_options().connect().await?;
        if is_away && self.is_own {
            connection.execute(TERMINATE_LOST).await?;
        }
        connection.close().await
    }

    fn lose(&self) {
        let mut state = self.write();
        // Whoever closes the pool is told so by the pool.
        let pool = state.kept.pool().clone();
        if pool.is_closed() {
            return;
        }
        state.is_away = true;
        state.losses += 1;
        if self.is_own {
            let fresh = pool.options().clone().connect_lazy_with((*pool.connect_options()).clone());
            let most = three_quarters(&fresh);
            state.kept = Kept::new(fresh, most);
            // Already the call turns away whoever waits for a connection. Those that are out may never come back.
            drop(pool.close());
        }
        tracing::warn!("the database is away");
    }
}

/// How many of a pool's connections are kept, and as many are used by units of work at a time.
pub(crate) fn three_quarters(pool: &PgPool) -> u32 {
    let most = pool.options().get_max_connections();
    most - most / 4
}

/// Whether a connection can still be had.
async fn has_connections(pool: &PgPool) -> bool {
    let acquired = timeout(PING_TIMEOUT, async { pool.acquire().await?.ping().await });
    matches!(acquired.await, Ok(Ok(())))
}

fn away() -> StoreError {
    StoreError::Unavailable(io::Error::new(io::ErrorKind::NotConnected, "the database is away").into())
}
