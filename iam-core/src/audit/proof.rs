use iam_audit_proof::SignedCheckpoint;
use iam_model::audit::{AuditEntry, ProofPlan, ResourceType, TreeHash};
use iam_model::clock::Timestamp;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::{AuditEntryId, TenantId};
use iam_model::permission;

use crate::audit::Audit;
use crate::caller::Caller;

/// The current state of a tenant's log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogState {
    /// The signed checkpoint over the sequenced entries. A client that keeps the note can detect later changes to
    /// them.
    pub signed: SignedCheckpoint,
    /// The public key that verifies the notes, in the format of signed notes: `<name>+<identifier>+<key>`.
    pub verifier_key: String,
    /// The pending entries, oldest first, at most a hundred.
    pub pending: Vec<AuditEntryId>,
    /// Since when the oldest entry has been pending; `None` if no entry is.
    pub pending_since: Option<Timestamp>,
}

/// A proof that the log contains an entry (RFC 6962 §2.1.1).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InclusionProof {
    /// The entry, with its statement and openings.
    pub entry: AuditEntry,
    /// Its sequence number.
    pub index: u64,
    /// The size of the tree that contains the entry.
    pub size: u64,
    /// The root hash of that tree.
    pub root: TreeHash,
    /// The hashes of the proof.
    pub hashes: Vec<TreeHash>,
}

/// A proof that a log continues an earlier state of the same log (RFC 6962 §2.1.2).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConsistencyProof {
    /// The size of the smaller tree.
    pub from: u64,
    /// The size of the larger tree.
    pub to: u64,
    /// The root hash of the larger tree.
    pub root: TreeHash,
    /// The hashes of the proof.
    pub hashes: Vec<TreeHash>,
}

const PENDING_SHOWN: u32 = 100;

impl Audit<'_> {
    /// Returns a signed checkpoint over the sequenced entries, and the pending entries. Needs `audit-logs:read`
    /// tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]; [`Error::Internal`] if the log does not match its own checkpoint.
    pub async fn checkpoint(&self, caller: &Caller) -> Result<LogState> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        let tenant = caller.tenant();
        let pending = self.0.store.pending_entries(tenant, None, PENDING_SHOWN).await?;
        let head = self.0.log_head(tenant).await?;
        if !self.0.keys.log.verifier().has_signed(&head) {
            return Err(Error::internal(
                "audit log",
                format!("the log of tenant {tenant} does not match its own checkpoint"),
            ));
        }
        Ok(LogState {
            signed: self.0.keys.log.sign(tenant, &head.frontier),
            verifier_key: self.0.keys.log.verifier().for_tenant(tenant),
            pending_since: pending.first().map(|entry| entry.pending.created_at),
            pending: pending.into_iter().map(|entry| entry.pending.entry_id).collect(),
        })
    }

    /// Proves that the tree of the first `size` entries, or of all sequenced entries, contains an entry. Needs
    /// `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::NotSequenced`], [`Error::Validation`] naming `treeSize`.
    pub async fn prove_inclusion(
        &self,
        caller: &Caller,
        entry: AuditEntryId,
        size: Option<u64>,
    ) -> Result<InclusionProof> {
        let entry = self.get(caller, entry).await?;
        let tenant = caller.tenant();
        let index = self.0.store.sequence_of(tenant, entry.id).await?.ok_or(Conflict::NotSequenced)?;
        let sequenced = self.0.log_head(tenant).await?.frontier.size();
        let size = size.unwrap_or(sequenced);
        if size <= index || size > sequenced {
            return Err(Error::field("treeSize", format!("must be from {} to {sequenced}", index + 1)));
        }
        let [root] = self.hashes(tenant, &ProofPlan::root(size)).await?[..] else { return Err(incomplete()) };
        let hashes = self.hashes(tenant, &ProofPlan::inclusion(index, size)).await?;
        Ok(InclusionProof { entry, index, size, root, hashes })
    }

    /// Proves that the tree of the first `to` entries, or of all sequenced entries, starts with the tree of the first
    /// `from` entries. Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] naming `from` or `to`.
    pub async fn prove_consistency(&self, caller: &Caller, from: u64, to: Option<u64>) -> Result<ConsistencyProof> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        let tenant = caller.tenant();
        let sequenced = self.0.log_head(tenant).await?.frontier.size();
        let to = to.unwrap_or(sequenced);
        if to > sequenced {
            return Err(Error::field("to", format!("must be at most {sequenced}, the number of sequenced entries")));
        }
        if from > to {
            return Err(Error::field("from", format!("must be at most {to}")));
        }
        let [root] = self.hashes(tenant, &ProofPlan::root(to)).await?[..] else { return Err(incomplete()) };
        let hashes = self.hashes(tenant, &ProofPlan::consistency(from, to)).await?;
        Ok(ConsistencyProof { from, to, root, hashes })
    }

    async fn hashes(&self, tenant: TenantId, plan: &ProofPlan) -> Result<Vec<TreeHash>> {
        let kept = self.0.store.tree_hashes(tenant, &plan.spans()).await?;
        plan.hashes(&kept).ok_or_else(incomplete)
    }

    /// Returns one entry. Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: AuditEntryId) -> Result<AuditEntry> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        let entry = self.0.store.audit_entry(caller.tenant(), id).await?;
        entry.ok_or(Error::NotFound(ResourceType::AUDIT_ENTRY))
    }
}

fn incomplete() -> Error {
    Error::internal("audit log", "tree hashes are missing")
}
