use std::borrow::Cow;
use std::sync::Arc;

use crate::access::{ResourceScope, Rights, Until};
use crate::assignment::{Grant, OfferedRole};
use crate::clock::Timestamp;
use crate::error::{Forbidden, Result, Shortfall};
use crate::id::OrganizationId;
use crate::permission::{PermissionPattern, PermissionSet};
use crate::role::Role;

/// Rights that a change would give to a user.
#[derive(Clone, Debug)]
pub struct GrantedRights<'a> {
    /// The permissions.
    pub permissions: Cow<'a, PermissionSet>,
    /// The resource scope, in the organization tree before the change.
    pub scope: ResourceScope<'a>,
    /// When the rights end.
    pub until: Until,
}

/// A role that at least one user holds in an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldRole {
    /// The role.
    pub role: Arc<Role>,
    /// The organization.
    pub organization: OrganizationId,
    /// The latest time until which a user holds it there.
    pub until: Until,
}

impl<'a> GrantedRights<'a> {
    /// All permissions, tenant-wide and without an end: more than any change gives. It stands for rights that a change
    /// does not know, so that a missing fact refuses the change to callers that do not hold everything.
    #[must_use]
    pub fn everything() -> Self {
        let permissions = [PermissionPattern::everything()].into_iter().collect();
        Self { permissions: Cow::Owned(permissions), scope: ResourceScope::Tenant, until: Until::Forever }
    }

    /// The rights that a grant gives to its user.
    #[must_use]
    pub fn of(grant: &'a Grant) -> Self {
        if grant.role.id != grant.assignment.role_id {
            return Self::everything();
        }
        Self {
            permissions: Cow::Borrowed(&grant.role.permissions),
            scope: grant.scope(),
            until: grant.assignment.expires_at.into(),
        }
    }

    /// The rights that an offered role would give to its user.
    #[must_use]
    pub fn of_offered(offered: &'a OfferedRole) -> Self {
        Self {
            permissions: Cow::Borrowed(&offered.role.permissions),
            scope: offered.organization.as_ref().map_or(ResourceScope::Tenant, ResourceScope::OfGrant),
            until: offered.expires_at.into(),
        }
    }

    /// The rights of the account of a user with these assignments, for a change that lets its author use the account.
    /// The roles in suspended organizations count, because these may be reactivated. `None` if the assignments were not
    /// read.
    pub(crate) fn of_account(grants: Option<&'a [Grant]>, now: Timestamp) -> Vec<Self> {
        let Some(grants) = grants else { return vec![Self::everything()] };
        grants.iter().filter(|grant| grant.assignment.is_live(now)).map(Self::of).collect()
    }

    /// Permissions that a change gives tenant-wide.
    pub(crate) fn tenant_wide(permissions: Cow<'a, PermissionSet>, until: Until) -> Self {
        Self { permissions, scope: ResourceScope::Tenant, until }
    }
}

