use crate::access::{Authority, Decision, ResourceScope, VisibleScope};
use crate::assignment::Grant;
use crate::audit::ResourceType;
use crate::clock::Timestamp;
use crate::error::{Error, Forbidden, Result};
use crate::id::{OrganizationId, RoleId};
use crate::organization::Position;
use crate::permission::{Permission, USERS_READ};

/// The rights of a caller at a moment, as results that a service returns.
///
/// Only this type decides whether a refusal is "forbidden" (403) or "not found" (404). A caller that holds any role in
/// the resource scope of a resource may know that the resource exists (`docs/http-api.md#403-or-404`).
#[derive(Clone, Copy, Debug)]
pub struct Rights<'a> {
    pub(super) authority: &'a Authority,
    pub(super) now: Timestamp,
}

/// How much of a user must lie within the organizations in which the caller holds a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// The home or at least one role. This is enough to see the user.
    Part,
    /// The home and every role. This is needed for everything that is done to a person, and to see its sessions and
    /// API keys. Otherwise a caller that may add members to an organization could add any user of the tenant, and then
    /// change its e-mail, reset its password or delete it as a member.
    Whole,
}

/// The organizations of a user. They decide whether a permission that is held in organizations is for this user.
#[derive(Clone, Copy, Debug)]
pub struct Membership<'a> {
    /// Its home; `None` for the tenant.
    pub home: Option<Position<'a>>,
    /// Its role assignments.
    pub grants: &'a [Grant],
}

impl Membership<'_> {
    /// Whether this much of the user is in one of these organizations or below. Expired assignments do not count.
    fn is_within(self, organizations: &[OrganizationId], coverage: Coverage, now: Timestamp) -> bool {
        let is_home_within =
            self.home.is_some_and(|home| organizations.iter().any(|organization| home.is_within(*organization)));
        let mut live = self.grants.iter().filter(|grant| grant.assignment.is_live(now));
        match coverage {
            Coverage::Part => is_home_within || live.any(|grant| grant.is_within(organizations)),
            Coverage::Whole => is_home_within && live.all(|grant| grant.is_within(organizations)),
        }
    }
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

    /// Whether the caller holds the permission in a resource scope.
    #[must_use]
    pub fn holds(self, permission: &Permission, scope: ResourceScope<'_>) -> bool {
        self.authority.allows(permission, scope, self.now)
    }

    /// Whether the caller holds a role in a resource scope.
    #[must_use]
    pub fn holds_role(self, role: RoleId, scope: ResourceScope<'_>) -> bool {
        self.authority.holds_role(role, scope, self.now)
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

    /// Requires the permission in at least one resource scope. To be called before the target of a call is read. Whether
    /// the permission covers the target is checked afterwards.
    ///
    /// # Errors
    ///
    /// [`Forbidden::Permission`].
    pub fn require_anywhere(self, permission: &Permission) -> Result<()> {
        self.visible_scope(permission).map(|_| ())
    }

    /// Returns the visible scope of the permission. Fails if the caller holds the permission nowhere.
    ///
    /// # Errors
    ///
    /// [`Forbidden::Permission`].
    pub fn visible_scope(self, permission: &Permission) -> Result<VisibleScope> {
        self.authority.visible_scope(permission, self.now).ok_or_else(|| missing(permission))
    }

    /// Requires the permission for a user.
    ///
    /// A permission that is held tenant-wide applies to all users. A permission that is held in organizations applies
    /// to their members: the users who have their home or hold a role in one of them or below; see [`Coverage`].
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if the user is no member, [`Forbidden::Permission`] if the caller sees the user, but the
    /// user is not wholly a member.
    pub fn require_for_user(
        self,
        permission: &Permission,
        membership: Membership<'_>,
        coverage: Coverage,
    ) -> Result<()> {
        let scope = self.visible_scope(permission)?;
        if self.is_over(&scope, membership, coverage) {
            return Ok(());
        }
        let is_seen = |scope: &VisibleScope| self.is_over(scope, membership, Coverage::Part);
        let is_known = match coverage {
            Coverage::Part => false,
            Coverage::Whole => is_seen(&scope) || self.visible_scope(&USERS_READ).is_ok_and(|scope| is_seen(&scope)),
        };
        Err(if is_known { missing(permission) } else { Error::NotFound(ResourceType::USER) })
    }

    fn is_over(self, scope: &VisibleScope, membership: Membership<'_>, coverage: Coverage) -> bool {
        match scope {
            VisibleScope::Tenant => true,
            VisibleScope::Organizations(covered) => membership.is_within(covered, coverage, self.now),
        }
    }
}

