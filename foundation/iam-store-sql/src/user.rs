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

/// Selects a user and its tenant, each of which may be missing, beside other columns. The literals are the statement
/// before and after the columns of both.
#[macro_export]
macro_rules! select_with_user {
    ($before:literal $(+ $more:literal)*, $after:literal, $($argument:expr),+) => {
        sqlx::query!(
            $before $(+ $more)* + r#",
                u.id AS "user_id?",
                u.email AS "user_email?",
                u.email_verified_at AS "user_email_verified_at?",
                u.first_name AS "user_first_name?",
                u.last_name AS "user_last_name?",
                u.status AS "user_status?",
                u.last_login_at AS "user_last_login_at?",
                u.created_at AS "user_created_at?",
                u.updated_at AS "user_updated_at?",
                t.id AS "tenant_id?",
                t.name AS "tenant_name?",
                t.slug AS "tenant_slug?",
                t.status AS "tenant_status?",
                t.created_at AS "tenant_created_at?",
                t.updated_at AS "tenant_updated_at?"
            "# + $after,
            $($argument),+
        )
    };
}

/// Takes the user and the tenant out of a row of [`select_with_user!`], if the row has them.
#[macro_export]
macro_rules! user_and_tenant {
    ($row:ident) => {
        (|| {
            let tenant = $crate::tenant::TenantRow {
                id: $row.tenant_id?,
                name: $row.tenant_name?,
                slug: $row.tenant_slug?,
                status: $row.tenant_status?,
                created_at: $row.tenant_created_at?,
                updated_at: $row.tenant_updated_at?,
            };
            let user = $crate::user::UserRow {
                tenant_id: tenant.id,
                id: $row.user_id?,
                email: $row.user_email?,
                email_verified_at: $row.user_email_verified_at,
                first_name: $row.user_first_name?,
                last_name: $row.user_last_name?,
                status: $row.user_status?,
                last_login_at: $row.user_last_login_at,
                created_at: $row.user_created_at?,
                updated_at: $row.user_updated_at?,
            };
            Some((user, tenant))
        })()
    };
}
