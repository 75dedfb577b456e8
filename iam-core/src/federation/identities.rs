use iam_model::audit::ResourceType;
use iam_model::change::IdentityChange;
use iam_model::error::{Error, Result};
use iam_model::id::{IdentityId, UserId};
use iam_model::identity::Identity;

use crate::caller::Caller;
use crate::federation::Federation;
use crate::user::Users;

impl Federation<'_> {
    /// Returns the identities of a user, the one that was linked first first. A user sees its own in a session; those of
    /// another one need `users:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn identities(&self, caller: &Caller, user: UserId) -> Result<Vec<Identity>> {
        if !caller.is_in_session_of(user) {
            Users(self.0).get(caller, user).await?;
        }
        Ok(self.0.store.identities(caller.tenant(), user).await?)
    }

    /// Removes a link of the caller's own user.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh), [`Error::NotFound`].
    pub async fn unlink(&self, caller: &Caller, id: IdentityId) -> Result<()> {
        let iam = self.0;
        iam.require_fresh(caller).await?;
        let (user, _) = caller.require_user()?;
        let mut work = iam.begin(caller).await?;
        work.require_fresh().await?;
        let identity = work.reads().identities(user).await?.into_iter().find(|identity| identity.id == id);
        let identity = identity.ok_or(Error::NotFound(ResourceType::IDENTITY))?;
        work.apply(IdentityChange::Delete(identity)).await?;
        work.commit().await
    }
}
