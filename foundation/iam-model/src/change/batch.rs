use crate::audit::AuditEntry;
use crate::change::Change;
use crate::clock::Timestamp;
use crate::context::Author;
use crate::id::IdGenerator;
use crate::random::Random;

/// The entries that record a change. A store writes them together with the change.
///
/// A batch is made only from a change, so no change can be written without its entries.
#[derive(Debug)]
pub struct AuditBatch(Vec<AuditEntry>);

impl AuditBatch {
    /// Returns the entries that record a change of this author at a moment.
    ///
    /// A change that belongs to no tenant has no entries: there is no audit log for it.
    #[must_use]
    pub fn of(change: &Change, author: &Author, now: Timestamp, ids: &IdGenerator, random: &dyn Random) -> Self {
        if author.tenant.is_none() {
            return Self(Vec::new());
        }
        let records = change.records().into_iter();
        Self(records.map(|record| record.into_entry(ids.next(now, random), author, now, random)).collect())
    }

    /// Returns the entries, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[AuditEntry] {
        &self.0
    }

    /// Returns the entries by value, oldest first.
    #[must_use]
    pub fn into_entries(self) -> Vec<AuditEntry> {
        self.0
    }

    /// Returns a batch of any entries, for tests of a store and for benchmarks of the cost of entries.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn of_entries(entries: Vec<AuditEntry>) -> Self {
        Self(entries)
    }
}
