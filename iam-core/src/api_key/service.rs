use chrono::TimeDelta;
use iam_model::access::{Coverage, Rights};
use iam_model::api_key::{ApiKey, ApiKeySecret, FormerSecret};
use iam_model::assignment::{Grant, GrantOrganization};
use iam_model::audit::ResourceType;
use iam_model::change::ApiKeyChange;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::{ApiKeyId, OrganizationId, UserId};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::secret::ApiKeyToken;
use iam_model::user::{User, UserStatus};
use iam_model::version::Precondition;

use crate::access::require_sight;
use crate::api_key::input::check_overlap;
use crate::api_key::{ApiKeyPatch, NewApiKey};
use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork, require_version};
use crate::token::{api_key_prefix, new_api_key};
use crate::user::Subject;

/// Makes, reads, changes and revokes API keys; see [`Iam::api_keys`](crate::iam::Iam::api_keys).
///
/// A key acts as its user. At each request it may do what its user may do at that moment, but no more than its
/// [permissions](NewApiKey::permissions), and only in its [organization](NewApiKey::organization). A user manages its
/// own keys without a permission, by a session that has authenticated within the last ten minutes. For the keys of
/// another user, a caller needs a permission over that user. A caller that makes, rotates or changes a key must hold
/// what the key may do, because it could use the key.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::api_key::NewApiKey;
/// use iam_core::user::NewServiceAccount;
///
/// let robot = iam.users().create_service_account(&ada, NewServiceAccount { name: "Importer".into() }).await?;
/// let new = NewApiKey { name: "nightly".into(), ..NewApiKey::default() };
/// let issued = iam.api_keys().create(&ada, robot.id, new).await?;
///
/// let caller = iam.authenticate(issued.token.expose(), RequestContext::default()).await?;
/// assert_eq!(caller.user(), Some(robot.id));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct ApiKeys<'a>(pub(crate) &'a Engine);

/// A key with its text, which cannot be read again.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IssuedApiKey {
    /// The key.
    pub key: ApiKey,
    /// Its text, to be sent as a bearer token.
    pub token: ApiKeyToken,
}

impl ApiKeys<'_> {
    /// Makes a key of a user. For another user, it needs `api-keys:create` over all of that user's roles.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::ApiKey`](iam_model::error::Forbidden::ApiKey) for a caller by an API key,
    /// [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation),
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh), [`Error::Validation`] which names
    /// every invalid field, [`Error::NotFound`], [`Conflict::UserNotActive`], [`Conflict::TooManyApiKeys`].
    pub async fn create(&self, caller: &Caller, user: UserId, new: NewApiKey) -> Result<IssuedApiKey> {
        caller.refuse_api_key()?;
        let iam = self.0;
        let new = new.validate(iam.now())?;
        self.admit(caller, Some(user), &permission::API_KEYS_CREATE)?;
        let mut work = iam.begin(caller).await?;
        let Owner { user, grants } = Owner::lock(iam, &mut work, user, &permission::API_KEYS_CREATE).await?;
        if user.status != UserStatus::Active {
            return Err(Conflict::UserNotActive.into());
        }
        let organization = organization(&mut work, new.organization).await?;
        if work.locks().lock_api_keys_of(user.id).await?.len() >= ApiKey::MAX {
            return Err(Conflict::TooManyApiKeys.into());
        }
        let id = iam.next_id();
        let (token, secret_hash) = new_api_key(caller.tenant(), id, &*iam.random);
        let made = (work.now(), caller.user());
        let key = new.key(id, (caller.tenant(), user.id), secret_hash, made);
        let grants = grants.map(|grants| key.narrowed(&grants, organization.as_ref()));
        work.apply(ApiKeyChange::Create { key: key.clone(), grants }).await?;
        work.commit().await?;
        Ok(IssuedApiKey { key, token })
    }

    /// Returns the keys of a user, also expired ones, newest first. For another user, it needs `api-keys:read`; a
    /// permission that is held in organizations is for their members only.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn list(&self, caller: &Caller, user: UserId) -> Result<Vec<ApiKey>> {
        require_sight(self.0, caller, user, &permission::API_KEYS_READ, Coverage::Part).await?;
        Ok(self.0.store.api_keys_of(caller.tenant(), user).await?)
    }

    /// Returns a key, also an expired one. For the key of another user, it needs `api-keys:read` as
    /// [`list`](Self::list) does.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: ApiKeyId) -> Result<ApiKey> {
        let key = self.find(caller, id, &permission::API_KEYS_READ).await?;
        let sight = require_sight(self.0, caller, key.user_id, &permission::API_KEYS_READ, Coverage::Part).await;
        sight.map_err(of_key)?;
        Ok(key)
    }

    /// Changes a key: its name, to fewer permissions, or to an earlier expiry. For the key of another user, it needs
    /// `api-keys:update` over all of that user's roles.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation),
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh), [`Error::Validation`] which names
    /// every invalid field, also one that would widen the key, [`Error::NotFound`].
    pub async fn update(&self, caller: &Caller, id: ApiKeyId, patch: ApiKeyPatch) -> Result<ApiKey> {
        self.update_if(caller, id, patch, &Precondition::Exists).await
    }

    /// Changes a key as [`update`](Self::update) does, if a precondition holds. It is checked under the lock of the
    /// change.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update), [`Error::PreconditionFailed`].
    pub async fn update_if(
        &self,
        caller: &Caller,
        id: ApiKeyId,
        patch: ApiKeyPatch,
        precondition: &Precondition,
    ) -> Result<ApiKey> {
        let patch = patch.validate()?;
        let mut work = self.0.begin(caller).await?;
        let (before, grants) = self.lock(&mut work, id, &permission::API_KEYS_UPDATE).await?;
        require_version(precondition, before.version)?;
        let after = patch.apply(&before)?;
        if after == before {
            return Ok(before);
        }
        let grants = narrowed(&mut work, &before, grants).await?;
        let before = Box::new(before);
        work.apply(ApiKeyChange::Update { before, after: after.clone(), grants }).await?;
        work.commit().await?;
        Ok(after)
    }

    /// Gives a key a new secret, and returns its new text. The former secret stays valid for the overlap, at most one
    /// day. For the key of another user, it needs `api-keys:update` as [`update`](Self::update) does.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update), [`Forbidden::ApiKey`](iam_model::error::Forbidden::ApiKey) for a caller by an
    /// API key.
    pub async fn rotate(&self, caller: &Caller, id: ApiKeyId, overlap: TimeDelta) -> Result<IssuedApiKey> {
        caller.refuse_api_key()?;
        check_overlap(overlap)?;
        let mut work = self.0.begin(caller).await?;
        let (before, grants) = self.lock(&mut work, id, &permission::API_KEYS_UPDATE).await?;
        let grants = narrowed(&mut work, &before, grants).await?;
        let (token, hash) = new_api_key(caller.tenant(), id, &*self.0.random);
        let until = work.now() + overlap;
        let former = (overlap > TimeDelta::zero()).then_some(FormerSecret { hash: before.secret.hash, until });
        let key = ApiKey { secret: ApiKeySecret { hash, former }, ..before }.changed();
        work.apply(ApiKeyChange::Rotate { after: key.clone(), grants }).await?;
        work.commit().await?;
        Ok(IssuedApiKey { key, token })
    }

    /// Revokes a key. For the key of another user, it needs `api-keys:delete` over all of that user's roles.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh),
    /// [`Error::NotFound`].
    pub async fn delete(&self, caller: &Caller, id: ApiKeyId) -> Result<()> {
        let mut work = self.0.begin(caller).await?;
        let (key, _) = self.lock(&mut work, id, &permission::API_KEYS_DELETE).await?;
        work.apply(ApiKeyChange::Delete(vec![key])).await?;
        work.commit().await
    }

    /// Returns the part of the text of a key by which people recognize it, and which is no secret.
    #[must_use]
    pub fn prefix(&self, id: ApiKeyId) -> String {
        api_key_prefix(id)
    }

    /// Refuses a caller that is not the user and holds the permission nowhere, before anything is locked or revealed.
    fn admit(&self, caller: &Caller, user: Option<UserId>, permission: &Permission) -> Result<()> {
        if user.is_some_and(|user| caller.is_in_session_of(user)) {
            return Ok(());
        }
        self.0.rights(caller).visible_scope(permission).map(drop)
    }

    async fn find(&self, caller: &Caller, id: ApiKeyId, permission: &Permission) -> Result<ApiKey> {
        let found = self.0.store.api_key(caller.tenant(), id).await?;
        self.admit(caller, found.as_ref().map(|key| key.user_id), permission)?;
        found.ok_or_else(not_found)
    }

    /// Locks a key of a user that the caller may manage. Returns it with the grants of an [`Owner`].
    async fn lock(
        &self,
        work: &mut UnitOfWork<'_>,
        id: ApiKeyId,
        permission: &Permission,
    ) -> Result<(ApiKey, Option<Vec<Grant>>)> {
        let user = self.find(work.caller(), id, permission).await?.user_id;
        let owner = Owner::lock(self.0, work, user, permission).await.map_err(of_key)?;
        let key = work.locks().lock_api_key(id).await?.ok_or_else(not_found)?;
        Ok((key, owner.grants))
    }
}

