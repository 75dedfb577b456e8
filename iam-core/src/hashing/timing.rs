//! Makes a refusal of a wrong password take the same time for every kind of stored hash.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use iam_model::id::TenantId;

use crate::hashing::function::{Cost, Work};
use crate::hashing::stored::MAX_RELATIVE_COST;

/// How long hashes take on this machine.
///
/// The answer to a wrong password waits for as long as the most expensive hash takes that a tenant can import.
/// Otherwise the time of the answer would distinguish accounts with an imported hash from accounts that do not exist.
/// Only trusted code imports hashes that take longer. For these, the answer waits in their own tenant alone, once this
/// process has verified one: what one tenant has makes no login of another tenant slower. The wait occupies neither a
/// thread nor a core.
///
/// Each expensive kind of hash of a tenant has measured times of its own, and the greatest of these counts. The
/// conversion of [`Work`] cannot decide which kind takes longest: on a processor with instructions for SHA-256, a hash of
/// PBKDF2 takes a fraction of the time of a hash of bcrypt with less work.
#[derive(Default)]
pub(super) struct Timing(Mutex<Times>);

#[derive(Default)]
struct Times {
    /// How long a hash of this installation takes, as a moving average. `None` before the first one.
    own: Option<Duration>,
    /// The kinds of hashes of each tenant that a tenant cannot import.
    expensive: HashMap<TenantId, Vec<Kind>>,
}

/// An expensive kind of hash of a tenant.
struct Kind {
    cost: Cost,
    /// How long the latest hashes took.
    latest: VecDeque<Duration>,
}

impl Kind {
    /// Returns how long a hash takes: the least time of the latest, which load has delayed least. So a hash that was
    /// delayed counts only until another one is made. The times of hashes differ a little also without load, so a
    /// quarter is added: then the hash itself does not take longer than the wait.
    fn time(&self) -> Duration {
        let least = self.latest.iter().min().copied().unwrap_or_default();
        least.saturating_add(least / 4)
    }

    fn note(&mut self, took: Duration) {
        if self.latest.len() >= LATEST {
            self.latest.pop_front();
        }
        self.latest.push_back(took);
    }
}

/// The number of times that are kept of a kind. Older ones may be of a machine that was faster.
const LATEST: usize = 5;

/// The maximum number of kinds of one tenant. Of more than these, the slowest ones are kept.
const KINDS: usize = 8;

/// The maximum number of tenants with expensive hashes. In tenants beyond this limit, no answer waits for longer.
const TENANTS: usize = 10_000;

impl Timing {
    /// Records how long a hash of this installation took.
    pub(super) fn note_own(&self, took: Duration) {
        let mut times = self.lock();
        times.own = Some(times.own.map_or(took, |average| moved(average, took)));
    }

    /// Records how long a hash of a tenant took. `own` is the work of a hash of this installation.
    pub(super) fn note(&self, tenant: TenantId, (cost, work): (Cost, Work), own: Work, took: Duration) {
        if work <= own * Work::from(MAX_RELATIVE_COST) {
            return;
        }
        let mut times = self.lock();
        if times.expensive.len() >= TENANTS && !times.expensive.contains_key(&tenant) {
            return;
        }
        let kinds = times.expensive.entry(tenant).or_default();
        if let Some(kind) = kinds.iter_mut().find(|kind| kind.cost == cost) {
            kind.note(took);
            return;
        }
        kinds.push(Kind { cost, latest: VecDeque::from([took]) });
        if kinds.len() > KINDS {
            kinds.sort_unstable_by_key(|kind| Reverse(kind.time()));
            kinds.truncate(KINDS);
        }
    }

    /// Returns how long a refusal in a tenant still has to wait after a hash that took `took`.
    pub(super) fn left(&self, tenant: TenantId, took: Duration) -> Duration {
        let times = self.lock();
        let usual = times.own.unwrap_or_default().saturating_mul(MAX_RELATIVE_COST);
        let slowest = times.expensive.get(&tenant).and_then(|kinds| kinds.iter().map(Kind::time).max());
        usual.max(slowest.unwrap_or_default()).saturating_sub(took)
    }

