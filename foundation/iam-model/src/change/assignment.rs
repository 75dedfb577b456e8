use serde_json::{Value, json};
use uuid::Uuid;

use crate::access::Covered;
use crate::assignment::{Assignment, Grant, RevokeReason};
use crate::audit::{Record, ResourceType, action};
use crate::clock::{Timestamp, shown};
use crate::validate::RoleName;

/// A change of role assignments.
#[derive(Clone, Debug)]
pub enum AssignmentChange {
    /// Users get roles.
    Create(Vec<NewGrant>),
    /// The expiry of an assignment changes.
    ChangeExpiry {
        /// The expiry before the change.
        before: Option<Timestamp>,
        /// The assignment after the change.
        after: Assignment,
        /// The proof that the author holds these rights for as long, if the assignment is extended.
        covered: Covered,
    },
    /// Assignments end, all for the same reason.
    Revoke {
        /// The grants that end.
        grants: Vec<Grant>,
        /// The reason; `None` if the only reason is a request to revoke the assignment.
        reason: Option<RevokeReason>,
    },
}

/// A user gets a role.
#[derive(Clone, Debug)]
pub struct NewGrant {
    /// The new assignment.
    pub assignment: Assignment,
    /// The name of its role.
    pub role_name: RoleName,
    /// The proof that the author holds the same rights, there and for as long.
    pub covered: Covered,
}

impl AssignmentChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Create(grants) => {
                grants.iter().map(|grant| record(action::ROLE_ASSIGNED, &grant.assignment, &grant.role_name)).collect()
            }
            Self::ChangeExpiry { before, after, .. } => {
                let record = of(action::UPDATE, after);
                let (before, after) = (audited_expiry(*before), audited_expiry(after.expires_at));
                vec![record.changing(&before, &after).listing_changed_fields()]
            }
            Self::Revoke { grants, reason } => grants.iter().map(|grant| revoked(grant, *reason)).collect(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create(grants) => grants.iter().map(|grant| grant.assignment.user_id.into()).collect(),
            Self::ChangeExpiry { after, .. } => vec![after.user_id.into()],
            Self::Revoke { grants, .. } => grants.iter().map(|grant| grant.assignment.user_id.into()).collect(),
        }
    }
}

fn audited_expiry(expires_at: Option<Timestamp>) -> Value {
    json!({ "expiresAt": expires_at.map(shown) })
}

fn revoked(grant: &Grant, reason: Option<RevokeReason>) -> Record {
    let record = record(action::ROLE_REVOKED, &grant.assignment, &grant.role.name);
    match reason {
        Some(reason) => record.with("reason", reason.as_str()),
        None => record,
    }
}

fn record(action: &'static str, assignment: &Assignment, role_name: &RoleName) -> Record {
    of(action, assignment)
        .with("targetUserId", json!(assignment.user_id))
        .with("roleId", json!(assignment.role_id))
        .with("roleName", role_name.as_str())
        .with("organizationId", json!(assignment.organization_id))
}

fn of(action: &'static str, assignment: &Assignment) -> Record {
    Record::new(action, ResourceType::ROLE_ASSIGNMENT, assignment.id).in_organization(assignment.organization_id)
}
