use async_trait::async_trait;

use super::{MemoryStore, hold};
use crate::error::{Constraint, StoreError};
use crate::token::{KeyStore, SigningKey};

#[async_trait]
impl KeyStore for MemoryStore {
    async fn signing_keys(&self) -> Result<Vec<SigningKey>, StoreError> {
        Ok(self.read(|state| state.keys.clone()))
    }

    async fn insert_signing_key(&self, key: &SigningKey) -> Result<(), StoreError> {
        self.change(|state| {
            let is_free = state.keys.iter().all(|other| other.generation != key.generation);
            hold(Constraint::SigningKeyGeneration, is_free)?;
            state.keys.push(key.clone());
            state.keys.sort_by_key(|key| key.generation);
            Ok(())
        })
    }
}
