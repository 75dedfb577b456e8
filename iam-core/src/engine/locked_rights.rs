use std::borrow::Cow;
use std::iter;
use std::sync::Arc;

use iam_model::access::{
    Authority, CoveredBy, EscalationCheck, GrantedRights, LeadingRoles, LeadingRolesCheck, Rights, Until,
};
use iam_model::assignment::Grant;
use iam_model::clock::Timestamp;
use iam_model::error::{Error, Forbidden, Result, Shortfall};
use iam_model::id::AccessRequestId;
use iam_model::permission;

/// The rights of the caller under the tenant's lock, which it may grant to others at this moment.
///
/// It comes from [`UnitOfWork::lock_rights`](crate::engine::UnitOfWork::lock_rights).
#[derive(Clone)]
pub(crate) struct LockedRights {
    authority: Arc<Authority>,
    now: Timestamp,
}

impl LockedRights {
    pub(super) fn new(authority: Authority, now: Timestamp) -> Self {
        Self { authority: Arc::new(authority), now }
    }

    /// The number of patterns in all roles of the caller.
    pub(super) fn patterns(&self) -> usize {
        self.authority.patterns()
    }

    /// The rights by themselves, for a computation that goes on beside the unit of work.
    pub(super) fn authority(&self) -> &Arc<Authority> {
        &self.authority
    }

    /// When they were read.
    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// The caller's rights.
    pub(crate) fn rights(&self) -> Rights<'_> {
        Rights::new(&self.authority, self.now)
    }

    /// The same rights without those by access requests, for what an elevation does not count for
    /// (`docs/access-requests.md#what-an-elevation-does-not-count-for`).
    pub(crate) fn standing(&self) -> Self {
        self.covering(CoveredBy::Standing)
    }

    /// The rights that cover what a change gives.
    pub(super) fn covering(&self, covered_by: CoveredBy) -> Self {
        match self.authority.covering(covered_by) {
            Cow::Borrowed(_) => self.clone(),
            Cow::Owned(authority) => Self::new(authority, self.now),
        }
    }

    /// Whether some of the rights are held by an access request.
    pub(super) fn has_elevations(&self) -> bool {
        !self.authority.elevations(self.now).is_empty()
    }

    /// Returns new assignments with the marks of the access requests by whose rights they are given
    /// (`docs/access-requests.md#what-is-given-by-an-elevation`). An assignment that the standing rights allow and
    /// cover has none. Another one needs one request that, together with the standing rights, allows and covers it, and
    /// does not end before. If none does, the refusal comes with the number of the assignment.
    ///
    /// That to which a role leads must be covered by the standing rights. An assignment with a mark leads to nothing.
    pub(super) fn mark(&self, mut grants: Vec<Grant>, leading: &LeadingRoles) -> (Vec<Grant>, Option<(usize, Error)>) {
        let elevations = self.authority.elevations(self.now).into_iter();
        let elevations =
            elevations.map(|(request, until)| (Some(request), until, self.covering(CoveredBy::Elevation(request))));
        let rights: Vec<_> = iter::once((None, Until::Forever, self.standing())).chain(elevations).collect();
        let mut givers: Vec<Giver<'_>> = rights
            .iter()
            .map(|(request, until, locked)| Giver {
                request: *request,
                until: *until,
                rights: locked.rights(),
                check: locked.rights().escalation_check(),
                leading: request.is_none().then(|| leading.check()),
            })
            .collect();
        for (number, grant) in grants.iter_mut().enumerate() {
            let mut refusal = None;
            let giver = givers.iter_mut().find_map(|giver| match giver.check(grant) {
                Ok(()) => Some(giver.request),
                Err(error) => {
                    refusal = Some(error);
                    None
                }
            });
            match (giver, refusal) {
                (Some(request), _) => grant.assignment.access_request_id = request,
                (None, Some(error)) => return (grants, Some((number, error))),
                (None, None) => {}
            }
        }
        (grants, None)
    }
}

/// Rights by which an assignment may be given: the standing ones, alone or with those by one access request.
struct Giver<'a> {
    request: Option<AccessRequestId>,
    /// When the rights by the request end.
    until: Until,
    rights: Rights<'a>,
    check: EscalationCheck<'a>,
    /// That to which what is given leads. `None` if it has a mark.
    leading: Option<LeadingRolesCheck<'a>>,
}

