use chrono::TimeDelta;
use iam_model::access::{Coverage, Rights};
use iam_model::api_key::{ApiKey, ApiKeySecret, FormerSecret};
use iam_model::assignment::GrantOrganization;
use iam_model::audit::ResourceType;
use iam_model::change::ApiKeyChange;
use iam_model::context::Actor;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::{ApiKeyId, OrganizationId, UserId};
use iam_model::mail::MailKind;
use iam_model::page::check_limit;
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::secret::ApiKeyToken;
use iam_model::user::{User, UserKind, UserStatus};
use iam_model::validate::Fields;
use iam_model::version::Precondition;

use crate::access::{Subject, require_visible};
use crate::api_key::input::check_overlap;
use crate::api_key::{ApiKeyPatch, NewApiKey};
use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork, require_version};
use crate::idempotency::Idempotency;
use crate::token::{api_key_prefix, new_api_key};

/// Makes, reads, changes and revokes API keys; see [`Iam::api_keys`](crate::iam::Iam::api_keys).
///
/// A key acts as its user. At each request it has the rights of its user at that moment, but no more than its
/// [permissions](NewApiKey::permissions), and only in its [organization](NewApiKey::organization). A user manages its
/// own keys without a permission, by a session that has authenticated within the last ten minutes. For the keys of
/// another user, a caller needs a permission over that user, to change them by standing rights, and to make or rotate
/// them also such a session. A caller
/// that makes, rotates or changes the key of another user could use it. So it must hold the permissions of the key,
/// there and for as long, whether or not the user holds them.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::api_key::NewApiKey;
/// use iam_core::user::NewServiceAccount;
///
/// let robot = iam.users().create_service_account(&ada, NewServiceAccount { name: "Importer".into() }).await?;
/// let permissions = Some(vec!["users:create".to_owned()]);
/// let new = NewApiKey { name: "nightly".into(), permissions, ..NewApiKey::default() };
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
    /// Makes a key of a user, and tells a person of its new key by mail. For another user, it needs `api-keys:create`
    /// over the whole of that user, and names the permissions of the key.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::ApiKey`](iam_model::error::Forbidden::ApiKey) for a caller by an API key,
    /// [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation),
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh), [`Error::Validation`] which names
    /// every invalid field, [`Error::NotFound`], [`Conflict::UserNotActive`], [`Conflict::TooManyApiKeys`].
    pub async fn create(&self, caller: &Caller, user: UserId, new: NewApiKey) -> Result<IssuedApiKey> {
        self.create_once(caller, user, new, None).await.and_then(issued)
    }

    /// Makes a key as [`create`](Self::create) does, at most once for an [idempotency key](crate::idempotency). `None`
    /// is for clients that may leave out the key. The text is `None` in the answer to a repeated request: only the first
    /// answer has it.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(
        &self,
        caller: &Caller,
        user: UserId,
        new: NewApiKey,
        idempotency: Option<&Idempotency>,
    ) -> Result<(ApiKey, Option<ApiKeyToken>)> {
        caller.refuse_api_key()?;
        caller.refuse_impersonator()?;
        let iam = self.0;
        let new = new.validate(iam.now())?;
        self.admit(caller, Some(user), &permission::API_KEYS_CREATE)?;
        let once = iam.once(caller, idempotency, &ResourceType::API_KEY);
        let mut work = iam.begin(caller).await?;
        if let Some(key) = once.find(&mut work).await? {
            return Ok((key, None));
        }
        let user = lock_owner(&mut work, user, &permission::API_KEYS_CREATE).await?;
        if !matches!(caller.actor(), Actor::System { .. }) && !caller.is_in_session_of(user.id) {
            new.require_permissions()?;
        }
        work.require_fresh().await?;
        if user.status != UserStatus::Active {
            return Err(Conflict::UserNotActive.into());
        }
        let organization = organization(&mut work, new.organization).await?;
        if work.reads().lock_api_keys_of(user.id).await?.len() >= ApiKey::MAX {
            return Err(Conflict::TooManyApiKeys.into());
        }
        let id = iam.next_id();
        let (token, secret_hash) = new_api_key(caller.tenant(), id, &*iam.random);
        let made = (work.now(), caller.user());
        let key = new.key(id, (caller.tenant(), user.id), secret_hash, made);
        work.apply(ApiKeyChange::Create { key: key.clone(), organization }).await?;
        once.keep(&mut work, &key).await?;
        if user.kind == UserKind::Human {
            iam.queue_notice(&mut work, MailKind::ApiKeyCreated, &user).await?;
        }
        work.commit().await?;
        Ok((key, Some(token)))
    }

    /// Returns the keys of a user, also expired ones, newest first. For another user, it needs `api-keys:read`; a
    /// permission that is held in organizations is for users who have their home there or below, and hold no role
    /// elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn list(&self, caller: &Caller, user: UserId) -> Result<Vec<ApiKey>> {
        require_visible(self.0, caller, user, &permission::API_KEYS_READ, Coverage::Whole).await?;
        Ok(self.0.store.api_keys_of(caller.tenant(), user).await?)
    }

    /// Returns the keys of all users that expire within this time, earliest expiry first: at most `limit` (1–100).
    /// Needs `api-keys:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] which names `limit`.
    pub async fn expiring(&self, caller: &Caller, within: TimeDelta, limit: u32) -> Result<Vec<ApiKey>> {
        self.0.rights(caller).require(&permission::API_KEYS_READ)?;
        let mut fields = Fields::default();
        check_limit(&mut fields, limit);
        fields.finish()?;
        let now = self.0.now();
        Ok(self.0.store.expiring_api_keys(caller.tenant(), now, now + within, limit).await?)
    }

    /// Returns a key, also an expired one. For the key of another user, it needs `api-keys:read` as
    /// [`list`](Self::list) does.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: ApiKeyId) -> Result<ApiKey> {
        let key = self.find(caller, id, &permission::API_KEYS_READ).await?;
        let visible = require_visible(self.0, caller, key.user_id, &permission::API_KEYS_READ, Coverage::Whole).await;
        visible.map_err(of_key)?;
        Ok(key)
    }

    /// Changes a key: its name, to fewer permissions, or to an earlier expiry. For the key of another user, it needs
    /// `api-keys:update` over the whole of that user.
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
        let (_, before) = self.lock(&mut work, id, &permission::API_KEYS_UPDATE).await?;
        caller.refuse_impersonator()?;
        if caller.is_in_session_of(before.user_id) {
            work.require_fresh().await?;
        }
        require_version(precondition, before.version)?;
        let after = patch.apply(&before)?;
        if after == before {
            return Ok(before);
        }
        let organization = organization_of(&mut work, &before).await?;
        let before = Box::new(before);
        work.apply(ApiKeyChange::Update { before, after: after.clone(), organization }).await?;
        work.commit().await?;
        Ok(after)
    }

    /// Gives a key a new secret, and returns its new text. The former secret stays valid for the overlap, at most one
    /// day, and a person is told by mail. For the key of another user, it needs `api-keys:update` as
    /// [`update`](Self::update) does. A reset of the password by mail revokes the keys that their user has rotated.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update), [`Forbidden::ApiKey`](iam_model::error::Forbidden::ApiKey) for a caller by an
    /// API key, [`Conflict::ApiKeyExpired`].
    pub async fn rotate(&self, caller: &Caller, id: ApiKeyId, overlap: TimeDelta) -> Result<IssuedApiKey> {
        self.rotate_once(caller, id, overlap, None).await.and_then(issued)
    }

    /// Gives a key a new secret as [`rotate`](Self::rotate) does, at most once for an
    /// [idempotency key](crate::idempotency). The text is `None` in the answer to a repeated request.
    ///
    /// # Errors
    ///
    /// Those of [`rotate`](Self::rotate), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn rotate_once(
        &self,
        caller: &Caller,
        id: ApiKeyId,
        overlap: TimeDelta,
        idempotency: Option<&Idempotency>,
    ) -> Result<(ApiKey, Option<ApiKeyToken>)> {
        caller.refuse_api_key()?;
        caller.refuse_impersonator()?;
        check_overlap(overlap)?;
        let once = self.0.once(caller, idempotency, &ResourceType::API_KEY);
        let mut work = self.0.begin(caller).await?;
        if let Some(key) = once.find(&mut work).await? {
            return Ok((key, None));
        }
        let (user, before) = self.lock(&mut work, id, &permission::API_KEYS_UPDATE).await?;
        work.require_fresh().await?;
        if before.expires_at <= work.now() {
            return Err(Conflict::ApiKeyExpired.into());
        }
        let organization = organization_of(&mut work, &before).await?;
        let (token, hash) = new_api_key(caller.tenant(), id, &*self.0.random);
        let until = work.now() + overlap;
        let former = (overlap > TimeDelta::zero()).then_some(FormerSecret { hash: before.secret.hash, until });
        let rotated_by_owner = before.rotated_by_owner || caller.is_in_session_of(user.id);
        let key = ApiKey { secret: ApiKeySecret { hash, former }, rotated_by_owner, ..before }.changed();
        work.apply(ApiKeyChange::Rotate { after: key.clone(), organization }).await?;
        once.keep(&mut work, &key).await?;
        // A thief of the session, or another user, may know a secret that acts as the person, as after the creation.
        if user.kind == UserKind::Human {
            self.0.queue_notice(&mut work, MailKind::ApiKeyCreated, &user).await?;
        }
        work.commit().await?;
        Ok((key, Some(token)))
    }

    /// Revokes a key. For the key of another user, it needs `api-keys:delete` over the whole of that user.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh),
    /// [`Error::NotFound`].
    pub async fn delete(&self, caller: &Caller, id: ApiKeyId) -> Result<()> {
        let mut work = self.0.begin(caller).await?;
        let (_, key) = self.lock(&mut work, id, &permission::API_KEYS_DELETE).await?;
        caller.refuse_impersonator()?;
        if caller.is_in_session_of(key.user_id) {
            work.require_fresh().await?;
        }
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

    /// Locks a key and its user, whose keys the caller may manage.
    async fn lock(&self, work: &mut UnitOfWork<'_>, id: ApiKeyId, permission: &Permission) -> Result<(User, ApiKey)> {
        let user = self.find(work.caller(), id, permission).await?.user_id;
        let user = lock_owner(work, user, permission).await.map_err(of_key)?;
        let key = work.reads().lock_api_key(id).await?.ok_or_else(not_found)?;
        Ok((user, key))
    }
}

