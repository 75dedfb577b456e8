use async_trait::async_trait;
use chrono::{DateTime, Utc};
use iam_core::credential::{Account, CredentialChange, CredentialStore, CredentialTransaction, LoginAttempts};
use iam_core::secret::PasswordHash;
use iam_core::{EmailKey, StoreError, TenantId, UserId};
use uuid::Uuid;

use crate::PostgresStore;
use crate::audit::execute_audited;
use crate::error::{expect_row, store_error};
use crate::transaction::PostgresTransaction;
use crate::user::UserRow;

struct AccountRow {
    tenant_id: Uuid,
    id: Uuid,
    email: String,
    first_name: String,
    last_name: String,
    status: String,
    last_login_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    password_hash: String,
}

impl TryFrom<AccountRow> for Account {
    type Error = StoreError;

    fn try_from(row: AccountRow) -> Result<Self, StoreError> {
        let user = UserRow {
            tenant_id: row.tenant_id,
            id: row.id,
            email: row.email,
            first_name: row.first_name,
            last_name: row.last_name,
            status: row.status,
            last_login_at: row.last_login_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
        };
        Ok(Self { user: user.try_into()?, password: row.password_hash.into() })
    }
}

/// The columns of a user with its password's hash, and which user.
macro_rules! select_account {
    ($which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            AccountRow,
            r#"
            SELECT
                u.tenant_id,
                u.id,
                u.email,
                u.first_name,
                u.last_name,
                u.status,
                u.last_login_at,
                u.created_at,
                u.updated_at,
                c.password_hash
            FROM iam.users u
            JOIN iam.credentials c ON c.tenant_id = u.tenant_id AND c.user_id = u.id
            "# + $which,
            $($argument),+
        )
    };
}

struct LoginAttemptsRow {
    failed_at: Vec<DateTime<Utc>>,
    locked_until: Option<DateTime<Utc>>,
}

impl From<LoginAttemptsRow> for LoginAttempts {
    fn from(row: LoginAttemptsRow) -> Self {
        Self { failed_at: row.failed_at, locked_until: row.locked_until }
    }
}

#[async_trait]
impl CredentialStore for PostgresStore {
    async fn account(&self, tenant: TenantId, email: &EmailKey) -> Result<Option<Account>, StoreError> {
        let row = select_account!("WHERE u.tenant_id = $1 AND u.email_key = $2", tenant.as_uuid(), email.as_str());
        self.answer(row.fetch_optional(&self.pool())).await?.map(Account::try_from).transpose()
    }

    async fn login_attempts(&self, tenant: TenantId, email: &EmailKey) -> Result<LoginAttempts, StoreError> {
        let row = sqlx::query_as!(
            LoginAttemptsRow,
            r#"
            SELECT
                failed_at,
                locked_until
            FROM iam.login_attempts
            WHERE tenant_id = $1 AND email_key = $2
            "#,
            tenant.as_uuid(),
            email.as_str()
        );
        let row = self.answer(row.fetch_optional(&self.pool())).await?;
        Ok(row.map(LoginAttempts::from).unwrap_or_default())
    }
}

#[async_trait]
impl CredentialTransaction for PostgresTransaction {
    async fn lock_account(&mut self, user: UserId) -> Result<Option<Account>, StoreError> {
        let row = select_account!("WHERE u.tenant_id = $1 AND u.id = $2 FOR UPDATE", self.tenant(), user.as_uuid());
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(Account::try_from).transpose()
    }

    // A row that is not there cannot be locked, so it is made; one that is there is written as it was, which locks it
    // and gives its newest version.
    async fn lock_login_attempts(&mut self, email: &EmailKey) -> Result<LoginAttempts, StoreError> {
        let row = sqlx::query_as!(
            LoginAttemptsRow,
            r#"
            INSERT INTO iam.login_attempts AS a (tenant_id, email_key)
            VALUES ($1, $2)
            ON CONFLICT (tenant_id, email_key) DO UPDATE SET tenant_id = excluded.tenant_id
            RETURNING
                a.failed_at,
                a.locked_until
            "#,
            self.tenant(),
            email.as_str()
        );
        Ok(row.fetch_one(self.connection()).await.map_err(store_error)?.into())
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_credential(&mut self, change: &CredentialChange) -> Result<(), StoreError> {
        match change {
            CredentialChange::ChangePassword { user, password } | CredentialChange::Rehash { user, password } => {
                self.update_credential(*user, password).await
            }
            CredentialChange::CountFailure { email, attempts, .. } => {
                self.put_login_attempts(&email.key(), attempts).await
            }
            CredentialChange::ClearFailures(email) => self.delete_login_attempts(email).await,
            // The audit log alone keeps it.
            CredentialChange::Refuse { .. } => Ok(()),
        }
    }

    async fn update_credential(&mut self, user: UserId, password: &PasswordHash) -> Result<(), StoreError> {
        let updated = execute_audited!(
            self,
            "$4",
            "UPDATE iam.credentials SET password_hash = $3 WHERE tenant_id = $1 AND user_id = $2",
            self.tenant(),
            user.as_uuid(),
            password.expose()
        )?;
        expect_row(&updated, "user")
    }

    async fn put_login_attempts(&mut self, email: &EmailKey, attempts: &LoginAttempts) -> Result<(), StoreError> {
        execute_audited!(
            self,
            "$5",
            r#"
            INSERT INTO iam.login_attempts (tenant_id, email_key, failed_at, locked_until)
            VALUES ($1, $2, $3, $4)
            ON CONFLICT (tenant_id, email_key) DO UPDATE
            SET
                failed_at = excluded.failed_at,
                locked_until = excluded.locked_until
            "#,
            self.tenant(),
            email.as_str(),
            &attempts.failed_at,
            attempts.locked_until
        )?;
        Ok(())
    }

    async fn delete_login_attempts(&mut self, email: &EmailKey) -> Result<(), StoreError> {
        sqlx::query!(
            "DELETE FROM iam.login_attempts WHERE tenant_id = $1 AND email_key = $2",
            self.tenant(),
            email.as_str()
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }
}
