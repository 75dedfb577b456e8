use std::collections::BTreeSet;

use async_trait::async_trait;
use iam_model::assignment::GrantContext;
use iam_model::change::DirectoryGroupChange;
use iam_model::directory::{Condition, DirectoryGroup, DirectoryName, GroupSortField, GroupTest};
use iam_model::id::{DirectoryGroupId, DirectoryId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::page::SortOrder;
use iam_model::role::PlacedRole;
use iam_model::store::{DirectoryGroupStore, DirectoryGroupTransaction};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold};

#[async_trait]
impl DirectoryGroupStore for MemoryStore {
    async fn directory_group(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        id: DirectoryGroupId,
    ) -> Result<Option<DirectoryGroup>, StoreError> {
        Ok(self.tenant_state(tenant).directory_group(directory, id).cloned())
    }

    async fn directory_groups(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        condition: &Condition<GroupTest>,
        (field, order): (GroupSortField, SortOrder),
        first: u64,
        limit: u32,
    ) -> Result<(Vec<DirectoryGroup>, u64), StoreError> {
        let state = self.tenant_state(tenant);
        let meets = |group: &&DirectoryGroup| {
            condition.holds(&|test: &GroupTest| test.passes(group, |user| state.group_members.has(group.id, user)))
        };
        let mut found: Vec<&DirectoryGroup> = state.groups_of_directory(directory).filter(meets).collect();
        found.sort_by(|a, b| field.compare(order, a, b));
        let (total, first) = (found.len() as u64, usize::try_from(first).unwrap_or(usize::MAX));
        Ok((found.into_iter().skip(first).take(limit as usize).cloned().collect(), total))
    }

    async fn directory_group_members(
        &self,
        tenant: TenantId,
        groups: &[DirectoryGroupId],
    ) -> Result<Vec<(DirectoryGroupId, UserId)>, StoreError> {
        let state = self.tenant_state(tenant);
        let groups: BTreeSet<DirectoryGroupId> = groups.iter().copied().collect();
        let members = |group: DirectoryGroupId| state.group_members.of(group).map(move |user| (group, user));
        Ok(groups.into_iter().flat_map(members).collect())
    }
}

#[async_trait]
impl DirectoryGroupTransaction for MemoryTransaction {
    async fn directory_group(
        &mut self,
        directory: DirectoryId,
        id: DirectoryGroupId,
    ) -> Result<Option<DirectoryGroup>, StoreError> {
        Ok(self.draft.directory_group(directory, id).cloned())
    }

    async fn directory_group_named(
        &mut self,
        directory: DirectoryId,
        name: &DirectoryName,
    ) -> Result<Option<DirectoryGroup>, StoreError> {
        Ok(self.draft.directory_group_with_key(directory, &name.key()).cloned())
    }

    async fn count_directory_groups(&mut self, directory: DirectoryId) -> Result<u64, StoreError> {
        Ok(self.draft.groups_of_directory(directory).count() as u64)
    }

    async fn members_of_group(&mut self, group: DirectoryGroupId) -> Result<Vec<UserId>, StoreError> {
        Ok(self.draft.group_members.of(group).collect())
    }

    async fn members_among(&mut self, group: DirectoryGroupId, users: &[UserId]) -> Result<Vec<UserId>, StoreError> {
        let users: BTreeSet<UserId> = users.iter().copied().collect();
        Ok(users.into_iter().filter(|user| self.draft.group_members.has(group, *user)).collect())
    }

    async fn groups_of_member(&mut self, user: UserId) -> Result<Vec<DirectoryGroup>, StoreError> {
        Ok(self.draft.groups_of_member(user).cloned().collect())
    }

    async fn mapped_groups(
        &mut self,
        roles: &[RoleId],
        organizations: &[OrganizationId],
    ) -> Result<Vec<DirectoryGroup>, StoreError> {
        let concerns = |grant: &PlacedRole| {
            roles.contains(&grant.role_id) || grant.organization_id.is_some_and(|id| organizations.contains(&id))
        };
        let groups = self.draft.directory_groups.values().filter(|group| group.grants.iter().any(concerns));
        Ok(groups.cloned().collect())
    }

    async fn withheld_in_group(&mut self, group: DirectoryGroupId) -> Result<Vec<GrantContext>, StoreError> {
        Ok(self.draft.group_members.withheld_in(group))
    }

    async fn giving_groups(
        &mut self,
        contexts: &[GrantContext],
        except: Option<DirectoryGroupId>,
    ) -> Result<Vec<(GrantContext, DirectoryGroup)>, StoreError> {
        let giving = |context: &GrantContext| Some((*context, self.draft.giving_group(context, except)?.clone()));
        Ok(contexts.iter().filter_map(giving).collect())
    }
}

impl TenantState {
    fn groups_of_directory(&self, directory: DirectoryId) -> impl Iterator<Item = &DirectoryGroup> {
        self.directory_groups.values().filter(move |group| group.directory_id == directory)
    }

    pub(super) fn directory_group(&self, directory: DirectoryId, id: DirectoryGroupId) -> Option<&DirectoryGroup> {
        self.directory_groups.get(&id).filter(|group| group.directory_id == directory)
    }

    fn directory_group_with_key(&self, directory: DirectoryId, key: &str) -> Option<&DirectoryGroup> {
        self.groups_of_directory(directory).find(|group| group.display_name.key() == key)
    }

    /// The groups of which a user is a member, in the order of their ids.
    fn groups_of_member(&self, user: UserId) -> impl Iterator<Item = &DirectoryGroup> {
        self.group_members.groups_of(user).filter_map(move |id| self.directory_groups.get(&id))
    }

    /// The group with the lowest identifier that gives a role to a user.
    fn giving_group(&self, context: &GrantContext, except: Option<DirectoryGroupId>) -> Option<&DirectoryGroup> {
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
