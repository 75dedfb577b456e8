//! Connections to a database that may go away.

use std::io;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use iam_core::StoreError;
use sqlx::postgres::PgPool;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use crate::error::{is_going_away, store_error};

/// Whoever has waited for so long looks whether the database is there at all. While it is away, this passes between two
/// looks.
const PATIENCE: Duration = Duration::from_millis(500);
/// A database that does not let anybody in by then is away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Where a network fell silent, the server does not know that connections are lost, and keeps the locks that they hold. This
/// process has a name of its own there, and while its database is away it has no other connection.
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
    looked: Mutex<Option<Instant>>,
}

#[derive(Clone, Debug)]
struct State {
    pool: PgPool,
    is_away: bool,
    /// How often it went away.
    losses: u64,
}

impl Connections {
    pub(crate) fn new(pool: PgPool, is_own: bool) -> Self {
        Self { state: RwLock::new(State { pool, is_away: false, losses: 0 }), is_own, looked: Mutex::default() }
    }

    pub(crate) fn pool(&self) -> PgPool {
        self.read().pool.clone()
    }

    /// What the database answers; an error as soon as it turns out to be away.
    pub(crate) async fn answer<T>(&self, asked: impl Future<Output = sqlx::Result<T>>) -> Result<T, StoreError> {
        if self.read().is_away {
            self.look_again().await?;
        }
        tokio::select! {
            biased;
            answer = asked => answer.map_err(store_error),
            away = self.doubt() => Err(away),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends when the database turns out to be away.
    async fn doubt(&self) -> StoreError {
        let losses = self.read().losses;
        loop {
            sleep(PATIENCE).await;
            let mut looked = self.looked.lock().await;
            if self.read().losses != losses {
                return away();
            }
            if looked.is_some_and(|looked| looked.elapsed() < PATIENCE) {
                continue;
            }
            let is_there = self.is_there().await;
            *looked = Some(Instant::now());
            if !is_there {
                self.lose();
                return away();
            }
        }
    }

    /// An error unless the database is back. One looks for all, now and then.
    async fn look_again(&self) -> Result<(), StoreError> {
        let Ok(mut looked) = self.looked.try_lock() else { return Err(away()) };
        if looked.is_some_and(|looked| looked.elapsed() < PATIENCE) {
            return Err(away());
        }
        let is_there = self.is_there().await;
        *looked = Some(Instant::now());
        if !is_there {
            return Err(away());
        }
        self.write().is_away = false;
        tracing::info!("the database is back");
        Ok(())
    }

    /// Whether the database lets somebody in, or at least says why not.
    async fn is_there(&self) -> bool {
        match timeout(CONNECT_TIMEOUT, self.try_to_connect()).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) => !is_going_away(&error),
            Err(_) => false,
        }
    }

    async fn try_to_connect(&self) -> sqlx::Result<()> {
        let State { pool, is_away, .. } = self.read().clone();
        // Whoever closes the pool is told so by the pool.
        if pool.is_closed() {
            return Ok(());
        }
        let mut connection = pool.connect_options().connect().await?;
        if is_away && self.is_own {
            connection.execute(TERMINATE_LOST).await?;
        }
        connection.close().await
    }

    fn lose(&self) {
        let mut state = self.write();
        state.is_away = true;
        state.losses += 1;
        if self.is_own {
            let fresh = state.pool.options().clone().connect_lazy_with((*state.pool.connect_options()).clone());
            let lost = std::mem::replace(&mut state.pool, fresh);
            // Already the call turns away whoever waits for a connection. Those that are out may never come back.
            drop(lost.close());
        }
        tracing::warn!("the database is away");
    }
}

fn away() -> StoreError {
    StoreError::Unavailable(io::Error::new(io::ErrorKind::NotConnected, "the database is away").into())
}
