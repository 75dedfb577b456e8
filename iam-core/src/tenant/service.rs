use iam_model::audit::ResourceType;
use iam_model::challenge::ChallengePurpose;
use iam_model::change::{ChallengeChange, LinkChange, TenantChange};
use iam_model::context::Actor;
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::factor::SecondFactorPolicy;
use iam_model::id::TenantId;
use iam_model::link::LinkPurpose;
use iam_model::permission;
use iam_model::session::EndReason;
use iam_model::tenant::{EmailLogin, Tenant, TenantStatus};
use iam_model::tenant_deletion::TenantDeletion;
use iam_model::version::Precondition;

use crate::caller::Caller;
use crate::engine::{Engine, LockedRights, UnitOfWork, require_version};
use crate::session::end_all_sessions;
use crate::tenant::input::{TenantPatch, ValidPatch};

/// Creates and finds tenants, reads and changes the caller's own tenant; see
/// [`Iam::tenants`](crate::iam::Iam::tenants).
///
/// A client that registers creates a tenant, and trusted code can create one too. Each tenant has its own users,
/// roles, organizations and audit log: no caller of another tenant can see or refer to any of them.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::tenant::{NewTenant, TenantPatch};
///
/// let administrator = person("alan@example.com");
/// let new = NewTenant { name: "Bletchley Park".into(), slug: None, administrator };
/// let created = iam.tenants().create("a sale", new).await?;
/// assert_eq!(created.tenant.slug.as_str(), "bletchley-park");
///
/// let patch = TenantPatch { name: Some("Analytical Engines".into()), ..TenantPatch::default() };
/// let tenant = iam.tenants().update(&ada, ada.tenant(), patch).await?;
/// assert_eq!(tenant.name.as_str(), "Analytical Engines");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Tenants<'a>(pub(crate) &'a Engine);

impl Tenants<'_> {
    /// Returns the tenant with this identifier or slug. This is for trusted code that then acts in the tenant as
    /// [`Caller::system`]. For an identifier that a client sent, use [`get`](Self::get), which needs a caller.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails.
    pub async fn find(&self, named: &str) -> Result<Option<Tenant>> {
        self.0.find_tenant(named).await
    }

    /// Returns the caller's tenant. Needs `tenants:read`.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for any other tenant, [`Error::Forbidden`] without the permission.
    pub async fn get(&self, caller: &Caller, id: TenantId) -> Result<Tenant> {
        own(caller, id)?;
        self.0.rights(caller).require(&permission::TENANTS_READ)?;
        self.0.store.tenant(id).await?.ok_or_else(not_found)
    }

    /// Changes the caller's tenant. Needs `tenants:update`. A patch that changes nothing records nothing. The settings
    /// that protect the users, the policies of passwords, second factors and logins, are changed only by a session that
    /// has authenticated within the last ten minutes. If logins by e-mail are turned off, those that have begun end.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for any other tenant, [`Error::Forbidden`] without the permission, [`Error::Validation`]
    /// which names the fields, [`Conflict::SlugTaken`];
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh) and
    /// [`Forbidden::ApiKey`](iam_model::error::Forbidden::ApiKey) for a change of the settings that protect the users.
    pub async fn update(&self, caller: &Caller, id: TenantId, patch: TenantPatch) -> Result<Tenant> {
        self.update_if(caller, id, patch, &Precondition::Exists).await
    }

    /// Changes the tenant as [`update`](Self::update) does, if a precondition holds. It is checked under the lock of
    /// the change.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update), [`Error::PreconditionFailed`].
    pub async fn update_if(
        &self,
        caller: &Caller,
        id: TenantId,
        patch: TenantPatch,
        precondition: &Precondition,
    ) -> Result<Tenant> {
        own(caller, id)?;
        self.0.rights(caller).require(&permission::TENANTS_UPDATE)?;
        let patch = patch.validate()?;
        let mut work = self.0.begin(caller).await?;
        let tenant = self.update_valid(&mut work, patch, precondition).await?;
        work.commit().await?;
        Ok(tenant)
    }

    /// Changes the tenant in a unit of work that has read the rights of its caller.
    pub(crate) async fn update_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        patch: &TenantPatch,
    ) -> Result<Tenant> {
        grantor.rights().require(&permission::TENANTS_UPDATE)?;
        self.update_valid(work, patch.validate()?, &Precondition::Exists).await
    }

    async fn update_valid(
        &self,
        work: &mut UnitOfWork<'_>,
        patch: ValidPatch,
        precondition: &Precondition,
    ) -> Result<Tenant> {
        let before = work.reads().lock_tenant().await?.ok_or_else(not_found)?;
        require_version(precondition, before.version)?;
        let mut after = patch.apply(&before, work.now());
        if after.second_factor != before.second_factor {
            let is_required = after.second_factor == SecondFactorPolicy::Required;
            after.second_factor_required_at = is_required.then(|| work.now());
        }
        if !after.protects_like(&before) {
            work.require_fresh().await?;
        }
        if after != before {
            let ends_email_logins = before.email_login != after.email_login && after.email_login == EmailLogin::Off;
            work.apply(TenantChange::Update { before, after: after.clone() }).await?;
            if ends_email_logins {
                // Otherwise, one of a login that was found a moment ago could still be used.
                work.apply(LinkChange::EndAll { purpose: LinkPurpose::Login }).await?;
                // After the links: a login that has used one of them, and waits for its second factor, is committed.
                work.apply(ChallengeChange::EndAllFor(ChallengePurpose::EmailLogin)).await?;
            }
        }
        Ok(after)
    }
}

impl Tenants<'_> {
    /// Suspends the caller's tenant: its sessions end, and its users cannot log in. If the tenant is suspended
    /// already, this ends the sessions that an interrupted call has left. For trusted code only.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`] for a user, [`Error::NotFound`].
    pub async fn suspend(&self, caller: &Caller) -> Result<Tenant> {
        self.change_status(caller, TenantStatus::Suspended).await
    }

    /// Lets the users of the caller's tenant log in again. Does nothing if the tenant is ACTIVE. For trusted code
    /// only.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`] for a user, [`Error::NotFound`], [`Conflict::TenantDeletionBegun`].
    pub async fn reactivate(&self, caller: &Caller) -> Result<Tenant> {
        self.change_status(caller, TenantStatus::Active).await
    }

    async fn change_status(&self, caller: &Caller, status: TenantStatus) -> Result<Tenant> {
        if !matches!(caller.actor(), Actor::System { .. }) {
            return Err(Forbidden::NotTrusted.into());
        }
        let is_suspended = |tenant: &Tenant| tenant.status == TenantStatus::Suspended;
        if self.0.store.tenant(caller.tenant()).await?.as_ref().is_some_and(is_suspended) {
            // Sessions may have begun while the tenant was being suspended. They must not become valid again when the
            // tenant is reactivated.
            end_all_sessions(self.0, caller, EndReason::TenantSuspended).await?;
        }
        let mut work = self.0.begin(caller).await?;
        let before = work.reads().lock_tenant().await?.ok_or_else(not_found)?;
        work.invalidate(before.id);
        let has_begun = |deletion: TenantDeletion| deletion.begun_at.is_some();
        if status == TenantStatus::Active && work.reads().tenant_deletion().await?.is_some_and(has_begun) {
            return Err(Conflict::TenantDeletionBegun.into());
        }
        if before.status == status {
            return Ok(before);
        }
        let after = Tenant { status, ..before.clone() }.changed(work.now());
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
