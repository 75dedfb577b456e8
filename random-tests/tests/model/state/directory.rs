//! Directories, their users and their groups, and the roles that groups give.

use std::collections::BTreeSet;

use super::{Assignment, Moment, NEVER, Spot, Status, Tenant, User, covers};

/// A user, a role and a resource scope: a user holds a role there once at most.
pub(crate) type Context = (usize, usize, Spot);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directory {
    /// The service account whose keys the directory uses.
    pub(crate) account: usize,
    pub(crate) adopts: bool,
    pub(crate) gone: bool,
}

/// What a directory says of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) directory: usize,
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) first_name: String,
    /// When the directory deleted the user.
    pub(crate) deleted: Option<Moment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) directory: usize,
    pub(crate) name: String,
    pub(crate) external_id: Option<String>,
    pub(crate) members: BTreeSet<usize>,
    /// The roles to which people have mapped the group.
    pub(crate) grants: BTreeSet<(usize, Spot)>,
    /// What reviews have taken from members. It ends when the member leaves the group.
    pub(crate) withheld: BTreeSet<Context>,
    pub(crate) gone: bool,
}

impl Assignment {
    pub(crate) fn context(&self) -> Context {
        (self.user, self.role, self.spot)
    }
}

impl Group {
    /// Whether the group gives the role to the user there.
    pub(crate) fn gives(&self, context: Context) -> bool {
        let (user, role, spot) = context;
        let is_mapped = !self.gone && self.grants.contains(&(role, spot));
        is_mapped && self.members.contains(&user) && !self.withheld.contains(&context)
    }
}

impl Tenant {
    /// The directory that uses the keys of an account.
    pub(crate) fn directory_of(&self, account: usize) -> Option<usize> {
        self.directories.iter().position(|directory| !directory.gone && directory.account == account)
    }

    /// The users of a directory that it has not deleted.
    pub(crate) fn users_of(&self, directory: usize) -> Vec<usize> {
        let is_there = |entry: &Entry| entry.directory == directory && entry.deleted.is_none();
        self.entries.iter().filter(|(_, entry)| is_there(entry)).map(|(user, _)| *user).collect()
    }

    /// Whether a user can be a member of the groups of a directory.
    pub(crate) fn can_be_member(&self, directory: usize, user: usize) -> bool {
        self.users_of(directory).contains(&user) && self.users[user].status != Status::Inactive
    }

    /// Whether a group gives the role, to present or to future members.
    pub(crate) fn is_mapped(&self, role: usize) -> bool {
        self.groups.iter().any(|group| group.grants.iter().any(|(given, _)| *given == role))
    }

    /// The group that gives the role to the user there, the oldest one of several.
    pub(crate) fn giver(&self, context: Context) -> Option<usize> {
        self.groups.iter().position(|group| group.gives(context))
    }

    /// Until when the account of a group holds everything that a role permits there. `None` if it does not.
    pub(crate) fn covered_until(&self, group: usize, grant: (usize, Spot), now: Moment) -> Option<Moment> {
        self.held_until(self.directories[self.groups[group].directory].account, grant, now)
    }

    /// Until when a user holds everything that a role permits in a place. `None` if it does not.
    pub(crate) fn held_until(&self, user: usize, (role, spot): (usize, Spot), now: Moment) -> Option<Moment> {
        let rights = self.rights(user, now);
        let held_until = |pattern: &str| {
            let holding = rights.iter().filter(|right| right.spot == spot && covers(right.pattern, pattern));
            holding.map(|right| right.until).max()
        };
        let mut until = NEVER;
        for pattern in &self.roles[role].permissions {
            until = until.min(held_until(pattern)?);
        }
        Some(until)
    }

    /// The assignment in a context, in force or expired.
    pub(crate) fn held_in(&self, context: Context) -> Option<usize> {
        self.assignments.iter().position(|assignment| !assignment.gone && assignment.context() == context)
    }

    /// Lets a group give what it gives, as far as its account covers it and the user does not hold it already.
    pub(crate) fn give(&mut self, group: usize, context: Context, now: Moment) {
        let held = self.held_in(context);
        if !self.groups[group].gives(context) || held.is_some_and(|number| self.is_live(number, now)) {
            return;
        }
        let (user, role, spot) = context;
        let Some(until) = self.covered_until(group, (role, spot), now) else { return };
        if let Some(expired) = held {
            self.assignments[expired].gone = true;
        }
        self.assignments.push(Assignment { user, role, spot, until, group: Some(group), gone: false });
    }

