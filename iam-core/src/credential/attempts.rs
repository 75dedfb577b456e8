//! The lockout rule (`interface.md` §5.4): five failures within fifteen minutes lock for fifteen minutes.

use std::time::Duration;

use chrono::TimeDelta;

use crate::clock::Timestamp;

/// The lockout settings: how many failures lock an account, within what time, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lockout {
    /// This many failures lock the account.
    pub failures: usize,
    /// Older failures do not count.
    pub window: TimeDelta,
    /// How long the lock lasts.
    pub duration: TimeDelta,
}

impl Default for Lockout {
    fn default() -> Self {
        Self { failures: 5, window: TimeDelta::minutes(15), duration: TimeDelta::minutes(15) }
    }
}

/// The failed logins of one e-mail in one tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginAttempts {
    /// The times of the failures, oldest first.
    pub failed_at: Vec<Timestamp>,
    /// Until this time, even the right password is refused.
    pub locked_until: Option<Timestamp>,
}

impl LoginAttempts {
    /// Returns how long the account stays locked, in whole seconds rounded up. `None` when it is not locked.
    #[must_use]
    pub fn locked_for(&self, now: Timestamp) -> Option<Duration> {
        let left = (self.locked_until? - now).to_std().ok().filter(|left| !left.is_zero())?;
        Some(Duration::from_secs(left.as_millis().div_ceil(1000).try_into().ok()?))
    }

    /// Returns the number of recorded failures.
    #[must_use]
    pub fn count(&self) -> usize {
        self.failed_at.len()
    }

    /// Returns the attempts after one more failure.
    pub(crate) fn failing(&self, now: Timestamp, lockout: Lockout) -> Self {
        // When a lock has ended, the failures that led to it do not count.
        let over = self.locked_until.is_some();
        let counting = |at: &&Timestamp| !over && now - **at < lockout.window;
        let mut failed_at: Vec<Timestamp> = self.failed_at.iter().filter(counting).copied().collect();
        failed_at.push(now);
        let locked_until = (failed_at.len() >= lockout.failures).then(|| now + lockout.duration);
        Self { failed_at, locked_until }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn moment(seconds: i64) -> Timestamp {
        "2026-01-31T09:00:00Z".parse::<Timestamp>().unwrap() + TimeDelta::seconds(seconds)
    }

    fn failing_at(seconds: impl IntoIterator<Item = i64>) -> LoginAttempts {
        let fail = |attempts: LoginAttempts, at| attempts.failing(moment(at), Lockout::default());
        seconds.into_iter().fold(LoginAttempts::default(), fail)
    }

    #[test]
    fn the_fifth_failure_locks_for_exactly_fifteen_minutes() {
        assert_eq!(failing_at(0..4).locked_for(moment(4)), None);
        let locked = failing_at(0..5);
        assert_eq!(locked.locked_for(moment(4)), Some(Duration::from_secs(900)));
        assert_eq!(locked.locked_for(moment(903) + TimeDelta::milliseconds(999)), Some(Duration::from_secs(1)));
        assert_eq!(locked.locked_for(moment(904)), None);
    }

    #[test]
    fn the_window_slides() {
        assert_eq!(failing_at([0, 1, 2, 3, 900]).count(), 4);
        assert_eq!(failing_at([0, 1, 2, 3, 899]).count(), 5);
    }

    #[test]
    fn counting_restarts_after_a_lock() {
        let after = failing_at([0, 0, 0, 0, 890, 1790]);
        assert_eq!((after.count(), after.locked_for(moment(1790))), (1, None));
    }

    proptest! {
        #[test]
        fn at_most_five_failures_count_in_any_fifteen_minutes(mut gaps in proptest::collection::vec(0i64..600, 1..60)) {
            let mut now = 0;
            let mut attempts = LoginAttempts::default();
            let mut counted: Vec<i64> = Vec::new();
            for gap in gaps.drain(..) {
                now += gap;
                if attempts.locked_for(moment(now)).is_none() {
                    attempts = attempts.failing(moment(now), Lockout::default());
                    counted.push(now);
                }
                let recent = counted.iter().filter(|at| now - **at < 900).count();
                prop_assert!(recent <= 5);
            }
        }
    }
}
