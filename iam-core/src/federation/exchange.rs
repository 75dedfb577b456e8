//! Requests to providers: their discovery documents and keys, which are remembered for an hour, and the exchange of codes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use iam_model::clock::monotonic_now;
use iam_model::error::{Error, Result};
use iam_model::id::IdentityProviderId;
use iam_model::identity::Identity;
use iam_model::identity_provider::{FetchError, IdentityProvider, ProviderAnswer, ProviderRequest, SubjectClaim};
use iam_openid::{
    AuthorizationResponse, Cause, Expectations, Fault, IdToken, LogoutToken, ProviderKeys, ProviderMetadata,
    ResponseFault, TokenRequest, TokenResponse, verify_id_token, verify_logout_token,
};
use url::Url;

use crate::engine::Engine;
use crate::known_providers::Known;

/// How long the document and the keys of a provider are remembered.
const REMEMBERED: Duration = Duration::from_secs(3_600);

/// The shortest time between two reads of the keys of a provider for a token that those before do not verify.
const READ_AGAIN: Duration = Duration::from_secs(60);

/// How long a provider is not asked again after a failure. Any client can make this service ask, by a logout token.
const FAILED: Duration = Duration::from_secs(5);

/// Why a response of a provider logs nobody in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The person has not agreed.
    Denied,
    /// The provider does not answer.
    Unavailable,
    /// The response or its token is not accepted.
    Failed(Cause),
}

impl From<FetchError> for Refused {
    fn from(error: FetchError) -> Self {
        tracing::debug!(%error, "a provider did not answer");
        Self::Unavailable
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        tracing::debug!(%fault, "an ID token was refused");
        Self::Failed(fault.cause())
    }
}

impl Engine {
    /// Returns what a provider says of itself.
    ///
    /// # Errors
    ///
    /// [`Error::FederationOff`], [`Error::ProviderUnavailable`].
    pub(super) async fn metadata_of(&self, provider: &IdentityProvider) -> Result<ProviderMetadata> {
        Ok(self.known(provider).await?.metadata.clone())
    }

    async fn known(&self, provider: &IdentityProvider) -> Result<Arc<Known>> {
        let key = (provider.tenant_id, provider.id);
        let current = || {
            let known = self.known_providers.known.get(&key);
            known.filter(|known| known.issuer == provider.issuer && is_recent(known.read_at, REMEMBERED))
        };
        if let Some(known) = current() {
            return Ok(known);
        }
        let _permit = self.provider_requests.acquire(provider.id).await?;
        // Another login may have read it meanwhile.
        if let Some(known) = current() {
            return Ok(known);
        }
        let failed = self.known_providers.failed.get(&key);
        if failed.is_some_and(|(issuer, at)| issuer == provider.issuer && is_recent(at, FAILED)) {
            return Err(Error::ProviderUnavailable);
        }
        let metadata = self.discover(&provider.issuer).await.map_err(|error| match error {
            Error::Validation(why) => {
                tracing::warn!(provider = %provider.id, ?why, "an identity provider cannot be used");
                self.known_providers.failed.insert(key, (provider.issuer.clone(), monotonic_now()));
                Error::ProviderUnavailable
            }
            error => error,
        })?;
        let (issuer, read_at) = (provider.issuer.clone(), monotonic_now());
        let known = Arc::new(Known { issuer, metadata, read_at, keys: Mutex::default() });
        self.known_providers.known.insert(key, Arc::clone(&known));
        Ok(known)
    }

