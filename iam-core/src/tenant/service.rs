use super::{Tenant, TenantChange, TenantPatch, TenantStatus};
use crate::access::permission;
use crate::audit::ResourceType;
use crate::caller::{Actor, Caller};
use crate::error::{Error, Forbidden, Result};
use crate::iam::Inner;
use crate::id::TenantId;
use crate::session::{EndReason, end_all_sessions};
use crate::validate::Slug;

/// Makes and finds tenants, reads and changes the caller's own; see [`Iam::tenants`](crate::Iam::tenants).
///
/// A tenant is made by somebody who registers, or by trusted code. It is the world of its users, roles, organizations and of
/// its audit log: nothing in it can be seen or named from another one.
///
/// ```
#[doc = scene!()]
/// use iam_core::tenant::{NewTenant, TenantPatch};
///
/// let administrator = person("alan@example.com");
/// let new = NewTenant { name: "Bletchley Park".into(), slug: None, administrator };
/// let founded = iam.tenants().create("a sale", new).await?;
/// assert_eq!(founded.tenant.slug.as_str(), "bletchley-park");
///
/// let patch = TenantPatch { name: Some("Analytical Engines".into()), ..TenantPatch::default() };
/// let tenant = iam.tenants().update(&ada, ada.tenant(), patch).await?;
/// assert_eq!(tenant.name.as_str(), "Analytical Engines");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Tenants<'a>(pub(crate) &'a Inner);

impl Tenants<'_> {
    /// The tenant with this identifier or slug, for trusted code that is about to act in it as
    /// [`Caller::system`]. What a client sent needs a caller and [`get`](Self::get).
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails.
    pub async fn find(&self, named: &str) -> Result<Option<Tenant>> {
        if let Ok(id) = named.parse::<TenantId>() {
            return Ok(self.0.store.tenant(id).await?);
        }
        match named.parse::<Slug>() {
            Ok(slug) => Ok(self.0.store.tenant_by_slug(&slug).await?),
            Err(_) => Ok(None),
        }
    }

    /// The caller's tenant. Needs `tenants:read`.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for any other tenant, [`Error::Forbidden`] without the permission.
    pub async fn get(&self, caller: &Caller, id: TenantId) -> Result<Tenant> {
        own(caller, id)?;
        self.0.rights(caller).require(&permission::TENANTS_READ)?;
        self.0.store.tenant(id).await?.ok_or_else(not_found)
    }

    /// Changes the caller's tenant. Needs `tenants:update`. A patch that changes nothing records nothing.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for any other tenant, [`Error::Forbidden`] without the permission,
    /// [`Error::Validation`] naming the fields, [`Conflict::SlugTaken`](crate::Conflict::SlugTaken).
    pub async fn update(&self, caller: &Caller, id: TenantId, patch: TenantPatch) -> Result<Tenant> {
        own(caller, id)?;
        self.0.rights(caller).require(&permission::TENANTS_UPDATE)?;
        let patch = patch.validate()?;
        let mut work = self.0.begin(caller).await?;
        let before = work.locks().lock_tenant().await?.ok_or_else(not_found)?;
        caller.check_version(|| before.version())?;
        let after = patch.apply(&before, work.now());
        if after != before {
            work.apply(TenantChange::Update { before, after: after.clone() }).await?;
            work.commit().await?;
        }
        Ok(after)
    }
}

impl Tenants<'_> {
    /// Suspends the caller's tenant: its sessions end, and its users cannot log in. On a suspended one it ends the sessions
    /// that an interrupted call has left. For trusted code alone.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`] for a user, [`Error::NotFound`].
    pub async fn suspend(&self, caller: &Caller) -> Result<Tenant> {
        self.change_status(caller, TenantStatus::Suspended).await
    }

    /// Lets the users of the caller's tenant log in again. On an ACTIVE one it does nothing. For trusted code alone.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`] for a user, [`Error::NotFound`].
    pub async fn reactivate(&self, caller: &Caller) -> Result<Tenant> {
        self.change_status(caller, TenantStatus::Active).await
    }

    async fn change_status(&self, caller: &Caller, status: TenantStatus) -> Result<Tenant> {
        if !matches!(caller.actor(), Actor::System { .. }) {
            return Err(Forbidden::NotTrusted.into());
        }
        let is_suspended = |tenant: &Tenant| tenant.status == TenantStatus::Suspended;
        if self.0.store.tenant(caller.tenant()).await?.as_ref().is_some_and(is_suspended) {
            // Also those that began while the tenant was being suspended: reactivating must not bring them back.
            end_all_sessions(self.0, caller, EndReason::TenantSuspended).await?;
        }
        let mut work = self.0.begin(caller).await?;
        let before = work.locks().lock_tenant().await?.ok_or_else(not_found)?;
        work.touch(before.id);
        if before.status == status {
            return Ok(before);
        }
        let after = Tenant { status, updated_at: work.now(), ..before.clone() };
        work.apply(TenantChange::ChangeStatus { before, after: after.clone() }).await?;
        work.commit().await?;
        if is_suspended(&after) {
            end_all_sessions(self.0, caller, EndReason::TenantSuspended).await?;
        }
        Ok(after)
    }
}

fn own(caller: &Caller, id: TenantId) -> Result<()> {
    if caller.tenant() == id { Ok(()) } else { Err(not_found()) }
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::TENANT)
}
