use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::directory::{Condition, DirectoryName, DirectoryUser, ProvisionedUser, UserSortField, UserTest};
use crate::id::{DirectoryId, TenantId, UserId};
use crate::page::SortOrder;
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads the users of directories, and what directories say of them.
#[apply(observed)]
#[async_trait]
pub trait DirectoryUserStore {
    /// Returns what a directory says of a user, whichever directory that is, also if it has deleted the user.
    async fn directory_user(&self, tenant: TenantId, user: UserId) -> Result<Option<DirectoryUser>, StoreError>;

    /// Returns a user of a directory that the directory has not deleted, in any status.
    async fn provisioned_user(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        user: UserId,
    ) -> Result<Option<ProvisionedUser>, StoreError>;

    /// Returns the users of a directory that meet the condition and that the directory has not deleted, in any status:
    /// `first` of them are skipped, and at most `limit` are returned, with the exact count of all of them.
    ///
    /// They are sorted as [`UserSortField::compare`] does: by the field, then by the time when the directory made them,
    /// then by identifier. The last two are ascending in both directions.
    async fn provisioned_users(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        condition: &Condition<UserTest>,
        sort: (UserSortField, SortOrder),
        first: u64,
        limit: u32,
    ) -> Result<(Vec<ProvisionedUser>, u64), StoreError>;
}

/// Reads the users of directories inside a unit of work.
///
/// They change only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant). While the unit of work holds
/// this lock, the results of these reads stay valid.
#[apply(observed)]
#[async_trait]
pub trait DirectoryUserTransaction {
    /// Returns what a directory says of a user, as [`DirectoryUserStore::directory_user`] does.
    async fn directory_user(&mut self, user: UserId) -> Result<Option<DirectoryUser>, StoreError>;

    /// Returns the user of a directory that has this name, compared by its [key](DirectoryName::key), also if the
    /// directory has deleted the user.
    async fn directory_user_named(
        &mut self,
        directory: DirectoryId,
        name: &DirectoryName,
    ) -> Result<Option<DirectoryUser>, StoreError>;

    /// Returns the users of a directory that it has not deleted, in the order of their ids.
    async fn users_of_directory(&mut self, directory: DirectoryId) -> Result<Vec<UserId>, StoreError>;

    /// Returns those of these users who are users of a directory, whom it has not deleted, and who are not INACTIVE, in
    /// the order of their ids.
    async fn present_directory_users(
        &mut self,
        directory: DirectoryId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StoreError>;
}
