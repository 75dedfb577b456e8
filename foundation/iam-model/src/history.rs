//! Assignments at an earlier moment: the past versions of role assignments, roles, organizations and statuses.
//!
//! Every [`Change`](crate::change::Change) that replaces or removes one of these says which version it ends. A store
//! keeps these versions with the moment of their end. The version at a moment is the one that ended first after it, or
//! the current one if none did.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::access::{Authority, Snapshot};
use crate::assignment::{Assignment, Grant, GrantOrganization, by_user};
use crate::clock::Timestamp;
use crate::id::{AssignmentId, OrganizationId, RoleId, UserId};
use crate::organization::{Hierarchy, Organization};
use crate::role::Role;
use crate::user::{User, UserStatus};

/// A version that a change ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndedVersion {
    /// Of a role assignment.
    Assignment(Assignment),
    /// Of a role.
    Role(Role),
    /// Of an organization.
    Organization(Organization),
    /// Of the status of a user.
    Status(PastStatus),
}

/// The status of a user before it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PastStatus {
    /// The user.
    pub user_id: UserId,
    /// When the user was created.
    pub created_at: Timestamp,
    /// The status.
    pub status: UserStatus,
}

impl From<&User> for PastStatus {
    fn from(user: &User) -> Self {
        Self { user_id: user.id, created_at: user.created_at, status: user.status }
    }
}

/// A version that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past<T> {
    /// The version.
    pub version: T,
    /// The instant from which on it did not count any more.
    pub until: Timestamp,
}

/// Something of which a store keeps the past versions.
pub trait Versioned {
    /// Its identity in all its versions.
    type Id: Copy + Eq + Hash;

    /// Its identity in all its versions.
    fn id(&self) -> Self::Id;

    /// When its first version began.
    fn created_at(&self) -> Timestamp;
}

macro_rules! versioned {
    ($($type:ty => $id:ty, $field:ident;)+) => {
        $(impl Versioned for $type {
            type Id = $id;

            fn id(&self) -> $id {
                self.$field
            }

            fn created_at(&self) -> Timestamp {
                self.created_at
            }
        })+
    };
}

versioned! {
    Assignment => AssignmentId, id;
    Role => RoleId, id;
    Organization => OrganizationId, id;
    PastStatus => UserId, user_id;
}

/// The current and the past versions of things of one kind.
#[derive(Clone, Debug)]
pub struct Versions<T: Versioned>(HashMap<T::Id, Vec<Version<T>>>);

/// A version, and when it ended; `None` for the current one.
type Version<T> = (Option<Timestamp>, T);

impl<T: Versioned> Default for Versions<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Versioned> Versions<T> {
    /// The versions of some things: the current ones, as far as the things still exist, and those that have ended.
    pub fn new(current: impl IntoIterator<Item = T>, past: impl IntoIterator<Item = Past<T>>) -> Self {
        let mut versions = Self::default();
        versions.extend(current, past);
        versions
    }

    /// Adds the versions of other things.
    pub fn extend(&mut self, current: impl IntoIterator<Item = T>, past: impl IntoIterator<Item = Past<T>>) {
        let past = past.into_iter().map(|Past { version, until }| (Some(until), version));
        for version in past.chain(current.into_iter().map(|version| (None, version))) {
            self.0.entry(version.1.id()).or_default().push(version);
        }
    }

    /// Whether any version of this thing is known.
    pub fn has(&self, id: T::Id) -> bool {
        self.0.contains_key(&id)
    }

    /// The version at a moment. `None` if the thing did not exist.
    pub fn at(&self, id: T::Id, at: Timestamp) -> Option<&T> {
        self.0.get(&id).and_then(|versions| version_at(versions, at))
    }

    /// The versions of all things at a moment.
    pub fn all_at(&self, at: Timestamp) -> impl Iterator<Item = &T> {
        self.0.values().filter_map(move |versions| version_at(versions, at))
    }

    /// All versions of all things, in no particular order.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.0.values().flatten().map(|(_, version)| version)
    }
}

