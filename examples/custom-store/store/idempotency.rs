use async_trait::async_trait;
use iam_model::change::IdempotencyChange;
use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::idempotency::IdempotencyRecord;
use iam_model::store::IdempotencyTransaction;
use iam_model::store_error::StoreError;
use serde::{Deserialize, Serialize};

use super::rows::{Draft, Row};
use super::transaction::RedbTransaction;

/// The recorded answer to a request with an idempotency key.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct AnswerRow(#[serde(with = "AnswerFields")] pub(super) IdempotencyRecord);

#[derive(Serialize, Deserialize)]
#[serde(remote = "IdempotencyRecord")]
struct AnswerFields {
    tenant_id: TenantId,
    id: [u8; 32],
    request: [u8; 32],
    answer: String,
    created_at: Timestamp,
}

impl Row for AnswerRow {
    const TABLE: &'static str = "answers";

    fn key(&self) -> Vec<u8> {
        self.0.id.to_vec()
    }
}

#[async_trait]
impl IdempotencyTransaction for RedbTransaction {
    async fn lock_idempotency_record(
        &mut self,
        tenant: TenantId,
        id: &[u8; 32],
    ) -> Result<Option<IdempotencyRecord>, StoreError> {
        Ok(self.draft().of(tenant).view().get(id)?.map(|AnswerRow(record)| record))
    }
}

impl Draft<'_> {
    pub(super) fn write_idempotency(self, change: &IdempotencyChange) -> Result<(), StoreError> {
        match change {
            // Only in these changes does the tenant of the record count: a caller that registers a tenant has none yet.
            IdempotencyChange::Keep(record) => self.of(record.tenant_id).put(AnswerRow(record.clone())),
            IdempotencyChange::Forget { tenant_id, text } => {
                let rows = self.of(*tenant_id);
                let found =
                    rows.view().select(|AnswerRow(record): &AnswerRow| record.answer.contains(text.as_str()))?;
                found.iter().try_for_each(|row| rows.remove::<AnswerRow>(&row.key()).map(drop))
            }
        }
    }
}
