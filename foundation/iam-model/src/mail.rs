//! Mail: the messages of the service, the [`Mailer`] that sends them, and the limit for an address
//! (`docs/operating.md#mail`).
//!
//! A message is a row of the outbox, which commits with the change that causes it. It holds no secret: the links in it
//! are computed when it is sent.

mod line;

use std::error::Error;
use std::fmt;

use async_trait::async_trait;
use chrono::TimeDelta;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::context::RequestContext;
use crate::id::{LinkId, MessageId, TenantId};
use crate::secret::{LinkUrl, OneTimeCode};
use crate::user::User;
use crate::validate::{Email, EmailKey};

pub use crate::mail::line::{ENTERING_AT_ONCE, Lane, Line, TURNS_AT_ONCE, claim_in_turn};

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
    /// Links and codes that log in, one of each for each account.
    Login,
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
    /// New recovery codes have replaced the former ones.
    RecoveryCodesReplaced,
    /// A recovery code was used.
    RecoveryCodeUsed,
    /// An API key was made that acts as the person.
    ApiKeyCreated,
    /// An account at an identity provider was linked.
    IdentityLinked,
    /// Another user has begun to act as the person.
    ImpersonationStarted,
    /// A user asks for access, and the person may decide.
    AccessRequested,
    /// The access for which the person asked is approved.
    AccessApproved,
    /// The person does not get the access for which it asked: the request is refused, has lapsed or was cancelled.
    AccessDenied,
    /// Another user has ended the access that the person had by a request.
    AccessEnded,
    /// A user has got access that needs no approval. This message goes to the administrators of the tenant.
    AccessActivated,
    /// The operator will delete the tenant. This message goes to its administrators.
    TenantDeletionScheduled,
    /// The operator has called the deletion of the tenant off. This message goes to its administrators.
    TenantDeletionCancelled,
}

text_enum! {
    MailKind {
        Verify = "VERIFY",
        Reset = "RESET",
        Invitation = "INVITATION",
        Login = "LOGIN",
        PasswordChanged = "PASSWORD_CHANGED",
        EmailChanged = "EMAIL_CHANGED",
        NewLoginBlocked = "NEW_LOGIN_BLOCKED",
        FactorAdded = "FACTOR_ADDED",
        FactorRemoved = "FACTOR_REMOVED",
        RecoveryCodesReplaced = "RECOVERY_CODES_REPLACED",
        RecoveryCodeUsed = "RECOVERY_CODE_USED",
        ApiKeyCreated = "API_KEY_CREATED",
        IdentityLinked = "IDENTITY_LINKED",
        ImpersonationStarted = "IMPERSONATION_STARTED",
        AccessRequested = "ACCESS_REQUESTED",
        AccessApproved = "ACCESS_APPROVED",
        AccessDenied = "ACCESS_DENIED",
        AccessEnded = "ACCESS_ENDED",
        AccessActivated = "ACCESS_ACTIVATED",
        TenantDeletionScheduled = "TENANT_DELETION_SCHEDULED",
        TenantDeletionCancelled = "TENANT_DELETION_CANCELLED",
    }
}

impl MailKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::Verify,
        Self::Reset,
        Self::Invitation,
        Self::Login,
        Self::PasswordChanged,
        Self::EmailChanged,
        Self::NewLoginBlocked,
        Self::FactorAdded,
        Self::FactorRemoved,
        Self::RecoveryCodesReplaced,
        Self::RecoveryCodeUsed,
        Self::ApiKeyCreated,
        Self::IdentityLinked,
        Self::ImpersonationStarted,
        Self::AccessRequested,
        Self::AccessApproved,
        Self::AccessDenied,
        Self::AccessEnded,
        Self::AccessActivated,
        Self::TenantDeletionScheduled,
        Self::TenantDeletionCancelled,
    ];
}

/// The address to which a message goes. It comes from a record, and never from the text of a request: two spellings can
/// be the same account, but they need not be the same mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient(Email);

impl Recipient {
    /// The address of a user.
    #[must_use]
    pub fn of_user(user: &User) -> Self {
        Self(user.email.clone())
    }

    /// An address that the caller has read from a record: for stores, which read messages back, and for tests of a
    /// [`Mailer`].
    #[must_use]
    pub fn on_record(address: Email) -> Self {
        Self(address)
    }

    /// Returns the address.
    #[must_use]
    pub fn email(&self) -> &Email {
        &self.0
    }

    /// The text of the address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// To whom a message in the outbox goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addressee {
    /// An address on record.
    Recipient {
        /// The user or the invitation that the message is about.
        subject: Uuid,
        /// The address.
        address: Recipient,
    },
    /// The accounts that have an address. They are looked for when the message is sent, so that the request takes as
    /// long for an address without an account. Then it goes to the addresses of these accounts.
    Accounts(EmailKey),
}

impl Addressee {
    /// Returns the key of the address.
    #[must_use]
    pub fn key(&self) -> EmailKey {
        match self {
            Self::Recipient { address, .. } => address.0.key(),
            Self::Accounts(key) => key.clone(),
        }
    }

