//! The roles for which users may ask because they hold others. Giving such another role gives these, too
//! (`docs/access-requests.md#who-gives-a-role-that-makes-eligible`).

use std::borrow::Cow;
use std::collections::HashMap;

use crate::access::{CoveredBy, EscalationCheck, GrantedRights, ResourceScope, Until};
use crate::assignment::OfferedRole;
use crate::clock::Timestamp;
use crate::error::{Result, Shortfall};
use crate::id::RoleId;

/// A role for which the holders of another role may ask.
#[derive(Clone, Debug)]
pub struct RoleForHolders {
    /// The role whose holders may ask, if they hold it in the place of the other one or above, and not by an access
    /// request.
    pub held: RoleId,
    /// The role for which they may ask, in its place, until the eligibility expires.
    pub offered: OfferedRole,
    /// For how many seconds at most they get it.
    pub max_seconds: u32,
}

impl RoleForHolders {
    /// The place of the role for which they may ask.
    fn scope(&self) -> ResourceScope<'_> {
        self.offered.organization.as_ref().map_or(ResourceScope::Tenant, ResourceScope::OfGrant)
    }

    /// When the eligibility expires.
    fn end(&self) -> Until {
        self.offered.expires_at.into()
    }

    /// Whether users may ask because a change gives them these rights.
    fn is_for(&self, granted: &GrantedRights<'_>) -> bool {
        granted.role == Some(self.held)
            && granted.scope.organization().is_none_or(|organization| self.scope().is_within(organization))
    }

    /// Until when they can have the role for which they may ask, if they hold the other one until a moment. What begins
    /// in the last moment goes on after it.
    fn until(&self, held_until: Until) -> Until {
        self.end().min(held_until.later_by(self.max_seconds))
    }

    /// What they can get, with this end.
    fn rights(&self, until: Until) -> GrantedRights<'_> {
        GrantedRights {
            permissions: Cow::Borrowed(&self.offered.role.permissions),
            scope: self.scope(),
            until,
            covered_by: CoveredBy::Standing,
            // By what they get so, they may ask for nothing else.
            role: None,
        }
    }
}

/// The roles for which users may ask because they hold others. A change that gives one of those others must be covered
/// like giving these.
#[derive(Clone, Debug, Default)]
pub struct RolesForHolders(Vec<RoleForHolders>);

impl FromIterator<RoleForHolders> for RolesForHolders {
    fn from_iter<T: IntoIterator<Item = RoleForHolders>>(roles: T) -> Self {
        Self(roles.into_iter().collect())
    }
}

impl RolesForHolders {
    /// The number of patterns in all these roles: how much a check of all of them reads at least.
    #[must_use]
    pub fn patterns(&self) -> usize {
        self.0.iter().map(|role| role.offered.role.permissions.iter().count()).sum()
    }

    /// Whether users may ask for the rights to change what protects the tenant because a change gives them these
    /// rights; see [`GrantedRights::change_protections`].
    #[must_use]
    pub fn change_protections(&self, granted: &GrantedRights<'_>, now: Timestamp) -> bool {
        let mut asked_for = self.0.iter().filter(|role| role.is_for(granted));
        asked_for.any(|role| role.rights(role.until(granted.until)).change_protections(now))
    }

    /// Returns the check of one giver.
    #[must_use]
    pub fn check(&self) -> HoldersCheck<'_> {
        HoldersCheck { roles: &self.0, held: HashMap::new() }
    }
}

/// Compares what users may ask for with the rights of one giver. Each role is compared once, however many users get the
/// role that makes them eligible.
#[derive(Debug)]
pub struct HoldersCheck<'a> {
    roles: &'a [RoleForHolders],
    /// Until when the giver holds each role, by its number; `None` if it does not.
    held: HashMap<usize, Option<Until>>,
}

