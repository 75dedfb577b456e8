use iam_model::change::{DirectoryUserChange, UserChange};
use iam_model::directory::{Directory, ProvisionedUser};
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::UserId;
use iam_model::permission;
use iam_model::secret::PasswordHash;
use iam_model::store::GrantQuery;
use iam_model::tenant::QuotaKind;
use iam_model::user::{User, UserStatus};
use iam_scim::user::UserResource;

use crate::caller::Caller;
use crate::directory::provisioning::attributes::CustomFacts;
use crate::directory::provisioning::matching::{Candidates, Known, Match};
use crate::directory::provisioning::wanted::Wanted;
use crate::directory::provisioning::write::{is_domain_verified, write, write_user};
use crate::directory::provisioning::{Provisioning, ProvisioningError, lock_directory, lock_user};
use crate::engine::{LockedRights, UnitOfWork, hold_quota};
use crate::user::NewProfile;

/// What a creation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// It made a user.
    New,
    /// A user of the directory has come back, whom the directory had suspended or deleted.
    Restored,
    /// The directory has taken over a user of the tenant.
    Adopted,
}

/// A new resource, with what decides about it under the tenant's lock.
struct Case {
    directory: Directory,
    /// The rights of the caller.
    grantor: LockedRights,
    wanted: Wanted,
    /// Whether its e-mail is of a VERIFIED domain of the tenant.
    is_domain_verified: bool,
    /// The user whose e-mail its external identifier is.
    addressee: Option<UserId>,
}

impl Provisioning<'_> {
    /// Makes a user of the directory, without a password and roles, and with the tenant as its home. It is SUSPENDED if
    /// the resource says that it is not active. Its e-mail is verified if the domain of it is VERIFIED in the tenant.
    /// Needs `users:create`.
    ///
    /// If the external identifier or the user name is that of a user whom the directory has deleted or suspended, that
    /// user comes back as the resource says, ACTIVE unless it says otherwise. A deleted one has no roles. If the directory
    /// adopts, and the e-mail is that of a user who belongs to no directory, and the domain is VERIFIED, the directory
    /// takes over that user with its e-mail and its roles. Both need `users:update` too.
    ///
    /// # Errors
    ///
    /// [`ScimError`](iam_scim::ScimError) of the kind `invalidValue`; of the kind `uniqueness` for an e-mail, an external
    /// identifier or a user name that another user has, or that two users have; also for an external identifier that is
    /// the e-mail of another user, for a user whom an administrator has deleted, and for one who cannot be adopted.
    /// [`Error::Forbidden`], [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation) for a user who comes back
    /// with more rights than the account has, [`Conflict::QuotaExceeded`].
    pub async fn create(
        &self,
        caller: &Caller,
        resource: UserResource,
    ) -> Result<(ProvisionedUser, Created), ProvisioningError> {
        let iam = self.0;
        let (caller, directory) = self.acting(caller).await?;
        iam.rights(&caller).require(&permission::USERS_CREATE)?;
        let wanted = Wanted::of(resource)?;
        let addressed = iam.holder_of(caller.tenant(), &wanted.email).await?;
        let addressee = iam.addressee_of(caller.tenant(), wanted.external_id.as_ref()).await?;
        let mut work = iam.begin(&caller).await?;
        let (grantor, directory) = lock_directory(&mut work, directory.id, &permission::USERS_CREATE).await?;
        let is_domain_verified = is_domain_verified(&mut work, &wanted.email).await?;
        let candidates = candidates(&mut work, &directory, &wanted, addressed).await?;
        let found = candidates.decide(&directory, &wanted.email, is_domain_verified)?;
        let case = Case { directory, grantor, wanted, is_domain_verified, addressee };
        let made = match found {
            Match::New => (self.make(&mut work, case).await?, Created::New),
            Match::Former(former) => (case.restore(&mut work, *former).await?, Created::Restored),
            Match::Adoptable(user) => (case.adopt(&mut work, *user).await?, Created::Adopted),
        };
        work.commit().await?;
        Ok(made)
    }

    async fn make(&self, work: &mut UnitOfWork<'_>, case: Case) -> Result<ProvisionedUser, ProvisioningError> {
        let Case { directory, wanted, is_domain_verified, addressee, .. } = case;
        if addressee.is_some() {
            return Err(Conflict::ExternalIdIsEmail.into());
        }
        hold_quota(&self.0.settings.quota, work, QuotaKind::Users, 1).await?;
        let custom = CustomFacts::read(work, None).await?;
        let attributes = custom.decide(wanted.custom.as_ref())?;
        let visible = custom.visible(attributes.as_deref());
        let attributes = attributes.map(|changed| changed.after).unwrap_or_default();
        let now = work.now();
        let profile = NewProfile {
            email: wanted.email.clone(),
            password: PasswordHash::unset(),
            first_name: wanted.first_name.clone(),
            last_name: wanted.last_name.clone(),
        };
        let user = User {
            email_verified_at: is_domain_verified.then_some(now),
            external_id: wanted.external_id.clone(),
            status: wanted.status(UserStatus::Active),
            ..profile.user(self.0.next_id(), directory.tenant_id, now)
        };
        let password = Some(PasswordHash::unset());
        work.apply(UserChange::Create { user: user.clone(), password, invitation: None, attributes }).await?;
        let entry = wanted.entry(directory.id, &user, now);
        work.apply(DirectoryUserChange::Create(entry.clone())).await?;
        Ok(ProvisionedUser { user, entry, attributes: visible })
    }
}

