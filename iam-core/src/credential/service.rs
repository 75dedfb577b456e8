use iam_model::audit::ResourceType;
use iam_model::change::{CredentialChange, LinkChange};
use iam_model::context::Actor;
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::id::SessionId;
use iam_model::link::LinkPurpose;
use iam_model::mail::MailKind;
use iam_model::secret::{Password, PasswordHash};
use iam_model::session::EndReason;
use iam_model::user::{User, UserStatus};
use iam_model::validate::{Email, Fields};

use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork};
use crate::guard::{PasswordAttempt, PasswordCredentials, VerifiedPassword, delay_refusal};
use crate::hashing::Share;
use crate::own_password::own_user;
use crate::password::{Owner, make_password};
use crate::session::end_sessions_of;

/// Changes and resets passwords; see [`Iam::credentials`](crate::iam::Iam::credentials).
///
/// ```
#[doc = doctest_setup!()]
/// iam.credentials().change_password(&ada, "Passw0rd!".into(), "An0ther pass!".into()).await?;
///
/// // Only trusted code sets the password of another user, and passes it on to that user.
/// let support = Caller::system(ada.tenant(), "a call to support");
/// let password = iam.credentials().make_password();
/// iam.credentials().reset_password(&support, "ada@example.com", password).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Credentials<'a>(pub(crate) &'a Engine);

impl Credentials<'_> {
    /// Changes the caller's own password and ends its other sessions.
    ///
    /// A wrong current password counts like a failed login.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh), [`Error::Validation`] naming
    /// `currentPassword` or `newPassword`, [`Error::AccountLocked`],
    /// [`Forbidden::NotAUser`] for trusted code, [`Error::Overloaded`].
    pub async fn change_password(&self, caller: &Caller, current: Password, new: Password) -> Result<()> {
        let iam = self.0;
        let user = own_user(iam, caller).await?;
        iam.require_fresh(caller).await?;
        let tenant = iam.store.tenant(user.tenant_id).await?.ok_or(Error::NotFound(ResourceType::TENANT))?;
        let mut fields = Fields::default();
        fields.require("currentPassword", current.expose());
        let new = fields.check("newPassword", iam.password_rules.of(&tenant).check(new, Owner::from(&user)));
        let Some(new) = new.filter(|_| fields.is_empty()) else {
            return Err(fields.into_error().into());
        };
        let new = iam.password_rules.accept("newPassword", &new).await?;
        let share = Share::of(caller);
        let credentials = PasswordCredentials { email: &user.email, password: &current, share };
        let attempt = PasswordAttempt::verify_caller(iam, caller, credentials).await?;
        let delay = attempt.refusal_delay();
        if attempt.reveals_lock() {
            let (verified, work) = attempt.apply_under_lock(iam, caller).await?;
            work.commit().await?;
            return Err(verified.err().map_or_else(not_found, Error::from));
        }
        // The new password is hashed even when the current one is wrong. Otherwise the time would reveal a right
        // password that is refused.
        let password = iam.passwords.hash(share, &new).await?;
        delay_refusal(self.replace(caller, attempt, password).await, delay).await
    }

    /// Replaces the caller's password if the attempt proves the current one, and ends the caller's other sessions.
    async fn replace(&self, caller: &Caller, attempt: PasswordAttempt<'_>, password: PasswordHash) -> Result<()> {
        let (_, session_id) = caller.require_user()?;
        let (VerifiedPassword { account, .. }, mut work) = attempt.apply_for_caller(self.0, caller).await?;
        let change = CredentialChange::ChangePassword { user: account.user.id, password };
        replace_password(self.0, &mut work, &account.user, change, Some(session_id)).await?;
        work.commit().await
    }

    /// Sets the password of the user with this e-mail, ends all sessions of the user, and clears its failed logins and
    /// its lockout.
    ///
    /// Only trusted code may call this, and no permission is enough: a caller that chooses a user's password can log
    /// in as that user and gets all its rights. An application that offers this to its users must first verify the
    /// user's identity by other means, such as a link in an e-mail.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`] for a user, [`Error::Validation`] naming `email` or `newPassword`,
    /// [`Error::NotFound`], [`Conflict::UserInactive`] for a deleted user, [`Error::Overloaded`].
    pub async fn reset_password(&self, caller: &Caller, email: &str, new: Password) -> Result<User> {
        let iam = self.0;
        if !matches!(caller.actor(), Actor::System { .. }) {
            return Err(Forbidden::NotTrusted.into());
        }
        let tenant = iam.store.tenant(caller.tenant()).await?.ok_or_else(not_found)?;
        let mut fields = Fields::default();
        let email = fields.check("email", Email::for_lookup(email));
        let found = match &email {
            Some(email) => iam.store.guarded_account(tenant.id, &email.key()).await?.account,
            None => None,
        };
        let owner = found.as_ref().map_or_else(Owner::default, |account| Owner::from(&account.user));
        let new = fields.check("newPassword", iam.password_rules.of(&tenant).check(new, owner));
        let (Some(email), Some(new)) = (email, new) else {
            return Err(fields.into_error().into());
        };
        let (key, user_id) = (email.key(), found.ok_or_else(not_found)?.user.id);
        let new = iam.password_rules.accept("newPassword", &new).await?;
        let password = iam.passwords.hash(Share::of(caller), &new).await?;

        let mut work = iam.begin(caller).await?;
        // The lock order of a login, which prevents deadlocks: the failed logins, the account, the sessions.
        let account = work.reads().lock_guarded_account(&key, Some(user_id)).await?.account;
        let account = account.filter(|account| account.user.email.key() == key).ok_or_else(not_found)?;
        if account.user.status == UserStatus::Inactive {
            return Err(Conflict::UserInactive.into());
        }
        work.apply(CredentialChange::ClearFailures(key)).await?;
        let change = CredentialChange::ChangePassword { user: user_id, password };
        replace_password(iam, &mut work, &account.user, change, None).await?;
        work.commit().await?;
        Ok(account.user)
    }

    /// Generates a random password that satisfies the policy.
    #[must_use]
    pub fn make_password(&self) -> Password {
        make_password(&*self.0.random)
    }
}

/// Sets a new password by a change. Ends the links with which the user could reset the former one or change its
/// address, the logins that wait for a second factor, and all sessions of the user except one. Tells the user.
///
/// The account must be locked before.
pub(crate) async fn replace_password(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    user: &User,
    change: CredentialChange,
    except: Option<SessionId>,
) -> Result<()> {
    work.apply(change).await?;
    let subject = user.id.as_uuid();
    work.apply(LinkChange::End { purpose: LinkPurpose::Reset, subject }).await?;
    work.invalidate(user.id);
    end_sessions_of(work, user.id, EndReason::PasswordChange, |session| Some(session.id) != except).await?;
    iam.queue_notice(work, MailKind::PasswordChanged, user).await
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::USER)
}