impl HoldersCheck<'_> {
    /// Checks that a giver also holds what users may ask for because a change gives them these rights. `check` is the
    /// escalation check of the giver, always the same.
    ///
    /// # Errors
    ///
    /// The first permission that the giver lacks.
    pub fn check(&mut self, check: &mut EscalationCheck<'_>, granted: &GrantedRights<'_>) -> Result<(), Shortfall> {
        let roles = self.roles;
        for (number, role) in roles.iter().enumerate().filter(|(_, role)| role.is_for(granted)) {
            let needed = role.until(granted.until);
            if self.held_until(check, (number, role)) < Some(needed) {
                check.covers(&role.rights(needed))?;
            }
        }
        Ok(())
    }

    /// Returns until when at the latest a giver may give these rights, which it holds itself until `held_until`, so
    /// that it also holds what users may ask for because of them. `check` is as in [`check`](Self::check). The end of
    /// the rights does not count.
    ///
    /// # Errors
    ///
    /// The first permission that the giver does not hold, or for too short a time.
    pub fn covered_until(
        &mut self,
        check: &mut EscalationCheck<'_>,
        granted: &GrantedRights<'_>,
        held_until: Until,
    ) -> Result<Until, Shortfall> {
        let (roles, mut until) = (self.roles, held_until);
        for (number, role) in roles.iter().enumerate().filter(|(_, role)| role.is_for(granted)) {
            let held = self.held_until(check, (number, role));
            if held >= Some(role.end()) {
                continue;
            }
            let now = check.now();
            let latest = held.map(|held| held.earlier_by(role.max_seconds)).filter(|latest| latest.is_after(now));
            match latest {
                Some(latest) => until = until.min(latest),
                None => check.covers(&role.rights(role.end()))?,
            }
        }
        Ok(until)
    }

    /// Returns until when the giver holds all that a role permits, in its place; `None` if it does not.
    fn held_until(
        &mut self,
        check: &mut EscalationCheck<'_>,
        (number, role): (usize, &RoleForHolders),
    ) -> Option<Until> {
        let held = || check.holds_all_until(&role.offered.role.permissions, role.scope()).ok();
        *self.held.entry(number).or_insert_with(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::testing::{TestTree, at, id};
    use crate::access::{Authority, Rights};
    use crate::permission::PermissionSet;

    type Held<'a> = (&'a str, Option<&'a str>, Option<i64>);

    /// The holders of `held` may ask for a role with one permission, for ten seconds, in a place and until an end.
    fn for_holders(tree: &TestTree, (pattern, place, end): Held<'_>) -> RolesForHolders {
        let grant = tree.grant(pattern, place, end.map(at));
        let expires_at = grant.assignment.expires_at;
        let offered = OfferedRole { role: grant.role, organization: grant.organization, expires_at };
        [RoleForHolders { held: id("held"), offered, max_seconds: 10 }].into_iter().collect()
    }

    fn given<'a>(role: &str, scope: ResourceScope<'a>, until: Until) -> GrantedRights<'a> {
        GrantedRights {
            permissions: Cow::Owned(PermissionSet::default()),
            scope,
            until,
            covered_by: CoveredBy::Standing,
            role: Some(id(role)),
        }
    }

    fn moment(seconds: i64) -> Until {
        Until::Moment(at(seconds))
    }

    #[test]
    fn a_giver_covers_what_holders_there_and_above_may_ask_for() {
        let tree = TestTree::new();
        let nothing = Authority::of([]);
        let lacks = |(role, place): (&str, Option<&str>), asked_for: Option<&str>| {
            let roles = for_holders(&tree, ("users:read", asked_for, None));
            let scope = place.map_or(ResourceScope::Tenant, |place| tree.scope(place));
            let mut check = Rights::new(&nothing, at(0)).escalation_check();
            roles.check().check(&mut check, &given(role, scope, Until::Forever)).is_err()
        };
        for place in [None, Some("root"), Some("branch")] {
            assert!(lacks(("held", place), Some("branch")), "{place:?}");
            assert!(!lacks(("other", place), Some("branch")), "{place:?}");
        }
        for place in [Some("team"), Some("other")] {
            assert!(!lacks(("held", place), Some("branch")), "{place:?}");
        }
        assert!(lacks(("held", None), None) && !lacks(("held", Some("root")), None));
        let no_role = GrantedRights { role: None, ..given("held", ResourceScope::Tenant, Until::Forever) };
        let roles = for_holders(&tree, ("users:read", None, None));
        let mut check = Rights::new(&nothing, at(0)).escalation_check();
        assert_eq!(roles.check().check(&mut check, &no_role), Ok(()));
    }

    #[test]
    fn what_begins_in_the_last_moment_is_covered_to_its_end() {
        let tree = TestTree::new();
        let branch = tree.scope("branch");
        // Until when the role is given, when the eligibility expires, until when the giver must hold what it is for.
        for (until, end, needed) in [
            (Until::Forever, None, Until::Forever),
            (Until::Forever, Some(50), moment(50)),
            (moment(20), None, moment(30)),
            (moment(20), Some(30), moment(30)),
            (moment(20), Some(25), moment(25)),
            (moment(20), Some(15), moment(15)),
        ] {
            let roles = for_holders(&tree, ("users:read", Some("branch"), end));
            let allows = |held: Option<i64>| {
                let authority = tree.holding("users:*", Some("root"), held.map(at));
                let mut check = Rights::new(&authority, at(0)).escalation_check();
                roles.check().check(&mut check, &given("held", branch, until))
            };
            assert_eq!(allows(None), Ok(()), "{until:?} {end:?}");
            let Some(needed) = needed.moment().map(|moment| moment.timestamp()) else {
                assert!(allows(Some(1_000)).is_err(), "{until:?} {end:?}");
                continue;
            };
            assert_eq!(allows(Some(needed)), Ok(()), "{until:?} {end:?}");
            let shortfall = allows(Some(needed - 1)).unwrap_err();
            let ends = Shortfall::new("users:read".parse().unwrap(), Some(at(needed - 1)));
            assert_eq!(shortfall, ends, "{until:?} {end:?}");
        }
    }

    #[test]
    fn a_role_is_given_as_long_as_the_giver_covers_what_its_holders_may_ask_for() {
        let tree = TestTree::new();
        let lacks = |until: Option<i64>| Err(Shortfall::new("users:read".parse().unwrap(), until.map(at)));
        // Until when the giver holds what may be asked for, when the eligibility expires, until when it may give.
        for (held, end, expected) in [
            (Some(None), None, Ok(moment(100))),
            (Some(Some(200)), Some(200), Ok(moment(100))),
            (Some(Some(60)), Some(60), Ok(moment(100))),
            (Some(Some(60)), Some(61), Ok(moment(50))),
            (Some(Some(60)), None, Ok(moment(50))),
            (Some(Some(16)), None, Ok(moment(6))),
            (Some(Some(15)), None, lacks(Some(15))),
            (None, None, lacks(None)),
        ] {
            let roles = for_holders(&tree, ("users:read", Some("branch"), end));
            let authority = match held {
                Some(held) => tree.holding("users:*", Some("branch"), held.map(at)),
                None => Authority::of([]),
            };
            let mut check = Rights::new(&authority, at(5)).escalation_check();
            let given = given("held", tree.scope("root"), Until::Forever);
            let until = roles.check().covered_until(&mut check, &given, moment(100));
            assert_eq!(until, expected, "{held:?} {end:?}");
        }
    }

    #[test]
    fn each_role_is_compared_once_however_many_users_may_ask_for_it() {
        let tree = TestTree::new();
        let roles = for_holders(&tree, ("users:read", None, None));
        let authority = tree.holding("users:*", None, None);
        let mut check = Rights::new(&authority, at(0)).escalation_check();
        let mut of_holders = roles.check();
        let given = given("held", ResourceScope::Tenant, Until::Forever);
        of_holders.check(&mut check, &given).unwrap();
        let steps = check.steps();
        for _ in 0..500 {
            of_holders.check(&mut check, &given).unwrap();
        }
        assert_eq!((check.steps(), roles.patterns()), (steps, 1));
    }

    #[test]
    fn rights_to_change_what_protects_the_tenant_can_be_asked_for() {
        let tree = TestTree::new();
        let changes = |permission: &str, place: Option<&str>, role: &str| {
            let given = given(role, ResourceScope::Tenant, Until::Forever);
            for_holders(&tree, (permission, place, None)).change_protections(&given, at(0))
        };
        assert!(changes("tenants:update", None, "held"));
        assert!(!changes("users:read", None, "held") && !changes("tenants:update", None, "other"));
        assert!(!changes("tenants:update", Some("root"), "held"));
    }
}
