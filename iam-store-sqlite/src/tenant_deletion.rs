use async_trait::async_trait;
use iam_model::change::TenantDeletionChange;
use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::store::{TenantDeletionStore, TenantDeletionTransaction};
use iam_model::store_error::StoreError;
use iam_model::tenant_deletion::{TenantContents, TenantDeletion};
use iam_store_sql::error::expect_row;
use iam_store_sql::source::Source;
use iam_store_sql::tenant_deletion::{TABLES_OF_TENANTS, TenantDeletionRow};
use sqlx::AssertSqlSafe;
use sqlx::types::Json;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::open::cut_log;
use crate::transaction::SqliteTransaction;

type Row = TenantDeletionRow<i64>;
type Contents = Json<TenantContents>;

#[async_trait]
impl TenantDeletionStore for SqliteStore {
    async fn tenant_deletion(&self, tenant: TenantId) -> Result<Option<TenantDeletion>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, due_at, keeps_log, reason, scheduled_at, begun_at, contents AS "contents: Contents"
            FROM tenant_deletions
            WHERE tenant_id = ?1
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
            FROM tenant_deletions
            WHERE due_at <= ?1
            ORDER BY due_at, tenant_id
            LIMIT ?2
            "#,
            millis(now),
            i64::from(limit)
        );
        self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(TenantDeletion::try_from).collect()
    }

    async fn remove_rows_of_tenant(&self, tenant: TenantId, limit: u32) -> Result<u64, StoreError> {
        for table in TABLES_OF_TENANTS {
            let columns = self.key_columns(table).await?;
            // An organization goes after those below it, which refer to it.
            let is_free = match table {
                "organizations" => {
                    "AND NOT EXISTS (
                        SELECT 1 FROM organizations c WHERE c.tenant_id = r.tenant_id AND c.parent_id = r.id
                    )"
                }
                _ => "",
            };
            // The names of tables and columns are those of this crate. Values are parameters.
            let delete = AssertSqlSafe(format!(
                "DELETE FROM {table}
                WHERE tenant_id = ?1
                    AND ({columns}) IN (SELECT {columns} FROM {table} r WHERE r.tenant_id = ?1 {is_free} LIMIT ?2)
                    AND EXISTS (SELECT 1 FROM tenant_deletions d WHERE d.tenant_id = ?1 AND d.begun_at IS NOT NULL)"
            ));
            let delete = sqlx::query(delete).bind(tenant.as_uuid()).bind(i64::from(limit));
            let deleted = self.answer(delete.execute(&self.writes())).await?.rows_affected();
            if deleted > 0 {
                return Ok(deleted);
            }
        }
        Ok(0)
    }

    async fn remove_tenant(&self, tenant: TenantId) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            r#"
            DELETE FROM tenants
            WHERE id = ?1
                AND EXISTS (SELECT 1 FROM tenant_deletions d WHERE d.tenant_id = ?1 AND d.begun_at IS NOT NULL)
            "#,
            tenant.as_uuid()
        );
        self.answer(delete.execute(&self.writes())).await?;
        // If the process ends here, the next round finds a deletion without a tenant.
        let delete = sqlx::query!(
            "DELETE FROM tenant_deletions WHERE tenant_id = ?1 AND begun_at IS NOT NULL",
            tenant.as_uuid()
        );
        self.answer(delete.execute(&self.writes())).await?;
        // The write-ahead log has pages from before the deletion.
        if let Source::Pool(pool) = &self.writer {
            cut_log(&pool.connect_options()).await;
        }
        Ok(())
    }
}

impl SqliteStore {
    /// Returns the columns of the primary key of a table, separated by commas.
    async fn key_columns(&self, table: &str) -> Result<String, StoreError> {
        let names = sqlx::query_scalar::<_, String>("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk");
        Ok(self.answer(names.bind(table).fetch_all(&self.reads())).await?.join(", "))
    }
}

#[async_trait]
impl TenantDeletionTransaction for SqliteTransaction {
    async fn tenant_deletion(&mut self) -> Result<Option<TenantDeletion>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, due_at, keeps_log, reason, scheduled_at, begun_at, contents AS "contents: Contents"
            FROM tenant_deletions
            WHERE tenant_id = ?1
            "#,
            self.tenant()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(TenantDeletion::try_from).transpose()
    }
}

impl SqliteTransaction {
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
            INSERT INTO tenant_deletions (tenant_id, due_at, keeps_log, reason, scheduled_at)
            VALUES (?1, ?2, ?3, ?4, ?5)
            "#,
            self.tenant(),
            millis(deletion.due_at),
            deletion.keeps_log,
            deletion.reason.as_str(),
            millis(deletion.scheduled_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn delete_tenant_deletion(&mut self) -> Result<(), StoreError> {
        let delete =
            sqlx::query!("DELETE FROM tenant_deletions WHERE tenant_id = ?1 AND begun_at IS NULL", self.tenant());
        expect_row(self.execute(delete).await?, "tenant deletion")
    }

    async fn begin_tenant_deletion(&mut self, after: &TenantDeletion) -> Result<(), StoreError> {
        let update = sqlx::query!(
            "UPDATE tenant_deletions SET begun_at = ?2, contents = ?3 WHERE tenant_id = ?1 AND begun_at IS NULL",
            self.tenant(),
            after.begun_at.map(millis),
            after.contents.map(Json)
        );
        expect_row(self.execute(update).await?, "tenant deletion")
    }
}
