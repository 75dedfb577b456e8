#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod checkpoint;
mod excuse;
mod finding;
#[cfg(test)]
mod testing;
mod verifier;

pub use checkpoint::{Checkpoint, CheckpointError, LogKey, SignedCheckpoint, VerifierKey, VerifierKeyError, tenant_of};
pub use finding::{Finding, Tampering, Verification};
pub use verifier::Verifier;
