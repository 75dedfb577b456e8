use std::collections::{BTreeMap, BTreeSet};

use iam_model::assignment::GrantContext;
use iam_model::id::{DirectoryGroupId, UserId};
use iam_model::role::PlacedRole;

/// The members of the groups of directories, each with the roles that are withheld from it.
#[derive(Clone, Default)]
pub(super) struct GroupMembers {
    by_group: BTreeMap<DirectoryGroupId, BTreeMap<UserId, BTreeSet<PlacedRole>>>,
    by_user: BTreeMap<UserId, BTreeSet<DirectoryGroupId>>,
}

impl GroupMembers {
    /// The members of a group, in the order of their ids.
    pub(super) fn of(&self, group: DirectoryGroupId) -> impl Iterator<Item = UserId> {
        self.by_group.get(&group).into_iter().flat_map(|members| members.keys().copied())
    }

    pub(super) fn has(&self, group: DirectoryGroupId, user: UserId) -> bool {
        self.by_group.get(&group).is_some_and(|members| members.contains_key(&user))
    }

    /// The groups of which a user is a member, in the order of their ids.
    pub(super) fn groups_of(&self, user: UserId) -> impl Iterator<Item = DirectoryGroupId> {
        self.by_user.get(&user).into_iter().flatten().copied()
    }

    pub(super) fn add(&mut self, group: DirectoryGroupId, user: UserId) {
        self.by_group.entry(group).or_default().entry(user).or_default();
        self.by_user.entry(user).or_default().insert(group);
    }

    /// Removes a member. Nothing is withheld from it any more.
    pub(super) fn remove(&mut self, group: DirectoryGroupId, user: UserId) {
        if let Some(members) = self.by_group.get_mut(&group) {
            members.remove(&user);
        }
        self.leave(group, user);
    }

    pub(super) fn remove_all(&mut self, group: DirectoryGroupId) {
        for user in self.by_group.remove(&group).unwrap_or_default().into_keys() {
            self.leave(group, user);
        }
    }

    fn leave(&mut self, group: DirectoryGroupId, user: UserId) {
        if let Some(groups) = self.by_user.get_mut(&user) {
            groups.remove(&group);
        }
    }

    /// Withholds a role from a member.
    pub(super) fn withhold(&mut self, group: DirectoryGroupId, user: UserId, role: PlacedRole) {
        if let Some(withheld) = self.by_group.get_mut(&group).and_then(|members| members.get_mut(&user)) {
            withheld.insert(role);
        }
    }

    pub(super) fn is_withheld(&self, group: DirectoryGroupId, user: UserId, role: &PlacedRole) -> bool {
        let withheld = self.by_group.get(&group).and_then(|members| members.get(&user));
        withheld.is_some_and(|withheld| withheld.contains(role))
    }

    /// All that is withheld from the members of a group, also roles that the group does not give at the moment.
    pub(super) fn withheld_in(&self, group: DirectoryGroupId) -> Vec<GrantContext> {
        let members = self.by_group.get(&group).into_iter().flatten();
        let of_member = |(user, roles): (&UserId, &BTreeSet<PlacedRole>)| {
            let user = *user;
            let context =
                move |role: &PlacedRole| GrantContext { user, role: role.role_id, organization: role.organization_id };
            roles.iter().map(context).collect::<Vec<_>>()
        };
        members.flat_map(of_member).collect()
    }
}
