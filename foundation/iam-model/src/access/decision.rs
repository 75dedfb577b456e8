use std::fmt;

use crate::clock::Timestamp;
use crate::id::{AccessRequestId, AssignmentId, DirectoryGroupId, OrganizationId, RoleId, UserId};
use crate::user::UserStatus;
use crate::validate::RoleName;

/// Whether a user may do something, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// The assignments that grant the permission. Each of them is enough by itself; without all of them the permission
    /// would be denied. Trusted code needs none.
    pub grants: Vec<DecidingGrant>,
    /// Whether more than [`MAX_GRANTS`](Self::MAX_GRANTS) assignments grant the permission, so that some are not named.
    pub truncated: bool,
    /// The reason of the denial; `None` if the permission is allowed.
    pub denial: Option<Denial>,
}

impl Decision {
    /// How many deciding grants a decision names at most. A call may ask for a hundred decisions about users with a
    /// thousand assignments each.
    pub const MAX_GRANTS: usize = 50;

    /// The permission is allowed by these grants.
    pub(super) fn allowed(grants: impl IntoIterator<Item = DecidingGrant>) -> Self {
        let mut grants = grants.into_iter();
        let named = grants.by_ref().take(Self::MAX_GRANTS).collect();
        Self { grants: named, truncated: grants.next().is_some(), denial: None }
    }

    /// The permission is denied.
    pub fn denied(denial: Denial) -> Self {
        Self { grants: Vec::new(), truncated: false, denial: Some(denial) }
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
                f.write_str(if self.truncated { " and more." } else { "." })
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
    /// The user who made the assignment; `None` for trusted code.
    pub granted_by: Option<UserId>,
    /// The group of a directory that gives the role; `None` if the assignment was made by other means.
    pub directory_group: Option<DirectoryGroupId>,
    /// The access request by which the role is held, or was given; `None` for a standing assignment.
    pub access_request: Option<AccessRequestId>,
    /// When the assignment was made.
    pub granted_at: Timestamp,
    /// The instant from which on the assignment grants nothing; `None` for no expiry.
    pub expires_at: Option<Timestamp>,
}

impl DecidingGrant {
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
    /// The question is about an earlier moment, at which the user or the organization did not exist.
    #[error("The user or the organization did not exist at that moment.")]
    DidNotExist,
    /// A question of AuthZEN is about a user, a permission or an organization that does not exist for the caller.
    #[error("The subject, the action or the resource is unknown.")]
    Unknown,
    /// No role of the user has the permission.
    #[error("No role of the user includes this permission.")]
    NotHeld,
}
