//! What the contract says of an operation: for which reasons it is refused, and what is there afterwards.

#![cfg(test)]

use crate::operation::{Item, Operation, OrganizationPatch, Read, Ref};
use crate::state::{
    Assignment, Moment, Organization, Registered, Right, Role, Scope, Spot, Status, Tenant, User, covers,
    uncovered_growth,
};

pub(crate) const MAX_DEPTH: usize = 5;

/// Who acts: a user of the tenant, or trusted code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    User(usize),
    System,
}

/// What may come of an operation.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// The caller may not: one of these is the answer, whatever else is wrong.
    pub(crate) gate: Vec<&'static str>,
    /// What is wrong otherwise: one of these is the answer.
    pub(crate) refusals: Vec<&'static str>,
    /// What the contract leaves open: it may be refused for this, too.
    pub(crate) tolerated: Vec<&'static str>,
    /// What is there when it succeeds.
    pub(crate) after: Tenant,
}

impl Verdict {
    /// Whether an answer is right: `Ok`, or the kind of the refusal.
    pub(crate) fn allows(&self, answer: Result<(), &str>) -> bool {
        match answer {
            Ok(()) => self.gate.is_empty() && self.refusals.is_empty(),
            // An input that is wrong by itself tells nobody anything.
            Err("Validation") => self.refusals.contains(&"Validation") || self.tolerated.contains(&"Validation"),
            Err(kind) if !self.gate.is_empty() => self.gate.contains(&kind),
            Err(kind) => self.refusals.contains(&kind) || self.tolerated.contains(&kind),
        }
    }
}

/// A tenant and who acts in it, when.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) tenant: usize,
    pub(crate) state: &'a Tenant,
    pub(crate) actor: Actor,
    pub(crate) now: Moment,
}

const FORBIDDEN: &str = "Permission";
const MISSING: &str = "NotFound";

