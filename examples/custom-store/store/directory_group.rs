use std::collections::BTreeSet;

use async_trait::async_trait;
use iam_model::assignment::GrantContext;
use iam_model::change::DirectoryGroupChange;
use iam_model::directory::{Condition, Directory, DirectoryGroup, DirectoryName, GroupSortField, GroupTest};
use iam_model::id::{DirectoryGroupId, DirectoryId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::page::SortOrder;
use iam_model::role::PlacedRole;
use iam_model::store::{DirectoryGroupStore, DirectoryGroupTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::User;
use serde::{Deserialize, Serialize};

use super::rows::{Draft, Keys, Row, View, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold};

impl Row for DirectoryGroup {
    const TABLE: &'static str = "directory_groups";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

/// A member of a group, with the roles that are withheld from it.
#[derive(Serialize, Deserialize)]
pub(super) struct MemberRow {
    group: DirectoryGroupId,
    user: UserId,
    withheld: Vec<PlacedRole>,
}

impl Row for MemberRow {
    const TABLE: &'static str = "directory_group_members";

    fn key(&self) -> Vec<u8> {
        member_key(self.group, self.user)
    }
}

fn member_key(group: DirectoryGroupId, user: UserId) -> Vec<u8> {
    [key(group), key(user)].concat()
}

impl MemberRow {
    /// What is withheld from the member, also roles that the group does not give at the moment.
    fn withheld(&self) -> impl Iterator<Item = GrantContext> {
        let user = self.user;
        let context =
            move |role: &PlacedRole| GrantContext { user, role: role.role_id, organization: role.organization_id };
        self.withheld.iter().map(context)
    }
}

#[async_trait]
impl DirectoryGroupStore for RedbStore {
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
}

#[async_trait]
impl DirectoryGroupTransaction for RedbTransaction {
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
        let is_named = |group: &DirectoryGroup| has_name(group, directory, &name);
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

impl View<'_> {
    fn directory_group(
        self,
        directory: DirectoryId,
        id: DirectoryGroupId,
    ) -> Result<Option<DirectoryGroup>, StoreError> {
        let group: Option<DirectoryGroup> = self.get(&key(id))?;
        Ok(group.filter(|group| group.directory_id == directory))
    }

    pub(super) fn groups_of_directory(self, directory: DirectoryId) -> Result<Vec<DirectoryGroup>, StoreError> {
        self.select(|group: &DirectoryGroup| group.directory_id == directory)
    }

    /// The members of a group, in the order of their ids.
    fn members_of_group(self, group: DirectoryGroupId) -> Result<Vec<MemberRow>, StoreError> {
        self.take(Keys::from(key(group)), u32::MAX, |member: &MemberRow| member.group == group)
    }

    /// The groups of which a user is a member, in the order of their ids, each with the row of the member.
    fn groups_of_member(self, user: UserId) -> Result<Vec<(DirectoryGroup, MemberRow)>, StoreError> {
        let with_group = |member: MemberRow| {
            let group: Option<DirectoryGroup> = self.get(&key(member.group))?;
            let group = group.ok_or_else(|| StoreError::corrupt("directory_group_members.group", member.group))?;
            Ok((group, member))
        };
        self.select(|member: &MemberRow| member.user == user)?.into_iter().map(with_group).collect()
    }

    /// The group with the lowest identifier that gives a role to a user.
    fn giving_group(
        self,
        context: &GrantContext,
        except: Option<DirectoryGroupId>,
    ) -> Result<Option<DirectoryGroup>, StoreError> {
        let role = placed(context);
        let gives = |(group, member): &(DirectoryGroup, MemberRow)| {
            Some(group.id) != except && group.grants.contains(&role) && !member.withheld.contains(&role)
        };
        Ok(self.groups_of_member(context.user)?.into_iter().find(gives).map(|(group, _)| group))
    }
}

impl Draft<'_> {
    pub(super) fn write_directory_group(self, change: &DirectoryGroupChange) -> Result<(), StoreError> {
        match change {
            DirectoryGroupChange::Create { group, members } => {
                self.put_directory_group(group.clone())?;
                self.add_members(group.id, members)
            }
            DirectoryGroupChange::Update { after, added, removed, .. } => {
                let stored: Option<DirectoryGroup> = self.view().get(&after.key())?;
                let version = stored.ok_or(StoreError::Missing("group of a directory"))?.version.next();
                self.put_directory_group(DirectoryGroup { version, ..after.clone() })?;
                for user in removed {
                    self.remove::<MemberRow>(&member_key(after.id, *user))?;
                }
                self.add_members(after.id, added)
            }
            DirectoryGroupChange::Delete(group) => {
                let removed = self.remove_directory_group(group.id)?;
                removed.then_some(()).ok_or(StoreError::Missing("group of a directory"))
            }
            DirectoryGroupChange::Withhold(contexts) => contexts.iter().try_for_each(|context| self.withhold(context)),
        }
    }

    /// Removes a group with its members. Returns whether it existed.
    pub(super) fn remove_directory_group(self, group: DirectoryGroupId) -> Result<bool, StoreError> {
        for member in self.view().members_of_group(group)? {
            self.remove::<MemberRow>(&member.key())?;
        }
        self.remove::<DirectoryGroup>(&key(group))
    }

    fn put_directory_group(self, group: DirectoryGroup) -> Result<(), StoreError> {
        let (directory, name) = (group.directory_id, group.display_name.key());
        let is_taken =
            self.view().any(|other: &DirectoryGroup| other.id != group.id && has_name(other, directory, &name))?;
        hold(Constraint::DirectoryGroupName, !is_taken)?;
        hold(Constraint::Reference, self.view().has::<Directory>(&key(directory))?)?;
        self.put(group)
    }

    fn add_members(self, group: DirectoryGroupId, users: &[UserId]) -> Result<(), StoreError> {
        for user in users {
            hold(Constraint::Reference, self.view().has::<User>(&key(*user))?)?;
            self.put(MemberRow { group, user: *user, withheld: Vec::new() })?;
        }
        Ok(())
    }

    fn withhold(self, context: &GrantContext) -> Result<(), StoreError> {
        let role = placed(context);
        for (group, mut member) in self.view().groups_of_member(context.user)? {
            if group.grants.contains(&role) && !member.withheld.contains(&role) {
                member.withheld.push(role);
                self.put(member)?;
            }
        }
        Ok(())
    }
}

fn has_name(group: &DirectoryGroup, directory: DirectoryId, key: &str) -> bool {
    group.directory_id == directory && group.display_name.key() == key
}

fn placed(context: &GrantContext) -> PlacedRole {
    PlacedRole { role_id: context.role, organization_id: context.organization }
}
