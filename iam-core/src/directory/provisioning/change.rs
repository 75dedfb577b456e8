use std::time::Duration;

use iam_model::directory::ProvisionedUser;
use iam_model::error::{Conflict, Error};
use iam_model::id::{DirectoryId, UserId};
use iam_model::permission;
use iam_model::user::{User, UserStatus};
use iam_model::validate::ExternalId;
use iam_scim::ScimError;
use iam_scim::user::UserResource;
use serde_json::Value;

use crate::caller::Caller;
use crate::directory::provisioning::attributes::CustomFacts;
use crate::directory::provisioning::entity_tag::{entity_tag, require_tag};
use crate::directory::provisioning::wanted::{Wanted, resource_of};
use crate::directory::provisioning::write::{is_domain_verified, write};
use crate::directory::provisioning::{Provisioning, ProvisioningError, lock_directory, lock_provisioned, not_found};

/// How often a change is tried while other requests change the external identifier of the same user.
const ATTEMPTS: usize = 3;

/// An external identifier, and the user whose e-mail it is.
type Addressed = (Option<ExternalId>, Option<UserId>);

impl Provisioning<'_> {
    /// Replaces what the directory says of a user. An attribute that the resource lacks is removed, but for `active`: a
    /// resource that does not say whether the user is active changes nothing of it. Needs `users:update`. Nothing is
    /// written if nothing changes.
    ///
    /// A user who is not active is SUSPENDED, with what a suspension ends. The names and the e-mail of the user follow
    /// from the resource, if that says anything new apart from `active` and `externalId`. `if_match` is the header
    /// `If-Match`; see [`has_entity_tag`](crate::directory::has_entity_tag).
    ///
    /// # Errors
    ///
    /// [`ScimError`] of the kind `invalidValue`, and of the kind `uniqueness` for an e-mail, an external identifier or a
    /// user name that another user has, or an external identifier that is the e-mail of another user.
    /// [`Error::Forbidden`]; [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation) for another e-mail or
    /// external identifier of a user with more rights than the account has, or if such a user becomes active;
    /// [`Error::NotFound`] as for [`get`](Self::get), [`Error::PreconditionFailed`], [`Conflict::UserInactive`] for a user
    /// whom an administrator has deleted, [`Conflict::LastAdministrator`].
    pub async fn replace(
        &self,
        caller: &Caller,
        id: UserId,
        resource: UserResource,
        if_match: Option<&str>,
    ) -> Result<ProvisionedUser, ProvisioningError> {
        self.change(caller, id, if_match, |_| Ok(resource.clone())).await
    }

    /// Changes what the directory says of a user by a message of PATCH (RFC 7644, section 3.5.2), as
    /// [`replace`](Self::replace) does: all of its changes, or none.
    ///
    /// # Errors
    ///
    /// Those of [`replace`](Self::replace), and [`ScimError`] for a message that cannot be used.
    pub async fn patch(
        &self,
        caller: &Caller,
        id: UserId,
        message: &Value,
        if_match: Option<&str>,
    ) -> Result<ProvisionedUser, ProvisioningError> {
        let patched = |before: &ProvisionedUser| -> Result<UserResource, ScimError> {
            let mut resource = resource_of(before);
            resource.patch(message)?;
            Ok(resource)
        };
        self.change(caller, id, if_match, patched).await
    }

    async fn change(
        &self,
        caller: &Caller,
        id: UserId,
        if_match: Option<&str>,
        after: impl Fn(&ProvisionedUser) -> Result<UserResource, ScimError>,
    ) -> Result<ProvisionedUser, ProvisioningError> {
        let iam = self.0;
        let (caller, directory) = self.acting(caller).await?;
        iam.rights(&caller).require(&permission::USERS_UPDATE)?;
        for _ in 0..ATTEMPTS {
            // Outside of the unit of work, which must not wait for a second connection.
            let seen = iam.store.provisioned_user(caller.tenant(), directory.id, id).await?.ok_or_else(not_found)?;
            require_tag(&entity_tag(&seen), if_match)?;
            let external_id = Wanted::of(after(&seen)?)?.external_id;
            let addressee = iam.addressee_of(caller.tenant(), external_id.as_ref()).await?;
            let user = (directory.id, id, if_match);
            if let Some(changed) = self.try_change(&caller, user, &after, &(external_id, addressee)).await? {
                return Ok(changed);
            }
        }
        Err(Error::Overloaded { retry_after: Duration::from_secs(1) }.into())
    }

    /// Changes a user under its locks. `None` if its external identifier would change to another one than was looked up.
    async fn try_change(
        &self,
        caller: &Caller,
        (directory, id, if_match): (DirectoryId, UserId, Option<&str>),
        after: &impl Fn(&ProvisionedUser) -> Result<UserResource, ScimError>,
        (external_id, addressee): &Addressed,
    ) -> Result<Option<ProvisionedUser>, ProvisioningError> {
        let mut work = self.0.begin(caller).await?;
        lock_directory(&mut work, directory, &permission::USERS_UPDATE).await?;
        let mut before = lock_provisioned(&mut work, directory, id).await?;
        require_tag(&entity_tag(&before), if_match)?;
        let custom = CustomFacts::read(&mut work, Some(id)).await?;
        before.attributes = custom.visible(None);
        let wanted = Wanted::of(after(&before)?)?;
        let attributes = custom.decide(wanted.custom.as_ref())?;
        let status = wanted.status(before.user.status);
        let has_other_attributes = wanted.differs_from(&before.entry);
        let has_other_id = wanted.external_id != before.user.external_id;
        if !has_other_attributes && !has_other_id && status == before.user.status && attributes.is_none() {
            return Ok(Some(before));
        }
        if before.user.status == UserStatus::Inactive {
            return Err(Conflict::UserInactive.into());
        }
        if wanted.user_name.key() != before.entry.user_name.key()
            && work.reads().directory_user_named(directory, &wanted.user_name).await?.is_some()
        {
            return Err(Conflict::DirectoryUserNameTaken.into());
        }
        if has_other_id {
            if wanted.external_id != *external_id {
                return Ok(None);
            }
            if addressee.is_some_and(|addressee| addressee != id) {
                return Err(Conflict::ExternalIdIsEmail.into());
            }
        }
        // A person who leaves must be suspended whatever has happened to the e-mail meanwhile.
        let profiled = if has_other_attributes {
            let is_domain_verified = is_domain_verified(&mut work, &wanted.email).await?;
            wanted.profiled(&before.user, is_domain_verified, work.now())
        } else {
            before.user.clone()
        };
        let user = User { status, external_id: wanted.external_id.clone(), ..profiled };
        let entry = wanted.applied_to(&before.entry);
        let visible = custom.visible(attributes.as_deref());
        let changed = write(&mut work, before, user, entry, attributes).await?;
        work.commit().await?;
        Ok(Some(ProvisionedUser { attributes: visible, ..changed }))
    }
}
