use std::time::Duration;

use chrono::TimeDelta;
use futures_util::future::join_all;
use iam_model::change::{InvitationChange, LinkChange};
use iam_model::clock::Timestamp;
use iam_model::context::RequestContext;
use iam_model::error::Result;
use iam_model::id::{MessageId, TenantId, UserId};
use iam_model::invitation::{Invitation, LIFETIME};
use iam_model::link::{Link, LinkPurpose};
use iam_model::mail::{
    Addressee, Lane, Mail, MailAccount, MailActor, MailError, MailKind, MailLink, Message, Recipient, RefusedForGood,
    wait_after,
};
use iam_model::session::Impersonation;
use iam_model::tenant::{Tenant, TenantStatus};
use iam_model::user::{User, UserStatus};
use iam_model::validate::PersonName;
use tokio::time::timeout;
use uuid::Uuid;

use crate::caller::Caller;
use crate::distinct::distinct;
use crate::engine::{Engine, OutgoingMail};
use crate::iam::Iam;
use crate::invitation::pending_at;
use crate::link;
use crate::requested_link::{accounts_of_request, issue_for_request};

/// The result of a call of [`Iam::deliver_mail`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivery {
    /// How many messages the mailer has accepted.
    pub sent: u32,
    /// How many messages were not sent, and are tried again later.
    pub postponed: u32,
    /// How many messages are given up: after the last attempt, or because the mail server refuses them for good.
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

/// After this time, a call claims no more messages.
const LONGEST: TimeDelta = TimeDelta::seconds(30);

/// How long a process has a claimed message for itself. If the process ends meanwhile, another one sends the message
/// afterwards.
const CLAIM: TimeDelta = TimeDelta::minutes(2);

/// How many users who act as a person a message to that person names at most.
const MAX_ACTORS: usize = 10;

/// The outcome of one message.
#[derive(Clone, Copy)]
enum Outcome {
    Sent,
    Postponed,
    GivenUp,
    Dropped,
}

/// A user or a person that a message is about.
enum About {
    User(Box<User>, Tenant),
    Invited(Box<Invitation>, Tenant),
}

impl Iam {
    /// Sends the messages that are due, at most 16, and of one tenant at most four at once. Tenants take turns,
    /// and invitations come last. Several processes can do this at the same time: each message is sent by one of them.
    /// A message is sent twice only if the answer of the mail server was lost.
    ///
    /// Without a mailer, it does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store). A message that the mailer refuses is no error: it is tried again later,
    /// and logged.
    pub async fn deliver_mail(&self) -> Result<Delivery> {
        let Some(outgoing) = self.0.mail.as_deref() else { return Ok(Delivery::default()) };
        let (mut delivery, mut left, began) = (Delivery::default(), BATCH, self.0.now());
        loop {
            let now = self.0.now();
            let due = self.0.store.claim_messages(now, now + CLAIM, left).await?;
            let outcomes = join_all(due.iter().map(|message| self.0.deliver(outgoing, message))).await;
            let refused = delivery.postponed + delivery.given_up;
            for outcome in outcomes {
                match outcome? {
                    Outcome::Sent => delivery.sent += 1,
                    Outcome::Postponed => delivery.postponed += 1,
                    Outcome::GivenUp => delivery.given_up += 1,
                    Outcome::Dropped => delivery.dropped += 1,
                }
            }
            left = left.saturating_sub(u32::try_from(due.len()).unwrap_or(u32::MAX));
            // A mail server that refuses messages may have made them wait for their time limit.
            let is_slow = delivery.postponed + delivery.given_up > refused || self.0.now() - began >= LONGEST;
            delivery.more = left == 0 || is_slow;
            if delivery.more || due.is_empty() {
                return Ok(delivery);
            }
        }
    }

    /// Waits until a message is queued through this [`Iam`]. Returns at once if one was queued since the last call.
    /// Never returns without a mailer.
    pub async fn mail_queued(&self) {
        match self.0.mail.as_deref() {
            Some(outgoing) => outgoing.queued.notified().await,
            None => std::future::pending().await,
        }
    }
}

impl Engine {
    async fn deliver(&self, outgoing: &OutgoingMail, message: &Message) -> Result<Outcome> {
        let about = self.about(message).await?;
        if !about.is_empty()
            && let Some(ends_at) = self.count(message, &about).await?
        {
            tracing::info!(tenant_id = %message.tenant_id, "a tenant has sent as many messages as it can in an hour");
            self.store.return_message(message, ends_at).await?;
            return Ok(Outcome::Postponed);
        }
        let mails = self.compose(outgoing, message, about).await?;
        if mails.is_empty() {
            tracing::debug!(message_id = %message.id, kind = message.kind.as_str(), "a message has nothing to say any more");
            self.store.remove_message(message).await?;
            return Ok(Outcome::Dropped);
        }
        let (message_id, kind) = (message.id, message.kind.as_str());
        let Err(cause) = send(outgoing, &mails).await else {
            self.store.remove_message(message).await?;
            return Ok(Outcome::Sent);
        };
        if let Some(wait) = wait_after(message.attempts).filter(|_| !cause.is::<RefusedForGood>()) {
            tracing::warn!(%message_id, kind, attempt = message.attempts, %cause, "a message was not sent; it is tried again");
            self.store.postpone_message(message, self.now() + wait).await?;
            Ok(Outcome::Postponed)
        } else {
            tracing::error!(%message_id, kind, %cause, "a message was not sent and is given up");
            self.store.remove_message(message).await?;
            Ok(Outcome::GivenUp)
        }
    }

