//! Access control: the questions that callers ask, and the escalation check (`docs/http-api.md#access`).
//!
//! The rules are in the model: an [`Authority`] answers whether a permission is held in a [`ResourceScope`] at a
//! moment. A change says by [`Change::granted_rights`](iam_model::change::Change::granted_rights) the rights that it
//! gives. The [unit of work](crate::engine::UnitOfWork) checks that the caller holds these rights.

mod service;
mod subject;
mod visibility;
mod who;

pub use crate::access::service::{Access, MAX_QUESTIONS, Question};
pub use crate::access::who::Holder;
pub use iam_model::access::{
    Authority, DecidingGrant, Decision, Denial, GrantedRights, HeldRole, ResourceScope, Snapshot, Until, VisibleScope,
};
pub use iam_model::error::Shortfall;
pub use iam_model::permission::{Permission, PermissionPattern, PermissionSet};

pub(crate) use crate::access::service::ANSWERED_AT_ONCE;
pub(crate) use crate::access::subject::Subject;
pub(crate) use crate::access::visibility::{require_for_user, require_visible};
pub(crate) use crate::access::who::counting_in;
