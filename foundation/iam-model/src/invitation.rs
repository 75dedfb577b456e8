//! Invitations: people are asked to become users, with the roles that they get (`docs/http-api.md#invitations`).

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::access::{Until, VisibleScope};
use crate::assignment::OfferedRole;
use crate::clock::{Timestamp, shown};
use crate::id::{InvitationId, OrganizationId, RoleId, TenantId, UserId};
use crate::validate::{Email, EmailKey, PersonName};

/// How long an invitation can be accepted after it was sent: 7 days.
pub const LIFETIME: TimeDelta = TimeDelta::days(7);

/// The maximum number of roles of an invitation.
pub const MAX_ROLES: usize = 50;

/// A person is asked to become a user of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    /// Identifies the invitation.
    pub id: InvitationId,
    /// The tenant.
    pub tenant_id: TenantId,
    /// The address of the person. At most one PENDING invitation of a tenant has it, compared without case.
    pub email: Email,
    /// A proposal for the given name.
    pub first_name: Option<PersonName>,
    /// A proposal for the family name.
    pub last_name: Option<PersonName>,
    /// The roles that the person gets.
    pub roles: Vec<InvitedRole>,
    /// The status of the invitation. PENDING also if it has expired; see [`status_at`](Self::status_at).
    pub status: InvitationStatus,
    /// The user who invites; `None` for trusted code.
    pub invited_by: Option<UserId>,
    /// When the invitation expires.
    pub expires_at: Timestamp,
    /// When the invitation was created.
    pub created_at: Timestamp,
}

/// A role of an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvitedRole {
    /// The role.
    pub role_id: RoleId,
    /// The organization; `None` for tenant-wide.
    pub organization_id: Option<OrganizationId>,
    /// The instant from which on the role grants nothing; `None` for no expiry.
    pub expires_at: Option<Timestamp>,
}

impl InvitedRole {
    /// Whether an offered role is this one.
    #[must_use]
    pub fn is(&self, offered: &OfferedRole) -> bool {
        let organization = offered.organization.as_ref().map(|organization| organization.id);
        (offered.role.id, organization, offered.expires_at) == (self.role_id, self.organization_id, self.expires_at)
    }
}

/// Returns the latest time until which an invitation with these roles offers one of `roles`; for stores that read an
/// invitation whole.
#[must_use]
pub fn offered_until(offered: &[InvitedRole], roles: &[RoleId]) -> Option<Until> {
    let offered = offered.iter().filter(|offered| roles.contains(&offered.role_id));
    offered.map(|offered| Until::from(offered.expires_at)).max()
}

/// The status of an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InvitationStatus {
    /// It can be accepted.
    Pending,
    /// The person is a user now.
    Accepted,
    /// It was deleted. Its record is kept.
    Revoked,
    /// It was not accepted in time.
    Expired,
}

text_enum! {
    InvitationStatus { Pending = "PENDING", Accepted = "ACCEPTED", Revoked = "REVOKED", Expired = "EXPIRED" }
}

impl Invitation {
    /// Returns the status of the invitation at a moment.
    #[must_use]
    pub fn status_at(&self, now: Timestamp) -> InvitationStatus {
        match self.status {
            InvitationStatus::Pending if self.expires_at <= now => InvitationStatus::Expired,
            status => status,
        }
    }

    /// Whether the invitation is in a visible scope: the scope is the whole tenant, or the invitation has at least one
    /// role, and all its roles are in an organization that `is_within` the scope.
    pub fn is_visible(&self, scope: &VisibleScope, is_within: impl Fn(OrganizationId) -> bool) -> bool {
        let is_role_within = |role: &InvitedRole| role.organization_id.is_some_and(&is_within);
        *scope == VisibleScope::Tenant || (!self.roles.is_empty() && self.roles.iter().all(is_role_within))
    }

    /// Returns the fields that the audit log records.
    pub(crate) fn audited(&self) -> Value {
        let role = |role: &InvitedRole| {
            json!({
                "roleId": role.role_id,
                "organizationId": role.organization_id,
                "expiresAt": role.expires_at.map(shown),
            })
        };
        json!({
            "email": self.email.as_str(),
            "firstName": self.first_name.as_ref().map(PersonName::as_str),
            "lastName": self.last_name.as_ref().map(PersonName::as_str),
            "roles": self.roles.iter().map(role).collect::<Vec<_>>(),
            "status": self.status.as_str(),
            "expiresAt": shown(self.expires_at),
        })
    }
}

/// Which invitations a list shows. Every field that is set must match.
#[derive(Clone, Debug, Default)]
pub struct InvitationFilter {
    /// Invitations with this status.
    pub status: Option<InvitationStatus>,
    /// Invitations of this address, compared without case.
    pub email: Option<EmailKey>,
}

impl InvitationFilter {
    /// Whether an invitation passes at a moment; for stores that filter in memory.
    #[must_use]
    pub fn matches(&self, invitation: &Invitation, now: Timestamp) -> bool {
        self.status.is_none_or(|status| status == invitation.status_at(now))
            && self.email.as_ref().is_none_or(|email| *email == invitation.email.key())
    }
}
