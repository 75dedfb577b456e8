//! Tables that Citus distributes over several nodes, by tenant: everything that is different there.
//!
//! Where a statement cannot be the same for such tables, both forms stand here, or the other form of a statement that
//! stands in the file of its noun. Then a method returns `None` or `false` if the tables are not distributed. Only this
//! file asks whether they are.

mod credential;
mod mail;
pub(crate) mod maintenance;
mod sequence;

use std::mem;

use iam_model::access_review::AccessReview;
use iam_model::audit::{LogHead, SequencedBatch};
use iam_model::clock::Timestamp;
use iam_model::context::UserAgent;
use iam_model::credential::{GuardedAccount, LoginCandidates};
use iam_model::id::{OrganizationId, TenantId, UserId};
use iam_model::secret::PasswordHash;
use iam_model::session::Session;
use iam_model::store_error::StoreError;
use iam_model::text::folded;
use iam_model::user::User;
use iam_model::validate::{EmailKey, ExternalId};
use iam_store_sql::tenant::TenantRow;
use sqlx::Executor as _;
use uuid::Uuid;

use crate::column::in_range;
use crate::distribution::maintenance::Delete;
use crate::error::store_error;
use crate::mail::Row as MessageRow;
use crate::store::PostgresStore;
use crate::transaction::PostgresTransaction;
use crate::written_entry::WrittenEntry;

/// Distributes the tables, and replaces the functions that would read or lock rows of several nodes.
const DISTRIBUTE: &str = include_str!("../distributed.sql");

impl PostgresStore {
    /// [Migrates](Self::migrate), and distributes the tables over the nodes of Citus, by tenant. The store must be
    /// connected to the coordinator, in a database with the extension `citus`, and the workers must be known there.
    /// Call it after each upgrade too: it distributes the tables of new migrations. No server may run meanwhile, and a
    /// new store must call it first.
    ///
    /// # Errors
    ///
    /// Those of [`migrate`](Self::migrate); [`StoreError::Failed`] when the database does not have Citus.
    pub async fn migrate_distributed(&self) -> Result<(), StoreError> {
        if !self.has_citus().await? {
            return Err(StoreError::Failed("the database does not have the extension citus".into()));
        }
        self.migrate().await?;
        let pool = self.sessions().pool();
        // The settings of the script end with its session.
        let mut connection = self.answer(pool.acquire()).await?.detach();
        connection.execute("SET statement_timeout = 0; SET lock_timeout = 0").await.map_err(store_error)?;
        connection.execute(DISTRIBUTE).await.map(drop).map_err(store_error)
    }

    pub(crate) async fn has_citus(&self) -> Result<bool, StoreError> {
        let has_citus =
            sqlx::query_scalar::<_, bool>("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')");
        self.answer(has_citus.fetch_one(&self.reads())).await
    }

    /// Whether the tables are distributed. Then each statement of a request must name one tenant, and insert nothing in
    /// a WITH clause.
    pub(crate) async fn is_distributed(&self) -> Result<bool, StoreError> {
        if let Some(known) = self.distributed.get() {
            return Ok(*known);
        }
        let found = self.has_distributed_tables().await?;
        Ok(*self.distributed.get_or_init(|| found))
    }

    /// Does the same as [`is_distributed`](Self::is_distributed), for a migration: the tables may be distributed after it.
    pub(crate) async fn has_distributed_tables(&self) -> Result<bool, StoreError> {
        // One of the functions that only distributed tables have.
        let has_function =
            sqlx::query_scalar::<_, bool>("SELECT to_regprocedure('iam.unnamed_attempts(text)') IS NOT NULL");
        self.answer(has_function.fetch_one(&self.reads())).await
    }

    /// Executes a statement that deletes rows, or the other one if the tables are distributed. Returns how many rows it
    /// has deleted.
    pub(crate) async fn delete_stale(&self, delete: Delete, distributed: Delete) -> Result<u64, StoreError> {
        let delete = if self.is_distributed().await? { distributed } else { delete };
        Ok(self.answer(delete.execute(&self.writes())).await?.rows_affected())
    }

    pub(crate) async fn distributed_candidates(
        &self,
        email: &EmailKey,
        limit: u32,
    ) -> Result<Option<LoginCandidates>, StoreError> {
        if !self.is_distributed().await? {
            return Ok(None);
        }
        self.candidates_of_all_nodes(email, limit).await.map(Some)
    }

