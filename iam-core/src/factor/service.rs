use iam_model::audit::ResourceType;
#[cfg(feature = "passkeys")]
use iam_model::challenge::{Challenge, ChallengePurpose};
use iam_model::change::{ChallengeChange, Change, FactorChange};
use iam_model::context::Actor;
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::factor::{Factor, FactorKind, SecondFactorPolicy};
use iam_model::id::{FactorId, UserId};
use iam_model::mail::MailKind;
use iam_model::permission;
use iam_model::secret::{OneTimeCode, RecoveryCode, TotpSecret};
use iam_model::session::EndReason;
use iam_model::tenant::Tenant;
use iam_model::user::{User, UserStatus};
use iam_model::validate::{Email, Fields, Name};

use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork};
use crate::one_time::{RECOVERY_CODES, hash_of, new_recovery_code, new_secret, otpauth_uri, step_of, text_of};
#[cfg(feature = "passkeys")]
use crate::passkey;
use crate::session::end_sessions;
use crate::user::Subject;

/// Sets up and removes second factors; see [`Iam::factors`](crate::iam::Iam::factors).
///
/// ```
#[doc = doctest_setup!()]
/// let setup = iam.factors().add_totp(&ada, Some("Phone")).await?;
/// assert!(setup.uri.expose().starts_with("otpauth://totp/"));
///
/// // The factor proves nothing until the user has sent its first code.
/// assert!(iam.factors().list(&ada).await?.factors.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Factors<'a>(pub(crate) &'a Engine);

/// The second factors of a user.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FactorList {
    /// The confirmed factors, oldest first.
    pub factors: Vec<Factor>,
    /// How many recovery codes are left.
    pub recovery_codes_left: u64,
}

/// A TOTP generator that waits for its first code.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TotpSetup {
    /// Identifies the factor.
    pub id: FactorId,
    /// The secret as a person types it, in base32.
    pub secret: TotpSecret,
    /// The `otpauth` URI that contains the secret, which an app reads from a QR code.
    pub uri: TotpSecret,
}

/// The name of an authenticator app that the user does not name.
const TOTP_NAME: &str = "Authenticator app";

/// The name of a passkey that the user does not name.
#[cfg(feature = "passkeys")]
const PASSKEY_NAME: &str = "Passkey";

