use async_trait::async_trait;

use super::{Tenant, Usage};
use crate::credential::LoginCandidates;
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

    /// What a login with this e-mail that names no tenant needs: the failures that are counted by the e-mail alone (those
    /// under [`TenantId::NONE`]), and the users with this e-mail, whatever their status, at most `limit`, by
    /// [`LoginCandidate::order`](crate::credential::LoginCandidate::order).
    async fn login_candidates(&self, email: &EmailKey, limit: u32) -> Result<LoginCandidates, StoreError>;

    /// Whether there is no tenant at all.
    async fn is_empty(&self) -> Result<bool, StoreError>;

    /// Whether there is more than one tenant. Once that is so it stays so.
    async fn has_several_tenants(&self) -> Result<bool, StoreError>;
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

    /// How much the tenant has of what has a [`Quota`](super::Quota). Under [`lock_tenant`](Self::lock_tenant) it has seen what every unit
    /// of work has made that held this lock before.
    async fn usage(&mut self) -> Result<Usage, StoreError>;
}
