use crate::access::VisibleScope;
use crate::access_request::{AccessDecision, AccessRequest, AccessRequestStatus};
use crate::clock::Timestamp;
use crate::id::{OrganizationId, RoleId, UserId};
use crate::organization::OrganizationSummary;
use crate::role::RoleSummary;
use crate::user::UserSummary;
use crate::version::Version;

/// A request with the names of all that it mentions, and the version that decisions expect. Each caller that sees the
/// request sees these names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedAccessRequest {
    /// The request, with the status of the moment.
    pub request: AccessRequest,
    /// The user who asks.
    pub user: UserSummary,
    /// The role; `None` if it is gone.
    pub role: Option<RoleSummary>,
    /// The organization, if it is not tenant-wide.
    pub organization: Option<OrganizationSummary>,
    /// The role whose holders decide; `None` if the eligibility has named none, or if the role is gone.
    pub approver_role: Option<RoleSummary>,
    /// The users who have decided about it and the one who has closed it, each once.
    pub people: Vec<(UserId, UserSummary)>,
    /// The version of the role, for which decisions [count](AccessDecision::counts_for) as long as the request waits.
    /// `None` if it is gone.
    pub role_version: Option<Version>,
    /// The version of the request, with that of its role.
    pub version: Version,
}

impl ListedAccessRequest {
    /// Whether a decision about the request counts, apart from what has become of the user who decided. As long as the
    /// request is PENDING or APPROVED, a change of the role takes that from it. Afterwards, the decisions count that
    /// were about the same version of the role as the last one.
    #[must_use]
    pub fn counts(&self, decision: &AccessDecision) -> bool {
        decision.counts_for(self.counting_version())
    }

    /// How many approvals [count](Self::counts).
    #[must_use]
    pub fn approvals(&self) -> usize {
        self.request.approvers(self.counting_version()).count()
    }

    /// Returns the user who asks, has decided or has closed it, by its identifier.
    #[must_use]
    pub fn person(&self, id: UserId) -> Option<&UserSummary> {
        if id == self.request.requested_by {
            return Some(&self.user);
        }
        self.people.iter().find(|(user, _)| *user == id).map(|(_, person)| person)
    }

    fn counting_version(&self) -> Option<Version> {
        match self.request.status {
            AccessRequestStatus::Pending | AccessRequestStatus::Approved => self.role_version,
            // What was decided stays so, however the role changes.
            _ => self.request.decisions.last().and_then(|decision| decision.role_version),
        }
    }
}

/// Which requests a list shows, at a moment. Every part that is set must match.
#[derive(Clone, Copy, Debug, Default)]
pub struct AccessRequestFilter {
    /// Requests that have this status at the moment.
    pub status: Option<AccessRequestStatus>,
    /// Requests of this user.
    pub user: Option<UserId>,
    /// Requests for this role.
    pub role: Option<RoleId>,
    /// Requests for exactly this organization.
    pub organization: Option<OrganizationId>,
    /// Requests that were made at this moment or later.
    pub from: Option<Timestamp>,
    /// Requests that were made at this moment or earlier.
    pub until: Option<Timestamp>,
    /// Only requests about which the user of the [scope](AccessRequestScope::user) can decide: that are PENDING at the
    /// moment, in one of the places in which it [decides](AccessRequestScope::deciding), neither of that user nor
    /// decided by it since their role has changed last.
    pub to_decide: bool,
}

/// Which requests a caller sees: those to which one of these parts applies.
#[derive(Clone, Debug, Default)]
pub struct AccessRequestScope {
    /// The requests of this user: the caller, in a session.
    pub user: Option<UserId>,
    /// The requests in this visible scope, that of `access-requests:read`.
    pub read: Option<VisibleScope>,
    /// The requests about which the user decides.
    pub deciding: Vec<ApproverPlace>,
}

/// A role by whose assignment a user decides about requests, in an organization and below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApproverPlace {
    /// About the requests with this approver role; `None` for those without one.
    pub role: Option<RoleId>,
    /// In this organization and below it; `None` for all organizations and tenant-wide.
    pub organization: Option<OrganizationId>,
}

