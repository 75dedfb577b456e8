use iam_model::access::{Coverage, Membership, Rights, VisibleScope};
use iam_model::assignment::Grant;
use iam_model::audit::ResourceType;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::UserId;
use iam_model::organization::Ancestry;
use iam_model::permission::Permission;
use iam_model::store::GrantQuery;
use iam_model::user::{User, UserStatus};

use crate::engine::{LockedRights, UnitOfWork};

/// A user to which something is to be done, by a caller that holds a permission for it.
pub(crate) struct Subject {
    pub(crate) user: User,
    pub(crate) grants: Vec<Grant>,
    /// The organizations above the home of the user, and the home itself.
    above_home: Ancestry,
    /// The caller's rights under the tenant's lock, if the operation or the caller's scope needs it.
    pub(crate) grantor: Option<LockedRights>,
}

impl Subject {
    /// Locks a user who is not deleted; see [`lock_in_any_status`](Self::lock_in_any_status).
    ///
    /// This decides for every operation on a person that writes. A deleted user has no roles whose permissions the
    /// caller would need: a caller that changed its e-mail or its factors would have the account when it is restored.
    ///
    /// # Errors
    ///
    /// [`Conflict::UserInactive`].
    pub(crate) async fn lock(
        work: &mut UnitOfWork<'_>,
        id: UserId,
        permission: &Permission,
        needs_locked_rights: bool,
    ) -> Result<Self> {
        Self::lock_in_any_status(work, id, permission, needs_locked_rights).await?.not_deleted()
    }

    /// Locks a user who is not deleted, for what an elevation does not count for: the caller needs the permission by
    /// its standing rights, which are the [rights](Self::grantor) of the subject.
    ///
    /// # Errors
    ///
    /// [`Conflict::UserInactive`].
    pub(crate) async fn lock_by_standing(
        work: &mut UnitOfWork<'_>,
        id: UserId,
        permission: &Permission,
    ) -> Result<Self> {
        Self::lock_by_standing_in_any_status(work, id, permission).await?.not_deleted()
    }

    /// Locks a user as [`lock_by_standing`](Self::lock_by_standing) does, also a deleted one.
    pub(crate) async fn lock_by_standing_in_any_status(
        work: &mut UnitOfWork<'_>,
        id: UserId,
        permission: &Permission,
    ) -> Result<Self> {
        let grantor = work.lock_rights().await?.standing();
        Self::load(work, id, permission, Some(grantor)).await
    }

    fn not_deleted(self) -> Result<Self> {
        if self.user.status == UserStatus::Inactive { Err(Conflict::UserInactive.into()) } else { Ok(self) }
    }

    /// Locks a user. The caller must hold the permission over the whole of the user; see [`Coverage::Whole`]. For
    /// operations that restore a deleted user, or that do nothing to it.
    ///
    /// If the permission is held in organizations, it decides under the tenant's lock: home and roles of the user
    /// cannot change before the unit of work ends.
    pub(crate) async fn lock_in_any_status(
        work: &mut UnitOfWork<'_>,
        id: UserId,
        permission: &Permission,
        needs_locked_rights: bool,
    ) -> Result<Self> {
        let own = Rights::new(work.caller().authority(), work.clock_now());
        let is_scoped = own.visible_scope(permission)? != VisibleScope::Tenant;
        let grantor = if needs_locked_rights || is_scoped { Some(work.lock_rights().await?) } else { None };
        Self::load(work, id, permission, grantor).await
    }

    async fn load(
        work: &mut UnitOfWork<'_>,
        id: UserId,
        permission: &Permission,
        grantor: Option<LockedRights>,
    ) -> Result<Self> {
        if let Some(grantor) = &grantor {
            grantor.rights().require_anywhere(permission)?;
        }
        work.invalidate(id);
        let user = work.reads().lock_user(id).await?.ok_or(Error::NotFound(ResourceType::USER))?;
        let Some(grantor) = grantor else {
            return Ok(Self { user, grants: Vec::new(), above_home: Ancestry::default(), grantor: None });
        };
        let grants = work.reads().grants(GrantQuery::OfUser(id)).await?;
        let above_home = work.hierarchy_of(user.home_organization_id.as_slice()).await?.into_ancestry();
        let subject = Self { user, grants, above_home, grantor: Some(grantor.clone()) };
        subject.require(&grantor, permission)?;
        Ok(subject)
    }

    /// Requires a permission over the whole of the user.
    pub(crate) fn require(&self, grantor: &LockedRights, permission: &Permission) -> Result<()> {
        let home = self.user.home_organization_id.and_then(|home| self.above_home.position(home));
        let membership = Membership { home, grants: &self.grants };
        grantor.rights().require_for_user(permission, membership, Coverage::Whole)
    }
}
