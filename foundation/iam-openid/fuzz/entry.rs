//! What a provider, or a stranger in its name, can send: its documents, its tokens, and the response that a browser
//! brings. The fuzz targets and a bounded test of the crate share it.

use chrono::DateTime;
use iam_openid::{
    AuthorizationResponse, Expectations, ProviderKeys, ProviderMetadata, TokenResponse, verify_id_token,
    verify_logout_token,
};

const ISSUER: &str = "https://id.example.com";

/// Keys of each type, from RFC 7517, RFC 7515 and RFC 8037.
pub(crate) const KEYS: &str = r#"{"keys": [
    {"kty": "EC", "crv": "P-256", "kid": "e", "use": "sig", "alg": "ES256",
     "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},
    {"kty": "OKP", "crv": "Ed25519", "kid": "o", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
]}"#;

/// A discovery document.
pub(crate) const METADATA: &str = r#"{
    "issuer": "https://id.example.com", "authorization_endpoint": "https://id.example.com/a",
    "token_endpoint": "https://id.example.com/t", "jwks_uri": "https://id.example.com/k",
    "response_types_supported": ["code"], "id_token_signing_alg_values_supported": ["ES256"]
}"#;

/// A token with the algorithm of a key, which has not signed it.
pub(crate) const TOKEN: &str = "eyJhbGciOiJFUzI1NiIsImtpZCI6ImUifQ.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUuY29tIiwiYXVkIjoiaWFtIn0.\
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Reads bytes as each document. Returns how many accept them.
pub(crate) fn read_documents(bytes: &[u8]) -> usize {
    let provider = ProviderMetadata::parse(ISSUER, METADATA.as_bytes()).expect("the document is valid");
    let _code = AuthorizationResponse::parse(&String::from_utf8_lossy(bytes)).code(&provider);
    let accepted = [
        ProviderMetadata::parse(ISSUER, bytes).is_ok(),
        ProviderKeys::parse(bytes).is_ok(),
        TokenResponse::parse(bytes).is_ok(),
    ];
    accepted.into_iter().filter(|accepted| *accepted).count()
}

/// Verifies bytes as each kind of token. Returns whether one of them is accepted.
pub(crate) fn verify_token(keys: &ProviderKeys, bytes: &[u8]) -> bool {
    let token = String::from_utf8_lossy(bytes);
    let (expected, now) = (Expectations { issuer: ISSUER, client_id: "iam" }, DateTime::UNIX_EPOCH);
    verify_id_token(&token, keys, expected, "nonce", Some("access"), now).is_ok()
        | verify_logout_token(&token, keys, expected, now).is_ok()
}
