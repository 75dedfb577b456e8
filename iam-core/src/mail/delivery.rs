use std::time::Duration;

use chrono::TimeDelta;
use futures_util::future::join_all;
use iam_model::error::Result;
use iam_model::id::InvitationId;
use iam_model::link::{Link, LinkPurpose};
use iam_model::mail::{Mail, MailAccount, MailKind, MailLink, Message, wait_after};
use iam_model::tenant::{Tenant, TenantStatus};
use iam_model::user::{User, UserStatus};
use iam_model::validate::PersonName;
use tokio::time::timeout;
use uuid::Uuid;

use crate::engine::{Engine, Post};
use crate::iam::Iam;
use crate::invitation::pending_at;
use crate::recovery::links_for_request;

/// What a call of [`Iam::deliver_mail`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivery {
    /// How many messages the mailer has accepted.
    pub sent: u32,
    /// How many messages were not sent, and are tried again later.
    pub postponed: u32,
    /// How many messages are given up after the last attempt.
    pub given_up: u32,
    /// How many messages were removed unsent: their link was replaced, or there is no account to write to.
    pub dropped: u32,
    /// Whether more messages may be due.
    pub more: bool,
}

/// The maximum number of messages that are sent at the same time.
const BATCH: u32 = 16;

/// The time limit of an attempt.
const SEND_LIMIT: Duration = Duration::from_secs(30);

/// How long a process has a claimed message for itself. If the process ends meanwhile, another one sends the message
/// afterwards.
const CLAIM: TimeDelta = TimeDelta::minutes(2);

/// What became of one message.
#[derive(Clone, Copy)]
enum Outcome {
    Sent,
    Postponed,
    GivenUp,
    Dropped,
}

impl Iam {
    /// Sends the messages that are due, at most 16. Several processes can do this at the same time: each message is
    /// sent by one of them. A message is sent twice only if the answer of the mail server was lost.
    ///
    /// Without a mailer, it does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store). A message that the mailer refuses is no error: it is tried again later,
    /// and logged.
    pub async fn deliver_mail(&self) -> Result<Delivery> {
        let Some(post) = self.0.post.as_deref() else { return Ok(Delivery::default()) };
        let now = self.0.now();
        let due = self.0.store.claim_messages(now, now + CLAIM, BATCH).await?;
        let mut delivery = Delivery { more: due.len() == BATCH as usize, ..Delivery::default() };
        for outcome in join_all(due.iter().map(|message| self.0.deliver(post, message))).await {
            match outcome? {
                Outcome::Sent => delivery.sent += 1,
                Outcome::Postponed => delivery.postponed += 1,
                Outcome::GivenUp => delivery.given_up += 1,
                Outcome::Dropped => delivery.dropped += 1,
            }
        }
        Ok(delivery)
    }

    /// Waits until a message is queued through this [`Iam`]. Returns at once if one was queued since the last call.
    /// Never returns without a mailer.
    pub async fn mail_queued(&self) {
        match self.0.post.as_deref() {
            Some(post) => post.queued.notified().await,
            None => std::future::pending().await,
        }
    }
}

impl Engine {
    async fn deliver(&self, post: &Post, message: &Message) -> Result<Outcome> {
        let Some(mail) = self.compose(post, message).await? else {
            tracing::debug!(message_id = %message.id, kind = message.kind.as_str(), "a message has nothing to say any more");
            self.store.remove_message(message).await?;
            return Ok(Outcome::Dropped);
        };
        let sent = timeout(SEND_LIMIT, post.mailer.send(&mail)).await;
        let (message_id, kind) = (message.id, message.kind.as_str());
        let cause = match sent {
            Ok(Ok(())) => {
                self.store.remove_message(message).await?;
                return Ok(Outcome::Sent);
            }
            Ok(Err(cause)) => cause.to_string(),
            Err(_) => format!("no answer within {SEND_LIMIT:?}"),
        };
        if let Some(wait) = wait_after(message.attempts) {
            tracing::warn!(%message_id, kind, attempt = message.attempts, %cause, "a message was not sent; it is tried again");
            self.store.postpone_message(message, self.now() + wait).await?;
            Ok(Outcome::Postponed)
        } else {
            tracing::error!(%message_id, kind, %cause, "a message was not sent and is given up");
            self.store.remove_message(message).await?;
            Ok(Outcome::GivenUp)
        }
    }

