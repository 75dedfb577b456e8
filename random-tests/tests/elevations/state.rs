//! What a tenant has, as plain data of the test, and the answers that follow from it.
//!
//! It is read from the service after each step. The answers are written only from the contract, with naive loops. They
//! share no code and no algorithm with the service.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};

use iam_core::access_request::AccessRequestStatus;

/// Milliseconds since the start of the world.
pub(crate) type Moment = i64;

/// No end.
pub(crate) const NEVER: Moment = Moment::MAX;

/// A resource scope: the whole tenant, or the organization with this number.
pub(crate) type Spot = Option<usize>;

/// The parents of the organizations: a branch with a team below it, and another branch.
pub(crate) const PARENTS: [Spot; 3] = [None, Some(0), None];

/// Every resource scope.
pub(crate) const SPOTS: [Spot; 4] = [None, Some(0), Some(1), Some(2)];

/// A role that a user holds. A user holds a role in a place once at most.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Held {
    pub(crate) user: usize,
    pub(crate) role: usize,
    pub(crate) spot: Spot,
    pub(crate) until: Moment,
    /// The request by which the role is held, or was given.
    pub(crate) mark: Option<usize>,
}

/// Who may ask by an eligibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    User(usize),
    HoldersOf(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Eligibility {
    pub(crate) role: usize,
    pub(crate) spot: Spot,
    pub(crate) who: Who,
    pub(crate) max_seconds: u32,
    pub(crate) approvals: u8,
    pub(crate) approver: Option<usize>,
    pub(crate) until: Moment,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) user: usize,
    pub(crate) approves: bool,
    /// The version of the role about which the user decided.
    pub(crate) version: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) user: usize,
    pub(crate) eligibility: usize,
    pub(crate) role: usize,
    pub(crate) spot: Spot,
    pub(crate) seconds: u32,
    pub(crate) approvals: u8,
    pub(crate) approver: Option<usize>,
    pub(crate) decisions: Vec<Decision>,
    /// The status at the moment at which it was read.
    pub(crate) status: AccessRequestStatus,
    pub(crate) starts: Option<Moment>,
    pub(crate) ends: Option<Moment>,
    pub(crate) lapses: Moment,
}

/// A tenant. Users, roles and organizations have their indexes, and so have eligibilities and requests, in the order in
/// which they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tenant {
    pub(crate) is_active: Vec<bool>,
    pub(crate) roles: Vec<BTreeSet<String>>,
    /// The versions of the roles.
    pub(crate) versions: Vec<i64>,
    /// All assignments, also expired ones.
    pub(crate) held: BTreeSet<Held>,
    pub(crate) eligibilities: BTreeMap<usize, Eligibility>,
    pub(crate) requests: BTreeMap<usize, Request>,
}

/// Which assignments count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    All,
    /// Those without a mark.
    Standing,
    /// Those, and those with the mark of this request.
    With(usize),
}

/// A permission pattern that a user has in a resource scope until a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Right {
    pub(crate) pattern: String,
    pub(crate) spot: Spot,
    pub(crate) until: Moment,
}

/// Whether the pattern `held` includes the pattern `wanted`, also for permissions that are registered in the future.
pub(crate) fn covers(held: &str, wanted: &str) -> bool {
    if held == "*" || held == wanted {
        return true;
    }
    match (held.split_once(':'), wanted.split_once(':')) {
        (Some((resource, "*")), Some((other, _))) => resource == other,
        _ => false,
    }
}

/// Whether what is held in the scope `held` counts in the scope `asked`.
pub(crate) fn reaches(held: Spot, asked: Spot) -> bool {
    let Some(held) = held else { return true };
    let mut at = asked;
    while let Some(organization) = at {
        if organization == held {
            return true;
        }
        at = PARENTS[organization];
    }
    false
}

pub(crate) fn is_covered(wanted: &Right, by: &[Right]) -> bool {
    by.iter()
        .any(|held| held.spot == wanted.spot && held.until >= wanted.until && covers(&held.pattern, &wanted.pattern))
}

impl Tenant {
    fn counting(&self, user: usize, counting: Counting, now: Moment) -> impl Iterator<Item = &Held> {
        let counts = move |held: &&Held| match (held.mark, counting) {
            (None, _) | (Some(_), Counting::All) => true,
            (Some(_), Counting::Standing) => false,
            (Some(mark), Counting::With(request)) => mark == request,
        };
        self.held.iter().filter(move |held| held.user == user && now < held.until).filter(counts)
    }

    /// What a role permits in each scope that it reaches.
    pub(crate) fn rights_of(&self, role: usize, place: Spot, until: Moment) -> impl Iterator<Item = Right> {
        let spots = SPOTS.into_iter().filter(move |spot| reaches(place, *spot));
        let right = move |(spot, pattern): (Spot, &String)| Right { pattern: pattern.clone(), spot, until };
        spots.flat_map(move |spot| self.roles[role].iter().map(move |pattern| (spot, pattern))).map(right)
    }

