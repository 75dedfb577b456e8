//! What people do with directories, and what directories do, and its random choice.

use super::{Chooser, Item, Operation, Ref};
use crate::state::{Entry, Status, Tenant};

/// What a directory does with its users and groups.
#[derive(Clone, Debug)]
pub(crate) enum Provision {
    CreateUser(NewEntry),
    PatchUser { user: Ref, patch: EntryPatch },
    DeleteUser { user: Ref },
    CreateGroup { name: String, external_id: Option<String>, members: Vec<Ref> },
    PatchGroup { group: Ref, patch: GroupPatch },
    ReplaceGroup { group: Ref, name: String, external_id: Option<String>, members: Option<Vec<Ref>> },
    DeleteGroup { group: Ref },
}

/// What a directory says of a new user, or of one who comes back.
#[derive(Clone, Debug)]
pub(crate) struct NewEntry {
    pub(crate) name: String,
    pub(crate) external_id: Option<String>,
    pub(crate) active: Option<bool>,
    pub(crate) email: String,
    pub(crate) first_name: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct EntryPatch {
    pub(crate) name: Option<String>,
    pub(crate) external_id: Option<Option<String>>,
    pub(crate) active: Option<bool>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct GroupPatch {
    pub(crate) name: Option<String>,
    pub(crate) external_id: Option<Option<String>>,
    pub(crate) members: Option<MemberPatch>,
}

#[derive(Clone, Debug)]
pub(crate) enum MemberPatch {
    Add(Vec<Ref>),
    Remove(Vec<Ref>),
    Replace(Vec<Ref>),
}

/// A role of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) role: Ref,
    pub(crate) organization: Option<Ref>,
}

impl Provision {
    /// The permission that the key needs.
    pub(crate) fn needed(&self) -> &'static str {
        match self {
            Self::CreateUser(_) => "users:create",
            Self::DeleteUser { .. } => "users:delete",
            Self::PatchUser { .. }
            | Self::CreateGroup { .. }
            | Self::PatchGroup { .. }
            | Self::ReplaceGroup { .. }
            | Self::DeleteGroup { .. } => "users:update",
        }
    }
}

impl NewEntry {
    pub(crate) fn entry(&self, directory: usize) -> Entry {
        let Self { name, email, first_name, .. } = self.clone();
        Entry { directory, name, email, first_name, deleted: None }
    }
}

