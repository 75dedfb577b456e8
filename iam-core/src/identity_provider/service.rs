use iam_model::access::GrantedRights;
use iam_model::audit::ResourceType;
use iam_model::change::{DirectoryChange, IdentityProviderChange};
use iam_model::directory::Directory;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::{IdentityProviderId, TenantId};
use iam_model::identity_provider::{EncryptedClientSecret, IdentityProvider};
use iam_model::permission;
use iam_model::permission::{Permission, PermissionPattern};
use iam_model::secret::ClientSecret;
use iam_model::validate::Slug;
use iam_model::version::{Precondition, Version};
use url::Url;

use crate::assignment::{References, role_field};
use crate::caller::Caller;
use crate::engine::{Engine, LockedRights, UnitOfWork, require_version};
use crate::idempotency::Idempotency;
use crate::identity_provider::input::{ValidPatch, ValidProvider, all_permissions};
use crate::identity_provider::{IdentityProviderPatch, NewIdentityProvider};

/// Makes, reads, changes and removes identity providers; see
/// [`Iam::identity_providers`](crate::iam::Iam::identity_providers).
///
/// A provider can speak for everybody in its domains. So to make, change or remove one, a caller also needs all
/// permissions (`*`) tenant-wide by standing rights, and a session that has authenticated recently; an API key cannot.
/// A new name gives nothing to a user, and needs the permission alone.
#[derive(Clone, Copy)]
pub struct IdentityProviders<'a>(pub(crate) &'a Engine);

