//! The contract of each operation: the reasons for a refusal, and the state after success.

#![cfg(test)]

use crate::operation::{COMPANY, Item, Operation, OrganizationPatch, Person, Read, Ref, UserPatch};
use crate::state::{
    Assignment, Identity, Moment, NEVER, Organization, Registered, Right, Role, Scope, Spot, Status, Tenant, User,
    covers, uncovered_growth,
};

pub(crate) const MAX_DEPTH: usize = 5;

/// The time after an authentication in which its session can change credentials, in milliseconds.
const FRESH: Moment = 600_000;

/// The actor: a user of the tenant, a key, or trusted code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    User(usize),
    /// The user that [`Tenant::with_key`] adds.
    Key(usize),
    System,
}

/// The correct results of an operation.
#[derive(Debug)]
pub(crate) struct Expectation {
    /// The refusals because of missing permissions. If there are any, the answer is one of these, also if there are
    /// other errors.
    pub(crate) gate: Vec<&'static str>,
    /// The other refusals. If there are any, and `gate` is empty, the answer is one of these.
    pub(crate) refusals: Vec<&'static str>,
    /// The refusals that the contract permits but does not require.
    pub(crate) tolerated: Vec<&'static str>,
    /// The state after success.
    pub(crate) after: Tenant,
}

impl Expectation {
    /// Whether an answer is correct: `Ok`, or the kind of the refusal.
    pub(crate) fn allows(&self, answer: Result<(), &str>) -> bool {
        match answer {
            Ok(()) => self.gate.is_empty() && self.refusals.is_empty(),
            // The refusal of an input that is invalid by itself discloses nothing, so it may come before `gate`.
            Err("Validation") => self.refusals.contains(&"Validation") || self.tolerated.contains(&"Validation"),
            Err(kind) if !self.gate.is_empty() => self.gate.contains(&kind),
            Err(kind) => self.refusals.contains(&kind) || self.tolerated.contains(&kind),
        }
    }
}

/// A tenant, the actor, and the time.
#[derive(Clone, Copy)]
pub(crate) struct OperationContext<'a> {
    pub(crate) tenant: usize,
    pub(crate) state: &'a Tenant,
    pub(crate) actor: Actor,
    pub(crate) now: Moment,
}

const FORBIDDEN: &str = "Permission";
const MISSING: &str = "NotFound";

