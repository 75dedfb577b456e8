//! The comparison of the rights of users before and after changes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::access::{Until, VisibleScope};
use crate::assignment::Grant;
use crate::clock::Timestamp;
use crate::id::{AssignmentId, OrganizationId, RoleId, UserId};
use crate::organization::{Ancestry, Organization, Position};
use crate::permission::{PatternKind, Permission};
use crate::preview::{Direction, Effects, RightChange, RightChanges, SubjectBefore};
use crate::role::Role;
use crate::user::UserStatus;

/// Compares the rights of users before and after changes.
///
/// Rights differ only where an assignment begins or ceases to give something, and in an organization that gets another
/// place in the tree. Below such a place, they differ by no more. So the comparison visits these places and those above
/// them, from the top to the bottom, and reads each assignment there once. It ends as soon as there is no place for
/// another row; of the users after that, it only finds out whether they gain or lose something at all.
#[derive(Debug)]
pub struct Comparison {
    effects: Arc<Effects>,
    /// By name.
    catalogue: Vec<Permission>,
    visible: Visible,
    now: Timestamp,
    before: Ancestry,
    after: Ancestry,
    roles: HashMap<(RoleId, Version), Arc<Numbers>>,
    path: Path,
    changes: RightChanges,
    steps: usize,
}

/// The version of a role: its number, and whether it is the one after the changes.
type Version = (i64, bool);

/// The places of which rows are shown.
#[derive(Debug)]
enum Visible {
    Nowhere,
    Everywhere,
    Below(HashSet<OrganizationId>),
}

/// Permissions, by their numbers in the catalogue.
#[derive(Debug, PartialEq, Eq)]
struct Numbers(Box<[u64]>);

impl Numbers {
    fn none(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)].into())
    }

    fn insert(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }

    fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    /// Adds the result of `combined` for the words of two sets.
    fn add(&mut self, one: &Self, other: &Self, combined: impl Fn(u64, u64) -> u64) {
        for ((word, one), other) in self.0.iter_mut().zip(&one.0).zip(&other.0) {
            *word |= combined(*one, *other);
        }
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            let next = |left: &u64| Some(left & (left - 1)).filter(|left| *left != 0);
            let first = Some(*word).filter(|word| *word != 0);
            std::iter::successors(first, next).map(move |left| at * 64 + left.trailing_zeros() as usize)
        })
    }
}

/// An assignment of a user, with its permissions before and after the changes.
#[derive(Debug)]
struct ComparedAssignment {
    id: AssignmentId,
    organization: Option<OrganizationId>,
    /// `None` if it gives nothing.
    before: Option<AssignmentRights>,
    after: Option<AssignmentRights>,
    is_new: bool,
}

/// The permissions that an assignment gives, and until when.
#[derive(Debug)]
struct AssignmentRights {
    permissions: Arc<Numbers>,
    until: Until,
}

impl ComparedAssignment {
    fn rights(&self, moment: Moment) -> Option<&AssignmentRights> {
        match moment {
            Moment::Before => self.before.as_ref(),
            Moment::After => self.after.as_ref(),
        }
    }

    fn is_changed(&self) -> bool {
        match (&self.before, &self.after) {
            (None, None) => false,
            (Some(before), Some(after)) => before.until != after.until || before.permissions != after.permissions,
            (None, Some(_)) | (Some(_), None) => true,
        }
    }

