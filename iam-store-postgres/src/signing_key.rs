use async_trait::async_trait;
use iam_model::clock::Timestamp;
use iam_model::id::KeyId;
use iam_model::signing_key::{KeyPurpose, PrivateKey, SigningKey};
use iam_model::store::KeyStore;
use iam_model::store_error::StoreError;
use iam_store_sql::signing_key::{SigningKeyRow, private_columns};

use crate::PostgresStore;
use crate::column::in_range;

type Row = SigningKeyRow<Timestamp>;

#[async_trait]
impl KeyStore for PostgresStore {
    async fn signing_keys(&self, purpose: KeyPurpose) -> Result<Vec<SigningKey>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                purpose, generation, id, public_key, private_key, encrypted, created_at, signs_from, revoked_at
            FROM iam.signing_keys
            WHERE purpose = $1
            ORDER BY generation
            "#,
            purpose.as_str()
        );
        self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(SigningKey::try_from).collect()
    }

    async fn insert_signing_key(&self, key: &SigningKey) -> Result<(), StoreError> {
        let (private_key, encrypted) = private_columns(&key.private);
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.signing_keys (
                purpose, generation, id, public_key, private_key, encrypted, created_at, signs_from, revoked_at
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            "#,
            key.purpose.as_str(),
            key.generation,
            key.id.as_uuid(),
            key.public,
            private_key,
            encrypted,
            in_range(key.created_at),
            in_range(key.signs_from),
            key.revoked_at.map(in_range)
        );
        self.answer(insert.execute(&self.writes())).await.map(drop)
    }

    async fn replace_private_key(
        &self,
        id: KeyId,
        before: &PrivateKey,
        after: &PrivateKey,
    ) -> Result<bool, StoreError> {
        let ((before, was_encrypted), (after, is_encrypted)) = (private_columns(before), private_columns(after));
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
        Ok(self.answer(update.execute(&self.writes())).await?.rows_affected() > 0)
    }

    async fn revoke_signing_key(&self, id: KeyId, at: Timestamp) -> Result<bool, StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.signing_keys
            SET private_key = '', encrypted = false, revoked_at = $2
            WHERE id = $1 AND purpose = 'ACCESS_TOKENS' AND revoked_at IS NULL
            "#,
            id.as_uuid(),
            in_range(at)
        );
        Ok(self.answer(update.execute(&self.writes())).await?.rows_affected() > 0)
    }
}
