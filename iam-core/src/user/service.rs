use std::collections::HashMap;

use iam_model::access::{Coverage, Rights, VisibleScope};
use iam_model::assignment::{Grant, RevokeReason};
use iam_model::audit::ResourceType;
use iam_model::change::{ApiKeyChange, Change, LinkChange, UserChange};
use iam_model::context::Actor;
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::id::UserId;
use iam_model::link::LinkPurpose;
use iam_model::mail::MailKind;
use iam_model::page::{Page, PageRequest};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::store::GrantQuery;
use iam_model::tenant::QuotaKind;
use iam_model::user::{User, UserFilter, UserSort, UserStatus};
use iam_model::validate::{Email, Fields};
use iam_model::version::Precondition;

use crate::access::require_visible_scope_over;
use crate::assignment::{keep_an_administrator, revoke};
use crate::caller::Caller;
use crate::engine::{Engine, LockedRights, UnitOfWork, hold_quota, require_version};
use crate::hashing::Share;
use crate::idempotency::Idempotency;
use crate::link::Addressee;
use crate::session::end_sessions;
use crate::user::input::service_account;
use crate::user::rules::StatusMove;
use crate::user::{NewServiceAccount, NewUser, UserPatch};

/// Creates, reads, changes and deletes users; see [`Iam::users`](crate::iam::Iam::users).
///
/// The record of a user is kept forever: a deleted user becomes INACTIVE, and its e-mail stays taken. A suspended or
/// deleted user has no sessions.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::page::PageRequest;
/// use iam_core::user::{UserFilter, UserPatch, UserSort, UserStatus};
///
/// let grace = iam.users().create(&ada, person("grace@example.com")).await?;
/// let patch = UserPatch { last_name: Some("Hopper".into()), ..UserPatch::default() };
/// iam.users().update(&ada, grace.id, patch).await?;
///
/// let filter = UserFilter { search: Some("hop".into()), ..UserFilter::default() };
/// let found = iam.users().list(&ada, &filter, UserSort::default(), PageRequest::default()).await?;
/// assert_eq!((found.total, found.items[0].id), (1, grace.id));
///
/// iam.users().suspend(&ada, grace.id).await?;
/// assert_eq!(iam.users().get(&ada, grace.id).await?.status, UserStatus::Suspended);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Users<'a>(pub(crate) &'a Engine);

