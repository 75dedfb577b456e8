//! The check of a password or a second factor: it is judged under the lock of the failed logins with the e-mail. Every
//! proof of identity by a password or by a second factor goes through this module.
//!
//! Verifying a password takes long and holds no lock. Its outcome takes effect only under the lock: of concurrent
//! guesses, those after the fifth failure are refused even when they are right.

mod factor;
#[cfg(test)]
mod tests;

pub use crate::guard::factor::FactorProof;

pub(crate) use crate::guard::factor::{LockedAccount, confirmed_factors};

use std::time::Duration;

use iam_model::change::{CredentialChange, LoginFailure};
use iam_model::context::RequestContext;
use iam_model::credential::{Account, GuardedAccount, LoginAttempts};
use iam_model::error::{Error, Forbidden, Result, Unauthenticated};
use iam_model::factor::{Factor, FactorDemand};
use iam_model::id::TenantId;
use iam_model::mail::MailKind;
use iam_model::secret::Password;
use iam_model::tenant::{Tenant, TenantStatus};
use iam_model::user::UserStatus;
use iam_model::validate::Email;

use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork};
use crate::hashing::{Share, Verified};

/// The e-mail and the password that a client claims to be its own.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub(crate) email: &'a Email,
    pub(crate) password: &'a Password,
    /// The queue share of the password hash.
    pub(crate) share: Share,
}

/// The tenant in which a claim is tried, or an identifier that belongs to no tenant.
#[derive(Clone, Copy)]
pub(crate) struct Scope {
    pub(crate) tenant: TenantId,
    pub(crate) status: TenantStatus,
    /// What the tenant demands of a user without a second factor.
    pub(crate) demand: FactorDemand,
}

impl Scope {
    /// A scope for an identifier that belongs to no tenant. The failures of logins that match no tenant or no account
    /// are counted there.
    pub(crate) fn without_tenant(tenant: TenantId) -> Self {
        Self { tenant, status: TenantStatus::Active, demand: FactorDemand::default() }
    }

    pub(crate) fn of(tenant: &Tenant) -> Self {
        Self { tenant: tenant.id, status: tenant.status, demand: tenant.factor_demand() }
    }
}

/// The answer to a claim to a locked account.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenLocked {
    /// The answer says that the account is locked. No hash is made.
    Refuse,
    /// The answer is the same as for a wrong password, and takes the same time.
    Conceal,
}

/// A password that was tried for an e-mail in a tenant, with the outcome of verifying it.
pub(crate) struct Attempt<'a> {
    scope: Scope,
    claim: Claim<'a>,
    account: Option<Account>,
    outcome: Outcome,
    when_locked: WhenLocked,
    is_recorded: bool,
    left: Duration,
}

enum Outcome {
    /// The account was locked, so the password was not checked.
    Locked,
    Wrong,
    Right {
        /// Whether the stored hash is weaker than new hashes.
        is_weak: bool,
    },
}

/// An account whose password was proven.
pub(crate) struct Proven {
    pub(crate) account: Account,
    /// Whether its hash is weaker than new hashes; see [`rehash`].
    pub(crate) is_weak: bool,
    /// The confirmed second factors of the user. If there are any, the password alone proves nothing.
    pub(crate) factors: Vec<Factor>,
}

/// Why an attempt is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The e-mail or the password is wrong, or the answer must look as if it were.
    Wrong,
    /// The second factor is wrong, or was used before.
    WrongFactor,
    /// The passkey of a login without a password is wrong.
    #[cfg(feature = "passkeys")]
    WrongPasskey,
    Suspended,
    TenantSuspended,
    Locked(Duration),
}

impl Refusal {
    /// Returns the error for a caller that had to prove its own password.
    pub(crate) fn of_current_password(self) -> Error {
        match self {
            Self::Wrong => Error::field("currentPassword", "is not the current password"),
            refusal => refusal.into(),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Wrong => Unauthenticated::Credentials.into(),
            Refusal::WrongFactor => Unauthenticated::SecondFactor.into(),
            #[cfg(feature = "passkeys")]
            Refusal::WrongPasskey => Unauthenticated::Passkey.into(),
            Refusal::Suspended => Forbidden::Suspended.into(),
            Refusal::TenantSuspended => Forbidden::TenantSuspended.into(),
            Refusal::Locked(retry_after) => Self::AccountLocked { retry_after },
        }
    }
}

