use std::collections::BTreeSet;

use async_trait::async_trait;
use iam_model::change::DirectoryUserChange;
use iam_model::directory::{Condition, DirectoryName, DirectoryUser, ProvisionedUser, UserSortField, UserTest};
use iam_model::id::{DirectoryId, TenantId, UserId};
use iam_model::page::SortOrder;
use iam_model::store::{DirectoryUserStore, DirectoryUserTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::UserStatus;

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold};

#[async_trait]
impl DirectoryUserStore for MemoryStore {
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
}

#[async_trait]
impl DirectoryUserTransaction for MemoryTransaction {
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
}

impl TenantState {
    /// The users of a directory that it has not deleted, in the order of their ids.
    fn entries_of(&self, directory: DirectoryId) -> impl Iterator<Item = &DirectoryUser> {
        let is_there = move |entry: &&DirectoryUser| entry.directory_id == directory && entry.deleted_at.is_none();
        self.directory_users.values().filter(is_there)
    }

    fn provisioned_users(&self, directory: DirectoryId) -> impl Iterator<Item = ProvisionedUser> {
        self.entries_of(directory).filter_map(move |entry| {
            let user = self.users.get(&entry.user_id)?.clone();
            Some(ProvisionedUser::new(user, entry.clone()))
        })
    }

    fn directory_user_with_key(&self, directory: DirectoryId, key: &str) -> Option<&DirectoryUser> {
        let has_name = |entry: &&DirectoryUser| entry.directory_id == directory && entry.user_name.key() == key;
        self.directory_users.values().find(has_name)
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
