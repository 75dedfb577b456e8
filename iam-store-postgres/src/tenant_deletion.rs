use async_trait::async_trait;
use iam_model::change::TenantDeletionChange;
use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::store::{TenantDeletionStore, TenantDeletionTransaction};
use iam_model::store_error::StoreError;
use iam_model::tenant_deletion::{TenantContents, TenantDeletion};
use iam_store_sql::column::not_negative;
use iam_store_sql::error::expect_row;
use iam_store_sql::tenant_deletion::{TABLES_OF_TENANTS, TenantDeletionRow};
use sqlx::types::Json;

use crate::PostgresStore;
use crate::column::in_range;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type Row = TenantDeletionRow<Timestamp>;
type Contents = Json<TenantContents>;

#[async_trait]
impl TenantDeletionStore for PostgresStore {
    async fn tenant_deletion(&self, tenant: TenantId) -> Result<Option<TenantDeletion>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, due_at, keeps_log, reason, scheduled_at, begun_at, contents AS "contents: Contents"
            FROM iam.tenant_deletions
            WHERE tenant_id = $1
            "#,
            tenant.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(TenantDeletion::try_from).transpose()
    }

    async fn due_tenant_deletions(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantDeletion>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, due_at, keeps_log, reason, scheduled_at, begun_at, contents AS "contents: Contents"
            FROM iam.tenant_deletions
            WHERE due_at <= $1
            ORDER BY due_at, tenant_id
            LIMIT $2
            "#,
            in_range(now),
            i64::from(limit)
        );
        self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(TenantDeletion::try_from).collect()
    }

    async fn remove_rows_of_tenant(&self, tenant: TenantId, limit: u32) -> Result<u64, StoreError> {
        for table in TABLES_OF_TENANTS {
            // A function of the owner, because the role of a server cannot delete users.
            let deleted = sqlx::query_scalar!(
                r#"SELECT iam.delete_rows_of_tenant($1, $2, $3) AS "deleted!""#,
                tenant.as_uuid(),
                table,
                i64::from(limit)
            );
            let deleted = not_negative(self.answer(deleted.fetch_one(&self.writes())).await?);
            if deleted > 0 {
                return Ok(deleted);
            }
        }
        Ok(0)
    }

    async fn remove_tenant(&self, tenant: TenantId) -> Result<(), StoreError> {
        let delete = sqlx::query!("SELECT iam.delete_tenant($1)", tenant.as_uuid());
        self.answer(delete.execute(&self.writes())).await.map(drop)
    }
}

#[async_trait]
impl TenantDeletionTransaction for PostgresTransaction {
    async fn tenant_deletion(&mut self) -> Result<Option<TenantDeletion>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, due_at, keeps_log, reason, scheduled_at, begun_at, contents AS "contents: Contents"
            FROM iam.tenant_deletions
            WHERE tenant_id = $1
            "#,
            self.tenant()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(TenantDeletion::try_from).transpose()
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_tenant_deletion(&mut self, change: &TenantDeletionChange) -> Result<(), StoreError> {
        match change {
            TenantDeletionChange::Schedule(deletion) => self.insert_tenant_deletion(deletion).await,
            TenantDeletionChange::Cancel { .. } => self.delete_tenant_deletion().await,
            TenantDeletionChange::Begin { after, .. } => self.begin_tenant_deletion(after).await,
        }
    }

    async fn insert_tenant_deletion(&mut self, deletion: &TenantDeletion) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.tenant_deletions (tenant_id, due_at, keeps_log, reason, scheduled_at)
            VALUES ($1, $2, $3, $4, $5)
            "#,
            self.tenant(),
            in_range(deletion.due_at),
            deletion.keeps_log,
            deletion.reason.as_str(),
            in_range(deletion.scheduled_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn delete_tenant_deletion(&mut self) -> Result<(), StoreError> {
        let delete =
            sqlx::query!("DELETE FROM iam.tenant_deletions WHERE tenant_id = $1 AND begun_at IS NULL", self.tenant());
        expect_row(self.execute(delete).await?, "tenant deletion")
    }

    async fn begin_tenant_deletion(&mut self, after: &TenantDeletion) -> Result<(), StoreError> {
        let update = sqlx::query!(
            "UPDATE iam.tenant_deletions SET begun_at = $2, contents = $3 WHERE tenant_id = $1 AND begun_at IS NULL",
            self.tenant(),
            after.begun_at.map(in_range),
            after.contents.map(Json) as _
        );
        expect_row(self.execute(update).await?, "tenant deletion")
    }
}
