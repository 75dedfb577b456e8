//! The export of whole tenants (`docs/operating.md#the-data-of-a-tenant`).

use iam_model::attribute::{AttributeOwner, Attributes};
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

/// What an export has of the password of a user.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ExportedPassword {
    /// Nothing: the export is without credentials, or the user has no password.
    None,
    /// The hash, as [`Users::import`](crate::user::Users::import) of another installation accepts it.
    Hash(PasswordHash),
    /// The user has a password whose hash no other installation accepts. Such a hash was imported, and needs the secret of
    /// the system that made it, which is encrypted for this installation alone. The next login of the user replaces it.
    Bound,
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
    /// Returns the password of a user; none of a user of another tenant.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store).
    pub async fn password(&self, iam: &Iam, user: &User) -> Result<ExportedPassword> {
        if !self.with_credentials || user.tenant_id != self.tenant {
            return Ok(ExportedPassword::None);
        }
        let found = iam.0.store.guarded_account(self.tenant, &user.email.key()).await?.account;
        let password = found.filter(|account| account.user.id == user.id).map(|account| account.password);
        Ok(match password.filter(|password| !password.is_unset()) {
            None => ExportedPassword::None,
            // Asks the import itself, so that a file of hashes has none that it refuses.
            Some(hash) => {
                iam.0.passwords.accept(hash, None, true).map_or(ExportedPassword::Bound, ExportedPassword::Hash)
            }
        })
    }

    /// Returns the attributes of a user or an organization; none of one of another tenant.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store).
    pub async fn attributes(&self, iam: &Iam, owner: impl Into<AttributeOwner>) -> Result<Attributes> {
        Ok(iam.0.store.attributes(self.tenant, owner.into()).await?)
    }
}
