use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use iam_model::access::{HeldRole, Until, VisibleScope};
use iam_model::assignment::{Assignment, AssignmentFilter, Grant, GrantContext, GrantOrganization, ListedAssignment};
use iam_model::change::AssignmentChange;
use iam_model::clock::Timestamp;
use iam_model::id::{OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::{Organization, OrganizationStatus, OrganizationSummary};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{AssignmentStore, AssignmentTransaction, GrantQuery, HolderQuery};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold, newest_first, page};

#[async_trait]
impl AssignmentStore for MemoryStore {
    async fn grants_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<Grant>, StoreError> {
        let users: BTreeSet<&UserId> = users.iter().collect();
        Ok(self.tenant_state(tenant).grants(|assignment| users.contains(&assignment.user_id)))
    }

    async fn deciding_grants(
        &self,
        tenant: TenantId,
        users: &[UserId],
        query: &HolderQuery,
    ) -> Result<Vec<Grant>, StoreError> {
        let users: BTreeSet<&UserId> = users.iter().collect();
        let decides = |found: &Assignment| {
            users.contains(&found.user_id)
                && query.roles.as_ref().is_none_or(|roles| roles.contains(&found.role_id))
                && found.organization_id.is_none_or(|id| query.organizations.contains(&id))
        };
        Ok(self.tenant_state(tenant).grants(decides))
    }

    async fn assigned_users(
        &self,
        tenant: TenantId,
        roles: &[RoleId],
        organizations: &[OrganizationId],
    ) -> Result<Vec<UserId>, StoreError> {
        let state = self.tenant_state(tenant);
        let passes = |found: &&Assignment| {
            roles.contains(&found.role_id) || found.organization_id.is_some_and(|id| organizations.contains(&id))
        };
        let users: BTreeSet<UserId> = state.assignments.values().filter(passes).map(|found| found.user_id).collect();
        Ok(users.into_iter().collect())
    }

    async fn live_assignments(
        &self,
        tenant: TenantId,
        users: &[UserId],
        at: Timestamp,
    ) -> Result<Vec<(UserId, u64)>, StoreError> {
        Ok(self.tenant_state(tenant).live_assignments(users, at))
    }

    async fn assignments(
        &self,
        tenant: TenantId,
        filter: &AssignmentFilter,
        visible_scope: &VisibleScope,
        request: PageRequest,
        now: Timestamp,
    ) -> Result<Page<ListedAssignment>, StoreError> {
        let state = self.tenant_state(tenant);
        let passes =
            |found: &&Assignment| filter.matches(found, now) && state.is_visible(visible_scope, found.organization_id);
        let mut found: Vec<&Assignment> = state.assignments.values().filter(passes).collect();
        newest_first(&mut found, |assignment| (assignment.created_at, assignment.id));
        let Page { items, total, request } = page(&found, request);
        let items = items.into_iter().filter_map(|assignment| state.listed(assignment)).collect();
        Ok(Page { items, total, request })
    }

