use async_trait::async_trait;

use super::{AuditEntry, AuditFilter, Cursor, Digest, Frontier, TreeHash, TreeNode, TreeSpan};
use crate::clock::Timestamp;
use crate::error::StoreError;
use crate::id::{AuditEntryId, TenantId};

/// Reads the audit log.
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
#[async_trait]
pub trait SequenceStore {
    /// Returns at most `limit` pending entries of all tenants but `except`, oldest first: by time, then by identifier.
    async fn pending(&self, except: &[TenantId], limit: u32) -> Result<Vec<Pending>, StoreError>;

    /// Returns the heads of these tenants' logs. A log has a head once an entry was sequenced or a retention was set.
    async fn log_heads(&self, tenants: &[TenantId]) -> Result<Vec<LogHead>, StoreError>;

    /// Writes the new leaves and their trees, all or nothing, if every log still has the size from which it is
    /// continued and every entry is still pending. Returns whether that was so: of several calls that sequence the
    /// same entries, or continue the same log, one succeeds.
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
#[async_trait]
pub trait AuditTransaction {
    /// Returns the head of the tenant's log; `None` before an entry was sequenced or a retention was set.
    async fn log_head(&mut self) -> Result<Option<LogHead>, StoreError>;

    /// Returns the first sequence number, from `from` on, whose entry was created at this moment or later.
    async fn first_sequenced_since(&mut self, from: u64, moment: Timestamp) -> Result<Option<u64>, StoreError>;
}

/// A pending entry. It was committed together with its change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The tenant.
    pub tenant_id: TenantId,
    /// When the entry was created.
    pub created_at: Timestamp,
    /// The entry.
    pub entry_id: AuditEntryId,
    /// The digest that the log will commit to.
    pub digest: Digest,
}

/// The state of a tenant's log as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogHead {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The right edge of the tree over the sequenced entries.
    pub frontier: Frontier,
    /// The note with the signed checkpoint of that tree; empty before an entry is sequenced.
    pub note: String,
    /// The number of leaves. If it differs from the size of the tree, the service did not cause that.
    pub leaves: u64,
    /// Entries with a lower sequence number may have been removed by retention. Their leaves stay.
    pub removed: u64,
    /// For how long entries are kept.
    pub retention: Retention,
}

/// For how long a tenant keeps its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// For how many days; forever if `None`.
    pub days: Option<u32>,
    /// A shorter retention that replaces it later.
    pub pending: Option<PendingRetention>,
}

/// A retention that takes effect at a later moment (`decisions.md` §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingRetention {
    /// For how many days entries are kept from then on.
    pub days: u32,
    /// When it takes effect.
    pub from: Timestamp,
}

impl LogHead {
    /// Returns the head of a log without sequenced entries and without a retention.
    #[must_use]
    pub fn empty(tenant_id: TenantId) -> Self {
        let frontier = Frontier::default();
        let (note, leaves, removed) = (String::new(), 0, 0);
        Self { tenant_id, frontier, note, leaves, removed, retention: Retention::default() }
    }
}

impl Retention {
    /// Returns the retention in days that is in effect at a moment; forever if `None`.
    #[must_use]
    pub fn days_at(&self, now: Timestamp) -> Option<u32> {
        self.settled(now).days
    }

    /// Returns the retention at a moment: a pending retention that has taken effect replaces the current one.
    #[must_use]
    pub fn settled(self, now: Timestamp) -> Self {
        match self.pending {
            Some(pending) if pending.from <= now => Self { days: Some(pending.days), pending: None },
            _ => self,
        }
    }
}

/// Entries that continue a tenant's log.
#[derive(Clone, Debug)]
pub struct SequencedBatch {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The size of the log before these entries.
    pub from: u64,
    /// The new leaves, with sequence numbers from `from` on, without gaps.
    pub leaves: Vec<Leaf>,
    /// The subtrees that these leaves complete and that the store must hold.
    pub nodes: Vec<TreeNode>,
    /// The right edge of the tree with the new leaves.
    pub frontier: Frontier,
    /// The note with the signed checkpoint of that tree.
    pub note: String,
}

/// A leaf: the position of an entry in its tenant's sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The sequence number, counted from zero.
    pub sequence: u64,
    /// When the entry was created.
    pub created_at: Timestamp,
    /// The entry.
    pub entry_id: AuditEntryId,
    /// The leaf's hash.
    pub hash: TreeHash,
}

/// A leaf with the entry that it commits to.
#[derive(Clone, Debug, PartialEq)]
pub struct SequencedEntry {
    /// The leaf.
    pub leaf: Leaf,
    /// The entry; `None` if it is missing.
    pub entry: Option<AuditEntry>,
}

/// A pending entry: its row in the queue and the entry itself.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingEntry {
    /// The row in the queue.
    pub pending: Pending,
    /// The entry; `None` if it is missing.
    pub entry: Option<AuditEntry>,
    /// Whether this entry already has a leaf. Then it was not queued by the service, and it prevents the log from
    /// being continued.
    pub is_sequenced: bool,
}
