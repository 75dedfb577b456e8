use iam_model::directory::{Directory, DirectoryUser, ProvisionedUser};
use iam_model::error::{Conflict, Result};
use iam_model::user::{User, UserKind, UserStatus};
use iam_model::validate::Email;

/// A user of the tenant, with what a directory says of it.
pub(super) type Known = (User, Option<DirectoryUser>);

/// The users of whom a new resource may speak, read under the tenant's lock.
pub(super) struct Candidates {
    /// The user of the directory who has the user name, also if the directory has deleted it.
    pub(super) named: Option<ProvisionedUser>,
    /// The user who has the external identifier.
    pub(super) identified: Option<Known>,
    /// The user who has the e-mail.
    pub(super) addressed: Option<Known>,
}

/// Of whom a new resource speaks.
pub(super) enum Match {
    /// Of a new user.
    New,
    /// Of a user of the directory who has gone and comes back.
    Former(Box<ProvisionedUser>),
    /// Of a user of the tenant who belongs to no directory, and whom this one may adopt if its account may do everything
    /// that the user may do.
    Adoptable(Box<User>),
}

impl Candidates {
    /// Decides of whom a new resource with this e-mail speaks.
    ///
    /// # Errors
    ///
    /// The conflict about a value that another user has, or that two users have.
    pub(super) fn decide(self, directory: &Directory, email: &Email, is_domain_verified: bool) -> Result<Match> {
        let Self { named, identified, addressed } = self;
        if let (Some(named), Some((user, _))) = (&named, &identified)
            && named.user.id != user.id
        {
            return Err(Conflict::ExternalIdTaken.into());
        }
        let taken = if named.is_some() { Conflict::DirectoryUserNameTaken } else { Conflict::ExternalIdTaken };
        let of_directory = |(user, entry): &Known| {
            let entry = entry.as_ref().filter(|entry| entry.directory_id == directory.id)?;
            Some(ProvisionedUser::new(user.clone(), entry.clone()))
        };
        if let Some(former) = named.or_else(|| identified.as_ref().and_then(of_directory)) {
            if !can_come_back(&former) {
                return Err(taken.into());
            }
            if addressed.is_some_and(|(user, _)| user.id != former.user.id) {
                return Err(Conflict::EmailTaken.into());
            }
            return Ok(Match::Former(Box::new(former)));
        }
        match (identified, addressed) {
            (None, None) => Ok(Match::New),
            (Some(_), None) => Err(Conflict::ExternalIdTaken.into()),
            (Some((user, _)), Some((other, _))) if user.id != other.id => Err(Conflict::ExternalIdTaken.into()),
            (_, Some((user, None)))
                if directory.adopt
                    && is_domain_verified
                    && is_adoptable(&user)
                    && user.email.is_same_mailbox(email) =>
            {
                Ok(Match::Adoptable(Box::new(user)))
            }
            (_, Some(_)) => Err(Conflict::EmailTaken.into()),
        }
    }
}

/// Whether a user of a directory has gone and may come back: the directory has suspended or deleted it. An administrator
/// who has deleted a user wants that it stays deleted, also if the directory has deleted it afterwards.
fn can_come_back(former: &ProvisionedUser) -> bool {
    match former.user.status {
        UserStatus::Active => false,
        UserStatus::Suspended => true,
        UserStatus::Inactive => former.entry.deleted_at == Some(former.user.updated_at),
    }
}

fn is_adoptable(user: &User) -> bool {
    user.kind == UserKind::Human && user.status != UserStatus::Inactive
}
