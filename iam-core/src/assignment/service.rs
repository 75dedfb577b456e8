use super::Grant;
use crate::access::permission;
use crate::audit::ResourceType;
use crate::caller::Caller;
use crate::error::{Error, Result};
use crate::iam::Inner;
use crate::id::UserId;

/// Reads role assignments; see [`Iam::assignments`](crate::Iam::assignments).
#[derive(Clone, Copy)]
pub struct Assignments<'a>(pub(crate) &'a Inner);

impl Assignments<'_> {
    /// The assignments of a user that have not expired, newest first. One's own always; another's with
    /// `role-assignments:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`] for an unknown user.
    pub async fn of_user(&self, caller: &Caller, user: UserId) -> Result<Vec<Grant>> {
        let store = &self.0.store;
        if caller.user() != Some(user) {
            caller.require(permission::ROLE_ASSIGNMENTS_READ)?;
            store.user(caller.tenant(), user).await?.ok_or(Error::NotFound(ResourceType::USER))?;
        }
        let now = self.0.now();
        let mut grants = store.grants_of(caller.tenant(), user).await?;
        grants.retain(|grant| grant.assignment.is_live(now));
        Ok(grants)
    }
}
