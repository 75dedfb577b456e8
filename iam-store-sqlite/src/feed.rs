//! The change feed: the triggers of the file record committed changes, by every program.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use iam_model::store::{ChangeFeed, FeedNotification};
use iam_model::store_error::StoreError;
use iam_store_sql::source::Source;
use sqlx::Sqlite;
use tokio::time::sleep_until;

use crate::error::store_error;

/// The time between two reads.
const INTERVAL: Duration = Duration::from_millis(250);

/// Reads the new rows of the table `changes` again and again: a file sends no notifications.
pub(crate) struct SqliteFeed {
    follower: Source<Sqlite>,
    /// The last row that was read.
    last: i64,
    /// When the next read is due.
    due: Instant,
}

impl SqliteFeed {
    /// Opens a feed of the changes that are committed after this call.
    pub(crate) async fn open(follower: Source<Sqlite>) -> Result<Self, StoreError> {
        let last = sqlx::query_scalar!(r#"SELECT id AS "id!" FROM changes ORDER BY id DESC LIMIT 1"#);
        let last = last.fetch_one(&follower).await.map_err(store_error)?;
        Ok(Self { follower, last, due: Instant::now() })
    }
}

#[async_trait]
impl ChangeFeed for SqliteFeed {
    async fn next(&mut self) -> Result<FeedNotification, StoreError> {
        sleep_until(self.due.into()).await;
        let started = Instant::now();
        let rows = sqlx::query!("SELECT id, changed FROM changes WHERE id >= ?1 ORDER BY id", self.last);
        let mut rows = rows.fetch_all(&self.follower).await.map_err(store_error)?.into_iter();
        // As long as the last row that was read exists, no row after it was removed.
        if rows.next().is_none_or(|row| row.id != self.last) {
            return Err(StoreError::Unavailable("changes were removed before the feed read them".into()));
        }
        self.due = started + INTERVAL;
        let mut notification = FeedNotification { changed: Vec::new(), complete_at: Some(started) };
        for row in rows {
            self.last = row.id;
            notification.changed.push(row.changed);
        }
        Ok(notification)
    }
}

#[cfg(test)]
mod tests {
    use iam_model::store::Store as _;
    use test_support::sqlite::TestFile;

    use crate::SqliteStore;
    use crate::open::READERS;

    /// A feed does not need the readers: requests may use all of them.
    #[tokio::test]
    async fn a_feed_goes_on_while_all_readers_are_busy() {
        let file = TestFile::create();
        let store = SqliteStore::open(file.url()).await.unwrap();
        store.migrate().await.unwrap();
        let mut feed = store.change_feed().await.unwrap().unwrap();
        let mut busy = Vec::new();
        for _ in 0..READERS {
            busy.push(store.readers.acquire().await.unwrap());
        }
        assert!(feed.next().await.unwrap().complete_at.is_some());
    }
}
