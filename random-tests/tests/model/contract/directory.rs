//! Directories, and the users that they write (`docs/directories.md`).

use super::{Expectation, MISSING, OperationContext};
use crate::operation::{EntryPatch, GroupPatch, MemberPatch, NewEntry, Provision, Ref};
use crate::state::{Destroyed, Directory, Entry, Status, User};

/// The maximum number of directories of a tenant.
const MAX_DIRECTORIES: usize = 10;

impl OperationContext<'_> {
    pub(super) fn create_directory(&self, v: &mut Expectation, account: Ref, adopts: bool) {
        v.gate = self.gate("directories:create", None);
        if adopts {
            v.refusals.extend(self.gate("directories:update", None));
            v.refusals.extend(self.gate("users:update", None));
            if !self.is_fresh() {
                v.refusals.push(self.not_fresh());
            }
        }
        if self.state.directories.iter().filter(|directory| !directory.gone).count() >= MAX_DIRECTORIES {
            v.refusals.push("TooManyDirectories");
        }
        if !self.own(account) {
            v.refusals.push(MISSING);
            return;
        }
        let found = &self.state.users[account.index];
        if !found.is_service || found.status != Status::Active {
            v.refusals.push("Validation");
        }
        if self.state.directory_of(account.index).is_some() {
            v.refusals.push("DirectoryAccountTaken");
        }
        v.after.directories.push(Directory { account: account.index, adopts, gone: false });
    }

    /// Removes a directory with its groups, and suspends its users or keeps them. What the groups gave ends.
    pub(super) fn delete_directory(&self, v: &mut Expectation, directory: Ref, suspends: bool) {
        v.gate = self.gate("directories:delete", None);
        if suspends {
            v.gate.extend(self.gate("users:update", None));
        }
        if !self.own(directory) || self.state.directories[directory.index].gone {
            v.refusals.push(MISSING);
            return;
        }
        self.check_hold(v, Destroyed::OfDirectory(directory.index));
        let is_active = |user: &usize| self.state.users[*user].status == Status::Active;
        for user in self.state.users_of(directory.index).into_iter().filter(is_active).filter(|_| suspends) {
            v.after.users[user].status = Status::Suspended;
            for (number, assignment) in self.state.assignments.iter().enumerate() {
                let permissions = self.state.roles[assignment.role].permissions.iter().copied();
                let is_held = assignment.user == user && self.state.is_live(number, self.now);
                if is_held && !self.has(permissions, assignment.spot, assignment.until) {
                    v.refusals.push("Escalation");
                }
            }
        }
        v.after.directories[directory.index].gone = true;
        v.after.entries.retain(|_, entry| entry.directory != directory.index);
        for group in 0..v.after.groups.len() {
            if v.after.groups[group].directory == directory.index {
                v.after.remove_group(group);
            }
        }
        v.after.end_ungiven(self.now);
        self.check_administrators(v);
    }

    /// What a directory does by a key of its account. Without a directory, the key is that of another account, or the
    /// caller has none.
    pub(super) fn provision(&self, v: &mut Expectation, directory: Option<usize>, provision: &Provision) {
        let Some(directory) = directory else { return v.gate.push("NoDirectory") };
        v.gate = self.gate(provision.needed(), None);
        if !v.gate.is_empty() {
            return;
        }
        match provision {
            Provision::CreateUser(new) => self.create_entry(v, directory, new),
            Provision::PatchUser { user, patch } => self.patch_entry(v, directory, *user, patch),
            Provision::DeleteUser { user } => self.delete_entry(v, directory, *user),
            Provision::CreateGroup { name, external_id, members } => {
                self.create_group(v, directory, name, external_id.as_ref(), members);
            }
            Provision::PatchGroup { group, patch } => self.patch_group(v, directory, *group, patch),
            Provision::ReplaceGroup { group, name, external_id, members } => {
                let members = members.clone().map(MemberPatch::Replace);
                let patch = GroupPatch { name: Some(name.clone()), external_id: Some(external_id.clone()), members };
                self.patch_group(v, directory, *group, &patch);
            }
            Provision::DeleteGroup { group } => self.delete_group(v, directory, *group),
        }
    }

    /// The user of a directory with a name, also if the directory has deleted it.
    fn user_named(&self, directory: usize, name: &str) -> Option<usize> {
        let has_name = |entry: &Entry| entry.directory == directory && entry.name.to_lowercase() == name.to_lowercase();
        self.state.entries.iter().find(|(_, entry)| has_name(entry)).map(|(user, _)| *user)
    }

    fn user_with_external_id(&self, external_id: Option<&String>) -> Option<usize> {
        let external_id = external_id?;
        self.state.users.iter().position(|user| user.external_id.as_ref() == Some(external_id))
    }

    /// Whether a user of a directory may come back. One whom another caller has deleted stays deleted.
    fn has_left(&self, user: usize) -> bool {
        match self.state.users[user].status {
            Status::Active => false,
            Status::Suspended => true,
            Status::Inactive => self.state.entries[&user].deleted == Some(self.state.users[user].ended),
        }
    }

    fn is_of_domain(&self, email: &str) -> bool {
        email.ends_with(&format!("@{}", self.state.domain))
    }

    fn create_entry(&self, v: &mut Expectation, directory: usize, new: &NewEntry) {
        let named = self.user_named(directory, &new.name);
        let identified = self.user_with_external_id(new.external_id.as_ref());
        let addressed = self.holder_of(&new.email);
        if named.is_some() && identified.is_some() && named != identified {
            return v.refusals.push("Taken externalId");
        }
        let is_of_directory =
            |user: &usize| self.state.entries.get(user).is_some_and(|entry| entry.directory == directory);
        if let Some(former) = named.or(identified.filter(is_of_directory)) {
            if !self.has_left(former) {
                v.refusals.push(if named.is_some() { "Taken userName" } else { "Taken externalId" });
            } else if addressed.is_some_and(|addressed| addressed != former) {
                v.refusals.push("Taken emails");
            } else {
                self.come_back(v, former, directory, new);
            }
        } else if identified.is_some() && identified != addressed {
            v.refusals.push("Taken externalId");
        } else if let Some(addressed) = addressed {
            self.adopt(v, addressed, directory, new);
        } else {
            let user = v.after.users.len();
            v.after.users.push(User {
                email: new.email.clone(),
                is_verified: self.is_of_domain(&new.email),
                first_name: new.first_name.clone(),
                external_id: new.external_id.clone(),
                status: if new.active == Some(false) { Status::Suspended } else { Status::Active },
                ..User::default()
            });
            v.after.entries.insert(user, new.entry(directory));
        }
    }

    fn come_back(&self, v: &mut Expectation, user: usize, directory: usize, new: &NewEntry) {
        v.refusals.extend(self.gate("users:update", None));
        let status = if new.active == Some(false) { Status::Suspended } else { Status::Active };
        let entry = new.entry(directory);
        let after = User { external_id: new.external_id.clone(), status, ..self.profiled(user, &entry) };
        v.after.entries.insert(user, entry);
        self.write_user(v, user, after);
    }

    /// Takes over a user of the tenant. Any other user has the same answer as with a directory that does not adopt.
    fn adopt(&self, v: &mut Expectation, user: usize, directory: usize, new: &NewEntry) {
        let before = &self.state.users[user];
        let is_person = !before.is_service && before.status != Status::Inactive;
        let is_free = is_person && !self.state.entries.contains_key(&user);
        let may_be_adopted = self.state.directories[directory].adopts && self.is_of_domain(&new.email) && is_free;
        let has_all = self.may("users:update", None) && self.covers_account(user);
        let protects = self.state.rights_asleep(user, self.now).into_iter().any(|right| self.gives_protections(right));
        if !may_be_adopted || !has_all || protects {
            return v.refusals.push("Taken emails");
        }
        let status = new_status(new.active, before.status);
        let (first_name, external_id) = (new.first_name.clone(), new.external_id.clone());
        v.after.entries.insert(user, new.entry(directory));
        self.write_user(v, user, User { first_name, external_id, status, ..before.clone() });
    }

    fn patch_entry(&self, v: &mut Expectation, directory: usize, user: Ref, patch: &EntryPatch) {
        if !self.own(user) || !self.state.users_of(directory).contains(&user.index) {
            return v.refusals.push(MISSING);
        }
        let (user, before) = (user.index, &self.state.users[user.index]);
        let known = &self.state.entries[&user];
        let name = patch.name.clone().unwrap_or_else(|| known.name.clone());
        let is_renamed = name != known.name;
        let entry = Entry { name, ..known.clone() };
        let external_id = patch.external_id.clone().unwrap_or_else(|| before.external_id.clone());
        let status = new_status(patch.active, before.status);
        if !is_renamed && external_id == before.external_id && status == before.status {
            return;
        }
        if before.status == Status::Inactive {
            return v.refusals.push("UserInactive");
        }
        if self.user_named(directory, &entry.name).is_some_and(|named| named != user) {
            v.refusals.push("Taken userName");
        }
        // What other callers have changed of the profile stays until the directory says something new of it.
        let profiled = if is_renamed { self.profiled(user, &entry) } else { before.clone() };
        v.after.entries.insert(user, entry);
        self.write_user(v, user, User { external_id, status, ..profiled });
    }

    fn delete_entry(&self, v: &mut Expectation, directory: usize, user: Ref) {
        if !self.own(user) || !self.state.users_of(directory).contains(&user.index) {
            return v.refusals.push(MISSING);
        }
        if self.state.users[user.index].status != Status::Inactive {
            self.set_status(v, user.index, Status::Inactive);
        }
        if let Some(entry) = v.after.entries.get_mut(&user.index) {
            entry.deleted = Some(self.now);
        }
    }

    /// A user with the e-mail and the name that its directory says.
    fn profiled(&self, user: usize, entry: &Entry) -> User {
        let before = &self.state.users[user];
        let is_verified =
            if entry.email == before.email { before.is_verified } else { self.is_of_domain(&entry.email) };
        let (email, first_name) = (entry.email.clone(), entry.first_name.clone());
        User { email, first_name, is_verified, ..before.clone() }
    }

    /// Writes what a directory changes of a user.
    fn write_user(&self, v: &mut Expectation, user: usize, after: User) {
        let (before, status) = (&self.state.users[user], after.status);
        if after.email != before.email || after.external_id != before.external_id {
            if !self.covers_account(user) {
                v.refusals.push("Escalation");
            }
            self.check_protections_of(v, user);
        }
        if self.holder_of(&after.email).is_some_and(|holder| holder != user) {
            v.refusals.push("Taken emails");
        }
        if self.user_with_external_id(after.external_id.as_ref()).is_some_and(|holder| holder != user) {
            v.refusals.push("Taken externalId");
        }
        v.after.users[user] = after;
        if status != before.status {
            self.set_status(v, user, status);
        }
    }
}

/// The status of a user after its directory has said whether it is active. That a deleted user is not active is nothing
/// new.
fn new_status(active: Option<bool>, before: Status) -> Status {
    match (active, before) {
        (Some(true), _) => Status::Active,
        (Some(false), Status::Active) => Status::Suspended,
        (Some(false) | None, before) => before,
    }
}
