use std::mem;

use async_trait::async_trait;
use iam_model::audit::AuditEntry;
use iam_model::change::{AuditBatch, Change};
use iam_model::id::TenantId;
use iam_model::store::Transaction;
use iam_model::store_error::StoreError;
use iam_store_sql::source;
use sqlx::error::BoxDynError;
use sqlx::{Arguments as _, AssertSqlSafe, Execute, Executor as _, Postgres};
use uuid::Uuid;

use crate::error::store_error;
use crate::values::{KEPT, Row, inserts};
use crate::written_entry::WrittenEntry;

/// The beginning of a statement that also writes an entry. The number of the parameter with the entry follows, and then
/// [`AFTER_ENTRY`].
const WITH_ENTRY: &str = "
    WITH written AS (
        INSERT INTO iam.audit_unsealed (
            tenant_id, id, action, resource_type, resource_id, organization_id, user_id, old_value, new_value, metadata,
            correlation_id, ip_address, user_agent, created_at, details_salt, origin_salt, digest
        )
        SELECT
            $1, id, action, resource_type, resource_id, organization_id, user_id, old_value::json, new_value::json,
            metadata::json, correlation_id, ip_address, user_agent, created_at, details_salt, origin_salt, digest
        FROM (SELECT ($";

const AFTER_ENTRY: &str = "::iam.written_audit_entry).*) entry
    )";

/// Returns a statement of a change that also writes the entry in a parameter.
fn with_entry(statement: &str, parameter: usize) -> String {
    let statement = statement.trim_start();
    match statement.strip_prefix("WITH ") {
        Some(others) => format!("{WITH_ENTRY}{parameter}{AFTER_ENTRY}, {others}"),
        None => format!("{WITH_ENTRY}{parameter}{AFTER_ENTRY} {statement}"),
    }
}

/// A transaction of the database in one tenant. Dropping it rolls back.
///
/// Every statement binds this tenant, and never a tenant that is named inside a change.
pub(crate) struct PostgresTransaction {
    tenant: TenantId,
    is_distributed: bool,
    /// The audit entries of the change that is being written, until a statement writes them.
    pub(crate) entries: Vec<WrittenEntry>,
    inner: source::Transaction<Postgres>,
    /// Whether a write has failed. PostgreSQL would then answer a COMMIT with a silent rollback, so it must not be
    /// tried.
    broken: bool,
}

impl PostgresTransaction {
    pub(crate) fn new(tenant: TenantId, is_distributed: bool, inner: source::Transaction<Postgres>) -> Self {
        Self { tenant, is_distributed, entries: Vec::new(), inner, broken: false }
    }

    pub(crate) fn tenant(&self) -> Uuid {
        self.tenant.as_uuid()
    }

    /// Whether the tables are distributed over several nodes.
    pub(crate) fn is_distributed(&self) -> bool {
        self.is_distributed
    }

    pub(crate) fn connection(&mut self) -> &mut source::Transaction<Postgres> {
        &mut self.inner
    }
}

#[async_trait]
impl Transaction for PostgresTransaction {
    async fn write(&mut self, change: &Change, audit: AuditBatch) -> Result<(), StoreError> {
        // If this future is dropped halfway, a change may be without its entries. That must not be committed either.
        let was_broken = mem::replace(&mut self.broken, true);
        self.keep_ended_versions(&audit).await?;
        self.write_audited(change, audit.into_entries()).await?;
        self.broken = was_broken;
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::Failed("a change of this unit of work has failed".into()));
        }
        self.inner.commit().await.map_err(store_error)
    }
}

