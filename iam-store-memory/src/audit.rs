use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use iam_model::audit::{
    AuditEntry, AuditFilter, Cursor, Leaf, LogHead, Pending, PendingEntry, SequencedBatch, SequencedEntry, TreeHash,
    TreeSpan,
};
use iam_model::clock::{Day, Timestamp, week_of};
use iam_model::id::{AuditEntryId, TenantId, UserId};
use iam_model::store::{AuditStore, AuditTransaction, SequenceStore};
use iam_model::store_error::StoreError;

use crate::log::AuditLog;
use crate::state::{MemoryStore, MemoryTransaction, State};

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

    async fn audit_entries_by_day(
        &self,
        tenant: TenantId,
        action: &str,
        from: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Day, u64)>, StoreError> {
        let passes = |entry: &&AuditEntry| entry.action == action && entry.created_at >= from;
        Ok(self.log(tenant, |log| {
            let mut days: BTreeMap<Day, u64> = BTreeMap::new();
            for entry in log.entries.values().rev().filter(passes).take(limit as usize) {
                *days.entry(entry.created_at.date_naive()).or_default() += 1;
            }
            days.into_iter().collect()
        }))
    }

    async fn audit_actors_by_week(
        &self,
        tenant: TenantId,
        action: &str,
        from: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Day, u64, u64)>, StoreError> {
        let passes = |entry: &&AuditEntry| entry.action == action && entry.created_at >= from;
        Ok(self.log(tenant, |log| {
            let mut weeks: BTreeMap<Day, (u64, BTreeSet<UserId>)> = BTreeMap::new();
            for entry in log.entries.values().rev().filter(passes).take(limit as usize) {
                let (entries, actors) = weeks.entry(week_of(entry.created_at.date_naive())).or_default();
                *entries += 1;
                actors.extend(entry.user_id);
            }
            weeks.into_iter().map(|(week, (entries, actors))| (week, entries, actors.len() as u64)).collect()
        }))
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

    async fn count_pending(&mut self) -> Result<u64, StoreError> {
        Ok(self.store.log(self.tenant, |log| log.pending.len() as u64))
    }

    async fn first_sequenced_since(&mut self, from: u64, moment: Timestamp) -> Result<Option<u64>, StoreError> {
        let is_young = |leaf: &&Leaf| leaf.created_at >= moment;
        Ok(self.store.log(self.tenant, |log| log.leaves_from(from).iter().find(is_young).map(|leaf| leaf.sequence)))
    }
}
