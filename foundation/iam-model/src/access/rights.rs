use crate::access::{Authority, Decision, ResourceScope, VisibleScope};
use crate::assignment::Grant;
use crate::audit::ResourceType;
use crate::clock::Timestamp;
use crate::error::{Error, Forbidden, Result};
use crate::permission::Permission;

/// The rights of a caller at a moment, as results that a service returns.
///
/// Only this type decides whether a refusal is "forbidden" (403) or "not found" (404). A caller that holds any role in
/// the resource scope of a resource may know that the resource exists (`decisions.md` §5).
#[derive(Clone, Copy)]
pub struct Rights<'a> {
    pub(super) authority: &'a Authority,
    pub(super) now: Timestamp,
}

/// How many of a user's roles must lie within the organizations in which the caller holds a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// At least one role. This is enough to see the user.
    Part,
    /// Every role. This is needed to change the user or to see its sessions. Otherwise a caller that may add members to
    /// an organization could add the tenant's administrator, and then change, suspend or delete it as a member.
    Whole,
}

impl<'a> Rights<'a> {
    /// Returns the rights of a caller with this authority.
    #[must_use]
    pub fn new(authority: &'a Authority, now: Timestamp) -> Self {
        Self { authority, now }
    }

    /// Decides whether the caller holds the permission in a resource scope, with the reason.
    #[must_use]
    pub fn explain(self, permission: &Permission, scope: ResourceScope<'_>) -> Decision {
        self.authority.explain(permission, scope, self.now)
    }

    /// Whether the caller holds any role in a resource scope, so that it may know that the scope exists.
    #[must_use]
    pub fn sees(self, scope: ResourceScope<'_>) -> bool {
        self.authority.sees(scope, self.now)
    }

    /// Requires the permission tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Forbidden::Permission`].
    pub fn require(self, permission: &Permission) -> Result<()> {
        if self.authority.allows(permission, ResourceScope::Tenant, self.now) {
            Ok(())
        } else {
            Err(missing(permission))
        }
    }

    /// Requires the permission in a resource scope. For a caller that holds nothing there, the error is that a resource
    /// of the type `hidden` is not found.
    ///
    /// # Errors
    ///
    /// [`Forbidden::Permission`], or [`Error::NotFound`] for a caller that may not know the resource.
    pub fn require_at(self, permission: &Permission, scope: ResourceScope<'_>, hidden: ResourceType) -> Result<()> {
        if self.authority.allows(permission, scope, self.now) {
            Ok(())
        } else if self.authority.sees(scope, self.now) {
            Err(missing(permission))
        } else {
            Err(Error::NotFound(hidden))
        }
    }

    /// Returns the visible scope of the permission. Fails if the caller holds the permission nowhere.
    ///
    /// # Errors
    ///
    /// [`Forbidden::Permission`].
    pub fn visible_scope(self, permission: &Permission) -> Result<VisibleScope> {
        self.authority.visible_scope(permission, self.now).ok_or_else(|| missing(permission))
    }

    /// Requires the permission for a user who has these assignments.
    ///
    /// A permission that is held tenant-wide applies to all users. A permission that is held in organizations applies
    /// to their members: the users who hold a role in one of them or below; see [`Coverage`].
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if the user is no member, [`Forbidden::Permission`] if it is one but not wholly.
    pub fn require_over(self, permission: &Permission, grants: &[Grant], coverage: Coverage) -> Result<()> {
        let VisibleScope::Organizations(covered) = self.visible_scope(permission)? else { return Ok(()) };
        let mut live = grants.iter().filter(|grant| grant.assignment.is_live(self.now)).peekable();
        let is_within = |grant: &Grant| grant.is_within(&covered);
        let (mut is_member, mut is_whole) = (false, live.peek().is_some());
        for grant in live {
            is_member |= is_within(grant);
            is_whole &= is_within(grant);
        }
        match coverage {
            _ if !is_member => Err(Error::NotFound(ResourceType::USER)),
            Coverage::Whole if !is_whole => Err(missing(permission)),
            Coverage::Part | Coverage::Whole => Ok(()),
        }
    }
}

fn missing(permission: &Permission) -> Error {
    Forbidden::Permission(permission.clone()).into()
}
