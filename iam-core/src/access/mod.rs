//! Access control: the questions that callers ask, and the escalation check (`decisions.md` §4).
//!
//! The rules are in the model: an [`Authority`] answers whether a permission is held in a [`ResourceScope`] at a
//! moment. `GrantAuthority` does the escalation check. Every change that may raise the rights of a user needs a
//! [`Covered`], which only that check returns.

mod grant_authority;
mod service;
mod sight;

pub use crate::access::service::{Access, MAX_QUESTIONS, Question};
pub use iam_model::access::{
    Authority, Covered, DecidingGrant, Decision, Denial, ResourceScope, Snapshot, Until, VisibleScope,
};
pub use iam_model::error::Shortfall;
pub use iam_model::permission::{Permission, PermissionPattern, PermissionSet};

pub(crate) use crate::access::grant_authority::GrantAuthority;
pub(crate) use crate::access::sight::{require_sight, require_visible_scope_over};
