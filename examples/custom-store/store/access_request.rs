use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use iam_model::access_request::{AccessRequest, AccessRequestFilter, AccessRequestScope};
use iam_model::change::AccessRequestChange;
use iam_model::clock::Timestamp;
use iam_model::id::{AccessRequestId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::Organization;
use iam_model::page::{Page, PageRequest};
use iam_model::role::Role;
use iam_model::store::{AccessRequestStore, AccessRequestTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::User;
use iam_model::version::Version;

use super::rows::{Draft, Row, everywhere, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold, newest_first, page};

impl Row for AccessRequest {
    const TABLE: &'static str = "access_requests";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

#[async_trait]
impl AccessRequestStore for RedbStore {
    async fn access_request(&self, tenant: TenantId, id: AccessRequestId) -> Result<Option<AccessRequest>, StoreError> {
        self.read(tenant, |view| view.get(&key(id)))
    }

    async fn access_requests(
        &self,
        tenant: TenantId,
        filter: &AccessRequestFilter,
        scope: &AccessRequestScope,
        request: PageRequest,
        now: Timestamp,
    ) -> Result<Page<AccessRequest>, StoreError> {
        let found = self.read(tenant, |view| {
            let organizations = view.organizations()?;
            let is_within =
                |below: OrganizationId, above: OrganizationId| organizations.upwards(below).any(|it| it.id == above);
            let roles: BTreeMap<RoleId, Version> =
                view.all::<Role>()?.into_iter().map(|role| (role.id, role.version)).collect();
            view.select(|found: &AccessRequest| {
                let role = roles.get(&found.role_id).copied();
                scope.shows(found, is_within) && filter.matches(found, role, scope, is_within, now)
            })
        })?;
        Ok(page(sorted(found), request))
    }

    async fn tenants_with_due_access_requests(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantId>, StoreError> {
        let found = self.read_all(everywhere::<AccessRequest>)?.into_iter().filter(|(_, found)| is_due(found, now));
        let tenants: BTreeSet<TenantId> = found.map(|(tenant, _)| tenant).collect();
        Ok(tenants.into_iter().take(limit as usize).collect())
    }
}

#[async_trait]
impl AccessRequestTransaction for RedbTransaction {
    async fn access_requests_by_id(&mut self, ids: &[AccessRequestId]) -> Result<Vec<AccessRequest>, StoreError> {
        self.view().select(|found: &AccessRequest| ids.contains(&found.id))
    }

    async fn open_access_requests_of(&mut self, user: UserId) -> Result<Vec<AccessRequest>, StoreError> {
        let is_open = |found: &AccessRequest| found.requested_by == user && found.status.is_open();
        Ok(sorted(self.view().select(is_open)?))
    }

    async fn due_access_requests(&mut self, at: Timestamp, limit: u32) -> Result<Vec<AccessRequest>, StoreError> {
        let mut due = self.view().select(|found: &AccessRequest| is_due(found, at))?;
        due.sort_by_key(|found| (found.due_at(), found.id));
        due.truncate(limit as usize);
        Ok(due)
    }
}

fn is_due(request: &AccessRequest, at: Timestamp) -> bool {
    request.due_at().is_some_and(|due| due <= at)
}

fn sorted(found: Vec<AccessRequest>) -> Vec<AccessRequest> {
    newest_first(found, |request| (request.created_at, request.id))
}

impl Draft<'_> {
    pub(super) fn write_access_request(self, change: &AccessRequestChange) -> Result<(), StoreError> {
        match change {
            AccessRequestChange::Create(request) => {
                hold(Constraint::Reference, self.view().has::<User>(&key(request.requested_by))?)?;
                if let Some(organization) = request.organization_id {
                    hold(Constraint::Reference, self.view().has::<Organization>(&key(organization))?)?;
                }
                self.put(AccessRequest::clone(request))
            }
            AccessRequestChange::Update { after, .. } => {
                if !self.view().has::<AccessRequest>(&key(after.id))? {
                    return Err(StoreError::Missing("access request"));
                }
                self.put(AccessRequest::clone(after))
            }
            AccessRequestChange::RemoveOldest { user, kept } => {
                let is_closed = |found: &AccessRequest| found.requested_by == *user && !found.status.is_open();
                let mut closed = self.view().select(is_closed)?;
                closed.sort_by_key(|request| (request.created_at, request.id));
                let removed = closed.len().saturating_sub(*kept as usize);
                closed
                    .iter()
                    .take(removed)
                    .try_for_each(|request| self.remove::<AccessRequest>(&request.key()).map(drop))
            }
        }
    }
}
