//! Stored answers to requests with an idempotency key (`docs/http-api.md#repeating-a-request`).

use crate::clock::Timestamp;
use crate::id::TenantId;

/// The stored answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The tenant of the caller; [`TenantId::NONE`] for a client that has no tenant yet.
    pub tenant_id: TenantId,
    /// An HMAC over the key and the caller. It reveals neither.
    pub id: [u8; 32],
    /// An HMAC over the request.
    pub request: [u8; 32],
    /// The created resource, as JSON.
    pub answer: String,
    /// When the answer was created.
    pub created_at: Timestamp,
}
