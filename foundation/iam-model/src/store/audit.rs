use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::audit::{
    AuditEntry, AuditFilter, Cursor, LogHead, Pending, PendingEntry, SequencedBatch, SequencedEntry, TreeHash, TreeSpan,
};
use crate::clock::{Day, Timestamp};
use crate::id::{AuditEntryId, TenantId};
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads the audit log.
#[apply(observed)]
#[async_trait]
pub trait AuditStore {
    /// Returns at most `limit` entries that match the filter, newest first (by time, then by identifier), from after
    /// the cursor on.
    async fn audit_entries(
        &self,
        tenant: TenantId,
        filter: &AuditFilter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError>;

    /// Counts the newest entries with an action by their days in UTC, from a moment on, in the order of the days. Counts
    /// at most `limit` entries, so the numbers of the first days are too low if there are more.
    async fn audit_entries_by_day(
        &self,
        tenant: TenantId,
        action: &str,
        from: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Day, u64)>, StoreError>;

    /// Counts the newest entries with an action, and their different actors, by their weeks in UTC, from a moment on.
    /// Returns the first day of each week, which is a Monday, the number of its entries and that of its actors, in the
    /// order of the weeks. Counts at most `limit` entries, as [`audit_entries_by_day`](Self::audit_entries_by_day)
    /// does.
    async fn audit_actors_by_week(
        &self,
        tenant: TenantId,
        action: &str,
        from: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Day, u64, u64)>, StoreError>;

    /// Returns one entry.
    async fn audit_entry(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<AuditEntry>, StoreError>;

    /// Removes the entries that retention has marked for removal, in all tenants. Returns the number of removed
    /// entries.
    ///
    /// These are the sequenced entries below [`LogHead::removed`]; no other entries can be removed. The call may be
    /// interrupted and repeated.
    async fn purge_audit_entries(&self) -> Result<u64, StoreError>;
}

/// Stores the trees over the entries, for the sequencer and for proofs.
#[apply(observed)]
#[async_trait]
pub trait SequenceStore {
    /// Returns at most `limit` pending entries of all tenants but `except`, oldest first: by time, then by identifier.
    async fn pending(&self, except: &[TenantId], limit: u32) -> Result<Vec<Pending>, StoreError>;

    /// Returns the heads of these tenants' logs. A log has a head once an entry was sequenced or a retention was set.
    async fn log_heads(&self, tenants: &[TenantId]) -> Result<Vec<LogHead>, StoreError>;

    /// Writes the new leaves and their trees, all or nothing, if every log still has the size from which it is
    /// continued and every entry is still pending. Returns whether that was so: of several calls that sequence the same
    /// entries, or continue the same log, one succeeds. The [`ChangeFeed`](crate::store::ChangeFeed) names each log
    /// that was continued.
    async fn sequence(&self, batches: &[SequencedBatch]) -> Result<bool, StoreError>;

    /// Returns the sequence number of an entry; `None` while it is pending.
    async fn sequence_of(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<u64>, StoreError>;

    /// Returns stored hashes, span by span. Missing hashes are left out.
    async fn tree_hashes(&self, tenant: TenantId, spans: &[TreeSpan]) -> Result<Vec<TreeHash>, StoreError>;

    /// Returns the tenants that have an audit log, in the order of their identifiers.
    async fn audited_tenants(&self) -> Result<Vec<TenantId>, StoreError>;

    /// Returns at most `limit` sequenced entries in the order of the sequence, from `from` on.
    async fn sequenced_entries(
        &self,
        tenant: TenantId,
        from: u64,
        limit: u32,
    ) -> Result<Vec<SequencedEntry>, StoreError>;

    /// Returns at most `limit` pending entries of a tenant, by time, then by identifier, from after `after` on.
    async fn pending_entries(
        &self,
        tenant: TenantId,
        after: Option<(Timestamp, AuditEntryId)>,
        limit: u32,
    ) -> Result<Vec<PendingEntry>, StoreError>;

    /// Returns the first entry, by time, that is neither sequenced nor pending. Such an entry was not inserted by the
    /// service.
    async fn stray_entry(&self, tenant: TenantId) -> Result<Option<AuditEntryId>, StoreError>;
}

/// Reads the audit log inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait AuditTransaction {
    /// Returns the head of the tenant's log; `None` before an entry was sequenced or a retention was set.
    async fn log_head(&mut self) -> Result<Option<LogHead>, StoreError>;

    /// Returns how many committed entries of the tenant are pending.
    async fn count_pending(&mut self) -> Result<u64, StoreError>;

    /// Returns the first sequence number, from `from` on, whose entry was created at this moment or later.
    async fn first_sequenced_since(&mut self, from: u64, moment: Timestamp) -> Result<Option<u64>, StoreError>;
}
