//! The audit log: actions, with their actors, their resources, and the values before and after
//! (`docs/audit.md#what-is-recorded`).
//!
//! No caller writes the service's own entries. A [`Change`](iam_model::change::Change) defines the entries that record
//! it, and [`UnitOfWork`](crate::engine::UnitOfWork) commits both or neither. Each tenant's entries become the leaves
//! of a Merkle tree, so a client that keeps a signed checkpoint can detect later changes to any of them.

mod erase;
mod feed;
pub(crate) mod person;
mod proof;
mod retention;
mod sequence;
mod service;
mod verify;

pub use crate::audit::feed::{EventFeed, EventPage, LogEvent};
pub use crate::audit::proof::{ConsistencyProof, InclusionProof, LogState};
pub use crate::audit::sequence::Sequenced;
pub use crate::audit::service::{ActorCounts, Audit, AuditExport, DayCounts};
pub use crate::engine::OpenStream;
pub use iam_audit_proof::{Checkpoint, CheckpointError, Finding, SignedCheckpoint, Tampering, Verification, tenant_of};
pub use iam_model::audit::{
    ACTIONS, AuditEntry, AuditFilter, AuditPage, CATALOGUE, Cursor, Digest, Event, EventFormat, EventPattern, Export,
    Frontier, Leaf, LogHead, NewEvent, OcsfEvent, Opening, Openings, Pending, PendingEntry, PendingRetention,
    RESOURCE_TYPES, Recorded, ResourceType, Retention, STRIDE, Salt, Salts, SequencedBatch, SequencedEntry, ShownEntry,
    TreeHash, TreeNode, TreeSpan, action, canonical_json,
};
pub use iam_model::change::{AuditChange, ErasedDetails, ErasedOrigin};
pub use iam_model::store::{AuditStore, AuditTransaction, SequenceStore};
