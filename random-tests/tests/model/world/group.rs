//! What groups of directories give, compared with the store.

use std::collections::{BTreeMap, BTreeSet};

use iam_core::directory::{Condition, UserSortField};
use iam_core::page::SortOrder;
use iam_core::{DirectoryGroupId, UserId};

use super::{World, all, position};
use crate::state::{Assignment, Directory, Group, Tenant, covers};

impl World<'_> {
    /// Finds the identifiers of the assignments that groups have given by the last step.
    pub(super) async fn learn_given(&mut self, tenant: usize) {
        let (state, names) = (&self.states[tenant], &self.names[tenant]);
        let new: Vec<Assignment> = state.assignments[names.assignments.len()..].to_vec();
        if new.is_empty() {
            return;
        }
        let users: BTreeSet<UserId> = new.iter().map(|given| names.users[given.user]).collect();
        let users: Vec<UserId> = users.into_iter().collect();
        let grants = self.installation.store.grants_of(self.ids[tenant], &users).await.unwrap();
        let mut found = Vec::new();
        for given in new {
            let organization = given.spot.map(|spot| names.organizations[spot]);
            let context = (names.users[given.user], names.roles[given.role], organization);
            let mut assignments = grants.iter().map(|grant| &grant.assignment);
            let same = assignments.find(|it| (it.user_id, it.role_id, it.organization_id) == context);
            let same = same.unwrap_or_else(|| panic!("{}{given:?} is missing\n{state}", self.story()));
            found.push(same.id);
        }
        self.names[tenant].assignments.extend(found);
    }

    /// Checks that groups have given only what their accounts held at that time, there and for as long. Checks that no
    /// assignment is left that its group does not give.
    pub(super) fn check_given(&self, tenant: usize, before: &Tenant) {
        let after = &self.states[tenant];
        for (number, assignment) in after.assignments.iter().enumerate() {
            let Some(group) = assignment.group.filter(|_| !assignment.gone) else { continue };
            if before.assignments.get(number).is_some_and(|former| former.group == Some(group)) {
                continue;
            }
            let account = after.directories[after.groups[group].directory].account;
            let rights = before.rights(account, self.now);
            let holds = |pattern: &&'static str| {
                rights.iter().any(|right| {
                    let is_there = right.spot == assignment.spot && right.until >= assignment.until;
                    is_there && covers(right.pattern, pattern)
                })
            };
            let is_covered = before.roles[assignment.role].permissions.iter().all(holds);
            assert!(is_covered, "{}account {account} could not give {assignment:?}\n{before}", self.story());
        }
        assert_eq!(after.inconsistency(), None, "{}{after}", self.story());
    }

    pub(super) async fn compare_directories_if_changed(&self, tenant: usize, before: &Tenant) {
        let after = &self.states[tenant];
        let is_same = before.directories == after.directories && before.entries == after.entries;
        if !is_same || before.groups != after.groups {
            self.compare_directories(tenant).await;
        }
    }

    /// Compares all directories, their users and their groups with the expected ones.
    pub(super) async fn compare_directories(&self, tenant: usize) {
        let (state, names) = (&self.states[tenant], &self.names[tenant]);
        let mut kept: BTreeSet<usize> =
            (0..state.directories.len()).filter(|number| !state.directories[*number].gone).collect();
        let listed = self.iam().directories().list(&self.system(tenant)).await.unwrap();
        for (directory, _) in listed {
            let number = position(&names.directories, &directory.id);
            let account = position(&names.users, &directory.service_account_id);
            let found = Directory { account, adopts: directory.adopt, gone: false };
            assert_eq!(found, state.directories[number], "{}{state}", self.story());
            assert!(kept.remove(&number), "{}{state}", self.story());
            self.compare_users(tenant, number).await;
            self.compare_groups(tenant, number).await;
        }
        assert_eq!(kept, BTreeSet::new(), "{}{state}", self.story());
    }

    async fn compare_users(&self, tenant: usize, directory: usize) {
        let (state, names, store) = (&self.states[tenant], &self.names[tenant], &self.installation.store);
        let (id, sort) = (names.directories[directory], (UserSortField::Created, SortOrder::Ascending));
        let always = Condition::always();
        let (listed, _) = store.provisioned_users(self.ids[tenant], id, &always, sort, 0, 200).await.unwrap();
        let listed = listed.iter();
        let found: BTreeMap<usize, String> =
            listed.map(|it| (position(&names.users, &it.user.id), it.entry.user_name.as_str().to_owned())).collect();
        let users = state.users_of(directory).into_iter();
        let expected: BTreeMap<usize, String> = users.map(|user| (user, state.entries[&user].name.clone())).collect();
        assert_eq!(found, expected, "{}{state}", self.story());
    }

    async fn compare_groups(&self, tenant: usize, directory: usize) {
        let (state, names, id) = (&self.states[tenant], &self.names[tenant], self.ids[tenant]);
        let (store, system) = (&self.installation.store, self.system(tenant));
        let page = self.iam().directories().groups(&system, names.directories[directory], None, all()).await.unwrap();
        let ids: Vec<DirectoryGroupId> = page.items.iter().map(|group| group.id).collect();
        let members = store.directory_group_members(id, &ids).await.unwrap();
        let is_of = |number: &usize| !state.groups[*number].gone && state.groups[*number].directory == directory;
        let mut kept: BTreeSet<usize> = (0..state.groups.len()).filter(is_of).collect();
        let spot = |organization| position(&names.organizations, &organization);
        for group in page.items {
            let number = position(&names.groups, &group.id);
            let of_group = members.iter().filter(|(of, _)| *of == group.id);
            let grants = group.grants.iter();
            let mut transaction = store.begin(id).await.unwrap();
            let withheld = transaction.withheld_in_group(group.id).await.unwrap();
            drop(transaction);
            let withheld = withheld.into_iter().map(|context| {
                let (user, role) = (position(&names.users, &context.user), position(&names.roles, &context.role));
                (user, role, context.organization.map(spot))
            });
            let found = Group {
                directory,
                name: group.display_name.as_str().to_owned(),
                external_id: group.external_id.map(|external_id| external_id.as_str().to_owned()),
                members: of_group.map(|(_, user)| position(&names.users, user)).collect(),
                grants: grants
                    .map(|grant| (position(&names.roles, &grant.role_id), grant.organization_id.map(spot)))
                    .collect(),
                withheld: withheld.collect(),
                gone: false,
            };
            assert_eq!(group.members as usize, found.members.len(), "{}{state}", self.story());
            assert_eq!(found, state.groups[number], "{}{state}", self.story());
            assert!(kept.remove(&number), "{}{state}", self.story());
        }
        assert_eq!(kept, BTreeSet::new(), "{}{state}", self.story());
    }
}
