//! What there is in a tenant, as plain data that the test keeps by itself, and what follows from it.
//!
//! Written from the contract alone, by naive loops: it shares no line and no idea with the service.

#![cfg(test)]

use std::collections::BTreeSet;
use std::fmt;

/// Milliseconds since the world began.
pub(crate) type Moment = i64;

/// An assignment without expiry.
pub(crate) const NEVER: Moment = Moment::MAX;

/// Where something is permitted: in the tenant as a whole, or in the organization with this number.
pub(crate) type Spot = Option<usize>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Active,
    Suspended,
    Inactive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Tenant,
    Organization,
    Any,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) email: String,
    pub(crate) first_name: String,
    pub(crate) status: Status,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Role {
    pub(crate) name: String,
    pub(crate) scope: Scope,
    pub(crate) permissions: BTreeSet<&'static str>,
    pub(crate) system: bool,
    pub(crate) gone: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Registered {
    pub(crate) name: &'static str,
    pub(crate) system: bool,
    pub(crate) gone: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Organization {
    pub(crate) name: String,
    /// `None` where the service makes one that nothing else has.
    pub(crate) slug: Option<String>,
    pub(crate) parent: Option<usize>,
    pub(crate) status: Status,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) user: usize,
    pub(crate) role: usize,
    pub(crate) spot: Spot,
    pub(crate) until: Moment,
    pub(crate) gone: bool,
}

/// A tenant. Everything is named by its position, and stays there when it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tenant {
    pub(crate) users: Vec<User>,
    pub(crate) roles: Vec<Role>,
    pub(crate) permissions: Vec<Registered>,
    pub(crate) organizations: Vec<Organization>,
    pub(crate) assignments: Vec<Assignment>,
}

/// A line for each thing that is there, for whoever looks for what went wrong.
impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, user) in self.users.iter().enumerate() {
            writeln!(f, "user {number}: {:?}", user.status)?;
        }
        for (number, role) in self.roles.iter().enumerate().filter(|(_, role)| !role.gone) {
            writeln!(f, "role {number}: {} {:?} {:?}", role.name, role.scope, role.permissions)?;
        }
        for (number, organization) in self.organizations.iter().enumerate() {
            let Organization { parent, status, slug, .. } = organization;
            writeln!(f, "organization {number}: below {parent:?} {status:?} {slug:?}")?;
        }
        for (number, assignment) in self.assignments.iter().enumerate().filter(|(_, assignment)| !assignment.gone) {
            let Assignment { user, role, spot, until, .. } = assignment;
            writeln!(f, "assignment {number}: user {user}, role {role} in {spot:?} until {until}")?;
        }
        Ok(())
    }
}

/// A pattern that somebody may use in a place until a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Right {
    pub(crate) pattern: &'static str,
    pub(crate) spot: Spot,
    pub(crate) until: Moment,
}

/// Whether whoever has `held` has `wanted` too, whatever is registered in future.
pub(crate) fn covers(held: &str, wanted: &str) -> bool {
    if held == "*" || held == wanted {
        return true;
    }
    match (held.split_once(':'), wanted.split_once(':')) {
        (Some((resource, "*")), Some((other, _))) => resource == other,
        _ => false,
    }
}

fn live(assignment: &Assignment, now: Moment) -> bool {
    !assignment.gone && now < assignment.until
}

impl Tenant {
    /// The organization and everything above it, upwards. Stops where a cycle would begin.
    pub(crate) fn lineage(&self, organization: usize) -> Vec<usize> {
        let mut lineage = vec![organization];
        let mut at = organization;
        while let Some(parent) = self.organizations[at].parent {
            if lineage.contains(&parent) {
                break;
            }
            lineage.push(parent);
            at = parent;
        }
        lineage
    }

    pub(crate) fn is_cyclic(&self) -> bool {
        (0..self.organizations.len()).any(|start| {
            let mut at = start;
            for _ in 0..=self.organizations.len() {
                match self.organizations[at].parent {
                    Some(parent) => at = parent,
                    None => return false,
                }
            }
            true
        })
    }

