use std::collections::HashMap;

use iam_model::access::{Coverage, Membership, VisibleScope};
use iam_model::assignment::{Grant, RevokeReason};
use iam_model::attribute::Attributes;
use iam_model::audit::ResourceType;
use iam_model::change::{ApiKeyChange, ChallengeChange, DirectoryUserChange, UserChange};
use iam_model::context::Actor;
use iam_model::credential::{Account, GuardedAccount};
use iam_model::directory::DirectoryUser;
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::id::{OrganizationId, TenantId, UserId};
use iam_model::mail::MailKind;
use iam_model::page::{Page, PageRequest};
use iam_model::permission;
use iam_model::search::SearchWord;
use iam_model::store_error::StoreError;
use iam_model::tenant::QuotaKind;
use iam_model::user::{User, UserFilter, UserSort, UserStatus};
use iam_model::validate::{Email, ExternalId, Fields, PersonName};
use iam_model::version::Precondition;

use crate::access::{Subject, require_for_user};
use crate::access_request::end_of_user;
use crate::assignment::{keep_an_administrator, of_groups, revoke};
use crate::attribute::{AttributeFacts, new_attributes};
use crate::caller::Caller;
use crate::eligibility::{removed_of, with_sleeping};
use crate::engine::{Engine, LockedRights, UnitOfWork, hold_quota, require_version};
use crate::hashing::Share;
use crate::idempotency::Idempotency;
use crate::link::{LinkFor, end_links};
use crate::session::end_sessions_of;
use crate::user::input::{ValidPatch, service_account};
use crate::user::rules::{StatusMove, check_home};
use crate::user::{NewServiceAccount, NewUser, NewUserDetails, UserPatch, UserWithAttributes};

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
    /// Creates a user, ACTIVE, without roles, and with the tenant as its home. Needs `users:create`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] which names every invalid field, [`Conflict::EmailTaken`],
    /// [`Error::Overloaded`].
    pub async fn create(&self, caller: &Caller, new: NewUser) -> Result<User> {
        self.create_once(caller, new, None, None, None).await
    }

    /// Creates a user as [`create`](Self::create) does, with a home and an external identifier as typed, at most once
    /// for an [idempotency key](crate::idempotency). `None` is for the tenant as home, for a user that no other system
    /// knows, and for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Conflict::ExternalIdTaken`], [`Conflict::ExternalIdIsEmail`],
    /// [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`]; [`Error::About`] `homeOrganizationId` with
    /// [`Error::NotFound`] or [`Conflict::OrganizationInactive`].
    pub async fn create_once(
        &self,
        caller: &Caller,
        new: NewUser,
        home: Option<OrganizationId>,
        external_id: Option<&str>,
        idempotency: Option<&Idempotency>,
    ) -> Result<User> {
        let external_id = external_id.map(str::to_owned);
        let details = NewUserDetails { home, external_id, ..NewUserDetails::default() };
        Ok(self.create_with(caller, new, details, idempotency).await?.user)
    }

    /// Creates a user as [`create_once`](Self::create_once) does, also with attributes.
    ///
    /// # Errors
    ///
    /// Those of [`create_once`](Self::create_once); [`Error::Validation`] also names attributes.
    pub async fn create_with(
        &self,
        caller: &Caller,
        new: NewUser,
        details: NewUserDetails,
        idempotency: Option<&Idempotency>,
    ) -> Result<UserWithAttributes> {
        let NewUserDetails { home, external_id, attributes } = details;
        self.0.rights(caller).require(&permission::USERS_CREATE)?;
        let tenant = self.0.store.tenant(caller.tenant()).await?.ok_or(Error::NotFound(ResourceType::TENANT))?;
        let rules = &self.0.password_rules;
        let mut fields = Fields::default();
        let external_id: Option<ExternalId> = fields.check_optional("externalId", external_id.as_deref());
        let attributes = new_attributes(&mut fields, &attributes, tenant.attribute_rules().of_users());
        let profile = new.validate(fields, rules.of(&tenant))?;
        let once = self.0.once(caller, idempotency, &ResourceType::USER);
        // Refusals that need no hash come before the hash, because hashing takes by far the longest. What is taken is
        // read before the idempotency key: if another run of this same call has taken it, its key is found afterwards.
        let taken = self.0.store.guarded_account(caller.tenant(), &profile.email.key()).await?.account;
        let external_conflict = match &external_id {
            Some(external_id) => self.0.external_id_conflict(caller.tenant(), external_id).await?,
            None => None,
        };
        if once.has_key() {
            let mut work = self.0.begin(caller).await?;
            if let Some(created) = once.find(&mut work).await? {
                return Ok(created);
            }
        }
        if let Some(Account { user, .. }) = taken {
            return Err(self.0.email_taken(caller, &user).await);
        }
        if let Some(conflict) = external_conflict {
            return Err(conflict.into());
        }
        let lineage = self.0.lineages(caller.tenant(), home).await?;
        check_home(home, |home| lineage.position(home))?;
        let password = rules.accept("password", &profile.password).await?;
        let password = self.0.passwords.hash(Share::of(caller), &password).await?;
        // The hash may have waited for a long time: the caller may have lost the permission meanwhile.
        self.0.rights(&self.0.renewed(caller).await?).require(&permission::USERS_CREATE)?;
        let mut work = self.0.begin(caller).await?;
        if let Some(created) = once.find(&mut work).await? {
            return Ok(created);
        }
        check_home_under_lock(&mut work, home).await?;
        hold_quota(&self.0.settings.quota, &mut work, QuotaKind::Users, 1).await?;
        let user = profile.user(self.0.next_id(), caller.tenant(), work.now());
        let user = User { home_organization_id: home, external_id, ..user };
        let password = Some(password);
        let create =
            UserChange::Create { user: user.clone(), password, invitation: None, attributes: attributes.clone() };
        work.apply(create).await?;
        let created = UserWithAttributes::new(user, attributes);
        once.keep(&mut work, &created).await?;
        self.0.queue_link(&mut work, LinkFor::Address(&created.user), None).await?;
        work.commit().await?;
        Ok(created)
    }

    /// Creates a service account, ACTIVE, without roles and keys, and with the tenant as its home. Needs `users:create`.
    /// It holds roles as a person does, and acts by API keys only.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] which names `name`.
    pub async fn create_service_account(&self, caller: &Caller, new: NewServiceAccount) -> Result<User> {
        self.create_service_account_once(caller, new, None, None).await
    }

    /// Creates a service account as [`create_service_account`](Self::create_service_account) does, with a home, at most
    /// once for an [idempotency key](crate::idempotency). `None` is for the tenant as home, and for clients that may
    /// leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create_service_account`](Self::create_service_account), [`Error::IdempotencyKeyReused`],
    /// [`Conflict::StillRunning`]; [`Error::About`] `homeOrganizationId` with [`Error::NotFound`] or
    /// [`Conflict::OrganizationInactive`].
    pub async fn create_service_account_once(
        &self,
        caller: &Caller,
        new: NewServiceAccount,
        home: Option<OrganizationId>,
        idempotency: Option<&Idempotency>,
    ) -> Result<User> {
        let details = NewUserDetails { home, ..NewUserDetails::default() };
        Ok(self.create_service_account_with(caller, new, details, idempotency).await?.user)
    }

    /// Creates a service account as [`create_service_account_once`](Self::create_service_account_once) does, also with
    /// attributes. It has no external identifier.
    ///
    /// # Errors
    ///
    /// Those of [`create_service_account_once`](Self::create_service_account_once); [`Error::Validation`] also names
    /// `externalId` and attributes.
    pub async fn create_service_account_with(
        &self,
        caller: &Caller,
        new: NewServiceAccount,
        details: NewUserDetails,
        idempotency: Option<&Idempotency>,
    ) -> Result<UserWithAttributes> {
        self.0.rights(caller).require(&permission::USERS_CREATE)?;
        let name = new.validate()?;
        if details.external_id.is_some() {
            return Err(Error::field("externalId", "a service account has no such field"));
        }
        let once = self.0.once(caller, idempotency, &ResourceType::USER);
        let mut work = self.0.begin(caller).await?;
        if let Some(created) = once.find(&mut work).await? {
            return Ok(created);
        }
        let attributes = match details.attributes.is_empty() {
            true => Attributes::default(),
            false => {
                let rules = work.reads().attribute_rules().await?;
                let mut fields = Fields::default();
                let attributes = new_attributes(&mut fields, &details.attributes, rules.of_users());
                fields.finish()?;
                attributes
            }
        };
        let user = self.add_service_account(&mut work, name, details.home, attributes.clone()).await?;
        let created = UserWithAttributes::new(user, attributes);
        once.keep(&mut work, &created).await?;
        work.commit().await?;
        Ok(created)
    }

    /// Creates a service account in a unit of work that has read the rights of its caller.
    pub(crate) async fn create_service_account_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        new: &NewServiceAccount,
        home: Option<OrganizationId>,
    ) -> Result<User> {
        grantor.rights().require(&permission::USERS_CREATE)?;
        self.add_service_account(work, new.validate()?, home, Attributes::default()).await
    }

    async fn add_service_account(
        &self,
        work: &mut UnitOfWork<'_>,
        name: PersonName,
        home: Option<OrganizationId>,
        attributes: Attributes,
    ) -> Result<User> {
        check_home_under_lock(work, home).await?;
        hold_quota(&self.0.settings.quota, work, QuotaKind::Users, 1).await?;
        let user = service_account(self.0.next_id(), work.caller().tenant(), name, work.now())?;
        let user = User { home_organization_id: home, ..user };
        work.apply(UserChange::Create { user: user.clone(), password: None, invitation: None, attributes }).await?;
        Ok(user)
    }

    /// Returns one user, in any status. Needs `users:read`; a permission that is held in organizations is for their
    /// members only.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: UserId) -> Result<User> {
        self.0.rights(caller).require_anywhere(&permission::USERS_READ)?;
        let user = self.0.store.user(caller.tenant(), id).await?.ok_or_else(not_found)?;
        require_for_user(self.0, caller, &user, &permission::USERS_READ, Coverage::Part).await?;
        Ok(user)
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
            let _turn = self.0.long_read(caller).await?;
            let mut grants: HashMap<UserId, Vec<Grant>> = HashMap::new();
            for grant in self.0.store.grants_of(caller.tenant(), ids).await? {
                grants.entry(grant.assignment.user_id).or_default().push(grant);
            }
            let homes = users.iter().filter_map(|user| user.home_organization_id);
            let homes = self.0.lineages(caller.tenant(), homes).await?;
            let is_seen = |user: &User| {
                let home = user.home_organization_id.and_then(|home| homes.position(home));
                let grants = grants.get(&user.id).map_or(&[][..], Vec::as_slice);
                rights.require_for_user(&permission::USERS_READ, Membership { home, grants }, Coverage::Part).is_ok()
            };
            users.retain(is_seen);
        }
        Ok(users)
    }

    /// Returns a page of the users that pass a filter. Needs `users:read`. If the permission is held in
    /// organizations, the list is limited to their members: the users who have their home or hold a role in them or
    /// below. A filter by second factors also needs `users:update` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]; [`Error::Validation`] when the search has more than 8 words.
    pub async fn list(
        &self,
        caller: &Caller,
        filter: &UserFilter,
        sort: UserSort,
        page: PageRequest,
    ) -> Result<Page<User>> {
        let visible_scope = self.0.rights(caller).visible_scope(&permission::USERS_READ)?;
        SearchWord::check(filter.search.as_deref())?;
        if filter.has_factor.is_some() {
            // An account without a factor is easier to attack. Only callers that can remove factors learn which it is.
            self.0.rights(caller).require(&permission::USERS_UPDATE)?;
        }
        if let (Some(organization), VisibleScope::Organizations(covered)) = (filter.organization, &visible_scope) {
            // Otherwise the list would reveal which visible members are also members of an organization that is
            // outside the caller's visible scope.
            let lineage = self.0.lineages(caller.tenant(), [organization]).await?;
            if !lineage.positions().any(|above| covered.contains(&above.id())) {
                return Ok(Page { items: Vec::new(), total: 0, request: page });
            }
        }
        let is_filtered = filter.search.is_some()
            || filter.organization.is_some()
            || filter.attribute.is_some()
            || filter.has_factor.is_some();
        let _turn = self.0.long_list(caller, is_filtered, &visible_scope, page).await?;
        Ok(self.0.store.users(caller.tenant(), filter, &visible_scope, sort, page, self.0.now()).await?)
    }

    /// Changes a user. Needs `users:update`; a permission that is held in organizations is for users who have their home
    /// there or below, and hold no role elsewhere. A new home needs the permission tenant-wide. For an e-mail, an
    /// external identifier or a home, only standing rights count. A patch that changes nothing records nothing.
    ///
    /// A status other than ACTIVE ends the user's sessions and what the user holds by access requests, and cancels the
    /// requests of the user that wait. INACTIVE also ends its role assignments and API keys and its memberships in
    /// groups of a directory, and needs `users:delete` too. A user who stays INACTIVE cannot be changed: then a patch that
    /// names more than the status is a conflict, also with the values that are kept. A change from
    /// INACTIVE to another status needs `users:create` too. A user who becomes ACTIVE regains the permissions of its
    /// roles, and can ask by its eligibilities. The caller must hold these permissions too, in the same scopes and for
    /// at least as long. A caller that changes the e-mail of another user must hold them as well, because a new
    /// password is sent to that address. The new address is unverified. Another external identifier asks for the same,
    /// because another system may let a person log in by it. Where mail is on, a user changes neither of its own here:
    /// [`Forbidden::OwnEmail`], [`Forbidden::OwnExternalId`]. Of the users of a directory, only the directory changes
    /// the external identifier. One whom the directory has deleted, and who is restored here, is a user of the
    /// directory again.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation), [`Error::Validation`],
    /// [`Error::NotFound`], [`Conflict::EmailTaken`], [`Conflict::ExternalIdTaken`], [`Conflict::ExternalIdIsEmail`],
    /// [`Conflict::OfDirectory`], [`Conflict::LastAdministrator`], [`Conflict::UserInactive`],
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh) for a new e-mail or another external
    /// identifier; [`Error::About`] `homeOrganizationId` with [`Error::NotFound`] or
    /// [`Conflict::OrganizationInactive`].
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
        self.0.rights(caller).require_anywhere(&permission::USERS_UPDATE)?;
        let patch = patch.validate()?;
        // A missing permission is told before a missing authentication.
        let freshness = if patch.renames() { self.0.require_fresh(caller).await } else { Ok(()) };
        let is_email_of_another = match &patch.external_id {
            Some(external_id) => {
                let addressee = self.0.addressee_of(caller.tenant(), external_id.as_ref()).await?;
                addressee.is_some_and(|addressee| addressee != id)
            }
            None => false,
        };
        let mut work = self.0.begin(caller).await?;
        let update = CheckedPatch { patch, precondition, freshness, is_email_of_another };
        match self.update_valid(&mut work, id, update).await {
            Ok(user) => {
                work.commit().await?;
                Ok(user)
            }
            Err(RefusedUpdate { error, after: None }) => Err(error),
            Err(RefusedUpdate { error, after: Some(after) }) => {
                // A unit of work must not wait for a second connection while it holds one.
                drop(work);
                Err(self.0.about_taken_email(caller, &after, error).await)
            }
        }
    }

    /// Changes the home or the status of a service account in a unit of work.
    pub(crate) async fn update_service_account_in(
        &self,
        work: &mut UnitOfWork<'_>,
        id: UserId,
        (home, status): (Option<Option<OrganizationId>>, Option<UserStatus>),
    ) -> Result<User> {
        let patch = UserPatch { home, status, ..UserPatch::default() }.validate()?;
        // They matter for an e-mail and an external identifier only.
        let (freshness, is_email_of_another) = (Ok(()), false);
        let update = CheckedPatch { patch, precondition: &Precondition::Exists, freshness, is_email_of_another };
        self.update_valid(work, id, update).await.map_err(|refused| refused.error)
    }

    async fn update_valid(
        &self,
        work: &mut UnitOfWork<'_>,
        id: UserId,
        CheckedPatch { mut patch, precondition, freshness, is_email_of_another }: CheckedPatch<'_>,
    ) -> Result<User, RefusedUpdate> {
        let caller = work.caller();
        let subject = match patch.takes_over() {
            // Another address or identifier takes the account over, and another home lets other users do so.
            true => Subject::lock_by_standing_in_any_status(work, id, &permission::USERS_UPDATE).await?,
            false => {
                // Another status may raise the rights of the user.
                let needs_locked_rights = patch.status.is_some();
                Subject::lock_in_any_status(work, id, &permission::USERS_UPDATE, needs_locked_rights).await?
            }
        };
        let before = subject.user.clone();
        patch.check_kind(before.kind)?;
        require_version(precondition, before.version)?;
        // Before anything is compared: otherwise a caller that may not read the user could guess what is kept of it, and
        // would change nothing by a wrong guess.
        let stays_inactive =
            before.status == UserStatus::Inactive && patch.status.is_none_or(|status| status == UserStatus::Inactive);
        if stays_inactive && patch.names_more_than_status() {
            return Err(Error::from(Conflict::UserInactive).into());
        }
        let attributes = match AttributeFacts::read(work, id, patch.attributes.take()).await? {
            Some(facts) => facts.decide()?,
            None => None,
        };
        let mut after = patch.apply(&before, work.now());
        if after == before && attributes.is_some() {
            after = after.changed(work.now());
        }
        if after == before {
            return Ok(before);
        }
        let (has_new_email, has_other_id) = (after.email != before.email, after.external_id != before.external_id);
        if has_new_email || has_other_id {
            caller.refuse_impersonator().map_err(Error::from)?;
            // A thief of a session does not know the password, and could have a new one sent to its own address, or name
            // its own account in another system.
            if self.0.mail.is_some() && caller.user() == Some(id) {
                let forbidden = if has_new_email { Forbidden::OwnEmail } else { Forbidden::OwnExternalId };
                return Err(Error::from(forbidden).into());
            }
            freshness?;
        }
        if has_new_email && !after.email.is_same_mailbox(&before.email) {
            after.email_verified_at = None;
        }
        let is_restored = before.status == UserStatus::Inactive && after.status != UserStatus::Inactive;
        let entry = if has_other_id || is_restored { work.reads().directory_user(id).await? } else { None };
        if has_other_id && entry.is_some() {
            // A provider that the directory names logs the user in by it.
            return Err(Error::from(Conflict::OfDirectory).into());
        }
        if has_other_id && is_email_of_another {
            return Err(Error::from(Conflict::ExternalIdIsEmail).into());
        }
        let status_move = StatusMove::between(before.status, after.status);
        if let Some(grantor) = &subject.grantor {
            if after.home_organization_id != before.home_organization_id {
                grantor.rights().require(&permission::USERS_UPDATE)?;
                check_home_under_lock(work, after.home_organization_id).await?;
            }
            match &status_move.permission {
                None => {}
                // A deleted user has no roles over which the permission could be asked for.
                Some(needed) if before.status == UserStatus::Inactive => grantor.rights().require(needed)?,
                Some(needed) => subject.require(grantor, needed)?,
            }
        }
        let Subject { grants, grantor, .. } = subject;
        let read = match grantor {
            Some(_) => Some(with_sleeping(work, id, &grants).await?),
            None => None,
        };
        let former = has_new_email.then(|| before.clone());
        let change = UserChange::Update { before, after: after.clone(), grants: read, attributes };
        if let Err(error) = apply_with_consequences(work, change, id, &status_move, grants).await {
            return Err(RefusedUpdate { error, after: Some(Box::new(after)) });
        }
        if let Some(before) = entry.filter(|entry| is_restored && entry.deleted_at.is_some()) {
            // Otherwise it could neither see the user nor make it again.
            let after = DirectoryUser { deleted_at: None, ..before.clone() }.changed(work.now());
            work.apply(DirectoryUserChange::Update { before: Box::new(before), after }).await?;
        }
        if let Some(former) = former {
            // They were sent to the former address, or contain its former spelling.
            end_links(work, id).await?;
            work.apply(ChallengeChange::EndAll(id)).await?;
            if !former.email.is_same_mailbox(&after.email) {
                self.0.queue_notice(work, MailKind::EmailChanged, &former).await?;
            }
        }
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
        self.0.rights(caller).require_anywhere(&permission::USERS_UPDATE)?;
        let mut work = self.0.begin(caller).await?;
        let Subject { user: before, grants, .. } =
            Subject::lock(&mut work, id, &permission::USERS_UPDATE, true).await?;
        if before.status == status {
            return Ok(before);
        }
        let status_move = StatusMove::between(before.status, status);
        let after = User { status, ..before.clone() }.changed(work.now());
        let read = Some(with_sleeping(&mut work, id, &grants).await?);
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
        let found = self.0.user_with_email(caller, email).await?;
        let mut work = self.0.begin(caller).await?;
        let before = work.reads().lock_user(found.id).await?;
        let before = before.filter(|user| user.email.key() == found.email.key()).ok_or_else(not_found)?;
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

    /// Soft-deletes a user: it becomes INACTIVE, its sessions, role assignments and API keys end, it leaves the groups
    /// of its directory, its record is kept with its second factors, and its e-mail stays taken. Needs `users:delete`;
    /// a permission that is held in organizations is for users who have their home there or below, and hold no role
    /// elsewhere. Does nothing if the user is INACTIVE.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::LastAdministrator`], [`Conflict::LegalHold`].
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
        self.0.rights(caller).require_anywhere(&permission::USERS_DELETE)?;
        let mut work = self.0.begin(caller).await?;
        self.delete_in(&mut work, id, precondition).await?;
        work.commit().await
    }

    /// Soft-deletes a user in a unit of work.
    pub(crate) async fn delete_in(
        &self,
        work: &mut UnitOfWork<'_>,
        id: UserId,
        precondition: &Precondition,
    ) -> Result<()> {
        let Subject { user: before, grants, .. } =
            Subject::lock_in_any_status(work, id, &permission::USERS_DELETE, true).await?;
        require_version(precondition, before.version)?;
        if before.status == UserStatus::Inactive {
            return Ok(());
        }
        let status_move = StatusMove::between(before.status, UserStatus::Inactive);
        let after = User { status: UserStatus::Inactive, ..before.clone() }.changed(work.now());
        apply_with_consequences(work, UserChange::Delete { before, after }, id, &status_move, grants).await
    }
}

