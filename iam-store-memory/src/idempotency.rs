use async_trait::async_trait;
use iam_model::change::IdempotencyChange;
use iam_model::id::TenantId;
use iam_model::idempotency::IdempotencyRecord;
use iam_model::store::IdempotencyTransaction;
use iam_model::store_error::StoreError;

use crate::state::MemoryTransaction;

#[async_trait]
impl IdempotencyTransaction for MemoryTransaction {
    async fn lock_idempotency_record(
        &mut self,
        tenant: TenantId,
        id: &[u8; 32],
    ) -> Result<Option<IdempotencyRecord>, StoreError> {
        Ok(self.store.read(|state| state.idempotency.get(&(tenant, *id)).cloned()))
    }
}

impl MemoryTransaction {
    pub(super) fn write_idempotency(&mut self, change: &IdempotencyChange) {
        match change {
            IdempotencyChange::Keep(record) => self.idempotency.push(record.clone()),
        }
    }
}
