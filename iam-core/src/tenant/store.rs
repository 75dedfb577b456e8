use async_trait::async_trait;

use super::{Tenant, TenantSummary};
use crate::credential::GuardedAccount;
use crate::error::StoreError;
use crate::id::TenantId;
use crate::validate::{EmailKey, Slug};

/// Finds the tenant that somebody means before anything is proven.
///
/// This is the one port that knows no tenant yet. It answers with tenants and with whom an e-mail belongs to in each;
/// everything else is then read by tenant.
#[async_trait]
pub trait Directory {
    /// The tenant with this slug.
    async fn tenant_by_slug(&self, slug: &Slug) -> Result<Option<Tenant>, StoreError>;

    /// The users with this e-mail, whatever their status, each with its failed logins and its tenant; those of the oldest
    /// tenants first, at most `limit`.
    async fn accounts_with_email(
        &self,
        email: &EmailKey,
        limit: u32,
    ) -> Result<Vec<(TenantSummary, GuardedAccount)>, StoreError>;

    /// Whether there is no tenant at all.
    async fn is_empty(&self) -> Result<bool, StoreError>;
}

/// Reads tenants.
#[async_trait]
pub trait TenantStore {
    /// The tenant itself.
    async fn tenant(&self, tenant: TenantId) -> Result<Option<Tenant>, StoreError>;
}

/// Reads tenants inside a unit of work.
#[async_trait]
pub trait TenantTransaction {
    /// The tenant itself, locked until the unit of work ends.
    ///
    /// What must be decided one at a time in a tenant, such as who its last administrator is, takes this lock
    /// before anything else.
    async fn lock_tenant(&mut self) -> Result<Option<Tenant>, StoreError>;
}
