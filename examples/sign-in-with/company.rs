//! The identity provider of a company, in this process, so that the example needs no account elsewhere.
//!
//! It asks no question: each browser is Grace's. A real one asks for a proof, and knows the addresses of its clients.
//! For a real one, write a [`ProviderClient`] that sends the requests, as `iam-server/src/federation.rs` does with
//! `foundation/iam-http-client`. That client is a part of a program, so this example cannot call it.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::Ed25519KeyPair;
use axum::Router;
use axum::extract::State;
use axum::response::Redirect;
use axum::routing::get;
use chrono::Utc;
use iam_axum::Query;
use iam_core::federation::code_challenge;
use iam_core::identity_provider::{FetchError, ProviderAnswer, ProviderClient, ProviderRequest};
use iam_core::webhook::AddressPolicy;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde::Deserialize;
use serde_json::{Value, json};
use url::form_urlencoded;

pub(crate) const ISSUER: &str = "http://localhost:3000/company";

pub(crate) struct Company {
    key: EncodingKey,
    /// What was asked, by the code of the answer.
    asked: Mutex<HashMap<String, Asked>>,
}

#[derive(Deserialize)]
struct Asked {
    client_id: String,
    redirect_uri: String,
    state: String,
    nonce: String,
    code_challenge: String,
}

impl Company {
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        let pair = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new())?;
        Ok(Self { key: EncodingKey::from_ed_der(pair.as_ref()), asked: Mutex::default() })
    }

    fn keys(&self) -> Option<Value> {
        let key = Jwk::from_encoding_key(&self.key, Algorithm::EdDSA).ok()?;
        Some(json!({ "keys": [key] }))
    }

    /// Exchanges a code, once, for a token that says who the person is.
    fn token(&self, form: &str) -> Option<Value> {
        let form: HashMap<String, String> = form_urlencoded::parse(form.as_bytes()).into_owned().collect();
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).remove(form.get("code")?)?;
        if code_challenge(form.get("code_verifier")?) != asked.code_challenge {
            return None;
        }
        let now = Utc::now().timestamp();
        let claims = json!({
            "iss": ISSUER,
            "aud": asked.client_id,
            "sub": "248289761001",
            "nonce": asked.nonce,
            "iat": now,
            "exp": now + 300,
            "auth_time": now,
            "email": "grace@example.com",
            "email_verified": true,
            "given_name": "Grace",
            "family_name": "Hopper",
        });
        let token = encode(&Header::new(Algorithm::EdDSA), &claims, &self.key).ok()?;
        Some(json!({ "id_token": token, "token_type": "Bearer" }))
    }
}

/// The page of the company.
pub(crate) fn router(company: Arc<Company>) -> Router {
    Router::new().route("/authorize", get(authorize)).with_state(company)
}

async fn authorize(State(company): State<Arc<Company>>, Query(asked): Query<Asked>) -> Redirect {
    let code = crate::secret();
    let location = format!("{}?code={code}&state={}", asked.redirect_uri, asked.state);
    company.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(code, asked);
    Redirect::to(&location)
}

#[async_trait]
impl ProviderClient for Company {
    /// A real client allows [`AddressPolicy::Public`] only.
    fn address_policy(&self) -> AddressPolicy {
        AddressPolicy::Anywhere
    }

    async fn send(&self, request: ProviderRequest) -> Result<ProviderAnswer, FetchError> {
        let body = match request {
            ProviderRequest::Get(url) if url.path().ends_with("/keys") => self.keys(),
            ProviderRequest::Get(_) => Some(document()),
            ProviderRequest::Post { form, .. } => self.token(&form),
            _ => None,
        };
        let status = if body.is_some() { 200 } else { 400 };
        Ok(ProviderAnswer { status, body: body.unwrap_or_default().to_string().into_bytes() })
    }
}

fn document() -> Value {
    json!({
        "issuer": ISSUER,
        "authorization_endpoint": format!("{ISSUER}/authorize"),
        "token_endpoint": format!("{ISSUER}/token"),
        "jwks_uri": format!("{ISSUER}/keys"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
    })
}
