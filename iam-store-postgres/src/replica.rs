//! Streaming replicas of the database, which answer lists.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use iam_model::store_error::StoreError;
use iam_store_sql::pool::Pool;
use iam_store_sql::source::Source;
use sqlx::{FromRow, Postgres};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::connections::Connections;

/// Up to where the primary has committed something and answered its client. A commit is answered when it is flushed,
/// unless the server commits asynchronously. A row that is inserted but not flushed can reach no replica.
const COMMITTED: &str = "
    SELECT
        c.system_identifier AS system,
        current_database()::text AS database,
        ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int AS timeline,
        (CASE current_setting('synchronous_commit')
            WHEN 'off' THEN pg_current_wal_insert_lsn()
            ELSE pg_current_wal_flush_lsn()
        END - '0/0')::bigint AS position
    FROM pg_control_system() c";

/// Up to where a replica has replayed the log. No row if it is the primary of a cluster. The timeline is the last one
/// that it follows, as far as its role may know: the receiver says it to a member of pg_read_all_stats, and the control
/// file has it after a restartpoint.
const REPLAYED: &str = "
    SELECT
        c.system_identifier AS system,
        current_database()::text AS database,
        greatest(
            (SELECT timeline_id FROM pg_control_checkpoint()),
            (SELECT received_tli FROM pg_stat_wal_receiver)
        ) AS timeline,
        coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::bigint AS position
    FROM pg_control_system() c
    WHERE pg_is_in_recovery()";

/// A replica that takes longer until it has the committed rows is set aside.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long a list waits for a replica to replay the commits of a moment ago.
const MAX_LAG: Duration = Duration::from_millis(50);
/// The time between two questions in this wait.
const POLL: Duration = Duration::from_millis(1);
/// The time between two attempts to use a replica again that was set aside.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// A position in the log of a cluster.
#[derive(Clone, Debug, FromRow)]
struct Position {
    /// An identifier that no other cluster has, unless it is a copy of this one.
    system: i64,
    database: String,
    /// Changes with each promotion of a replica. Positions of different timelines cannot be compared.
    timeline: i32,
    position: i64,
}

/// The log of a server, and its last statement about it.
#[derive(Debug)]
struct Log {
    connections: Arc<Connections>,
    question: &'static str,
    /// The last answer, and when the server was asked. Locked while it is asked.
    answer: Mutex<Option<(Instant, Position)>>,
}

impl Log {
    fn new(connections: Arc<Connections>, question: &'static str) -> Self {
        Self { connections, question, answer: Mutex::default() }
    }

    /// Returns the answer of the server to a question at this moment or later. Tasks that ask at the same time share an
    /// answer, so that many lists cost few questions.
    async fn position(&self, since: Instant) -> Result<Position, StoreError> {
        let mut answer = self.answer.lock().await;
        if let Some((asked, position)) = &*answer
            && *asked >= since
        {
            return Ok(position.clone());
        }
        let (asked, source) = (Instant::now(), Source::Pool(self.connections.pool()));
        let position = self.connections.answer(sqlx::query_as(self.question).fetch_optional(&source)).await?;
        let position: Position = position.ok_or_else(|| unusable("is a primary"))?;
        *answer = Some((asked, position.clone()));
        Ok(position)
    }
}

/// The replicas of a database.
#[derive(Debug)]
pub(crate) struct Replicas {
    replicas: Vec<Arc<Replica>>,
    /// How many lists were read.
    turns: AtomicUsize,
}

#[derive(Debug)]
struct Replica {
    /// Its host and port.
    name: String,
    primary: Arc<Log>,
    log: Log,
    /// Whether it gets no list, because it failed. A task finds out when it can be used again.
    is_set_aside: AtomicBool,
}

impl Replicas {
    pub(crate) fn new(pools: Vec<Pool<Postgres>>, primary: &Arc<Connections>) -> Self {
        let primary = Arc::new(Log::new(Arc::clone(primary), COMMITTED));
        let replica = |pool: Pool<Postgres>| {
            let options = pool.connect_options();
            Arc::new(Replica {
                name: format!("{}:{}", options.get_host(), options.get_port()),
                primary: Arc::clone(&primary),
                log: Log::new(Arc::new(Connections::of_replica(pool)), REPLAYED),
                is_set_aside: AtomicBool::default(),
            })
        };
        Self { replicas: pools.into_iter().map(replica).collect(), turns: AtomicUsize::default() }
    }

