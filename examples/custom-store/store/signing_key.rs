use async_trait::async_trait;
use iam_model::clock::Timestamp;
use iam_model::id::{KeyId, TenantId};
use iam_model::signing_key::{KeyPurpose, PrivateKey, SigningKey};
use iam_model::store::KeyStore;
use iam_model::store_error::{Constraint, StoreError};
use serde::{Deserialize, Serialize};

use super::rows::{Draft, Row, View, key};
use super::{RedbStore, hold};

/// A signing key. It belongs to no tenant.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct KeyRow(#[serde(with = "KeyFields")] SigningKey);

#[derive(Serialize, Deserialize)]
#[serde(remote = "SigningKey")]
struct KeyFields {
    purpose: KeyPurpose,
    id: KeyId,
    generation: i64,
    public: Vec<u8>,
    #[serde(with = "PrivateKeyFields")]
    private: PrivateKey,
    created_at: Timestamp,
    signs_from: Timestamp,
    #[serde(default)]
    revoked_at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PrivateKey")]
enum PrivateKeyFields {
    Plain(Vec<u8>),
    Encrypted(Vec<u8>),
    Erased,
}

impl Row for KeyRow {
    const TABLE: &'static str = "signing_keys";

    fn key(&self) -> Vec<u8> {
        key(self.0.id)
    }
}

#[async_trait]
impl KeyStore for RedbStore {
    async fn signing_keys(&self, purpose: KeyPurpose) -> Result<Vec<SigningKey>, StoreError> {
        let found = self.read(TenantId::NONE, |view| view.select(|KeyRow(key)| key.purpose == purpose))?;
        let mut keys: Vec<SigningKey> = found.into_iter().map(|KeyRow(key)| key).collect();
        keys.sort_by_key(|key| key.generation);
        Ok(keys)
    }

    async fn insert_signing_key(&self, key: &SigningKey) -> Result<(), StoreError> {
        self.write(|rows| {
            let draft = Draft::new(rows, TenantId::NONE);
            let name = |key: &SigningKey| (key.purpose.as_str(), key.generation);
            let is_taken = draft.view().any(|KeyRow(other)| name(other) == name(key))?;
            hold(Constraint::SigningKeyGeneration, !is_taken)?;
            draft.put(KeyRow(key.clone()))
        })
        .await
    }

    async fn replace_private_key(
        &self,
        id: KeyId,
        before: &PrivateKey,
        after: &PrivateKey,
    ) -> Result<bool, StoreError> {
        self.write(|rows| {
            let draft = Draft::new(rows, TenantId::NONE);
            let view: View<'_> = draft.view();
            let Some(KeyRow(stored)) = view.get(&key(id))?.filter(|KeyRow(stored)| stored.private == *before) else {
                return Ok(false);
            };
            draft.put(KeyRow(SigningKey { private: after.clone(), ..stored }))?;
            Ok(true)
        })
        .await
    }

    async fn revoke_signing_key(&self, id: KeyId, at: Timestamp) -> Result<bool, StoreError> {
        self.write_and_notify(vec![id.into()], |rows| {
            let draft = Draft::new(rows, TenantId::NONE);
            let stored = draft.view().get(&key(id))?.map(|KeyRow(stored)| stored);
            let is_meant = |key: &SigningKey| key.purpose == KeyPurpose::AccessTokens && key.revoked_at.is_none();
            let Some(stored) = stored.filter(is_meant) else { return Ok(false) };
            draft.put(KeyRow(SigningKey { private: PrivateKey::Erased, revoked_at: Some(at), ..stored }))?;
            Ok(true)
        })
        .await
    }
}
