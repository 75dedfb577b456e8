//! Legal holds.

use iam_model::id::UserId;
use iam_model::legal_hold::{Destroyed, LegalHold};
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, moment, text};

/// A legal hold as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct LegalHoldRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub user_id: Option<Uuid>,
    pub reason: String,
    pub placed_by: Option<Uuid>,
    pub created_at: T,
}

impl<T: StoredMoment> TryFrom<LegalHoldRow<T>> for LegalHold {
    type Error = StoreError;

    fn try_from(row: LegalHoldRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            user_id: row.user_id.map(UserId::from),
            reason: text("legal_holds.reason", row.reason)?,
            placed_by: row.placed_by.map(UserId::from),
            created_at: moment("legal_holds.created_at", row.created_at)?,
        })
    }
}

/// Returns the user whose holds, beside those of the tenant, keep what would be destroyed. `None` if every hold does.
#[must_use]
pub fn kept_by_holds_of(destroyed: Destroyed) -> Option<Uuid> {
    match destroyed {
        Destroyed::Log => None,
        Destroyed::OfUser(user) => Some(user.as_uuid()),
    }
}
