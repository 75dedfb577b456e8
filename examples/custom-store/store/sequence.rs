use std::collections::{BTreeSet, HashSet};

use async_trait::async_trait;
use iam_model::audit::{
    Digest, Frontier, Leaf, LogHead, Pending, PendingEntry, PendingRetention, Retention, SequencedBatch,
    SequencedEntry, TreeHash, TreeNode, TreeSpan, log_id,
};
use iam_model::clock::Timestamp;
use iam_model::id::{AuditEntryId, TenantId};
use iam_model::store::{AuditTransaction, SequenceStore};
use iam_model::store_error::StoreError;
use serde::{Deserialize, Serialize};

use super::RedbStore;
use super::audit::{DigestFields, EntryRow, entry_key};
use super::rows::{Draft, Keys, Row, View, everywhere};
use super::transaction::RedbTransaction;

/// A pending entry.
#[derive(Serialize, Deserialize)]
pub(super) struct QueuedRow {
    pub(super) created_at: Timestamp,
    pub(super) entry_id: AuditEntryId,
    #[serde(with = "DigestFields")]
    pub(super) digest: Digest,
}

impl QueuedRow {
    fn into_pending(self, tenant_id: TenantId) -> Pending {
        let Self { created_at, entry_id, digest } = self;
        Pending { tenant_id, created_at, entry_id, digest }
    }
}

impl Row for QueuedRow {
    const TABLE: &'static str = "audit_unsealed";

    fn key(&self) -> Vec<u8> {
        entry_key(self.created_at, self.entry_id)
    }
}

/// An entry's sequence number and leaf hash.
#[derive(Serialize, Deserialize)]
pub(super) struct LeafRow {
    sequence: u64,
    pub(super) created_at: Timestamp,
    pub(super) entry_id: AuditEntryId,
    hash: [u8; 32],
}

impl From<&Leaf> for LeafRow {
    fn from(leaf: &Leaf) -> Self {
        let Leaf { sequence, created_at, entry_id, hash } = leaf;
        Self { sequence: *sequence, created_at: *created_at, entry_id: *entry_id, hash: hash.0 }
    }
}

impl From<LeafRow> for Leaf {
    fn from(row: LeafRow) -> Self {
        let LeafRow { sequence, created_at, entry_id, hash } = row;
        Self { sequence, created_at, entry_id, hash: TreeHash(hash) }
    }
}

impl Row for LeafRow {
    const TABLE: &'static str = "audit_leaves";

    fn key(&self) -> Vec<u8> {
        leaf_key(self.sequence)
    }
}

pub(super) fn leaf_key(sequence: u64) -> Vec<u8> {
    sequence.to_be_bytes().to_vec()
}

/// A stored subtree hash.
#[derive(Serialize, Deserialize)]
pub(super) struct NodeRow {
    level: u8,
    position: u64,
    hash: [u8; 32],
}

impl From<&TreeNode> for NodeRow {
    fn from(node: &TreeNode) -> Self {
        Self { level: node.level, position: node.position, hash: node.hash.0 }
    }
}

impl Row for NodeRow {
    const TABLE: &'static str = "audit_nodes";

    fn key(&self) -> Vec<u8> {
        node_key(self.level, self.position)
    }
}

fn node_key(level: u8, position: u64) -> Vec<u8> {
    [&[level], &position.to_be_bytes()[..]].concat()
}

/// The head of a log: its tree, its removed entries and its retention.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct HeadRow {
    pub(super) size: u64,
    pub(super) peaks: Vec<[u8; 32]>,
    pub(super) note: String,
    pub(super) removed: u64,
    pub(super) retention_days: Option<u32>,
    pub(super) pending_retention: Option<(u32, Timestamp)>,
}

impl Row for HeadRow {
    const TABLE: &'static str = "audit_logs";

    // Each tenant has one such row.
    fn key(&self) -> Vec<u8> {
        Vec::new()
    }
}

