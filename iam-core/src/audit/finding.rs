use std::fmt;
use std::ops::Range;

use super::TreeHash;
use crate::id::AuditEntryId;

/// What verification has found out about a tenant's log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verification {
    /// How many entries are sealed.
    pub sealed: u64,
    /// Of these, how many retention has removed.
    pub removed: u64,
    /// How many entries wait to be sealed.
    pub unsealed: u64,
    /// The root of the tree over what is sealed.
    pub root: TreeHash,
    /// What is wrong: first what is known to be wrong with single entries, in the order of the sequence. Nothing when
    /// the log is what it was; at most a hundred.
    pub findings: Vec<Finding>,
}

/// Something that is wrong with a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What is wrong.
    pub what: Tampering,
    /// The places in the sequence that are concerned; `None` for an entry that has none.
    pub sequence: Option<Range<u64>>,
    /// The first entry that is concerned, where there is one and it is known.
    pub entry: Option<AuditEntryId>,
}

/// What can be wrong with a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tampering {
    /// The entry is not the one that was sealed here: it was changed, or it or another one was moved.
    Changed,
    /// The entry is gone, and no retention accounts for it.
    Removed,
    /// These entries are marked as given up, so that the service itself removes them, and no retention accounts for it.
    GivenUp,
    /// Personal fields of the entry are gone, and no erasure accounts for it.
    Erased,
    /// Personal fields of the entry were erased, and are there again.
    Restored,
    /// The entry was not put there by the service.
    Inserted,
    /// These entries and their leaves were changed together, or their order.
    Rewritten,
    /// The log is not what its own signed checkpoint says.
    Head,
    /// These entries are not those of a checkpoint that was kept.
    NotAsKept,
    /// The log is shorter than a checkpoint that was kept: entries were cut off, or an older copy was restored.
    Shorter,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.sequence, &self.entry) {
            (Some(places), Some(entry)) if places.end - places.start == 1 => {
                write!(f, "entry {entry} (place {})", places.start)
            }
            (Some(places), _) if places.end - places.start == 1 => write!(f, "the entry at place {}", places.start),
            (Some(places), _) => {
                write!(f, "the entries from place {} up to, but not including, {}", places.start, places.end)
            }
            (None, Some(entry)) => write!(f, "entry {entry}, outside the sequence,"),
            (None, None) => f.write_str("an entry"),
        }?;
        let are = if self.sequence.as_ref().is_none_or(|places| places.end - places.start == 1) { "is" } else { "are" };
        let were = if are == "is" { "was" } else { "were" };
        match self.what {
            Tampering::Changed => f.write_str(" is not the entry that was recorded there"),
            Tampering::Removed => write!(f, " {were} removed"),
            Tampering::GivenUp => write!(f, " {are} marked as given up, and no retention accounts for it"),
            Tampering::Erased => f.write_str(" has lost personal fields, not by an erasure"),
            Tampering::Restored => f.write_str(" holds personal fields again that were erased"),
            Tampering::Inserted => write!(f, " {were} inserted, not by the service"),
            Tampering::Rewritten => write!(f, " {were} rewritten, with the leaves or in another order"),
            Tampering::Head => write!(f, " {are} not what the log's own signed checkpoint says"),
            Tampering::NotAsKept => write!(f, " {are} not as the kept checkpoint has it"),
            Tampering::Shorter => {
                write!(f, " {are} in the kept checkpoint and gone: cut off, or an older copy was restored")
            }
        }
    }
}

impl Finding {
    /// What is known of a single entry comes before what is known of many, or of the end of the log: there something
    /// is wrong as well when it happened before. That the head is wrong tells nothing of where.
    pub(super) fn rank(&self, size: u64) -> (u8, u64) {
        let places = self.sequence.clone().unwrap_or(u64::MAX..u64::MAX);
        let is_of_one = self.sequence.is_none() || (places.end - places.start == 1 && places.start < size);
        let rank = match self.what {
            Tampering::Head => 2,
            _ if is_of_one => 0,
            _ => 1,
        };
        (rank, places.start)
    }
}
