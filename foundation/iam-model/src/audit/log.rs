use chrono::TimeDelta;
use uuid::Uuid;

use crate::audit::{AuditEntry, Digest, Frontier, TreeHash, TreeNode};
use crate::clock::Timestamp;
use crate::id::{AuditEntryId, TenantId};

/// A pending entry. It was committed together with its change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The tenant.
    pub tenant_id: TenantId,
    /// When the entry was created.
    pub created_at: Timestamp,
    /// The entry.
    pub entry_id: AuditEntryId,
    /// The digest that the log will commit to.
    pub digest: Digest,
}

/// The state of a tenant's log as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogHead {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The right edge of the tree over the sequenced entries.
    pub frontier: Frontier,
    /// The note with the signed checkpoint of that tree; empty before an entry is sequenced.
    pub note: String,
    /// The number of leaves. If it differs from the size of the tree, the service did not cause that.
    pub leaves: u64,
    /// Entries with a lower sequence number may have been removed by retention. Their leaves stay.
    pub removed: u64,
    /// For how long entries are kept.
    pub retention: Retention,
}

/// For how long a tenant keeps its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// For how many days; forever if `None`.
    pub days: Option<u32>,
    /// A shorter retention that replaces it later.
    pub pending: Option<PendingRetention>,
}

/// A retention that takes effect at a later moment (`docs/audit.md#retention`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingRetention {
    /// For how many days entries are kept from then on.
    pub days: u32,
    /// When it takes effect.
    pub from: Timestamp,
}

impl LogHead {
    /// Returns the head of a log without sequenced entries and without a retention.
    #[must_use]
    pub fn empty(tenant_id: TenantId) -> Self {
        let frontier = Frontier::default();
        let (note, leaves, removed) = (String::new(), 0, 0);
        Self { tenant_id, frontier, note, leaves, removed, retention: Retention::default() }
    }
}

impl Retention {
    /// Returns the retention in days that is in effect at a moment; forever if `None`.
    #[must_use]
    pub fn days_at(&self, now: Timestamp) -> Option<u32> {
        self.effective_at(now).days
    }

    /// Returns the retention at a moment: a pending retention that has taken effect replaces the current one.
    #[must_use]
    pub fn effective_at(self, now: Timestamp) -> Self {
        match self.pending {
            Some(pending) if pending.from <= now => Self { days: Some(pending.days), pending: None },
            _ => self,
        }
    }
}

/// Returns the id by which a [`ChangeFeed`](crate::store::ChangeFeed) names the log of a tenant. It differs from the id
/// of the tenant, which names changes of rights.
#[must_use]
pub fn log_id(tenant: TenantId) -> Uuid {
    // A UUID of version 8 (RFC 9562 §5.8). All other ids have version 7.
    const VERSION: u128 = 0xf << 76;
    Uuid::from_u128(tenant.as_uuid().as_u128() & !VERSION | 8 << 76)
}

/// Entries that continue a tenant's log.
#[derive(Clone, Debug)]
pub struct SequencedBatch {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The size of the log before these entries.
    pub from: u64,
    /// The new leaves, with sequence numbers from `from` on, without gaps.
    pub leaves: Vec<Leaf>,
    /// The subtrees that these leaves complete and that the store must hold.
    pub nodes: Vec<TreeNode>,
    /// The right edge of the tree with the new leaves.
    pub frontier: Frontier,
    /// The note with the signed checkpoint of that tree.
    pub note: String,
}

/// A leaf: the position of an entry in its tenant's sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The sequence number, counted from zero.
    pub sequence: u64,
    /// When the entry was created.
    pub created_at: Timestamp,
    /// The entry.
    pub entry_id: AuditEntryId,
    /// The leaf's hash.
    pub hash: TreeHash,
}

/// A leaf with the entry that it commits to.
#[derive(Clone, Debug, PartialEq)]
pub struct SequencedEntry {
    /// The leaf.
    pub leaf: Leaf,
    /// The entry; `None` if it is missing.
    pub entry: Option<AuditEntry>,
}

/// A pending entry: its row in the queue and the entry itself.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingEntry {
    /// The row in the queue.
    pub pending: Pending,
    /// The entry; `None` if it is missing.
    pub entry: Option<AuditEntry>,
    /// Whether this entry already has a leaf. Then it was not queued by the service, and it prevents the log from
    /// being continued.
    pub is_sequenced: bool,
}

/// The delay before a shorter retention takes effect: long enough for an auditor to see it in the log.
const DELAY: TimeDelta = TimeDelta::days(30);

impl Retention {
    /// Returns the retention after a request for `days`. A shorter retention takes effect later, any other at once.
    /// The request replaces a pending retention, unless it asks for the same number of days.
    #[must_use]
    pub fn requested(self, days: Option<u32>, now: Timestamp) -> Self {
        match (days, self.days) {
            (Some(days), current) if current.is_none_or(|current| days < current) => {
                let same = self.pending.filter(|pending| pending.days == days);
                Self { pending: same.or(Some(PendingRetention { days, from: now + DELAY })), ..self }
            }
            _ => Self { days, pending: None },
        }
    }

    /// Returns the retention with the pending one in effect.
    #[must_use]
    pub fn hastened(self) -> Self {
        Self { days: self.pending.map_or(self.days, |pending| Some(pending.days)), pending: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock as _;
    use crate::clock::testing::FixedClock;

    #[test]
    fn a_shorter_retention_takes_effect_after_30_days_a_longer_one_at_once() {
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        let later = now + TimeDelta::days(1);
        let lasting = |days| Retention { days, pending: None };
        let with = |days, pending, since: Timestamp| Retention {
            days,
            pending: Some(PendingRetention { days: pending, from: since + TimeDelta::days(30) }),
        };
        let rows = [
            (lasting(None), None, lasting(None)),
            (lasting(None), Some(90), with(None, 90, later)),
            (lasting(Some(90)), Some(90), lasting(Some(90))),
            (lasting(Some(90)), Some(91), lasting(Some(91))),
            (lasting(Some(90)), None, lasting(None)),
            (lasting(Some(90)), Some(89), with(Some(90), 89, later)),
            // The same request again does not postpone the pending retention, a different one starts a new delay, and
            // a request for the current retention cancels it.
            (with(Some(90), 60, now), Some(60), with(Some(90), 60, now)),
            (with(Some(90), 60, now), Some(61), with(Some(90), 61, later)),
            (with(Some(90), 60, now), Some(90), lasting(Some(90))),
            (with(Some(90), 60, now), None, lasting(None)),
        ];
        for (before, days, after) in rows {
            assert_eq!(before.requested(days, later), after, "{before:?} {days:?}");
        }
    }

    #[test]
    fn a_pending_retention_takes_effect_at_its_start_time() {
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        let retention = Retention { days: Some(90), pending: Some(PendingRetention { days: 60, from: now }) };
        assert_eq!(retention.days_at(now - TimeDelta::milliseconds(1)), Some(90));
        assert_eq!(retention.days_at(now), Some(60));
        assert_eq!(retention.effective_at(now), Retention { days: Some(60), pending: None });
        assert_eq!(retention.hastened(), Retention { days: Some(60), pending: None });
        let lasting = Retention { days: None, pending: None };
        assert_eq!((lasting.hastened(), lasting.effective_at(now)), (lasting, lasting));
    }
}
