use super::rules::StatusMove;
use super::{NewUser, User, UserChange, UserFilter, UserPatch, UserSort, UserStatus};
use crate::access::{Covered, Extent, Permission, Power, Reach, Rights, permission};
use crate::assignment::{Grant, GrantQuery, RevokeReason, cover_grants, keep_an_administrator, revoke};
use crate::audit::ResourceType;
use crate::caller::{Actor, Caller};
use crate::credential::Share;
use crate::error::{Conflict, Error, Forbidden, Result};
use crate::iam::Inner;
use crate::id::UserId;
use crate::page::{Page, PageRequest};
use crate::session::end_sessions;
use crate::tenant::{QuotaKind, hold_quota};
use crate::validate::{Email, Fields};
use crate::work::UnitOfWork;

/// Makes, reads, changes and deletes users; see [`Iam::users`](crate::Iam::users).
///
/// A user stays on record for good: whoever is deleted becomes INACTIVE, and its e-mail stays taken. Whoever is suspended or
/// deleted has no session any more.
///
/// ```
#[doc = scene!()]
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
pub struct Users<'a>(pub(crate) &'a Inner);

impl Users<'_> {
    /// Makes a user, ACTIVE and without roles. Needs `users:create`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] naming every invalid field, [`Conflict::EmailTaken`],
    /// [`Error::Overloaded`].
    pub async fn create(&self, caller: &Caller, new: NewUser) -> Result<User> {
        self.0.rights(caller).require(&permission::USERS_CREATE)?;
        let profile = new.validate(Fields::default())?;
        let once = self.0.once(caller, &ResourceType::USER);
        // What needs no hash is refused before one is made, which takes the longest by far. The e-mail comes first: where it was
        // taken by a repeat of this call, the key is known afterwards.
        let taken = self.0.store.guarded_account(caller.tenant(), &profile.email.key()).await?.account;
        if once.is_asked() {
            let mut work = self.0.begin(caller).await?;
            if let Some(user) = once.find(&mut work).await? {
                return Ok(user);
            }
        }
        if taken.is_some() {
            return Err(Conflict::EmailTaken.into());
        }
        let password = self.0.passwords.hash(Share::of(caller), &profile.password).await?;
        // It may have waited for long: the right may have been taken away meanwhile.
        self.0.rights(&self.0.renewed(caller).await?).require(&permission::USERS_CREATE)?;
        let mut work = self.0.begin(caller).await?;
        if let Some(user) = once.find(&mut work).await? {
            return Ok(user);
        }
        hold_quota(self.0, &mut work, QuotaKind::Users, 1).await?;
        let user = profile.user(self.0.next_id(), caller.tenant(), work.now());
        work.apply(UserChange::Create { user: user.clone(), password }).await?;
        once.keep(&mut work, &user).await?;
        work.commit().await?;
        Ok(user)
    }

    /// One user, whatever its status. Needs `users:read`; held in organizations, for their members only.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: UserId) -> Result<User> {
        require_reach_over(self.0, caller, id, &permission::USERS_READ, Extent::Part).await?;
        self.0.store.user(caller.tenant(), id).await?.ok_or_else(not_found)
    }

    /// A page of the users that pass a filter. Needs `users:read`; held in organizations, the list is limited to
    /// their members: those who hold a role in them or below.
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
        let reach = self.0.rights(caller).reach(&permission::USERS_READ)?;
        if let (Some(organization), Reach::Organizations(covered)) = (filter.organization, &reach) {
            // Or it would tell which of the members that the caller sees are also members of others.
            let lineage = self.0.lineages(caller.tenant(), [organization]).await?;
            if !lineage.positions().any(|above| covered.contains(&above.id())) {
                return Ok(Page { items: Vec::new(), total: 0, request: page });
            }
        }
        Ok(self.0.store.users(caller.tenant(), filter, &reach, sort, page, self.0.now()).await?)
    }

    /// Changes a user. Needs `users:update`; held in organizations, for members who hold no role elsewhere. A patch
    /// that changes nothing records nothing.
    ///
    /// A status other than ACTIVE ends the user's sessions; INACTIVE also ends its role assignments and needs
    /// `users:delete` too; leaving INACTIVE needs `users:create` too. Becoming ACTIVE gives the user back what it
    /// holds, which the caller must hold too, there and for as long. The same is asked of a caller who changes the e-mail of
    /// another user: it is where a new password is sent. The new address is unverified.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::Escalation`](crate::Forbidden::Escalation), [`Error::Validation`],
    /// [`Error::NotFound`], [`Conflict::EmailTaken`], [`Conflict::LastAdministrator`].
    pub async fn update(&self, caller: &Caller, id: UserId, patch: UserPatch) -> Result<User> {
        self.0.rights(caller).reach(&permission::USERS_UPDATE)?;
        let patch = patch.validate()?;
        let mut work = self.0.begin(caller).await?;
        let Subject { user: before, grants, power } =
            Subject::lock(&mut work, id, &permission::USERS_UPDATE, patch.changes_power()).await?;
        caller.check_version(|| before.version())?;
        let is_readdressed = patch.email.as_ref().is_some_and(|email| *email != before.email);
        let after = patch.apply(&before, work.now());
        if after == before {
            return Ok(before);
        }
        let status_move = StatusMove::between(before.status, after.status);
        if let (Some(needed), Some(power)) = (&status_move.permission, &power) {
            if before.status == UserStatus::Inactive {
                power.rights().require(needed)?;
            } else {
                power.rights().require_over(needed, &grants, Extent::Whole)?;
            }
        }
        // A new password is sent to the address, so it is worth what the account may do. One's own rights cover one's own.
        let takes_over = is_readdressed && caller.user() != Some(id);
        let covered = status_move.cover(&mut work, power.as_ref(), &grants, takes_over).await?;
        work.apply(UserChange::Update { before, after: after.clone(), covered }).await?;
        follow(&mut work, id, &status_move, grants).await?;
        work.commit().await?;
        Ok(after)
    }

    /// Suspends an ACTIVE user, which ends its sessions. Needs `users:update` as [`update`](Self::update) does. On a
    /// SUSPENDED one it does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::UserInactive`], [`Conflict::LastAdministrator`].
    pub async fn suspend(&self, caller: &Caller, id: UserId) -> Result<User> {
        self.change_status(caller, id, UserStatus::Suspended).await
    }

    /// Makes a SUSPENDED user ACTIVE again. Needs `users:update`, and what the user holds, as
    /// [`update`](Self::update) does. On an ACTIVE one it does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::Escalation`](crate::Forbidden::Escalation), [`Error::NotFound`],
    /// [`Conflict::UserInactive`].
    pub async fn reactivate(&self, caller: &Caller, id: UserId) -> Result<User> {
        self.change_status(caller, id, UserStatus::Active).await
    }

    async fn change_status(&self, caller: &Caller, id: UserId, status: UserStatus) -> Result<User> {
        self.0.rights(caller).reach(&permission::USERS_UPDATE)?;
        let mut work = self.0.begin(caller).await?;
        let Subject { user: before, grants, power } =
            Subject::lock(&mut work, id, &permission::USERS_UPDATE, true).await?;
        if before.status == UserStatus::Inactive {
            return Err(Conflict::UserInactive.into());
        }
        if before.status == status {
            return Ok(before);
        }
        let status_move = StatusMove::between(before.status, status);
        let covered = status_move.cover(&mut work, power.as_ref(), &grants, false).await?;
        let after = User { status, updated_at: work.now(), ..before.clone() };
        work.apply(UserChange::ChangeStatus { before, after: after.clone(), covered }).await?;
        follow(&mut work, id, &status_move, grants).await?;
        work.commit().await?;
        Ok(after)
    }

    /// Puts on record that the user with this e-mail receives mail there: it was proven by other means. Where it is on record
    /// already, nothing is done. For trusted code alone.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`](crate::Forbidden::NotTrusted) for a user, [`Error::Validation`] naming `email`,
    /// [`Error::NotFound`], [`Conflict::UserInactive`].
    pub async fn verify_email(&self, caller: &Caller, email: &str) -> Result<User> {
        if !matches!(caller.actor(), Actor::System { .. }) {
            return Err(Forbidden::NotTrusted.into());
        }
        let mut fields = Fields::default();
        let Some(email) = fields.check("email", email.parse::<Email>()) else { return Err(fields.into_error()) };
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
        let after = User { email_verified_at: Some(now), updated_at: now, ..before.clone() };
        work.apply(UserChange::VerifyEmail { before, after: after.clone() }).await?;
        work.commit().await?;
        Ok(after)
    }

    /// Deletes a user softly: it becomes INACTIVE, its sessions and role assignments end, its record stays and its
    /// e-mail stays taken. Needs `users:delete`; held in organizations, for members who hold no role elsewhere. On an
    /// INACTIVE one it does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::LastAdministrator`].
    pub async fn delete(&self, caller: &Caller, id: UserId) -> Result<()> {
        self.0.rights(caller).reach(&permission::USERS_DELETE)?;
        let mut work = self.0.begin(caller).await?;
        let Subject { user: before, grants, .. } =
            Subject::lock(&mut work, id, &permission::USERS_DELETE, true).await?;
        caller.check_version(|| before.version())?;
        if before.status == UserStatus::Inactive {
            return Ok(());
        }
        let status_move = StatusMove::between(before.status, UserStatus::Inactive);
        let after = User { status: UserStatus::Inactive, updated_at: work.now(), ..before.clone() };
        work.apply(UserChange::Delete { before, after }).await?;
        follow(&mut work, id, &status_move, grants).await?;
        work.commit().await
    }
}

