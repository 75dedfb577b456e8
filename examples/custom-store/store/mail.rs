use async_trait::async_trait;
use iam_model::change::MailChange;
use iam_model::clock::Timestamp;
use iam_model::context::{RequestContext, UserAgent};
use iam_model::id::{LinkId, MessageId, TenantId};
use iam_model::mail::{Addressee, Lane, MailKind, Message, Recipient, SentMessages, claim_in_turn};
use iam_model::store::{MailStore, MailTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::{Email, EmailKey};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::RedbStore;
use super::rows::{Draft, Row, everywhere, key};
use super::transaction::RedbTransaction;

/// A message that is not sent yet.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct MessageRow(#[serde(with = "MessageFields")] Message);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Message")]
struct MessageFields {
    id: MessageId,
    tenant_id: TenantId,
    kind: MailKind,
    #[serde(with = "AddresseeFields")]
    to: Addressee,
    link_id: Option<LinkId>,
    #[serde(with = "ContextFields")]
    context: RequestContext,
    attempts: u32,
    next_attempt_at: Timestamp,
    turn: Option<i64>,
    claimed_until: Option<Timestamp>,
    created_at: Timestamp,
}

/// An addressee as it is stored.
#[derive(Serialize, Deserialize)]
enum AddresseeFields {
    Recipient { subject: Uuid, address: Email },
    Accounts(String),
}

impl AddresseeFields {
    fn serialize<S: serde::Serializer>(to: &Addressee, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = match to {
            Addressee::Recipient { subject, address } => {
                Self::Recipient { subject: *subject, address: address.email().clone() }
            }
            Addressee::Accounts(key) => Self::Accounts(key.as_str().to_owned()),
        };
        Serialize::serialize(&fields, serializer)
    }

    fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Addressee, D::Error> {
        Ok(match Deserialize::deserialize(deserializer)? {
            Self::Recipient { subject, address } => {
                Addressee::Recipient { subject, address: Recipient::on_record(address) }
            }
            Self::Accounts(key) => Addressee::Accounts(EmailKey::stored(key)),
        })
    }
}

/// A request context as it is stored.
#[derive(Serialize, Deserialize)]
struct ContextFields {
    correlation_id: Option<String>,
    ip_address: Option<std::net::IpAddr>,
    user_agent: Option<String>,
}

impl ContextFields {
    fn serialize<S: serde::Serializer>(context: &RequestContext, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = Self {
            correlation_id: context.correlation_id.as_ref().map(ToString::to_string),
            ip_address: context.ip_address,
            user_agent: context.user_agent.as_ref().map(|agent| agent.as_str().to_owned()),
        };
        Serialize::serialize(&fields, serializer)
    }

    fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<RequestContext, D::Error> {
        let fields: Self = Deserialize::deserialize(deserializer)?;
        Ok(RequestContext {
            correlation_id: fields.correlation_id.and_then(|text| text.parse().ok()),
            ip_address: fields.ip_address,
            user_agent: fields.user_agent.as_deref().map(UserAgent::new),
        })
    }
}

impl Row for MessageRow {
    const TABLE: &'static str = "messages";

    fn key(&self) -> Vec<u8> {
        key(self.0.id)
    }
}

/// When messages of a kind were queued for an address.
#[derive(Serialize, Deserialize)]
pub(super) struct QueuedMailRow {
    kind: MailKind,
    email: String,
    pub(super) queued_at: Vec<Timestamp>,
}

impl Row for QueuedMailRow {
    const TABLE: &'static str = "queued_messages";

    fn key(&self) -> Vec<u8> {
        queued_key(self.kind, &self.email)
    }
}

/// How many messages a tenant has sent in an hour.
#[derive(Serialize, Deserialize)]
pub(super) struct SentMailRow {
    since: Timestamp,
    urgent: u64,
    invitations: u64,
}

/// The one row of a tenant.
const SENT_KEY: &[u8] = b"sent";

impl Row for SentMailRow {
    const TABLE: &'static str = "sent_messages";

    fn key(&self) -> Vec<u8> {
        SENT_KEY.to_vec()
    }
}

/// No kind contains a space.
fn queued_key(kind: MailKind, email: &str) -> Vec<u8> {
    format!("{kind} {email}").into_bytes()
}

#[async_trait]
impl MailStore for RedbStore {
    async fn claim_messages(&self, now: Timestamp, until: Timestamp, limit: u32) -> Result<Vec<Message>, StoreError> {
        self.write(|rows| {
            let stored = everywhere::<MessageRow>(rows)?;
            let mut messages: Vec<Message> = stored.into_iter().map(|(_, MessageRow(message))| message).collect();
            let before = messages.clone();
            let claimed = claim_in_turn(&mut messages, (now, until), limit);
            for (message, before) in messages.into_iter().zip(before) {
                if message != before {
                    Draft::new(rows, message.tenant_id).put(MessageRow(message))?;
                }
            }
            Ok(claimed)
        })
        .await
    }

    async fn count_sent_message(
        &self,
        tenant: TenantId,
        lane: Lane,
        now: Timestamp,
        limit: u64,
    ) -> Result<Option<Timestamp>, StoreError> {
        self.write(|rows| {
            let draft = Draft::new(rows, tenant);
            let row: Option<SentMailRow> = draft.view().get(SENT_KEY)?;
            let counted =
                row.map(|SentMailRow { since, urgent, invitations }| SentMessages { since, urgent, invitations });
            let Some(SentMessages { since, urgent, invitations }) =
                SentMessages::with_another(counted, lane, now, limit)
            else {
                return Ok(counted.map(|counted| counted.ends_at()));
            };
            draft.put(SentMailRow { since, urgent, invitations })?;
            Ok(None)
        })
        .await
    }

    async fn return_message(&self, message: &Message, next_attempt_at: Timestamp) -> Result<(), StoreError> {
        let attempts = message.attempts - 1;
        let returned = Message { attempts, next_attempt_at, claimed_until: None, ..message.clone() };
        self.change_claimed(message, |draft| draft.put(MessageRow(returned))).await
    }

    async fn postpone_message(&self, message: &Message, next_attempt_at: Timestamp) -> Result<(), StoreError> {
        let postponed = Message { next_attempt_at, claimed_until: None, ..message.clone() };
        self.change_claimed(message, |draft| draft.put(MessageRow(postponed))).await
    }

    async fn remove_message(&self, message: &Message) -> Result<(), StoreError> {
        self.change_claimed(message, |draft| draft.remove::<MessageRow>(&key(message.id)).map(drop)).await
    }
}

impl RedbStore {
    /// Changes a message, unless another call has claimed it since.
    async fn change_claimed(
        &self,
        message: &Message,
        change: impl FnOnce(Draft<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.write(|rows| {
            let draft = Draft::new(rows, message.tenant_id);
            let stored = draft.view().get(&key(message.id))?;
            match stored {
                Some(MessageRow(stored)) if stored.attempts == message.attempts => change(draft),
                _ => Ok(()),
            }
        })
        .await
    }
}

#[async_trait]
impl MailTransaction for RedbTransaction {
    async fn lock_queued_messages(
        &mut self,
        counted_in: TenantId,
        kind: MailKind,
        to: &EmailKey,
    ) -> Result<Vec<Timestamp>, StoreError> {
        let row = self.view().of(counted_in).get::<QueuedMailRow>(&queued_key(kind, to.as_str()))?;
        Ok(row.map(|row| row.queued_at).unwrap_or_default())
    }

    async fn lock_waiting_message(&mut self, like: &Message, now: Timestamp) -> Result<Option<Message>, StoreError> {
        let waiting = self.view().of(like.tenant_id).select(|MessageRow(stored)| stored.is_waiting_like(like, now))?;
        Ok(waiting.into_iter().next().map(|MessageRow(message)| message))
    }
}

impl Draft<'_> {
    pub(super) fn write_mail(self, change: &MailChange) -> Result<(), StoreError> {
        match change {
            MailChange::Queue { message, counted_in, queued_at } => {
                let (kind, email) = (message.kind, message.to.key().as_str().to_owned());
                let queued = QueuedMailRow { kind, email, queued_at: queued_at.clone() };
                self.of(*counted_in).put(queued)?;
                self.of(message.tenant_id).put(MessageRow(message.clone()))
            }
            MailChange::Renew { message } => self.of(message.tenant_id).put(MessageRow(message.clone())),
        }
    }
}
