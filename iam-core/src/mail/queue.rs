use iam_model::assignment::Grant;
use iam_model::change::{Change, LinkChange, MailChange};
use iam_model::context::RequestContext;
use iam_model::error::Result;
use iam_model::id::{LinkId, TenantId, UserId};
use iam_model::link::LinkPurpose;
use iam_model::mail::{MailKind, Message, with_message};
use iam_model::user::User;
use iam_model::validate::Email;

use crate::engine::{Engine, UnitOfWork};
use crate::link;

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
        let queued_at = work.locks().lock_queued_messages(counted_in, kind, &to.key()).await?;
        if let Some(queued_at) = with_message(queued_at, work.now()) {
            let message = self.message(work, kind, to, (user, None));
            work.apply(MailChange::Queue { message, counted_in, queued_at }).await?;
        }
        Ok(())
    }

    /// Issues a link to a user and queues the message with it, if mail is on. Beyond the limit for the address it does
    /// nothing, so that the link in the last message stays valid. `grants` are the role assignments of the user, if
    /// another user asks for the link.
    ///
    /// To be called after everything else that takes a lock, like [`queue_notice`](Self::queue_notice).
    pub(crate) async fn queue_link(
        &self,
        work: &mut UnitOfWork<'_>,
        purpose: LinkPurpose,
        (user, to): (&User, &Email),
        grants: Option<Vec<Grant>>,
    ) -> Result<()> {
        if self.post.is_none() {
            return Ok(());
        }
        let link = link::new(self, (self.next_id(), purpose), (user, to), work.now());
        let (kind, link_id) = (kind_of(purpose), link.id);
        let issue = Change::from(LinkChange::Issue { link, grants });
        // Also beyond the limit, which must not hide that the caller may not do this.
        work.check_granted_rights(&issue)?;
        let queued_at = work.locks().lock_queued_messages(COUNTED_IN, kind, &to.key()).await?;
        if let Some(queued_at) = with_message(queued_at, work.now()) {
            work.apply(issue).await?;
            let message = self.message(work, kind, to, (Some(user.id), Some(link_id)));
            work.apply(MailChange::Queue { message, counted_in: COUNTED_IN, queued_at }).await?;
        }
        Ok(())
    }

    /// Queues a request for links to all accounts with an address, in one tenant or, for [`TenantId::NONE`], in all
    /// tenants. The accounts are looked for when the message is sent.
    pub(crate) async fn queue_reset(&self, work: &mut UnitOfWork<'_>, tenant: TenantId, to: &Email) -> Result<()> {
        let kind = MailKind::Reset;
        let queued_at = work.locks().lock_queued_messages(COUNTED_IN, kind, &to.key()).await?;
        if let Some(queued_at) = with_message(queued_at, work.now()) {
            let context = work.caller().context().clone();
            let message = Message { tenant_id: tenant, context, ..self.message(work, kind, to, (None, None)) };
            work.apply(MailChange::Queue { message, counted_in: COUNTED_IN, queued_at }).await?;
        }
        Ok(())
    }

    fn message(
        &self,
        work: &mut UnitOfWork<'_>,
        kind: MailKind,
        to: &Email,
        (user_id, link_id): (Option<UserId>, Option<LinkId>),
    ) -> Message {
        let (tenant_id, now): (TenantId, _) = (work.caller().tenant(), work.now());
        Message {
            id: self.next_id(),
            tenant_id,
            kind,
            to: to.clone(),
            user_id,
            link_id,
            context: RequestContext::default(),
            attempts: 0,
            next_attempt_at: now,
            created_at: now,
        }
    }
}

/// Returns the kind of the message that contains a link.
fn kind_of(purpose: LinkPurpose) -> MailKind {
    match purpose {
        LinkPurpose::Verify => MailKind::Verify,
        LinkPurpose::Reset => MailKind::Reset,
    }
}
