use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::NaiveDate;
use iam_core::audit::{AuditBatch, AuditEntry};
use iam_core::{Change, StoreError, TenantId, Transaction};
use sqlx::{PgConnection, Postgres};
use uuid::Uuid;

use crate::audit::WrittenEntry;
use crate::error::store_error;
use crate::partition::{KnownMonths, make_month};

/// A transaction of the database, bound to a tenant; dropping it rolls back.
///
/// Every statement binds this tenant and never one that stands inside a change.
pub(crate) struct PostgresTransaction {
    tenant: TenantId,
    months: Arc<KnownMonths>,
    /// Months that this transaction has made.
    made: BTreeSet<NaiveDate>,
    /// The entries of the change that is being written, until a statement takes them along.
    pub(crate) entries: Vec<WrittenEntry>,
    inner: sqlx::Transaction<'static, Postgres>,
    /// After a failed write PostgreSQL answers a COMMIT with a silent rollback, so it must not be tried.
    broken: bool,
}

impl PostgresTransaction {
    pub(crate) fn new(tenant: TenantId, months: Arc<KnownMonths>, inner: sqlx::Transaction<'static, Postgres>) -> Self {
        Self { tenant, months, made: BTreeSet::new(), entries: Vec::new(), inner, broken: false }
    }

    pub(crate) fn tenant(&self) -> Uuid {
        self.tenant.as_uuid()
    }

    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        &mut self.inner
    }
}

#[async_trait]
impl Transaction for PostgresTransaction {
    async fn write(&mut self, change: &Change, audit: AuditBatch) -> Result<(), StoreError> {
        let written = self.write_audited(change, audit.into_entries()).await;
        if let Err(error) = &written {
            self.broken = true;
            if !matches!(error, StoreError::Conflict(_)) {
                // Another replica may have dropped a month that this one took for known.
                self.months.forget();
            }
        }
        written
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::Failed("a change of this unit of work has failed".into()));
        }
        self.inner.commit().await.map_err(store_error)?;
        self.months.remember(self.made);
        Ok(())
    }
}

impl PostgresTransaction {
    async fn write_audited(&mut self, change: &Change, entries: Vec<AuditEntry>) -> Result<(), StoreError> {
        self.make_months_of(&entries).await?;
        self.entries = entries.into_iter().map(WrittenEntry::from).collect();
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
        }?;
        self.write_entries().await
    }

    /// Makes the partitions of the months of these entries that are not known to be there: a server may have slept, or
    /// its clock may be set.
    async fn make_months_of(&mut self, entries: &[AuditEntry]) -> Result<(), StoreError> {
        let mut months = self.months.unknown(entries.iter().map(|entry| entry.created_at));
        months.retain(|month| !self.made.contains(month));
        for month in months {
            make_month(month, self.connection()).await?;
            self.made.insert(month);
        }
        Ok(())
    }
}
