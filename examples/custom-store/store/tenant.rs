use async_trait::async_trait;
use iam_core::credential::GuardedAccount;
use iam_core::tenant::{Directory, Tenant, TenantChange, TenantStore, TenantSummary, TenantTransaction};
use iam_core::{Constraint, EmailKey, Slug, StoreError, TenantId};

use super::rows::{Draft, Row, View, everywhere};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold};

impl Row for Tenant {
    const TABLE: &'static str = "tenants";

    // There is one in each tenant.
    fn key(&self) -> Vec<u8> {
        Vec::new()
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.id = tenant;
    }
}

#[async_trait]
impl Directory for RedbStore {
    async fn tenant_by_slug(&self, slug: &Slug) -> Result<Option<Tenant>, StoreError> {
        let tenants = self.read_all(everywhere::<Tenant>)?;
        Ok(tenants.into_iter().map(|(_, tenant)| tenant).find(|tenant| tenant.slug == *slug))
    }

    // Identifiers of version 7 sort by age, and so do tenants by their keys.
    async fn accounts_with_email(
        &self,
        email: &EmailKey,
        limit: u32,
    ) -> Result<Vec<(TenantSummary, GuardedAccount)>, StoreError> {
        self.read_all(|rows| {
            let mut found = Vec::new();
            for (id, tenant) in everywhere::<Tenant>(rows)? {
                let view = View::new(rows, id);
                if let Some(user) = view.user_with_email(email)? {
                    found.push((tenant.summary(), view.guarded_account(email, Some(user.id))?));
                }
            }
            found.truncate(limit as usize);
            Ok(found)
        })
    }

    async fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.read_all(everywhere::<Tenant>)?.is_empty())
    }
}

#[async_trait]
impl TenantStore for RedbStore {
    async fn tenant(&self, tenant: TenantId) -> Result<Option<Tenant>, StoreError> {
        self.read(tenant, |view| view.get(&[]))
    }
}

#[async_trait]
impl TenantTransaction for RedbTransaction {
    async fn lock_tenant(&mut self) -> Result<Option<Tenant>, StoreError> {
        self.view().get(&[])
    }
}

impl Draft<'_> {
    pub(super) fn write_tenant(self, change: &TenantChange) -> Result<(), StoreError> {
        let (TenantChange::Create(tenant) | TenantChange::Update { after: tenant, .. }) = change;
        let mut others = everywhere::<Tenant>(self.rows())?.into_iter().filter(|(id, _)| *id != self.tenant);
        hold(Constraint::TenantSlug, others.all(|(_, other)| other.slug != tenant.slug))?;
        self.put(tenant.clone())
    }

    /// Refuses what would belong to a tenant that is not there.
    pub(super) fn hold_tenant(self) -> Result<(), StoreError> {
        hold(Constraint::Reference, self.view().has::<Tenant>(&[])?)
    }
}