    pub(crate) fn depth(&self, organization: usize) -> usize {
        self.lineage(organization).len() - 1
    }

    /// The depth of the deepest organization at or below this one that is not INACTIVE.
    pub(crate) fn deepest(&self, organization: usize) -> Option<usize> {
        (0..self.organizations.len())
            .filter(|other| self.organizations[*other].status != Status::Inactive)
            .filter(|other| self.lineage(*other).contains(&organization))
            .map(|other| self.depth(other))
            .max()
    }

    /// Whether assignments in it grant anything.
    pub(crate) fn is_awake(&self, organization: usize) -> bool {
        self.lineage(organization).into_iter().all(|above| self.organizations[above].status == Status::Active)
    }

    pub(crate) fn is_inactive(&self, organization: usize) -> bool {
        self.organizations[organization].status == Status::Inactive
    }

    /// Whether an assignment held in one place says something about another one, if it grants anything at all. A
    /// deleted organization is covered by the tenant alone.
    pub(crate) fn reaches(&self, held: Spot, asked: Spot) -> bool {
        match (held, asked) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(held), Some(asked)) => !self.is_inactive(asked) && self.lineage(asked).contains(&held),
        }
    }

    fn awake_spot(&self, spot: Spot) -> bool {
        spot.is_none_or(|organization| self.is_awake(organization))
    }

    fn spots(&self) -> Vec<Spot> {
        let organizations = (0..self.organizations.len()).map(Some);
        std::iter::once(None).chain(organizations).collect()
    }

    /// Everything that a user may do, spelt out for every single place. `asleep` also counts what would be granted
    /// if nothing were suspended.
    fn rights_if(&self, user: usize, now: Moment, asleep: bool) -> Vec<Right> {
        let mut rights = Vec::new();
        if self.users[user].status != Status::Active && !asleep {
            return rights;
        }
        for assignment in &self.assignments {
            if assignment.user != user || !live(assignment, now) || !(asleep || self.awake_spot(assignment.spot)) {
                continue;
            }
            for spot in self.spots() {
                if self.reaches(assignment.spot, spot) {
                    for pattern in &self.roles[assignment.role].permissions {
                        rights.push(Right { pattern, spot, until: assignment.until });
                    }
                }
            }
        }
        rights.sort_unstable();
        rights.dedup();
        rights
    }

    pub(crate) fn rights(&self, user: usize, now: Moment) -> Vec<Right> {
        self.rights_if(user, now, false)
    }

    pub(crate) fn rights_asleep(&self, user: usize, now: Moment) -> Vec<Right> {
        self.rights_if(user, now, true)
    }

    /// May the user do this there, at this moment? The question that all is about.
    pub(crate) fn may(&self, user: usize, permission: &str, spot: Spot, now: Moment) -> bool {
        !self.granting(user, permission, spot, now).is_empty()
    }

    /// The assignments each of which lets the user do this there.
    pub(crate) fn granting(&self, user: usize, permission: &str, spot: Spot, now: Moment) -> Vec<usize> {
        if self.users[user].status != Status::Active {
            return Vec::new();
        }
        self.holding(user, permission)
            .filter(|number| {
                let assignment = &self.assignments[*number];
                live(assignment, now) && self.reaches(assignment.spot, spot) && self.awake_spot(assignment.spot)
            })
            .collect()
    }

    /// Whether the user, in whatever state it is, holds the permission there.
    pub(crate) fn holds_here(&self, user: usize, permission: &str, spot: Spot, now: Moment) -> bool {
        self.holding(user, permission).any(|number| {
            let assignment = &self.assignments[number];
            live(assignment, now) && self.reaches(assignment.spot, spot) && self.awake_spot(assignment.spot)
        })
    }

    /// The assignments of a user whose role has the permission, whether they count or not.
    fn holding(&self, user: usize, permission: &str) -> impl Iterator<Item = usize> {
        (0..self.assignments.len()).filter(move |number| {
            let assignment = &self.assignments[*number];
            let role = &self.roles[assignment.role];
            !assignment.gone && assignment.user == user && role.permissions.iter().any(|held| covers(held, permission))
        })
    }

    /// The reasons that may be given for a no, by the name of the denial. More than one can be true.
    pub(crate) fn denials(&self, user: usize, permission: &str, spot: Spot, now: Moment) -> Vec<&'static str> {
        if self.users[user].status != Status::Active {
            return vec!["UserNotActive"];
        }
        let mut reasons = Vec::new();
        let (mut is_near, mut is_held) = (false, false);
        for number in self.holding(user, permission) {
            let assignment = &self.assignments[number];
            // Below a deleted organization's place nothing is held, but it was, so "not active" is right as well.
            let below = match (assignment.spot, spot) {
                (Some(held), Some(asked)) => self.lineage(asked).contains(&held),
                (held, _) => held.is_none(),
            };
            is_near |= self.reaches(assignment.spot, spot);
            is_held |= live(assignment, now);
            if below && !live(assignment, now) {
                reasons.push("Expired");
            } else if below {
                reasons.push("OrganizationNotActive");
            }
            if live(assignment, now) && !self.reaches(assignment.spot, spot) {
                reasons.push("HeldElsewhere");
            }
        }
        // What expired somewhere else is no reason.
        if !is_near && !is_held {
            reasons.push("NotHeld");
        }
        reasons
    }

    /// Whether the user holds any role that covers a place, asleep or not.
    pub(crate) fn sees(&self, user: usize, spot: Spot, now: Moment) -> bool {
        self.users[user].status == Status::Active
            && self.assignments.iter().any(|assignment| {
                assignment.user == user && live(assignment, now) && self.reaches(assignment.spot, spot)
            })
    }

    pub(crate) fn holds_anywhere(&self, user: usize, permission: &str, now: Moment) -> bool {
        self.spots().into_iter().any(|spot| self.may(user, permission, spot, now))
    }

    /// How many users are administrators for good.
    pub(crate) fn administrators(&self) -> usize {
        let administers = |user: usize| {
            self.assignments.iter().any(|assignment| {
                !assignment.gone
                    && assignment.user == user
                    && assignment.spot.is_none()
                    && assignment.until == NEVER
                    && self.roles[assignment.role].name == "TENANT_ADMIN"
            })
        };
        (0..self.users.len()).filter(|user| self.users[*user].status == Status::Active && administers(*user)).count()
    }

    pub(crate) fn expired(&self, now: Moment) -> Vec<usize> {
        (0..self.assignments.len())
            .filter(|number| !self.assignments[*number].gone && self.assignments[*number].until <= now)
            .collect()
    }

    pub(crate) fn is_live(&self, assignment: usize, now: Moment) -> bool {
        live(&self.assignments[assignment], now)
    }
}

/// What somebody has after that it had not before and that the author had not either: nobody can give it. What holds
/// in a new organization held in the place where that was put.
pub(crate) fn uncovered_growth(
    before: &Tenant,
    after: &Tenant,
    author: Option<usize>,
    now: Moment,
    asleep: bool,
) -> Vec<(usize, Right)> {
    let covers_all = |held: &[Right], wanted: &Right| {
        let spot = match wanted.spot {
            Some(new) if new >= before.organizations.len() => after.organizations[new].parent,
            known => known,
        };
        held.iter()
            .any(|right| right.spot == spot && right.until >= wanted.until && covers(right.pattern, wanted.pattern))
    };
    let rights = |tenant: &Tenant, user: usize| {
        if user < tenant.users.len() { tenant.rights_if(user, now, asleep) } else { Vec::new() }
    };
    let author = author.map_or_else(Vec::new, |author| before.rights(author, now));
    let mut growth = Vec::new();
    for user in 0..after.users.len() {
        let (had, has) = (rights(before, user), rights(after, user));
        for right in has {
            if had.binary_search(&right).is_err() && !covers_all(&had, &right) && !covers_all(&author, &right) {
                growth.push((user, right));
            }
        }
    }
    growth
}
