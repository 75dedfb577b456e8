use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use form_urlencoded::{Serializer, byte_serialize};
use serde::Deserialize;
use thiserror::Error;

use crate::metadata::ClientAuthentication;

/// Exchanges a code for an ID token (OpenID Connect Core 1.0, section 3.1.3.1).
#[derive(Clone, Copy)]
pub struct TokenRequest<'a> {
    /// The identifier that the provider has given to this client.
    pub client_id: &'a str,
    /// The secret of the client. `None` for a client that has only PKCE.
    pub client_secret: Option<&'a str>,
    /// How the client authenticates.
    pub authentication: ClientAuthentication,
    /// The code of the response.
    pub code: &'a str,
    /// That of the authorization request.
    pub redirect_uri: &'a str,
    /// The secret whose challenge the authorization request had.
    pub code_verifier: &'a str,
}

impl TokenRequest<'_> {
    /// Returns the body, whose type is `application/x-www-form-urlencoded`.
    #[must_use]
    pub fn body(&self) -> String {
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "authorization_code")
            .append_pair("code", self.code)
            .append_pair("redirect_uri", self.redirect_uri)
            .append_pair("code_verifier", self.code_verifier);
        match (self.client_secret, self.authentication) {
            (Some(_), ClientAuthentication::Basic) => {}
            (Some(secret), ClientAuthentication::Post) => {
                form.append_pair("client_id", self.client_id).append_pair("client_secret", secret);
            }
            (None, _) => {
                form.append_pair("client_id", self.client_id);
            }
        }
        form.finish()
    }

    /// Returns the value of the header `Authorization`, if the client authenticates by it. Identifier and secret are
    /// encoded as in a form before (RFC 6749, section 2.3.1).
    #[must_use]
    pub fn authorization(&self) -> Option<String> {
        let secret = self.client_secret.filter(|_| self.authentication == ClientAuthentication::Basic)?;
        let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        Some(format!("Basic {}", STANDARD.encode(format!("{}:{}", encoded(self.client_id), encoded(secret)))))
    }
}

/// Does not print the secrets.
impl fmt::Debug for TokenRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenRequest").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

/// The answer of the token endpoint.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct TokenResponse {
    /// Says who the person is, once it is [checked](crate::verify_id_token).
    pub id_token: String,
    /// Permits requests to the provider. Only its hash is used here.
    pub access_token: Option<String>,
}

/// The answer of the token endpoint has no ID token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the token endpoint has answered without an ID token")]
pub struct InvalidTokenResponse;

impl TokenResponse {
    /// Reads the body of a successful answer.
    ///
    /// # Errors
    ///
    /// [`InvalidTokenResponse`].
    pub fn parse(json: &[u8]) -> Result<Self, InvalidTokenResponse> {
        iam_json::from_slice(json).map_err(|_| InvalidTokenResponse)
    }
}

/// Does not print the tokens.
impl fmt::Debug for TokenResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenResponse").finish_non_exhaustive()
    }
}
