use iam_model::error::Result;
use iam_model::id::IdentityProviderId;
use iam_model::identity_provider::IdentityProvider;
use iam_model::tenant::{TenantStatus, TenantSummary};
use iam_model::validate::{Email, Fields, Name, Slug};

use crate::federation::Federation;

/// A provider by which people log in, as strangers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderSummary {
    /// Identifies the provider.
    pub id: IdentityProviderId,
    /// A name for people.
    pub name: Name,
    /// A name for addresses.
    pub slug: Slug,
}

/// A provider by which the people with an address log in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoveredProvider {
    /// Identifies the provider.
    pub id: IdentityProviderId,
    /// A name for people.
    pub name: Name,
    /// Its tenant.
    pub tenant: TenantSummary,
}

impl Federation<'_> {
    /// Returns the enabled providers of the tenant with this identifier or slug, by name. A tenant that does not exist
    /// has none.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store).
    pub async fn providers(&self, tenant: &str) -> Result<Vec<ProviderSummary>> {
        let tenant = self.0.find_tenant(tenant).await?.filter(|tenant| tenant.status == TenantStatus::Active);
        let Some(tenant) = tenant else { return Ok(Vec::new()) };
        let providers = self.0.store.identity_providers(tenant.id).await?;
        let summary =
            |provider: IdentityProvider| ProviderSummary { id: provider.id, name: provider.name, slug: provider.slug };
        Ok(providers.into_iter().filter(|provider| provider.enabled).map(summary).collect())
    }

    /// Returns the providers that speak for the domain of an address, by name. Only VERIFIED domains count, and whether
    /// there is an account with the address does not matter.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`](iam_model::error::Error::Validation) which names `email`.
    pub async fn discover(&self, email: &str) -> Result<Vec<DiscoveredProvider>> {
        let mut fields = Fields::default();
        let Some(email) = fields.check("email", Email::for_lookup(email)) else {
            return Err(fields.into_error().into());
        };
        let Some(name) = email.domain() else { return Ok(Vec::new()) };
        let Some(domain) = self.0.store.verified_domain(&name).await? else { return Ok(Vec::new()) };
        let tenant = self.0.store.tenant(domain.tenant_id).await?;
        let Some(tenant) = tenant.filter(|tenant| tenant.status == TenantStatus::Active) else {
            return Ok(Vec::new());
        };
        let speaks = |provider: &IdentityProvider| provider.enabled && provider.domain_ids.contains(&domain.id);
        let providers = self.0.store.identity_providers(tenant.id).await?.into_iter().filter(speaks);
        let discovered = |provider: IdentityProvider| DiscoveredProvider {
            id: provider.id,
            name: provider.name,
            tenant: tenant.summary(),
        };
        Ok(providers.map(discovered).collect())
    }
}
