use thiserror::Error;
use url::Url;

use crate::metadata::ProviderMetadata;

/// Asks a provider to authenticate a person (OpenID Connect Core 1.0, section 3.1.2.1; RFC 7636).
#[derive(Clone, Copy, Debug)]
pub struct AuthorizationRequest<'a> {
    /// The identifier that the provider has given to this client.
    pub client_id: &'a str,
    /// Where the provider sends the browser back to.
    pub redirect_uri: &'a str,
    /// What the client wants to know; `openid` must be one of them.
    pub scopes: &'a [String],
    /// Comes back with the response, and ties it to this request.
    pub state: &'a str,
    /// Comes back in the ID token, and ties it to this request.
    pub nonce: &'a str,
    /// The [challenge](crate::code_challenge) of the verifier.
    pub code_challenge: &'a str,
    /// The person that probably logs in.
    pub login_hint: Option<&'a str>,
    /// Whether the person must authenticate again, even if it has a session at the provider.
    pub must_authenticate: bool,
}

impl AuthorizationRequest<'_> {
    /// Returns where the browser goes.
    #[must_use]
    pub fn url(&self, provider: &ProviderMetadata) -> Url {
        let mut url = provider.authorization_endpoint.clone();
        {
            let mut query = url.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", self.client_id)
                .append_pair("redirect_uri", self.redirect_uri)
                .append_pair("scope", &self.scopes.join(" "))
                .append_pair("state", self.state)
                .append_pair("nonce", self.nonce)
                .append_pair("code_challenge", self.code_challenge)
                .append_pair("code_challenge_method", "S256");
            if let Some(hint) = self.login_hint {
                query.append_pair("login_hint", hint);
            }
            if self.must_authenticate {
                query.append_pair("prompt", "login").append_pair("max_age", "0");
            }
        }
        url
    }
}

/// What the browser brings back from the provider, before anything of it is believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorizationResponse {
    /// That of the request.
    pub state: Option<String>,
    code: Option<String>,
    error: Option<String>,
    issuer: Option<String>,
    is_ambiguous: bool,
}

/// Why a response has no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ResponseFault {
    /// The person has not agreed, or may not use this client.
    #[error("the provider has denied access")]
    Denied,
    /// The provider cannot answer at this moment.
    #[error("the provider is unavailable")]
    Unavailable,
    /// The response is of another issuer, or names none although the provider promises it: another provider may have
    /// mixed in its own response (RFC 9207).
    #[error("the response is of another issuer")]
    Issuer,
    /// The response has an error of the client, or neither a code nor an error.
    #[error("the response has no code")]
    NoCode,
}

impl AuthorizationResponse {
    /// Reads the query of the URL to which the provider has sent the browser. A parameter that is there twice makes the
    /// response ambiguous (RFC 6749, section 3.1): it has no code then.
    #[must_use]
    pub fn parse(query: &str) -> Self {
        let mut response = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let member = match &*name {
                "state" => &mut response.state,
                "code" => &mut response.code,
                "error" => &mut response.error,
                "iss" => &mut response.issuer,
                _ => continue,
            };
            response.is_ambiguous |= member.replace(value.into_owned()).is_some();
        }
        response
    }

    /// Returns the code, if the response is of this provider.
    ///
    /// # Errors
    ///
    /// [`ResponseFault`].
    pub fn code(&self, provider: &ProviderMetadata) -> Result<&str, ResponseFault> {
        if self.is_ambiguous {
            return Err(ResponseFault::NoCode);
        }
        match &self.issuer {
            Some(issuer) if *issuer != provider.issuer => return Err(ResponseFault::Issuer),
            None if provider.sends_issuer => return Err(ResponseFault::Issuer),
            _ => {}
        }
        match (self.error.as_deref(), self.code.as_deref()) {
            (Some("access_denied" | "interaction_required" | "login_required" | "consent_required"), _) => {
                Err(ResponseFault::Denied)
            }
            (Some("server_error" | "temporarily_unavailable"), _) => Err(ResponseFault::Unavailable),
            (None, Some(code)) if !code.is_empty() => Ok(code),
            _ => Err(ResponseFault::NoCode),
        }
    }
}
