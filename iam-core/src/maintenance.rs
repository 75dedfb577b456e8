//! Maintenance that no request does: counts rows, and removes rows that are not needed any more.

use chrono::TimeDelta;
use iam_model::clock::Timestamp;
use iam_model::error::Result;
use iam_model::mail::LIMIT_WINDOW;
pub use iam_model::store::{LocalTurns, MaintenanceStore, Totals, Turn};
use iam_model::store_error::StoreError;

use crate::iam::Iam;
use crate::idempotency::KEPT;

/// The maximum number of rows that are removed at once, so that no transaction waits long for a lock.
const BATCH: u32 = 1_000;

/// How long deliveries of webhooks are kept after their end.
const DELIVERIES_KEPT: TimeDelta = TimeDelta::days(7);

impl Iam {
    /// Returns counts over all tenants, for metrics.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store).
    pub async fn totals(&self) -> Result<Totals> {
        Ok(self.0.store.totals(self.now()).await?)
    }

    /// Removes sessions that have expired, and returns how many. This is not recorded in the audit log, because these
    /// sessions have granted nothing since their expiry. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store). Rows that were removed before stay removed.
    pub async fn remove_expired_sessions(&self) -> Result<u64> {
        in_batches(|| self.0.store.remove_expired_sessions(self.now(), BATCH)).await
    }

    /// Removes failed logins that do not count any more, and returns of how many e-mails. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store). Rows that were removed before stay removed.
    pub async fn remove_stale_login_attempts(&self) -> Result<u64> {
        let window = self.settings().lockout.window;
        let remove = |now: Timestamp| self.0.store.remove_stale_login_attempts(now, now - window, BATCH);
        in_batches(|| remove(self.now())).await
    }

    /// Removes stored answers to requests after a day, and returns how many. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store). Rows that were removed before stay removed.
    pub async fn remove_idempotency_records(&self) -> Result<u64> {
        in_batches(|| self.0.store.remove_idempotency_records(self.now() - KEPT, BATCH)).await
    }

    /// Removes links that have expired, and returns how many. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store). Rows that were removed before stay removed.
    pub async fn remove_expired_links(&self) -> Result<u64> {
        in_batches(|| self.0.store.remove_expired_links(self.now(), BATCH)).await
    }

    /// Removes challenges that have expired, and returns how many. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store). Rows that were removed before stay removed.
    pub async fn remove_expired_challenges(&self) -> Result<u64> {
        in_batches(|| self.0.store.remove_expired_challenges(self.now(), BATCH)).await
    }

    /// Removes the counts of messages that do not limit further messages any more, and returns how many. For a periodic
    /// job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store). Rows that were removed before stay removed.
    pub async fn remove_message_counts(&self) -> Result<u64> {
        in_batches(|| self.0.store.remove_message_counts(self.now() - LIMIT_WINDOW, BATCH)).await
    }

    /// Removes the deliveries of webhooks that ended more than seven days ago, and returns how many. For a periodic
    /// job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store). Rows that were removed before stay removed.
    pub async fn remove_ended_deliveries(&self) -> Result<u64> {
        in_batches(|| self.0.store.remove_ended_deliveries(self.now() - DELIVERIES_KEPT, BATCH)).await
    }

    /// Takes the turn for a job, which only one process over the same store can have. Returns `None` if another process
    /// has it.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store).
    pub async fn take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>> {
        Ok(self.0.store.take_turn(job).await?)
    }
}

/// Removes rows in batches until a batch is not full. Returns how many were removed.
async fn in_batches<F>(remove: impl Fn() -> F) -> Result<u64>
where
    F: Future<Output = Result<u64, StoreError>>,
{
    let mut removed = 0;
    loop {
        let count = remove().await?;
        removed += count;
        if count < u64::from(BATCH) {
            return Ok(removed);
        }
    }
}
