//! Role assignments: which user holds which role, where, until when (`interface.md` §2.2).

mod change;
mod service;
mod store;

pub use change::{AssignmentChange, RevokeReason};
pub use service::Assignments;
pub use store::{AssignmentStore, AssignmentTransaction};

use crate::clock::Timestamp;
use crate::id::{AssignmentId, OrganizationId, RoleId, TenantId, UserId};
use crate::organization::OrganizationSummary;
use crate::role::{Role, TENANT_ADMIN};

/// A user holds a role, tenant-wide or in one organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Names the assignment.
    pub id: AssignmentId,
    /// The tenant it belongs to.
    pub tenant_id: TenantId,
    /// Who holds the role.
    pub user_id: UserId,
    /// The role.
    pub role_id: RoleId,
    /// Where; `None` is tenant-wide.
    pub organization_id: Option<OrganizationId>,
    /// From this instant on it grants nothing; `None` is never.
    pub expires_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Who made it; `None` is trusted code.
    pub created_by: Option<UserId>,
}

impl Assignment {
    /// Whether it still grants something at this moment.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|expiry| now < expiry)
    }
}

/// An assignment together with what it grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The assignment.
    pub assignment: Assignment,
    /// Its role.
    pub role: Role,
    /// Its organization, when it is not tenant-wide.
    pub organization: Option<OrganizationSummary>,
}

impl Grant {
    /// Whether it makes its user an administrator of the tenant for good.
    #[must_use]
    pub fn is_lasting_administration(&self) -> bool {
        self.role.system
            && self.role.name == TENANT_ADMIN
            && self.assignment.organization_id.is_none()
            && self.assignment.expires_at.is_none()
    }
}
