//! Step-up: a session authenticates again, for calls that need a recent proof of identity (`factors.md`, RFC 9470).

use std::time::Duration;

use chrono::TimeDelta;
use iam_model::change::SessionChange;
use iam_model::context::Actor;
use iam_model::error::{Error, Result, Unauthenticated};
use iam_model::factor::{AuthenticationMethod, Factor};
use iam_model::id::SessionId;
use iam_model::secret::Password;
use iam_model::session::Session;
use iam_model::validate::Fields;

use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork};
use crate::guard::{Attempt, Claim, FactorProof, LockedAccount, in_time};
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
    /// [`Unauthenticated::PasswordAlone`] for the password of a user with a second factor, [`Error::AccountLocked`],
    /// [`Error::Validation`] for an empty password,
    /// [`Forbidden::NotAUser`](iam_model::error::Forbidden::NotAUser) for trusted code, [`Error::Overloaded`].
    pub async fn step_up(&self, caller: &Caller, proof: StepUp) -> Result<()> {
        let (_, session) = caller.require_user()?;
        match proof {
            StepUp::Password(password) => self.step_up_by_password(caller, session, password).await,
            StepUp::Factor(proof) => self.step_up_by_factor(caller, session, &proof).await,
        }
    }

    /// Checks that the caller's session has authenticated at most `max_age` ago. Trusted code always passes.
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
        let claim = Claim { email: &user.email, password: &password, share: Share::of(caller) };
        let attempt = Attempt::by_caller(iam, caller, claim).await?;
        let left = attempt.left();
        in_time(self.finish_by_password(caller, session, attempt).await, left).await
    }

    async fn finish_by_password(&self, caller: &Caller, session: SessionId, attempt: Attempt<'_>) -> Result<()> {
        let (proven, work) = attempt.settle(self.0, caller).await?;
        match proven {
            Ok(proven) if proven.factors.is_empty() => renew(work, session, AuthenticationMethod::Password).await,
            Ok(_) => Err(Unauthenticated::PasswordAlone.into()),
            Err(refusal) => refuse(work, refusal).await,
        }
    }

    async fn step_up_by_factor(&self, caller: &Caller, session: SessionId, proof: &FactorProof) -> Result<()> {
        let iam = self.0;
        let user = own_user(iam, caller).await?;
        let mut work = iam.begin(caller).await?;
        let account = LockedAccount::lock(&mut work, &user).await?.ok_or(Unauthenticated::SecondFactor)?;
        let ceremony = match proof {
            #[cfg(feature = "passkeys")]
            FactorProof::Passkey(response) => take_step_up(iam, &mut work, response).await?.ceremony,
            _ => None,
        };
        match account.judge(iam, &mut work, proof, ceremony.as_ref()).await? {
            Ok(method) => renew(work, session, method).await,
            Err(refusal) => refuse(work, refusal).await,
        }
    }
}

/// Keeps that a session has authenticated now by a method.
async fn renew(mut work: UnitOfWork<'_>, session: SessionId, method: AuthenticationMethod) -> Result<()> {
    let session = work.locks().lock_session(session).await?.ok_or(Unauthenticated::InvalidToken)?;
    let authenticated_at = work.now();
    let methods = session.methods.clone().and(method);
    let session = Session { methods, authenticated_at, ..session };
    work.apply(SessionChange::StepUp { session, method }).await?;
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

    async fn require_fresh_within(&self, caller: &Caller, max_age: TimeDelta) -> Result<()> {
        if matches!(caller.actor(), Actor::System { .. }) {
            return Ok(());
        }
        let (_, session) = caller.require_user()?;
        let Some(session) = self.store.session(caller.tenant(), session).await? else {
            // Another replica has ended it, and its notification has not arrived yet.
            self.snapshots().invalidate(&[session.into()]);
            return Err(Unauthenticated::InvalidToken.into());
        };
        if self.now() - session.authenticated_at <= max_age {
            return Ok(());
        }
        let max_age = max_age.to_std().unwrap_or(Duration::ZERO);
        Err(Error::from(Unauthenticated::NotFresh { max_age }))
    }
}