    /// Exchanges the code of a response for an ID token, and checks it.
    pub(super) async fn exchange(
        &self,
        provider: &IdentityProvider,
        response: &AuthorizationResponse,
        state: &str,
    ) -> Result<Result<IdToken, Refused>> {
        let known = match self.known(provider).await {
            Ok(known) => known,
            // The state is spent, so that the browser must begin again in any case.
            Err(Error::ProviderUnavailable | Error::Overloaded { .. }) => return Ok(Err(Refused::Unavailable)),
            Err(error) => return Err(error),
        };
        let code = match response.code(&known.metadata) {
            Ok(code) => code,
            Err(ResponseFault::Denied) => return Ok(Err(Refused::Denied)),
            Err(ResponseFault::Unavailable) => return Ok(Err(Refused::Unavailable)),
            Err(ResponseFault::Issuer) => return Ok(Err(Refused::Failed(Cause::Issuer))),
            Err(_) => return Ok(Err(Refused::Failed(Cause::Signature))),
        };
        let _permit = match self.provider_requests.acquire(provider.id).await {
            Ok(permit) => permit,
            Err(Error::Overloaded { .. }) => return Ok(Err(Refused::Unavailable)),
            Err(error) => return Err(error),
        };
        let tokens = match self.tokens(provider, &known.metadata, code, state).await? {
            Ok(tokens) => tokens,
            Err(refused) => return Ok(Err(refused)),
        };
        let (nonce, now) = (self.keys.federation.nonce(state), self.now());
        let expected = Expectations { issuer: provider.issuer.as_str(), client_id: provider.client_id.as_str() };
        let access_token = tokens.access_token.as_deref();
        let verify = |keys: &ProviderKeys| verify_id_token(&tokens.id_token, keys, expected, &nonce, access_token, now);
        let token = match self.verified(&known, verify).await? {
            Ok(token) => token,
            Err(refused) => return Ok(Err(refused)),
        };
        Ok(Ok(self.with_userinfo(provider, &known.metadata, token, access_token).await?))
    }

    /// Asks the provider for the claims about a person, if its ID token has no address. If the provider does not answer,
    /// the token stays as it is: a person who is known needs no address.
    async fn with_userinfo(
        &self,
        provider: &IdentityProvider,
        metadata: &ProviderMetadata,
        token: IdToken,
        access_token: Option<&str>,
    ) -> Result<IdToken> {
        let (None, Some(url), Some(access_token)) = (&token.email, &metadata.userinfo_endpoint, access_token) else {
            return Ok(token);
        };
        let authorization = format!("Bearer {access_token}");
        let request = ProviderRequest::GetAuthorized { url: url.clone(), authorization };
        Ok(match self.require_federation()?.send(request).await {
            Ok(ProviderAnswer { status: 200, body }) => token.with_userinfo(&body),
            Ok(ProviderAnswer { status, .. }) => {
                tracing::warn!(provider = %provider.id, status, "an identity provider tells nothing about a person");
                token
            }
            Err(error) => {
                tracing::warn!(provider = %provider.id, %error, "an identity provider tells nothing about a person");
                token
            }
        })
    }

    /// Checks a logout token.
    pub(super) async fn verified_logout(
        &self,
        provider: &IdentityProvider,
        token: &str,
    ) -> Result<Result<LogoutToken, Refused>> {
        let known = match self.known(provider).await {
            Ok(known) => known,
            Err(Error::ProviderUnavailable) => return Ok(Err(Refused::Unavailable)),
            Err(error) => return Err(error),
        };
        let _permit = self.provider_requests.acquire(provider.id).await?;
        let expected = Expectations { issuer: provider.issuer.as_str(), client_id: provider.client_id.as_str() };
        let now = self.now();
        self.verified(&known, |keys| verify_logout_token(token, keys, expected, now)).await
    }

    /// Checks a token by the keys of a provider, which are read again if the token names an unknown one.
    async fn verified<T>(
        &self,
        known: &Known,
        verify: impl Fn(&ProviderKeys) -> Result<T, Fault>,
    ) -> Result<Result<T, Refused>> {
        let keys = match self.keys_of(known).await? {
            Ok(keys) => keys,
            Err(refused) => return Ok(Err(refused)),
        };
        let verified = match verify(&keys) {
            // The keys may have been rotated since they were read, some by the same identifier.
            Err(Fault::UnknownKey | Fault::Signature) => match self.rotated_keys_of(known).await? {
                Ok(keys) => verify(&keys),
                Err(refused) => return Ok(Err(refused)),
            },
            verified => verified,
        };
        Ok(verified.map_err(Refused::from))
    }