    fn lock(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn moved(average: Duration, took: Duration) -> Duration {
    (average.saturating_mul(7).saturating_add(took)) / 8
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use uuid::Uuid;

    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn rounds(rounds: u32) -> (Cost, Work) {
        (Cost::Pbkdf2 { rounds: NonZero::new(rounds).unwrap(), length: 32 }, rounds.into())
    }

    fn tenant(number: u128) -> TenantId {
        Uuid::from_u128(number).into()
    }

    #[test]
    fn a_refusal_waits_for_the_most_expensive_hash_that_a_tenant_can_import() {
        let timing = Timing::default();
        assert_eq!(timing.left(tenant(1), ms(3)), Duration::ZERO);
        timing.note_own(ms(10));
        assert_eq!([3, 10, 20, 25].map(|took| timing.left(tenant(1), ms(took))), [ms(17), ms(10), ms(0), ms(0)]);
        timing.note_own(ms(90));
        assert_eq!(timing.left(tenant(1), ms(0)), ms(40));
        // What a tenant can import takes no longer than that, by its cost; a hash that was delayed changes nothing.
        timing.note(tenant(1), rounds(200), 100, ms(1_000));
        assert_eq!(timing.left(tenant(1), ms(0)), ms(40));
    }

    #[test]
    fn expensive_hashes_of_one_tenant_make_no_login_of_another_tenant_slower() {
        let timing = Timing::default();
        timing.note_own(ms(10));
        timing.note(tenant(1), rounds(5_000), 100, ms(800));
        timing.note(tenant(1), rounds(201), 100, ms(80));
        assert_eq!((timing.left(tenant(1), ms(10)), timing.left(tenant(2), ms(10))), (ms(990), ms(10)));
        assert_eq!((timing.left(tenant(1), ms(1_000)), timing.left(TenantId::NONE, ms(0))), (ms(0), ms(20)));
    }

    #[test]
    fn the_kind_that_takes_longest_counts_and_not_the_one_with_most_work() {
        let timing = Timing::default();
        for _ in 0..10 {
            timing.note(tenant(1), rounds(4_000_000), 100, ms(340));
            timing.note(tenant(1), rounds(1_640_000), 100, ms(760));
        }
        assert_eq!(timing.left(tenant(1), ms(0)), ms(950));
    }

    #[test]
    fn a_hash_that_load_delayed_counts_until_another_one_is_made() {
        let timing = Timing::default();
        let note = |took| timing.note(tenant(1), rounds(5_000), 100, ms(took));
        let left = || timing.left(tenant(1), ms(0));
        note(16_000);
        assert_eq!(left(), ms(20_000));
        note(800);
        note(16_000);
        assert_eq!(left(), ms(1_000));
        // A machine that has become slower is noticed.
        (0..LATEST).for_each(|_| note(1_600));
        assert_eq!(left(), ms(2_000));
    }

    #[test]
    fn the_number_of_kinds_of_a_tenant_is_bounded_and_the_slowest_are_kept() {
        let timing = Timing::default();
        for number in (1..=100).rev() {
            timing.note(tenant(1), rounds(1_000 + number), 1, ms(u64::from(number) * 4));
        }
        assert_eq!(timing.left(tenant(1), ms(0)), ms(500));
        assert_eq!(timing.lock().expensive.values().map(Vec::len).sum::<usize>(), KINDS);
    }

    #[test]
    fn the_number_of_known_tenants_is_bounded() {
        let timing = Timing::default();
        for number in 0..TENANTS as u128 {
            timing.note(tenant(number), rounds(1_000), 1, ms(4));
        }
        timing.note(tenant(u128::MAX), rounds(1_000), 1, ms(4));
        assert_eq!((timing.left(tenant(u128::MAX), ms(0)), timing.left(tenant(1), ms(0))), (ms(0), ms(5)));
    }
}
