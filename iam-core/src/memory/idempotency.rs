use async_trait::async_trait;

use super::transaction::MemoryTransaction;
use crate::error::StoreError;
use crate::id::TenantId;
use crate::idempotency::{IdempotencyChange, IdempotencyRecord, IdempotencyTransaction};

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
