use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::access::{CoveredBy, ResourceScope, Rights, Until};
use crate::assignment::{Grant, OfferedRole};
use crate::clock::Timestamp;
use crate::error::{Forbidden, Result, Shortfall};
use crate::id::{OrganizationId, RoleId};
use crate::permission::{self, PatternKind, PermissionPattern, PermissionSet};
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
    /// Which rights of the author can cover them.
    pub covered_by: CoveredBy,
    /// The role that is given, if it can lead to others: see [`LeadingRoles`](crate::access::LeadingRoles). `None` for
    /// what is held by an access request, and for what gives no role.
    pub role: Option<RoleId>,
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
        Self::tenant_wide(Cow::Owned(permissions), Until::Forever)
    }

    /// The rights that a grant gives to its user, who has it already.
    #[must_use]
    pub fn of(grant: &'a Grant) -> Self {
        if grant.role.id != grant.assignment.role_id {
            return Self::everything();
        }
        Self {
            permissions: Cow::Borrowed(&grant.role.permissions),
            scope: grant.scope(),
            until: grant.assignment.expires_at.into(),
            covered_by: CoveredBy::Standing,
            role: None,
        }
    }

    /// The rights that a new assignment gives to its user. One that ends with an elevation can be covered by it.
    #[must_use]
    pub fn of_new(grant: &'a Grant) -> Self {
        let covered_by = grant.assignment.access_request_id.map_or(CoveredBy::Standing, CoveredBy::Elevation);
        let role = Some(grant.role.id).filter(|_| grant.assignment.is_standing());
        Self { covered_by, role, ..Self::of(grant) }
    }

    /// The rights that an offered role would give to its user.
    #[must_use]
    pub fn of_offered(offered: &'a OfferedRole) -> Self {
        Self {
            permissions: Cow::Borrowed(&offered.role.permissions),
            scope: offered.organization.as_ref().map_or(ResourceScope::Tenant, ResourceScope::OfGrant),
            until: offered.expires_at.into(),
            covered_by: CoveredBy::Standing,
            role: Some(offered.role.id),
        }
    }

    /// The rights of the account of a user with these assignments, for a change that lets its author use the account.
    /// The roles in suspended organizations count, because these may be reactivated. `None` if the assignments were not
    /// read.
    pub(crate) fn of_account(grants: Option<&'a [Grant]>, now: Timestamp) -> Vec<Self> {
        let Some(grants) = grants else { return vec![Self::everything()] };
        grants.iter().filter(|grant| grant.assignment.is_live(now)).map(Self::of).collect()
    }

    /// Whether a user with these rights may change the protection of the whole tenant, at some moment after `now`: the
    /// policies of passwords and factors, the retention of the audit log, and its entries.
    ///
    /// That needs a recent authentication, and API keys may not do it (`docs/http-api.md#step-up`). A caller that gives
    /// such rights must have authenticated recently, too: it could give them to an account of its own, and do the rest
    /// there.
    #[must_use]
    pub fn change_protections(&self, now: Timestamp) -> bool {
        let guarded = [permission::TENANTS_UPDATE, permission::AUDIT_LOGS_UPDATE, permission::AUDIT_LOGS_DELETE];
        matches!(self.scope, ResourceScope::Tenant)
            && self.until > Until::Moment(now)
            && guarded.iter().any(|permission| self.permissions.allows(permission))
    }

    /// Permissions that a change gives tenant-wide.
    pub(crate) fn tenant_wide(permissions: Cow<'a, PermissionSet>, until: Until) -> Self {
        Self { permissions, scope: ResourceScope::Tenant, until, covered_by: CoveredBy::Standing, role: None }
    }

    /// The same rights, which elevations can cover too if they do not outlast the moment of the change.
    pub(crate) fn for_no_time_by_all(self, now: Timestamp) -> Self {
        let covered_by = if self.until > Until::Moment(now) { CoveredBy::Standing } else { CoveredBy::All };
        Self { covered_by, ..self }
    }
}

impl<'a> Rights<'a> {
    /// Does the escalation check for a change that gives these rights. The check passes if the caller holds each of
    /// them itself, in the same resource scope and for at least as long (`docs/http-api.md#granted-rights`).
    ///
    /// It compares sets of permissions, not ranks of roles. Only a wildcard covers a wildcard.
    ///
    /// # Errors
    ///
    /// [`Forbidden::Escalation`], which names the first permission that the caller lacks.
    pub fn check_escalation<'g>(self, granted: impl IntoIterator<Item = GrantedRights<'g>>) -> Result<()> {
        let mut check = self.escalation_check();
        granted.into_iter().try_for_each(|granted| check.check(&granted))
    }

    /// Returns the escalation check for many rights, one after the other.
    #[must_use]
    pub fn escalation_check(self) -> EscalationCheck<'a> {
        EscalationCheck { rights: self, by_organization: None, steps: 0 }
    }
}