/// Delays a refusal by `left`, so that every refusal takes as long as the slowest kind of hash.
///
/// To be called after the failure was counted. Otherwise, an attacker could make more guesses during the wait.
pub(crate) async fn in_time<T>(answer: Result<T>, left: Duration) -> Result<T> {
    if answer.is_err() {
        tokio::time::sleep(left).await;
    }
    answer
}

/// Replaces a weak hash of a password that was just proven.
///
/// To be called after everything else, so that its time does not reveal a right password that is refused. If it fails,
/// the next login tries again.
pub(crate) async fn rehash(iam: &Engine, caller: &Caller, claim: Claim<'_>, proven: Account) {
    let replace = async {
        let password = iam.passwords.hash_any(claim.share, claim.password).await?;
        let mut work = iam.begin(caller).await?;
        let user = proven.user.id;
        let current = work.locks().lock_guarded_account(&claim.email.key(), Some(user)).await?.account;
        // The password may have changed meanwhile.
        if current.is_some_and(|current| current.password == proven.password) {
            work.apply(CredentialChange::Rehash { user, password }).await?;
            work.commit().await?;
        }
        Ok::<(), Error>(())
    };
    match replace.await {
        Ok(()) | Err(Error::Overloaded { .. }) => {}
        Err(error) => tracing::warn!(%error, "a weak password hash was not replaced"),
    }
}

impl<'a> Attempt<'a> {
    /// Verifies a password. Without an account, the same work is done and its result is ignored.
    pub(crate) async fn make(
        iam: &Engine,
        scope: Scope,
        claim: Claim<'a>,
        GuardedAccount { account, attempts, .. }: GuardedAccount,
        when_locked: WhenLocked,
    ) -> Result<Self> {
        let is_locked = attempts.locked_for(iam.now()).is_some();
        let (outcome, left) = if is_locked && when_locked == WhenLocked::Refuse {
            (Outcome::Locked, Duration::ZERO)
        } else {
            // Where every password is refused, the answer must not come sooner for the right one.
            let can_prove = |account: &&Account| !is_locked && account.user.status != UserStatus::Inactive;
            let hash = account.as_ref().filter(can_prove).map(|account| &account.password);
            let (verified, left) = iam.passwords.verify(claim.share, claim.password, hash).await?;
            let outcome = match verified {
                _ if is_locked => Outcome::Locked,
                Verified::No => Outcome::Wrong,
                Verified::Yes => Outcome::Right { is_weak: false },
                Verified::YesButWeak => Outcome::Right { is_weak: true },
            };
            (outcome, left)
        };
        Ok(Self { scope, claim, account, outcome, when_locked, is_recorded: true, left })
    }

    /// Returns an attempt with a locked e-mail. The password is not checked.
    pub(crate) fn refused(scope: Scope, claim: Claim<'a>, guarded: GuardedAccount) -> Self {
        Self { outcome: Outcome::Locked, account: guarded.account, ..Self::wrong(scope, claim) }
    }

    /// Returns an attempt that is known to fail.
    pub(crate) fn wrong(scope: Scope, claim: Claim<'a>) -> Self {
        let (outcome, when_locked) = (Outcome::Wrong, WhenLocked::Refuse);
        Self { scope, claim, account: None, outcome, when_locked, is_recorded: true, left: Duration::ZERO }
    }