/// A user that is to be changed, with its roles.
struct Subject {
    user: User,
    grants: Vec<Grant>,
    /// The caller's, where the user's state or address is to change.
    power: Option<Power>,
}

impl Subject {
    /// Locks a user over whom the caller has a permission wholly; see [`Extent::Whole`].
    async fn lock(work: &mut UnitOfWork<'_>, id: UserId, permission: &Permission, changes_state: bool) -> Result<Self> {
        let power = if changes_state { Some(Power::lock(work).await?) } else { None };
        let user = work.locks().lock_user(id).await?;
        let own = Rights::new(work.caller().authority(), work.now());
        let rights = power.as_ref().map_or(own, Power::rights);
        let needs_grants = changes_state || rights.reach(permission)? != Reach::Tenant;
        let query = GrantQuery::OfUser(id);
        let grants = if needs_grants { work.locks().grants(query).await? } else { Vec::new() };
        rights.require_over(permission, &grants, Extent::Whole)?;
        work.touch(id);
        Ok(Self { user: user.ok_or_else(not_found)?, grants, power })
    }
}

impl StatusMove {
    /// Asks for what the user gets back, or for what the caller could take over.
    async fn cover(
        &self,
        work: &mut UnitOfWork<'_>,
        power: Option<&Power>,
        grants: &[Grant],
        takes_over: bool,
    ) -> Result<Covered> {
        match power {
            // Also what it holds in organizations that are suspended: they may be reactivated.
            Some(power) if takes_over => {
                let now = work.now();
                cover_grants(work, power, grants.iter().filter(|grant| grant.assignment.is_live(now))).await
            }
            Some(power) if self.regains_roles => {
                let now = work.now();
                cover_grants(work, power, grants.iter().filter(|grant| grant.is_effective(now))).await
            }
            Some(power) => power.cover([]),
            // A user that keeps its state and its address can do neither more nor less than before.
            None => Ok(Covered::no_gain()),
        }
    }
}

