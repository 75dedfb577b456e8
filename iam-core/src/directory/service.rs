use iam_model::access::GrantedRights;
use iam_model::audit::ResourceType;
use iam_model::change::{DirectoryChange, UserChange};
use iam_model::directory::{Directory, DirectoryActivity};
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::{DirectoryId, IdentityProviderId, UserId};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::store::GrantQuery;
use iam_model::user::{User, UserKind, UserStatus};
use iam_model::validate::Name;
use iam_model::version::{Precondition, Version};

use crate::assignment::of_groups;
use crate::caller::Caller;
use crate::directory::input::ValidPatch;
use crate::directory::{DeletedUsers, DirectoryPatch, NewDirectory};
use crate::engine::{Engine, LockedRights, UnitOfWork, require_version};
use crate::idempotency::Idempotency;
use crate::user::{StatusMove, apply_with_consequences};

/// How many users are suspended at most with their directory. They are suspended and recorded in one transaction, during
/// which no other rights of the tenant change.
const MAX_SUSPENDED: usize = 10_000;

/// How many users one query reads.
const READ_AT_ONCE: usize = 500;

/// Makes, reads, changes and removes directories, and maps their groups to roles; see
/// [`Iam::directories`](crate::iam::Iam::directories).
///
/// What changes something here needs standing rights. A directory may do what its service account may do, and no more.
/// So a caller that makes one needs the permission tenant-wide alone. Two things need more, and a session that has
/// authenticated recently. A directory that adopts takes over users of the tenant: also `directories:update` and
/// `users:update`. The provider that a directory names logs people in as the users of the directory: all permissions
/// (`*`) tenant-wide.
///
/// A group of a directory gives nothing until a person [maps](Self::set_grants) it to roles. From then on, its members
/// hold these roles.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::directory::{DeletedUsers, DirectoryPatch, NewDirectory};
/// use iam_core::user::NewServiceAccount;
///
/// let robot = iam.users().create_service_account(&ada, NewServiceAccount { name: "Entra".into() }).await?;
/// let new = NewDirectory { name: "Staff".into(), service_account: robot.id, identity_provider: None, adopt: false };
/// let directory = iam.directories().create(&ada, new).await?;
///
/// let patch = DirectoryPatch { adopt: Some(true), ..DirectoryPatch::default() };
/// assert!(iam.directories().update(&ada, directory.id, patch).await?.adopt);
/// let (_, activity) = iam.directories().get(&ada, directory.id).await?;
/// assert_eq!(activity.last_request_at, None);
///
/// iam.directories().delete(&ada, directory.id, DeletedUsers::Keep).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Directories<'a>(pub(crate) &'a Engine);

