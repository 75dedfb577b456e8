//! Identities.

use iam_model::identity::Identity;
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, moment, moment_optional, parse, text};

/// An identity as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct IdentityRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub user_id: Uuid,
    pub provider_id: Uuid,
    pub issuer: String,
    pub subject: String,
    pub email: Option<String>,
    pub linked_at: T,
    pub last_login_at: Option<T>,
}

impl<T: StoredMoment> TryFrom<IdentityRow<T>> for Identity {
    type Error = StoreError;

    fn try_from(row: IdentityRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            user_id: row.user_id.into(),
            provider_id: row.provider_id.into(),
            issuer: parse("identities.issuer", &row.issuer)?,
            subject: row.subject,
            email: row.email.map(|email| text("identities.email", email)).transpose()?,
            linked_at: moment("identities.linked_at", row.linked_at)?,
            last_login_at: moment_optional("identities.last_login_at", row.last_login_at)?,
        })
    }
}
