use std::collections::HashMap;

use iam_model::directory::{Condition, DirectoryGroup, GroupSortField, GroupTest, GroupText, TextOperator};
use iam_model::id::{DirectoryGroupId, UserId};
use iam_model::page::SortOrder;
use iam_model::permission;

use crate::caller::Caller;
use crate::directory::provisioning::group::not_found;
use crate::directory::provisioning::{Provisioning, ProvisioningError};
use crate::engine::FAR;

/// How many groups are looked up at once.
const READ_AT_ONCE: usize = 100;

/// So many members are read without a turn for a long read.
const FEW_MEMBERS: u32 = 500;

impl Provisioning<'_> {
    /// Returns a group of the directory. Needs `users:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](iam_model::error::Error::Forbidden);
    /// [`Error::NotFound`](iam_model::error::Error::NotFound), also for a group of another directory.
    pub async fn get_group(&self, caller: &Caller, id: DirectoryGroupId) -> Result<DirectoryGroup, ProvisioningError> {
        let (caller, directory) = self.acting(caller).await?;
        self.0.rights(&caller).require(&permission::USERS_READ)?;
        let found = self.0.store.directory_group(caller.tenant(), directory.id, id).await?;
        Ok(found.ok_or_else(not_found)?)
    }

    /// Returns the groups of the directory that meet a condition: `first` of them are skipped, and at most `limit` are
    /// returned, with the number of all of them. Those that are equal in the field are sorted by the time when the
    /// directory made them. Needs `users:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](iam_model::error::Error::Forbidden),
    /// [`Error::Overloaded`](iam_model::error::Error::Overloaded).
    pub async fn list_groups(
        &self,
        caller: &Caller,
        condition: &Condition<GroupTest>,
        sort: (GroupSortField, SortOrder),
        first: u64,
        limit: u32,
    ) -> Result<(Vec<DirectoryGroup>, u64), ProvisioningError> {
        let iam = self.0;
        let (caller, directory) = self.acting(caller).await?;
        iam.rights(&caller).require(&permission::USERS_READ)?;
        // Directories look for one group before each change, and whether it has a member. Everything else makes the
        // store look at many groups.
        let is_always = *condition == Condition::always();
        let is_short = names_one(condition) || (is_always && sort.0 == GroupSortField::Created && first < FAR);
        let _turn = if is_short { None } else { Some(iam.long_read(&caller).await?) };
        Ok(iam.store.directory_groups(caller.tenant(), directory.id, condition, sort, first, limit).await?)
    }

    /// Returns the members of those of these groups that are of the directory, in the order of their ids. A group
    /// without members may be left out. Needs `users:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](iam_model::error::Error::Forbidden),
    /// [`Error::Overloaded`](iam_model::error::Error::Overloaded).
    pub async fn members(
        &self,
        caller: &Caller,
        groups: &[DirectoryGroupId],
    ) -> Result<HashMap<DirectoryGroupId, Vec<UserId>>, ProvisioningError> {
        let iam = self.0;
        let (caller, directory) = self.acting(caller).await?;
        iam.rights(&caller).require(&permission::USERS_READ)?;
        let (tenant, sort) = (caller.tenant(), (GroupSortField::Created, SortOrder::Ascending));
        let mut own = Vec::new();
        for groups in groups.chunks(READ_AT_ONCE) {
            let any = Condition::Any(groups.iter().map(with_id).collect());
            let (found, _) =
                iam.store.directory_groups(tenant, directory.id, &any, sort, 0, READ_AT_ONCE as u32).await?;
            own.extend(found.into_iter().filter(|group| group.members > 0));
        }
        let is_short = own.iter().map(|group| u64::from(group.members)).sum::<u64>() <= u64::from(FEW_MEMBERS);
        let _turn = if is_short { None } else { Some(iam.long_read(&caller).await?) };
        let own: Vec<DirectoryGroupId> = own.iter().map(|group| group.id).collect();
        let mut members: HashMap<DirectoryGroupId, Vec<UserId>> = HashMap::new();
        for (group, user) in iam.store.directory_group_members(tenant, &own).await? {
            members.entry(group).or_default().push(user);
        }
        Ok(members)
    }
}

fn with_id(id: &DirectoryGroupId) -> Condition<GroupTest> {
    let (field, operator, value) = (GroupText::Id, TextOperator::Equals, id.to_string());
    Condition::Test(GroupTest::Text { field, operator, value })
}

/// Whether a condition names a group by a text, by which the store finds it in an index.
fn names_one(condition: &Condition<GroupTest>) -> bool {
    match condition {
        Condition::All(all) => all.iter().any(names_one),
        Condition::Test(GroupTest::Text { operator: TextOperator::Equals, .. }) => true,
        Condition::Any(_) | Condition::Not(_) | Condition::Test(_) => false,
    }
}