fn missing(permission: &Permission) -> Error {
    Forbidden::Permission(permission.clone()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::testing::{TestTree, at, id};

    /// The places of a user: its home, and its roles with their ends.
    type Places<'a> = (Option<&'a str>, &'a [(Option<&'a str>, Option<i64>)]);

    fn answer(
        test_tree: &TestTree,
        held: &[(&str, Option<&str>)],
        places: Places<'_>,
        coverage: Coverage,
    ) -> &'static str {
        let held: Vec<_> = held.iter().map(|(pattern, place)| (*pattern, *place, None)).collect();
        let authority = test_tree.holding_all(&held);
        let grants: Vec<Grant> =
            places.1.iter().map(|(place, until)| test_tree.grant("roles:read", *place, until.map(at))).collect();
        let home = places.0.and_then(|home| test_tree.hierarchy.ancestry().position(id(home)));
        let rights = Rights::new(&authority, at(10));
        let needed = "users:update".parse().unwrap();
        match rights.require_for_user(&needed, Membership { home, grants: &grants }, coverage) {
            Ok(()) => "yes",
            Err(Error::Forbidden(_)) => "403",
            Err(Error::NotFound(_)) => "404",
            Err(error) => panic!("{error}"),
        }
    }

    /// `root` is above `branch`, and `branch` above `team`; `other` is another root.
    #[test]
    fn what_is_done_to_a_person_needs_its_home_and_all_its_roles() {
        let test_tree = TestTree::new();
        let in_branch = [("users:update", Some("branch"))];
        let (team, branch, other) = (Some("team"), Some("branch"), Some("other"));
        for (places, whole, part) in [
            ((None, [].as_slice()), "404", "404"),
            ((branch, &[]), "yes", "yes"),
            ((team, &[]), "yes", "yes"),
            ((Some("root"), &[]), "404", "404"),
            ((other, &[]), "404", "404"),
            ((None, &[(branch, None)]), "403", "yes"),
            ((None, &[(team, None), (branch, None)]), "403", "yes"),
            ((other, &[(team, None)]), "403", "yes"),
            ((team, &[(branch, None)]), "yes", "yes"),
            ((team, &[(branch, None), (other, None)]), "403", "yes"),
            ((team, &[(None, None)]), "403", "yes"),
            ((None, &[(None, None)]), "404", "404"),
            // Roles that have expired do not count.
            ((team, &[(None, Some(10))]), "yes", "yes"),
            ((None, &[(branch, Some(10))]), "404", "404"),
            ((None, &[(branch, Some(11))]), "403", "yes"),
        ] {
            assert_eq!(answer(&test_tree, &in_branch, places, Coverage::Whole), whole, "{places:?}");
            assert_eq!(answer(&test_tree, &in_branch, places, Coverage::Part), part, "{places:?}");
            let everywhere = [("users:update", None), ("users:update", Some("branch"))];
            assert_eq!(answer(&test_tree, &everywhere, places, Coverage::Whole), "yes", "{places:?}");
        }
        // Who sees the user by another permission may know that it exists.
        for (reads, expected) in [(None, "403"), (other, "403"), (Some("root"), "404")] {
            let held = [in_branch[0], ("users:read", reads)];
            assert_eq!(answer(&test_tree, &held, (other, &[]), Coverage::Whole), expected, "{reads:?}");
            assert_eq!(answer(&test_tree, &held, (other, &[]), Coverage::Part), "404", "{reads:?}");
        }
    }
}
