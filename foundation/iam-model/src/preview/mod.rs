//! The effects of changes on the rights of users, computed from the changes themselves.

mod comparison;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::access::Until;
use crate::assignment::Grant;
use crate::change::{
    AssignmentChange, Change, ChangedAssignment, OrganizationChange, PermissionChange, RoleChange, UserChange,
};
use crate::clock::Timestamp;
use crate::id::{AssignmentId, OrganizationId, RoleId, UserId};
use crate::organization::{Ancestry, Organization, Position};
use crate::permission::Permission;
use crate::role::Role;
use crate::user::UserStatus;

pub use comparison::Comparison;

/// The maximum number of rows of a preview (`docs/foresight.md#before-a-change-the-preview`).
pub const MAX_ROWS: usize = 10_000;

/// The maximum number of assignments in all rows of a preview together. One row may name a thousand: all assignments of
/// a user.
pub const MAX_VIA: usize = 50_000;

/// A permission that a user gains or loses in a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RightChange {
    /// The user.
    pub user: UserId,
    /// The organization in which the right changes, with everything below it; `None` for tenant-wide.
    pub organization: Option<OrganizationId>,
    /// The permission, as it is registered.
    pub permission: Permission,
    /// Whether it is gained or lost.
    pub direction: Direction,
    /// The existing assignments that give it after the change, or gave it before.
    pub via: Vec<AssignmentId>,
    /// From when on the right differs.
    pub from: Timestamp,
    /// Until when it differs.
    pub until: Until,
}

/// Whether a right is gained or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The user holds it after the change, and would not without it.
    Gained,
    /// The user would hold it without the change.
    Lost,
}

text_enum! { Direction { Gained = "GAINED", Lost = "LOST" } }

/// The effects of changes on the facts that decide about rights.
#[derive(Debug, Default)]
pub struct Effects {
    given: HashMap<UserId, Vec<Grant>>,
    expiries: HashMap<AssignmentId, Option<Timestamp>>,
    revoked: HashSet<AssignmentId>,
    roles: HashMap<RoleId, Arc<Role>>,
    /// The organizations whose place or status changes, before and after.
    organizations: BTreeMap<OrganizationId, (Organization, Organization)>,
    new_organizations: BTreeMap<OrganizationId, Organization>,
    new_users: BTreeSet<UserId>,
    registered: Vec<Permission>,
    statuses: HashMap<UserId, UserStatus>,
    users: BTreeSet<UserId>,
}

impl Effects {
    /// The effects of the changes of one unit of work, in their order.
    #[must_use]
    pub fn of<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Self {
        let mut effects = Self::default();
        for change in changes {
            match change {
                Change::Assignment(change) => effects.add_assignments(change),
                Change::Role(RoleChange::Update { before, after, .. }) if before.permissions != after.permissions => {
                    effects.roles.insert(after.id, Arc::new(after.clone()));
                }
                Change::Organization(OrganizationChange::Create { organization: new, .. }) => {
                    effects.new_organizations.insert(new.id, new.clone());
                }
                Change::Organization(
                    OrganizationChange::Update { before, after, .. } | OrganizationChange::Delete { before, after },
                ) if (before.parent_id, before.status) != (after.parent_id, after.status) => {
                    effects.change_organization(before, after);
                }
                Change::Permission(PermissionChange::Create { permission, .. }) => {
                    effects.registered.push(permission.name.clone());
                }
                Change::User(UserChange::Create { user, .. }) => {
                    effects.users.insert(user.id);
                    effects.new_users.insert(user.id);
                }
                Change::User(change) => {
                    if let Some((before, after)) = change.status_change() {
                        effects.users.insert(before.id);
                        effects.statuses.insert(before.id, after.status);
                    }
                }
                // No other change takes or gives the right of a user that exists.
                _ => {}
            }
        }
        effects
    }

    fn change_organization(&mut self, before: &Organization, after: &Organization) {
        if let Some(new) = self.new_organizations.get_mut(&after.id) {
            new.clone_from(after);
            return;
        }
        let changed = self.organizations.entry(after.id).or_insert_with(|| (before.clone(), after.clone()));
        changed.1.clone_from(after);
    }

