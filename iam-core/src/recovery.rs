//! Recovery: a user who has forgotten its password chooses a new one, by a link that is sent to its address
//! (`docs/http-api.md#links-by-mail`).

use iam_model::change::{CredentialChange, IdentityChange, UserChange};
use iam_model::context::RequestContext;
use iam_model::error::{Conflict, Result};
use iam_model::id::{TenantId, UserId};
use iam_model::link::{Link, LinkPurpose};
use iam_model::mail::MailKind;
use iam_model::permission;
use iam_model::secret::{LinkToken, Password, PasswordHash};
use iam_model::user::{User, UserKind, UserStatus};
use iam_model::validate::{Email, Fields};

use crate::access::Subject;
use crate::api_key::revoke_keys_known_to_owner;
use crate::caller::Caller;
use crate::credential::replace_password;
use crate::eligibility::with_sleeping;
use crate::engine::Engine;
use crate::guard::confirmed_factors;
use crate::hashing::Share;
use crate::link::{self, LinkDetails, LinkFor};
use crate::mail::LinkRequest;
use crate::password::Owner;
use crate::session::unknown_tenant;

/// Sends links with which users choose a new password; see [`Iam::recovery`](crate::iam::Iam::recovery).
#[derive(Clone, Copy)]
pub struct Recovery<'a>(pub(crate) &'a Engine);

