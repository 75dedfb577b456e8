use std::mem;

use async_trait::async_trait;
use iam_model::change::{AuditBatch, Change};
use iam_model::id::TenantId;
use iam_model::store::Transaction;
use iam_model::store_error::StoreError;
use iam_store_sql::source::{self, Source};
use iam_store_sql::write_change;
use sqlx::{Sqlite, SqliteConnection};
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
}

/// Executes a statement of a change. The first parameter of the statement is the tenant.
macro_rules! execute_audited {
    ($transaction:expr, $statement:literal $(+ $more:literal)*, $($argument:expr),+) => {
        sqlx::query!($statement $(+ $more)*, $($argument),+)
            .execute($transaction.connection())
            .await
            .map_err($crate::error::store_error)
    };
}
pub(crate) use execute_audited;

#[async_trait]
impl Transaction for SqliteTransaction {
    async fn write(&mut self, change: &Change, audit: AuditBatch) -> Result<(), StoreError> {
        // If this future is dropped halfway, a change may be without its entries. That must not be committed either.
        let was_broken = mem::replace(&mut self.broken, true);
        self.keep_ended_versions(&audit).await?;
        write_change!(self, change)?;
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
