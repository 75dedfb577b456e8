//! Step-up: a session authenticates again, for calls that need a recent proof of identity
//! (`docs/http-api.md#step-up`, RFC 9470).

use std::time::Duration;

use chrono::TimeDelta;
use iam_model::change::SessionChange;
use iam_model::clock::Timestamp;
use iam_model::context::Actor;
use iam_model::error::{Error, FederatedLogin, Result, Unauthenticated};
use iam_model::factor::{AuthenticationMethod, AuthenticationMethods, Factor};
use iam_model::id::SessionId;
use iam_model::secret::Password;
use iam_model::session::Session;
use iam_model::user::User;
use iam_model::validate::Fields;

use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork};
use crate::guard::{
    AccountUnderLock, FactorProof, PasswordAttempt, PasswordCredentials, delay_refusal, tell_of_recovery_code,
};
use crate::hashing::Share;
use crate::own_password::own_user;
use crate::session::Sessions;
#[cfg(feature = "passkeys")]
use crate::session::passkey::take_step_up;
use crate::session::second_factor::refuse;

/// How recent the last proof of identity must be for calls that change credentials: 10 minutes.
pub const FRESH: TimeDelta = TimeDelta::minutes(10);

/// A proof by which a session authenticates again.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StepUp {
    /// The password, for a user without a second factor.
    Password(Password),
    /// A second factor.
    Factor(FactorProof),
}

impl Sessions<'_> {
    /// Authenticates the caller's session again. A user with a second factor proves its identity by that. A wrong proof
    /// counts like a failed login.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::Credentials`] and [`Unauthenticated::SecondFactor`] for a wrong proof,
    /// [`Unauthenticated::PasswordAlone`] for the password of a user with a second factor,
    /// [`Error::FederationRequired`] for that of a user who logs in by an identity provider alone, [`Error::AccountLocked`],
    /// [`Error::Validation`] for an empty password and for a code that is not six digits,
    /// [`Forbidden::NotAUser`](iam_model::error::Forbidden::NotAUser) for trusted code,
    /// [`Forbidden::Impersonator`](iam_model::error::Forbidden::Impersonator), [`Error::Overloaded`].
    pub async fn step_up(&self, caller: &Caller, proof: StepUp) -> Result<()> {
        caller.refuse_impersonator()?;
        let (_, session) = caller.require_user()?;
        match proof {
            StepUp::Password(password) => self.step_up_by_password(caller, session, password).await,
            StepUp::Factor(proof) => self.step_up_by_factor(caller, session, &proof).await,
        }
    }

    /// Checks that the caller's session has authenticated at most `max_age` ago. If the user has a second factor, only
    /// a session that has authenticated by one passes. Trusted code always passes, and a user who
    /// [acts as another one](Self::impersonate) never does.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::NotFresh`], [`Unauthenticated::InvalidToken`] if the session has ended.
    pub async fn require_fresh(&self, caller: &Caller, max_age: TimeDelta) -> Result<()> {
        self.0.require_fresh_within(caller, max_age).await
    }

    async fn step_up_by_password(&self, caller: &Caller, session: SessionId, password: Password) -> Result<()> {
        let iam = self.0;
        let mut fields = Fields::default();
        fields.require("password", password.expose());
        fields.finish()?;
        let user = own_user(iam, caller).await?;
        if iam.store.factors(user.tenant_id, user.id).await?.iter().any(Factor::is_confirmed) {
            return Err(Unauthenticated::PasswordAlone.into());
        }
        let credentials = PasswordCredentials { email: &user.email, password: &password, share: Share::of(caller) };
        let attempt = PasswordAttempt::verify_caller(iam, caller, credentials).await?;
        let tenant = iam.store.tenant(user.tenant_id).await?.ok_or(Unauthenticated::InvalidToken)?;
        let federated = iam.federated_logins((tenant.id, tenant.password_login), &user).await?;
        let delay = attempt.refusal_delay();
        delay_refusal(self.finish_by_password(caller, session, attempt, federated).await, delay).await
    }

    async fn finish_by_password(
        &self,
        caller: &Caller,
        session: SessionId,
        attempt: PasswordAttempt<'_>,
        federated: Vec<FederatedLogin>,
    ) -> Result<()> {
        let (verified, mut work) = attempt.apply_under_lock(self.0, caller).await?;
        match verified {
            Ok(verified) if !federated.is_empty() => {
                verified.refuse_as_federated(&mut work).await?;
                work.commit().await?;
                Err(Error::FederationRequired(federated))
            }
            Ok(verified) if verified.factors.is_empty() => {
                renew(self.0, work, &verified.account.user, session, AuthenticationMethod::Password).await
            }
            Ok(_) => Err(Unauthenticated::PasswordAlone.into()),
            Err(refusal) => refuse(work, refusal).await,
        }
    }

    async fn step_up_by_factor(&self, caller: &Caller, session: SessionId, proof: &FactorProof) -> Result<()> {
        let iam = self.0;
        let user = own_user(iam, caller).await?;
        let mut work = iam.begin(caller).await?;
        let account = AccountUnderLock::lock(&mut work, &user).await?.ok_or(Unauthenticated::SecondFactor)?;
        let ceremony = match proof {
            #[cfg(feature = "passkeys")]
            FactorProof::Passkey(response) => take_step_up(iam, &mut work, response).await?.ceremony,
            _ => None,
        };
        match account.verify_factor(iam, &mut work, proof, ceremony.as_ref()).await? {
            Ok(method) => renew(iam, work, &account.user, session, method).await,
            Err(refusal) => refuse(work, refusal).await,
        }
    }
}