    /// Returns the user or the invitation that the message is about, if it is known.
    #[must_use]
    pub fn subject(&self) -> Option<Uuid> {
        match self {
            Self::Recipient { subject, .. } => Some(*subject),
            Self::Accounts(_) => None,
        }
    }
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
    /// To whom it goes.
    pub to: Addressee,
    /// The link in the message. If the link was replaced meanwhile, the message is not sent. In a message that logs in,
    /// it names the newest request; the links are issued when the message is sent.
    pub link_id: Option<LinkId>,
    /// The request that caused the message, if sending it is recorded in the audit log.
    pub context: RequestContext,
    /// How often a process has claimed the message to send it.
    pub attempts: u32,
    /// When the next attempt is due.
    pub next_attempt_at: Timestamp,
    /// The turn of the message in the [`Line`]. `None` if it is not in the line.
    pub turn: Option<i64>,
    /// Until when a process has the message for itself. `None` if no process has claimed it.
    pub claimed_until: Option<Timestamp>,
    /// When the message was queued.
    pub created_at: Timestamp,
}

impl Message {
    /// Claims the message; see [`claim_messages`](crate::store::MailStore::claim_messages).
    pub(crate) fn claim(&mut self, until: Timestamp) -> Self {
        self.attempts += 1;
        (self.next_attempt_at, self.turn, self.claimed_until) = (until, None, Some(until));
        self.clone()
    }

    /// Whether a message is this one in all that a request decides: then the newer request needs no message of its own.
    /// For stores that filter in memory; see
    /// [`lock_waiting_message`](crate::store::MailTransaction::lock_waiting_message).
    #[must_use]
    pub fn is_waiting_like(&self, other: &Self, now: Timestamp) -> bool {
        let purpose = |message: &Self| (message.tenant_id, message.kind, message.to.key(), message.to.subject());
        purpose(self) == purpose(other) && self.claimed_until.is_none_or(|until| until <= now)
    }

    /// Returns the waiting message with the addressee and the link of a newer one of its kind. If an attempt has
    /// failed, the next one is due within a minute. If the message waits for the limit of its address, it goes on to.
    #[must_use]
    pub fn renewed_by(&self, newer: &Self) -> Self {
        let next_attempt_at = match self.attempts {
            0 => self.next_attempt_at,
            _ => self.next_attempt_at.min(newer.created_at + FIRST_RETRY),
        };
        Self { to: newer.to.clone(), link_id: newer.link_id, next_attempt_at, ..self.clone() }
    }
}

/// How many messages a tenant has sent in an hour, which begins with the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentMessages {
    /// When the hour began.
    pub since: Timestamp,
    /// How many messages were sent, without invitations.
    pub urgent: u64,
    /// How many invitations were sent.
    pub invitations: u64,
}

impl SentMessages {
    /// Returns the count with another message. `None` if the tenant has reached its limit for an hour.
    ///
    /// Invitations wait when all messages together have reached the limit. Other messages wait only for each other: who
    /// invites many must not keep the users of the tenant from a new password.
    #[must_use]
    pub fn with_another(counted: Option<Self>, lane: Lane, now: Timestamp, limit: u64) -> Option<Self> {
        let fresh = Self { since: now, urgent: 0, invitations: 0 };
        let counted = counted.filter(|counted| now < counted.ends_at()).unwrap_or(fresh);
        let Self { urgent, invitations, .. } = counted;
        match lane {
            Lane::Urgent => (urgent < limit).then_some(Self { urgent: urgent + 1, ..counted }),
            Lane::Invitations => {
                (urgent.saturating_add(invitations) < limit).then_some(Self { invitations: invitations + 1, ..counted })
            }
        }
    }

    /// Returns when the hour ends.
    #[must_use]
    pub fn ends_at(&self) -> Timestamp {
        self.since + LIMIT_WINDOW
    }
}

/// The wait after the first failed attempt.
const FIRST_RETRY: TimeDelta = TimeDelta::minutes(1);

/// The waits after a failed attempt. After the attempt that follows the last wait, the message is given up.
const RETRIES: [TimeDelta; 5] =
    [FIRST_RETRY, TimeDelta::minutes(5), TimeDelta::minutes(30), TimeDelta::hours(2), TimeDelta::hours(6)];

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
/// reached; see [`with_late_message`].
#[must_use]
pub fn with_message(mut queued_at: Vec<Timestamp>, now: Timestamp) -> Option<Vec<Timestamp>> {
    queued_at.retain(|at| *at > now - LIMIT_WINDOW);
    if queued_at.len() >= LIMIT {
        return None;
    }
    queued_at.push(now);
    Some(queued_at)
}

