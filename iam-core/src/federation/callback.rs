use chrono::TimeDelta;
use iam_model::challenge::{Challenge, ChallengePurpose};
use iam_model::change::{ChallengeChange, CredentialChange};
use iam_model::context::RequestContext;
use iam_model::error::{Error, Result};
use iam_model::id::IdentityProviderId;
use iam_model::identity_provider::IdentityProvider;
use iam_model::secret::ChallengeToken;
use iam_openid::{AuthorizationResponse, Cause, IdToken};

use crate::caller::Caller;
use crate::engine::Engine;
use crate::federation::Federation;
use crate::federation::account::Account;
use crate::federation::exchange::{Refused, subject_of};
use crate::federation::redirect::with_parameter;
use crate::federation::state::{Person, Purpose, Returned, Started, kept, read};
use crate::token::{new_challenge_token, parse_challenge_token};

/// How long a client may take to fetch the result.
const LIFETIME: TimeDelta = TimeDelta::seconds(60);

/// Where the browser goes after the provider: to the client, with `code` or with `error`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallbackOutcome {
    /// The address of the client.
    pub location: String,
    /// The word of the error, if the login has failed: `access_denied`, `login_failed`, `not_linked` or `unavailable`.
    pub error: Option<&'static str>,
}

impl Federation<'_> {
    /// Takes the response with which a provider sends a browser back: the query of the request. Nothing of an account
    /// changes yet.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names `state` for a login that is unknown, spent or expired, or that began with
    /// another provider: the browser then goes nowhere.
    pub async fn callback(
        &self,
        context: &RequestContext,
        provider: IdentityProviderId,
        query: &str,
    ) -> Result<CallbackOutcome> {
        let iam = self.0;
        let response = AuthorizationResponse::parse(query);
        let state: ChallengeToken = response.state.clone().ok_or_else(unknown_state)?.into();
        let taken = iam.take_federation(context, &state, ChallengePurpose::FederationStart).await?;
        let challenge = taken.ok_or_else(unknown_state)?;
        let started: Started = read(challenge.ceremony.as_ref())?;
        if started.provider != provider {
            return Err(unknown_state());
        }
        let provider = iam.store.identity_provider(challenge.tenant_id, provider).await?;
        let Some(provider) = provider.filter(|provider| provider.enabled) else {
            return Ok(failed(&started, "unavailable"));
        };
        match iam.exchange(&provider, &response, state.expose()).await? {
            Ok(token) => self.finished_at_provider(context, &challenge, &provider, started, token).await,
            Err(Refused::Denied) => Ok(failed(&started, "access_denied")),
            Err(Refused::Unavailable) => Ok(failed(&started, "unavailable")),
            Err(Refused::Failed(cause)) => {
                iam.record_refusal(context, &provider, cause.as_str()).await?;
                Ok(failed(&started, "login_failed"))
            }
        }
    }

    /// Keeps who has come back, for the client that began.
    async fn finished_at_provider(
        &self,
        context: &RequestContext,
        challenge: &Challenge,
        provider: &IdentityProvider,
        started: Started,
        token: IdToken,
    ) -> Result<CallbackOutcome> {
        let iam = self.0;
        let Some(subject) = subject_of(provider, &token) else {
            iam.record_refusal(context, provider, Cause::Signature.as_str()).await?;
            return Ok(failed(&started, "login_failed"));
        };
        let person = Person::of(provider, subject, token);
        if started.purpose == Purpose::Login && matches!(iam.account_of(provider, &person).await?, Account::None) {
            iam.record_refusal(context, provider, NOT_LINKED).await?;
            return Ok(failed(&started, "not_linked"));
        }
        let redirect_uri = started.redirect_uri.clone();
        let (code, token_hash) = new_challenge_token(provider.tenant_id, &*iam.random);
        let caller = Caller::anonymous(provider.tenant_id, context.clone());
        let mut work = iam.begin(&caller).await?;
        let now = work.now();
        let (purpose, user) = (ChallengePurpose::FederationFinish, challenge.user_id);
        let challenge = Challenge::begin(purpose, provider.tenant_id, user, token_hash, now);
        let ceremony = Some(kept(&Returned { started, person })?);
        work.apply(ChallengeChange::Issue(Challenge { ceremony, expires_at: now + LIFETIME, ..challenge })).await?;
        work.commit().await?;
        Ok(CallbackOutcome { location: with_parameter(&redirect_uri, "code", code.expose()), error: None })
    }
}

/// The cause of a refusal in the audit log: nobody here is linked to the person.
pub(super) const NOT_LINKED: &str = "NOT_LINKED";

impl Engine {
    /// Ends a challenge of a federated login, and returns it if it was open for this purpose.
    pub(super) async fn take_federation(
        &self,
        context: &RequestContext,
        token: &ChallengeToken,
        purpose: ChallengePurpose,
    ) -> Result<Option<Challenge>> {
        let Some((tenant, token_hash)) = parse_challenge_token(token) else { return Ok(None) };
        let is_open = |challenge: &Challenge| challenge.is_open_for(purpose, self.now());
        // Refused without a lock: a client with invented tokens must not block other writers.
        if !self.store.challenge(tenant, &token_hash).await?.is_some_and(|challenge| is_open(&challenge)) {
            return Ok(None);
        }
        let caller = Caller::anonymous(tenant, context.clone());
        let mut work = self.begin(&caller).await?;
        let Some(challenge) = work.reads().lock_challenge(&token_hash).await?.filter(is_open) else { return Ok(None) };
        work.apply(ChallengeChange::End(challenge.clone())).await?;
        work.commit().await?;
        Ok(Some(challenge))
    }

    /// Records that a person from a provider was refused, and why.
    pub(super) async fn record_refusal(
        &self,
        context: &RequestContext,
        provider: &IdentityProvider,
        cause: &'static str,
    ) -> Result<()> {
        let caller = Caller::anonymous(provider.tenant_id, context.clone());
        let mut work = self.begin(&caller).await?;
        work.apply(CredentialChange::RefuseFederated { provider: provider.id, cause }).await?;
        work.commit().await
    }
}

fn failed(started: &Started, error: &'static str) -> CallbackOutcome {
    CallbackOutcome { location: with_parameter(&started.redirect_uri, "error", error), error: Some(error) }
}

fn unknown_state() -> Error {
    Error::field("state", "is unknown, used or expired")
}
