//! The change feed: the triggers of the database send notifications of committed changes.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use iam_model::store::{ChangeFeed, FeedNotification};
use iam_model::store_error::StoreError;
use iam_store_sql::pool::Pool;
use sqlx::postgres::{PgConnection, PgListener, PgNotification, PgPool, PgPoolOptions};
use sqlx::{Executor as _, Postgres};
use tokio::time::{sleep_until, timeout};
use uuid::Uuid;

use crate::error::store_error;

/// The channel of the triggers, and of the sequencer.
pub(crate) const CHANGES: &str = "iam_changes";
/// The payload of the triggers when they cannot name the changed rows.
const EVERYTHING: &str = "everything";
/// The time between two heartbeats.
const INTERVAL: Duration = Duration::from_millis(300);
/// A connection attempt or a heartbeat that takes longer counts as lost.
const PATIENCE: Duration = Duration::from_secs(3);

/// Listens to the database, and checks with its own heartbeats that notifications arrive.
///
/// The database delivers notifications in the order of their commits. So when a heartbeat comes back, the
/// notifications of all commits before it have been received. A heartbeat is sent over another connection than the
/// one that listens: behind a pooler that shares connections between clients, a listener receives nothing and gets no
/// error, and then no heartbeat comes back either.
pub(crate) struct PostgresFeed {
    /// The pool of the store. It is closed when the store is closed, and replaced when the database becomes
    /// unreachable.
    store: Pool<Postgres>,
    /// A pool for the listening connection alone, because a `PgListener` needs a pool.
    listening: PgPool,
    listener: PgListener,
    /// The channel of the heartbeats. No other feed uses it.
    heartbeats: String,
    /// The connection that sends the heartbeats. It is not from the store's pool: requests that wait for that pool
    /// must not delay a heartbeat.
    sender: PgConnection,
    /// When the heartbeat was sent that has not come back yet.
    sent: Option<Instant>,
    /// When the next heartbeat is sent. A heartbeat that has not come back by then is lost.
    due: Instant,
}

impl PostgresFeed {
    /// Starts to listen to the database of the store.
    pub(crate) async fn open(store: Pool<Postgres>) -> Result<Self, StoreError> {
        let options = store.connect_options();
        let listening = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(PATIENCE)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with(options.clone());
        let heartbeats = format!("iam_heartbeats_{}", Uuid::now_v7().simple());
        let connecting = async {
            let mut listener = PgListener::connect_with(&listening).await?;
            listener.eager_reconnect(false);
            // The listening connection is idle as long as nothing changes.
            listener.execute("SET idle_session_timeout = 0").await?;
            listener.listen_all([CHANGES, &heartbeats]).await?;
            Ok((listener, store.connect_once().await?))
        };
        let (listener, sender) = in_time(connecting).await?;
        Ok(Self { store, listening, listener, heartbeats, sender, sent: None, due: Instant::now() })
    }

    async fn receive(&mut self) -> Result<FeedNotification, StoreError> {
        loop {
            let received = tokio::select! {
                received = self.listener.try_recv() => received.map_err(store_error)?,
                () = sleep_until(self.due.into()) => {
                    self.send_heartbeat().await?;
                    continue;
                }
            };
            // A new connection would not receive the notifications of the meantime.
            let notification = received.ok_or_else(|| lost("the listening connection is lost"))?;
            if let Some(parsed) = self.parse(&notification)? {
                return Ok(parsed);
            }
        }
    }

    /// Parses a notification. Returns `None` if another program has sent it: the triggers send identifiers and one
    /// word.
    fn parse(&mut self, notification: &PgNotification) -> Result<Option<FeedNotification>, StoreError> {
        if notification.channel() == self.heartbeats {
            let Some(sent) = self.sent.take() else { return Ok(None) };
            self.due = sent + INTERVAL;
            return Ok(Some(FeedNotification { changed: Vec::new(), complete_at: Some(sent) }));
        }
        if notification.payload() == EVERYTHING {
            return Err(lost("everything may have changed"));
        }
        let changed = Uuid::try_parse(notification.payload()).ok();
        Ok(changed.map(|changed| FeedNotification { changed: vec![changed], complete_at: None }))
    }

    async fn send_heartbeat(&mut self) -> Result<(), StoreError> {
        if self.sent.is_some() {
            return Err(lost("a heartbeat has not come back"));
        }
        if self.store.is_closed() {
            return Err(store_error(sqlx::Error::PoolClosed));
        }
        let now = Instant::now();
        (self.sent, self.due) = (Some(now), now + PATIENCE);
        in_time(sqlx::query!("SELECT pg_notify($1, '')", self.heartbeats).execute(&mut self.sender)).await.map(drop)
    }
}

#[async_trait]
impl ChangeFeed for PostgresFeed {
    async fn next(&mut self) -> Result<FeedNotification, StoreError> {
        let received = self.receive().await;
        if received.is_err() {
            // The listener would reconnect, and not report that it has missed notifications.
            drop(self.listening.close());
        }
        received
    }
}

impl Drop for PostgresFeed {
    fn drop(&mut self) {
        // The call alone marks the pool as closed. So the listener's connection is closed when it returns to the
        // pool, which is right after this.
        drop(self.listening.close());
    }
}

async fn in_time<T>(query: impl Future<Output = sqlx::Result<T>>) -> Result<T, StoreError> {
    timeout(PATIENCE, query).await.map_err(|_| lost("the database does not answer"))?.map_err(store_error)
}

fn lost(why: &'static str) -> StoreError {
    StoreError::Unavailable(why.into())
}
