//! Signing keys.

use iam_model::signing_key::{PrivateKey, SigningKey};
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, moment, moment_optional, parse};

/// A signing key as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct SigningKeyRow<T> {
    pub purpose: String,
    pub generation: i64,
    pub id: Uuid,
    pub public_key: Vec<u8>,
    pub private_key: Vec<u8>,
    pub encrypted: bool,
    pub created_at: T,
    pub signs_from: T,
    pub revoked_at: Option<T>,
}

impl<T: StoredMoment> TryFrom<SigningKeyRow<T>> for SigningKey {
    type Error = StoreError;

    fn try_from(row: SigningKeyRow<T>) -> Result<Self, StoreError> {
        let private = match (row.private_key, row.encrypted) {
            (bytes, _) if bytes.is_empty() => PrivateKey::Erased,
            (bytes, true) => PrivateKey::Encrypted(bytes),
            (bytes, false) => PrivateKey::Plain(bytes),
        };
        Ok(Self {
            purpose: parse("signing_keys.purpose", &row.purpose)?,
            id: row.id.into(),
            generation: row.generation,
            public: row.public_key,
            private,
            created_at: moment("signing_keys.created_at", row.created_at)?,
            signs_from: moment("signing_keys.signs_from", row.signs_from)?,
            revoked_at: moment_optional("signing_keys.revoked_at", row.revoked_at)?,
        })
    }
}

/// Returns the bytes of a private key, and whether they are encrypted.
#[must_use]
pub fn private_columns(key: &PrivateKey) -> (&[u8], bool) {
    match key {
        PrivateKey::Plain(bytes) => (bytes, false),
        PrivateKey::Encrypted(bytes) => (bytes, true),
        PrivateKey::Erased => (&[], false),
    }
}
