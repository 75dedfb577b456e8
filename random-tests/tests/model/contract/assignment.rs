//! Role assignments.

use super::{Actor, Expectation, FORBIDDEN, MISSING, OperationContext};
use crate::operation::{Item, Ref};
use crate::state::{Assignment, Moment, Scope, Status};

impl OperationContext<'_> {
    pub(super) fn assign(&self, v: &mut Expectation, item: &Item) {
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
        v.after.assignments.push(Assignment { user, role, spot, until: item.until, group: None, gone: false });
    }

    pub(super) fn revoke(&self, v: &mut Expectation, assignment: Ref) {
        (v.gate, v.tolerated) = self.assignment_gate("role-assignments:delete", assignment);
        if !v.gate.is_empty() {
            return;
        }
        if self.state.assignments[assignment.index].group.is_some() {
            v.refusals.push("AssignmentOfGroup");
        }
        v.after.hand_over(assignment.index, self.now);
        self.check_administrators(v);
    }

    /// A review of the roles of a user, which trusted code has begun and decided, and which the caller completes. All
    /// assignments end, but for those of one role. Groups do not give them again.
    pub(super) fn review(&self, v: &mut Expectation, user: Ref, kept: Option<Ref>) {
        if !self.own(user) {
            v.gate.push(MISSING);
            return;
        }
        if !self.may("access-reviews:update", None) {
            v.gate.extend([FORBIDDEN, MISSING]);
        }
        if matches!(self.actor, Actor::Key(_)) {
            v.gate.push("ApiKey");
        }
        for (number, assignment) in self.state.assignments.iter().enumerate() {
            let is_kept = kept.is_some_and(|role| self.own(role) && role.index == assignment.role);
            if assignment.user != user.index || is_kept || !self.state.is_live(number, self.now) {
                continue;
            }
            if self.actor == Actor::User(user.index) {
                v.refusals.push("OwnAccess");
            }
            if !self.may("role-assignments:delete", assignment.spot) {
                v.refusals.push(FORBIDDEN);
            }
            v.after.assignments[number].gone = true;
            let context = assignment.context();
            for group in v.after.groups.iter_mut().filter(|group| group.gives(context)) {
                group.withheld.insert(context);
            }
        }
        self.check_administrators(v);
    }

    pub(super) fn expire(&self, v: &mut Expectation, assignment: Ref, until: Moment) {
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
        if before.group.is_some() && until != before.until {
            v.refusals.push("AssignmentOfGroup");
        }
        v.after.assignments[assignment.index].until = until;
        if until < before.until {
            v.after.shorten_gifts(before.user, self.now);
        }
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
}
