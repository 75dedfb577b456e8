use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::assignment::GrantContext;
use crate::clock::Timestamp;
use crate::directory::{
    Condition, Directory, DirectoryActivity, DirectoryGroup, DirectoryName, DirectoryRefusal, DirectoryUser,
    GroupSortField, GroupTest, ProvisionedUser, UserSortField, UserTest,
};
use crate::id::{DirectoryGroupId, DirectoryId, OrganizationId, RoleId, TenantId, UserId};
use crate::page::SortOrder;
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads directories and their users, and keeps what directories have sent last.
#[apply(observed)]
#[async_trait]
pub trait DirectoryStore {
    /// Returns a directory.
    async fn directory(&self, tenant: TenantId, id: DirectoryId) -> Result<Option<Directory>, StoreError>;

    /// Returns the directories of a tenant with what each has sent last, by name, then by identifier.
    async fn directories(&self, tenant: TenantId) -> Result<Vec<(Directory, DirectoryActivity)>, StoreError>;

    /// Returns the directory of a service account. There is one at most.
    async fn directory_of_account(&self, tenant: TenantId, account: UserId) -> Result<Option<Directory>, StoreError>;

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

    /// Returns a group of a directory.
    async fn directory_group(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        id: DirectoryGroupId,
    ) -> Result<Option<DirectoryGroup>, StoreError>;

    /// Returns the groups of a directory that meet the condition: `first` of them are skipped, and at most `limit` are
    /// returned, with the exact count of all of them.
    ///
    /// They are sorted as [`GroupSortField::compare`] does: by the field, then by the time when the directory made them,
    /// then by identifier. The last two are ascending in both directions.
    async fn directory_groups(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        condition: &Condition<GroupTest>,
        sort: (GroupSortField, SortOrder),
        first: u64,
        limit: u32,
    ) -> Result<(Vec<DirectoryGroup>, u64), StoreError>;

    /// Returns the members of these groups: by group, then by user.
    async fn directory_group_members(
        &self,
        tenant: TenantId,
        groups: &[DirectoryGroupId],
    ) -> Result<Vec<(DirectoryGroupId, UserId)>, StoreError>;

    /// Keeps when a request of a directory arrived, unless a later one is kept. Keeps a refusal before all others, and
    /// the first [`MAX`](DirectoryRefusal::MAX) of them. It does nothing for a directory that does not exist. It is not
    /// audited, and does not raise the version.
    async fn record_directory_request(
        &self,
        tenant: TenantId,
        id: DirectoryId,
        at: Timestamp,
        refusal: Option<&DirectoryRefusal>,
    ) -> Result<(), StoreError>;
}

/// Reads directories and their users inside a unit of work.
///
/// They change only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant). While the unit of work holds
/// this lock, the results of these reads stay valid.
#[apply(observed)]
#[async_trait]
pub trait DirectoryTransaction {
    /// Returns the directories of the tenant, by name, then by identifier.
    async fn directories(&mut self) -> Result<Vec<Directory>, StoreError>;

    /// Returns what a directory says of a user, as [`DirectoryStore::directory_user`] does.
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

    /// Returns a group of a directory.
    async fn directory_group(
        &mut self,
        directory: DirectoryId,
        id: DirectoryGroupId,
    ) -> Result<Option<DirectoryGroup>, StoreError>;

    /// Returns the group of a directory that has this name, compared by its [key](DirectoryName::key).
    async fn directory_group_named(
        &mut self,
        directory: DirectoryId,
        name: &DirectoryName,
    ) -> Result<Option<DirectoryGroup>, StoreError>;

    /// Returns the number of groups of a directory.
    async fn count_directory_groups(&mut self, directory: DirectoryId) -> Result<u64, StoreError>;

    /// Returns the members of a group, in the order of their ids.
    async fn members_of_group(&mut self, group: DirectoryGroupId) -> Result<Vec<UserId>, StoreError>;

    /// Returns those of these users who are members of a group, in the order of their ids.
    async fn members_among(&mut self, group: DirectoryGroupId, users: &[UserId]) -> Result<Vec<UserId>, StoreError>;

    /// Returns the groups of which a user is a member, by identifier.
    async fn groups_of_member(&mut self, user: UserId) -> Result<Vec<DirectoryGroup>, StoreError>;

    /// Returns the groups of the tenant that give one of these roles, in any place, or any role in one of these
    /// organizations, by identifier.
    async fn mapped_groups(
        &mut self,
        roles: &[RoleId],
        organizations: &[OrganizationId],
    ) -> Result<Vec<DirectoryGroup>, StoreError>;

    /// Returns the roles that are [withheld](crate::change::DirectoryGroupChange::Withhold) from the members of a group,
    /// also those that the group does not give at present.
    async fn withheld_in_group(&mut self, group: DirectoryGroupId) -> Result<Vec<GrantContext>, StoreError>;

    /// Returns those of these contexts in which a group gives the role to the user, who is a member and from whom that
    /// is not withheld. Of several groups, it is the one with the lowest identifier. The group `except` does not count.
    async fn giving_groups(
        &mut self,
        contexts: &[GrantContext],
        except: Option<DirectoryGroupId>,
    ) -> Result<Vec<(GrantContext, DirectoryGroup)>, StoreError>;
}
