//! The audit log: what happened, to what, by whom, with the values before and after (`interface.md` §2.6, §6).
//!
//! No caller writes the service's own entries. A [`Change`](crate::Change) defines the entries that record it, and
//! [`UnitOfWork`](crate::UnitOfWork) commits both or neither. Each tenant's entries become the leaves of a Merkle
//! tree, so a client that keeps a signed checkpoint can detect later changes to any of them.

mod canonical;
mod catalogue;
mod change;
mod checkpoint;
mod cursor;
mod digest;
mod entry;
mod erase;
mod event;
mod excuse;
mod export;
mod filter;
mod finding;
mod merkle;
mod proof;
mod record;
mod retention;
mod sequence;
mod service;
mod store;
mod verifier;
mod verify;

pub use catalogue::{ACTIONS, CATALOGUE, RESOURCE_TYPES, Recorded, ResourceType, action};
pub use change::{AuditChange, ErasedDetails, ErasedOrigin};
pub(crate) use checkpoint::LogKey;
pub use checkpoint::{Checkpoint, CheckpointError, SignedCheckpoint, tenant_of};
pub use cursor::Cursor;
pub use digest::{Digest, Opening, Openings, Salt, Salts};
pub use entry::AuditEntry;
pub use event::{Event, NewEvent};
pub use export::Export;
pub use filter::{AuditFilter, AuditPage};
pub use finding::{Finding, Tampering, Verification};
pub use merkle::{Frontier, STRIDE, TreeHash, TreeNode, TreeSpan};
pub use proof::{ConsistencyProof, InclusionProof, LogState};
pub(crate) use record::{Attribution, Record};
pub use sequence::Sequenced;
pub use service::{Audit, AuditExport};
pub use store::{
    AuditStore, AuditTransaction, Leaf, LogHead, Pending, PendingEntry, PendingRetention, Retention, SequenceStore,
    SequencedBatch, SequencedEntry,
};

#[cfg(test)]
mod testing;
