use iam_model::assignment::Grant;
use iam_model::change::{Change, LinkChange, MailChange};
use iam_model::context::RequestContext;
use iam_model::error::Result;
use iam_model::id::{LinkId, TenantId, UserId};
use iam_model::link::LinkPurpose;
use iam_model::mail::{MailKind, Message, with_message};
use iam_model::validate::Email;
use uuid::Uuid;

use crate::engine::{Engine, UnitOfWork};
use crate::link::{self, Addressee};

/// Messages with links are counted for all tenants together: a stranger can register an address in many tenants.
const COUNTED_IN: TenantId = TenantId::NONE;

impl Engine {
    /// Queues a message without a link, if mail is on. `user` is `None` for an address that may have no account.
    ///
    /// To be called after everything else that takes a lock: messages to one address are counted under a lock that all
    /// tenants share.
    pub(crate) async fn queue_notice(
        &self,
        work: &mut UnitOfWork<'_>,
        kind: MailKind,
        to: &Email,
        user: Option<UserId>,
    ) -> Result<()> {
        if self.post.is_none() {
            return Ok(());
        }
        // Each tenant for itself: otherwise, a stranger with tenants of its own could use up the notices of a victim.
        let counted_in = work.caller().tenant();
        let message = self.message(work, kind, to, (user.map(UserId::as_uuid), None));
        queue(work, message, counted_in, None).await.map(drop)
    }

    /// Issues a link and queues the message with it, if mail is on. Beyond the limit for the address it does nothing,
    /// so that the link in the last message stays valid. Returns whether it issued the link. `grants` are the role
    /// assignments of the user, if another user asks for the link.
    ///
    /// To be called after everything else that takes a lock, like [`queue_notice`](Self::queue_notice).
    pub(crate) async fn queue_link(
        &self,
        work: &mut UnitOfWork<'_>,
        purpose: LinkPurpose,
        to: Addressee<'_>,
        grants: Option<Vec<Grant>>,
    ) -> Result<bool> {
        if self.post.is_none() {
            return Ok(false);
        }
        let link = link::new(self, self.next_id(), purpose, to, work.now());
        let message = self.message(work, purpose.message(), to.email, (Some(to.subject), Some(link.id)));
        let issue = Change::from(LinkChange::Issue { link, grants });
        // Also beyond the limit, which must not hide that the caller may not do this.
        work.check_granted_rights(&issue)?;
        queue(work, message, COUNTED_IN, Some(issue)).await
    }

    /// Queues a request for links to all accounts with an address, in one tenant or, for [`TenantId::NONE`], in all
    /// tenants. The accounts are looked for when the message is sent.
    pub(crate) async fn queue_reset(&self, work: &mut UnitOfWork<'_>, tenant: TenantId, to: &Email) -> Result<()> {
        let context = work.caller().context().clone();
        let message = self.message(work, MailKind::Reset, to, (None, None));
        let message = Message { tenant_id: tenant, context, ..message };
        queue(work, message, COUNTED_IN, None).await.map(drop)
    }

    fn message(
        &self,
        work: &mut UnitOfWork<'_>,
        kind: MailKind,
        to: &Email,
        (subject, link_id): (Option<Uuid>, Option<LinkId>),
    ) -> Message {
        let now = work.now();
        Message {
            id: self.next_id(),
            tenant_id: work.caller().tenant(),
            kind,
            to: to.clone(),
            subject,
            link_id,
            context: RequestContext::default(),
            attempts: 0,
            next_attempt_at: now,
            created_at: now,
        }
    }
}

/// Queues a message after the change that it needs, unless the limit for its address is reached. Returns whether it
/// did.
async fn queue(
    work: &mut UnitOfWork<'_>,
    message: Message,
    counted_in: TenantId,
    change: Option<Change>,
) -> Result<bool> {
    let queued_at = work.locks().lock_queued_messages(counted_in, message.kind, &message.to.key()).await?;
    let Some(queued_at) = with_message(queued_at, work.now()) else { return Ok(false) };
    if let Some(change) = change {
        work.apply(change).await?;
    }
    work.apply(MailChange::Queue { message, counted_in, queued_at }).await?;
    Ok(true)
}
