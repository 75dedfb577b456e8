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
