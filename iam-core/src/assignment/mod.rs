//! Role assignments: which user holds which role, in which resource scope, until when (`interface.md` §2.2).

mod input;
mod known;
mod past;
mod service;
mod sweep;

pub use crate::assignment::input::NewAssignment;
pub use crate::assignment::service::{AssignmentPatch, Assignments};
pub use iam_model::assignment::{
    Assignment, AssignmentFilter, EffectivePermissions, Grant, GrantContext, GrantOrganization, ListedAssignment,
    MAX_BULK, RevokeReason,
};
pub use iam_model::change::AssignmentChange;
pub use iam_model::store::{AssignmentStore, AssignmentTransaction, GrantQuery};

pub(crate) use crate::assignment::input::check_expiries;
pub(crate) use crate::assignment::known::Known;
pub(crate) use crate::assignment::service::{check_revocation, keep_an_administrator, revoke};
