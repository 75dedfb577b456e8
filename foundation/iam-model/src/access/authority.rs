use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::access::{CoveredBy, DecidingGrant, Decision, Denial, ResourceScope, Until, VisibleScope};
use crate::assignment::Grant;
use crate::clock::Timestamp;
use crate::id::{AccessRequestId, AssignmentId, DirectoryGroupId, OrganizationId, RoleId, UserId};
use crate::permission::{Permission, PermissionPattern, PermissionSet};
use crate::role::Role;

/// The rights of a user: permissions, with their resource scopes and ends.
///
/// It contains everything about a user that a decision needs, in one piece of memory. Nothing is computed in advance
/// for a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// The rights of trusted code.
    Everything,
    /// The roles of a user.
    Held(Box<[Held]>),
}

/// An assignment that counts in a resource scope.
#[derive(Clone, Copy, Debug)]
pub struct CountingGrant<'a> {
    /// The assignment.
    pub assignment: AssignmentId,
    /// Its role.
    pub role: &'a Arc<Role>,
    /// When it ends.
    pub until: Until,
}

/// A role that is held in a resource scope.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    organization: Option<OrganizationId>,
    until: Until,
    /// Whether the organization and all its ancestors are ACTIVE. True for a role that is held tenant-wide.
    is_lineage_active: bool,
    role: Arc<Role>,
    assignment: AssignmentId,
    granted_by: Option<UserId>,
    directory_group: Option<DirectoryGroupId>,
    access_request: Option<AccessRequestId>,
    granted_at: Timestamp,
}

impl Held {
    fn is_live(&self, now: Timestamp) -> bool {
        self.is_lineage_active && self.until.is_after(now)
    }

    fn covers(&self, scope: ResourceScope<'_>) -> bool {
        self.organization.is_none_or(|organization| scope.is_within(organization))
    }

    fn deciding_in(&self, scope: ResourceScope<'_>) -> DecidingGrant {
        DecidingGrant {
            assignment: self.assignment,
            role: self.role.id,
            role_name: self.role.name.clone(),
            organization: self.organization,
            inherited_from: self.organization.filter(|_| self.organization != scope.organization()),
            granted_by: self.granted_by,
            directory_group: self.directory_group,
            access_request: self.access_request,
            granted_at: self.granted_at,
            expires_at: self.until.moment(),
        }
    }
}

impl Authority {
    /// All permissions, in all resource scopes, without an end: for trusted code.
    pub const fn everything() -> Self {
        Self(Kind::Everything)
    }