/// The escalation check, which reads each role that the caller holds at most once in each organization, however many
/// rights are checked: a caller may hold a thousand roles of 500 permissions, and give 500 such roles at once.
#[derive(Debug)]
pub struct EscalationCheck<'a> {
    rights: Rights<'a>,
    /// The permissions of the caller in exactly this organization, or tenant-wide. `None` before the first check.
    by_organization: Option<HashMap<Option<OrganizationId>, HeldRoles<'a>>>,
    steps: usize,
}

#[derive(Debug, Default)]
struct HeldRoles<'a> {
    roles: Vec<(&'a PermissionSet, Until)>,
    /// The same by patterns. `None` before the first check there.
    ends: Option<PatternEnds<'a>>,
}

/// The latest ends of patterns in one organization, or tenant-wide.
#[derive(Debug, Default)]
struct PatternEnds<'a> {
    everything: Option<Until>,
    resources: HashMap<&'a str, Until>,
    exact: HashMap<&'a str, Until>,
}

impl<'a> PatternEnds<'a> {
    fn of(roles: &[(&'a PermissionSet, Until)]) -> Self {
        let mut ends = Self::default();
        for (permissions, until) in roles {
            for pattern in permissions.iter() {
                let end = match pattern.kind() {
                    PatternKind::Everything => ends.everything.get_or_insert(*until),
                    PatternKind::Resource(resource) => ends.resources.entry(resource).or_insert(*until),
                    PatternKind::Exact(text) => ends.exact.entry(text).or_insert(*until),
                };
                *end = (*end).max(*until);
            }
        }
        ends
    }

    /// The latest end of a pattern that covers another one.
    fn covering(&self, pattern: &PermissionPattern) -> Option<Until> {
        let (resource, exact) = match pattern.kind() {
            PatternKind::Everything => (None, None),
            PatternKind::Resource(resource) => (self.resources.get(resource), None),
            PatternKind::Exact(text) => {
                let resource = text.split_once(':').map(|(resource, _)| resource);
                (resource.and_then(|resource| self.resources.get(resource)), self.exact.get(text))
            }
        };
        self.everything.into_iter().chain(resource.copied()).chain(exact.copied()).max()
    }
}

/// The latest end of what covers a pattern in one of these places.
fn covering(ends: &[&PatternEnds<'_>], pattern: &PermissionPattern) -> Option<Until> {
    ends.iter().filter_map(|ends| ends.covering(pattern)).max()
}

impl<'a> EscalationCheck<'a> {
    /// Checks that the caller holds these rights itself.
    ///
    /// # Errors
    ///
    /// [`Forbidden::Escalation`], which names the first permission that the caller lacks.
    pub fn check(&mut self, granted: &GrantedRights<'_>) -> Result<()> {
        self.covers(granted).map_err(|shortfall| Forbidden::Escalation(shortfall).into())
    }

    /// Does the same as [`check`](Self::check), and returns only the first permission that the caller lacks.
    pub(super) fn covers(
        &mut self,
        GrantedRights { permissions, scope, until, .. }: &GrantedRights<'_>,
    ) -> Result<(), Shortfall> {
        let Some(ends) = self.ends_in(*scope) else { return Ok(()) };
        if ends.iter().any(|ends| ends.everything >= Some(*until)) {
            return Ok(());
        }
        let mut steps = 0;
        let checked = permissions.iter().try_for_each(|pattern| {
            steps += ends.len();
            match covering(&ends, pattern) {
                Some(held) if held >= *until => Ok(()),
                held => Err(Shortfall::new(pattern.clone(), held.and_then(Until::moment))),
            }
        });
        self.steps += steps;
        checked
    }

    /// Returns the latest time until which the caller holds all of these permissions in a resource scope.
    ///
    /// # Errors
    ///
    /// The first permission that the caller does not hold there.
    pub fn holds_all_until(
        &mut self,
        permissions: &PermissionSet,
        scope: ResourceScope<'_>,
    ) -> Result<Until, Shortfall> {
        let Some(ends) = self.ends_in(scope) else { return Ok(Until::Forever) };
        let mut steps = 0;
        let until = permissions.iter().try_fold(Until::Forever, |until, pattern| {
            steps += ends.len();
            let held = covering(&ends, pattern).ok_or_else(|| Shortfall::new(pattern.clone(), None))?;
            Ok(until.min(held))
        });
        self.steps += steps;
        until
    }

    /// The ends of what the caller holds in each organization of a resource scope, and tenant-wide. `None` for trusted
    /// code, which holds everything.
    fn ends_in(&mut self, scope: ResourceScope<'_>) -> Option<Vec<&PatternEnds<'a>>> {
        let roles = self.rights.authority.live_roles(self.rights.now)?;
        let by_organization = self.by_organization.get_or_insert_with(|| {
            let mut by_organization: HashMap<Option<OrganizationId>, HeldRoles<'a>> = HashMap::new();
            for (organization, permissions, until) in roles {
                by_organization.entry(organization).or_default().roles.push((permissions, until));
            }
            by_organization
        });
        let organizations: Vec<Option<OrganizationId>> = scope.lineage().map(Some).chain([None]).collect();
        for organization in &organizations {
            if let Some(HeldRoles { roles, ends: ends @ None }) = by_organization.get_mut(organization) {
                self.steps += roles.iter().map(|(permissions, _)| permissions.iter().count()).sum::<usize>();
                *ends = Some(PatternEnds::of(roles));
            }
        }
        let held: &HashMap<Option<OrganizationId>, HeldRoles<'a>> = by_organization;
        let roles = organizations.iter().filter_map(|organization| held.get(organization));
        Some(roles.filter_map(|roles| roles.ends.as_ref()).collect())
    }

    /// The moment of the check.
    pub(super) fn now(&self) -> Timestamp {
        self.rights.now
    }

    /// How many patterns the check has read so far. This is the measure of its time.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Authority;
    use crate::access::testing::{TestTree, at, id};
    use crate::error::Error;

    /// Does the escalation check for a caller with the rights `authority` that gives the permission `given`.
    fn gives(authority: Authority, given: &str, scope: ResourceScope<'_>, until: Until) -> Result<(), Shortfall> {
        let permissions: PermissionSet = [given.parse().unwrap()].into_iter().collect();
        let covered_by = CoveredBy::Standing;
        let granted = GrantedRights { permissions: Cow::Owned(permissions), scope, until, covered_by, role: None };
        match Rights::new(&authority, at(0)).check_escalation([granted]) {
            Ok(()) => Ok(()),
            Err(Error::Forbidden(Forbidden::Escalation(shortfall))) => Err(shortfall),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_caller_grants_no_more_than_it_holds() {
        let test_tree = TestTree::new();
        let in_branch = || test_tree.holding("users:*", Some("branch"), Some(at(10)));
        let (branch, team, root) = (test_tree.scope("branch"), test_tree.scope("team"), test_tree.scope("root"));
        let soon = Until::Moment(at(10));
        assert!(gives(in_branch(), "users:read", branch, soon).is_ok());
        assert!(gives(in_branch(), "users:*", team, soon).is_ok());
        for (given, scope, until) in [
            ("*", branch, soon),
            ("roles:read", branch, soon),
            ("users:read", root, soon),
            ("users:read", test_tree.scope("other"), soon),
            ("users:read", ResourceScope::Tenant, soon),
            ("users:read", branch, Until::Moment(at(11))),
            ("users:read", branch, Until::Forever),
        ] {
            assert!(gives(in_branch(), given, scope, until).is_err(), "{given} {until:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_missing_permission_and_its_end() {
        let test_tree = TestTree::new();
        let authority = test_tree.holding("users:read", None, Some(at(10)));
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
    fn rights_to_change_what_protects_the_tenant_are_those_that_are_held_tenant_wide_and_for_some_time() {
        let test_tree = TestTree::new();
        let change = |permission: &str, scope, until| {
            let permissions: PermissionSet = [permission.parse().unwrap()].into_iter().collect();
            let (permissions, covered_by) = (Cow::Owned(permissions), CoveredBy::Standing);
            GrantedRights { permissions, scope, until, covered_by, role: None }.change_protections(at(10))
        };
        for permission in ["*", "tenants:*", "tenants:update", "audit-logs:*", "audit-logs:update", "audit-logs:delete"]
        {
            assert!(change(permission, ResourceScope::Tenant, Until::Forever), "{permission}");
            assert!(change(permission, ResourceScope::Tenant, Until::Moment(at(11))), "{permission}");
            assert!(!change(permission, ResourceScope::Tenant, Until::Moment(at(10))), "{permission}");
            assert!(!change(permission, test_tree.scope("root"), Until::Forever), "{permission}");
        }
        for permission in ["tenants:read", "audit-logs:read", "users:*", "role-assignments:*"] {
            assert!(!change(permission, ResourceScope::Tenant, Until::Forever), "{permission}");
        }
    }

    #[test]
    fn many_checks_read_each_role_of_the_caller_once() {
        let test_tree = TestTree::new();
        let patterns =
            |roles: usize| -> Vec<String> { (0..roles * 20).map(|number| format!("orders:do-{number}")).collect() };
        let names = patterns(10);
        let held: Vec<(&str, Option<&str>, _)> = names.iter().map(|name| (name.as_str(), Some("root"), None)).collect();
        let authority = test_tree.holding_all(&held);
        let set: PermissionSet = names.iter().map(|name| name.parse().unwrap()).collect();
        let mut check = Rights::new(&authority, at(0)).escalation_check();
        let granted = |scope| GrantedRights {
            permissions: Cow::Borrowed(&set),
            scope,
            until: Until::Forever,
            covered_by: CoveredBy::Standing,
            role: None,
        };
        for _ in 0..500 {
            check.check(&granted(test_tree.scope("team"))).unwrap();
        }
        assert!(check.check(&granted(test_tree.scope("other"))).is_err());
        assert_eq!(check.steps(), names.len() + 500 * names.len());
    }

    #[test]
    fn all_permissions_are_held_until_the_first_of_them_ends() {
        let test_tree = TestTree::new();
        let authority = test_tree.holding_all(&[
            ("users:*", None, Some(at(20))),
            ("users:read", Some("branch"), None),
            ("roles:read", Some("root"), Some(at(10))),
            ("roles:read", Some("root"), Some(at(15))),
        ]);
        let mut check = Rights::new(&authority, at(0)).escalation_check();
        let mut until = |permissions: &[&str], scope| {
            let permissions: PermissionSet = permissions.iter().map(|text| text.parse().unwrap()).collect();
            check.holds_all_until(&permissions, scope).map_err(|shortfall| shortfall.permission.to_string())
        };
        let (tenant, team) = (ResourceScope::Tenant, test_tree.scope("team"));
        assert_eq!(until(&["users:read"], tenant), Ok(Until::Moment(at(20))));
        assert_eq!(until(&["users:read"], team), Ok(Until::Forever));
        assert_eq!(until(&["users:read", "users:*", "roles:read"], team), Ok(Until::Moment(at(15))));
        assert_eq!(until(&["roles:read", "users:read"], tenant), Err("roles:read".to_owned()));
        assert_eq!(until(&["*"], team), Err("*".to_owned()));
        assert_eq!(until(&[], tenant), Ok(Until::Forever));
        let trusted = Authority::everything();
        let everything = GrantedRights::everything();
        let held = Rights::new(&trusted, at(0)).escalation_check().holds_all_until(&everything.permissions, tenant);
        assert_eq!(held, Ok(Until::Forever));
        // What has ended is not held.
        let later = Rights::new(&authority, at(20)).escalation_check().holds_all_until(&everything.permissions, tenant);
        assert_eq!(later, Err(Shortfall::new(PermissionPattern::everything(), None)));
    }

    #[test]
    fn only_a_caller_that_holds_everything_grants_everything() {
        let test_tree = TestTree::new();
        let grants = |authority: &Authority| {
            Rights::new(authority, at(0)).check_escalation([GrantedRights::everything()]).is_ok()
        };
        assert!(grants(&Authority::everything()) && grants(&test_tree.holding("*", None, None)));
        assert!(
            !grants(&test_tree.holding("*", None, Some(at(10))))
                && !grants(&test_tree.holding("*", Some("root"), None))
        );
    }

    #[test]
    fn a_grant_gives_the_permissions_of_its_role_where_it_is_held() {
        let test_tree = TestTree::new();
        let covers = |organization: &str, grant: &Grant| {
            let authority = test_tree.holding("users:*", Some(organization), None);
            Rights::new(&authority, at(0)).check_escalation([GrantedRights::of(grant)]).is_ok()
        };
        let grant = test_tree.grant("users:read", Some("branch"), None);
        assert!(covers("branch", &grant) && covers("root", &grant));
        assert!(!covers("team", &grant) && !covers("other", &grant));
        // The caller needs tenant-wide rights if the grant does not say where its organization is, and everything if
        // it does not say which role it is.
        for unknown in [
            Grant { organization: None, ..grant.clone() },
            Grant { organization: test_tree.grant("*", Some("root"), None).organization, ..grant.clone() },
        ] {
            assert!(!covers("root", &unknown));
            let tenant_wide = test_tree.holding("users:read", None, None);
            let rights = Rights::new(&tenant_wide, at(0));
            assert!(rights.check_escalation([GrantedRights::of(&unknown)]).is_ok());
            let mut other = unknown.clone();
            other.assignment.role_id = id("other");
            assert!(rights.check_escalation([GrantedRights::of(&other)]).is_err());
        }
    }
}