impl Users<'_> {
    /// Creates a user, ACTIVE and without roles. Needs `users:create`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] which names every invalid field, [`Conflict::EmailTaken`],
    /// [`Error::Overloaded`].
    pub async fn create(&self, caller: &Caller, new: NewUser) -> Result<User> {
        self.create_once(caller, new, None).await
    }

    /// Creates a user as [`create`](Self::create) does, at most once for an [idempotency key](crate::idempotency).
    /// `None` is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(&self, caller: &Caller, new: NewUser, idempotency: Option<&Idempotency>) -> Result<User> {
        self.0.rights(caller).require(&permission::USERS_CREATE)?;
        let tenant = self.0.store.tenant(caller.tenant()).await?.ok_or(Error::NotFound(ResourceType::TENANT))?;
        let rules = &self.0.password_rules;
        let profile = new.validate(Fields::default(), rules.of(&tenant))?;
        let once = self.0.once(caller, idempotency, &ResourceType::USER);
        // Refusals that need no hash come before the hash, because hashing takes by far the longest. The e-mail is
        // read before the idempotency key: if another run of this same call has taken the e-mail, its key is found
        // afterwards.
        let taken = self.0.store.guarded_account(caller.tenant(), &profile.email.key()).await?.account;
        if once.has_key() {
            let mut work = self.0.begin(caller).await?;
            if let Some(user) = once.find(&mut work).await? {
                return Ok(user);
            }
        }
        if taken.is_some() {
            return Err(Conflict::EmailTaken.into());
        }
        let password = rules.accept("password", &profile.password).await?;
        let password = self.0.passwords.hash(Share::of(caller), &password).await?;
        // The hash may have waited for a long time: the caller may have lost the permission meanwhile.
        self.0.rights(&self.0.renewed(caller).await?).require(&permission::USERS_CREATE)?;
        let mut work = self.0.begin(caller).await?;
        if let Some(user) = once.find(&mut work).await? {
            return Ok(user);
        }
        hold_quota(&self.0.settings.quota, &mut work, QuotaKind::Users, 1).await?;
        let user = profile.user(self.0.next_id(), caller.tenant(), work.now());
        work.apply(UserChange::Create { user: user.clone(), password: Some(password), invitation: None }).await?;
        once.keep(&mut work, &user).await?;
        let to = Addressee::of_user(&user, &user.email);
        self.0.queue_link(&mut work, LinkPurpose::Verify, to, None).await?;
        work.commit().await?;
        Ok(user)
    }

    /// Creates a service account, ACTIVE and without roles and keys. Needs `users:create`. It holds roles as a person
    /// does, and acts by API keys only.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] which names `name`.
    pub async fn create_service_account(&self, caller: &Caller, new: NewServiceAccount) -> Result<User> {
        self.create_service_account_once(caller, new, None).await
    }

    /// Creates a service account as [`create_service_account`](Self::create_service_account) does, at most once for an
    /// [idempotency key](crate::idempotency). `None` is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create_service_account`](Self::create_service_account), [`Error::IdempotencyKeyReused`],
    /// [`Conflict::StillRunning`].
    pub async fn create_service_account_once(
        &self,
        caller: &Caller,
        new: NewServiceAccount,
        idempotency: Option<&Idempotency>,
    ) -> Result<User> {
        self.0.rights(caller).require(&permission::USERS_CREATE)?;
        let name = new.validate()?;
        let once = self.0.once(caller, idempotency, &ResourceType::USER);
        let mut work = self.0.begin(caller).await?;
        if let Some(user) = once.find(&mut work).await? {
            return Ok(user);
        }
        hold_quota(&self.0.settings.quota, &mut work, QuotaKind::Users, 1).await?;
        let user = service_account(self.0.next_id(), caller.tenant(), name, work.now())?;
        work.apply(UserChange::Create { user: user.clone(), password: None, invitation: None }).await?;
        once.keep(&mut work, &user).await?;
        work.commit().await?;
        Ok(user)
    }

    /// Returns one user, in any status. Needs `users:read`; a permission that is held in organizations is for their
    /// members only.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: UserId) -> Result<User> {
        require_visible_scope_over(self.0, caller, id, &permission::USERS_READ, Coverage::Part).await?;
        self.0.store.user(caller.tenant(), id).await?.ok_or_else(not_found)
    }

    /// Returns those of these users that the caller may see, in any order and in any status. Needs `users:read`; a
    /// permission that is held in organizations is for their members only. It is for the users of one page: all are
    /// read at once.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn by_ids(&self, caller: &Caller, ids: &[UserId]) -> Result<Vec<User>> {
        let rights = self.0.rights(caller);
        let visible_scope = rights.visible_scope(&permission::USERS_READ)?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut users = self.0.store.users_by_id(caller.tenant(), ids).await?;
        if visible_scope != VisibleScope::Tenant {
            let mut grants: HashMap<UserId, Vec<Grant>> = HashMap::new();
            for grant in self.0.store.grants_of(caller.tenant(), ids).await? {
                grants.entry(grant.assignment.user_id).or_default().push(grant);
            }
            let is_seen = |user: &User| {
                let grants = grants.get(&user.id).map_or(&[][..], Vec::as_slice);
                rights.require_over(&permission::USERS_READ, grants, Coverage::Part).is_ok()
            };
            users.retain(is_seen);
        }
        Ok(users)
    }

    /// Returns a page of the users that pass a filter. Needs `users:read`. If the permission is held in
    /// organizations, the list is limited to their members: the users who hold a role in them or below.
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
        let visible_scope = self.0.rights(caller).visible_scope(&permission::USERS_READ)?;
        if let (Some(organization), VisibleScope::Organizations(covered)) = (filter.organization, &visible_scope) {
            // Otherwise the list would reveal which visible members are also members of an organization that is
            // outside the caller's visible scope.
            let lineage = self.0.lineages(caller.tenant(), [organization]).await?;
            if !lineage.positions().any(|above| covered.contains(&above.id())) {
                return Ok(Page { items: Vec::new(), total: 0, request: page });
            }
        }
        Ok(self.0.store.users(caller.tenant(), filter, &visible_scope, sort, page, self.0.now()).await?)
    }

    /// Changes a user. Needs `users:update`; a permission that is held in organizations is for members who hold no
    /// role elsewhere. A patch that changes nothing records nothing.
    ///
    /// A status other than ACTIVE ends the user's sessions. INACTIVE also ends its role assignments, and needs
    /// `users:delete` too. A change from INACTIVE to another status needs `users:create` too. A user who becomes ACTIVE
    /// regains the permissions of its roles. The caller must hold these permissions too, in the same scopes and for
    /// at least as long. A caller that changes the e-mail of another user must hold them as well, because a new
    /// password is sent to that address. The new address is unverified.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation), [`Error::Validation`],
    /// [`Error::NotFound`], [`Conflict::EmailTaken`], [`Conflict::LastAdministrator`],
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh) for a new e-mail.
    pub async fn update(&self, caller: &Caller, id: UserId, patch: UserPatch) -> Result<User> {
        self.update_if(caller, id, patch, &Precondition::Exists).await
    }

    /// Changes a user as [`update`](Self::update) does, if a precondition holds. It is checked under the lock of the
    /// change.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update), [`Error::PreconditionFailed`].
    pub async fn update_if(
        &self,
        caller: &Caller,
        id: UserId,
        patch: UserPatch,
        precondition: &Precondition,
    ) -> Result<User> {
        self.0.rights(caller).visible_scope(&permission::USERS_UPDATE)?;
        let patch = patch.validate()?;
        let freshness = if patch.email.is_some() { self.0.require_fresh(caller).await } else { Ok(()) };
        let mut work = self.0.begin(caller).await?;
        let Subject { user: before, grants, grantor } =
            Subject::lock(&mut work, id, &permission::USERS_UPDATE, patch.may_raise_rights()).await?;
        patch.check_kind(before.kind)?;
        require_version(precondition, before.version)?;
        let mut after = patch.apply(&before, work.now());
        if after == before {
            return Ok(before);
        }
        if after.email != before.email {
            freshness?;
            after.email_verified_at = None;
        }
        let status_move = StatusMove::between(before.status, after.status);
        if let (Some(needed), Some(grantor)) = (&status_move.permission, &grantor) {
            if before.status == UserStatus::Inactive {
                grantor.rights().require(needed)?;
            } else {
                grantor.rights().require_over(needed, &grants, Coverage::Whole)?;
            }
        }
        let read = grantor.is_some().then(|| grants.clone());
        let former = (after.email != before.email).then(|| before.email.clone());
        let change = UserChange::Update { before, after: after.clone(), grants: read };
        apply_with_consequences(&mut work, change, id, &status_move, grants).await?;
        if let Some(former) = former {
            // They were sent to the former address, or contain its former spelling.
            for purpose in [LinkPurpose::Verify, LinkPurpose::Reset] {
                work.apply(LinkChange::End { purpose, subject: id.as_uuid() }).await?;
            }
            if former.key() != after.email.key() {
                self.0.queue_notice(&mut work, MailKind::EmailChanged, &former, Some(id)).await?;
            }
        }
        work.commit().await?;
        Ok(after)
    }

    /// Suspends an ACTIVE user, which ends its sessions. Needs `users:update` as [`update`](Self::update) does. Does
    /// nothing if the user is SUSPENDED.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::UserInactive`], [`Conflict::LastAdministrator`].
    pub async fn suspend(&self, caller: &Caller, id: UserId) -> Result<User> {
        self.change_status(caller, id, UserStatus::Suspended).await
    }

    /// Makes a SUSPENDED user ACTIVE again. Needs `users:update`, and the permissions of the user's roles, as
    /// [`update`](Self::update) does. Does nothing if the user is ACTIVE.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation), [`Error::NotFound`],
    /// [`Conflict::UserInactive`].
    pub async fn reactivate(&self, caller: &Caller, id: UserId) -> Result<User> {
        self.change_status(caller, id, UserStatus::Active).await
    }

    async fn change_status(&self, caller: &Caller, id: UserId, status: UserStatus) -> Result<User> {
        self.0.rights(caller).visible_scope(&permission::USERS_UPDATE)?;
        let mut work = self.0.begin(caller).await?;
        let Subject { user: before, grants, .. } =
            Subject::lock(&mut work, id, &permission::USERS_UPDATE, true).await?;
        if before.status == UserStatus::Inactive {
            return Err(Conflict::UserInactive.into());
        }
        if before.status == status {
            return Ok(before);
        }
        let status_move = StatusMove::between(before.status, status);
        let after = User { status, ..before.clone() }.changed(work.now());
        let read = Some(grants.clone());
        let change = UserChange::ChangeStatus { before, after: after.clone(), grants: read };
        apply_with_consequences(&mut work, change, id, &status_move, grants).await?;
        work.commit().await?;
        Ok(after)
    }

    /// Records that the e-mail of a user is verified: it was proven by other means that the user receives mail at
    /// this address. Does nothing if the e-mail is verified already. For trusted code only.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`](iam_model::error::Forbidden::NotTrusted) for a user, [`Error::Validation`] which names
    /// `email`, [`Error::NotFound`], [`Conflict::UserInactive`].
    pub async fn verify_email(&self, caller: &Caller, email: &str) -> Result<User> {
        if !matches!(caller.actor(), Actor::System { .. }) {
            return Err(Forbidden::NotTrusted.into());
        }
        let mut fields = Fields::default();
        let Some(email) = fields.check("email", email.parse::<Email>()) else { return Err(fields.into_error().into()) };
        let found = self.0.store.guarded_account(caller.tenant(), &email.key()).await?.account.ok_or_else(not_found)?;
        let mut work = self.0.begin(caller).await?;
        let before = work.locks().lock_user(found.user.id).await?;
        let before = before.filter(|user| user.email.key() == email.key()).ok_or_else(not_found)?;
        if before.status == UserStatus::Inactive {
            return Err(Conflict::UserInactive.into());
        }
        if before.email_verified_at.is_some() {
            return Ok(before);
        }
        let now = work.now();
        let after = User { email_verified_at: Some(now), ..before.clone() }.changed(now);
        work.apply(UserChange::VerifyEmail { before, after: after.clone() }).await?;
        work.commit().await?;
        Ok(after)
    }

    /// Soft-deletes a user: it becomes INACTIVE, its sessions, role assignments and API keys end, its record is kept,
    /// and its e-mail stays taken. Needs `users:delete`; a permission that is held in organizations is for members who
    /// hold no role elsewhere. Does nothing if the user is INACTIVE.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::LastAdministrator`].
    pub async fn delete(&self, caller: &Caller, id: UserId) -> Result<()> {
        self.delete_if(caller, id, &Precondition::Exists).await
    }

    /// Soft-deletes a user as [`delete`](Self::delete) does, if a precondition holds. It is checked under the lock of
    /// the change.
    ///
    /// # Errors
    ///
    /// Those of [`delete`](Self::delete), [`Error::PreconditionFailed`].
    pub async fn delete_if(&self, caller: &Caller, id: UserId, precondition: &Precondition) -> Result<()> {
        self.0.rights(caller).visible_scope(&permission::USERS_DELETE)?;
        let mut work = self.0.begin(caller).await?;
        let Subject { user: before, grants, .. } =
            Subject::lock(&mut work, id, &permission::USERS_DELETE, true).await?;
        require_version(precondition, before.version)?;
        if before.status == UserStatus::Inactive {
            return Ok(());
        }
        let status_move = StatusMove::between(before.status, UserStatus::Inactive);
        let after = User { status: UserStatus::Inactive, ..before.clone() }.changed(work.now());
        apply_with_consequences(&mut work, UserChange::Delete { before, after }, id, &status_move, grants).await?;
        work.commit().await
    }
}

