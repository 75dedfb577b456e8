use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::id::{IdentityProviderId, TenantId};
use crate::identity_provider::IdentityProvider;
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads identity providers.
#[apply(observed)]
#[async_trait]
pub trait IdentityProviderStore {
    /// Returns a provider.
    async fn identity_provider(
        &self,
        tenant: TenantId,
        id: IdentityProviderId,
    ) -> Result<Option<IdentityProvider>, StoreError>;

    /// Returns the provider of any tenant with this identifier.
    async fn identity_provider_of_any_tenant(
        &self,
        id: IdentityProviderId,
    ) -> Result<Option<IdentityProvider>, StoreError>;

    /// Returns the providers of a tenant, by name, then by identifier.
    async fn identity_providers(&self, tenant: TenantId) -> Result<Vec<IdentityProvider>, StoreError>;
}

/// Reads identity providers inside a unit of work.
///
/// They change only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant). While the unit of work holds
/// this lock, the results of these reads stay valid.
#[apply(observed)]
#[async_trait]
pub trait IdentityProviderTransaction {
    /// Returns the providers of the tenant, by name, then by identifier. The tenant must be locked.
    async fn identity_providers(&mut self) -> Result<Vec<IdentityProvider>, StoreError>;
}