    /// Adds the permissions that it gives for another time than before.
    fn add_changed(&self, numbers: &mut Numbers) {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) if before.until == after.until => {
                numbers.add(&before.permissions, &after.permissions, |before, after| before ^ after);
            }
            (before, after) => {
                for rights in before.iter().chain(after) {
                    numbers.add(&rights.permissions, &rights.permissions, |word, _| word);
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    Before,
    After,
}

/// The assignments of a user by their organizations.
#[derive(Debug)]
struct Holdings {
    held: Vec<ComparedAssignment>,
    by_place: HashMap<Option<OrganizationId>, Vec<usize>>,
}

impl Holdings {
    fn new(held: Vec<ComparedAssignment>) -> Self {
        let mut by_place: HashMap<Option<OrganizationId>, Vec<usize>> = HashMap::new();
        for (number, held) in held.iter().enumerate() {
            by_place.entry(held.organization).or_default().push(number);
        }
        Self { held, by_place }
    }

    /// The assignments in exactly this place, with their numbers.
    fn at(&self, place: Option<OrganizationId>) -> impl Iterator<Item = (usize, &ComparedAssignment)> {
        let numbers = self.by_place.get(&place).into_iter().flatten();
        numbers.filter_map(|number| Some((*number, self.held.get(*number)?)))
    }
}

/// Until when each permission of the catalogue is held in a place.
type PermissionEnds = Vec<Until>;

/// The statement of a row about a permission, for its place and everything below.
#[derive(Clone, Copy, Debug)]
struct ReportedChange {
    direction: Direction,
    from: Until,
    until: Until,
}

/// The way from the tenant down to a place, with the permissions of the user there.
#[derive(Debug, Default)]
struct Path {
    before: PermissionEnds,
    after: PermissionEnds,
    /// For each permission, the statements of the rows on the way.
    reported: Vec<Vec<ReportedChange>>,
    /// The permissions of the tenant-wide assignments. In an INACTIVE organization, only these count.
    tenant_wide: Option<[PermissionEnds; 2]>,
    steps: Vec<Step>,
}

/// A place on the way, with the values to restore when the way leaves it.
#[derive(Debug, Default)]
struct Step {
    place: Option<OrganizationId>,
    before: Vec<(usize, Until)>,
    after: Vec<(usize, Until)>,
    /// The permissions before the changes on the way after them, if that is another way.
    other_way: Option<PermissionEnds>,
    reported: Vec<usize>,
}

impl Path {
    /// Adds the permissions of assignments. Returns how many permissions it has read.
    fn raise<'h>(
        ends: &mut PermissionEnds,
        rights: impl Iterator<Item = &'h AssignmentRights>,
        mut replaced: impl FnMut(usize, Until),
    ) -> usize {
        let mut read = 0;
        for rights in rights {
            for number in rights.permissions.iter() {
                read += 1;
                if let Some(end) = ends.get_mut(number).filter(|end| **end < rights.until) {
                    replaced(number, mem::replace(end, rights.until));
                }
            }
        }
        read
    }

    fn restore(ends: &mut PermissionEnds, replaced: Vec<(usize, Until)>) {
        for (number, end) in replaced.into_iter().rev() {
            if let Some(restored) = ends.get_mut(number) {
                *restored = end;
            }
        }
    }

    /// Goes one step down. Returns how many permissions it has read.
    fn enter(&mut self, place: Option<OrganizationId>, holdings: &Holdings) -> usize {
        let mut step = Step { place, ..Step::default() };
        let rights = |moment| holdings.at(place).filter_map(move |(_, held)| held.rights(moment));
        let mut read =
            Self::raise(&mut self.before, rights(Moment::Before), |number, end| step.before.push((number, end)));
        read += Self::raise(&mut self.after, rights(Moment::After), |number, end| step.after.push((number, end)));
        self.steps.push(step);
        read
    }

    fn leave(&mut self) {
        let Some(step) = self.steps.pop() else { return };
        Self::restore(&mut self.before, step.before);
        Self::restore(&mut self.after, step.after);
        if let Some(ends) = step.other_way {
            self.before = ends;
        }
        for number in step.reported {
            if let Some(reported) = self.reported.get_mut(number) {
                reported.pop();
            }
        }
    }

    fn is_reported(&self, number: usize, new: &ReportedChange) -> bool {
        let above = self.reported.get(number).into_iter().flatten();
        let tells = |above: &ReportedChange| {
            above.direction == new.direction && above.from <= new.from && above.until >= new.until
        };
        above.into_iter().any(tells)
    }

    fn report(&mut self, number: usize, new: ReportedChange) {
        if let (Some(reported), Some(step)) = (self.reported.get_mut(number), self.steps.last_mut()) {
            reported.push(new);
            step.reported.push(number);
        }
    }
}

impl Comparison {
    /// Compares at a moment. `catalogue` contains the registered permissions. Rows are shown of places in the visible
    /// scope; `None` for no place.
    #[must_use]
    pub fn new(
        effects: Arc<Effects>,
        mut catalogue: Vec<Permission>,
        visible: Option<&VisibleScope>,
        now: Timestamp,
    ) -> Self {
        catalogue.sort_unstable();
        catalogue.dedup();
        let visible = match visible {
            None => Visible::Nowhere,
            Some(VisibleScope::Tenant) => Visible::Everywhere,
            Some(VisibleScope::Organizations(roots)) => Visible::Below(roots.iter().copied().collect()),
        };
        let ends = vec![Until::Moment(now); catalogue.len()];
        let reported = vec![Vec::new(); catalogue.len()];
        let path = Path { before: ends.clone(), after: ends, reported, tenant_wide: None, steps: Vec::new() };
        Self {
            effects,
            catalogue,
            visible,
            now,
            before: Ancestry::default(),
            after: Ancestry::default(),
            roles: HashMap::new(),
            path,
            changes: RightChanges::default(),
            steps: 0,
        }
    }

