use iam_model::access::{Coverage, VisibleScope};
use iam_model::audit::ResourceType;
#[cfg(feature = "passkeys")]
use iam_model::challenge::{Challenge, ChallengePurpose};
#[cfg(feature = "passkeys")]
use iam_model::change::ChallengeChange;
use iam_model::change::{FactorChange, SessionChange};
use iam_model::clock::Timestamp;
use iam_model::error::{Conflict, Error, Forbidden, Result, Unauthenticated};
use iam_model::factor::{Factor, FactorKey, FactorKind, SecondFactorPolicy};
use iam_model::id::{FactorId, UserId};
use iam_model::mail::MailKind;
use iam_model::page::PageRequest;
use iam_model::permission;
use iam_model::secret::{OneTimeCode, RecoveryCode, TotpSecret};
use iam_model::session::{EndReason, Session};
use iam_model::tenant::Tenant;
use iam_model::user::{User, UserFilter, UserKind, UserSort, UserStatus};
use iam_model::validate::{Fields, Name};

use crate::access::{Subject, require_for_user};
use crate::caller::Caller;
use crate::eligibility::with_sleeping;
use crate::engine::{Engine, UnitOfWork};
use crate::idempotency::Idempotency;
use crate::link::end_new_address;
use crate::one_time::{
    RECOVERY_CODES, hash_of, new_recovery_code, new_secret, otpauth_uri, six_digits, step_of, text_of,
};
#[cfg(feature = "passkeys")]
use crate::passkey;
use crate::session::{FRESH, end_begun, end_sessions_of, require_proof_by_factor};

/// Sets up and removes second factors; see [`Iam::factors`](crate::iam::Iam::factors).
///
/// Where the tenant requires a factor and the grace is over, a session that has authenticated by none is restricted. If
/// its user has a factor, the session can only list the factors until it has authenticated by one: every other call is
/// [`Forbidden::SecondFactorRequired`]. The person in it may know the password alone.
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

/// How many people have a second factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeopleWithFactor {
    /// The ACTIVE people of the tenant.
    pub people: u64,
    /// Those of them who have a confirmed factor.
    pub with_factor: u64,
    /// Whether there may be more who have one: only so many are counted.
    pub truncated: bool,
}

impl PeopleWithFactor {
    /// Returns the number of people without a factor; `None` if not all of those who have one were counted.
    #[must_use]
    pub fn without_factor(&self) -> Option<u64> {
        (!self.truncated).then(|| self.people.saturating_sub(self.with_factor))
    }
}

/// How many people with a factor are counted at most, so that the count does not become slow in a large tenant.
const MAX_COUNTED: u32 = 100_000;

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

/// The recovery codes of an answer, which are shown once.
#[derive(Clone, Debug)]
pub enum IssuedCodes {
    /// The call has issued no codes.
    None,
    /// The call has issued these codes.
    New(Vec<RecoveryCode>),
    /// An earlier call under the same idempotency key has issued codes.
    ShownBefore,
}

impl IssuedCodes {
    fn repeated(has_codes: bool) -> Self {
        if has_codes { Self::ShownBefore } else { Self::None }
    }

    /// Returns the codes that can be shown.
    #[must_use]
    pub fn into_codes(self) -> Vec<RecoveryCode> {
        match self {
            Self::New(codes) => codes,
            Self::None | Self::ShownBefore => Vec::new(),
        }
    }
}

impl From<Vec<RecoveryCode>> for IssuedCodes {
    fn from(codes: Vec<RecoveryCode>) -> Self {
        if codes.is_empty() { Self::None } else { Self::New(codes) }
    }
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