impl IdentityProviders<'_> {
    /// Makes a provider, after its discovery document was read and checked. Needs `identity-providers:create` and `*`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh),
    /// [`Error::FederationOff`], [`Error::Validation`] which names every invalid field, or `issuer` for a provider that
    /// cannot be used; [`Error::About`] with [`Error::NotFound`] for a domain, a role or an organization that does not
    /// exist; [`Conflict::SlugTaken`], [`Conflict::TooManyIdentityProviders`].
    pub async fn create(&self, caller: &Caller, new: NewIdentityProvider) -> Result<IdentityProvider> {
        self.create_once(caller, new, None).await
    }

    /// Makes a provider as [`create`](Self::create) does, at most once for an [idempotency key](crate::idempotency).
    /// `None` is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(
        &self,
        caller: &Caller,
        new: NewIdentityProvider,
        idempotency: Option<&Idempotency>,
    ) -> Result<IdentityProvider> {
        let iam = self.0;
        self.require_everything(caller, &permission::IDENTITY_PROVIDERS_CREATE).await?;
        iam.require_federation()?;
        let new = new.validate()?;
        let once = iam.once(caller, idempotency, &ResourceType::IDENTITY_PROVIDER);
        iam.discover(&new.issuer).await?;
        let mut work = iam.begin(caller).await?;
        if let Some(made) = once.find(&mut work).await? {
            return Ok(made);
        }
        let grantor = work.lock_rights().await?;
        let provider = self.create_valid(&mut work, &grantor, new).await?;
        once.keep(&mut work, &provider).await?;
        work.commit().await?;
        Ok(provider)
    }

    /// Makes a provider in a unit of work that has read the rights of its caller. Its discovery document was read
    /// before.
    pub(crate) async fn create_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        new: NewIdentityProvider,
    ) -> Result<IdentityProvider> {
        self.create_valid(work, grantor, new.validate()?).await
    }

    async fn create_valid(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        new: ValidProvider,
    ) -> Result<IdentityProvider> {
        grantor.standing().rights().require(&permission::IDENTITY_PROVIDERS_CREATE)?;
        let others = work.reads().identity_providers().await?;
        if others.len() >= IdentityProvider::MAX {
            return Err(Conflict::TooManyIdentityProviders.into());
        }
        let ValidProvider { name, slug, issuer, client_id, scopes, typed } = new;
        let slug = match slug {
            Some(slug) if others.iter().any(|other| other.slug == slug) => return Err(Conflict::SlugTaken.into()),
            Some(slug) => slug,
            None => free_slug(name.as_str(), &others),
        };
        let (id, tenant, now) = (self.0.next_id(), work.caller().tenant(), work.now());
        let secret = typed.client_secret.map(|secret| self.encrypted(tenant, id, &secret)).transpose()?;
        let provider = IdentityProvider {
            id,
            tenant_id: tenant,
            name,
            slug,
            issuer,
            client_id,
            client_secret: secret,
            scopes,
            domain_ids: typed.domains,
            trusts_email: typed.trusts_email,
            subject_claim: typed.subject_claim,
            provisioning: typed.provisioning,
            roles: typed.roles,
            factor_is_trusted: typed.factor_is_trusted,
            enabled: typed.enabled,
            created_at: now,
            updated_at: now,
            version: Version::FIRST,
        };
        check_references(work, &provider).await?;
        work.apply(IdentityProviderChange::Create(provider.clone())).await?;
        Ok(provider)
    }

    /// Returns the providers of the tenant, by name. Needs `identity-providers:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn list(&self, caller: &Caller) -> Result<Vec<IdentityProvider>> {
        self.0.rights(caller).require(&permission::IDENTITY_PROVIDERS_READ)?;
        Ok(self.0.store.identity_providers(caller.tenant()).await?)
    }

    /// Returns a provider. Needs `identity-providers:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: IdentityProviderId) -> Result<IdentityProvider> {
        self.0.rights(caller).require(&permission::IDENTITY_PROVIDERS_READ)?;
        self.0.store.identity_provider(caller.tenant(), id).await?.ok_or_else(not_found)
    }

    /// Changes a provider. A new issuer is checked like that of a new provider. Needs `identity-providers:update`, and
    /// `*` for a change of more than the name.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create) except [`Conflict::TooManyIdentityProviders`], and [`Error::NotFound`].
    pub async fn update(
        &self,
        caller: &Caller,
        id: IdentityProviderId,
        patch: IdentityProviderPatch,
    ) -> Result<IdentityProvider> {
        self.update_if(caller, id, patch, &Precondition::Exists).await
    }

    /// Changes a provider as [`update`](Self::update) does, if a precondition holds. It is checked under the lock of the
    /// change.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update), [`Error::PreconditionFailed`].
    pub async fn update_if(
        &self,
        caller: &Caller,
        id: IdentityProviderId,
        patch: IdentityProviderPatch,
        precondition: &Precondition,
    ) -> Result<IdentityProvider> {
        let iam = self.0;
        if patch.only_renames() {
            iam.standing(caller).rights().require(&permission::IDENTITY_PROVIDERS_UPDATE)?;
        } else {
            self.require_everything(caller, &permission::IDENTITY_PROVIDERS_UPDATE).await?;
        }
        let patch = patch.validate()?;
        if let Some(issuer) = &patch.issuer {
            let known = iam.store.identity_provider(caller.tenant(), id).await?.ok_or_else(not_found)?;
            if known.issuer != *issuer {
                iam.discover(issuer).await?;
            }
        }
        let mut work = iam.begin(caller).await?;
        let grantor = work.lock_rights().await?;
        let provider = self.update_valid(&mut work, &grantor, id, patch, precondition).await?;
        work.commit().await?;
        Ok(provider)
    }

    /// Changes a provider in a unit of work that has read the rights of its caller. The discovery document of a new
    /// issuer was read before.
    pub(crate) async fn update_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        id: IdentityProviderId,
        patch: IdentityProviderPatch,
    ) -> Result<IdentityProvider> {
        self.update_valid(work, grantor, id, patch.validate()?, &Precondition::Exists).await
    }

    async fn update_valid(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        id: IdentityProviderId,
        patch: ValidPatch,
        precondition: &Precondition,
    ) -> Result<IdentityProvider> {
        grantor.standing().rights().require(&permission::IDENTITY_PROVIDERS_UPDATE)?;
        let before = find(work, id).await?;
        require_version(precondition, before.version)?;
        let mut after = patch.apply(&before);
        if let Some(secret) = &patch.typed.client_secret {
            let secret = secret.as_ref().map(|secret| self.encrypted(before.tenant_id, id, secret));
            after.client_secret = secret.transpose()?;
        }
        if after == before {
            return Ok(before);
        }
        check_references(work, &after).await?;
        let after = after.changed(work.now());
        let before = Box::new(before);
        work.apply(IdentityProviderChange::Update { before, after: after.clone() }).await?;
        Ok(after)
    }

    /// Removes a provider, with the identities at it. Its sessions go on, and a directory that names it names none. Needs
    /// `identity-providers:delete` and `*`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh),
    /// [`Error::NotFound`].
    pub async fn delete(&self, caller: &Caller, id: IdentityProviderId) -> Result<()> {
        self.delete_if(caller, id, &Precondition::Exists).await
    }

    /// Removes a provider as [`delete`](Self::delete) does, if a precondition holds. It is checked under the lock of the
    /// change.
    ///
    /// # Errors
    ///
    /// Those of [`delete`](Self::delete), [`Error::PreconditionFailed`].
    pub async fn delete_if(&self, caller: &Caller, id: IdentityProviderId, precondition: &Precondition) -> Result<()> {
        self.require_everything(caller, &permission::IDENTITY_PROVIDERS_DELETE).await?;
        let mut work = self.0.begin(caller).await?;
        let grantor = work.lock_rights().await?;
        self.delete_in(&mut work, &grantor, id, precondition).await?;
        work.commit().await
    }

    /// Removes a provider in a unit of work that has read the rights of its caller.
    pub(crate) async fn delete_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        id: IdentityProviderId,
        precondition: &Precondition,
    ) -> Result<()> {
        let grantor = grantor.standing();
        grantor.rights().require(&permission::IDENTITY_PROVIDERS_DELETE)?;
        grantor.rights().check_escalation([GrantedRights::everything()])?;
        let provider = find(work, id).await?;
        require_version(precondition, provider.version)?;
        work.require_fresh().await?;
        for before in work.reads().directories().await? {
            if before.identity_provider_id == Some(id) {
                let after = Directory { identity_provider_id: None, ..before.clone() }.changed(work.now());
                work.apply(DirectoryChange::Update { before: Box::new(before), after }).await?;
            }
        }
        let identities = work.reads().count_identities(id).await?;
        work.apply(IdentityProviderChange::Delete { provider, identities }).await
    }

    /// Returns the address to register at a provider, to which it sends people back. `None` if federation is off.
    #[must_use]
    pub fn callback_url(&self, id: IdentityProviderId) -> Option<Url> {
        self.0.federation.as_ref().and_then(|federation| federation.callbacks.join(&id.to_string()).ok())
    }

    /// Checks what making, changing and removing a provider needs, before a request to the provider. The unit of work
    /// checks it again.
    pub(crate) async fn require_everything(&self, caller: &Caller, permission: &Permission) -> Result<()> {
        let standing = self.0.standing(caller);
        standing.rights().require(permission)?;
        standing.rights().check_escalation([GrantedRights::everything()])?;
        self.0.require_fresh(caller).await
    }

    fn encrypted(
        &self,
        tenant: TenantId,
        id: IdentityProviderId,
        secret: &ClientSecret,
    ) -> Result<EncryptedClientSecret> {
        let owner = [tenant.as_uuid(), id.as_uuid()];
        let encrypted = self.0.keys.client_secrets.encrypt(&owner, secret.expose().as_bytes(), &*self.0.random)?;
        Ok(EncryptedClientSecret(encrypted))
    }
}