    async fn expiring_assignments(
        &self,
        tenant: TenantId,
        visible_scope: &VisibleScope,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ListedAssignment>, StoreError> {
        let state = self.tenant_state(tenant);
        let passes = |found: &&Assignment| {
            found.expires_at.is_some_and(|end| now < end && end <= until)
                && state.is_visible(visible_scope, found.organization_id)
        };
        let mut found: Vec<&Assignment> = state.assignments.values().filter(passes).collect();
        found.sort_by_key(|assignment| (assignment.expires_at, assignment.id));
        let first = found.into_iter().take(limit as usize).cloned();
        Ok(first.filter_map(|assignment| state.listed(assignment)).collect())
    }

    async fn tenants_with_expired_assignments(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantId>, StoreError> {
        let has_expired = |state: &TenantState| state.assignments.values().any(|found| !found.is_live(now));
        Ok(self.read(|state| {
            let tenants = state.tenants.iter().filter(|(_, state)| has_expired(state)).map(|(id, _)| *id);
            tenants.take(limit as usize).collect()
        }))
    }
}

#[async_trait]
impl AssignmentTransaction for MemoryTransaction {
    async fn grants(&mut self, which: GrantQuery<'_>) -> Result<Vec<Grant>, StoreError> {
        let state = &self.draft;
        Ok(match which {
            GrantQuery::One(id) => state.grants(|found| found.id == id),
            GrantQuery::Each(ids) => {
                let ids: BTreeSet<_> = ids.iter().collect();
                state.grants(|found| ids.contains(&found.id))
            }
            GrantQuery::OfUser(user) => state.grants(|found| found.user_id == user),
            GrantQuery::OfUsers(users) => {
                let users: BTreeSet<_> = users.iter().collect();
                state.grants(|found| users.contains(&found.user_id))
            }
            GrantQuery::OfRole(role) => state.grants(|found| found.role_id == role),
            GrantQuery::In(organization) => state.grants(|found| found.organization_id == Some(organization)),
            GrantQuery::At(contexts) => {
                let contexts: HashSet<_> = contexts.iter().collect();
                state.grants(|found| contexts.contains(&found.context()))
            }
            GrantQuery::OfDirectory(directory) => {
                let is_its = |group| state.directory_group(directory, group).is_some();
                state.grants(|found| found.directory_group_id.is_some_and(is_its))
            }
            GrantQuery::OfAccessRequests(requests) => {
                state.grants(|found| found.access_request_id.is_some_and(|request| requests.contains(&request)))
            }
            GrantQuery::Expired { at, limit } => {
                let mut expired = state.grants(|found| !found.is_live(at));
                expired.sort_by_key(|grant| grant.assignment.expires_at);
                expired.truncate(limit as usize);
                expired
            }
        })
    }

    async fn live_assignments(&mut self, users: &[UserId], at: Timestamp) -> Result<Vec<(UserId, u64)>, StoreError> {
        Ok(self.draft.live_assignments(users, at))
    }

    async fn roles_held_in(
        &mut self,
        organizations: &[OrganizationId],
        now: Timestamp,
    ) -> Result<Vec<HeldRole>, StoreError> {
        let state = &self.draft;
        let mut held: BTreeMap<(OrganizationId, RoleId), Until> = BTreeMap::new();
        for found in state.assignments.values().filter(|found| found.is_live(now)) {
            if let Some(organization) = found.organization_id.filter(|id| organizations.contains(id)) {
                let until = Until::from(found.expires_at);
                let longest = held.entry((organization, found.role_id)).or_insert(until);
                *longest = until.max(*longest);
            }
        }
        let held_role = |((organization, role), until)| {
            // A missing role must not count as a role that grants nothing.
            let found = state.roles.get(&role).ok_or_else(|| StoreError::corrupt("assignments.role", role))?;
            Ok(HeldRole { role: Arc::clone(found), organization, until })
        };
        held.into_iter().map(held_role).collect()
    }

    async fn roles_held_until(&mut self, roles: &[RoleId], now: Timestamp) -> Result<Option<Until>, StoreError> {
        let held = self.draft.assignments.values().filter(|found| roles.contains(&found.role_id) && found.is_live(now));
        Ok(held.map(|found| Until::from(found.expires_at)).max())
    }

    async fn has_other_administrator(&mut self, than: UserId) -> Result<bool, StoreError> {
        let others = self.draft.users.values().filter(|user| user.id != than && user.can_administer());
        let others: BTreeSet<UserId> = others.map(|user| user.id).collect();
        let grants = self.draft.grants(|found| others.contains(&found.user_id));
        Ok(grants.iter().any(Grant::is_lasting_administration))
    }
}

impl TenantState {
    /// The grants of the assignments that pass, newest first, then by id.
    pub(super) fn grants(&self, passes: impl Fn(&Assignment) -> bool) -> Vec<Grant> {
        let found = self.assignments.values().filter(|found| passes(found));
        let mut grants: Vec<Grant> = found.filter_map(|assignment| self.grant(assignment)).collect();
        newest_first(&mut grants, |grant| (grant.assignment.created_at, grant.assignment.id));
        grants
    }

    /// The numbers of the assignments of these users that have not expired.
    fn live_assignments(&self, users: &[UserId], at: Timestamp) -> Vec<(UserId, u64)> {
        let users: BTreeSet<&UserId> = users.iter().collect();
        let mut counts: BTreeMap<UserId, u64> = BTreeMap::new();
        for found in self.assignments.values().filter(|found| found.is_live(at) && users.contains(&found.user_id)) {
            *counts.entry(found.user_id).or_default() += 1;
        }
        counts.into_iter().collect()
    }

    fn grant(&self, assignment: &Assignment) -> Option<Grant> {
        let organization = assignment.organization_id.and_then(|id| self.organizations.get(&id));
        Some(Grant {
            assignment: assignment.clone(),
            role: Arc::clone(self.roles.get(&assignment.role_id)?),
            organization: organization.map(|found| self.grant_organization(found)),
        })
    }

    fn grant_organization(&self, organization: &Organization) -> GrantOrganization {
        GrantOrganization {
            id: organization.id,
            name: organization.name.as_str().to_owned(),
            lineage: self.upwards(organization.id).map(|above| above.id).collect(),
            is_lineage_active: self.upwards(organization.id).all(|above| above.status == OrganizationStatus::Active),
        }
    }

    fn listed(&self, assignment: Assignment) -> Option<ListedAssignment> {
        let organization = assignment.organization_id.and_then(|id| self.organizations.get(&id));
        Some(ListedAssignment {
            user: self.users.get(&assignment.user_id)?.summary(),
            role: self.roles.get(&assignment.role_id)?.summary(),
            organization: organization
                .map(|found| OrganizationSummary { id: found.id, name: found.name.as_str().to_owned() }),
            assignment,
        })
    }

    pub(super) fn write_assignment(&mut self, change: &AssignmentChange) -> Result<(), StoreError> {
        match change {
            AssignmentChange::Create(grants) => {
                let contexts = self.assignments.values().map(Assignment::context);
                let mut taken: HashSet<GrantContext> = contexts.collect();
                grants.iter().try_for_each(|grant| self.insert_assignment(&grant.assignment, &mut taken))
            }
            AssignmentChange::Activate { grant, .. } => {
                let mut taken = self.assignments.values().map(Assignment::context).collect();
                self.insert_assignment(&grant.assignment, &mut taken)
            }
            AssignmentChange::Update(changed) => {
                changed.iter().try_for_each(|changed| self.update_assignment(&changed.after))
            }
            AssignmentChange::Revoke { grants, .. } => {
                let ended: BTreeSet<_> = grants.iter().map(|grant| grant.assignment.id).collect();
                self.assignments.retain(|id, _| !ended.contains(id));
                Ok(())
            }
        }
    }

    fn insert_assignment(
        &mut self,
        assignment: &Assignment,
        taken: &mut HashSet<GrantContext>,
    ) -> Result<(), StoreError> {
        hold(Constraint::Reference, self.has_what_it_refers_to(assignment))?;
        hold(Constraint::RoleAssignment, taken.insert(assignment.context()))?;
        self.assignments.insert(assignment.id, assignment.clone());
        Ok(())
    }

    fn update_assignment(&mut self, after: &Assignment) -> Result<(), StoreError> {
        let stored = self.assignments.get_mut(&after.id).ok_or(StoreError::Missing("role assignment"))?;
        stored.expires_at = after.expires_at;
        stored.directory_group_id = after.directory_group_id;
        Ok(())
    }

    fn has_what_it_refers_to(&self, assignment: &Assignment) -> bool {
        self.users.contains_key(&assignment.user_id)
            && self.roles.contains_key(&assignment.role_id)
            && assignment.organization_id.is_none_or(|id| self.organizations.contains_key(&id))
    }
}
