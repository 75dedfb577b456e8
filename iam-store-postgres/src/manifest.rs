use async_trait::async_trait;
use iam_model::change::ManifestChange;
use iam_model::store::ManifestTransaction;
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::error::store_error;
use crate::transaction::PostgresTransaction;

#[async_trait]
impl ManifestTransaction for PostgresTransaction {
    async fn manifest_items(&mut self) -> Result<Vec<Uuid>, StoreError> {
        let items = sqlx::query_scalar!("SELECT item_id FROM iam.manifest_items WHERE tenant_id = $1", self.tenant());
        items.fetch_all(self.connection()).await.map_err(store_error)
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_manifest(&mut self, change: &ManifestChange) -> Result<(), StoreError> {
        let ManifestChange::Apply { made, gone } = change;
        let tenant = self.tenant();
        let insert = "INSERT INTO iam.manifest_items (tenant_id, item_id) ";
        self.insert_values(insert, made.clone(), |row, item| {
            row.push_bind(tenant).push_bind(item);
        })
        .await?;
        let delete =
            sqlx::query!("DELETE FROM iam.manifest_items WHERE tenant_id = $1 AND item_id = ANY($2)", tenant, gone);
        self.execute(delete).await.map(drop)
    }
}
