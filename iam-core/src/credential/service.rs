use super::guard::{Attempt, Outcome};
use super::{CredentialChange, accept_password};
use crate::audit::ResourceType;
use crate::caller::Caller;
use crate::error::{Error, Forbidden, Result};
use crate::iam::Inner;
use crate::secret::Password;
use crate::session::{EndReason, end_sessions};
use crate::validate::Fields;

/// Changes passwords; see [`Iam::credentials`](crate::Iam::credentials).
#[derive(Clone, Copy)]
pub struct Credentials<'a>(pub(crate) &'a Inner);

impl Credentials<'_> {
    /// Changes the caller's own password and ends its other sessions.
    ///
    /// A wrong current password counts like a failed login.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] naming `currentPassword` or `newPassword`, [`Error::AccountLocked`],
    /// [`Forbidden::NotAUser`] for trusted code.
    pub async fn change_password(&self, caller: &Caller, current: Password, new: Password) -> Result<()> {
        let iam = self.0;
        let (user_id, session_id) = caller.require_user()?;
        let mut fields = Fields::default();
        fields.require("currentPassword", current.expose());
        let new = fields.check("newPassword", accept_password(new));
        let Some(new) = new.filter(|_| fields.is_empty()) else {
            return Err(fields.into_error());
        };
        let user = iam.store.user(caller.tenant(), user_id).await?.ok_or_else(not_found)?;
        let account = iam.store.account(caller.tenant(), &user.email.key()).await?;
        let attempt = Attempt::make(iam, caller.tenant(), &user.email, account, &current).await?;
        // A password that was not proven is not worth the work of hashing its successor.
        let password = if attempt.is_right() { Some(iam.passwords.hash(&new).await?) } else { None };

        let mut work = iam.begin(caller).await?;
        let refusal = match attempt.settle(&mut work, iam.settings.lockout).await? {
            Outcome::Proven(_) => None,
            Outcome::Wrong => Some(Error::field("currentPassword", "is not the current password")),
            Outcome::Suspended => Some(Forbidden::Suspended.into()),
            Outcome::Locked(retry_after) => Some(Error::AccountLocked { retry_after }),
        };
        let (None, Some(password)) = (&refusal, password) else {
            work.commit().await?;
            return Err(refusal.unwrap_or_else(not_found));
        };
        work.apply(CredentialChange::ChangePassword { user: user_id, password }).await?;
        let mut others = work.locks().lock_sessions_of(user_id).await?;
        others.retain(|session| session.id != session_id);
        end_sessions(&mut work, others, EndReason::PasswordChange).await?;
        work.commit().await
    }
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::USER)
}