    fn add_assignments(&mut self, change: &AssignmentChange) {
        match change {
            AssignmentChange::Create(grants) => {
                self.users.extend(grants.iter().map(|grant| grant.assignment.user_id));
                for grant in grants {
                    self.given.entry(grant.assignment.user_id).or_default().push(grant.clone());
                }
            }
            AssignmentChange::Activate { grant, .. } => {
                self.users.insert(grant.assignment.user_id);
                self.given.entry(grant.assignment.user_id).or_default().push(Grant::clone(grant));
            }
            AssignmentChange::Update(changed) => {
                for ChangedAssignment { grant, after } in changed {
                    self.users.insert(grant.assignment.user_id);
                    self.expiries.insert(grant.assignment.id, after.expires_at);
                }
            }
            AssignmentChange::Revoke { grants, .. } => {
                self.users.extend(grants.iter().map(|grant| grant.assignment.user_id));
                self.revoked.extend(grants.iter().map(|grant| grant.assignment.id));
            }
        }
    }

    /// The users whom the changes name.
    #[must_use]
    pub fn users(&self) -> &BTreeSet<UserId> {
        &self.users
    }

    /// The organizations in which users get roles.
    pub fn given_in(&self) -> impl Iterator<Item = OrganizationId> {
        self.given.values().flatten().filter_map(|grant| grant.assignment.organization_id)
    }

    /// The roles whose permissions change.
    #[must_use]
    pub fn roles(&self) -> Vec<RoleId> {
        self.roles.keys().copied().collect()
    }

    /// The organizations whose place or status changes, before and after.
    pub fn organizations(&self) -> impl Iterator<Item = (&Organization, &Organization)> {
        self.organizations.values().map(|(before, after)| (before, after))
    }

    /// The new organizations.
    pub fn new_organizations(&self) -> impl Iterator<Item = &Organization> {
        self.new_organizations.values()
    }

    /// Whether the changes make this user.
    #[must_use]
    pub fn is_new_user(&self, user: UserId) -> bool {
        self.new_users.contains(&user)
    }

    /// The permissions that the changes register.
    #[must_use]
    pub fn registered(&self) -> &[Permission] {
        &self.registered
    }

    /// Returns the tree after the changes. `before` contains the changed organizations, and all ancestors of them and of
    /// the new ones, before and after the changes.
    #[must_use]
    pub fn tree_after(&self, before: &Ancestry) -> Ancestry {
        before.with_all_changed(self.organizations().map(|(_, after)| after).chain(self.new_organizations()))
    }

    /// The organizations whose assignments begin or cease to count somewhere. `before` and `after` are the trees before
    /// and after the changes, with the whole subtrees of the changed organizations.
    #[must_use]
    pub fn affected_organizations(&self, before: &Ancestry, after: &Ancestry) -> Vec<OrganizationId> {
        let mut affected: BTreeSet<OrganizationId> = BTreeSet::new();
        for changed in self.organizations.keys() {
            let (Some(was), Some(is)) = (before.position(*changed), after.position(*changed)) else { continue };
            if was.is_inactive() == is.is_inactive() {
                let (was, is): (BTreeSet<_>, BTreeSet<_>) = (was.lineage().collect(), is.lineage().collect());
                affected.extend(was.symmetric_difference(&is));
            } else {
                affected.extend(was.lineage().chain(is.lineage()));
            }
            if was.is_lineage_active() != is.is_lineage_active() {
                let below = before.positions().filter(|position| position.is_within(*changed));
                affected.extend(below.map(Position::id));
            }
        }
        affected.into_iter().collect()
    }

    /// The status of a user after the changes.
    fn status_after(&self, user: UserId, before: UserStatus) -> UserStatus {
        self.statuses.get(&user).copied().unwrap_or(before)
    }
}

/// A user before the changes.
#[derive(Clone, Debug)]
pub struct SubjectBefore {
    /// The user.
    pub user: UserId,
    /// Its status.
    pub status: UserStatus,
    /// Its role assignments.
    pub grants: Vec<Grant>,
}

/// The rights that users gain and lose, as far as a preview shows them.
#[derive(Debug, Default)]
pub struct RightChanges {
    /// The number of users who gain or lose a right.
    pub users: u64,
    /// The rights that they gain and lose, at most [`MAX_ROWS`], and at most [`MAX_VIA`] assignments in all of them.
    pub rows: Vec<RightChange>,
    /// Whether there are more rows than these.
    pub truncated: bool,
    via: usize,
}

impl RightChanges {
    /// Whether there is no place for one more row.
    fn is_full(&self) -> bool {
        self.rows.len() >= MAX_ROWS
    }

    /// Adds a row if there is place for it and for its assignments.
    fn add(&mut self, row: RightChange) {
        // The first row always has a place.
        let via = self.via + row.via.len();
        if self.is_full() || via > MAX_VIA && !self.rows.is_empty() {
            self.truncated = true;
        } else {
            self.via = via;
            self.rows.push(row);
        }
    }
}
