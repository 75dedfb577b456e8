use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::Record;
use crate::id::TenantId;
use crate::idempotency::IdempotencyRecord;

/// A change of the stored answers to requests.
#[derive(Clone, Debug)]
pub enum IdempotencyChange {
    /// Stores an answer. It replaces an older answer with the same id.
    Keep(IdempotencyRecord),
    /// Removes the answers of a tenant that contain a text.
    Forget {
        /// The tenant of the answers; [`TenantId::NONE`] for those to clients that had no tenant yet.
        tenant_id: TenantId,
        /// A part of the JSON of an answer, compared byte by byte.
        text: String,
    },
}

impl IdempotencyChange {
    /// Returns no records: the created resource has its own entry, and so has the erasure of a user.
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Keep(_) | Self::Forget { .. } => Vec::new(),
        }
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Keep(_) | Self::Forget { .. } => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Keep(_) | Self::Forget { .. } => Vec::new(),
        }
    }
}
