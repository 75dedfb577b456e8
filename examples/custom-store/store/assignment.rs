use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use iam_model::access::{HeldRole, Until, VisibleScope};
use iam_model::assignment::{Assignment, AssignmentFilter, Grant, GrantContext, GrantOrganization, ListedAssignment};
use iam_model::change::AssignmentChange;
use iam_model::clock::Timestamp;
use iam_model::id::{DirectoryGroupId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::{Organization, OrganizationStatus, OrganizationSummary};
use iam_model::page::{Page, PageRequest};
use iam_model::role::Role;
use iam_model::store::{AssignmentStore, AssignmentTransaction, GrantQuery, HolderQuery};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::User;

use super::organization::Organizations;
use super::rows::{Draft, Row, View, everywhere, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold, newest_first, page};

impl Row for Assignment {
    const TABLE: &'static str = "assignments";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

#[async_trait]
impl AssignmentStore for RedbStore {
    async fn grants_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<Grant>, StoreError> {
        self.read(tenant, |view| view.grants(|assignment| users.contains(&assignment.user_id)))
    }

    async fn deciding_grants(
        &self,
        tenant: TenantId,
        users: &[UserId],
        query: &HolderQuery,
    ) -> Result<Vec<Grant>, StoreError> {
        let decides = |found: &Assignment| {
            users.contains(&found.user_id)
                && query.roles.as_ref().is_none_or(|roles| roles.contains(&found.role_id))
                && found.organization_id.is_none_or(|id| query.organizations.contains(&id))
        };
        self.read(tenant, |view| view.grants(decides))
    }

    async fn assigned_users(
        &self,
        tenant: TenantId,
        roles: &[RoleId],
        organizations: &[OrganizationId],
    ) -> Result<Vec<UserId>, StoreError> {
        let passes = |found: &Assignment| {
            roles.contains(&found.role_id) || found.organization_id.is_some_and(|id| organizations.contains(&id))
        };
        let found = self.read(tenant, |view| view.select(passes))?;
        let users: BTreeSet<UserId> = found.into_iter().map(|found| found.user_id).collect();
        Ok(users.into_iter().collect())
    }

    async fn live_assignments(
        &self,
        tenant: TenantId,
        users: &[UserId],
        at: Timestamp,
    ) -> Result<Vec<(UserId, u64)>, StoreError> {
        self.read(tenant, |view| view.live_assignments(users, at))
    }

    async fn assignments(
        &self,
        tenant: TenantId,
        filter: &AssignmentFilter,
        scope: &VisibleScope,
        request: PageRequest,
        now: Timestamp,
    ) -> Result<Page<ListedAssignment>, StoreError> {
        self.read(tenant, |view| {
            let organizations = view.organizations()?;
            let found = view.select(|found: &Assignment| {
                filter.matches(found, now) && organizations.is_visible(scope, found.organization_id)
            })?;
            let Page { items, total, request } =
                page(newest_first(found, |found| (found.created_at, found.id)), request);
            let items = items.into_iter().map(|found| view.listed(found, &organizations)).collect::<Result<_, _>>()?;
            Ok(Page { items, total, request })
        })
    }

    async fn expiring_assignments(
        &self,
        tenant: TenantId,
        scope: &VisibleScope,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ListedAssignment>, StoreError> {
        self.read(tenant, |view| {
            let organizations = view.organizations()?;
            let mut found = view.select(|found: &Assignment| {
                found.expires_at.is_some_and(|end| now < end && end <= until)
                    && organizations.is_visible(scope, found.organization_id)
            })?;
            found.sort_by_key(|found| (found.expires_at, found.id));
            found.into_iter().take(limit as usize).map(|found| view.listed(found, &organizations)).collect()
        })
    }

    async fn tenants_with_expired_assignments(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantId>, StoreError> {
        let found = self.read_all(everywhere::<Assignment>)?.into_iter().filter(|(_, found)| !found.is_live(now));
        let tenants: BTreeSet<TenantId> = found.map(|(tenant, _)| tenant).collect();
        Ok(tenants.into_iter().take(limit as usize).collect())
    }
}

#[async_trait]
impl AssignmentTransaction for RedbTransaction {
    async fn grants(&mut self, which: GrantQuery<'_>) -> Result<Vec<Grant>, StoreError> {
        let view = self.view();
        match which {
            GrantQuery::One(id) => view.grants(|found| found.id == id),
            GrantQuery::Each(ids) => view.grants(|found| ids.contains(&found.id)),
            GrantQuery::OfUser(user) => view.grants(|found| found.user_id == user),
            GrantQuery::OfUsers(users) => view.grants(|found| users.contains(&found.user_id)),
            GrantQuery::OfRole(role) => view.grants(|found| found.role_id == role),
            GrantQuery::In(organization) => view.grants(|found| found.organization_id == Some(organization)),
            GrantQuery::At(contexts) => view.grants(|found| contexts.contains(&found.context())),
            GrantQuery::OfDirectory(directory) => {
                let groups = view.groups_of_directory(directory)?;
                let is_its = |id: DirectoryGroupId| groups.iter().any(|group| group.id == id);
                view.grants(|found| found.directory_group_id.is_some_and(is_its))
            }
            GrantQuery::OfAccessRequests(requests) => {
                view.grants(|found| found.access_request_id.is_some_and(|request| requests.contains(&request)))
            }
            GrantQuery::Expired { at, limit } => {
                let mut expired = view.grants(|found| !found.is_live(at))?;
                expired.sort_by_key(|grant| grant.assignment.expires_at);
                expired.truncate(limit as usize);
                Ok(expired)
            }
        }
    }

    async fn live_assignments(&mut self, users: &[UserId], at: Timestamp) -> Result<Vec<(UserId, u64)>, StoreError> {
        self.view().live_assignments(users, at)
    }

    async fn roles_held_in(
        &mut self,
        organizations: &[OrganizationId],
        now: Timestamp,
    ) -> Result<Vec<HeldRole>, StoreError> {
        let mut longest: BTreeMap<(OrganizationId, RoleId), Until> = BTreeMap::new();
        for found in self.view().select(|found: &Assignment| found.is_live(now))? {
            if let Some(organization) = found.organization_id.filter(|id| organizations.contains(id)) {
                let until = Until::from(found.expires_at);
                longest
                    .entry((organization, found.role_id))
                    .and_modify(|held| *held = until.max(*held))
                    .or_insert(until);
            }
        }
        let roles = self.view().roles()?;
        let held = |((organization, role), until)| {
            Ok(HeldRole { role: Arc::clone(assigned(&roles, role)?), organization, until })
        };
        longest.into_iter().map(held).collect()
    }

    async fn roles_held_until(&mut self, roles: &[RoleId], now: Timestamp) -> Result<Option<Until>, StoreError> {
        let held = self.view().select(|found: &Assignment| roles.contains(&found.role_id) && found.is_live(now))?;
        Ok(held.iter().map(|found| Until::from(found.expires_at)).max())
    }

    async fn has_other_administrator(&mut self, than: UserId) -> Result<bool, StoreError> {
        let others = self.view().select(|user: &User| user.id != than && user.can_administer())?;
        let others: BTreeSet<UserId> = others.iter().map(|user| user.id).collect();
        let grants = self.view().grants(|found| others.contains(&found.user_id))?;
        Ok(grants.iter().any(Grant::is_lasting_administration))
    }
}

type Roles = BTreeMap<RoleId, Arc<Role>>;

/// Returns the role of an assignment. A missing role is an error: it must not pass as a role that grants nothing.
fn assigned(roles: &Roles, id: RoleId) -> Result<&Arc<Role>, StoreError> {
    roles.get(&id).ok_or_else(|| StoreError::corrupt("assignments.role_id", id))
}

impl View<'_> {
    fn roles(self) -> Result<Roles, StoreError> {
        Ok(self.all::<Role>()?.into_iter().map(|role| (role.id, Arc::new(role))).collect())
    }

    /// The grants of the assignments that match, newest first, then by id.
    pub(super) fn grants(self, passes: impl Fn(&Assignment) -> bool) -> Result<Vec<Grant>, StoreError> {
        let found = newest_first(self.select(passes)?, |found| (found.created_at, found.id));
        let (roles, organizations) = (self.roles()?, self.organizations()?);
        let grant = |assignment: Assignment| {
            let organization = assignment.organization_id.and_then(|id| organizations.get(id));
            Ok(Grant {
                role: Arc::clone(assigned(&roles, assignment.role_id)?),
                organization: organization.map(|found| placed(found, &organizations)),
                assignment,
            })
        };
        found.into_iter().map(grant).collect()
    }

    /// The numbers of the assignments of these users that have not expired.
    fn live_assignments(self, users: &[UserId], at: Timestamp) -> Result<Vec<(UserId, u64)>, StoreError> {
        let mut counts: BTreeMap<UserId, u64> = BTreeMap::new();
        for found in self.select(|found: &Assignment| found.is_live(at) && users.contains(&found.user_id))? {
            *counts.entry(found.user_id).or_default() += 1;
        }
        Ok(counts.into_iter().collect())
    }

    fn listed(self, assignment: Assignment, organizations: &Organizations) -> Result<ListedAssignment, StoreError> {
        let user: Option<User> = self.get(&key(assignment.user_id))?;
        let role: Option<Role> = self.get(&key(assignment.role_id))?;
        let summary = |found: &Organization| OrganizationSummary { id: found.id, name: found.name.as_str().to_owned() };
        Ok(ListedAssignment {
            user: user.ok_or_else(|| StoreError::corrupt("assignments.user_id", assignment.user_id))?.summary(),
            role: role.ok_or_else(|| StoreError::corrupt("assignments.role_id", assignment.role_id))?.summary(),
            organization: assignment.organization_id.and_then(|id| organizations.get(id)).map(summary),
            assignment,
        })
    }
}

fn placed(organization: &Organization, organizations: &Organizations) -> GrantOrganization {
    let upwards = || organizations.upwards(organization.id);
    GrantOrganization {
        id: organization.id,
        name: organization.name.as_str().to_owned(),
        lineage: upwards().map(|above| above.id).collect(),
        is_lineage_active: upwards().all(|above| above.status == OrganizationStatus::Active),
    }
}

impl Draft<'_> {
    pub(super) fn write_assignment(self, change: &AssignmentChange) -> Result<(), StoreError> {
        match change {
            AssignmentChange::Create(grants) => {
                // Read once: one change may create hundreds of assignments.
                let held = self.view().all::<Assignment>()?;
                let mut held: HashSet<GrantContext> = held.iter().map(Assignment::context).collect();
                grants.iter().try_for_each(|grant| self.insert_assignment(&grant.assignment, &mut held))
            }
            AssignmentChange::Activate { grant, .. } => {
                let held = self.view().all::<Assignment>()?;
                let mut held: HashSet<GrantContext> = held.iter().map(Assignment::context).collect();
                self.insert_assignment(&grant.assignment, &mut held)
            }
            AssignmentChange::Update(changed) => {
                changed.iter().try_for_each(|changed| self.update_assignment(&changed.after))
            }
            AssignmentChange::Revoke { grants, .. } => {
                grants.iter().try_for_each(|grant| self.remove::<Assignment>(&key(grant.assignment.id)).map(drop))
            }
        }
    }

    fn insert_assignment(self, assignment: &Assignment, held: &mut HashSet<GrantContext>) -> Result<(), StoreError> {
        let view = self.view();
        hold(Constraint::Reference, view.has::<User>(&key(assignment.user_id))?)?;
        hold(Constraint::Reference, view.has::<Role>(&key(assignment.role_id))?)?;
        if let Some(organization) = assignment.organization_id {
            hold(Constraint::Reference, view.has::<Organization>(&key(organization))?)?;
        }
        hold(Constraint::RoleAssignment, held.insert(assignment.context()))?;
        self.put(assignment.clone())
    }

    fn update_assignment(self, after: &Assignment) -> Result<(), StoreError> {
        let stored: Option<Assignment> = self.view().get(&key(after.id))?;
        let stored = stored.ok_or(StoreError::Missing("role assignment"))?;
        let (expires_at, directory_group_id) = (after.expires_at, after.directory_group_id);
        self.put(Assignment { expires_at, directory_group_id, ..stored })
    }
}