    /// Ends an assignment. But if a group gives the same and its account covers it, the assignment goes on as that of
    /// the group. In place of an expired one, the group gives a new one.
    pub(crate) fn hand_over(&mut self, number: usize, now: Moment) {
        let (context, is_live) = (self.assignments[number].context(), self.is_live(number, now));
        let (user, role, spot) = context;
        let group = self.giver(context);
        let covered = group.and_then(|group| self.covered_until(group, (role, spot), now));
        let assignment = &mut self.assignments[number];
        match covered {
            Some(until) if is_live => (assignment.group, assignment.until) = (group, assignment.until.min(until)),
            Some(until) => {
                assignment.gone = true;
                self.assignments.push(Assignment { user, role, spot, until, group, gone: false });
            }
            None => assignment.gone = true,
        }
    }

    /// Ends what the groups of an account give no later than its own rights, as far as it still holds these.
    pub(crate) fn shorten_gifts(&mut self, account: usize, now: Moment) {
        let Some(directory) = self.directory_of(account) else { return };
        for number in 0..self.assignments.len() {
            let (_, role, spot) = self.assignments[number].context();
            let of_directory = |group: &usize| self.groups[*group].directory == directory;
            let Some(group) = self.assignments[number].group.filter(of_directory) else { continue };
            if let Some(until) = self.covered_until(group, (role, spot), now).filter(|_| self.is_live(number, now)) {
                let assignment = &mut self.assignments[number];
                assignment.until = assignment.until.min(until);
            }
        }
    }

    /// Ends the assignments that their groups no longer give.
    pub(crate) fn end_ungiven(&mut self, now: Moment) {
        for number in 0..self.assignments.len() {
            let assignment = &self.assignments[number];
            let is_given = |group: usize| self.groups[group].gives(assignment.context());
            if !assignment.gone && assignment.group.is_some_and(|group| !is_given(group)) {
                self.hand_over(number, now);
            }
        }
    }

    /// Deletes a group. What it gave is not changed.
    pub(crate) fn remove_group(&mut self, group: usize) {
        let group = &mut self.groups[group];
        group.members.clear();
        group.grants.clear();
        group.withheld.clear();
        group.gone = true;
    }

    /// The tenant without the assignments that groups have given since then.
    pub(crate) fn without_gifts(mut self, before: &Self) -> Self {
        for assignment in self.assignments.iter_mut().skip(before.assignments.len()) {
            assignment.gone |= assignment.group.is_some();
        }
        self
    }

    /// The tenant with one more user, who holds what each group gives.
    pub(crate) fn with_member_of_all(&self) -> Self {
        let mut tenant = self.clone();
        let user = tenant.users.len();
        tenant.users.push(User { status: Status::Active, ..self.users[0].clone() });
        let grants: BTreeSet<(usize, Spot)> = self.groups.iter().flat_map(|group| group.grants.clone()).collect();
        let held = grants.into_iter().map(|(role, spot)| Assignment {
            user,
            role,
            spot,
            until: NEVER,
            group: None,
            gone: false,
        });
        tenant.assignments.extend(held);
        tenant
    }

    /// Removes a user from all groups.
    pub(crate) fn leave_groups(&mut self, user: usize) {
        for group in &mut self.groups {
            group.members.remove(&user);
            group.withheld.retain(|(member, _, _)| *member != user);
        }
    }

    /// Checks that groups and the roles that they give are consistent. Returns what is wrong.
    pub(crate) fn inconsistency(&self) -> Option<String> {
        let mut contexts = BTreeSet::new();
        for (number, assignment) in self.assignments.iter().enumerate().filter(|(_, it)| !it.gone) {
            if !contexts.insert(assignment.context()) {
                return Some(format!("assignment {number} is the second one in its context"));
            }
            if assignment.group.is_some_and(|group| !self.groups[group].gives(assignment.context())) {
                return Some(format!("no group gives assignment {number}"));
            }
        }
        let stranger = self.groups.iter().enumerate().find_map(|(number, group)| {
            let is_stranger = |user: &&usize| !self.can_be_member(group.directory, **user);
            group.members.iter().find(is_stranger).map(|user| (number, *user))
        });
        stranger.map(|(group, user)| format!("user {user} cannot be a member of group {group}"))
    }
}
