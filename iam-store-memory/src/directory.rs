use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use iam_model::assignment::GrantContext;
use iam_model::change::{DirectoryChange, DirectoryUserChange};
use iam_model::clock::Timestamp;
use iam_model::directory::{
    Condition, Directory, DirectoryActivity, DirectoryGroup, DirectoryName, DirectoryRefusal, DirectoryUser,
    GroupSortField, GroupTest, ProvisionedUser, UserSortField, UserTest,
};
use iam_model::id::{DirectoryGroupId, DirectoryId, IdentityProviderId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::page::SortOrder;
use iam_model::role::PlacedRole;
use iam_model::store::{DirectoryStore, DirectoryTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::UserStatus;

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold};

#[async_trait]
impl DirectoryStore for MemoryStore {
    async fn directory(&self, tenant: TenantId, id: DirectoryId) -> Result<Option<Directory>, StoreError> {
        Ok(self.tenant_state(tenant).directories.get(&id).cloned())
    }

    async fn directories(&self, tenant: TenantId) -> Result<Vec<(Directory, DirectoryActivity)>, StoreError> {
        let state = self.tenant_state(tenant);
        let listed = |directory: Directory| {
            let activity = state.directory_activities.get(&directory.id).cloned().unwrap_or_default();
            (directory, activity)
        };
        Ok(state.sorted_directories().into_iter().map(listed).collect())
    }

    async fn directory_of_account(&self, tenant: TenantId, account: UserId) -> Result<Option<Directory>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(state.directories.values().find(|directory| directory.service_account_id == account).cloned())
    }

    async fn directory_user(&self, tenant: TenantId, user: UserId) -> Result<Option<DirectoryUser>, StoreError> {
        Ok(self.tenant_state(tenant).directory_users.get(&user).cloned())
    }

    async fn provisioned_user(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        user: UserId,
    ) -> Result<Option<ProvisionedUser>, StoreError> {
        Ok(self.tenant_state(tenant).provisioned_users(directory).find(|found| found.user.id == user))
    }

    async fn provisioned_users(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        condition: &Condition<UserTest>,
        (field, order): (UserSortField, SortOrder),
        first: u64,
        limit: u32,
    ) -> Result<(Vec<ProvisionedUser>, u64), StoreError> {
        let state = self.tenant_state(tenant);
        let meets = |found: &ProvisionedUser| condition.holds(&|test: &UserTest| test.passes(found));
        let mut found: Vec<ProvisionedUser> = state.provisioned_users(directory).filter(meets).collect();
        found.sort_by(|a, b| field.compare(order, a, b));
        let (total, first) = (found.len() as u64, usize::try_from(first).unwrap_or(usize::MAX));
        Ok((found.into_iter().skip(first).take(limit as usize).collect(), total))
    }

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

    async fn record_directory_request(
        &self,
        tenant: TenantId,
        id: DirectoryId,
        at: Timestamp,
        refusal: Option<&DirectoryRefusal>,
    ) -> Result<(), StoreError> {
        // A unit of work that has begun would undo the write.
        let _writer = self.writer.lock().await;
        self.change(|state| {
            let state = state.tenants.get_mut(&tenant).map(Arc::make_mut);
            let Some(state) = state.filter(|state| state.directories.contains_key(&id)) else { return };
            let activity = state.directory_activities.entry(id).or_default();
            activity.last_request_at = activity.last_request_at.max(Some(at));
            if let Some(refusal) = refusal {
                activity.refusals.insert(0, refusal.clone());
                activity.refusals.truncate(DirectoryRefusal::MAX);
            }
        });
        Ok(())
    }
}

#[async_trait]
impl DirectoryTransaction for MemoryTransaction {
    async fn directories(&mut self) -> Result<Vec<Directory>, StoreError> {
        Ok(self.draft.sorted_directories())
    }

    async fn directory_user(&mut self, user: UserId) -> Result<Option<DirectoryUser>, StoreError> {
        Ok(self.draft.directory_users.get(&user).cloned())
    }

    async fn directory_user_named(
        &mut self,
        directory: DirectoryId,
        name: &DirectoryName,
    ) -> Result<Option<DirectoryUser>, StoreError> {
        Ok(self.draft.directory_user_with_key(directory, &name.key()).cloned())
    }

    async fn users_of_directory(&mut self, directory: DirectoryId) -> Result<Vec<UserId>, StoreError> {
        Ok(self.draft.entries_of(directory).map(|entry| entry.user_id).collect())
    }

