use std::collections::BTreeMap;

use async_trait::async_trait;

use super::transaction::MemoryTransaction;
use super::{MemoryStore, State};
use crate::audit::{
    AuditChange, AuditEntry, AuditFilter, AuditStore, AuditTransaction, Cursor, Leaf, LogHead, Pending, PendingEntry,
    SequenceStore, SequencedBatch, SequencedEntry, TreeHash, TreeSpan,
};
use crate::clock::Timestamp;
use crate::error::StoreError;
use crate::id::{AuditEntryId, TenantId};

/// The audit log of a tenant. Its sequenced part only grows, so a unit of work needs no copy of it.
#[derive(Default)]
pub(super) struct AuditLog {
    entries: BTreeMap<(Timestamp, AuditEntryId), AuditEntry>,
    pub(super) pending: BTreeMap<(Timestamp, AuditEntryId), Pending>,
    leaves: Vec<Leaf>,
    nodes: BTreeMap<(u8, u64), TreeHash>,
    head: Option<LogHead>,
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
            AuditChange::Log(_) | AuditChange::Export(..) => {}
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

    fn head(&mut self, tenant: TenantId) -> &mut LogHead {
        self.head.get_or_insert_with(|| LogHead::empty(tenant))
    }

    fn can_be_continued_by(&self, batch: &SequencedBatch) -> bool {
        let is_pending = |leaf: &Leaf| self.pending.contains_key(&(leaf.created_at, leaf.entry_id));
        self.leaves.len() as u64 == batch.from && batch.leaves.iter().all(is_pending)
    }

    fn sequence(&mut self, batch: &SequencedBatch) {
        for leaf in &batch.leaves {
            self.pending.remove(&(leaf.created_at, leaf.entry_id));
        }
        self.leaves.extend(batch.leaves.iter().cloned());
        self.nodes.extend(batch.nodes.iter().map(|node| ((node.level, node.position), node.hash)));
        let leaves = self.leaves.len() as u64;
        let head = self.head(batch.tenant_id);
        *head = LogHead { frontier: batch.frontier.clone(), note: batch.note.clone(), leaves, ..head.clone() };
    }

    fn leaves_from(&self, from: u64) -> &[Leaf] {
        self.leaves.get(usize::try_from(from).unwrap_or(usize::MAX)..).unwrap_or_default()
    }

    fn purge(&mut self) -> u64 {
        let removed = usize::try_from(self.head.as_ref().map_or(0, |head| head.removed)).unwrap_or(usize::MAX);
        let given_up = self.leaves.iter().take(removed);
        given_up.filter_map(|leaf| self.entries.remove(&(leaf.created_at, leaf.entry_id))).count() as u64
    }

    fn stray(&self) -> Option<AuditEntryId> {
        let is_sequenced = |key| self.leaves.iter().any(|leaf| (leaf.created_at, leaf.entry_id) == key);
        let mut entries = self.entries.keys();
        entries.find(|key| !self.pending.contains_key(key) && !is_sequenced(**key)).map(|(_, id)| *id)
    }
}

impl MemoryStore {
    fn log<T: Default>(&self, tenant: TenantId, read: impl FnOnce(&AuditLog) -> T) -> T {
        self.read(|state| state.audit.get(&tenant).map(read).unwrap_or_default())
    }
}

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
        let newest_first = |log: &AuditLog| {
            log.entries.values().rev().filter(passes).take(limit as usize).cloned().collect::<Vec<_>>()
        };
        Ok(self.log(tenant, newest_first))
    }

    async fn audit_entry(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<AuditEntry>, StoreError> {
        Ok(self.log(tenant, |log| log.entries.values().find(|entry| entry.id == id).cloned()))
    }

    async fn purge_audit_entries(&self) -> Result<u64, StoreError> {
        Ok(self.change(|state| state.audit.values_mut().map(AuditLog::purge).sum()))
    }
}

#[async_trait]
impl SequenceStore for MemoryStore {
    async fn pending(&self, except: &[TenantId], limit: u32) -> Result<Vec<Pending>, StoreError> {
        let of_others = |state: &State| {
            let logs = state.audit.iter().filter(|(tenant, _)| !except.contains(tenant));
            logs.flat_map(|(_, log)| log.pending.values().cloned()).collect()
        };
        let mut pending: Vec<Pending> = self.read(of_others);
        pending.sort_by_key(|pending| (pending.created_at, pending.entry_id));
        pending.truncate(limit as usize);
        Ok(pending)
    }