impl Factors<'_> {
    /// Returns the caller's confirmed factors.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotAUser`] for trusted code.
    pub async fn list(&self, caller: &Caller) -> Result<FactorList> {
        let (user, _) = caller.require_user()?;
        let mut factors = self.0.store.factors(caller.tenant(), user).await?;
        factors.retain(Factor::is_confirmed);
        let recovery_codes_left = self.0.store.recovery_codes_left(caller.tenant(), user).await?;
        Ok(FactorList { factors, recovery_codes_left })
    }

    /// Sets up an authenticator app for the caller. It replaces one that was not confirmed, and proves nothing until it
    /// is [confirmed](Self::confirm_totp).
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh), [`Error::Validation`] which names
    /// `name`, [`Conflict::SecondFactorOff`], [`Conflict::TooManyFactors`], [`Forbidden::NotAUser`] for trusted code.
    pub async fn add_totp(&self, caller: &Caller, name: Option<&str>) -> Result<TotpSetup> {
        let iam = self.0;
        let name = check_name(name.unwrap_or(TOTP_NAME))?;
        let tenant = self.tenant_for_setup(caller).await?;
        let mut work = iam.begin(caller).await?;
        let user = lock_own(&mut work).await?;
        let factors = work.locks().factors(user.id).await?;
        hold_maximum(&factors)?;
        let (id, secret, now) = (iam.next_id(), new_secret(&*iam.random), work.now());
        let key = iam.totp_cipher.encrypt((user.tenant_id, user.id, id), secret.as_slice(), &*iam.random)?;
        let factor = Factor {
            id,
            tenant_id: user.tenant_id,
            user_id: user.id,
            kind: FactorKind::Totp,
            name,
            key,
            credential_id: None,
            counter: 0,
            created_at: now,
            confirmed_at: None,
            last_used_at: None,
        };
        work.apply(FactorChange::Prepare(factor)).await?;
        work.commit().await?;
        let secret = text_of(secret.as_slice());
        let uri = otpauth_uri(&secret, tenant.name.as_str(), user.email.as_str());
        Ok(TotpSetup { id, secret, uri })
    }

    /// Confirms an authenticator app by its first code. Returns new recovery codes if the caller has none, and tells
    /// the caller by mail.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh), [`Error::Validation`] which names
    /// `code`, [`Error::NotFound`], [`Conflict::FactorConfirmed`], [`Conflict::SecondFactorOff`],
    /// [`Conflict::TooManyFactors`], [`Forbidden::NotAUser`] for trusted code.
    pub async fn confirm_totp(&self, caller: &Caller, id: FactorId, code: &OneTimeCode) -> Result<Vec<RecoveryCode>> {
        let iam = self.0;
        self.tenant_for_setup(caller).await?;
        let mut work = iam.begin(caller).await?;
        let user = lock_own(&mut work).await?;
        let factors = work.locks().factors(user.id).await?;
        let is_asked_for = |factor: &&Factor| factor.id == id && factor.kind == FactorKind::Totp;
        let factor = factors.iter().find(is_asked_for).ok_or_else(not_found)?;
        if factor.is_confirmed() {
            return Err(Conflict::FactorConfirmed.into());
        }
        hold_maximum(&factors)?;
        let (secret, now) = (iam.totp_cipher.decrypt((user.tenant_id, user.id, id), &factor.key)?, work.now());
        let step = step_of(&secret, code, now, factor.counter);
        let step = step.ok_or_else(|| Error::field("code", "is not the present code of the authenticator app"))?;
        let confirmed = Factor { counter: step, confirmed_at: Some(now), ..factor.clone() };
        work.apply(FactorChange::Confirm(confirmed)).await?;
        let codes = self.finish_setup(&mut work, &user).await?;
        work.commit().await?;
        Ok(codes)
    }

    /// Returns the options with which a browser registers a passkey of the caller: the argument of
    /// `PublicKeyCredential.parseCreationOptionsFromJSON()`.
    ///
    /// # Errors
    ///
    /// [`Error::PasskeysOff`], [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh),
    /// [`Conflict::SecondFactorOff`], [`Conflict::TooManyFactors`], [`Forbidden::NotAUser`] for trusted code.
    #[cfg(feature = "passkeys")]
    pub async fn passkey_options(&self, caller: &Caller) -> Result<serde_json::Value> {
        let iam = self.0;
        self.tenant_for_setup(caller).await?;
        let mut work = iam.begin(caller).await?;
        let user = lock_own(&mut work).await?;
        let factors = work.locks().factors(user.id).await?;
        hold_maximum(&factors)?;
        let begun = passkey::begin_registration(iam, &user, &factors)?;
        let (purpose, now) = (ChallengePurpose::PasskeyRegistration, work.now());
        let challenge = begun.challenge(user.tenant_id, Some(user.id), purpose, now);
        work.apply(ChallengeChange::Issue(challenge)).await?;
        work.commit().await?;
        Ok(begun.options)
    }

    /// Registers a passkey of the caller by the response of a browser to the [options](Self::passkey_options). Returns
    /// it, with new recovery codes if the caller has none, and tells the caller by mail.
    ///
    /// # Errors
    ///
    /// [`Error::PasskeysOff`], [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh),
    /// [`Error::Validation`] which names `name` or `credential`, [`Conflict::PasskeyRegistered`],
    /// [`Conflict::SecondFactorOff`], [`Conflict::TooManyFactors`], [`Forbidden::NotAUser`] for trusted code.
    #[cfg(feature = "passkeys")]
    pub async fn add_passkey(
        &self,
        caller: &Caller,
        name: Option<&str>,
        response: &iam_webauthn::RegistrationResponse,
    ) -> Result<(Factor, Vec<RecoveryCode>)> {
        let iam = self.0;
        let name = check_name(name.unwrap_or(PASSKEY_NAME))?;
        self.tenant_for_setup(caller).await?;
        let mut work = iam.begin(caller).await?;
        let user = lock_own(&mut work).await?;
        let factors = work.locks().factors(user.id).await?;
        hold_maximum(&factors)?;
        let refused = || Error::field("credential", "does not answer your options, which work once for five minutes");
        let now = work.now();
        let challenge = work.locks().lock_challenge(&passkey::hash_of(response.claimed_challenge())).await?;
        let is_own = |challenge: &Challenge| {
            challenge.user_id == Some(user.id) && challenge.is_open_for(ChallengePurpose::PasskeyRegistration, now)
        };
        let challenge = challenge.filter(is_own).ok_or_else(refused)?;
        let ceremony = challenge.ceremony.clone().ok_or_else(refused)?;
        work.apply(ChallengeChange::End(challenge)).await?;
        let named = (iam.next_id(), name, now);
        let factor = match passkey::registered(iam, &user, &ceremony, response, named)? {
            Ok(factor) => factor,
            Err(refusal) => {
                work.commit().await?;
                return Err(Error::field("credential", refusal.to_string()));
            }
        };
        work.apply(FactorChange::Register(factor.clone())).await?;
        let codes = self.finish_setup(&mut work, &user).await?;
        work.commit().await?;
        Ok((factor, codes))
    }

    /// Gives one of the caller's factors another name.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Validation`] which names `name`, [`Forbidden::NotAUser`] for trusted code.
    pub async fn rename(&self, caller: &Caller, id: FactorId, name: &str) -> Result<Factor> {
        let name = check_name(name)?;
        let mut work = self.0.begin(caller).await?;
        let user = lock_own(&mut work).await?;
        let before = confirmed(work.locks().factors(user.id).await?, id)?;
        let after = Factor { name, ..before.clone() };
        if after != before {
            work.apply(FactorChange::Rename { before, after: after.clone() }).await?;
            work.commit().await?;
        }
        Ok(after)
    }

    /// Removes one of the caller's factors, and tells the caller by mail. The recovery codes end with the last factor.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh), [`Error::NotFound`],
    /// [`Conflict::LastFactor`] where the tenant requires one, [`Forbidden::NotAUser`] for trusted code.
    pub async fn remove(&self, caller: &Caller, id: FactorId) -> Result<()> {
        let iam = self.0;
        iam.require_fresh(caller).await?;
        let tenant = iam.store.tenant(caller.tenant()).await?.ok_or(Error::NotFound(ResourceType::TENANT))?;
        let mut work = iam.begin(caller).await?;
        let user = lock_own(&mut work).await?;
        let factors = work.locks().factors(user.id).await?;
        let is_last = factors.iter().filter(|factor| factor.is_confirmed()).count() == 1;
        let factor = confirmed(factors, id)?;
        if is_last && tenant.second_factor == SecondFactorPolicy::Required {
            return Err(Conflict::LastFactor.into());
        }
        work.apply(FactorChange::Remove { user: user.id, factors: vec![factor], is_last, grants: None }).await?;
        iam.queue_notice(&mut work, MailKind::FactorRemoved, &user.email, Some(user.id)).await?;
        work.commit().await
    }

    /// Gives the caller a new set of recovery codes, which ends the former set.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh), [`Conflict::NoFactor`],
    /// [`Forbidden::NotAUser`] for trusted code.
    pub async fn issue_recovery_codes(&self, caller: &Caller) -> Result<Vec<RecoveryCode>> {
        self.0.require_fresh(caller).await?;
        let mut work = self.0.begin(caller).await?;
        let user = lock_own(&mut work).await?;
        if !work.locks().factors(user.id).await?.iter().any(Factor::is_confirmed) {
            return Err(Conflict::NoFactor.into());
        }
        let codes = self.issue(&mut work, user.id).await?;
        work.commit().await?;
        Ok(codes)
    }

    /// Removes all factors and recovery codes of another user, ends its sessions, and tells it by mail. Needs
    /// `users:update`, and everything that the user's roles permit: a caller that knows the password of that user could
    /// use the account. Does nothing for a user without a factor.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::Escalation`], [`Error::NotFound`], [`Conflict::OwnFactors`],
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh).
    pub async fn reset(&self, caller: &Caller, user: UserId) -> Result<()> {
        let iam = self.0;
        iam.rights(caller).visible_scope(&permission::USERS_UPDATE)?;
        if caller.user() == Some(user) {
            return Err(Conflict::OwnFactors.into());
        }
        iam.require_fresh(caller).await?;
        let mut work = iam.begin(caller).await?;
        let Subject { user, grants, .. } = Subject::lock(&mut work, user, &permission::USERS_UPDATE, true).await?;
        let factors = work.locks().factors(user.id).await?;
        let (has_none, has_confirmed) = (factors.is_empty(), factors.iter().any(Factor::is_confirmed));
        let remove = FactorChange::Remove { user: user.id, factors, is_last: true, grants: Some(grants) };
        // First, so that a caller without the rights does not learn whether the user has factors.
        let remove = Change::from(remove);
        work.check_granted_rights(&remove)?;
        if has_none {
            return Ok(());
        }
        work.apply(remove).await?;
        work.apply(ChallengeChange::EndAll(user.id)).await?;
        let sessions = work.locks().lock_sessions_of(user.id).await?;
        end_sessions(&mut work, sessions, EndReason::FactorsRemoved).await?;
        if has_confirmed && user.status != UserStatus::Inactive {
            iam.queue_notice(&mut work, MailKind::FactorRemoved, &user.email, Some(user.id)).await?;
        }
        work.commit().await
    }

    /// Removes the factors of the user with this e-mail as [`reset`](Self::reset) does. Only trusted code may call
    /// this.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`] for a user, [`Error::Validation`] which names `email`, [`Error::NotFound`].
    pub async fn reset_with_email(&self, caller: &Caller, email: &str) -> Result<User> {
        if !matches!(caller.actor(), Actor::System { .. }) {
            return Err(Forbidden::NotTrusted.into());
        }
        let mut fields = Fields::default();
        let Some(email) = fields.check("email", email.parse::<Email>()) else { return Err(fields.into_error().into()) };
        let account = self.0.store.guarded_account(caller.tenant(), &email.key()).await?.account;
        let user = account.ok_or(Error::NotFound(ResourceType::USER))?.user;
        self.reset(caller, user.id).await?;
        Ok(user)
    }

    /// Returns the tenant of a caller that may set up a factor now.
    async fn tenant_for_setup(&self, caller: &Caller) -> Result<Tenant> {
        caller.require_user()?;
        self.0.require_fresh(caller).await?;
        let tenant = self.0.store.tenant(caller.tenant()).await?.ok_or(Error::NotFound(ResourceType::TENANT))?;
        if tenant.second_factor == SecondFactorPolicy::Off {
            return Err(Conflict::SecondFactorOff.into());
        }
        Ok(tenant)
    }

    /// Tells a user of its new factor. Returns new recovery codes if it has none.
    async fn finish_setup(&self, work: &mut UnitOfWork<'_>, user: &User) -> Result<Vec<RecoveryCode>> {
        let has_codes = !work.locks().recovery_codes(user.id).await?.is_empty();
        let codes = if has_codes { Vec::new() } else { self.issue(work, user.id).await? };
        self.0.queue_notice(work, MailKind::FactorAdded, &user.email, Some(user.id)).await?;
        Ok(codes)
    }

    async fn issue(&self, work: &mut UnitOfWork<'_>, user: UserId) -> Result<Vec<RecoveryCode>> {
        let codes: Vec<RecoveryCode> = (0..RECOVERY_CODES).map(|_| new_recovery_code(&*self.0.random)).collect();
        let hashes = codes.iter().map(|code| hash_of(user, code)).collect();
        work.apply(FactorChange::IssueRecoveryCodes { user, hashes }).await?;
        Ok(codes)
    }
}

/// Locks the account of the caller, whose factors change only under this lock.
async fn lock_own(work: &mut UnitOfWork<'_>) -> Result<User> {
    let (id, _) = work.caller().require_user()?;
    work.locks().lock_user(id).await?.ok_or(Error::NotFound(ResourceType::USER))
}

fn check_name(name: &str) -> Result<Name> {
    let mut fields = Fields::default();
    fields.check("name", name.parse()).ok_or_else(|| fields.into_error().into())
}

fn hold_maximum(factors: &[Factor]) -> Result<()> {
    let count = factors.iter().filter(|factor| factor.is_confirmed()).count();
    if count < Factor::MAX { Ok(()) } else { Err(Conflict::TooManyFactors.into()) }
}

/// Returns the confirmed factor with this identifier.
fn confirmed(factors: Vec<Factor>, id: FactorId) -> Result<Factor> {
    factors.into_iter().find(|factor| factor.id == id && factor.is_confirmed()).ok_or_else(not_found)
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::FACTOR)
}
