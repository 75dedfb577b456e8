//! Signing keys, in the form in which a store holds them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::clock::Timestamp;
use crate::id::KeyId;

/// The purpose of a key.
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
    /// Its purpose.
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
    /// The public half of the key.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey { id: self.id, bytes: self.public.clone() }
    }
}
