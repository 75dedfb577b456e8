use std::mem;

use async_trait::async_trait;
use iam_model::audit::AuditEntry;
use iam_model::change::{AuditBatch, Change};
use iam_model::id::TenantId;
use iam_model::store::Transaction;
use iam_model::store_error::StoreError;
use iam_store_sql::{source, write_change};
use sqlx::Postgres;
use uuid::Uuid;

use crate::error::store_error;
use crate::values::{Row, insert_values};
use crate::written_entry::WrittenEntry;

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
    /// Inserts rows of distributed tables; see [`insert_values`].
    pub(crate) async fn insert_values<T: Send>(
        &mut self,
        insert: &'static str,
        rows: Vec<T>,
        push: impl Fn(&mut Row<'_>, T) + Send,
    ) -> Result<(), StoreError> {
        insert_values(self.connection(), insert, rows, push).await.map_err(store_error)
    }

    async fn write_audited(&mut self, change: &Change, entries: Vec<AuditEntry>) -> Result<(), StoreError> {
        self.entries = entries.into_iter().map(WrittenEntry::from).collect();
        write_change!(self, change)?;
        self.write_entries().await
    }
}
