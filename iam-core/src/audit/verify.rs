//! Verification: recomputes a tenant's whole log from the store, and names the first entry that was tampered with.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use iam_audit_proof::{Checkpoint, CheckpointError, Tampering, Verification, Verifier};
use iam_model::audit::{LogHead, SequencedEntry, TreeNode, TreeSpan};
use iam_model::error::{Error, Result};
use iam_model::id::TenantId;
use iam_model::permission;
use iam_model::store_error::StoreError;

use crate::audit::Audit;
use crate::caller::Caller;
use crate::iam::Iam;

/// How many entries are read at once.
const PAGE: u32 = 1_000;

/// The maximum number of times that the end of the log is read. An entry that was read last may have been erased in the
/// meantime while the record of the erasure was still in the queue.
const ROUNDS: usize = 10;

impl Audit<'_> {
    /// Recomputes the tenant's log from the store, and compares it with the stored hashes and with checkpoints that a
    /// client kept elsewhere: notes that [`checkpoint`](Self::checkpoint) returned. Needs `audit-logs:read`
    /// tenant-wide.
    ///
    /// Without a kept checkpoint, it finds only changes that were made without this installation's key and that did
    /// not restore an older copy. It may run while the log grows.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] naming `checkpoint` if a note is not a checkpoint of this log.
    pub async fn verify(&self, caller: &Caller, kept: &[String]) -> Result<Verification> {
        self.verify_watched(caller, kept, |_, _| {}).await
    }

    /// Does the same as [`verify`](Self::verify), and reports progress to `watch`: how many sequenced entries have
    /// been read, and how many there are.
    ///
    /// # Errors
    ///
    /// The same as [`verify`](Self::verify).
    pub async fn verify_watched(
        &self,
        caller: &Caller,
        kept: &[String],
        watch: impl Fn(u64, u64) + Send + Sync,
    ) -> Result<Verification> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        let tenant = caller.tenant();
        let open = |note: &String| self.0.keys.log.verifier().open(tenant, note);
        let kept: Result<Vec<Checkpoint>, CheckpointError> = kept.iter().map(open).collect();
        let mut kept = kept.map_err(|error| Error::field("checkpoint", error.to_string()))?;
        kept.sort_by_key(|checkpoint| checkpoint.size);
        let mut verifier = Verifier::new(tenant, kept, self.0.keys.log.verifier());
        let mut head = self.verify_sequenced(&mut verifier, &watch).await?;
        for _ in 0..ROUNDS {
            self.verify_pending(&mut verifier).await?;
            // Reads the entries that left the queue before it was read. Their excuses may explain missing data.
            head = self.verify_sequenced(&mut verifier, &watch).await?;
            if verifier.is_all_excused(&head) {
                break;
            }
        }
        self.verify_erased(&mut verifier).await?;
        let stray = self.0.store.stray_entry(tenant).await?;
        Ok(verifier.finish(&head, self.0.keys.log.verifier().has_signed(&head), stray))
    }

    /// Reads the sequenced entries from the verifier's position to the end.
    async fn verify_sequenced(
        &self,
        verifier: &mut Verifier<'_>,
        watch: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<LogHead> {
        let (store, tenant) = (&self.0.store, verifier.tenant());
        let head = self.0.log_head(tenant).await?;
        // A head that is missing or forged must not prevent the verification of the entries.
        let is_known = head.frontier.size() > 0 && self.0.keys.log.verifier().has_signed(&head);
        let end = if is_known { head.frontier.size() } else { head.leaves };
        let mut page = self.sequenced_page(&head, verifier.size()).await?;
        while verifier.size() < end && !verifier.is_broken_off() {
            let SequencedPage { mut entries, is_unreadable } = page;
            entries.truncate(usize::try_from(end - verifier.size()).unwrap_or(usize::MAX));
            let next = entries.last().map_or(u64::MAX, |entry| entry.leaf.sequence.saturating_add(1));
            // The store reads the next page while this one is recomputed.
            let mut following = pin!(self.sequenced_page(&head, next));
            let polled = poll_fn(|context| Poll::Ready(following.as_mut().poll(context))).await;
            let nodes = verifier.read(entries, is_unreadable);
            page = match polled {
                Poll::Ready(following) => following?,
                Poll::Pending => following.await?,
            };
            let spans: Vec<TreeSpan> = nodes.iter().map(TreeNode::span).collect();
            let kept = store.tree_hashes(tenant, &spans).await?;
            verifier.compare(&nodes, &kept);
            watch(verifier.size(), end);
        }
        Ok(head)
    }

    /// Returns the next entries, up to the first that the store cannot read.
    async fn sequenced_page(&self, head: &LogHead, from: u64) -> Result<SequencedPage> {
        let page = self.readable_page(head.tenant_id, from).await?;
        // On PostgreSQL, a statement may see a leaf without its entry: the statement was planned before the partition
        // of the entry's month existed. This happens only once, so a second read is enough.
        let is_missed =
            |sequenced: &SequencedEntry| sequenced.entry.is_none() && sequenced.leaf.sequence >= head.removed;
        if page.entries.iter().any(is_missed) { self.readable_page(head.tenant_id, from).await } else { Ok(page) }
    }

    async fn readable_page(&self, tenant: TenantId, from: u64) -> Result<SequencedPage> {
        let store = &self.0.store;
        match store.sequenced_entries(tenant, from, PAGE).await {
            Ok(entries) => return Ok(SequencedPage { entries, is_unreadable: false }),
            Err(StoreError::Corrupt { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let mut entries = Vec::new();
        loop {
            let next = from.saturating_add(entries.len() as u64);
            match store.sequenced_entries(tenant, next, 1).await {
                Ok(one) if one.is_empty() => return Ok(SequencedPage { entries, is_unreadable: false }),
                Ok(one) => entries.extend(one),
                Err(StoreError::Corrupt { .. }) => return Ok(SequencedPage { entries, is_unreadable: true }),
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn verify_pending(&self, verifier: &mut Verifier<'_>) -> Result<()> {
        let mut after = None;
        verifier.begin_pending();
        loop {
            let page = match self.0.store.pending_entries(verifier.tenant(), after, PAGE).await {
                Ok(page) => page,
                Err(StoreError::Corrupt { .. }) => {
                    verifier.find_pending(Tampering::Changed, None);
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            };
            after = page.last().map(|entry| (entry.pending.created_at, entry.pending.entry_id));
            let is_last = page.len() < PAGE as usize;
            page.into_iter().for_each(|entry| verifier.read_pending(entry));
            if is_last {
                return Ok(());
            }
        }
    }

    /// Looks up the entries that a record names as erased but that were not erased when they were read. Usually,
    /// retention has removed them. The digest of an entry does not help: it is the same with and without the personal
    /// fields.
    async fn verify_erased(&self, verifier: &mut Verifier<'_>) -> Result<()> {
        let (store, tenant) = (&self.0.store, verifier.tenant());
        for id in verifier.not_seen_erased() {
            let is_restored = match store.audit_entry(tenant, id).await {
                Ok(entry) => entry.is_some_and(|entry| verifier.is_restored(&entry)),
                // There is a finding about it already.
                Err(StoreError::Corrupt { .. }) => false,
                Err(error) => return Err(error.into()),
            };
            if is_restored {
                let place = store.sequence_of(tenant, id).await?;
                verifier.find(Tampering::Restored, place.map(|place| place..place + 1), Some(id));
            }
        }
        Ok(())
    }
}

impl Iam {
    /// Returns the tenants that have an audit log, in the order of their identifiers, for an operator of all tenants.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn audited_tenants(&self) -> Result<Vec<TenantId>> {
        Ok(self.0.store.audited_tenants().await?)
    }
}

/// Consecutive sequenced entries.
struct SequencedPage {
    entries: Vec<SequencedEntry>,
    /// Whether the store cannot read the entry after them. The service did not write such an entry.
    is_unreadable: bool,
}