    /// Whether these are the rights of trusted code.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        self.held().is_none()
    }

    /// The rights that these assignments of one user give.
    pub fn of<'a>(grants: impl IntoIterator<Item = &'a Grant>) -> Self {
        let held = |grant: &Grant| Held {
            organization: grant.assignment.organization_id,
            until: grant.assignment.expires_at.into(),
            is_lineage_active: grant.is_lineage_active(),
            role: Arc::clone(&grant.role),
            assignment: grant.assignment.id,
            granted_by: grant.assignment.created_by,
            directory_group: grant.assignment.directory_group_id,
            access_request: grant.assignment.access_request_id,
            granted_at: grant.assignment.created_at,
        };
        Self(Kind::Held(grants.into_iter().map(held).collect()))
    }

    /// The rights without those that are held by access requests
    /// (`docs/access-requests.md#what-an-elevation-does-not-count-for`).
    #[must_use]
    pub fn standing(&self) -> Cow<'_, Self> {
        self.covering(CoveredBy::Standing)
    }

    /// The rights that cover what a change gives.
    #[must_use]
    pub fn covering(&self, covered_by: CoveredBy) -> Cow<'_, Self> {
        let counts = |held: &Held| match (held.access_request, covered_by) {
            (None, _) | (Some(_), CoveredBy::All) => true,
            (Some(_), CoveredBy::Standing) => false,
            (Some(request), CoveredBy::Elevation(elevation)) => request == elevation,
        };
        match self.held() {
            Some(held) if !held.iter().all(counts) => {
                Cow::Owned(Self(Kind::Held(held.iter().filter(|held| counts(held)).cloned().collect())))
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// The access requests by which rights are held at a moment, each with the latest end of these rights.
    #[must_use]
    pub fn elevations(&self, now: Timestamp) -> BTreeMap<AccessRequestId, Until> {
        let mut elevations = BTreeMap::new();
        for held in self.held().unwrap_or_default().iter().filter(|held| held.is_live(now)) {
            if let Some(request) = held.access_request {
                let until = elevations.entry(request).or_insert(held.until);
                *until = held.until.max(*until);
            }
        }
        elevations
    }

    /// Whether a role is held in a resource scope at a moment. Trusted code holds none.
    #[must_use]
    pub fn holds_role(&self, role: RoleId, scope: ResourceScope<'_>, now: Timestamp) -> bool {
        self.counting(scope, now).any(|grant| grant.role.id == role)
    }

    /// Returns where a role is held at a moment: in these organizations and below, or, for `None`, everywhere.
    pub fn places_of(&self, now: Timestamp) -> impl Iterator<Item = (&Arc<Role>, Option<OrganizationId>)> {
        let live = self.held().unwrap_or_default().iter().filter(move |held| held.is_live(now));
        live.map(|held| (&held.role, held.organization))
    }

    /// The approximate size in bytes. It includes the roles, even if other values share them.
    pub fn size(&self) -> usize {
        let held = self.held().unwrap_or_default();
        let mut roles: Vec<&Arc<Role>> = held.iter().map(|held| &held.role).collect();
        roles.sort_unstable_by_key(|role| Arc::as_ptr(role));
        roles.dedup_by(|one, other| Arc::ptr_eq(one, other));
        size_of::<Self>() + size_of_val(held) + roles.into_iter().map(|role| role.size()).sum::<usize>()
    }

    /// The number of patterns in all roles of the user: how much a check of all of them reads at most.
    #[must_use]
    pub fn patterns(&self) -> usize {
        let held = self.held().unwrap_or_default();
        held.iter().map(|held| held.role.permissions.iter().count()).sum()
    }

    /// Whether the permission is held in a resource scope at a moment.
    #[must_use]
    pub fn allows(&self, permission: &Permission, scope: ResourceScope<'_>, now: Timestamp) -> bool {
        let allows = |held: &Held| held.covers(scope) && held.is_live(now) && held.role.permissions.allows(permission);
        self.held().is_none_or(|held| held.iter().any(allows))
    }

    /// Whether a role that names the permission itself, and not only by a wildcard, is held in a resource scope at a
    /// moment. Such a permission is registered: it cannot be deleted while a role names it.
    pub fn names(&self, permission: &Permission, scope: ResourceScope<'_>, now: Timestamp) -> bool {
        self.counting(scope, now).any(|grant| grant.role.permissions.names(permission))
    }

    /// The assignments that count in a resource scope at a moment. Each permission of their roles is held there until
    /// then. Trusted code has none.
    pub fn counting(&self, scope: ResourceScope<'_>, now: Timestamp) -> impl Iterator<Item = CountingGrant<'_>> {
        let counts = move |held: &&Held| held.covers(scope) && held.is_live(now);
        self.held().unwrap_or_default().iter().filter(counts).map(|held| CountingGrant {
            assignment: held.assignment,
            role: &held.role,
            until: held.until,
        })
    }

    /// The same assignments, as a decision names them.
    pub fn counting_grants(&self, scope: ResourceScope<'_>, now: Timestamp) -> impl Iterator<Item = DecidingGrant> {
        let counts = move |held: &&Held| held.covers(scope) && held.is_live(now);
        self.held().unwrap_or_default().iter().filter(counts).map(move |held| held.deciding_in(scope))
    }

    /// Whether any role is held in a resource scope at a moment. The holder may then know that the scope exists, even
    /// while the role grants nothing because an organization is not ACTIVE.
    #[must_use]
    pub fn sees(&self, scope: ResourceScope<'_>, now: Timestamp) -> bool {
        self.held().is_none_or(|held| held.iter().any(|held| held.covers(scope) && held.until.is_after(now)))
    }

    /// Returns the visible scope of a permission; `None` if it is held nowhere.
    #[must_use]
    pub fn visible_scope(&self, permission: &Permission, now: Timestamp) -> Option<VisibleScope> {
        let Some(held) = self.held() else { return Some(VisibleScope::Tenant) };
        let mut organizations = Vec::new();
        for held in held.iter().filter(|held| held.is_live(now) && held.role.permissions.allows(permission)) {
            match held.organization {
                None => return Some(VisibleScope::Tenant),
                Some(organization) => organizations.push(organization),
            }
        }
        organizations.sort_unstable();
        organizations.dedup();
        (!organizations.is_empty()).then_some(VisibleScope::Organizations(organizations))
    }

    /// Returns the time until which everything that a pattern covers is held in a resource scope; `None` if it is not
    /// held there.
    ///
    /// It is the latest end of the single roles that cover the whole pattern. Roles that cover it only together do not
    /// count: they cannot cover the future actions of a wildcard.
    pub fn holds_until(&self, pattern: &PermissionPattern, scope: ResourceScope<'_>, now: Timestamp) -> Option<Until> {
        let Some(held) = self.held() else { return Some(Until::Forever) };
        let covers = |held: &&Held| held.covers(scope) && held.is_live(now) && held.role.permissions.covers(pattern);
        held.iter().filter(covers).map(|held| held.until).max()
    }

    /// The roles that count at a moment, each with the organization in which it is held and its end; `None` for trusted
    /// code, which holds everything.
    pub(super) fn live_roles(
        &self,
        now: Timestamp,
    ) -> Option<impl Iterator<Item = (Option<OrganizationId>, &PermissionSet, Until)>> {
        let live = self.held()?.iter().filter(move |held| held.is_live(now));
        Some(live.map(|held| (held.organization, &held.role.permissions, held.until)))
    }

    /// Decides whether the permission is held in a resource scope, and names the deciding grants or the reason of the
    /// denial.
    #[must_use]
    pub fn explain(&self, permission: &Permission, scope: ResourceScope<'_>, now: Timestamp) -> Decision {
        let Some(held) = self.held() else { return Decision::allowed(Vec::new()) };
        let with_permission: Vec<&Held> = held.iter().filter(|held| held.role.permissions.allows(permission)).collect();
        let here = || with_permission.iter().filter(|held| held.covers(scope));
        let mut deciding = here().filter(|held| held.is_live(now)).map(|held| held.deciding_in(scope)).peekable();
        if deciding.peek().is_some() {
            return Decision::allowed(deciding);
        }
        Decision::denied(if here().any(|held| !held.until.is_after(now)) {
            Denial::Expired
        } else if here().any(|held| !held.is_lineage_active) {
            Denial::OrganizationNotActive
        } else if with_permission.iter().any(|held| held.until.is_after(now)) {
            Denial::HeldElsewhere
        } else {
            Denial::NotHeld
        })
    }

    /// The roles of the user; `None` for trusted code.
    fn held(&self) -> Option<&[Held]> {
        match &self.0 {
            Kind::Everything => None,
            Kind::Held(held) => Some(held),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::testing::{TestTree, at, id};
    use crate::permission;

    #[test]
    fn a_role_counts_where_it_is_held_and_below() {
        let test_tree = TestTree::new();
        let authority = test_tree.holding("users:read", Some("branch"), None);
        let allows = |scope| authority.allows(&permission::USERS_READ, scope, at(0));
        assert!(allows(test_tree.scope("branch")) && allows(test_tree.scope("team")));
        assert!(
            !allows(test_tree.scope("root")) && !allows(test_tree.scope("other")) && !allows(ResourceScope::Tenant)
        );
        let everywhere = test_tree.holding("users:read", None, None);
        assert!(everywhere.allows(&permission::USERS_READ, test_tree.scope("team"), at(0)));
        assert!(everywhere.allows(&permission::USERS_READ, ResourceScope::Tenant, at(0)));
    }

    #[test]
    fn the_counting_grants_of_an_organization_are_its_own_and_those_from_above() {
        let test_tree = TestTree::new();
        let held = [
            (None, None),
            (Some("root"), Some(at(10))),
            (Some("branch"), Some(at(5))),
            (Some("team"), None),
            (Some("other"), None),
            (Some("asleep"), None),
        ];
        let grants = held.map(|(place, until)| test_tree.grant("users:read", place, until));
        let authority = Authority::of(&grants);
        let counting = authority.counting_grants(test_tree.scope("team"), at(5));
        let counting: Vec<_> =
            counting.map(|grant| (grant.organization, grant.inherited_from, grant.expires_at)).collect();
        let [root, team]: [Option<OrganizationId>; 2] = ["root", "team"].map(|place| Some(id(place)));
        assert_eq!(counting, [(None, None, None), (root, root, Some(at(10))), (team, None, None)]);
    }

    #[test]
    fn a_wildcard_names_no_permission() {
        let test_tree = TestTree::new();
        for (pattern, place, expected) in [
            ("users:read", None, true),
            ("users:read", Some("root"), true),
            ("users:read", Some("other"), false),
            ("users:*", None, false),
            ("*", None, false),
        ] {
            let authority = test_tree.holding(pattern, place, None);
            let names = authority.names(&permission::USERS_READ, test_tree.scope("team"), at(0));
            assert_eq!(names, expected, "{pattern} {place:?}");
        }
    }

    #[test]
    fn a_role_of_several_assignments_counts_once_in_the_size() {
        let grant = TestTree::new().grant("users:read", None, None);
        let size = |grants: &[Grant]| Authority::of(grants).size();
        let (none, one) = (size(&[]), size(std::slice::from_ref(&grant)));
        assert_eq!(one, none + size_of::<Held>() + grant.role.size());
        assert_eq!(size(&vec![grant; 3]), one + 2 * size_of::<Held>());
    }

    #[test]
    fn a_role_counts_until_the_instant_of_its_expiry() {
        let test_tree = TestTree::new();
        let authority = test_tree.holding("users:read", None, Some(at(10)));
        assert!(authority.allows(&permission::USERS_READ, ResourceScope::Tenant, at(9)));
        assert!(!authority.allows(&permission::USERS_READ, ResourceScope::Tenant, at(10)));
        assert_eq!(authority.visible_scope(&permission::USERS_READ, at(10)), None);
        assert!(!authority.sees(ResourceScope::Tenant, at(10)));
    }

    #[test]
    fn a_role_in_a_suspended_organization_grants_nothing_but_reveals_it() {
        let test_tree = TestTree::new();
        let authority = test_tree.holding("users:read", Some("asleep"), Some(at(10)));
        let scope = test_tree.scope("asleep");
        assert!(!authority.allows(&permission::USERS_READ, scope, at(0)));
        assert!(authority.sees(scope, at(9)) && !authority.sees(scope, at(10)));
        assert!(!authority.sees(test_tree.scope("other"), at(0)));
    }

    #[test]
    fn rights_by_an_access_request_do_not_stand() {
        let test_tree = TestTree::new();
        let marked = |pattern, request: Option<&str>, end| {
            let mut grant = test_tree.grant(pattern, None, Some(at(end)));
            grant.assignment.access_request_id = request.map(id);
            grant
        };
        let grants = [
            marked("users:read", None, 9),
            marked("roles:read", Some("one"), 5),
            marked("roles:update", Some("one"), 7),
            marked("tenants:read", Some("other"), 6),
            marked("tenants:update", Some("over"), 2),
        ];
        let authority = Authority::of(&grants);
        let held = |covered_by| {
            let covering = authority.covering(covered_by);
            let names = ["users:read", "roles:read", "roles:update", "tenants:read"];
            names.map(|name| covering.allows(&name.parse().unwrap(), ResourceScope::Tenant, at(3)))
        };
        assert_eq!(held(CoveredBy::All), [true; 4]);
        assert_eq!(held(CoveredBy::Standing), [true, false, false, false]);
        assert_eq!(held(CoveredBy::Elevation(id("one"))), [true, true, true, false]);
        assert_eq!(held(CoveredBy::Elevation(id("unknown"))), [true, false, false, false]);
        assert!(matches!(authority.covering(CoveredBy::All), Cow::Borrowed(_)));
        assert!(matches!(Authority::of(&grants[..1]).standing(), Cow::Borrowed(_)));
        let elevations = authority.elevations(at(3));
        let until = |request: &str| elevations.get(&id(request)).copied();
        assert_eq!((until("one"), until("other")), (Some(Until::Moment(at(7))), Some(Until::Moment(at(6)))));
        assert_eq!(elevations.len(), 2);
        let everything = Authority::everything();
        assert!(everything.standing().allows(&permission::USERS_READ, ResourceScope::Tenant, at(0)));
    }

    #[test]
    fn a_denial_states_its_reason() {
        let test_tree = TestTree::new();
        let denial = |authority: &Authority, scope| authority.explain(&permission::USERS_READ, scope, at(10)).denial;
        let tenant = ResourceScope::Tenant;
        assert_eq!(denial(&test_tree.holding("users:read", None, Some(at(10))), tenant), Some(Denial::Expired));
        assert_eq!(denial(&test_tree.holding("users:read", Some("other"), None), tenant), Some(Denial::HeldElsewhere));
        assert_eq!(denial(&test_tree.holding("roles:read", None, None), tenant), Some(Denial::NotHeld));
        let asleep = test_tree.holding("users:read", Some("asleep"), None);
        assert_eq!(denial(&asleep, test_tree.scope("asleep")), Some(Denial::OrganizationNotActive));
        assert_eq!(denial(&test_tree.holding("users:*", Some("root"), None), test_tree.scope("team")), None);
    }

    #[test]
    fn a_decision_names_a_limited_number_of_grants_and_says_that_there_are_more() {
        let test_tree = TestTree::new();
        for (count, truncated) in [(Decision::MAX_GRANTS, false), (Decision::MAX_GRANTS + 1, true)] {
            let authority = test_tree.holding_all(&vec![("users:read", None, None); count]);
            let decision = authority.explain(&permission::USERS_READ, ResourceScope::Tenant, at(0));
            assert_eq!((decision.grants.len(), decision.truncated), (Decision::MAX_GRANTS, truncated));
            assert_eq!(decision.to_string().ends_with("and more."), truncated);
        }
    }

    #[test]
    fn only_a_wildcard_covers_a_wildcard_and_the_latest_end_counts() {
        let test_tree = TestTree::new();
        let all: PermissionPattern = "users:*".parse().unwrap();
        let read: PermissionPattern = "users:read".parse().unwrap();
        let authority = test_tree.holding_all(&[("users:read", None, None), ("users:*", None, Some(at(10)))]);
        let until = |pattern| authority.holds_until(pattern, ResourceScope::Tenant, at(0));
        assert_eq!(until(&all), Some(Until::Moment(at(10))));
        assert_eq!(until(&read), Some(Until::Forever));
        assert!(Until::Forever > Until::Moment(at(i64::from(u32::MAX))));
    }
}
