use std::collections::BTreeSet;

use async_trait::async_trait;
use iam_model::assignment::GrantContext;
use iam_model::change::{DirectoryChange, DirectoryUserChange};
use iam_model::clock::Timestamp;
use iam_model::directory::{
    Condition, Directory, DirectoryActivity, DirectoryGroup, DirectoryName, DirectoryRefusal, DirectoryUser,
    GroupSortField, GroupTest, ProvisionedUser, UserSortField, UserTest,
};
use iam_model::id::{DirectoryGroupId, DirectoryId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::page::SortOrder;
use iam_model::role::PlacedRole;
use iam_model::store::{DirectoryStore, DirectoryTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::{User, UserStatus};
use serde::{Deserialize, Serialize};

use super::directory_group::{self, MemberRow, member_key};
use super::identity_provider::IdentityProviderRow;
use super::rows::{Draft, Row, View, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold};

impl Row for Directory {
    const TABLE: &'static str = "directories";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

/// What a directory has sent last. It is not in the row of the directory, which a unit of work writes whole.
#[derive(Serialize, Deserialize)]
pub(super) struct ActivityRow {
    directory: DirectoryId,
    last_request_at: Option<Timestamp>,
    refusals: Vec<DirectoryRefusal>,
}

impl Row for ActivityRow {
    const TABLE: &'static str = "directory_activities";

    fn key(&self) -> Vec<u8> {
        key(self.directory)
    }
}

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
impl DirectoryStore for RedbStore {
    async fn directory(&self, tenant: TenantId, id: DirectoryId) -> Result<Option<Directory>, StoreError> {
        self.read(tenant, |view| view.get(&key(id)))
    }

    async fn directories(&self, tenant: TenantId) -> Result<Vec<(Directory, DirectoryActivity)>, StoreError> {
        self.read(tenant, |view| {
            let with_activity = |directory: Directory| -> Result<_, StoreError> {
                let ActivityRow { last_request_at, refusals, .. } = view.activity(directory.id)?;
                Ok((directory, DirectoryActivity { last_request_at, refusals }))
            };
            view.directories()?.into_iter().map(with_activity).collect()
        })
    }

    async fn directory_of_account(&self, tenant: TenantId, account: UserId) -> Result<Option<Directory>, StoreError> {
        let of_account = |directory: &Directory| directory.service_account_id == account;
        Ok(self.read(tenant, |view| view.select(of_account))?.pop())
    }

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

    async fn directory_group(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        id: DirectoryGroupId,
    ) -> Result<Option<DirectoryGroup>, StoreError> {
        self.read(tenant, |view| view.directory_group(directory, id))
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
        let (mut found, members) = self.read(tenant, |view| {
            let members: BTreeSet<(DirectoryGroupId, UserId)> =
                view.all::<MemberRow>()?.into_iter().map(|member| (member.group, member.user)).collect();
            Ok((view.groups_of_directory(directory)?, members))
        })?;
        found.retain(|group| {
            let is_member = |user: UserId| members.contains(&(group.id, user));
            condition.holds(&|test: &GroupTest| test.passes(group, is_member))
        });
        found.sort_by(|a, b| field.compare(order, a, b));
        let (total, first) = (found.len() as u64, usize::try_from(first).unwrap_or(usize::MAX));
        Ok((found.into_iter().skip(first).take(limit as usize).collect(), total))
    }

    async fn directory_group_members(
        &self,
        tenant: TenantId,
        groups: &[DirectoryGroupId],
    ) -> Result<Vec<(DirectoryGroupId, UserId)>, StoreError> {
        let members = self.read(tenant, |view| view.select(|member: &MemberRow| groups.contains(&member.group)))?;
        Ok(members.into_iter().map(|member| (member.group, member.user)).collect())
    }

    async fn record_directory_request(
        &self,
        tenant: TenantId,
        id: DirectoryId,
        at: Timestamp,
        refusal: Option<&DirectoryRefusal>,
    ) -> Result<(), StoreError> {
        self.write(|rows| {
            let draft = Draft::new(rows, tenant);
            if !draft.view().has::<Directory>(&key(id))? {
                return Ok(());
            }
            let mut activity = draft.view().activity(id)?;
            activity.last_request_at = activity.last_request_at.max(Some(at));
            if let Some(refusal) = refusal {
                activity.refusals.insert(0, refusal.clone());
                activity.refusals.truncate(DirectoryRefusal::MAX);
            }
            draft.put(activity)
        })
        .await
    }
}

#[async_trait]
impl DirectoryTransaction for RedbTransaction {
    async fn directories(&mut self) -> Result<Vec<Directory>, StoreError> {
        self.view().directories()
    }

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

    async fn directory_group(
        &mut self,
        directory: DirectoryId,
        id: DirectoryGroupId,
    ) -> Result<Option<DirectoryGroup>, StoreError> {
        self.view().directory_group(directory, id)
    }

    async fn directory_group_named(
        &mut self,
        directory: DirectoryId,
        name: &DirectoryName,
    ) -> Result<Option<DirectoryGroup>, StoreError> {
        let name = name.key();
        let is_named = |group: &DirectoryGroup| directory_group::has_name(group, directory, &name);
        Ok(self.view().select(is_named)?.pop())
    }

    async fn count_directory_groups(&mut self, directory: DirectoryId) -> Result<u64, StoreError> {
        Ok(self.view().groups_of_directory(directory)?.len() as u64)
    }

    async fn members_of_group(&mut self, group: DirectoryGroupId) -> Result<Vec<UserId>, StoreError> {
        Ok(self.view().members_of_group(group)?.into_iter().map(|member| member.user).collect())
    }

    async fn members_among(&mut self, group: DirectoryGroupId, users: &[UserId]) -> Result<Vec<UserId>, StoreError> {
        let mut members: BTreeSet<UserId> = BTreeSet::new();
        for user in users {
            if self.view().has::<MemberRow>(&member_key(group, *user))? {
                members.insert(*user);
            }
        }
        Ok(members.into_iter().collect())
    }

    async fn groups_of_member(&mut self, user: UserId) -> Result<Vec<DirectoryGroup>, StoreError> {
        Ok(self.view().groups_of_member(user)?.into_iter().map(|(group, _)| group).collect())
    }

    async fn mapped_groups(
        &mut self,
        roles: &[RoleId],
        organizations: &[OrganizationId],
    ) -> Result<Vec<DirectoryGroup>, StoreError> {
        let concerns = |grant: &PlacedRole| {
            roles.contains(&grant.role_id) || grant.organization_id.is_some_and(|id| organizations.contains(&id))
        };
        self.view().select(|group: &DirectoryGroup| group.grants.iter().any(concerns))
    }

    async fn withheld_in_group(&mut self, group: DirectoryGroupId) -> Result<Vec<GrantContext>, StoreError> {
        Ok(self.view().members_of_group(group)?.iter().flat_map(MemberRow::withheld).collect())
    }

    async fn giving_groups(
        &mut self,
        contexts: &[GrantContext],
        except: Option<DirectoryGroupId>,
    ) -> Result<Vec<(GrantContext, DirectoryGroup)>, StoreError> {
        let view = self.view();
        let giving = |context: &GrantContext| -> Result<_, StoreError> {
            let group = view.giving_group(context, except)?;
            Ok(group.map(|group| (*context, group)))
        };
        contexts.iter().map(giving).filter_map(Result::transpose).collect()
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
    fn directories(self) -> Result<Vec<Directory>, StoreError> {
        let mut directories = self.all::<Directory>()?;
        directories.sort_by(|a, b| (a.name.as_str(), a.id).cmp(&(b.name.as_str(), b.id)));
        Ok(directories)
    }

    fn activity(self, directory: DirectoryId) -> Result<ActivityRow, StoreError> {
        let kept: Option<ActivityRow> = self.get(&key(directory))?;
        Ok(kept.unwrap_or(ActivityRow { directory, last_request_at: None, refusals: Vec::new() }))
    }

    fn provisioned(self, entry: DirectoryUser) -> Result<ProvisionedUser, StoreError> {
        let user: Option<User> = self.get(&key(entry.user_id))?;
        let user = user.ok_or_else(|| StoreError::corrupt("directory_users", "the user is missing"))?;
        Ok(ProvisionedUser { user, entry })
    }
}

impl Draft<'_> {
    pub(super) fn write_directory(self, change: &DirectoryChange) -> Result<(), StoreError> {
        match change {
            DirectoryChange::Create(directory) => {
                self.hold_tenant()?;
                self.put_directory(directory.clone())
            }
            DirectoryChange::Update { after, .. } => {
                let stored: Option<Directory> = self.view().get(&key(after.id))?;
                let stored = stored.ok_or(StoreError::Missing("directory"))?;
                let (created_at, version) = (stored.created_at, stored.version.next());
                self.put_directory(Directory { created_at, version, ..after.clone() })
            }
            DirectoryChange::Delete(directory) => {
                let removed = self.remove::<Directory>(&key(directory.id))?;
                removed.then_some(()).ok_or(StoreError::Missing("directory"))?;
                self.remove::<ActivityRow>(&key(directory.id))?;
                let entries = self.view().select(|entry: &DirectoryUser| entry.directory_id == directory.id)?;
                entries.iter().try_for_each(|entry| self.remove::<DirectoryUser>(&entry.key()).map(drop))?;
                let groups = self.view().groups_of_directory(directory.id)?;
                groups.iter().try_for_each(|group| self.remove_directory_group(group.id).map(drop))
            }
        }
    }

    fn put_directory(self, directory: Directory) -> Result<(), StoreError> {
        let Directory { id, service_account_id, identity_provider_id, .. } = directory;
        let is_taken =
            self.view().any(|other: &Directory| other.id != id && other.service_account_id == service_account_id)?;
        hold(Constraint::DirectoryAccount, !is_taken)?;
        hold(Constraint::Reference, self.view().has::<User>(&key(service_account_id))?)?;
        if let Some(provider) = identity_provider_id {
            hold(Constraint::Reference, self.view().has::<IdentityProviderRow>(&key(provider))?)?;
        }
        self.put(directory)
    }

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