/// A valid patch of a user, with what was checked before the unit of work.
struct CheckedPatch<'a> {
    patch: ValidPatch,
    precondition: &'a Precondition,
    /// Whether the caller has authenticated recently.
    freshness: Result<()>,
    /// Whether the external identifier is the e-mail of another user.
    is_email_of_another: bool,
}

/// Why a change of a user is refused.
struct RefusedUpdate {
    error: Error,
    /// The user as it would be, if the store has refused to write it.
    after: Option<Box<User>>,
}

impl From<Error> for RefusedUpdate {
    fn from(error: Error) -> Self {
        Self { error, after: None }
    }
}

impl From<StoreError> for RefusedUpdate {
    fn from(error: StoreError) -> Self {
        Error::from(error).into()
    }
}

/// Locks the tenant, if an organization is to become the home of a user, so that it does not become INACTIVE meanwhile.
pub(super) async fn check_home_under_lock(work: &mut UnitOfWork<'_>, home: Option<OrganizationId>) -> Result<()> {
    if home.is_some() {
        work.reads().lock_tenant().await?;
    }
    let hierarchy = work.hierarchy_of(home.as_slice()).await?;
    check_home(home, |home| hierarchy.ancestry().position(home))
}

/// Applies a change of a user, and the consequences of its change of status, in one unit of work and under the
/// tenant's lock.
///
/// Every rule is decided before the first write: the store refuses an e-mail or an external identifier that is taken
/// when it writes, and a preview must name the same refusal.
pub(crate) async fn apply_with_consequences(
    work: &mut UnitOfWork<'_>,
    change: UserChange,
    user: UserId,
    status_move: &StatusMove,
    grants: Vec<Grant>,
) -> Result<()> {
    let change = work.check_granted_rights(change).await?;
    if status_move.leaves_active {
        keep_an_administrator(work, user, &grants).await?;
    }
    work.apply(change).await?;
    if status_move.regains_roles {
        // A login that began before the suspension must not be finished after it.
        work.apply(ChallengeChange::EndAll(user)).await?;
    }
    if let Some(reason) = status_move.ends_sessions {
        // They must not work when the user is ACTIVE again.
        end_links(work, user).await?;
        end_sessions_of(work, user, reason, |_| true).await?;
    }
    if status_move.leaves_active && !status_move.revokes_roles {
        end_of_user(work, user, grants.clone(), UserStatus::Suspended).await?;
    }
    if status_move.revokes_roles {
        revoke(work, grants, RevokeReason::UserDeleted).await?;
        end_of_user(work, user, Vec::new(), UserStatus::Inactive).await?;
        removed_of(work, user).await?;
        of_groups::leave(work, user).await?;
        let keys = work.reads().lock_api_keys_of(user).await?;
        if !keys.is_empty() {
            work.apply(ApiKeyChange::Delete(keys)).await?;
        }
        // The factors stay: otherwise, deleting and restoring a user would remove them without the rights, the recent
        // authentication and the mail that their removal needs.
    }
    Ok(())
}

