use iam_model::access::{Coverage, Membership, VisibleScope};
use iam_model::audit::ResourceType;
use iam_model::error::{Error, Result};
use iam_model::id::UserId;
use iam_model::permission::Permission;
use iam_model::user::User;

use crate::caller::Caller;
use crate::engine::Engine;

/// Checks that a caller may see the data of a user, and returns the visible scope. A user in a session may always see
/// all of its own data. For another user, it needs a permission over this much of the user; see [`Coverage`].
pub(crate) async fn require_visible(
    iam: &Engine,
    caller: &Caller,
    user: UserId,
    otherwise: &Permission,
    coverage: Coverage,
) -> Result<VisibleScope> {
    if caller.is_in_session_of(user) {
        return Ok(VisibleScope::Tenant);
    }
    let visible_scope = iam.rights(caller).visible_scope(otherwise)?;
    let user = iam.store.user(caller.tenant(), user).await?.ok_or(Error::NotFound(ResourceType::USER))?;
    require_for_user(iam, caller, &user, otherwise, coverage).await?;
    Ok(visible_scope)
}

/// Checks that a caller holds a permission over this much of a user, for a read; see [`Coverage`].
pub(crate) async fn require_for_user(
    iam: &Engine,
    caller: &Caller,
    user: &User,
    permission: &Permission,
    coverage: Coverage,
) -> Result<()> {
    let rights = iam.rights(caller);
    if rights.visible_scope(permission)? == VisibleScope::Tenant {
        return Ok(());
    }
    let above = iam.lineages(caller.tenant(), user.home_organization_id).await?;
    let home = user.home_organization_id.and_then(|home| above.position(home));
    let grants = iam.store.grants_of(caller.tenant(), &[user.id]).await?;
    rights.require_for_user(permission, Membership { home, grants: &grants }, coverage)
}