impl PostgresTransaction {
    /// Inserts rows of a change; see [`inserts`]. The first value of a row is the tenant.
    pub(crate) async fn insert_values<T: Send>(
        &mut self,
        insert: &'static str,
        rows: Vec<T>,
        push: impl Fn(&mut Row<'_>, T) + Send,
    ) -> Result<(), StoreError> {
        let is_kept = rows.len() <= KEPT;
        for mut query in inserts(insert, rows, push) {
            self.execute(query.build().persistent(is_kept)).await?;
        }
        Ok(())
    }

    /// Executes a statement of a change. Returns how many rows it has changed. The first parameter of the statement is
    /// the tenant.
    ///
    /// If the change has exactly one audit entry, the same statement writes it, which saves a round trip.
    pub(crate) async fn execute<'q>(
        &mut self,
        mut statement: impl Execute<'q, Postgres> + 'q,
    ) -> Result<u64, StoreError> {
        let executed = match self.take_only_entry() {
            Some(entry) => {
                let is_kept = statement.persistent();
                let arguments = statement.take_arguments().map_err(encode_error)?;
                let mut arguments = arguments.unwrap_or_default();
                arguments.add(entry).map_err(encode_error)?;
                let statement = with_entry(statement.sql().as_str(), arguments.len());
                // The text comes from this crate alone: values are parameters.
                sqlx::query_with(AssertSqlSafe(statement), arguments)
                    .persistent(is_kept)
                    .execute(self.connection())
                    .await
            }
            None => self.connection().execute(statement).await,
        };
        Ok(executed.map_err(store_error)?.rows_affected())
    }

    /// Takes the audit entry of the change that is being written, if there is exactly one. The statement of the change
    /// then writes it, unless the tables are distributed: Citus inserts nothing in a WITH clause.
    fn take_only_entry(&mut self) -> Option<WrittenEntry> {
        if self.entries.len() == 1 && !self.is_distributed() { self.entries.pop() } else { None }
    }

    async fn write_audited(&mut self, change: &Change, entries: Vec<AuditEntry>) -> Result<(), StoreError> {
        self.entries = entries.into_iter().map(WrittenEntry::from).collect();
        self.write_change(change).await?;
        self.write_entries().await
    }

    async fn write_change(&mut self, change: &Change) -> Result<(), StoreError> {
        match change {
            Change::Tenant(change) => self.write_tenant(change).await,
            Change::User(change) => self.write_user(change).await,
            Change::Credential(change) => self.write_credential(change).await,
            Change::Session(change) => self.write_session(change).await,
            Change::Permission(change) => self.write_permission(change).await,
            Change::Role(change) => self.write_role(change).await,
            Change::Assignment(change) => self.write_assignment(change).await,
            Change::Organization(change) => self.write_organization(change).await,
            Change::Audit(change) => self.write_audit(change).await,
            Change::Idempotency(change) => self.write_idempotency(change).await,
            Change::Invitation(change) => self.write_invitation(change).await,
            Change::Link(change) => self.write_link(change).await,
            Change::Mail(change) => self.write_mail(change).await,
            Change::Factor(change) => self.write_factor(change).await,
            Change::Challenge(change) => self.write_challenge(change).await,
            Change::ApiKey(change) => self.write_api_key(change).await,
            Change::Webhook(change) => self.write_webhook(change).await,
            Change::AccessReview(change) => self.write_access_review(change).await,
            Change::Domain(change) => self.write_domain(change).await,
            Change::IdentityProvider(change) => self.write_identity_provider(change).await,
            Change::Identity(change) => self.write_identity(change).await,
            Change::Directory(change) => self.write_directory(change).await,
            Change::DirectoryUser(change) => self.write_directory_user(change).await,
            Change::DirectoryGroup(change) => self.write_directory_group(change).await,
            Change::Eligibility(change) => self.write_eligibility(change).await,
            Change::AccessRequest(change) => self.write_access_request(change).await,
            Change::Manifest(change) => self.write_manifest(change).await,
            Change::LegalHold(change) => self.write_legal_hold(change).await,
            Change::TenantDeletion(change) => self.write_tenant_deletion(change).await,
        }
    }
}

fn encode_error(error: BoxDynError) -> StoreError {
    store_error(sqlx::Error::Encode(error))
}