/// Lets a caller look at what belongs to a user, and tells how far: its own always and all of it, another's with a
/// permission over so much of the user.
pub(crate) async fn require_sight(
    iam: &Inner,
    caller: &Caller,
    user: UserId,
    otherwise: &Permission,
    extent: Extent,
) -> Result<Reach> {
    if caller.user() == Some(user) {
        return Ok(Reach::Tenant);
    }
    let reach = require_reach_over(iam, caller, user, otherwise, extent).await?;
    if reach == Reach::Tenant {
        iam.store.user(caller.tenant(), user).await?.ok_or_else(not_found)?;
    }
    Ok(reach)
}

/// How far the caller's permission reaches, which must be as far as a user; tenant-wide it may be nobody.
async fn require_reach_over(
    iam: &Inner,
    caller: &Caller,
    user: UserId,
    permission: &Permission,
    extent: Extent,
) -> Result<Reach> {
    let rights = iam.rights(caller);
    let reach = rights.reach(permission)?;
    if reach != Reach::Tenant {
        let grants = iam.store.grants_of(caller.tenant(), &[user]).await?;
        rights.require_over(permission, &grants, extent)?;
    }
    Ok(reach)
}

/// What a change of status brings along, in the same unit of work and under the tenant's lock.
async fn follow(work: &mut UnitOfWork<'_>, user: UserId, status_move: &StatusMove, grants: Vec<Grant>) -> Result<()> {
    if status_move.leaves_active {
        keep_an_administrator(work, user, &grants).await?;
    }
    if let Some(reason) = status_move.ends_sessions {
        let sessions = work.locks().lock_sessions_of(user).await?;
        end_sessions(work, sessions, reason).await?;
    }
    if status_move.revokes_roles {
        revoke(work, grants, RevokeReason::UserDeleted).await?;
    }
    Ok(())
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::USER)
}
