use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::assignment::GrantContext;
use crate::directory::{Condition, DirectoryGroup, DirectoryName, GroupSortField, GroupTest};
use crate::id::{DirectoryGroupId, DirectoryId, OrganizationId, RoleId, TenantId, UserId};
use crate::page::SortOrder;
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads the groups of directories, and their members.
#[apply(observed)]
#[async_trait]
pub trait DirectoryGroupStore {
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
}

/// Reads the groups of directories, their members, and what they give, inside a unit of work.
///
/// They change only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant). While the unit of work holds
/// this lock, the results of these reads stay valid.
#[apply(observed)]
#[async_trait]
pub trait DirectoryGroupTransaction {
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
