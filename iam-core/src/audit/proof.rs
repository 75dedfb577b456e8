use super::merkle::ProofPlan;
use super::{Audit, AuditEntry, LogHead, SignedCheckpoint, TreeHash};
use crate::access::permission;
use crate::audit::ResourceType;
use crate::caller::Caller;
use crate::error::{Conflict, Error, Result};
use crate::id::{AuditEntryId, TenantId};

/// What a tenant's log is at this moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogState {
    /// What is sealed. Whoever keeps the note can tell later whether any of it was touched.
    pub signed: SignedCheckpoint,
    /// The key that signs the notes, in their own form: `<name>+<identifier>+<key>`.
    pub verifier_key: String,
    /// The entries that are not sealed yet, those that have waited longest first, at most a hundred.
    pub unsealed: Vec<AuditEntryId>,
}

/// That an entry stands in the log (RFC 6962 §2.1.1).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InclusionProof {
    /// The entry, with its statement and openings.
    pub entry: AuditEntry,
    /// Its place in the sequence.
    pub index: u64,
    /// The size of the tree that it is proven to stand in.
    pub size: u64,
    /// The root of that tree.
    pub root: TreeHash,
    /// The proof.
    pub hashes: Vec<TreeHash>,
}

/// That a log is the continuation of what it was (RFC 6962 §2.1.2).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConsistencyProof {
    /// The smaller tree's size.
    pub from: u64,
    /// The larger tree's size.
    pub to: u64,
    /// The root of the larger tree.
    pub root: TreeHash,
    /// The proof.
    pub hashes: Vec<TreeHash>,
}

const UNSEALED_SHOWN: u32 = 100;

impl Audit<'_> {
    /// What is sealed of the log, as a signed checkpoint, and what is not. Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]; [`Error::Internal`] when the log is not what its own checkpoint says.
    pub async fn checkpoint(&self, caller: &Caller) -> Result<LogState> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        let tenant = caller.tenant();
        let unsealed = self.0.store.unsealed_entries(tenant, None, UNSEALED_SHOWN).await?;
        let head = self.head(tenant).await?;
        if !head.is_signed_by(&self.0.log_key) {
            return Err(Error::internal("audit log", format!("that of tenant {tenant} was changed from outside")));
        }
        Ok(LogState {
            signed: self.0.log_key.sign(tenant, &head.frontier),
            verifier_key: self.0.log_key.verifier_key(tenant),
            unsealed: unsealed.into_iter().map(|entry| entry.unsealed.entry_id).collect(),
        })
    }

    /// Proves that an entry stands in the tree of the first `size` entries, or of all that are sealed. Needs
    /// `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::NotSealed`], [`Error::Validation`] naming `treeSize`.
    pub async fn prove_inclusion(
        &self,
        caller: &Caller,
        entry: AuditEntryId,
        size: Option<u64>,
    ) -> Result<InclusionProof> {
        let entry = self.get(caller, entry).await?;
        let tenant = caller.tenant();
        let index = self.0.store.sequence_of(tenant, entry.id).await?.ok_or(Conflict::NotSealed)?;
        let sealed = self.head(tenant).await?.frontier.size();
        let size = size.unwrap_or(sealed);
        if size <= index || size > sealed {
            return Err(Error::field("treeSize", format!("must be from {} to {sealed}", index + 1)));
        }
        let [root] = self.hashes(tenant, &ProofPlan::root(size)).await?[..] else { return Err(incomplete()) };
        let hashes = self.hashes(tenant, &ProofPlan::inclusion(index, size)).await?;
        Ok(InclusionProof { entry, index, size, root, hashes })
    }

    /// Proves that the tree of the first `to` entries, or of all that are sealed, starts with that of the first
    /// `from`. Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] naming `from` or `to`.
    pub async fn prove_consistency(&self, caller: &Caller, from: u64, to: Option<u64>) -> Result<ConsistencyProof> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        let tenant = caller.tenant();
        let sealed = self.head(tenant).await?.frontier.size();
        let to = to.unwrap_or(sealed);
        if to > sealed {
            return Err(Error::field("to", format!("must be at most {sealed}, the number of entries that are sealed")));
        }
        if from > to {
            return Err(Error::field("from", format!("must be at most {to}")));
        }
        let [root] = self.hashes(tenant, &ProofPlan::root(to)).await?[..] else { return Err(incomplete()) };
        let hashes = self.hashes(tenant, &ProofPlan::consistency(from, to)).await?;
        Ok(ConsistencyProof { from, to, root, hashes })
    }

    /// The tenant's log as a whole, empty where nothing of it is sealed.
    pub(super) async fn head(&self, tenant: TenantId) -> Result<LogHead> {
        let heads = self.0.store.log_heads(&[tenant]).await?;
        Ok(heads.into_iter().next().unwrap_or_else(|| LogHead::empty(tenant)))
    }

    async fn hashes(&self, tenant: TenantId, plan: &ProofPlan) -> Result<Vec<TreeHash>> {
        let kept = self.0.store.tree_hashes(tenant, &plan.spans()).await?;
        plan.hashes(&kept).ok_or_else(incomplete)
    }

    /// One entry. Needs `audit-logs:read` tenant-wide.
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
    Error::internal("audit log", "hashes of its tree are missing")
}
