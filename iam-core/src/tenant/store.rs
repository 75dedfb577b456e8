use async_trait::async_trait;

use super::Tenant;
use crate::error::StoreError;
use crate::id::TenantId;
use crate::validate::{EmailKey, Slug};

/// Finds the tenant that somebody means before anything is proven.
///
/// This is the one port that knows no tenant yet. It answers with tenants only; everything else is then read by
/// tenant.
#[async_trait]
pub trait Directory {
    /// The tenant with this slug.
    async fn tenant_by_slug(&self, slug: &Slug) -> Result<Option<Tenant>, StoreError>;

    /// The tenants that have a user with this e-mail, oldest first, at most `limit`.
    async fn tenants_with_email(&self, email: &EmailKey, limit: u32) -> Result<Vec<Tenant>, StoreError>;

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