    pub(crate) async fn distributed_account(
        &self,
        tenant: TenantId,
        email: &EmailKey,
    ) -> Result<Option<GuardedAccount>, StoreError> {
        if !self.is_distributed().await? {
            return Ok(None);
        }
        self.account_of_its_node(tenant, email).await.map(Some)
    }

    pub(crate) async fn claim_distributed_messages(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Option<Vec<MessageRow>>, StoreError> {
        if !self.is_distributed().await? {
            return Ok(None);
        }
        self.claim_messages_one_by_one(now, until, limit).await.map(Some)
    }

    pub(crate) async fn distributed_log_heads(&self, tenants: &[TenantId]) -> Result<Option<Vec<LogHead>>, StoreError> {
        if !self.is_distributed().await? {
            return Ok(None);
        }
        self.log_heads_one_by_one(tenants).await.map(Some)
    }

    pub(crate) async fn sequence_distributed(&self, batches: &[SequencedBatch]) -> Result<Option<bool>, StoreError> {
        if !self.is_distributed().await? {
            return Ok(None);
        }
        self.sequence_on_nodes(batches).await.map(Some)
    }
}

impl PostgresTransaction {
    /// Writes the audit entries of the change.
    pub(crate) async fn write_distributed_entries(&mut self) -> Result<bool, StoreError> {
        if !self.is_distributed() {
            return Ok(false);
        }
        let (tenant, entries) = (self.tenant(), mem::take(&mut self.entries));
        self.insert_values(WrittenEntry::INSERT, entries, |row, entry| entry.push(tenant, row)).await?;
        Ok(true)
    }

    pub(crate) async fn lock_distributed_account(
        &mut self,
        email: &EmailKey,
        user: Option<UserId>,
    ) -> Result<Option<GuardedAccount>, StoreError> {
        if !self.is_distributed() {
            return Ok(None);
        }
        self.lock_account_of_its_node(email, user).await.map(Some)
    }

    pub(crate) async fn delete_distributed_attempts(&mut self, email: &EmailKey) -> Result<bool, StoreError> {
        if !self.is_distributed() {
            return Ok(false);
        }
        self.delete_attempts_of_all_nodes(email).await?;
        Ok(true)
    }

    /// Writes the items of a new review. Citus cannot plan the statement with parameters.
    pub(crate) async fn freeze_distributed_access_review(&mut self, review: &AccessReview) -> Result<bool, StoreError> {
        if !self.is_distributed() {
            return Ok(false);
        }
        let roles: Vec<Uuid> = review.role_ids.iter().map(|id| id.as_uuid()).collect();
        let users: Vec<Uuid> = review.user_ids.iter().map(|id| id.as_uuid()).collect();
        // Not checked when the crate is compiled: only distributed tables have the function.
        let freeze = sqlx::query("SELECT iam.freeze_access_review($1, $2, $3, $4, $5, $6)")
            .bind(self.tenant())
            .bind(review.organization_id.map(OrganizationId::as_uuid))
            .bind(roles)
            .bind(users)
            .bind(in_range(review.created_at))
            .bind(review.id.as_uuid());
        freeze.execute(self.connection()).await.map_err(store_error)?;
        Ok(true)
    }

    /// Citus inserts nothing in a WITH clause.
    pub(crate) async fn insert_distributed_user(
        &mut self,
        user: &User,
        password: Option<&PasswordHash>,
    ) -> Result<bool, StoreError> {
        if !self.is_distributed() {
            return Ok(false);
        }
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.users (
                tenant_id, id, email, email_key, email_verified_at, first_name, first_name_key, last_name, last_name_key,
                status, updated_at, keyed_at, home_organization_id, last_login_at, created_at, kind, external_id
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14, $15, $16)
            "#,
            self.tenant(),
            user.id.as_uuid(),
            user.email.as_str(),
            user.email.key().as_str().to_owned(),
            user.email_verified_at.map(in_range),
            user.first_name.as_str(),
            folded(user.first_name.as_str()),
            user.last_name.as_str(),
            folded(user.last_name.as_str()),
            user.status.as_str(),
            in_range(user.updated_at),
            user.home_organization_id.map(OrganizationId::as_uuid),
            user.last_login_at.map(in_range),
            in_range(user.created_at),
            user.kind.as_str(),
            user.external_id.as_ref().map(ExternalId::as_str)
        );
        self.execute(insert).await?;
        if let Some(password) = password {
            let insert = sqlx::query!(
                "INSERT INTO iam.credentials (tenant_id, user_id, password_hash) VALUES ($1, $2, $3)",
                self.tenant(),
                user.id.as_uuid(),
                password.expose()
            );
            self.execute(insert).await?;
        }
        Ok(true)
    }