impl Rights<'_> {
    /// Does the escalation check for a change that gives these rights. The check passes if the caller holds each of
    /// them itself, in the same resource scope and for at least as long (`decisions.md` §4).
    ///
    /// It compares sets of permissions, not ranks of roles. Only a wildcard covers a wildcard.
    ///
    /// # Errors
    ///
    /// [`Forbidden::Escalation`], which names the first permission that the caller lacks.
    pub fn check_escalation<'g>(self, granted: impl IntoIterator<Item = GrantedRights<'g>>) -> Result<()> {
        for GrantedRights { permissions, scope, until } in granted {
            for permission in permissions.iter() {
                let held = self.authority.holds_until(permission, scope, self.now);
                if held < Some(until) {
                    let held_until = match held {
                        Some(Until::Moment(moment)) => Some(moment),
                        Some(Until::Forever) | None => None,
                    };
                    return Err(Forbidden::Escalation(Shortfall::new(permission.clone(), held_until)).into());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Authority;
    use crate::access::testing::{Scene, at, id};
    use crate::error::Error;

    /// Does the escalation check for a caller with the rights `authority` that gives the permission `given`.
    fn gives(authority: Authority, given: &str, scope: ResourceScope<'_>, until: Until) -> Result<(), Shortfall> {
        let permissions: PermissionSet = [given.parse().unwrap()].into_iter().collect();
        let granted = GrantedRights { permissions: Cow::Owned(permissions), scope, until };
        match Rights::new(&authority, at(0)).check_escalation([granted]) {
            Ok(()) => Ok(()),
            Err(Error::Forbidden(Forbidden::Escalation(shortfall))) => Err(shortfall),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_caller_grants_no_more_than_it_holds() {
        let scene = Scene::new();
        let in_branch = || scene.holding("users:*", Some("branch"), Some(at(10)));
        let (branch, team, root) = (scene.scope("branch"), scene.scope("team"), scene.scope("root"));
        let soon = Until::Moment(at(10));
        assert!(gives(in_branch(), "users:read", branch, soon).is_ok());
        assert!(gives(in_branch(), "users:*", team, soon).is_ok());
        for (given, scope, until) in [
            ("*", branch, soon),
            ("roles:read", branch, soon),
            ("users:read", root, soon),
            ("users:read", scene.scope("other"), soon),
            ("users:read", ResourceScope::Tenant, soon),
            ("users:read", branch, Until::Moment(at(11))),
            ("users:read", branch, Until::Forever),
        ] {
            assert!(gives(in_branch(), given, scope, until).is_err(), "{given} {until:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_missing_permission_and_its_end() {
        let scene = Scene::new();
        let authority = scene.holding("users:read", None, Some(at(10)));
        let refused = gives(authority, "users:read", ResourceScope::Tenant, Until::Forever).unwrap_err();
        assert_eq!(refused.to_string(), "you hold users:read there until 1970-01-01T00:00:10.000Z only");
        let refused = gives(Authority::of([]), "users:*", ResourceScope::Tenant, Until::Moment(at(1))).unwrap_err();
        assert_eq!(refused.to_string(), "you do not hold users:* there");
    }

    #[test]
    fn a_change_without_granted_rights_passes_the_check() {
        let authority = Authority::of([]);
        let rights = Rights::new(&authority, at(0));
        assert!(rights.check_escalation([]).is_ok());
        let nothing = GrantedRights::tenant_wide(Cow::Owned(PermissionSet::default()), Until::Forever);
        assert!(rights.check_escalation([nothing]).is_ok());
    }

    #[test]
    fn only_a_caller_that_holds_everything_grants_everything() {
        let scene = Scene::new();
        let grants = |authority: &Authority| {
            Rights::new(authority, at(0)).check_escalation([GrantedRights::everything()]).is_ok()
        };
        assert!(grants(&Authority::everything()) && grants(&scene.holding("*", None, None)));
        assert!(!grants(&scene.holding("*", None, Some(at(10)))) && !grants(&scene.holding("*", Some("root"), None)));
    }

    #[test]
    fn a_grant_gives_the_permissions_of_its_role_where_it_is_held() {
        let scene = Scene::new();
        let covers = |organization: &str, grant: &Grant| {
            let authority = scene.holding("users:*", Some(organization), None);
            Rights::new(&authority, at(0)).check_escalation([GrantedRights::of(grant)]).is_ok()
        };
        let grant = scene.grant("users:read", Some("branch"), None);
        assert!(covers("branch", &grant) && covers("root", &grant));
        assert!(!covers("team", &grant) && !covers("other", &grant));
        // The caller needs tenant-wide rights if the grant does not say where its organization is, and everything if
        // it does not say which role it is.
        for unknown in [
            Grant { organization: None, ..grant.clone() },
            Grant { organization: scene.grant("*", Some("root"), None).organization, ..grant.clone() },
        ] {
            assert!(!covers("root", &unknown));
            let tenant_wide = scene.holding("users:read", None, None);
            let rights = Rights::new(&tenant_wide, at(0));
            assert!(rights.check_escalation([GrantedRights::of(&unknown)]).is_ok());
            let mut other = unknown.clone();
            other.assignment.role_id = id("other");
            assert!(rights.check_escalation([GrantedRights::of(&other)]).is_err());
        }
    }
}
