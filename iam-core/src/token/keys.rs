use std::fmt;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use jsonwebtoken::{DecodingKey, EncodingKey};
use zeroize::Zeroizing;

use super::MasterKey;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::id::KeyId;
use crate::random::Random;

/// What a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyPurpose {
    /// Access tokens.
    AccessTokens,
    /// Checkpoints of audit logs.
    Checkpoints,
}

text_enum! {
    KeyPurpose {
        AccessTokens = "ACCESS_TOKENS",
        Checkpoints = "CHECKPOINTS",
    }
}

/// An Ed25519 key in the form in which a store holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningKey {
    /// What it signs.
    pub purpose: KeyPurpose,
    /// Identifies the key, for instance in a token's header.
    pub id: KeyId,
    /// The generation of the previous key for the same purpose, plus one.
    pub generation: i64,
    /// The 32 bytes of the public key.
    pub public: Vec<u8>,
    /// The private key.
    pub private: PrivateKey,
    /// When the key was created.
    pub created_at: Timestamp,
    /// When the key begins to sign. It is published before, so that every verifier knows it by then.
    pub signs_from: Timestamp,
    /// When the key was revoked. From then on it verifies no token.
    pub revoked_at: Option<Timestamp>,
}

/// The seed of a private key, encrypted under the master key if there is one.
#[derive(Clone, PartialEq, Eq)]
pub enum PrivateKey {
    /// Unencrypted: a reader of the database can sign tokens.
    Plain(Vec<u8>),
    /// Encrypted with AES-256-GCM under the master key: nonce, ciphertext and tag.
    Encrypted(Vec<u8>),
    /// Erased, because the key was revoked, or because another key has replaced it.
    Erased,
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain([REDACTED])",
            Self::Encrypted(_) => "Encrypted([REDACTED])",
            Self::Erased => "Erased",
        })
    }
}

/// The public half of a signing key, for verifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublicKey {
    /// Identifies the key; the `kid` of a JWK.
    pub id: KeyId,
    /// The 32 bytes of the Ed25519 key.
    pub bytes: Vec<u8>,
}

impl PublicKey {
    /// Returns the `x` of a JWK (RFC 8037 §2): base64url without padding.
    #[must_use]
    pub fn x(&self) -> String {
        URL_SAFE_NO_PAD.encode(&self.bytes)
    }
}

impl SigningKey {
    pub(crate) fn public_key(&self) -> PublicKey {
        PublicKey { id: self.id, bytes: self.public.clone() }
    }
}

pub(crate) fn decoding_key(key: &PublicKey) -> DecodingKey {
    DecodingKey::from_ed_der(&key.bytes)
}

/// Generates the successor of a key, which signs after `publication`, or the first key, which signs at once.
pub(crate) fn generate_key(
    purpose: KeyPurpose,
    id: KeyId,
    predecessor: Option<&SigningKey>,
    now: Timestamp,
    publication: TimeDelta,
    master: Option<&MasterKey>,
    random: &dyn Random,
) -> Result<SigningKey> {
    let seed: Zeroizing<[u8; 32]> = Zeroizing::new(random.bytes());
    let pair = key_pair(&*seed)?;
    let private = match master {
        Some(master) => PrivateKey::Encrypted(master.encrypt(id, &*seed, random)?),
        None => PrivateKey::Plain(seed.to_vec()),
    };
    Ok(SigningKey {
        purpose,
        id,
        generation: predecessor.map_or(1, |key| key.generation + 1),
        public: pair.public_key().as_ref().to_vec(),
        private,
        created_at: now,
        signs_from: predecessor.map_or(now, |_| now + publication),
        revoked_at: None,
    })
}

pub(crate) fn encoding_key(key: &SigningKey, master: Option<&MasterKey>) -> Result<EncodingKey> {
    let pkcs8 = pair(key, master)?.to_pkcs8().map_err(|cause| Error::internal("signing key", cause))?;
    Ok(EncodingKey::from_ed_der(pkcs8.as_ref()))
}

