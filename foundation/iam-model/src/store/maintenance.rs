use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

    /// Removes the deliveries of webhooks that ended before `before`, at most `limit`. Returns how many.
    async fn remove_ended_deliveries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Takes the turn for a job, which only one process over the same store can have. Returns `None` if another process
    /// has it. The turn ends with the process at the latest.
    async fn take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>, StoreError>;
}

/// The turn of a process for a job. No other process does the job until the turn ends.
#[async_trait]
pub trait Turn: Send {
    /// Whether the process still has the turn. It can lose it with its connection to the store.
    async fn is_held(&mut self) -> bool;

    /// Ends the turn, so that another process can do the job.
    async fn end(self: Box<Self>);
}

/// The turns of a store that only one process uses: one task of the process has the turn for a job.
#[derive(Clone, Debug, Default)]
pub struct LocalTurns(Arc<Mutex<BTreeSet<&'static str>>>);

impl LocalTurns {
    /// Takes the turn for a job. It ends when it is dropped. Returns `None` while another task has it.
    #[must_use]
    pub fn take(&self, job: &'static str) -> Option<Box<dyn Turn>> {
        let is_free = self.lock().insert(job);
        is_free.then(|| Box::new(LocalTurn { turns: self.clone(), job }) as Box<dyn Turn>)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct LocalTurn {
    turns: LocalTurns,
    job: &'static str,
}

#[async_trait]
impl Turn for LocalTurn {
    async fn is_held(&mut self) -> bool {
        true
    }

    async fn end(self: Box<Self>) {}
}

impl Drop for LocalTurn {
    fn drop(&mut self) {
        self.turns.lock().remove(self.job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_of_a_process_ends_when_it_is_dropped() {
        let turns = LocalTurns::default();
        let turn = turns.take("sweep");
        assert!(turn.is_some() && turns.clone().take("sweep").is_none() && turns.take("other").is_some());
        drop(turn);
        assert!(turns.take("sweep").is_some());
    }
}
