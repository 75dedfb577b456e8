//! Credentials: passwords, and the lockout that limits guesses.
//! The lockout rule (`docs/http-api.md#locks`): five failures within fifteen minutes lock for fifteen minutes.

use std::cmp::Reverse;
use std::time::Duration;

use chrono::TimeDelta;

use crate::clock::Timestamp;
use crate::secret::PasswordHash;
use crate::tenant::Tenant;
use crate::user::{User, UserStatus};

/// A user with its password hash, as a login needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// The user.
    pub user: User,
    /// The hash of the user's password.
    pub password: PasswordHash,
}

/// The account with an e-mail in a tenant, and the failed logins with that e-mail.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GuardedAccount {
    /// The account with this e-mail, or that of the given user. `None` where no user of the tenant has it.
    pub account: Option<Account>,
    /// The failed logins with this e-mail. They are counted also where no user has it.
    pub attempts: LoginAttempts,
    /// Whether logins with this e-mail that named no tenant have failed. These are also counted under
    /// [`TenantId::NONE`](crate::id::TenantId::NONE).
    pub has_unnamed_failures: bool,
}

/// The accounts that a login without a tenant may mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoginCandidates {
    /// The failed logins with this e-mail that named no tenant.
    pub attempts: LoginAttempts,
    /// The accounts with this e-mail.
    pub accounts: Vec<LoginCandidate>,
}

/// An account that a login without a tenant may mean.
#[derive(Clone, Debug, PartialEq)]
pub struct LoginCandidate {
    /// The tenant of the account.
    pub tenant: Tenant,
    /// The account.
    pub account: Account,
    /// The failed logins with its e-mail in the tenant.
    pub attempts: LoginAttempts,
}

impl From<LoginCandidate> for GuardedAccount {
    fn from(candidate: LoginCandidate) -> Self {
        Self { account: Some(candidate.account), attempts: candidate.attempts, has_unnamed_failures: false }
    }
}

impl LoginCandidate {
    /// Returns the sort key of candidates (`docs/http-api.md#login`), for stores that sort in memory.
    ///
    /// Accounts that are not INACTIVE come first. Among equals, accounts with a verified e-mail come first, then
    /// accounts with a later last login, then older accounts.
    #[must_use]
    pub fn order(&self) -> impl Ord + use<> {
        let user = &self.account.user;
        let is_inactive = user.status == UserStatus::Inactive;
        let is_unverified = user.email_verified_at.is_none();
        (is_inactive, is_unverified, Reverse(user.last_login_at), user.created_at, self.tenant.id)
    }
}

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
        if self.failed_at.last().is_some_and(|at| is_of_wrong_clock(*at, now)) {
            return None;
        }
        let left = (self.locked_until? - now).to_std().ok().filter(|left| !left.is_zero())?;
        Some(Duration::from_secs(left.as_millis().div_ceil(1000).try_into().ok()?))
    }

    /// Returns the number of recorded failures.
    #[must_use]
    pub fn count(&self) -> usize {
        self.failed_at.len()
    }

    /// Returns the attempts after one more failure.
    pub fn after_failure(&self, now: Timestamp, lockout: Lockout) -> Self {
        // When a lock has ended, the failures that led to it do not count.
        let over = self.locked_until.is_some();
        let counting = |at: &&Timestamp| !over && now - **at < lockout.window && !is_of_wrong_clock(**at, now);
        let mut failed_at: Vec<Timestamp> = self.failed_at.iter().filter(counting).copied().collect();
        failed_at.push(now);
        let locked_until = (failed_at.len() >= lockout.failures).then(|| now + lockout.duration);
        Self { failed_at, locked_until }
    }
}

/// Whether a failure was recorded while a clock was wrong: it lies further in the future than the clocks of replicas
/// differ. Otherwise such a lock would last until that time.
fn is_of_wrong_clock(failed_at: Timestamp, now: Timestamp) -> bool {
    failed_at - now > TimeDelta::minutes(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn moment(seconds: i64) -> Timestamp {
        "2026-01-31T09:00:00Z".parse::<Timestamp>().unwrap() + TimeDelta::seconds(seconds)
    }

    fn failing_at(seconds: impl IntoIterator<Item = i64>) -> LoginAttempts {
        let fail = |attempts: LoginAttempts, at| attempts.after_failure(moment(at), Lockout::default());
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
    fn a_failure_of_a_wrong_clock_neither_locks_nor_counts() {
        let day = 86_400;
        let locked = failing_at(day..day + 5);
        assert_eq!(locked.locked_for(moment(0)), None);
        assert_eq!(locked.locked_for(moment(day - 50)).map(|left| left.as_secs()), Some(954));
        assert_eq!(failing_at(day..day + 4).after_failure(moment(0), Lockout::default()).count(), 1);
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
                    attempts = attempts.after_failure(moment(now), Lockout::default());
                    counted.push(now);
                }
                let recent = counted.iter().filter(|at| now - **at < 900).count();
                prop_assert!(recent <= 5);
            }
        }
    }
}
