//! Sequencing: committed entries get their sequence number in their tenant's log, in the background.
//!
//! An entry is put into a queue in the transaction that commits it, so no crash can make the sequencer miss an entry.
//! A round takes the oldest pending entries from the queue, appends them to the trees and signs the new checkpoints.
//! Several replicas may do this: the store lets one of them continue a log from its size, and drops the work of the
//! others.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use iam_audit_proof::LogKey;
use iam_model::audit::{Leaf, LogHead, Pending, SequencedBatch, TreeHash, log_id};
use iam_model::clock::Timestamp;
use iam_model::error::Result;
use iam_model::id::TenantId;
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::engine::Engine;
use crate::iam::Iam;

/// The maximum number of entries in one round, so that no round holds a lock of the store for long.
const ROUND: u32 = 2_000;

/// When an entry has been pending for longer than this, logs are sequenced one by one.
const PATIENCE: TimeDelta = TimeDelta::seconds(5);

/// The result of one round of sequencing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sequenced {
    /// How many entries were sequenced.
    pub entries: usize,
    /// Whether more entries may be pending, so that the next round should follow at once.
    pub more: bool,
    /// Since when the oldest entry has been pending, if the round did not sequence every entry that it read.
    pub waiting_since: Option<Timestamp>,
    /// Logs that do not match their own checkpoint: they were changed, but not by the service. They are not continued;
    /// `iam-server audit verify` gives the details.
    pub broken: Vec<TenantId>,
}

impl Iam {
    /// Sequences pending entries of all tenants, oldest first, in one transaction: at most a few thousand.
    ///
    /// Call it in a loop, a few times a second, and again at once while [`more`](Sequenced::more) is true. Several
    /// processes may do so: each entry is sequenced once, in one sequence.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store) when the store fails; no entry was sequenced then.
    pub async fn sequence_audit_logs(&self) -> Result<Sequenced> {
        let iam = &*self.0;
        let (mut broken, mut stuck, mut stuck_since) = (Vec::new(), Vec::new(), None);
        loop {
            // Pending entries of a log that cannot be continued must not delay the entries of other logs.
            let pending = iam.store.pending(&[broken.as_slice(), &stuck].concat(), ROUND).await?;
            let more = pending.len() == ROUND as usize;
            let oldest = pending.first().map(|entry| entry.created_at);
            let logs = iam.logs_of(pending).await?;
            let is_whole =
                |head: &LogHead| head.leaves == head.frontier.size() && iam.keys.log.verifier().has_signed(head);
            let changed: Vec<_> = logs.iter().map(|(head, _)| head).filter(|head| !is_whole(head)).collect();
            if !changed.is_empty() {
                broken.extend(changed.into_iter().map(|head| head.tenant_id));
                continue;
            }
            let batches: Vec<SequencedBatch> =
                logs.into_iter().map(|(head, entries)| sequence(head, entries, &iam.keys.log)).collect();
            let all = batches.iter().map(|batch| batch.leaves.len()).sum();
            let is_late = oldest.is_some_and(|since| iam.now() - since > PATIENCE);
            let entries = match iam.sequence_all(&batches).await {
                Ok(true) => all,
                Ok(false) if !is_late => 0,
                Err(error) if !is_late || matches!(error, StoreError::Unavailable(_)) => return Err(error.into()),
                _ => {
                    let (entries, failed) = iam.sequence_one_by_one(&batches).await;
                    if entries == 0 && more && stuck.is_empty() {
                        (stuck, stuck_since) = (failed, oldest);
                        continue;
                    }
                    entries
                }
            };
            let waiting_since = stuck_since.or(oldest.filter(|_| entries < all));
            return Ok(Sequenced { entries, more: more && entries > 0, waiting_since, broken });
        }
    }
}

impl Engine {
    async fn sequence_all(&self, batches: &[SequencedBatch]) -> Result<bool, StoreError> {
        if batches.is_empty() {
            return Ok(true);
        }
        let sequenced = self.store.sequence(batches).await?;
        if sequenced {
            let logs: Vec<Uuid> = batches.iter().map(|batch| log_id(batch.tenant_id)).collect();
            self.snapshots().invalidate(&logs);
        }
        Ok(sequenced)
    }

    /// Sequences each log separately, so that a log that cannot be continued does not block the others. Returns how
    /// many entries were sequenced, and which logs could not be continued.
    async fn sequence_one_by_one(&self, batches: &[SequencedBatch]) -> (usize, Vec<TenantId>) {
        let (mut entries, mut failed) = (0, Vec::new());
        for batch in batches {
            match self.sequence_all(std::slice::from_ref(batch)).await {
                Ok(true) => entries += batch.leaves.len(),
                Ok(false) => failed.push(batch.tenant_id),
                Err(error) => {
                    tracing::error!(tenant = %batch.tenant_id, %error, "entries of an audit log cannot be sequenced");
                    failed.push(batch.tenant_id);
                }
            }
        }
        (entries, failed)
    }

    /// Groups entries by tenant, each group with the head of the log that it continues.
    async fn logs_of(&self, entries: Vec<Pending>) -> Result<Vec<(LogHead, Vec<Pending>)>> {
        let mut by_tenant: BTreeMap<TenantId, Vec<Pending>> = BTreeMap::new();
        for entry in entries {
            by_tenant.entry(entry.tenant_id).or_default().push(entry);
        }
        let tenants: Vec<TenantId> = by_tenant.keys().copied().collect();
        let heads = self.store.log_heads(&tenants).await?;
        let mut heads: BTreeMap<TenantId, LogHead> = heads.into_iter().map(|head| (head.tenant_id, head)).collect();
        let mut head = |tenant| heads.remove(&tenant).unwrap_or_else(|| LogHead::empty(tenant));
        Ok(by_tenant.into_iter().map(|(tenant, entries)| (head(tenant), entries)).collect())
    }
}

fn sequence(head: LogHead, entries: Vec<Pending>, key: &LogKey) -> SequencedBatch {
    let LogHead { tenant_id, mut frontier, .. } = head;
    let from = frontier.size();
    let mut nodes = Vec::new();
    let leaves = entries.into_iter().map(|Pending { created_at, entry_id, digest, .. }| {
        let sequence = frontier.size();
        let hash = TreeHash::of_leaf(sequence, digest);
        nodes.extend(frontier.append(hash));
        Leaf { sequence, created_at, entry_id, hash }
    });
    let leaves = leaves.collect();
    let note = key.sign(tenant_id, &frontier).note;
    SequencedBatch { tenant_id, from, leaves, nodes, frontier, note }
}
