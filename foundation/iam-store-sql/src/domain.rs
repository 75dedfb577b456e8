//! Domains.

use iam_model::domain::Domain;
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, moment, moment_optional, text};

/// A domain as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct DomainRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub name: String,
    pub challenge: String,
    pub verified_at: Option<T>,
    pub is_trusted: bool,
    pub checked_at: Option<T>,
    pub absent_since: Option<T>,
    pub created_at: T,
}

impl<T: StoredMoment> TryFrom<DomainRow<T>> for Domain {
    type Error = StoreError;

    fn try_from(row: DomainRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            name: text("domains.name", row.name)?,
            challenge: row.challenge,
            verified_at: moment_optional("domains.verified_at", row.verified_at)?,
            is_trusted: row.is_trusted,
            checked_at: moment_optional("domains.checked_at", row.checked_at)?,
            absent_since: moment_optional("domains.absent_since", row.absent_since)?,
            created_at: moment("domains.created_at", row.created_at)?,
        })
    }
}