    /// Counts the first attempt to send a message for its tenant. Returns when the tenant may send the next message, if
    /// it has reached its limit. A message that has nothing to say is not counted, so that a stranger who asks for
    /// links to unknown addresses does not use up the messages of a tenant.
    ///
    /// A message to the address that a user wants to have counts like an invitation: a user can name any number of such
    /// addresses, and must not keep notices from the others.
    async fn count(&self, message: &Message, about: &[About]) -> Result<Option<Timestamp>> {
        if message.attempts > 1 || message.tenant_id == TenantId::NONE {
            return Ok(None);
        }
        let is_new = |about: &About| matches!(about, About::User(user, _) if user.email.key() != message.to.key());
        let lane = if about.iter().any(is_new) { Lane::Invitations } else { Lane::of(message.kind) };
        let limit = self.settings.quota.hourly_messages;
        Ok(self.store.count_sent_message(message.tenant_id, lane, self.now(), limit).await?)
    }

    /// Returns whom a message is about. Empty if there is nothing to say any more.
    async fn about(&self, message: &Message) -> Result<Vec<About>> {
        let user = |(user, tenant): (User, Tenant)| About::User(Box::new(user), tenant);
        match (LinkPurpose::of(message.kind), &message.to) {
            (Some(purpose @ (LinkPurpose::Reset | LinkPurpose::Login)), Addressee::Accounts(key)) => {
                let accounts = accounts_of_request(self, purpose, message.tenant_id, key).await?;
                Ok(accounts.into_iter().map(user).collect())
            }
            (Some(LinkPurpose::Invitation), Addressee::Recipient { subject, .. }) => {
                let invitation = self.store.invitation(message.tenant_id, (*subject).into()).await?;
                let invitation = pending_at(invitation, self.now()).map(Box::new);
                let tenant = self.store.tenant(message.tenant_id).await?;
                let tenant = tenant.filter(|tenant| tenant.status == TenantStatus::Active);
                let invited = invitation.zip(tenant).map(|(invitation, tenant)| About::Invited(invitation, tenant));
                Ok(invited.into_iter().collect())
            }
            (_, to) => Ok(self.account(message, to).await?.map(user).into_iter().collect()),
        }
    }

    /// Returns the account that a message is about. `None` if it is gone, or if it may not get the link in the message.
    async fn account(&self, message: &Message, to: &Addressee) -> Result<Option<(User, Tenant)>> {
        let user = match to {
            Addressee::Recipient { subject, .. } => self.store.user(message.tenant_id, (*subject).into()).await?,
            Addressee::Accounts(key) => {
                self.store.guarded_account(message.tenant_id, key).await?.account.map(|account| account.user)
            }
        };
        let tenant = self.store.tenant(message.tenant_id).await?;
        let (Some(user), Some(tenant)) = (user, tenant) else { return Ok(None) };
        let Some(purpose) = LinkPurpose::of(message.kind) else {
            // Who takes an account over must not keep its owner from learning of it by deleting the account at once.
            let is_told = user.status != UserStatus::Inactive || to.subject().is_some();
            return Ok(is_told.then_some((user, tenant)));
        };
        if user.status != UserStatus::Active || tenant.status != TenantStatus::Active {
            return Ok(None);
        }
        if purpose == LinkPurpose::Verify && user.email.key() != to.key() {
            // Another user has the address that this user wants. The answer to the request must not tell that.
            let holder = self.store.guarded_account(message.tenant_id, &to.key()).await?;
            if holder.account.is_some() {
                return Ok(None);
            }
        }
        Ok(Some((user, tenant)))
    }

    /// Returns the mails of a message: one for each address on record. Empty if there is nothing to send any more.
    async fn compose(&self, outgoing: &OutgoingMail, message: &Message, about: Vec<About>) -> Result<Vec<Mail>> {
        let mut mails: Vec<(Recipient, Vec<MailAccount>)> = Vec::new();
        for about in about {
            let Some((to, account)) = self.address(outgoing, message, about).await? else { continue };
            match mails.iter_mut().find(|(other, _)| *other == to) {
                Some((_, accounts)) => accounts.push(account),
                None => mails.push((to, vec![account])),
            }
        }
        let mail = |(number, (to, accounts))| Mail::new(id_of_mail(message.id, number), message.kind, to, accounts);
        Ok(mails.into_iter().enumerate().map(mail).collect())
    }

