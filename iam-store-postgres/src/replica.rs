//! Streaming replicas of the database, which answer lists.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use iam_model::store_error::StoreError;
use iam_store_sql::pool::Pool;
use iam_store_sql::source::Source;
use sqlx::Postgres;
use tokio::time::timeout;

use crate::connections::Connections;

/// Where the log of the primary ends, in bytes. Everything that is committed is before it.
const END: &str = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint";
/// How much of the log a replica has replayed, in bytes. Nothing if it is no replica.
const REPLAYED: &str = "SELECT coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::bigint";
/// A replica that takes longer to say how much it has replayed is left out.
const PATIENCE: Duration = Duration::from_millis(100);
/// How far a list may lag behind the writes of other processes, beside the time in which the replica replays them.
const MAX_LAG: Duration = Duration::from_secs(1);

/// How new the data of a list must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// It has everything that this process has committed.
    OwnWrites,
    /// It has everything that any process has committed. For a list that belongs to something that was read from the
    /// primary, such as the entries of a log whose size is known.
    AllWrites,
}

/// The replicas of a database.
#[derive(Debug)]
pub(crate) struct Replicas {
    replicas: Vec<Replica>,
    /// Which replica is asked first.
    next: AtomicUsize,
    /// `None` until the primary has been asked.
    end: Mutex<Option<End>>,
}

/// Where the log of the primary ended.
#[derive(Clone, Copy, Debug)]
struct End {
    position: i64,
    /// How many writes of this process had ended before.
    writes: u64,
    at: Instant,
}

#[derive(Debug)]
struct Replica {
    connections: Arc<Connections>,
    /// How much of the log it has replayed at least.
    replayed: AtomicI64,
}

impl Replicas {
    /// `None` without a replica.
    pub(crate) fn new(pools: Vec<Pool<Postgres>>) -> Option<Self> {
        let replica = |pool| Replica { connections: Arc::new(Connections::new(pool)), replayed: AtomicI64::default() };
        let replicas: Vec<Replica> = pools.into_iter().map(replica).collect();
        (!replicas.is_empty()).then(|| Self { replicas, next: AtomicUsize::default(), end: Mutex::default() })
    }

    /// Returns the connections of a replica with data as new as needed. Each replica gets its turn.
    pub(crate) async fn current(&self, primary: &Arc<Connections>, freshness: Freshness) -> Option<&Arc<Connections>> {
        let needed = self.needed(primary, freshness).await.ok()?;
        let first = self.next.fetch_add(1, Ordering::Relaxed) % self.replicas.len();
        let (before, after) = self.replicas.split_at(first);
        for replica in after.iter().chain(before) {
            if replica.has_replayed(needed).await {
                return Some(&replica.connections);
            }
        }
        None
    }

    /// Returns how much of the log a replica must have replayed. Asks the primary only if this process has written
    /// something since the last time, or that is a while ago.
    async fn needed(&self, primary: &Arc<Connections>, freshness: Freshness) -> Result<i64, StoreError> {
        let pool = primary.pool();
        // Before the primary is asked: its answer covers these writes, and maybe not later ones.
        let (writes, at) = (pool.writes(), Instant::now());
        if let (Freshness::OwnWrites, Some(end)) = (freshness, *self.end())
            && end.writes == writes
            && end.at.elapsed() < MAX_LAG
        {
            return Ok(end.position);
        }
        let asked = sqlx::query_scalar::<_, i64>(END);
        let position = primary.answer(asked.fetch_one(&Source::Pool(pool))).await?;
        let mut end = self.end();
        if end.is_none_or(|end| end.writes <= writes) {
            *end = Some(End { position, writes, at });
        }
        Ok(position)
    }

    fn end(&self) -> MutexGuard<'_, Option<End>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn close(&self) {
        for replica in &self.replicas {
            replica.connections.pool().close().await;
        }
    }
}

impl Replica {
    /// Whether it has replayed so much of the log, and is reachable.
    async fn has_replayed(&self, needed: i64) -> bool {
        if !self.connections.is_reachable() {
            return false;
        }
        if self.replayed.load(Ordering::Relaxed) >= needed {
            return true;
        }
        let asked = sqlx::query_scalar::<_, i64>(REPLAYED);
        let source = Source::Pool(self.connections.pool());
        let Ok(Ok(replayed)) = timeout(PATIENCE, self.connections.answer(asked.fetch_one(&source))).await else {
            return false;
        };
        self.replayed.fetch_max(replayed, Ordering::Relaxed);
        replayed >= needed
    }
}
