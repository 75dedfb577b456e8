//! The unit of work: changes and their audit entries, committed together or not at all.

use uuid::Uuid;

use crate::aftermath::{Aftermath, Doing};
use crate::audit::{AuditBatch, AuditEntry};
use crate::caller::Caller;
use crate::change::Change;
use crate::clock::{Clock, Timestamp, cut};
use crate::error::Result;
use crate::id::IdGenerator;
use crate::in_flight::Turn;
use crate::random::Random;
use crate::store::{Locks, Store, Transaction};

/// Changes that a caller makes in its tenant, with their audit entries.
///
/// ```text
/// begin → read under locks → decide (pure code) → apply changes → commit
/// ```
///
/// Every change that is [applied](Self::apply) is written with the entries that it says it records;
/// [`commit`](Self::commit) makes both durable. Dropping it instead leaves nothing.
#[must_use = "a unit of work that is dropped leaves nothing"]
pub struct UnitOfWork<'a> {
    transaction: Box<dyn Transaction>,
    caller: &'a Caller,
    clock: &'a dyn Clock,
    now: Option<Timestamp>,
    ids: &'a IdGenerator,
    random: &'a dyn Random,
    doing: Doing<'a>,
    /// Given up after the transaction, whose connection it stands for.
    turn: Option<Turn<'a>>,
}

impl<'a> UnitOfWork<'a> {
    pub(crate) async fn begin(
        store: &dyn Store,
        caller: &'a Caller,
        clock: &'a dyn Clock,
        ids: &'a IdGenerator,
        random: &'a dyn Random,
        aftermath: &'a Aftermath,
    ) -> Result<Self> {
        let transaction = store.begin(caller.tenant()).await?;
        Ok(Self { transaction, caller, clock, now: None, ids, random, doing: Doing::nothing(aftermath), turn: None })
    }

    /// Keeps the turn of its tenant until it ends.
    pub(crate) fn in_turn(self, turn: Turn<'a>) -> Self {
        Self { turn: Some(turn), ..self }
    }

    /// The moment at which everything in this unit of work happens.
    ///
    /// It is fixed when it is first asked for. Whoever asks after taking its locks gets a moment after that of
    /// whoever held them before.
    pub fn now(&mut self) -> Timestamp {
        *self.now.get_or_insert_with(|| cut(self.clock.now()))
    }

    /// The present moment, which fixes nothing: for whoever decides before the locks are taken.
    pub(crate) fn clock_now(&self) -> Timestamp {
        cut(self.clock.now())
    }

    /// Who makes the changes.
    #[must_use]
    pub fn caller(&self) -> &'a Caller {
        self.caller
    }

    /// Reads that lock what they read until the unit of work ends.
    pub fn locks(&mut self) -> &mut dyn Locks {
        self.transaction.as_mut()
    }

    /// What the caller asks to have changed counts anew once this ends, also when it is so already: another process may
    /// have made it so, and not be heard of yet.
    pub(crate) fn touch(&mut self, asked_about: impl Into<Uuid>) {
        self.doing.touch([asked_about.into()]);
    }

    /// Writes a change and its audit entries.
    ///
    /// # Errors
    ///
    /// What the store says, for instance a conflict on a constraint; then only dropping is left.
    pub async fn apply(&mut self, change: impl Into<Change>) -> Result<()> {
        let change = change.into();
        let entries = self.record(&change);
        Ok(self.transaction.write(&change, AuditBatch(entries)).await?)
    }

    /// As [`apply`](Self::apply), and tells what was recorded.
    pub(crate) async fn apply_and_tell(&mut self, change: impl Into<Change>) -> Result<Vec<AuditEntry>> {
        let change = change.into();
        let entries = self.record(&change);
        self.transaction.write(&change, AuditBatch(entries.clone())).await?;
        Ok(entries)
    }

    fn record(&mut self, change: &Change) -> Vec<AuditEntry> {
        let entries = self.entries_of(change);
        self.doing.touch(change.touched());
        self.doing.record(&entries);
        entries
    }

    fn entries_of(&mut self, change: &Change) -> Vec<AuditEntry> {
        // What belongs to no tenant has no audit log to go to.
        if self.caller.tenant().is_nobodys() {
            return Vec::new();
        }
        let now = self.now();
        let records = change.records().into_iter();
        records
            .map(|record| record.into_entry(self.ids.next(now, self.random), self.caller, now, self.random))
            .collect()
    }

    /// Makes the changes and their entries durable together.
    ///
    /// # Errors
    ///
    /// What the store says; then nothing was written.
    pub async fn commit(self) -> Result<()> {
        let Self { transaction, doing, turn, .. } = self;
        transaction.commit().await?;
        drop(turn);
        doing.done();
        Ok(())
    }
}