/// A user to change, with its role assignments.
pub(crate) struct Subject {
    pub(crate) user: User,
    pub(crate) grants: Vec<Grant>,
    /// The caller's rights under the tenant's lock, if the user's status or e-mail is to change.
    grantor: Option<LockedRights>,
}

impl Subject {
    /// Locks a user. The caller must hold the permission over all of the user's roles; see [`Coverage::Whole`].
    pub(crate) async fn lock(
        work: &mut UnitOfWork<'_>,
        id: UserId,
        permission: &Permission,
        changes_state: bool,
    ) -> Result<Self> {
        let grantor = if changes_state { Some(work.lock_rights().await?) } else { None };
        let user = work.locks().lock_user(id).await?;
        let own = Rights::new(work.caller().authority(), work.now());
        let rights = grantor.as_ref().map_or(own, LockedRights::rights);
        let needs_grants = changes_state || rights.visible_scope(permission)? != VisibleScope::Tenant;
        let query = GrantQuery::OfUser(id);
        let grants = if needs_grants { work.locks().grants(query).await? } else { Vec::new() };
        rights.require_over(permission, &grants, Coverage::Whole)?;
        work.invalidate(id);
        Ok(Self { user: user.ok_or_else(not_found)?, grants, grantor })
    }
}

/// Applies a change of a user, and the consequences of its change of status, in one unit of work and under the
/// tenant's lock.
///
/// Every rule is decided before the first write: the store refuses an e-mail that is taken when it writes, and a
/// preview must name the same refusal.
async fn apply_with_consequences(
    work: &mut UnitOfWork<'_>,
    change: UserChange,
    user: UserId,
    status_move: &StatusMove,
    grants: Vec<Grant>,
) -> Result<()> {
    let change = Change::from(change);
    work.check_granted_rights(&change)?;
    if status_move.leaves_active {
        keep_an_administrator(work, user, &grants).await?;
    }
    work.apply(change).await?;
    if let Some(reason) = status_move.ends_sessions {
        let sessions = work.locks().lock_sessions_of(user).await?;
        end_sessions(work, sessions, reason).await?;
    }
    if status_move.revokes_roles {
        revoke(work, grants, RevokeReason::UserDeleted).await?;
        let keys = work.locks().lock_api_keys_of(user).await?;
        if !keys.is_empty() {
            work.apply(ApiKeyChange::Delete(keys)).await?;
        }
    }
    Ok(())
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::USER)
}
