//! What a caller is shown.

use super::{Actor, FORBIDDEN, MISSING, OperationContext};
use crate::operation::{KEYS, Read, Ref};
use crate::state::is_same;

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
            Read::Directories => {
                let seen = (0..state.directories.len()).filter(|directory| !state.directories[*directory].gone);
                (self.gate("directories:read", None), some(seen.collect()), false)
            }
            Read::Groups(directory) => {
                let is_there = self.own(directory) && !state.directories[directory.index].gone;
                let is_of =
                    |group: &usize| !state.groups[*group].gone && state.groups[*group].directory == directory.index;
                let mut seen: Vec<_> = (0..state.groups.len()).filter(is_of).collect();
                seen.sort_by_key(|group| state.groups[*group].name.to_lowercase());
                (self.gate("directories:read", None), is_there.then_some(seen), true)
            }
            Read::WithAttribute(key, text) => {
                let gate = gate_anywhere("users:read");
                let Some(searched) = state.rules.searched(key, text) else {
                    return (if gate.is_empty() { vec!["Validation"] } else { gate }, None, false);
                };
                let has = |user: &usize| {
                    state.users[*user].attributes.get(key).is_some_and(|value| is_same(value, &searched))
                };
                let seen = (0..state.users.len()).filter(has).filter(|user| self.is_member("users:read", *user));
                (gate, some(seen.collect()), false)
            }
            // The keys of its own attributes that the caller sees.
            Read::Own => match self.actor {
                Actor::User(user) => {
                    let is_shown = |key: &str| state.rules.show(key) && state.users[user].attributes.contains_key(key);
                    let seen = (0..KEYS.len()).filter(|number| is_shown(KEYS[*number]));
                    (vec![], some(seen.collect()), false)
                }
                Actor::Key(_) => (vec![], some(vec![]), false),
                Actor::System => (vec!["NotAUser"], None, false),
            },
            Read::Holds => {
                let seen = (0..state.holds.len()).filter(|hold| !state.holds[*hold].gone);
                (self.gate("iam-legal-holds:read", None), some(seen.collect()), false)
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