/// Keeps that a session of a user has authenticated now by a method.
async fn renew(
    iam: &Engine,
    mut work: UnitOfWork<'_>,
    user: &User,
    session: SessionId,
    method: AuthenticationMethod,
) -> Result<()> {
    let session = work.reads().lock_session(session).await?.ok_or(Unauthenticated::InvalidToken)?;
    let authenticated_at = work.now();
    let methods = match method {
        // The user has no factor. One that it sets up later must not count as proven by a former one.
        AuthenticationMethod::Password => AuthenticationMethods::only(method),
        _ => session.methods.clone().and(method),
    };
    let session = Session { methods, authenticated_at, ..session };
    work.apply(SessionChange::StepUp { session, method }).await?;
    tell_of_recovery_code(iam, &mut work, user, method).await?;
    work.commit().await
}

impl Engine {
    /// Checks that the caller's session has authenticated within the time that is needed to change credentials.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::NotFresh`], [`Unauthenticated::InvalidToken`] if the session has ended.
    pub(crate) async fn require_fresh(&self, caller: &Caller) -> Result<()> {
        self.require_fresh_within(caller, FRESH).await
    }

    /// Checks only the age of the last proof of identity by the caller's session. For calls that check the methods of
    /// the session under the lock of the account; see [`require_proof_by_factor`].
    ///
    /// # Errors
    ///
    /// Those of [`require_fresh`](Self::require_fresh).
    pub(crate) async fn require_recent(&self, caller: &Caller) -> Result<()> {
        let session = self.session_to_check(caller).await?;
        session.map_or(Ok(()), |session| check_age(&session, self.now(), FRESH))
    }

    /// Returns the session of the caller. `None` for trusted code, which always passes.
    async fn session_to_check(&self, caller: &Caller) -> Result<Option<Session>> {
        if matches!(caller.actor(), Actor::System { .. }) {
            return Ok(None);
        }
        let (_, session) = caller.require_user()?;
        let Some(session) = self.store.session(caller.tenant(), session).await? else {
            // Another replica has ended it, and its notification has not arrived yet.
            self.snapshots().invalidate(&[session.into()]);
            return Err(Unauthenticated::InvalidToken.into());
        };
        Ok(Some(session))
    }

