//! The check of a second factor, under the same lock and with the same count of failures as a password.

use iam_model::challenge::Ceremony;
use iam_model::change::{CredentialChange, FactorChange, LoginFailure};
use iam_model::credential::{GuardedAccount, LoginAttempts};
use iam_model::error::Result;
use iam_model::factor::{AuthenticationMethod, Factor, FactorKind};
use iam_model::id::UserId;
use iam_model::mail::MailKind;
use iam_model::secret::{OneTimeCode, RecoveryCode};
use iam_model::tenant::TenantStatus;
use iam_model::user::{User, UserStatus};
#[cfg(feature = "passkeys")]
use iam_webauthn::AuthenticationResponse;
use subtle::ConstantTimeEq as _;

use crate::engine::{Engine, UnitOfWork};
use crate::guard::{Refusal, count};
use crate::one_time::{hash_of, six_digits, step_of};
#[cfg(feature = "passkeys")]
use crate::passkey;

/// A proof of identity by a second factor, as a client sent it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FactorProof {
    /// A code of an authenticator app.
    Code(OneTimeCode),
    /// A recovery code.
    RecoveryCode(RecoveryCode),
    /// The response of a passkey to the options of the same login or step-up.
    #[cfg(feature = "passkeys")]
    Passkey(Box<AuthenticationResponse>),
}

impl FactorProof {
    pub(crate) fn is_passkey(&self) -> bool {
        match self {
            Self::Code(_) | Self::RecoveryCode(_) => false,
            #[cfg(feature = "passkeys")]
            Self::Passkey(_) => true,
        }
    }
}

/// Returns the confirmed factors of a user, whose account is locked.
pub(crate) async fn confirmed_factors(work: &mut UnitOfWork<'_>, user: UserId) -> Result<Vec<Factor>> {
    let mut factors = work.reads().factors(user).await?;
    factors.retain(Factor::is_confirmed);
    Ok(factors)
}

/// Tells a user by mail that a recovery code was used, if a proof was made by one. To be called last, like
/// [`Engine::queue_notice`].
pub(crate) async fn tell_of_recovery_code(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    user: &User,
    method: AuthenticationMethod,
) -> Result<()> {
    if method != AuthenticationMethod::RecoveryCode {
        return Ok(());
    }
    iam.queue_notice(work, MailKind::RecoveryCodeUsed, user).await
}

/// An account whose row and whose failed logins are locked, for the check of a second factor.
pub(crate) struct AccountUnderLock {
    pub(crate) user: User,
    attempts: LoginAttempts,
    has_unnamed_failures: bool,
    factors: Vec<Factor>,
}

impl AccountUnderLock {
    /// Locks the account of a user as it was read. `None` if its address has changed meanwhile: the failures are
    /// counted under another one.
    pub(crate) async fn lock(work: &mut UnitOfWork<'_>, user: &User) -> Result<Option<Self>> {
        let key = user.email.key();
        let guarded = work.reads().lock_guarded_account(&key, Some(user.id)).await?;
        let GuardedAccount { account, attempts, has_unnamed_failures } = guarded;
        let account = account.filter(|account| account.user.email.key() == key);
        let Some(user) = account.map(|account| account.user) else { return Ok(None) };
        let factors = confirmed_factors(work, user.id).await?;
        Ok(Some(Self { user, attempts, has_unnamed_failures, factors }))
    }

    /// Refuses an account that is locked out, and records that.
    ///
    /// The caller must commit the unit of work, also after a refusal.
    async fn refuse_during_lockout(&self, work: &mut UnitOfWork<'_>) -> Result<Result<(), Refusal>> {
        let Some(retry_after) = self.attempts.locked_for(work.now()) else { return Ok(Ok(())) };
        self.refuse(work, LoginFailure::AccountLocked).await?;
        Ok(Err(Refusal::Locked(retry_after)))
    }

    /// The confirmed second factors of the user.
    pub(crate) fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// Refuses an account whose user or tenant is not active, and records that.
    ///
    /// The caller must commit the unit of work, also after a refusal.
    pub(crate) async fn admit(&self, work: &mut UnitOfWork<'_>, tenant: TenantStatus) -> Result<Result<(), Refusal>> {
        let (reason, refusal) = match self.user.status {
            UserStatus::Inactive => (LoginFailure::UserInactive, Refusal::WrongFactor),
            _ if tenant != TenantStatus::Active => (LoginFailure::TenantSuspended, Refusal::TenantSuspended),
            UserStatus::Suspended => (LoginFailure::UserSuspended, Refusal::Suspended),
            UserStatus::Active => return Ok(Ok(())),
        };
        self.refuse(work, reason).await?;
        Ok(Err(refusal))
    }

    /// Refuses a login by e-mail of an account that is locked out, whose user or tenant is not active, or whose user
    /// logs in by an identity provider alone, and records that.
    ///
    /// The caller must commit the unit of work, also after a refusal.
    pub(crate) async fn admit_by_email(
        &self,
        work: &mut UnitOfWork<'_>,
        tenant: TenantStatus,
        is_federated: bool,
    ) -> Result<Result<(), Refusal>> {
        if let Err(refusal) = self.refuse_during_lockout(work).await? {
            return Ok(Err(refusal));
        }
        if let Err(refusal) = self.admit(work, tenant).await? {
            return Ok(Err(refusal));
        }
        if is_federated {
            self.refuse(work, LoginFailure::FederationRequired).await?;
            return Ok(Err(Refusal::Wrong));
        }
        Ok(Ok(()))
    }

