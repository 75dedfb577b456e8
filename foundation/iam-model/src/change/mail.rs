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
}

impl MailChange {
    /// Returns no records: the change that causes a message has its own entry.
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Queue { .. } => Vec::new(),
        }
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Queue { .. } => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Queue { .. } => Vec::new(),
        }
    }
}
