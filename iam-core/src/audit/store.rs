use async_trait::async_trait;

use super::{AuditEntry, AuditFilter, Cursor};
use crate::error::StoreError;
use crate::id::TenantId;

/// Reads the audit log.
#[async_trait]
pub trait AuditStore {
    /// At most `limit` entries that pass the filter, newest first (by time, then by identifier), from after the
    /// cursor on.
    async fn audit_entries(
        &self,
        tenant: TenantId,
        filter: &AuditFilter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError>;
}