impl Scene<'_> {
    fn own(&self, what: Ref) -> bool {
        what.tenant == self.tenant
    }

    pub(crate) fn may(&self, permission: &str, spot: Spot) -> bool {
        match self.actor {
            Actor::System => true,
            Actor::User(user) => self.state.may(user, permission, spot, self.now),
        }
    }

    /// The user, unless it is trusted code.
    fn user(&self) -> Option<usize> {
        match self.actor {
            Actor::User(user) => Some(user),
            Actor::System => None,
        }
    }

    fn holds_anywhere(&self, permission: &str) -> bool {
        self.user().is_none_or(|user| self.state.holds_anywhere(user, permission, self.now))
    }

    /// What somebody without the permission is told in a place; nothing, when the caller has it.
    pub(crate) fn gate(&self, permission: &str, place: Option<Ref>) -> Vec<&'static str> {
        let Some(place) = place else {
            return if self.may(permission, None) { vec![] } else { vec![FORBIDDEN] };
        };
        if !self.own(place) {
            return vec![MISSING];
        }
        let Some(user) = self.user().filter(|_| !self.may(permission, Some(place.index))) else {
            return vec![];
        };
        if self.state.sees(user, Some(place.index), self.now) { vec![FORBIDDEN] } else { vec![MISSING] }
    }

    /// The same for something that belongs to the whole tenant, and whether it is there at all.
    fn tenant_gate(&self, permission: &str, is_there: bool) -> (Vec<&'static str>, Vec<&'static str>) {
        (self.gate(permission, None), if is_there { vec![] } else { vec![MISSING] })
    }

    /// Whether the caller's permission covers a user wholly, some of it, or nothing of it. What has expired counts or
    /// not: the second half says what may be answered beside.
    fn user_gate(&self, permission: &str, user: Ref) -> (Vec<&'static str>, Vec<&'static str>) {
        if !self.holds_anywhere(permission) {
            return (vec![FORBIDDEN], vec![]);
        }
        if !self.own(user) {
            return (vec![MISSING], vec![]);
        }
        if self.may(permission, None) {
            return (vec![], vec![]);
        }
        let of_user = |assignment: &&Assignment| assignment.user == user.index && !assignment.gone;
        let within = |assignment: &Assignment| assignment.spot.is_some() && self.may(permission, assignment.spot);
        let held: Vec<_> = self.state.assignments.iter().filter(of_user).collect();
        let live: Vec<_> = held.iter().filter(|assignment| self.now < assignment.until).collect();
        if !live.iter().any(|assignment| within(assignment)) {
            return (vec![MISSING], vec![]);
        }
        if !live.iter().all(|assignment| within(assignment)) {
            return (vec![FORBIDDEN], vec![]);
        }
        let doubtful = if held.iter().all(|assignment| within(assignment)) { vec![] } else { vec![FORBIDDEN] };
        (vec![], doubtful)
    }

    /// Whether a user can be seen by somebody whose permission may be limited to organizations.
    pub(crate) fn is_member(&self, permission: &str, user: usize) -> bool {
        self.may(permission, None)
            || self.state.assignments.iter().any(|assignment| {
                assignment.user == user
                    && !assignment.gone
                    && self.now < assignment.until
                    && assignment.spot.is_some()
                    && self.may(permission, assignment.spot)
            })
    }

    fn assignment_gate(&self, permission: &str, assignment: Ref) -> (Vec<&'static str>, Vec<&'static str>) {
        let found = self.own(assignment).then(|| &self.state.assignments[assignment.index]);
        let Some(found) = found.filter(|found| !found.gone) else {
            let gate = if self.holds_anywhere(permission) { vec![MISSING] } else { vec![FORBIDDEN, MISSING] };
            return (gate, vec![]);
        };
        let mut gate = self.gate(permission, found.spot.map(|index| Ref { tenant: self.tenant, index }));
        if !gate.is_empty() && (found.spot.is_none() || !self.holds_anywhere(permission)) {
            gate = vec![FORBIDDEN, MISSING];
        }
        (gate, if found.until <= self.now { vec![MISSING] } else { vec![] })
    }

    /// Whether the caller itself has all of these in a place, until then.
    fn has(&self, patterns: impl IntoIterator<Item = &'static str>, spot: Spot, until: Moment) -> bool {
        let Some(user) = self.user() else { return true };
        let rights = self.state.rights(user, self.now);
        let has = |pattern: &str| {
            rights.iter().any(|right| right.spot == spot && right.until >= until && covers(right.pattern, pattern))
        };
        patterns.into_iter().all(has)
    }

    /// Adds what is wrong with the power of the caller: somebody would get more than it has.
    fn judge_growth(&self, verdict: &mut Verdict) {
        let Some(author) = self.user() else { return };
        let growth = |asleep| uncovered_growth(self.state, &verdict.after, Some(author), self.now, asleep);
        if !growth(false).is_empty() {
            verdict.refusals.push("Escalation");
        }
        if !growth(true).is_empty() {
            verdict.tolerated.push("Escalation");
        }
    }

    fn judge_administrators(&self, verdict: &mut Verdict) {
        if self.state.administrators() > 0 && verdict.after.administrators() == 0 {
            verdict.refusals.push("LastAdministrator");
        }
    }

    fn is_registered(&self, pattern: &str) -> bool {
        let same = |name: &str| name == pattern || (pattern.ends_with(":*") && covers(pattern, name));
        pattern == "*" || self.state.permissions.iter().any(|found| !found.gone && same(found.name))
    }

    /// What the contract says.
    pub(crate) fn judge(&self, operation: &Operation) -> Verdict {
        let mut verdict = Verdict { gate: vec![], refusals: vec![], tolerated: vec![], after: self.state.clone() };
        let v = &mut verdict;
        match operation {
            Operation::CreateRole { name, scope, permissions } => self.create_role(v, name, *scope, permissions),
            Operation::PatchRole { role, name, scope, permissions } => {
                self.patch_role(v, *role, name.as_ref(), *scope, permissions.as_deref());
            }
            Operation::DeleteRole { role } => self.delete_role(v, *role),
            Operation::Register { name } => self.register(v, name),
            Operation::Unregister { permission } => self.unregister(v, *permission),
            Operation::Assign { item } => self.assign(v, item),
            Operation::AssignAll { items } => {
                for item in items {
                    self.assign(v, item);
                }
                // One item is refused for this, another one for that; who may not give the one may learn of the other.
                if items.len() > 1 && !v.gate.is_empty() {
                    v.refusals.append(&mut v.gate);
                }
            }
            Operation::Revoke { assignment } => {
                (v.gate, v.tolerated) = self.assignment_gate("role-assignments:delete", *assignment);
                if v.gate.is_empty() {
                    v.after.assignments[assignment.index].gone = true;
                    self.judge_administrators(v);
                }
            }
            Operation::Expire { assignment, until } => self.expire(v, *assignment, *until),
            Operation::CreateOrganization { name, slug, parent } => {
                self.create_organization(v, name, slug.as_ref(), *parent);
            }
            Operation::PatchOrganization { organization, patch } => self.patch_organization(v, *organization, patch),
            Operation::DeleteOrganization { organization } => {
                v.gate = self.gate("organizations:delete", Some(*organization));
                if v.gate.is_empty() && !self.state.is_inactive(organization.index) {
                    self.deactivate(v, organization.index);
                }
            }
            Operation::CreateUser { email } => {
                v.gate = self.gate("users:create", None);
                self.judge_email(v, None, email);
                let (email, first_name) = (email.clone(), "Ada".to_owned());
                v.after.users.push(User { email, first_name, status: Status::Active });
            }
            Operation::PatchUser { user, email, first_name, status } => {
                self.patch_user(v, *user, email.as_ref(), first_name.as_ref(), *status);
            }
            Operation::Suspend { user } | Operation::Reactivate { user } => {
                (v.gate, v.tolerated) = self.user_gate("users:update", *user);
                if v.gate.is_empty() {
                    if self.state.users[user.index].status == Status::Inactive {
                        v.refusals.push("UserInactive");
                    } else {
                        let is_suspension = matches!(operation, Operation::Suspend { .. });
                        self.set_status(v, user.index, if is_suspension { Status::Suspended } else { Status::Active });
                    }
                }
            }
            Operation::DeleteUser { user } => {
                (v.gate, v.tolerated) = self.user_gate("users:delete", *user);
                if v.gate.is_empty() {
                    self.set_status(v, user.index, Status::Inactive);
                }
            }
            Operation::Sweep | Operation::Wait { .. } | Operation::Read(_) => {}
        }
        verdict
    }

    fn create_role(&self, v: &mut Verdict, name: &str, scope: Scope, permissions: &[&'static str]) {
        v.gate = self.gate("roles:create", None);
        if !permissions.iter().all(|pattern| self.is_registered(pattern)) {
            v.refusals.push("Validation");
        }
        if !self.has(permissions.iter().copied(), None, self.now) {
            v.refusals.push("Escalation");
        }
        self.judge_role_name(v, None, name);
        let permissions = permissions.iter().copied().collect();
        v.after.roles.push(Role { name: name.to_owned(), scope, permissions, system: false, gone: false });
    }

    fn judge_role_name(&self, v: &mut Verdict, own: Option<usize>, name: &str) {
        let taken = |(number, role): (usize, &Role)| Some(number) != own && !role.gone && role.name == name;
        if self.state.roles.iter().enumerate().any(taken) {
            v.refusals.push("RoleNameTaken");
        }
    }

    fn patch_role(
        &self,
        v: &mut Verdict,
        role: Ref,
        name: Option<&String>,
        scope: Option<Scope>,
        permissions: Option<&[&'static str]>,
    ) {
        let is_there = self.own(role) && !self.state.roles[role.index].gone;
        (v.gate, v.refusals) = self.tenant_gate("roles:update", is_there);
        let unregistered = permissions.is_some_and(|all| !all.iter().all(|pattern| self.is_registered(pattern)));
        if unregistered {
            v.refusals.push("Validation");
        }
        if !is_there {
            return;
        }
        let before = &self.state.roles[role.index];
        let mut after = before.clone();
        after.name = name.cloned().unwrap_or(after.name);
        after.scope = scope.unwrap_or(after.scope);
        after.permissions = permissions.map_or(after.permissions, |all| all.iter().copied().collect());
        if before.system {
            if after == *before { v.tolerated.push("SystemRole") } else { v.refusals.push("SystemRole") }
        }
        self.judge_role_name(v, Some(role.index), &after.name);
        for assignment in self.state.assignments.iter().filter(|it| !it.gone && it.role == role.index) {
            let fits = match after.scope {
                Scope::Any => true,
                Scope::Tenant => assignment.spot.is_none(),
                Scope::Organization => assignment.spot.is_some(),
            };
            if !fits && self.now < assignment.until {
                v.refusals.push("RoleScopeInUse");
            } else if !fits {
                v.tolerated.push("RoleScopeInUse");
            }
        }
        let is_new = |pattern: &&&'static str| !before.permissions.iter().any(|held| covers(held, pattern));
        // For as long as anybody holds the role, whatever they hold besides.
        let held = self
            .state
            .assignments
            .iter()
            .enumerate()
            .filter(|(number, assignment)| assignment.role == role.index && self.state.is_live(*number, self.now));
        let until = held.map(|(_, assignment)| assignment.until).max().unwrap_or(self.now);
        if !self.has(after.permissions.iter().filter(is_new).copied(), None, until) {
            v.refusals.push("Escalation");
        }
        v.after.roles[role.index] = after;
        self.judge_growth(v);
    }

    fn delete_role(&self, v: &mut Verdict, role: Ref) {
        let is_there = self.own(role) && !self.state.roles[role.index].gone;
        (v.gate, v.refusals) = self.tenant_gate("roles:delete", is_there);
        if !is_there {
            return;
        }
        if self.state.roles[role.index].system {
            v.refusals.push("SystemRole");
        }
        v.after.roles[role.index].gone = true;
        for (number, assignment) in self.state.assignments.iter().enumerate() {
            if !assignment.gone && assignment.role == role.index {
                if self.now < assignment.until {
                    v.refusals.push("RoleInUse");
                } else {
                    v.tolerated.push("RoleInUse");
                }
                v.after.assignments[number].gone = true;
            }
        }
    }

    fn register(&self, v: &mut Verdict, name: &'static str) {
        v.gate = self.gate("permissions:create", None);
        if self.state.permissions.iter().any(|found| !found.gone && found.name == name) {
            v.refusals.push("PermissionNameTaken");
        }
        // It may be asked of the caller to have what it registers, because wildcards cover it at once.
        if !self.has([name], None, crate::state::NEVER) {
            v.tolerated.push("Escalation");
        }
        v.after.permissions.push(Registered { name, system: false, gone: false });
    }

    fn unregister(&self, v: &mut Verdict, permission: Ref) {
        let is_there = self.own(permission) && !self.state.permissions[permission.index].gone;
        (v.gate, v.refusals) = self.tenant_gate("permissions:delete", is_there);
        if !is_there {
            return;
        }
        let found = &self.state.permissions[permission.index];
        if found.system {
            v.refusals.push("SystemPermission");
        }
        for role in self.state.roles.iter().filter(|role| !role.gone) {
            if role.permissions.contains(found.name) {
                v.refusals.push("PermissionInUse");
            } else if role.permissions.iter().any(|held| *held != "*" && covers(held, found.name)) {
                v.tolerated.push("PermissionInUse");
            }
        }
        v.after.permissions[permission.index].gone = true;
    }

    fn assign(&self, v: &mut Verdict, item: &Item) {
        let gate = self.gate("role-assignments:create", item.place);
        // Whoever may assign nowhere may be told so, whatever there is.
        if !gate.is_empty() && !self.holds_anywhere("role-assignments:create") {
            v.gate.push(FORBIDDEN);
        }
        v.gate.extend(gate);
        if item.until <= self.now {
            v.refusals.push("Validation");
        }
        let role = self.own(item.role).then(|| &self.state.roles[item.role.index]).filter(|role| !role.gone);
        let user = self.own(item.user).then(|| &self.state.users[item.user.index]);
        if role.is_none() || user.is_none() {
            v.refusals.push(MISSING);
        }
        if user.is_some_and(|user| user.status == Status::Inactive) {
            v.refusals.push("UserInactive");
        }
        match role.map(|role| role.scope) {
            Some(Scope::Tenant) if item.place.is_some() => v.refusals.push("OrganizationRefused"),
            Some(Scope::Organization) if item.place.is_none() => v.refusals.push("OrganizationRequired"),
            _ => {}
        }
        if item.place.is_some_and(|place| !self.own(place)) {
            return;
        }
        let spot = item.place.map(|place| place.index);
        if spot.is_some_and(|organization| self.state.is_inactive(organization)) {
            v.refusals.push("OrganizationInactive");
        }
        let Some(role) = role.filter(|_| user.is_some()) else { return };
        if !self.has(role.permissions.iter().copied(), spot, item.until) {
            v.refusals.push("Escalation");
        }
        for assignment in &mut v.after.assignments {
            let same = assignment.user == item.user.index
                && assignment.role == item.role.index
                && assignment.spot == spot
                && !assignment.gone;
            if same && self.now < assignment.until {
                v.refusals.push("RoleHeld");
            } else if same {
                // What expired makes room.
                assignment.gone = true;
            }
        }
        let (user, role) = (item.user.index, item.role.index);
        v.after.assignments.push(Assignment { user, role, spot, until: item.until, gone: false });
    }

    fn expire(&self, v: &mut Verdict, assignment: Ref, until: Moment) {
        (v.gate, v.tolerated) = self.assignment_gate("role-assignments:update", assignment);
        let own = self.own(assignment).then(|| &self.state.assignments[assignment.index]);
        let is_past = until <= self.now;
        if is_past && own.is_some_and(|own| own.until == until) {
            // It has expired, and nothing is to change.
            v.tolerated.push("Validation");
        } else if is_past {
            v.refusals.push("Validation");
        }
        let Some(before) = own.filter(|_| v.gate.is_empty()) else { return };
        v.after.assignments[assignment.index].until = until;
        let permissions = self.state.roles[before.role].permissions.iter().copied();
        if until > before.until && !self.has(permissions, before.spot, until) {
            v.refusals.push("Escalation");
        }
        match self.state.roles[before.role].scope {
            Scope::Tenant if until > before.until && before.spot.is_some() => v.refusals.push("OrganizationRefused"),
            Scope::Organization if until > before.until && before.spot.is_none() => {
                v.refusals.push("OrganizationRequired");
            }
            _ => {}
        }
        self.judge_administrators(v);
        self.judge_growth(v);
    }

    fn is_slug_taken(&self, own: Option<usize>, slug: Option<&String>) -> bool {
        let others = self.state.organizations.iter().enumerate().filter(|(number, _)| Some(*number) != own);
        let awake = others.filter(|(_, other)| other.status != Status::Inactive);
        slug.is_some() && awake.into_iter().any(|(_, other)| other.slug.as_ref() == slug)
    }

    /// Whether an organization may be put below another one; `None` is that it becomes a root.
    fn judge_parent(&self, v: &mut Verdict, permission: &str, parent: Option<Ref>) -> bool {
        v.refusals.extend(self.gate(permission, parent));
        let Some(parent) = parent else { return true };
        if !self.own(parent) {
            return false;
        }
        if self.state.is_inactive(parent.index) {
            v.refusals.push("OrganizationInactive");
        }
        true
    }

    fn create_organization(&self, v: &mut Verdict, name: &str, slug: Option<&String>, parent: Option<Ref>) {
        let is_own = self.judge_parent(v, "organizations:create", parent);
        v.gate = self.gate("organizations:create", parent);
        if !is_own {
            return;
        }
        if self.is_slug_taken(None, slug) {
            v.refusals.push("SlugTaken");
        }
        let (parent, status) = (parent.map(|parent| parent.index), Status::Active);
        if parent.is_some_and(|parent| self.state.depth(parent) >= MAX_DEPTH) {
            v.refusals.push("Depth");
        }
        let slug = slug.cloned();
        v.after.organizations.push(Organization { name: name.to_owned(), slug, parent, status });
    }

    fn deactivate(&self, v: &mut Verdict, organization: usize) {
        let has_children = self
            .state
            .organizations
            .iter()
            .any(|other| other.parent == Some(organization) && other.status != Status::Inactive);
        if has_children {
            v.refusals.push("OrganizationHasChildren");
        }
        v.after.organizations[organization].status = Status::Inactive;
        for assignment in &mut v.after.assignments {
            assignment.gone |= assignment.spot == Some(organization);
        }
    }

    fn patch_organization(&self, v: &mut Verdict, organization: Ref, patch: &OrganizationPatch) {
        v.gate = self.gate("organizations:update", Some(organization));
        if !v.gate.is_empty() {
            return;
        }
        let number = organization.index;
        let before = &self.state.organizations[number];
        let mut after = before.clone();
        after.name = patch.name.clone().unwrap_or(after.name);
        after.slug = patch.slug.clone().or(after.slug);
        after.status = patch.status.unwrap_or(after.status);
        let (was_inactive, is_inactive) = (before.status == Status::Inactive, after.status == Status::Inactive);
        let mut is_circular = false;
        if let Some(parent) = patch.parent {
            let is_move = match parent {
                Some(parent) => !self.own(parent) || before.parent != Some(parent.index),
                None => before.parent.is_some(),
            };
            if is_move && !self.judge_parent(v, "organizations:update", parent) {
                return;
            }
            after.parent = parent.map(|parent| parent.index);
            is_circular = after.parent.is_some_and(|parent| self.state.lineage(parent).contains(&number));
            if is_circular {
                v.refusals.push("CircularParent");
            }
        }
        if *before == after {
            if is_inactive {
                v.tolerated.extend([FORBIDDEN]);
            }
            return;
        }
        if is_inactive {
            v.tolerated.extend(["OrganizationInactive", "Depth", "SlugTaken"]);
        } else if self.is_slug_taken(Some(number), after.slug.as_ref()) {
            v.refusals.push("SlugTaken");
        }
        if was_inactive && !is_inactive && after.slug.is_none() {
            // A slug that was made from the name may have been made again for another one since.
            v.tolerated.push("SlugTaken");
        }
        if was_inactive && !is_inactive && after.parent.is_some_and(|parent| self.state.is_inactive(parent)) {
            v.refusals.push("OrganizationInactive");
        }
        if is_inactive && before.parent != after.parent {
            // Nothing counts in a deleted organization; it may be asked for what would.
            v.tolerated.push("Escalation");
        }
        v.after.organizations[number] = after;
        if is_circular {
            v.tolerated.extend(["Depth", "OrganizationTooDeep", "Escalation", "OrganizationHasChildren"]);
            return;
        }
        if v.after.deepest(number).is_some_and(|depth| depth > MAX_DEPTH) {
            v.refusals.push(if was_inactive { "OrganizationTooDeep" } else { "Depth" });
            if was_inactive {
                v.refusals.push("Depth");
            }
        } else if is_inactive && v.after.depth(number) > MAX_DEPTH {
            v.tolerated.push("Depth");
        }
        if is_inactive && !was_inactive {
            v.refusals.extend(self.gate("organizations:delete", Some(organization)));
            self.deactivate(v, number);
        }
        self.judge_growth(v);
        if self.begins_to_count(&v.after) {
            v.tolerated.push("Escalation");
        }
    }

    /// Whether a role begins to count in a place that the caller could not give there, even if its user has as much
    /// by another role.
    fn begins_to_count(&self, after: &Tenant) -> bool {
        let counts = |tenant: &Tenant, assignment: &Assignment, place: usize| {
            let is_awake = assignment.spot.is_none_or(|spot| tenant.is_awake(spot));
            is_awake && tenant.reaches(assignment.spot, Some(place))
        };
        let live = (0..after.assignments.len()).filter(|number| after.is_live(*number, self.now));
        live.map(|number| &after.assignments[number]).any(|assignment| {
            (0..after.organizations.len()).any(|place| {
                let begins = counts(after, assignment, place) && !counts(self.state, assignment, place);
                let permissions = after.roles[assignment.role].permissions.iter().copied();
                begins && !self.has(permissions, Some(place), assignment.until)
            })
        })
    }

    fn judge_email(&self, v: &mut Verdict, own: Option<usize>, email: &str) {
        let taken = |(number, user): (usize, &User)| Some(number) != own && user.email == email;
        if self.state.users.iter().enumerate().any(taken) {
            v.refusals.push("EmailTaken");
        }
    }

    fn patch_user(
        &self,
        v: &mut Verdict,
        user: Ref,
        email: Option<&String>,
        first_name: Option<&String>,
        status: Option<Status>,
    ) {
        (v.gate, v.tolerated) = self.user_gate("users:update", user);
        if !v.gate.is_empty() {
            return;
        }
        let before = &self.state.users[user.index];
        if let Some(email) = email {
            self.judge_email(v, Some(user.index), email);
            v.after.users[user.index].email.clone_from(email);
            // A new password is sent there, so it is worth all that the account may do, also once nothing is suspended.
            let (rights, is_own) = (self.state.rights_asleep(user.index, self.now), self.user() == Some(user.index));
            let is_covered = |right: &Right| self.has([right.pattern], right.spot, right.until);
            if *email != before.email && !is_own && !rights.iter().all(is_covered) {
                v.refusals.push("Escalation");
            }
        }
        if let Some(first_name) = first_name {
            v.after.users[user.index].first_name.clone_from(first_name);
        }
        let Some(status) = status.filter(|status| *status != before.status) else { return };
        if status == Status::Inactive {
            let (gate, doubtful) = self.user_gate("users:delete", user);
            v.refusals.extend(gate);
            v.tolerated.extend(doubtful);
        }
        if before.status == Status::Inactive {
            v.refusals.extend(self.gate("users:create", None));
        }
        self.set_status(v, user.index, status);
    }

    fn set_status(&self, v: &mut Verdict, user: usize, status: Status) {
        v.after.users[user].status = status;
        if status == Status::Inactive {
            for assignment in &mut v.after.assignments {
                assignment.gone |= assignment.user == user;
            }
        }
        self.judge_administrators(v);
        self.judge_growth(v);
        let wakes = status == Status::Active && self.state.users[user].status != Status::Active;
        let back = self.state.rights_asleep(user, self.now);
        if wakes && !back.iter().all(|right: &Right| self.has([right.pattern], right.spot, right.until)) {
            v.tolerated.push("Escalation");
        }
    }
}

impl Scene<'_> {
    /// What a reader is shown: why nothing, or what, and whether in this very order. No gate and nothing expected is
    /// that there is no such thing.
    pub(crate) fn shows(&self, read: Read) -> (Vec<&'static str>, Option<Vec<usize>>, bool) {
        let state = self.state;
        let gate_anywhere = |permission| if self.holds_anywhere(permission) { vec![] } else { vec![FORBIDDEN] };
        let alive = |organization: &usize| !state.is_inactive(*organization);
        let readable = |organization: &usize| self.may("organizations:read", Some(*organization));
        let organizations = || 0..state.organizations.len();
        let place_gate = |place: Ref| self.gate("organizations:read", Some(place));
        let live = || (0..state.assignments.len()).filter(|number| state.is_live(*number, self.now));
        let some = |numbers: Vec<usize>| Some(numbers);
        match read {
            Read::Users => {
                let seen = (0..state.users.len()).filter(|user| self.is_member("users:read", *user));
                (gate_anywhere("users:read"), some(seen.collect()), false)
            }
            Read::Members(place) => {
                let holds = |user: &usize| {
                    live().any(|it| {
                        let assignment = &state.assignments[it];
                        assignment.user == *user && assignment.spot == Some(place.index)
                    })
                };
                // Beyond the caller's reach it tells as little as one that does not exist.
                let reaches = self.own(place) && self.may("users:read", Some(place.index));
                let seen = (0..state.users.len()).filter(|user| reaches && self.is_member("users:read", *user));
                (gate_anywhere("users:read"), some(seen.filter(holds).collect()), false)
            }
            Read::Roles => {
                let seen = (0..state.roles.len()).filter(|role| !state.roles[*role].gone);
                (gate_anywhere("roles:read"), some(seen.collect()), false)
            }
            Read::Permissions => {
                let seen = (0..state.permissions.len()).filter(|permission| !state.permissions[*permission].gone);
                (gate_anywhere("permissions:read"), some(seen.collect()), false)
            }
            Read::Organizations => {
                let seen = organizations().filter(alive).filter(readable);
                (gate_anywhere("organizations:read"), some(seen.collect()), false)
            }
            Read::Assignments => {
                let readable = |number: &usize| self.may("role-assignments:read", state.assignments[*number].spot);
                (gate_anywhere("role-assignments:read"), some(live().filter(readable).collect()), false)
            }
            Read::User(user) => {
                let seen = self.own(user) && self.is_member("users:read", user.index);
                (gate_anywhere("users:read"), seen.then(|| vec![user.index]), false)
            }
            Read::Role(role) => {
                let seen = self.own(role) && !state.roles[role.index].gone;
                (gate_anywhere("roles:read"), seen.then(|| vec![role.index]), false)
            }
            Read::Organization(place) => (place_gate(place), some(vec![place.index]), false),
            Read::Tree(place) | Read::Children(place) | Read::Ancestors(place) if !self.own(place) => {
                (place_gate(place), None, false)
            }
            Read::Tree(place) => {
                let below = organizations().filter(alive).filter(|it| state.lineage(*it).contains(&place.index));
                (place_gate(place), some(below.collect()).filter(|_| alive(&place.index)), false)
            }
            Read::Children(place) => {
                let below =
                    organizations().filter(alive).filter(|it| state.organizations[*it].parent == Some(place.index));
                (place_gate(place), some(below.collect()).filter(|_| alive(&place.index)), false)
            }
            Read::Ancestors(place) => {
                let mut above: Vec<_> = state.lineage(place.index).into_iter().skip(1).filter(readable).collect();
                above.reverse();
                (place_gate(place), some(above), true)
            }
            Read::RolesOf(user) => {
                let own = self.user() == Some(user.index) && self.own(user);
                let gate = if own { vec![] } else { gate_anywhere("role-assignments:read") };
                let seen = own || (self.own(user) && self.is_member("role-assignments:read", user.index));
                let readable = |number: &usize| {
                    let assignment = &state.assignments[*number];
                    assignment.user == user.index && (own || self.may("role-assignments:read", assignment.spot))
                };
                (gate, seen.then(|| live().filter(readable).collect()), false)
            }
        }
    }

    /// Why a question may not be asked.
    pub(crate) fn question_gate(&self, about: Option<Ref>, place: Option<Ref>) -> Vec<&'static str> {
        let is_self = about.is_none_or(|user| self.own(user) && self.user() == Some(user.index));
        let mut gate = if !is_self {
            self.gate("role-assignments:read", place)
        } else if let Some(place) = place {
            match self.user() {
                _ if !self.own(place) => vec![MISSING],
                Some(user) if self.state.sees(user, Some(place.index), self.now) => vec![],
                Some(_) => vec![MISSING],
                None => vec![],
            }
        } else {
            vec![]
        };
        if about.is_some_and(|user| !self.own(user)) {
            gate.push(MISSING);
        }
        gate
    }
}