impl Engine {
    /// Returns the user of the caller's tenant with this e-mail, as typed. Only for trusted code.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`], [`Error::Validation`] which names `email`, [`Error::NotFound`].
    pub(crate) async fn user_with_email(&self, caller: &Caller, email: &str) -> Result<User> {
        if !matches!(caller.actor(), Actor::System { .. }) {
            return Err(Forbidden::NotTrusted.into());
        }
        let mut fields = Fields::default();
        let Some(email) = fields.check("email", Email::for_lookup(email)) else {
            return Err(fields.into_error().into());
        };
        let account = self.store.guarded_account(caller.tenant(), &email.key()).await?.account;
        account.map(|account| account.user).ok_or_else(not_found)
    }

    /// Returns the conflict about an e-mail that this user has. A caller who may read the user learns whether it is
    /// deleted, because it can restore the user instead.
    pub(crate) async fn email_taken(&self, caller: &Caller, holder: &User) -> Error {
        let is_deleted = holder.status == UserStatus::Inactive;
        let may_read = require_for_user(self, caller, holder, &permission::USERS_READ, Coverage::Part);
        match is_deleted && may_read.await.is_ok() {
            true => Conflict::EmailOfDeletedUser.into(),
            false => Conflict::EmailTaken.into(),
        }
    }