    /// Sets the organizations for the next users: those of all their assignments, and the changed ones, each with all
    /// its ancestors before and after the changes, and the ancestors of the new ones.
    pub fn set_tree(&mut self, tree: &[Organization]) {
        self.before = tree.iter().collect();
        self.after = self.effects.tree_after(&self.before);
    }

    /// Adds the gains and losses of a user: a row for each permission and each topmost place in which it changes. A
    /// place below another one has a row of its own only if more of the time changes there.
    pub fn add(&mut self, subject: &SubjectBefore) {
        let holdings = Holdings::new(self.held(subject));
        let moved = self.moved();
        let changed = holdings.held.iter().filter(|held| held.is_changed()).map(|held| held.organization);
        let places: BTreeSet<Option<OrganizationId>> = changed.chain(moved.iter().copied().map(Some)).collect();
        // Places above come before those below, because a row above can tell all about a place below.
        let mut ways: Vec<Vec<OrganizationId>> = places.iter().filter_map(|place| self.way_to(*place)).collect();
        ways.sort_unstable();

        if places.is_empty() {
            return;
        }
        let mut is_affected = false;
        self.steps += self.path.enter(None, &holdings);
        if !moved.is_empty() {
            self.path.tenant_wide = Some([self.path.before.clone(), self.path.after.clone()]);
        }
        let mut flow = ControlFlow::Continue(());
        if places.contains(&None) {
            flow = self.compare_here(subject.user, &holdings, &moved, &mut is_affected);
        }
        for way in &ways {
            if flow.is_break() {
                break;
            }
            self.follow(way, &holdings, &moved);
            if !way.is_empty() {
                flow = self.compare_here(subject.user, &holdings, &moved, &mut is_affected);
            }
        }
        while !self.path.steps.is_empty() {
            self.path.leave();
        }
        self.changes.users += u64::from(is_affected);
    }

    /// How much the comparison has read so far: permissions of assignments, and assignments that give a permission of a
    /// row. This is the measure of its time.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The changes of all users so far.
    #[must_use]
    pub fn into_changes(self) -> RightChanges {
        self.changes
    }

    /// The organizations in which other assignments count after the changes than before.
    fn moved(&self) -> BTreeSet<OrganizationId> {
        let is_moved = |before: &Organization, after: &Organization| {
            before.parent_id != after.parent_id || before.status.is_inactive() != after.status.is_inactive()
        };
        let changed = self.effects.organizations();
        changed.filter(|(before, after)| is_moved(before, after)).map(|(_, after)| after.id).collect()
    }

    /// The assignments of a user, with their permissions before and after the changes.
    fn held(&mut self, subject: &SubjectBefore) -> Vec<ComparedAssignment> {
        let effects = Arc::clone(&self.effects);
        let was_active = subject.status == UserStatus::Active;
        let is_active = effects.status_after(subject.user, subject.status) == UserStatus::Active;
        let given = effects.given.get(&subject.user).into_iter().flatten();
        let all = subject.grants.iter().map(|grant| (grant, false)).chain(given.map(|grant| (grant, true)));
        all.map(|(grant, is_new)| {
            let assignment = &grant.assignment;
            let before = (was_active && !is_new && grant.is_lineage_active())
                .then(|| self.rights(&grant.role, assignment.expires_at, false))
                .flatten();
            let is_kept = is_active && !effects.revoked.contains(&assignment.id) && self.is_lineage_active_after(grant);
            let after = is_kept
                .then(|| {
                    let expiry = effects.expiries.get(&assignment.id).copied().unwrap_or(assignment.expires_at);
                    match effects.roles.get(&assignment.role_id) {
                        Some(role) => self.rights(role, expiry, true),
                        None => self.rights(&grant.role, expiry, false),
                    }
                })
                .flatten();
            ComparedAssignment { id: assignment.id, organization: assignment.organization_id, before, after, is_new }
        })
        .collect()
    }

