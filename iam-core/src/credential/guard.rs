//! The one way in which a password proves anything: verified first, judged under the lock of its e-mail's failures.
//!
//! Verifying takes long and holds no lock. What it found counts only once the lock is held: of guesses that race,
//! those that come after the fifth failure are refused even when they are right.

use std::time::Duration;

use super::hasher::Verified;
use super::{Account, CredentialChange, GuardedAccount, Lockout, LoginAttempts, LoginFailure};
use crate::caller::Caller;
use crate::error::{Error, Result};
use crate::iam::Inner;
use crate::id::TenantId;
use crate::secret::{Password, PasswordHash};
use crate::user::UserStatus;
use crate::validate::Email;
use crate::work::UnitOfWork;

/// A password that was tried for an e-mail in a tenant, and what verifying it found.
pub(crate) struct Attempt<'a> {
    pub(crate) tenant: TenantId,
    email: &'a Email,
    account: Option<Account>,
    finding: Finding,
}

enum Finding {
    /// The account was locked, so the password was not looked at.
    Locked,
    Wrong,
    Right {
        /// The same password at today's cost, where the stored hash is weaker.
        rehashed: Option<PasswordHash>,
    },
}

/// What an attempt amounts to.
#[derive(Debug)]
pub(crate) enum Outcome {
    Proven(Account),
    Wrong,
    Suspended,
    Locked(Duration),
}

impl<'a> Attempt<'a> {
    /// Tries a password; without an account the same work is done for nothing.
    pub(crate) async fn make(
        iam: &Inner,
        tenant: TenantId,
        email: &'a Email,
        GuardedAccount { account, attempts }: GuardedAccount,
        password: &Password,
    ) -> Result<Self> {
        let finding = if attempts.locked_for(iam.now()).is_some() {
            Finding::Locked
        } else {
            let hash = account.as_ref().map(|account| &account.password);
            match iam.passwords.verify(password, hash).await? {
                Verified::No => Finding::Wrong,
                Verified::Yes => Finding::Right { rehashed: None },
                Verified::YesButWeak => match iam.passwords.hash_any(password).await {
                    // The next login makes up for it.
                    Err(Error::Overloaded { .. }) => Finding::Right { rehashed: None },
                    hash => Finding::Right { rehashed: Some(hash?) },
                },
            }
        };
        Ok(Self { tenant, email, account, finding })
    }

    /// Whether the account was locked already, so that the attempt says nothing about the password.
    pub(crate) fn was_locked(&self) -> bool {
        matches!(self.finding, Finding::Locked)
    }

    /// Whether the password is that of a user who is not deleted.
    pub(crate) fn is_right(&self) -> bool {
        let exists = |account: &Account| account.user.status != UserStatus::Inactive;
        matches!(self.finding, Finding::Right { .. }) && self.account.as_ref().is_some_and(exists)
    }

    /// Judges the attempt under the lock and counts or clears failures, in a unit of work that is to be committed whatever the
    /// outcome. The password is the one that was tried.
    pub(crate) async fn settle<'w>(
        mut self,
        iam: &'w Inner,
        caller: &'w Caller,
        password: &Password,
    ) -> Result<(Outcome, UnitOfWork<'w>)> {
        let key = self.email.key();
        loop {
            let mut work = iam.begin(caller).await?;
            let user = self.account.as_ref().map(|account| account.user.id);
            let guarded = work.locks().lock_guarded_account(&key, user).await?;
            if !self.is_outdated(guarded.account.as_ref()) {
                return Ok((self.settle_under_lock(&mut work, guarded, iam.settings.lockout).await?, work));
            }
            drop(work);
            let guarded = iam.store.guarded_account(self.tenant, &key).await?;
            self = Self::make(iam, self.tenant, self.email, guarded, password).await?;
        }
    }

    /// Whether the password was right, but its hash is another one since: because another login has just made a stronger one of
    /// the same password, or because it was changed. Then it must be verified again, without the lock.
    fn is_outdated(&self, current: Option<&Account>) -> bool {
        let (Some(verified), Some(current)) = (&self.account, current) else { return false };
        let is_outdated = current.password != verified.password && current.user.email.key() == self.email.key();
        matches!(self.finding, Finding::Right { .. }) && is_outdated
    }

    async fn settle_under_lock(
        self,
        work: &mut UnitOfWork<'_>,
        GuardedAccount { account, attempts }: GuardedAccount,
        lockout: Lockout,
    ) -> Result<Outcome> {
        let (key, now) = (self.email.key(), work.now());
        // A lock that ended meanwhile is an answer too: the password was not looked at, so it is not judged.
        let ended = self.was_locked().then_some(Duration::from_secs(1));
        if let Some(retry_after) = attempts.locked_for(now).or(ended) {
            work.apply(self.refusal(LoginFailure::AccountLocked, attempts.count())).await?;
            return Ok(Outcome::Locked(retry_after));
        }
        match self.judge(account) {
            Ok(account) => {
                if attempts != LoginAttempts::default() {
                    work.apply(CredentialChange::ClearFailures(key)).await?;
                }
                if let Finding::Right { rehashed: Some(password) } = self.finding {
                    work.apply(CredentialChange::Rehash { user: account.user.id, password }).await?;
                }
                Ok(Outcome::Proven(account))
            }
            Err(LoginFailure::UserSuspended) => {
                work.apply(self.refusal(LoginFailure::UserSuspended, attempts.count())).await?;
                Ok(Outcome::Suspended)
            }
            Err(reason) => {
                if self.tenant.is_nobodys() {
                    tracing::info!(%reason, "a login failed that belongs to no tenant");
                }
                let attempts = attempts.failing(now, lockout);
                work.apply(CredentialChange::CountFailure { email: self.email.clone(), reason, attempts }).await?;
                Ok(Outcome::Wrong)
            }
        }
    }

    /// What the finding is worth against the account as it is now.
    fn judge(&self, current: Option<Account>) -> Result<Account, LoginFailure> {
        let (Some(verified), Some(current)) = (&self.account, current) else {
            return Err(LoginFailure::UnknownUser);
        };
        // What was verified must be what stands now. Another hash is verified again before; another e-mail is not.
        let is_same = current.password == verified.password && current.user.email.key() == self.email.key();
        match (current.user.status, &self.finding) {
            (UserStatus::Inactive, _) => Err(LoginFailure::UserInactive),
            (UserStatus::Suspended, Finding::Right { .. }) if is_same => Err(LoginFailure::UserSuspended),
            (UserStatus::Active, Finding::Right { .. }) if is_same => Ok(current),
            _ => Err(LoginFailure::InvalidPassword),
        }
    }

    fn refusal(&self, reason: LoginFailure, attempt_count: usize) -> CredentialChange {
        CredentialChange::Refuse { email: self.email.clone(), reason, attempt_count }
    }
}
