use iam_model::audit::ResourceType;
use iam_model::change::IdentityChange;
use iam_model::error::{Conflict, Error, Result};
use iam_model::factor::FactorKind;
use iam_model::id::{IdentityId, UserId};
use iam_model::identity::Identity;
use iam_model::permission;
use iam_model::user::UserStatus;

use crate::access::Subject;
use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork};
use crate::federation::Federation;
use crate::guard::confirmed_factors;
use crate::user::Users;

impl Federation<'_> {
    /// Returns the identities of a user, the one that was linked first first. A user sees its own in a session; those of
    /// another one need `users:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn identities(&self, caller: &Caller, user: UserId) -> Result<Vec<Identity>> {
        if !caller.is_in_session_of(user) {
            Users(self.0).get(caller, user).await?;
        }
        Ok(self.0.store.identities(caller.tenant(), user).await?)
    }

    /// Removes a link. The caller may remove its own in a session. For that of another user it needs `users:update`, and
    /// everything that the user's roles permit; without the permission, the answer does not reveal whether the link
    /// exists. Those of a deleted user can be removed, too.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation), [`Error::NotFound`],
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh), [`Conflict::LastIdentity`] if the
    /// user could not log in any more.
    pub async fn unlink(&self, caller: &Caller, id: IdentityId) -> Result<()> {
        let iam = self.0;
        let identity = iam.store.identity(caller.tenant(), id).await?;
        let is_own = identity.as_ref().is_some_and(|identity| caller.is_in_session_of(identity.user_id));
        if !is_own {
            iam.rights(caller).require_anywhere(&permission::USERS_UPDATE)?;
        }
        iam.require_fresh(caller).await?;
        let user = identity.ok_or_else(not_found)?.user_id;
        let has_password = has_password(iam, caller, user).await?;
        let mut work = iam.begin(caller).await?;
        let mut is_deleted = false;
        let grants = if is_own {
            work.require_fresh().await?;
            None
        } else {
            let subject = Subject::lock_in_any_status(&mut work, user, &permission::USERS_UPDATE, true).await;
            let subject = subject.map_err(|error| match error {
                Error::NotFound(_) => not_found(),
                other => other,
            });
            let subject = subject?;
            is_deleted = subject.user.status == UserStatus::Inactive;
            Some(subject.grants)
        };
        let (removed, left): (Vec<_>, Vec<_>) =
            work.reads().identities(user).await?.into_iter().partition(|identity| identity.id == id);
        let identity = removed.into_iter().next().ok_or_else(not_found)?;
        let remove = work.check_granted_rights(IdentityChange::Delete { identity, grants }).await?;
        let providers = work.reads().identity_providers().await?;
        let is_usable = |identity: &Identity| {
            providers.iter().any(|provider| provider.id == identity.provider_id && provider.enabled)
        };
        if !is_deleted && !left.iter().any(is_usable) && !has_password && !has_passkey(&mut work, user).await? {
            return Err(Conflict::LastIdentity.into());
        }
        work.apply(remove).await?;
        work.commit().await
    }
}

/// Whether a user has chosen a password, and may use it. A user who has one never loses it, so no lock is needed.
async fn has_password(iam: &Engine, caller: &Caller, user: UserId) -> Result<bool> {
    let tenant = iam.store.tenant(caller.tenant()).await?;
    let (Some(tenant), Some(user)) = (tenant, iam.store.user(caller.tenant(), user).await?) else { return Ok(false) };
    let account = iam.store.guarded_account(tenant.id, &user.email.key()).await?.account;
    let has_chosen = account.is_some_and(|account| account.user.id == user.id && !account.password.is_unset());
    Ok(has_chosen && iam.federated_logins((tenant.id, tenant.password_login), &user).await?.is_empty())
}

async fn has_passkey(work: &mut UnitOfWork<'_>, user: UserId) -> Result<bool> {
    Ok(confirmed_factors(work, user).await?.iter().any(|factor| factor.kind == FactorKind::Passkey))
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::IDENTITY)
}
