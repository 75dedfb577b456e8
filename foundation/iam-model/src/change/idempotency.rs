use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::Record;
use crate::idempotency::IdempotencyRecord;

/// A change of the stored answers to requests.
#[derive(Clone, Debug)]
pub enum IdempotencyChange {
    /// Stores an answer. It replaces an older answer with the same id.
    Keep(IdempotencyRecord),
}

impl IdempotencyChange {
    /// Returns no records: the created resource has its own entry.
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Keep(_) => Vec::new(),
        }
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Keep(_) => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Keep(_) => Vec::new(),
        }
    }
}
