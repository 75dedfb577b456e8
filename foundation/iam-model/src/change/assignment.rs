use std::slice;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::access::{GrantedRights, Until};
use crate::assignment::{Assignment, Grant, RevokeReason};
use crate::audit::{Record, ResourceType, action};
use crate::clock::{Timestamp, shown};

/// A change of role assignments.
#[derive(Clone, Debug)]
pub enum AssignmentChange {
    /// Users get roles. Only the assignments are written.
    Create(Vec<Grant>),
    /// The expiry of an assignment changes.
    ChangeExpiry {
        /// The grant before the change.
        grant: Grant,
        /// The new expiry; `None` for no expiry.
        expires_at: Option<Timestamp>,
    },
    /// Assignments end, all for the same reason.
    Revoke {
        /// The grants that end.
        grants: Vec<Grant>,
        /// The reason; `None` if the only reason is a request to revoke the assignment.
        reason: Option<RevokeReason>,
    },
}

impl AssignmentChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Create(grants) => grants.iter().map(|grant| record(action::ROLE_ASSIGNED, grant)).collect(),
            Self::ChangeExpiry { grant, expires_at } => {
                let record = of(action::UPDATE, &grant.assignment);
                let (before, after) = (audited_expiry(grant.assignment.expires_at), audited_expiry(*expires_at));
                vec![record.changing(&before, &after).listing_changed_fields()]
            }
            Self::Revoke { grants, reason } => grants.iter().map(|grant| revoked(grant, *reason)).collect(),
        }
    }

    pub(crate) fn ended_versions(&self) -> impl Iterator<Item = &Grant> {
        match self {
            Self::Create(_) => &[],
            Self::ChangeExpiry { grant, .. } => slice::from_ref(grant),
            Self::Revoke { grants, .. } => grants.as_slice(),
        }
        .iter()
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Create(grants) => grants.iter().map(GrantedRights::of).collect(),
            Self::ChangeExpiry { grant, expires_at } => {
                let until = Until::from(*expires_at);
                let is_longer = until > grant.assignment.expires_at.into();
                let granted = is_longer.then(|| GrantedRights { until, ..GrantedRights::of(grant) });
                granted.into_iter().collect()
            }
            Self::Revoke { .. } => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create(grants) | Self::Revoke { grants, .. } => {
                grants.iter().map(|grant| grant.assignment.user_id.into()).collect()
            }
            Self::ChangeExpiry { grant, .. } => vec![grant.assignment.user_id.into()],
        }
    }
}

fn audited_expiry(expires_at: Option<Timestamp>) -> Value {
    json!({ "expiresAt": expires_at.map(shown) })
}

fn revoked(grant: &Grant, reason: Option<RevokeReason>) -> Record {
    let record = record(action::ROLE_REVOKED, grant);
    match reason {
        Some(reason) => record.with("reason", reason.as_str()),
        None => record,
    }
}

fn record(action: &'static str, Grant { assignment, role, .. }: &Grant) -> Record {
    of(action, assignment)
        .with("targetUserId", json!(assignment.user_id))
        .with("roleId", json!(assignment.role_id))
        .with("roleName", role.name.as_str())
        .with("organizationId", json!(assignment.organization_id))
}

fn of(action: &'static str, assignment: &Assignment) -> Record {
    Record::new(action, ResourceType::ROLE_ASSIGNMENT, assignment.id).in_organization(assignment.organization_id)
}
