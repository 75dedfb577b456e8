//! The public key of a credential: a COSE key (RFC 9052 §7, formerly RFC 8152) with the restrictions of Level 3
//! §5.8.5 and §6.5.1. The keys of each type: RFC 9053 §7.1 and §7.2 for ES256 and EdDSA, RFC 8230 §4 for RS256, whose
//! algorithm is that of RFC 8812 §2.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
};

use crate::Refusal;
use crate::cbor::{Map, read_map};

/// ECDSA on P-256 with SHA-256.
const ES256: i64 = -7;
/// EdDSA on Ed25519.
const EDDSA: i64 = -8;
/// RSASSA-PKCS1-v1_5 with SHA-256.
const RS256: i64 = -257;

/// The algorithms that are offered to authenticators, the preferred one first.
pub(crate) const ALGORITHMS: [i64; 3] = [ES256, EDDSA, RS256];

// Labels of the parameters. The negative ones mean something else for each type of key.
const TYPE: i64 = 1;
const ALGORITHM: i64 = 3;
const CURVE: i64 = -1;
const X: i64 = -2;
const Y: i64 = -3;
const RSA_MODULUS: i64 = -1;
const RSA_EXPONENT: i64 = -2;

// Types of keys.
const OCTET_KEY_PAIR: i64 = 1;
const ELLIPTIC_CURVE: i64 = 2;
const RSA: i64 = 3;

// Curves.
const P256: i64 = 1;
const CURVE_ED25519: i64 = 6;

/// A key whose values have been checked, so that the registration of an unusable key is refused.
pub(crate) struct PublicKey(ParsedPublicKey);

impl PublicKey {
    /// Reads a COSE key that fills the bytes.
    pub(crate) fn parse(cose: &[u8]) -> Result<Self, Refusal> {
        let (key, rest) = read_map(cose).ok_or(Refusal::PublicKey)?;
        if !rest.is_empty() {
            return Err(Refusal::TrailingBytes);
        }
        let parsed = match key.integer(ALGORITHM).ok_or(Refusal::PublicKey)? {
            ES256 => p256(&key),
            EDDSA => ed25519(&key),
            RS256 => rsa(&key),
            _ => return Err(Refusal::Algorithm),
        };
        parsed.map(Self).ok_or(Refusal::PublicKey)
    }

    /// Verifies a signature in the format of Level 3 §6.5.5: the one of ES256 is in DER.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Refusal> {
        self.0.verify_sig(message, signature).map_err(|_| Refusal::Signature)
    }
}

/// A key has the required parameters of its type, and no others (Level 3 §6.5.1).
fn has_shape(key: &Map, kind: i64, parameters: usize) -> Option<()> {
    (key.integer(TYPE)? == kind && key.len() == parameters).then_some(())
}

/// Only the uncompressed form is allowed (Level 3 §5.8.5). The library refuses a point that is not on the curve.
fn p256(key: &Map) -> Option<ParsedPublicKey> {
    has_shape(key, ELLIPTIC_CURVE, 5)?;
    let (x, y) = (key.bytes(X)?, key.bytes(Y)?);
    if key.integer(CURVE)? != P256 || x.len() != 32 || y.len() != 32 {
        return None;
    }
    ParsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, [&[4], x, y].concat()).ok()
}

fn ed25519(key: &Map) -> Option<ParsedPublicKey> {
    has_shape(key, OCTET_KEY_PAIR, 4)?;
    let x = key.bytes(X)?;
    if key.integer(CURVE)? != CURVE_ED25519 || x.len() != 32 {
        return None;
    }
    ParsedPublicKey::new(&ED25519, x).ok()
}

fn rsa(key: &Map) -> Option<ParsedPublicKey> {
    has_shape(key, RSA, 4)?;
    let (n, e) = (key.bytes(RSA_MODULUS)?, key.bytes(RSA_EXPONENT)?);
    // The library itself checks the size only when it verifies a signature.
    let bits = n.len().checked_mul(8)?.checked_sub(usize::try_from(n.first()?.leading_zeros()).ok()?)?;
    if !(2048..=8192).contains(&bits) || !is_exponent(e) {
        return None;
    }
    // Refuses leading zeros, as RFC 8230 §4 does.
    RsaPublicKeyComponents { n, e }.to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256).ok()
}

/// Whether the bytes are an odd number from 3 to 2^32 (RFC 8017 §3.1). With an exponent of 1, everybody could sign.
fn is_exponent(bytes: &[u8]) -> bool {
    bytes.len() <= 4 && bytes != [1] && bytes.last().is_some_and(|last| last % 2 == 1)
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::digest::{SHA256, digest};
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::Value;

    use super::*;

    /// Most vectors of the standard are refused before their signature is verified, because their user is not.
    #[test]
    fn signatures_in_the_vectors_of_the_standard_are_right() {
        let file = include_str!("../tests/webauthn/vectors/specification.json");
        let file: Value = serde_json::from_str(file).unwrap();
        let bytes = |value: &Value| URL_SAFE_NO_PAD.decode(value.as_str().unwrap()).unwrap();
        let mut verified = Vec::new();
        for vector in file["vectors"].as_array().unwrap() {
            let name = vector["name"].as_str().unwrap();
            let key = match PublicKey::parse(&bytes(&vector["credential"]["publicKey"])) {
                Ok(key) => key,
                Err(refusal) => {
                    assert_eq!(refusal, Refusal::Algorithm, "{name}");
                    continue;
                }
            };
            let response = &vector["authentication"]["response"]["response"];
            let hash = digest(&SHA256, &bytes(&response["clientDataJSON"]));
            let signed = [bytes(&response["authenticatorData"]), hash.as_ref().to_vec()].concat();
            assert_eq!(key.verify(&signed, &bytes(&response["signature"])), Ok(()), "{name}");
            assert_eq!(key.verify(&signed[1..], &bytes(&response["signature"])), Err(Refusal::Signature), "{name}");
            verified.push(name);
        }
        assert_eq!(verified.len(), 12);
        for name in ["none-es256", "packed-eddsa", "packed-rs256"] {
            assert!(verified.contains(&name), "{name}");
        }
    }
}
