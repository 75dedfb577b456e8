use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::id::TenantId;
use crate::idempotency::IdempotencyRecord;
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads stored answers inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait IdempotencyTransaction {
    /// Returns the answer with this id. Locks the id until the unit of work ends, even if it has no answer yet: of two
    /// concurrent units of work, the second sees the writes of the first. A call that would wait longer than a few
    /// seconds may fail with [`Constraint::IdempotencyRecord`](crate::store_error::Constraint::IdempotencyRecord)
    /// instead.
    ///
    /// The tenant can differ from the tenant of the unit of work: a client that registers has no tenant yet.
    async fn lock_idempotency_record(
        &mut self,
        tenant: TenantId,
        id: &[u8; 32],
    ) -> Result<Option<IdempotencyRecord>, StoreError>;
}
