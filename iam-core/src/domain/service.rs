use iam_model::audit::ResourceType;
use iam_model::change::DomainChange;
use iam_model::clock::Timestamp;
use iam_model::context::Actor;
use iam_model::domain::{Domain, DomainFinding};
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::id::DomainId;
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::validate::Fields;

use crate::caller::Caller;
use crate::domain::check::look_up;
use crate::engine::{Engine, UnitOfWork};
use crate::idempotency::Idempotency;

/// Adds, verifies and removes domains; see [`Iam::domains`](crate::iam::Iam::domains).
///
/// Domains belong to the tenant as a whole, so a caller needs each permission tenant-wide.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::Caller;
/// use iam_core::domain::DomainStatus;
///
/// let domain = iam.domains().create(&ada, "example.com").await?;
/// println!("Add a TXT record {} with the value {}.", domain.record_name(), domain.record_value());
///
/// // An operator who knows the customer needs no record.
/// let operator = Caller::system(ada.tenant(), "the contract names the domain");
/// let verified = iam.domains().trust(&operator, domain.id).await?;
/// assert_eq!(verified.status(), DomainStatus::Verified);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Domains<'a>(pub(crate) &'a Engine);

impl Domains<'_> {
    /// Adds a domain, as typed. It is PENDING. Needs `domains:create`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] which names `domain`, [`Conflict::DomainExists`],
    /// [`Conflict::TooManyDomains`].
    pub async fn create(&self, caller: &Caller, domain: &str) -> Result<Domain> {
        self.create_once(caller, domain, None).await
    }

    /// Adds a domain as [`create`](Self::create) does, at most once for an [idempotency key](crate::idempotency).
    /// `None` is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(
        &self,
        caller: &Caller,
        domain: &str,
        idempotency: Option<&Idempotency>,
    ) -> Result<Domain> {
        let iam = self.0;
        iam.rights(caller).require(&permission::DOMAINS_CREATE)?;
        let mut fields = Fields::default();
        let Some(name) = fields.check("domain", domain.parse()) else { return Err(fields.into_error().into()) };
        let once = iam.once(caller, idempotency, &ResourceType::DOMAIN);
        let mut work = iam.begin(caller).await?;
        if let Some(domain) = once.find(&mut work).await? {
            return Ok(domain);
        }
        work.lock_rights().await?.rights().require(&permission::DOMAINS_CREATE)?;
        if work.reads().domain_named(&name).await?.is_some() {
            return Err(Conflict::DomainExists.into());
        }
        if work.reads().count_domains().await? >= Domain::MAX as u64 {
            return Err(Conflict::TooManyDomains.into());
        }
        let domain = Domain::new(iam.next_id(), caller.tenant(), name, iam.random.bytes(), work.now());
        work.apply(DomainChange::Create(domain.clone())).await?;
        once.keep(&mut work, &domain).await?;
        work.commit().await?;
        Ok(domain)
    }

    /// Returns the domains of the tenant, by name. Needs `domains:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn list(&self, caller: &Caller) -> Result<Vec<Domain>> {
        self.0.rights(caller).require(&permission::DOMAINS_READ)?;
        Ok(self.0.store.domains(caller.tenant()).await?)
    }

    /// Returns a domain. Needs `domains:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: DomainId) -> Result<Domain> {
        self.0.rights(caller).require(&permission::DOMAINS_READ)?;
        self.0.store.domain(caller.tenant(), id).await?.ok_or_else(not_found)
    }

    /// Looks for the record of a domain, which is VERIFIED if it has the value. Otherwise, the time of the check is kept
    /// all the same. A tenant looks for four records at the same time at most. Needs `domains:update`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::ResolverOff`], [`Error::NotFound`], [`Error::Overloaded`],
    /// [`Conflict::DomainNotProven`], [`Conflict::DomainVerifiedElsewhere`].
    pub async fn verify(&self, caller: &Caller, id: DomainId) -> Result<Domain> {
        let iam = self.0;
        iam.rights(caller).require(&permission::DOMAINS_UPDATE)?;
        let resolver = iam.resolver.as_deref().ok_or(Error::ResolverOff)?;
        let domain = iam.store.domain(caller.tenant(), id).await?.ok_or_else(not_found)?;
        let permit = iam.domain_checks.acquire(caller.tenant()).await?;
        let finding = look_up(resolver, &domain).await;
        drop(permit);
        match self.change(caller, id, |before, now| before.checked(&finding, now)).await {
            Ok(domain) if finding == DomainFinding::Proven => Ok(domain),
            Ok(_) => Err(Conflict::DomainNotProven(finding).into()),
            Err(error @ Error::Conflict(Conflict::DomainVerifiedElsewhere)) => {
                self.change(caller, id, |before, now| Domain { checked_at: Some(now), ..before.clone() }).await?;
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Verifies a domain without a record. It stays VERIFIED until it is removed: no record is looked for. For trusted
    /// code only, which knows that the domain belongs to the tenant.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`], [`Error::NotFound`], [`Conflict::DomainVerifiedElsewhere`].
    pub async fn trust(&self, caller: &Caller, id: DomainId) -> Result<Domain> {
        if !matches!(caller.actor(), Actor::System { .. }) {
            return Err(Forbidden::NotTrusted.into());
        }
        self.change(caller, id, Domain::trusted).await
    }

    /// Removes a domain. Needs `domains:delete`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::DomainInUse`].
    pub async fn delete(&self, caller: &Caller, id: DomainId) -> Result<()> {
        self.0.rights(caller).require(&permission::DOMAINS_DELETE)?;
        let mut work = self.0.begin(caller).await?;
        let domain = lock(&mut work, id, &permission::DOMAINS_DELETE).await?;
        if work.reads().identity_providers().await?.iter().any(|provider| provider.domain_ids.contains(&id)) {
            return Err(Conflict::DomainInUse.into());
        }
        work.apply(DomainChange::Delete(domain)).await?;
        work.commit().await
    }

    /// Replaces a domain under its lock.
    async fn change(
        &self,
        caller: &Caller,
        id: DomainId,
        after: impl FnOnce(&Domain, Timestamp) -> Domain,
    ) -> Result<Domain> {
        let mut work = self.0.begin(caller).await?;
        let before = lock(&mut work, id, &permission::DOMAINS_UPDATE).await?;
        let after = after(&before, work.now());
        if after != before {
            work.apply(DomainChange::Check { before: Box::new(before), after: after.clone() }).await?;
            work.commit().await?;
        }
        Ok(after)
    }
}

/// Reads the caller's rights under the tenant's lock, requires the permission, and locks a domain.
async fn lock(work: &mut UnitOfWork<'_>, id: DomainId, permission: &Permission) -> Result<Domain> {
    work.lock_rights().await?.rights().require(permission)?;
    work.reads().lock_domain(id).await?.ok_or_else(not_found)
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::DOMAIN)
}
