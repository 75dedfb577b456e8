use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::clock::Timestamp;
use crate::id::TenantId;
use crate::mail::{MailKind, Message};
use crate::store::observed::observed;
use crate::store_error::StoreError;
use crate::validate::EmailKey;

/// The outbox: the messages that are not sent yet, of all tenants.
#[apply(observed)]
#[async_trait]
pub trait MailStore {
    /// Claims messages whose next attempt is due at `now`: at most `limit`, the longest due first. Until `until`, no
    /// other call claims them. Each is returned with the number of its attempts, this one included.
    async fn claim_messages(&self, now: Timestamp, until: Timestamp, limit: u32) -> Result<Vec<Message>, StoreError>;

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
}
