//! When and how often a request is sent again.

use std::time::Duration;

use uuid::Uuid;

use crate::error::Error;

/// The first pause without a `Retry-After`. Each further one may be twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The bounds of the repetitions of one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// How often a request is sent at most.
    pub(crate) attempts: u32,
    /// How long all pauses may take together.
    pub(crate) max_wait: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { attempts: 4, max_wait: Duration::from_secs(30) }
    }
}

/// The repetitions of one call.
#[derive(Debug)]
pub(crate) struct Attempts {
    bounds: Bounds,
    made: u32,
    waited: Duration,
}

impl Attempts {
    pub(crate) const fn new(bounds: Bounds) -> Self {
        Self { bounds, made: 0, waited: Duration::ZERO }
    }

    /// Returns how long to wait before the next attempt, after one that failed. `None` ends the call.
    ///
    /// A request that is not `repeatable` could have its effect twice, so it is sent again only if it certainly had none.
    pub(crate) fn pause(&mut self, repeatable: bool, error: &Error) -> Option<Duration> {
        self.made += 1;
        let again = if repeatable { error.is_temporary() } else { error.is_without_effect() };
        if !again || self.made >= self.bounds.attempts {
            return None;
        }
        let pause = pause(self.made, error);
        self.waited = self.waited.saturating_add(pause);
        (self.waited <= self.bounds.max_wait).then_some(pause)
    }
}

/// The pause after a number of failures in a row. It is random, so that clients that failed together do not come back
/// together, and never shorter than `Retry-After`.
pub(crate) fn pause(failures: u32, error: &Error) -> Duration {
    let longest = FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(LONGEST_PAUSE);
    match error.retry_after() {
        Some(wait) => wait.saturating_add(longest.min(wait).mul_f64(random() / 2.0)),
        None => longest.mul_f64(0.5 + random() / 2.0),
    }
}

/// A number between 0 and 1.
fn random() -> f64 {
    let [byte, other, ..] = Uuid::new_v4().into_bytes();
    f64::from(u16::from_be_bytes([byte, other])) / f64::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(status: u16, retry_after: Option<u64>) -> Error {
        Error::Answer { status, reason: String::new(), retry_after: retry_after.map(Duration::from_secs) }
    }

    #[test]
    fn pauses_are_bounded_and_never_shorter_than_asked() {
        for failures in 0..40 {
            assert!(pause(failures, &failure(503, None)) <= LONGEST_PAUSE);
            let asked = pause(failures, &failure(503, Some(7)));
            assert!(asked >= Duration::from_secs(7) && asked <= Duration::from_millis(10_500), "{asked:?}");
        }
        assert!(pause(1, &failure(429, Some(u64::MAX))) >= Duration::from_secs(u64::MAX));
    }

    #[test]
    fn attempts_end_by_number_and_by_time() {
        let mut attempts = Attempts::new(Bounds { attempts: 3, max_wait: Duration::from_secs(30) });
        assert!(attempts.pause(true, &failure(503, None)).is_some());
        assert!(attempts.pause(true, &failure(503, None)).is_some());
        assert!(attempts.pause(true, &failure(503, None)).is_none());

        let mut attempts = Attempts::new(Bounds::default());
        assert!(attempts.pause(true, &failure(429, Some(3600))).is_none(), "a server cannot hold a caller for an hour");
    }

    #[test]
    fn a_request_that_could_have_its_effect_twice_is_not_sent_again() {
        let attempts = || Attempts::new(Bounds::default());
        assert!(attempts().pause(false, &failure(503, Some(0))).is_none());
        assert!(attempts().pause(false, &failure(429, Some(0))).is_some());
        assert!(attempts().pause(true, &failure(400, None)).is_none());
    }
}
