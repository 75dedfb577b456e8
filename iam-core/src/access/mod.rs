//! Access control: permissions, the rights of users, and the decisions that follow from them (`decisions.md` §4).
//!
//! It consists of three parts, each in a small file:
//!
//! 1. An [`Authority`] is the sum of a user's role assignments. It answers whether a permission is held in a
//!    [`Place`] at a moment, by plain loops over values.
//! 2. `Rights` turns that answer into an error: 403 if the caller may know that the resource exists, otherwise 404.
//! 3. `Power` does the escalation check. Every change that may raise the rights of a user needs a [`Covered`], which
//!    only `Power` returns.

mod authority;
mod decision;
pub mod permission;
mod power;
mod rights;
mod service;
mod set;
mod snapshot;
#[cfg(test)]
pub(crate) mod testing;

pub use authority::{Authority, Place, Reach, Until};
pub use decision::{DecidingGrant, Decision, Denial};
pub use permission::{Permission, PermissionPattern};
pub use power::{Covered, Shortfall};
pub(crate) use power::{Gain, Power};
pub(crate) use rights::{Extent, Rights};
pub use service::{Access, MAX_QUESTIONS, Question};
pub use set::PermissionSet;
pub use snapshot::Snapshot;
