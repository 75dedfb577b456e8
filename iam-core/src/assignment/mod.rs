//! Role assignments: which user holds which role, in which resource scope, until when
//! (`docs/http-api.md#role-assignments`).

mod ending;
mod input;
pub(crate) mod of_groups;
mod past;
mod references;
mod service;
mod sweep;

pub use crate::assignment::input::NewAssignment;
pub use crate::assignment::service::{AssignmentPatch, Assignments};
pub use iam_model::assignment::{
    Assignment, AssignmentFilter, EffectivePermissions, Grant, GrantContext, GrantOrganization, ListedAssignment,
    MAX_BULK, RevokeReason,
};
pub use iam_model::change::{AssignmentChange, ChangedAssignment};
pub use iam_model::store::{AssignmentStore, AssignmentTransaction, GrantQuery};

pub(crate) use crate::assignment::ending::{ENDED_AT_ONCE, keep_an_administrator, revoke};
pub(crate) use crate::assignment::input::{check_expiries, check_places, role_field};
pub(crate) use crate::assignment::references::References;
pub(crate) use crate::assignment::service::check_revocation;
