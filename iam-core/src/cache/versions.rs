use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

use uuid::Uuid;

/// The number of slots. The last bits of an identifier, which are random, determine its slot. Identifiers that share a
/// slot cause an unnecessary query now and then.
const SLOTS: usize = 1 << 14;

/// A read version: a value of the counter of [`Versions`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReadVersion(u64);

/// The version at which each identifier was changed last, as far as this process knows.
///
/// A reader takes a read version before it queries the store. A change gets its version after it is committed. A read
/// that did not see the change began before the commit ended, so its read version is older than the version of the
/// change. From then on its entry is stale, whether it was cached before or is cached later. This needs no lock and no
/// list of dependencies.
pub(super) struct Versions {
    counter: AtomicU64,
    slots: Box<[AtomicU64]>,
}

impl Default for Versions {
    fn default() -> Self {
        Self { counter: AtomicU64::new(0), slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Versions {
    /// Returns the present read version. A later read sees every change that has a version by now.
    pub(super) fn read_version(&self) -> ReadVersion {
        ReadVersion(self.counter.load(SeqCst))
    }

    /// Advances the counter. Returns a version that is later than all earlier read versions.
    pub(super) fn advance(&self) -> ReadVersion {
        ReadVersion(self.counter.fetch_add(1, SeqCst) + 1)
    }

    /// Gives a new version to each changed identifier.
    pub(super) fn invalidate(&self, changed: &[Uuid]) {
        changed.iter().for_each(|id| self.set_version(*id, self.advance()));
    }

    fn set_version(&self, id: Uuid, at: ReadVersion) {
        if let Some(slot) = self.slot(id) {
            // Another thread may already have set a later version.
            slot.fetch_max(at.0, SeqCst);
        }
    }

    /// Whether none of the identifiers has changed after the read version.
    pub(super) fn are_unchanged_since(&self, read_version: ReadVersion, ids: &[Uuid]) -> bool {
        ids.iter().all(|id| self.slot(*id).is_some_and(|slot| slot.load(SeqCst) <= read_version.0))
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
    fn a_change_invalidates_earlier_reads_of_its_id_only() {
        let versions = Versions::default();
        let before = versions.read_version();
        assert!(versions.are_unchanged_since(before, &[id(1), id(2)]));
        versions.invalidate(&[id(1)]);
        assert!(
            !versions.are_unchanged_since(before, &[id(1)]) && !versions.are_unchanged_since(before, &[id(2), id(1)])
        );
        assert!(
            versions.are_unchanged_since(before, &[id(2)])
                && versions.are_unchanged_since(versions.read_version(), &[id(1), id(2)])
        );
    }

    #[test]
    fn a_change_also_invalidates_ids_in_the_same_slot() {
        let versions = Versions::default();
        let before = versions.read_version();
        versions.invalidate(&[id(1 + SLOTS)]);
        assert!(!versions.are_unchanged_since(before, &[id(1)]));
    }

    #[test]
    fn the_later_of_two_concurrent_versions_wins() {
        let versions = Versions::default();
        let (earlier, later) = (versions.advance(), versions.advance());
        versions.set_version(id(1), later);
        versions.set_version(id(1), earlier);
        assert!(!versions.are_unchanged_since(earlier, &[id(1)]) && versions.are_unchanged_since(later, &[id(1)]));
    }
}