impl Giver<'_> {
    fn check(&mut self, grant: &Grant) -> Result<()> {
        let needed = &permission::ROLE_ASSIGNMENTS_CREATE;
        let lacks = |held_until| Error::from(Forbidden::Escalation(Shortfall::new(needed.into(), held_until)));
        if !self.rights.holds(needed, grant.scope()) {
            return Err(lacks(None));
        }
        if Until::from(grant.assignment.expires_at) > self.until {
            return Err(lacks(self.until.moment()));
        }
        let given = GrantedRights::of_new(grant);
        self.check.check(&given)?;
        let Some(leading) = &mut self.leading else { return Ok(()) };
        leading.check(&mut self.check, &given).map_err(|shortfall| Forbidden::Escalation(shortfall).into())
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use iam_model::access::LeadingRole;
    use iam_model::access::testing::{TestTree, at, id};
    use iam_model::assignment::OfferedRole;

    use super::*;

    /// Permission, organization, access request, end.
    type Held<'a> = (&'a str, Option<&'a str>, Option<&'a str>, Option<i64>);

    /// What the giver holds, the permission, the organization and the end of what it gives, and the mark.
    type Case<'a> = (&'a [Held<'a>], Given<'a>, Result<Option<AccessRequestId>, String>);
    type Given<'a> = (&'a str, Option<&'a str>, Option<i64>);

    fn grant(tree: &TestTree, (pattern, place, request, end): Held<'_>) -> Grant {
        let mut grant = tree.grant(pattern, place, end.map(at));
        grant.assignment.access_request_id = request.map(id);
        grant
    }

    /// The role with `sessions:read` leads to one with `webhooks:read`, tenant-wide.
    fn leading(tree: &TestTree) -> LeadingRoles {
        let role = tree.grant("webhooks:read", None, None).role;
        let offered = OfferedRole { role, organization: None, expires_at: None };
        [LeadingRole { role: id("sessions:read"), offered, goes_on: TimeDelta::minutes(5) }].into_iter().collect()
    }

    /// The mark with which a holder gives a role with one permission at second 5, or the refusal.
    fn mark(held: &[Held<'_>], (pattern, place, end): Given<'_>) -> Result<Option<AccessRequestId>, String> {
        let tree = TestTree::new();
        let held: Vec<Grant> = held.iter().map(|held| grant(&tree, *held)).collect();
        let rights = LockedRights::new(Authority::of(&held), at(5));
        let given = vec![tree.grant(pattern, place, end.map(at))];
        let (marked, refused) = rights.mark(given, &leading(&tree));
        match refused {
            Some((0, error)) => Err(error.to_string()),
            Some((number, error)) => panic!("{number}: {error}"),
            None => Ok(marked[0].assignment.access_request_id),
        }
    }

    #[test]
    fn an_assignment_has_the_mark_of_the_one_request_that_covers_it() {
        const CREATE: &str = "role-assignments:create";
        let one = || Ok(Some(id("one")));
        let no = |why: &str| Err(format!("You cannot give or take over higher privileges than your own: {why}."));
        let cases: &[Case<'_>] = &[
            // What the standing rights cover has no mark.
            (
                &[(CREATE, None, None, None), ("users:read", None, None, None), ("*", None, Some("one"), Some(9))],
                ("users:read", None, None),
                Ok(None),
            ),
            // One request, alone or with the standing rights, as long as it lasts.
            (&[("*", None, Some("one"), Some(9))], ("users:read", Some("team"), Some(9)), one()),
            (
                &[(CREATE, Some("root"), None, None), ("users:read", Some("root"), Some("one"), Some(9))],
                ("users:read", Some("team"), Some(9)),
                one(),
            ),
            (
                &[("users:read", None, None, None), (CREATE, None, Some("one"), Some(9))],
                ("users:read", None, Some(8)),
                one(),
            ),
            // Not longer, also if only the permission to give is held by the request.
            (
                &[("users:read", None, None, None), (CREATE, None, Some("one"), Some(9))],
                ("users:read", None, None),
                no("you hold role-assignments:create there until 1970-01-01T00:00:09.000Z only"),
            ),
            (
                &[("*", None, Some("one"), Some(9))],
                ("users:read", None, Some(10)),
                no("you hold role-assignments:create there until 1970-01-01T00:00:09.000Z only"),
            ),
            // Not two requests together.
            (
                &[(CREATE, None, Some("one"), Some(9)), ("users:read", None, Some("two"), Some(9))],
                ("users:read", None, Some(8)),
                no("you do not hold role-assignments:create there"),
            ),
            // Not one that has ended, and nothing beyond what is held.
            (
                &[("*", None, Some("one"), Some(5))],
                ("users:read", None, Some(6)),
                no("you do not hold role-assignments:create there"),
            ),
            (
                &[(CREATE, None, Some("one"), Some(9))],
                ("users:read", None, Some(8)),
                no("you do not hold users:read there"),
            ),
            // That to which a role leads is covered, too. With a mark, the role leads to nothing.
            (
                &[(CREATE, None, None, None), ("sessions:read", None, None, None), ("webhooks:read", None, None, None)],
                ("sessions:read", None, None),
                Ok(None),
            ),
            (
                &[(CREATE, None, None, None), ("sessions:read", None, None, None)],
                ("sessions:read", None, None),
                no("you do not hold webhooks:read there"),
            ),
            (
                &[(CREATE, None, None, None), ("sessions:read", None, None, None), ("*", None, Some("one"), Some(9))],
                ("sessions:read", None, Some(9)),
                one(),
            ),
        ];
        for (held, given, expected) in cases {
            assert_eq!(mark(held, *given), *expected, "{held:?} {given:?}");
        }
    }
}
