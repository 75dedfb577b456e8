use async_trait::async_trait;
use iam_model::change::TenantChange;
use iam_model::credential::{LoginCandidate, LoginCandidates};
use iam_model::id::TenantId;
use iam_model::store::{Directory, TenantStore, TenantTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::tenant::{EmailLogin, Tenant, TenantStatus, Usage};
use iam_model::validate::{EmailKey, Slug};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold};

#[async_trait]
impl Directory for MemoryStore {
    async fn tenant_by_slug(&self, slug: &Slug) -> Result<Option<Tenant>, StoreError> {
        let has_slug = |tenant: &&Tenant| tenant.slug == *slug;
        Ok(self.read(|state| state.tenants.values().filter_map(|state| state.tenant.as_ref()).find(has_slug).cloned()))
    }

    async fn login_candidates(&self, email: &EmailKey, limit: u32) -> Result<LoginCandidates, StoreError> {
        Ok(self.read(|state| {
            let candidates = state.tenants.values().filter_map(|state| {
                let account = state.account(state.user_with_email(email)?.id)?;
                let attempts = state.attempts.get(email).cloned().unwrap_or_default();
                Some(LoginCandidate { tenant: state.tenant.clone()?, account, attempts })
            });
            let mut accounts: Vec<LoginCandidate> = candidates.collect();
            accounts.sort_by_key(LoginCandidate::order);
            accounts.truncate(limit as usize);
            let unnamed = state.tenants.get(&TenantId::NONE).and_then(|state| state.attempts.get(email));
            LoginCandidates { attempts: unnamed.cloned().unwrap_or_default(), accounts }
        }))
    }

    async fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.read(|state| state.tenants.values().all(|state| state.tenant.is_none())))
    }

    async fn has_several_tenants(&self) -> Result<bool, StoreError> {
        Ok(self.read(|state| state.tenants.values().filter(|state| state.tenant.is_some()).count() > 1))
    }

    async fn has_email_logins(&self) -> Result<bool, StoreError> {
        Ok(self.read(|state| state.tenants.values().filter_map(|state| state.tenant.as_ref()).any(logs_in_by_email)))
    }
}

fn logs_in_by_email(tenant: &Tenant) -> bool {
    tenant.email_login == EmailLogin::On && tenant.status == TenantStatus::Active
}

#[async_trait]
impl TenantStore for MemoryStore {
    async fn tenant(&self, tenant: TenantId) -> Result<Option<Tenant>, StoreError> {
        Ok(self.tenant_state(tenant).tenant.clone())
    }
}

#[async_trait]
impl TenantTransaction for MemoryTransaction {
    async fn lock_tenant(&mut self) -> Result<Option<Tenant>, StoreError> {
        Ok(self.draft.tenant.clone())
    }

    async fn usage(&mut self) -> Result<Usage, StoreError> {
        let TenantState { users, organizations, roles, assignments, .. } = &self.draft;
        Ok(Usage {
            users: users.len() as u64,
            organizations: organizations.len() as u64,
            roles: roles.len() as u64,
            assignments: assignments.len() as u64,
        })
    }
}

impl MemoryTransaction {
    pub(super) fn write_tenant(&mut self, change: &TenantChange) -> Result<(), StoreError> {
        let (TenantChange::Create(tenant)
        | TenantChange::Update { after: tenant, .. }
        | TenantChange::ChangeStatus { after: tenant, .. }) = change;
        let other_has_slug = self.store.read(|state| {
            let others = state.tenants.values().filter_map(|state| state.tenant.as_ref());
            others.filter(|other| other.id != tenant.id).any(|other| other.slug == tenant.slug)
        });
        hold(Constraint::TenantSlug, !other_has_slug)?;
        let version = self.draft.tenant.as_ref().map_or(tenant.version, |stored| stored.version.next());
        self.draft.tenant = Some(Tenant { version, ..tenant.clone() });
        Ok(())
    }
}
