use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::credential::LoginCandidates;
use crate::id::TenantId;
use crate::store::observed::observed;
use crate::store_error::StoreError;
use crate::tenant::{Tenant, Usage};
use crate::validate::{EmailKey, Slug};

/// Finds tenants for callers that are not authenticated yet.
///
/// This is the only port that is used before the tenant is known. It returns tenants, and the users with an e-mail in
/// each tenant. Everything else is then read from one tenant.
#[apply(observed)]
#[async_trait]
pub trait Directory {
    /// Returns the tenant with this slug.
    async fn tenant_by_slug(&self, slug: &Slug) -> Result<Option<Tenant>, StoreError>;

    /// Returns the facts for a login with this e-mail and without a tenant: the failed logins that are counted by the
    /// e-mail alone (those under [`TenantId::NONE`]), and the users with this e-mail, in any status, at most `limit`,
    /// sorted by [`LoginCandidate::order`](crate::credential::LoginCandidate::order).
    async fn login_candidates(&self, email: &EmailKey, limit: u32) -> Result<LoginCandidates, StoreError>;

    /// Whether there are no tenants.
    async fn is_empty(&self) -> Result<bool, StoreError>;

    /// Whether there is more than one tenant. Once this is true, it stays true.
    async fn has_several_tenants(&self) -> Result<bool, StoreError>;

    /// Whether the users of at least one ACTIVE tenant log in by [e-mail](crate::tenant::EmailLogin).
    async fn has_email_logins(&self) -> Result<bool, StoreError>;
}

/// Reads tenants.
#[apply(observed)]
#[async_trait]
pub trait TenantStore {
    /// Returns the tenant.
    async fn tenant(&self, tenant: TenantId) -> Result<Option<Tenant>, StoreError>;
}

/// Reads tenants inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait TenantTransaction {
    /// Returns the tenant and locks it until the unit of work ends.
    ///
    /// Decisions that must be made one at a time in a tenant, such as whether a user is its last administrator, take
    /// this lock before all others but that of an [idempotency key](crate::idempotency).
    async fn lock_tenant(&mut self) -> Result<Option<Tenant>, StoreError>;

    /// Returns how many rows the tenant has of the kinds that have a [`Quota`](crate::tenant::Quota). Under
    /// [`lock_tenant`](Self::lock_tenant), the result includes everything that was created by the units of work that
    /// held this lock before.
    async fn usage(&mut self) -> Result<Usage, StoreError>;
}