impl Recovery<'_> {
    /// Sends the person with an address a link with which it chooses a new password. Without a tenant, the message has
    /// a link for each account with the address: for the verified ones if there are any, at most five. Users who are
    /// not ACTIVE get none.
    ///
    /// The accounts are looked for when the message is sent. So neither the answer nor its time tells whether an
    /// account has the address. At most three such messages are sent to an address in an hour. Requests that name a
    /// tenant where no account has verified the address are counted apart, so that they use up nothing of an account
    /// that has. One more waits until the limit allows it, if it names the tenant of an account without a link that
    /// works.
    ///
    /// # Errors
    ///
    /// [`Error::MailOff`](crate::Error::MailOff), [`Error::Validation`](crate::Error::Validation) which names `email`.
    pub async fn forgot(&self, context: &RequestContext, email: &str, tenant: Option<&str>) -> Result<()> {
        self.0.require_mail()?;
        let mut fields = Fields::default();
        let Some(email) = fields.check("email", Email::for_lookup(email)) else {
            return Err(fields.into_error().into());
        };
        let tenant = match tenant {
            Some(named) => self.0.find_tenant(named).await?.map_or_else(|| unknown_tenant(named), |tenant| tenant.id),
            None => TenantId::NONE,
        };
        // Asked whether or not there is such an account, so that the time of the answer does not tell.
        let named = self.0.store.guarded_account(tenant, &email.key()).await?.account.map(|account| account.user);
        let subject = named.as_ref().map_or_else(|| self.0.next_id(), |user| user.id.as_uuid());
        let link = self.0.store.link(tenant, LinkPurpose::Reset, subject).await?;
        let named = named.filter(|user| user.status == UserStatus::Active);
        let is_verified = named.as_ref().is_some_and(|user| user.email_verified_at.is_some());
        // Requests about accounts of other tenants may have used up the limit, and no link in their messages works for
        // this account.
        let now = self.0.now();
        let has_link = |user: &User| link.is_some_and(|link| link.is_live(now) && link.email.key() == user.email.key());
        let may_wait = named.is_some_and(|user| !has_link(&user));
        // Not the tenant of the request: requests of strangers must not occupy the units of work of a tenant.
        let caller = Caller::anonymous(self.0.next_id(), context.clone());
        let mut work = self.0.begin(&caller).await?;
        let is_verified = tenant == TenantId::NONE || is_verified;
        let request = LinkRequest { kind: MailKind::Reset, tenant, email: email.key(), link_id: None };
        self.0.queue_request(&mut work, request, is_verified, may_wait).await?;
        work.commit().await
    }

    /// Sends a user a link with which it chooses a new password. Needs `users:update`, and everything that the user's
    /// roles permit, also those for which it may ask, both by standing rights: a caller that also reads the mail of
    /// that address could use the account.
    ///
    /// # Errors
    ///
    /// [`Error::MailOff`](crate::Error::MailOff), [`Error::Forbidden`](crate::Error::Forbidden),
    /// [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation), [`Error::NotFound`](crate::Error::NotFound),
    /// [`Conflict::UserNotActive`].
    pub async fn start(&self, caller: &Caller, user: UserId) -> Result<()> {
        self.0.standing(caller).rights().require_anywhere(&permission::USERS_UPDATE)?;
        self.0.require_mail()?;
        let mut work = self.0.begin(caller).await?;
        let Subject { user, grants, .. } =
            Subject::lock_by_standing(&mut work, user, &permission::USERS_UPDATE).await?;
        if user.kind == UserKind::Service {
            return Err(Conflict::ServiceAccount.into());
        }
        if user.status != UserStatus::Active {
            return Err(Conflict::UserNotActive.into());
        }
        let grants = with_sleeping(&mut work, user.id, &grants).await?;
        self.0.queue_link(&mut work, LinkFor::Password(&user), Some(grants)).await?;
        work.commit().await
    }

    /// Returns the details of a link for a page, for a form that uses its token. The link can still be used afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`](crate::Error::Validation) which names `token`.
    pub async fn look_up(&self, token: &LinkToken) -> Result<LinkDetails> {
        link::look_up(self.0, token, LinkPurpose::Reset).await
    }

    /// Sets a new password by the token of a link. Ends all sessions of the user, revokes the API keys that it has made
    /// or rotated for itself, and verifies its address. Ends its lockout, unless it has a second factor. Begins no session.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`](crate::Error::Validation) which names `newPassword`, or `token` if it is unknown, used,
    /// replaced or expired, or if the user or its tenant is not ACTIVE;
    /// [`Error::Overloaded`](crate::Error::Overloaded). Then the link can still be used.
    pub async fn reset(&self, context: &RequestContext, token: &LinkToken, new: Password) -> Result<()> {
        let iam = self.0;
        let (link, tenant) = link::find(iam, token, LinkPurpose::Reset).await?;
        let user = iam.store.user(link.tenant_id, link.subject.into()).await?;
        let user = user.filter(|user| user.status == UserStatus::Active).ok_or_else(link::refused)?;
        let mut fields = Fields::default();
        let new = fields.check("newPassword", iam.password_rules.of(&tenant).check(new, Owner::from(&user)));
        let Some(new) = new else { return Err(fields.into_error().into()) };
        let new = iam.password_rules.accept("newPassword", &new).await?;
        let password = iam.passwords.hash(Share::of_client(context).in_tenant(tenant.id), &new).await?;
        self.replace(context, &link, user.email_verified_at.is_none(), password).await
    }

    /// Sets the new password. `is_unproven` says that the address was unverified when the user was read.
    async fn replace(
        &self,
        context: &RequestContext,
        link: &Link,
        is_unproven: bool,
        password: PasswordHash,
    ) -> Result<()> {
        let (iam, user_id) = (self.0, UserId::from(link.subject));
        let caller = Caller::anonymous(link.tenant_id, context.clone());
        let mut work = iam.begin(&caller).await?;
        // The lock order of a login, which prevents deadlocks: the tenant, the failed logins, the account, the sessions.
        if is_unproven {
            work.reads().lock_tenant().await?;
        }
        let account = work.reads().lock_guarded_account(&link.email.key(), Some(user_id)).await?.account;
        let user = account.map(|account| account.user).filter(|user| user.status == UserStatus::Active);
        let user = user.ok_or_else(link::refused)?;
        link::spend(&mut work, link).await?;
        let now = work.now();
        if user.email_verified_at.is_none() {
            let after = User { email_verified_at: Some(now), ..user.clone() }.changed(now);
            work.apply(UserChange::ConfirmEmail { before: user.clone(), after }).await?;
        }
        // Until now it was not known whose account it is: another person may have made it at a provider.
        if is_unproven {
            for identity in work.reads().identities(user_id).await? {
                work.apply(IdentityChange::Delete { identity, grants: None }).await?;
            }
        }
        // A reader of the mailbox must not get more guesses of the second factor by each reset.
        if confirmed_factors(&mut work, user_id).await?.is_empty() {
            work.apply(CredentialChange::ClearFailures(link.email.key())).await?;
        }
        // A person who knew the former password may have made or rotated keys, which would outlive it.
        revoke_keys_known_to_owner(&mut work, user_id).await?;
        let change = CredentialChange::ResetPassword { user: user_id, password };
        replace_password(iam, &mut work, &user, change, None).await?;
        work.commit().await
    }
}