    /// The rights of a user, whether or not it is suspended.
    pub(crate) fn rights(&self, user: usize, counting: Counting, now: Moment) -> Vec<Right> {
        let held = self.counting(user, counting, now);
        held.flat_map(|held| self.rights_of(held.role, held.spot, held.until)).collect()
    }

    /// The rights of a user with those for which it may ask, and those that it may approve for others by an approver
    /// role.
    pub(crate) fn potential(&self, user: usize, now: Moment) -> Vec<Right> {
        let mut rights = self.rights(user, Counting::All, now);
        for eligibility in self.eligibilities.values() {
            let ends = [self.eligible_until(user, eligibility, now), self.approves_until(user, eligibility, now)];
            for until in ends.into_iter().flatten() {
                rights.extend(self.rights_of(eligibility.role, eligibility.spot, until));
            }
        }
        rights
    }

    pub(crate) fn is_eligible(&self, user: usize, eligibility: &Eligibility, now: Moment) -> bool {
        self.eligible_until(user, eligibility, now).is_some()
    }

    /// Until when a user can have what it may ask for by an eligibility. What begins in the last moment goes on after
    /// it, for as long as the eligibility allows.
    fn eligible_until(&self, user: usize, eligibility: &Eligibility, now: Moment) -> Option<Moment> {
        let until = match eligibility.who {
            Who::User(named) => (named == user).then_some(NEVER),
            Who::HoldersOf(role) => {
                let longest = Moment::from(eligibility.max_seconds) * 1_000;
                let held = self.held_in(user, role, eligibility.spot, now);
                held.map(|held| held.until.saturating_add(longest)).max()
            }
        };
        until.map(|until| until.min(eligibility.until)).filter(|_| now < eligibility.until)
    }

    /// Until when others can have what a user may approve by its approver role. What is approved in the last moment can
    /// begin thirty days later.
    fn approves_until(&self, user: usize, eligibility: &Eligibility, now: Moment) -> Option<Moment> {
        let longest = Moment::from(eligibility.max_seconds) * 1_000 + 30 * 24 * 3_600_000;
        let held = self.held_in(user, eligibility.approver?, eligibility.spot, now);
        let until = held.map(|held| held.until.saturating_add(longest)).max()?;
        (now < eligibility.until).then_some(until.min(eligibility.until))
    }

    /// The users whose approvals are about the role as it is.
    pub(crate) fn approvers(&self, request: &Request) -> impl Iterator<Item = usize> {
        let version = Some(self.versions[request.role]);
        let counts = move |it: &&Decision| it.approves && it.version == version;
        request.decisions.iter().filter(counts).map(|it| it.user)
    }

    /// Whether a user has decided about the role as it is.
    pub(crate) fn has_decided(&self, user: usize, request: &Request) -> bool {
        request.decisions.iter().any(|it| it.user == user && it.version == Some(self.versions[request.role]))
    }

    /// The standing assignments of a role to a user in a place or above.
    fn held_in(&self, user: usize, role: usize, spot: Spot, now: Moment) -> impl Iterator<Item = &Held> {
        let held = self.counting(user, Counting::Standing, now);
        held.filter(move |held| held.role == role && reaches(held.spot, spot))
    }

    /// Whether a user still holds a role in exactly this place at a moment, so that it cannot ask for it from then on.
    /// What is given by an elevation does not count.
    pub(crate) fn holds_there(&self, user: usize, role: usize, spot: Spot, at: Moment) -> bool {
        let is_own = |request: &Request| (request.user, request.role, request.spot) == (user, role, spot);
        let counts = |held: &Held| held.mark.is_none_or(|mark| self.requests.get(&mark).is_some_and(is_own));
        let mut held = self.counting(user, Counting::All, at);
        held.any(|held| held.role == role && held.spot == spot && counts(held))
    }

    pub(crate) fn may(&self, user: usize, permission: &str, spot: Spot, counting: Counting, now: Moment) -> bool {
        let allows = |held: &Held| self.roles[held.role].iter().any(|pattern| covers(pattern, permission));
        self.is_active[user] && self.counting(user, counting, now).any(|held| reaches(held.spot, spot) && allows(held))
    }

    /// Whether a user decides about requests like this one, of others.
    pub(crate) fn decides(&self, user: usize, request: &Request, now: Moment) -> bool {
        match request.approver {
            Some(role) => self.is_active[user] && self.held_in(user, role, request.spot, now).next().is_some(),
            None => self.may(user, "access-requests:update", request.spot, Counting::Standing, now),
        }
    }

    pub(crate) fn sees(&self, user: usize, request: &Request, now: Moment) -> bool {
        request.user == user
            || self.may(user, "access-requests:read", request.spot, Counting::All, now)
            || self.decides(user, request, now)
    }

    /// The open requests of a user.
    pub(crate) fn open(&self, user: usize) -> impl Iterator<Item = &Request> {
        self.requests.values().filter(move |request| request.user == user && request.status.is_open())
    }
}
