//! OpenID Connect providers, in the process of the test.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use async_trait::async_trait;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::Ed25519KeyPair;
use iam_core::clock::Clock as _;
use iam_core::identity_provider::{FetchError, ProviderAnswer, ProviderClient, ProviderRequest};
use iam_core::webhook::{AddressPolicy, SendError};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use url::Url;

use crate::app::TestApp;
use crate::people::with;

/// The documents of the providers, by their URL, with the status code of the answer. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Providers {
    documents: Arc<Mutex<HashMap<String, (u16, String)>>>,
    /// What a code is exchanged for, with the code challenge that the exchange must answer.
    codes: Arc<Mutex<HashMap<String, (String, String)>>>,
}

/// The key of all providers.
static KEY: LazyLock<EncodingKey> = LazyLock::new(|| {
    let pair = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new()).unwrap();
    EncodingKey::from_ed_der(pair.as_ref())
});

/// Signs the claims of a token as a provider does.
pub(crate) fn sign(claims: &Value) -> String {
    let header = Header { kid: Some("one".to_owned()), ..Header::new(Algorithm::EdDSA) };
    encode(&header, claims, &KEY).unwrap()
}

/// The issuer of a provider that exists everywhere.
pub(crate) const ISSUER: &str = "https://login.example.com";

impl Providers {
    /// Those with the provider that exists everywhere.
    pub(crate) fn new() -> Self {
        let providers = Self::default();
        providers.discover(ISSUER, &json!({}));
        providers
    }

    /// Publishes a discovery document, with these members in place of the usual ones. A member that is null is left out.
    pub(crate) fn discover(&self, issuer: &str, members: &Value) {
        let mut document = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "id_token_signing_alg_values_supported": ["EdDSA"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        });
        document.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        document.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        self.answer(issuer, 200, &document.to_string());
        let mut key = serde_json::to_value(Jwk::from_encoding_key(&KEY, Algorithm::EdDSA).unwrap()).unwrap();
        key["kid"] = json!("one");
        let keys = (200, json!({ "keys": [key] }).to_string());
        self.documents.lock().unwrap().insert(format!("{issuer}/keys"), keys);
    }

    /// Lets a person log in at the provider to which a browser was sent. Returns the query with which the browser comes
    /// back. `members` are claims in place of the usual ones; one that is null is left out.
    pub(crate) fn log_in(&self, authorization_url: &str, app: &TestApp, members: &Value) -> String {
        let url = Url::parse(authorization_url).unwrap();
        let query: HashMap<String, String> = url.query_pairs().into_owned().collect();
        let now = app.clock.now().timestamp();
        let claims = json!({
            "iss": authorization_url.split("/authorize").next().unwrap(),
            "aud": query["client_id"],
            "sub": "248289761001",
            "nonce": query["nonce"],
            "iat": now,
            "exp": now + 300,
            "auth_time": now,
            "email": "grace@example.com",
            "email_verified": true,
            "given_name": "Grace",
            "family_name": "Hopper",
        });
        let mut claims = with(claims, members);
        claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let code = format!("code-{}", self.codes.lock().unwrap().len());
        let answer = (sign(&claims), query["code_challenge"].clone());
        self.codes.lock().unwrap().insert(code.clone(), answer);
        format!("code={code}&state={}", query["state"])
    }

    /// Tells these claims about the person who logs in, at the userinfo endpoint of the provider that exists everywhere.
    pub(crate) fn tell(&self, claims: &Value) {
        self.discover(ISSUER, &json!({ "userinfo_endpoint": format!("{ISSUER}/userinfo") }));
        self.documents.lock().unwrap().insert(format!("{ISSUER}/userinfo"), (200, claims.to_string()));
    }

    /// Answers with this where the discovery document of an issuer is looked for.
    pub(crate) fn answer(&self, issuer: &str, status: u16, body: &str) {
        let url = format!("{issuer}/.well-known/openid-configuration");
        self.documents.lock().unwrap().insert(url, (status, body.to_owned()));
    }
}

#[async_trait]
impl ProviderClient for Providers {
    fn address_policy(&self) -> AddressPolicy {
        AddressPolicy::Public
    }

    async fn send(&self, request: ProviderRequest) -> Result<ProviderAnswer, FetchError> {
        let url = match request {
            ProviderRequest::Get(url) => url,
            ProviderRequest::GetAuthorized { url, authorization } => {
                assert_eq!(authorization, "Bearer a");
                url
            }
            ProviderRequest::Post { url, form, .. } if url.path() == "/token" => {
                let form: HashMap<String, String> = url::form_urlencoded::parse(form.as_bytes()).into_owned().collect();
                let found = self.codes.lock().unwrap().remove(&form["code"]);
                let Some((token, challenge)) = found else { return Ok(answer(400, "{}")) };
                assert_eq!(iam_core::federation::code_challenge(&form["code_verifier"]), challenge);
                return Ok(answer(200, &json!({ "id_token": token, "access_token": "a" }).to_string()));
            }
            other => panic!("{other:?}"),
        };
        let found = self.documents.lock().unwrap().get(url.as_str()).cloned();
        let (status, body) = found.ok_or(FetchError::NoAnswer(SendError::Unresolved))?;
        Ok(answer(status, &body))
    }
}

fn answer(status: u16, body: &str) -> ProviderAnswer {
    ProviderAnswer { status, body: body.as_bytes().to_vec() }
}
