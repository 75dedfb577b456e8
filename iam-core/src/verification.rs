//! Verification: users prove that they receive mail at their address, and change it (`docs/http-api.md#links-by-mail`).

use iam_model::audit::ResourceType;
use iam_model::change::{ChallengeChange, LinkChange, UserChange};
use iam_model::context::RequestContext;
use iam_model::error::{Error, Result};
use iam_model::link::LinkPurpose;
use iam_model::mail::MailKind;
use iam_model::secret::{LinkToken, Password};
use iam_model::user::{User, UserStatus};
use iam_model::validate::{Email, Fields};

use crate::caller::Caller;
use crate::engine::Engine;
use crate::guard::{PasswordAttempt, PasswordCredentials, delay_refusal};
use crate::hashing::Share;
use crate::link::{self, LinkDetails, LinkFor};
use crate::own_password::own_user;

/// Verifies e-mail addresses; see [`Iam::verification`](crate::iam::Iam::verification).
///
/// A link that is sent to an address proves that the user receives mail there. Trusted code that knows it by other
/// means calls [`Users::verify_email`](crate::user::Users::verify_email).
#[derive(Clone, Copy)]
pub struct Verification<'a>(pub(crate) &'a Engine);

impl Verification<'_> {
    /// Sends the caller a link that verifies its address, and that works for 24 hours. Does nothing if the address is
    /// verified, or if three such messages were sent to it in the last hour.
    ///
    /// # Errors
    ///
    /// [`Error::MailOff`], [`Forbidden::NotAUser`](iam_model::error::Forbidden::NotAUser) for trusted code.
    pub async fn request(&self, caller: &Caller) -> Result<()> {
        let (id, _) = caller.require_user()?;
        self.0.require_mail()?;
        let mut work = self.0.begin(caller).await?;
        let user = work.reads().lock_user(id).await?.ok_or_else(not_found)?;
        if user.email_verified_at.is_none() {
            self.0.queue_link(&mut work, LinkFor::Address(&user), None).await?;
        }
        work.commit().await
    }

    /// Returns the details of a link for a page, for a form that uses its token. The link can still be used afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names `token`.
    pub async fn look_up(&self, token: &LinkToken) -> Result<LinkDetails> {
        link::look_up(self.0, token, LinkPurpose::Verify).await
    }

    /// Verifies the address to which a link was sent. If it is a new address, it replaces the former one, which is told
    /// of the change.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names `token` if it is unknown, used, replaced or expired,
    /// [`Conflict::EmailTaken`](iam_model::error::Conflict::EmailTaken) if another user of the tenant has taken the new
    /// address meanwhile.
    pub async fn verify(&self, context: &RequestContext, token: &LinkToken) -> Result<()> {
        let (link, _) = link::find(self.0, token, LinkPurpose::Verify).await?;
        let caller = Caller::anonymous(link.tenant_id, context.clone());
        let mut work = self.0.begin(&caller).await?;
        let before = work.reads().lock_user(link.subject.into()).await?;
        let before = before.filter(|user| user.status == UserStatus::Active).ok_or_else(link::refused)?;
        link::spend(&mut work, &link).await?;
        let now = work.now();
        let is_new = before.email.key() != link.email.key();
        if before.email != link.email || before.email_verified_at.is_none() {
            let after = User { email: link.email.clone(), email_verified_at: Some(now), ..before.clone() };
            let after = after.changed(now);
            work.apply(UserChange::ConfirmEmail { before: before.clone(), after: after.clone() }).await?;
        }
        if is_new {
            for purpose in [LinkPurpose::Reset, LinkPurpose::Login] {
                work.apply(LinkChange::End { purpose, subject: link.subject }).await?;
            }
            work.apply(ChallengeChange::EndAll(before.id)).await?;
            self.0.queue_notice(&mut work, MailKind::EmailChanged, &before).await?;
        }
        work.commit().await
    }

    /// Sends a link to the caller's new address. The caller keeps its address until [`verify`](Self::verify) gets the
    /// token of that link. A wrong password counts like a failed login.
    ///
    /// The answer does not tell whether another user has the address: then nothing is sent.
    ///
    /// # Errors
    ///
    /// [`Error::MailOff`], [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh),
    /// [`Error::Validation`] which names `newEmail` or `currentPassword`, [`Error::AccountLocked`],
    /// [`Forbidden::NotAUser`](iam_model::error::Forbidden::NotAUser) for trusted code, [`Error::Overloaded`].
    pub async fn change_email(&self, caller: &Caller, new: &str, current: Password) -> Result<()> {
        let iam = self.0;
        caller.refuse_impersonator()?;
        caller.require_user()?;
        iam.require_fresh(caller).await?;
        iam.require_mail()?;
        let mut fields = Fields::default();
        let new = fields.check("newEmail", new.parse::<Email>());
        fields.require("currentPassword", current.expose());
        let Some(new) = new.filter(|_| fields.is_empty()) else {
            return Err(fields.into_error().into());
        };
        let email = own_user(iam, caller).await?.email;
        let credentials = PasswordCredentials { email: &email, password: &current, share: Share::of(caller) };
        let attempt = PasswordAttempt::verify_caller(iam, caller, credentials).await?;
        let delay = attempt.refusal_delay();
        delay_refusal(self.send_to_new(caller, attempt, &new).await, delay).await
    }

    /// Sends a link to the new address if the attempt proves the caller's password.
    async fn send_to_new(&self, caller: &Caller, attempt: PasswordAttempt<'_>, new: &Email) -> Result<()> {
        let iam = self.0;
        let (verified, mut work) = attempt.apply_for_caller(iam, caller).await?;
        let user = &verified.account.user;
        if user.email != *new || user.email_verified_at.is_none() {
            iam.queue_link(&mut work, LinkFor::NewAddress(user, new), None).await?;
        }
        work.commit().await
    }
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::USER)
}
