use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::clock::Timestamp;
use crate::error::Result;
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Counts over all tenants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Sessions that have neither ended nor expired.
    pub active_sessions: u64,
    /// Pending audit entries.
    pub pending_entries: u64,
}

/// Counts and removes rows, in all tenants.
#[apply(observed)]
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

    /// Removes links that have expired at `now`, at most `limit`. Returns how many.
    async fn remove_expired_links(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Removes challenges that have expired at `now`, at most `limit`. Returns how many.
    async fn remove_expired_challenges(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Removes the counts of messages for addresses to which none was queued since `before`, at most `limit`. Returns
    /// how many.
    async fn remove_message_counts(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

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
