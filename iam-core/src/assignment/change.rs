use serde_json::json;

use super::{Assignment, Grant};
use crate::audit::{Record, ResourceType, action};

/// A change of role assignments.
#[derive(Clone, Debug)]
pub enum AssignmentChange {
    /// A user gets a role.
    Create {
        /// The new assignment.
        assignment: Assignment,
        /// The name of its role.
        role_name: String,
    },
    /// Assignments end, for one reason.
    Revoke {
        /// What ends.
        grants: Vec<Grant>,
        /// Why, where it was not asked for by itself.
        reason: Option<RevokeReason>,
    },
}

/// Why an assignment ended with something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RevokeReason {
    /// Its user was deleted.
    UserDeleted,
    /// It granted nothing any more.
    Expired,
}

words! { RevokeReason { UserDeleted = "USER_DELETED", Expired = "EXPIRED" } }

impl AssignmentChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Create { assignment, role_name } => vec![record(action::ROLE_ASSIGNED, assignment, role_name)],
            Self::Revoke { grants, reason } => grants.iter().map(|grant| revoked(grant, *reason)).collect(),
        }
    }
}

fn revoked(grant: &Grant, reason: Option<RevokeReason>) -> Record {
    let record = record(action::ROLE_REVOKED, &grant.assignment, &grant.role.name);
    match reason {
        Some(reason) => record.with("reason", reason.as_str()),
        None => record,
    }
}

fn record(action: &'static str, assignment: &Assignment, role_name: &str) -> Record {
    Record::new(action, ResourceType::ROLE_ASSIGNMENT, assignment.id)
        .with("targetUserId", json!(assignment.user_id))
        .with("roleId", json!(assignment.role_id))
        .with("roleName", role_name)
        .with("organizationId", json!(assignment.organization_id))
}
