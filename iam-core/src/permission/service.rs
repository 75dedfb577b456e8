use iam_model::access::Until;
use iam_model::audit::ResourceType;
use iam_model::change::PermissionChange;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::PermissionId;
use iam_model::page::{Page, PageRequest};
use iam_model::permission;
use iam_model::permission::{Permission, PermissionPattern, RegisteredPermission};
use iam_model::tenant::QuotaKind;
use iam_model::validate::{Description, Fields};

use crate::caller::Caller;
use crate::engine::{Engine, LockedRights, UnitOfWork, hold_quota};
use crate::idempotency::Idempotency;

/// Registers, reads and removes permissions; see [`Iam::permissions`](crate::iam::Iam::permissions).
///
/// The catalogue belongs to the tenant as a whole. To change it, a caller needs the permission tenant-wide. To read
/// it, the permission in any organization is enough.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::permission::NewPermission;
///
/// let refund = NewPermission { name: "orders:refund".into(), description: Some("Give money back".into()) };
/// iam.permissions().create(&ada, refund).await?;
/// iam.access().require(&ada, "orders:refund", None).await?; // an administrator may do everything
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Permissions<'a>(pub(crate) &'a Engine);

/// The input for a new permission, as typed.
#[derive(Clone, Debug, Default)]
pub struct NewPermission {
    /// `<resource>:<action>`, both `[a-z][a-z0-9-]*`, at most 120 characters; unique in the tenant. The resource is not
    /// [reserved](permission::is_reserved_resource).
    pub name: String,
    /// At most 500 characters; empty if it is `None`.
    pub description: Option<String>,
}

impl NewPermission {
    fn validate(&self) -> Result<(Permission, Description)> {
        let mut fields = Fields::default();
        let name = fields.check("name", Permission::of_application(&self.name));
        let description = fields.check_optional("description", self.description.as_deref());
        match name {
            Some(name) if fields.is_empty() => Ok((name, description.unwrap_or_default())),
            _ => Err(fields.into_error().into()),
        }
    }
}

impl Permissions<'_> {
    /// Registers a permission of the application. Needs `permissions:create`.
    ///
    /// If a role contains the wildcard of its resource, the users who hold that role get the new permission at once.
    /// So the caller must hold the new permission too, tenant-wide and for as long as these users.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`], [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation),
    /// [`Conflict::PermissionNameTaken`].
    pub async fn create(&self, caller: &Caller, new: NewPermission) -> Result<RegisteredPermission> {
        self.create_once(caller, new, None).await
    }

    /// Registers a permission as [`create`](Self::create) does, at most once for an [idempotency
    /// key](crate::idempotency). `None` is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(
        &self,
        caller: &Caller,
        new: NewPermission,
        idempotency: Option<&Idempotency>,
    ) -> Result<RegisteredPermission> {
        self.0.rights(caller).require(&permission::PERMISSIONS_CREATE)?;
        let new = new.validate()?;
        let once = self.0.once(caller, idempotency, &ResourceType::PERMISSION);
        let mut work = self.0.begin(caller).await?;
        if let Some(permission) = once.find(&mut work).await? {
            return Ok(permission);
        }
        let grantor = work.lock_rights().await?;
        let permission = self.create_valid(&mut work, &grantor, new).await?;
        once.keep(&mut work, &permission).await?;
        work.commit().await?;
        Ok(permission)
    }

    /// Registers a permission in a unit of work that has read the rights of its caller.
    pub(crate) async fn create_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        new: NewPermission,
    ) -> Result<RegisteredPermission> {
        self.create_valid(work, grantor, new.validate()?).await
    }

    async fn create_valid(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        (name, description): (Permission, Description),
    ) -> Result<RegisteredPermission> {
        grantor.rights().require(&permission::PERMISSIONS_CREATE)?;
        hold_quota(&self.0.settings.quota, work, QuotaKind::Permissions, 1).await?;
        let now = work.now();
        let wildcard_roles = work.reads().roles_with(&PermissionPattern::whole_resource_of(&name)).await?;
        let held_until =
            if wildcard_roles.is_empty() { Until::Forever } else { work.given_until(&wildcard_roles).await? };
        let permission = RegisteredPermission {
            id: self.0.next_id(),
            tenant_id: work.caller().tenant(),
            name,
            description,
            system: false,
            created_at: now,
        };
        let wildcard_roles = Some(wildcard_roles);
        work.apply(PermissionChange::Create { permission: permission.clone(), wildcard_roles, held_until }).await?;
        Ok(permission)
    }

    /// Returns a page of the catalogue, newest first. Needs `permissions:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn list(&self, caller: &Caller, page: PageRequest) -> Result<Page<RegisteredPermission>> {
        self.0.rights(caller).require_anywhere(&permission::PERMISSIONS_READ)?;
        Ok(self.0.store.permissions(caller.tenant(), page).await?)
    }

    /// Removes a permission of the application that no role contains. Needs `permissions:delete`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::SystemPermission`], [`Conflict::PermissionInUse`].
    pub async fn delete(&self, caller: &Caller, id: PermissionId) -> Result<()> {
        self.0.rights(caller).require(&permission::PERMISSIONS_DELETE)?;
        let mut work = self.0.begin(caller).await?;
        let grantor = work.lock_rights().await?;
        self.delete_in(&mut work, &grantor, id).await?;
        work.commit().await
    }

    /// Removes a permission in a unit of work that has read the rights of its caller.
    pub(crate) async fn delete_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        id: PermissionId,
    ) -> Result<()> {
        grantor.rights().require(&permission::PERMISSIONS_DELETE)?;
        let found = work.reads().permission(id).await?;
        let found = found.ok_or(Error::NotFound(ResourceType::PERMISSION))?;
        if found.system {
            return Err(Conflict::SystemPermission.into());
        }
        if !work.reads().roles_with(&PermissionPattern::from(&found.name)).await?.is_empty() {
            return Err(Conflict::PermissionInUse.into());
        }
        work.apply(PermissionChange::Delete(found)).await
    }
}