    async fn require_fresh_within(&self, caller: &Caller, max_age: TimeDelta) -> Result<()> {
        let Some(session) = self.session_to_check(caller).await? else { return Ok(()) };
        check_age(&session, self.now(), max_age)?;
        if session.methods.include_factor() {
            return Ok(());
        }
        let factors = self.store.factors(session.tenant_id, session.user_id).await?;
        require_proof_by_factor(&session, &factors, max_age)
    }
}

impl UnitOfWork<'_> {
    /// Checks that the caller's session has not ended and has authenticated within the time that is needed to change
    /// credentials, by a second factor if its user has one. The account and the session are locked, so that neither
    /// changes before the unit of work ends. Other accounts may be locked before only under the tenant's lock. Trusted
    /// code always passes.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::NotFresh`], [`Unauthenticated::InvalidToken`] if the session has ended,
    /// [`Forbidden::ApiKey`](iam_model::error::Forbidden::ApiKey) for a caller by an API key.
    pub(crate) async fn require_fresh(&mut self) -> Result<()> {
        if matches!(self.caller().actor(), Actor::System { .. }) {
            return Ok(());
        }
        let (user, id) = self.caller().require_user()?;
        // First, because a session is locked after its account everywhere.
        self.reads().lock_user(user).await?;
        let session = self.reads().lock_session(id).await?;
        if session.is_none() {
            self.invalidate(id);
        }
        let session = session.ok_or(Unauthenticated::InvalidToken)?;
        check_age(&session, self.clock_now(), FRESH)?;
        if session.methods.include_factor() {
            return Ok(());
        }
        let factors = self.reads().factors(session.user_id).await?;
        require_proof_by_factor(&session, &factors, FRESH)
    }

    /// Checks what [`require_fresh`](Self::require_fresh) does, and that the session has not authenticated by a message
    /// to the address of its user: a reader of the mailbox must not decide about the access of others, also after a
    /// second factor. The password of a user without a factor counts in place of the message. Trusted code always passes.
    ///
    /// # Errors
    ///
    /// Those of [`require_fresh`](Self::require_fresh), [`Unauthenticated::ByEmail`].
    pub(crate) async fn require_fresh_and_not_by_email(&mut self) -> Result<()> {
        self.require_fresh().await?;
        if matches!(self.caller().actor(), Actor::System { .. }) {
            return Ok(());
        }
        let (_, id) = self.caller().require_user()?;
        let session = self.reads().lock_session(id).await?.ok_or(Unauthenticated::InvalidToken)?;
        if session.methods.include_email() {
            return Err(Unauthenticated::ByEmail { max_age: FRESH.to_std().unwrap_or(Duration::ZERO) }.into());
        }
        Ok(())
    }
}

fn check_age(session: &Session, now: Timestamp, max_age: TimeDelta) -> Result<()> {
    // A user who acts as another one has proven its own identity, and not that of the other.
    let is_fresh = session.impersonation.is_none() && now - session.authenticated_at <= max_age;
    if is_fresh { Ok(()) } else { Err(not_fresh(max_age)) }
}

/// Checks that the session of a user with a second factor has authenticated by one. The person in a session that has
/// authenticated by the password alone may be a thief of the password: it must gain nothing from the factor that the
/// user has set up elsewhere meanwhile.
///
/// # Errors
///
/// [`Unauthenticated::NotFresh`].
pub(crate) fn require_proof_by_factor(session: &Session, factors: &[Factor], max_age: TimeDelta) -> Result<()> {
    let is_proven = session.methods.include_factor() || !factors.iter().any(Factor::is_confirmed);
    if is_proven { Ok(()) } else { Err(not_fresh(max_age)) }
}

fn not_fresh(max_age: TimeDelta) -> Error {
    Unauthenticated::NotFresh { max_age: max_age.to_std().unwrap_or(Duration::ZERO) }.into()
}
