use async_trait::async_trait;
use iam_model::clock::Timestamp;
use iam_model::id::KeyId;
use iam_model::signing_key::{KeyPurpose, PrivateKey, SigningKey};
use iam_model::store::KeyStore;
use iam_model::store_error::StoreError;

use crate::PostgresStore;

pub(crate) type SigningKeyRow = iam_store_sql::token::SigningKeyRow<Timestamp>;

/// Returns the bytes, and whether they are encrypted.
fn columns(key: &PrivateKey) -> (&[u8], bool) {
    match key {
        PrivateKey::Plain(bytes) => (bytes, false),
        PrivateKey::Encrypted(bytes) => (bytes, true),
        PrivateKey::Erased => (&[], false),
    }
}

#[async_trait]
impl KeyStore for PostgresStore {
    async fn signing_keys(&self, purpose: KeyPurpose) -> Result<Vec<SigningKey>, StoreError> {
        let rows = sqlx::query_as!(
            SigningKeyRow,
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
            FROM iam.signing_keys
            WHERE purpose = $1
            ORDER BY generation
            "#,
            purpose.as_str()
        );
        self.answer(rows.fetch_all(&self.source())).await?.into_iter().map(SigningKey::try_from).collect()
    }

    async fn insert_signing_key(&self, key: &SigningKey) -> Result<(), StoreError> {
        let (private_key, encrypted) = columns(&key.private);
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.signing_keys (
                purpose,
                generation,
                id,
                public_key,
                private_key,
                encrypted,
                created_at,
                signs_from,
                revoked_at
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            "#,
            key.purpose.as_str(),
            key.generation,
            key.id.as_uuid(),
            key.public,
            private_key,
            encrypted,
            key.created_at,
            key.signs_from,
            key.revoked_at
        );
        self.answer(insert.execute(&self.source())).await.map(drop)
    }

    async fn replace_private_key(
        &self,
        id: KeyId,
        before: &PrivateKey,
        after: &PrivateKey,
    ) -> Result<bool, StoreError> {
        let ((before, was_encrypted), (after, is_encrypted)) = (columns(before), columns(after));
        let update = sqlx::query!(
            r#"
            UPDATE iam.signing_keys
            SET private_key = $4, encrypted = $5
            WHERE id = $1 AND private_key = $2 AND encrypted = $3
            "#,
            id.as_uuid(),
            before,
            was_encrypted,
            after,
            is_encrypted
        );
        Ok(self.answer(update.execute(&self.source())).await?.rows_affected() > 0)
    }

    async fn revoke_signing_key(&self, id: KeyId, at: Timestamp) -> Result<bool, StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.signing_keys
            SET private_key = '', encrypted = false, revoked_at = $2
            WHERE id = $1 AND purpose = 'ACCESS_TOKENS' AND revoked_at IS NULL
            "#,
            id.as_uuid(),
            at
        );
        Ok(self.answer(update.execute(&self.source())).await?.rows_affected() > 0)
    }
}
