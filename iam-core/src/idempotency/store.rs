use async_trait::async_trait;

use super::IdempotencyRecord;
use crate::error::StoreError;
use crate::id::TenantId;

/// Reads what is kept of requests inside a unit of work.
#[async_trait]
pub trait IdempotencyTransaction {
    /// The answer with this id, locked until the unit of work ends, also where there is none yet: of two that race, the
    /// second sees what the first wrote. One that would have to wait for longer than a few seconds may answer
    /// [`Constraint::IdempotencyRecord`](crate::Constraint::IdempotencyRecord) instead.
    ///
    /// The tenant need not be that of the unit of work: who founds one has none yet.
    async fn lock_idempotency_record(
        &mut self,
        tenant: TenantId,
        id: &[u8; 32],
    ) -> Result<Option<IdempotencyRecord>, StoreError>;
}
