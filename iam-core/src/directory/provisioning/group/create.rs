use iam_model::change::DirectoryGroupChange;
use iam_model::directory::{DirectoryGroup, DirectoryName};
use iam_model::error::Conflict;
use iam_model::permission;
use iam_model::version::Version;
use iam_scim::group::GroupResource;

use crate::caller::Caller;
use crate::directory::provisioning::group::members::NamedMembers;
use crate::directory::provisioning::group::wanted::valid_external_id;
use crate::directory::provisioning::wanted::valid;
use crate::directory::provisioning::{Provisioning, ProvisioningError, lock_directory};

impl Provisioning<'_> {
    /// Makes a group of users of the directory, which gives nothing. Needs `users:update`.
    ///
    /// # Errors
    ///
    /// [`ScimError`](iam_scim::ScimError) of the kind `invalidValue`, also for a member who is no user of the directory
    /// or is INACTIVE, of the kind `uniqueness` for the name of another group of the directory, and with the status 413
    /// for more than 1,000 members. [`Error::Forbidden`](iam_model::error::Error::Forbidden),
    /// [`Conflict::TooManyDirectoryGroups`].
    pub async fn create_group(
        &self,
        caller: &Caller,
        resource: &GroupResource,
    ) -> Result<DirectoryGroup, ProvisioningError> {
        let iam = self.0;
        let (caller, directory) = self.acting(caller).await?;
        iam.rights(&caller).require(&permission::USERS_UPDATE)?;
        let display_name: DirectoryName = valid("displayName", &resource.display_name)?;
        let external_id = valid_external_id(resource.external_id.as_deref())?;
        let named = NamedMembers::listed(resource.members.as_deref())?;
        let mut work = iam.begin(&caller).await?;
        lock_directory(&mut work, directory.id, &permission::USERS_UPDATE).await?;
        if work.reads().count_directory_groups(directory.id).await? >= DirectoryGroup::MAX {
            return Err(Conflict::TooManyDirectoryGroups.into());
        }
        if work.reads().directory_group_named(directory.id, &display_name).await?.is_some() {
            return Err(Conflict::DirectoryGroupNameTaken.into());
        }
        let now = work.now();
        let empty = DirectoryGroup {
            id: iam.next_id(),
            tenant_id: directory.tenant_id,
            directory_id: directory.id,
            display_name,
            external_id,
            members: 0,
            grants: Vec::new(),
            created_at: now,
            updated_at: now,
            version: Version::FIRST,
        };
        let changed = named.compared(&mut work, empty.id).await?;
        let group = DirectoryGroup { members: changed.check(&mut work, &empty).await?, ..empty };
        work.apply(DirectoryGroupChange::Create { group: group.clone(), members: changed.added }).await?;
        work.commit().await?;
        Ok(group)
    }
}