    fn is_lineage_active_after(&self, grant: &Grant) -> bool {
        let organization = grant.assignment.organization_id;
        organization.is_none_or(|id| self.after.position(id).is_some_and(Position::is_lineage_active))
    }

    fn rights(&mut self, role: &Role, expires_at: Option<Timestamp>, is_after: bool) -> Option<AssignmentRights> {
        let until = Until::from(expires_at);
        (until > Until::Moment(self.now))
            .then(|| AssignmentRights { permissions: self.permissions(role, is_after), until })
    }

    /// The permissions of the catalogue that a role has.
    fn permissions(&mut self, role: &Role, is_after: bool) -> Arc<Numbers> {
        let key = (role.id, (role.version.into(), is_after));
        if let Some(known) = self.roles.get(&key) {
            return Arc::clone(known);
        }
        let mut numbers = Numbers::none(self.catalogue.len());
        for pattern in role.permissions.iter() {
            let range = match pattern.kind() {
                PatternKind::Everything => 0..self.catalogue.len(),
                PatternKind::Resource(resource) => {
                    // The names with the same beginning follow each other.
                    let beginning = format!("{resource}:");
                    let first = self.catalogue.partition_point(|name| name.as_str() < beginning.as_str());
                    let rest = self.catalogue.iter().skip(first);
                    first..first + rest.take_while(|name| name.as_str().starts_with(&beginning)).count()
                }
                PatternKind::Exact(text) => match self.catalogue.binary_search_by(|name| name.as_str().cmp(text)) {
                    Ok(number) => number..number + 1,
                    Err(_) => 0..0,
                },
            };
            self.steps += range.len();
            range.for_each(|number| numbers.insert(number));
        }
        let numbers = Arc::new(numbers);
        self.roles.insert(key, Arc::clone(&numbers));
        numbers
    }

    /// The organizations from the root down to a place after the changes; none for the tenant. `None` if the place is
    /// not known.
    fn way_to(&self, place: Option<OrganizationId>) -> Option<Vec<OrganizationId>> {
        let Some(place) = place else { return Some(Vec::new()) };
        let mut way: Vec<OrganizationId> = self.after.position(place)?.lineage().collect();
        way.reverse();
        Some(way)
    }

    /// Goes to the end of a way from the place where the last way ended.
    fn follow(&mut self, way: &[OrganizationId], holdings: &Holdings, moved: &BTreeSet<OrganizationId>) {
        let steps = self.path.steps.iter().skip(1);
        let shared = steps.zip(way).take_while(|(step, place)| step.place == Some(**place)).count();
        while self.path.steps.len() > shared + 1 {
            self.path.leave();
        }
        for place in way.iter().skip(shared) {
            let other_way = moved.contains(place).then(|| self.other_way(*place, holdings));
            let replaced = other_way.map(|ends| mem::replace(&mut self.path.before, ends));
            self.steps += self.path.enter(Some(*place), holdings);
            if let Some(step) = self.path.steps.last_mut() {
                step.other_way = replaced;
            }
        }
    }

    /// The permissions of the user above a moved organization, before the changes.
    fn other_way(&self, moved: OrganizationId, holdings: &Holdings) -> PermissionEnds {
        let tenant_wide = self.path.tenant_wide.as_ref().map(|[before, _]| before.clone());
        let mut ends = tenant_wide.unwrap_or_default();
        let above = self.before.position(moved).into_iter().flat_map(|position| position.lineage().skip(1));
        for place in above {
            let rights = holdings.at(Some(place)).filter_map(|(_, held)| held.rights(Moment::Before));
            Path::raise(&mut ends, rights, |_, _| {});
        }
        ends
    }

