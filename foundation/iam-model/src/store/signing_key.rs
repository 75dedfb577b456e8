use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::clock::Timestamp;
use crate::id::KeyId;
use crate::signing_key::{KeyPurpose, PrivateKey, SigningKey};
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Stores the signing keys of the installation. They belong to no tenant.
#[apply(observed)]
#[async_trait]
pub trait KeyStore {
    /// Returns all keys for a purpose, oldest generation first.
    async fn signing_keys(&self, purpose: KeyPurpose) -> Result<Vec<SigningKey>, StoreError>;

    /// Adds a key. When two keys with the same purpose and generation are added, the second fails with
    /// [`Constraint::SigningKeyGeneration`](crate::store_error::Constraint::SigningKeyGeneration).
    async fn insert_signing_key(&self, key: &SigningKey) -> Result<(), StoreError>;

    /// Replaces the private key of a key by `after`, if it is still equal to `before`. Returns whether it was.
    async fn replace_private_key(&self, id: KeyId, before: &PrivateKey, after: &PrivateKey)
    -> Result<bool, StoreError>;

    /// Revokes a key that signs access tokens, and erases its private half. Returns whether there was such a key that
    /// was not revoked before. The [change feed](crate::store::Store::change_feed) sends its identifier.
    async fn revoke_signing_key(&self, id: KeyId, at: Timestamp) -> Result<bool, StoreError>;
}
