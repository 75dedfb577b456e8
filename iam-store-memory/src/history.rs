use std::collections::BTreeSet;

use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::assignment::{Assignment, AssignmentFilter};
use iam_model::clock::Timestamp;
use iam_model::history::{Past, PastStatus, Versions};
use iam_model::id::{OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::Organization;
use iam_model::page::{Page, PageRequest};
use iam_model::role::Role;
use iam_model::store::{HistoryStore, HolderQuery};
use iam_model::store_error::StoreError;
use iam_model::user::UserStatus;

use crate::state::{MemoryStore, TenantState, newest_first, page};

#[async_trait]
impl HistoryStore for MemoryStore {
    async fn history_start(&self, tenant: TenantId) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.tenant_state(tenant).past.start)
    }

    async fn past_assignments_of(
        &self,
        tenant: TenantId,
        users: &[UserId],
        after: Timestamp,
    ) -> Result<Vec<Past<Assignment>>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(select(&state.past.assignments, after, |version| users.contains(&version.user_id)))
    }

    async fn past_roles(
        &self,
        tenant: TenantId,
        roles: Option<&[RoleId]>,
        after: Timestamp,
    ) -> Result<Vec<Past<Role>>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(select(&state.past.roles, after, |version| roles.is_none_or(|roles| roles.contains(&version.id))))
    }

    async fn past_organizations(
        &self,
        tenant: TenantId,
        organizations: &[OrganizationId],
        after: Timestamp,
    ) -> Result<Vec<Past<Organization>>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(select(&state.past.organizations, after, |version| organizations.contains(&version.id)))
    }

    async fn past_statuses(
        &self,
        tenant: TenantId,
        users: &[UserId],
        after: Timestamp,
    ) -> Result<Vec<Past<PastStatus>>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(select(&state.past.statuses, after, |version| users.contains(&version.user_id)))
    }

    async fn assignments_at(
        &self,
        tenant: TenantId,
        filter: &AssignmentFilter,
        visible_scope: &VisibleScope,
        request: PageRequest,
        at: Timestamp,
    ) -> Result<Page<Assignment>, StoreError> {
        let state = self.tenant_state(tenant);
        let versions = state.assignment_versions();
        let passes =
            |found: &&Assignment| filter.matches(found, at) && state.is_visible(visible_scope, found.organization_id);
        let mut found: Vec<&Assignment> = versions.all_at(at).filter(passes).collect();
        newest_first(&mut found, |assignment| (assignment.created_at, assignment.id));
        Ok(page(&found, request))
    }

    async fn holders(
        &self,
        tenant: TenantId,
        query: &HolderQuery,
        request: PageRequest,
        _now: Timestamp,
    ) -> Result<Page<UserId>, StoreError> {
        let state = self.tenant_state(tenant);
        let statuses = Versions::new(state.users.values().map(PastStatus::from), state.past.statuses.iter().cloned());
        let versions = state.assignment_versions();
        let counts = |found: &&Assignment| {
            query.roles.as_ref().is_none_or(|roles| roles.contains(&found.role_id))
                && found.organization_id.is_none_or(|id| query.organizations.contains(&id))
                && found.is_live(query.at)
                && statuses.at(found.user_id, query.at).is_some_and(|user| user.status == UserStatus::Active)
        };
        let holders: BTreeSet<UserId> = versions.all_at(query.at).filter(counts).map(|found| found.user_id).collect();
        Ok(page(&holders.iter().collect::<Vec<_>>(), request))
    }
}

/// The versions that ended after a moment and pass.
fn select<T: Clone>(past: &[Past<T>], after: Timestamp, passes: impl Fn(&T) -> bool) -> Vec<Past<T>> {
    past.iter().filter(|past| past.until > after && passes(&past.version)).cloned().collect()
}

impl TenantState {
    fn assignment_versions(&self) -> Versions<Assignment> {
        Versions::new(self.assignments.values().cloned(), self.past.assignments.iter().cloned())
    }
}
