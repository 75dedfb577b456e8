//! Looks after what no request looks after: counts, and removes what nobody needs any more.

use async_trait::async_trait;

use crate::clock::Timestamp;
use crate::error::{Result, StoreError};
use crate::iam::Iam;
use crate::idempotency::KEPT;

/// How much there is, in all tenants together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Sessions that have neither ended nor expired.
    pub active_sessions: u64,
    /// Audit entries that wait to be sealed.
    pub unsealed_entries: u64,
}

/// Counts and removes, in all tenants.
#[async_trait]
pub trait MaintenanceStore {
    /// How much there is at a moment.
    async fn totals(&self, now: Timestamp) -> Result<Totals, StoreError>;

    /// Removes sessions that have expired at a moment, at most `limit`; tells how many.
    async fn remove_expired_sessions(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Removes failed logins that count no more, at most those of `limit` e-mails; tells of how many: those whose lock is
    /// over at a moment, and those without a lock whose last failure was before another one.
    async fn remove_stale_login_attempts(
        &self,
        now: Timestamp,
        failed_before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Removes the answers to requests that were kept before a moment, at most `limit`; tells how many.
    async fn remove_idempotency_records(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Takes a job for oneself, of all processes over the same store; nothing where somebody else has it. It ends with the
    /// process at the latest.
    async fn take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>, StoreError>;
}

/// A job that nobody else does meanwhile.
#[async_trait]
pub trait Turn: Send {
    /// Lets others do it.
    async fn end(self: Box<Self>);
}

/// The turn of a store that one process alone uses.
#[derive(Clone, Copy, Debug)]
pub struct OnlyTurn;

#[async_trait]
impl Turn for OnlyTurn {
    async fn end(self: Box<Self>) {}
}

/// How much is removed at once, so that nobody waits long for a lock.
const BATCH: u32 = 1_000;

impl Iam {
    /// How much there is in all tenants together, for metrics.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store).
    pub async fn totals(&self) -> Result<Totals> {
        Ok(self.0.store.totals(self.now()).await?)
    }

    /// Removes sessions that have expired; tells how many. Nothing is recorded: they grant nothing since their expiry. For a
    /// job that runs now and then.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store); what was removed before stays so.
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

    /// Removes failed logins that count no more; tells of how many e-mails. For a job that runs now and then.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store); what was removed before stays so.
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

    /// Removes the answers that were kept for a day; tells how many. For a job that runs now and then.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store); what was removed before stays so.
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

    /// Takes a job for this process, of all over the same store, until the turn ends; nothing where another has it.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store).
    pub async fn take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>> {
        Ok(self.0.store.take_turn(job).await?)
    }
}
