use crate::audit::AuditEntry;
use crate::change::Change;
use crate::clock::Timestamp;
use crate::context::Author;
use crate::history::EndedVersion;
use crate::id::IdGenerator;
use crate::random::Random;

/// The entries that record a change, and the versions that it ends. A store writes them together with the change.
///
/// A batch is made only from a change, so no change can be written without its entries.
#[derive(Debug)]
pub struct AuditBatch {
    entries: Vec<AuditEntry>,
    ended: Vec<EndedVersion>,
    at: Timestamp,
}

impl AuditBatch {
    /// Returns the entries that record a change of this author at a moment.
    ///
    /// A change that belongs to no tenant has no entries: there is no audit log for it.
    #[must_use]
    pub fn of(change: &Change, author: &Author, now: Timestamp, ids: &IdGenerator, random: &dyn Random) -> Self {
        if author.tenant.can_be_no_tenant() {
            return Self { entries: Vec::new(), ended: Vec::new(), at: now };
        }
        let records = change.records().into_iter();
        let entries = records.map(|record| record.into_entry(ids.next(now, random), author, now, random)).collect();
        Self { entries, ended: change.ended_versions(), at: now }
    }

    /// Returns the entries, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[AuditEntry] {
        &self.entries
    }

    /// Returns the versions that the change ends. A store keeps each of them, unless it has already kept one of the same
    /// thing that ended at [the same instant](Self::at).
    #[must_use]
    pub fn ended_versions(&self) -> &[EndedVersion] {
        &self.ended
    }

    /// Returns the moment of the change.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// Returns the batch without its entries: the change leaves no trace in the log.
    #[must_use]
    pub fn without_entries(self) -> Self {
        Self { entries: Vec::new(), ..self }
    }

    /// Returns the entries by value, oldest first.
    #[must_use]
    pub fn into_entries(self) -> Vec<AuditEntry> {
        self.entries
    }

    /// Returns a batch of any entries, for tests of a store and for benchmarks of the cost of entries.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn of_entries(entries: Vec<AuditEntry>) -> Self {
        Self { entries, ended: Vec::new(), at: Timestamp::UNIX_EPOCH }
    }
}
