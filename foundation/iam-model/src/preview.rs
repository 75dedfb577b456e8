//! What changes would do to the rights of users, computed from the changes themselves.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::access::{Authority, ResourceScope, Until};
use crate::assignment::{Assignment, Grant, GrantOrganization};
use crate::change::{AssignmentChange, Change, OrganizationChange, RoleChange};
use crate::clock::Timestamp;
use crate::id::{AssignmentId, OrganizationId, RoleId, UserId};
use crate::organization::{Ancestry, Hierarchy, Organization, Position};
use crate::permission::Permission;
use crate::role::Role;
use crate::user::UserStatus;

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

/// What changes do to the facts that decide about rights.
#[derive(Debug, Default)]
pub struct Effects {
    given: Vec<Grant>,
    expiries: HashMap<AssignmentId, Option<Timestamp>>,
    revoked: HashSet<AssignmentId>,
    roles: HashMap<RoleId, Arc<Role>>,
    organization: Option<(Organization, Organization)>,
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
                Change::Organization(
                    OrganizationChange::Update { before, after, .. } | OrganizationChange::Delete { before, after },
                ) if (before.parent_id, before.status) != (after.parent_id, after.status) => {
                    effects.organization = Some((before.clone(), after.clone()));
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

    fn add_assignments(&mut self, change: &AssignmentChange) {
        match change {
            AssignmentChange::Create(grants) => {
                self.users.extend(grants.iter().map(|grant| grant.assignment.user_id));
                self.given.extend_from_slice(grants);
            }
            AssignmentChange::ChangeExpiry { grant, expires_at } => {
                self.users.insert(grant.assignment.user_id);
                self.expiries.insert(grant.assignment.id, *expires_at);
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
        self.given.iter().filter_map(|grant| grant.assignment.organization_id)
    }

    /// The roles whose permissions change.
    #[must_use]
    pub fn roles(&self) -> Vec<RoleId> {
        self.roles.keys().copied().collect()
    }

    /// The organization whose place or status changes, before and after.
    #[must_use]
    pub fn organization(&self) -> Option<(&Organization, &Organization)> {
        self.organization.as_ref().map(|(before, after)| (before, after))
    }

    /// The organizations whose assignments begin or cease to count somewhere. `before` and `after` are the trees before
    /// and after the changes, with the whole subtree of the changed organization.
    #[must_use]
    pub fn organizations(&self, before: &Ancestry, after: &Ancestry) -> Vec<OrganizationId> {
        let Some((_, changed)) = &self.organization else { return Vec::new() };
        let (Some(was), Some(is)) = (before.position(changed.id), after.position(changed.id)) else {
            return Vec::new();
        };
        let mut affected: BTreeSet<OrganizationId> = if was.is_inactive() == is.is_inactive() {
            let (was, is): (BTreeSet<_>, BTreeSet<_>) = (was.lineage().collect(), is.lineage().collect());
            was.symmetric_difference(&is).copied().collect()
        } else {
            was.lineage().chain(is.lineage()).collect()
        };
        if was.is_awake() != is.is_awake() {
            let below = before.positions().filter(|position| position.is_within(changed.id));
            affected.extend(below.map(Position::id));
        }
        affected.into_iter().collect()
    }

    /// The status of a user after the changes.
    fn status_after(&self, user: UserId, before: UserStatus) -> UserStatus {
        self.statuses.get(&user).copied().unwrap_or(before)
    }

    /// The assignments of a user after the changes.
    fn grants_after(&self, user: UserId, before: &[Grant], tree: &Hierarchy) -> Vec<Grant> {
        let kept = before.iter().filter(|grant| !self.revoked.contains(&grant.assignment.id));
        let given = self.given.iter().filter(|grant| grant.assignment.user_id == user);
        let after = |grant: &Grant| {
            let Assignment { id, role_id, organization_id, .. } = grant.assignment;
            let mut after = grant.clone();
            if let Some(expires_at) = self.expiries.get(&id) {
                after.assignment.expires_at = *expires_at;
            }
            if let Some(role) = self.roles.get(&role_id) {
                after.role = Arc::clone(role);
            }
            after.organization = organization_id.and_then(|id| tree.node(id)).map(GrantOrganization::from);
            after
        };
        kept.chain(given).map(after).collect()
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

/// Compares the rights of users before and after changes.
#[derive(Debug)]
pub struct Comparison<'a> {
    effects: &'a Effects,
    before: Hierarchy,
    after: Hierarchy,
    catalogue: &'a [Permission],
    now: Timestamp,
    expanded: HashMap<(RoleId, bool), Arc<[usize]>>,
}

/// The rights of a user in a place: for each permission of the catalogue until when it is held, `None` if it is not.
type Held = Vec<Option<Until>>;

impl<'a> Comparison<'a> {
    /// Compares at a moment. `tree` contains the organizations of all assignments of the users, and the changed one,
    /// each with all its ancestors before and after the changes. `catalogue` contains the registered permissions.
    #[must_use]
    pub fn new(effects: &'a Effects, tree: Vec<Organization>, catalogue: &'a [Permission], now: Timestamp) -> Self {
        let changed = |organization: &Organization| match effects.organization() {
            Some((_, after)) if after.id == organization.id => after.clone(),
            _ => organization.clone(),
        };
        let after = tree.iter().map(changed).collect();
        Self { effects, before: tree.into_iter().collect(), after, catalogue, now, expanded: HashMap::new() }
    }

    /// The permissions that a user gains and loses: a row for each permission and each topmost place in which it
    /// changes. A place below another one has a row of its own only if more of the time changes there.
    pub fn of(&mut self, subject: &SubjectBefore) -> Vec<RightChange> {
        let user = subject.user;
        let after = self.effects.grants_after(user, &subject.grants, &self.after);
        let held_in = subject.grants.iter().chain(&after).map(|grant| grant.assignment.organization_id);
        let changed = self.effects.organization().map(|(_, after)| Some(after.id));
        let places: BTreeSet<Option<OrganizationId>> = held_in.chain(changed).chain([None]).collect();
        let mut places: Vec<_> = places.into_iter().collect();
        // Places above come before those below, because a row above can tell all about a place below.
        places.sort_by_key(|place| place.and_then(|id| self.after.node(id)).map(|node| node.depth()));

        let was_active = subject.status == UserStatus::Active;
        let is_active = self.effects.status_after(user, subject.status) == UserStatus::Active;
        let was = Authority::of(if was_active { subject.grants.as_slice() } else { &[] });
        let is = Authority::of(if is_active { after.as_slice() } else { &[] });
        let mut told: HashMap<(Option<OrganizationId>, usize), (Direction, Until, Until)> = HashMap::new();
        let mut rows = Vec::new();
        for place in places {
            let before = self.held(&was, place, false);
            let after = self.held(&is, place, true);
            for (number, (before, after)) in before.into_iter().zip(after).enumerate() {
                let now = Until::Moment(self.now);
                let (before, after) = (before.unwrap_or(now), after.unwrap_or(now));
                let (direction, from, until) = match after.cmp(&before) {
                    std::cmp::Ordering::Equal => continue,
                    std::cmp::Ordering::Greater => (Direction::Gained, before, after),
                    std::cmp::Ordering::Less => (Direction::Lost, after, before),
                };
                let is_told = |above: Option<OrganizationId>| {
                    told.get(&(above, number)).is_some_and(|(told, told_from, told_until)| {
                        *told == direction && *told_from <= from && *told_until >= until
                    })
                };
                if self.above(place).any(is_told) {
                    continue;
                }
                let Until::Moment(from_moment) = from else { continue };
                let Some(permission) = self.catalogue.get(number) else { continue };
                told.insert((place, number), (direction, from, until));
                let via = match direction {
                    Direction::Gained => self.giving(&is, place, permission, from, true),
                    Direction::Lost => self.giving(&was, place, permission, from, false),
                };
                let (organization, permission) = (place, permission.clone());
                rows.push(RightChange { user, organization, permission, direction, via, from: from_moment, until });
            }
        }
        rows
    }

    fn tree(&self, is_after: bool) -> &Hierarchy {
        if is_after { &self.after } else { &self.before }
    }

    fn scope(&self, place: Option<OrganizationId>, is_after: bool) -> Option<ResourceScope<'_>> {
        match place {
            None => Some(ResourceScope::Tenant),
            Some(id) => self.tree(is_after).ancestry().position(id).map(Position::scope),
        }
    }

    /// The places above a place after the changes.
    fn above(&self, place: Option<OrganizationId>) -> impl Iterator<Item = Option<OrganizationId>> {
        let position = place.and_then(|id| self.after.ancestry().position(id));
        let organizations = position.into_iter().flat_map(|position| position.lineage().skip(1)).map(Some);
        organizations.chain(place.is_some().then_some(None))
    }

    fn held(&mut self, authority: &Authority, place: Option<OrganizationId>, is_after: bool) -> Held {
        let mut held: Held = vec![None; self.catalogue.len()];
        let counting: Vec<(Arc<Role>, Until)> = match self.scope(place, is_after) {
            None => Vec::new(),
            Some(scope) => authority
                .counting(scope, self.now)
                .map(|counting| (Arc::clone(counting.role), counting.until))
                .collect(),
        };
        for (role, until) in counting {
            for number in self.expand(&role, is_after).iter() {
                if let Some(held) = held.get_mut(*number) {
                    *held = (*held).max(Some(until));
                }
            }
        }
        held
    }

    /// The permissions of the catalogue that a role has, by their numbers.
    fn expand(&mut self, role: &Role, is_after: bool) -> Arc<[usize]> {
        let expand = || {
            let numbered = self.catalogue.iter().enumerate();
            numbered.filter(|(_, permission)| role.permissions.allows(permission)).map(|(number, _)| number).collect()
        };
        Arc::clone(self.expanded.entry((role.id, is_after)).or_insert_with(expand))
    }

    /// The existing assignments that give a permission in a place beyond a moment.
    fn giving(
        &self,
        authority: &Authority,
        place: Option<OrganizationId>,
        permission: &Permission,
        beyond: Until,
        is_after: bool,
    ) -> Vec<AssignmentId> {
        let Some(scope) = self.scope(place, is_after) else { return Vec::new() };
        let is_new = |id: AssignmentId| self.effects.given.iter().any(|grant| grant.assignment.id == id);
        let counting = authority.counting(scope, self.now);
        let giving =
            counting.filter(|counting| counting.until > beyond && counting.role.permissions.allows(permission));
        giving.map(|counting| counting.assignment).filter(|id| !is_new(*id)).collect()
    }
}