    /// Records a refusal that does not count as a failure.
    async fn refuse(&self, work: &mut UnitOfWork<'_>, reason: LoginFailure) -> Result<()> {
        let (email, attempt_count) = (self.user.email.clone(), self.attempts.count());
        work.apply(CredentialChange::Refuse { email, reason, attempt_count }).await
    }

    /// Verifies a proof. A right one uses up its code; a wrong one counts as a failure.
    /// `ceremony` is that of the challenge which the proof answers, if it has one.
    ///
    /// The caller must commit the unit of work, also after a refusal. A text that can be no code of an app is an error,
    /// and counts as nothing.
    pub(crate) async fn verify_factor(
        &self,
        iam: &Engine,
        work: &mut UnitOfWork<'_>,
        proof: &FactorProof,
        #[cfg_attr(not(feature = "passkeys"), expect(unused_variables, reason = "only passkeys have ceremonies"))]
        ceremony: Option<&Ceremony>,
    ) -> Result<Result<AuthenticationMethod, Refusal>> {
        if let Err(refusal) = self.refuse_during_lockout(work).await? {
            return Ok(Err(refusal));
        }
        // The callers have checked the tenant before the lock.
        if let Err(refusal) = self.admit(work, TenantStatus::Active).await? {
            return Ok(Err(refusal));
        }
        let used = match proof {
            FactorProof::Code(code) => self.by_code(iam, work, &six_digits(code)?)?,
            FactorProof::RecoveryCode(code) => self.by_recovery_code(work, code).await?,
            #[cfg(feature = "passkeys")]
            FactorProof::Passkey(response) => self.by_passkey(iam, work, ceremony, response)?,
        };
        let Some((method, used)) = used else {
            let failure = (LoginFailure::SecondFactor, &self.attempts);
            count(iam, work, (&self.user.email, Some(&self.user)), failure, true).await?;
            return Ok(Err(Refusal::WrongFactor));
        };
        work.apply(used).await?;
        Ok(Ok(method))
    }

    /// Clears the failures of an account whose password and second factor were right. A factor alone clears none: a
    /// thief of a session who has added one could guess the password forever.
    pub(crate) async fn clear_failures(&self, work: &mut UnitOfWork<'_>) -> Result<()> {
        if self.has_unnamed_failures || self.attempts != LoginAttempts::default() {
            work.apply(CredentialChange::ClearFailures(self.user.email.key())).await?;
        }
        Ok(())
    }

    /// Verifies a login by a passkey alone. Only a right response learns that the account is suspended. A wrong one is
    /// recorded and does not count as a failure: a signature cannot be guessed, and a stranger must not lock an account
    /// by its identifiers. For the same reason, the lock of the account does not refuse a right one.
    ///
    /// The caller must commit the unit of work, also after a refusal.
    #[cfg(feature = "passkeys")]
    pub(crate) async fn verify_passkey(
        &self,
        iam: &Engine,
        work: &mut UnitOfWork<'_>,
        ceremony: Option<&Ceremony>,
        response: &AuthenticationResponse,
        tenant: TenantStatus,
    ) -> Result<Result<(), Refusal>> {
        let Some((_, used)) = self.by_passkey(iam, work, ceremony, response)? else {
            self.refuse(work, LoginFailure::SecondFactor).await?;
            return Ok(Err(Refusal::WrongPasskey));
        };
        match self.admit(work, tenant).await? {
            Ok(()) => Ok(Ok(work.apply(used).await?)),
            Err(Refusal::WrongFactor) => Ok(Err(Refusal::WrongPasskey)),
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    #[cfg(feature = "passkeys")]
    fn by_passkey(
        &self,
        iam: &Engine,
        work: &mut UnitOfWork<'_>,
        ceremony: Option<&Ceremony>,
        response: &AuthenticationResponse,
    ) -> Result<Option<(AuthenticationMethod, FactorChange)>> {
        let Some(ceremony) = ceremony else { return Ok(None) };
        let used = passkey::used(iam, &self.factors, ceremony, response, work.now())?;
        Ok(used.map(|used| (AuthenticationMethod::Passkey, used)))
    }

    fn by_code(
        &self,
        iam: &Engine,
        work: &mut UnitOfWork<'_>,
        code: &OneTimeCode,
    ) -> Result<Option<(AuthenticationMethod, FactorChange)>> {
        let now = work.now();
        for factor in self.factors.iter().filter(|factor| factor.kind == FactorKind::Totp) {
            let owner = [factor.tenant_id.as_uuid(), factor.user_id.as_uuid(), factor.id.as_uuid()];
            let secret = iam.keys.totp.decrypt(&owner, &factor.key.0)?;
            if let Some(step) = step_of(&secret, code, now, factor.counter) {
                let after = Factor { counter: step, last_used_at: Some(now), ..factor.clone() };
                let used = FactorChange::Use { after, fell_back_to: None };
                return Ok(Some((AuthenticationMethod::Totp, used)));
            }
        }
        Ok(None)
    }

    async fn by_recovery_code(
        &self,
        work: &mut UnitOfWork<'_>,
        code: &RecoveryCode,
    ) -> Result<Option<(AuthenticationMethod, FactorChange)>> {
        let user = self.user.id;
        let typed = hash_of(user, code);
        let hashes = work.reads().recovery_codes(user).await?;
        let is_known = hashes.iter().any(|hash| hash.ct_eq(&typed).into());
        let left = hashes.len().saturating_sub(1);
        let used = FactorChange::UseRecoveryCode { user, hash: typed, left };
        Ok(is_known.then_some((AuthenticationMethod::RecoveryCode, used)))
    }
}