/// A user whose keys change.
struct Owner {
    user: User,
    /// Its role assignments. `None` if the caller is this user, because its keys give it no rights.
    grants: Option<Vec<Grant>>,
}

impl Owner {
    /// Locks the tenant and a user. The caller is this user, in a session that has authenticated a moment ago, or holds
    /// a permission over all of the user's roles.
    async fn lock(iam: &Engine, work: &mut UnitOfWork<'_>, user: UserId, permission: &Permission) -> Result<Self> {
        let caller = work.caller();
        if !caller.is_in_session_of(user) {
            let Subject { user, grants, .. } = Subject::lock(work, user, permission, true).await?;
            return Ok(Self { user, grants: Some(grants) });
        }
        iam.require_fresh(caller).await?;
        work.lock_rights().await?;
        let locked = work.locks().lock_user(user).await?;
        Ok(Self { user: locked.ok_or(Error::NotFound(ResourceType::USER))?, grants: None })
    }
}

/// Returns the organization of a new key, which the caller must see.
async fn organization(work: &mut UnitOfWork<'_>, id: Option<OrganizationId>) -> Result<Option<GrantOrganization>> {
    let Some(id) = id else { return Ok(None) };
    let hierarchy = work.hierarchy_of(&[id]).await?;
    let rights = Rights::new(work.caller().authority(), work.now());
    let node = hierarchy.node(id).filter(|node| rights.sees(node.scope()));
    let unknown = || Error::NotFound(ResourceType::ORGANIZATION).about("organizationId");
    Ok(Some(node.ok_or_else(unknown)?.into()))
}

/// Returns what a key has of the grants of its user, if they were read.
async fn narrowed(work: &mut UnitOfWork<'_>, key: &ApiKey, grants: Option<Vec<Grant>>) -> Result<Option<Vec<Grant>>> {
    let Some(grants) = grants else { return Ok(None) };
    Ok(Some(work.narrowed(key, &grants).await?))
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::API_KEY)
}

/// A caller that does not see the user of a key does not see the key either.
fn of_key(error: Error) -> Error {
    match error {
        Error::NotFound(_) => not_found(),
        other => other,
    }
}
