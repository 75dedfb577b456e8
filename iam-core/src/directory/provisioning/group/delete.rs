use iam_model::change::DirectoryGroupChange;
use iam_model::id::DirectoryGroupId;
use iam_model::permission;

use crate::assignment::of_groups;
use crate::caller::Caller;
use crate::directory::provisioning::entity_tag::{group_entity_tag, require_tag};
use crate::directory::provisioning::group::find;
use crate::directory::provisioning::group::mapping::Mapping;
use crate::directory::provisioning::{Provisioning, ProvisioningError, lock_directory};

impl Provisioning<'_> {
    /// Deletes a group of the directory. Its members stay users, and lose what it gives, unless another group gives it
    /// too. Needs `users:update`; if the group has members and is mapped to roles, also `role-assignments:delete` in
    /// the places of all roles. `if_match` is the header `If-Match`; see
    /// [`has_entity_tag`](crate::directory::has_entity_tag).
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](iam_model::error::Error::Forbidden); [`Error::NotFound`](iam_model::error::Error::NotFound)
    /// as for [`get_group`](Self::get_group),
    /// [`Error::PreconditionFailed`](iam_model::error::Error::PreconditionFailed),
    /// [`Conflict::TooManyGroupAssignments`](iam_model::error::Conflict::TooManyGroupAssignments),
    /// [`Conflict::LastAdministrator`](iam_model::error::Conflict::LastAdministrator).
    pub async fn delete_group(
        &self,
        caller: &Caller,
        id: DirectoryGroupId,
        if_match: Option<&str>,
    ) -> Result<(), ProvisioningError> {
        let iam = self.0;
        let (caller, directory) = self.acting(caller).await?;
        iam.rights(&caller).require(&permission::USERS_UPDATE)?;
        let mut work = iam.begin(&caller).await?;
        let (key, directory) = lock_directory(&mut work, directory.id, &permission::USERS_UPDATE).await?;
        let group = find(&mut work, directory.id, id).await?;
        require_tag(&group_entity_tag(&group), if_match)?;
        if group.members > 0 && !group.grants.is_empty() {
            let mapping = Mapping::of(&mut work, &group).await?;
            mapping.require(key.rights(), &permission::ROLE_ASSIGNMENTS_DELETE)?;
            let members = work.reads().members_of_group(id).await?;
            of_groups::end(iam, &mut work, id, &of_groups::contexts(&members, &group.grants), 0).await?;
        }
        work.apply(DirectoryGroupChange::Delete(group)).await?;
        work.commit().await?;
        Ok(())
    }
}
