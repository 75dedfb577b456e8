use iam_model::access_request::AccessRequest;
use iam_model::assignment::Grant;
use iam_model::change::{Change, LinkChange, MailChange};
use iam_model::clock::Timestamp;
use iam_model::context::RequestContext;
use iam_model::error::Result;
use iam_model::id::{LinkId, TenantId};
use iam_model::link::LinkPurpose;
use iam_model::mail::{Addressee, MailKind, Message, Recipient, with_late_message, with_message};
use iam_model::user::User;
use iam_model::validate::EmailKey;
use uuid::Uuid;

use crate::engine::{Engine, UnitOfWork};
use crate::link::{self, LinkFor};

/// Under which identifier requests for links are counted that need no login: for all tenants together, because a
/// stranger can register an address in many tenants.
const OF_STRANGERS: TenantId = TenantId::NONE;

/// The tenant of messages that are sent to no account.
const NOWHERE: TenantId = TenantId::from_uuid(Uuid::max());

/// Returns under which identifier messages to the address of an account are counted. If the account has proven the
/// address, it is `own`, such as that of its tenant: then no other tenant uses up its limit. Accounts that have not
/// proven it share one: a stranger can register the address of a victim in many tenants.
fn counted_in(own: TenantId, is_verified: bool) -> TenantId {
    if is_verified { own } else { Uuid::max().into() }
}

/// Returns under which identifier messages about an access request are counted: each user who asks has a count of its
/// own by each eligibility. Otherwise, requests for harmless roles would delay the message about a dangerous one. No
/// tenant has this identifier: it has the version 0.
fn counted_for(request: &AccessRequest) -> TenantId {
    let [user, eligibility] = [request.requested_by.as_uuid(), request.eligibility_id.as_uuid()].map(|id| id.as_u128());
    Uuid::from_u128(user ^ eligibility).into()
}

/// A request of a person without a session for links to its accounts.
pub(crate) struct LinkRequest {
    /// The kind of the message.
    pub(crate) kind: MailKind,
    /// The tenant of the account; [`TenantId::NONE`] for the accounts of all tenants.
    pub(crate) tenant: TenantId,
    /// The address.
    pub(crate) email: EmailKey,
    /// Identifies the request in the links that it causes. If it is `None`, the message does.
    pub(crate) link_id: Option<LinkId>,
}

impl Engine {
    /// Queues a message without a link to the address of a user, if mail is on.
    ///
    /// To be called after everything else that takes a lock: messages to one address are counted under a lock that all
    /// tenants share.
    pub(crate) async fn queue_notice(&self, work: &mut UnitOfWork<'_>, kind: MailKind, to: &User) -> Result<()> {
        let counted_in = counted_in(work.caller().tenant(), to.email_verified_at.is_some());
        self.notify(work, kind, on_record(to), counted_in).await
    }

    /// Queues a message about an access request, like [`queue_notice`](Self::queue_notice). If the account has proven
    /// its address, messages about the requests of other users, or by other eligibilities, use up nothing of its limit.
    pub(crate) async fn queue_access_notice(
        &self,
        work: &mut UnitOfWork<'_>,
        kind: MailKind,
        to: &User,
        request: &AccessRequest,
    ) -> Result<()> {
        let counted_in = counted_in(counted_for(request), to.email_verified_at.is_some());
        self.notify(work, kind, on_record(to), counted_in).await
    }

    /// Queues a message without a link to the account with an address in the tenant, if mail is on and there is one.
    /// `account` is this account as far as the caller knows it.
    ///
    /// To be called after everything else that takes a lock, like [`queue_notice`](Self::queue_notice).
    pub(crate) async fn queue_notice_for(
        &self,
        work: &mut UnitOfWork<'_>,
        kind: MailKind,
        email: EmailKey,
        account: Option<&User>,
    ) -> Result<()> {
        let is_verified = account.is_some_and(|user| user.email_verified_at.is_some());
        let counted_in = counted_in(work.caller().tenant(), is_verified);
        self.notify(work, kind, Addressee::Accounts(email), counted_in).await
    }

    async fn notify(
        &self,
        work: &mut UnitOfWork<'_>,
        kind: MailKind,
        to: Addressee,
        counted_in: TenantId,
    ) -> Result<()> {
        if self.mail.is_none() {
            return Ok(());
        }
        let message = self.message(work, kind, to, None);
        queue(work, message, counted_in, WhenLimited::Wait, None).await.map(drop)
    }

    /// Issues a link and queues the message with it, if mail is on. If a message for the same purpose still waits, it
    /// goes out with the new link. Beyond the limit for the address, it does nothing if the link in the last message
    /// works; otherwise the message waits until the limit allows it. Returns whether it issued the link. `grants` are
    /// the role assignments of the user, if another user asks for the link.
    ///
    /// To be called after everything else that takes a lock, like [`queue_notice`](Self::queue_notice).
    pub(crate) async fn queue_link(
        &self,
        work: &mut UnitOfWork<'_>,
        purpose: LinkFor<'_>,
        grants: Option<Vec<Grant>>,
    ) -> Result<bool> {
        if self.mail.is_none() {
            return Ok(false);
        }
        let is_verified = matches!(purpose, LinkFor::Password(user) if user.email_verified_at.is_some());
        let counted_in = counted_in(work.caller().tenant(), is_verified);
        let link = link::unsent(self, self.next_id(), purpose, work.now());
        let to = Addressee::Recipient { subject: link.subject, address: link.recipient() };
        let message = self.message(work, link.purpose.message(), to, Some(link.id));
        // Also beyond the limit, which must not hide that the caller may not do this.
        let issue = work.check_granted_rights(LinkChange::Issue { link, grants }).await?;
        queue(work, message, counted_in, WhenLimited::WaitWithoutLink, Some(issue)).await
    }

