use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::id::{IdentityId, IdentityProviderId, TenantId, UserId};
use crate::identity::Identity;
use crate::identity_provider::Issuer;
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads identities.
#[apply(observed)]
#[async_trait]
pub trait IdentityStore {
    /// Returns an identity.
    async fn identity(&self, tenant: TenantId, id: IdentityId) -> Result<Option<Identity>, StoreError>;

    /// Returns the identities of a user, the one that was linked first first, then by identifier.
    async fn identities(&self, tenant: TenantId, user: UserId) -> Result<Vec<Identity>, StoreError>;

    /// Returns the identity with this subject at a provider.
    async fn identity_of(
        &self,
        tenant: TenantId,
        provider: IdentityProviderId,
        issuer: &Issuer,
        subject: &str,
    ) -> Result<Option<Identity>, StoreError>;
}

/// Reads identities inside a unit of work.
///
/// They are made and removed only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant).
#[apply(observed)]
#[async_trait]
pub trait IdentityTransaction {
    /// Returns the identities of a user, the one that was linked first first, then by identifier. They stay valid while
    /// the account of the user is locked.
    async fn identities(&mut self, user: UserId) -> Result<Vec<Identity>, StoreError>;

    /// Returns how many identities there are at a provider, whatever their issuer. The tenant must be locked.
    async fn count_identities(&mut self, provider: IdentityProviderId) -> Result<u64, StoreError>;
}
