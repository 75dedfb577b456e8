use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::fault::Fault;

/// The maximum number of keys of a provider.
const MAX_KEYS: usize = 100;

/// The public keys with which a provider signs its tokens (RFC 7517).
#[derive(Clone)]
pub struct ProviderKeys(Vec<Key>);

#[derive(Clone)]
struct Key {
    id: Option<String>,
    /// The algorithms of the type of the key, or the one that the key names.
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

/// The document is no set of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the keys of the provider are no JSON Web Key Set of at most {MAX_KEYS} keys")]
pub struct InvalidKeys;

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

impl ProviderKeys {
    /// Reads the document at the `jwks_uri` of a provider. Keys of other types, for other uses and of other algorithms
    /// are left out, because providers also list keys that are not for ID tokens.
    ///
    /// # Errors
    ///
    /// [`InvalidKeys`] if the document is no JSON Web Key Set, or has more than 100 keys.
    pub fn parse(json: &[u8]) -> Result<Self, InvalidKeys> {
        let document: Document = iam_json::from_slice(json).map_err(|_| InvalidKeys)?;
        if document.keys.len() > MAX_KEYS {
            return Err(InvalidKeys);
        }
        Ok(Self(document.keys.into_iter().filter_map(Key::read).collect()))
    }

    /// Returns the keys that may have signed a token. A token without the identifier of a key is tried with all keys of
    /// its algorithm.
    pub(crate) fn candidates(&self, id: Option<&str>, algorithm: Algorithm) -> Result<Vec<&DecodingKey>, Fault> {
        let named = |key: &&Key| id.is_none() || key.id.as_deref() == id;
        let known: Vec<&Key> = self.0.iter().filter(named).collect();
        if known.is_empty() {
            return Err(Fault::UnknownKey);
        }
        let fitting = known.into_iter().filter(|key| key.algorithms.contains(&algorithm));
        let fitting: Vec<&DecodingKey> = fitting.map(|key| &key.key).collect();
        if fitting.is_empty() { Err(Fault::Algorithm) } else { Ok(fitting) }
    }
}

impl Key {
    fn read(json: Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(json).ok()?;
        if jwk.common.public_key_use.as_ref().is_some_and(|used| *used != PublicKeyUse::Signature) {
            return None;
        }
        if jwk.common.key_operations.as_ref().is_some_and(|allowed| !allowed.contains(&KeyOperations::Verify)) {
            return None;
        }
        let of_type = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => vec![Algorithm::RS256, Algorithm::PS256],
            AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P256 => vec![Algorithm::ES256],
            AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => vec![Algorithm::EdDSA],
            // A secret that both know is no key of the provider.
            _ => return None,
        };
        let algorithms: Vec<Algorithm> = match jwk.common.key_algorithm {
            None => of_type,
            Some(named) => of_type.into_iter().filter(|algorithm| is_named(named, *algorithm)).collect(),
        };
        let key = DecodingKey::from_jwk(&jwk).ok().filter(|_| !algorithms.is_empty())?;
        Some(Self { id: jwk.common.key_id, algorithms, key })
    }
}

fn is_named(named: KeyAlgorithm, algorithm: Algorithm) -> bool {
    matches!(
        (named, algorithm),
        (KeyAlgorithm::RS256, Algorithm::RS256)
            | (KeyAlgorithm::PS256, Algorithm::PS256)
            | (KeyAlgorithm::ES256, Algorithm::ES256)
            | (KeyAlgorithm::EdDSA, Algorithm::EdDSA)
    )
}
