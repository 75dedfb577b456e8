use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::clock::Timestamp;
use crate::domain::Domain;
use crate::id::{DomainId, TenantId};
use crate::store::observed::observed;
use crate::store_error::StoreError;
use crate::validate::DomainName;

/// Reads domains.
#[apply(observed)]
#[async_trait]
pub trait DomainStore {
    /// Returns a domain.
    async fn domain(&self, tenant: TenantId, id: DomainId) -> Result<Option<Domain>, StoreError>;

    /// Returns the domains of a tenant, by name.
    async fn domains(&self, tenant: TenantId) -> Result<Vec<Domain>, StoreError>;

    /// Returns the VERIFIED domain with this name, of any tenant. There is one at most.
    async fn verified_domain(&self, name: &DomainName) -> Result<Option<Domain>, StoreError>;

    /// Returns at most `limit` domains of all tenants whose record is to be looked for again: those that are VERIFIED,
    /// not by trusted code, and were checked at `before` or earlier. The ones that were checked first come first.
    async fn domains_to_check(&self, before: Timestamp, limit: u32) -> Result<Vec<Domain>, StoreError>;
}

/// Reads domains inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait DomainTransaction {
    /// Returns a domain, and locks it until the unit of work ends.
    async fn lock_domain(&mut self, id: DomainId) -> Result<Option<Domain>, StoreError>;

    /// Returns the domain with this name.
    async fn domain_named(&mut self, name: &DomainName) -> Result<Option<Domain>, StoreError>;

    /// Returns how many domains the tenant has. The tenant must be locked.
    async fn count_domains(&mut self) -> Result<u64, StoreError>;
}