impl AccessRequestScope {
    /// Whether the user decides about requests like this one, apart from its status and its decisions; for stores that
    /// filter in memory. `is_within` tells whether an organization is another one or below it.
    pub fn decides(&self, request: &AccessRequest, is_within: impl Fn(OrganizationId, OrganizationId) -> bool) -> bool {
        self.deciding.iter().any(|place| {
            let is_there = |above| request.organization_id.is_some_and(|below| is_within(below, above));
            place.role == request.approver_role_id && place.organization.is_none_or(is_there)
        })
    }

    /// Whether a request is in the scope; for stores that filter in memory. `is_within` is that of
    /// [`decides`](Self::decides).
    pub fn shows(&self, request: &AccessRequest, is_within: impl Fn(OrganizationId, OrganizationId) -> bool) -> bool {
        let is_read = match &self.read {
            None => false,
            Some(VisibleScope::Tenant) => true,
            Some(VisibleScope::Organizations(covered)) => {
                request.organization_id.is_some_and(|below| covered.iter().any(|above| is_within(below, *above)))
            }
        };
        self.user == Some(request.requested_by) || is_read || self.decides(request, is_within)
    }
}

impl AccessRequestFilter {
    /// Whether a request passes at a moment; for stores that filter in memory. `role` is the version of its role; `None`
    /// if the role is gone. `is_within` is that of [`AccessRequestScope::decides`].
    pub fn matches(
        &self,
        request: &AccessRequest,
        role: Option<Version>,
        scope: &AccessRequestScope,
        is_within: impl Fn(OrganizationId, OrganizationId) -> bool,
        now: Timestamp,
    ) -> bool {
        let status = request.status_at(now);
        let is_undecided = |user: UserId| request.requested_by != user && !request.is_decided_by(user, role);
        let can_decide = || {
            status == AccessRequestStatus::Pending
                && scope.user.is_some_and(is_undecided)
                && scope.decides(request, is_within)
        };
        self.status.is_none_or(|wanted| wanted == status)
            && self.user.is_none_or(|user| user == request.requested_by)
            && self.role.is_none_or(|role| role == request.role_id)
            && self.organization.is_none_or(|wanted| request.organization_id == Some(wanted))
            && self.from.is_none_or(|from| from <= request.created_at)
            && self.until.is_none_or(|until| request.created_at <= until)
            && (!self.to_decide || can_decide())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::testing::{TestTree, at, id};
    use crate::access_request::AccessVerdict;
    use crate::access_request::tests::{decision, request};
    use AccessRequestStatus::{Active, Approved, Ended, Lapsed, Pending};

    fn within(tree: &TestTree) -> impl Fn(OrganizationId, OrganizationId) -> bool + Copy {
        move |below, above| tree.hierarchy.node(below).is_some_and(|node| node.lineage().any(|id| id == above))
    }

    #[test]
    fn a_scope_shows_the_own_requests_those_to_read_and_those_to_decide() {
        let tree = TestTree::new();
        let place = |role: Option<&str>, organization: Option<&str>| ApproverPlace {
            role: role.map(id),
            organization: organization.map(id),
        };
        let scope = |user: &str, read: Option<VisibleScope>, deciding: &[ApproverPlace]| AccessRequestScope {
            user: Some(id(user)),
            read,
            deciding: deciding.to_vec(),
        };
        let organizations = |name: &str| Some(VisibleScope::Organizations(vec![id(name)]));
        let in_branch = request();
        let by_role = AccessRequest { approver_role_id: Some(id("approver")), ..request() };
        let tenant_wide = AccessRequest { organization_id: None, ..request() };
        for (scope, expected) in [
            (scope("user", None, &[]), [true, true, true]),
            (scope("other", None, &[]), [false, false, false]),
            (scope("other", Some(VisibleScope::Tenant), &[]), [true, true, true]),
            (scope("other", organizations("root"), &[]), [true, true, false]),
            (scope("other", organizations("team"), &[]), [false, false, false]),
            (scope("other", None, &[place(None, None)]), [true, false, true]),
            (scope("other", None, &[place(None, Some("branch"))]), [true, false, false]),
            (scope("other", None, &[place(None, Some("team"))]), [false, false, false]),
            (scope("other", None, &[place(Some("approver"), Some("root"))]), [false, true, false]),
            (scope("other", None, &[place(Some("another"), None)]), [false, false, false]),
        ] {
            let shown = [&in_branch, &by_role, &tenant_wide].map(|request| scope.shows(request, within(&tree)));
            assert_eq!(shown, expected, "{scope:?}");
        }
    }

    #[test]
    fn approvals_count_for_the_present_role_until_the_request_is_decided() {
        let listed = |status, role_version| {
            let earlier =
                AccessDecision { role_version: Some(Version::FIRST), ..decision("ada", AccessVerdict::Approve) };
            let second = Some(Version::FIRST.next());
            let later = AccessDecision { role_version: second, ..decision("bob", AccessVerdict::Approve) };
            ListedAccessRequest {
                request: AccessRequest { status, ..request().with_decision(earlier).with_decision(later) },
                user: UserSummary { email: "user@example.com".parse().unwrap(), service_name: None },
                role: None,
                organization: None,
                approver_role: None,
                people: Vec::new(),
                role_version,
                version: Version::FIRST,
            }
        };
        let role = |number: i64| Some(Version::from(number));
        for (status, version, expected) in [
            (Pending, role(2), [false, true]),
            (Pending, role(3), [false, false]),
            (Pending, None, [false, false]),
            (Approved, role(3), [false, false]),
            (Active, role(2), [false, true]),
            (Active, role(3), [false, true]),
            (Ended, None, [false, true]),
            (Lapsed, None, [false, true]),
        ] {
            let listed = listed(status, version);
            let counts: Vec<bool> = listed.request.decisions.iter().map(|decision| listed.counts(decision)).collect();
            assert_eq!(counts, expected, "{status:?} {version:?}");
            assert_eq!(listed.approvals(), expected.into_iter().filter(|counts| *counts).count());
        }
    }

    #[test]
    fn only_pending_requests_of_others_are_to_be_decided_once() {
        let tree = TestTree::new();
        let place = ApproverPlace { role: None, organization: Some(id("root")) };
        let scope = |user: &str| AccessRequestScope { user: Some(id(user)), read: None, deciding: vec![place] };
        let filter = AccessRequestFilter { to_decide: true, ..AccessRequestFilter::default() };
        let decided = request().with_decision(decision("ada", AccessVerdict::Approve));
        let approved = AccessRequest { status: Approved, ..request() };
        let role = Some(Version::FIRST);
        for (user, request, role, moment, expected) in [
            ("ada", &request(), role, 10, true),
            ("ada", &request(), role, 50, false),
            ("user", &request(), role, 10, false),
            ("ada", &decided, role, 10, false),
            ("ada", &decided, Some(Version::FIRST.next()), 10, true),
            ("ada", &decided, None, 10, true),
            ("bob", &decided, role, 10, true),
            ("ada", &approved, role, 10, false),
        ] {
            let found = filter.matches(request, role, &scope(user), within(&tree), at(moment));
            assert_eq!(found, expected, "{user} {role:?} {moment}");
        }
        let without_user = AccessRequestScope { user: None, ..scope("ada") };
        assert!(!filter.matches(&request(), role, &without_user, within(&tree), at(10)));
    }

    #[test]
    fn a_filter_compares_the_status_of_the_moment() {
        let tree = TestTree::new();
        let matches = |filter: AccessRequestFilter, moment| {
            filter.matches(&request(), None, &AccessRequestScope::default(), within(&tree), at(moment))
        };
        let none = AccessRequestFilter::default;
        assert!(matches(AccessRequestFilter { status: Some(Pending), ..none() }, 49));
        assert!(matches(AccessRequestFilter { status: Some(Lapsed), ..none() }, 50));
        assert!(!matches(AccessRequestFilter { status: Some(Pending), ..none() }, 50));
        assert!(matches(AccessRequestFilter { user: Some(id("user")), ..none() }, 0));
        assert!(!matches(AccessRequestFilter { user: Some(id("other")), ..none() }, 0));
        assert!(!matches(AccessRequestFilter { role: Some(id("other")), ..none() }, 0));
        assert!(matches(AccessRequestFilter { organization: Some(id("branch")), ..none() }, 0));
        assert!(!matches(AccessRequestFilter { organization: Some(id("root")), ..none() }, 0));
        // It was made at the moment 0.
        assert!(matches(AccessRequestFilter { from: Some(at(0)), until: Some(at(0)), ..none() }, 9));
        assert!(!matches(AccessRequestFilter { from: Some(at(1)), ..none() }, 9));
        assert!(!matches(AccessRequestFilter { until: Some(at(-1)), ..none() }, 9));
    }
}