impl<'a> Chooser<'a> {
    fn own(&self) -> &'a Tenant {
        &self.tenants[self.tenant]
    }

    fn own_ref(&self, index: usize) -> Ref {
        Ref { tenant: self.tenant, index }
    }

    /// Chooses one of these. `None` if there are none.
    fn one_of(&mut self, from: &[usize]) -> Option<usize> {
        (!from.is_empty()).then(|| from[self.random.usize(..from.len())])
    }

    /// Chooses a directory. `None` if the tenant has none.
    pub(super) fn directory(&mut self) -> Option<Ref> {
        let found = self.good(
            |tenant| tenant.directories.len(),
            |tenant, directory| tenant.directories.get(directory).is_some_and(|found| !found.gone),
        );
        (found.index < self.tenants[found.tenant].directories.len()).then_some(found)
    }

    /// Chooses the account of a directory. `None` if there is none.
    pub(super) fn account_of_directory(&mut self) -> Option<Ref> {
        let there = self.own().directories.iter().filter(|directory| !directory.gone);
        let accounts: Vec<usize> = there.map(|directory| directory.account).collect();
        self.one_of(&accounts).map(|account| self.own_ref(account))
    }

    /// Chooses an account for a new directory.
    fn free_account(&mut self) -> Ref {
        let tenant = self.own();
        let is_free = |user: &usize| {
            let found = &tenant.users[*user];
            found.is_service && found.status == Status::Active && tenant.directory_of(*user).is_none()
        };
        let free: Vec<usize> = (0..tenant.users.len()).filter(is_free).collect();
        match self.one_of(&free).filter(|_| self.random.u8(..8) > 0) {
            Some(account) => self.own_ref(account),
            None => self.any(|tenant| tenant.users.len()),
        }
    }

    /// Chooses a group, most often one of the directory. `None` if the tenant has none.
    fn group(&mut self, directory: Option<usize>) -> Option<Ref> {
        let found = self.good(
            |tenant| tenant.groups.len(),
            |tenant, group| {
                let is_of = |of: usize| directory.is_none_or(|directory| of == directory);
                tenant.groups.get(group).is_some_and(|found| !found.gone && is_of(found.directory))
            },
        );
        (found.index < self.tenants[found.tenant].groups.len()).then_some(found)
    }

    pub(super) fn create_directory(&mut self) -> Operation {
        Operation::CreateDirectory { account: self.free_account(), adopts: self.random.bool() }
    }

    pub(super) fn delete_directory(&mut self) -> Operation {
        match self.directory() {
            Some(directory) => Operation::DeleteDirectory { directory, suspends: self.random.bool() },
            None => self.create_directory(),
        }
    }

    /// Chooses new roles of a group, and keeps some of those that it has.
    pub(crate) fn set_grants(&mut self) -> Operation {
        let Some(group) = self.group(None) else { return self.create_directory() };
        let tenant = &self.tenants[group.tenant];
        let account = tenant.directories[tenant.groups[group.index].directory].account;
        let placed = |index: usize| Ref { tenant: group.tenant, index };
        let mut grants: Vec<Placed> = Vec::new();
        for (role, spot) in &tenant.groups[group.index].grants {
            if self.random.u8(..3) > 0 {
                grants.push(Placed { role: placed(*role), organization: spot.map(placed) });
            }
        }
        for _ in 0..self.random.usize(..=2) {
            grants.push(self.placed(account));
        }
        Operation::SetGrants { group, grants }
    }

    /// Chooses a role for a group, most often one that the account of its directory holds, and where it holds it.
    fn placed(&mut self, account: usize) -> Placed {
        let held = self.own().assignments.iter().filter(|assignment| !assignment.gone && assignment.user == account);
        let held: Vec<_> = held.map(|assignment| (assignment.role, assignment.spot)).collect();
        if held.is_empty() || self.random.u8(..4) == 0 {
            let Item { role, organization, .. } = self.item();
            return Placed { role, organization };
        }
        let (role, spot) = held[self.random.usize(..held.len())];
        let below = if spot.is_none() && self.random.u8(..3) == 0 { self.organization() } else { None };
        Placed { role: self.own_ref(role), organization: spot.map(|spot| self.own_ref(spot)).or(below) }
    }

    pub(super) fn review(&mut self) -> Operation {
        let is_given = |tenant: &Tenant, user: usize| {
            tenant.assignments.iter().any(|it| !it.gone && it.user == user && it.group.is_some())
        };
        let user = self.good(|tenant| tenant.users.len(), is_given);
        Operation::Review { user, kept: self.maybe(2, Self::role) }
    }

    /// Chooses what a directory does. `None` stands for a caller that has no directory.
    pub(crate) fn provision(&mut self, directory: Option<usize>) -> Operation {
        let provision = match (self.random.u8(..24), self.group(directory)) {
            (0..5, _) => Provision::CreateUser(self.new_entry(directory)),
            (5..8, _) => {
                let patch = EntryPatch {
                    name: self.maybe(3, Self::entry_name),
                    external_id: self.maybe(4, Self::external_id),
                    active: self.maybe(2, |chooser| chooser.random.bool()),
                };
                Provision::PatchUser { user: self.member(directory), patch: patched(patch) }
            }
            (8, _) => Provision::DeleteUser { user: self.member(directory) },
            (9..12, _) | (_, None) => {
                let (name, external_id) = (self.group_name(), self.external_id());
                Provision::CreateGroup { name, external_id, members: self.members(directory) }
            }
            (12..20, Some(group)) => Provision::PatchGroup { group, patch: self.group_patch(directory, group) },
            (20..23, Some(group)) => {
                let (name, external_id) = (self.group_name_of(group), self.external_id());
                let members = self.maybe(2, |chooser| chooser.members(directory));
                Provision::ReplaceGroup { group, name, external_id, members }
            }
            (_, Some(group)) => Provision::DeleteGroup { group },
        };
        Operation::Provision { directory, provision }
    }

    fn group_patch(&mut self, directory: Option<usize>, group: Ref) -> GroupPatch {
        let members = match self.random.u8(..12) {
            0..6 => Some(MemberPatch::Add(self.members(directory))),
            6..9 => {
                let present = self.tenants[group.tenant].groups[group.index].members.iter();
                let present: Vec<usize> = present.copied().collect();
                let mut named = self.members(directory);
                named.extend(self.one_of(&present).map(|index| Ref { tenant: group.tenant, index }));
                Some(MemberPatch::Remove(named))
            }
            9 => Some(MemberPatch::Replace(self.members(directory))),
            _ => None,
        };
        let name = if members.is_none() { Some(self.group_name()) } else { self.maybe(6, Self::group_name) };
        GroupPatch { name, external_id: self.maybe(6, Self::external_id), members }
    }

    /// Chooses a user as a member, most often one of the directory.
    fn member(&mut self, directory: Option<usize>) -> Ref {
        let users = directory.map(|directory| self.own().users_of(directory)).unwrap_or_default();
        match self.one_of(&users).filter(|_| self.random.u8(..16) > 0) {
            Some(user) => self.own_ref(user),
            None => self.user(),
        }
    }

    fn members(&mut self, directory: Option<usize>) -> Vec<Ref> {
        (0..self.random.usize(..=3)).map(|_| self.member(directory)).collect()
    }

    /// Chooses a new user, one of the directory who has gone, or one of the tenant.
    fn new_entry(&mut self, directory: Option<usize>) -> NewEntry {
        let external_id = if self.random.u8(..3) > 0 { self.external_id() } else { None };
        let active = self.maybe(3, |chooser| chooser.random.bool());
        let first_name = format!("Name {}", self.random.u8(..4));
        let (mut name, mut email) = (self.entry_name(), self.email());
        let entries = self.own().entries.iter().filter(|(_, entry)| Some(entry.directory) == directory);
        let known: Vec<usize> = entries.map(|(user, _)| *user).collect();
        match (self.random.u8(..4), self.one_of(&known)) {
            (0, Some(user)) => {
                let Entry { name: known_name, email: known_email, .. } = self.own().entries[&user].clone();
                (name, email) = (known_name, known_email);
            }
            (1, _) => email = self.own().users[self.own_person()].email.clone(),
            _ => {}
        }
        NewEntry { name, external_id, active, email, first_name }
    }

    /// Chooses a name, now and then in another case.
    fn entry_name(&mut self) -> String {
        let name = format!("name-{}", self.random.u8(..16));
        if self.random.u8(..6) == 0 { name.to_uppercase() } else { name }
    }

    fn group_name(&mut self) -> String {
        let name = format!("Group {}", self.random.u8(..8));
        if self.random.u8(..6) == 0 { name.to_uppercase() } else { name }
    }

    /// Chooses a name for a group, most often its own.
    fn group_name_of(&mut self, group: Ref) -> String {
        let other = self.group_name();
        if self.random.u8(..4) == 0 { other } else { self.tenants[group.tenant].groups[group.index].name.clone() }
    }

    fn external_id(&mut self) -> Option<String> {
        let external_id = format!("external-{}", self.random.u8(..24));
        if self.random.u8(..4) == 0 { None } else { Some(external_id) }
    }
}

/// A patch that says something.
fn patched(patch: EntryPatch) -> EntryPatch {
    let says_nothing = patch.name.is_none() && patch.external_id.is_none();
    EntryPatch { active: patch.active.or(says_nothing.then_some(true)), ..patch }
}
