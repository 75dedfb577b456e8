use async_trait::async_trait;
use iam_model::change::IdempotencyChange;
use iam_model::id::TenantId;
use iam_model::idempotency::IdempotencyRecord;
use iam_model::store::IdempotencyTransaction;
use iam_model::store_error::StoreError;
use iam_store_sql::idempotency::IdempotencyRecordRow;
use uuid::Uuid;

use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = IdempotencyRecordRow<i64>;

#[async_trait]
impl IdempotencyTransaction for SqliteTransaction {
    async fn lock_idempotency_record(
        &mut self,
        tenant: TenantId,
        id: &[u8; 32],
    ) -> Result<Option<IdempotencyRecord>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT tenant_id AS "tenant_id: Uuid", id, request, answer, created_at
            FROM idempotency_records
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            tenant.as_uuid(),
            id.as_slice()
        );
        let row = row.fetch_optional(self.connection()).await.map_err(store_error)?;
        row.map(IdempotencyRecord::try_from).transpose()
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_idempotency(&mut self, change: &IdempotencyChange) -> Result<(), StoreError> {
        match change {
            IdempotencyChange::Keep(record) => self.keep_answer(record).await,
            IdempotencyChange::Forget { tenant_id, text } => self.forget_answers(*tenant_id, text).await,
        }
    }

    // Unlike every other statement, these two do not bind the tenant of the unit of work: a caller that creates a
    // tenant has no tenant yet.

    async fn forget_answers(&mut self, tenant: TenantId, text: &str) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            r#"
            DELETE FROM idempotency_records
            WHERE tenant_id = ?1 AND instr(answer, ?2) > 0
            "#,
            tenant.as_uuid(),
            text
        );
        delete.execute(self.connection()).await.map(drop).map_err(store_error)
    }

    async fn keep_answer(&mut self, record: &IdempotencyRecord) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO idempotency_records (tenant_id, id, request, answer, created_at)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (tenant_id, id) DO UPDATE
            SET request = excluded.request, answer = excluded.answer, created_at = excluded.created_at
            "#,
            record.tenant_id.as_uuid(),
            record.id.as_slice(),
            record.request.as_slice(),
            record.answer,
            millis(record.created_at)
        );
        insert.execute(self.connection()).await.map(drop).map_err(store_error)
    }
}