    async fn log_heads(&self, tenants: &[TenantId]) -> Result<Vec<LogHead>, StoreError> {
        let head = |state: &State, tenant| state.audit.get(tenant).and_then(|log| log.head.clone());
        Ok(self.read(|state| tenants.iter().filter_map(|tenant| head(state, tenant)).collect()))
    }

    async fn sequence(&self, batches: &[SequencedBatch]) -> Result<bool, StoreError> {
        Ok(self.change(|state| {
            let can_be_continued = |batch: &SequencedBatch| {
                state.audit.get(&batch.tenant_id).is_some_and(|log| log.can_be_continued_by(batch))
            };
            if !batches.iter().all(can_be_continued) {
                return false;
            }
            for batch in batches {
                state.audit.entry(batch.tenant_id).or_default().sequence(batch);
            }
            true
        }))
    }

    async fn sequence_of(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<u64>, StoreError> {
        Ok(self.log(tenant, |log| log.leaves.iter().find(|leaf| leaf.entry_id == id).map(|leaf| leaf.sequence)))
    }

    async fn tree_hashes(&self, tenant: TenantId, spans: &[TreeSpan]) -> Result<Vec<TreeHash>, StoreError> {
        let hash = |log: &AuditLog, level, position| match level {
            0 => log.leaves_from(position).first().map(|leaf| leaf.hash),
            level => log.nodes.get(&(level, position)).copied(),
        };
        let of_span = |log: &AuditLog, span: &TreeSpan| -> Vec<TreeHash> {
            span.positions.clone().filter_map(|position| hash(log, span.level, position)).collect()
        };
        Ok(self.log(tenant, |log| spans.iter().flat_map(|span| of_span(log, span)).collect()))
    }

    async fn audited_tenants(&self) -> Result<Vec<TenantId>, StoreError> {
        // A unit of work that recorded nothing leaves an empty log.
        let is_begun = |log: &AuditLog| log.head.is_some() || !log.entries.is_empty();
        Ok(self.read(|state| state.audit.iter().filter(|(_, log)| is_begun(log)).map(|(tenant, _)| *tenant).collect()))
    }

    async fn sequenced_entries(
        &self,
        tenant: TenantId,
        from: u64,
        limit: u32,
    ) -> Result<Vec<SequencedEntry>, StoreError> {
        Ok(self.log(tenant, |log| {
            let entry = |leaf: &Leaf| log.entries.get(&(leaf.created_at, leaf.entry_id)).cloned();
            let leaves = log.leaves_from(from).iter().take(limit as usize);
            leaves.map(|leaf| SequencedEntry { leaf: leaf.clone(), entry: entry(leaf) }).collect()
        }))
    }

    async fn pending_entries(
        &self,
        tenant: TenantId,
        after: Option<(Timestamp, AuditEntryId)>,
        limit: u32,
    ) -> Result<Vec<PendingEntry>, StoreError> {
        Ok(self.log(tenant, |log| {
            let following = log.pending.iter().filter(|(key, _)| after.is_none_or(|after| after < **key));
            let entry = |(key, pending): (_, &Pending)| PendingEntry {
                pending: pending.clone(),
                entry: log.entries.get(key).cloned(),
                is_sequenced: log.leaves.iter().any(|leaf| leaf.entry_id == pending.entry_id),
            };
            following.take(limit as usize).map(entry).collect()
        }))
    }

    async fn stray_entry(&self, tenant: TenantId) -> Result<Option<AuditEntryId>, StoreError> {
        Ok(self.log(tenant, AuditLog::stray))
    }
}

#[async_trait]
impl AuditTransaction for MemoryTransaction {
    async fn log_head(&mut self) -> Result<Option<LogHead>, StoreError> {
        Ok(self.store.log(self.tenant, |log| log.head.clone()))
    }

    async fn first_sequenced_since(&mut self, from: u64, moment: Timestamp) -> Result<Option<u64>, StoreError> {
        let is_young = |leaf: &&Leaf| leaf.created_at >= moment;
        Ok(self.store.log(self.tenant, |log| log.leaves_from(from).iter().find(is_young).map(|leaf| leaf.sequence)))
    }
}