impl OperationContext<'_> {
    fn own(&self, what: Ref) -> bool {
        what.tenant == self.tenant
    }

    pub(crate) fn may(&self, permission: &str, spot: Spot) -> bool {
        match self.actor {
            Actor::System => true,
            Actor::User(user) | Actor::Key(user) => self.state.may(user, permission, spot, self.now),
        }
    }

    /// The acting user. `None` for trusted code.
    fn user(&self) -> Option<usize> {
        match self.actor {
            Actor::User(user) | Actor::Key(user) => Some(user),
            Actor::System => None,
        }
    }

    /// Whether the caller may change credentials without a new authentication.
    fn is_fresh(&self) -> bool {
        self.user().is_none_or(|user| {
            self.state.authenticated.get(&user).is_some_and(|authenticated| self.now - authenticated <= FRESH)
        })
    }

    fn holds_anywhere(&self, permission: &str) -> bool {
        self.user().is_none_or(|user| self.state.holds_anywhere(user, permission, self.now))
    }

    /// The refusals of a caller without the permission in a resource scope. Empty if the caller has the permission.
    pub(crate) fn gate(&self, permission: &str, organization: Option<Ref>) -> Vec<&'static str> {
        let Some(organization) = organization else {
            return if self.may(permission, None) { vec![] } else { vec![FORBIDDEN] };
        };
        if !self.own(organization) {
            return vec![MISSING];
        }
        let Some(user) = self.user().filter(|_| !self.may(permission, Some(organization.index))) else {
            return vec![];
        };
        if self.state.sees(user, Some(organization.index), self.now) { vec![FORBIDDEN] } else { vec![MISSING] }
    }

    /// The same for an item that belongs to the whole tenant, and the refusal if the item does not exist.
    fn tenant_gate(&self, permission: &str, is_there: bool) -> (Vec<&'static str>, Vec<&'static str>) {
        (self.gate(permission, None), if is_there { vec![] } else { vec![MISSING] })
    }

    /// The refusals of an operation on a user, by whether the caller's permission covers the home and all assignments of
    /// the user, some of them or none. Expired assignments may count or not: the second list has the refusals that are
    /// permitted, too.
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
        let within = |spot: Spot| spot.is_some() && self.may(permission, spot);
        let held: Vec<_> = self.state.assignments.iter().filter(of_user).collect();
        let mut live = held.iter().filter(|assignment| self.now < assignment.until);
        if !within(self.state.users[user.index].home) || !live.all(|assignment| within(assignment.spot)) {
            let is_seen = self.is_member(permission, user.index) || self.is_member("users:read", user.index);
            return (vec![if is_seen { FORBIDDEN } else { MISSING }], vec![]);
        }
        let doubtful = if held.iter().all(|assignment| within(assignment.spot)) { vec![] } else { vec![FORBIDDEN] };
        (vec![], doubtful)
    }

    /// Whether the caller can see a user, perhaps with a permission in only some organizations.
    pub(crate) fn is_member(&self, permission: &str, user: usize) -> bool {
        let within = |spot: Spot| spot.is_some() && self.may(permission, spot);
        self.may(permission, None)
            || within(self.state.users[user].home)
            || self.state.assignments.iter().any(|assignment| {
                assignment.user == user && !assignment.gone && self.now < assignment.until && within(assignment.spot)
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

    /// Whether the caller has all of these patterns in a resource scope until this time.
    fn has(&self, patterns: impl IntoIterator<Item = &'static str>, spot: Spot, until: Moment) -> bool {
        let Some(user) = self.user() else { return true };
        let rights = self.state.rights(user, self.now);
        let has = |pattern: &str| {
            rights.iter().any(|right| right.spot == spot && right.until >= until && covers(right.pattern, pattern))
        };
        patterns.into_iter().all(has)
    }

    /// Adds the refusal of a caller without a recent authentication that gives the rights to change what protects the
    /// tenant.
    fn check_protections(
        &self,
        v: &mut Expectation,
        patterns: impl IntoIterator<Item = &'static str>,
        spot: Spot,
        until: Moment,
    ) {
        let protects = ["tenants:update", "audit-logs:update", "audit-logs:delete"];
        let mut patterns = patterns.into_iter();
        let gives = patterns.any(|pattern| protects.iter().any(|permission| covers(pattern, permission)));
        if gives && spot.is_none() && until > self.now && !self.is_fresh() {
            v.refusals.push(self.not_fresh());
        }
    }

    /// The refusal of a caller without a recent authentication.
    fn not_fresh(&self) -> &'static str {
        if matches!(self.actor, Actor::Key(_)) { "ApiKey" } else { "NotFresh" }
    }

    /// Adds the refusal by the escalation check if a user would get rights that the caller does not have.
    fn check_growth(&self, expectation: &mut Expectation) {
        let Some(author) = self.user() else { return };
        let growth = |asleep| uncovered_growth(self.state, &expectation.after, Some(author), self.now, asleep);
        if !growth(false).is_empty() {
            expectation.refusals.push("Escalation");
        }
        if !growth(true).is_empty() {
            expectation.tolerated.push("Escalation");
        }
    }

    fn check_administrators(&self, expectation: &mut Expectation) {
        if self.state.administrators() > 0 && expectation.after.administrators() == 0 {
            expectation.refusals.push("LastAdministrator");
        }
    }

    fn is_registered(&self, pattern: &str) -> bool {
        let same = |name: &str| name == pattern || (pattern.ends_with(":*") && covers(pattern, name));
        pattern == "*" || self.state.permissions.iter().any(|found| !found.gone && same(found.name))
    }

    /// Evaluates an operation by the contract.
    pub(crate) fn evaluate(&self, operation: &Operation) -> Expectation {
        let mut expectation =
            Expectation { gate: vec![], refusals: vec![], tolerated: vec![], after: self.state.clone() };
        let v = &mut expectation;
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
                // The items can have different refusals, and the answer may be any of them. So a caller that lacks the
                // permission for one item may learn about another.
                if items.len() > 1 && !v.gate.is_empty() {
                    v.refusals.append(&mut v.gate);
                }
            }
            Operation::Revoke { assignment } => {
                (v.gate, v.tolerated) = self.assignment_gate("role-assignments:delete", *assignment);
                if v.gate.is_empty() {
                    v.after.assignments[assignment.index].gone = true;
                    self.check_administrators(v);
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
            Operation::CreateUser { email, home } => {
                v.gate = self.gate("users:create", None);
                self.check_email(v, None, email);
                self.check_home(v, *home);
                let (email, first_name) = (email.clone(), "Ada".to_owned());
                let home = home.map(|home| home.index);
                let status = Status::Active;
                let new = User { email, is_verified: false, has_password: true, first_name, status, home };
                v.after.users.push(new);
            }
            Operation::PatchUser { user, patch } => self.patch_user(v, *user, patch),
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
            Operation::VerifyEmail { user } => {
                if self.state.users[*user].status == Status::Inactive {
                    v.refusals.push("UserInactive");
                }
                v.after.users[*user].is_verified = true;
            }
            Operation::LogIn { person } => self.log_in(v, person),
            Operation::Link { person } => self.link(v, person),
            Operation::Unlink { identity } => self.unlink(v, *identity),
            Operation::StepUp if self.user().is_none() => v.refusals.push("NotAUser"),
            Operation::StepUp if matches!(self.actor, Actor::Key(_)) => v.refusals.push("ApiKey"),
            Operation::StepUp if self.user().is_some_and(|user| !self.state.users[user].has_password) => {
                v.refusals.push("Credentials");
            }
            Operation::StepUp | Operation::Sweep | Operation::Wait { .. } | Operation::Read(_) => {}
        }
        expectation
    }

    fn create_role(&self, v: &mut Expectation, name: &str, scope: Scope, permissions: &[&'static str]) {
        v.gate = self.gate("roles:create", None);
        if !permissions.iter().all(|pattern| self.is_registered(pattern)) {
            v.refusals.push("Validation");
        }
        if !self.has(permissions.iter().copied(), None, self.now) {
            v.refusals.push("Escalation");
        }
        self.check_role_name(v, None, name);
        let permissions = permissions.iter().copied().collect();
        v.after.roles.push(Role { name: name.to_owned(), scope, permissions, system: false, gone: false });
    }

    fn check_role_name(&self, v: &mut Expectation, own: Option<usize>, name: &str) {
        let taken = |(number, role): (usize, &Role)| Some(number) != own && !role.gone && role.name == name;
        if self.state.roles.iter().enumerate().any(taken) {
            v.refusals.push("RoleNameTaken");
        }
    }

    fn patch_role(
        &self,
        v: &mut Expectation,
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
        self.check_role_name(v, Some(role.index), &after.name);
        for assignment in self.state.assignments.iter().filter(|it| !it.gone && it.role == role.index) {
            let fits = after.scope.fits(assignment.spot);
            if !fits && self.now < assignment.until {
                v.refusals.push("RoleScopeInUse");
            } else if !fits {
                v.tolerated.push("RoleScopeInUse");
            }
        }
        let is_new = |pattern: &&&'static str| !before.permissions.iter().any(|held| covers(held, pattern));
        // The caller needs the new patterns until the last end of an assignment of the role. The other roles of the
        // holders do not matter.
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
        self.check_protections(v, after.permissions.iter().filter(is_new).copied(), None, until);
        v.after.roles[role.index] = after;
        self.check_growth(v);
    }

    fn delete_role(&self, v: &mut Expectation, role: Ref) {
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

    fn register(&self, v: &mut Expectation, name: &'static str) {
        v.gate = self.gate("permissions:create", None);
        if self.state.permissions.iter().any(|found| !found.gone && found.name == name) {
            v.refusals.push("PermissionNameTaken");
        }
        // The contract permits that the caller must have the new permission, because wildcards include it at once.
        if !self.has([name], None, NEVER) {
            v.tolerated.push("Escalation");
        }
        v.after.permissions.push(Registered { name, system: false, gone: false });
    }

    fn unregister(&self, v: &mut Expectation, permission: Ref) {
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

    fn assign(&self, v: &mut Expectation, item: &Item) {
        let gate = self.gate("role-assignments:create", item.organization);
        // A caller that may assign nowhere may get this refusal, also if the organization does not exist.
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
            Some(Scope::Tenant) if item.organization.is_some() => v.refusals.push("OrganizationRefused"),
            Some(Scope::Organization) if item.organization.is_none() => v.refusals.push("OrganizationRequired"),
            _ => {}
        }
        if item.organization.is_some_and(|organization| !self.own(organization)) {
            return;
        }
        let spot = item.organization.map(|organization| organization.index);
        if spot.is_some_and(|organization| self.state.is_inactive(organization)) {
            v.refusals.push("OrganizationInactive");
        }
        let Some(role) = role.filter(|_| user.is_some()) else { return };
        if !self.has(role.permissions.iter().copied(), spot, item.until) {
            v.refusals.push("Escalation");
        }
        self.check_protections(v, role.permissions.iter().copied(), spot, item.until);
        for assignment in &mut v.after.assignments {
            let same = assignment.user == item.user.index
                && assignment.role == item.role.index
                && assignment.spot == spot
                && !assignment.gone;
            if same && self.now < assignment.until {
                v.refusals.push("RoleHeld");
            } else if same {
                // An expired assignment does not prevent a new one.
                assignment.gone = true;
            }
        }
        let (user, role) = (item.user.index, item.role.index);
        v.after.assignments.push(Assignment { user, role, spot, until: item.until, gone: false });
    }

    fn expire(&self, v: &mut Expectation, assignment: Ref, until: Moment) {
        (v.gate, v.tolerated) = self.assignment_gate("role-assignments:update", assignment);
        let own = self.own(assignment).then(|| &self.state.assignments[assignment.index]);
        let is_past = until <= self.now;
        if is_past && own.is_some_and(|own| own.until == until) {
            // The assignment has expired, and the operation does not change its end.
            v.tolerated.push("Validation");
        } else if is_past {
            v.refusals.push("Validation");
        }
        let Some(before) = own.filter(|_| v.gate.is_empty()) else { return };
        v.after.assignments[assignment.index].until = until;
        let permissions = self.state.roles[before.role].permissions.iter().copied();
        if until > before.until {
            if !self.has(permissions.clone(), before.spot, until) {
                v.refusals.push("Escalation");
            }
            self.check_protections(v, permissions, before.spot, until);
        }
        match self.state.roles[before.role].scope {
            Scope::Tenant if until > before.until && before.spot.is_some() => v.refusals.push("OrganizationRefused"),
            Scope::Organization if until > before.until && before.spot.is_none() => {
                v.refusals.push("OrganizationRequired");
            }
            _ => {}
        }
        self.check_administrators(v);
        self.check_growth(v);
    }

    fn is_slug_taken(&self, own: Option<usize>, slug: Option<&String>) -> bool {
        let others = self.state.organizations.iter().enumerate().filter(|(number, _)| Some(*number) != own);
        let others = others.filter(|(_, other)| other.status != Status::Inactive);
        slug.is_some() && others.into_iter().any(|(_, other)| other.slug.as_ref() == slug)
    }

    /// Adds the refusals of a new parent. `None` makes the organization a root. Returns whether the parent belongs to
    /// the tenant.
    fn check_parent(&self, v: &mut Expectation, permission: &str, parent: Option<Ref>) -> bool {
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

    fn create_organization(&self, v: &mut Expectation, name: &str, slug: Option<&String>, parent: Option<Ref>) {
        let is_own = self.check_parent(v, "organizations:create", parent);
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

    fn deactivate(&self, v: &mut Expectation, organization: usize) {
        let has_children = self
            .state
            .organizations
            .iter()
            .any(|other| other.parent == Some(organization) && other.status != Status::Inactive);
        if has_children {
            v.refusals.push("OrganizationHasChildren");
        }
        v.after.organizations[organization].status = Status::Inactive;
        let parent = v.after.organizations[organization].parent;
        for user in v.after.users.iter_mut().filter(|user| user.home == Some(organization)) {
            user.home = parent;
        }
        for assignment in &mut v.after.assignments {
            assignment.gone |= assignment.spot == Some(organization);
        }
    }

    fn patch_organization(&self, v: &mut Expectation, organization: Ref, patch: &OrganizationPatch) {
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
            if is_move && !self.check_parent(v, "organizations:update", parent) {
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
            // Another organization may have got the same slug, generated from its name, since the deletion.
            v.tolerated.push("SlugTaken");
        }
        if was_inactive && !is_inactive && after.parent.is_some_and(|parent| self.state.is_inactive(parent)) {
            v.refusals.push("OrganizationInactive");
        }
        if is_inactive && before.parent != after.parent {
            // No assignment is in force in a deleted organization. The escalation check may still ask for the rights
            // that would be in force there.
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
        self.check_growth(v);
        if self.comes_into_force(&v.after) {
            v.tolerated.push("Escalation");
        }
    }

    /// Whether an assignment comes into force in an organization in which the caller could not grant its role, at once
    /// or when suspended organizations are ACTIVE again. It does not matter if the user has the same rights by another
    /// role.
    fn comes_into_force(&self, after: &Tenant) -> bool {
        let counts = |tenant: &Tenant, assignment: &Assignment, organization: usize| {
            let is_lineage_active = assignment.spot.is_none_or(|spot| tenant.is_lineage_active(spot));
            is_lineage_active && tenant.reaches(assignment.spot, Some(organization))
        };
        let live = (0..after.assignments.len()).filter(|number| after.is_live(*number, self.now));
        live.map(|number| &after.assignments[number]).any(|assignment| {
            (0..after.organizations.len()).any(|organization| {
                let reaches = |tenant: &Tenant| tenant.reaches(assignment.spot, Some(organization));
                let begins = counts(after, assignment, organization) && !counts(self.state, assignment, organization)
                    || reaches(after) && !reaches(self.state);
                let permissions = after.roles[assignment.role].permissions.iter().copied();
                begins && !self.has(permissions, Some(organization), assignment.until)
            })
        })
    }

    fn check_email(&self, v: &mut Expectation, own: Option<usize>, email: &str) {
        let holds = |(number, user): &(usize, &User)| Some(*number) != own && user.email == email;
        if let Some((number, holder)) = self.state.users.iter().enumerate().find(holds) {
            // A caller who may read the deleted user can restore it instead.
            let is_told = holder.status == Status::Inactive && self.is_member("users:read", number);
            v.refusals.push(if is_told { "EmailOfDeletedUser" } else { "EmailTaken" });
        }
    }

    fn check_home(&self, v: &mut Expectation, home: Option<Ref>) {
        let Some(home) = home else { return };
        if !self.own(home) {
            v.refusals.push(MISSING);
        } else if self.state.is_inactive(home.index) {
            v.refusals.push("OrganizationInactive");
        }
    }

    fn patch_user(&self, v: &mut Expectation, user: Ref, patch: &UserPatch) {
        let UserPatch { email, first_name, status, home } = patch;
        (v.gate, v.tolerated) = self.user_gate("users:update", user);
        if !v.gate.is_empty() {
            return;
        }
        let before = &self.state.users[user.index];
        if let Some(email) = email {
            self.check_email(v, Some(user.index), email);
            v.after.users[user.index].email.clone_from(email);
            v.after.users[user.index].is_verified &= *email == before.email;
            // A password reset goes to this e-mail, so a change of it can hand over the account with all its rights.
            // These include the rights that are suspended for now.
            let (rights, is_own) = (self.state.rights_asleep(user.index, self.now), self.user() == Some(user.index));
            let is_covered = |right: &Right| self.has([right.pattern], right.spot, right.until);
            if *email != before.email && !is_own && !rights.iter().all(is_covered) {
                v.refusals.push("Escalation");
            }
            if *email != before.email && !self.is_fresh() {
                v.refusals.push(self.not_fresh());
            }
        }
        if let Some(first_name) = first_name {
            v.after.users[user.index].first_name.clone_from(first_name);
        }
        if let Some(home) = *home
            && home != before.home.map(|index| Ref { tenant: self.tenant, index })
        {
            v.refusals.extend(self.gate("users:update", None));
            self.check_home(v, home);
            v.after.users[user.index].home = home.map(|home| home.index);
        }
        let Some(status) = status.filter(|status| *status != before.status) else {
            if before.status == Status::Inactive && v.after.users[user.index] != *before {
                v.refusals.push("UserInactive");
            }
            return;
        };
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

    /// A login by a provider (`docs/federation.md#whose-account`). No caller grants what it gives.
    fn log_in(&self, v: &mut Expectation, person: &Person) {
        let state = self.state;
        let Person { provider, subject, email, is_verified, .. } = person;
        if let Some(user) = state.linked(*provider, subject) {
            match state.users[user].status {
                Status::Active => {}
                Status::Suspended => v.refusals.push("Suspended"),
                Status::Inactive => v.refusals.push("Credentials"),
            }
            return;
        }
        let is_company = *provider == COMPANY;
        let is_of_domain = email.ends_with(&format!("@{}", state.domain));
        let holder = state.users.iter().position(|user| user.email == *email);
        let user = holder.unwrap_or(state.users.len());
        if holder.is_some() {
            let (found, providers) = (&state.users[user], state.providers_of(user));
            let may_be_linked = (is_company && is_of_domain && *is_verified)
                && (found.status == Status::Active && found.is_verified)
                && (found.has_password || providers.contains(&COMPANY))
                && !providers.contains(provider);
            let is_everything =
                |it: &&Assignment| it.user == user && !it.gone && state.roles[it.role].permissions.contains("*");
            let everything: Vec<_> = state.assignments.iter().filter(is_everything).collect();
            if !may_be_linked || everything.iter().any(|it| self.now < it.until) {
                v.refusals.push("NotLinked");
            } else if !everything.is_empty() {
                // An expired assignment may count or not.
                v.tolerated.push("NotLinked");
            }
        } else {
            if !is_verified || is_company != is_of_domain {
                v.refusals.push("NotLinked");
            }
            let (email, first_name, status) = (email.clone(), "Grace".to_owned(), Status::Active);
            let new = User { email, is_verified: is_company, has_password: false, first_name, status, home: None };
            v.after.users.push(new);
            let can_be_held = |(role, spot): &(usize, Spot)| {
                let role = &state.roles[*role];
                let is_there = !role.gone && spot.is_none_or(|spot| !state.is_inactive(spot));
                is_there && role.scope.fits(*spot) && !role.permissions.contains("*")
            };
            if let Some((role, spot)) = state.provided.filter(can_be_held) {
                v.after.assignments.push(Assignment { user, role, spot, until: NEVER, gone: false });
            }
        }
        v.after.identities.push(identity(user, person));
    }

    fn link(&self, v: &mut Expectation, person: &Person) {
        let user = match self.actor {
            Actor::User(user) => user,
            Actor::Key(_) => return v.refusals.push("ApiKey"),
            Actor::System => return v.refusals.push("NotAUser"),
        };
        if !self.is_fresh() {
            v.refusals.push(self.not_fresh());
        }
        let is_taken = self.state.linked(person.provider, &person.subject).is_some();
        if is_taken || self.state.providers_of(user).contains(&person.provider) {
            v.refusals.push("IdentityLinked");
        }
        v.after.identities.push(identity(user, person));
    }

    fn unlink(&self, v: &mut Expectation, identity: Ref) {
        const NEEDED: &str = "users:update";
        let found = self.own(identity).then(|| &self.state.identities[identity.index]).filter(|found| !found.gone);
        let is_own = found.is_some_and(|found| self.actor == Actor::User(found.user));
        if !is_own {
            (v.gate, v.tolerated) = match found {
                Some(found) => self.user_gate(NEEDED, Ref { tenant: self.tenant, index: found.user }),
                None if self.holds_anywhere(NEEDED) => (vec![MISSING], vec![]),
                None => (vec![FORBIDDEN], vec![]),
            };
        }
        if !self.is_fresh() && (is_own || self.holds_anywhere(NEEDED)) {
            let refusals = if v.gate.is_empty() { &mut v.refusals } else { &mut v.gate };
            refusals.push(self.not_fresh());
        }
        let Some(found) = found.filter(|_| v.gate.is_empty()) else { return };
        // Without the link, another person with the address may get the account with all its rights.
        let rights = self.state.rights_asleep(found.user, self.now);
        if !is_own && !rights.iter().all(|right| self.has([right.pattern], right.spot, right.until)) {
            v.refusals.push("Escalation");
        }
        let user = &self.state.users[found.user];
        if user.status != Status::Inactive && !user.has_password && self.state.providers_of(found.user).len() == 1 {
            v.refusals.push("LastIdentity");
        }
        v.after.identities[identity.index].gone = true;
    }

    fn set_status(&self, v: &mut Expectation, user: usize, status: Status) {
        v.after.users[user].status = status;
        if status == Status::Inactive {
            for assignment in &mut v.after.assignments {
                assignment.gone |= assignment.user == user;
            }
        }
        self.check_administrators(v);
        self.check_growth(v);
        let wakes = status == Status::Active && self.state.users[user].status != Status::Active;
        let back = self.state.rights_asleep(user, self.now);
        if wakes && !back.iter().all(|right: &Right| self.has([right.pattern], right.spot, right.until)) {
            v.tolerated.push("Escalation");
        }
        if wakes {
            for Right { pattern, spot, until } in back {
                self.check_protections(v, [pattern], spot, until);
            }
        }
    }
}

fn identity(user: usize, person: &Person) -> Identity {
    Identity { user, provider: person.provider, subject: person.subject.clone(), gone: false }
}

impl OperationContext<'_> {
    /// The expected answer to a read: the refusals, the items, and whether their order matters. Without refusals and
    /// items, the answer is "not found".
    pub(crate) fn shows(&self, read: Read) -> (Vec<&'static str>, Option<Vec<usize>>, bool) {
        let state = self.state;
        let gate_anywhere = |permission| if self.holds_anywhere(permission) { vec![] } else { vec![FORBIDDEN] };
        let alive = |organization: &usize| !state.is_inactive(*organization);
        let readable = |organization: &usize| self.may("organizations:read", Some(*organization));
        let organizations = || 0..state.organizations.len();
        let organization_gate = |organization: Ref| self.gate("organizations:read", Some(organization));
        let live = || (0..state.assignments.len()).filter(|number| state.is_live(*number, self.now));
        let some = |numbers: Vec<usize>| Some(numbers);
        match read {
            Read::Users => {
                let seen = (0..state.users.len()).filter(|user| self.is_member("users:read", *user));
                (gate_anywhere("users:read"), some(seen.collect()), false)
            }
            Read::Members(organization) => {
                let holds = |user: &usize| {
                    live().any(|it| {
                        let assignment = &state.assignments[it];
                        assignment.user == *user && assignment.spot == Some(organization.index)
                    })
                };
                // An organization outside the caller's visible scope has the same answer as a missing one.
                let is_visible = self.own(organization) && self.may("users:read", Some(organization.index));
                let seen = (0..state.users.len()).filter(|user| is_visible && self.is_member("users:read", *user));
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
            Read::Organization(organization) => {
                (organization_gate(organization), some(vec![organization.index]), false)
            }
            Read::Tree(organization) | Read::Children(organization) | Read::Ancestors(organization)
                if !self.own(organization) =>
            {
                (organization_gate(organization), None, false)
            }
            Read::Tree(organization) => {
                let below = organizations().filter(alive).filter(|it| state.lineage(*it).contains(&organization.index));
                (organization_gate(organization), some(below.collect()).filter(|_| alive(&organization.index)), false)
            }
            Read::Children(organization) => {
                let below = organizations()
                    .filter(alive)
                    .filter(|it| state.organizations[*it].parent == Some(organization.index));
                (organization_gate(organization), some(below.collect()), false)
            }
            Read::Ancestors(organization) => {
                let mut above: Vec<_> =
                    state.lineage(organization.index).into_iter().skip(1).filter(readable).collect();
                above.reverse();
                (organization_gate(organization), some(above), true)
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

    /// The refusals of a question.
    pub(crate) fn question_gate(&self, about: Option<Ref>, organization: Option<Ref>) -> Vec<&'static str> {
        let is_self = about.is_none_or(|user| self.own(user) && self.user() == Some(user.index));
        let mut gate = if !is_self {
            self.gate("role-assignments:read", organization)
        } else if let Some(organization) = organization {
            match self.user() {
                _ if !self.own(organization) => vec![MISSING],
                Some(user) if self.state.sees(user, Some(organization.index), self.now) => vec![],
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