    /// Counts the ACTIVE people of the tenant, and those of them who have a confirmed factor. It names none of them.
    /// Needs `users:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn count_people(&self, caller: &Caller) -> Result<PeopleWithFactor> {
        self.0.rights(caller).require(&permission::USERS_READ)?;
        let _turn = self.0.long_read(caller).await?;
        let filter =
            UserFilter { status: Some(UserStatus::Active), kind: Some(UserKind::Human), ..UserFilter::default() };
        let (scope, one) = (VisibleScope::Tenant, PageRequest::new(1, 1)?);
        let people = self.0.store.users(caller.tenant(), &filter, &scope, UserSort::default(), one, self.0.now());
        let people = people.await?.total;
        let with_factor = self.0.store.people_with_factor(caller.tenant(), MAX_COUNTED).await?;
        Ok(PeopleWithFactor { people, with_factor, truncated: with_factor >= u64::from(MAX_COUNTED) })
    }

    /// Whether a user has a confirmed factor. It tells neither which nor how many. Needs `users:update`; a permission that
    /// is held in organizations is for users who have their home there or below, and hold no role elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn has_any(&self, caller: &Caller, user: UserId) -> Result<bool> {
        self.0.rights(caller).require_anywhere(&permission::USERS_UPDATE)?;
        let user = self.0.store.user(caller.tenant(), user).await?.ok_or(Error::NotFound(ResourceType::USER))?;
        require_for_user(self.0, caller, &user, &permission::USERS_UPDATE, Coverage::Whole).await?;
        let factors = self.0.store.factors(caller.tenant(), user.id).await?;
        Ok(factors.iter().any(Factor::is_confirmed))
    }

    /// Sets up an authenticator app for the caller. It replaces one that was not confirmed, and proves nothing until it
    /// is [confirmed](Self::confirm_totp).
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::NotFresh`], [`Error::Validation`] which names `name`, [`Conflict::SecondFactorOff`],
    /// [`Conflict::TooManyFactors`], [`Forbidden::SecondFactorRequired`], [`Forbidden::NotAUser`] for trusted code.
    pub async fn add_totp(&self, caller: &Caller, name: Option<&str>) -> Result<TotpSetup> {
        let (_, setup) = self.add_totp_once(caller, name, None).await?;
        setup.ok_or_else(|| Error::internal("factor", "a request that is not repeated has no secret"))
    }

    /// Sets up an authenticator app as [`add_totp`](Self::add_totp) does, at most once for an
    /// [idempotency key](crate::idempotency). The answer to a repeated request has no secret.
    ///
    /// # Errors
    ///
    /// Those of [`add_totp`](Self::add_totp), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn add_totp_once(
        &self,
        caller: &Caller,
        name: Option<&str>,
        idempotency: Option<&Idempotency>,
    ) -> Result<(FactorId, Option<TotpSetup>)> {
        let iam = self.0;
        let name = check_name(name.unwrap_or(TOTP_NAME))?;
        let tenant = self.tenant_for_setup(caller).await?;
        let once = iam.once(caller, idempotency, &ResourceType::FACTOR);
        let mut work = iam.begin(caller).await?;
        if let Some(id) = once.find(&mut work).await? {
            return Ok((id, None));
        }
        let OwnAccount { user, .. } = OwnAccount::lock_for_setup(&mut work, &tenant).await?;
        let id: FactorId = iam.next_id();
        let (secret, now) = (new_secret(&*iam.random), work.now());
        let owner = [user.tenant_id.as_uuid(), user.id.as_uuid(), id.as_uuid()];
        let key = FactorKey(iam.keys.totp.encrypt(&owner, secret.as_slice(), &*iam.random)?);
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
        once.keep(&mut work, &id).await?;
        work.commit().await?;
        let secret = text_of(secret.as_slice());
        let uri = otpauth_uri(&secret, tenant.name.as_str(), user.email.as_str());
        Ok((id, Some(TotpSetup { id, secret, uri })))
    }

    /// Confirms an authenticator app by its first code. Returns new recovery codes if the caller has none, and tells
    /// the caller by mail.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::NotFresh`], [`Error::Validation`] which names `code`, [`Error::NotFound`],
    /// [`Conflict::FactorConfirmed`], [`Conflict::SecondFactorOff`], [`Conflict::TooManyFactors`],
    /// [`Forbidden::SecondFactorRequired`], [`Forbidden::NotAUser`] for trusted code.
    pub async fn confirm_totp(&self, caller: &Caller, id: FactorId, code: &OneTimeCode) -> Result<Vec<RecoveryCode>> {
        Ok(self.confirm_totp_once(caller, id, code, None).await?.into_codes())
    }

    /// Confirms an authenticator app as [`confirm_totp`](Self::confirm_totp) does, at most once for an
    /// [idempotency key](crate::idempotency).
    ///
    /// # Errors
    ///
    /// Those of [`confirm_totp`](Self::confirm_totp), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn confirm_totp_once(
        &self,
        caller: &Caller,
        id: FactorId,
        code: &OneTimeCode,
        idempotency: Option<&Idempotency>,
    ) -> Result<IssuedCodes> {
        let (iam, code) = (self.0, six_digits(code)?);
        let tenant = self.tenant_for_setup(caller).await?;
        let once = iam.once(caller, idempotency, &ResourceType::FACTOR);
        let mut work = iam.begin(caller).await?;
        if let Some(has_codes) = once.find(&mut work).await? {
            return Ok(IssuedCodes::repeated(has_codes));
        }
        let own = OwnAccount::lock(&mut work).await?;
        let is_asked_for = |factor: &&Factor| factor.id == id && factor.kind == FactorKind::Totp;
        let factor = own.factors.iter().find(is_asked_for).ok_or_else(not_found)?;
        if factor.is_confirmed() {
            return Err(Conflict::FactorConfirmed.into());
        }
        own.admit_setup(&tenant, work.now())?;
        let owner = [own.user.tenant_id.as_uuid(), own.user.id.as_uuid(), id.as_uuid()];
        let (secret, now) = (iam.keys.totp.decrypt(&owner, &factor.key.0)?, work.now());
        let step = step_of(&secret, &code, now, factor.counter);
        let step = step.ok_or_else(|| Error::field("code", "is not the present code of the authenticator app"))?;
        let confirmed = Factor { counter: step, confirmed_at: Some(now), ..factor.clone() };
        work.apply(FactorChange::Confirm(confirmed)).await?;
        let codes = self.finish_setup(&mut work, own, FactorKind::Totp).await?;
        once.keep(&mut work, &!codes.is_empty()).await?;
        work.commit().await?;
        Ok(codes.into())
    }

    /// Returns the options with which a browser registers a passkey of the caller: the argument of
    /// `PublicKeyCredential.parseCreationOptionsFromJSON()`.
    ///
    /// # Errors
    ///
    /// [`Error::PasskeysOff`], [`Unauthenticated::NotFresh`], [`Conflict::SecondFactorOff`],
    /// [`Conflict::TooManyFactors`], [`Forbidden::SecondFactorRequired`], [`Forbidden::NotAUser`] for trusted code.
    #[cfg(feature = "passkeys")]
    pub async fn passkey_options(&self, caller: &Caller) -> Result<serde_json::Value> {
        let iam = self.0;
        let tenant = self.tenant_for_setup(caller).await?;
        let mut work = iam.begin(caller).await?;
        let OwnAccount { user, factors, .. } = OwnAccount::lock_for_setup(&mut work, &tenant).await?;
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
    /// [`Error::PasskeysOff`], [`Unauthenticated::NotFresh`], [`Error::Validation`] which names `name` or `credential`,
    /// [`Conflict::PasskeyRegistered`], [`Conflict::SecondFactorOff`], [`Conflict::TooManyFactors`],
    /// [`Forbidden::SecondFactorRequired`], [`Forbidden::NotAUser`] for trusted code.
    #[cfg(feature = "passkeys")]
    pub async fn add_passkey(
        &self,
        caller: &Caller,
        name: Option<&str>,
        response: &iam_webauthn::RegistrationResponse,
    ) -> Result<(Factor, Vec<RecoveryCode>)> {
        let (factor, codes) = self.add_passkey_once(caller, name, response, None).await?;
        Ok((factor, codes.into_codes()))
    }

    /// Registers a passkey as [`add_passkey`](Self::add_passkey) does, at most once for an
    /// [idempotency key](crate::idempotency). In the answer to a repeated request, the factor has no key.
    ///
    /// # Errors
    ///
    /// Those of [`add_passkey`](Self::add_passkey), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    #[cfg(feature = "passkeys")]
    pub async fn add_passkey_once(
        &self,
        caller: &Caller,
        name: Option<&str>,
        response: &iam_webauthn::RegistrationResponse,
        idempotency: Option<&Idempotency>,
    ) -> Result<(Factor, IssuedCodes)> {
        let iam = self.0;
        let name = check_name(name.unwrap_or(PASSKEY_NAME))?;
        let tenant = self.tenant_for_setup(caller).await?;
        let once = iam.once(caller, idempotency, &ResourceType::FACTOR);
        let mut work = iam.begin(caller).await?;
        if let Some((factor, has_codes)) = once.find(&mut work).await? {
            return Ok((factor, IssuedCodes::repeated(has_codes)));
        }
        let own = OwnAccount::lock_for_setup(&mut work, &tenant).await?;
        let user = &own.user;
        let refused = || Error::field("credential", "does not answer your options, which work once for five minutes");
        let now = work.now();
        let challenge = work.reads().lock_challenge(&passkey::hash_of(response.claimed_challenge())).await?;
        let is_own = |challenge: &Challenge| {
            challenge.user_id == Some(user.id) && challenge.is_open_for(ChallengePurpose::PasskeyRegistration, now)
        };
        let challenge = challenge.filter(is_own).ok_or_else(refused)?;
        let ceremony = challenge.ceremony.clone().ok_or_else(refused)?;
        work.apply(ChallengeChange::End(challenge)).await?;
        let named = (iam.next_id(), name, now);
        let factor = match passkey::registered(iam, user, &ceremony, response, named)? {
            Ok(factor) => factor,
            Err(refusal) => {
                work.commit().await?;
                return Err(Error::field("credential", refusal.to_string()));
            }
        };
        work.apply(FactorChange::Register(factor.clone())).await?;
        let codes = self.finish_setup(&mut work, own, FactorKind::Passkey).await?;
        once.keep(&mut work, &(&factor, !codes.is_empty())).await?;
        work.commit().await?;
        Ok((factor, codes.into()))
    }

    /// Gives one of the caller's factors another name.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Validation`] which names `name`, [`Forbidden::SecondFactorRequired`],
    /// [`Forbidden::NotAUser`] for trusted code.
    pub async fn rename(&self, caller: &Caller, id: FactorId, name: &str) -> Result<Factor> {
        let name = check_name(name)?;
        let tenant = self.own_tenant(caller).await?;
        let mut work = self.0.begin(caller).await?;
        let own = OwnAccount::lock(&mut work).await?;
        let before = own.confirmed(id)?.clone();
        own.require_own_factor(&tenant, work.now())?;
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
    /// [`Unauthenticated::NotFresh`], [`Error::NotFound`], [`Conflict::LastFactor`] where the tenant requires one,
    /// [`Conflict::LastIdentity`] for the last passkey of a user that logs in by nothing else,
    /// [`Forbidden::SecondFactorRequired`], [`Forbidden::NotAUser`] for trusted code.
    pub async fn remove(&self, caller: &Caller, id: FactorId) -> Result<()> {
        let iam = self.0;
        caller.refuse_impersonator()?;
        iam.require_recent(caller).await?;
        let tenant = self.own_tenant(caller).await?;
        let needs_passkey = !iam.logs_in_without_passkey(tenant.id, caller.require_user()?.0).await?;
        let mut work = iam.begin(caller).await?;
        let own = OwnAccount::lock(&mut work).await?;
        let factor = own.confirmed(id)?.clone();
        own.admit_change(&tenant, work.now())?;
        let is_other_passkey =
            |other: &Factor| other.is_confirmed() && other.kind == FactorKind::Passkey && other.id != factor.id;
        if needs_passkey && factor.kind == FactorKind::Passkey && !own.factors.iter().any(is_other_passkey) {
            return Err(Conflict::LastIdentity.into());
        }
        let OwnAccount { user, factors, .. } = own;
        let is_last = factors.iter().filter(|factor| factor.is_confirmed()).count() == 1;
        if is_last && tenant.second_factor == SecondFactorPolicy::Required {
            return Err(Conflict::LastFactor.into());
        }
        work.apply(FactorChange::Remove { user: user.id, factors: vec![factor], is_last, grants: None }).await?;
        // The person may remove a factor because another one has used it.
        end_begun(&mut work, &user).await?;
        iam.queue_notice(&mut work, MailKind::FactorRemoved, &user).await?;
        work.commit().await
    }

    /// Gives the caller a new set of recovery codes, which ends the former set, and tells the caller by mail.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::NotFresh`], [`Conflict::NoFactor`], [`Forbidden::SecondFactorRequired`],
    /// [`Forbidden::NotAUser`] for trusted code.
    pub async fn issue_recovery_codes(&self, caller: &Caller) -> Result<Vec<RecoveryCode>> {
        Ok(self.issue_recovery_codes_once(caller, None).await?.into_codes())
    }

    /// Gives the caller new recovery codes as [`issue_recovery_codes`](Self::issue_recovery_codes) does, at most once
    /// for an [idempotency key](crate::idempotency).
    ///
    /// # Errors
    ///
    /// Those of [`issue_recovery_codes`](Self::issue_recovery_codes), [`Error::IdempotencyKeyReused`],
    /// [`Conflict::StillRunning`].
    pub async fn issue_recovery_codes_once(
        &self,
        caller: &Caller,
        idempotency: Option<&Idempotency>,
    ) -> Result<IssuedCodes> {
        caller.refuse_impersonator()?;
        self.0.require_recent(caller).await?;
        let tenant = self.own_tenant(caller).await?;
        let once = self.0.once(caller, idempotency, &ResourceType::FACTOR);
        let mut work = self.0.begin(caller).await?;
        if let Some(has_codes) = once.find(&mut work).await? {
            return Ok(IssuedCodes::repeated(has_codes));
        }
        let own = OwnAccount::lock(&mut work).await?;
        if !own.has_factor() {
            return Err(Conflict::NoFactor.into());
        }
        own.admit_change(&tenant, work.now())?;
        let codes = self.issue(&mut work, own.user.id).await?;
        once.keep(&mut work, &!codes.is_empty()).await?;
        self.0.queue_notice(&mut work, MailKind::RecoveryCodesReplaced, &own.user).await?;
        work.commit().await?;
        Ok(codes.into())
    }

    /// Removes all factors and recovery codes of another user, ends its sessions, and tells it by mail. Needs
    /// `users:update`, and everything that the user's roles permit, also those for which it may ask, both by standing
    /// rights: a caller that knows the password of that user could use the account. Does nothing for a user without a
    /// factor.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::Escalation`], [`Error::NotFound`], [`Conflict::OwnFactors`],
    /// [`Conflict::UserInactive`], [`Unauthenticated::NotFresh`].
    pub async fn reset(&self, caller: &Caller, user: UserId) -> Result<()> {
        let iam = self.0;
        iam.standing(caller).rights().require_anywhere(&permission::USERS_UPDATE)?;
        if caller.user() == Some(user) {
            return Err(Conflict::OwnFactors.into());
        }
        caller.refuse_impersonator()?;
        iam.require_fresh(caller).await?;
        let mut work = iam.begin(caller).await?;
        let Subject { user, grants, .. } =
            Subject::lock_by_standing(&mut work, user, &permission::USERS_UPDATE).await?;
        let grants = with_sleeping(&mut work, user.id, &grants).await?;
        let factors = work.reads().factors(user.id).await?;
        let (has_none, has_confirmed) = (factors.is_empty(), factors.iter().any(Factor::is_confirmed));
        let remove = FactorChange::Remove { user: user.id, factors, is_last: true, grants: Some(grants) };
        // First, so that a caller without the rights does not learn whether the user has factors.
        let remove = work.check_granted_rights(remove).await?;
        if has_none {
            return Ok(());
        }
        work.apply(remove).await?;
        end_sessions_of(&mut work, user.id, EndReason::FactorsRemoved, |_| true).await?;
        if has_confirmed {
            iam.queue_notice(&mut work, MailKind::FactorRemoved, &user).await?;
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
        let user = self.0.user_with_email(caller, email).await?;
        self.reset(caller, user.id).await?;
        Ok(user)
    }

    /// Returns the tenant of a caller that may set up a factor now.
    async fn tenant_for_setup(&self, caller: &Caller) -> Result<Tenant> {
        caller.refuse_impersonator()?;
        caller.require_user()?;
        self.0.require_recent(caller).await?;
        let tenant = self.own_tenant(caller).await?;
        if tenant.second_factor == SecondFactorPolicy::Off {
            return Err(Conflict::SecondFactorOff.into());
        }
        Ok(tenant)
    }

    async fn own_tenant(&self, caller: &Caller) -> Result<Tenant> {
        self.0.store.tenant(caller.tenant()).await?.ok_or(Error::NotFound(ResourceType::TENANT))
    }

    /// Tells a user of its new factor. Returns new recovery codes if it has none.
    ///
    /// The session has authenticated by its user's first factor, which was set up in it. Further factors say nothing
    /// about the session: it had to authenticate by another one, where the tenant requires that.
    async fn finish_setup(
        &self,
        work: &mut UnitOfWork<'_>,
        own: OwnAccount,
        kind: FactorKind,
    ) -> Result<Vec<RecoveryCode>> {
        let is_first = !own.has_factor();
        let OwnAccount { user, session, .. } = own;
        if is_first {
            let method = kind.method();
            let session = Session { methods: session.methods.clone().and(method), ..session };
            work.apply(SessionChange::StepUp { session, method }).await?;
        }
        let has_codes = !work.reads().recovery_codes(user.id).await?.is_empty();
        let codes = if has_codes { Vec::new() } else { self.issue(work, user.id).await? };
        // A thief of the password may have asked for it, before the owner set up the factor.
        end_new_address(work, &user).await?;
        self.0.queue_notice(work, MailKind::FactorAdded, &user).await?;
        Ok(codes)
    }

    async fn issue(&self, work: &mut UnitOfWork<'_>, user: UserId) -> Result<Vec<RecoveryCode>> {
        let codes: Vec<RecoveryCode> = (0..RECOVERY_CODES).map(|_| new_recovery_code(&*self.0.random)).collect();
        let hashes = codes.iter().map(|code| hash_of(user, code)).collect();
        work.apply(FactorChange::IssueRecoveryCodes { user, hashes }).await?;
        Ok(codes)
    }
}

/// The account of a caller, with its session. Its factors, whether confirmed or not, change only under this lock.
struct OwnAccount {
    user: User,
    session: Session,
    factors: Vec<Factor>,
}

impl OwnAccount {
    async fn lock(work: &mut UnitOfWork<'_>) -> Result<Self> {
        let (id, session) = work.caller().require_user()?;
        let user = work.reads().lock_user(id).await?.ok_or(Error::NotFound(ResourceType::USER))?;
        let session = work.reads().lock_session(session).await?.ok_or(Unauthenticated::InvalidToken)?;
        let factors = work.reads().factors(id).await?;
        Ok(Self { user, session, factors })
    }

    /// Locks the account of a caller that may set up another factor.
    async fn lock_for_setup(work: &mut UnitOfWork<'_>, tenant: &Tenant) -> Result<Self> {
        let own = Self::lock(work).await?;
        own.admit_setup(tenant, work.now())?;
        Ok(own)
    }

    fn admit_setup(&self, tenant: &Tenant, now: Timestamp) -> Result<()> {
        self.admit_change(tenant, now)?;
        let count = self.factors.iter().filter(|factor| factor.is_confirmed()).count();
        if count < Factor::MAX { Ok(()) } else { Err(Conflict::TooManyFactors.into()) }
    }

    /// Refuses a session that may not change the factors which its user has. It is checked under the lock: the user may
    /// have set up its first factor while the request waited for it.
    fn admit_change(&self, tenant: &Tenant, now: Timestamp) -> Result<()> {
        self.require_own_factor(tenant, now)?;
        require_proof_by_factor(&self.session, &self.factors, FRESH)
    }

    fn has_factor(&self) -> bool {
        self.factors.iter().any(Factor::is_confirmed)
    }

    /// Refuses a restricted session of a user that has a factor. Only a proof by a factor ends the restriction: the
    /// person in the session may know the password alone, and must gain nothing by waiting until the user sets up a
    /// factor elsewhere.
    fn require_own_factor(&self, tenant: &Tenant, now: Timestamp) -> Result<(), Forbidden> {
        let (created_at, methods) = (self.user.created_at, &self.session.methods);
        match tenant.factor_demand().restricts_session_from(created_at, methods, self.has_factor()) {
            Some(start) if start <= now && self.has_factor() => Err(Forbidden::SecondFactorRequired),
            _ => Ok(()),
        }
    }

    /// Returns the confirmed factor with this identifier.
    fn confirmed(&self, id: FactorId) -> Result<&Factor> {
        self.factors.iter().find(|factor| factor.id == id && factor.is_confirmed()).ok_or_else(not_found)
    }
}

fn check_name(name: &str) -> Result<Name> {
    let mut fields = Fields::default();
    fields.check("name", name.parse()).ok_or_else(|| fields.into_error().into())
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::FACTOR)
}
