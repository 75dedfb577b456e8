use iam_model::access::Until;
use iam_model::assignment::{Grant, RevokeReason};
use iam_model::audit::ResourceType;
use iam_model::change::RoleChange;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::RoleId;
use iam_model::page::{Page, PageRequest};
use iam_model::permission;
use iam_model::role::Role;
use iam_model::store::GrantQuery;
use iam_model::tenant::QuotaKind;
use iam_model::version::Precondition;

use crate::assignment::revoke;
use crate::caller::Caller;
use crate::eligibility;
use crate::engine::{Engine, LockedRights, UnitOfWork, hold_quota, require_version};
use crate::idempotency::Idempotency;
use crate::role::input::{ValidPatch, ValidRole, check_number};
use crate::role::{NewRole, RolePatch};

/// Creates, reads, changes and deletes roles; see [`Iam::roles`](crate::iam::Iam::roles).
///
/// Roles belong to the tenant as a whole. To change them, a caller needs the permission tenant-wide. To read them,
/// the permission in any organization is enough, so that an administrator of an organization knows which roles can be
/// assigned there.
///
/// A caller must hold every permission that it adds to a role.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::role::{NewRole, RolePatch, RoleScope};
///
/// let permissions = vec!["users:read".into()];
/// let new = NewRole { name: "RECEPTION".into(), permissions, scope: RoleScope::Organization, ..NewRole::default() };
/// let role = iam.roles().create(&ada, new).await?;
///
/// let permissions = Some(vec!["users:read".into(), "organizations:read".into()]);
/// let role = iam.roles().update(&ada, role.id, RolePatch { permissions, ..RolePatch::default() }).await?;
/// assert_eq!(iam.roles().by_name(&ada, "RECEPTION").await?, Some(role));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Roles<'a>(pub(crate) &'a Engine);

