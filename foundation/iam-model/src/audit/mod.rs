//! Audit entries: what happened, to what, by whom, with the values before and after (`docs/audit.md#what-is-recorded`).
//!
//! Each tenant's entries become the leaves of a Merkle tree. The crate `iam-audit-proof` signs and verifies it.

mod canonical;
mod catalogue;
mod cursor;
mod digest;
mod entry;
mod event;
mod event_type;
mod export;
mod field_name;
mod filter;
mod format;
mod log;
mod ocsf;
mod record;
mod salt;
mod shown;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod tree;

pub use canonical::canonical_json;
pub use catalogue::{ACTIONS, CATALOGUE, RESOURCE_TYPES, Recorded, ResourceType, action};
pub use cursor::Cursor;
pub use digest::{ERASED, Opening, Openings};
pub use entry::AuditEntry;
pub use event::{Event, NewEvent};
pub use event_type::EventPattern;
pub use export::Export;
pub use filter::{AuditFilter, AuditPage};
pub use format::EventFormat;
pub use log::{
    Leaf, LogHead, Pending, PendingEntry, PendingRetention, Retention, SequencedBatch, SequencedEntry, log_id,
};
pub use ocsf::OcsfEvent;
pub(crate) use record::{ACTOR, Attribution, Record};
pub use salt::{Digest, Salt, Salts};
pub use shown::ShownEntry;
pub use tree::{Frontier, ProofPlan, STRIDE, TreeHash, TreeNode, TreeSpan};
