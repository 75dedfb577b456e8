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

/// Implements the port of signing keys; see [`store`](crate::store).
#[macro_export]
macro_rules! key_ports {
    (
        $store:ident,
        by_purpose: $by_purpose:literal,
        insert: $insert:literal,
        replace: $replace:literal,
        revoke: $revoke:literal $(,)?
    ) => {
        const _: () = {
            use iam_model::clock::Timestamp;
            use iam_model::id::KeyId;
            use iam_model::signing_key::{KeyPurpose, PrivateKey, SigningKey};
            use iam_model::store::KeyStore;
            use iam_model::store_error::StoreError;
            use $crate::signing_key::private_columns;
            use $crate::store::SqlStore;

            type Row = $crate::signing_key::SigningKeyRow<<$store as SqlStore>::Moment>;

            #[async_trait::async_trait]
            impl KeyStore for $store {
                async fn signing_keys(&self, purpose: KeyPurpose) -> Result<Vec<SigningKey>, StoreError> {
                    let rows = sqlx::query_as!(
                        Row,
                        r#"
                        SELECT
                            purpose,
                            generation,
                            id,
                            public_key,
                            private_key,
                            encrypted,
                            created_at,
                            signs_from,
                            revoked_at
                        "#
                            + $by_purpose,
                        purpose.as_str()
                    );
                    self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(SigningKey::try_from).collect()
                }

                async fn insert_signing_key(&self, key: &SigningKey) -> Result<(), StoreError> {
                    let (private_key, encrypted) = private_columns(&key.private);
                    let insert = sqlx::query!(
                        $insert,
                        key.purpose.as_str(),
                        key.generation,
                        key.id.as_uuid(),
                        key.public,
                        private_key,
                        encrypted,
                        $store::stored(key.created_at),
                        $store::stored(key.signs_from),
                        key.revoked_at.map($store::stored)
                    );
                    self.answer(insert.execute(&self.writes())).await.map(drop)
                }

                async fn replace_private_key(
                    &self,
                    id: KeyId,
                    before: &PrivateKey,
                    after: &PrivateKey,
                ) -> Result<bool, StoreError> {
                    let ((before, was_encrypted), (after, is_encrypted)) =
                        (private_columns(before), private_columns(after));
                    let update = sqlx::query!($replace, id.as_uuid(), before, was_encrypted, after, is_encrypted);
                    Ok(self.answer(update.execute(&self.writes())).await?.rows_affected() > 0)
                }

                async fn revoke_signing_key(&self, id: KeyId, at: Timestamp) -> Result<bool, StoreError> {
                    let update = sqlx::query!($revoke, id.as_uuid(), $store::stored(at));
                    Ok(self.answer(update.execute(&self.writes())).await?.rows_affected() > 0)
                }
            }
        };
    };
}