    async fn tokens(
        &self,
        provider: &IdentityProvider,
        metadata: &ProviderMetadata,
        code: &str,
        state: &str,
    ) -> Result<Result<TokenResponse, Refused>> {
        let secret = self.identity_provider_secret(provider)?;
        let redirect_uri = self.callback_of(provider.id)?;
        let code_verifier = self.keys.federation.code_verifier(state);
        let request = TokenRequest {
            client_id: provider.client_id.as_str(),
            client_secret: secret.as_ref().map(|secret| secret.expose()),
            authentication: metadata.client_authentication,
            code,
            redirect_uri: redirect_uri.as_str(),
            code_verifier: &code_verifier,
        };
        let request = ProviderRequest::Post {
            url: metadata.token_endpoint.clone(),
            authorization: request.authorization(),
            form: request.body(),
        };
        Ok(match self.require_federation()?.send(request).await {
            Ok(ProviderAnswer { status: 200, body }) => {
                TokenResponse::parse(&body).map_err(|_| Refused::Failed(Cause::Signature))
            }
            Ok(ProviderAnswer { status: 500.., .. }) => Err(Refused::Unavailable),
            // The code is not accepted: it was invented, or used before.
            Ok(ProviderAnswer { status, .. }) => {
                tracing::warn!(provider = %provider.id, status, "an identity provider refuses a code");
                Err(Refused::Failed(Cause::Signature))
            }
            Err(error) => Err(error.into()),
        })
    }

    /// Returns the keys of a provider.
    async fn keys_of(&self, known: &Known) -> Result<Result<Arc<ProviderKeys>, Refused>> {
        let remembered = known.keys.lock().unwrap_or_else(PoisonError::into_inner).read.clone();
        match remembered.filter(|(_, read_at)| is_recent(*read_at, REMEMBERED)) {
            Some((keys, _)) => Ok(Ok(keys)),
            None => self.read_keys(known).await,
        }
    }

    /// Returns the keys of a provider after those that it had do not verify a token. They are read again, but not
    /// [within a minute](READ_AGAIN) after the last time.
    async fn rotated_keys_of(&self, known: &Known) -> Result<Result<Arc<ProviderKeys>, Refused>> {
        let is_allowed = {
            let last = &mut known.keys.lock().unwrap_or_else(PoisonError::into_inner).read_again_at;
            let is_allowed = last.is_none_or(|at| !is_recent(at, READ_AGAIN));
            // Set before the request, so that simultaneous logins do not each send one.
            if is_allowed {
                *last = Some(monotonic_now());
            }
            is_allowed
        };
        if is_allowed { self.read_keys(known).await } else { self.keys_of(known).await }
    }

    async fn read_keys(&self, known: &Known) -> Result<Result<Arc<ProviderKeys>, Refused>> {
        let state = || known.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if state().failed_at.is_some_and(|at| is_recent(at, FAILED)) {
            return Ok(Err(Refused::Unavailable));
        }
        let request = ProviderRequest::Get(known.metadata.jwks_uri.clone());
        let answer = self.require_federation()?.send(request).await;
        let keys = match answer {
            Ok(ProviderAnswer { status: 200, body }) => ProviderKeys::parse(&body).map_err(|_| Refused::Unavailable),
            Ok(_) => Err(Refused::Unavailable),
            Err(error) => Err(error.into()),
        };
        let keys = keys.map(Arc::new);
        match &keys {
            Ok(keys) => state().read = Some((Arc::clone(keys), monotonic_now())),
            Err(_) => state().failed_at = Some(monotonic_now()),
        }
        Ok(keys)
    }

    /// Returns the address to which a provider sends people back.
    ///
    /// # Errors
    ///
    /// [`Error::FederationOff`].
    pub(super) fn callback_of(&self, id: IdentityProviderId) -> Result<Url> {
        let federation = self.federation.as_ref().ok_or(Error::FederationOff)?;
        federation.callbacks.join(&id.to_string()).map_err(|cause| Error::internal("address of callbacks", cause))
    }
}

/// Returns the name of a person at a provider, if it is one that every store can keep.
pub(super) fn subject_of(provider: &IdentityProvider, token: &IdToken) -> Option<String> {
    let subject = match provider.subject_claim {
        SubjectClaim::Sub => Some(&token.subject),
        SubjectClaim::Oid => token.object_id.as_ref(),
    };
    let is_valid = |subject: &&String| {
        (1..=Identity::MAX_SUBJECT).contains(&subject.chars().count()) && !subject.chars().any(char::is_control)
    };
    subject.filter(is_valid).cloned()
}

fn is_recent(read_at: Instant, longest: Duration) -> bool {
    monotonic_now().saturating_duration_since(read_at) < longest
}
