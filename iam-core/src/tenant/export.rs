//! The export of whole tenants (`docs/operating.md#the-data-of-a-tenant`).

use iam_model::change::AuditChange;
use iam_model::error::Result;
use iam_model::id::TenantId;
use iam_model::secret::PasswordHash;
use iam_model::user::User;

use crate::caller::Caller;
use crate::iam::Iam;
use crate::tenant::Tenants;
use crate::tenant::deletion::{not_found, require_trusted};

/// A recorded export of a tenant. The services list what the tenant has; this gives what none of them shows.
#[derive(Clone, Copy, Debug)]
pub struct TenantExport {
    tenant: TenantId,
    with_credentials: bool,
}

impl Tenants<'_> {
    /// Records that all that the caller's tenant has is exported. For trusted code only.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`](iam_model::error::Forbidden::NotTrusted),
    /// [`Error::NotFound`](iam_model::error::Error::NotFound).
    pub async fn export(&self, caller: &Caller, with_credentials: bool) -> Result<TenantExport> {
        require_trusted(caller)?;
        let tenant = caller.tenant();
        let mut work = self.0.begin(caller).await?;
        work.reads().lock_tenant().await?.ok_or_else(not_found)?;
        work.apply(AuditChange::ExportTenant { tenant, with_credentials }).await?;
        work.commit().await?;
        Ok(TenantExport { tenant, with_credentials })
    }
}

impl TenantExport {
    /// Returns the hash of a user's password. `None` for an export without credentials, a user of another tenant, and a
    /// user without a password.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`](iam_model::error::Error::Internal).
    pub async fn password_hash(&self, iam: &Iam, user: &User) -> Result<Option<PasswordHash>> {
        if !self.with_credentials || user.tenant_id != self.tenant {
            return Ok(None);
        }
        let found = iam.0.store.guarded_account(self.tenant, &user.email.key()).await?.account;
        let password = found.filter(|account| account.user.id == user.id).map(|account| account.password);
        Ok(password.filter(|password| !password.is_unset()))
    }
}
