//! OpenID Connect providers, in the process of the test.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::Ed25519KeyPair;
use iam_core::clock::Timestamp;
use iam_core::federation::code_challenge;
use iam_core::identity_provider::{FetchError, ProviderAnswer, ProviderClient, ProviderRequest};
use iam_core::webhook::{AddressPolicy, SendError};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

/// The issuer of the provider that is there without [`Providers::discover`].
pub const ISSUER: &str = "https://login.example.com";

/// The access token of each person.
const ACCESS_TOKEN: &str = "a";

/// Providers with one key, which all of them use. Clones share what they know.
#[derive(Clone)]
pub struct Providers(Arc<Mutex<State>>);

struct State {
    key: Key,
    /// How often a provider was asked for anything.
    asked: usize,
    /// How often the keys were read.
    keys_read: usize,
    /// The documents by their URL, with the status code of the answer.
    documents: HashMap<String, (u16, String)>,
    /// What a code is exchanged for.
    codes: HashMap<String, Login>,
    /// The number of all codes, also of those that were exchanged.
    issued: usize,
    is_down: bool,
}

struct Login {
    token: String,
    /// The code challenge that the exchange must answer.
    challenge: String,
}

struct Key {
    id: String,
    key: EncodingKey,
}

/// Those with the provider of [`ISSUER`].
impl Default for Providers {
    fn default() -> Self {
        let providers = Self(Arc::new(Mutex::new(State {
            key: Key::new("one"),
            asked: 0,
            keys_read: 0,
            documents: HashMap::new(),
            codes: HashMap::new(),
            issued: 0,
            is_down: false,
        })));
        providers.discover(ISSUER, &json!({}));
        providers
    }
}

