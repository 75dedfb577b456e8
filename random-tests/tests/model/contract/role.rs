//! Roles and permissions.

use super::{Expectation, OperationContext};
use crate::operation::Ref;
use crate::state::{NEVER, Registered, Role, Scope, covers};

impl OperationContext<'_> {
    pub(super) fn create_role(&self, v: &mut Expectation, name: &str, scope: Scope, permissions: &[&'static str]) {
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

    pub(super) fn patch_role(
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
        let given = self.state.groups.iter().flat_map(|group| &group.grants);
        if given.into_iter().any(|(given, spot)| *given == role.index && !after.scope.fits(*spot)) {
            v.refusals.push("RoleScopeInUse");
        }
        let is_new = |pattern: &&&'static str| !before.permissions.iter().any(|held| covers(held, pattern));
        // The caller needs the new patterns until the last end of an assignment of the role, and forever if a group or
        // a provider gives the role. The other roles of the holders do not matter.
        let held = self
            .state
            .assignments
            .iter()
            .enumerate()
            .filter(|(number, assignment)| assignment.role == role.index && self.state.is_live(*number, self.now));
        let is_provided = self.state.provided.is_some_and(|(provided, _)| provided == role.index);
        let until = match is_provided || self.state.is_mapped(role.index) {
            true => NEVER,
            false => held.map(|(_, assignment)| assignment.until).max().unwrap_or(self.now),
        };
        if !self.has(after.permissions.iter().filter(is_new).copied(), None, until) {
            v.refusals.push("Escalation");
        }
        self.check_protections(v, after.permissions.iter().filter(is_new).copied(), None, until);
        v.after.roles[role.index] = after;
        self.check_growth(v);
    }

    pub(super) fn delete_role(&self, v: &mut Expectation, role: Ref) {
        let is_there = self.own(role) && !self.state.roles[role.index].gone;
        (v.gate, v.refusals) = self.tenant_gate("roles:delete", is_there);
        if !is_there {
            return;
        }
        if self.state.roles[role.index].system {
            v.refusals.push("SystemRole");
        }
        if self.state.is_mapped(role.index) {
            v.refusals.push("RoleInUse");
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

    pub(super) fn register(&self, v: &mut Expectation, name: &'static str) {
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

    pub(super) fn unregister(&self, v: &mut Expectation, permission: Ref) {
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
}