#[async_trait]
impl SequenceStore for RedbStore {
    async fn pending(&self, except: &[TenantId], limit: u32) -> Result<Vec<Pending>, StoreError> {
        let queued = self.read_all(everywhere::<QueuedRow>)?.into_iter();
        let of_others = queued.filter(|(tenant, _)| !except.contains(tenant));
        let mut found: Vec<Pending> = of_others.map(|(tenant, row)| row.into_pending(tenant)).collect();
        found.sort_by_key(|pending| (pending.created_at, pending.entry_id));
        found.truncate(limit as usize);
        Ok(found)
    }

    async fn log_heads(&self, tenants: &[TenantId]) -> Result<Vec<LogHead>, StoreError> {
        self.read_all(|rows| {
            tenants.iter().filter_map(|tenant| View::new(rows, *tenant).log_head().transpose()).collect()
        })
    }

    // It holds the lock of the one writer, as a unit of work does. So nothing that it has checked can change before it
    // ends.
    async fn sequence(&self, batches: &[SequencedBatch]) -> Result<bool, StoreError> {
        // A batch that is not written is reported, too: that costs a query.
        let logs = batches.iter().map(|batch| log_id(batch.tenant_id)).collect();
        self.write_and_notify(logs, |rows| {
            for batch in batches {
                if !View::new(rows, batch.tenant_id).can_be_continued_by(batch)? {
                    return Ok(false);
                }
            }
            batches.iter().try_for_each(|batch| Draft::new(rows, batch.tenant_id).sequence(batch))?;
            Ok(true)
        })
        .await
    }

    async fn sequence_of(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<u64>, StoreError> {
        let found = self.read(tenant, |view| view.select(|leaf: &LeafRow| leaf.entry_id == id))?;
        Ok(found.first().map(|leaf| leaf.sequence))
    }

    async fn tree_hashes(&self, tenant: TenantId, spans: &[TreeSpan]) -> Result<Vec<TreeHash>, StoreError> {
        self.read(tenant, |view| {
            let nodes = spans.iter().flat_map(|span| span.positions.clone().map(|position| (span.level, position)));
            nodes.filter_map(|(level, position)| view.tree_hash(level, position).transpose()).collect()
        })
    }

    async fn audited_tenants(&self) -> Result<Vec<TenantId>, StoreError> {
        self.read_all(|rows| {
            let heads = everywhere::<HeadRow>(rows)?.into_iter().map(|(tenant, _)| tenant);
            let entries = everywhere::<EntryRow>(rows)?.into_iter().map(|(tenant, _)| tenant);
            let tenants: BTreeSet<TenantId> = heads.chain(entries).collect();
            Ok(tenants.into_iter().collect())
        })
    }

    async fn sequenced_entries(
        &self,
        tenant: TenantId,
        from: u64,
        limit: u32,
    ) -> Result<Vec<SequencedEntry>, StoreError> {
        self.read(tenant, |view| {
            let leaves = view.take(Keys::from(leaf_key(from)), limit, |_: &LeafRow| true)?;
            let sequenced = |row: LeafRow| {
                Ok(SequencedEntry { entry: view.entry_at(row.created_at, row.entry_id)?, leaf: row.into() })
            };
            leaves.into_iter().map(sequenced).collect()
        })
    }

    async fn pending_entries(
        &self,
        tenant: TenantId,
        after: Option<(Timestamp, AuditEntryId)>,
        limit: u32,
    ) -> Result<Vec<PendingEntry>, StoreError> {
        self.read(tenant, |view| {
            // The next possible key after a key is the same key with one more byte.
            let keys =
                after.map_or_else(Keys::all, |(moment, id)| Keys::from([entry_key(moment, id), vec![0]].concat()));
            let queued = view.take(keys, limit, |_: &QueuedRow| true)?;
            let sequenced: HashSet<AuditEntryId> = view.all::<LeafRow>()?.iter().map(|leaf| leaf.entry_id).collect();
            let pending = |row: QueuedRow| {
                Ok(PendingEntry {
                    entry: view.entry_at(row.created_at, row.entry_id)?,
                    is_sequenced: sequenced.contains(&row.entry_id),
                    pending: row.into_pending(tenant),
                })
            };
            queued.into_iter().map(pending).collect()
        })
    }

    async fn stray_entry(&self, tenant: TenantId) -> Result<Option<AuditEntryId>, StoreError> {
        self.read(tenant, |view| {
            let leaves = view.all::<LeafRow>()?.into_iter().map(|leaf| leaf.entry_id);
            let queued = view.all::<QueuedRow>()?.into_iter().map(|queued| queued.entry_id);
            let known: HashSet<AuditEntryId> = leaves.chain(queued).collect();
            let stray = view.take(Keys::all(), 1, |EntryRow(entry)| !known.contains(&entry.id))?;
            Ok(stray.first().map(|EntryRow(entry)| entry.id))
        })
    }
}

#[async_trait]
impl AuditTransaction for RedbTransaction {
    async fn log_head(&mut self) -> Result<Option<LogHead>, StoreError> {
        self.view().log_head()
    }

