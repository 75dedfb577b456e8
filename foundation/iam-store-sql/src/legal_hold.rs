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

/// Which holds, beside those of the tenant, keep what would be destroyed.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeptBy {
    /// Whether every hold does.
    pub every: bool,
    /// The user whose holds do.
    pub of_user: Option<Uuid>,
    /// The directory of whose users the holds do.
    pub of_directory: Option<Uuid>,
}

impl From<Destroyed> for KeptBy {
    fn from(destroyed: Destroyed) -> Self {
        match destroyed {
            Destroyed::Log => Self { every: true, ..Self::default() },
            Destroyed::OfUser(user) => Self { of_user: Some(user.as_uuid()), ..Self::default() },
            Destroyed::OfDirectory(directory) => Self { of_directory: Some(directory.as_uuid()), ..Self::default() },
        }
    }
}
