//! The check of a password or a second factor: its outcome takes effect under the lock of the failed logins with the
//! e-mail. Every proof of identity by a password or by a second factor goes through this module.
//!
//! Verifying a password takes long and holds no lock. Its outcome takes effect only under the lock: of concurrent
//! guesses, those after the failure that locks are refused even when they are right.

mod factor;
#[cfg(test)]
mod tests;

pub use crate::guard::factor::FactorProof;

pub(crate) use crate::guard::factor::{AccountUnderLock, confirmed_factors, tell_of_recovery_code};

use std::time::Duration;

use iam_model::change::{CredentialChange, LoginFailure};
use iam_model::context::RequestContext;
use iam_model::credential::{Account, GuardedAccount, LoginAttempts};
use iam_model::error::{Error, FederatedLogin, Forbidden, Result, Unauthenticated};
use iam_model::factor::{Factor, FactorDemand};
use iam_model::id::TenantId;
use iam_model::mail::MailKind;
use iam_model::secret::Password;
use iam_model::tenant::{PasswordLogin, Tenant, TenantStatus};
use iam_model::user::{User, UserStatus};
use iam_model::validate::Email;

use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork};
use crate::hashing::{Share, Verified};

/// The e-mail and the password that a client has sent.
#[derive(Clone, Copy)]
pub(crate) struct PasswordCredentials<'a> {
    pub(crate) email: &'a Email,
    pub(crate) password: &'a Password,
    /// The queue share of the password hash.
    pub(crate) share: Share,
}

/// The tenant in which credentials are tried, or an identifier that belongs to no tenant.
#[derive(Clone, Copy)]
pub(crate) struct LoginTenant {
    pub(crate) id: TenantId,
    pub(crate) status: TenantStatus,
    /// The demand of the tenant on a user without a second factor.
    pub(crate) demand: FactorDemand,
    /// Whether users whose identity provider is known log in by it alone.
    pub(crate) password_login: PasswordLogin,
}

impl LoginTenant {
    /// An active tenant without a demand, or an identifier that belongs to no tenant. The failures of logins that match
    /// no tenant or no account are counted there.
    pub(crate) fn active(id: TenantId) -> Self {
        let (status, demand) = (TenantStatus::Active, FactorDemand::default());
        Self { id, status, demand, password_login: PasswordLogin::default() }
    }

    pub(crate) fn of(tenant: &Tenant) -> Self {
        let Tenant { id, status, password_login, .. } = *tenant;
        Self { id, status, demand: tenant.factor_demand(), password_login }
    }
}

/// The answer to credentials of a locked account.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DuringLockout {
    /// The answer says that the account is locked. No hash is made.
    Refuse,
    /// The answer is the same as for a wrong password, and takes the same time.
    Conceal,
}

/// A password that was tried for an e-mail in a tenant, with the outcome of verifying it.
pub(crate) struct PasswordAttempt<'a> {
    tenant: LoginTenant,
    credentials: PasswordCredentials<'a>,
    account: Option<Account>,
    outcome: Outcome,
    when_locked: DuringLockout,
    is_recorded: bool,
    refusal_delay: Duration,
}

enum Outcome {
    /// The account was locked, so the password was not checked.
    Locked,
    Wrong,
    Right {
        /// Whether the stored hash differs from new hashes.
        is_outdated: bool,
    },
}

/// A right password, with its account.
pub(crate) struct VerifiedPassword {
    pub(crate) account: Account,
    /// Whether the stored hash differs from new hashes; see [`rehash`].
    pub(crate) is_outdated: bool,
    /// The confirmed second factors of the user. If there are any, the password alone proves nothing.
    pub(crate) factors: Vec<Factor>,
    /// How many attempts had failed.
    attempt_count: usize,
}

