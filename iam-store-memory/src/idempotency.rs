use async_trait::async_trait;
use iam_model::change::IdempotencyChange;
use iam_model::id::TenantId;
use iam_model::idempotency::IdempotencyRecord;
use iam_model::store::IdempotencyTransaction;
use iam_model::store_error::StoreError;

use crate::state::{MemoryTransaction, State};

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
        self.idempotency.push(change.clone());
    }
}

impl State {
    pub(super) fn write_answer(&mut self, change: IdempotencyChange) {
        match change {
            IdempotencyChange::Keep(record) => drop(self.idempotency.insert((record.tenant_id, record.id), record)),
            IdempotencyChange::Forget { tenant_id, text } => {
                self.idempotency.retain(|(of, _), record| *of != tenant_id || !record.answer.contains(&text));
            }
        }
    }
}
