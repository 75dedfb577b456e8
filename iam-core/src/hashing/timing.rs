//! Makes a refusal of a wrong password take the same time for every kind of stored hash.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use iam_model::id::TenantId;

use crate::hashing::function::{Cost, Work};
use crate::hashing::stored::MAX_RELATIVE_COST;

/// How long hashes take on this machine: moving averages over recent hashes.
///
/// The answer to a wrong password waits for as long as the most expensive hash takes that a tenant can import.
/// Otherwise the time of the answer would distinguish accounts with an imported hash from accounts that do not exist.
/// Only trusted code imports hashes that take longer. For these, the answer waits in their own tenant alone, once this
/// process has verified one: what one tenant has makes no login of another tenant slower. The wait occupies neither a
/// thread nor a core.
#[derive(Default)]
pub(super) struct Timing(Mutex<Averages>);

#[derive(Default)]
struct Averages {
    /// How long a hash of this installation takes. `None` before the first one.
    own: Option<Duration>,
    /// The most expensive kind of hash of each tenant, if a tenant cannot import it.
    slowest: HashMap<TenantId, Slowest>,
}

#[derive(Clone, Copy)]
struct Slowest {
    cost: Cost,
    work: Work,
    took: Duration,
}

/// The maximum number of tenants with expensive hashes. In tenants beyond this limit, no answer waits for longer.
const TENANTS: usize = 10_000;

impl Timing {
    /// Records how long a hash of this installation took.
    pub(super) fn note_own(&self, took: Duration) {
        let mut averages = self.lock();
        averages.own = Some(averages.own.map_or(took, |average| moved(average, took)));
    }

    /// Records how long a hash of a tenant took. `own` is the work of a hash of this installation.
    pub(super) fn note(&self, tenant: TenantId, (cost, work): (Cost, Work), own: Work, took: Duration) {
        if work <= own * Work::from(MAX_RELATIVE_COST) {
            return;
        }
        let mut averages = self.lock();
        let is_full = averages.slowest.len() >= TENANTS;
        match averages.slowest.get_mut(&tenant) {
            Some(slowest) if slowest.cost == cost => slowest.took = moved(slowest.took, took),
            Some(slowest) if slowest.work >= work => {}
            Some(slowest) => *slowest = Slowest { cost, work, took },
            None if is_full => {}
            None => drop(averages.slowest.insert(tenant, Slowest { cost, work, took })),
        }
    }

    /// Returns how long a refusal in a tenant still has to wait after a hash that took `took`.
    pub(super) fn left(&self, tenant: TenantId, took: Duration) -> Duration {
        let averages = self.lock();
        let usual = averages.own.unwrap_or_default().saturating_mul(MAX_RELATIVE_COST);
        let slowest = averages.slowest.get(&tenant).map_or(Duration::ZERO, |slowest| slowest.took);
        usual.max(slowest).saturating_sub(took)
    }

    fn lock(&self) -> MutexGuard<'_, Averages> {
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
        timing.note(tenant(1), rounds(201), 100, ms(50));
        assert_eq!((timing.left(tenant(1), ms(10)), timing.left(tenant(2), ms(10))), (ms(790), ms(10)));
        timing.note(tenant(1), rounds(5_000), 100, ms(1_600));
        assert_eq!(timing.left(tenant(1), ms(0)), ms(900));
        timing.note(tenant(1), rounds(9_000), 100, ms(1_500));
        assert_eq!((timing.left(tenant(1), ms(0)), timing.left(TenantId::NONE, ms(0))), (ms(1_500), ms(20)));
    }

    #[test]
    fn the_number_of_known_tenants_is_bounded() {
        let timing = Timing::default();
        for number in 0..TENANTS as u128 {
            timing.note(tenant(number), rounds(1_000), 1, ms(1));
        }
        timing.note(tenant(u128::MAX), rounds(1_000), 1, ms(1));
        assert_eq!((timing.left(tenant(u128::MAX), ms(0)), timing.left(tenant(1), ms(0))), (ms(0), ms(1)));
    }
}
