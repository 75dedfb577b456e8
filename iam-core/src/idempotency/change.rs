use uuid::Uuid;

use super::IdempotencyRecord;
use crate::audit::Record;

/// What is done with the answers to requests.
#[derive(Clone, Debug)]
pub enum IdempotencyChange {
    /// Keeps an answer, in place of one that was there before.
    Keep(IdempotencyRecord),
}

impl IdempotencyChange {
    /// Nothing: what was made records itself.
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Keep(_) => Vec::new(),
        }
    }

    pub(crate) fn touched(&self) -> Vec<Uuid> {
        match self {
            Self::Keep(_) => Vec::new(),
        }
    }
}