    /// Adds the rows of the place at the end of the way. Breaks off when there is nothing more to find out about the
    /// user.
    fn compare_here(
        &mut self,
        user: UserId,
        holdings: &Holdings,
        moved: &BTreeSet<OrganizationId>,
        is_affected: &mut bool,
    ) -> ControlFlow<()> {
        let place = self.path.steps.last().and_then(|step| step.place);
        let mut numbers = Numbers::none(self.catalogue.len());
        if place.is_some_and(|place| moved.contains(&place)) {
            (0..self.catalogue.len()).for_each(|number| numbers.insert(number));
        } else {
            holdings.at(place).for_each(|(_, held)| held.add_changed(&mut numbers));
        }
        let is_visible = self.is_visible(place);
        let is_inactive = |tree: &Ancestry| place.and_then(|id| tree.position(id)).is_some_and(Position::is_inactive);
        let (was_inactive, is_inactive) = (is_inactive(&self.before), is_inactive(&self.after));
        for number in numbers.iter() {
            self.steps += 1;
            let before = self.end(number, Moment::Before, was_inactive);
            let after = self.end(number, Moment::After, is_inactive);
            let (direction, from, until) = match after.cmp(&before) {
                std::cmp::Ordering::Equal => continue,
                std::cmp::Ordering::Greater => (Direction::Gained, before, after),
                std::cmp::Ordering::Less => (Direction::Lost, after, before),
            };
            let reported = ReportedChange { direction, from, until };
            if self.path.is_reported(number, &reported) {
                continue;
            }
            *is_affected = true;
            if matches!(self.visible, Visible::Nowhere) || self.changes.truncated {
                return ControlFlow::Break(());
            }
            self.path.report(number, reported);
            if !is_visible {
                continue;
            }
            if self.changes.is_full() {
                self.changes.truncated = true;
                return ControlFlow::Break(());
            }
            let (Until::Moment(from_moment), Some(permission)) = (from, self.catalogue.get(number).cloned()) else {
                continue;
            };
            let moment = if direction == Direction::Gained { Moment::After } else { Moment::Before };
            let via = self.giving(holdings, number, place, from, moment);
            let organization = place;
            self.changes.add(RightChange { user, organization, permission, direction, via, from: from_moment, until });
        }
        ControlFlow::Continue(())
    }

    /// Until when the user holds a permission in the place at the end of the way; the present moment if not at all.
    fn end(&self, number: usize, moment: Moment, is_inactive: bool) -> Until {
        let (ends, index) = match moment {
            Moment::Before => (&self.path.before, 0),
            Moment::After => (&self.path.after, 1),
        };
        let tenant_wide = self.path.tenant_wide.as_ref().and_then(|both| both.get(index)).filter(|_| is_inactive);
        tenant_wide.unwrap_or(ends).get(number).copied().unwrap_or(Until::Moment(self.now))
    }

    /// The existing assignments that give a permission in a place beyond a moment.
    fn giving(
        &mut self,
        holdings: &Holdings,
        number: usize,
        place: Option<OrganizationId>,
        beyond: Until,
        moment: Moment,
    ) -> Vec<AssignmentId> {
        let tree = if moment == Moment::Before { &self.before } else { &self.after };
        let position = place.and_then(|id| tree.position(id)).filter(|position| !position.is_inactive());
        let organizations = position.into_iter().flat_map(Position::lineage).map(Some);
        let mut giving: Vec<usize> = Vec::new();
        for (at, held) in organizations.chain([None]).flat_map(|place| holdings.at(place)) {
            self.steps += 1;
            let gives = |rights: &AssignmentRights| rights.until > beyond && rights.permissions.contains(number);
            if !held.is_new && held.rights(moment).is_some_and(gives) {
                giving.push(at);
            }
        }
        giving.sort_unstable();
        giving.into_iter().filter_map(|at| holdings.held.get(at)).map(|held| held.id).collect()
    }

    fn is_visible(&self, place: Option<OrganizationId>) -> bool {
        match (&self.visible, place) {
            (Visible::Nowhere, _) | (Visible::Below(_), None) => false,
            (Visible::Everywhere, _) => true,
            (Visible::Below(roots), Some(place)) => {
                // A new organization is only in the tree after the changes.
                let position = self.before.position(place).or_else(|| self.after.position(place));
                position.is_some_and(|position| position.lineage().any(|id| roots.contains(&id)))
            }
        }
    }
}