    async fn count_pending(&mut self) -> Result<u64, StoreError> {
        Ok(self.view().all::<QueuedRow>()?.len() as u64)
    }

    async fn first_sequenced_since(&mut self, from: u64, moment: Timestamp) -> Result<Option<u64>, StoreError> {
        let found = self.view().take(Keys::from(leaf_key(from)), 1, |leaf: &LeafRow| leaf.created_at >= moment)?;
        Ok(found.first().map(|leaf| leaf.sequence))
    }
}

impl View<'_> {
    pub(super) fn head(self) -> Result<Option<HeadRow>, StoreError> {
        self.get(&[])
    }

    pub(super) fn log_head(self) -> Result<Option<LogHead>, StoreError> {
        let Some(row) = self.head()? else { return Ok(None) };
        let peaks = row.peaks.into_iter().map(TreeHash).collect();
        Ok(Some(LogHead {
            tenant_id: self.tenant,
            // Peaks that fit no tree are tampering. The verifier reports them, and other logs go on.
            frontier: Frontier::new(row.size, peaks).unwrap_or_default(),
            note: row.note,
            leaves: self.leaves()?,
            removed: row.removed,
            retention: Retention {
                days: row.retention_days,
                pending: row.pending_retention.map(|(days, from)| PendingRetention { days, from }),
            },
        }))
    }

    /// The number of leaves according to the last leaf. The size in the head is not trusted.
    fn leaves(self) -> Result<u64, StoreError> {
        let last = self.take(Keys::backwards_from(None), 1, |_: &LeafRow| true)?;
        Ok(last.first().map_or(0, |leaf| leaf.sequence + 1))
    }

    pub(super) fn leaves_before(self, sequence: u64) -> Result<Vec<LeafRow>, StoreError> {
        self.take(Keys::backwards_from(Some(leaf_key(sequence))), u32::MAX, |_| true)
    }

    fn tree_hash(self, level: u8, position: u64) -> Result<Option<TreeHash>, StoreError> {
        let hash = match level {
            0 => self.get::<LeafRow>(&leaf_key(position))?.map(|leaf| leaf.hash),
            level => self.get::<NodeRow>(&node_key(level, position))?.map(|node| node.hash),
        };
        Ok(hash.map(TreeHash))
    }

    fn can_be_continued_by(self, batch: &SequencedBatch) -> Result<bool, StoreError> {
        if self.leaves()? != batch.from {
            return Ok(false);
        }
        for leaf in &batch.leaves {
            if !self.has::<QueuedRow>(&entry_key(leaf.created_at, leaf.entry_id))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Draft<'_> {
    fn sequence(self, batch: &SequencedBatch) -> Result<(), StoreError> {
        for leaf in &batch.leaves {
            self.remove::<QueuedRow>(&entry_key(leaf.created_at, leaf.entry_id))?;
            self.put(LeafRow::from(leaf))?;
        }
        batch.nodes.iter().try_for_each(|node| self.put(NodeRow::from(node)))?;
        let peaks = batch.frontier.peaks().iter().map(|peak| peak.0).collect();
        let head = self.view().head()?.unwrap_or_default();
        self.put(HeadRow { size: batch.frontier.size(), peaks, note: batch.note.clone(), ..head })
    }
}