/// Of the versions that had not ended at a moment, the one that ended first. Of two that ended at the same instant, the
/// store keeps only the first: the other one was never visible.
fn version_at<T: Versioned>(versions: &[Version<T>], at: Timestamp) -> Option<&T> {
    let lasting = versions.iter().filter(|(until, _)| until.is_none_or(|until| at < until));
    let first = lasting.min_by_key(|(until, _)| (until.is_none(), *until));
    first.map(|(_, version)| version).filter(|version| version.created_at() <= at)
}

/// Everything that decided about some users between a moment and now.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The statuses of the users.
    pub statuses: Versions<PastStatus>,
    /// Their role assignments.
    pub assignments: Versions<Assignment>,
    /// The roles of these assignments.
    pub roles: Versions<Role>,
    /// The organizations of these assignments, with all that were ever above them.
    pub organizations: Versions<Organization>,
}

impl History {
    /// The organization tree at a moment.
    #[must_use]
    pub fn hierarchy_at(&self, at: Timestamp) -> Hierarchy {
        self.organizations.all_at(at).cloned().collect()
    }

    /// The role assignments that existed at a moment, with the roles and the tree of that moment. Includes assignments
    /// that had expired.
    #[must_use]
    pub fn grants_at(&self, at: Timestamp) -> Vec<Grant> {
        let hierarchy = self.hierarchy_at(at);
        let mut roles: HashMap<RoleId, Arc<Role>> = HashMap::new();
        let grant = |assignment: &Assignment| {
            let id = assignment.role_id;
            // An assignment whose role is unknown grants nothing.
            let role = match roles.get(&id) {
                Some(role) => Arc::clone(role),
                None => Arc::clone(roles.entry(id).or_insert(Arc::new(self.roles.at(id, at)?.clone()))),
            };
            let node = assignment.organization_id.and_then(|id| hierarchy.node(id));
            Some(Grant { assignment: assignment.clone(), role, organization: node.map(GrantOrganization::from) })
        };
        self.assignments.all_at(at).filter_map(grant).collect()
    }

    /// The users with their rights at a moment, and the organization tree of that moment.
    #[must_use]
    pub fn snapshot_at(&self, at: Timestamp) -> Snapshot {
        let mut snapshot = Snapshot::new(self.hierarchy_at(at));
        let mut grants = by_user(self.grants_at(at));
        for PastStatus { user_id, status, .. } in self.statuses.all_at(at) {
            let held = grants.remove(user_id).unwrap_or_default();
            snapshot.insert(*user_id, *status, Authority::of(&held));
        }
        snapshot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::testing::{at, id};

    fn status(status: UserStatus) -> PastStatus {
        PastStatus { user_id: id("user"), created_at: at(10), status }
    }

    fn past(version: PastStatus, until: i64) -> Past<PastStatus> {
        Past { version, until: at(until) }
    }

    #[test]
    fn the_version_at_a_moment_is_the_one_that_ended_first_after_it() {
        use UserStatus::{Active, Inactive, Suspended};
        let versions = Versions::new([status(Inactive)], [past(status(Suspended), 30), past(status(Active), 20)]);
        let seen = |seconds| versions.at(id("user"), at(seconds)).map(|found| found.status);
        for (seconds, expected) in [
            (9, None),
            (10, Some(Active)),
            (19, Some(Active)),
            (20, Some(Suspended)),
            (29, Some(Suspended)),
            (30, Some(Inactive)),
            (1_000, Some(Inactive)),
        ] {
            assert_eq!(seen(seconds), expected, "{seconds}");
        }
        assert_eq!(versions.at(id("other"), at(15)), None);
        assert!(versions.has(id("user")) && !versions.has(id("other")));
        assert_eq!(versions.all_at(at(15)).count(), 1);
        assert_eq!(versions.all_at(at(9)).count(), 0);
        assert_eq!(versions.all().count(), 3);
    }

    #[test]
    fn what_was_removed_exists_until_then() {
        let versions = Versions::new([], [past(status(UserStatus::Active), 20)]);
        assert!(versions.at(id("user"), at(19)).is_some());
        assert!(versions.at(id("user"), at(20)).is_none());
    }
}
