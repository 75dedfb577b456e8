//! `/.well-known/jwks.json` (RFC 7517).

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, header};
use iam_core::Iam;
use iam_core::token::PublicKey;
use serde::Serialize;
use utoipa::ToSchema;

use crate::description::{AUTHENTICATION, Problems};
use crate::problem::Problem;

/// The public keys that verify access tokens.
#[derive(Serialize, ToSchema)]
pub(crate) struct JwkSet {
    keys: Vec<Jwk>,
}

/// An Ed25519 public key (RFC 8037 §2).
#[derive(Serialize, ToSchema)]
pub(crate) struct Jwk {
    #[schema(example = "OKP")]
    kty: &'static str,
    #[schema(example = "Ed25519")]
    crv: &'static str,
    #[serde(rename = "use")]
    #[schema(example = "sig")]
    usage: &'static str,
    #[schema(example = "EdDSA")]
    alg: &'static str,
    /// The `kid` of the tokens that this key signed.
    kid: String,
    /// The key in base64url.
    x: String,
}

impl From<PublicKey> for Jwk {
    fn from(key: PublicKey) -> Self {
        Self { kty: "OKP", crv: "Ed25519", usage: "sig", alg: "EdDSA", kid: key.id.to_string(), x: key.x() }
    }
}

/// Get the public keys
///
/// A new key is published a minute before it signs tokens. So it is safe to cache the response for half a minute.
#[utoipa::path(
    get,
    path = "/.well-known/jwks.json",
    operation_id = "getPublicKeys",
    tag = AUTHENTICATION,
    responses((status = 200, description = "The public keys", body = JwkSet), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public"))),
)]
pub(crate) async fn jwks(State(iam): State<Iam>) -> Result<([(HeaderName, &'static str); 1], Json<JwkSet>), Problem> {
    let keys = iam.public_keys().await?.into_iter().map(Jwk::from).collect();
    Ok(([(header::CACHE_CONTROL, "public, max-age=30")], Json(JwkSet { keys })))
}
