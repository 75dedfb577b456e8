//! Mail: the messages of the service, the [`Mailer`] that sends them, and the limit for an address (`accounts.md`,
//! "Mail").
//!
//! A message is a row of the outbox, which commits with the change that causes it. It holds no secret: the links in it
//! are computed when it is sent.

use std::error::Error;

use async_trait::async_trait;
use chrono::TimeDelta;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::context::RequestContext;
use crate::id::{LinkId, MessageId, TenantId};
use crate::secret::LinkUrl;
use crate::validate::Email;

/// The kind of a message, which the header `X-IAM-Message` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MailKind {
    /// A link that verifies the address.
    Verify,
    /// Links that set a new password, one for each account.
    Reset,
    /// A link that accepts an invitation.
    Invitation,
    /// The password was changed.
    PasswordChanged,
    /// The account has another address now. This message goes to the former address.
    EmailChanged,
    /// The account is locked after too many failed logins.
    NewLoginBlocked,
    /// A second factor was set up.
    FactorAdded,
    /// A second factor was removed.
    FactorRemoved,
}

text_enum! {
    MailKind {
        Verify = "VERIFY",
        Reset = "RESET",
        Invitation = "INVITATION",
        PasswordChanged = "PASSWORD_CHANGED",
        EmailChanged = "EMAIL_CHANGED",
        NewLoginBlocked = "NEW_LOGIN_BLOCKED",
        FactorAdded = "FACTOR_ADDED",
        FactorRemoved = "FACTOR_REMOVED",
    }
}

impl MailKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::Verify,
        Self::Reset,
        Self::Invitation,
        Self::PasswordChanged,
        Self::EmailChanged,
        Self::NewLoginBlocked,
        Self::FactorAdded,
        Self::FactorRemoved,
    ];
}

/// A message that is not sent yet: a row of the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Identifies the message. It is the same at each attempt to send it.
    pub id: MessageId,
    /// The tenant of the account; [`TenantId::NONE`] for a request for all accounts with the address.
    pub tenant_id: TenantId,
    /// The kind.
    pub kind: MailKind,
    /// The address.
    pub to: Email,
    /// The user or the invitation that the message is about. `None` if the account is looked for when the message is
    /// sent, so that the request takes as long for an address without an account.
    pub subject: Option<Uuid>,
    /// The link in the message. If the link was replaced meanwhile, the message is not sent.
    pub link_id: Option<LinkId>,
    /// The request that caused the message, if sending it is recorded in the audit log.
    pub context: RequestContext,
    /// How often a process has claimed the message to send it.
    pub attempts: u32,
    /// When the next attempt is due.
    pub next_attempt_at: Timestamp,
    /// When the message was queued.
    pub created_at: Timestamp,
}

/// The waits after a failed attempt. After the attempt that follows the last wait, the message is given up.
const RETRIES: [TimeDelta; 5] =
    [TimeDelta::minutes(1), TimeDelta::minutes(5), TimeDelta::minutes(30), TimeDelta::hours(2), TimeDelta::hours(6)];

/// Returns how long to wait after this many failed attempts. `None` if the message is given up.
#[must_use]
pub fn wait_after(attempts: u32) -> Option<TimeDelta> {
    let failed = usize::try_from(attempts).unwrap_or(usize::MAX);
    RETRIES.get(failed.saturating_sub(1)).copied()
}

/// The maximum number of messages of one kind to one address within [`LIMIT_WINDOW`].
const LIMIT: usize = 3;

/// How long a message counts for the limit of its address: an hour.
pub const LIMIT_WINDOW: TimeDelta = TimeDelta::hours(1);

/// Returns when messages of one kind were queued for an address, with a message at `now`. `None` if the limit is
/// reached: then the message is not sent.
#[must_use]
pub fn with_message(mut queued_at: Vec<Timestamp>, now: Timestamp) -> Option<Vec<Timestamp>> {
    queued_at.retain(|at| *at > now - LIMIT_WINDOW);
    if queued_at.len() >= LIMIT {
        return None;
    }
    queued_at.push(now);
    Some(queued_at)
}

/// A message to send, with everything that its text needs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Mail {
    /// Identifies the message. It is the same if the message is sent again because the answer to the first attempt was
    /// lost.
    pub id: MessageId,
    /// The kind.
    pub kind: MailKind,
    /// The address.
    pub to: Email,
    /// The accounts that the message is about. Only a message of the kind [`MailKind::Reset`] can have more than one.
    pub accounts: Vec<MailAccount>,
}

impl Mail {
    /// Returns a message to send.
    #[must_use]
    pub fn new(id: MessageId, kind: MailKind, to: Email, accounts: Vec<MailAccount>) -> Self {
        Self { id, kind, to, accounts }
    }
}

/// An account that a message is about.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MailAccount {
    /// The name of the person. Empty in an invitation that does not say it.
    pub name: String,
    /// The name of the tenant.
    pub tenant: String,
    /// The link, in messages that have links.
    pub link: Option<MailLink>,
}

impl MailAccount {
    /// Returns an account of a message.
    #[must_use]
    pub fn new(name: String, tenant: String, link: Option<MailLink>) -> Self {
        Self { name, tenant, link }
    }
}

/// A link in a message.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MailLink {
    /// The address of the page. It contains the token, so it must appear in the message only.
    pub url: LinkUrl,
    /// Until when the link works.
    pub expires_at: Timestamp,
}

impl MailLink {
    /// Returns a link of a message.
    #[must_use]
    pub fn new(url: LinkUrl, expires_at: Timestamp) -> Self {
        Self { url, expires_at }
    }
}

/// Sends messages, for instance by SMTP.
///
/// The outbox calls it once for each attempt, for several messages at the same time, and gives up an attempt after
/// 30 seconds. An error means that the message is tried again later, up to five times.
#[async_trait]
pub trait Mailer: Send + Sync + 'static {
    /// Sends a message. Returns when the next mail server has accepted it.
    ///
    /// # Errors
    ///
    /// Any. The text of the error is logged, so it must not contain the message.
    async fn send(&self, mail: &Mail) -> Result<(), MailError>;
}

/// Why a message was not sent.
pub type MailError = Box<dyn Error + Send + Sync>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock as _;
    use crate::clock::testing::FixedClock;

    #[test]
    fn a_message_is_tried_six_times() {
        let minutes: Vec<Option<i64>> = (1..=7).map(|attempts| Some(wait_after(attempts)?.num_minutes())).collect();
        assert_eq!(minutes, [Some(1), Some(5), Some(30), Some(120), Some(360), None, None]);
    }

    #[test]
    fn an_address_gets_three_messages_of_a_kind_within_an_hour() {
        let clock = FixedClock::at("2026-01-31T09:15:00.123Z");
        let mut queued_at = Vec::new();
        let first = clock.now();
        for _ in 0..3 {
            queued_at = with_message(queued_at, clock.now()).unwrap();
            clock.advance(TimeDelta::minutes(20));
        }
        assert_eq!(with_message(queued_at.clone(), first + TimeDelta::minutes(60) - TimeDelta::milliseconds(1)), None);
        let next = with_message(queued_at.clone(), first + TimeDelta::minutes(60)).unwrap();
        assert_eq!((next.len(), next.contains(&first)), (3, false));
    }
}
