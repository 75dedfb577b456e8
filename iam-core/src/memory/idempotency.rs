use async_trait::async_trait;

use super::MemoryStore;
use super::transaction::MemoryTransaction;
use crate::clock::Timestamp;
use crate::error::StoreError;
use crate::id::TenantId;
use crate::idempotency::{IdempotencyChange, IdempotencyRecord, IdempotencyStore, IdempotencyTransaction};

#[async_trait]
impl IdempotencyStore for MemoryStore {
    async fn remove_idempotency_records(&self, before: Timestamp) -> Result<u64, StoreError> {
        Ok(self.change(|state| {
            let all = state.idempotency.len();
            state.idempotency.retain(|_, record| record.created_at >= before);
            (all - state.idempotency.len()) as u64
        }))
    }
}

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
            IdempotencyChange::Keep(record) => self.kept.push(record.clone()),
        }
    }
}
