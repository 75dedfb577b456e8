use std::fmt;

use crate::access::ResourceScope;
use crate::id::{AssignmentId, OrganizationId, RoleId};
use crate::role::Role;
use crate::user::UserStatus;
use crate::validate::RoleName;

/// Whether a user may do something, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// The assignments that grant the permission. Each of them is enough by itself; without all of them the permission
    /// would be denied. Trusted code needs none.
    pub grants: Vec<DecidingGrant>,
    /// The reason of the denial; `None` if the permission is allowed.
    pub denial: Option<Denial>,
}

impl Decision {
    /// The permission is allowed by these grants.
    pub(super) fn allowed(grants: Vec<DecidingGrant>) -> Self {
        Self { grants, denial: None }
    }

    /// The permission is denied.
    pub(super) fn denied(denial: Denial) -> Self {
        Self { grants: Vec::new(), denial: Some(denial) }
    }

    /// The same decision without facts from outside the resource scope of the question.
    #[must_use]
    pub fn without_outside_facts(self) -> Self {
        match self.denial {
            Some(Denial::HeldElsewhere | Denial::UserNotActive(_)) => Self::denied(Denial::NotHeld),
            _ => self,
        }
    }

    /// Whether the permission is allowed.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.denial.is_none()
    }
}

/// The reason in words.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.denial, self.grants.as_slice()) {
            (Some(denial), _) => denial.fmt(f),
            (None, []) => f.write_str("Trusted code may do everything."),
            (None, grants) => {
                f.write_str("Granted by ")?;
                for (number, grant) in grants.iter().enumerate() {
                    let separator = if number == 0 { "" } else { ", " };
                    write!(f, "{separator}{} {}", grant.role_name, grant.origin())?;
                }
                f.write_str(".")
            }
        }
    }
}

/// An assignment that grants the permission of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecidingGrant {
    /// The assignment.
    pub assignment: AssignmentId,
    /// Its role.
    pub role: RoleId,
    /// The role's name.
    pub role_name: RoleName,
    /// The organization in which the role is held; `None` for tenant-wide.
    pub organization: Option<OrganizationId>,
    /// The same organization, if it is above the organization of the question.
    pub inherited_from: Option<OrganizationId>,
}

impl DecidingGrant {
    pub(super) fn new(
        assignment: AssignmentId,
        role: &Role,
        organization: Option<OrganizationId>,
        scope: ResourceScope<'_>,
    ) -> Self {
        Self {
            assignment,
            role: role.id,
            role_name: role.name.clone(),
            organization,
            inherited_from: organization.filter(|_| organization != scope.organization()),
        }
    }

    fn origin(&self) -> &'static str {
        match (self.organization, self.inherited_from) {
            (None, _) => "(tenant-wide)",
            (Some(_), None) => "(in this organization)",
            (Some(_), Some(_)) => "(inherited from an organization above)",
        }
    }
}

/// The reason why a permission is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Denial {
    /// The user cannot log in, and may do nothing.
    #[error("The user is {0} and may do nothing.")]
    UserNotActive(UserStatus),
    /// A role with the permission was held here and has expired.
    #[error("The role assignment that granted this permission has expired.")]
    Expired,
    /// A role with the permission is held here, in an organization that is suspended or below a suspended one.
    #[error("The role assignment that would grant this permission is in an organization that is not active.")]
    OrganizationNotActive,
    /// The permission is held only in other resource scopes.
    #[error("This permission is held in other places only.")]
    HeldElsewhere,
    /// No role of the user has the permission.
    #[error("No role of the user includes this permission.")]
    NotHeld,
}
