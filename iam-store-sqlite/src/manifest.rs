use async_trait::async_trait;
use iam_model::change::ManifestChange;
use iam_model::store::ManifestTransaction;
use iam_model::store_error::StoreError;
use sqlx::types::Json;
use uuid::Uuid;

use crate::error::store_error;
use crate::transaction::SqliteTransaction;

#[async_trait]
impl ManifestTransaction for SqliteTransaction {
    async fn manifest_items(&mut self) -> Result<Vec<Uuid>, StoreError> {
        let items = sqlx::query_scalar!("SELECT item_id FROM manifest_items WHERE tenant_id = ?1", self.tenant());
        items.fetch_all(self.connection()).await.map_err(store_error)
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_manifest(&mut self, change: &ManifestChange) -> Result<(), StoreError> {
        let ManifestChange::Apply { made, gone } = change;
        let insert = sqlx::query!(
            r#"
            INSERT INTO manifest_items (tenant_id, item_id)
            SELECT ?1, unhex(value, '-')
            FROM json_each(?2)
            "#,
            self.tenant(),
            Json(made)
        );
        self.execute(insert).await?;
        let delete = sqlx::query!(
            r#"
            DELETE FROM manifest_items
            WHERE tenant_id = ?1 AND item_id IN (SELECT unhex(value, '-') FROM json_each(?2))
            "#,
            self.tenant(),
            Json(gone)
        );
        self.execute(delete).await.map(drop)
    }
}
