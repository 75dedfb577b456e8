use serde::Deserialize;
use thiserror::Error;
use url::Url;

/// The algorithms by which ID tokens may be signed.
const ALGORITHMS: [&str; 4] = ["RS256", "PS256", "ES256", "EdDSA"];

/// What a provider says of itself (OpenID Connect Discovery 1.0, section 3; RFC 8414), as far as a client needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderMetadata {
    /// Names the provider in its tokens.
    pub issuer: String,
    /// Where the browser goes.
    pub authorization_endpoint: Url,
    /// Where the code is exchanged.
    pub token_endpoint: Url,
    /// Where the keys are.
    pub jwks_uri: Url,
    /// Where the claims about a person are that its ID token does not have. `None` if they are nowhere else.
    pub userinfo_endpoint: Option<Url>,
    /// How the client authenticates to the token endpoint.
    pub client_authentication: ClientAuthentication,
    /// Whether every response has the issuer (RFC 9207), so that one without it is refused.
    pub sends_issuer: bool,
}

/// How a client with a secret authenticates to the token endpoint (OpenID Connect Core 1.0, section 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAuthentication {
    /// By the header `Authorization`.
    Basic,
    /// By fields of the form.
    Post,
}

/// Why a provider cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidMetadata {
    /// The document is not what the standard says.
    #[error("is no provider: its discovery document is not JSON with the required members")]
    Malformed,
    /// The document is of another issuer.
    #[error("is not the issuer that its discovery document names: {0}")]
    Issuer(String),
    /// An endpoint is no absolute URL.
    #[error("has no usable {0} in its discovery document")]
    Endpoint(&'static str),
    /// The provider does not offer the flow with a code.
    #[error("does not support the response type code")]
    NoCode,
    /// The provider excludes PKCE by S256.
    #[error("does not support the code challenge method S256")]
    NoS256,
    /// The provider signs by other algorithms.
    #[error("signs ID tokens by none of RS256, PS256, ES256 and EdDSA")]
    NoAlgorithm,
    /// The provider does not let a client authenticate by its secret.
    #[error("supports neither client_secret_basic nor client_secret_post")]
    NoClientAuthentication,
}

#[derive(Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    jwks_uri: Option<String>,
    userinfo_endpoint: Option<String>,
    response_types_supported: Vec<String>,
    /// Absent where the provider does not announce it (Entra), although it supports PKCE.
    code_challenge_methods_supported: Option<Vec<String>>,
    id_token_signing_alg_values_supported: Vec<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

impl ProviderMetadata {
    /// Returns the URL of the discovery document of an issuer: its own, with `/.well-known/openid-configuration`.
    #[must_use]
    pub fn url(issuer: &str) -> String {
        format!("{}/.well-known/openid-configuration", issuer.strip_suffix('/').unwrap_or(issuer))
    }

    /// Reads the discovery document of an issuer.
    ///
    /// # Errors
    ///
    /// [`InvalidMetadata`], whose text follows the name of the field `issuer`.
    pub fn parse(issuer: &str, json: &[u8]) -> Result<Self, InvalidMetadata> {
        let document: Document = iam_json::from_slice(json).map_err(|_| InvalidMetadata::Malformed)?;
        if document.issuer != issuer {
            return Err(InvalidMetadata::Issuer(document.issuer));
        }
        let has = |all: &[String], one: &str| all.iter().any(|other| other == one);
        if !has(&document.response_types_supported, "code") {
            return Err(InvalidMetadata::NoCode);
        }
        if document.code_challenge_methods_supported.is_some_and(|methods| !has(&methods, "S256")) {
            return Err(InvalidMetadata::NoS256);
        }
        if !ALGORITHMS.iter().any(|algorithm| has(&document.id_token_signing_alg_values_supported, algorithm)) {
            return Err(InvalidMetadata::NoAlgorithm);
        }
        // Without the member, it is client_secret_basic.
        let client_authentication = match document.token_endpoint_auth_methods_supported {
            None => ClientAuthentication::Basic,
            Some(methods) if has(&methods, "client_secret_basic") => ClientAuthentication::Basic,
            Some(methods) if has(&methods, "client_secret_post") => ClientAuthentication::Post,
            // A client without a secret.
            Some(methods) if has(&methods, "none") => ClientAuthentication::Post,
            Some(_) => return Err(InvalidMetadata::NoClientAuthentication),
        };
        Ok(Self {
            authorization_endpoint: endpoint("authorization_endpoint", document.authorization_endpoint)?,
            token_endpoint: endpoint("token_endpoint", document.token_endpoint)?,
            jwks_uri: endpoint("jwks_uri", document.jwks_uri)?,
            userinfo_endpoint: endpoint("userinfo_endpoint", document.userinfo_endpoint).ok(),
            issuer: document.issuer,
            client_authentication,
            sends_issuer: document.authorization_response_iss_parameter_supported,
        })
    }
}

/// Returns an endpoint. Whether its scheme and its address may be used is decided where a request is sent.
fn endpoint(name: &'static str, url: Option<String>) -> Result<Url, InvalidMetadata> {
    let url = url.and_then(|url| Url::parse(&url).ok());
    let is_usable = |url: &Url| {
        matches!(url.scheme(), "https" | "http")
            && url.host().is_some()
            && url.username().is_empty()
            && url.password().is_none()
            && url.fragment().is_none()
    };
    url.filter(is_usable).ok_or(InvalidMetadata::Endpoint(name))
}
