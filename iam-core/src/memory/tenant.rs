use async_trait::async_trait;

use super::transaction::MemoryTransaction;
use super::{MemoryStore, hold};
use crate::credential::GuardedAccount;
use crate::error::{Constraint, StoreError};
use crate::id::TenantId;
use crate::tenant::{Directory, Tenant, TenantChange, TenantStore, TenantSummary, TenantTransaction};
use crate::validate::{EmailKey, Slug};

#[async_trait]
impl Directory for MemoryStore {
    async fn tenant_by_slug(&self, slug: &Slug) -> Result<Option<Tenant>, StoreError> {
        let has_slug = |tenant: &&Tenant| tenant.slug == *slug;
        Ok(self.read(|state| state.tenants.values().filter_map(|state| state.tenant.as_ref()).find(has_slug).cloned()))
    }

    async fn accounts_with_email(
        &self,
        email: &EmailKey,
        limit: u32,
    ) -> Result<Vec<(TenantSummary, GuardedAccount)>, StoreError> {
        Ok(self.read(|state| {
            let with_email = state.tenants.values().filter_map(|state| {
                let user = state.user_with_email(email)?.id;
                Some((state.tenant.as_ref()?.summary(), state.guarded_account(email, Some(user))))
            });
            with_email.take(limit as usize).collect()
        }))
    }

    async fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.read(|state| state.tenants.values().all(|state| state.tenant.is_none())))
    }
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
}

impl MemoryTransaction {
    pub(super) fn write_tenant(&mut self, change: &TenantChange) -> Result<(), StoreError> {
        let (TenantChange::Create(tenant) | TenantChange::Update { after: tenant, .. }) = change;
        let other_has_slug = self.store.read(|state| {
            let others = state.tenants.values().filter_map(|state| state.tenant.as_ref());
            others.filter(|other| other.id != tenant.id).any(|other| other.slug == tenant.slug)
        });
        hold(Constraint::TenantSlug, !other_has_slug)?;
        self.draft.tenant = Some(tenant.clone());
        Ok(())
    }
}