    /// Returns the conflict about an external identifier for a new user, if a user has it or it is the e-mail of one.
    async fn external_id_conflict(&self, tenant: TenantId, external_id: &ExternalId) -> Result<Option<Conflict>> {
        if self.store.user_by_external_id(tenant, external_id).await?.is_some() {
            return Ok(Some(Conflict::ExternalIdTaken));
        }
        let addressee = self.addressee_of(tenant, Some(external_id)).await?;
        Ok(addressee.map(|_| Conflict::ExternalIdIsEmail))
    }

    /// Returns the user of a tenant who has an e-mail. Outside of a unit of work: the store decides about an e-mail that is
    /// taken meanwhile.
    pub(crate) async fn holder_of(&self, tenant: TenantId, email: &Email) -> Result<Option<User>> {
        Ok(self.store.guarded_account(tenant, &email.key()).await?.account.map(|account| account.user))
    }

    /// Returns the user of a tenant whose e-mail an external identifier is. A provider that takes e-mails for identifiers
    /// could log a person in as another one. A user may get such an e-mail later, so no lock is needed.
    pub(crate) async fn addressee_of(
        &self,
        tenant: TenantId,
        external_id: Option<&ExternalId>,
    ) -> Result<Option<UserId>> {
        let Some(external_id) = external_id else { return Ok(None) };
        let Ok(email) = Email::for_lookup(external_id.as_str()) else { return Ok(None) };
        Ok(self.holder_of(tenant, &email).await?.map(|user| user.id))
    }

    /// Returns the error of a change to this user, which says more if its e-mail is that of a deleted user.
    pub(crate) async fn about_taken_email(&self, caller: &Caller, after: &User, error: Error) -> Error {
        if !matches!(error, Error::Conflict(Conflict::EmailTaken)) {
            return error;
        }
        match self.store.guarded_account(caller.tenant(), &after.email.key()).await {
            Ok(GuardedAccount { account: Some(Account { user, .. }), .. }) => self.email_taken(caller, &user).await,
            _ => error,
        }
    }
}

pub(super) fn not_found() -> Error {
    Error::NotFound(ResourceType::USER)
}