    async fn present_directory_users(
        &mut self,
        directory: DirectoryId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StoreError> {
        let users: BTreeSet<&UserId> = users.iter().collect();
        let is_kept = |id: &UserId| self.draft.users.get(id).is_some_and(|user| user.status != UserStatus::Inactive);
        let ids = self.draft.entries_of(directory).map(|entry| entry.user_id);
        Ok(ids.filter(|id| users.contains(id) && is_kept(id)).collect())
    }

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
    fn sorted_directories(&self) -> Vec<Directory> {
        let mut directories: Vec<Directory> = self.directories.values().cloned().collect();
        directories.sort_by(|a, b| (a.name.as_str(), a.id).cmp(&(b.name.as_str(), b.id)));
        directories
    }

    /// The users of a directory that it has not deleted, in the order of their ids.
    fn entries_of(&self, directory: DirectoryId) -> impl Iterator<Item = &DirectoryUser> {
        let is_there = move |entry: &&DirectoryUser| entry.directory_id == directory && entry.deleted_at.is_none();
        self.directory_users.values().filter(is_there)
    }

    fn provisioned_users(&self, directory: DirectoryId) -> impl Iterator<Item = ProvisionedUser> {
        self.entries_of(directory).filter_map(move |entry| {
            let user = self.users.get(&entry.user_id)?.clone();
            Some(ProvisionedUser { user, entry: entry.clone() })
        })
    }

    fn directory_user_with_key(&self, directory: DirectoryId, key: &str) -> Option<&DirectoryUser> {
        let has_name = |entry: &&DirectoryUser| entry.directory_id == directory && entry.user_name.key() == key;
        self.directory_users.values().find(has_name)
    }

    pub(super) fn is_provider_of_directory(&self, provider: IdentityProviderId) -> bool {
        self.directories.values().any(|directory| directory.identity_provider_id == Some(provider))
    }

    pub(super) fn write_directory(&mut self, change: &DirectoryChange) -> Result<(), StoreError> {
        match change {
            DirectoryChange::Create(directory) => {
                hold(Constraint::Reference, self.tenant.is_some())?;
                self.put_directory(directory.clone())
            }
            DirectoryChange::Update { after, .. } => {
                let stored = self.directories.get(&after.id).ok_or(StoreError::Missing("directory"))?;
                let (tenant_id, created_at, version) = (stored.tenant_id, stored.created_at, stored.version.next());
                self.put_directory(Directory { tenant_id, created_at, version, ..after.clone() })
            }
            DirectoryChange::Delete(directory) => {
                self.directories.remove(&directory.id).ok_or(StoreError::Missing("directory"))?;
                self.directory_activities.remove(&directory.id);
                self.directory_users.retain(|_, entry| entry.directory_id != directory.id);
                self.remove_groups_of(directory.id);
                Ok(())
            }
        }
    }

    fn put_directory(&mut self, directory: Directory) -> Result<(), StoreError> {
        let mut others = self.directories.values().filter(|other| other.id != directory.id);
        let is_free = others.all(|other| other.service_account_id != directory.service_account_id);
        hold(Constraint::DirectoryAccount, is_free)?;
        let has_provider = directory.identity_provider_id.is_none_or(|id| self.identity_providers.contains_key(&id));
        let has_account = self.users.contains_key(&directory.service_account_id);
        hold(Constraint::Reference, has_account && has_provider)?;
        self.directories.insert(directory.id, directory);
        Ok(())
    }

    pub(super) fn write_directory_user(&mut self, change: &DirectoryUserChange) -> Result<(), StoreError> {
        match change {
            DirectoryUserChange::Create(entry) => {
                let is_new = !self.directory_users.contains_key(&entry.user_id);
                hold(Constraint::DirectoryUserName, is_new)?;
                self.put_directory_user(entry.clone())
            }
            DirectoryUserChange::Update { after, .. } => {
                let stored = self.directory_users.get(&after.user_id);
                let stored = stored.ok_or(StoreError::Missing("user of a directory"))?;
                let (tenant_id, version) = (stored.tenant_id, stored.version.next());
                self.put_directory_user(DirectoryUser { tenant_id, version, ..after.clone() })
            }
            DirectoryUserChange::Forget(entry) => {
                let removed = self.directory_users.remove(&entry.user_id);
                removed.map(drop).ok_or(StoreError::Missing("user of a directory"))
            }
        }
    }

    fn put_directory_user(&mut self, entry: DirectoryUser) -> Result<(), StoreError> {
        let holder = self.directory_user_with_key(entry.directory_id, &entry.user_name.key());
        hold(Constraint::DirectoryUserName, holder.is_none_or(|holder| holder.user_id == entry.user_id))?;
        let has_both = self.users.contains_key(&entry.user_id) && self.directories.contains_key(&entry.directory_id);
        hold(Constraint::Reference, has_both)?;
        self.directory_users.insert(entry.user_id, entry);
        Ok(())
    }
}
