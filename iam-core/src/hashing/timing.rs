//! Makes a refusal of a wrong password take the same time for every kind of stored hash.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::hashing::stored::Cost;

/// How long hashes of each cost take on this machine: a moving average over recent hashes.
///
/// The answer to a wrong password waits for as long as the slowest kind of hash takes. Otherwise the time of the
/// answer would distinguish accounts with an imported or older hash from accounts that do not exist. The wait occupies
/// neither a thread nor a core. A kind of hash is known after this process has verified one for the first time.
#[derive(Default)]
pub(super) struct Timing(Mutex<HashMap<Cost, Duration>>);

/// The maximum number of known kinds. Installations have fewer; answers do not wait for kinds beyond this limit.
const KINDS: usize = 64;

impl Timing {
    /// Records how long a hash took.
    pub(super) fn note(&self, cost: Cost, took: Duration) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(average) = known.get_mut(&cost) {
            *average = (average.saturating_mul(7).saturating_add(took)) / 8;
        } else if known.len() < KINDS {
            known.insert(cost, took);
        }
    }

    /// Returns how long an answer still has to wait after a hash that took `took`.
    pub(super) fn left(&self, took: Duration) -> Duration {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().max().map_or(Duration::ZERO, |longest| longest.saturating_sub(took))
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn rounds(rounds: u32) -> Cost {
        Cost::Pbkdf2 { rounds: NonZero::new(rounds).unwrap(), length: 32 }
    }

    #[test]
    fn every_answer_waits_for_the_slowest_known_kind_of_hash() {
        let timing = Timing::default();
        assert_eq!(timing.left(ms(3)), Duration::ZERO);
        timing.note(rounds(1), ms(10));
        assert_eq!((timing.left(ms(3)), timing.left(ms(10)), timing.left(ms(12))), (ms(7), ms(0), ms(0)));
        timing.note(rounds(2), ms(80));
        assert_eq!((timing.left(ms(10)), timing.left(ms(80))), (ms(70), ms(0)));
        timing.note(rounds(2), ms(160));
        assert_eq!(timing.left(ms(10)), ms(80));
        timing.note(rounds(1), ms(0));
        assert_eq!(timing.left(ms(10)), ms(80));
    }

    #[test]
    fn the_number_of_known_kinds_is_bounded() {
        let timing = Timing::default();
        for kind in 1..=KINDS {
            timing.note(rounds(kind.try_into().unwrap()), ms(1));
        }
        timing.note(rounds(u32::MAX), ms(1000));
        assert_eq!(timing.left(ms(0)), ms(1));
        timing.note(rounds(1), ms(17));
        assert_eq!(timing.left(ms(0)), ms(3));
    }
}
