//! The expected state of a tenant, as plain data of the test, and the answers that follow from it.
//!
//! It is written only from the contract, with naive loops. It shares no code and no algorithm with the service.

#![cfg(test)]

mod attribute;
mod directory;
mod legal_hold;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub(crate) use attribute::{Attributes, Definition, Kind, Rules, is_same};
pub(crate) use directory::{Context, Directory, Entry, Group};
pub(crate) use legal_hold::{Destroyed, Hold};

/// Milliseconds since the start of the world.
pub(crate) type Moment = i64;

/// An assignment without expiry.
pub(crate) const NEVER: Moment = Moment::MAX;

/// A resource scope: the whole tenant, or the organization with this number.
pub(crate) type Spot = Option<usize>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Status {
    #[default]
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

impl Scope {
    /// Whether a role with this scope can be held there.
    pub(crate) fn fits(self, spot: Spot) -> bool {
        match self {
            Self::Any => true,
            Self::Tenant => spot.is_none(),
            Self::Organization => spot.is_some(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct User {
    /// A text that is no address for a service account.
    pub(crate) email: String,
    pub(crate) is_service: bool,
    pub(crate) is_verified: bool,
    pub(crate) has_password: bool,
    pub(crate) first_name: String,
    pub(crate) external_id: Option<String>,
    pub(crate) status: Status,
    pub(crate) home: Spot,
    pub(crate) attributes: Attributes,
    /// The last change of a user who is INACTIVE. Of other users, it has no meaning.
    pub(crate) ended: Moment,
}

/// A link between a user and an account at a provider of the tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) user: usize,
    pub(crate) provider: usize,
    pub(crate) subject: String,
    pub(crate) gone: bool,
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
    /// `None` if the service generates a unique slug.
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
    /// The group that gives the role.
    pub(crate) group: Option<usize>,
    pub(crate) gone: bool,
}

/// A tenant. Every item is identified by its index, and keeps it when it is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tenant {
    pub(crate) users: Vec<User>,
    pub(crate) roles: Vec<Role>,
    pub(crate) permissions: Vec<Registered>,
    pub(crate) organizations: Vec<Organization>,
    pub(crate) assignments: Vec<Assignment>,
    /// The VERIFIED domain.
    pub(crate) domain: String,
    /// The role that the providers give, and where.
    pub(crate) provided: Option<(usize, Spot)>,
    pub(crate) identities: Vec<Identity>,
    pub(crate) directories: Vec<Directory>,
    /// What directories say of their users, by the index of the user.
    pub(crate) entries: BTreeMap<usize, Entry>,
    pub(crate) groups: Vec<Group>,
    /// The rules for the attributes of users.
    pub(crate) rules: Rules,
    pub(crate) holds: Vec<Hold>,
    /// When the sessions of users authenticated, by the index of the user.
    pub(crate) authenticated: BTreeMap<usize, Moment>,
    /// The assignments that are in force also where an organization is suspended: what a key limited to an organization
    /// has of an assignment above.
    pub(crate) from_above: BTreeSet<usize>,
    /// The user of the key that acts, beside the user that the key is.
    pub(crate) owner_of_key: Option<usize>,
}

/// An API key: what limits it.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) user: usize,
    pub(crate) permissions: Option<Vec<&'static str>>,
    pub(crate) limit: Spot,
}

/// Lists the existing items, one on each line, for failure messages.
impl fmt::Display for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, user) in self.users.iter().enumerate() {
            writeln!(f, "user {number}: {user:?}")?;
        }
        for (number, identity) in self.identities.iter().enumerate().filter(|(_, identity)| !identity.gone) {
            writeln!(f, "identity {number}: {identity:?}")?;
        }
        writeln!(f, "providers give {:?}", self.provided)?;
        for (number, role) in self.roles.iter().enumerate().filter(|(_, role)| !role.gone) {
            writeln!(f, "role {number}: {} {:?} {:?}", role.name, role.scope, role.permissions)?;
        }
        for (number, organization) in self.organizations.iter().enumerate() {
            let Organization { parent, status, slug, .. } = organization;
            writeln!(f, "organization {number}: below {parent:?} {status:?} {slug:?}")?;
        }
        for (number, assignment) in self.assignments.iter().enumerate().filter(|(_, assignment)| !assignment.gone) {
            let Assignment { user, role, spot, until, group, .. } = assignment;
            writeln!(f, "assignment {number}: user {user}, role {role} in {spot:?} until {until} by {group:?}")?;
        }
        for (number, directory) in self.directories.iter().enumerate().filter(|(_, directory)| !directory.gone) {
            writeln!(f, "directory {number}: {directory:?}")?;
        }
        for (user, entry) in &self.entries {
            writeln!(f, "user {user} is {entry:?}")?;
        }
        for (number, group) in self.groups.iter().enumerate().filter(|(_, group)| !group.gone) {
            writeln!(f, "group {number}: {group:?}")?;
        }
        writeln!(f, "attributes have {:?}", self.rules)?;
        for (number, hold) in self.holds.iter().enumerate().filter(|(_, hold)| !hold.gone) {
            writeln!(f, "hold {number}: {hold:?}")?;
        }
        Ok(())
    }
}

