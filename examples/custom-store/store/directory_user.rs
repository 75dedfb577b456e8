use async_trait::async_trait;
use iam_model::change::DirectoryUserChange;
use iam_model::directory::{
    Condition, Directory, DirectoryName, DirectoryUser, ProvisionedUser, UserSortField, UserTest,
};
use iam_model::id::{DirectoryId, TenantId, UserId};
use iam_model::page::SortOrder;
use iam_model::store::{DirectoryUserStore, DirectoryUserTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::{User, UserStatus};

use super::rows::{Draft, Row, View, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold};

impl Row for DirectoryUser {
    const TABLE: &'static str = "directory_users";

    fn key(&self) -> Vec<u8> {
        key(self.user_id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

#[async_trait]
impl DirectoryUserStore for RedbStore {
    async fn directory_user(&self, tenant: TenantId, user: UserId) -> Result<Option<DirectoryUser>, StoreError> {
        self.read(tenant, |view| view.get(&key(user)))
    }

    async fn provisioned_user(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        user: UserId,
    ) -> Result<Option<ProvisionedUser>, StoreError> {
        self.read(tenant, |view| {
            let entry: Option<DirectoryUser> = view.get(&key(user))?;
            entry.filter(|entry| is_there(entry, directory)).map(|entry| view.provisioned(entry)).transpose()
        })
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
        let mut found: Vec<ProvisionedUser> = self.read(tenant, |view| {
            let entries = view.select(|entry: &DirectoryUser| is_there(entry, directory))?;
            entries.into_iter().map(|entry| view.provisioned(entry)).collect()
        })?;
        found.retain(|found| condition.holds(&|test: &UserTest| test.passes(found)));
        found.sort_by(|a, b| field.compare(order, a, b));
        let (total, first) = (found.len() as u64, usize::try_from(first).unwrap_or(usize::MAX));
        Ok((found.into_iter().skip(first).take(limit as usize).collect(), total))
    }
}

#[async_trait]
impl DirectoryUserTransaction for RedbTransaction {
    async fn directory_user(&mut self, user: UserId) -> Result<Option<DirectoryUser>, StoreError> {
        self.view().get(&key(user))
    }

    async fn directory_user_named(
        &mut self,
        directory: DirectoryId,
        name: &DirectoryName,
    ) -> Result<Option<DirectoryUser>, StoreError> {
        let name = name.key();
        Ok(self.view().select(|entry: &DirectoryUser| has_name(entry, directory, &name))?.pop())
    }

    async fn users_of_directory(&mut self, directory: DirectoryId) -> Result<Vec<UserId>, StoreError> {
        let entries = self.view().select(|entry: &DirectoryUser| is_there(entry, directory))?;
        Ok(entries.into_iter().map(|entry| entry.user_id).collect())
    }

    async fn present_directory_users(
        &mut self,
        directory: DirectoryId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StoreError> {
        let is_asked = |entry: &DirectoryUser| is_there(entry, directory) && users.contains(&entry.user_id);
        let entries = self.view().select(is_asked)?.into_iter();
        let found = entries.map(|entry| self.view().provisioned(entry)).collect::<Result<Vec<_>, _>>()?;
        let present = found.into_iter().filter(|found| found.user.status != UserStatus::Inactive);
        Ok(present.map(|found| found.user.id).collect())
    }
}

/// Whether an entry is of this directory, which has not deleted the user.
fn is_there(entry: &DirectoryUser, directory: DirectoryId) -> bool {
    entry.directory_id == directory && entry.deleted_at.is_none()
}

fn has_name(entry: &DirectoryUser, directory: DirectoryId, key: &str) -> bool {
    entry.directory_id == directory && entry.user_name.key() == key
}

impl View<'_> {
    fn provisioned(self, entry: DirectoryUser) -> Result<ProvisionedUser, StoreError> {
        let user: Option<User> = self.get(&key(entry.user_id))?;
        let user = user.ok_or_else(|| StoreError::corrupt("directory_users", "the user is missing"))?;
        Ok(ProvisionedUser::new(user, entry))
    }
}

impl Draft<'_> {
    pub(super) fn write_directory_user(self, change: &DirectoryUserChange) -> Result<(), StoreError> {
        match change {
            DirectoryUserChange::Create(entry) => {
                hold(Constraint::DirectoryUserName, !self.view().has::<DirectoryUser>(&entry.key())?)?;
                self.put_directory_user(entry.clone())
            }
            DirectoryUserChange::Update { after, .. } => {
                let stored: Option<DirectoryUser> = self.view().get(&after.key())?;
                let version = stored.ok_or(StoreError::Missing("user of a directory"))?.version.next();
                self.put_directory_user(DirectoryUser { version, ..after.clone() })
            }
            DirectoryUserChange::Forget(entry) => {
                let removed = self.remove::<DirectoryUser>(&entry.key())?;
                removed.then_some(()).ok_or(StoreError::Missing("user of a directory"))
            }
        }
    }

    fn put_directory_user(self, entry: DirectoryUser) -> Result<(), StoreError> {
        let name = entry.user_name.key();
        let is_taken = self.view().any(|other: &DirectoryUser| {
            other.user_id != entry.user_id && has_name(other, entry.directory_id, &name)
        })?;
        hold(Constraint::DirectoryUserName, !is_taken)?;
        hold(Constraint::Reference, self.view().has::<User>(&key(entry.user_id))?)?;
        hold(Constraint::Reference, self.view().has::<Directory>(&key(entry.directory_id))?)?;
        self.put(entry)
    }
}
