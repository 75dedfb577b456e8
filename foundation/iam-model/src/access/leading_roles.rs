//! The roles that lead to others: their holders may ask for these, or decide who gets them. Giving a role that leads to
//! another one gives that one, too (`docs/access-requests.md#who-gives-a-role-that-leads-to-another`).

use std::borrow::Cow;
use std::collections::HashMap;

use chrono::TimeDelta;

use crate::access::{CoveredBy, EscalationCheck, GrantedRights, ResourceScope, Until};
use crate::assignment::OfferedRole;
use crate::clock::Timestamp;
use crate::error::{Result, Shortfall};
use crate::id::RoleId;

/// A role whose holders may ask for another one, or decide about those who ask for it.
#[derive(Clone, Debug)]
pub struct LeadingRole {
    /// The role that leads to the other one, for those who hold it in the place of the other one or above, and not by
    /// an access request.
    pub role: RoleId,
    /// The role to which it leads, in its place, until the eligibility expires.
    pub offered: OfferedRole,
    /// For how long at most the other one goes on after the leading one has ended.
    pub goes_on: TimeDelta,
}

impl LeadingRole {
    /// The place of the role to which it leads.
    fn scope(&self) -> ResourceScope<'_> {
        self.offered.organization.as_ref().map_or(ResourceScope::Tenant, ResourceScope::OfGrant)
    }

    /// When the eligibility expires.
    fn end(&self) -> Until {
        self.offered.expires_at.into()
    }

    /// Whether it leads users to the other role who get these rights.
    fn leads(&self, granted: &GrantedRights<'_>) -> bool {
        granted.role == Some(self.role)
            && granted.scope.organization().is_none_or(|organization| self.scope().is_within(organization))
    }

    /// Until when the other role can be had, if the leading one is held until a moment.
    fn until(&self, held_until: Until) -> Until {
        self.end().min(held_until.later_by(self.goes_on))
    }

    /// The rights by the other role, with this end.
    fn rights(&self, until: Until) -> GrantedRights<'_> {
        GrantedRights {
            permissions: Cow::Borrowed(&self.offered.role.permissions),
            scope: self.scope(),
            until,
            covered_by: CoveredBy::Standing,
            // What is held by an access request leads to nothing else.
            role: None,
        }
    }
}

/// The roles that lead to others. A change that gives one of them must be covered like giving those others.
#[derive(Clone, Debug, Default)]
pub struct LeadingRoles(Vec<LeadingRole>);

impl FromIterator<LeadingRole> for LeadingRoles {
    fn from_iter<T: IntoIterator<Item = LeadingRole>>(roles: T) -> Self {
        Self(roles.into_iter().collect())
    }
}

impl LeadingRoles {
    /// The number of patterns in all roles to which they lead: how much a check of all of them reads at least.
    #[must_use]
    pub fn patterns(&self) -> usize {
        self.0.iter().map(|role| role.offered.role.permissions.iter().count()).sum()
    }

    /// Whether these rights lead users to the rights to change what protects the tenant; see
    /// [`GrantedRights::change_protections`].
    #[must_use]
    pub fn change_protections(&self, granted: &GrantedRights<'_>, now: Timestamp) -> bool {
        let mut leading = self.0.iter().filter(|role| role.leads(granted));
        leading.any(|role| role.rights(role.until(granted.until)).change_protections(now))
    }

    /// Returns the check of one giver.
    #[must_use]
    pub fn check(&self) -> LeadingRolesCheck<'_> {
        LeadingRolesCheck { roles: &self.0, held: HashMap::new() }
    }
}

/// Compares the roles to which others lead with the rights of one giver. Each role is compared once, however many users
/// get the one that leads to it.
#[derive(Debug)]
pub struct LeadingRolesCheck<'a> {
    roles: &'a [LeadingRole],
    /// Until when the giver holds the role to which each one leads, by its number; `None` if it does not.
    held: HashMap<usize, Option<Until>>,
}

