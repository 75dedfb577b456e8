//! Links.

use iam_model::link::Link;
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, bytes_32, moment, parse, text};

/// A link as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct LinkRow<T> {
    pub tenant_id: Uuid,
    pub purpose: String,
    pub subject: Uuid,
    pub id: Uuid,
    pub email: String,
    pub token_hash: Vec<u8>,
    pub created_at: T,
    pub expires_at: T,
}

impl<T: StoredMoment> TryFrom<LinkRow<T>> for Link {
    type Error = StoreError;

    fn try_from(row: LinkRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            tenant_id: row.tenant_id.into(),
            purpose: parse("links.purpose", &row.purpose)?,
            subject: row.subject,
            id: row.id.into(),
            email: text("links.email", row.email)?,
            token_hash: bytes_32("links.token_hash", &row.token_hash)?,
            created_at: moment("links.created_at", row.created_at)?,
            expires_at: moment("links.expires_at", row.expires_at)?,
        })
    }
}
