use iam_model::change::{DirectoryUserChange, UserChange};
use iam_model::directory::DirectoryUser;
use iam_model::id::UserId;
use iam_model::permission;
use iam_model::store::GrantQuery;
use iam_model::user::{User, UserStatus};

use crate::caller::Caller;
use crate::directory::provisioning::entity_tag::{entity_tag, require_tag};
use crate::directory::provisioning::{Provisioning, ProvisioningError, lock_directory, lock_provisioned};
use crate::user::{StatusMove, apply_with_consequences};

impl Provisioning<'_> {
    /// Deletes a user of the directory as [`Users::delete`](crate::user::Users::delete) does: it becomes INACTIVE, its
    /// sessions, role assignments and API keys end, and it leaves all groups. The directory sees it no more, and can
    /// let it come back by [`create`](Self::create). Needs `users:delete`. `if_match` is the header `If-Match`; see
    /// [`has_entity_tag`](crate::directory::has_entity_tag).
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](iam_model::error::Error::Forbidden); [`Error::NotFound`](iam_model::error::Error::NotFound) as
    /// for [`get`](Self::get), [`Error::PreconditionFailed`](iam_model::error::Error::PreconditionFailed),
    /// [`Conflict::LastAdministrator`](iam_model::error::Conflict::LastAdministrator),
    /// [`Conflict::LegalHold`](iam_model::error::Conflict::LegalHold).
    pub async fn delete(&self, caller: &Caller, id: UserId, if_match: Option<&str>) -> Result<(), ProvisioningError> {
        let iam = self.0;
        let (caller, directory) = self.acting(caller).await?;
        iam.rights(&caller).require(&permission::USERS_DELETE)?;
        let mut work = iam.begin(&caller).await?;
        lock_directory(&mut work, directory.id, &permission::USERS_DELETE).await?;
        let found = lock_provisioned(&mut work, directory.id, id).await?;
        require_tag(&entity_tag(&found), if_match)?;
        let (before, now) = (found.user, work.now());
        if before.status != UserStatus::Inactive {
            let grants = work.reads().grants(GrantQuery::OfUser(id)).await?;
            let status_move = StatusMove::between(before.status, UserStatus::Inactive);
            let after = User { status: UserStatus::Inactive, ..before.clone() }.changed(now);
            let change = UserChange::Delete { before, after };
            apply_with_consequences(&mut work, change, id, &status_move, grants).await?;
        }
        // The same moment as that of the user: so it is known later who has deleted the user last.
        let after = DirectoryUser { deleted_at: Some(now), ..found.entry.clone() }.changed(now);
        let before = Box::new(found.entry);
        work.apply(DirectoryUserChange::Update { before, after }).await?;
        work.commit().await?;
        Ok(())
    }
}