impl VerifiedPassword {
    /// Records that the password is refused because the user logs in by an identity provider alone. It does not count
    /// as a failure.
    pub(crate) async fn refuse_as_federated(&self, work: &mut UnitOfWork<'_>) -> Result<()> {
        let (email, reason) = (self.account.user.email.clone(), LoginFailure::FederationRequired);
        work.apply(CredentialChange::Refuse { email, reason, attempt_count: self.attempt_count }).await
    }
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

/// Delays a refusal, so that every refusal in a tenant takes equally long.
///
/// To be called after the failure was counted. Otherwise, an attacker could make more guesses during the wait.
pub(crate) async fn delay_refusal<T>(answer: Result<T>, delay: Duration) -> Result<T> {
    if answer.is_err() {
        tokio::time::sleep(delay).await;
    }
    answer
}

/// Replaces an outdated hash of a password that was just verified.
///
/// To be called after everything else, so that its time does not reveal a right password that is refused. If it fails,
/// the next login tries again.
pub(crate) async fn rehash(iam: &Engine, caller: &Caller, credentials: PasswordCredentials<'_>, verified: Account) {
    let replace = async {
        let password = iam.passwords.hash_any(credentials.share, credentials.password).await?;
        let mut work = iam.begin(caller).await?;
        let user = verified.user.id;
        let current = work.reads().lock_guarded_account(&credentials.email.key(), Some(user)).await?.account;
        // The password may have changed meanwhile.
        if current.is_some_and(|current| current.password == verified.password) {
            work.apply(CredentialChange::Rehash { user, password }).await?;
            work.commit().await?;
        }
        Ok::<(), Error>(())
    };
    match replace.await {
        Ok(()) | Err(Error::Overloaded { .. }) => {}
        Err(error) => tracing::warn!(%error, "an outdated password hash was not replaced"),
    }
}

impl<'a> PasswordAttempt<'a> {
    /// Verifies a password. Without an account, the same work is done and its result is ignored.
    pub(crate) async fn verify(
        iam: &Engine,
        tenant: LoginTenant,
        credentials: PasswordCredentials<'a>,
        GuardedAccount { account, attempts, .. }: GuardedAccount,
        when_locked: DuringLockout,
    ) -> Result<Self> {
        let is_locked = attempts.locked_for(iam.now()).is_some();
        let (outcome, refusal_delay) = if is_locked && when_locked == DuringLockout::Refuse {
            (Outcome::Locked, Duration::ZERO)
        } else {
            // A locked or deleted account is verified against no hash, so that a right password is not answered sooner.
            let can_prove = |account: &&Account| !is_locked && account.user.status != UserStatus::Inactive;
            let hash = account.as_ref().filter(can_prove).map(|account| &account.password);
            let (verified, refusal_delay) =
                iam.passwords.verify(credentials.share, tenant.id, credentials.password, hash).await?;
            let outcome = match verified {
                _ if is_locked => Outcome::Locked,
                Verified::No => Outcome::Wrong,
                Verified::Yes => Outcome::Right { is_outdated: false },
                Verified::YesButOutdated => Outcome::Right { is_outdated: true },
            };
            (outcome, refusal_delay)
        };
        Ok(Self { tenant, credentials, account, outcome, when_locked, is_recorded: true, refusal_delay })
    }

    /// Returns an attempt with a locked e-mail. The password is not checked.
    pub(crate) fn refused(tenant: LoginTenant, credentials: PasswordCredentials<'a>, guarded: GuardedAccount) -> Self {
        Self { outcome: Outcome::Locked, account: guarded.account, ..Self::wrong(tenant, credentials) }
    }

    /// Returns an attempt that is known to fail.
    pub(crate) fn wrong(tenant: LoginTenant, credentials: PasswordCredentials<'a>) -> Self {
        let (outcome, when_locked) = (Outcome::Wrong, DuringLockout::Refuse);
        Self {
            tenant,
            credentials,
            account: None,
            outcome,
            when_locked,
            is_recorded: true,
            refusal_delay: Duration::ZERO,
        }
    }

    /// Returns the same attempt, or a wrong one if the account was locked meanwhile.
    ///
    /// To be called before code that treats right and wrong attempts differently: of concurrent guesses, those after
    /// the failure that locks must all look the same.
    pub(crate) async fn confirmed(self, iam: &Engine) -> Result<Self> {
        let caller = Caller::anonymous(self.tenant.id, RequestContext::default());
        let mut work = iam.begin(&caller).await?;
        let user = self.account.as_ref().map(|account| account.user.id);
        let guarded = work.reads().lock_guarded_account(&self.credentials.email.key(), user).await?;
        let is_locked = guarded.attempts.locked_for(work.now()).is_some();
        Ok(if is_locked { Self { outcome: Outcome::Wrong, ..self } } else { self })
    }

    /// Returns the same attempt, which leaves no audit entry if it fails, unless it locks the account. The failure still
    /// counts.
    pub(crate) fn unrecorded(self) -> Self {
        Self { is_recorded: false, ..self }
    }

