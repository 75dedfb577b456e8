use std::sync::Arc;

use async_trait::async_trait;
use iam_core::audit::AuditBatch;
use iam_core::{Change, StoreError, TenantId, Transaction};
use sqlx::{PgConnection, Postgres};
use uuid::Uuid;

use crate::error::store_error;
use crate::partition::KnownMonths;

/// A transaction of the database, bound to a tenant; dropping it rolls back.
///
/// Every statement binds this tenant and never one that stands inside a change.
pub(crate) struct PostgresTransaction {
    tenant: TenantId,
    months: Arc<KnownMonths>,
    inner: sqlx::Transaction<'static, Postgres>,
    /// After a failed write PostgreSQL answers a COMMIT with a silent rollback, so it must not be tried.
    broken: bool,
}

impl PostgresTransaction {
    pub(crate) fn new(tenant: TenantId, months: Arc<KnownMonths>, inner: sqlx::Transaction<'static, Postgres>) -> Self {
        Self { tenant, months, inner, broken: false }
    }

    pub(crate) fn tenant(&self) -> Uuid {
        self.tenant.as_uuid()
    }

    pub(crate) fn months(&self) -> &KnownMonths {
        &self.months
    }

    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        &mut self.inner
    }
}

#[async_trait]
impl Transaction for PostgresTransaction {
    async fn write(&mut self, change: &Change) -> Result<(), StoreError> {
        let written = match change {
            Change::Tenant(change) => self.write_tenant(change).await,
            Change::User(change) => self.write_user(change).await,
            Change::Credential(change) => self.write_credential(change).await,
            Change::Session(change) => self.write_session(change).await,
            Change::Permission(change) => self.write_permission(change).await,
            Change::Role(change) => self.write_role(change).await,
            Change::Assignment(change) => self.write_assignment(change).await,
            Change::Organization(change) => self.write_organization(change).await,
            Change::Audit(change) => self.write_audit(change).await,
        };
        self.broken |= written.is_err();
        written
    }

    async fn commit(mut self: Box<Self>, audit: AuditBatch) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::Failed("a change of this unit of work has failed".into()));
        }
        let entries = audit.into_entries();
        let made = self.make_months_of(&entries).await?;
        if let Err(error) = self.insert_audit_entries(entries).await {
            // Another replica may have dropped a month that this one took for known.
            self.months.forget();
            return Err(error);
        }
        self.inner.commit().await.map_err(store_error)?;
        self.months.remember(made);
        Ok(())
    }
}
