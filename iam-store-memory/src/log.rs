use std::collections::BTreeMap;

use iam_model::audit::{AuditEntry, Leaf, LogHead, Pending, SequencedBatch, TreeHash};
use iam_model::change::AuditChange;
use iam_model::clock::Timestamp;
use iam_model::id::{AuditEntryId, TenantId};

/// The audit log of a tenant. Its sequenced part only grows, so a unit of work needs no copy of it.
#[derive(Default)]
pub(super) struct AuditLog {
    pub(super) entries: BTreeMap<(Timestamp, AuditEntryId), AuditEntry>,
    pub(super) pending: BTreeMap<(Timestamp, AuditEntryId), Pending>,
    pub(super) leaves: Vec<Leaf>,
    pub(super) nodes: BTreeMap<(u8, u64), TreeHash>,
    pub(super) head: Option<LogHead>,
}

impl AuditLog {
    pub(super) fn record(&mut self, entries: Vec<AuditEntry>) {
        for entry in entries {
            let (key, digest) = ((entry.created_at, entry.id), entry.digest());
            let AuditEntry { tenant_id, created_at, id: entry_id, .. } = entry;
            self.pending.insert(key, Pending { tenant_id, created_at, entry_id, digest });
            self.entries.insert(key, entry);
        }
    }

    pub(super) fn change(&mut self, change: &AuditChange) {
        match change {
            // These write only their entries.
            AuditChange::Log(_)
            | AuditChange::Export(..)
            | AuditChange::ExportUser { .. }
            | AuditChange::ExportTenant { .. } => {}
            AuditChange::SetRetention { tenant, after, .. } => self.head(*tenant).retention = *after,
            AuditChange::GiveUp { tenant, until, .. } => self.head(*tenant).removed = *until,
            AuditChange::Erase { details, origins, .. } => {
                for erased in details {
                    if let Some(entry) = self.entries.get_mut(&(erased.created_at, erased.id)) {
                        entry.old_value.clone_from(&erased.old_value);
                        entry.new_value.clone_from(&erased.new_value);
                        entry.metadata.clone_from(&erased.metadata);
                        entry.salts.details = erased.salt;
                    }
                }
                for erased in origins {
                    if let Some(entry) = self.entries.get_mut(&(erased.created_at, erased.id)) {
                        entry.context.ip_address = None;
                        entry.context.user_agent = None;
                        entry.salts.origin = erased.salt;
                    }
                }
            }
        }
    }

    pub(super) fn head(&mut self, tenant: TenantId) -> &mut LogHead {
        self.head.get_or_insert_with(|| LogHead::empty(tenant))
    }

    pub(super) fn can_be_continued_by(&self, batch: &SequencedBatch) -> bool {
        let is_pending = |leaf: &Leaf| self.pending.contains_key(&(leaf.created_at, leaf.entry_id));
        self.leaves.len() as u64 == batch.from && batch.leaves.iter().all(is_pending)
    }

    pub(super) fn sequence(&mut self, batch: &SequencedBatch) {
        for leaf in &batch.leaves {
            self.pending.remove(&(leaf.created_at, leaf.entry_id));
        }
        self.leaves.extend(batch.leaves.iter().cloned());
        self.nodes.extend(batch.nodes.iter().map(|node| ((node.level, node.position), node.hash)));
        let leaves = self.leaves.len() as u64;
        let head = self.head(batch.tenant_id);
        *head = LogHead { frontier: batch.frontier.clone(), note: batch.note.clone(), leaves, ..head.clone() };
    }

    pub(super) fn leaves_from(&self, from: u64) -> &[Leaf] {
        self.leaves.get(usize::try_from(from).unwrap_or(usize::MAX)..).unwrap_or_default()
    }

    pub(super) fn purge(&mut self) -> u64 {
        let removed = usize::try_from(self.head.as_ref().map_or(0, |head| head.removed)).unwrap_or(usize::MAX);
        let given_up = self.leaves.iter().take(removed);
        given_up.filter_map(|leaf| self.entries.remove(&(leaf.created_at, leaf.entry_id))).count() as u64
    }

    pub(super) fn stray(&self) -> Option<AuditEntryId> {
        let is_sequenced = |key| self.leaves.iter().any(|leaf| (leaf.created_at, leaf.entry_id) == key);
        let mut entries = self.entries.keys();
        entries.find(|key| !self.pending.contains_key(key) && !is_sequenced(**key)).map(|(_, id)| *id)
    }
}