impl Case {
    /// Lets a user come back whom the directory has suspended or deleted.
    async fn restore(
        self,
        work: &mut UnitOfWork<'_>,
        former: ProvisionedUser,
    ) -> Result<ProvisionedUser, ProvisioningError> {
        // The same needs this without a directory, too.
        self.grantor.rights().require(&permission::USERS_UPDATE)?;
        let before = ProvisionedUser { user: lock_user(work, former.user.id).await?, ..former };
        self.check_addressee(&before.user)?;
        let Self { wanted, is_domain_verified, .. } = self;
        let custom = CustomFacts::read(work, Some(before.user.id)).await?;
        let attributes = custom.decide(wanted.custom.as_ref())?;
        let visible = custom.visible(attributes.as_deref());
        let status = if wanted.active == Some(false) { UserStatus::Suspended } else { UserStatus::Active };
        let profiled = wanted.profiled(&before.user, is_domain_verified, work.now());
        let user = User { status, external_id: wanted.external_id.clone(), ..profiled };
        let entry = wanted.applied_to(&before.entry);
        let written = write(work, before, user, entry, attributes).await?;
        Ok(ProvisionedUser { attributes: visible, ..written })
    }

    /// Takes over a user of the tenant. A caller that may not do it gets the answer of a directory that does not adopt, and
    /// learns no more of the user.
    async fn adopt(self, work: &mut UnitOfWork<'_>, adoptable: User) -> Result<ProvisionedUser, ProvisioningError> {
        let before = lock_user(work, adoptable.id).await?;
        let is_same = before.status != UserStatus::Inactive && before.email == adoptable.email;
        let may_change = self.grantor.rights().require(&permission::USERS_UPDATE).is_ok();
        if !is_same || !may_change || !covers(work, &before).await? {
            return Err(Conflict::EmailTaken.into());
        }
        self.check_addressee(&before)?;
        let Self { wanted, directory, .. } = self;
        let status = wanted.status(before.status);
        let user = User { status, external_id: wanted.external_id.clone(), ..wanted.named(&before) };
        let custom = CustomFacts::read(work, Some(before.id)).await?;
        let attributes = custom.decide(wanted.custom.as_ref())?;
        let visible = custom.visible(attributes.as_deref());
        let user = write_user(work, before, user, attributes).await?;
        let entry = wanted.entry(directory.id, &user, work.now());
        work.apply(DirectoryUserChange::Create(entry.clone())).await?;
        Ok(ProvisionedUser { user, entry, attributes: visible })
    }

    fn check_addressee(&self, user: &User) -> Result<()> {
        let is_new = self.wanted.external_id != user.external_id;
        let is_of_another = self.addressee.is_some_and(|addressee| addressee != user.id);
        if is_new && is_of_another { Err(Conflict::ExternalIdIsEmail.into()) } else { Ok(()) }
    }
}

/// Reads the users of whom a new resource may speak.
async fn candidates(
    work: &mut UnitOfWork<'_>,
    directory: &Directory,
    wanted: &Wanted,
    addressed: Option<User>,
) -> Result<Candidates> {
    let named = match work.reads().directory_user_named(directory.id, &wanted.user_name).await? {
        Some(entry) => Some(ProvisionedUser::new(lock_user(work, entry.user_id).await?, entry)),
        None => None,
    };
    let identified = match &wanted.external_id {
        Some(external_id) => work.reads().user_by_external_id(external_id).await?,
        None => None,
    };
    Ok(Candidates { named, identified: known(work, identified).await?, addressed: known(work, addressed).await? })
}

async fn known(work: &mut UnitOfWork<'_>, user: Option<User>) -> Result<Option<Known>> {
    let Some(user) = user else { return Ok(None) };
    let entry = work.reads().directory_user(user.id).await?;
    Ok(Some((user, entry)))
}

/// Whether the caller may do everything that a user may do, and give it.
async fn covers(work: &mut UnitOfWork<'_>, user: &User) -> Result<bool> {
    let now = work.now();
    let mut grants = work.reads().grants(GrantQuery::OfUser(user.id)).await?;
    grants.retain(|grant| grant.assignment.is_live(now));
    match work.check_grants(grants).await {
        Ok((_, None)) => Ok(true),
        Ok((_, Some((_, Error::Forbidden(_))))) | Err(Error::Forbidden(_)) => Ok(false),
        Ok((_, Some((_, error)))) | Err(error) => Err(error),
    }
}
