use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::Record;
use crate::clock::Timestamp;
use crate::id::TenantId;
use crate::mail::Message;

/// A change of the outbox.
#[derive(Clone, Debug)]
pub enum MailChange {
    /// A message is queued.
    Queue {
        /// The message.
        message: Message,
        /// The tenant whose messages to the address are counted together; [`TenantId::NONE`] for those of all tenants.
        counted_in: TenantId,
        /// When messages of this kind were queued for this address, this one included, as far as they count for the
        /// limit.
        queued_at: Vec<Timestamp>,
    },
    /// A waiting message, which is [locked](crate::store::MailTransaction::lock_waiting_message), goes out with a newer
    /// link.
    Renew {
        /// The message as it [becomes](Message::renewed_by).
        message: Message,
    },
}

impl MailChange {
    /// Returns no records: the change that causes a message has its own entry.
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Queue { .. } | Self::Renew { .. } => Vec::new(),
        }
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Queue { .. } | Self::Renew { .. } => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Queue { .. } | Self::Renew { .. } => Vec::new(),
        }
    }
}
