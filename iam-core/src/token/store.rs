use async_trait::async_trait;

use super::{KeyPurpose, PrivateKey, SigningKey};
use crate::clock::Timestamp;
use crate::error::StoreError;
use crate::id::KeyId;

/// Keeps the installation's signing keys. They belong to no tenant.
#[async_trait]
pub trait KeyStore {
    /// Every key for a purpose, oldest generation first.
    async fn signing_keys(&self, purpose: KeyPurpose) -> Result<Vec<SigningKey>, StoreError>;

    /// Adds a key. Of two that are added for one purpose with one generation, one fails on
    /// [`Constraint::SigningKeyGeneration`](crate::Constraint::SigningKeyGeneration).
    async fn insert_signing_key(&self, key: &SigningKey) -> Result<(), StoreError>;

    /// Keeps the private key of a key in another form, if it is still kept as `before`; whether it was.
    async fn replace_private_key(&self, id: KeyId, before: &PrivateKey, after: &PrivateKey)
    -> Result<bool, StoreError>;

    /// Withdraws a key that signs access tokens, and erases its private half; whether there was one that had not been
    /// withdrawn. The [change feed](crate::Store::change_feed) tells its identifier.
    async fn revoke_signing_key(&self, id: KeyId, at: Timestamp) -> Result<bool, StoreError>;
}
