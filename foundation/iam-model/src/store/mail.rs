use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::clock::Timestamp;
use crate::id::TenantId;
use crate::mail::{Lane, MailKind, Message};
use crate::store::observed::observed;
use crate::store_error::StoreError;
use crate::validate::EmailKey;

/// The outbox: the messages that are not sent yet, of all tenants.
#[apply(observed)]
#[async_trait]
pub trait MailStore {
    /// Lets the messages whose next attempt is due at `now` enter the [`Line`](crate::mail::Line), and claims the next
    /// ones: at most `limit` of the first lane that is not empty, within [`TURNS_AT_ONCE`](crate::mail::TURNS_AT_ONCE)
    /// turns. Until `until`, no other call claims them. Each is returned with the number of its attempts, this one
    /// included.
    async fn claim_messages(&self, now: Timestamp, until: Timestamp, limit: u32) -> Result<Vec<Message>, StoreError>;

    /// Counts a message that a tenant is about to send; see
    /// [`SentMessages::with_another`](crate::mail::SentMessages::with_another). If the tenant has reached its limit,
    /// counts nothing and returns when the hour ends. Of two concurrent calls, the second sees the count of the first.
    async fn count_sent_message(
        &self,
        tenant: TenantId,
        lane: Lane,
        now: Timestamp,
        limit: u64,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Gives a claimed message back as if it had not been claimed. It is due at `next_attempt_at`. Does nothing if
    /// another call has claimed it since.
    async fn return_message(&self, message: &Message, next_attempt_at: Timestamp) -> Result<(), StoreError>;

    /// Sets when the next attempt of a claimed message is due. Does nothing if another call has claimed it since.
    async fn postpone_message(&self, message: &Message, next_attempt_at: Timestamp) -> Result<(), StoreError>;

    /// Removes a claimed message, which was sent or is given up. Does nothing if another call has claimed it since.
    async fn remove_message(&self, message: &Message) -> Result<(), StoreError>;
}

/// Reads the outbox inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait MailTransaction {
    /// Returns when messages of a kind were queued for an address, as far as it was
    /// [kept](crate::change::MailChange::Queue) under a tenant, which may be [`TenantId::NONE`]. Locks this until the
    /// unit of work ends, even if there are none yet: of two concurrent units of work, the second sees what the first
    /// wrote.
    async fn lock_queued_messages(
        &mut self,
        counted_in: TenantId,
        kind: MailKind,
        to: &EmailKey,
    ) -> Result<Vec<Timestamp>, StoreError>;

    /// Returns a message that is not sent yet, and that no process has claimed at `now`, of the kind, the
    /// tenant, the subject and the address (by its key) of a message. Locks it until the unit of work ends, so that no
    /// process claims it.
    async fn lock_waiting_message(&mut self, like: &Message, now: Timestamp) -> Result<Option<Message>, StoreError>;
}
