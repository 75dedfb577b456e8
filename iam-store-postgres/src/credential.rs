use async_trait::async_trait;
use chrono::{DateTime, Utc};
use iam_model::change::CredentialChange;
use iam_model::credential::{Account, GuardedAccount, LoginAttempts, LoginCandidate, LoginCandidates};
use iam_model::id::{TenantId, UserId};
use iam_model::secret::PasswordHash;
use iam_model::store::{CredentialStore, CredentialTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::EmailKey;
use iam_store_sql::error::expect_row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::audit::execute_audited;
use crate::error::store_error;
use crate::tenant::TenantRow;
use crate::transaction::PostgresTransaction;
use crate::user::UserRow;

/// The failed logins with an e-mail, and the account that has it. Each may be missing: then all of its columns are
/// NULL.
struct GuardedRow {
    failed_at: Option<Vec<DateTime<Utc>>>,
    locked_until: Option<DateTime<Utc>>,
    has_unnamed_failures: bool,
    tenant_id: Option<Uuid>,
    id: Option<Uuid>,
    email: Option<String>,
    email_verified_at: Option<DateTime<Utc>>,
    first_name: Option<String>,
    last_name: Option<String>,
    status: Option<String>,
    last_login_at: Option<DateTime<Utc>>,
    created_at: Option<DateTime<Utc>>,
    updated_at: Option<DateTime<Utc>>,
    password_hash: Option<String>,
}

impl GuardedRow {
    fn account(self) -> Option<(UserRow, String)> {
        let user = UserRow {
            tenant_id: self.tenant_id?,
            id: self.id?,
            email: self.email?,
            email_verified_at: self.email_verified_at,
            first_name: self.first_name?,
            last_name: self.last_name?,
            status: self.status?,
            last_login_at: self.last_login_at,
            created_at: self.created_at?,
            updated_at: self.updated_at?,
        };
        Some((user, self.password_hash?))
    }
}

impl TryFrom<GuardedRow> for GuardedAccount {
    type Error = StoreError;

    fn try_from(mut row: GuardedRow) -> Result<Self, StoreError> {
        let attempts = attempts(row.failed_at.take(), row.locked_until);
        let has_unnamed_failures = row.has_unnamed_failures;
        Ok(Self { attempts, has_unnamed_failures, account: row.account().map(account).transpose()? })
    }
}

fn account((user, password): (UserRow, String)) -> Result<Account, StoreError> {
    Ok(Account { user: user.try_into()?, password: password.into() })
}

/// Converts the columns of failed logins. Without a row, no login has failed.
fn attempts(failed_at: Option<Vec<DateTime<Utc>>>, locked_until: Option<DateTime<Utc>>) -> LoginAttempts {
    LoginAttempts { failed_at: failed_at.unwrap_or_default(), locked_until }
}

/// The failed logins with an e-mail that named no tenant, and an account that has the e-mail. Each may be missing:
/// then all of its columns are NULL.
struct CandidateRow {
    unnamed_failed_at: Option<Vec<DateTime<Utc>>>,
    unnamed_locked_until: Option<DateTime<Utc>>,
    tenant_name: Option<String>,
    tenant_slug: Option<String>,
    tenant_status: Option<String>,
    tenant_created_at: Option<DateTime<Utc>>,
    tenant_updated_at: Option<DateTime<Utc>>,
    failed_at: Option<Vec<DateTime<Utc>>>,
    locked_until: Option<DateTime<Utc>>,
    tenant_id: Option<Uuid>,
    id: Option<Uuid>,
    email: Option<String>,
    email_verified_at: Option<DateTime<Utc>>,
    first_name: Option<String>,
    last_name: Option<String>,
    status: Option<String>,
    last_login_at: Option<DateTime<Utc>>,
    created_at: Option<DateTime<Utc>>,
    updated_at: Option<DateTime<Utc>>,
    password_hash: Option<String>,
}

impl CandidateRow {
    /// Takes the rows of the tenant, of the user and of the password, if there is an account.
    fn account(&mut self) -> Option<(TenantRow, UserRow, String)> {
        let tenant = TenantRow {
            id: self.tenant_id?,
            name: self.tenant_name.take()?,
            slug: self.tenant_slug.take()?,
            status: self.tenant_status.take()?,
            created_at: self.tenant_created_at?,
            updated_at: self.tenant_updated_at?,
        };
        let user = UserRow {
            tenant_id: self.tenant_id?,
            id: self.id?,
            email: self.email.take()?,
            email_verified_at: self.email_verified_at,
            first_name: self.first_name.take()?,
            last_name: self.last_name.take()?,
            status: self.status.take()?,
            last_login_at: self.last_login_at,
            created_at: self.created_at?,
            updated_at: self.updated_at?,
        };
        Some((tenant, user, self.password_hash.take()?))
    }

    fn candidate(mut self) -> Result<Option<LoginCandidate>, StoreError> {
        let Some((tenant, user, password)) = self.account() else { return Ok(None) };
        let attempts = attempts(self.failed_at, self.locked_until);
        Ok(Some(LoginCandidate { tenant: tenant.try_into()?, account: account((user, password))?, attempts }))
    }
}

impl PostgresStore {
    /// Reads the accounts that have an e-mail. One statement, so that it takes as long for an e-mail that no account
    /// has.
    pub(crate) async fn candidates(&self, email: &EmailKey, limit: u32) -> Result<LoginCandidates, StoreError> {
        let rows = sqlx::query_as!(
            CandidateRow,
            r#"
            SELECT
                n.failed_at AS "unnamed_failed_at?",
                n.locked_until AS "unnamed_locked_until?",
                t.name AS "tenant_name?",
                t.slug AS "tenant_slug?",
                t.status AS "tenant_status?",
                t.created_at AS "tenant_created_at?",
                t.updated_at AS "tenant_updated_at?",
                a.failed_at AS "failed_at?",
                a.locked_until AS "locked_until?",
                u.tenant_id AS "tenant_id?",
                u.id AS "id?",
                u.email AS "email?",
                u.email_verified_at AS "email_verified_at?",
                u.first_name AS "first_name?",
                u.last_name AS "last_name?",
                u.status AS "status?",
                u.last_login_at AS "last_login_at?",
                u.created_at AS "created_at?",
                u.updated_at AS "updated_at?",
                c.password_hash AS "password_hash?"
            FROM (SELECT $1::text AS email_key) k
            LEFT JOIN iam.login_attempts n ON n.tenant_id = '00000000-0000-0000-0000-000000000000' AND n.email_key = k.email_key
            LEFT JOIN iam.users u ON u.email_key = k.email_key
            LEFT JOIN iam.tenants t ON t.id = u.tenant_id
            LEFT JOIN iam.credentials c ON c.tenant_id = u.tenant_id AND c.user_id = u.id
            LEFT JOIN iam.login_attempts a ON a.tenant_id = u.tenant_id AND a.email_key = u.email_key
            ORDER BY
                u.status = 'INACTIVE',
                u.email_verified_at IS NULL,
                u.last_login_at DESC NULLS LAST,
                u.created_at,
                u.tenant_id
            LIMIT $2
            "#,
            email.as_str(),
            i64::from(limit)
        );
        let mut rows = self.answer(rows.fetch_all(&self.source())).await?;
        let Some(first) = rows.first_mut() else { return Ok(LoginCandidates::default()) };
        let attempts = attempts(first.unnamed_failed_at.take(), first.unnamed_locked_until);
        let accounts = rows.into_iter().filter_map(|row| row.candidate().transpose());
        Ok(LoginCandidates { attempts, accounts: accounts.collect::<Result<_, _>>()? })
    }
}

#[async_trait]
impl CredentialStore for PostgresStore {
    async fn guarded_account(&self, tenant: TenantId, email: &EmailKey) -> Result<GuardedAccount, StoreError> {
        let row = sqlx::query_as!(
            GuardedRow,
            r#"
            SELECT
                a.failed_at AS "failed_at?",
                a.locked_until,
                EXISTS (
                    SELECT 1
                    FROM iam.login_attempts e
                    WHERE e.tenant_id = '00000000-0000-0000-0000-000000000000' AND e.email_key = k.email_key AND e.failed_at <> '{}'
                ) AS "has_unnamed_failures!",
                u.tenant_id AS "tenant_id?",
                u.id AS "id?",
                u.email AS "email?",
                u.email_verified_at,
                u.first_name AS "first_name?",
                u.last_name AS "last_name?",
                u.status AS "status?",
                u.last_login_at,
                u.created_at AS "created_at?",
                u.updated_at AS "updated_at?",
                c.password_hash AS "password_hash?"
            FROM (SELECT $1::uuid AS tenant_id, $2::text AS email_key) k
            LEFT JOIN iam.login_attempts a ON a.tenant_id = k.tenant_id AND a.email_key = k.email_key
            LEFT JOIN iam.users u ON u.tenant_id = k.tenant_id AND u.email_key = k.email_key
            LEFT JOIN iam.credentials c ON c.tenant_id = u.tenant_id AND c.user_id = u.id
            "#,
            tenant.as_uuid(),
            email.as_str()
        );
        self.answer(row.fetch_one(&self.source())).await?.try_into()
    }
}

#[async_trait]
impl CredentialTransaction for PostgresTransaction {
    // A row that does not exist cannot be locked, so it is created. An existing row is written unchanged, which locks
    // it and returns its newest version. The account is found by the returned row, so that it is locked after that
    // row.
    async fn lock_guarded_account(
        &mut self,
        email: &EmailKey,
        user: Option<UserId>,
    ) -> Result<GuardedAccount, StoreError> {
        let row = sqlx::query_as!(
            GuardedRow,
            r#"
            WITH attempts AS (
                INSERT INTO iam.login_attempts AS a (tenant_id, email_key)
                VALUES ($1, $2)
                ON CONFLICT (tenant_id, email_key) DO UPDATE SET tenant_id = excluded.tenant_id
                RETURNING
                    a.tenant_id,
                    a.failed_at,
                    a.locked_until
            )
            SELECT
                a.failed_at AS "failed_at?",
                a.locked_until,
                EXISTS (
                    SELECT 1
                    FROM iam.login_attempts e
                    WHERE e.tenant_id = '00000000-0000-0000-0000-000000000000' AND e.email_key = $2 AND e.failed_at <> '{}'
                ) AS "has_unnamed_failures!",
                account.tenant_id AS "tenant_id?",
                account.id AS "id?",
                account.email AS "email?",
                account.email_verified_at,
                account.first_name AS "first_name?",
                account.last_name AS "last_name?",
                account.status AS "status?",
                account.last_login_at,
                account.created_at AS "created_at?",
                account.updated_at AS "updated_at?",
                account.password_hash AS "password_hash?"
            FROM attempts a
            LEFT JOIN LATERAL (
                SELECT
                    u.tenant_id,
                    u.id,
                    u.email,
                    u.email_verified_at,
                    u.first_name,
                    u.last_name,
                    u.status,
                    u.last_login_at,
                    u.created_at,
                    u.updated_at,
                    c.password_hash
                FROM iam.users u
                JOIN iam.credentials c ON c.tenant_id = u.tenant_id AND c.user_id = u.id
                WHERE u.tenant_id = a.tenant_id AND u.id = $3
                FOR UPDATE
            ) account ON true
            "#,
            self.tenant(),
            email.as_str(),
            user.map(|user| user.as_uuid())
        );
        row.fetch_one(self.connection()).await.map_err(store_error)?.try_into()
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
            // Only its audit entry is written.
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
        expect_row(updated.rows_affected(), "user")
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
            r#"
            DELETE FROM iam.login_attempts
            WHERE tenant_id IN ($1, '00000000-0000-0000-0000-000000000000') AND email_key = $2
            "#,
            self.tenant(),
            email.as_str()
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }
}
