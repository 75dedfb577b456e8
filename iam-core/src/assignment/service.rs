use super::Grant;
use crate::access::permission;
use crate::caller::Caller;
use crate::error::Result;
use crate::iam::Inner;
use crate::id::UserId;
use crate::user::require_own;

/// Reads role assignments; see [`Iam::assignments`](crate::Iam::assignments).
#[derive(Clone, Copy)]
pub struct Assignments<'a>(pub(crate) &'a Inner);

impl Assignments<'_> {
    /// The assignments of a user that have not expired, newest first. One's own always; another's with
    /// `role-assignments:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](crate::Error::Forbidden), [`Error::NotFound`](crate::Error::NotFound) for an unknown user.
    pub async fn of_user(&self, caller: &Caller, user: UserId) -> Result<Vec<Grant>> {
        require_own(self.0, caller, user, permission::ROLE_ASSIGNMENTS_READ).await?;
        let now = self.0.now();
        let mut grants = self.0.store.grants_of(caller.tenant(), user).await?;
        grants.retain(|grant| grant.assignment.is_live(now));
        Ok(grants)
    }
}