impl Providers {
    /// Publishes a discovery document, with these members in place of the usual ones. One that is null is left out.
    pub fn discover(&self, issuer: &str, members: &Value) {
        let document = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "id_token_signing_alg_values_supported": ["EdDSA"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        });
        self.answer(issuer, 200, &with(document, members).to_string());
    }

    /// Answers with this where the discovery document of an issuer is looked for.
    pub fn answer(&self, issuer: &str, status: u16, body: &str) {
        let url = format!("{issuer}/.well-known/openid-configuration");
        self.state().documents.insert(url, (status, body.to_owned()));
    }

    /// Tells these claims about the person who logs in, at the userinfo endpoint of the provider of [`ISSUER`].
    pub fn tell(&self, claims: &Value) {
        let url = format!("{ISSUER}/userinfo");
        self.discover(ISSUER, &json!({ "userinfo_endpoint": url }));
        self.state().documents.insert(url, (200, claims.to_string()));
    }

    /// Lets a person log in at the provider to which a browser was sent, and whose clock shows this time. Returns the
    /// query with which the browser comes back. `members` are claims in place of the usual ones; one that is null is
    /// left out.
    #[must_use]
    pub fn log_in(&self, authorization_url: &str, now: Timestamp, members: &Value) -> String {
        let query = query_of(authorization_url);
        let asked = |name: &str| {
            let value = query.get(name);
            value.cloned().unwrap_or_else(|| panic!("there is no {name} in {authorization_url}"))
        };
        let issuer = authorization_url.split("/authorize").next().unwrap_or_default();
        let claims = with(claims(issuer, &asked("client_id"), &asked("nonce"), now), members);
        let mut state = self.state();
        let code = format!("code-{}", state.issued);
        state.issued += 1;
        let login = Login { token: state.key.sign(&claims), challenge: asked("code_challenge") };
        state.codes.insert(code.clone(), login);
        format!("code={code}&state={}", asked("state"))
    }

    /// Signs the claims of a token.
    #[must_use]
    pub fn sign(&self, claims: &Value) -> String {
        self.state().key.sign(claims)
    }

    /// The public key, as the providers publish it.
    #[must_use]
    pub fn keys(&self) -> String {
        self.state().key.published()
    }

    /// From now on, the providers sign with another key and publish no other one.
    pub fn rotate_key(&self, id: &str) {
        self.state().key = Key::new(id);
    }

    /// How often a provider was asked for anything.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.state().asked
    }

    /// How often the keys were read.
    #[must_use]
    pub fn keys_read(&self) -> usize {
        self.state().keys_read
    }

    /// From now on, no provider answers.
    pub fn go_down(&self) {
        self.state().is_down = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ProviderClient for Providers {
    fn address_policy(&self) -> AddressPolicy {
        AddressPolicy::Public
    }

    async fn send(&self, request: ProviderRequest) -> Result<ProviderAnswer, FetchError> {
        let mut state = self.state();
        state.asked += 1;
        if state.is_down {
            return Err(FetchError::NoAnswer(SendError::Unresolved));
        }
        match request {
            ProviderRequest::Get(url) => state.document(&url),
            ProviderRequest::GetAuthorized { url, authorization } => {
                assert_eq!(authorization, format!("Bearer {ACCESS_TOKEN}"));
                state.document(&url)
            }
            ProviderRequest::Post { url, form, .. } if url.path().ends_with("/token") => Ok(state.exchange(&form)),
            other => panic!("{other:?}"),
        }
    }
}

impl State {
    fn document(&mut self, url: &Url) -> Result<ProviderAnswer, FetchError> {
        if url.path().ends_with("/keys") {
            self.keys_read += 1;
            return Ok(answer(200, &self.key.published()));
        }
        let found = self.documents.get(url.as_str());
        let (status, body) = found.ok_or(FetchError::NoAnswer(SendError::Unresolved))?;
        Ok(answer(*status, body))
    }

    /// Exchanges a code, once, for the token of the person who has logged in.
    fn exchange(&mut self, form: &str) -> ProviderAnswer {
        let form: HashMap<String, String> = form_urlencoded::parse(form.as_bytes()).into_owned().collect();
        let field = |name: &str| form.get(name).unwrap_or_else(|| panic!("the form has no {name}"));
        let Some(Login { token, challenge }) = self.codes.remove(field("code")) else { return answer(400, "{}") };
        assert_eq!(code_challenge(field("code_verifier")), challenge);
        answer(200, &json!({ "id_token": token, "access_token": ACCESS_TOKEN }).to_string())
    }
}

impl Key {
    fn new(id: &str) -> Self {
        let pair = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new()).expect("a key can be made");
        Self { id: id.to_owned(), key: EncodingKey::from_ed_der(pair.as_ref()) }
    }

    fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some(self.id.clone()), ..Header::new(Algorithm::EdDSA) };
        encode(&header, claims, &self.key).expect("claims can be signed")
    }

    fn published(&self) -> String {
        let mut key = Jwk::from_encoding_key(&self.key, Algorithm::EdDSA).expect("the key has a public half");
        key.common.key_id = Some(self.id.clone());
        json!({ "keys": [key] }).to_string()
    }
}

/// The claims of an ID token: Grace, who has just authenticated.
#[must_use]
pub fn claims(issuer: &str, client_id: &str, nonce: &str, now: Timestamp) -> Value {
    let now = now.timestamp();
    json!({
        "iss": issuer,
        "aud": client_id,
        "sub": "248289761001",
        "nonce": nonce,
        "iat": now,
        "exp": now + 300,
        "auth_time": now,
        "email": "grace@example.com",
        "email_verified": true,
        "given_name": "Grace",
        "family_name": "Hopper",
    })
}

/// Returns the query of an address.
#[must_use]
pub fn query_of(address: &str) -> HashMap<String, String> {
    Url::parse(address).expect("a URL").query_pairs().into_owned().collect()
}

/// The object with these members in place of its own. A member that is null is left out.
fn with(mut object: Value, members: &Value) -> Value {
    let own = object.as_object_mut().expect("an object");
    own.extend(members.as_object().expect("an object").clone());
    own.retain(|_, value| !value.is_null());
    object
}

fn answer(status: u16, body: &str) -> ProviderAnswer {
    ProviderAnswer { status, body: body.as_bytes().to_vec() }
}