/// Revokes the keys of a user whose secrets a person in the account knows: they would outlive a change of who that is.
pub(crate) async fn revoke_keys_known_to_owner(work: &mut UnitOfWork<'_>, user: UserId) -> Result<()> {
    let mut keys = work.reads().lock_api_keys_of(user).await?;
    keys.retain(ApiKey::is_known_to_owner);
    if keys.is_empty() { Ok(()) } else { work.apply(ApiKeyChange::Delete(keys)).await }
}

/// Locks the tenant and a user whose keys change. The caller is this user, or holds a permission over the whole of the
/// user.
async fn lock_owner(work: &mut UnitOfWork<'_>, user: UserId, permission: &Permission) -> Result<User> {
    if !work.caller().is_in_session_of(user) {
        return Ok(Subject::lock_by_standing(work, user, permission).await?.user);
    }
    work.lock_rights().await?;
    work.reads().lock_user(user).await?.ok_or(Error::NotFound(ResourceType::USER))
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

/// Returns the organization of a key that exists.
async fn organization_of(work: &mut UnitOfWork<'_>, key: &ApiKey) -> Result<Option<GrantOrganization>> {
    let hierarchy = work.hierarchy_of(key.organization_id.as_slice()).await?;
    Ok(key.organization_id.and_then(|id| hierarchy.node(id)).map(GrantOrganization::from))
}

/// Returns the result of a request without an idempotency key.
fn issued((key, token): (ApiKey, Option<ApiKeyToken>)) -> Result<IssuedApiKey> {
    let token = token.ok_or_else(|| Error::internal("API key", "a request that is not repeated has no text"))?;
    Ok(IssuedApiKey { key, token })
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::API_KEY)
}

/// A caller that does not see the user of a key does not see the key either, and the keys of a deleted user have ended.
fn of_key(error: Error) -> Error {
    match error {
        Error::NotFound(_) | Error::Conflict(Conflict::UserInactive) => not_found(),
        other => other,
    }
}
