use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use uuid::Uuid;

/// Identifiers share slots by their last bits, which are random. Two that share one cost a query now and then.
const SLOTS: usize = 1 << 14;

/// A moment in the count of a [`Stamps`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// The moment at which each identifier was changed last, as far as this process knows.
///
/// Whoever asks the store takes a ticket first, and a change is stamped once it is committed. A read that did not see
/// the change began before the commit was done, so its ticket is older than the stamp; it counts no more from then on,
/// whether it was kept before or will be later. No lock is needed for that, and no list of who depends on what.
pub(super) struct Stamps {
    count: AtomicU64,
    slots: Box<[AtomicU64]>,
}

impl Default for Stamps {
    fn default() -> Self {
        Self { count: AtomicU64::new(0), slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Stamps {
    /// The present moment. What is read afterwards has seen whatever was stamped by then.
    pub(super) fn ticket(&self) -> Ticket {
        Ticket(self.count.load(SeqCst))
    }

    /// A moment that is later than every ticket there is.
    pub(super) fn advance(&self) -> Ticket {
        Ticket(self.count.fetch_add(1, SeqCst) + 1)
    }

    /// Stamps what has changed.
    pub(super) fn touch(&self, changed: &[Uuid]) {
        changed.iter().for_each(|id| self.stamp(*id, self.advance()));
    }

    fn stamp(&self, id: Uuid, at: Ticket) {
        if let Some(slot) = self.slot(id) {
            // Somebody else may have drawn a later number and be here already.
            slot.fetch_max(at.0, SeqCst);
        }
    }

    /// Whether nothing of this was stamped after a ticket was taken.
    pub(super) fn are_before(&self, ticket: Ticket, ids: &[Uuid]) -> bool {
        ids.iter().all(|id| self.slot(*id).is_some_and(|slot| slot.load(SeqCst) <= ticket.0))
    }

    fn slot(&self, id: Uuid) -> Option<&AtomicU64> {
        self.slots.get(id.as_u128() as usize % SLOTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> Uuid {
        Uuid::from_u128(number as u128)
    }

    #[test]
    fn a_stamp_ends_what_was_read_before_and_nothing_that_is_read_after_or_elsewhere() {
        let stamps = Stamps::default();
        let before = stamps.ticket();
        assert!(stamps.are_before(before, &[id(1), id(2)]));
        stamps.touch(&[id(1)]);
        assert!(!stamps.are_before(before, &[id(1)]) && !stamps.are_before(before, &[id(2), id(1)]));
        assert!(stamps.are_before(before, &[id(2)]) && stamps.are_before(stamps.ticket(), &[id(1), id(2)]));
    }

    #[test]
    fn what_shares_a_slot_ends_too() {
        let stamps = Stamps::default();
        let before = stamps.ticket();
        stamps.touch(&[id(1 + SLOTS)]);
        assert!(!stamps.are_before(before, &[id(1)]));
    }

    #[test]
    fn of_two_changes_at_once_the_later_stamp_stays_whichever_comes_first() {
        let stamps = Stamps::default();
        let (earlier, later) = (stamps.advance(), stamps.advance());
        stamps.stamp(id(1), later);
        stamps.stamp(id(1), earlier);
        assert!(!stamps.are_before(earlier, &[id(1)]) && stamps.are_before(later, &[id(1)]));
    }
}
