use std::fmt;
use std::ops::Range;

use iam_model::audit::TreeHash;
use iam_model::id::AuditEntryId;

/// The result of the verification of a tenant's log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verification {
    /// How many entries are sequenced.
    pub sequenced: u64,
    /// How many of these entries are missing. Without findings, retention has removed all of them.
    pub removed: u64,
    /// How many entries are pending.
    pub pending: u64,
    /// The root hash of the tree over the sequenced entries.
    pub root: TreeHash,
    /// The findings: those about single entries first, in the order of the sequence. Empty if the log is unchanged; at
    /// most a hundred.
    pub findings: Vec<Finding>,
}

/// One thing that is wrong with a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of tampering.
    pub what: Tampering,
    /// The sequence numbers of the affected entries; `None` for an entry that has no sequence number.
    pub sequence: Option<Range<u64>>,
    /// The first affected entry, if there is one and its identifier is known.
    pub entry: Option<AuditEntryId>,
}

/// The kinds of tampering with a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tampering {
    /// The entry is not the one that was recorded here: it was changed, or it or another entry was moved.
    Changed,
    /// The entry is missing, and no record of a retention excuses that.
    Removed,
    /// These entries are marked for removal, so that the service itself removes them, and no record of a retention
    /// excuses that.
    GivenUp,
    /// Personal fields of the entry are missing, and no record of an erasure excuses that.
    Erased,
    /// Personal fields of the entry were erased, and exist again.
    Restored,
    /// The entry was not inserted by the service.
    Inserted,
    /// These entries were changed together with their leaves, or their order was changed.
    Rewritten,
    /// The log does not match its own signed checkpoint.
    Head,
    /// These entries do not match a checkpoint that a client kept.
    NotAsKept,
    /// The log is shorter than a checkpoint that a client kept: it was truncated, or an older copy was restored.
    Shorter,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.sequence, &self.entry) {
            (Some(range), Some(entry)) if range.end - range.start == 1 => {
                write!(f, "entry {entry} (sequence number {})", range.start)
            }
            (Some(range), _) if range.end - range.start == 1 => {
                write!(f, "the entry with sequence number {}", range.start)
            }
            (Some(range), _) => {
                write!(f, "the entries from sequence number {} up to, but not including, {}", range.start, range.end)
            }
            (None, Some(entry)) => write!(f, "entry {entry}, which has no sequence number,"),
            (None, None) => f.write_str("an entry"),
        }?;
        let are = if self.sequence.as_ref().is_none_or(|range| range.end - range.start == 1) { "is" } else { "are" };
        let were = if are == "is" { "was" } else { "were" };
        match self.what {
            Tampering::Changed => f.write_str(" is not the entry that was recorded there"),
            Tampering::Removed => write!(f, " {were} removed"),
            Tampering::GivenUp => write!(f, " {are} marked for removal, but not by a recorded retention"),
            Tampering::Erased => f.write_str(" has lost personal fields, but not by a recorded erasure"),
            Tampering::Restored => f.write_str(" contains personal fields again that were erased"),
            Tampering::Inserted => write!(f, " {were} inserted, but not by the service"),
            Tampering::Rewritten => write!(f, " {were} rewritten together with their leaves, or put in another order"),
            Tampering::Head => write!(f, " {are} not what the log's own signed checkpoint says"),
            Tampering::NotAsKept => write!(f, " {are} not what the kept checkpoint says"),
            Tampering::Shorter => {
                write!(f, " {are} in the kept checkpoint but gone: the log was cut off, or an older copy was restored")
            }
        }
    }
}

impl Finding {
    /// Returns the position of the finding in the list. Findings about single entries come before findings about many
    /// entries or about the end of the log, because earlier tampering causes those as well. A wrong head comes last:
    /// it does not show where the log was changed.
    pub fn rank(&self, size: u64) -> (u8, u64) {
        let range = self.sequence.clone().unwrap_or(u64::MAX..u64::MAX);
        let is_of_one = self.sequence.is_none() || (range.end - range.start == 1 && range.start < size);
        let rank = match self.what {
            Tampering::Head => 2,
            _ if is_of_one => 0,
            _ => 1,
        };
        (rank, range.start)
    }
}
