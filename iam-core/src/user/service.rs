use super::rules::StatusMove;
use super::{NewUser, User, UserChange, UserFilter, UserPatch, UserSort, UserStatus};
use crate::access::{Permission, permission};
use crate::assignment::{AssignmentChange, Grant, RevokeReason};
use crate::audit::ResourceType;
use crate::caller::Caller;
use crate::error::{Conflict, Error, Result};
use crate::iam::Inner;
use crate::id::UserId;
use crate::page::{Page, PageRequest};
use crate::session::end_sessions;
use crate::validate::Fields;
use crate::work::UnitOfWork;

/// Makes, reads, changes and deletes users; see [`Iam::users`](crate::Iam::users).
#[derive(Clone, Copy)]
pub struct Users<'a>(pub(crate) &'a Inner);

impl Users<'_> {
    /// Makes a user, ACTIVE and without roles. Needs `users:create`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] naming every invalid field, [`Conflict::EmailTaken`].
    pub async fn create(&self, caller: &Caller, new: NewUser) -> Result<User> {
        caller.require(permission::USERS_CREATE)?;
        let profile = new.validate(Fields::default())?;
        let password = self.0.passwords.hash(&profile.password).await?;
        let mut work = self.0.begin(caller).await?;
        let user = profile.user(self.0.next_id(), caller.tenant(), work.now());
        work.apply(UserChange::Create { user: user.clone(), password }).await?;
        work.commit().await?;
        Ok(user)
    }

    /// One user, whatever its status. Needs `users:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: UserId) -> Result<User> {
        caller.require(permission::USERS_READ)?;
        self.0.store.user(caller.tenant(), id).await?.ok_or_else(not_found)
    }

    /// A page of the users that pass a filter. Needs `users:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn list(
        &self,
        caller: &Caller,
        filter: &UserFilter,
        sort: UserSort,
        page: PageRequest,
    ) -> Result<Page<User>> {
        caller.require(permission::USERS_READ)?;
        Ok(self.0.store.users(caller.tenant(), filter, sort, page, self.0.now()).await?)
    }

    /// Changes a user. Needs `users:update`. A patch that changes nothing records nothing.
    ///
    /// A status other than ACTIVE ends the user's sessions; INACTIVE also ends its role assignments and needs
    /// `users:delete` too; leaving INACTIVE needs `users:create` too.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`], [`Error::NotFound`], [`Conflict::EmailTaken`],
    /// [`Conflict::LastAdministrator`].
    pub async fn update(&self, caller: &Caller, id: UserId, patch: UserPatch) -> Result<User> {
        caller.require(permission::USERS_UPDATE)?;
        let patch = patch.validate()?;
        let mut work = self.0.begin(caller).await?;
        if patch.status.is_some() {
            work.locks().lock_tenant().await?;
        }
        let before = work.locks().lock_user(id).await?.ok_or_else(not_found)?;
        let after = patch.apply(&before, work.now());
        if after == before {
            return Ok(before);
        }
        let status_move = StatusMove::between(before.status, after.status);
        if let Some(needed) = status_move.permission.clone() {
            caller.require(needed)?;
        }
        work.apply(UserChange::Update { before, after: after.clone() }).await?;
        follow(&mut work, id, &status_move).await?;
        work.commit().await?;
        Ok(after)
    }

    /// Suspends an ACTIVE user, which ends its sessions. Needs `users:update`. On a SUSPENDED one it does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::UserInactive`], [`Conflict::LastAdministrator`].
    pub async fn suspend(&self, caller: &Caller, id: UserId) -> Result<User> {
        self.change_status(caller, id, UserStatus::Suspended).await
    }

    /// Makes a SUSPENDED user ACTIVE again. Needs `users:update`. On an ACTIVE one it does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::UserInactive`].
    pub async fn reactivate(&self, caller: &Caller, id: UserId) -> Result<User> {
        self.change_status(caller, id, UserStatus::Active).await
    }

    async fn change_status(&self, caller: &Caller, id: UserId, status: UserStatus) -> Result<User> {
        caller.require(permission::USERS_UPDATE)?;
        let mut work = self.0.begin(caller).await?;
        work.locks().lock_tenant().await?;
        let before = work.locks().lock_user(id).await?.ok_or_else(not_found)?;
        if before.status == UserStatus::Inactive {
            return Err(Conflict::UserInactive.into());
        }
        if before.status == status {
            return Ok(before);
        }
        let status_move = StatusMove::between(before.status, status);
        let after = User { status, updated_at: work.now(), ..before.clone() };
        work.apply(UserChange::ChangeStatus { before, after: after.clone() }).await?;
        follow(&mut work, id, &status_move).await?;
        work.commit().await?;
        Ok(after)
    }

    /// Deletes a user softly: it becomes INACTIVE, its sessions and role assignments end, its record stays and its
    /// e-mail stays taken. Needs `users:delete`. On an INACTIVE one it does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::LastAdministrator`].
    pub async fn delete(&self, caller: &Caller, id: UserId) -> Result<()> {
        caller.require(permission::USERS_DELETE)?;
        let mut work = self.0.begin(caller).await?;
        work.locks().lock_tenant().await?;
        let before = work.locks().lock_user(id).await?.ok_or_else(not_found)?;
        if before.status == UserStatus::Inactive {
            return Ok(());
        }
        let status_move = StatusMove::between(before.status, UserStatus::Inactive);
        let after = User { status: UserStatus::Inactive, updated_at: work.now(), ..before.clone() };
        work.apply(UserChange::Delete { before, after }).await?;
        follow(&mut work, id, &status_move).await?;
        work.commit().await
    }
}

