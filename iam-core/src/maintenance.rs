//! Maintenance that no request does: counts rows, and removes rows that are not needed any more.

use async_trait::async_trait;

use crate::clock::Timestamp;
use crate::error::{Result, StoreError};
use crate::iam::Iam;
use crate::idempotency::KEPT;

/// Counts over all tenants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Sessions that have neither ended nor expired.
    pub active_sessions: u64,
    /// Pending audit entries.
    pub pending_entries: u64,
}

/// Counts and removes rows, in all tenants.
#[async_trait]
pub trait MaintenanceStore {
    /// Returns the counts at `now`.
    async fn totals(&self, now: Timestamp) -> Result<Totals, StoreError>;

    /// Removes sessions that have expired at `now`, at most `limit`. Returns how many.
    async fn remove_expired_sessions(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Removes failed logins that do not count any more: those whose lockout has ended at `now`, and those without a
    /// lockout whose last failure was before `failed_before`. Removes those of at most `limit` e-mails, and returns of
    /// how many.
    async fn remove_stale_login_attempts(
        &self,
        now: Timestamp,
        failed_before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Removes the stored answers to requests that were made before `before`, at most `limit`. Returns how many.
    async fn remove_idempotency_records(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Takes the turn for a job, which only one process over the same store can have. Returns `None` if another process
    /// has it. The turn ends with the process at the latest.
    async fn take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>, StoreError>;
}

/// The turn of a process for a job. No other process does the job until the turn ends.
#[async_trait]
pub trait Turn: Send {
    /// Ends the turn, so that another process can do the job.
    async fn end(self: Box<Self>);
}

/// The turn of a store that only one process uses.
#[derive(Clone, Copy, Debug)]
pub struct OnlyTurn;

#[async_trait]
impl Turn for OnlyTurn {
    async fn end(self: Box<Self>) {}
}

/// The maximum number of rows that are removed at once, so that no transaction waits long for a lock.
const BATCH: u32 = 1_000;

impl Iam {
    /// Returns counts over all tenants, for metrics.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store).
    pub async fn totals(&self) -> Result<Totals> {
        Ok(self.0.store.totals(self.now()).await?)
    }

    /// Removes sessions that have expired, and returns how many. This is not recorded in the audit log, because these
    /// sessions have granted nothing since their expiry. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store). Rows that were removed before stay removed.
    pub async fn remove_expired_sessions(&self) -> Result<u64> {
        let mut removed = 0;
        loop {
            let count = self.0.store.remove_expired_sessions(self.now(), BATCH).await?;
            removed += count;
            if count < u64::from(BATCH) {
                return Ok(removed);
            }
        }
    }

    /// Removes failed logins that do not count any more, and returns of how many e-mails. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store). Rows that were removed before stay removed.
    pub async fn remove_stale_login_attempts(&self) -> Result<u64> {
        let mut removed = 0;
        loop {
            let now = self.now();
            let failed_before = now - self.settings().lockout.window;
            let count = self.0.store.remove_stale_login_attempts(now, failed_before, BATCH).await?;
            removed += count;
            if count < u64::from(BATCH) {
                return Ok(removed);
            }
        }
    }

    /// Removes stored answers to requests after a day, and returns how many. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store). Rows that were removed before stay removed.
    pub async fn remove_idempotency_records(&self) -> Result<u64> {
        let mut removed = 0;
        loop {
            let count = self.0.store.remove_idempotency_records(self.now() - KEPT, BATCH).await?;
            removed += count;
            if count < u64::from(BATCH) {
                return Ok(removed);
            }
        }
    }

    /// Takes the turn for a job, which only one process over the same store can have. Returns `None` if another process
    /// has it.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store).
    pub async fn take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>> {
        Ok(self.0.store.take_turn(job).await?)
    }
}
