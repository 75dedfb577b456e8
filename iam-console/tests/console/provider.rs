//! An OpenID Connect provider, in the process of the test.

#![cfg(test)]

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use async_trait::async_trait;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::Ed25519KeyPair;
use iam_core::identity_provider::{FetchError, ProviderAnswer, ProviderClient, ProviderRequest};
use iam_core::webhook::{AddressPolicy, SendError};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::json;
use url::Url;

use crate::app::App;

pub(crate) const ISSUER: &str = "https://login.example.com";

static KEY: LazyLock<EncodingKey> = LazyLock::new(|| {
    let pair = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new()).unwrap();
    EncodingKey::from_ed_der(pair.as_ref())
});

/// A provider at every address, unless its host begins with `broken`. People log in at [`ISSUER`]. Clones share what it
/// knows.
#[derive(Clone, Default)]
pub(crate) struct Providers {
    /// What a code is exchanged for, with the code challenge that the exchange must answer.
    codes: Arc<Mutex<HashMap<String, (String, String)>>>,
    is_down: Arc<Mutex<bool>>,
}

impl Providers {
    /// Lets the person with this subject and address log in, at the address to which a browser was sent. Returns the
    /// query with which the browser comes back.
    pub(crate) fn log_in(&self, authorization_url: &str, app: &App, (subject, email): (&str, &str)) -> String {
        let query = query_of(authorization_url);
        let now = app.iam.now().timestamp();
        let claims = json!({
            "iss": ISSUER,
            "aud": query["client_id"],
            "sub": subject,
            "nonce": query["nonce"],
            "iat": now,
            "exp": now + 300,
            "auth_time": now,
            "email": email,
            "email_verified": true,
        });
        let header = Header { kid: Some("one".to_owned()), ..Header::new(Algorithm::EdDSA) };
        let token = encode(&header, &claims, &KEY).unwrap();
        let mut codes = self.codes.lock().unwrap();
        let code = format!("code-{}", codes.len());
        codes.insert(code.clone(), (token, query["code_challenge"].clone()));
        format!("code={code}&state={}", query["state"])
    }

    /// From now on, the provider does not answer.
    pub(crate) fn go_down(&self) {
        *self.is_down.lock().unwrap() = true;
    }
}

/// Returns the query of an address.
pub(crate) fn query_of(address: &str) -> HashMap<String, String> {
    Url::parse(address).unwrap().query_pairs().into_owned().collect()
}

#[async_trait]
impl ProviderClient for Providers {
    fn address_policy(&self) -> AddressPolicy {
        AddressPolicy::Public
    }

    async fn send(&self, request: ProviderRequest) -> Result<ProviderAnswer, FetchError> {
        if *self.is_down.lock().unwrap() {
            return Err(FetchError::NoAnswer(SendError::Unresolved));
        }
        match request {
            ProviderRequest::Get(url) if url.as_str().starts_with("https://broken") => {
                Ok(ProviderAnswer { status: 404, body: Vec::new() })
            }
            ProviderRequest::Get(url) if url.path().ends_with("/.well-known/openid-configuration") => {
                let issuer = url.as_str().strip_suffix("/.well-known/openid-configuration").unwrap();
                Ok(answer(&json!({
                    "issuer": issuer,
                    "authorization_endpoint": format!("{issuer}/authorize"),
                    "token_endpoint": format!("{issuer}/token"),
                    "jwks_uri": format!("{issuer}/keys"),
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                    "id_token_signing_alg_values_supported": ["EdDSA"],
                    "token_endpoint_auth_methods_supported": ["client_secret_basic"],
                })))
            }
            ProviderRequest::Get(url) if url.path() == "/keys" => {
                let mut key = serde_json::to_value(Jwk::from_encoding_key(&KEY, Algorithm::EdDSA).unwrap()).unwrap();
                key["kid"] = json!("one");
                Ok(answer(&json!({ "keys": [key] })))
            }
            ProviderRequest::Post { form, .. } => {
                let form: HashMap<String, String> = form_urlencoded::parse(form.as_bytes()).into_owned().collect();
                let (token, challenge) = self.codes.lock().unwrap().remove(&form["code"]).unwrap();
                assert_eq!(iam_core::federation::code_challenge(&form["code_verifier"]), challenge);
                Ok(answer(&json!({ "id_token": token, "access_token": "a" })))
            }
            other => panic!("{other:?}"),
        }
    }
}

fn answer(body: &serde_json::Value) -> ProviderAnswer {
    ProviderAnswer { status: 200, body: body.to_string().into_bytes() }
}