    /// Returns the content of a message. `None` if there is nothing to send any more.
    async fn compose(&self, post: &Post, message: &Message) -> Result<Option<Mail>> {
        let accounts: Vec<MailAccount> = match (message.kind, message.subject) {
            (MailKind::Reset, None) => {
                let links = links_for_request(self, message).await?;
                let account =
                    |(user, tenant, link): &(User, Tenant, Link)| account(user, tenant, Some(self.mailed(post, link)));
                links.iter().map(account).collect()
            }
            (MailKind::Invitation, Some(id)) => self.invited(post, message, id.into()).await?.into_iter().collect(),
            (_, subject) => self.account_of(post, message, subject).await?.into_iter().collect(),
        };
        let is_empty = accounts.is_empty();
        Ok((!is_empty).then(|| Mail::new(message.id, message.kind, message.to.clone(), accounts)))
    }

    /// Returns the account that a message is about. `None` if it is gone, or if the link in the message was used or
    /// replaced, or has expired.
    async fn account_of(&self, post: &Post, message: &Message, subject: Option<Uuid>) -> Result<Option<MailAccount>> {
        let user = match subject {
            Some(id) => self.store.user(message.tenant_id, id.into()).await?,
            None => {
                let found = self.store.guarded_account(message.tenant_id, &message.to.key()).await?;
                found.account.map(|account| account.user)
            }
        };
        let user = user.filter(|user| user.status != UserStatus::Inactive);
        let tenant = self.store.tenant(message.tenant_id).await?;
        let (Some(user), Some(tenant)) = (user, tenant) else { return Ok(None) };
        let Some(purpose) = LinkPurpose::of(message.kind) else { return Ok(Some(account(&user, &tenant, None))) };
        if user.status != UserStatus::Active || tenant.status != TenantStatus::Active {
            return Ok(None);
        }
        if purpose == LinkPurpose::Verify && user.email.key() != message.to.key() {
            // Another user has the address that this user wants. The answer to the request must not tell that.
            let holder = self.store.guarded_account(message.tenant_id, &message.to.key()).await?;
            if holder.account.is_some() {
                return Ok(None);
            }
        }
        let link = self.link_in(post, message, purpose, user.id.as_uuid()).await?;
        Ok(link.map(|link| account(&user, &tenant, Some(link))))
    }

    /// Returns the account that an invitation offers. `None` if it cannot be accepted any more, or was sent again.
    async fn invited(&self, post: &Post, message: &Message, id: InvitationId) -> Result<Option<MailAccount>> {
        let invitation = pending_at(self.store.invitation(message.tenant_id, id).await?, self.now());
        let tenant = self.store.tenant(message.tenant_id).await?;
        let tenant = tenant.filter(|tenant| tenant.status == TenantStatus::Active);
        let (Some(invitation), Some(tenant)) = (invitation, tenant) else { return Ok(None) };
        let link = self.link_in(post, message, LinkPurpose::Invitation, id.as_uuid()).await?;
        let names = [&invitation.first_name, &invitation.last_name].into_iter().flatten();
        let name = names.map(PersonName::as_str).collect::<Vec<_>>().join(" ");
        Ok(link.map(|link| MailAccount::new(name, tenant.name.to_string(), Some(link))))
    }

    /// Returns the link in a message. `None` if it was used or replaced, or has expired.
    async fn link_in(
        &self,
        post: &Post,
        message: &Message,
        purpose: LinkPurpose,
        subject: Uuid,
    ) -> Result<Option<MailLink>> {
        let link = self.store.link(message.tenant_id, purpose, subject).await?;
        let link = link.filter(|link| Some(link.id) == message.link_id && link.is_live(self.now()));
        Ok(link.map(|link| self.mailed(post, &link)))
    }

    /// Returns a link as a message shows it.
    fn mailed(&self, post: &Post, link: &Link) -> MailLink {
        MailLink::new(post.pages.url(link.purpose, &self.link_key.token(link)), link.expires_at)
    }
}

/// Returns an account as a message shows it.
fn account(user: &User, tenant: &Tenant, link: Option<MailLink>) -> MailAccount {
    MailAccount::new(format!("{} {}", user.first_name, user.last_name), tenant.name.to_string(), link)
}
