use async_trait::async_trait;
use iam_model::clock::Timestamp;
use iam_model::id::KeyId;
use iam_model::signing_key::{KeyPurpose, PrivateKey, SigningKey};
use iam_model::store::KeyStore;
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, hold};

#[async_trait]
impl KeyStore for MemoryStore {
    async fn signing_keys(&self, purpose: KeyPurpose) -> Result<Vec<SigningKey>, StoreError> {
        Ok(self.read(|state| state.keys.iter().filter(|key| key.purpose == purpose).cloned().collect()))
    }

    async fn insert_signing_key(&self, key: &SigningKey) -> Result<(), StoreError> {
        self.change(|state| {
            let name = |key: &SigningKey| (key.purpose, key.generation);
            let is_free = state.keys.iter().all(|other| name(other) != name(key));
            hold(Constraint::SigningKeyGeneration, is_free)?;
            state.keys.push(key.clone());
            state.keys.sort_by_key(|key| key.generation);
            Ok(())
        })
    }

    async fn replace_private_key(
        &self,
        id: KeyId,
        before: &PrivateKey,
        after: &PrivateKey,
    ) -> Result<bool, StoreError> {
        self.change(|state| {
            let key = state.keys.iter_mut().find(|key| key.id == id && key.private == *before);
            Ok(key.map(|key| key.private = after.clone()).is_some())
        })
    }

    async fn revoke_signing_key(&self, id: KeyId, at: Timestamp) -> Result<bool, StoreError> {
        self.change(|state| {
            let is_meant = |key: &&mut SigningKey| {
                key.id == id && key.purpose == KeyPurpose::AccessTokens && key.revoked_at.is_none()
            };
            let Some(key) = state.keys.iter_mut().find(is_meant) else { return Ok(false) };
            (key.revoked_at, key.private) = (Some(at), PrivateKey::Erased);
            Ok(true)
        })
    }
}