    /// Returns the same attempt, or a wrong one if the account was locked meanwhile.
    ///
    /// To be called before code that treats right and wrong attempts differently: of concurrent guesses, those after
    /// the fifth failure must all look the same.
    pub(crate) async fn confirmed(self, iam: &Engine) -> Result<Self> {
        let caller = Caller::anonymous(self.scope.tenant, RequestContext::default());
        let mut work = iam.begin(&caller).await?;
        let user = self.account.as_ref().map(|account| account.user.id);
        let guarded = work.locks().lock_guarded_account(&self.claim.email.key(), user).await?;
        let is_locked = guarded.attempts.locked_for(work.now()).is_some();
        Ok(if is_locked { Self { outcome: Outcome::Wrong, ..self } } else { self })
    }

    /// Returns the same attempt, which leaves no audit entry if it fails. The failure still counts.
    pub(crate) fn unrecorded(self) -> Self {
        Self { is_recorded: false, ..self }
    }

    /// Returns the same attempt, refused because its e-mail was locked meanwhile.
    pub(crate) fn into_refused(self) -> Self {
        Self { outcome: Outcome::Locked, when_locked: WhenLocked::Refuse, ..self }
    }

    /// Returns how long a refusal must still wait, so that its time reveals nothing; see [`in_time`].
    pub(crate) fn left(&self) -> Duration {
        self.left
    }

