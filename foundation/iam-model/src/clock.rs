//! Time as an argument: the [`Clock`] port and the precision of every timestamp.

use std::time::Instant;

use chrono::{DateTime, Datelike as _, Days, SecondsFormat, Utc};

/// A moment in UTC, with millisecond precision (`docs/http-api.md#paths`).
pub type Timestamp = DateTime<Utc>;

/// A day in UTC.
pub type Day = chrono::NaiveDate;

/// Returns the first day of the week of a day: a Monday, as in ISO 8601.
#[must_use]
pub fn week_of(day: Day) -> Day {
    let before = Days::new(day.weekday().num_days_from_monday().into());
    day.checked_sub_days(before).unwrap_or(day)
}

/// The source of the time.
///
/// Rules never read a clock. They take the moment as an argument, so that an expiry can be tested to the millisecond.
pub trait Clock: Send + Sync + 'static {
    /// Returns the present moment. The services cut it to milliseconds with [`cut`].
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

/// Returns the present moment of the monotonic clock, to measure the age of cached data and of notifications.
#[expect(clippy::disallowed_methods, reason = "change feeds use this clock, independently of the `Clock` port")]
pub fn monotonic_now() -> Instant {
    Instant::now()
}

/// Cuts a moment to milliseconds.
///
/// Stores have different precisions (PostgreSQL: microseconds) and no leap seconds. Because moments are cut when they
/// are created, a value that is read back equals the value that was created.
#[must_use]
pub fn cut(moment: Timestamp) -> Timestamp {
    DateTime::from_timestamp_millis(moment.timestamp_millis()).unwrap_or(moment)
}

/// Returns the JSON form of a moment: RFC 3339, UTC with a `Z`, to the millisecond.
pub fn shown(moment: Timestamp) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A clock for tests that moves only on request.
pub mod testing {
    use std::sync::{Arc, Mutex};

    use chrono::TimeDelta;

    use crate::clock::{Clock, Timestamp, cut};

    /// A clock that stands still until [`advance`](Self::advance) is called. Clones share the time.
    #[derive(Clone, Debug)]
    pub struct FixedClock(Arc<Mutex<Timestamp>>);

    impl FixedClock {
        /// Returns a clock that shows `moment`, an RFC 3339 text.
        ///
        /// # Panics
        ///
        /// When the text is not RFC 3339.
        #[must_use]
        #[expect(clippy::expect_used, reason = "the text is a literal in a test")]
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
    fn moments_are_cut_to_milliseconds_and_leap_seconds_roll_over() {
        for (text, expected) in [
            ("2026-01-31T09:15:00.123999Z", "2026-01-31T09:15:00.123Z"),
            ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999Z"),
            ("2030-06-30T23:59:60Z", "2030-07-01T00:00:00.000Z"),
        ] {
            assert_eq!(shown(cut(text.parse().unwrap())), expected);
        }
    }

    #[test]
    fn a_week_begins_on_monday_also_in_the_year_before() {
        let day = |text: &str| text.parse::<Day>().unwrap();
        for (text, expected) in
            [("2025-12-29", "2025-12-29"), ("2026-01-01", "2025-12-29"), ("2026-01-04", "2025-12-29")]
        {
            assert_eq!(week_of(day(text)), day(expected), "{text}");
        }
        assert_eq!(week_of(Day::MIN), Day::MIN);
    }
}