/// Lets a caller look at what belongs to a user: its own always, another's with a permission where there is such a
/// user.
pub(crate) async fn require_own(iam: &Inner, caller: &Caller, user: UserId, otherwise: Permission) -> Result<()> {
    if caller.user() != Some(user) {
        caller.require(otherwise)?;
        iam.store.user(caller.tenant(), user).await?.ok_or_else(not_found)?;
    }
    Ok(())
}

/// What a change of status brings along, in the same unit of work and under the tenant's lock.
async fn follow(work: &mut UnitOfWork<'_>, user: UserId, status_move: &StatusMove) -> Result<()> {
    let loses_rights = status_move.leaves_active || status_move.revokes_roles;
    let grants = if loses_rights { work.locks().lock_grants_of(user).await? } else { Vec::new() };
    if status_move.leaves_active {
        keep_an_administrator(work, user, &grants).await?;
    }
    if let Some(reason) = status_move.ends_sessions {
        let sessions = work.locks().lock_sessions_of(user).await?;
        end_sessions(work, sessions, reason).await?;
    }
    if status_move.revokes_roles {
        revoke(work, grants).await?;
    }
    Ok(())
}

/// Ends the assignments of a deleted user; those that had expired are said to have done so.
async fn revoke(work: &mut UnitOfWork<'_>, grants: Vec<Grant>) -> Result<()> {
    let now = work.now();
    let (live, expired): (Vec<_>, Vec<_>) = grants.into_iter().partition(|grant| grant.assignment.is_live(now));
    for (grants, reason) in [(live, RevokeReason::UserDeleted), (expired, RevokeReason::Expired)] {
        if !grants.is_empty() {
            work.apply(AssignmentChange::Revoke { grants, reason: Some(reason) }).await?;
        }
    }
    Ok(())
}

/// A tenant always keeps an ACTIVE user who holds `TENANT_ADMIN` tenant-wide without expiry (`decisions.md` §3).
async fn keep_an_administrator(work: &mut UnitOfWork<'_>, without: UserId, grants: &[Grant]) -> Result<()> {
    let is_administrator = grants.iter().any(Grant::is_lasting_administration);
    if is_administrator && !work.locks().has_other_administrator(without).await? {
        return Err(Conflict::LastAdministrator.into());
    }
    Ok(())
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::USER)
}
