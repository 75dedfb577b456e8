//! The proof that a caller knows its own password, for changes of its credentials. A wrong password counts like a
//! failed login.

use iam_model::audit::ResourceType;
use iam_model::error::{Error, Result};
use iam_model::user::User;

use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork};
use crate::guard::{Attempt, Claim, Proven, Scope, WhenLocked};

/// Returns the user of the caller.
pub(crate) async fn own_user(iam: &Engine, caller: &Caller) -> Result<User> {
    let (id, _) = caller.require_user()?;
    iam.store.user(caller.tenant(), id).await?.ok_or(Error::NotFound(ResourceType::USER))
}

impl<'a> Attempt<'a> {
    /// Verifies the password of the caller itself, who has the claimed address.
    pub(crate) async fn by_caller(iam: &Engine, caller: &Caller, claim: Claim<'a>) -> Result<Self> {
        let guarded = iam.store.guarded_account(caller.tenant(), &claim.email.key()).await?;
        // The address may belong to another user meanwhile.
        if guarded.account.as_ref().map(|account| account.user.id) != caller.user() {
            return Err(Error::NotFound(ResourceType::USER));
        }
        // The tenant is active, because a suspended tenant has no callers.
        let scope = Scope::without_tenant(caller.tenant());
        Self::make(iam, scope, claim, guarded, WhenLocked::Refuse).await
    }

    /// Settles the attempt of a caller. Returns its proof, and the unit of work in which the change follows. A refusal
    /// is committed here.
    pub(crate) async fn settle_by_caller<'w>(
        self,
        iam: &'w Engine,
        caller: &'w Caller,
    ) -> Result<(Proven, UnitOfWork<'w>)> {
        match self.settle(iam, caller).await? {
            (Ok(proven), work) => Ok((proven, work)),
            (Err(refusal), work) => {
                work.commit().await?;
                Err(refusal.of_current_password())
            }
        }
    }
}