    /// Returns the claim of the client.
    pub(crate) fn claim(&self) -> Claim<'a> {
        self.claim
    }

    /// Returns what the tenant demands of a user without a second factor.
    pub(crate) fn demand(&self) -> FactorDemand {
        self.scope.demand
    }

    /// Returns the tenant in which the claim is tried.
    pub(crate) fn tenant(&self) -> TenantId {
        self.scope.tenant
    }

    /// Whether the account was already locked, so that the password was not checked.
    fn was_locked(&self) -> bool {
        matches!(self.outcome, Outcome::Locked)
    }

    /// Whether the answer says that the account is locked.
    pub(crate) fn reveals_lock(&self) -> bool {
        self.was_locked() && self.when_locked == WhenLocked::Refuse
    }

    /// Whether the password is right and the user is not deleted.
    pub(crate) fn is_right(&self) -> bool {
        self.status_if_right().is_some_and(|status| status != UserStatus::Inactive)
    }

    /// Whether the password is right and the user may log in.
    pub(crate) fn may_log_in(&self) -> bool {
        self.status_if_right() == Some(UserStatus::Active) && self.scope.status == TenantStatus::Active
    }

    fn status_if_right(&self) -> Option<UserStatus> {
        let account = self.account.as_ref().filter(|_| matches!(self.outcome, Outcome::Right { .. }));
        account.map(|account| account.user.status)
    }

    /// Judges the attempt under the lock, and counts or clears failures.
    ///
    /// The caller must commit the returned unit of work, also after a refusal.
    pub(crate) async fn settle<'w>(
        mut self,
        iam: &'w Engine,
        caller: &'w Caller,
    ) -> Result<(Result<Proven, Refusal>, UnitOfWork<'w>)> {
        let key = self.claim.email.key();
        loop {
            let mut work = iam.begin(caller).await?;
            let user = self.account.as_ref().map(|account| account.user.id);
            let guarded = work.locks().lock_guarded_account(&key, user).await?;
            if !self.is_outdated(guarded.account.as_ref()) {
                return Ok((self.settle_under_lock(iam, &mut work, guarded).await?, work));
            }
            drop(work);
            let guarded = iam.store.guarded_account(self.scope.tenant, &key).await?;
            let again = Self::make(iam, self.scope, self.claim, guarded, self.when_locked).await?;
            self = Self { is_recorded: self.is_recorded, ..again };
        }
    }

    /// Whether the password was right, but the stored hash has changed since. Either another login has replaced the
    /// hash by a stronger one, or the password was changed. The password must then be verified again, without the
    /// lock.
    fn is_outdated(&self, current: Option<&Account>) -> bool {
        let (Some(verified), Some(current)) = (&self.account, current) else { return false };
        let is_outdated = current.password != verified.password && current.user.email.key() == self.claim.email.key();
        matches!(self.outcome, Outcome::Right { .. }) && is_outdated
    }

    async fn settle_under_lock(
        self,
        iam: &Engine,
        work: &mut UnitOfWork<'_>,
        GuardedAccount { account, attempts, has_unnamed_failures }: GuardedAccount,
    ) -> Result<Result<Proven, Refusal>> {
        let (key, now) = (self.claim.email.key(), work.now());
        // The lock may have ended meanwhile. The attempt is still refused, because its password was not checked.
        let ended = self.was_locked().then_some(Duration::from_secs(1));
        if let Some(retry_after) = attempts.locked_for(now).or(ended) {
            self.refuse(work, LoginFailure::AccountLocked, &attempts).await?;
            return Ok(Err(match self.when_locked {
                WhenLocked::Refuse => Refusal::Locked(retry_after),
                WhenLocked::Conceal => Refusal::Wrong,
            }));
        }
        match self.judge(account) {
            Ok(account) => {
                let factors = confirmed_factors(work, account.user.id).await?;
                // Otherwise, an attacker that knows the password could guess the second factor forever.
                let is_enough = factors.is_empty();
                if is_enough && (has_unnamed_failures || attempts != LoginAttempts::default()) {
                    work.apply(CredentialChange::ClearFailures(key)).await?;
                }
                let is_weak = matches!(self.outcome, Outcome::Right { is_weak: true });
                Ok(Ok(Proven { account, is_weak, factors }))
            }
            Err(reason @ (LoginFailure::UserSuspended | LoginFailure::TenantSuspended)) => {
                let is_user = reason == LoginFailure::UserSuspended;
                self.refuse(work, reason, &attempts).await?;
                Ok(Err(if is_user { Refusal::Suspended } else { Refusal::TenantSuspended }))
            }
            Err(reason) => {
                if self.is_recorded && self.scope.tenant.is_none() {
                    tracing::info!(%reason, "a failed login belongs to no tenant");
                }
                count(iam, work, self.claim.email, (reason, &attempts), self.is_recorded).await?;
                Ok(Err(Refusal::Wrong))
            }
        }
    }

    /// Judges the outcome against the current account.
    fn judge(&self, current: Option<Account>) -> Result<Account, LoginFailure> {
        let (Some(verified), Some(current)) = (&self.account, current) else {
            return Err(LoginFailure::UnknownUser);
        };
        // The account must still have the verified hash and e-mail. A changed hash was verified again before this; a
        // changed e-mail was not.
        let is_same = current.password == verified.password && current.user.email.key() == self.claim.email.key();
        match (current.user.status, &self.outcome) {
            (UserStatus::Inactive, _) => Err(LoginFailure::UserInactive),
            (_, Outcome::Right { .. }) if is_same && self.scope.status != TenantStatus::Active => {
                Err(LoginFailure::TenantSuspended)
            }
            (UserStatus::Suspended, Outcome::Right { .. }) if is_same => Err(LoginFailure::UserSuspended),
            (UserStatus::Active, Outcome::Right { .. }) if is_same => Ok(current),
            _ => Err(LoginFailure::InvalidPassword),
        }
    }

    /// Records a refusal that does not count as a failed attempt.
    async fn refuse(&self, work: &mut UnitOfWork<'_>, reason: LoginFailure, attempts: &LoginAttempts) -> Result<()> {
        if !self.is_recorded {
            return Ok(());
        }
        let (email, attempt_count) = (self.claim.email.clone(), attempts.count());
        work.apply(CredentialChange::Refuse { email, reason, attempt_count }).await
    }
}

/// Counts a failure, which may lock the account, and tells the user if it does.
async fn count(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    email: &Email,
    (reason, attempts): (LoginFailure, &LoginAttempts),
    is_recorded: bool,
) -> Result<()> {
    let attempts = attempts.failing(work.now(), iam.settings.lockout);
    let is_locked = attempts.locked_until.is_some();
    work.apply(CredentialChange::CountFailure { email: email.clone(), reason, attempts, is_recorded }).await?;
    if is_locked {
        // Also without an account, so that the time of the answer reveals nothing.
        iam.queue_notice(work, MailKind::NewLoginBlocked, email, None).await?;
    }
    Ok(())
}