impl Roles<'_> {
    /// Creates a role. Needs `roles:create`, and every permission of the role, tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] which names every invalid or unregistered permission,
    /// [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation), [`Conflict::RoleNameTaken`].
    pub async fn create(&self, caller: &Caller, new: NewRole) -> Result<Role> {
        self.create_once(caller, new, None).await
    }

    /// Creates a role as [`create`](Self::create) does, at most once for an [idempotency key](crate::idempotency).
    /// `None` is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(&self, caller: &Caller, new: NewRole, idempotency: Option<&Idempotency>) -> Result<Role> {
        self.0.rights(caller).require(&permission::ROLES_CREATE)?;
        let new = new.validate()?;
        let once = self.0.once(caller, idempotency, &ResourceType::ROLE);
        let mut work = self.0.begin(caller).await?;
        if let Some(role) = once.find(&mut work).await? {
            return Ok(role);
        }
        let grantor = work.lock_rights().await?;
        let role = self.create_valid(&mut work, &grantor, new).await?;
        once.keep(&mut work, &role).await?;
        work.commit().await?;
        Ok(role)
    }

    /// Creates a role in a unit of work that has read the rights of its caller.
    pub(crate) async fn create_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        new: NewRole,
    ) -> Result<Role> {
        self.create_valid(work, grantor, new.validate()?).await
    }

    async fn create_valid(&self, work: &mut UnitOfWork<'_>, grantor: &LockedRights, new: ValidRole) -> Result<Role> {
        grantor.rights().require(&permission::ROLES_CREATE)?;
        new.permissions.check_registered(&work.reads().permission_names().await?)?;
        let now = work.now();
        let role = new.role(self.0.next_id(), work.caller().tenant(), now);
        let created = work.check_granted_rights(RoleChange::Create(role.clone())).await?;
        hold_quota(&self.0.settings.quota, work, QuotaKind::Roles, 1).await?;
        work.apply(created).await?;
        Ok(role)
    }

    /// Returns one role. Needs `roles:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: RoleId) -> Result<Role> {
        self.0.rights(caller).require_anywhere(&permission::ROLES_READ)?;
        self.0.store.role(caller.tenant(), id).await?.ok_or_else(not_found)
    }

    /// Returns the role with this name, such as [`TENANT_ADMIN`](iam_model::role::TENANT_ADMIN). Needs `roles:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn by_name(&self, caller: &Caller, name: &str) -> Result<Option<Role>> {
        self.0.rights(caller).require_anywhere(&permission::ROLES_READ)?;
        Ok(self.0.store.role_by_name(caller.tenant(), name).await?)
    }

    /// Returns a page of the roles, newest first. Needs `roles:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn list(&self, caller: &Caller, page: PageRequest) -> Result<Page<Role>> {
        self.0.rights(caller).require_anywhere(&permission::ROLES_READ)?;
        // The rows of a page are few, but each may have many permissions.
        let _turn = self.0.long_read(caller).await?;
        Ok(self.0.store.roles(caller.tenant(), page).await?)
    }

    /// Changes a role, for every user who holds it. Needs `roles:update`, and every added permission, tenant-wide and
    /// for as long as any user holds the role, an invitation that can be accepted offers it, or an eligibility lets
    /// users ask for it; without an end if a group of a directory is mapped to the role. A patch that changes nothing
    /// records nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`], [`Error::NotFound`],
    /// [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation), [`Conflict::SystemRole`],
    /// [`Conflict::RoleNameTaken`], [`Conflict::RoleScopeInUse`].
    pub async fn update(&self, caller: &Caller, id: RoleId, patch: RolePatch) -> Result<Role> {
        self.update_if(caller, id, patch, &Precondition::Exists).await
    }

    /// Changes a role as [`update`](Self::update) does, if a precondition holds. It is checked under the lock of the
    /// change.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update), [`Error::PreconditionFailed`].
    pub async fn update_if(
        &self,
        caller: &Caller,
        id: RoleId,
        patch: RolePatch,
        precondition: &Precondition,
    ) -> Result<Role> {
        self.0.rights(caller).require(&permission::ROLES_UPDATE)?;
        let patch = patch.validate()?;
        let mut work = self.0.begin(caller).await?;
        let grantor = work.lock_rights().await?;
        let role = self.update_valid(&mut work, &grantor, id, patch, precondition).await?;
        work.commit().await?;
        Ok(role)
    }

    /// Changes a role in a unit of work that has read the rights of its caller.
    pub(crate) async fn update_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        id: RoleId,
        patch: &RolePatch,
    ) -> Result<Role> {
        self.update_valid(work, grantor, id, patch.validate()?, &Precondition::Exists).await
    }

    async fn update_valid(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        id: RoleId,
        patch: ValidPatch,
        precondition: &Precondition,
    ) -> Result<Role> {
        grantor.rights().require(&permission::ROLES_UPDATE)?;
        let before = role(work, id).await?;
        require_version(precondition, before.version)?;
        if let Some(permissions) = &patch.permissions {
            permissions.check_length(&before)?;
            permissions.check_registered(&work.reads().permission_names().await?)?;
        }
        let now = work.now();
        let after = patch.apply(&before, now);
        if after == before {
            return Ok(before);
        }
        if before.system {
            return Err(Conflict::SystemRole.into());
        }
        check_number(&before, &after)?;
        if after.scope != before.scope {
            let grants = work.reads().grants(GrantQuery::OfRole(id)).await?;
            let violates_scope = |grant: &Grant| {
                grant.assignment.is_live(now) && after.scope.check(grant.assignment.organization_id.is_some()).is_err()
            };
            let mapped = work.reads().mapped_groups(&[id], &[]).await?;
            let providers = work.reads().identity_providers().await?;
            let eligibilities = work.reads().all_eligibilities().await?;
            let mut eligibilities =
                eligibilities.iter().filter(|eligibility| eligibility.role_id == id && eligibility.is_live(now));
            let mut mappings = mapped.iter().flat_map(|group| &group.grants).filter(|grant| grant.role_id == id);
            let mut provided =
                providers.iter().flat_map(|provider| &provider.roles).filter(|provided| provided.role_id == id);
            if grants.iter().any(violates_scope)
                || mappings.any(|grant| after.scope.check(grant.organization_id.is_some()).is_err())
                || eligibilities.any(|asked| after.scope.check(asked.organization_id.is_some()).is_err())
                || provided.any(|provided| after.scope.check(provided.organization_id.is_some()).is_err())
            {
                return Err(Conflict::RoleScopeInUse.into());
            }
        }
        let added = after.permissions.beyond(&before.permissions);
        let held_until = if added.is_empty() { Until::Forever } else { work.given_until(&[id]).await? };
        work.apply(RoleChange::Update { before, after: after.clone(), held_until }).await?;
        Ok(after)
    }

    /// Deletes a role that no user holds, to which no group of a directory is mapped, and that no eligibility names
    /// which has not expired. Needs `roles:delete`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::SystemRole`], [`Conflict::RoleInUse`],
    /// [`Conflict::RoleOfEligibility`].
    pub async fn delete(&self, caller: &Caller, id: RoleId) -> Result<()> {
        self.delete_if(caller, id, &Precondition::Exists).await
    }

    /// Deletes a role as [`delete`](Self::delete) does, if a precondition holds. It is checked under the lock of the
    /// change.
    ///
    /// # Errors
    ///
    /// Those of [`delete`](Self::delete), [`Error::PreconditionFailed`].
    pub async fn delete_if(&self, caller: &Caller, id: RoleId, precondition: &Precondition) -> Result<()> {
        self.0.rights(caller).require(&permission::ROLES_DELETE)?;
        let mut work = self.0.begin(caller).await?;
        let grantor = work.lock_rights().await?;
        self.delete_in(&mut work, &grantor, id, precondition).await?;
        work.commit().await
    }

    /// Deletes a role in a unit of work that has read the rights of its caller.
    pub(crate) async fn delete_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        id: RoleId,
        precondition: &Precondition,
    ) -> Result<()> {
        grantor.rights().require(&permission::ROLES_DELETE)?;
        let role = role(work, id).await?;
        require_version(precondition, role.version)?;
        if role.system {
            return Err(Conflict::SystemRole.into());
        }
        let now = work.now();
        let is_held = work.reads().roles_held_until(&[id], now).await?.is_some();
        if is_held || !work.reads().mapped_groups(&[id], &[]).await?.is_empty() {
            return Err(Conflict::RoleInUse.into());
        }
        let mut eligibilities = work.reads().all_eligibilities().await?;
        eligibilities.retain(|eligibility| eligibility.names_role(id));
        if eligibilities.iter().any(|eligibility| eligibility.is_live(now)) {
            return Err(Conflict::RoleOfEligibility.into());
        }
        eligibility::remove(work, &eligibilities, Some(RevokeReason::Expired)).await?;
        let expired = work.reads().grants(GrantQuery::OfRole(id)).await?;
        revoke(work, expired, RevokeReason::Expired).await?;
        work.apply(RoleChange::Delete(role)).await
    }
}

async fn role(work: &mut UnitOfWork<'_>, id: RoleId) -> Result<Role> {
    work.invalidate(id);
    work.reads().roles_by_id(&[id]).await?.pop().ok_or_else(not_found)
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::ROLE)
}
