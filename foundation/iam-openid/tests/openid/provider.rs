//! A provider with a key of each type.

use std::sync::LazyLock;

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair};
use iam_openid::ProviderKeys;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

/// The algorithms that are accepted.
pub(crate) const ALGORITHMS: [Algorithm; 4] = [Algorithm::RS256, Algorithm::PS256, Algorithm::ES256, Algorithm::EdDSA];

/// A signing key, with its public half.
pub(crate) struct Signer {
    key: EncodingKey,
    algorithm: Algorithm,
    pub(crate) id: &'static str,
}

impl Signer {
    pub(crate) fn new(algorithm: Algorithm, id: &'static str) -> Self {
        let key = match algorithm {
            Algorithm::RS256 | Algorithm::PS256 => {
                let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
                let pkcs8: Pkcs8V1Der<'_> = pair.as_der().unwrap();
                // PKCS #8 with a key of 2,048 bits is 26 bytes before the key itself.
                EncodingKey::from_rsa_der(&pkcs8.as_ref()[26..])
            }
            Algorithm::ES256 => {
                let pair =
                    EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).unwrap();
                EncodingKey::from_ec_der(pair.as_ref())
            }
            Algorithm::EdDSA => {
                let pair = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new()).unwrap();
                EncodingKey::from_ed_der(pair.as_ref())
            }
            other => panic!("no key for {other:?}"),
        };
        Self { key, algorithm, id }
    }

    /// The public key, as the provider publishes it.
    pub(crate) fn public(&self) -> Value {
        let jwk = Jwk::from_encoding_key(&self.key, self.algorithm).unwrap();
        let mut jwk = serde_json::to_value(jwk).unwrap();
        jwk["kid"] = json!(self.id);
        jwk["use"] = json!("sig");
        jwk
    }

    pub(crate) fn header(&self) -> Header {
        Header { kid: Some(self.id.to_owned()), ..Header::new(self.algorithm) }
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        self.sign_with(&self.header(), claims)
    }

    pub(crate) fn sign_with(&self, header: &Header, claims: &Value) -> String {
        encode(header, claims, &self.key).unwrap()
    }
}

/// The key of the provider for an algorithm.
pub(crate) fn signer(algorithm: Algorithm) -> &'static Signer {
    static SIGNERS: LazyLock<Vec<Signer>> = LazyLock::new(|| {
        let ids = ["rsa", "pss", "elliptic", "edwards"];
        ALGORITHMS.iter().zip(ids).map(|(algorithm, id)| Signer::new(*algorithm, id)).collect()
    });
    SIGNERS.iter().find(|signer| signer.algorithm == algorithm).unwrap()
}

/// A document with these keys.
pub(crate) fn document(keys: &[Value]) -> ProviderKeys {
    ProviderKeys::parse(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
}

/// All keys of the provider.
pub(crate) fn published() -> ProviderKeys {
    document(&ALGORITHMS.map(|algorithm| signer(algorithm).public()))
}
