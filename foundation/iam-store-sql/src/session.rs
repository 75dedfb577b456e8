//! Sessions.

use iam_model::context::UserAgent;
use iam_model::session::{RefreshState, Session, SpentToken};
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, bytes_32, moment, parse_optional};

/// A session as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct SessionRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub user_id: Uuid,
    pub ip_address: Option<String>,
    pub user_agent: Option<String>,
    pub created_at: T,
    pub last_used_at: T,
    pub expires_at: T,
    pub refresh_tag_key: Vec<u8>,
    pub refresh_current: Vec<u8>,
    pub spent_hash: Option<Vec<u8>>,
    pub spent_nonce: Option<Vec<u8>>,
    pub spent_at: Option<T>,
}

impl<T: StoredMoment> TryFrom<SessionRow<T>> for Session {
    type Error = StoreError;

    fn try_from(row: SessionRow<T>) -> Result<Self, StoreError> {
        let spent = match (row.spent_hash, row.spent_nonce, row.spent_at) {
            (Some(hash), Some(nonce), Some(at)) => Some(SpentToken {
                hash: bytes_32("sessions.spent_hash", &hash)?,
                nonce: bytes_32("sessions.spent_nonce", &nonce)?,
                at: moment("sessions.spent_at", at)?,
            }),
            _ => None,
        };
        let refresh = RefreshState {
            tag_key: bytes_32("sessions.refresh_tag_key", &row.refresh_tag_key)?,
            current: bytes_32("sessions.refresh_current", &row.refresh_current)?,
            spent,
        };
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            user_id: row.user_id.into(),
            ip_address: parse_optional("sessions.ip_address", row.ip_address.as_deref())?,
            user_agent: row.user_agent.as_deref().map(UserAgent::new),
            created_at: moment("sessions.created_at", row.created_at)?,
            last_used_at: moment("sessions.last_used_at", row.last_used_at)?,
            expires_at: moment("sessions.expires_at", row.expires_at)?,
            refresh,
        })
    }
}