/// Returns when a message may go to an address whose limit is reached, and when messages of its kind are queued then.
/// Who can cause three harmless messages must not hide the fourth. So it waits. A notice tells of all that happens until
/// it is sent, and a message with a link goes out with the newest one.
#[must_use]
pub fn with_late_message(mut queued_at: Vec<Timestamp>, now: Timestamp) -> (Timestamp, Vec<Timestamp>) {
    queued_at.retain(|at| *at > now - LIMIT_WINDOW);
    let counted = queued_at.len().checked_sub(LIMIT).and_then(|first| queued_at.get(first));
    let at = counted.map_or(now, |first| *first + LIMIT_WINDOW);
    queued_at.push(at);
    (at, queued_at)
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
    pub to: Recipient,
    /// The accounts that the message is about. Only a message of the kind [`MailKind::Reset`] or [`MailKind::Login`]
    /// can have more than one.
    pub accounts: Vec<MailAccount>,
}

impl Mail {
    /// Returns a message to send.
    #[must_use]
    pub fn new(id: MessageId, kind: MailKind, to: Recipient, accounts: Vec<MailAccount>) -> Self {
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
    /// The users who have begun to act as the person, in a message about that. Empty if they have ended it before the
    /// message was sent.
    pub actors: Vec<MailActor>,
}

impl MailAccount {
    /// Returns an account of a message.
    #[must_use]
    pub fn new(name: String, tenant: String, link: Option<MailLink>) -> Self {
        Self { name, tenant, link, actors: Vec::new() }
    }

    /// Returns the same account with the users who act as the person.
    #[must_use]
    pub fn with_actors(self, actors: Vec<MailActor>) -> Self {
        Self { actors, ..self }
    }
}

/// A user who acts as the person to whom a message goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MailActor {
    /// The name of the user.
    pub name: String,
    /// Why, in its own words.
    pub reason: String,
}

impl MailActor {
    /// Returns a user who acts as the person.
    #[must_use]
    pub fn new(name: String, reason: String) -> Self {
        Self { name, reason }
    }
}

/// A link in a message.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MailLink {
    /// The address of the page. It contains the token, so it must appear in the message only.
    pub url: LinkUrl,
    /// The code that a person can type in place of the link, in a message that logs in. It must appear in the message
    /// only.
    pub code: Option<OneTimeCode>,
    /// Until when the link and the code work.
    pub expires_at: Timestamp,
}

impl MailLink {
    /// Returns a link of a message.
    #[must_use]
    pub fn new(url: LinkUrl, expires_at: Timestamp) -> Self {
        Self { url, code: None, expires_at }
    }

    /// Returns the same link with a code in its place.
    #[must_use]
    pub fn with_code(self, code: OneTimeCode) -> Self {
        Self { code: Some(code), ..self }
    }
}

/// Sends messages, for instance by SMTP.
///
/// The outbox calls it once for each attempt, for several messages at the same time, and gives up an attempt after
/// 30 seconds. An error means that the message is tried again later, up to five times, unless it is a
/// [`RefusedForGood`].
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

/// The answer of a mail server that will not accept the message at any time, for instance because the mailbox does not
/// exist (RFC 5321 §4.2.1, 5yz). As a [`MailError`], it makes the outbox give the message up at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RefusedForGood(pub String);

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
    fn a_late_message_goes_when_the_third_before_it_is_an_hour_old() {
        let first = FixedClock::at("2026-01-31T09:15:00Z").now();
        let at = |minutes| first + TimeDelta::minutes(minutes);
        let (late, queued_at) = with_late_message(vec![at(0), at(10), at(20)], at(30));
        assert_eq!((late, &queued_at), (at(60), &vec![at(0), at(10), at(20), at(60)]));
        assert_eq!(with_message(queued_at.clone(), at(60)), None);
        let (late, queued_at) = with_late_message(queued_at, at(60));
        assert_eq!((late, queued_at), (at(70), vec![at(10), at(20), at(60), at(70)]));
    }

    #[test]
    fn a_tenant_sends_a_limited_number_of_messages_in_an_hour() {
        let clock = FixedClock::at("2026-01-31T09:15:00.123Z");
        let send = |counted, lane, limit| SentMessages::with_another(counted, lane, clock.now(), limit);
        let mut counted = None;
        for _ in 0..3 {
            counted = send(counted, Lane::Invitations, 3);
            assert!(counted.is_some());
        }
        assert_eq!(send(counted, Lane::Invitations, 3), None);
        // Invitations do not keep the users of the tenant from a new password.
        for _ in 0..3 {
            counted = send(counted, Lane::Urgent, 3);
            assert!(counted.is_some());
        }
        assert_eq!(send(counted, Lane::Urgent, 3), None);
        assert_eq!(send(send(None, Lane::Urgent, 1), Lane::Invitations, 1), None);
        let ends_at = counted.unwrap().ends_at();
        clock.advance(TimeDelta::hours(1) - TimeDelta::milliseconds(1));
        assert_eq!(send(counted, Lane::Invitations, 3), None);
        clock.advance(TimeDelta::milliseconds(1));
        assert_eq!(ends_at, clock.now());
        let fresh = SentMessages { since: clock.now(), urgent: 0, invitations: 1 };
        assert_eq!(send(counted, Lane::Invitations, 3), Some(fresh));
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
