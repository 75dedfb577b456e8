//! The unit of work: changes and their audit entries, committed together or not at all.

use iam_model::audit::AuditEntry;
use iam_model::change::{AuditBatch, Change};
use iam_model::clock::{Clock, Timestamp, cut};
use iam_model::error::Result;
use iam_model::id::IdGenerator;
use iam_model::random::Random;
use iam_model::store::{Locks, Store, Transaction};
use uuid::Uuid;

use crate::caller::Caller;
use crate::engine::after_commit::{AfterCommit, PendingEffects};
use crate::engine::in_flight::Permit;

/// Changes of a caller in its tenant, with their audit entries.
///
/// ```text
/// begin → read under locks → decide (pure code) → apply changes → commit
/// ```
///
/// Every change that is [applied](Self::apply) is written with the audit entries that it defines.
/// [`commit`](Self::commit) makes both durable. Dropping the unit of work instead rolls it back.
#[must_use = "a unit of work that is dropped is rolled back"]
pub struct UnitOfWork<'a> {
    transaction: Box<dyn Transaction>,
    caller: &'a Caller,
    clock: &'a dyn Clock,
    now: Option<Timestamp>,
    ids: &'a IdGenerator,
    random: &'a dyn Random,
    pending: PendingEffects<'a>,
    /// Dropped after the transaction: it is the permit to use the transaction's connection.
    permit: Option<Permit<'a>>,
}

impl<'a> UnitOfWork<'a> {
    pub(crate) async fn begin(
        store: &dyn Store,
        caller: &'a Caller,
        clock: &'a dyn Clock,
        ids: &'a IdGenerator,
        random: &'a dyn Random,
        after_commit: &'a AfterCommit,
    ) -> Result<Self> {
        let transaction = store.begin(caller.tenant()).await?;
        Ok(Self {
            transaction,
            caller,
            clock,
            now: None,
            ids,
            random,
            pending: PendingEffects::new(after_commit),
            permit: None,
        })
    }

    /// Holds a permit of its tenant until it ends.
    pub(crate) fn with_permit(self, permit: Permit<'a>) -> Self {
        Self { permit: Some(permit), ..self }
    }

    /// Returns the time of everything that happens in this unit of work.
    ///
    /// The first call fixes it. A unit of work that reads the time after it has its locks gets a later time than the
    /// previous holder of those locks.
    pub fn now(&mut self) -> Timestamp {
        *self.now.get_or_insert_with(|| cut(self.clock.now()))
    }

    /// Returns the present moment without fixing the time of the unit of work. For decisions before it has its locks.
    pub(crate) fn clock_now(&self) -> Timestamp {
        cut(self.clock.now())
    }

    /// The caller that makes the changes.
    #[must_use]
    pub fn caller(&self) -> &'a Caller {
        self.caller
    }

    /// Returns the reads that lock the rows until the unit of work ends.
    pub fn locks(&mut self) -> &mut dyn Locks {
        self.transaction.as_mut()
    }

    /// Invalidates an id when the unit of work ends, even if it changes nothing because the requested state already
    /// exists: another replica may have made that change, and the notification of it may not have arrived yet.
    pub(crate) fn invalidate(&mut self, id: impl Into<Uuid>) {
        self.pending.invalidate([id.into()]);
    }

    /// Writes a change and its audit entries.
    ///
    /// # Errors
    ///
    /// The errors of the store, for instance a violated constraint. After an error, the unit of work can only be
    /// dropped.
    pub async fn apply(&mut self, change: impl Into<Change>) -> Result<()> {
        let change = change.into();
        let batch = self.record(&change);
        Ok(self.transaction.write(&change, batch).await?)
    }

    /// Does the same as [`apply`](Self::apply), and returns the audit entries.
    pub(crate) async fn apply_and_tell(&mut self, change: impl Into<Change>) -> Result<Vec<AuditEntry>> {
        let change = change.into();
        let batch = self.record(&change);
        let entries = batch.entries().to_vec();
        self.transaction.write(&change, batch).await?;
        Ok(entries)
    }

    fn record(&mut self, change: &Change) -> AuditBatch {
        let now = self.now();
        let batch = AuditBatch::of(change, self.caller.author(), now, self.ids, self.random);
        self.pending.invalidate(change.invalidates());
        self.pending.record(batch.entries());
        batch
    }

    /// Makes the changes and their entries durable together.
    ///
    /// # Errors
    ///
    /// The errors of the store. Nothing was written then, unless the connection was lost during the commit.
    pub async fn commit(self) -> Result<()> {
        let Self { transaction, pending, permit, .. } = self;
        transaction.commit().await?;
        drop(permit);
        pending.committed();
        Ok(())
    }
}
