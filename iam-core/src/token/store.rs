use async_trait::async_trait;

use super::SigningKey;
use crate::error::StoreError;

/// Keeps the installation's signing keys. They belong to no tenant.
#[async_trait]
pub trait KeyStore {
    /// Every key, oldest generation first.
    async fn signing_keys(&self) -> Result<Vec<SigningKey>, StoreError>;

    /// Adds a key. Of two that are added with one generation, one fails on
    /// [`Constraint::SigningKeyGeneration`](crate::Constraint::SigningKeyGeneration).
    async fn insert_signing_key(&self, key: &SigningKey) -> Result<(), StoreError>;
}
