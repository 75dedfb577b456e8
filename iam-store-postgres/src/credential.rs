use async_trait::async_trait;
use iam_model::change::CredentialChange;
use iam_model::clock::Timestamp;
use iam_model::credential::{GuardedAccount, LoginAttempts, LoginCandidates};
use iam_model::id::{TenantId, UserId};
use iam_model::secret::PasswordHash;
use iam_model::store::{CredentialStore, CredentialTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::EmailKey;
use iam_store_sql::credential::AccountRow;
use iam_store_sql::error::expect_row;

use crate::PostgresStore;
use crate::column::in_range;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type Row = AccountRow<Timestamp, Vec<Timestamp>>;

impl PostgresStore {
    /// Reads the accounts that have an e-mail. One statement, so that it takes as long for an e-mail that no account
    /// has.
    pub(crate) async fn candidates(&self, email: &EmailKey, limit: u32) -> Result<LoginCandidates, StoreError> {
        if let Some(candidates) = self.distributed_candidates(email, limit).await? {
            return Ok(candidates);
        }
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                a.failed_at AS "failed_at?",
                a.locked_until AS "locked_until?",
                n.failed_at AS "unnamed_failed_at?",
                n.locked_until AS "unnamed_locked_until?",
                c.password_hash AS "password_hash?",
                u.tenant_id AS "user_tenant_id?",
                u.id AS "user_id?",
                u.kind AS "user_kind?",
                u.email AS "user_email?",
                u.email_verified_at AS "user_email_verified_at?",
                u.first_name AS "user_first_name?",
                u.last_name AS "user_last_name?",
                u.external_id AS "user_external_id?",
                u.home_organization_id AS "user_home_organization_id?",
                u.status AS "user_status?",
                u.last_login_at AS "user_last_login_at?",
                u.created_at AS "user_created_at?",
                u.updated_at AS "user_updated_at?",
                u.version AS "user_version?",
                t.id AS "tenant_id?",
                t.name AS "tenant_name?",
                t.slug AS "tenant_slug?",
                t.status AS "tenant_status?",
                t.password_policy AS "tenant_password_policy?",
                t.second_factor AS "tenant_second_factor?",
                t.second_factor_grace_days AS "tenant_second_factor_grace_days?",
                t.second_factor_required_at AS "tenant_second_factor_required_at?",
                t.password_login AS "tenant_password_login?",
                t.email_login AS "tenant_email_login?",
                t.authzen_identifiers AS "tenant_authzen_identifiers?",
                t.user_attributes AS "tenant_user_attributes?",
                t.organization_attributes AS "tenant_organization_attributes?",
                t.unregistered_attributes AS "tenant_unregistered_attributes?",
                t.created_at AS "tenant_created_at?",
                t.updated_at AS "tenant_updated_at?",
                t.version AS "tenant_version?"
            FROM (SELECT $1::text AS email_key) k
            LEFT JOIN iam.login_attempts n
                ON n.tenant_id = '00000000-0000-0000-0000-000000000000' AND n.email_key = k.email_key
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
        AccountRow::candidates(self.answer(rows.fetch_all(&self.reads())).await?)
    }
}

#[async_trait]
impl CredentialStore for PostgresStore {
    async fn guarded_account(&self, tenant: TenantId, email: &EmailKey) -> Result<GuardedAccount, StoreError> {
        if let Some(account) = self.distributed_account(tenant, email).await? {
            return Ok(account);
        }
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                a.failed_at AS "failed_at?",
                a.locked_until AS "locked_until?",
                n.failed_at AS "unnamed_failed_at?",
                n.locked_until AS "unnamed_locked_until?",
                c.password_hash AS "password_hash?",
                u.tenant_id AS "user_tenant_id?",
                u.id AS "user_id?",
                u.kind AS "user_kind?",
                u.email AS "user_email?",
                u.email_verified_at AS "user_email_verified_at?",
                u.first_name AS "user_first_name?",
                u.last_name AS "user_last_name?",
                u.external_id AS "user_external_id?",
                u.home_organization_id AS "user_home_organization_id?",
                u.status AS "user_status?",
                u.last_login_at AS "user_last_login_at?",
                u.created_at AS "user_created_at?",
                u.updated_at AS "user_updated_at?",
                u.version AS "user_version?",
                t.id AS "tenant_id?",
                t.name AS "tenant_name?",
                t.slug AS "tenant_slug?",
                t.status AS "tenant_status?",
                t.password_policy AS "tenant_password_policy?",
                t.second_factor AS "tenant_second_factor?",
                t.second_factor_grace_days AS "tenant_second_factor_grace_days?",
                t.second_factor_required_at AS "tenant_second_factor_required_at?",
                t.password_login AS "tenant_password_login?",
                t.email_login AS "tenant_email_login?",
                t.authzen_identifiers AS "tenant_authzen_identifiers?",
                t.user_attributes AS "tenant_user_attributes?",
                t.organization_attributes AS "tenant_organization_attributes?",
                t.unregistered_attributes AS "tenant_unregistered_attributes?",
                t.created_at AS "tenant_created_at?",
                t.updated_at AS "tenant_updated_at?",
                t.version AS "tenant_version?"
            FROM (SELECT $1::uuid AS tenant_id, $2::text AS email_key) k
            LEFT JOIN iam.login_attempts n
                ON n.tenant_id = '00000000-0000-0000-0000-000000000000' AND n.email_key = k.email_key
            LEFT JOIN iam.login_attempts a ON a.tenant_id = k.tenant_id AND a.email_key = k.email_key
            LEFT JOIN iam.users u ON u.tenant_id = k.tenant_id AND u.email_key = k.email_key
            LEFT JOIN iam.tenants t ON t.id = u.tenant_id
            LEFT JOIN iam.credentials c ON c.tenant_id = u.tenant_id AND c.user_id = u.id
            "#,
            tenant.as_uuid(),
            email.as_str()
        );
        self.answer(row.fetch_one(&self.reads_of(tenant))).await?.guarded()
    }
}

