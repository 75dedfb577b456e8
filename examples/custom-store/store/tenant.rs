use async_trait::async_trait;
use iam_model::assignment::Assignment;
use iam_model::change::TenantChange;
use iam_model::credential::{LoginCandidate, LoginCandidates};
use iam_model::id::TenantId;
use iam_model::organization::Organization;
use iam_model::role::Role;
use iam_model::store::{Directory, TenantStore, TenantTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::tenant::{EmailLogin, Tenant, TenantStatus, Usage};
use iam_model::user::User;
use iam_model::validate::{EmailKey, Slug};

use super::rows::{Draft, Row, View, everywhere};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold};

impl Row for Tenant {
    const TABLE: &'static str = "tenants";

    // Each tenant has one such row.
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

    async fn login_candidates(&self, email: &EmailKey, limit: u32) -> Result<LoginCandidates, StoreError> {
        self.read_all(|rows| {
            let mut accounts = Vec::new();
            for (id, tenant) in everywhere::<Tenant>(rows)? {
                let view = View::new(rows, id);
                let Some(user) = view.user_with_email(email)? else { continue };
                if let Some(account) = view.account(user.id)? {
                    accounts.push(LoginCandidate { tenant, account, attempts: view.attempts(email)? });
                }
            }
            accounts.sort_by_key(LoginCandidate::order);
            accounts.truncate(limit as usize);
            let attempts = View::new(rows, TenantId::NONE).attempts(email)?;
            Ok(LoginCandidates { attempts, accounts })
        })
    }

    async fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.read_all(everywhere::<Tenant>)?.is_empty())
    }

    async fn has_several_tenants(&self) -> Result<bool, StoreError> {
        Ok(self.read_all(everywhere::<Tenant>)?.len() > 1)
    }

    async fn has_email_logins(&self) -> Result<bool, StoreError> {
        let logs_in_by_email =
            |tenant: &Tenant| tenant.email_login == EmailLogin::On && tenant.status == TenantStatus::Active;
        Ok(self.read_all(everywhere::<Tenant>)?.iter().any(|(_, tenant)| logs_in_by_email(tenant)))
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

    async fn usage(&mut self) -> Result<Usage, StoreError> {
        let view = self.view();
        Ok(Usage {
            users: view.all::<User>()?.len() as u64,
            organizations: view.all::<Organization>()?.len() as u64,
            roles: view.all::<Role>()?.len() as u64,
            assignments: view.all::<Assignment>()?.len() as u64,
        })
    }
}

impl Draft<'_> {
    pub(super) fn write_tenant(self, change: &TenantChange) -> Result<(), StoreError> {
        let (TenantChange::Create(tenant)
        | TenantChange::Update { after: tenant, .. }
        | TenantChange::ChangeStatus { after: tenant, .. }) = change;
        let mut others = everywhere::<Tenant>(self.rows())?.into_iter().filter(|(id, _)| *id != self.tenant);
        hold(Constraint::TenantSlug, others.all(|(_, other)| other.slug != tenant.slug))?;
        let stored: Option<Tenant> = self.view().get(&[])?;
        let version = stored.map_or(tenant.version, |stored| stored.version.next());
        self.put(Tenant { version, ..tenant.clone() })
    }

    /// Returns a conflict if the tenant does not exist.
    pub(super) fn hold_tenant(self) -> Result<(), StoreError> {
        hold(Constraint::Reference, self.view().has::<Tenant>(&[])?)
    }
}