    /// Queues a request for links to all accounts with an address. The accounts are looked for when the message is
    /// sent, and it goes to their addresses.
    ///
    /// Beyond the limit for the address, the message waits if `may_wait`. Otherwise nothing is sent, which takes the same
    /// time.
    pub(crate) async fn queue_request(
        &self,
        work: &mut UnitOfWork<'_>,
        request: LinkRequest,
        is_verified: bool,
        may_wait: bool,
    ) -> Result<()> {
        let LinkRequest { kind, tenant, email, link_id } = request;
        let context = work.caller().context().clone();
        let message = self.message(work, kind, Addressee::Accounts(email), link_id);
        let message = Message { tenant_id: tenant, context, ..message };
        let counted_in = counted_in(OF_STRANGERS, is_verified);
        let when_limited = if may_wait { WhenLimited::Wait } else { WhenLimited::Pretend };
        queue(work, message, counted_in, when_limited, None).await.map(drop)
    }

    fn message(&self, work: &mut UnitOfWork<'_>, kind: MailKind, to: Addressee, link_id: Option<LinkId>) -> Message {
        let now = work.now();
        Message {
            id: self.next_id(),
            tenant_id: work.caller().tenant(),
            kind,
            to,
            link_id,
            context: RequestContext::default(),
            attempts: 0,
            next_attempt_at: now,
            turn: None,
            claimed_until: None,
            created_at: now,
        }
    }
}

fn on_record(user: &User) -> Addressee {
    Addressee::Recipient { subject: user.id.as_uuid(), address: Recipient::of_user(user) }
}

/// The treatment of a message when the limit for its address is reached.
#[derive(Clone, Copy)]
enum WhenLimited {
    /// Another message, which goes to no account, waits in its place.
    Pretend,
    /// It waits until the limit allows it.
    Wait,
    /// It is left out if the link in the last message works, which a newer link would end. Otherwise it waits: messages
    /// of other tenants may have used up the limit.
    WaitWithoutLink,
}

impl WhenLimited {
    async fn leaves_out(self, work: &mut UnitOfWork<'_>, message: &Message) -> Result<bool> {
        let (purpose, subject) = (LinkPurpose::of(message.kind), message.to.subject());
        match (self, purpose.zip(subject)) {
            (Self::WaitWithoutLink, Some((purpose, subject))) => {
                let (link, now) = (work.reads().lock_link(purpose, subject).await?, work.now());
                Ok(link.is_some_and(|link| link.is_live(now) && link.email.key() == message.to.key()))
            }
            (Self::Pretend | Self::Wait | Self::WaitWithoutLink, _) => Ok(false),
        }
    }
}

/// Queues a message after the change that it needs, or lets one go out that waits for the same purpose. Returns whether
/// it did: beyond the limit for its address, a message may be left out.
async fn queue(
    work: &mut UnitOfWork<'_>,
    message: Message,
    counted_in: TenantId,
    when_limited: WhenLimited,
    change: Option<Change>,
) -> Result<bool> {
    let now = work.now();
    let queued_at = work.reads().lock_queued_messages(counted_in, message.kind, &message.to.key()).await?;
    let is_notice = LinkPurpose::of(message.kind).is_none();
    let counted = with_message(queued_at.clone(), now);
    // Each notice tells of something else, as long as the limit allows one more.
    let may_wait = !is_notice || counted.is_none();
    let waiting = if may_wait { work.reads().lock_waiting_message(&message, now).await? } else { None };
    let queued: Change = match (waiting, counted) {
        // It is sent after this change, so it tells of it too.
        (Some(_), _) if is_notice => return Ok(true),
        // It counts once.
        (Some(waiting), _) => MailChange::Renew { message: waiting.renewed_by(&message) }.into(),
        (None, Some(queued_at)) => MailChange::Queue { message, counted_in, queued_at }.into(),
        (None, None) => {
            if when_limited.leaves_out(work, &message).await? {
                return Ok(false);
            }
            let (at, late) = with_late_message(queued_at.clone(), now);
            let message = Message { next_attempt_at: at, ..message };
            match when_limited {
                WhenLimited::Pretend => pretend(work, message, counted_in, queued_at).await?.into(),
                _ => MailChange::Queue { message, counted_in, queued_at: late }.into(),
            }
        }
    };
    if let Some(change) = change {
        work.apply(change).await?;
    }
    work.apply(queued).await?;
    Ok(true)
}

/// Returns the change for a message that goes to no account, in place of one that is not sent. There is one for each
/// address, and it uses up nothing of the limit.
async fn pretend(
    work: &mut UnitOfWork<'_>,
    message: Message,
    counted_in: TenantId,
    queued_at: Vec<Timestamp>,
) -> Result<MailChange> {
    let (message, now) = (Message { tenant_id: NOWHERE, ..message }, work.now());
    Ok(match work.reads().lock_waiting_message(&message, now).await? {
        Some(waiting) => MailChange::Renew { message: waiting.renewed_by(&message) },
        None => MailChange::Queue { message, counted_in, queued_at },
    })
}
