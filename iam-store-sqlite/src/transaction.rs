use std::mem;

use async_trait::async_trait;
use iam_model::change::{AuditBatch, Change};
use iam_model::id::TenantId;
use iam_model::store::Transaction;
use iam_model::store_error::StoreError;
use iam_store_sql::source::{self, Source};
use sqlx::{Execute, Executor as _, Sqlite, SqliteConnection};
use uuid::Uuid;

use crate::error::store_error;
use crate::open::cut_log;

/// A transaction of the database in one tenant. Dropping it rolls back.
///
/// Every statement binds this tenant, and never a tenant that is named inside a change. No other transaction writes
/// while this one is open, so all rows that it reads are locked.
pub(crate) struct SqliteTransaction {
    tenant: TenantId,
    inner: source::Transaction<Sqlite>,
    /// Whether a write has failed. A COMMIT would then commit the writes before it, so it must not be tried.
    broken: bool,
    /// Whether personal fields are erased. Then they must not stay in the write-ahead log either.
    pub(crate) erases: bool,
    writer: Source<Sqlite>,
}

impl SqliteTransaction {
    pub(crate) fn new(tenant: TenantId, inner: source::Transaction<Sqlite>, writer: Source<Sqlite>) -> Self {
        Self { tenant, inner, broken: false, erases: false, writer }
    }

    pub(crate) fn tenant(&self) -> Uuid {
        self.tenant.as_uuid()
    }

    pub(crate) fn connection(&mut self) -> &mut SqliteConnection {
        self.inner.connection()
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

    /// Executes a statement of a change. Returns how many rows it has changed. The first parameter of the statement is
    /// the tenant.
    pub(crate) async fn execute<'q>(&mut self, statement: impl Execute<'q, Sqlite> + 'q) -> Result<u64, StoreError> {
        Ok(self.connection().execute(statement).await.map_err(store_error)?.rows_affected())
    }
}

#[async_trait]
impl Transaction for SqliteTransaction {
    async fn write(&mut self, change: &Change, audit: AuditBatch) -> Result<(), StoreError> {
        // If this future is dropped halfway, a change may be without its entries. That must not be committed either.
        let was_broken = mem::replace(&mut self.broken, true);
        self.keep_ended_versions(&audit).await?;
        self.write_change(change).await?;
        self.insert_audit_entries(audit.entries()).await?;
        self.broken = was_broken;
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::Failed("a change of this unit of work has failed".into()));
        }
        self.inner.commit().await.map_err(store_error)?;
        // Not in a host transaction: before the host program commits, the log contains nothing that could be truncated.
        if let Source::Pool(pool) = &self.writer
            && self.erases
        {
            cut_log(&pool.connect_options()).await;
        }
        Ok(())
    }
}
