//! Logins and step-ups by passkeys (`docs/http-api.md#a-login-by-a-passkey-alone`).

use iam_model::challenge::{Challenge, ChallengePurpose};
use iam_model::change::ChallengeChange;
use iam_model::context::RequestContext;
use iam_model::error::{Error, Result, Unauthenticated};
use iam_model::factor::{AuthenticationMethod, AuthenticationMethods, Factor};
use iam_model::id::TenantId;
use iam_model::secret::ChallengeToken;
use iam_model::validate::Fields;
use iam_webauthn::AuthenticationResponse;
use serde_json::Value;

use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork};
use crate::guard::AccountUnderLock;
use crate::passkey::{begin_authentication, claimed_user, hash_of};
use crate::session::login::unknown_tenant;
use crate::session::open::open_session;
use crate::session::second_factor::{is_open_login, refuse};
use crate::session::{LoggedIn, Sessions};
use crate::token::parse_challenge_token;

impl Sessions<'_> {
    /// Returns the options with which a browser answers the challenge of a login by a passkey: the argument of
    /// `PublicKeyCredential.parseRequestOptionsFromJSON()`. Newer options end the older ones.
    ///
    /// # Errors
    ///
    /// [`Error::PasskeysOff`], [`Unauthenticated::Challenge`] when the challenge is unknown, used or expired.
    pub async fn second_factor_options(&self, challenge: &ChallengeToken) -> Result<Value> {
        let iam = self.0;
        let mut fields = Fields::default();
        fields.require("challenge", challenge.expose());
        fields.finish()?;
        let (tenant, token_hash) = parse_challenge_token(challenge).ok_or(Unauthenticated::Challenge)?;
        let found = is_open_login(iam.store.challenge(tenant, &token_hash).await?, iam)?;
        let user = found.user_id.ok_or(Unauthenticated::Challenge)?;
        let factors = confirmed(iam.store.factors(tenant, user).await?);
        let begun = begin_authentication(iam, Some(&factors))?;
        let caller = Caller::anonymous(tenant, RequestContext::default());
        let mut work = iam.begin(&caller).await?;
        let challenge = is_open_login(work.reads().lock_challenge(&token_hash).await?, iam)?;
        let after = Challenge { ceremony: Some(begun.ceremony), ..challenge };
        work.apply(ChallengeChange::Update(after)).await?;
        work.commit().await?;
        Ok(begun.options)
    }

    /// Returns the options with which a browser authenticates the caller's session again by a passkey.
    ///
    /// # Errors
    ///
    /// [`Error::PasskeysOff`], [`Forbidden::NotAUser`](iam_model::error::Forbidden::NotAUser) for trusted code.
    pub async fn step_up_options(&self, caller: &Caller) -> Result<Value> {
        let iam = self.0;
        let (user, _) = caller.require_user()?;
        let factors = confirmed(iam.store.factors(caller.tenant(), user).await?);
        let begun = begin_authentication(iam, Some(&factors))?;
        let mut work = iam.begin(caller).await?;
        let now = work.now();
        let challenge = begun.challenge(caller.tenant(), Some(user), ChallengePurpose::StepUp, now);
        work.apply(ChallengeChange::Issue(challenge)).await?;
        work.commit().await?;
        Ok(begun.options)
    }

    /// Returns the options with which a browser logs in by a passkey alone. With a tenant, only its users can log in
    /// with them. For a tenant that does not exist, the answer is the same, and no login succeeds with it.
    ///
    /// # Errors
    ///
    /// [`Error::PasskeysOff`].
    pub async fn passkey_options(&self, tenant: Option<&str>) -> Result<Value> {
        let iam = self.0;
        let begun = begin_authentication(iam, None)?;
        let tenant = match tenant {
            Some(named) => iam.find_tenant(named).await?.map_or_else(|| unknown_tenant(named), |tenant| tenant.id),
            None => TenantId::NONE,
        };
        let caller = Caller::anonymous(tenant, RequestContext::default());
        let mut work = iam.begin(&caller).await?;
        let challenge = begun.challenge(tenant, None, ChallengePurpose::PasskeyLogin, work.now());
        work.apply(ChallengeChange::Issue(challenge)).await?;
        work.commit().await?;
        Ok(begun.options)
    }

    /// Logs in by a passkey alone. Failed logins by a password do not lock it.
    ///
    /// # Errors
    ///
    /// [`Error::PasskeysOff`], [`Unauthenticated::Passkey`] for every response that is not accepted,
    /// [`Forbidden::Suspended`](iam_model::error::Forbidden::Suspended),
    /// [`Forbidden::TenantSuspended`](iam_model::error::Forbidden::TenantSuspended).
    pub async fn login_by_passkey(
        &self,
        context: &RequestContext,
        response: &AuthenticationResponse,
    ) -> Result<LoggedIn> {
        let iam = self.0;
        let (tenant, user) = claimed_user(response).ok_or(Unauthenticated::Passkey)?;
        let token_hash = hash_of(response.claimed_challenge());
        let challenge = self.take_challenge(tenant, &token_hash).await?;
        let user = iam.store.user(tenant, user).await?.ok_or(Unauthenticated::Passkey)?;
        let tenant = iam.store.tenant(tenant).await?.ok_or(Unauthenticated::Passkey)?;
        iam.refresh_keys().await?;
        let caller = Caller::anonymous(tenant.id, context.clone());
        let mut work = iam.begin(&caller).await?;
        let account = AccountUnderLock::lock(&mut work, &user).await?.ok_or(Unauthenticated::Passkey)?;
        let ceremony = challenge.ceremony.as_ref();
        if let Err(refusal) = account.verify_passkey(iam, &mut work, ceremony, response, tenant.status).await? {
            return refuse(work, refusal).await;
        }
        let methods = AuthenticationMethods::only(AuthenticationMethod::Passkey);
        let logged_in = open_session(iam, &mut work, account.user, iam.next_id(), methods).await?;
        work.commit().await?;
        Ok(logged_in)
    }

    /// Ends the challenge of a login by a passkey alone, and returns it. It was made for the tenant of the user, or for
    /// no tenant.
    async fn take_challenge(&self, tenant: TenantId, token_hash: &[u8; 32]) -> Result<Challenge> {
        let iam = self.0;
        let is_open = |challenge: &Challenge| challenge.is_open_for(ChallengePurpose::PasskeyLogin, iam.now());
        for tenant in [tenant, TenantId::NONE] {
            // Refused without a lock: a client with invented challenges must not block other writers.
            if !iam.store.challenge(tenant, token_hash).await?.is_some_and(|challenge| is_open(&challenge)) {
                continue;
            }
            let caller = Caller::anonymous(tenant, RequestContext::default());
            let mut work = iam.begin(&caller).await?;
            if let Some(challenge) = work.reads().lock_challenge(token_hash).await?.filter(is_open) {
                work.apply(ChallengeChange::End(challenge.clone())).await?;
                work.commit().await?;
                return Ok(challenge);
            }
        }
        Err(Unauthenticated::Passkey.into())
    }
}

/// Ends the challenge of a step-up by a passkey, in the unit of work of the step-up, and returns it.
pub(super) async fn take_step_up(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    response: &AuthenticationResponse,
) -> Result<Challenge> {
    let user = work.caller().user();
    let challenge = work.reads().lock_challenge(&hash_of(response.claimed_challenge())).await?;
    let is_own =
        |challenge: &Challenge| challenge.user_id == user && challenge.is_open_for(ChallengePurpose::StepUp, iam.now());
    let challenge = challenge.filter(is_own).ok_or_else(|| Error::from(Unauthenticated::Passkey))?;
    work.apply(ChallengeChange::End(challenge.clone())).await?;
    Ok(challenge)
}

fn confirmed(mut factors: Vec<Factor>) -> Vec<Factor> {
    factors.retain(Factor::is_confirmed);
    factors
}