#[async_trait]
impl CredentialTransaction for PostgresTransaction {
    async fn lock_guarded_account(
        &mut self,
        email: &EmailKey,
        user: Option<UserId>,
    ) -> Result<GuardedAccount, StoreError> {
        if let Some(account) = self.lock_distributed_account(email, user).await? {
            return Ok(account);
        }
        // A row that does not exist cannot be locked, so it is created. An existing row is written unchanged, which
        // locks it and returns its newest version. The account is found by the returned row, so that it is locked after
        // that row.
        let row = sqlx::query_as!(
            Row,
            r#"
            WITH attempts AS (
                INSERT INTO iam.login_attempts AS a (tenant_id, email_key)
                VALUES ($1, $2)
                ON CONFLICT (tenant_id, email_key) DO UPDATE SET tenant_id = excluded.tenant_id
                RETURNING a.tenant_id, a.email_key, a.failed_at, a.locked_until
            )
            SELECT
                a.failed_at AS "failed_at?",
                a.locked_until AS "locked_until?",
                n.failed_at AS "unnamed_failed_at?",
                n.locked_until AS "unnamed_locked_until?",
                c.password_hash AS "password_hash?",
                u.tenant_id AS "user_tenant_id?",
                u.id AS "user_id?",
                u.kind AS "user_kind?",
                u.email AS "user_email?",
                u.email_verified_at AS "user_email_verified_at?",
                u.first_name AS "user_first_name?",
                u.last_name AS "user_last_name?",
                u.external_id AS "user_external_id?",
                u.home_organization_id AS "user_home_organization_id?",
                u.status AS "user_status?",
                u.last_login_at AS "user_last_login_at?",
                u.created_at AS "user_created_at?",
                u.updated_at AS "user_updated_at?",
                u.version AS "user_version?",
                t.id AS "tenant_id?",
                t.name AS "tenant_name?",
                t.slug AS "tenant_slug?",
                t.status AS "tenant_status?",
                t.password_policy AS "tenant_password_policy?",
                t.second_factor AS "tenant_second_factor?",
                t.second_factor_grace_days AS "tenant_second_factor_grace_days?",
                t.second_factor_required_at AS "tenant_second_factor_required_at?",
                t.password_login AS "tenant_password_login?",
                t.email_login AS "tenant_email_login?",
                t.authzen_identifiers AS "tenant_authzen_identifiers?",
                t.user_attributes AS "tenant_user_attributes?",
                t.organization_attributes AS "tenant_organization_attributes?",
                t.unregistered_attributes AS "tenant_unregistered_attributes?",
                t.created_at AS "tenant_created_at?",
                t.updated_at AS "tenant_updated_at?",
                t.version AS "tenant_version?"
            FROM attempts a
            LEFT JOIN iam.login_attempts n
                ON n.tenant_id = '00000000-0000-0000-0000-000000000000' AND n.email_key = a.email_key
            LEFT JOIN LATERAL (
                SELECT * FROM iam.users WHERE tenant_id = a.tenant_id AND id = $3 FOR UPDATE
            ) u ON true
            LEFT JOIN LATERAL (
                SELECT * FROM iam.credentials WHERE tenant_id = u.tenant_id AND user_id = u.id FOR UPDATE
            ) c ON true
            LEFT JOIN iam.tenants t ON t.id = u.tenant_id
            "#,
            self.tenant(),
            email.as_str(),
            user.map(UserId::as_uuid)
        );
        row.fetch_one(self.connection()).await.map_err(store_error)?.guarded()
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_credential(&mut self, change: &CredentialChange) -> Result<(), StoreError> {
        match change {
            CredentialChange::ChangePassword { user, password }
            | CredentialChange::ResetPassword { user, password }
            | CredentialChange::Rehash { user, password } => self.update_credential(*user, password).await,
            CredentialChange::CountFailure { email, attempts, .. } => {
                self.put_login_attempts(&email.key(), attempts).await
            }
            CredentialChange::ClearFailures(email) => self.delete_login_attempts(email).await,
            // Only its audit entry is written.
            CredentialChange::Refuse { .. } | CredentialChange::RefuseFederated { .. } => Ok(()),
        }
    }

    async fn update_credential(&mut self, user: UserId, password: &PasswordHash) -> Result<(), StoreError> {
        let update = sqlx::query!(
            "UPDATE iam.credentials SET password_hash = $3 WHERE tenant_id = $1 AND user_id = $2",
            self.tenant(),
            user.as_uuid(),
            password.expose()
        );
        expect_row(self.execute(update).await?, "user")
    }

    async fn put_login_attempts(&mut self, email: &EmailKey, attempts: &LoginAttempts) -> Result<(), StoreError> {
        let put = sqlx::query!(
            r#"
            INSERT INTO iam.login_attempts (tenant_id, email_key, failed_at, locked_until)
            VALUES ($1, $2, $3, $4)
            ON CONFLICT (tenant_id, email_key) DO UPDATE
            SET failed_at = excluded.failed_at, locked_until = excluded.locked_until
            "#,
            self.tenant(),
            email.as_str(),
            &attempts.failed_at,
            attempts.locked_until.map(in_range)
        );
        self.execute(put).await.map(drop)
    }

    async fn delete_login_attempts(&mut self, email: &EmailKey) -> Result<(), StoreError> {
        if self.delete_distributed_attempts(email).await? {
            return Ok(());
        }
        let delete = sqlx::query!(
            r#"
            DELETE FROM iam.login_attempts
            WHERE tenant_id IN ($1, '00000000-0000-0000-0000-000000000000') AND email_key = $2
            "#,
            self.tenant(),
            email.as_str()
        );
        self.execute(delete).await.map(drop)
    }
}
