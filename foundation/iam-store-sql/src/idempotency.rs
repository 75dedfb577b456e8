//! Records of idempotent requests.

use iam_model::idempotency::IdempotencyRecord;
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, bytes_32, moment};

/// A record of an idempotent request as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct IdempotencyRecordRow<T> {
    pub tenant_id: Uuid,
    pub id: Vec<u8>,
    pub request: Vec<u8>,
    pub answer: String,
    pub created_at: T,
}

impl<T: StoredMoment> TryFrom<IdempotencyRecordRow<T>> for IdempotencyRecord {
    type Error = StoreError;

    fn try_from(row: IdempotencyRecordRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            tenant_id: row.tenant_id.into(),
            id: bytes_32("idempotency_records.id", &row.id)?,
            request: bytes_32("idempotency_records.request", &row.request)?,
            answer: row.answer,
            created_at: moment("idempotency_records.created_at", row.created_at)?,
        })
    }
}

/// Implements the port of idempotency records; see [`store`](crate::store). `lock_error` converts an error of the
/// statement that locks a record.
#[macro_export]
macro_rules! idempotency_ports {
    ($store:ident, $transaction:ident, lock: $lock:literal, lock_error: $lock_error:expr, keep: $keep:literal $(,)?) => {
        const _: () = {
            use iam_model::change::IdempotencyChange;
            use iam_model::id::TenantId;
            use iam_model::idempotency::IdempotencyRecord;
            use iam_model::store::IdempotencyTransaction;
            use iam_model::store_error::StoreError;
            use $crate::store::SqlStore;

            type Row = $crate::idempotency::IdempotencyRecordRow<<$store as SqlStore>::Moment>;

            #[async_trait::async_trait]
            impl IdempotencyTransaction for $transaction {
                async fn lock_idempotency_record(
                    &mut self,
                    tenant: TenantId,
                    id: &[u8; 32],
                ) -> Result<Option<IdempotencyRecord>, StoreError> {
                    let row = sqlx::query_as!(Row, $lock, tenant.as_uuid(), id.as_slice());
                    let row = row.fetch_optional(self.connection()).await.map_err($lock_error)?;
                    row.map(IdempotencyRecord::try_from).transpose()
                }
            }

            impl $transaction {
                pub(crate) async fn write_idempotency(&mut self, change: &IdempotencyChange) -> Result<(), StoreError> {
                    match change {
                        IdempotencyChange::Keep(record) => self.keep_answer(record).await,
                    }
                }

                // Unlike every other statement, this one does not bind the tenant of the unit of work: a caller that
                // creates a tenant has no tenant yet.
                async fn keep_answer(&mut self, record: &IdempotencyRecord) -> Result<(), StoreError> {
                    let insert = sqlx::query!(
                        $keep,
                        record.tenant_id.as_uuid(),
                        record.id.as_slice(),
                        record.request.as_slice(),
                        record.answer,
                        $store::stored(record.created_at)
                    );
                    insert.execute(self.connection()).await.map(drop).map_err($store::store_error)
                }
            }
        };
    };
}