impl LeadingRolesCheck<'_> {
    /// Checks that a giver also holds that to which these rights lead. `check` is the escalation check of the giver,
    /// always the same.
    ///
    /// # Errors
    ///
    /// The first permission that the giver lacks.
    pub fn check(&mut self, check: &mut EscalationCheck<'_>, granted: &GrantedRights<'_>) -> Result<(), Shortfall> {
        let roles = self.roles;
        for (number, role) in roles.iter().enumerate().filter(|(_, role)| role.leads(granted)) {
            let needed = role.until(granted.until);
            if self.held_until(check, (number, role)) < Some(needed) {
                check.covers(&role.rights(needed))?;
            }
        }
        Ok(())
    }

    /// Returns until when at the latest a giver may give these rights, which it holds itself until `held_until`, so
    /// that it also holds that to which they lead. `check` is as in [`check`](Self::check). The end of the rights does
    /// not count.
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
        for (number, role) in roles.iter().enumerate().filter(|(_, role)| role.leads(granted)) {
            let held = self.held_until(check, (number, role));
            if held >= Some(role.end()) {
                continue;
            }
            let now = check.now();
            let latest = held.map(|held| held.earlier_by(role.goes_on)).filter(|latest| latest.is_after(now));
            match latest {
                Some(latest) => until = until.min(latest),
                None => check.covers(&role.rights(role.end()))?,
            }
        }
        Ok(until)
    }

    /// Returns until when the giver holds all that the role permits to which one leads, in its place; `None` if it does
    /// not.
    fn held_until(&mut self, check: &mut EscalationCheck<'_>, (number, role): (usize, &LeadingRole)) -> Option<Until> {
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

    /// The role `leading` leads to a role with one permission, which goes on for ten seconds, in a place and until an
    /// end.
    fn leading(tree: &TestTree, (pattern, place, end): Held<'_>) -> LeadingRoles {
        let grant = tree.grant(pattern, place, end.map(at));
        let expires_at = grant.assignment.expires_at;
        let offered = OfferedRole { role: grant.role, organization: grant.organization, expires_at };
        [LeadingRole { role: id("leading"), offered, goes_on: TimeDelta::seconds(10) }].into_iter().collect()
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
    fn a_giver_covers_that_to_which_a_role_there_and_above_leads() {
        let tree = TestTree::new();
        let nothing = Authority::of([]);
        let lacks = |(role, place): (&str, Option<&str>), led_to: Option<&str>| {
            let roles = leading(&tree, ("users:read", led_to, None));
            let scope = place.map_or(ResourceScope::Tenant, |place| tree.scope(place));
            let mut check = Rights::new(&nothing, at(0)).escalation_check();
            roles.check().check(&mut check, &given(role, scope, Until::Forever)).is_err()
        };
        for place in [None, Some("root"), Some("branch")] {
            assert!(lacks(("leading", place), Some("branch")), "{place:?}");
            assert!(!lacks(("other", place), Some("branch")), "{place:?}");
        }
        for place in [Some("team"), Some("other")] {
            assert!(!lacks(("leading", place), Some("branch")), "{place:?}");
        }
        assert!(lacks(("leading", None), None) && !lacks(("leading", Some("root")), None));
        let no_role = GrantedRights { role: None, ..given("leading", ResourceScope::Tenant, Until::Forever) };
        let roles = leading(&tree, ("users:read", None, None));
        let mut check = Rights::new(&nothing, at(0)).escalation_check();
        assert_eq!(roles.check().check(&mut check, &no_role), Ok(()));
    }

    #[test]
    fn what_begins_in_the_last_moment_is_covered_to_its_end() {
        let tree = TestTree::new();
        let branch = tree.scope("branch");
        // Until when the role is given, when the eligibility expires, until when the giver must hold the other one.
        for (until, end, needed) in [
            (Until::Forever, None, Until::Forever),
            (Until::Forever, Some(50), moment(50)),
            (moment(20), None, moment(30)),
            (moment(20), Some(30), moment(30)),
            (moment(20), Some(25), moment(25)),
            (moment(20), Some(15), moment(15)),
        ] {
            let roles = leading(&tree, ("users:read", Some("branch"), end));
            let allows = |held: Option<i64>| {
                let authority = tree.holding("users:*", Some("root"), held.map(at));
                let mut check = Rights::new(&authority, at(0)).escalation_check();
                roles.check().check(&mut check, &given("leading", branch, until))
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
    fn a_role_is_given_as_long_as_the_giver_covers_that_to_which_it_leads() {
        let tree = TestTree::new();
        let lacks = |until: Option<i64>| Err(Shortfall::new("users:read".parse().unwrap(), until.map(at)));
        // Until when the giver holds the other one, when the eligibility expires, until when it may give.
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
            let roles = leading(&tree, ("users:read", Some("branch"), end));
            let authority = match held {
                Some(held) => tree.holding("users:*", Some("branch"), held.map(at)),
                None => Authority::of([]),
            };
            let mut check = Rights::new(&authority, at(5)).escalation_check();
            let given = given("leading", tree.scope("root"), Until::Forever);
            let until = roles.check().covered_until(&mut check, &given, moment(100));
            assert_eq!(until, expected, "{held:?} {end:?}");
        }
    }

    #[test]
    fn each_role_is_compared_once_however_many_users_are_led_to_it() {
        let tree = TestTree::new();
        let roles = leading(&tree, ("users:read", None, None));
        let authority = tree.holding("users:*", None, None);
        let mut check = Rights::new(&authority, at(0)).escalation_check();
        let mut of_leading = roles.check();
        let given = given("leading", ResourceScope::Tenant, Until::Forever);
        of_leading.check(&mut check, &given).unwrap();
        let steps = check.steps();
        for _ in 0..500 {
            of_leading.check(&mut check, &given).unwrap();
        }
        assert_eq!((check.steps(), roles.patterns()), (steps, 1));
    }

    #[test]
    fn a_role_leads_to_the_rights_to_change_what_protects_the_tenant() {
        let tree = TestTree::new();
        let changes = |permission: &str, place: Option<&str>, role: &str| {
            let given = given(role, ResourceScope::Tenant, Until::Forever);
            leading(&tree, (permission, place, None)).change_protections(&given, at(0))
        };
        assert!(changes("tenants:update", None, "leading"));
        assert!(!changes("users:read", None, "leading") && !changes("tenants:update", None, "other"));
        assert!(!changes("tenants:update", Some("root"), "leading"));
    }
}
