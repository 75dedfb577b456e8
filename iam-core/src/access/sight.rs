use iam_model::access::{Coverage, VisibleScope};
use iam_model::audit::ResourceType;
use iam_model::error::{Error, Result};
use iam_model::id::UserId;
use iam_model::permission::Permission;

use crate::caller::Caller;
use crate::engine::Engine;

/// Checks that a caller may see what belongs to a user, and returns the visible scope. A user in a session may always
/// see all of its own data. For another user, it needs a permission over this much of the user; see [`Coverage`].
pub(crate) async fn require_sight(
    iam: &Engine,
    caller: &Caller,
    user: UserId,
    otherwise: &Permission,
    coverage: Coverage,
) -> Result<VisibleScope> {
    if caller.is_in_session_of(user) {
        return Ok(VisibleScope::Tenant);
    }
    let visible_scope = require_visible_scope_over(iam, caller, user, otherwise, coverage).await?;
    if visible_scope == VisibleScope::Tenant {
        iam.store.user(caller.tenant(), user).await?.ok_or(Error::NotFound(ResourceType::USER))?;
    }
    Ok(visible_scope)
}

/// Returns the visible scope of a permission of the caller. If it is not tenant-wide, this much of the user must lie
/// within it; see [`Coverage`]. If it is tenant-wide, the user need not exist.
pub(crate) async fn require_visible_scope_over(
    iam: &Engine,
    caller: &Caller,
    user: UserId,
    permission: &Permission,
    coverage: Coverage,
) -> Result<VisibleScope> {
    let rights = iam.rights(caller);
    let visible_scope = rights.visible_scope(permission)?;
    if visible_scope != VisibleScope::Tenant {
        let grants = iam.store.grants_of(caller.tenant(), &[user]).await?;
        rights.require_over(permission, &grants, coverage)?;
    }
    Ok(visible_scope)
}
