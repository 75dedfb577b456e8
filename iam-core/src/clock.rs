//! Time as an argument: the [`Clock`] port and the precision of every timestamp.

use std::time::Instant;

use chrono::{DateTime, SecondsFormat, Utc};

/// A moment in UTC, with millisecond precision (`decisions.md` §1).
pub type Timestamp = DateTime<Utc>;

/// Where the service reads the time.
///
/// Rules never ask a clock: they take the moment as an argument, so that an expiry can be tested to the
/// millisecond.
pub trait Clock: Send + Sync + 'static {
    /// The present moment. Callers cut it to milliseconds by [`cut`].
    fn now(&self) -> Timestamp;
}

/// The clock of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the system's clock")]
    fn now(&self) -> Timestamp {
        Utc::now()
    }
}

/// The present moment, to measure how old what was heard from others is.
#[expect(
    clippy::disallowed_methods,
    reason = "a feed tells its time by the same clock, whatever the port's clock says"
)]
pub(crate) fn monotonic_now() -> Instant {
    Instant::now()
}

/// Cuts a moment to milliseconds.
///
/// Stores keep different precisions (PostgreSQL microseconds) and no leap seconds; cutting at creation makes what was
/// created equal to what is read back.
#[must_use]
pub fn cut(moment: Timestamp) -> Timestamp {
    DateTime::from_timestamp_millis(moment.timestamp_millis()).unwrap_or(moment)
}

/// A moment as JSON shows it: RFC 3339, UTC with a `Z`, to the millisecond.
pub(crate) fn shown(moment: Timestamp) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A clock for tests that moves only when told.
#[cfg(any(test, feature = "conformance"))]
pub mod testing {
    use std::sync::{Arc, Mutex};

    use chrono::TimeDelta;

    use super::{Clock, Timestamp, cut};

    /// Stands still until [`advance`](Self::advance)d; clones share the time.
    #[derive(Clone, Debug)]
    pub struct FixedClock(Arc<Mutex<Timestamp>>);

    impl FixedClock {
        /// A clock that shows `moment`, an RFC 3339 text.
        ///
        /// # Panics
        ///
        /// When the text is not RFC 3339.
        #[must_use]
        #[expect(clippy::expect_used, reason = "a test's own literal")]
        pub fn at(moment: &str) -> Self {
            Self::from(moment.parse::<Timestamp>().expect("an RFC 3339 timestamp"))
        }

        /// Moves the time forward, or back when `by` is negative.
        pub fn advance(&self, by: TimeDelta) {
            let mut moment = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *moment += by;
        }
    }

    impl From<Timestamp> for FixedClock {
        fn from(moment: Timestamp) -> Self {
            Self(Arc::new(Mutex::new(cut(moment))))
        }
    }

    impl Clock for FixedClock {
        fn now(&self) -> Timestamp {
            *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_cut_to_milliseconds_and_leap_seconds_are_the_next_one() {
        for (text, expected) in [
            ("2026-01-31T09:15:00.123999Z", "2026-01-31T09:15:00.123Z"),
            ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999Z"),
            ("2030-06-30T23:59:60Z", "2030-07-01T00:00:00.000Z"),
        ] {
            assert_eq!(shown(cut(text.parse().unwrap())), expected);
        }
    }
}
