//! Who may do what, where, and why: permissions, what somebody holds, and the decisions that follow
//! (`decisions.md` §4).
//!
//! Three steps, each a small file:
//!
//! 1. An [`Authority`] is what a user's role assignments amount to. It answers whether a permission is held in a
//!    [`Place`] at a moment, by plain loops over values.
//! 2. `Rights` turns that answer into an error: 403 where the caller may know that there is something, 404 where not.
//! 3. `Power` is the one choke point: whatever may raise anybody's rights needs the [`Covered`] that only it gives.

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
