//! Failed logins. Those that named no tenant are on another node than the accounts.

use iam_model::clock::Timestamp;
use iam_model::credential::{GuardedAccount, LoginAttempts, LoginCandidates};
use iam_model::id::{TenantId, UserId};
use iam_model::store_error::StoreError;
use iam_model::validate::EmailKey;
use iam_store_sql::credential::AccountRow;

use crate::error::store_error;
use crate::store::PostgresStore;
use crate::transaction::PostgresTransaction;

/// The failed logins that named no tenant. They have no tenant, so one node has all of them. Logins must not depend on
/// that node: if it does not answer, the functions of the database find and remove nothing. They exist only where the
/// tables are distributed, so these statements are not checked when the crate is compiled.
const UNNAMED: &str = "SELECT failed_at, locked_until FROM iam.unnamed_attempts($1)";
const FORGET_UNNAMED: &str = "SELECT iam.forget_unnamed_attempts($1)";

type UnnamedRow = (Option<Vec<Timestamp>>, Option<Timestamp>);

fn unnamed(row: UnnamedRow) -> LoginAttempts {
    LoginAttempts { failed_at: row.0.unwrap_or_default(), locked_until: row.1 }
}

fn with_unnamed(account: GuardedAccount, unnamed: &LoginAttempts) -> GuardedAccount {
    GuardedAccount { has_unnamed_failures: !unnamed.failed_at.is_empty(), ..account }
}

type Account = AccountRow<Timestamp, Vec<Timestamp>>;

impl PostgresStore {
    /// Reads the accounts that have an e-mail.
    pub(super) async fn candidates_of_all_nodes(
        &self,
        email: &EmailKey,
        limit: u32,
    ) -> Result<LoginCandidates, StoreError> {
        let rows = sqlx::query_as!(
            Account,
            r#"
            SELECT
                a.failed_at AS "failed_at?",
                a.locked_until AS "locked_until?",
                NULL::timestamptz[] AS "unnamed_failed_at?",
                NULL::timestamptz AS "unnamed_locked_until?",
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
            FROM iam.users u
            JOIN iam.tenants t ON t.id = u.tenant_id
            LEFT JOIN iam.credentials c ON c.tenant_id = u.tenant_id AND c.user_id = u.id
            LEFT JOIN iam.login_attempts a ON a.tenant_id = u.tenant_id AND a.email_key = u.email_key
            WHERE u.email_key = $1
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
        let rows = self.answer(rows.fetch_all(&self.reads())).await?;
        let attempts = self.unnamed_attempts(email).await?;
        Ok(LoginCandidates { attempts, ..AccountRow::candidates(rows)? })
    }

    /// Reads the account that has an e-mail, and its failed logins.
    pub(super) async fn account_of_its_node(
        &self,
        tenant: TenantId,
        email: &EmailKey,
    ) -> Result<GuardedAccount, StoreError> {
        let row = sqlx::query_as!(
            Account,
            r#"
            SELECT
                a.failed_at AS "failed_at?",
                a.locked_until AS "locked_until?",
                NULL::timestamptz[] AS "unnamed_failed_at?",
                NULL::timestamptz AS "unnamed_locked_until?",
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
            LEFT JOIN iam.login_attempts a ON a.tenant_id = $1 AND a.email_key = k.email_key
            LEFT JOIN iam.users u ON u.tenant_id = $1 AND u.email_key = k.email_key
            LEFT JOIN iam.tenants t ON t.id = u.tenant_id
            LEFT JOIN iam.credentials c ON c.tenant_id = $1 AND c.user_id = u.id
            "#,
            tenant.as_uuid(),
            email.as_str()
        );
        let account = self.answer(row.fetch_one(&self.reads_of(tenant))).await?.guarded()?;
        Ok(with_unnamed(account, &self.unnamed_attempts(email).await?))
    }

    async fn unnamed_attempts(&self, email: &EmailKey) -> Result<LoginAttempts, StoreError> {
        let row = sqlx::query_as(UNNAMED).bind(email.as_str());
        self.answer(row.fetch_one(&self.reads())).await.map(unnamed)
    }
}

impl PostgresTransaction {
    /// Locks the failed logins with an e-mail, and the account of a user.
    pub(super) async fn lock_account_of_its_node(
        &mut self,
        email: &EmailKey,
        user: Option<UserId>,
    ) -> Result<GuardedAccount, StoreError> {
        let make = sqlx::query!(
            r#"
            INSERT INTO iam.login_attempts AS a (tenant_id, email_key)
            VALUES ($1, $2)
            ON CONFLICT (tenant_id, email_key) DO UPDATE SET tenant_id = excluded.tenant_id
            "#,
            self.tenant(),
            email.as_str()
        );
        make.execute(self.connection()).await.map_err(store_error)?;
        let row = sqlx::query_as!(
            Account,
            r#"
            SELECT
                a.failed_at AS "failed_at?",
                a.locked_until AS "locked_until?",
                NULL::timestamptz[] AS "unnamed_failed_at?",
                NULL::timestamptz AS "unnamed_locked_until?",
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
            FROM iam.login_attempts a
            LEFT JOIN LATERAL (
                SELECT * FROM iam.users WHERE tenant_id = $1 AND id = $3 FOR UPDATE
            ) u ON true
            LEFT JOIN LATERAL (
                SELECT * FROM iam.credentials WHERE tenant_id = $1 AND user_id = u.id FOR UPDATE
            ) c ON true
            LEFT JOIN iam.tenants t ON t.id = u.tenant_id
            WHERE a.tenant_id = $1 AND a.email_key = $2
            "#,
            self.tenant(),
            email.as_str(),
            user.map(UserId::as_uuid)
        );
        let account = row.fetch_one(self.connection()).await.map_err(store_error)?.guarded()?;
        let attempts = sqlx::query_as(UNNAMED).bind(email.as_str());
        let attempts = attempts.fetch_one(self.connection()).await.map(unnamed).map_err(store_error)?;
        Ok(with_unnamed(account, &attempts))
    }

    /// Deletes the failed logins with an e-mail.
    pub(super) async fn delete_attempts_of_all_nodes(&mut self, email: &EmailKey) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            "DELETE FROM iam.login_attempts WHERE tenant_id = $1 AND email_key = $2",
            self.tenant(),
            email.as_str()
        );
        self.execute(delete).await?;
        let forget = sqlx::query(FORGET_UNNAMED).bind(email.as_str());
        forget.execute(self.connection()).await.map(drop).map_err(store_error)
    }
}