    /// Returns the address to which a message about a person goes, and its content. `None` if its link was used or
    /// replaced.
    async fn address(
        &self,
        outgoing: &OutgoingMail,
        message: &Message,
        about: About,
    ) -> Result<Option<(Recipient, MailAccount)>> {
        let purpose = LinkPurpose::of(message.kind);
        let link = match (purpose, &message.to, &about) {
            (None, ..) => None,
            (Some(purpose), Addressee::Accounts(_), About::User(user, _)) => {
                issue_for_request(self, purpose, message, user).await?
            }
            (Some(purpose), ..) => self.begin_to_age(message, purpose).await?,
        };
        if purpose.is_some() && link.is_none() {
            return Ok(None);
        }
        let to = match (&message.to, &link, &about) {
            (Addressee::Recipient { address, .. }, None, _) => address.clone(),
            (_, Some(link), _) => link.recipient(),
            (Addressee::Accounts(_), None, About::User(user, _)) => Recipient::of_user(user),
            (Addressee::Accounts(_), None, About::Invited(..)) => return Ok(None),
        };
        let actors = match &about {
            About::User(user, _) if message.kind == MailKind::ImpersonationStarted => {
                self.actors(message, user.id).await?
            }
            About::User(..) | About::Invited(..) => Vec::new(),
        };
        let (name, tenant) = match about {
            About::User(user, tenant) => (format!("{} {}", user.first_name, user.last_name), tenant),
            About::Invited(invitation, tenant) => {
                let names = [&invitation.first_name, &invitation.last_name].into_iter().flatten();
                (names.map(PersonName::as_str).collect::<Vec<_>>().join(" "), tenant)
            }
        };
        let link = link.map(|link| self.mailed(outgoing, &link));
        Ok(Some((to, MailAccount::new(name, tenant.name.to_string(), link).with_actors(actors))))
    }

    /// Returns the users who have begun to act as a person since a message about that was queued, newest first. A
    /// message that has waited tells of all of them.
    async fn actors(&self, message: &Message, user: UserId) -> Result<Vec<MailActor>> {
        let mut sessions = self.store.sessions_of(message.tenant_id, user).await?;
        sessions.retain(|session| session.created_at >= message.created_at);
        let acting = sessions.into_iter().filter_map(|session| session.impersonation);
        let acting: Vec<Impersonation> = acting.take(MAX_ACTORS).collect();
        let users = distinct(acting.iter().map(|found| found.by.user));
        let users = self.store.users_by_id(message.tenant_id, &users).await?;
        let actor = |found: Impersonation| {
            let user = users.iter().find(|user| user.id == found.by.user)?;
            Some(MailActor::new(format!("{} {}", user.first_name, user.last_name), found.reason.into()))
        };
        Ok(acting.into_iter().filter_map(actor).collect())
    }

    /// Returns the link of a message that is sent now. It begins to age, and so does the invitation with it. `None` if
    /// the link was used or replaced.
    async fn begin_to_age(&self, message: &Message, purpose: LinkPurpose) -> Result<Option<Link>> {
        let Some(subject) = message.to.subject() else { return Ok(None) };
        let caller = Caller::anonymous(message.tenant_id, RequestContext::default());
        let mut work = self.begin(&caller).await?;
        let now = work.now();
        if purpose == LinkPurpose::Invitation {
            let invitation = pending_at(work.reads().lock_invitation(subject.into()).await?, now);
            let Some(invitation) = invitation else { return Ok(None) };
            let after = Invitation { expires_at: now + LIFETIME, ..invitation };
            work.apply(InvitationChange::Send { after }).await?;
        }
        let link = work.reads().lock_link(purpose, subject).await?;
        let Some(link) = link.filter(|link| Some(link.id) == message.link_id) else { return Ok(None) };
        let link = link::sent(link, now);
        work.apply(LinkChange::Send { link: link.clone() }).await?;
        work.commit().await?;
        Ok(Some(link))
    }

    /// Returns a link as a message shows it.
    fn mailed(&self, outgoing: &OutgoingMail, link: &Link) -> MailLink {
        let url = outgoing.pages.url(link.purpose, &self.keys.links.token(link));
        let mailed = MailLink::new(url, link.expires_at);
        if link.purpose == LinkPurpose::Login { mailed.with_code(self.keys.links.code(link)) } else { mailed }
    }
}

/// Sends the mails of a message. If one fails, all are sent again later.
async fn send(outgoing: &OutgoingMail, mails: &[Mail]) -> std::result::Result<(), MailError> {
    let sending = join_all(mails.iter().map(|mail| outgoing.mailer.send(mail)));
    let late = |_| format!("no answer within {SEND_LIMIT:?}");
    let failed: Vec<MailError> =
        timeout(SEND_LIMIT, sending).await.map_err(late)?.into_iter().filter_map(Result::err).collect();
    // One that may succeed later decides.
    let (for_good, for_now): (Vec<_>, Vec<_>) = failed.into_iter().partition(|cause| cause.is::<RefusedForGood>());
    for_now.into_iter().chain(for_good).next().map_or(Ok(()), Err)
}

/// Returns the identifier of a mail of a message. It is the same at each attempt.
fn id_of_mail(message: MessageId, number: usize) -> MessageId {
    Uuid::from_u128(message.as_uuid().as_u128().wrapping_add(number as u128)).into()
}
