//! Users.

use iam_model::store_error::StoreError;
use iam_model::user::User;
use sqlx::FromRow;
use uuid::Uuid;

use crate::column::{StoredMoment, moment, moment_optional, parse};

/// A user as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct UserRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub email: String,
    pub email_verified_at: Option<T>,
    pub first_name: String,
    pub last_name: String,
    pub status: String,
    pub last_login_at: Option<T>,
    pub created_at: T,
    pub updated_at: T,
}

impl<T: StoredMoment> TryFrom<UserRow<T>> for User {
    type Error = StoreError;

    fn try_from(row: UserRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            email: parse("users.email", &row.email)?,
            email_verified_at: moment_optional("users.email_verified_at", row.email_verified_at)?,
            first_name: parse("users.first_name", &row.first_name)?,
            last_name: parse("users.last_name", &row.last_name)?,
            status: parse("users.status", &row.status)?,
            last_login_at: moment_optional("users.last_login_at", row.last_login_at)?,
            created_at: moment("users.created_at", row.created_at)?,
            updated_at: moment("users.updated_at", row.updated_at)?,
        })
    }
}
