use async_trait::async_trait;

use super::MemoryStore;
use crate::audit::{AuditEntry, AuditFilter, AuditStore, Cursor};
use crate::error::StoreError;
use crate::id::TenantId;

#[async_trait]
impl AuditStore for MemoryStore {
    async fn audit_entries(
        &self,
        tenant: TenantId,
        filter: &AuditFilter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let passes = |entry: &&AuditEntry| filter.matches(entry) && after.is_none_or(|cursor| cursor.precedes(entry));
        let mut entries: Vec<AuditEntry> =
            self.read(|state| state.audit.get(&tenant).into_iter().flatten().filter(passes).cloned().collect());
        entries.sort_by_key(|entry| std::cmp::Reverse((entry.created_at, entry.id)));
        entries.truncate(limit as usize);
        Ok(entries)
    }
}