/// Returns the key pair, and decrypts the private key with the master key if needed.
pub(crate) fn pair(key: &SigningKey, master: Option<&MasterKey>) -> Result<Ed25519KeyPair> {
    key_pair(&seed(key, master)?)
}

/// Encrypts the private key under the newest master key. Returns `None` if it is already encrypted under that key,
/// or is erased.
pub(crate) fn reencrypted(key: &SigningKey, master: &MasterKey, random: &dyn Random) -> Result<Option<PrivateKey>> {
    if key.private == PrivateKey::Erased {
        return Ok(None);
    }
    if matches!(&key.private, PrivateKey::Encrypted(encrypted) if master.decrypt_under_this_key(key.id, encrypted).is_ok())
    {
        return Ok(None);
    }
    let encrypted = master.encrypt(key.id, &seed(key, Some(master))?, random)?;
    Ok(Some(PrivateKey::Encrypted(encrypted)))
}

fn seed(key: &SigningKey, master: Option<&MasterKey>) -> Result<Zeroizing<Vec<u8>>> {
    match (&key.private, master) {
        (PrivateKey::Plain(seed), _) => Ok(Zeroizing::new(seed.clone())),
        (PrivateKey::Encrypted(encrypted), Some(master)) => master.decrypt(key.id, encrypted),
        (PrivateKey::Encrypted(_), None) => {
            Err(Error::internal("signing key", "it is encrypted, and no master key is configured"))
        }
        (PrivateKey::Erased, _) => Err(Error::internal("signing key", "its private half is erased")),
    }
}

fn key_pair(seed: &[u8]) -> Result<Ed25519KeyPair> {
    Ed25519KeyPair::from_seed_unchecked(seed).map_err(|cause| Error::internal("signing key", cause))
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use uuid::Uuid;

    use super::*;
    use crate::random::SystemRandom;

    fn key(private: PrivateKey) -> SigningKey {
        SigningKey {
            purpose: KeyPurpose::AccessTokens,
            id: Uuid::from_u128(7).into(),
            generation: 1,
            public: vec![1; 32],
            private,
            created_at: Timestamp::default(),
            signs_from: Timestamp::default(),
            revoked_at: None,
        }
    }

    #[test]
    fn the_debug_output_of_a_private_key_shows_only_its_form() {
        for (private, shown) in [
            (PrivateKey::Plain(vec![65; 32]), "Plain([REDACTED])"),
            (PrivateKey::Encrypted(vec![65; 60]), "Encrypted([REDACTED])"),
            (PrivateKey::Erased, "Erased"),
        ] {
            assert_eq!(format!("{private:?}"), shown);
        }
    }

    #[test]
    fn a_private_key_is_reencrypted_unless_it_is_under_the_newest_master_key() {
        let (seed, id) = (vec![65; 32], key(PrivateKey::Erased).id);
        let [old, new] = [1, 2].map(|byte| STANDARD.encode([byte; 32]).parse::<MasterKey>().unwrap());
        let [by_old, by_new] = [&old, &new].map(|master| master.encrypt(id, &seed, &SystemRandom).unwrap());
        let replacing = new.clone().replacing(old);
        for private in [PrivateKey::Plain(seed.clone()), PrivateKey::Encrypted(by_old)] {
            let Some(PrivateKey::Encrypted(encrypted)) = reencrypted(&key(private), &replacing, &SystemRandom).unwrap()
            else {
                panic!("not encrypted");
            };
            assert_eq!(*new.decrypt_under_this_key(id, &encrypted).unwrap(), seed);
        }
        for private in [PrivateKey::Encrypted(by_new), PrivateKey::Erased] {
            assert_eq!(reencrypted(&key(private), &replacing, &SystemRandom).unwrap(), None);
        }
    }
}
