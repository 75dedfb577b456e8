use iam_model::assignment::Grant;
use iam_model::error::{FederatedLogin, Result};
use iam_model::id::{IdentityProviderId, RoleId, TenantId};
use iam_model::identity_provider::{IdentityProvider, Provisioning};
use iam_model::invitation::Invitation;
use iam_model::permission::PermissionPattern;
use iam_model::tenant::{PasswordLogin, Tenant, TenantStatus};
use iam_model::user::User;
use iam_model::validate::{Email, Fields, Name, Slug};

use crate::engine::Engine;
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

impl ProviderSummary {
    pub(super) fn of(provider: &IdentityProvider) -> Self {
        Self { id: provider.id, name: provider.name.clone(), slug: provider.slug.clone() }
    }
}

/// How the people with an address log in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Discovered {
    /// The providers that speak for the domain of the address, by name.
    pub providers: Vec<FederatedLogin>,
    /// Whether people with the address may log in by a password. Whoever holds all permissions may in any case.
    pub password_allowed: bool,
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
        Ok(providers.iter().filter(|provider| provider.enabled).map(ProviderSummary::of).collect())
    }

    /// Returns how people with an address log in: by its domain alone. Only VERIFIED domains count, and whether there is an
    /// account with the address does not matter.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`](iam_model::error::Error::Validation) which names `email`.
    pub async fn discover(&self, email: &str) -> Result<Discovered> {
        let none = Discovered { providers: Vec::new(), password_allowed: true };
        let mut fields = Fields::default();
        let Some(email) = fields.check("email", Email::for_lookup(email)) else {
            return Err(fields.into_error().into());
        };
        let Some(name) = email.domain() else { return Ok(none) };
        let Some(domain) = self.0.store.verified_domain(&name).await? else { return Ok(none) };
        let tenant = self.0.store.tenant(domain.tenant_id).await?;
        let Some(tenant) = tenant.filter(|tenant| tenant.status == TenantStatus::Active) else { return Ok(none) };
        let providers = self.0.logins(&tenant, |provider| provider.domain_ids.contains(&domain.id)).await?;
        let password_allowed = providers.is_empty() || tenant.password_login == PasswordLogin::Allowed;
        Ok(Discovered { providers, password_allowed })
    }
}

impl Engine {
    /// Returns the identity providers by which a user logs in instead of a password: those that speak for the domain of
    /// its address, and those of domains to which it is linked, in a tenant that wants that. An administrator of the
    /// tenant may always use its password, so that a provider that fails locks no tenant out.
    pub(crate) async fn federated_logins(
        &self,
        (tenant, password_login): (TenantId, PasswordLogin),
        user: &User,
    ) -> Result<Vec<FederatedLogin>> {
        if password_login == PasswordLogin::Allowed || self.federation.is_none() {
            return Ok(Vec::new());
        }
        let Some(tenant) = self.store.tenant(tenant).await? else { return Ok(Vec::new()) };
        let domain = self.verified_domain_of(tenant.id, &user.email).await?;
        let linked = self.store.identities(tenant.id, user.id).await?;
        // A person with an account at the company stays one of its people with another address.
        let speaks = |provider: &IdentityProvider| {
            domain.is_some_and(|domain| provider.domain_ids.contains(&domain))
                || (!provider.domain_ids.is_empty()
                    && linked.iter().any(|identity| identity.provider_id == provider.id))
        };
        let logins = self.logins(&tenant, speaks).await?;
        if logins.is_empty() {
            return Ok(logins);
        }
        let (grants, now) = (self.store.grants_of(tenant.id, &[user.id]).await?, self.now());
        let is_exempt = |grant: &Grant| grant.is_administration() && grant.assignment.is_live(now);
        Ok(if grants.iter().any(is_exempt) { Vec::new() } else { logins })
    }

    /// Returns the identity providers by which an invited person gets its account, with the roles of the invitation, in a
    /// tenant that wants no passwords. None for an invitation to all permissions, which only its mail can give.
    pub(crate) async fn logins_instead_of_acceptance(
        &self,
        tenant: &Tenant,
        invitation: &Invitation,
    ) -> Result<Vec<FederatedLogin>> {
        if tenant.password_login == PasswordLogin::Allowed || self.federation.is_none() {
            return Ok(Vec::new());
        }
        let domain = self.verified_domain_of(tenant.id, &invitation.email).await?;
        let Some(domain) = domain else { return Ok(Vec::new()) };
        let roles: Vec<RoleId> = invitation.roles.iter().map(|role| role.role_id).collect();
        let roles = self.store.roles_by_id(tenant.id, &roles).await?;
        if roles.iter().any(|role| role.permissions.covers(&PermissionPattern::everything())) {
            return Ok(Vec::new());
        }
        let makes = |provider: &IdentityProvider| {
            provider.domain_ids.contains(&domain) && provider.provisioning == Provisioning::Create
        };
        self.logins(tenant, makes).await
    }

    /// Returns the enabled providers of a tenant that meet a condition, by name.
    async fn logins(
        &self,
        tenant: &Tenant,
        is_meant: impl Fn(&IdentityProvider) -> bool,
    ) -> Result<Vec<FederatedLogin>> {
        let providers = self.store.identity_providers(tenant.id).await?.into_iter();
        let meant = providers.filter(|provider| provider.enabled && is_meant(provider));
        let login = |provider: IdentityProvider| FederatedLogin {
            id: provider.id,
            name: provider.name,
            tenant: tenant.summary(),
        };
        Ok(meant.map(login).collect())
    }
}
