//! The organization tree.

use super::{Expectation, FORBIDDEN, MAX_DEPTH, OperationContext};
use crate::operation::{OrganizationPatch, Ref};
use crate::state::{Assignment, Organization, Status, Tenant};

impl OperationContext<'_> {
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

    pub(super) fn create_organization(
        &self,
        v: &mut Expectation,
        name: &str,
        slug: Option<&String>,
        parent: Option<Ref>,
    ) {
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

    pub(super) fn deactivate(&self, v: &mut Expectation, organization: usize) {
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
            user.ended = self.now;
        }
        for group in &mut v.after.groups {
            group.grants.retain(|(_, spot)| *spot != Some(organization));
        }
        for assignment in &mut v.after.assignments {
            assignment.gone |= assignment.spot == Some(organization);
        }
    }

    pub(super) fn patch_organization(&self, v: &mut Expectation, organization: Ref, patch: &OrganizationPatch) {
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
        self.check_growth_of_members(v);
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
}