impl Directories<'_> {
    /// Makes a directory. Needs `directories:create`; for one that adopts, also `directories:update`, `users:update` and
    /// a session that has authenticated recently; for one that names a provider, all permissions and such a session.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::ApiKey`](iam_model::error::Forbidden::ApiKey) and
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh) for a directory that adopts or names a
    /// provider, [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation) for one that names a provider,
    /// [`Error::Validation`] which names `name`, or `serviceAccountId` for a person or an account that is not ACTIVE;
    /// [`Error::About`] with [`Error::NotFound`] for an account or a provider that does not exist;
    /// [`Conflict::DirectoryAccountTaken`], [`Conflict::TooManyDirectories`].
    pub async fn create(&self, caller: &Caller, new: NewDirectory) -> Result<Directory> {
        self.create_once(caller, new, None).await
    }

    /// Makes a directory as [`create`](Self::create) does, at most once for an [idempotency key](crate::idempotency).
    /// `None` is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(
        &self,
        caller: &Caller,
        new: NewDirectory,
        idempotency: Option<&Idempotency>,
    ) -> Result<Directory> {
        let iam = self.0;
        iam.standing(caller).rights().require(&permission::DIRECTORIES_CREATE)?;
        let name = new.validate()?;
        let once = iam.once(caller, idempotency, &ResourceType::DIRECTORY);
        let mut work = iam.begin(caller).await?;
        if let Some(made) = once.find(&mut work).await? {
            return Ok(made);
        }
        let directory = self.create_valid(&mut work, name, &new).await?;
        once.keep(&mut work, &directory).await?;
        work.commit().await?;
        Ok(directory)
    }

    /// Makes a directory in a unit of work.
    pub(crate) async fn create_in(&self, work: &mut UnitOfWork<'_>, new: &NewDirectory) -> Result<Directory> {
        self.create_valid(work, new.validate()?, new).await
    }

    async fn create_valid(&self, work: &mut UnitOfWork<'_>, name: Name, new: &NewDirectory) -> Result<Directory> {
        let grantor = work.lock_rights().await?.standing();
        grantor.rights().require(&permission::DIRECTORIES_CREATE)?;
        if new.adopt {
            require_to_adopt(work, &grantor).await?;
        }
        let others = work.reads().directories().await?;
        if others.len() >= Directory::MAX {
            return Err(Conflict::TooManyDirectories.into());
        }
        check_account(work, new.service_account).await?;
        if others.iter().any(|other| other.service_account_id == new.service_account) {
            return Err(Conflict::DirectoryAccountTaken.into());
        }
        check_provider(work, new.identity_provider).await?;
        let now = work.now();
        let directory = Directory {
            id: self.0.next_id(),
            tenant_id: work.caller().tenant(),
            name,
            service_account_id: new.service_account,
            identity_provider_id: new.identity_provider,
            adopt: new.adopt,
            created_at: now,
            updated_at: now,
            version: Version::FIRST,
        };
        work.apply(DirectoryChange::Create(directory.clone())).await?;
        Ok(directory)
    }

    /// Returns the directories of the tenant with what each has sent last, by name. Needs `directories:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn list(&self, caller: &Caller) -> Result<Vec<(Directory, DirectoryActivity)>> {
        self.0.rights(caller).require(&permission::DIRECTORIES_READ)?;
        Ok(self.0.store.directories(caller.tenant()).await?)
    }

    /// Returns a directory with what it has sent last. Needs `directories:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: DirectoryId) -> Result<(Directory, DirectoryActivity)> {
        let all = self.list(caller).await?;
        all.into_iter().find(|(directory, _)| directory.id == id).ok_or_else(not_found)
    }

    /// Changes a directory. Needs `directories:update`; to let it adopt, also `users:update` and a session that has
    /// authenticated recently; to name another provider, all permissions and such a session. A patch that changes nothing
    /// records nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::ApiKey`](iam_model::error::Forbidden::ApiKey) and
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh) to let it adopt or to name a provider,
    /// [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation) to name a provider,
    /// [`Error::Validation`] which names `name`, [`Error::NotFound`]; [`Error::About`] with [`Error::NotFound`] for a
    /// provider that does not exist.
    pub async fn update(&self, caller: &Caller, id: DirectoryId, patch: DirectoryPatch) -> Result<Directory> {
        self.update_if(caller, id, patch, &Precondition::Exists).await
    }

    /// Changes a directory as [`update`](Self::update) does, if a precondition holds. It is checked under the lock of the
    /// change.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update), [`Error::PreconditionFailed`].
    pub async fn update_if(
        &self,
        caller: &Caller,
        id: DirectoryId,
        patch: DirectoryPatch,
        precondition: &Precondition,
    ) -> Result<Directory> {
        self.0.standing(caller).rights().require(&permission::DIRECTORIES_UPDATE)?;
        let patch = patch.validate()?;
        let mut work = self.0.begin(caller).await?;
        let directory = self.update_valid(&mut work, id, patch, precondition).await?;
        work.commit().await?;
        Ok(directory)
    }

    /// Changes a directory in a unit of work.
    pub(crate) async fn update_in(
        &self,
        work: &mut UnitOfWork<'_>,
        id: DirectoryId,
        patch: &DirectoryPatch,
    ) -> Result<Directory> {
        self.update_valid(work, id, patch.validate()?, &Precondition::Exists).await
    }

    async fn update_valid(
        &self,
        work: &mut UnitOfWork<'_>,
        id: DirectoryId,
        patch: ValidPatch,
        precondition: &Precondition,
    ) -> Result<Directory> {
        let grantor = work.lock_rights().await?.standing();
        grantor.rights().require(&permission::DIRECTORIES_UPDATE)?;
        let before = find(work, id).await?;
        require_version(precondition, before.version)?;
        let after = patch.apply(&before, work.now());
        if after == before {
            return Ok(before);
        }
        if after.adopt && !before.adopt {
            require_to_adopt(work, &grantor).await?;
        }
        if after.identity_provider_id != before.identity_provider_id {
            check_provider(work, after.identity_provider_id).await?;
        }
        let before = Box::new(before);
        work.apply(DirectoryChange::Update { before, after: after.clone() }).await?;
        Ok(after)
    }

    /// Removes a directory, with what it says of its users and with its groups. Its service account and the users stay,
    /// but the users lose what the groups give. Needs `directories:delete`; to suspend the users, also `users:update`,
    /// and everything that those who are ACTIVE may do.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::LastAdministrator`], [`Conflict::LegalHold`] for a hold on
    /// the tenant or on a user of the directory, [`Conflict::TooManyGroupAssignments`]. To suspend the users, also
    /// [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation), [`Conflict::TooManyDirectoryUsers`].
    pub async fn delete(&self, caller: &Caller, id: DirectoryId, users: DeletedUsers) -> Result<()> {
        self.delete_if(caller, id, users, &Precondition::Exists).await
    }

    /// Removes a directory as [`delete`](Self::delete) does, if a precondition holds. It is checked under the lock of the
    /// change.
    ///
    /// # Errors
    ///
    /// Those of [`delete`](Self::delete), [`Error::PreconditionFailed`].
    pub async fn delete_if(
        &self,
        caller: &Caller,
        id: DirectoryId,
        users: DeletedUsers,
        precondition: &Precondition,
    ) -> Result<()> {
        let needed = needed_to_delete(users);
        needed.iter().try_for_each(|needed| self.0.standing(caller).rights().require(needed))?;
        let mut work = self.0.begin(caller).await?;
        self.delete_in(&mut work, id, users, precondition).await?;
        work.commit().await
    }

    /// Removes a directory in a unit of work.
    pub(crate) async fn delete_in(
        &self,
        work: &mut UnitOfWork<'_>,
        id: DirectoryId,
        users: DeletedUsers,
        precondition: &Precondition,
    ) -> Result<()> {
        let grantor = work.lock_rights().await?.standing();
        needed_to_delete(users).iter().try_for_each(|needed| grantor.rights().require(needed))?;
        let directory = find(work, id).await?;
        require_version(precondition, directory.version)?;
        let given = of_groups::given_by(work, id).await?;
        if users == DeletedUsers::Suspend {
            for user in active_users(work, id).await? {
                suspend(work, &grantor, user).await?;
            }
        }
        // After the suspensions, which need what the users may do by their groups, too.
        of_groups::end_all(work, given).await?;
        work.apply(DirectoryChange::Delete(directory)).await
    }
}