    /// Inserts a session, and keeps the time of the login, by two statements: Citus sends no INSERT to a shard that
    /// changes another table in its WITH clause.
    pub(crate) async fn insert_distributed_session(&mut self, session: &Session) -> Result<bool, StoreError> {
        if !self.is_distributed() {
            return Ok(false);
        }
        let refresh = &session.refresh;
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.sessions (
                tenant_id, id, user_id, ip_address, user_agent, created_at, last_used_at, expires_at, refresh_tag_key,
                refresh_current, spent_hash, spent_nonce, spent_at, methods, authenticated_at,
                provider_id, provider_session
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
            "#,
            self.tenant(),
            session.id.as_uuid(),
            session.user_id.as_uuid(),
            session.ip_address.map(|address| address.to_string()),
            session.user_agent.as_ref().map(UserAgent::as_str),
            in_range(session.created_at),
            in_range(session.last_used_at),
            in_range(session.expires_at),
            refresh.tag_key.as_slice(),
            refresh.current.as_slice(),
            refresh.spent.as_ref().map(|spent| spent.hash.as_slice()),
            refresh.spent.as_ref().map(|spent| spent.nonce.as_slice()),
            refresh.spent.as_ref().map(|spent| in_range(spent.at)),
            session.methods.to_string(),
            in_range(session.authenticated_at),
            session.provider.as_ref().map(|provider| provider.provider_id.as_uuid()),
            session.provider.as_ref().and_then(|provider| provider.session.as_deref())
        );
        self.execute(insert).await?;
        let update = sqlx::query!(
            "UPDATE iam.users SET last_login_at = $3, version = version + 1 WHERE tenant_id = $1 AND id = $2",
            self.tenant(),
            session.user_id.as_uuid(),
            in_range(session.created_at)
        );
        self.execute(update).await?;
        Ok(true)
    }

    /// Locks the tenant, and reads it.
    pub(crate) async fn lock_tenant_row(&mut self) -> Result<Option<TenantRow<Timestamp>>, StoreError> {
        if self.is_distributed() {
            return self.lock_distributed_tenant().await;
        }
        // NO KEY, because every new row that refers to the tenant, such as a user, takes a key share lock on it. FOR
        // UPDATE would make that lock wait.
        let row = sqlx::query_as!(
            TenantRow,
            r#"
            SELECT
                t.id, t.name, t.slug, t.status, t.password_policy, t.second_factor, t.second_factor_grace_days,
                t.second_factor_required_at, t.password_login, t.email_login, t.authzen_identifiers, t.user_attributes,
                t.organization_attributes, t.unregistered_attributes, t.created_at, t.updated_at, t.version
            FROM iam.tenants t
            WHERE t.id = $1
            FOR NO KEY UPDATE
            "#,
            self.tenant()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)
    }

    /// The tenants are on every node, and Citus lets only one transaction at a time lock rows of such a table. The
    /// coordinator has this lock, through which all servers go.
    async fn lock_distributed_tenant(&mut self) -> Result<Option<TenantRow<Timestamp>>, StoreError> {
        let lock = sqlx::query!(
            "SELECT pg_advisory_xact_lock(hashtextextended('iam.tenants ' || $1::uuid, 0))",
            self.tenant()
        );
        lock.execute(self.connection()).await.map_err(store_error)?;
        let row = sqlx::query_as!(
            TenantRow,
            r#"
            SELECT
                t.id, t.name, t.slug, t.status, t.password_policy, t.second_factor, t.second_factor_grace_days,
                t.second_factor_required_at, t.password_login, t.email_login, t.authzen_identifiers, t.user_attributes,
                t.organization_attributes, t.unregistered_attributes, t.created_at, t.updated_at, t.version
            FROM iam.tenants t
            WHERE t.id = $1
            "#,
            self.tenant()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)
    }
}
