//! The outbox: the rows that both stores read of it.

use iam_model::context::{RequestContext, UserAgent};
use iam_model::id::TenantId;
use iam_model::mail::{Addressee, Line, MailKind, Message, Recipient, SentMessages};
use iam_model::store_error::StoreError;
use iam_model::validate::{Email, EmailKey};
use uuid::Uuid;

use crate::column::{StoredMoment, counted, moment, moment_optional, parse, parse_optional, text};

/// A message as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct MessageRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub kind: String,
    pub email: String,
    pub email_key: Option<String>,
    pub subject: Option<Uuid>,
    pub link_id: Option<Uuid>,
    pub correlation_id: Option<String>,
    pub ip_address: Option<String>,
    pub user_agent: Option<String>,
    pub attempts: i32,
    pub next_attempt_at: T,
    pub turn: Option<i64>,
    pub claimed_until: Option<T>,
    pub created_at: T,
}

impl<T: StoredMoment> TryFrom<MessageRow<T>> for Message {
    type Error = StoreError;

    fn try_from(row: MessageRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            kind: parse("messages.kind", &row.kind)?,
            to: match row.subject {
                Some(subject) => {
                    let address = Recipient::on_record(text("messages.email", row.email)?);
                    Addressee::Recipient { subject, address }
                }
                None => Addressee::Accounts(stored_key(row.email_key, &row.email)?),
            },
            link_id: row.link_id.map(Into::into),
            context: RequestContext {
                correlation_id: parse_optional("messages.correlation_id", row.correlation_id.as_deref())?,
                ip_address: parse_optional("messages.ip_address", row.ip_address.as_deref())?,
                user_agent: row.user_agent.as_deref().map(UserAgent::new),
            },
            attempts: row.attempts.try_into().map_err(|cause| StoreError::corrupt("messages.attempts", cause))?,
            next_attempt_at: moment("messages.next_attempt_at", row.next_attempt_at)?,
            turn: row.turn,
            claimed_until: moment_optional("messages.claimed_until", row.claimed_until)?,
            created_at: moment("messages.created_at", row.created_at)?,
        })
    }
}

/// Converts the rows that can be read. A newer program may have queued the others, and sends them.
pub fn readable<T: StoredMoment>(rows: Vec<MessageRow<T>>) -> Vec<Message> {
    let read = |row: MessageRow<T>| {
        let id = row.id;
        Message::try_from(row).inspect_err(|error| tracing::warn!(%id, %error, "a message cannot be read")).ok()
    };
    rows.into_iter().filter_map(read).collect()
}

/// Returns the text of the address of a message: for messages to all accounts with an address, its key.
pub fn stored_address(to: &Addressee) -> String {
    match to {
        Addressee::Recipient { address, .. } => address.as_str().to_owned(),
        Addressee::Accounts(key) => key.as_str().to_owned(),
    }
}

/// Returns the key of an address. A message that an earlier release has queued has the address only.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when the address is not valid.
pub fn stored_key(key: Option<String>, email: &str) -> Result<EmailKey, StoreError> {
    match key {
        Some(key) => Ok(EmailKey::stored(key)),
        None => parse::<Email>("messages.email", email).map(|email| email.key()),
    }
}

/// A message that is due and is not in the line.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct DueRow {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub kind: String,
    pub email: String,
    pub email_key: Option<String>,
}

impl DueRow {
    /// Returns the kind of the message and the key of its address. `None` if a newer program has queued it.
    #[must_use]
    pub fn purpose(&self) -> Option<(MailKind, EmailKey)> {
        let kind = self.kind.parse().ok()?;
        Some((kind, stored_key(self.email_key.clone(), &self.email).ok()?))
    }
}

/// The messages that enter the line, column by column.
#[derive(Debug, Default)]
pub struct Entering {
    /// Their tenants.
    pub tenants: Vec<Uuid>,
    /// Their identifiers.
    pub ids: Vec<Uuid>,
    /// The numbers of their lanes.
    pub lanes: Vec<i64>,
    /// Their turns.
    pub turns: Vec<i64>,
}

/// Lets messages that are due enter the line.
#[must_use]
pub fn enter(due: &[DueRow], mut line: Line) -> Entering {
    let mut entering = Entering::default();
    for row in due {
        let Some((kind, key)) = row.purpose() else { continue };
        let lane = iam_model::mail::Lane::of(kind);
        let Some(turn) = line.enter(TenantId::from(row.tenant_id), kind, key) else { continue };
        entering.tenants.push(row.tenant_id);
        entering.ids.push(row.id);
        entering.lanes.push(lane.number());
        entering.turns.push(turn);
    }
    entering
}

/// The messages that a tenant has sent, as the stores read them.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct SentRow<T> {
    pub since: T,
    pub urgent: i64,
    pub invitations: i64,
}

impl<T: StoredMoment> TryFrom<SentRow<T>> for SentMessages {
    type Error = StoreError;

    fn try_from(row: SentRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            since: moment("sent_messages.since", row.since)?,
            urgent: counted("sent_messages.urgent", row.urgent)?,
            invitations: counted("sent_messages.invitations", row.invitations)?,
        })
    }
}
