use iam_model::assignment::GrantContext;
use iam_model::change::DirectoryGroupChange;
use iam_model::directory::DirectoryGroup;
use iam_model::id::{DirectoryGroupId, DirectoryId, UserId};
use iam_model::role::PlacedRole;
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{TenantState, hold};

impl TenantState {
    pub(super) fn groups_of_directory(&self, directory: DirectoryId) -> impl Iterator<Item = &DirectoryGroup> {
        self.directory_groups.values().filter(move |group| group.directory_id == directory)
    }

    pub(super) fn directory_group(&self, directory: DirectoryId, id: DirectoryGroupId) -> Option<&DirectoryGroup> {
        self.directory_groups.get(&id).filter(|group| group.directory_id == directory)
    }

    pub(super) fn directory_group_with_key(&self, directory: DirectoryId, key: &str) -> Option<&DirectoryGroup> {
        self.groups_of_directory(directory).find(|group| group.display_name.key() == key)
    }

    /// The groups of which a user is a member, in the order of their ids.
    pub(super) fn groups_of_member(&self, user: UserId) -> impl Iterator<Item = &DirectoryGroup> {
        self.group_members.groups_of(user).filter_map(move |id| self.directory_groups.get(&id))
    }

    /// The group with the lowest identifier that gives a role to a user.
    pub(super) fn giving_group(
        &self,
        context: &GrantContext,
        except: Option<DirectoryGroupId>,
    ) -> Option<&DirectoryGroup> {
        let (user, role) = (context.user, placed(context));
        let gives = |group: &&DirectoryGroup| {
            Some(group.id) != except
                && group.grants.contains(&role)
                && !self.group_members.is_withheld(group.id, user, &role)
        };
        self.groups_of_member(user).find(gives)
    }

    pub(super) fn write_directory_group(&mut self, change: &DirectoryGroupChange) -> Result<(), StoreError> {
        match change {
            DirectoryGroupChange::Create { group, members } => {
                self.put_directory_group(group.clone())?;
                self.add_group_members(group.id, members)
            }
            DirectoryGroupChange::Update { after, added, removed, .. } => {
                let stored = self.directory_groups.get(&after.id);
                let stored = stored.ok_or(StoreError::Missing("group of a directory"))?;
                let (tenant_id, version) = (stored.tenant_id, stored.version.next());
                self.put_directory_group(DirectoryGroup { tenant_id, version, ..after.clone() })?;
                removed.iter().for_each(|user| self.group_members.remove(after.id, *user));
                self.add_group_members(after.id, added)
            }
            DirectoryGroupChange::Delete(group) => {
                self.directory_groups.remove(&group.id).ok_or(StoreError::Missing("group of a directory"))?;
                self.group_members.remove_all(group.id);
                Ok(())
            }
            DirectoryGroupChange::Withhold(contexts) => {
                contexts.iter().for_each(|context| self.withhold(context));
                Ok(())
            }
        }
    }

    /// Removes the groups of a directory that is removed.
    pub(super) fn remove_groups_of(&mut self, directory: DirectoryId) {
        let groups: Vec<DirectoryGroupId> = self.groups_of_directory(directory).map(|group| group.id).collect();
        for group in groups {
            self.directory_groups.remove(&group);
            self.group_members.remove_all(group);
        }
    }

    fn put_directory_group(&mut self, group: DirectoryGroup) -> Result<(), StoreError> {
        let holder = self.directory_group_with_key(group.directory_id, &group.display_name.key());
        hold(Constraint::DirectoryGroupName, holder.is_none_or(|holder| holder.id == group.id))?;
        hold(Constraint::Reference, self.directories.contains_key(&group.directory_id))?;
        self.directory_groups.insert(group.id, group);
        Ok(())
    }

    fn add_group_members(&mut self, group: DirectoryGroupId, users: &[UserId]) -> Result<(), StoreError> {
        hold(Constraint::Reference, users.iter().all(|user| self.users.contains_key(user)))?;
        users.iter().for_each(|user| self.group_members.add(group, *user));
        Ok(())
    }

    fn withhold(&mut self, context: &GrantContext) {
        let role = placed(context);
        let groups = self.groups_of_member(context.user).filter(|group| group.grants.contains(&role));
        let groups: Vec<DirectoryGroupId> = groups.map(|group| group.id).collect();
        for group in groups {
            self.group_members.withhold(group, context.user, role);
        }
    }
}

fn placed(context: &GrantContext) -> PlacedRole {
    PlacedRole { role_id: context.role, organization_id: context.organization }
}
