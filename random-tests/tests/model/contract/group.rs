//! The groups of directories, and the roles to which people map them (`docs/directories.md`).

use std::collections::BTreeSet;

use super::{Actor, Expectation, FORBIDDEN, MISSING, OperationContext};
use crate::operation::{GroupPatch, MemberPatch, Placed, Ref};
use crate::state::{Context, Group, NEVER, Scope, Spot};

/// The maximum number of roles of a group.
const MAX_GRANTS: usize = 20;

impl OperationContext<'_> {
    /// Whether a directory has the group.
    fn has_group(&self, directory: usize, group: Ref) -> bool {
        let is_there = |group: &Group| !group.gone && group.directory == directory;
        self.own(group) && is_there(&self.state.groups[group.index])
    }

    fn check_group_name(&self, v: &mut Expectation, directory: usize, own: Option<usize>, name: &str) {
        let has_name = |(number, group): (usize, &Group)| {
            let is_other = !group.gone && group.directory == directory && Some(number) != own;
            is_other && group.name.to_lowercase() == name.to_lowercase()
        };
        if self.state.groups.iter().enumerate().any(has_name) {
            v.refusals.push("Taken displayName");
        }
    }

    /// The users that a directory names as members.
    fn members(&self, v: &mut Expectation, directory: usize, named: &[Ref]) -> BTreeSet<usize> {
        if !named.iter().all(|user| self.own(*user) && self.state.can_be_member(directory, user.index)) {
            v.refusals.push("InvalidValue");
        }
        named.iter().map(|user| user.index).collect()
    }

    pub(super) fn create_group(
        &self,
        v: &mut Expectation,
        directory: usize,
        name: &str,
        external_id: Option<&String>,
        members: &[Ref],
    ) {
        self.check_group_name(v, directory, None, name);
        let members = self.members(v, directory, members);
        v.after.groups.push(Group {
            directory,
            name: name.to_owned(),
            external_id: external_id.cloned(),
            members,
            grants: BTreeSet::new(),
            withheld: BTreeSet::new(),
            gone: false,
        });
    }

    pub(super) fn patch_group(&self, v: &mut Expectation, directory: usize, group: Ref, patch: &GroupPatch) {
        if !self.has_group(directory, group) {
            return v.refusals.push(MISSING);
        }
        let before = &self.state.groups[group.index];
        let mut after = before.clone();
        if let Some(name) = &patch.name {
            self.check_group_name(v, directory, Some(group.index), name);
            after.name.clone_from(name);
        }
        after.external_id = patch.external_id.clone().unwrap_or(after.external_id);
        match &patch.members {
            None => {}
            Some(MemberPatch::Add(named)) => after.members.extend(self.members(v, directory, named)),
            Some(MemberPatch::Replace(named)) => after.members = self.members(v, directory, named),
            Some(MemberPatch::Remove(named)) => {
                after.members.retain(|member| !named.contains(&Ref { tenant: self.tenant, index: *member }));
            }
        }
        let has_new = !after.members.is_subset(&before.members);
        if has_new {
            self.check_memberships(v, group.index, "role-assignments:create");
        }
        if !before.members.is_subset(&after.members) {
            self.check_memberships(v, group.index, "role-assignments:delete");
        }
        // The key of the directory must hold what its members get.
        let is_covered = |grant: &(usize, Spot)| match self.actor {
            Actor::User(user) | Actor::Key(user) => self.state.held_until(user, *grant, self.now).is_some(),
            Actor::System => true,
        };
        if has_new && !before.grants.iter().all(is_covered) {
            v.refusals.push("AccountEscalation");
        }
        self.regroup(v, group.index, after);
    }

    pub(super) fn delete_group(&self, v: &mut Expectation, directory: usize, group: Ref) {
        if !self.has_group(directory, group) {
            return v.refusals.push(MISSING);
        }
        if !self.state.groups[group.index].members.is_empty() {
            self.check_memberships(v, group.index, "role-assignments:delete");
        }
        v.after.remove_group(group.index);
        v.after.end_ungiven(self.now);
        self.check_administrators(v);
    }

    /// Maps a group to roles, in place of the former ones. The caller must hold each new role without an end, and the
    /// account of the directory must hold it now.
    pub(super) fn set_grants(&self, v: &mut Expectation, group: Ref, grants: &[Placed]) {
        v.gate = self.gate("directories:update", None);
        let is_repeated = |(number, placed): (usize, &Placed)| grants[..number].contains(placed);
        if grants.len() > MAX_GRANTS || grants.iter().enumerate().any(is_repeated) {
            v.refusals.push("Validation");
        }
        if !self.own(group) || self.state.groups[group.index].gone {
            return v.refusals.push(MISSING);
        }
        let before = &self.state.groups[group.index];
        let mut after = Group { grants: BTreeSet::new(), ..before.clone() };
        for Placed { role, organization } in grants {
            let is_own = organization.is_none_or(|organization| self.own(organization));
            if !is_own || !self.own(*role) || self.state.roles[role.index].gone {
                v.refusals.push(MISSING);
                continue;
            }
            let spot = organization.map(|organization| organization.index);
            after.grants.insert((role.index, spot));
            if before.grants.contains(&(role.index, spot)) {
                continue;
            }
            v.refusals.extend(self.gate("role-assignments:create", *organization));
            let role_before = &self.state.roles[role.index];
            match role_before.scope {
                Scope::Tenant if spot.is_some() => v.refusals.push("OrganizationRefused"),
                Scope::Organization if spot.is_none() => v.refusals.push("OrganizationRequired"),
                _ => {}
            }
            if spot.is_some_and(|organization| self.state.is_inactive(organization)) {
                v.refusals.push("OrganizationInactive");
            }
            let permissions = role_before.permissions.iter().copied();
            if !self.has(permissions.clone(), spot, NEVER) {
                v.refusals.push("Escalation");
            }
            self.check_protections(v, permissions, spot, NEVER);
            if self.state.covered_until(group.index, (role.index, spot), self.now).is_none() {
                v.refusals.push("AccountEscalation");
            }
        }
        self.regroup(v, group.index, after);
    }

    /// Adds the refusals of a key that changes the members of a group and lacks the permission where it gives a role.
    fn check_memberships(&self, v: &mut Expectation, group: usize, permission: &str) {
        for (_, spot) in &self.state.groups[group].grants {
            if !self.may(permission, *spot) {
                v.refusals.push(FORBIDDEN);
            }
        }
    }

    /// Changes a group. What no group gives any more ends. New members get all roles, and other members the new ones.
    fn regroup(&self, v: &mut Expectation, number: usize, mut after: Group) {
        after.withheld.retain(|(user, _, _)| after.members.contains(user));
        let (had, has) = (contexts(&self.state.groups[number]), contexts(&after));
        v.after.groups[number] = after;
        v.after.end_ungiven(self.now);
        for context in has.difference(&had) {
            v.after.give(number, *context, self.now);
        }
        self.check_administrators(v);
    }
}

/// What a group gives, or would give if no review had taken it.
fn contexts(group: &Group) -> BTreeSet<Context> {
    let of_member = |user: &usize| {
        let user = *user;
        group.grants.iter().map(move |(role, spot)| (user, *role, *spot))
    };
    group.members.iter().flat_map(of_member).collect()
}
