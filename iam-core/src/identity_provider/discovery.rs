//! Reads what a provider says of itself.

use iam_model::error::{Error, Result};
use iam_model::identity_provider::{Issuer, ProviderAnswer, ProviderClient, ProviderRequest};
use iam_model::webhook::AddressPolicy;
use iam_openid::ProviderMetadata;
use url::Url;

use crate::engine::Engine;

impl Engine {
    /// Returns the client for requests to providers.
    ///
    /// # Errors
    ///
    /// [`Error::FederationOff`].
    pub(crate) fn require_federation(&self) -> Result<&dyn ProviderClient> {
        self.federation.as_ref().map(|federation| &*federation.client).ok_or(Error::FederationOff)
    }

    /// Reads the discovery document of an issuer, and checks that the provider can be used.
    ///
    /// # Errors
    ///
    /// [`Error::FederationOff`], [`Error::Validation`] which names `issuer` and says what is wrong with the provider.
    pub(crate) async fn discover(&self, issuer: &Issuer) -> Result<ProviderMetadata> {
        let client = self.require_federation()?;
        let refused = |why: String| Error::field("issuer", why);
        let url =
            Url::parse(&ProviderMetadata::url(issuer.as_str())).map_err(|_| refused("must be a URL".to_owned()))?;
        let policy = client.address_policy();
        require_https(policy, &url).map_err(refused)?;
        let answer = client.send(ProviderRequest::Get(url)).await;
        let answer =
            answer.map_err(|error| refused(format!("cannot be reached for its discovery document: {error}")))?;
        let ProviderAnswer { status: 200, body } = answer else {
            return Err(refused(format!("answers with {} for its discovery document", answer.status)));
        };
        let metadata =
            ProviderMetadata::parse(issuer.as_str(), &body).map_err(|invalid| refused(invalid.to_string()))?;
        for endpoint in [&metadata.authorization_endpoint, &metadata.token_endpoint, &metadata.jwks_uri] {
            require_https(policy, endpoint).map_err(|_| refused("has an endpoint without https".to_owned()))?;
        }
        Ok(metadata)
    }
}

fn require_https(policy: AddressPolicy, url: &Url) -> Result<(), String> {
    match policy {
        AddressPolicy::Public if url.scheme() != "https" => Err("must begin with https://".to_owned()),
        _ => Ok(()),
    }
}
