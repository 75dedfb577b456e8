use async_trait::async_trait;
use iam_model::access_request::{AccessRequest, AccessRequestFilter, AccessRequestScope};
use iam_model::change::AccessRequestChange;
use iam_model::clock::Timestamp;
use iam_model::id::{AccessRequestId, OrganizationId, TenantId, UserId};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{AccessRequestStore, AccessRequestTransaction};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold, newest_first, page};

#[async_trait]
impl AccessRequestStore for MemoryStore {
    async fn access_request(&self, tenant: TenantId, id: AccessRequestId) -> Result<Option<AccessRequest>, StoreError> {
        Ok(self.tenant_state(tenant).access_requests.get(&id).cloned())
    }

    async fn access_requests(
        &self,
        tenant: TenantId,
        filter: &AccessRequestFilter,
        scope: &AccessRequestScope,
        request: PageRequest,
        now: Timestamp,
    ) -> Result<Page<AccessRequest>, StoreError> {
        let state = self.tenant_state(tenant);
        let is_within = |below: OrganizationId, above: OrganizationId| state.upwards(below).any(|it| it.id == above);
        let role = |found: &AccessRequest| state.roles.get(&found.role_id).map(|role| role.version);
        let passes = |found: &AccessRequest| {
            scope.shows(found, is_within) && filter.matches(found, role(found), scope, is_within, now)
        };
        Ok(page(&state.sorted_requests(passes), request))
    }

    async fn tenants_with_due_access_requests(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantId>, StoreError> {
        let has_due = |state: &TenantState| state.access_requests.values().any(|found| is_due(found, now));
        Ok(self.read(|state| {
            let tenants = state.tenants.iter().filter(|(_, state)| has_due(state)).map(|(id, _)| *id);
            tenants.take(limit as usize).collect()
        }))
    }
}

#[async_trait]
impl AccessRequestTransaction for MemoryTransaction {
    async fn access_requests_by_id(&mut self, ids: &[AccessRequestId]) -> Result<Vec<AccessRequest>, StoreError> {
        let is_one = |found: &&AccessRequest| ids.contains(&found.id);
        Ok(self.draft.access_requests.values().filter(is_one).cloned().collect())
    }

    async fn open_access_requests_of(&mut self, user: UserId) -> Result<Vec<AccessRequest>, StoreError> {
        let is_open = |found: &AccessRequest| found.requested_by == user && found.status.is_open();
        Ok(self.draft.sorted_requests(is_open).into_iter().cloned().collect())
    }

    async fn due_access_requests(&mut self, at: Timestamp, limit: u32) -> Result<Vec<AccessRequest>, StoreError> {
        let requests = self.draft.access_requests.values();
        let mut due: Vec<&AccessRequest> = requests.filter(|found| is_due(found, at)).collect();
        due.sort_by_key(|found| (found.due_at(), found.id));
        Ok(due.into_iter().take(limit as usize).cloned().collect())
    }
}

fn is_due(request: &AccessRequest, at: Timestamp) -> bool {
    request.due_at().is_some_and(|due| due <= at)
}

impl TenantState {
    /// The requests that pass, newest first, then by identifier.
    fn sorted_requests(&self, passes: impl Fn(&AccessRequest) -> bool) -> Vec<&AccessRequest> {
        let mut found: Vec<&AccessRequest> = self.access_requests.values().filter(|found| passes(found)).collect();
        newest_first(&mut found, |request| (request.created_at, request.id));
        found
    }

    pub(super) fn write_access_request(&mut self, change: &AccessRequestChange) -> Result<(), StoreError> {
        match change {
            AccessRequestChange::Create(request) => {
                let is_known = self.users.contains_key(&request.requested_by)
                    && request.organization_id.is_none_or(|id| self.organizations.contains_key(&id));
                hold(Constraint::Reference, is_known)?;
                self.access_requests.insert(request.id, AccessRequest::clone(request));
            }
            AccessRequestChange::Update { after, .. } => {
                let stored = self.access_requests.get_mut(&after.id).ok_or(StoreError::Missing("access request"))?;
                *stored = AccessRequest::clone(after);
            }
            AccessRequestChange::RemoveOldest { user, kept } => {
                let is_closed = |found: &&AccessRequest| found.requested_by == *user && !found.status.is_open();
                let mut closed: Vec<_> = self.access_requests.values().filter(is_closed).collect();
                closed.sort_by_key(|request| (request.created_at, request.id));
                let removed = closed.len().saturating_sub(*kept as usize);
                let removed: Vec<AccessRequestId> = closed.iter().take(removed).map(|request| request.id).collect();
                for id in removed {
                    self.access_requests.remove(&id);
                }
            }
        }
        Ok(())
    }
}
