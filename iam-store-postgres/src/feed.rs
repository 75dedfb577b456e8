//! What others commit, as the triggers of the database tell it.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use iam_core::{ChangeFeed, News, StoreError};
use sqlx::postgres::{PgConnection, PgListener, PgNotification, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Executor as _};
use tokio::time::{sleep_until, timeout};
use uuid::Uuid;

use crate::error::store_error;

/// Where the triggers tell it.
const CHANGES: &str = "iam_changes";
/// The triggers' word for more than they can name.
const EVERYTHING: &str = "everything";
/// Between two heartbeats.
const INTERVAL: Duration = Duration::from_millis(300);
/// A connection or a heartbeat that takes longer is lost.
const PATIENCE: Duration = Duration::from_secs(3);

/// Listens to the database, and knows by heartbeats of its own that it hears.
///
/// The database delivers notifications in the order of their commits. So when a heartbeat comes back, everything that was
/// committed before it was sent has been heard. It is sent over another connection than the one that listens: behind a
/// pooler that hands connections around, whoever listens hears nothing and is not told so, and then no heartbeat comes
/// back either.
pub(crate) struct PostgresFeed {
    /// The store's, which is closed when the store is, and given up when its database goes away.
    store: PgPool,
    /// For the connection that listens alone, because a listener wants a pool.
    listening: PgPool,
    listener: PgListener,
    /// The channel of the heartbeats, which nobody else has.
    heartbeats: String,
    /// Over which they are sent. None of the store's: requests that wait for those must not keep a heartbeat waiting.
    sender: PgConnection,
    /// When the heartbeat was sent that is still to come back.
    sent: Option<Instant>,
    /// When the next heartbeat is sent; if one is still to come back by then, it is lost.
    due: Instant,
}

impl PostgresFeed {
    /// Listens to the database of the store from now on.
    pub(crate) async fn open(store: PgPool) -> Result<Self, StoreError> {
        let options = store.connect_options();
        let listening = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(PATIENCE)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with((*options).clone());
        let heartbeats = format!("iam_heartbeats_{}", Uuid::now_v7().simple());
        let connecting = async {
            let mut listener = PgListener::connect_with(&listening).await?;
            listener.eager_reconnect(false);
            // It is idle for as long as nothing changes.
            listener.execute("SET idle_session_timeout = 0").await?;
            listener.listen_all([CHANGES, &heartbeats]).await?;
            Ok((listener, options.connect().await?))
        };
        let (listener, sender) = in_time(connecting).await?;
        Ok(Self { store, listening, listener, heartbeats, sender, sent: None, due: Instant::now() })
    }

    async fn hear(&mut self) -> Result<News, StoreError> {
        loop {
            let heard = tokio::select! {
                heard = self.listener.try_recv() => heard.map_err(store_error)?,
                () = sleep_until(self.due.into()) => {
                    self.send_heartbeat().await?;
                    continue;
                }
            };
            // A new connection would not hear what was told meanwhile.
            let heard = heard.ok_or_else(|| lost("the connection that listens is lost"))?;
            if let Some(news) = self.understand(&heard)? {
                return Ok(news);
            }
        }
    }

    /// Nothing where somebody else has used the channel: what the triggers tell are identifiers and one word.
    fn understand(&mut self, heard: &PgNotification) -> Result<Option<News>, StoreError> {
        if heard.channel() == self.heartbeats {
            let Some(sent) = self.sent.take() else { return Ok(None) };
            self.due = sent + INTERVAL;
            return Ok(Some(News { changed: Vec::new(), complete_at: Some(sent) }));
        }
        if heard.payload() == EVERYTHING {
            return Err(lost("more has changed than can be named"));
        }
        let changed = Uuid::try_parse(heard.payload()).ok();
        Ok(changed.map(|changed| News { changed: vec![changed], complete_at: None }))
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
    async fn next(&mut self) -> Result<News, StoreError> {
        let news = self.hear().await;
        if news.is_err() {
            // The listener would connect anew, and never tell what it has missed.
            drop(self.listening.close());
        }
        news
    }
}

impl Drop for PostgresFeed {
    fn drop(&mut self) {
        // Already the call has the listener's connection closed when it is given back, as it now is.
        drop(self.listening.close());
    }
}

async fn in_time<T>(asked: impl Future<Output = sqlx::Result<T>>) -> Result<T, StoreError> {
    timeout(PATIENCE, asked).await.map_err(|_| lost("the database does not answer"))?.map_err(store_error)
}

fn lost(why: &'static str) -> StoreError {
    StoreError::Unavailable(why.into())
}