/// A permission pattern that a user has in a resource scope until a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Right {
    pub(crate) pattern: &'static str,
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

fn live(assignment: &Assignment, now: Moment) -> bool {
    !assignment.gone && now < assignment.until
}

impl Tenant {
    /// The organization and its ancestors, from the organization to the root. Stops before a cycle.
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

    /// Whether assignments in the organization are in force.
    pub(crate) fn is_lineage_active(&self, organization: usize) -> bool {
        self.lineage(organization).into_iter().all(|above| self.organizations[above].status == Status::Active)
    }

    pub(crate) fn is_inactive(&self, organization: usize) -> bool {
        self.organizations[organization].status == Status::Inactive
    }

    /// Whether an assignment in the scope `held` covers the scope `asked`, if the assignment is in force. Only
    /// tenant-wide assignments cover a deleted organization.
    pub(crate) fn reaches(&self, held: Spot, asked: Spot) -> bool {
        match (held, asked) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(held), Some(asked)) => !self.is_inactive(asked) && self.lineage(asked).contains(&held),
        }
    }

    /// Whether no organization makes the assignment count less.
    fn is_in_force(&self, number: usize) -> bool {
        let spot = self.assignments[number].spot;
        self.from_above.contains(&number) || spot.is_none_or(|organization| self.is_lineage_active(organization))
    }

    /// The tenant with one more user, who has the rights of a key: of each assignment of its user what is within the
    /// limits of the key. Returns this user, too.
    pub(crate) fn with_key(&self, key: &Key) -> (Self, usize) {
        let mut with = self.clone();
        with.owner_of_key = Some(key.user);
        let user = with.users.len();
        with.users.push(self.users[key.user].clone());
        for (number, assignment) in self.assignments.iter().enumerate().filter(|(_, it)| it.user == key.user) {
            let spot = match (key.limit, assignment.spot) {
                (None, spot) => spot,
                (Some(limit), Some(held)) if self.lineage(held).contains(&limit) => Some(held),
                (Some(limit), held) if held.is_none_or(|held| self.lineage(limit).contains(&held)) => Some(limit),
                _ => continue,
            };
            let role = &self.roles[assignment.role];
            let within = |pattern: &&'static str| -> Vec<&'static str> {
                let Some(limits) = &key.permissions else { return vec![*pattern] };
                let both = |limit: &&'static str| {
                    if covers(pattern, limit) { Some(*limit) } else { covers(limit, pattern).then_some(*pattern) }
                };
                limits.iter().filter_map(both).collect()
            };
            let permissions = role.permissions.iter().flat_map(within).collect();
            if spot != assignment.spot && self.is_in_force(number) {
                with.from_above.insert(with.assignments.len());
            }
            with.assignments.push(Assignment { user, role: with.roles.len(), spot, ..assignment.clone() });
            with.roles.push(Role { name: format!("of a key: {}", role.name), permissions, gone: true, ..role.clone() });
        }
        (with, user)
    }

    /// The user that is linked to a person.
    pub(crate) fn linked(&self, provider: usize, subject: &str) -> Option<usize> {
        let is_same = |it: &&Identity| !it.gone && it.provider == provider && it.subject == subject;
        self.identities.iter().find(is_same).map(|it| it.user)
    }

    /// The providers at which a user has an identity.
    pub(crate) fn providers_of(&self, user: usize) -> Vec<usize> {
        self.identities.iter().filter(|it| !it.gone && it.user == user).map(|it| it.provider).collect()
    }

    pub(crate) fn can_log_in(&self, user: usize) -> bool {
        let found = &self.users[user];
        found.status == Status::Active && (found.has_password || !self.providers_of(user).is_empty())
    }

    fn spots(&self) -> Vec<Spot> {
        let organizations = (0..self.organizations.len()).map(Some);
        std::iter::once(None).chain(organizations).collect()
    }

    /// All rights of a user, listed for every single scope. With `asleep`, the result includes the rights that the user
    /// would have if neither the user nor an organization were suspended.
    fn rights_if(&self, user: usize, now: Moment, asleep: bool) -> Vec<Right> {
        let mut rights = Vec::new();
        if self.users[user].status != Status::Active && !asleep {
            return rights;
        }
        for (number, assignment) in self.assignments.iter().enumerate() {
            if assignment.user != user || !live(assignment, now) || !(asleep || self.is_in_force(number)) {
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

    /// Whether the user has the permission in this scope at this time. This is the main question of the contract.
    pub(crate) fn may(&self, user: usize, permission: &str, spot: Spot, now: Moment) -> bool {
        !self.granting(user, permission, spot, now).is_empty()
    }

    /// The assignments that each grant the permission to the user in this scope.
    pub(crate) fn granting(&self, user: usize, permission: &str, spot: Spot, now: Moment) -> Vec<usize> {
        if self.users[user].status != Status::Active {
            return Vec::new();
        }
        self.holding(user, permission)
            .filter(|number| {
                let assignment = &self.assignments[*number];
                live(assignment, now) && self.reaches(assignment.spot, spot) && self.is_in_force(*number)
            })
            .collect()
    }

    /// Whether the user holds the permission in this scope, regardless of the user's status.
    pub(crate) fn holds_here(&self, user: usize, permission: &str, spot: Spot, now: Moment) -> bool {
        self.holding(user, permission).any(|number| {
            let assignment = &self.assignments[number];
            live(assignment, now) && self.reaches(assignment.spot, spot) && self.is_in_force(number)
        })
    }

    /// The assignments of a user whose role has the permission, in force or not.
    fn holding(&self, user: usize, permission: &str) -> impl Iterator<Item = usize> {
        (0..self.assignments.len()).filter(move |number| {
            let assignment = &self.assignments[*number];
            let role = &self.roles[assignment.role];
            !assignment.gone && assignment.user == user && role.permissions.iter().any(|held| covers(held, permission))
        })
    }

    /// The correct reasons for a denial, by the name of their variant. There can be more than one.
    pub(crate) fn denials(&self, user: usize, permission: &str, spot: Spot, now: Moment) -> Vec<&'static str> {
        if self.users[user].status != Status::Active {
            return vec!["UserNotActive"];
        }
        let mut reasons = Vec::new();
        let (mut is_near, mut is_held) = (false, false);
        for number in self.holding(user, permission) {
            let assignment = &self.assignments[number];
            // No assignment covers a deleted organization, but this one covered it before the deletion. So "not active"
            // is a correct reason, too.
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
        // An assignment that expired in another scope gives no other reason.
        if !is_near && !is_held {
            reasons.push("NotHeld");
        }
        reasons
    }

    /// Whether the user holds any role that covers this scope, in force or suspended.
    pub(crate) fn sees(&self, user: usize, spot: Spot, now: Moment) -> bool {
        self.users[user].status == Status::Active
            && self.assignments.iter().any(|assignment| {
                assignment.user == user && live(assignment, now) && self.reaches(assignment.spot, spot)
            })
    }

    pub(crate) fn holds_anywhere(&self, user: usize, permission: &str, now: Moment) -> bool {
        self.spots().into_iter().any(|spot| self.may(user, permission, spot, now))
    }

    /// The number of active people who are tenant-wide administrators without an end.
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
        let can_administer = |user: &User| user.status == Status::Active && !user.is_service;
        (0..self.users.len()).filter(|user| can_administer(&self.users[*user]) && administers(*user)).count()
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

/// The rights of a user after a change that neither the user nor the author of the change had before. No author can
/// grant them. A right in a new organization counts as a right in the parent of the organization.
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
