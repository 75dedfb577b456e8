use async_trait::async_trait;

use super::{AuditEntry, AuditFilter, Cursor, Digest, Frontier, TreeHash, TreeNode, TreeSpan};
use crate::clock::Timestamp;
use crate::error::StoreError;
use crate::id::{AuditEntryId, TenantId};

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

    /// One entry.
    async fn audit_entry(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<AuditEntry>, StoreError>;

    /// Removes the entries that retention has given up, in all tenants; tells how many.
    ///
    /// These are the sealed entries below [`LogHead::removed`]; nothing else can be removed. It may be interrupted
    /// and asked again.
    async fn purge_audit_entries(&self) -> Result<u64, StoreError>;
}

/// Keeps the trees over the entries, for the sealer and for proofs.
#[async_trait]
pub trait SealStore {
    /// At most `limit` entries of any tenants but these that are not sealed yet, those that have waited longest first:
    /// by time, then by identifier.
    async fn unsealed(&self, except: &[TenantId], limit: u32) -> Result<Vec<Unsealed>, StoreError>;

    /// The logs of these tenants that have been sealed, or given a retention, before.
    async fn log_heads(&self, tenants: &[TenantId]) -> Result<Vec<LogHead>, StoreError>;

    /// Writes what has been sealed, all or nothing, if every log still has the size from which it was continued and
    /// every entry was still unsealed. Tells whether that was so: of several that seal the same entries, or continue
    /// the same log, one succeeds.
    async fn seal(&self, seals: &[Seal]) -> Result<bool, StoreError>;

    /// Where an entry stands in its tenant's sequence; `None` while it is not sealed.
    async fn sequence_of(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<u64>, StoreError>;

    /// Kept hashes, span by span. What is missing is left out.
    async fn tree_hashes(&self, tenant: TenantId, spans: &[TreeSpan]) -> Result<Vec<TreeHash>, StoreError>;

    /// The tenants that have an audit log, in the order of their identifiers.
    async fn audited_tenants(&self) -> Result<Vec<TenantId>, StoreError>;

    /// At most `limit` sealed entries in the order of their sequence, from `from` on.
    async fn sealed_entries(&self, tenant: TenantId, from: u64, limit: u32) -> Result<Vec<SealedEntry>, StoreError>;

    /// At most `limit` entries of a tenant that are not sealed yet, by time, then by identifier, after a place.
    async fn unsealed_entries(
        &self,
        tenant: TenantId,
        after: Option<(Timestamp, AuditEntryId)>,
        limit: u32,
    ) -> Result<Vec<UnsealedEntry>, StoreError>;

    /// The first entry, by time, that is neither sealed nor waiting for it: somebody else than the service put it
    /// there.
    async fn stray_entry(&self, tenant: TenantId) -> Result<Option<AuditEntryId>, StoreError>;
}

/// Reads the audit log inside a unit of work.
#[async_trait]
pub trait AuditTransaction {
    /// The tenant's log, where it has been sealed, or given a retention, before.
    async fn log_head(&mut self) -> Result<Option<LogHead>, StoreError>;

    /// The first place in the sequence, from `from` on, whose entry was made at this moment or later.
    async fn first_sealed_since(&mut self, from: u64, moment: Timestamp) -> Result<Option<u64>, StoreError>;
}

/// An entry that waits to be sealed. It was committed together with its change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsealed {
    /// The tenant.
    pub tenant_id: TenantId,
    /// When the entry was made.
    pub created_at: Timestamp,
    /// The entry.
    pub entry_id: AuditEntryId,
    /// What the log will commit to.
    pub digest: Digest,
}

/// What is known of a tenant's log as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogHead {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The right edge of the tree over what is sealed.
    pub frontier: Frontier,
    /// The note with the signed checkpoint of just that; empty before anything is sealed.
    pub note: String,
    /// How many leaves there are. Only somebody else than the service can have made it differ from the size.
    pub leaves: u64,
    /// Entries before this place in the sequence may have been removed by retention. Their leaves stay.
    pub removed: u64,
    /// For how long entries are kept.
    pub retention: Retention,
}

/// For how long a tenant keeps its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// For how many days; forever without.
    pub days: Option<u32>,
    /// A shorter one that takes its place later.
    pub pending: Option<PendingRetention>,
}

/// A retention that counts from a later moment on (`decisions.md` §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingRetention {
    /// For how many days entries are kept then.
    pub days: u32,
    /// From when on.
    pub from: Timestamp,
}

impl LogHead {
    /// The log of a tenant of which nothing is sealed yet.
    #[must_use]
    pub fn empty(tenant_id: TenantId) -> Self {
        let frontier = Frontier::default();
        let (note, leaves, removed) = (String::new(), 0, 0);
        Self { tenant_id, frontier, note, leaves, removed, retention: Retention::default() }
    }
}

impl Retention {
    /// What counts at a moment: for how many days; forever without.
    #[must_use]
    pub fn days_at(&self, now: Timestamp) -> Option<u32> {
        self.settled(now).days
    }

    /// The same, without a pending one that has taken its place.
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
pub struct Seal {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The size from which the log is continued.
    pub from: u64,
    /// The new leaves, from that place on without gap.
    pub leaves: Vec<Leaf>,
    /// The subtrees to be kept that are complete with them.
    pub nodes: Vec<TreeNode>,
    /// The right edge of the tree with them.
    pub frontier: Frontier,
    /// The note with the signed checkpoint of just that.
    pub note: String,
}

/// An entry's place in its tenant's sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The place, counted from zero.
    pub sequence: u64,
    /// When the entry was made.
    pub created_at: Timestamp,
    /// The entry.
    pub entry_id: AuditEntryId,
    /// The leaf's hash.
    pub hash: TreeHash,
}

/// A leaf with the entry that it commits to.
#[derive(Clone, Debug, PartialEq)]
pub struct SealedEntry {
    /// The leaf.
    pub leaf: Leaf,
    /// The entry; `None` where it is gone.
    pub entry: Option<AuditEntry>,
}

/// An entry that waits to be sealed, with what it waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct UnsealedEntry {
    /// What waits.
    pub unsealed: Unsealed,
    /// The entry; `None` where it is gone.
    pub entry: Option<AuditEntry>,
    /// Whether there is a leaf of this entry already. Only somebody else than the service can have queued it then, and it
    /// keeps the log from being sealed.
    pub is_sealed: bool,
}