    /// Returns the same attempt, refused because its e-mail was locked meanwhile.
    pub(crate) fn into_refused(self) -> Self {
        Self { outcome: Outcome::Locked, when_locked: DuringLockout::Refuse, ..self }
    }

    /// Returns how long a refusal must still wait, so that its time reveals nothing; see [`delay_refusal`].
    pub(crate) fn refusal_delay(&self) -> Duration {
        self.refusal_delay
    }

    /// Returns the credentials of the client.
    pub(crate) fn credentials(&self) -> PasswordCredentials<'a> {
        self.credentials
    }

    /// Returns the demand of the tenant on a user without a second factor.
    pub(crate) fn demand(&self) -> FactorDemand {
        self.tenant.demand
    }

    /// Returns the tenant in which the credentials are tried.
    pub(crate) fn tenant(&self) -> TenantId {
        self.tenant.id
    }

    /// Returns the identity providers by which the user logs in instead, if the password is right.
    pub(crate) async fn federated_logins(&self, iam: &Engine) -> Result<Vec<FederatedLogin>> {
        match &self.account {
            Some(account) if self.may_log_in() => {
                iam.federated_logins((self.tenant.id, self.tenant.password_login), &account.user).await
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Whether the account was already locked, so that the password was not checked.
    fn was_locked(&self) -> bool {
        matches!(self.outcome, Outcome::Locked)
    }

    /// Whether the answer says that the account is locked.
    pub(crate) fn reveals_lock(&self) -> bool {
        self.was_locked() && self.when_locked == DuringLockout::Refuse
    }

    /// Whether the password is right and the user is not deleted.
    pub(crate) fn is_right(&self) -> bool {
        self.status_if_right().is_some_and(|status| status != UserStatus::Inactive)
    }

    /// Whether the password is right and the user may log in.
    pub(crate) fn may_log_in(&self) -> bool {
        self.status_if_right() == Some(UserStatus::Active) && self.tenant.status == TenantStatus::Active
    }

    fn status_if_right(&self) -> Option<UserStatus> {
        let account = self.account.as_ref().filter(|_| matches!(self.outcome, Outcome::Right { .. }));
        account.map(|account| account.user.status)
    }

    /// Checks the attempt under the lock, and counts or clears failures.
    ///
    /// The caller must commit the returned unit of work, also after a refusal.
    pub(crate) async fn apply_under_lock<'w>(
        mut self,
        iam: &'w Engine,
        caller: &'w Caller,
    ) -> Result<(Result<VerifiedPassword, Refusal>, UnitOfWork<'w>)> {
        let key = self.credentials.email.key();
        loop {
            let mut work = iam.begin(caller).await?;
            let user = self.account.as_ref().map(|account| account.user.id);
            let guarded = work.reads().lock_guarded_account(&key, user).await?;
            if !self.is_outdated(guarded.account.as_ref()) {
                return Ok((self.record_outcome(iam, &mut work, guarded).await?, work));
            }
            drop(work);
            let guarded = iam.store.guarded_account(self.tenant.id, &key).await?;
            let again = Self::verify(iam, self.tenant, self.credentials, guarded, self.when_locked).await?;
            self = Self { is_recorded: self.is_recorded, ..again };
        }
    }

    /// Whether the password was right, but the stored hash has changed since. Either another login has replaced the
    /// hash by a stronger one, or the password was changed. The password must then be verified again, without the
    /// lock.
    fn is_outdated(&self, current: Option<&Account>) -> bool {
        let (Some(verified), Some(current)) = (&self.account, current) else { return false };
        let is_outdated =
            current.password != verified.password && current.user.email.key() == self.credentials.email.key();
        matches!(self.outcome, Outcome::Right { .. }) && is_outdated
    }

    async fn record_outcome(
        self,
        iam: &Engine,
        work: &mut UnitOfWork<'_>,
        GuardedAccount { account, attempts, has_unnamed_failures }: GuardedAccount,
    ) -> Result<Result<VerifiedPassword, Refusal>> {
        let (key, now) = (self.credentials.email.key(), work.now());
        // The lock may have ended meanwhile. The attempt is still refused, because its password was not checked.
        let ended = self.was_locked().then_some(Duration::from_secs(1));
        if let Some(retry_after) = attempts.locked_for(now).or(ended) {
            self.refuse(work, LoginFailure::AccountLocked, &attempts).await?;
            return Ok(Err(match self.when_locked {
                DuringLockout::Refuse => Refusal::Locked(retry_after),
                DuringLockout::Conceal => Refusal::Wrong,
            }));
        }
        match self.check_current_account(account) {
            Ok(account) => {
                let factors = confirmed_factors(work, account.user.id).await?;
                // With a factor, a right password clears nothing: a person who knows it could guess codes without end.
                let is_enough = factors.is_empty();
                if is_enough && (has_unnamed_failures || attempts != LoginAttempts::default()) {
                    work.apply(CredentialChange::ClearFailures(key)).await?;
                }
                let is_outdated = matches!(self.outcome, Outcome::Right { is_outdated: true });
                Ok(Ok(VerifiedPassword { account, is_outdated, factors, attempt_count: attempts.count() }))
            }
            Err(reason @ (LoginFailure::UserSuspended | LoginFailure::TenantSuspended)) => {
                let is_user = reason == LoginFailure::UserSuspended;
                self.refuse(work, reason, &attempts).await?;
                Ok(Err(if is_user { Refusal::Suspended } else { Refusal::TenantSuspended }))
            }
            Err(reason) => {
                if self.is_recorded && self.tenant.id.can_be_no_tenant() {
                    tracing::info!(%reason, "a failed login belongs to no tenant");
                }
                let user = self.account.as_ref().map(|account| &account.user);
                count(iam, work, (self.credentials.email, user), (reason, &attempts), self.is_recorded).await?;
                Ok(Err(Refusal::Wrong))
            }
        }
    }

    /// Checks the outcome against the current account.
    fn check_current_account(&self, current: Option<Account>) -> Result<Account, LoginFailure> {
        let (Some(verified), Some(current)) = (&self.account, current) else {
            return Err(LoginFailure::UnknownUser);
        };
        // The account must still have the verified hash and e-mail. A changed hash was verified again before this; a
        // changed e-mail was not.
        let is_same = current.password == verified.password && current.user.email.key() == self.credentials.email.key();
        match (current.user.status, &self.outcome) {
            (UserStatus::Inactive, _) => Err(LoginFailure::UserInactive),
            (_, Outcome::Right { .. }) if is_same && self.tenant.status != TenantStatus::Active => {
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
        let (email, attempt_count) = (self.credentials.email.clone(), attempts.count());
        work.apply(CredentialChange::Refuse { email, reason, attempt_count }).await
    }
}

/// Counts a wrong code of a message like a wrong password, in the tenant of the unit of work, which has locked the
/// failures. While the address is locked out, it only records the refusal. `user` is the account for which the code was
/// tried, if there is one.
pub(crate) async fn count_wrong_code(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    (email, user): (&Email, Option<&User>),
    attempts: &LoginAttempts,
) -> Result<()> {
    if attempts.locked_for(work.now()).is_some() {
        let (email, attempt_count) = (email.clone(), attempts.count());
        let refuse = CredentialChange::Refuse { email, reason: LoginFailure::AccountLocked, attempt_count };
        return work.apply(refuse).await;
    }
    let reason = if user.is_some() { LoginFailure::InvalidCode } else { LoginFailure::UnknownUser };
    let tenant = work.caller().tenant();
    if tenant != TenantId::NONE && tenant.can_be_no_tenant() {
        tracing::info!(%reason, "a failed login belongs to no tenant");
    }
    count(iam, work, (email, user), (reason, attempts), true).await
}

/// Counts a failure, which may lock the account, and tells the user if it does.
async fn count(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    (email, account): (&Email, Option<&User>),
    (reason, attempts): (LoginFailure, &LoginAttempts),
    is_recorded: bool,
) -> Result<()> {
    let attempts = attempts.after_failure(work.now(), iam.settings.lockout);
    let is_locked = attempts.locked_until.is_some();
    // No account is locked without a trace in its tenant.
    let is_recorded = is_recorded || (is_locked && !work.caller().tenant().can_be_no_tenant());
    work.apply(CredentialChange::CountFailure { email: email.clone(), reason, attempts, is_recorded }).await?;
    if is_locked {
        // Also without an account, so that the time of the answer reveals nothing.
        iam.queue_notice_for(work, MailKind::NewLoginBlocked, email.key(), account).await?;
    }
    Ok(())
}
