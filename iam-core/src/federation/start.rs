use std::time::Duration;

use chrono::TimeDelta;
use iam_model::audit::ResourceType;
use iam_model::challenge::{Challenge, ChallengePurpose};
use iam_model::change::ChallengeChange;
use iam_model::context::RequestContext;
use iam_model::error::{Error, Result, Unauthenticated};
use iam_model::id::{IdentityProviderId, UserId};
use iam_model::identity_provider::IdentityProvider;
use iam_model::tenant::TenantStatus;
use iam_model::validate::Fields;
use iam_openid::{AuthorizationRequest, code_challenge};
use url::Url;

use crate::caller::Caller;
use crate::federation::Federation;
use crate::federation::redirect::is_allowed;
use crate::federation::state::{Purpose, Started, kept};
use crate::token::new_challenge_token;

/// How long a person may take at the provider.
const LIFETIME: TimeDelta = TimeDelta::minutes(10);

/// The input with which a login by a provider begins, as typed; see [`Federation::start`].
#[derive(Clone, Debug)]
pub struct StartFederation {
    /// The provider.
    pub provider: IdentityProviderId,
    /// Where the browser goes at the end: one of [`Settings::federation_redirects`](crate::Settings::federation_redirects).
    pub redirect_uri: String,
    /// The S256 challenge (RFC 7636) of a secret that the client keeps: 43 characters. It binds the result to the
    /// client.
    pub code_challenge: String,
    /// The address of the person, which the provider may use; at most 254 characters.
    pub login_hint: Option<String>,
}

/// A login that has begun.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StartedFederation {
    /// Where the browser goes.
    pub authorization_url: Url,
    /// How long the person may take at the provider.
    pub expires_in: Duration,
}

impl StartFederation {
    fn validate(&self, redirects: &[String]) -> Result<()> {
        const MAX_HINT: usize = 254;
        let mut fields = Fields::default();
        if !is_allowed(&self.redirect_uri, redirects) {
            fields.reject("redirectUri", "must be one of those that the operator allows");
        }
        let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if self.code_challenge.len() != code_challenge("").len() || !self.code_challenge.bytes().all(is_base64url) {
            fields.reject("codeChallenge", "must be an S256 challenge of 43 characters");
        }
        if self.login_hint.as_ref().is_some_and(|hint| hint.chars().count() > MAX_HINT) {
            fields.reject("loginHint", format!("must be at most {MAX_HINT} characters"));
        }
        Ok(fields.finish()?)
    }
}

impl Federation<'_> {
    /// Begins a login.
    ///
    /// # Errors
    ///
    /// [`Error::FederationOff`], [`Error::Validation`] which names every invalid field; [`Error::About`] with
    /// [`Error::NotFound`] for a provider that does not exist, is not enabled, or whose tenant is not ACTIVE;
    /// [`Error::ProviderUnavailable`].
    pub async fn start(&self, context: &RequestContext, start: StartFederation) -> Result<StartedFederation> {
        start.validate(&self.0.settings.federation_redirects)?;
        let provider = self.open_provider(start.provider).await?;
        let caller = Caller::anonymous(provider.tenant_id, context.clone());
        self.begin(&caller, &provider, start, (None, Purpose::Login)).await
    }

    /// Begins to link an account at a provider of its tenant to the caller's own user.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start), [`Unauthenticated::NotFresh`],
    /// [`Error::Forbidden`] for a caller without a session.
    pub async fn start_linking(&self, caller: &Caller, start: StartFederation) -> Result<StartedFederation> {
        caller.refuse_impersonator()?;
        let (user, session) = caller.require_user()?;
        self.0.require_fresh(caller).await?;
        start.validate(&self.0.settings.federation_redirects)?;
        let provider = self.open_provider(start.provider).await?;
        if provider.tenant_id != caller.tenant() {
            return Err(unknown_provider());
        }
        self.begin(caller, &provider, start, (Some(user), Purpose::Link(session))).await
    }

    /// Begins to authenticate the caller's session again, by the provider by which it began. The provider asks the person
    /// again.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start), [`Error::Validation`] which names `providerId` for another provider than that of
    /// the session; [`Error::Forbidden`] for a caller without a session.
    pub async fn start_step_up(&self, caller: &Caller, start: StartFederation) -> Result<StartedFederation> {
        caller.refuse_impersonator()?;
        let (user, id) = caller.require_user()?;
        start.validate(&self.0.settings.federation_redirects)?;
        let session = self.0.store.session(caller.tenant(), id).await?.ok_or(Unauthenticated::InvalidToken)?;
        if session.provider.is_none_or(|by| by.provider_id != start.provider) {
            return Err(Error::field("providerId", "is not the provider by which this session began"));
        }
        let provider = self.open_provider(start.provider).await?;
        self.begin(caller, &provider, start, (Some(user), Purpose::StepUp(id))).await
    }

    async fn begin(
        &self,
        caller: &Caller,
        provider: &IdentityProvider,
        start: StartFederation,
        (user, purpose): (Option<UserId>, Purpose),
    ) -> Result<StartedFederation> {
        let iam = self.0;
        let metadata = iam.metadata_of(provider).await?;
        let redirect_uri = iam.callback_of(provider.id)?;
        let (state, token_hash) = new_challenge_token(provider.tenant_id, &*iam.random);
        let (nonce, verifier) =
            (iam.keys.federation.nonce(state.expose()), iam.keys.federation.code_verifier(state.expose()));
        let scopes: Vec<String> = provider.scopes.iter().map(|scope| scope.as_str().to_owned()).collect();
        let authorization_url = AuthorizationRequest {
            client_id: provider.client_id.as_str(),
            redirect_uri: redirect_uri.as_str(),
            scopes: &scopes,
            state: state.expose(),
            nonce: &nonce,
            code_challenge: &code_challenge(&verifier),
            login_hint: start.login_hint.as_deref(),
            must_authenticate: matches!(purpose, Purpose::StepUp(_)),
        }
        .url(&metadata);
        let started = Started {
            provider: provider.id,
            purpose,
            redirect_uri: start.redirect_uri,
            code_challenge: start.code_challenge,
        };
        let mut work = iam.begin(caller).await?;
        let now = work.now();
        let challenge = Challenge::begin(ChallengePurpose::FederationStart, provider.tenant_id, user, token_hash, now);
        let challenge = Challenge { ceremony: Some(kept(&started)?), expires_at: now + LIFETIME, ..challenge };
        work.apply(ChallengeChange::Issue(challenge)).await?;
        work.commit().await?;
        let expires_in = LIFETIME.to_std().map_err(|cause| Error::internal("lifetime of a login", cause))?;
        Ok(StartedFederation { authorization_url, expires_in })
    }

    /// Returns a provider by which people log in.
    async fn open_provider(&self, id: IdentityProviderId) -> Result<IdentityProvider> {
        self.0.require_federation()?;
        let provider = self.0.store.identity_provider_of_any_tenant(id).await?;
        let provider = provider.filter(|provider| provider.enabled).ok_or_else(unknown_provider)?;
        let tenant = self.0.store.tenant(provider.tenant_id).await?;
        let is_open = tenant.is_some_and(|tenant| tenant.status == TenantStatus::Active);
        if is_open { Ok(provider) } else { Err(unknown_provider()) }
    }
}

fn unknown_provider() -> Error {
    Error::NotFound(ResourceType::IDENTITY_PROVIDER).about("providerId")
}
