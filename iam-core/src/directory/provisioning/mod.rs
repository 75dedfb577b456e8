//! What a directory writes: the users of its tenant that it has made or adopted, and its groups of them, as resources
//! of SCIM 2.0.

mod attributes;
mod change;
mod create;
mod delete;
mod entity_tag;
mod error;
mod group;
mod matching;
mod read;
mod wanted;
mod write;

pub use crate::directory::provisioning::create::Created;
pub use crate::directory::provisioning::entity_tag::{entity_tag, group_entity_tag, has_entity_tag};
pub use crate::directory::provisioning::error::ProvisioningError;
pub use crate::directory::provisioning::group::group_resource;
pub use crate::directory::provisioning::wanted::resource_of;

use iam_model::audit::ResourceType;
use iam_model::context::Actor;
use iam_model::directory::{Directory, DirectoryUser, ProvisionedUser};
use iam_model::error::{Error, Forbidden, Result};
use iam_model::id::{DirectoryId, UserId};
use iam_model::permission::Permission;
use iam_model::user::User;

use crate::caller::Caller;
use crate::engine::{Engine, LockedRights, UnitOfWork};

/// What a directory writes and reads; see [`Iam::provisioning`](crate::iam::Iam::provisioning).
///
/// The caller of every method is an API key of the service account of a directory; another caller gets
/// [`Forbidden::NoDirectory`]. It needs each permission tenant-wide: a directory speaks for the tenant. It sees and
/// changes only users and groups of its own directory, whatever the account may do otherwise. What it writes is
/// recorded with `metadata.directoryId`. No mail is sent.
///
/// A directory may give no user more than its key may do: to change the e-mail or the external identifier of a user, to
/// make it ACTIVE, or to adopt it, the key must hold everything that the user may do. To add a user to a group, the key
/// must hold everything that the roles give to which people have [mapped](crate::directory::Directories::set_grants) the
/// group. A user holds these roles while it is a member, and for no longer than the account does.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::api_key::NewApiKey;
/// use iam_core::assignment::NewAssignment;
/// use iam_core::directory::{Created, GroupResource, NewDirectory, UserResource};
/// use iam_core::role::NewRole;
/// use iam_core::user::{NewServiceAccount, UserStatus};
/// use serde_json::json;
///
/// // An administrator makes the account of the directory, and a key.
/// let robot = iam.users().create_service_account(&ada, NewServiceAccount { name: "Entra".into() }).await?;
/// let permissions = vec!["users:*".to_owned()];
/// let role = NewRole { name: "PROVISIONER".into(), permissions: permissions.clone(), ..NewRole::default() };
/// let role = iam.roles().create(&ada, role).await?.id;
/// let assignment = NewAssignment { user: robot.id, role, organization: None, expires_at: None };
/// iam.assignments().create(&ada, assignment).await?;
/// let new = NewDirectory { name: "Staff".into(), service_account: robot.id, identity_provider: None, adopt: false };
/// iam.directories().create(&ada, new).await?;
/// let key = NewApiKey { name: "entra".into(), permissions: Some(permissions), ..NewApiKey::default() };
/// let key = iam.api_keys().create(&ada, robot.id, key).await?;
///
/// // The directory makes a user by the key, and suspends it when the person leaves.
/// let entra = iam.authenticate(key.token.expose(), RequestContext::default()).await?;
/// let grace = UserResource::parse(&json!({ "userName": "grace@example.com", "externalId": "a91f" }))?;
/// let (grace, created) = iam.provisioning().create(&entra, grace).await?;
/// assert_eq!((created, grace.user.email.as_str()), (Created::New, "grace@example.com"));
///
/// // It makes a group of users, which gives nothing until an administrator maps it to roles.
/// let group = json!({ "displayName": "Admirals", "members": [{ "value": grace.user.id }] });
/// let group = iam.provisioning().create_group(&entra, &GroupResource::parse(&group)?).await?;
/// assert_eq!((group.members, group.grants.len()), (1, 0));
///
/// let left = json!({ "Operations": [{ "op": "replace", "path": "active", "value": false }] });
/// let grace = iam.provisioning().patch(&entra, grace.user.id, &left, None).await?;
/// assert_eq!(grace.user.status, UserStatus::Suspended);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Provisioning<'a>(pub(crate) &'a Engine);

impl Provisioning<'_> {
    /// Returns the caller as it acts for its directory, and the directory.
    async fn acting(&self, caller: &Caller) -> Result<(Caller, Directory)> {
        let Actor::ApiKey { user, .. } = *caller.actor() else { return Err(Forbidden::NoDirectory.into()) };
        let directory = self.0.store.directory_of_account(caller.tenant(), user).await?;
        let directory = directory.ok_or(Forbidden::NoDirectory)?;
        Ok((caller.clone().for_directory(directory.id), directory))
    }
}

/// Reads the rights of the caller under the tenant's lock, and requires a permission. Returns the rights and the
/// directory, which does not change before the unit of work ends.
async fn lock_directory(
    work: &mut UnitOfWork<'_>,
    directory: DirectoryId,
    permission: &Permission,
) -> Result<(LockedRights, Directory)> {
    let grantor = work.lock_rights().await?;
    grantor.rights().require(permission)?;
    let all = work.reads().directories().await?;
    let found = all.into_iter().find(|found| found.id == directory);
    Ok((grantor, found.ok_or(Forbidden::NoDirectory)?))
}

/// Locks a user of a directory that the directory has not deleted.
async fn lock_provisioned(work: &mut UnitOfWork<'_>, directory: DirectoryId, id: UserId) -> Result<ProvisionedUser> {
    let is_there = |entry: &DirectoryUser| entry.directory_id == directory && entry.deleted_at.is_none();
    let entry = work.reads().directory_user(id).await?.filter(is_there).ok_or_else(not_found)?;
    Ok(ProvisionedUser::new(lock_user(work, id).await?, entry))
}

async fn lock_user(work: &mut UnitOfWork<'_>, id: UserId) -> Result<User> {
    work.invalidate(id);
    work.reads().lock_user(id).await?.ok_or_else(not_found)
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::USER)
}