/// Checks the domains, the roles and the organizations to which a provider refers.
async fn check_references(work: &mut UnitOfWork<'_>, provider: &IdentityProvider) -> Result<()> {
    for (number, domain) in provider.domain_ids.iter().enumerate() {
        if work.reads().lock_domain(*domain).await?.is_none() {
            return Err(Error::NotFound(ResourceType::DOMAIN).about(format!("domainIds[{number}]")));
        }
    }
    let roles = provider.roles.iter().map(|role| role.role_id);
    let organizations = provider.roles.iter().filter_map(|role| role.organization_id);
    let references = References::load(work, roles, organizations).await?;
    for (number, provided) in provider.roles.iter().enumerate() {
        let field = |name: &str| role_field(number, name);
        let role = references.place(provided.role_id, provided.organization_id, &field)?;
        if role.permissions.covers(&PermissionPattern::everything()) {
            return Err(all_permissions(number));
        }
    }
    Ok(())
}

async fn find(work: &mut UnitOfWork<'_>, id: IdentityProviderId) -> Result<IdentityProvider> {
    let all = work.reads().identity_providers().await?;
    all.into_iter().find(|provider| provider.id == id).ok_or_else(not_found)
}

/// Makes a slug from a name that no other provider has.
fn free_slug(name: &str, others: &[IdentityProvider]) -> Slug {
    let is_free = |slug: &Slug| others.iter().all(|other| other.slug != *slug);
    let numbered = |number: usize| {
        let suffix = (number > 1).then(|| number.to_string());
        Slug::from_name(name, "provider", suffix.as_deref())
    };
    (1..=others.len()).map(numbered).find(is_free).unwrap_or_else(|| numbered(others.len() + 1))
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::IDENTITY_PROVIDER)
}

impl Engine {
    /// Returns the secret of this service at a provider, if it has one.
    pub(crate) fn identity_provider_secret(&self, provider: &IdentityProvider) -> Result<Option<ClientSecret>> {
        let Some(encrypted) = &provider.client_secret else { return Ok(None) };
        let owner = [provider.tenant_id.as_uuid(), provider.id.as_uuid()];
        let secret = self.keys.client_secrets.decrypt(&owner, &encrypted.0)?;
        let secret = std::str::from_utf8(&secret).map_err(|cause| Error::internal("client secret", cause))?;
        Ok(Some(secret.into()))
    }
}
