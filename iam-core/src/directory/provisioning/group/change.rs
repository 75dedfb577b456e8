use iam_model::assignment::OfferedRole;
use iam_model::change::DirectoryGroupChange;
use iam_model::directory::DirectoryGroup;
use iam_model::error::{Conflict, Result};
use iam_model::id::{DirectoryGroupId, UserId};
use iam_model::permission;
use iam_scim::ScimError;
use iam_scim::group::{GroupPatch, GroupResource};
use serde_json::Value;

use crate::assignment::of_groups::{self, Giver};
use crate::caller::Caller;
use crate::directory::provisioning::entity_tag::{group_entity_tag, require_tag};
use crate::directory::provisioning::group::find;
use crate::directory::provisioning::group::mapping::Mapping;
use crate::directory::provisioning::group::members::ChangedMembers;
use crate::directory::provisioning::group::wanted::Wanted;
use crate::directory::provisioning::{Provisioning, ProvisioningError, lock_directory};
use crate::engine::{LockedRights, UnitOfWork};

impl Provisioning<'_> {
    /// Replaces what the directory says of a group. A resource without `externalId` removes it, and one without
    /// `members` keeps the members. Needs `users:update`. Nothing is written if nothing changes. `if_match` is the
    /// header `If-Match`; see [`has_entity_tag`](crate::directory::has_entity_tag).
    ///
    /// If people have mapped the group to roles, new members get these, and former members lose them, unless another
    /// group gives them too. New members need `role-assignments:create` in the places of all roles, and everything that
    /// the roles give; former members `role-assignments:delete`.
    ///
    /// # Errors
    ///
    /// [`ScimError`] as for [`create_group`](Self::create_group), with the status 413 for more than 1,000 members who
    /// come or go, or more than 5,000 afterwards. [`Error::Forbidden`](iam_model::error::Error::Forbidden);
    /// [`Forbidden::AccountEscalation`](iam_model::error::Forbidden::AccountEscalation) for a new member of a group
    /// with a role that the key does not cover; [`Error::NotFound`](iam_model::error::Error::NotFound) as for
    /// [`get_group`](Self::get_group), [`Error::PreconditionFailed`](iam_model::error::Error::PreconditionFailed),
    /// [`Conflict::QuotaExceeded`], [`Conflict::TooManyGroupAssignments`], [`Conflict::LastAdministrator`].
    pub async fn replace_group(
        &self,
        caller: &Caller,
        id: DirectoryGroupId,
        resource: &GroupResource,
        if_match: Option<&str>,
    ) -> Result<DirectoryGroup, ProvisioningError> {
        self.change_group(caller, id, if_match, || Wanted::replacing(resource)).await
    }

    /// Changes what the directory says of a group by a message of PATCH (RFC 7644, section 3.5.2), as
    /// [`replace_group`](Self::replace_group) does: all of its changes, or none.
    ///
    /// # Errors
    ///
    /// Those of [`replace_group`](Self::replace_group), and [`ScimError`] for a message that cannot be used.
    pub async fn patch_group(
        &self,
        caller: &Caller,
        id: DirectoryGroupId,
        message: &Value,
        if_match: Option<&str>,
    ) -> Result<DirectoryGroup, ProvisioningError> {
        self.change_group(caller, id, if_match, || Wanted::changing(&GroupPatch::parse(message)?)).await
    }

    async fn change_group(
        &self,
        caller: &Caller,
        id: DirectoryGroupId,
        if_match: Option<&str>,
        wanted: impl FnOnce() -> Result<Wanted, ScimError>,
    ) -> Result<DirectoryGroup, ProvisioningError> {
        let iam = self.0;
        let (caller, directory) = self.acting(caller).await?;
        iam.rights(&caller).require(&permission::USERS_UPDATE)?;
        let wanted = wanted()?;
        let mut work = iam.begin(&caller).await?;
        let (key, directory) = lock_directory(&mut work, directory.id, &permission::USERS_UPDATE).await?;
        let before = find(&mut work, directory.id, id).await?;
        require_tag(&group_entity_tag(&before), if_match)?;
        let named = wanted.applied_to(&before);
        let changed = wanted.members.compared(&mut work, id).await?;
        if named == before && changed.is_empty() {
            return Ok(before);
        }
        let members = changed.check(&mut work, &before).await?;
        if named.display_name.key() != before.display_name.key()
            && work.reads().directory_group_named(directory.id, &named.display_name).await?.is_some()
        {
            return Err(Conflict::DirectoryGroupNameTaken.into());
        }
        let roles = given_roles(&mut work, &key, &before, &changed).await?;
        let after = DirectoryGroup { members, ..named }.changed(work.now());
        let ChangedMembers { added, removed } = changed;
        let change = DirectoryGroupChange::Update {
            before: Box::new(before),
            after: after.clone(),
            added: added.clone(),
            removed: removed.clone(),
            given: Vec::new(),
        };
        work.apply(change).await?;
        let gifts: Vec<(UserId, &OfferedRole)> =
            added.iter().flat_map(|user| roles.iter().map(move |role| (*user, role))).collect();
        // First, so that a new administrator is there when the last one goes.
        let begun = of_groups::begin(iam, &mut work, &Giver { group: id, rights: &key }, &gifts).await?;
        of_groups::end(iam, &mut work, id, &of_groups::contexts(&removed, &after.grants), begun).await?;
        work.commit().await?;
        Ok(after)
    }
}

/// Checks that a key may give what new members of a group get, and revoke what former members lose. Returns the roles
/// that new members get, each until the key holds all that it gives.
async fn given_roles(
    work: &mut UnitOfWork<'_>,
    key: &LockedRights,
    group: &DirectoryGroup,
    changed: &ChangedMembers,
) -> Result<Vec<OfferedRole>> {
    if group.grants.is_empty() || changed.is_empty() {
        return Ok(Vec::new());
    }
    let mapping = Mapping::of(work, group).await?;
    if !changed.removed.is_empty() {
        mapping.require(key.rights(), &permission::ROLE_ASSIGNMENTS_DELETE)?;
    }
    if changed.added.is_empty() {
        return Ok(Vec::new());
    }
    mapping.require(key.rights(), &permission::ROLE_ASSIGNMENTS_CREATE)?;
    of_groups::covered(work, key, mapping.offered(), |_, error| error).await
}