/// What a caller needs that removes a directory.
fn needed_to_delete(users: DeletedUsers) -> Vec<Permission> {
    match users {
        DeletedUsers::Keep => vec![permission::DIRECTORIES_DELETE],
        DeletedUsers::Suspend => vec![permission::DIRECTORIES_DELETE, permission::USERS_UPDATE],
    }
}

/// Checks what a caller needs that lets a directory take over users of the tenant.
async fn require_to_adopt(work: &mut UnitOfWork<'_>, grantor: &LockedRights) -> Result<()> {
    grantor.rights().require(&permission::DIRECTORIES_UPDATE)?;
    grantor.rights().require(&permission::USERS_UPDATE)?;
    work.caller().refuse_impersonator()?;
    work.require_fresh().await
}

/// Checks that a directory can act by this account. The status of a user changes only under the tenant's lock.
async fn check_account(work: &mut UnitOfWork<'_>, id: UserId) -> Result<()> {
    let field = "serviceAccountId";
    let found = work.reads().users_by_id(&[id]).await?;
    let account = found.first().ok_or_else(|| Error::NotFound(ResourceType::USER).about(field))?;
    if account.kind != UserKind::Service || account.status != UserStatus::Active {
        return Err(Error::field(field, "must be a service account that is ACTIVE"));
    }
    Ok(())
}

async fn check_provider(work: &mut UnitOfWork<'_>, id: Option<IdentityProviderId>) -> Result<()> {
    let Some(id) = id else { return Ok(()) };
    if work.reads().identity_providers().await?.iter().any(|provider| provider.id == id) {
        return Ok(());
    }
    Err(Error::NotFound(ResourceType::IDENTITY_PROVIDER).about("identityProviderId"))
}

pub(super) async fn find(work: &mut UnitOfWork<'_>, id: DirectoryId) -> Result<Directory> {
    let all = work.reads().directories().await?;
    all.into_iter().find(|directory| directory.id == id).ok_or_else(not_found)
}

/// Returns the users of a directory who are ACTIVE, in the order of their ids, which is that of the locks.
async fn active_users(work: &mut UnitOfWork<'_>, directory: DirectoryId) -> Result<Vec<UserId>> {
    let (ids, mut active) = (work.reads().users_of_directory(directory).await?, Vec::new());
    for ids in ids.chunks(READ_AT_ONCE) {
        let users = work.reads().users_by_id(ids).await?;
        active.extend(users.into_iter().filter(|user| user.status == UserStatus::Active).map(|user| user.id));
        if active.len() > MAX_SUSPENDED {
            return Err(Conflict::TooManyDirectoryUsers(MAX_SUSPENDED as u64).into());
        }
    }
    active.sort_unstable();
    Ok(active)
}

/// Suspends a user, whose rights the caller holds too.
async fn suspend(work: &mut UnitOfWork<'_>, grantor: &LockedRights, id: UserId) -> Result<()> {
    work.invalidate(id);
    let Some(before) = work.reads().lock_user(id).await? else { return Ok(()) };
    let grants = work.reads().grants(GrantQuery::OfUser(id)).await?;
    let now = work.now();
    let live = grants.iter().filter(|grant| grant.assignment.is_live(now));
    grantor.rights().check_escalation(live.map(GrantedRights::of))?;
    let status_move = StatusMove::between(before.status, UserStatus::Suspended);
    let after = User { status: UserStatus::Suspended, ..before.clone() }.changed(now);
    let change = UserChange::ChangeStatus { before, after, grants: Some(grants.clone()) };
    apply_with_consequences(work, change, id, &status_move, grants).await
}

pub(super) fn not_found() -> Error {
    Error::NotFound(ResourceType::DIRECTORY)
}
