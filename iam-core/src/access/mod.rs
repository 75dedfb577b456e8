//! Access control: permissions, the rights of users, and the decisions that follow from them (`decisions.md` §4).
//!
//! It consists of three parts, each in a small file:
//!
//! 1. An [`Authority`] is the sum of a user's role assignments. It answers whether a permission is held in a
//!    [`ResourceScope`] at a moment, by plain loops over values.
//! 2. `Rights` turns that answer into an error: 403 if the caller may know that the resource exists, otherwise 404.
//! 3. `GrantAuthority` does the escalation check. Every change that may raise the rights of a user needs a [`Covered`], which
//!    only `GrantAuthority` returns.

mod authority;
mod decision;
mod grant_authority;
pub mod permission;
mod rights;
mod service;
mod set;
mod snapshot;
#[cfg(test)]
pub(crate) mod testing;

pub use authority::{Authority, ResourceScope, Until, VisibleScope};
pub use decision::{DecidingGrant, Decision, Denial};
pub use grant_authority::{Covered, Shortfall};
pub(crate) use grant_authority::{GrantAuthority, GrantedRights};
pub use permission::{Permission, PermissionPattern};
pub(crate) use rights::{Coverage, Rights};
pub use service::{Access, MAX_QUESTIONS, Question};
pub use set::PermissionSet;
pub use snapshot::Snapshot;
