use std::collections::HashMap;

use iam_model::audit::ResourceType;
use iam_model::change::IdentityChange;
use iam_model::error::{Conflict, Error, Result};
use iam_model::factor::FactorKind;
use iam_model::id::{IdentityId, IdentityProviderId, TenantId, UserId};
use iam_model::identity::Identity;
use iam_model::identity_provider::IdentityProvider;
use iam_model::page::{MAX_LIMIT, PageRequest};
use iam_model::permission;
use iam_model::permission::PermissionPattern;
use iam_model::store::HolderQuery;
use iam_model::user::{User, UserStatus};

use crate::access::Subject;
use crate::caller::Caller;
use crate::eligibility::with_sleeping;
use crate::engine::{Engine, UnitOfWork};
use crate::federation::Federation;
use crate::federation::discover::ProviderSummary;
use crate::guard::confirmed_factors;
use crate::user::Users;

/// The holders of all permissions whom an identity provider can log in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkedHolders {
    /// The users, in the order of their ids, each with the enabled providers at which it is linked, by name.
    pub holders: Vec<(User, Vec<ProviderSummary>)>,
    /// Whether there are more holders of all permissions than were looked at.
    pub truncated: bool,
}

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

    /// Returns the ACTIVE users who hold all permissions (`*`) tenant-wide and are linked at an enabled provider. Who
    /// controls such a provider can act as them. Looks at a hundred holders at most. Needs `role-assignments:read` and
    /// `users:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn linked_holders(&self, caller: &Caller) -> Result<LinkedHolders> {
        let (iam, tenant) = (self.0, caller.tenant());
        iam.rights(caller).require(&permission::ROLE_ASSIGNMENTS_READ)?;
        iam.rights(caller).require(&permission::USERS_READ)?;
        let mut providers = iam.store.identity_providers(tenant).await?;
        providers.retain(|provider| provider.enabled);
        if providers.is_empty() {
            return Ok(LinkedHolders { holders: Vec::new(), truncated: false });
        }
        let _turn = iam.long_read(caller).await?;
        let now = iam.now();
        // A role with all permissions allows this one, too.
        let roles = iam.store.roles_allowing(tenant, &permission::IDENTITY_PROVIDERS_UPDATE).await?;
        let roles = roles.into_iter().filter(|role| role.permissions.covers(&PermissionPattern::everything()));
        let roles = Some(roles.map(|role| role.id).collect());
        let query = HolderQuery { roles, organizations: Vec::new(), at: now };
        let found = iam.store.holders(tenant, &query, PageRequest::new(1, MAX_LIMIT)?, now).await?;
        let truncated = found.has_next();
        let mut linked = Vec::new();
        for user in found.items {
            let identities = iam.store.identities(tenant, user).await?;
            let is_linked_at =
                |provider: &&IdentityProvider| identities.iter().any(|identity| identity.is_at(provider));
            let at: Vec<_> = providers.iter().filter(is_linked_at).map(ProviderSummary::of).collect();
            if !at.is_empty() {
                linked.push((user, at));
            }
        }
        let ids: Vec<UserId> = linked.iter().map(|(user, _)| *user).collect();
        let users = iam.store.users_by_id(tenant, &ids).await?;
        let mut users: HashMap<UserId, User> = users.into_iter().map(|user| (user.id, user)).collect();
        let holders = linked.into_iter().filter_map(|(user, providers)| Some((users.remove(&user)?, providers)));
        Ok(LinkedHolders { holders: holders.collect(), truncated })
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
            iam.standing(caller).rights().require_anywhere(&permission::USERS_UPDATE)?;
        }
        caller.refuse_impersonator()?;
        iam.require_fresh(caller).await?;
        let user = identity.ok_or_else(not_found)?.user_id;
        let has_password = iam.logs_in_by_password(caller.tenant(), user).await?;
        let mut work = iam.begin(caller).await?;
        let mut is_deleted = false;
        let grants = if is_own {
            // Before the account: the providers are read under this lock, and who removes one counts its identities.
            work.reads().lock_tenant().await?;
            work.require_fresh().await?;
            None
        } else {
            let subject = Subject::lock_by_standing_in_any_status(&mut work, user, &permission::USERS_UPDATE).await;
            let subject = subject.map_err(|error| match error {
                Error::NotFound(_) => not_found(),
                other => other,
            });
            let subject = subject?;
            is_deleted = subject.user.status == UserStatus::Inactive;
            Some(with_sleeping(&mut work, user, &subject.grants).await?)
        };
        let (removed, left): (Vec<_>, Vec<_>) =
            work.reads().identities(user).await?.into_iter().partition(|identity| identity.id == id);
        let removed = removed.into_iter().next().ok_or_else(not_found)?;
        let remove = IdentityChange::Delete { identity: removed.clone(), grants };
        let remove = work.check_granted_rights(remove).await?;
        let providers = work.reads().identity_providers().await?;
        if !is_deleted
            && is_usable(&removed, &providers)
            && !left.iter().any(|identity| is_usable(identity, &providers))
            && !has_password
            && !has_passkey(&mut work, user).await?
        {
            return Err(Conflict::LastIdentity.into());
        }
        work.apply(remove).await?;
        work.commit().await
    }
}

impl Engine {
    /// Whether a user has chosen a password, and may use it. A user who has one never loses it, so no lock is needed.
    async fn logs_in_by_password(&self, tenant: TenantId, user: UserId) -> Result<bool> {
        let (tenant, user) = (self.store.tenant(tenant).await?, self.store.user(tenant, user).await?);
        let (Some(tenant), Some(user)) = (tenant, user) else { return Ok(false) };
        let account = self.store.guarded_account(tenant.id, &user.email.key()).await?.account;
        let has_chosen = account.is_some_and(|account| account.user.id == user.id && !account.password.is_unset());
        Ok(has_chosen && self.federated_logins((tenant.id, tenant.password_login), &user).await?.is_empty())
    }

    /// Whether a user logs in by an identity at this provider, which is enabled.
    pub(crate) async fn logs_in_at(&self, user: &User, provider: IdentityProviderId) -> Result<bool> {
        let mut providers = self.store.identity_providers(user.tenant_id).await?;
        providers.retain(|known| known.id == provider);
        let identities = self.store.identities(user.tenant_id, user.id).await?;
        Ok(identities.iter().any(|identity| is_usable(identity, &providers)))
    }

    /// Whether a user logs in by a password, or by an identity at an enabled provider.
    pub(crate) async fn logs_in_without_passkey(&self, tenant: TenantId, user: UserId) -> Result<bool> {
        let providers = self.store.identity_providers(tenant).await?;
        let identities = self.store.identities(tenant, user).await?;
        Ok(identities.iter().any(|identity| is_usable(identity, &providers))
            || self.logs_in_by_password(tenant, user).await?)
    }
}

/// Whether a person can log in by an identity: its provider is one of these, and enabled.
fn is_usable(identity: &Identity, providers: &[IdentityProvider]) -> bool {
    providers.iter().any(|provider| provider.enabled && identity.is_at(provider))
}

async fn has_passkey(work: &mut UnitOfWork<'_>, user: UserId) -> Result<bool> {
    Ok(confirmed_factors(work, user).await?.iter().any(|factor| factor.kind == FactorKind::Passkey))
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::IDENTITY)
}