    /// Reads a list from the replica whose turn it is, which then has everything that was committed before this call.
    /// Returns `None` if that is not possible, and the primary must answer.
    pub(crate) async fn list<T, F>(&self, read: impl FnOnce(Source<Postgres>) -> F) -> Option<T>
    where
        F: Future<Output = sqlx::Result<T>>,
    {
        let turn = self.turns.fetch_add(1, Ordering::Relaxed) % self.replicas.len().max(1);
        let (before, after) = self.replicas.split_at_checked(turn)?;
        let replica = after.iter().chain(before).find(|replica| !replica.is_set_aside.load(Ordering::Relaxed))?;
        if let Err(error) = replica.catch_up().await {
            replica.set_aside(&error);
            return None;
        }
        let connections = &replica.log.connections;
        match connections.answer(read(Source::Pool(connections.pool()))).await {
            Ok(answer) => Some(answer),
            Err(error) => {
                // Other errors are of the statement: the replay may have cancelled it, or it fails on the primary too.
                if let StoreError::Unavailable(_) = error {
                    replica.set_aside(&error);
                }
                None
            }
        }
    }

    pub(crate) async fn close(&self) {
        for replica in &self.replicas {
            replica.log.connections.pool().close().await;
        }
    }
}

impl Replica {
    /// Waits until this replica has everything that was committed before this call.
    async fn catch_up(&self) -> Result<(), StoreError> {
        let since = Instant::now();
        let waiting = async {
            let committed = self.primary.position(since).await?;
            let mut replayed = self.log.position(since).await?;
            let until = Instant::now() + MAX_LAG;
            while replayed.position < committed.position && Instant::now() < until {
                sleep(POLL).await;
                replayed = self.log.position(Instant::now()).await?;
            }
            replayed.has(&committed)
        };
        timeout(PATIENCE, waiting).await.unwrap_or_else(|_| Err(unusable("is not up to date in time")))
    }

    /// Gives no more lists to this replica until it can be used again.
    fn set_aside(self: &Arc<Self>, error: &StoreError) {
        if self.is_set_aside.swap(true, Ordering::Relaxed) || self.log.connections.pool().is_closed() {
            return;
        }
        let cause = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
        tracing::warn!(replica = self.name, cause, "lists are not read from a replica");
        tokio::spawn(use_again(Arc::downgrade(self)));
    }
}

/// Waits until a replica can be used again, or its store is dropped or closed.
async fn use_again(replica: Weak<Replica>) {
    loop {
        sleep(RETRY_AFTER).await;
        let Some(replica) = replica.upgrade().filter(|replica| !replica.log.connections.pool().is_closed()) else {
            return;
        };
        // First without the time limit: a new connection may take longer, and while the replica does not answer, this
        // finds out that its other connections are lost.
        if replica.log.position(Instant::now()).await.is_ok() && replica.catch_up().await.is_ok() {
            replica.is_set_aside.store(false, Ordering::Relaxed);
            tracing::info!(replica = replica.name, "lists are read from a replica again");
            return;
        }
    }
}

impl Position {
    /// Whether a replica that has replayed up to this position has everything up to a position of the primary.
    fn has(&self, committed: &Self) -> Result<(), StoreError> {
        if (self.system, &self.database) != (committed.system, &committed.database) {
            Err(unusable("is not a replica of this database"))
        } else if self.timeline != committed.timeline {
            Err(unusable("does not follow the primary's timeline, as far as its role may know"))
        } else if self.position < committed.position {
            Err(unusable("is behind"))
        } else {
            Ok(())
        }
    }
}

fn unusable(cause: impl fmt::Display) -> StoreError {
    StoreError::Unavailable(format!("the replica {cause}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(system: i64, database: &str, timeline: i32, position: i64) -> Position {
        Position { system, database: database.to_owned(), timeline, position }
    }

    #[test]
    fn only_a_replica_of_the_same_log_is_used() {
        let committed = position(1, "iam", 2, 100);
        let replayed =
            |system, database, timeline, at| position(system, database, timeline, at).has(&committed).is_ok();
        assert!(replayed(1, "iam", 2, 100));
        assert!(replayed(1, "iam", 2, 101));
        assert!(!replayed(1, "iam", 2, 99), "it is behind");
        assert!(!replayed(3, "iam", 2, 100), "another cluster");
        assert!(!replayed(1, "other", 2, 100), "another database");
        assert!(!replayed(1, "iam", 1, 100), "it may have what the new primary never had");
        assert!(!replayed(1, "iam", 3, 100), "it follows another primary");
    }
}
