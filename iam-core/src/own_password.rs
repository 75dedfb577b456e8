//! The proof that a caller knows its own password, for changes of its credentials. A wrong password counts like a
//! failed login.

use iam_model::audit::ResourceType;
use iam_model::error::{Error, Result};
use iam_model::user::User;

use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork};
use crate::guard::{DuringLockout, LoginTenant, PasswordAttempt, PasswordCredentials, VerifiedPassword};

/// Returns the user of the caller, which is to prove that it is this user. So a user who acts as another one cannot
/// guess the password of that one.
pub(crate) async fn own_user(iam: &Engine, caller: &Caller) -> Result<User> {
    caller.refuse_impersonator()?;
    let (id, _) = caller.require_user()?;
    iam.store.user(caller.tenant(), id).await?.ok_or(Error::NotFound(ResourceType::USER))
}

impl<'a> PasswordAttempt<'a> {
    /// Verifies the password of the caller, whose own address the credentials must have.
    pub(crate) async fn verify_caller(
        iam: &Engine,
        caller: &Caller,
        credentials: PasswordCredentials<'a>,
    ) -> Result<Self> {
        let guarded = iam.store.guarded_account(caller.tenant(), &credentials.email.key()).await?;
        // The address may belong to another user meanwhile.
        if guarded.account.as_ref().map(|account| account.user.id) != caller.user() {
            return Err(Error::NotFound(ResourceType::USER));
        }
        // The tenant is active, because a suspended tenant has no callers.
        let tenant = LoginTenant::active(caller.tenant());
        Self::verify(iam, tenant, credentials, guarded, DuringLockout::Refuse).await
    }

    /// Applies the attempt of a caller. Returns the verified password, and the unit of work in which the change
    /// follows. A refusal is committed here.
    pub(crate) async fn apply_for_caller<'w>(
        self,
        iam: &'w Engine,
        caller: &'w Caller,
    ) -> Result<(VerifiedPassword, UnitOfWork<'w>)> {
        match self.apply_under_lock(iam, caller).await? {
            (Ok(verified), work) => Ok((verified, work)),
            (Err(refusal), work) => {
                work.commit().await?;
                Err(refusal.of_current_password())
            }
        }
    }
}
